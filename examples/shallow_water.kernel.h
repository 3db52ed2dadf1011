/* SPDX-License-Identifier: BSD-3-Clause */
/* The shallow water equations by Lax and Friedrichs' scheme: one time step of the water's height h
 * and its discharges p and q along x and y. The speed of the fastest wave bounds the next step. */
#include <meta_kernel.h>

#define shallow_water_ARGS(A)                                                                      \
    A(OUT, T, h1) A(OUT, T, p1) A(OUT, T, q1)                                                      \
    A(IN, T, h0, STAR(1)) A(IN, T, p0, STAR(1)) A(IN, T, q0, STAR(1))                              \
    A(VALUE, T, gravity) A(VALUE, T, ratio) A(MAX, T, speed)

#define MEAN(a) ((AT2(a, -1, 0) + AT2(a, 1, 0) + AT2(a, 0, -1) + AT2(a, 0, 1)) / 4)
#define PUSH(x, y)                                                                                 \
    (AT2(p0, x, y) * AT2(p0, x, y) / AT2(h0, x, y) + gravity / 2 * AT2(h0, x, y) * AT2(h0, x, y))
#define PUSH_Y(x, y)                                                                               \
    (AT2(q0, x, y) * AT2(q0, x, y) / AT2(h0, x, y) + gravity / 2 * AT2(h0, x, y) * AT2(h0, x, y))
#define DRAG(x, y) (AT2(p0, x, y) * AT2(q0, x, y) / AT2(h0, x, y))

META_CELLS(shallow_water)
{
    const T r = ratio / 2; /* of the time step to a cell's length */
    const T h = MEAN(h0) - r * (AT2(p0, 1, 0) - AT2(p0, -1, 0) + AT2(q0, 0, 1) - AT2(q0, 0, -1));
    const T p = MEAN(p0) - r * (PUSH(1, 0) - PUSH(-1, 0) + DRAG(0, 1) - DRAG(0, -1));
    const T q = MEAN(q0) - r * (DRAG(1, 0) - DRAG(-1, 0) + PUSH_Y(0, 1) - PUSH_Y(0, -1));
    AT2(h1, 0, 0) = h;
    AT2(p1, 0, 0) = p;
    AT2(q1, 0, 0) = q;
    RAISE(speed, MOST(ABS(p), ABS(q)) / h + SQRT(gravity * h));
}

#undef MEAN
#undef PUSH
#undef PUSH_Y
#undef DRAG
#include META_AGAIN
