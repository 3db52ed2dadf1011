/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_comm.h
 *  libmeta between processes: messages and halo exchange of device buffers over MPI, whatever kind of
 *  device is at either end. The rules of meta.h hold here as well.
 *
 *  These functions are called from the thread that called meta_comm_init() or meta_comm_attach(),
 *  unless MPI granted MPI_THREAD_SERIALIZED or more; from another one they return META_ERR_STATE.
 *  Likewise only such a thread's work is ordered behind an exchange whose meta_halo_finish() did not
 *  block; other threads wait for its event first.
 *
 *  What was queued moves on inside calls of this header, of meta_event_test/wait/waitall and of
 *  meta_flush() alone: flush before a call of your own to MPI that waits for another rank. */
#ifndef META_COMM_H
#define META_COMM_H

#include <mpi.h>

#include "meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ life */

/** Collective over MPI_COMM_WORLD. Initialises MPI (MPI_THREAD_FUNNELED) where nobody has, starts
 *  libmeta where nobody has, tells it which rank of the job this is and chooses the rank's device.
 *  @p argc and @p argv are main()'s or NULL.
 *  @return the same error on every rank, with the failing rank's message, if any rank failed;
 *          META_ERR_MPI too if the program was started by another MPI's launcher. MPI then stays
 *          initialised, for another attempt or for meta_comm_finalize(). */
META_API meta_err meta_comm_init(int *argc, char ***argv);
/** The same over @p comm, of which the library keeps a duplicate; ranks are then @p comm's.
 *  MPI must be initialised. Collective, once. */
META_API meta_err meta_comm_attach(MPI_Comm comm);
/** Complete all messages, or after META_TIMEOUT seconds end them with META_ERR_STATE; free what is
 *  left of plans and the duplicate; finalise libmeta and MPI where meta_comm_init() started them.
 *  Collective. @return the first error that untracked messages met */
META_API meta_err meta_comm_finalize(void);
/** This process's rank and the number of ranks; either pointer may be NULL, not both. */
META_API meta_err meta_comm_rank(int *rank, int *size);

/* ------------------------------------------------------------------ messages */

/** Send @p count elements of device buffer @p packed to rank @p dst. Complete when @p packed may be
 *  used again, whether or not the receiver is ready: later calls and meta_flush() see to the rest.
 *  @p tag is 0 … 32767. MPI_PROC_NULL as a rank makes any of these a no-op. */
META_API meta_err meta_packed_send(int dst, const void *packed, int64_t count, meta_type type,
                                   int tag, meta_event *done);
/** Receive exactly @p count elements of @p type from rank @p src into device buffer @p packed.
 *  @return, or as the event's error, META_ERR_MISMATCH if the sender's count or type differ: the
 *          message is consumed, nothing is written, and both ends' values are named */
META_API meta_err meta_packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                                   meta_event *done);
/** meta_pack_face() into @p packed, then meta_packed_send() of it. */
META_API meta_err meta_pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                                 meta_type type, int tag, meta_event *done);
/** meta_packed_recv() into @p packed, then meta_unpack_face() of it. */
META_API meta_err meta_recv_unpack(int src, const meta_face *face, void *buf, void *packed,
                                   meta_type type, int tag, meta_event *done);
/** Combine @p count elements over all ranks; every rank gets the result. @p send and @p recv are host
 *  addresses or device buffers, and may be the same. Integers wrap, a NaN wins. Collective:
 *  every rank calls with the same count, operation and type. Sums of floating numbers that are
 *  reproducible (meta_set_reproducible()) go on with the exact sums behind the results of meta_reduce()
 *  and the like that still lie at @p send, and are rounded once.
 *  @return, or as the event's error, META_ERR_MISMATCH on every rank where some want them reproducible
 *          and others do not; @p recv then holds anything */
META_API meta_err meta_allreduce(void *recv, const void *send, int64_t count, meta_op op,
                                 meta_type type, meta_event *done);

/* ------------------------------------------------------------------ halo plans */

/** A plan for exchanging the ghost cells of some arrays of one shape; a handle, not a pointer. */
typedef struct meta_halo {
    uint32_t slot, generation;
} meta_halo;
#define META_HALO_NULL {0, 0}

typedef enum meta_halo_kind {
    META_HALO_FACES, /**< the neighbours along the axes: what 2D5P and 3D7P need */
    META_HALO_ALL    /**< edges and corners as well: what 2D9P and 3D27P need */
} meta_halo_kind;

typedef enum meta_halo_op {
    META_HALO_COPY, /**< ghosts become what the neighbours' own cells hold */
    META_HALO_ADD   /**< what ghosts hold is added to the neighbours' own cells: deposition. The ghosts
                         stay as they are. Directions are added one after the other in a fixed order,
                         so floating sums do not depend on which message comes first. */
} meta_halo_op;

/** One of several arrays that differ. */
typedef struct meta_halo_field {
    meta_type type;
    meta_box box; /**< as meta_halo_desc.box, in this array. In each dimension its own cells are as many
                       as that one's, or one more: a staggered array, whose last own element is the
                       high neighbour's first one (both own it), and whose ghosts lie beyond it.
                       META_HALO_COPY leaves such a shared element as it is; META_HALO_ADD gives both
                       ranks the sum of what they had. */
} meta_halo_field;

