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
    int64_t length;    /**< of a WHOLE array, and of a SCALAR; else 0 */
    const void *value; /**< of a VALUE */
    unsigned dropped;  /**< of an array: a bit for each dimension that it lacks */
    int grown[3];      /**< what its extents have more than the box's */
} random_operand;

typedef struct random_box {
    int ndim;
    int64_t size[RANDOM_DIMS], start[RANDOM_DIMS], end[RANDOM_DIMS], stride[RANDOM_DIMS], cells;
} random_box;

typedef struct random_kernel {
    const char *name;
    int type; /**< meta_type of T */
    int least_ndim, most_ndim;
    int low[4], high[4]; /**< how far it reaches */
    int operands;
    const random_operand *operand;
    /** Run it by its typed function; @p box and @p done as there. */
    int (*call)(const void *box, void *const *argument, void *done);
    void (*oracle)(const random_box *box, void *const *argument);
    int stray;           /**< the operand that makes an access leave its array, or -1 */
    int32_t stray_value; /**< by this value */
    const char *access;  /**< which, as an error names it */
} random_kernel;

/** The table that the shared object exports; the last entry has no name. */
extern __attribute__((visibility("default"))) const random_kernel *const random_tables[];

/** NULL, or while sums are reproducible the runner's: what one cell contributes to the
 * floating-point sum that is this operand. The oracle calls it and leaves the result to the runner.
 */
extern __attribute__((visibility("default"))) void (*random_take)(int operand, double cell);

/** How often an oracle came to the access that would have left its array. */
extern __attribute__((visibility("default"))) int64_t random_strays;

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

/** The index in an array of another shape, @p x to @p w away from the cell at @p c. */
static inline __attribute__((unused)) int64_t random_at(const random_box *b,
                                                        const int64_t c[RANDOM_DIMS],
                                                        unsigned dropped, const int grown[3],
                                                        int64_t x, int64_t y, int64_t z, int64_t w)
{
    const int64_t away[RANDOM_DIMS] = {x, y, z, w};
    int64_t at = 0, stride = 1;
    for (int d = 0; d < b->ndim; ++d) {
        if (dropped >> d & 1) continue;
        at += (c[d] + away[d]) * stride;
        stride *= b->size[d] + (d < 3 ? grown[d] : 0);
    }
    return at;
}

/** A team of a box: how many members it has, the index of the first one, the team's number and how
 *  many teams there are. */
typedef struct random_team {
    int64_t extent[3], members, start[RANDOM_DIMS], number[RANDOM_DIMS], teams[RANDOM_DIMS];
} random_team;

/** Team @p n of teams of @p side. @return 0 behind the last one */
static inline __attribute__((unused)) int random_team_of(const random_box *b, const int64_t side[3],
                                                         int64_t n, random_team *t)
{
    t->members = 1;
    for (int d = 0; d < RANDOM_DIMS; ++d) {
        const int64_t most = d < 3 ? side[d] : 1, cells = d < b->ndim ? b->end[d] - b->start[d] : 1;
        t->teams[d] = (cells + most - 1) / most;
        t->number[d] = n % t->teams[d];
        n /= t->teams[d];
        const int64_t first = t->number[d] * most, left = cells - first;
        t->start[d] = (d < b->ndim ? b->start[d] : 0) + first;
        if (d >= 3) continue;
        t->extent[d] = left < most ? left : most;
        t->members *= t->extent[d];
    }
    return n == 0;
}

/** Member @p n of the team: its place @p m and coordinates. @p cell: its number in the box.
 *  @return its index in arrays */
static inline __attribute__((unused)) int64_t random_member(const random_box *b,
                                                            const random_team *t, int64_t n,
                                                            int64_t m[3], int64_t c[RANDOM_DIMS],
                                                            int64_t *cell)
{
    int64_t at = 0, cells = 1;
    *cell = 0;
    for (int d = 0; d < RANDOM_DIMS; ++d) {
        c[d] = t->start[d];
        if (d < 3) {
            m[d] = n % t->extent[d];
            n /= t->extent[d];
            c[d] += m[d];
        }
        if (d >= b->ndim) continue;
        at += c[d] * b->stride[d];
        *cell += cells * (c[d] - b->start[d]);
        cells *= b->end[d] - b->start[d];
    }
    return at;
}

#ifdef __cplusplus
}
#endif

#endif
