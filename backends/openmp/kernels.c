/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  The CPU kernels, shared and specific to this back end. Compiled once per instruction set listed
 *  in openmp.am; -DOPENMP_VARIANT= names the variant. */
#include "openmp.h"

#include "faces_loops.h"
#include "meta_host_kernels.h"
#include "stream.h"
#include "sweep.h"
#include "vector.h"

#include "user_exact.h"

/* ------------------------------------------------------------------ sums */

/* Accumulators in double for each of four rows: vector lanes, and a scalar for remainders. */
typedef struct lanes_sum {
    vector_f64 of[SWEEP_ROWS];
    double rest[SWEEP_ROWS];
} lanes_sum;

static inline void lanes_add_f64(lanes_sum *sums, int row, vector_f64 v)
{
    sums->of[row] += v;
}

static inline void lanes_add_f32(lanes_sum *sums, int row, vector_f32 v)
{
    half_f32 half[2];
    memcpy(half, &v, sizeof v);
    sums->of[row] += vector_widened(half[0]) + vector_widened(half[1]);
}

static inline void lanes_multiply_f64(lanes_sum *sums, int run, vector_f64 v, vector_f64 w)
{
    sums->of[run] += v * w;
}

static inline void lanes_multiply_f32(lanes_sum *sums, int run, vector_f32 v, vector_f32 w)
{
    half_f32 a[2], b[2];
    memcpy(a, &v, sizeof v);
    memcpy(b, &w, sizeof w);
    for (int k = 0; k < 2; ++k) sums->of[run] += vector_widened(a[k]) * vector_widened(b[k]);
}

static double lanes_total(const lanes_sum *sums)
{
    const vector_f64 all = (sums->of[0] + sums->of[1]) + (sums->of[2] + sums->of[3]);
    double total = (sums->rest[0] + sums->rest[1]) + (sums->rest[2] + sums->rest[3]);
    for (size_t k = 0; k < sizeof all / sizeof total; ++k) total += all[k];
    return total;
}

/* ------------------------------------------------------------------ stencils */

#define META_SUFFIX f64
#define META_T      meta_f64
#define VECTOR      vector_f64
#include "stencil.h"
#define META_SUFFIX f32
#define META_T      meta_f32
#define VECTOR      vector_f32
#include "stencil.h"

/* ------------------------------------------------------------------ reductions */

enum { RUNS = SWEEP_ROWS, LINE_CELLS = 16 };

#define META_SUFFIX  f64
#define META_T       meta_f64
#define VECTOR       vector_f64
#define MASKS        vector_i64
#define META_LOWEST  (-(meta_f64)INFINITY)
#define META_HIGHEST ((meta_f64)INFINITY)
#include "reduction.h"
#define META_SUFFIX f32
#define META_T      meta_f32
#define VECTOR      vector_f32
#define MASKS       vector_i32
#include "reduction.h"

static meta_kernel_function *floating_of(uint32_t kernel, uint32_t type)
{
#define CASE(NAME, name)                                                                           \
    case META_KERNEL_##NAME:                                                                       \
        return type == META_F64 ? cpu_##name##_f64 : cpu_##name##_f32;
#define STENCIL(NAME, name) CASE(STENCIL_##NAME, name) CASE(STENCIL_##NAME##_SUM, name##_sum)
    if (type == META_F64 || type == META_F32) switch (kernel) {
            STENCIL(2D5P, 2d5p)
            STENCIL(2D9P, 2d9p)
            STENCIL(3D7P, 3d7p)
            STENCIL(3D27P, 3d27p)
            CASE(REDUCE_SUM, reduce_sum)
            CASE(REDUCE_MIN, reduce_min)
            CASE(REDUCE_MAX, reduce_max)
            CASE(DOT, dot)
        default:
            break;
        }
#undef CASE
#undef STENCIL
    return NULL;
}

/* ------------------------------------------------------------------ moves */

/* Copy whole rows with nontemporal stores. */
static void stream_rows(const meta_work *w, meta_i64 bytes)
{
    const meta_space *s = w->space;
    const meta_i64 first = w->column[0] * bytes;
    const size_t length = (size_t)((w->column[1] - w->column[0]) * bytes);
    META_ROWS(r)
    {
        char *to = (char *)w->object[0] + r.at[0] * bytes + first;
        const char *from = (const char *)w->object[1] + r.at[1] * bytes + first;
        vector_stream_copy(to, from, length);
    }
    vector_stream_end();
}

static void copy(const meta_work *w, meta_i64 bytes)
{
    const meta_space *s = w->space;
    const int whole_rows = s->layout[0].stride[0] == 1 && s->layout[1].stride[0] == 1;
    if (whole_rows && stream_pays(s->rows * s->extent[0] * bytes)) stream_rows(w, bytes);
    else faces_move(w, NULL, bytes, faces_loop_of);
}

/* Packed data is sent next and unpacked data is used next, so keep both in the caches. */
#define MOVES(bytes, name)                                                                         \
    static void cpu_copy_##name(const meta_work *w)                                                \
    {                                                                                              \
        copy(w, bytes);                                                                            \
    }                                                                                              \
    static void cpu_face_##name(const meta_work *w)                                                \
    {                                                                                              \
        faces_move(w, NULL, bytes, faces_loop_of);                                                 \
    }                                                                                              \
    static void cpu_faces_##name(const meta_work *w, const meta_work *also)                        \
    {                                                                                              \
        faces_move(w, also, bytes, faces_loop_of);                                                 \
    }
META_MOVE_TYPES(MOVES)
#undef MOVES

/* Functions are NULL if the kernel is not a copy, pack or unpack. */
static openmp_kernel move_of(uint32_t kernel, uint32_t type)
{
    const int is_copy = kernel == META_KERNEL_COPY;
    if (!is_copy && kernel != META_KERNEL_PACK && kernel != META_KERNEL_UNPACK)
        return (openmp_kernel){.run = NULL};
    if (type >= META_TYPE_COUNT) return (openmp_kernel){.run = NULL};
    switch (meta_element_bytes(type)) {
#define CASE(bytes, name)                                                                          \
    case bytes:                                                                                    \
        return (openmp_kernel){.run = is_copy ? cpu_copy_##name : cpu_face_##name,                 \
                               .run_two = cpu_faces_##name};
        META_MOVE_TYPES(CASE)
#undef CASE
    default:
        return (openmp_kernel){.run = NULL};
    }
}

/* ------------------------------------------------------------------ the table */

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

const openmp_exact JOIN(openmp_exact_, OPENMP_VARIANT) = {sizeof(meta_exact_sum), exact_begin,
                                                          exact_take, exact_end};

openmp_kernel JOIN(openmp_kernel_, OPENMP_VARIANT)(uint32_t kernel, uint32_t type)
{
    const meta_host_kernel shared = meta_host_kernel_of(kernel, type);
    const openmp_kernel move = move_of(kernel, type);
    meta_kernel_function *own = floating_of(kernel, type);
    if (move.run) return move;
    return (openmp_kernel){.run = own ? own : shared.run, .finish = shared.finish};
}
