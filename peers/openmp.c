/* SPDX-License-Identifier: BSD-3-Clause */
/** @file openmp.c
 *  The peer of the OpenMP back end: OpenBLAS and plain OpenMP loops over memory. */
#include "config.h"

#include <stdlib.h>

#include "common.h"
#include "peer.h"

#ifdef META_BLAS
#include <cblas.h>
#endif

struct meta_peer {
    int threads;
    char reason[256];
};

/* One thread's share of a loop over memory. */
typedef struct share {
    double *out;
    const double *a, *b;
    int64_t begin, end;
} share;

typedef double loop(const share *s);

/* ------------------------------------------------------------------ the loops, by instructions */

#if defined(__x86_64__)
#include <immintrin.h>
#define STREAM_END() _mm_sfence()

#define VECTOR_NAME  sse2
#define VECTOR_BYTES 16
#define VECTOR_TARGET
#define VECTOR_STREAM(p, v) _mm_stream_pd(p, (__m128d)(v))
#include "openmp_loops.h"
#define VECTOR_NAME         avx
#define VECTOR_BYTES        32
#define VECTOR_TARGET       __attribute__((target("avx")))
#define VECTOR_STREAM(p, v) _mm256_stream_pd(p, (__m256d)(v))
#include "openmp_loops.h"

#define LOOP(name) (__builtin_cpu_supports("avx") ? name##_avx : name##_sse2)

#else
#define STREAM_END()

#define VECTOR_NAME  plain
#define VECTOR_BYTES 16
#define VECTOR_TARGET
#define VECTOR_STREAM(p, v) (void)(*(VECTOR *)(p) = (v))
#include "openmp_loops.h"

#define LOOP(name) name##_plain
#endif

/* ------------------------------------------------------------------ opening */

static int open_peer(const meta_state *state, int index, int threads, meta_peer **peer,
                     char *reason, size_t room)
{
    (void)state, (void)index; /* CPUs have neither */
    meta_peer *made = calloc(1, sizeof *made);
    if (!made) return peer_fail(reason, room, "the host has no memory left");
    made->threads = threads > 0 ? threads : 1;
#ifdef HAVE_OPENBLAS_SET_NUM_THREADS
    openblas_set_num_threads(made->threads);
#endif
    *peer = made;
    return 0;
}

static void close_peer(meta_peer *peer)
{
    free(peer);
}

static const char *reason_of(const meta_peer *peer)
{
    return peer->reason;
}

/* ------------------------------------------------------------------ the dot product */

static const void *address(meta_peer_memory m)
{
    return (const char *)m.object + m.offset;
}

#ifdef META_BLAS

#define NO_BLAS NULL

static double dot_f64(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t at = 0, n; at < count; at += n) {
        n = peer_part(count - at);
        sum += cblas_ddot((int)n, a + at, 1, b + at, 1);
    }
    return sum;
}

static float dot_f32(int64_t count, const float *a, const float *b)
{
    float sum = 0;
    for (int64_t at = 0, n; at < count; at += n) {
        n = peer_part(count - at);
        sum += cblas_sdot((int)n, a + at, 1, b + at, 1);
    }
    return sum;
}

static int dot(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result)
{
    if (type == META_F64) *(double *)result = dot_f64(count, address(a), address(b));
    else if (type == META_F32) *(float *)result = dot_f32(count, address(a), address(b));
    else
        return peer_fail(peer->reason, sizeof peer->reason,
                         "OpenBLAS computes in f64 and f32 only");
    return 0;
}

#else

#define META_BLAS NULL
#define NO_BLAS                                                                                    \
    "this libmeta was built without OpenBLAS: install it (Debian: libopenblas-dev), then "         \
    "configure and build libmeta anew"

static int dot(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result)
{
    (void)type, (void)count, (void)a, (void)b, (void)result;
    return peer_fail(peer->reason, sizeof peer->reason, "%s", NO_BLAS);
}

#endif

/* ------------------------------------------------------------------ memory and launches */

static double on_all_threads(const meta_peer *peer, loop *run, const share *whole)
{
    const int64_t threads = peer->threads, each = whole->end / threads / 8 * 8;
    double sum = 0;
#pragma omp parallel for num_threads(peer->threads) schedule(static, 1) reduction(+ : sum)
    for (int64_t k = 0; k < threads; ++k) {
        share mine = *whole;
        mine.begin = k * each;
        if (k + 1 < threads) mine.end = mine.begin + each;
        sum += run(&mine);
    }
    return sum;
}

static int memory(meta_peer *peer, meta_peer_work work, int64_t count, meta_peer_memory out,
                  meta_peer_memory a, meta_peer_memory b, double *result)
{
    const share whole = {(double *)address(out), address(a), address(b), 0, count};
    loop *const loops[] = {
        [META_PEER_COPY] = LOOP(copy),
        [META_PEER_COPY_NT] = LOOP(copy_nt),
        [META_PEER_TRIAD] = LOOP(triad),
        [META_PEER_READ] = LOOP(read),
    };
    const double sum = on_all_threads(peer, loops[work], &whole);
    if (work == META_PEER_READ) *result = sum;
    return 0;
}

static int empty(meta_peer *peer, int count)
{
    for (int k = 0; k < count; ++k) {
#pragma omp parallel num_threads(peer->threads)
        __asm__ volatile("");
    }
    return 0;
}

/* Touches the memory so that the compiler cannot elide the allocation. */
static int pairs(meta_peer *peer, size_t bytes, int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        volatile char *p = malloc(bytes);
        if (!p)
            return peer_fail(peer->reason, sizeof peer->reason, "the host has no %zu bytes", bytes);
        *p = 1;
        free((void *)(uintptr_t)p);
    }
    return 0;
}

META_API const meta_peer_table meta_peer_v1 = {
    .size = sizeof meta_peer_v1,
    .blas = META_BLAS,
    .no_blas = NO_BLAS,
    .launch = "an empty parallel region",
    .open = open_peer,
    .close = close_peer,
    .reason = reason_of,
    .dot = dot,
    .sum = NULL,
    .memory = memory,
    .empty = empty,
    .stage = NULL,
    .pairs = pairs,
    .gray_scott = NULL,
};
