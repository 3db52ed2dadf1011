/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_sums.h
 *  For tests that change the bytes of a checkpoint: its checksums, recomputed. */
#ifndef META_TEST_CHECKPOINT_SUMS_H
#define META_TEST_CHECKPOINT_SUMS_H

#include <stdbool.h>
#include <string.h>

#include "base/io_base.h"

/** As io/formats/checkpoint.c has it at the beginning of the file. */
typedef struct checkpoint_start {
    char magic[8];
    uint32_t order, version;
    int64_t bytes, number, head_bytes;
    uint64_t head_sum, sum;
} checkpoint_start;

/** Put into @p data, which are the @p size bytes of a checkpoint, the checksum of the header; @p
 * bytes: and their number; @p head: and the checksum of the table of fields, where it is whole. */
static inline void checkpoint_sums(uint8_t *data, size_t size, bool bytes, bool head)
{
    checkpoint_start h;
    memcpy(&h, data, sizeof h);
    if (bytes) h.bytes = (int64_t)size;
    if (head && h.head_bytes >= 0 && h.head_bytes <= (int64_t)(size - sizeof h))
        h.head_sum = io_checksum(0, data + sizeof h, (size_t)h.head_bytes);
    h.sum = io_checksum(0, &h, sizeof h - sizeof h.sum);
    memcpy(data, &h, sizeof h);
}

#endif
