/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of group advice: pairs of kernels that do the same, a slow one and a fast one
 * (doc/fast-kernels.md). */
#include "meta_kernel.h"

/* Numbers between -1 and 1 in no order. */
#define advice_mix_ARGS(A) A(OUT, T, out) A(VALUE, int32_t, seed)
META_CELLS(advice_mix)
{
    uint32_t bits = (uint32_t)INDEX(0) + 1009u * (uint32_t)INDEX(1) + 31013u * (uint32_t)INDEX(2) +
                    (uint32_t)seed;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    bits = (bits ^ (bits >> 13)) * 3266489917u;
    ON(out) = (T)((int32_t)(bits >> 9) - 4194304) / (T)4194304;
}

/* The upwind flux with a limited slope: the flow chooses between elements, or between values. */
#define ADVICE_FLUX(v, far, near, ahead)                                                           \
    const T before = near - far, behind = ahead - near;                                            \
    const T limited = before * behind > 0 ? LEAST(ABS(before), ABS(behind)) : 0;                   \
    ON(flux) = v * (near + (T)0.5 * (1 - ABS(v)) * (behind > 0 ? limited : -limited))
#define advice_choose_slow_ARGS(A)                                                                 \
    A(OUT, T, flux) A(IN, T, flow, CELL) A(IN, T, q, SIDES(0, 0, 2, 1, 0, 0))
META_CELLS(advice_choose_slow)
{
    const T v = ON(flow);
    const T far = v > 0 ? AT(q, 0, -2, 0) : AT(q, 0, 1, 0);
    const T near = v > 0 ? AT(q, 0, -1, 0) : ON(q);
    const T ahead = v > 0 ? ON(q) : AT(q, 0, -1, 0);
    ADVICE_FLUX(v, far, near, ahead);
}
#define advice_choose_fast_ARGS(A)                                                                 \
    A(OUT, T, flux) A(IN, T, flow, CELL) A(IN, T, q, SIDES(0, 0, 2, 1, 0, 0))
META_CELLS(advice_choose_fast)
{
    const T v = ON(flow);
    const T a = AT(q, 0, -2, 0), b = AT(q, 0, -1, 0), c = ON(q), d = AT(q, 0, 1, 0);
    const T far = v > 0 ? a : d, near = v > 0 ? b : c, ahead = v > 0 ? c : b;
    ADVICE_FLUX(v, far, near, ahead);
}

/* Work for some cells only. */
#define advice_store_slow_ARGS(A) A(INOUT, T, x) A(IN, T, q, STAR(1))
META_CELLS(advice_store_slow)
{
    if (ON(q) > 0) ON(x) += (T)0.1 * (AT(q, 1, 0, 0) + AT(q, -1, 0, 0) - 2 * ON(q));
}
#define advice_store_fast_ARGS(A) A(INOUT, T, x) A(IN, T, q, STAR(1))
META_CELLS(advice_store_fast)
{
    const T was = ON(x), next = was + (T)0.1 * (AT(q, 1, 0, 0) + AT(q, -1, 0, 0) - 2 * ON(q));
    ON(x) = ON(q) > 0 ? next : was;
}

/* One over the square root of a number from 1 to 2 by Newton's method: until it changes no more, or
 * five times, which is enough for all of them. */
#define ADVICE_NEWTON(y, x)      y *((T)1.5 - (T)0.5 * x * y * y)
#define advice_loop_slow_ARGS(A) A(OUT, T, out) A(IN, T, q, CELL)
META_CELLS(advice_loop_slow)
{
    const T x = (T)1.5 + (T)0.5 * ON(q);
    T y = (T)0.8, change;
    do {
        const T next = ADVICE_NEWTON(y, x);
        change = ABS(next - y);
        y = next;
    } while (change > (T)1e-5);
    ON(out) = y;
}
#define advice_loop_fast_ARGS(A) A(OUT, T, out) A(IN, T, q, CELL)
META_CELLS(advice_loop_fast)
{
    const T x = (T)1.5 + (T)0.5 * ON(q);
    T y = (T)0.8;
    for (int k = 0; k < 5; ++k) y = ADVICE_NEWTON(y, x);
    ON(out) = y;
}

/* Three quotients by the width of a cell. */
#define advice_divide_slow_ARGS(A)                                                                 \
    A(OUT, T, out) A(IN, T, q, STAR(1)) A(VALUE, T, dx) A(VALUE, T, dy) A(VALUE, T, dz)
META_CELLS(advice_divide_slow)
{
    ON(out) = (AT(q, 1, 0, 0) - AT(q, -1, 0, 0)) / dx + (AT(q, 0, 1, 0) - AT(q, 0, -1, 0)) / dy +
              (AT(q, 0, 0, 1) - AT(q, 0, 0, -1)) / dz;
}
#define advice_divide_fast_ARGS(A)                                                                 \
    A(OUT, T, out) A(IN, T, q, STAR(1)) A(VALUE, T, rx) A(VALUE, T, ry) A(VALUE, T, rz)
