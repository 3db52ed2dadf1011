/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_edges.h
 *  Which edges between basic blocks of the readers the inputs of a fuzz target have reached. The
 * readers are compiled with -fsanitize-coverage=trace-pc, where the compiler has that
 * ($(META_EDGES)). */
#ifndef META_TEST_FUZZ_EDGES_H
#define META_TEST_FUZZ_EDGES_H

#include <stdbool.h>

/** Before the first input; children of this process count as well. */
void fuzz_edges_begin(void);
/** How many were reached so far; 0: the readers were not compiled for it. */
long fuzz_edges(void);

#endif
