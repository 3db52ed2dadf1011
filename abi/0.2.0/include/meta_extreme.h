/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_extreme.h
 *  Which of two extremes with their places is first, in every language of kernels. A NaN is the least
 *  and the most of all; of equal values that of the cell with the lower number is first. A cell's
 *  number is its place in the box in the order of memory, dimension 0 fastest, from 0 on. */
#ifndef META_EXTREME_H
#define META_EXTREME_H

/* Whether a comes before b, whatever their places. */
#define META_K_BELOW(a, b) ((a) != (a) ? (b) == (b) : (a) < (b))
#define META_K_ABOVE(a, b) ((a) != (a) ? (b) == (b) : (a) > (b))

/* Whether value x of cell n comes before value y of cell m; m is -1 where there is no cell yet. */
#define META_K_FIRST_OF(BEYOND, x, n, y, m)                                                        \
    ((m) < 0 || BEYOND(x, y) || (!BEYOND(y, x) && (n) < (m)))

/* The first of two records of a value and its cell's number, either of which may be of no cell. */
#define META_K_LOWEST_AT(a, b)                                                                     \
    ((b).number >= 0 &&                                                                            \
             META_K_FIRST_OF(META_K_BELOW, (b).value, (b).number, (a).value, (a).number)           \
         ? (b)                                                                                     \
         : (a))
#define META_K_HIGHEST_AT(a, b)                                                                    \
    ((b).number >= 0 &&                                                                            \
             META_K_FIRST_OF(META_K_ABOVE, (b).value, (b).number, (a).value, (a).number)           \
         ? (b)                                                                                     \
         : (a))

#endif
