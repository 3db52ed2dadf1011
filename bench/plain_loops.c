/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain_loops.c
 *  See plain_loops.h. */
#include "plain_loops.h"

#include <math.h>

#ifdef _OPENMP
#include <omp.h>
#endif

void plain_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

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

#define RESULT(T, name, rows, cells, begin, take)                                                  \
    static double name(const T *u, const meta_box *b)                                              \
    {                                                                                              \
        T r = begin;                                                                               \
        _Pragma(rows) for (int64_t z = b->start[2]; z < b->end[2]; ++z)                            \
        {                                                                                          \
            for (int64_t y = b->start[1]; y < b->end[1]; ++y) {                                    \
                const T *row = u + (z * b->size[1] + y) * b->size[0];                              \
                const int64_t end = b->end[0];                                                     \
                _Pragma(cells) for (int64_t x = b->start[0]; x < end; ++x) take;                   \
            }                                                                                      \
        }                                                                                          \
        return (double)r;                                                                          \
    }
#define RESULTS(T, name)                                                                           \
    RESULT(T, sum_##name, "omp parallel for schedule(static) reduction(+ : r)",                    \
           "omp simd reduction(+ : r)", 0, r += row[x])                                            \
    RESULT(T, min_##name, "omp parallel for schedule(static) reduction(min : r)",                  \
           "omp simd reduction(min : r)", INFINITY, r = row[x] < r ? row[x] : r)                   \
    RESULT(T, max_##name, "omp parallel for schedule(static) reduction(max : r)",                  \
           "omp simd reduction(max : r)", -INFINITY, r = row[x] > r ? row[x] : r)
RESULTS(double, f64)
RESULTS(float, f32)

double plain_result(const void *u, const meta_box *box, meta_op op, bool f64)
{
    if (op == META_SUM) return f64 ? sum_f64(u, box) : sum_f32(u, box);
    if (op == META_MIN) return f64 ? min_f64(u, box) : min_f32(u, box);
    return f64 ? max_f64(u, box) : max_f32(u, box);
}

/* ------------------------------------------------------------------ a step of MiniGhost */

/* Of a dense array with one ghost cell around. */
#define EACH_CELL(n)                                                                               \
    for (int64_t z = 1; z <= (n); ++z)                                                             \
        for (int64_t y = 1; y <= (n); ++y)                                                         \
            for (int64_t c = (z * ((n) + 2) + y) * ((n) + 2) + 1, end = c + (n); c < end; ++c)

#define MINIGHOST(T, name)                                                                         \
    static double name(T *restrict field, T *restrict work, int64_t n)                             \
    {                                                                                              \
        const int64_t Y = n + 2, Z = (n + 2) * (n + 2);                                            \
        double sum = 0;                                                                            \
        _Pragma("omp parallel for schedule(static)") EACH_CELL(n) work[c] =                        \
            (field[c - Z] + field[c - 1] + field[c - Y] + field[c] + field[c + Y] + field[c + 1] + \
             field[c + Z]) /                                                                       \
            7;                                                                                     \
        _Pragma("omp parallel for schedule(static)") EACH_CELL(n) field[c] = work[c];              \
        _Pragma("omp parallel for schedule(static) reduction(+ : sum)") EACH_CELL(n) sum +=        \
            (double)field[c];                                                                      \
        return sum;                                                                                \
    }
MINIGHOST(double, minighost_f64)
MINIGHOST(float, minighost_f32)

double plain_minighost(void *field, void *work, int64_t n, bool f64)
{
    return f64 ? minighost_f64(field, work, n) : minighost_f32(field, work, n);
}

/* ------------------------------------------------------------------ conjugate gradients */

#define CONJUGATE_GRADIENTS(T, suffix)                                                             \
    static void begin_##suffix(T *restrict x, T *restrict r, T *restrict p, int64_t n)             \
    {                                                                                              \
        _Pragma("omp parallel for schedule(static)") EACH_CELL(n)                                  \
        {                                                                                          \
            x[c] = 0;                                                                              \
            r[c] = p[c] = 1;                                                                       \
        }                                                                                          \
    }                                                                                              \
    static double apply_##suffix(T *restrict q, const T *restrict p, int64_t n)                    \
    {                                                                                              \
        const int64_t Y = n + 2, Z = (n + 2) * (n + 2);                                            \
        double pq = 0;                                                                             \
        _Pragma("omp parallel for schedule(static) reduction(+ : pq)") EACH_CELL(n)                \
        {                                                                                          \
            q[c] = 6 * p[c] - p[c - 1] - p[c + 1] - p[c - Y] - p[c + Y] - p[c - Z] - p[c + Z];     \
            pq += p[c] * q[c];                                                                     \
        }                                                                                          \
        return pq;                                                                                 \
    }                                                                                              \
    static double descend_##suffix(T *restrict x, T *restrict r, const T *restrict p,              \
                                   const T *restrict q, T alpha, int64_t n)                        \
    {                                                                                              \
        double rr = 0;                                                                             \
        _Pragma("omp parallel for schedule(static) reduction(+ : rr)") EACH_CELL(n)                \
        {                                                                                          \
            x[c] += alpha * p[c];                                                                  \
            r[c] -= alpha * q[c];                                                                  \
            rr += r[c] * r[c];                                                                     \
        }                                                                                          \
        return rr;                                                                                 \
    }                                                                                              \
    static void follow_##suffix(T *restrict p, const T *restrict r, T beta, int64_t n)             \
    {                                                                                              \
        _Pragma("omp parallel for schedule(static)") EACH_CELL(n) p[c] = r[c] + beta * p[c];       \
    }
CONJUGATE_GRADIENTS(double, f64)
CONJUGATE_GRADIENTS(float, f32)

void plain_cg_begin(void *x, void *r, void *p, int64_t n, bool f64)
{
    if (f64) begin_f64(x, r, p, n);
    else begin_f32(x, r, p, n);
}

double plain_cg_apply(void *q, const void *p, int64_t n, bool f64)
{
    return f64 ? apply_f64(q, p, n) : apply_f32(q, p, n);
}

double plain_cg_descend(void *x, void *r, const void *p, const void *q, double alpha, int64_t n,
                        bool f64)
{
    return f64 ? descend_f64(x, r, p, q, alpha, n) : descend_f32(x, r, p, q, (float)alpha, n);
}

void plain_cg_follow(void *p, const void *r, double beta, int64_t n, bool f64)
{
    if (f64) follow_f64(p, r, beta, n);
    else follow_f32(p, r, (float)beta, n);
}
