/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_add.kernel.h
 *  Kernels that add to arrays, that read numbers on the device, and that write anywhere, see
 *  test_user_add.c. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#include <meta_kernel.h>

META_FUNCTION T FN(share)(int weight, T x)
{
    return (T)weight * x;
}

/* Every neighbour gets a share of its own. */
#define deposit_ARGS(A) A(ADD, T, rho, BOX(1)) A(IN, T, charge, CELL)
META_CELLS(deposit)
{
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                ADD_TO(AT(rho, x, y, z), FN(share)(14 + x + 3 * y + 9 * z, AT(charge, 0, 0, 0)));
}

/* A product that contraction would join to the sum. */
#define accumulate_ARGS(A) A(SCALAR, T, a) A(ADD, T, to, CELL) A(IN, T, x, CELL)
META_CELLS(accumulate)
{
    ADD_TO(AT(to, 0, 0, 0), a * AT(x, 0, 0, 0));
}

#define aside_ARGS(A) A(IN, T, x, STAR(1)) A(ADD, T, to, SIDES(2, 0, 0, 1, 1, 0))
META_CELLS(aside)
{
    ADD_TO(AT(to, -2, 1, -1), AT(x, 0, 0, 0));
    ADD_TO(AT(to, 0, 0, 0), AT(x, 1, 0, 0));
}

/* Two arrays that every cell may add to, one of another type, and results beside them. */
#define count_ARGS(A)                                                                              \
    A(ADD, uint32_t, cells, WHOLE) A(IN, int32_t, bin, CELL) A(ADD, T, weights, WHOLE)             \
    A(IN, T, weight, CELL) A(SUM, T, total) A(MAX, int32_t, most)
META_CELLS(count)
{
    const int32_t n = AT(bin, 0, 0, 0);
    ADD_TO(GET(cells, n), 1);
    ADD_TO(GET(weights, n + 1), AT(weight, 0, 0, 0));
    ADD(total, AT(weight, 0, 0, 0));
    RAISE(most, n);
}

/* Each cell has `length` elements, and leaves the sums of the first 1, 2 … of them there. */
#define scan_ARGS(A) A(INOUT, T, data, WHOLE) A(VALUE, int64_t, length) A(MAX, T, highest)
META_CELLS(scan)
{
    T sum = 0;
    for (int64_t k = 0; k < length; ++k) {
        sum += GET(data, INDEX(0) * length + k);
        GET(data, INDEX(0) * length + k) = sum;
    }
    RAISE(highest, sum);
}

/* No two cells have the same place. */
#define scatter_ARGS(A) A(IN, T, from, CELL) A(INOUT, T, to, WHOLE) A(IN, int32_t, place, CELL)
META_CELLS(scatter)
{
    GET(to, AT(place, 0, 0, 0)) = AT(from, 0, 0, 0) - GET(to, AT(place, 0, 0, 0));
}

#define product_ARGS(A) A(IN, T, x, CELL) A(IN, T, y, CELL) A(SUM, T, sum)
META_CELLS(product)
{
    ADD(sum, AT(x, 0, 0, 0) * AT(y, 0, 0, 0));
}

#define advance_ARGS(A)                                                                            \
    A(INOUT, T, y) A(SCALAR, T, sum) A(IN, T, x, CELL) A(SCALAR, T, before) A(SCALAR, int32_t, k)  \
    A(VALUE, T, bias)
META_CELLS(advance)
{
    AT(y, 0, 0, 0) += sum * AT(x, 0, 0, 0) - before + (T)k * bias;
}

/* No array but numbers. */
#define rest_ARGS(A) A(SCALAR, T, a) A(SCALAR, T, b) A(SUM, T, difference)
META_CELLS(rest)
{
    ADD(difference, a - b);
}

#include META_AGAIN
