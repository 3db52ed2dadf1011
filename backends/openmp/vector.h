/* SPDX-License-Identifier: BSD-3-Clause */
/** @file vector.h
 *  Vectors as wide as the target instruction set allows, and nontemporal stores. Requires GCC's
 *  vector extensions. */
#ifndef META_OPENMP_VECTOR_H
#define META_OPENMP_VECTOR_H

#include <stdint.h>
#include <string.h>

/* No 64-byte vectors with AddressSanitizer: GCC 12 then aligns stack frames to only 32 bytes (GCC
 * bug 110027). */
#if defined(__AVX512F__) && !defined(__SANITIZE_ADDRESS__)
#define VECTOR_512
#endif

#if defined(VECTOR_512)
#include <immintrin.h>
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
#include <immintrin.h>
enum { VECTOR_BYTES = 32 };
#elif defined(__SSE2__)
#include <emmintrin.h>
enum { VECTOR_BYTES = 16 };
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
enum { VECTOR_BYTES = __ARM_FEATURE_SVE_BITS / 8 };
#else
enum { VECTOR_BYTES = 16 };
#endif

/* Aligned like their elements; comparisons yield the integer vectors. */
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef int64_t vector_i64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vector_i32 __attribute__((vector_size(VECTOR_BYTES)));
typedef float half_f32 __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

