/* SPDX-License-Identifier: BSD-3-Clause */
/** @file wire.h
 *  The wire format: magic number, version, checksum. */
#ifndef META_COMM_WIRE_H
#define META_COMM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define COMM_MAGIC        0x636d656du /* "memc" */
#define COMM_WIRE_VERSION 5           /* grows when the header, a plan's offer or a seal changes */

/** Continue a checksum with @p bytes at @p data (Fowler, Noll and Vo's FNV-1a), in any number of
 *  pieces. */
static inline uint32_t comm_checksum(uint32_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t k = 0; k < bytes; ++k) sum = (sum ^ at[k]) * 16777619u;
    return sum;
}
#define COMM_CHECKSUM_START 2166136261u

#endif
