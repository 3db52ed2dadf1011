/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_try.h
 *  For tests of the PTX executor: a device's memory, and kernels of few lines. */
#ifndef META_TEST_PTX_TRY_H
#define META_TEST_PTX_TRY_H

#include <stdbool.h>

#include "ptx.h"

/** Memory of which each allocation lies by itself, at an address that is a multiple of 256. */
extern const ptx_memory try_memory;
/** @return its bytes for the host; the end of the test frees it. *address: for kernels */
void *try_allocate(size_t bytes, uint64_t *address);
/** Allocations that modules hold. */
int try_held(void);
void try_free_all(void);

/** Load a module of @p text behind the lines that each needs. NULL and a failed check: it is
 * refused. */
ptx_module *try_load(const char *text);
/** The entry k of such a module. */
ptx_kernel *try_kernel(ptx_module *module);
/** Run it with arguments of 64 bits. */
bool try_run(ptx_kernel *kernel, unsigned blocks, unsigned threads, const uint64_t *arguments,
             int count, ptx_fault *fault);
/** Load, run with one thread per element of the memory at the only argument, and free. Fails where
 * it is refused or faults. @return whether it ran */
bool try_text(const char *text, unsigned blocks, unsigned threads, void *memory, size_t bytes);

/** An instruction with registers %a %b %c %e as inputs and %x for its result, of types: the
 * result's first, h 16 bits, r 32, d 64, p a predicate (0 or 1). */
typedef struct try_case {
    const char *text, *types;
    uint64_t in[4], out;
} try_case;
/** Check that it has its result for all threads of a block, for every second one, and where its
 * inputs are the same for all threads. Cases of one text stand together. */
void try_cases(const try_case *cases, int count);

#endif