/* a < b ? a : b and a > b ? a : b, lane by lane. */
#if defined(VECTOR_512)
#define VECTOR_OF_TWO(f, a, b) _mm512_##f(a, b)
#elif defined(__AVX__)
#define VECTOR_OF_TWO(f, a, b) _mm256_##f(a, b)
#elif defined(__SSE2__)
#define VECTOR_OF_TWO(f, a, b) _mm_##f(a, b)
#endif
#ifdef VECTOR_OF_TWO
#define VECTOR_EXTREME(name, type, mask, f, is)                                                    \
    static inline vector_##type vector_##name##_##type(vector_##type a, vector_##type b)           \
    {                                                                                              \
        return (vector_##type)VECTOR_OF_TWO(f, a, b);                                              \
    }
#else
#define VECTOR_EXTREME(name, type, mask, f, is)                                                    \
    static inline vector_##type vector_##name##_##type(vector_##type a, vector_##type b)           \
    {                                                                                              \
        const vector_##mask is_a = (vector_##mask)(a is b);                                        \
        return (vector_##type)((is_a & (vector_##mask)a) | (~is_a & (vector_##mask)b));            \
    }
#endif
VECTOR_EXTREME(min, f64, i64, min_pd, <)
VECTOR_EXTREME(max, f64, i64, max_pd, >)
VECTOR_EXTREME(min, f32, i32, min_ps, <)
VECTOR_EXTREME(max, f32, i32, max_ps, >)
#undef VECTOR_EXTREME
#undef VECTOR_OF_TWO

/** The bits of a / @p n for each lane of @p a, where @p n is an odd integer below 2^20 and
 * @p reciprocal is 1 / n, rounded: its product with a, corrected by what that times n exceeds a.
 * (P. Markstein, Computation of elementary functions on the IBM RISC System/6000 processor, 1990.)
 * The excess is exact, also of subnormal numbers: a small multiple of the last place of the
 * product. The corrected quotient is off by less than 2^-20 of its last place before it is
 * rounded, while a / n lies at least 1 / (2 n) of that from where rounding changes. The excess of
 * an infinity is not a number; then the product is right. It is subtracted, which keeps -0. */
#if defined(VECTOR_512) || (defined(__AVX__) && defined(__FMA__))
#define VECTOR_QUOTIENT(type, element, p, lanes, bits)                                             \
    static inline vector_##type vector_quotient_##type(vector_##type a, element n,                 \
                                                       element reciprocal)                         \
    {                                                                                              \
        const lanes r = _mm##bits##_set1_##p(reciprocal);                                          \
        const lanes q = _mm##bits##_mul_##p((lanes)a, r);                                          \
        const lanes excess = _mm##bits##_fmsub_##p(q, _mm##bits##_set1_##p(n), (lanes)a);          \
        return (vector_##type)VECTOR_WHERE_ORDERED(p, excess, r, q);                               \
    }
#if defined(VECTOR_512)
#define VECTOR_WHERE_ORDERED(p, excess, r, q)                                                      \
    _mm512_mask3_fnmadd_##p(excess, r, q, _mm512_cmp_##p##_mask(excess, excess, _CMP_ORD_Q))
VECTOR_QUOTIENT(f64, double, pd, __m512d, 512)
VECTOR_QUOTIENT(f32, float, ps, __m512, 512)
#else
#define VECTOR_WHERE_ORDERED(p, excess, r, q)                                                      \
    _mm256_blendv_##p(q, _mm256_fnmadd_##p(excess, r, q),                                          \
                      _mm256_cmp_##p(excess, excess, _CMP_ORD_Q))
VECTOR_QUOTIENT(f64, double, pd, __m256d, 256)
VECTOR_QUOTIENT(f32, float, ps, __m256, 256)
#endif
#undef VECTOR_WHERE_ORDERED
#undef VECTOR_QUOTIENT
#else /* the processor divides */
static inline vector_f64 vector_quotient_f64(vector_f64 a, double n, double reciprocal)
{
    (void)reciprocal;
    return a / n;
}
static inline vector_f32 vector_quotient_f32(vector_f32 a, float n, float reciprocal)
{
    (void)reciprocal;
    return a / n;
}
#endif

/** Floats as doubles. */
static inline vector_f64 vector_widened(half_f32 a)
{
#if defined(VECTOR_512) /* gcc 12 converts eight floats in two halves */
    return (vector_f64)_mm512_cvtps_pd((__m256)a);
#else
    return __builtin_convertvector(a, vector_f64);
#endif
}

/** The lanes of @p here, each moved one up, behind the last one of @p before: the vector that
 * begins one element before @p here, when both lie one after the other in memory. */
#if defined(VECTOR_512)
#define VECTOR_MOVED_f64(b, h) _mm512_alignr_epi64((__m512i)(h), (__m512i)(b), 7)
#define VECTOR_MOVED_f32(b, h) _mm512_alignr_epi32((__m512i)(h), (__m512i)(b), 15)
#elif defined(__AVX2__) /* of two halves, which the instructions do not cross */
#define VECTOR_MIDDLE(b, h)    _mm256_permute2x128_si256((__m256i)(b), (__m256i)(h), 0x21)
#define VECTOR_MOVED_f64(b, h) _mm256_alignr_epi8((__m256i)(h), VECTOR_MIDDLE(b, h), 8)
#define VECTOR_MOVED_f32(b, h) _mm256_alignr_epi8((__m256i)(h), VECTOR_MIDDLE(b, h), 12)
#elif defined(__SSE2__) && !defined(__AVX__)
#define VECTOR_MOVED_f64(b, h) _mm_shuffle_pd((__m128d)(b), (__m128d)(h), 1)
#define VECTOR_MOVED_f32(b, h)                                                                     \
    _mm_shuffle_ps(_mm_shuffle_ps((__m128)(b), (__m128)(h), 0x0f), (__m128)(h), 0x98)
#endif
#if defined(VECTOR_MOVED_f64)
#define VECTOR_MOVE(type, mask)                                                                    \
    static inline vector_##type vector_moved_##type(vector_##type before, vector_##type here)      \
    {                                                                                              \
        return (vector_##type)VECTOR_MOVED_##type(before, here);                                   \
    }
#elif defined(__clang__)
#define VECTOR_MOVE(type, mask)                                                                    \
    static inline vector_##type vector_moved_##type(vector_##type before, vector_##type here)      \
    {                                                                                              \
        enum { LANES = VECTOR_BYTES / sizeof here[0] };                                            \
        for (int lane = LANES - 1; lane > 0; --lane) here[lane] = here[lane - 1];                  \
        here[0] = before[LANES - 1];                                                               \
        return here;                                                                               \
    }
#else
#define VECTOR_MOVE(type, mask)                                                                    \
    static inline vector_##type vector_moved_##type(vector_##type before, vector_##type here)      \
    {                                                                                              \
        enum { LANES = VECTOR_BYTES / sizeof here[0] };                                            \
        vector_##mask from;                                                                        \
        for (int lane = 0; lane < LANES; ++lane) from[lane] = LANES - 1 + lane;                    \
        return __builtin_shuffle(before, here, from);                                              \
    }
#endif
VECTOR_MOVE(f64, i64)
VECTOR_MOVE(f32, i32)
#undef VECTOR_MOVE

/** Compute an address here: gcc prefers to keep all addresses of a loop, most on the stack. */
#define VECTOR_ADDRESS(p) __asm__("" : "+r"(p))

/** Keep a loaded scalar or vector in a register: gcc prefers to load it again for each use. */
#if defined(__SSE2__)
#define VECTOR_LOADED(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define VECTOR_LOADED(x) __asm__("" : "+w"(x))
#else
#define VECTOR_LOADED(x) (void)0
#endif

/** Nontemporal store of VECTOR_BYTES; @p to must be aligned to VECTOR_BYTES. */
static inline void vector_stream(void *to, const void *from)
{
#if defined(VECTOR_512)
    __m512i v;
    memcpy(&v, from, sizeof v);
    _mm512_stream_si512((__m512i *)to, v);
#elif defined(__AVX__)
    __m256i v;
    memcpy(&v, from, sizeof v);
    _mm256_stream_si256((__m256i *)to, v);
#elif defined(__SSE2__)
    __m128i v;
    memcpy(&v, from, sizeof v);
    _mm_stream_si128((__m128i *)to, v);
#else
    memcpy(to, from, VECTOR_BYTES);
#endif
}

/** Order nontemporal stores before later stores (store fence). */
static inline void vector_stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/** Copy @p bytes with nontemporal stores; @p to need not be aligned. */
static inline void vector_stream_copy(void *to, const void *from, size_t bytes)
{
    char *d = to;
    const char *a = from;
    size_t head = -(uintptr_t)d % VECTOR_BYTES;
    if (head > bytes) head = bytes;
    memcpy(d, a, head);
    size_t k = head;
    for (; k + VECTOR_BYTES <= bytes; k += VECTOR_BYTES) vector_stream(d + k, a + k);
    memcpy(d + k, a + k, bytes - k);
}

#endif
