/* SPDX-License-Identifier: BSD-3-Clause */
/** @file openmp_loops.h
 *  One thread's share of the loops over memory, with the compiler's vector types.
 *
 *  Include it once per instruction set, with VECTOR_NAME, VECTOR_BYTES, VECTOR_TARGET (an
 *  attribute) and VECTOR_STREAM(address, vector), a non-temporal store to an aligned address. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define VECTOR      JOIN(vector_, VECTOR_NAME)
#define NAMED(loop) JOIN(loop##_, VECTOR_NAME)
#define WIDTH       (VECTOR_BYTES / (int)sizeof(double))
#define STEP        (8 * WIDTH)
#define LOAD(p)     (*(const VECTOR *)(p))

typedef double VECTOR __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

VECTOR_TARGET static double NAMED(copy)(const share *s)
{
    int64_t i = s->begin;
    for (; i + STEP <= s->end; i += STEP)
        for (int k = 0; k < STEP; k += WIDTH) *(VECTOR *)(s->out + i + k) = LOAD(s->a + i + k);
    for (; i < s->end; ++i) s->out[i] = s->a[i];
    return 0;
}

/* Four concurrent streams reach a higher memory bandwidth than one. */
VECTOR_TARGET static double NAMED(copy_nt)(const share *s)
{
    enum { PLACES = 4, AT_ONCE = STEP / PLACES };
    int64_t i = s->begin;
    for (; i < s->end && (uintptr_t)(s->out + i) % 64 != 0; ++i) s->out[i] = s->a[i];
    const int64_t each = (s->end - i) / STEP * AT_ONCE;
    for (const int64_t end = i + each; i < end; i += AT_ONCE)
        for (int p = 0; p < PLACES; ++p)
            for (int k = 0; k < AT_ONCE; k += WIDTH)
                VECTOR_STREAM(s->out + i + p * each + k, LOAD(s->a + i + p * each + k));
    for (i += (PLACES - 1) * each; i < s->end; ++i) s->out[i] = s->a[i];
    STREAM_END();
    return 0;
}

VECTOR_TARGET static double NAMED(triad)(const share *s)
{
    int64_t i = s->begin;
    for (; i + STEP <= s->end; i += STEP)
        for (int k = 0; k < STEP; k += WIDTH)
            *(VECTOR *)(s->out + i + k) = LOAD(s->a + i + k) + 3 * LOAD(s->b + i + k);
    for (; i < s->end; ++i) s->out[i] = s->a[i] + 3 * s->b[i];
    return 0;
}

/* Four concurrent streams, and several accumulators to hide the latency of the additions. */
VECTOR_TARGET static double NAMED(read)(const share *s)
{
    enum { PLACES = 4, AT_ONCE = STEP / PLACES };
    VECTOR sum[STEP / WIDTH] = {{0}};
    const int64_t each = (s->end - s->begin) / STEP * AT_ONCE;
    double total = 0;
    for (int64_t i = s->begin; i < s->begin + each; i += AT_ONCE)
        for (int p = 0; p < PLACES; ++p)
            for (int k = 0; k < AT_ONCE; k += WIDTH)
                sum[(p * AT_ONCE + k) / WIDTH] += LOAD(s->a + i + p * each + k);
    for (int64_t i = s->begin + PLACES * each; i < s->end; ++i) total += s->a[i];
    for (int k = 0; k < STEP; ++k) total += sum[k / WIDTH][k % WIDTH];
    return total;
}

#undef JOIN_
#undef JOIN
#undef VECTOR
#undef NAMED
#undef WIDTH
#undef STEP
#undef LOAD
#undef VECTOR_NAME
#undef VECTOR_BYTES
#undef VECTOR_TARGET
#undef VECTOR_STREAM
