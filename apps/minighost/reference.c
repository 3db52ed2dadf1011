/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reference.c
 *  MiniGhost 1.0's algorithm in plain OpenMP loops: stencil, copy back, sum. */
#include "config.h"

#include "reference.h"

/* For each row of the block's own cells, shared out among the threads by planes. */
#define ROWS(planes)                                                                               \
    planes for (int64_t z = p->own.start[2]; z < p->own.end[2];                                    \
                ++z) for (int64_t y = p->own.start[1], row = (z * p->size[1] + y) * p->size[0];    \
                          y < p->own.end[1]; ++y, row += p->size[0])
#define CELLS(x) for (int64_t x = row + first; x < row + end; ++x)
#define SHARED   _Pragma("omp parallel for num_threads(threads) schedule(static)")
#define SUMMED                                                                                     \
    _Pragma("omp parallel for num_threads(threads) schedule(static) reduction(+ : total)")

/* The points of a plane of the full stencils, in the order they are added. */
#define PLANE(c)                                                                                   \
    ((c)[-1 - sy] + (c)[-1] + (c)[-1 + sy] + (c)[-sy] + (c)[0] + (c)[sy] + (c)[1 - sy] + (c)[1] +  \
     (c)[1 + sy])

#define STENCIL(T, name, POINTS, n)                                                                \
    static void name##_##T(const problem *p, int threads, T *restrict work,                        \
                           const T *restrict grid)                                                 \
    {                                                                                              \
        const int64_t sy = p->size[0], sz = sy * p->size[1];                                       \
        const int64_t first = p->own.start[0], end = p->own.end[0];                                \
        (void)sz, (void)threads; /* used by some stencils, and with OpenMP */                      \
        ROWS(SHARED) CELLS(i)                                                                      \
        {                                                                                          \
            const T *c = grid + i;                                                                 \
            work[i] = (POINTS) / (n);                                                              \
        }                                                                                          \
    }

#define PASSES(T)                                                                                  \
    STENCIL(T, average_2d5p, c[-1] + c[-sy] + c[0] + c[sy] + c[1], 5)                              \
    STENCIL(T, average_2d9p, PLANE(c), 9)                                                          \
    STENCIL(T, average_3d7p, c[-sz] + c[-1] + c[-sy] + c[0] + c[sy] + c[1] + c[sz], 7)             \
    STENCIL(T, average_3d27p, PLANE(c - sz) + PLANE(c) + PLANE(c + sz), 27)                        \
    static void copy_##T(const problem *p, int threads, T *restrict grid, const T *restrict work)  \
    {                                                                                              \
        const int64_t first = p->own.start[0], end = p->own.end[0];                                \
        (void)threads;                                                                             \
        ROWS(SHARED) CELLS(i) grid[i] = work[i];                                                   \
    }                                                                                              \
    static T sum_##T(const problem *p, int threads, const T *grid)                                 \
    {                                                                                              \
        const int64_t first = p->own.start[0], end = p->own.end[0];                                \
        (void)threads;                                                                             \
        double total = 0;                                                                          \
        ROWS(SUMMED) CELLS(i) total += (double)grid[i];                                            \
        return (T)total;                                                                           \
    }
PASSES(double)
PASSES(float)

void reference_stencil(const problem *p, int threads, void *work, const void *grid)
{
    static void (*const f64[])(const problem *, int, double *restrict, const double *restrict) = {
        average_2d5p_double, average_2d9p_double, average_3d7p_double, average_3d27p_double};
    static void (*const f32[])(const problem *, int, float *restrict, const float *restrict) = {
        average_2d5p_float, average_2d9p_float, average_3d7p_float, average_3d27p_float};
    if (p->type == NUMBER_F64) f64[p->stencil](p, threads, work, grid);
    else f32[p->stencil](p, threads, work, grid);
}

void reference_copy(const problem *p, int threads, void *grid, const void *work)
{
    if (p->type == NUMBER_F64) copy_double(p, threads, grid, work);
    else copy_float(p, threads, grid, work);
}

void reference_sum(const problem *p, int threads, const void *grid, void *sum)
{
    if (p->type == NUMBER_F64) *(double *)sum = sum_double(p, threads, grid);
    else *(float *)sum = sum_float(p, threads, grid);
}
