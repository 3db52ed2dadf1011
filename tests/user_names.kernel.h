/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test_user_names: the names of kernels are those of parameters too. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_I32)
#define META_KERNEL_FILE  "user_names.kernel.h"
#include <meta_kernel.h>

/* An array, a value, a scalar and a result of kernels below; a value of its own is "own". */
#define flux_ARGS(A) A(OUT, T, out) A(IN, T, u, CELL) A(IN, T, later, CELL) A(VALUE, T, own)
META_CELLS(flux)
{
    ON(out) = ON(u) - 2 * ON(later) + own;
}

#define update_ARGS(A) A(INOUT, T, u) A(IN, T, flux, STAR(1)) A(VALUE, T, dt) A(SUM, T, later)
META_CELLS(update)
{
    ON(u) = ON(u) - dt * (AT1(flux, 1) + AT1(flux, -1));
    ADD(later, ON(u));
}

/* Names of its own. */
#define own_ARGS(A) A(INOUT, T, own)
META_CELLS(own)
{
    ON(own) = 3 * ON(own);
}

#define later_ARGS(A) A(OUT, T, update) A(IN, T, own, WHOLE) A(SCALAR, T, flux) A(MAX, T, later)
META_CELLS(later)
{
    ON(update) = GET(own, 0) + flux;
    RAISE(later, ON(update));
}

/* Those of functions of OpenCL and CUDA, and memory that a team shares. */
#define step_ARGS(A) A(OUT, T, step) A(IN, T, min, CELL) A(SHARED, T, flux, 4) A(VALUE, T, dot)
META_TEAMS(step, 4, 1, 1)
{
    MEMBERS { SHARED(flux, MY(0)) = ON(min); }
    MEMBERS { ON(step) = SHARED(flux, EXTENT(0) - 1 - MY(0)) + dot; }
}

#define min_ARGS(A) A(INOUT, T, dot) A(IN, T, step, CELL)
META_CELLS(min)
{
    ON(dot) = ON(dot) - ON(step);
}

#include META_AGAIN
