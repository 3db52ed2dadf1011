/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm_table.h
 *  What libmeta_io needs of libmeta_comm beyond meta_comm.h. Not installed; both libraries come
 * from one build, and libmeta_io checks the version before it uses the table.
 *
 *  Each function takes the lock of libmeta_comm and releases it, so the caller may copy from and to
 *  devices in between. Collective ones end with META_ERR_PEER where a rank does not come within
 *  META_TIMEOUT. @p phase: for messages, as "while a file is written". */
#ifndef META_COMM_TABLE_H
#define META_COMM_TABLE_H

#include <stdbool.h>

#include "internal.h"
#include "meta_comm.h"

#define META_COMM_TABLE_VERSION 2

typedef struct meta_comm {
    uint32_t version; /**< META_COMM_TABLE_VERSION */
    size_t size;
    /** Begin a public call: libmeta is started, this process in a job, and the thread may call MPI.
     *  leave() ends it unless it failed. */
    meta_err (*enter)(const char *call);
    void (*leave)(void);
    /** Have @p end called by meta_comm_finalize(), whose error its error becomes, as long as ranks
     * can still meet. Once for a job, which has room for two; again is as good. */
    void (*at_end)(meta_err (*end)(void));
    /** The number of payload bytes that one message may have at most; the same on every rank. */
    size_t (*chunk)(void);

    /** Duplicate @p comm, argument @p name. The copy returns errors. One outcome for all ranks,
     *  but for MPI_COMM_NULL. */
    meta_err (*duplicate)(MPI_Comm comm, const char *name, MPI_Comm *copy);
    /** Free such a copy, unless a rank was lost. */
    void (*free)(MPI_Comm *copy);
    /** Whether every rank succeeded; otherwise all return the lowest failing rank's error. */
    meta_err (*agree)(MPI_Comm among, meta_err mine);
    meta_err (*all_reduce)(MPI_Comm among, void *values, int count, MPI_Datatype type, MPI_Op op,
                           const char *phase);
    meta_err (*all_from)(MPI_Comm among, void *values, int count, MPI_Datatype type, int root,
                         const char *phase);
    meta_err (*all_gather)(MPI_Comm among, const void *mine, int bytes, void *all,
                           const char *phase);
    /** MPI_Isend() and MPI_Irecv() of bytes. */
    meta_err (*send)(MPI_Comm among, const void *bytes, int count, int to, int tag,
                     MPI_Request *request);
    meta_err (*receive)(MPI_Comm among, void *bytes, int count, int from, int tag,
                        MPI_Request *request);
    /** Wait for either, of rank @p peer. If it fails and *request is not MPI_REQUEST_NULL, MPI may
     *  still use the memory. */
    meta_err (*wait)(MPI_Comm among, MPI_Request *request, int peer, int tag, const char *phase);
} meta_comm;

META_API extern const meta_comm meta_comm_table;

#endif
