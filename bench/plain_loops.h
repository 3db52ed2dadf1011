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

/** A step of Gray-Scott over the cells of @p box, f64 or f32. */
void plain_gray_scott(void *u1, void *v1, const void *u0, const void *v0, const meta_box *box,
                      bool f64);

#endif
