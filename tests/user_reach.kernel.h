/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_reach.kernel.h
 *  Kernels that do not do what their lists say, where only META_CHECK=1 finds out; see
 *  test_user_reach.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Reads as far away as it is told. */
#define reads_ARGS(A)                                                                              \
    A(OUT, T, out) A(IN, T, star, STAR(1)) A(IN, T, sides, SIDES(2, 0, 0, 1, 0, 0))                \
    A(IN, T, line, BOX(1), LINE(2)) A(IN, T, cell, CELL) A(VALUE, int32_t, which)                  \
    A(VALUE, int32_t, x) A(VALUE, int32_t, y) A(VALUE, int32_t, z)
META_CELLS(reads)
{
    T found = 0;
    if (which == 0) found = AT(star, x, y, z); /* the line of star */
    if (which == 1) found = AT(sides, x, y, z); /* the line of sides */
    if (which == 2) found = AT(line, x, y, z); /* the line of line */
    if (which == 3) found = AT(cell, x, y, z); /* the line of cell */
    AT(out, 0, 0, 0) = found;
}

/* Writes as far away as it is told. */
#define writes_ARGS(A) A(OUT, T, out) A(VALUE, int32_t, x)
META_CELLS(writes)
{
    AT(out, 0, 0, 0) = 1;
    if (x != 0) AT(out, x, 0, 0) = 1; /* the line of out */
}

/* Writes only cells of an index of at least `from`, and in the others nothing, or what it finds. */
#define skips_ARGS(A) A(OUT, T, out) A(INOUT, T, sum) A(VALUE, int64_t, from) A(SUM, int64_t, cells)
META_CELLS(skips)
{
    ADD(cells, 1);
    AT(sum, 0, 0, 0) += 1;
    if (INDEX(0) >= from) AT(out, 0, 0, 0) = AT(sum, 0, 0, 0);
}

/* Copies bits: a cell may receive what a poisoned one holds. */
#define copies_ARGS(A) A(OUT, T, out) A(INOUT, T, counter) A(IN, T, in, CELL) A(SUM, int64_t, cells)
META_CELLS(copies)
{
    ADD(cells, 1);
    AT(counter, 0, 0, 0) += 1;
    AT(out, 0, 0, 0) = AT(in, 0, 0, 0);
}

#include META_AGAIN
