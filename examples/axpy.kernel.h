/* SPDX-License-Identifier: BSD-3-Clause */
/* y += a x. */
#include <meta_kernel.h>

#define add_scaled_ARGS(A) A(INOUT, T, y) A(VALUE, T, a) A(IN, T, x, CELL)
META_CELLS(add_scaled)
{
    ON(y) += a * ON(x);
}

#include META_AGAIN
