/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_table.h
 *  What random_kernels writes for random_run: a table of kernels with their parameters, a typed
 * call and an oracle of each. Read as C and as C++. */
#ifndef META_RANDOM_TABLE_H
#define META_RANDOM_TABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RANDOM_DIMS = 6 };

/** What an array is filled with: whole numbers from low to high; floating numbers that are quarters
 *  from low to high, that are anything between -1 and 1, or of any size, with now and then a zero
 * of either sign, a subnormal, an infinity or a NaN; any bits. */
enum { RANDOM_WHOLE, RANDOM_QUARTERS, RANDOM_UNIT, RANDOM_WILD, RANDOM_ANY };

typedef struct random_operand {
    const char *name;
    int kind;          /**< meta_parameter_kind */
    int type;          /**< meta_type */
    int fill;          /**< of an array */
    int64_t low, high; /**< of what it is filled with */
    int64_t length;    /**< of a WHOLE array, else 0 */
    const void *value; /**< of a VALUE */
} random_operand;

typedef struct random_box {
    int ndim;
    int64_t size[RANDOM_DIMS], start[RANDOM_DIMS], end[RANDOM_DIMS], stride[RANDOM_DIMS], cells;
} random_box;

typedef struct random_kernel {
    const char *name;
    int type; /**< meta_type of T */
    int least_ndim;
    int low[4], high[4]; /**< how far it reaches */
    int operands;
    const random_operand *operand;
    /** Run it by its typed function; @p box and @p done as there. */
    int (*call)(const void *box, void *const *argument, void *done);
    void (*oracle)(const random_box *box, void *const *argument);
} random_kernel;

/** The table that the shared object exports; the last entry has no name. */
extern __attribute__((visibility("default"))) const random_kernel *const random_tables[];

/** NULL, or while sums are reproducible the runner's: what one cell contributes to the floating-point
 *  sum that is this operand. The oracle calls it and leaves the result to the runner. */
extern __attribute__((visibility("default"))) void (*random_take)(int operand, double cell);

/** Coordinates of cell @p n of the box; the others are 0. @return its index in arrays */
static inline __attribute__((unused)) int64_t random_cell(const random_box *b, int64_t n,
                                                          int64_t c[RANDOM_DIMS])
{
    int64_t at = 0;
    for (int d = 0; d < RANDOM_DIMS; ++d) {
        c[d] = 0;
        if (d >= b->ndim) continue;
        const int64_t extent = b->end[d] - b->start[d];
        c[d] = b->start[d] + n % extent;
        n /= extent;
        at += c[d] * b->stride[d];
    }
    return at;
}

#ifdef __cplusplus
}
#endif

#endif
