/* SPDX-License-Identifier: BSD-3-Clause */
/** @file worker.kernel.h
 *  A kernel that goes on when it is let, and one that reads its result; see test_worker.c. The
 *  functions called are the test's, so the first one runs on the CPU only. */
#define META_KERNEL_TYPES META_KERNEL_F64
#define META_KERNEL_FILE  "worker.kernel.h"
#include <meta_kernel.h>

#define gate_ARGS(A) A(INOUT, T, x)
META_CELLS(gate)
{
    ON(x) = pass_gate(ON(x));
}

#define twice_ARGS(A) A(OUT, T, y) A(IN, T, x, CELL)
META_CELLS(twice)
{
    ON(y) = 2 * ON(x);
}

#include META_AGAIN
