/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_sums.h
 *  Exact sums of doubles, computed bit by bit: the oracle for reproducible sums. And arrays that
 *  are hard to sum. */
#ifndef META_TEST_EXACT_SUMS_H
#define META_TEST_EXACT_SUMS_H

#include "cases.h"

/** How often each bit was added less how often it was subtracted; bit 0 is 2^-1074. */
typedef struct exact {
    int64_t bit[2240];
    bool nan, plus, minus; /**< what was met that is not finite */
} exact;

void exact_add(exact *sum, double x);
/** Element @p at of an array of doubles or floats. */
double exact_at(const void *array, int64_t at, meta_type type);
/** The sum rounded to nearest, ties to even, as the bits of an element of @p type; +0 where it is
 * zero and one quiet NaN. */
uint64_t exact_round(const exact *sum, meta_type type);
/** Of the cells of @p box; of the products where @p b is not NULL, those of doubles rounded. */
void exact_add_box(exact *sum, const void *a, const void *b, const meta_box *box, meta_type type);

enum { EXACT_FLAVOURS = 10 };
/** Numbers of a kind: of a few binades, of all, denormals, cancelling, infinite, … */
void exact_fill(void *array, int64_t count, meta_type type, int flavour);

#endif
