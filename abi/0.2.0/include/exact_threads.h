/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_threads.h
 *  Exact sums by a work group whose threads share one accumulator in local (shared) memory. Each
 *  thread keeps two sums of leading parts in registers and rarely adds to the accumulator: when it
 *  meets a larger element than before, after META_EXACT_COUNT elements, for a remainder, and at its
 *  end. Include it after exact.h; it defines the macros that exact_sum.h needs.
 *
 *  The accumulator is two unsigned numbers of 32-bit digits, the sums of the positive and of the
 *  negative terms: an addition that wraps carries into the next digit, so 32-bit atomic additions
 *  suffice in any order and nothing overflows. The counters of NaN, +∞ and −∞ follow. */
#ifndef META_EXACT_THREADS_H
#define META_EXACT_THREADS_H

#define META_EXACT_DIGITS (META_EXACT_LIMBS + 1)
#define META_EXACT_SHARED (2 * META_EXACT_DIGITS + 3)

/* A thread's sum in progress. */
typedef struct meta_exact_stream {
    meta_f64 high, low;           /* sums of the first and second leading parts */
    meta_f64 first, second, bound; /* powers of two for the two extractions, valid below the bound */
    meta_i64 count;               /* elements in high and low */
} meta_exact_stream;

META_EXACT_FUNCTION void meta_exact_share(META_LOCAL meta_u32 *shared, meta_f64 x)
{
    const meta_u64 bits = meta_f64_bits(x);
    const meta_i64 special = meta_exact_special(bits);
    meta_u64 digit[3];
    if (special) {
        META_ATOMIC_ADD(&shared[2 * META_EXACT_DIGITS + special - META_EXACT_NAN], 1u);
        return;
    }
    META_LOCAL meta_u32 *at = shared + meta_exact_split(bits, digit);
    if (bits >> 63) at += META_EXACT_DIGITS;
    meta_u64 carry = 0;
    for (int j = 0; j < 3 || carry; ++j) {
        const meta_u64 whole = (j < 3 ? digit[j] : 0) + carry;
        const meta_u32 adds = (meta_u32)whole;
        carry = whole >> 32;
        if (adds && META_ATOMIC_ADD(&at[j], adds) > 0xffffffffu - adds) ++carry;
    }
}

META_EXACT_FUNCTION void meta_exact_flush(meta_exact_stream *e, META_LOCAL meta_u32 *shared)
{
    if (e->high != 0) meta_exact_share(shared, e->high);
    if (e->low != 0) meta_exact_share(shared, e->low);
    e->high = e->low = 0;
    e->count = 0;
}

/* Use the scale of @p magnitude, with a margin of two binades. */
META_EXACT_FUNCTION void meta_exact_rescale(meta_exact_stream *e, meta_f64 magnitude)
{
    const meta_i64 k = meta_exact_bound(meta_f64_bits(magnitude)) + 2;
    e->bound = meta_exact_power(k);
    e->first = meta_exact_power(k + META_EXACT_LOG);
    e->second = meta_exact_power(k + META_EXACT_LOG - META_EXACT_STEP);
}

META_EXACT_FUNCTION void meta_exact_take(meta_exact_stream *e, META_LOCAL meta_u32 *shared,
                                         meta_f64 x)
{
    const meta_f64 magnitude = x < 0 ? -x : x;
    if (!(magnitude < e->bound)) {
        meta_exact_flush(e, shared);
        /* Also true for NaN. */
        if (!(magnitude < meta_exact_power(META_EXACT_MOST))) {
            meta_exact_share(shared, x);
            return;
        }
        meta_exact_rescale(e, magnitude);
    }
    const meta_f64 part = (e->first + x) - e->first, rest = x - part;
    const meta_f64 next = (e->second + rest) - e->second, left = rest - next;
    e->high += part;
    e->low += next;
    if (left != 0) { /* the scale is too coarse for these elements */
        meta_exact_share(shared, left);
        meta_exact_flush(e, shared);
        e->bound = 0;
    } else if (++e->count == META_EXACT_COUNT) {
        meta_exact_flush(e, shared);
    }
}

#define META_EXACT_BEGIN                                                                     \
    META_EXACT_MEMORY(shared_);                                                              \
    meta_exact_stream sum_ = {0, 0, 0, 0, 0, 0};                                             \
    for (meta_u32 k_ = META_THREAD; k_ < META_EXACT_SHARED; k_ += META_THREADS) shared_[k_] = 0; \
    META_BARRIER
#define META_EXACT_ROW(is_dense, DENSE, STRIDED, SWEEP)                                      \
    META_COLUMNS(i) meta_exact_take(&sum_, shared_, STRIDED(i))
#define META_EXACT_END                                                                       \
    do {                                                                                     \
        meta_exact_flush(&sum_, shared_);                                                    \
        META_BARRIER;                                                                        \
        for (meta_u32 k_ = META_THREAD; k_ < META_EXACT_WORDS; k_ += META_THREADS)           \
            META_EXACT_PARTIAL[k_] = meta_exact_word(shared_, k_);                           \
    } while (0)

/* Word @p k of the accumulator in the format of exact.h. The last limb has 64 bits. */
META_EXACT_FUNCTION meta_i64 meta_exact_word(META_LOCAL const meta_u32 *shared, meta_u32 k)
{
    META_LOCAL const meta_u32 *minus = shared + META_EXACT_DIGITS;
    if (k >= META_EXACT_LIMBS) return shared[2 * META_EXACT_DIGITS + k - META_EXACT_LIMBS];
    meta_i64 word = (meta_i64)shared[k] - (meta_i64)minus[k];
    if (k == META_EXACT_LIMBS - 1)
        word += ((meta_i64)shared[k + 1] - (meta_i64)minus[k + 1]) * ((meta_i64)1 << 32);
    return word;
}

#endif
