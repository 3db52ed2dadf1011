/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_program.kernel.h
 *  The kernels of user_program.c, which tests/test_user_compile.sh compiles in many ways. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_I32)
#include <meta_kernel.h>

#ifndef USER_PROGRAM_SHAPE
#define USER_PROGRAM_SHAPE
typedef struct heat_shape {
    float width[3];
    int32_t parts;
} heat_shape;
#endif

META_FUNCTION T FN(square)(T x)
{
    return x * x;
}

/* Products and sums that contraction would change, a result and a count. */
#define heat_ARGS(A)                                                                               \
    A(OUT, T, next) A(IN, T, now, BOX(1)) A(VALUE, T, k) A(VALUE, heat_shape, shape)               \
    A(MAX, T, change) A(SUM, uint64_t, hot)
META_CELLS(heat)
{
    const T here = AT(now, 0, 0, 0);
    T around = AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) + AT(now, 0, 1, 0);
    for (int z = -1; z <= 1; z += 2)
        for (int y = -1; y <= 1; y += 2) around += k * AT(now, 0, y, z);
    const T change_here = k * around - FN(square)(here) * (T)shape.width[1] + (T)shape.parts;
    AT(next, 0, 0, 0) = here + k * change_here;
    RAISE(change, ABS(change_here));
    if (here > k) ADD(hot, 1);
}

#define paint_ARGS(A)                                                                              \
    A(INOUT, T, picture) A(IN, int32_t, colour, CELL) A(IN, T, palette, WHOLE) A(MIN, int64_t, first)
META_CELLS(paint)
{
    const int64_t index = INDEX(0) + 100 * INDEX(1);
    const T colour_here = GET(palette, AT(colour, 0, 0, 0));
    AT(picture, 0, 0, 0) = MOST(AT(picture, 0, 0, 0), colour_here) - LEAST(colour_here, 3);
    if (AT(colour, 0, 0, 0) == 2) LOWER(first, index);
}

#include META_AGAIN