/** What a plan exchanges. Set it to META_HALO_DESC_INIT first. */
typedef struct meta_halo_desc {
    size_t size;
    MPI_Comm cart;       /**< Cartesian; its dimension d is the box's dimension d (0 is x) */
    meta_box box;        /**< this rank's own cells in the array, ghosts outside; 1 … 3 dimensions,
                              as many as @p cart has. Extents may differ from rank to rank. */
    int low[META_MAX_DIM];  /**< ghost cells at the low side of each dimension, 0 … n */
    int high[META_MAX_DIM]; /**< and at the high side; the same on every rank */
    meta_halo_kind kind;
    int fields;          /**< how many arrays travel together, in one message per neighbour */
    meta_type type;
    meta_halo_op op;
    const meta_halo_field *field; /**< NULL: all arrays have @p box and @p type. Else what each of them
                              is, @p fields elements, read before the call returns; @p type then means
                              nothing, and of @p box the own extents alone do. */
} meta_halo_desc;
#define META_HALO_DESC_INIT                                                              \
    {sizeof(meta_halo_desc), MPI_COMM_NULL, {0, {0}, {0}, {0}}, {0}, {0}, META_HALO_FACES, 1, META_F64, \
     META_HALO_COPY, NULL}

/** Build a plan for arrays on this thread's device. Collective over the communicator; neighbours
 *  compare what they will send with what is expected, and if any two disagree every rank gets
 *  META_ERR_MISMATCH naming them and both values. Periodicity is the communicator's. */
META_API meta_err meta_halo_create(meta_halo *plan, const meta_halo_desc *desc);
/** Begin an exchange of the plan's number of arrays: their own cells are sent as all work queued so
 *  far leaves them. Until the exchange is finished the arrays' own cells may be read, not written,
 *  and their ghosts hold anything. Ghosts towards no neighbour stay as they are. Waits for what the
 *  plan's last exchange still has under way after its finish.
 *  @return META_ERR_STATE if the plan's last exchange is not finished */
META_API meta_err meta_halo_start(meta_halo plan, void *const *fields);
/** Finish it: when complete, and for all work queued afterwards, the ghosts hold the neighbours'
 *  cells. With an event or META_ASYNC it does not wait for the neighbours; the next call that
 *  queues work on the plan's device does where it must. @return META_ERR_STATE without a start */
META_API meta_err meta_halo_finish(meta_halo plan, meta_event *done);
/** Start and finish. */
META_API meta_err meta_halo_exchange(meta_halo plan, void *const *fields, meta_event *done);
/** Work that meta_halo_overlap() has done on @p box, a part of the plan's own cells. */
typedef meta_err meta_halo_work(const meta_box *box, void *with);
/** An exchange beside computation, by one call: meta_halo_start(), @p interior on the own cells that lie
 *  no nearer to a neighbour than its ghosts are wide (once, and not at all where there are none),
 *  meta_halo_finish(), and @p boundary on the rest of the own cells, in up to six boxes that do not
 *  overlap. The two may be the same function, and queue work (META_ASYNC) that writes other arrays.
 *  Boxes are parts of meta_halo_desc.box. A stencil that reaches no further than the ghosts are wide
 *  is so applied to every own cell once.
 *  @param done  of the exchange, as in meta_halo_finish(); META_ASYNC is the natural choice
 *  @return the first error, of the exchange or of a work; the exchange is finished in any case */
META_API meta_err meta_halo_overlap(meta_halo plan, void *const *fields, meta_halo_work *interior,
                                    meta_halo_work *boundary, void *with, meta_event *done);
/** Free the plan and set it to META_HALO_NULL. Collective.
 *  @return META_ERR_STATE while an exchange is not finished */
META_API meta_err meta_halo_free(meta_halo *plan);

/* ------------------------------------------------------------------ what went which way */

/** The ways of a message between two ranks' arrays. */
typedef enum meta_path {
    META_PATH_SELF,   /**< within this rank: a copy on its device, without MPI */
    META_PATH_SHARED, /**< to a rank of this node, unpacked where the sender packed it, in a window of
                           shared memory */
    META_PATH_HOST,   /**< packed in host memory, which MPI is given */
    META_PATH_STAGED, /**< from and to a device's memory by way of pinned host memory, in chunks */
    META_PATH_DIRECT, /**< device memory given to MPI */
    META_PATH_COUNT
} meta_path;

/** What halo plans have moved since meta_comm_init(). Set it to META_TRAFFIC_INIT first. */
typedef struct meta_traffic {
    size_t size;
    uint64_t messages_sent[META_PATH_COUNT], bytes_sent[META_PATH_COUNT];
    uint64_t messages_received[META_PATH_COUNT], bytes_received[META_PATH_COUNT];
} meta_traffic;
#define META_TRAFFIC_INIT {sizeof(meta_traffic), {0}, {0}, {0}, {0}}

/** This rank's traffic. The path is this rank's end of the message: the other one's may differ. */
META_API meta_err meta_comm_traffic(meta_traffic *traffic);
/** The name of @p path, as "shared"; a constant string, never NULL. */
META_API const char *meta_path_name(meta_path path);

#ifdef __cplusplus
}
#endif
#endif
