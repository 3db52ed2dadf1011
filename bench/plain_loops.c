/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain_loops.c
 *  See plain_loops.h. */
#include "plain_loops.h"

#define GRAY_SCOTT(T, name)                                                                        \
    static void name(T *restrict u1, T *restrict v1, const T *restrict u0, const T *restrict v0,   \
                     const meta_box *b)                                                            \
    {                                                                                              \
        const int64_t y1 = b->size[0], z1 = b->size[0] * b->size[1];                               \
        const T Du = PLAIN_DU, Dv = PLAIN_DV, F = PLAIN_F, k = PLAIN_K, dt = PLAIN_DT;             \
        _Pragma("omp parallel for schedule(static)") for (int64_t z = b->start[2]; z < b->end[2];  \
                                                          ++z)                                     \
        {                                                                                          \
            for (int64_t y = b->start[1]; y < b->end[1]; ++y)                                      \
                for (int64_t x = b->start[0]; x < b->end[0]; ++x) {                                \
                    const int64_t c = x + y * y1 + z * z1;                                         \
                    const T u = u0[c], v = v0[c], uvv = u * v * v;                                 \
                    const T su = u0[c - 1] + u0[c + 1] + u0[c - y1] + u0[c + y1] + u0[c - z1] +    \
                                 u0[c + z1] - 6 * u;                                               \
                    const T sv = v0[c - 1] + v0[c + 1] + v0[c - y1] + v0[c + y1] + v0[c - z1] +    \
                                 v0[c + z1] - 6 * v;                                               \
                    u1[c] = u + dt * (Du * su - uvv + F * (1 - u));                                \
                    v1[c] = v + dt * (Dv * sv + uvv - (F + k) * v);                                \
                }                                                                                  \
        }                                                                                          \
    }
GRAY_SCOTT(double, gray_scott_f64)
GRAY_SCOTT(float, gray_scott_f32)

void plain_gray_scott(void *u1, void *v1, const void *u0, const void *v0, const meta_box *box,
                      bool f64)
{
    if (f64) gray_scott_f64(u1, v1, u0, v0, box);
    else gray_scott_f32(u1, v1, u0, v0, box);
}
