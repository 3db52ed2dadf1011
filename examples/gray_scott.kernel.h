/* SPDX-License-Identifier: BSD-3-Clause */
/* Gray and Scott's reaction U + 2V -> 3V, with diffusion of both species: one time step. */
#include <meta_kernel.h>

#define gray_scott_ARGS(A)                                                                         \
    A(OUT, T, u1) A(OUT, T, v1) A(IN, T, u0, STAR(1)) A(IN, T, v0, STAR(1))                        \
    A(VALUE, T, Du) A(VALUE, T, Dv) A(VALUE, T, F) A(VALUE, T, k) A(VALUE, T, dt)                  \
    A(MAX, T, change)

#define LAPLACIAN(a)                                                                               \
    (AT(a, -1, 0, 0) + AT(a, 1, 0, 0) + AT(a, 0, -1, 0) + AT(a, 0, 1, 0) + AT(a, 0, 0, -1) +       \
     AT(a, 0, 0, 1) - 6 * AT(a, 0, 0, 0))

META_CELLS(gray_scott)
{
    const T u = AT(u0, 0, 0, 0), v = AT(v0, 0, 0, 0), uvv = u * v * v;
    const T du = dt * (Du * LAPLACIAN(u0) - uvv + F * (1 - u));
    const T dv = dt * (Dv * LAPLACIAN(v0) + uvv - (F + k) * v);
    AT(u1, 0, 0, 0) = u + du;
    AT(v1, 0, 0, 0) = v + dv;
    RAISE(change, ABS(dv));
}

#undef LAPLACIAN
#include META_AGAIN
