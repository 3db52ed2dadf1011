/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sums.h
 *  Expected sums over many elements: exact for integers; for floats, within the rounding error
 *  bound of additions in any order. */
#ifndef META_TEST_SUMS_H
#define META_TEST_SUMS_H

#include "cases.h"

typedef struct sum_expected {
    long double real, magnitude; /**< the sum of the terms and that of their absolute values */
    uint64_t whole;              /**< the sum of integer terms modulo 2^64 */
    int64_t count;
} sum_expected;

/** Element @p at of an array as a real number, and, of an integer type, modulo 2^64. */
long double sum_real(const void *array, int64_t at, meta_type type);
uint64_t sum_whole(const void *array, int64_t at, meta_type type);
void sum_add(sum_expected *sum, long double real, uint64_t whole);
/** The element at @p found is the sum expected; fails under the name @p where if not. */
void sum_check(const void *found, const sum_expected *expected, meta_type type, const char *where);

#endif
