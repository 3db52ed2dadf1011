/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_kernels.kernel.h
 *  Kernels for every element type, see test_user_kernels.c. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#include <meta_kernel.h>

META_FUNCTION T FN(product)(T a, T b)
{
    return a * b;
}

META_FUNCTION T FN(weighed)(int weight, T x)
{
    return FN(product)((T)weight, x);
}

/* One that contraction would change: a product and the sum that it belongs to. */
#define star_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(1)) A(VALUE, T, a)
META_CELLS(star)
{
    const T around = AT(in, -1, 0, 0) + AT(in, 1, 0, 0) + AT(in, 0, -1, 0) + AT(in, 0, 1, 0) +
                     AT(in, 0, 0, -1) + AT(in, 0, 0, 1);
    AT(out, 0, 0, 0) = FN(product)(a, AT(in, 0, 0, 0)) + around;
}

/* Each neighbour has a weight of its own, so that no two can be mistaken for each other. */
#define corners_ARGS(A) A(OUT, T, out) A(IN, T, in, BOX(1)) A(VALUE, T, a)
META_CELLS(corners)
{
    T sum = a;
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                sum += FN(weighed)(14 + x + 3 * y + 9 * z, AT(in, x, y, z));
    AT(out, 0, 0, 0) = sum;
}

#define update_ARGS(A) A(OUT, T, left) A(INOUT, T, y) A(IN, T, x, CELL) A(VALUE, T, a)
META_CELLS(update)
{
    AT(left, 0, 0, 0) = AT(y, 0, 0, 0) - AT(x, 0, 0, 0);
    AT(y, 0, 0, 0) = a * AT(y, 0, 0, 0) + AT(x, 0, 0, 0);
}

/* Reads an array anywhere, at places that another one names. */
#define gather_ARGS(A) A(IN, T, table, WHOLE) A(OUT, T, out) A(IN, int32_t, place, CELL)
META_CELLS(gather)
{
    AT(out, 0, 0, 0) = GET(table, AT(place, 0, 0, 0));
}

#include META_AGAIN
