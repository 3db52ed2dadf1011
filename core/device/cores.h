/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cores.h
 *  CPU cores as a set. */
#ifndef META_CORES_H
#define META_CORES_H

#include <stdint.h>

#define META_MAX_CPUS 4096
/** CPU cores as bits, by their number on the node. */
typedef struct meta_cores {
    uint64_t bits[META_MAX_CPUS / 64];
} meta_cores;

#endif
