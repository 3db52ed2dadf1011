/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_cold.kernel.h
 *  A kernel without and one with a result, whose combination is a program of the back end's own. */
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>

#define cold_raise_ARGS(A) A(INOUT, T, field) A(VALUE, T, factor)
META_CELLS(cold_raise)
{
    AT1(field, 0) = factor * AT1(field, 0);
}

#define cold_most_ARGS(A) A(IN, T, field, CELL) A(MAX, T, most)
META_CELLS(cold_most)
{
    RAISE(most, AT1(field, 0));
}

#include META_AGAIN
