/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_exact_many.kernel.h
 *  A kernel of many floating-point sums, see test_user_exact.c. */
#define META_KERNEL_FILE "user_exact_many.kernel.h"
#include <meta_kernel.h>

#define EACH(X)                                                                                    \
    X(s00, 1) X(s01, 2) X(s02, 3) X(s03, 4) X(s04, 5) X(s05, 6) X(s06, 7) X(s07, 8) X(s08, 9)      \
    X(s09, 10) X(s10, 11) X(s11, 12) X(s12, 13) X(s13, 14) X(s14, 15) X(s15, 16) X(s16, 17)        \
    X(s17, 18) X(s18, 19) X(s19, 20) X(s20, 21) X(s21, 22) X(s22, 23) X(s23, 24)
#define exact_many_ARGS(A)                                                                         \
    A(IN, T, x, CELL) A(SUM, T, s00) A(SUM, T, s01) A(SUM, T, s02) A(SUM, T, s03) A(SUM, T, s04)   \
    A(SUM, T, s05) A(SUM, T, s06) A(SUM, T, s07) A(SUM, T, s08) A(SUM, T, s09) A(SUM, T, s10)      \
    A(SUM, T, s11) A(SUM, T, s12) A(SUM, T, s13) A(SUM, T, s14) A(SUM, T, s15) A(SUM, T, s16)      \
    A(SUM, T, s17) A(SUM, T, s18) A(SUM, T, s19) A(SUM, T, s20) A(SUM, T, s21) A(SUM, T, s22)      \
    A(SUM, T, s23) A(MAX, T, most)
#define ADD_TIMES(sum, factor) ADD(sum, ON(x) * (T)factor);
META_CELLS(exact_many)
{
    EACH(ADD_TIMES)
    RAISE(most, ON(x));
}
#undef EACH
#undef ADD_TIMES

#include META_AGAIN
