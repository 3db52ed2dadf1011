/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_edges.c
 *  See fuzz_edges.h. An edge is a pair of places in the code that were reached one after the other.
 */
#include "config.h"

#include "fuzz_edges.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { BITS = 18 };

typedef struct edges {
    _Atomic long reached;
    _Atomic unsigned char seen[1 << BITS];
} edges;
static edges *map;
static _Thread_local uint64_t before;

/* Called by the compiler at the beginning of each basic block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (!map) return;
    const uint64_t at =
        (uint64_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)&__sanitizer_cov_trace_pc);
    const uint64_t edge = (before * 31 + at) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS);
    before = at;
    if (atomic_load_explicit(&map->seen[edge], memory_order_relaxed)) return;
    if (!atomic_exchange(&map->seen[edge], 1)) ++map->reached;
}

void fuzz_edges_begin(void)
{
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map != MAP_FAILED) return;
    perror("no memory for edges");
    exit(2);
}

long fuzz_edges(void)
{
    return map ? map->reached : 0;
}