META_CELLS(advice_divide_fast)
{
    ON(out) = (AT(q, 1, 0, 0) - AT(q, -1, 0, 0)) * rx + (AT(q, 0, 1, 0) - AT(q, 0, -1, 0)) * ry +
              (AT(q, 0, 0, 1) - AT(q, 0, 0, -1)) * rz;
}

/* Elements by their numbers, which are a multiple of the cell's own: of 1, in the order of memory.
 */
#define advice_number_ARGS(A) A(OUT, int32_t, number) A(VALUE, int32_t, by) A(VALUE, int32_t, count)
META_CELLS(advice_number)
{
    ON(number) = (int32_t)((int64_t)by * INDEX(0) % count);
}
#define advice_gather_ARGS(A) A(OUT, T, out) A(IN, T, q, WHOLE) A(IN, int32_t, number, CELL)
META_CELLS(advice_gather)
{
    ON(out) = GET(q, ON(number));
}

/* A cell adds to its neighbours: anywhere, or within a reach; or each takes what it would be given.
 */
#define advice_add_slow_ARGS(A)                                                                    \
    A(ADD, T, to, WHOLE) A(IN, T, q, CELL) A(VALUE, int64_t, row) A(VALUE, int64_t, plane)
META_CELLS(advice_add_slow)
{
    const int64_t n = INDEX(0) + row * INDEX(1) + plane * INDEX(2);
    const T x = ON(q);
    ADD_TO(GET(to, n - 1), x);
    ADD_TO(GET(to, n + 1), x);
    ADD_TO(GET(to, n - row), x);
    ADD_TO(GET(to, n + row), x);
}
#define advice_add_fast_ARGS(A) A(ADD, T, to, STAR(1)) A(IN, T, q, CELL)
META_CELLS(advice_add_fast)
{
    const T x = ON(q);
    ADD_TO(AT(to, -1, 0, 0), x);
    ADD_TO(AT(to, 1, 0, 0), x);
    ADD_TO(AT(to, 0, -1, 0), x);
    ADD_TO(AT(to, 0, 1, 0), x);
}
#define advice_pull_ARGS(A) A(INOUT, T, to) A(IN, T, q, STAR(1))
META_CELLS(advice_pull)
{
    ON(to) += AT(q, -1, 0, 0) + AT(q, 1, 0, 0) + AT(q, 0, -1, 0) + AT(q, 0, 1, 0);
}

/* A step in two launches or one; its sum by a call of its own or in the kernel; f64 or f32. */
#define advice_bend_ARGS(A) A(OUT, T, bend) A(IN, T, q, STAR(1))
META_CELLS(advice_bend)
{
    ON(bend) = AT(q, -1, 0, 0) + AT(q, 1, 0, 0) + AT(q, 0, -1, 0) + AT(q, 0, 1, 0) +
               AT(q, 0, 0, -1) + AT(q, 0, 0, 1) - 6 * ON(q);
}
#define advice_advance_ARGS(A) A(OUT, T, next) A(IN, T, q, CELL) A(IN, T, bend, CELL) A(VALUE, T, k)
META_CELLS(advice_advance)
{
    ON(next) = ON(q) + k * ON(bend);
}
#define advice_step_ARGS(A) A(OUT, T, next) A(IN, T, q, STAR(1)) A(VALUE, T, k)
META_CELLS(advice_step)
{
    ON(next) = ON(q) + k * (AT(q, -1, 0, 0) + AT(q, 1, 0, 0) + AT(q, 0, -1, 0) + AT(q, 0, 1, 0) +
                            AT(q, 0, 0, -1) + AT(q, 0, 0, 1) - 6 * ON(q));
}
#define advice_step_sum_ARGS(A) A(OUT, T, next) A(IN, T, q, STAR(1)) A(VALUE, T, k) A(SUM, T, sum)
META_CELLS(advice_step_sum)
{
    const T after = ON(q) + k * (AT(q, -1, 0, 0) + AT(q, 1, 0, 0) + AT(q, 0, -1, 0) +
                                 AT(q, 0, 1, 0) + AT(q, 0, 0, -1) + AT(q, 0, 0, 1) - 6 * ON(q));
    ON(next) = after;
    ADD(sum, after);
}

/* The least of all cells: where it lies, too, or its value alone. */
#define advice_least_at_ARGS(A) A(IN, T, q, CELL) A(MIN_AT, T, least)
META_CELLS(advice_least_at)
{
    LOWER(least, ON(q));
}
#define advice_least_ARGS(A) A(IN, T, q, CELL) A(MIN, T, least)
META_CELLS(advice_least)
{
    LOWER(least, ON(q));
}

/* A short wall: a launch for each of four fields, or one for all. */
#define advice_wall_ARGS(A) A(INOUT, T, a)
META_CELLS(advice_wall)
{
    ON(a) = -ON(a);
}
#define advice_walls_ARGS(A) A(INOUT, T, a) A(INOUT, T, b) A(INOUT, T, c) A(INOUT, T, d)
META_CELLS(advice_walls)
{
    ON(a) = -ON(a);
    ON(b) = -ON(b);
    ON(c) = -ON(c);
    ON(d) = -ON(d);
}

#undef ADVICE_FLUX
#undef ADVICE_NEWTON
#include META_AGAIN
