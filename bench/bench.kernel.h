/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of group kernels, as a program would write them. */
#include "meta_kernel.h"

/* The built-in 3d7p with sum. */
#define bench_points7_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(1)) A(SUM, T, sum)
META_CELLS(bench_points7)
{
    const T mean = (AT(in, 0, 0, -1) + AT(in, 0, -1, 0) + AT(in, -1, 0, 0) + AT(in, 0, 0, 0) +
                    AT(in, 1, 0, 0) + AT(in, 0, 1, 0) + AT(in, 0, 0, 1)) /
                   7;
    AT(out, 0, 0, 0) = mean;
    ADD(sum, mean);
}

/* Reaction and diffusion of two species: J. E. Pearson, Complex patterns in a simple system,
 * Science 261, 1993. */
#define bench_gray_scott_ARGS(A)                                                                   \
    A(OUT, T, u1)                                                                                  \
    A(OUT, T, v1)                                                                                  \
    A(IN, T, u0, STAR(1)) A(IN, T, v0, STAR(1)) A(VALUE, T, Du) A(VALUE, T, Dv) A(VALUE, T, F)     \
        A(VALUE, T, k) A(VALUE, T, dt)
META_CELLS(bench_gray_scott)
{
    const T u = AT(u0, 0, 0, 0), v = AT(v0, 0, 0, 0), uvv = u * v * v;
    const T spread_u = AT(u0, -1, 0, 0) + AT(u0, 1, 0, 0) + AT(u0, 0, -1, 0) + AT(u0, 0, 1, 0) +
                       AT(u0, 0, 0, -1) + AT(u0, 0, 0, 1) - 6 * u;
    const T spread_v = AT(v0, -1, 0, 0) + AT(v0, 1, 0, 0) + AT(v0, 0, -1, 0) + AT(v0, 0, 1, 0) +
                       AT(v0, 0, 0, -1) + AT(v0, 0, 0, 1) - 6 * v;
    AT(u1, 0, 0, 0) = u + dt * (Du * spread_u - uvv + F * (1 - u));
    AT(v1, 0, 0, 0) = v + dt * (Dv * spread_v + uvv - (F + k) * v);
}

/* Conjugate gradients for the 7-point Laplacian: q = A p and p.q; then the new x, residual and its
 * square; then the new p. M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving
 * linear systems, 1952. */
#define bench_cg_apply_ARGS(A) A(OUT, T, q) A(IN, T, p, STAR(1)) A(SUM, T, pq)
META_CELLS(bench_cg_apply)
{
    const T here = AT(p, 0, 0, 0);
    const T q_here = 6 * here - AT(p, -1, 0, 0) - AT(p, 1, 0, 0) - AT(p, 0, -1, 0) -
                     AT(p, 0, 1, 0) - AT(p, 0, 0, -1) - AT(p, 0, 0, 1);
    AT(q, 0, 0, 0) = q_here;
    ADD(pq, here * q_here);
}

#define bench_cg_descend_ARGS(A)                                                                   \
    A(INOUT, T, x) A(INOUT, T, r) A(IN, T, p, CELL) A(IN, T, q, CELL) A(VALUE, T, alpha)           \
    A(SUM, T, rr)
META_CELLS(bench_cg_descend)
{
    const T rest = AT(r, 0, 0, 0) - alpha * AT(q, 0, 0, 0);
    AT(x, 0, 0, 0) += alpha * AT(p, 0, 0, 0);
    AT(r, 0, 0, 0) = rest;
    ADD(rr, rest * rest);
}

#define bench_cg_follow_ARGS(A) A(INOUT, T, p) A(IN, T, r, CELL) A(VALUE, T, beta)
META_CELLS(bench_cg_follow)
{
    AT(p, 0, 0, 0) = AT(r, 0, 0, 0) + beta * AT(p, 0, 0, 0);
}

/* The least that a kernel with one array does. */
#define bench_least_ARGS(A) A(OUT, T, out) A(VALUE, T, value)
META_CELLS(bench_least)
{
    AT1(out, 0) = value;
}

/* Results of all cells. */
#define bench_sum_ARGS(A) A(IN, T, u, CELL) A(SUM, T, sum)
META_CELLS(bench_sum)
{
    ADD(sum, ON(u));
}

#define bench_min_ARGS(A) A(IN, T, u, CELL) A(MIN, T, least)
META_CELLS(bench_min)
{
    LOWER(least, ON(u));
}

#define bench_max_ARGS(A) A(IN, T, u, CELL) A(MAX, T, most)
META_CELLS(bench_max)
{
    RAISE(most, ON(u));
}

#define bench_min_at_ARGS(A) A(IN, T, u, CELL) A(MIN_AT, T, least)
META_CELLS(bench_min_at)
{
    LOWER(least, ON(u));
}
#include META_AGAIN
