/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_reach.kernel.h
 *  Kernels that do not do what their lists say, where only META_CHECK=1 finds out; see
 *  test_user_reach.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Reads as far away as it is told. */
#define reads_ARGS(A)                                                                              \
    A(OUT, T, out) A(IN, T, star, STAR(1)) A(IN, T, sides, SIDES2(2, 0, 0, 1))                \
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

/* Reads the elements that it is told. */
#define gets_ARGS(A) A(OUT, T, out) A(IN, T, table, WHOLE) A(IN, int32_t, index, CELL)
META_CELLS(gets)
{
    ON(out) = GET(table, ON(index)); /* the line of table */
}

/* Writes one element and adds to another, as it is told. */
#define puts_at_ARGS(A)                                                                            \
    A(IN, T, in, CELL) A(INOUT, T, to, WHOLE) A(ADD, T, sum, WHOLE) A(VALUE, int64_t, put)         \
    A(VALUE, int64_t, add)
META_CELLS(puts_at)
{
    if (INDEX(0) == 2 && INDEX(1) == 2 && INDEX(2) == 2) GET(to, put) = ON(in); /* the line of to */
    ADD_TO(GET(sum, add), 1); /* the line of sum */
}

/* Adds as far away as it is told. */
#define adds_ARGS(A)                                                                               \
    A(ADD, T, sum, SIDES2(1, 0, 0, 2)) A(VALUE, int64_t, x) A(VALUE, int64_t, y)
META_CELLS(adds)
{
    ADD_TO(AT(sum, x, y, 0), 1); /* the line of SIDES */
}

/* As many arrays as are possible, read as far away as it is told. */
#define REACH_FIVE(A, x)                                                                           \
    A(IN, T, x##0, CELL) A(IN, T, x##1, CELL) A(IN, T, x##2, CELL) A(IN, T, x##3, CELL)            \
    A(IN, T, x##4, CELL)
#define most_ARGS(A)                                                                               \
    A(OUT, T, out) REACH_FIVE(A, a) REACH_FIVE(A, b) REACH_FIVE(A, c) REACH_FIVE(A, d)             \
    REACH_FIVE(A, e) REACH_FIVE(A, f) A(IN, T, last, WHOLE) A(VALUE, int64_t, x)                   \
    A(VALUE, int64_t, n)
META_CELLS(most)
{
    ON(out) = ON(a0) + ON(b1) + ON(c2) + ON(d3) + ON(e4) + AT(f4, x, 0, 0) + GET(last, n);
}

#include META_AGAIN
