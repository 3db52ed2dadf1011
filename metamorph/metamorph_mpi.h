/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_mpi.h
 *  MetaMorph's messages between ranks, each on a device of its own kind. They are plain MPI
 * messages on MPI_COMM_WORLD, of the elements' MPI type and with the program's tag, so a rank may
 * receive by MPI_Recv() what another one sends from a device, and MPI_PROC_NULL and MPI_ANY_SOURCE
 * mean what they do in MPI. Device memory travels by way of host memory.
 *
 *  These functions return no error. What fails in them is a line on the standard error stream, and
 * ends the job by MPI_Abort(), as MPI itself does: ranks that wait for the message would wait for
 * ever.
 *
 *  Called by one thread at a time, the one that called meta_mpi_init(). */
#ifndef METAMORPH_MPI_H
#define METAMORPH_MPI_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include <mpi.h>

#include "metamorph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Initialize MPI, unless the program has, and give each rank its device. The first call of the
 * library. */
META_API void metamorph_mpi_init(int *argc, char ***argv);
/** Complete all messages, print the profile of METAMORPH_TIMER_LEVEL, close the devices, and
 * finalize MPI if meta_mpi_init() initialized it. The last call of the library. */
META_API void metamorph_mpi_finalize(void);
/** Get this process's rank in MPI_COMM_WORLD.
 *  @return 0; -1 before MPI is initialized, after it is finalized, and where @p rank is NULL */
META_API metamorph_err metamorph_mpi_rank(int *rank);
/** Get the MPI type of a type.
 *  @param size  NULL, or receives the size of an element in bytes, 0 for an unknown type
 *  @return the type; MPI_DATATYPE_NULL for an unknown one, which is printed */
META_API MPI_Datatype metamorph_get_mpi_type(meta_type_id type, size_t *size);

/** Send @p buf_leng elements of a buffer.
 *  @param async  0: as MPI_Send(). Otherwise the data is copied before the function returns, so the
 *                buffer may be written at once, and meta_flush() completes the message
 *  @param req    NULL, or receives MPI_REQUEST_NULL where @p async is not 0: MPI has nothing to
 *                wait for, meta_flush() has */
META_API void metamorph_mpi_packed_face_send(int dst_rank, void *packed_buf, size_t buf_leng,
                                             int tag, MPI_Request *req, meta_type_id type,
                                             int async);
/** Receive at most @p buf_leng elements into a buffer.
 *  @param async  0: they are there on return. Otherwise they are there after meta_flush()
 *  @param req    NULL, or receives MPI_REQUEST_NULL where @p async is not 0: MPI has nothing to
 *                wait for, meta_flush() has */
META_API void metamorph_mpi_packed_face_recv(int src_rank, void *packed_buf, size_t buf_leng,
                                             int tag, MPI_Request *req, meta_type_id type,
                                             int async);
/** Pack a face into @p packed_buf and send it: meta_pack_face(), then meta_mpi_packed_face_send().
 *  @param async  0: as MPI_Send(). Otherwise the data is copied before the function returns, and
 *                meta_flush() completes the message
 *  @param req    NULL, or receives MPI_REQUEST_NULL where @p async is not 0 */
META_API void metamorph_mpi_pack_and_send_face(meta_dim3 *grid_size, meta_dim3 *block_size,
                                               int dst_rank, metamorph_face *face, void *buf,
                                               void *packed_buf, int tag, MPI_Request *req,
                                               meta_type_id type, int async);
/** Receive a face into @p packed_buf and unpack it: meta_mpi_packed_face_recv(), then
 *  meta_unpack_face(). A message of another length than the face's ends the job.
 *  @param face   read before the function returns
 *  @param async  0: the elements are in @p buf on return. Otherwise after meta_flush()
 *  @param req    NULL, or receives MPI_REQUEST_NULL where @p async is not 0 */
META_API void metamorph_mpi_recv_and_unpack_face(meta_dim3 *grid_size, meta_dim3 *block_size,
                                                 int src_rank, metamorph_face *face, void *buf,
                                                 void *packed_buf, int tag, MPI_Request *req,
                                                 meta_type_id type, int async);
/** Complete the oldest message that is under way, if it has arrived. */
META_API void metamorph_help_mpi_request(void);
/** Complete all messages, oldest first; meta_flush() does it. */
META_API void metamorph_finish_mpi_requests(void);

#ifndef METAMORPH_NO_NAMES
#define meta_mpi_init                 metamorph_mpi_init
#define meta_mpi_finalize             metamorph_mpi_finalize
#define metaMPIRank                   metamorph_mpi_rank
#define get_mpi_type                  metamorph_get_mpi_type
#define meta_mpi_packed_face_send     metamorph_mpi_packed_face_send
#define meta_mpi_packed_face_recv     metamorph_mpi_packed_face_recv
#define meta_mpi_pack_and_send_face   metamorph_mpi_pack_and_send_face
#define meta_mpi_recv_and_unpack_face metamorph_mpi_recv_and_unpack_face
#define help_mpi_request              metamorph_help_mpi_request
#define finish_mpi_requests           metamorph_finish_mpi_requests
#endif

#ifdef __cplusplus
}
#endif
#endif
