/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain_loops.h
 *  What a program without libmeta would write: OpenMP loops, compiled with -O3 -march=native. */
#ifndef BENCH_PLAIN_LOOPS_H
#define BENCH_PLAIN_LOOPS_H

#include <stdbool.h>

#include "meta.h"

/* Of Gray-Scott: diffusion, feed and kill rates, time step. */
#define PLAIN_DU 0.2f
#define PLAIN_DV 0.1f
#define PLAIN_F  0.03f
#define PLAIN_K  0.06f
#define PLAIN_DT 1

/** On how many threads the loops run. */
void plain_threads(int threads);

/** A step of Gray-Scott over the cells of @p box, f64 or f32. */
void plain_gray_scott(void *u1, void *v1, const void *u0, const void *v0, const meta_box *box,
                      bool f64);

/** The sum, the least or the greatest of the cells of @p box, f64 or f32; a NaN may be passed over.
 */
double plain_result(const void *u, const meta_box *box, meta_op op, bool f64);

/** A step of MiniGhost 1.0's algorithm as its authors published it (Barrett, Vaughan and Heroux,
 *  MiniGhost 1.0, 2012), f64 or f32, over the n³ cells of a dense array with one ghost cell around:
 *  the averages of 7 points are written to @p work, copied back, and summed. @return the sum */
double plain_minighost(void *field, void *work, int64_t n, bool f64);

/* The loops of conjugate gradients, f64 or f32, over the n³ cells of dense arrays with one ghost
 * cell around. */

/** x = 0, r = p = 1. */
void plain_cg_begin(void *x, void *r, void *p, int64_t n, bool f64);
/** q = A p with the 7-point Laplacian. @return p.q */
double plain_cg_apply(void *q, const void *p, int64_t n, bool f64);
/** x += alpha p, r -= alpha q. @return r.r */
double plain_cg_descend(void *x, void *r, const void *p, const void *q, double alpha, int64_t n,
                        bool f64);
/** p = r + beta p. */
void plain_cg_follow(void *p, const void *r, double beta, int64_t n, bool f64);

#endif
