/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_program.kernel.h
 *  The kernels of user_program.c, which tests/test_user_compile.sh compiles in many ways. */
#ifdef USER_PROGRAM_FEW /* types, in a sample */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_I32)
#else
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_I32)
#endif
#include <meta_kernel.h>

#ifndef USER_PROGRAM_SHAPE
#define USER_PROGRAM_SHAPE
typedef struct heat_shape {
    float width[3];
    int32_t parts;
} heat_shape;
#endif

META_FUNCTION T FN(square)(T x)
{
    return x * x;
}

/* Products and sums that contraction would change, a result and a count. */
#define heat_ARGS(A)                                                                               \
    A(OUT, T, next) A(IN, T, now, BOX(1)) A(VALUE, T, k) A(VALUE, heat_shape, shape)               \
    A(MAX, T, change) A(SUM, uint64_t, sum)
META_CELLS(heat)
{
    const T here = AT(now, 0, 0, 0);
    T around = AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) + AT(now, 0, 1, 0);
    for (int z = -1; z <= 1; z += 2)
        for (int y = -1; y <= 1; y += 2) around += k * AT(now, 0, y, z);
    const T change_here = k * around - FN(square)(here) * (T)shape.width[1] + (T)shape.parts;
    AT(next, 0, 0, 0) = here + k * change_here;
    RAISE(change, ABS(change_here));
    if (here > k) ADD(sum, 1);
}

#define paint_ARGS(A)                                                                              \
    A(INOUT, T, picture, CELL) A(IN, int32_t, colour, CELL) A(IN, T, palette, WHOLE) A(MIN, int64_t, first)
META_CELLS(paint)
{
    const int64_t index = INDEX(0) + 100 * INDEX(1);
    const T colour_here = GET(palette, AT(colour, 0, 0, 0));
    AT(picture, 0, 0, 0) = MOST(AT(picture, 0, 0, 0), colour_here) - LEAST(colour_here, 3);
    if (AT(colour, 0, 0, 0) == 2) LOWER(first, index);
}

/* One addition for each element, of a product that contraction would join to it; a number on the
 * device; and a count of another type. */
#define pour_ARGS(A)                                                                               \
    A(ADD, T, next, SIDES(1, 1, 0, 0, 0, 0)) A(IN, T, now, CELL) A(SCALAR, T, k)                   \
    A(ADD, int32_t, colours, WHOLE) A(IN, int32_t, colour, CELL)
META_CELLS(pour)
{
    ADD_TO(AT(next, 1, 0, 0), k * AT(now, 0, 0, 0));
    ADD_TO(GET(colours, AT(colour, 0, 0, 0)), 2.5);
}

/* Where the greatest product lies, which contraction would change, and the least of another type. */
#define peaks_ARGS(A)                                                                              \
    A(IN, T, now, STAR(1)) A(IN, int32_t, colour, CELL) A(MAX_AT, T, highest)                      \
    A(MIN_AT, int32_t, lowest) A(SUM, int64_t, cells)
META_CELLS(peaks)
{
    RAISE(highest, ON(now) * ON(now) - AT(now, 1, 0, 0) * AT(now, -1, 0, 0));
    if (ON(colour) % 3 == 1) LOWER(lowest, ON(colour));
    ADD(cells, 1);
}

/* Each cell turns four elements of its own round. */
#define turn_ARGS(A) A(INOUT, T, picture, WHOLE) A(VALUE, T, by)
META_CELLS(turn)
{
    const int64_t first = 4 * (INDEX(0) + 77 * INDEX(1));
    for (int k = 0; k < 2; ++k) {
        const T kept = GET(picture, first + k);
        GET(picture, first + k) = by * GET(picture, first + 3 - k) - kept;
        GET(picture, first + 3 - k) = kept;
    }
}

/* Teams: each cell is joined to the one that lies opposite in its team. */
#define fold_ARGS(A)                                                                               \
    A(INOUT, T, picture) A(IN, T, now, BOX(1)) A(SHARED, T, tile, 8 * 4 * 2) A(VALUE, T, by)       \
    A(SHARED, int32_t, rounds, 1) A(SUM, int64_t, sum) A(SUM, double, amount)
META_TEAMS(fold, 8, 4, 2)
{
    MEMBERS
    {
        SHARED(tile, MY(0) + 8 * (MY(1) + 4 * MY(2))) = AT(now, 1, 0, -1);
        if (MY(0) + MY(1) + MY(2) == 0) SHARED(rounds, 0) = 0;
    }
    for (int64_t pass = 0; pass < 2; ++pass) {
        MEMBERS
        {
            const int64_t x = EXTENT(0) - 1 - MY(0);
            ON(picture) = by * SHARED(tile, x + 8 * (MY(1) + 4 * MY(2))) + FN(square)(ON(picture));
            if (MY(0) == EXTENT(0) - 1 && MY(1) + MY(2) == 0) SHARED(rounds, 0) += (int32_t)TEAM(1);
        }
    }
    MEMBERS
    {
        ADD(sum, SHARED(rounds, 0) + START(0) + TEAMS(2));
        ADD(amount, (double)(2 * TEAM(0) + 1)); /* exact in any order */
    }
}

#include META_AGAIN
