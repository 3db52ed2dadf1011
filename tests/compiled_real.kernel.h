/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of functions that only real numbers have: of test_gpu_compilers.c. */
#include <meta_kernel.h>

META_FUNCTION T FN(norm)(T x, T y)
{
    return SQRT(x * x + y * y);
}

/* A name that C++ compilers of GPUs have a function of. */
#define hypot3_ARGS(A)                                                                             \
    A(OUT, T, length) A(IN, T, x, CELL) A(IN, T, y, CELL) A(IN, T, z, CELL) A(MIN, T, least)       \
    A(SUM, T, finite)
META_CELLS(hypot3)
{
    const T n = FN(norm)(FN(norm)(AT(x, 0, 0, 0), AT(y, 0, 0, 0)), ABS(AT(z, 0, 0, 0)));
    AT(length, 0, 0, 0) = n;
    LOWER(least, n);
    if (n < (T)INFINITY) ADD(finite, (T)floor(n) + (T)exp((double)-n));
}
#include META_AGAIN
