/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compare.c
 *  What all ranks must have alike, and what rank 0 gives to the others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io_base.h"

meta_err io_share(const io_ranks *ranks, meta_err error, void **bytes, int64_t *count)
{
    static const char sharing[] = "while rank 0 tells the others about a file";
    const int piece = 1 << 24;
    META_TRY(io_agree(ranks, error));
    META_TRY(job->all_from(ranks->comm, count, 1, MPI_INT64_T, 0, sharing));
    if (ranks->rank != 0) *bytes = malloc((size_t)*count + 1);
    error = io_agree(ranks, *bytes ? META_OK : io_no_memory((uint64_t)*count));
    for (int64_t at = 0; at < *count && error == META_OK; at += piece) {
        const int64_t left = *count - at;
        error = job->all_from(ranks->comm, (char *)*bytes + at, left < piece ? (int)left : piece,
                              MPI_BYTE, 0, sharing);
    }
    if (error == META_OK || ranks->rank == 0) return error;
    free(*bytes);
    *bytes = NULL;
    return error;
}

/* @p first: those of rank 0 */
static meta_err find_other(int count, const io_item *items, int64_t firsts, const io_item *first)
{
    for (int k = 0; k < count && k < firsts; ++k)
        if (items[k].hash != first[k].hash)
            return core->fail(META_ERR_MISMATCH, "argument '%s' differs from that of rank 0",
                              items[k].name);
    if (count == firsts) return META_OK;
    return core->fail(META_ERR_MISMATCH,
                      "there are %d fields and attributes here and on rank 0 %" PRId64, count,
                      firsts);
}

meta_err io_compare(const io_ranks *ranks, int count, const io_item *items)
{
    int64_t bytes = (int64_t)count * (int64_t)sizeof *items;
    void *first = NULL;
    if (ranks->rank == 0 && (first = malloc((size_t)bytes + 1)))
        memcpy(first, items, (size_t)bytes);
    meta_err error = io_share(
        ranks, ranks->rank != 0 || first ? META_OK : io_no_memory((uint64_t)bytes), &first, &bytes);
    if (error != META_OK) return free(first), error; /* rank 0's */
    error = find_other(count, items, bytes / (int64_t)sizeof *items, first);
    free(first);
    return io_agree(ranks, error);
}
