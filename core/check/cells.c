/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cells.c
 *  META_CHECK=on: the cells of an operand, and the contents of a launch's buffers. */
#include "check/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/raw.h"
#include "check/watched.h"

/* ------------------------------------------------------------------ cells */

meta_walk meta_walk_begin(const meta_operation *op, uint32_t k, const char *buffer)
{
    const int64_t bytes = (int64_t)meta_element_bytes(meta_operation_type(op, k));
    return (meta_walk){.space = op->space,
                       .stride = meta_call_layout(&op->call, k)->stride,
                       .front = op->operand[k].span.address - buffer + op->operand[k].start * bytes,
                       .bytes = bytes};
}

int64_t meta_walk_place(const meta_walk *w)
{
    int64_t element = 0;
    for (int d = 0; d < w->space->ndim; ++d) element += w->at[d] * w->stride[d];
    return w->front + element * w->bytes;
}

bool meta_walk_next(meta_walk *w)
{
    for (int d = 0; d < w->space->ndim; ++d) {
        if (++w->at[d] < w->space->extent[d]) return true;
        w->at[d] = 0;
    }
    return false;
}

void meta_index_text(const int64_t *index, int dims, char text[META_CELL_ROOM])
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < dims; ++d, used = strlen(text))
        snprintf(text + used, META_CELL_ROOM - used, "%s%" PRId64, d ? ", " : "", index[d]);
}

void meta_walk_text(const meta_operation *op, const int64_t *at, char text[META_CELL_ROOM])
{
    const uint64_t *value = op->call.values;
    const uint32_t first = op->call.desc->values - META_KERNEL_DIMS; /* the box's start */
    int64_t index[META_KERNEL_DIMS];
    int dims = 0;
    for (; dims < op->space->ndim && dims < META_KERNEL_DIMS; ++dims) {
        int64_t start;
        memcpy(&start, &value[first + (uint32_t)dims], sizeof start);
        index[dims] = start + at[dims];
    }
    meta_index_text(index, dims, text);
}

/* ------------------------------------------------------------------ buffers */

meta_err meta_no_memory(uint64_t bytes)
{
    return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %" PRIu64 " bytes", bytes);
}

bool meta_watched_holds(const watched *w, const char *address)
{
    return (uint64_t)(address - (const char *)w->of.memory.address) < w->of.memory.bytes;
}

meta_err meta_watched_set(const watched *w, unsigned char *from)
{
    return meta_raw_copy(w->of.device, META_COPY_H2D, from, w->object, w->offset,
                         w->of.memory.bytes);
}

meta_err meta_watched_get(const watched *w, unsigned char **image)
{
    const uint64_t bytes = w->of.memory.bytes;
    *image = malloc(bytes);
    if (!*image) return meta_no_memory(bytes);
    const meta_err error =
        meta_raw_copy(w->of.device, META_COPY_D2H, *image, w->object, w->offset, bytes);
    if (error != META_OK) free(*image), *image = NULL;
    return error;
}
