/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io_base.h
 *  What every room of libmeta_io uses: the tables of libmeta and libmeta_comm, checksums, and what
 * all ranks must agree on. */
#ifndef META_IO_BASE_H
#define META_IO_BASE_H

#include "config.h"

#include <stdbool.h>

#include "comm_table.h"
#include "internal.h"
#include "meta_io.h"

enum { IO_TEXT = 1024 }; /* bytes of a message */
static const meta_core *const core = &meta_core_table;
static const meta_comm *const job = &meta_comm_table;

/** The ranks that share a file. */
typedef struct io_ranks {
    MPI_Comm comm; /**< a duplicate, which returns errors */
    int rank, size;
} io_ranks;

/* call.c */
/** Begin a public function; io_leave() ends it unless it failed. Public functions called in between
 *  are parts of @p call for messages. */
meta_err io_enter(const char *call);
meta_err io_leave(meta_err error);
/** Duplicate the communicator that is argument @p name. Collective, one outcome for all but where
 * it is MPI_COMM_NULL. */
meta_err io_ranks_open(io_ranks *ranks, MPI_Comm comm, const char *name);
void io_ranks_close(io_ranks *ranks);
/** One outcome for all ranks. */
static inline meta_err io_agree(const io_ranks *ranks, meta_err mine)
{
    return job->agree(ranks->comm, mine);
}
/** There is no memory for @p bytes. */
meta_err io_no_memory(uint64_t bytes);

/* checksum.c */
/** A checksum of @p bytes bytes; each word is mixed in by a bijection, so a change of a single one
 *  always changes it. @p seed: what else it depends on. */
uint64_t io_checksum(uint64_t seed, const void *data, size_t bytes);

/* compare.c */
/** A thing that must be the same on all ranks. */
typedef struct io_item {
    char name[48]; /**< of the argument */
    uint64_t hash;
} io_item;
/** Whether all items are those of rank 0; META_ERR_MISMATCH names the first other one. Collective,
 *  one outcome for all; each rank may have another number of items. */
meta_err io_compare(const io_ranks *ranks, int count, const io_item *items);
/** Give all ranks the bytes of rank 0, which on the others are allocated. Collective, one outcome
 * for all. @p error: of this rank so far */
meta_err io_share(const io_ranks *ranks, meta_err error, void **bytes, int64_t *count);

#endif
