/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_rows.h
 *  Exact sums by one thread that processes rows with SIMD: leading parts of a cached piece of a row
 *  are extracted in one sweep, which also detects whether the scale fits; if not, the piece is
 *  extracted repeatedly with its own scale. Include it after exact.h; it defines the macros that
 *  exact_sum.h needs. */
#ifndef META_EXACT_ROWS_H
#define META_EXACT_ROWS_H

/* Elements per piece; rows shorter than META_EXACT_SHORT are gathered first. Fewer elements than
 * META_EXACT_FEW are faster to add one by one than to extract again. */
#define META_EXACT_PIECE 512
#define META_EXACT_SHORT 64
#define META_EXACT_FEW   8

/* A sum in progress. */
typedef struct meta_exact_sum {
    meta_i64 limb[META_EXACT_WORDS];
    meta_f64 high, low;  /* sums of the first and second leading parts */
    meta_f64 sigma;      /* the power of two for the first extraction … */
    meta_i64 bound;      /* … of doubles whose magnitude is below these bits */
    meta_i64 count;      /* elements in high and low */
    meta_i64 since;      /* doubles added to the accumulator since the last carries */
    meta_i64 gathered;   /* elements in few */
    meta_f64 few[META_EXACT_PIECE], value[META_EXACT_PIECE]; /* of short rows; to extract again */
} meta_exact_sum;

META_INLINE void meta_exact_scale(meta_exact_sum *e, meta_i64 k)
{
    e->sigma = meta_exact_power(k + META_EXACT_LOG);
    e->bound = (meta_i64)meta_f64_bits(meta_exact_power(k));
}

META_INLINE void meta_exact_begin(meta_exact_sum *e)
{
    for (int k = 0; k < META_EXACT_WORDS; ++k) e->limb[k] = 0;
    e->high = e->low = 0;
    e->count = e->since = e->gathered = 0;
    meta_exact_scale(e, 0);
}

META_INLINE void meta_exact_flush(meta_exact_sum *e)
{
    meta_exact_add(e->limb, e->high);
    meta_exact_add(e->limb, e->low);
    e->high = e->low = 0;
    e->count = 0;
    e->since += 2;
}

/* Add e->value[0 … n) one by one. */
META_INLINE void meta_exact_add_all(meta_exact_sum *e, meta_i64 n)
{
    for (meta_i64 j = 0; j < n; ++j) meta_exact_add(e->limb, e->value[j]);
    e->since += n;
}

/* The largest magnitude in e->value[0 … n). Removes zeros, which reduces n. */
META_INLINE meta_u64 meta_exact_sift(meta_exact_sum *e, meta_i64 *n)
{
    meta_u64 most = 0;
    meta_i64 kept = 0;
    for (meta_i64 j = 0; j < *n; ++j) {
        const meta_u64 magnitude = meta_f64_bits(e->value[j]) & META_EXACT_MAGNITUDE;
        e->value[kept] = e->value[j];
        kept += magnitude != 0;
        most = magnitude > most ? magnitude : most;
    }
    *n = kept;
    return most;
}

/* Add e->value[0 … n) of any magnitudes, and use their scale for the following pieces. */
META_INLINE void meta_exact_anything(meta_exact_sum *e, meta_i64 n)
{
    meta_u64 most = meta_exact_sift(e, &n);
    meta_exact_flush(e);
    if (most >> 52 < META_EXACT_MOST + 1023) meta_exact_scale(e, meta_exact_bound(most));
    while (n > META_EXACT_FEW && most >> 52 < META_EXACT_MOST + 1023 &&
           most >> 52 > META_EXACT_LEAST + 1023) {
        const meta_f64 sigma = meta_exact_power(meta_exact_bound(most) + META_EXACT_LOG);
        meta_f64 sum = 0;
        META_SIMD_SUM(sum)
        for (meta_i64 j = 0; j < n; ++j) {
            const meta_f64 part = (sigma + e->value[j]) - sigma;
            e->value[j] -= part;
            sum += part;
        }
        meta_exact_add(e->limb, sum);
        ++e->since;
        most = meta_exact_sift(e, &n);
    }
    meta_exact_add_all(e, n);
    if (e->since >> 29) {
        meta_exact_carry(e->limb);
        e->since = 0;
    }
}

/* Add the n ≤ META_EXACT_PIECE doubles VALUE(from) … VALUE(from + n − 1). */
#define META_EXACT_SWEEP(e, from, n, VALUE)                                              \
    do {                                                                                 \
        const meta_f64 first_ = (e)->sigma,                                              \
                       second_ = first_ * meta_f64_of((meta_u64)(1023 - META_EXACT_STEP) << 52); \
        const meta_i64 bound_ = (e)->bound;                                              \
        meta_f64 high_ = 0, low_ = 0;                                                    \
        meta_u64 signs_ = ~(meta_u64)0, left_ = 0;                                       \
        META_SIMD_EXACT(high_, low_, signs_, left_)                                      \
        for (meta_i64 j_ = 0; j_ < (n); ++j_) {                                          \
            const meta_f64 x_ = VALUE((from) + j_);                                      \
            const meta_f64 part_ = (first_ + x_) - first_, rest_ = x_ - part_,           \
                           next_ = (second_ + rest_) - second_;                          \
            signs_ &= (meta_f64_bits(x_) & META_EXACT_MAGNITUDE) - (meta_u64)bound_;     \
            left_ |= meta_f64_bits(rest_ - next_);                                       \
            high_ += part_;                                                              \
            low_ += next_;                                                               \
        }                                                                                \
        /* Negative if all magnitudes are below the bound. */                            \
        const meta_i64 below_ = (meta_i64)signs_;                                        \
        META_EXACT_SWEPT(e, from, n, VALUE);                                             \
    } while (0)
/* Of -0 -0 is left. */
#define META_EXACT_SWEPT(e, from, n, VALUE)                                              \
    if (below_ < 0 && left_ << 1 == 0) {                                                 \
        (e)->high += high_;                                                              \
        (e)->low += low_;                                                                \
        (e)->count += (n);                                                               \
        if ((e)->count > META_EXACT_COUNT - META_EXACT_PIECE) meta_exact_flush(e);       \
    } else {                                                                             \
        for (meta_i64 j_ = 0; j_ < (n); ++j_) (e)->value[j_] = VALUE((from) + j_);       \
        meta_exact_anything(e, n);                                                       \
    }

/* Vectors of META_EXACT_LANES doubles, if the language has vector types: loads from an address, with a
 * prefetch of a cache line that is needed soon. */
#if defined(__OPENCL_VERSION__)
#define META_EXACT_LANES 8
typedef double8 meta_exact_lanes;
typedef long8 meta_exact_bits;
typedef int16 meta_exact_float_bits;
#define META_EXACT_ALL(T, x)      ((T)(x))
#define META_EXACT_BITS(v)        as_long8(v)
#define META_EXACT_STORE(to, v)   vstore8(v, 0, to)
#define META_EXACT_STORE16(to, v) vstore16(v, 0, to)
#define META_EXACT_LOAD(T, x, from)                 \
    do {                                            \
        (x) = convert_double8(vload8(0, from));     \
        META_PREFETCH((from) + META_EXACT_AHEAD);   \
    } while (0)
#define META_EXACT_LOAD_FLOATS(bits, low, high, from) \
    do {                                              \
        const float16 loaded_ =                       \
            vload16(0, (__global const float *)(from)); \
        (bits) = as_int16(loaded_);                   \
        (low) = convert_double8(loaded_.lo);          \
        (high) = convert_double8(loaded_.hi);         \
        META_PREFETCH((from) + META_EXACT_AHEAD);     \
    } while (0)
#elif defined(__GNUC__)
#if defined(__AVX512F__) || (defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 512)
#define META_EXACT_LANES 8
#else
#define META_EXACT_LANES 4
#endif
typedef meta_f64 meta_exact_lanes __attribute__((vector_size(8 * META_EXACT_LANES)));
typedef meta_i64 meta_exact_bits __attribute__((vector_size(8 * META_EXACT_LANES)));
typedef meta_f32 meta_exact_floats __attribute__((vector_size(4 * META_EXACT_LANES)));
typedef meta_i32 meta_exact_float_bits __attribute__((vector_size(8 * META_EXACT_LANES)));
#define META_EXACT_ALL(T, x)      ((T){0} + (x))
#define META_EXACT_BITS(v)        ((meta_exact_bits)(v))
#define META_EXACT_STORE(to, v)   memcpy(to, &(v), sizeof(v))
#define META_EXACT_STORE16(to, v) memcpy(to, &(v), sizeof(v))
#define META_EXACT_LOAD(T, x, from)                                                  \
    do {                                                                             \
        typedef T lanes_ __attribute__((vector_size(sizeof(T) * META_EXACT_LANES))); \
        lanes_ loaded_;                                                              \
        memcpy(&loaded_, from, sizeof loaded_);                                      \
        META_PREFETCH((from) + META_EXACT_AHEAD);                                    \
        (x) = __builtin_convertvector(loaded_, meta_exact_lanes);                    \
    } while (0)
#define META_EXACT_LOAD_FLOATS(bits, low, high, from)                                \
    do {                                                                             \
        meta_exact_floats half_[2];                                                  \
        memcpy(&(bits), from, sizeof(bits));                                         \
        memcpy(&half_[0], from, sizeof half_[0]);                                    \
        memcpy(&half_[1], (from) + META_EXACT_LANES, sizeof half_[1]);               \
        META_PREFETCH((from) + META_EXACT_AHEAD);                                    \
        (low) = __builtin_convertvector(half_[0], meta_exact_lanes);                 \
        (high) = __builtin_convertvector(half_[1], meta_exact_lanes);                \
    } while (0)
#else
#define META_EXACT_LANES 1
#endif

#if META_EXACT_LANES > 1
#define META_EXACT_AHEAD (2 * META_EXACT_PIECE)

/* META_EXACT_SWEEP with vectors: LOAD(x, i) loads the elements from i; n is a multiple of
 * 2 META_EXACT_LANES. */
#define META_EXACT_SWEEP_DENSE(e, from, n, VALUE, LOAD)                                  \
    do {                                                                                 \
        const meta_exact_lanes none_ = META_EXACT_ALL(meta_exact_lanes, 0),              \
                               first_ = META_EXACT_ALL(meta_exact_lanes, (e)->sigma),    \
                               second_ = first_ * meta_exact_power(-META_EXACT_STEP);    \
        const meta_exact_bits zero_ = META_EXACT_ALL(meta_exact_bits, 0),                \
                              bound_ = META_EXACT_ALL(meta_exact_bits, (e)->bound),      \
                              magnitude_ = META_EXACT_ALL(meta_exact_bits,               \
                                                          (meta_i64)META_EXACT_MAGNITUDE); \
        meta_exact_lanes highs_ = none_, lows_ = none_, x_;                              \
        meta_exact_bits belows_ = ~zero_, lefts_ = zero_;                                \
        for (meta_i64 j_ = 0; j_ < (n); j_ += META_EXACT_LANES) {                        \
            LOAD(x_, (from) + j_);                                                       \
            const meta_exact_lanes part_ = (first_ + x_) - first_, rest_ = x_ - part_,   \
                                   next_ = (second_ + rest_) - second_;                  \
            belows_ &= (META_EXACT_BITS(x_) & magnitude_) - bound_;                      \
            lefts_ |= META_EXACT_BITS(rest_) ^ META_EXACT_BITS(next_);                   \
            highs_ += part_;                                                             \
            lows_ += next_;                                                              \
        }                                                                                \
        meta_f64 each_[2][META_EXACT_LANES], high_ = 0, low_ = 0;                        \
        meta_i64 both_[2][META_EXACT_LANES], below_ = -1;                                \
        meta_u64 left_ = 0;                                                              \
        META_EXACT_STORE(each_[0], highs_);                                              \
        META_EXACT_STORE(each_[1], lows_);                                               \
        META_EXACT_STORE(both_[0], belows_);                                             \
        META_EXACT_STORE(both_[1], lefts_);                                              \
        for (int j_ = 0; j_ < META_EXACT_LANES; ++j_) {                                  \
            high_ += each_[0][j_];                                                       \
            low_ += each_[1][j_];                                                        \
            below_ &= both_[0][j_];                                                      \
            left_ |= (meta_u64)both_[1][j_];                                             \
        }                                                                                \
        META_EXACT_SWEPT(e, from, n, VALUE);                                             \
    } while (0)

/* The same for floats at @p a. They need no extraction as long as no non-zero one is more than LOG + 8
 * binades below the bound: a thousand of them then add up in a double without rounding. */
#define META_EXACT_SWEEP_FLOATS(e, a, n, VALUE, from)                                    \
    do {                                                                                 \
        const meta_i64 k_ = ((e)->bound >> 52) - 1023 + 127;                             \
        const meta_i32 top_ = k_ < 1 ? 1 : k_ > 255 ? 255 : (meta_i32)k_,                \
                       least_ = top_ > 20 ? top_ - 19 : 0;                               \
        const meta_exact_float_bits                                                      \
            zero_ = META_EXACT_ALL(meta_exact_float_bits, 0),                            \
            most_ = META_EXACT_ALL(meta_exact_float_bits, top_ * (1 << 23)),             \
            least_most_ = META_EXACT_ALL(meta_exact_float_bits, least_ * (1 << 23));     \
        meta_exact_lanes low_sums_ = META_EXACT_ALL(meta_exact_lanes, 0),                \
                         high_sums_ = low_sums_, x_, y_;                                 \
        meta_exact_float_bits belows_ = ~zero_, lefts_ = zero_, bits_;                   \
        for (meta_i64 j_ = 0; j_ < (n); j_ += 2 * META_EXACT_LANES) {                    \
            META_EXACT_LOAD_FLOATS(bits_, x_, y_, (a) + j_);                             \
            bits_ &= 0x7fffffff;                                                         \
            belows_ &= bits_ - most_;                                                    \
            lefts_ |= (bits_ - least_most_) & ~(bits_ - 1);                              \
            low_sums_ += x_;                                                             \
            high_sums_ += y_;                                                            \
        }                                                                                \
        meta_f64 each_[2][META_EXACT_LANES], high_ = 0;                                  \
        const meta_f64 low_ = 0;                                                         \
        meta_i32 both_[2][2 * META_EXACT_LANES], below_ = -1, lost_ = 0;                 \
        META_EXACT_STORE(each_[0], low_sums_);                                           \
        META_EXACT_STORE(each_[1], high_sums_);                                           \
        META_EXACT_STORE16(both_[0], belows_);                                           \
        META_EXACT_STORE16(both_[1], lefts_);                                            \
        for (int j_ = 0; j_ < META_EXACT_LANES; ++j_) high_ += each_[0][j_] + each_[1][j_]; \
        for (int j_ = 0; j_ < 2 * META_EXACT_LANES; ++j_) {                              \
            below_ &= both_[0][j_];                                                      \
            lost_ |= both_[1][j_];                                                       \
        }                                                                                \
        const meta_u64 left_ = lost_ < 0;                                                \
        META_EXACT_SWEPT(e, from, n, VALUE);                                             \
    } while (0)
#else
#define META_EXACT_SWEEP_DENSE(e, from, n, VALUE, LOAD) META_EXACT_SWEEP(e, from, n, VALUE)
#endif

#define META_EXACT_GATHERED(i) sum_.few[i]
/* There is always room for one more row of META_EXACT_SHORT. */
#define META_EXACT_GATHER(from, n, VALUE)                                                \
    do {                                                                                 \
        for (meta_i64 j_ = 0; j_ < (n); ++j_)                                            \
            sum_.few[sum_.gathered + j_] = VALUE((from) + j_);                         \
        sum_.gathered += (n);                                                            \
        if (sum_.gathered > META_EXACT_PIECE - META_EXACT_SHORT) META_EXACT_TAKE;        \
    } while (0)
#define META_EXACT_TAKE                                                                  \
    do {                                                                                 \
        const meta_i64 all_ = sum_.gathered;                                             \
        sum_.gathered = 0;                                                               \
        META_EXACT_SWEEP(&sum_, 0, all_, META_EXACT_GATHERED);                           \
    } while (0)

#define META_EXACT_BEGIN                                                                 \
    meta_exact_sum sum_;                                                                 \
    meta_exact_begin(&sum_)
#define META_EXACT_ROW(is_dense, DENSE, STRIDED, SWEEP)                                  \
    do {                                                                                 \
        const meta_i64 end_ = META_COLUMNS_END;                                          \
        for (meta_i64 at_ = META_COLUMNS_FROM, n_; at_ < end_; at_ += n_) {              \
            n_ = end_ - at_;                                                             \
            if ((is_dense) && n_ > META_EXACT_SHORT) {                                   \
                n_ = n_ > META_EXACT_PIECE ? META_EXACT_PIECE                            \
                                           : n_ / (2 * META_EXACT_LANES) * (2 * META_EXACT_LANES); \
                SWEEP(at_, n_, DENSE);                                                   \
            } else {                                                                     \
                n_ = n_ < META_EXACT_SHORT ? n_ : META_EXACT_SHORT;                      \
                META_EXACT_GATHER(at_, n_, STRIDED);                                     \
            }                                                                            \
        }                                                                                \
    } while (0)
#define META_EXACT_END                                                                   \
    do {                                                                                 \
        META_EXACT_TAKE;                                                                 \
        meta_exact_flush(&sum_);                                                         \
        meta_exact_carry(sum_.limb);                                                     \
        for (int k_ = 0; k_ < META_EXACT_WORDS; ++k_)                                    \
            META_EXACT_PARTIAL[k_] = sum_.limb[k_];                                      \
    } while (0)

/* ------------------------------------------------------------------ of a program's kernel */

#define META_EXACT_FEW_OF(i) e->few[i]
#define META_EXACT_CELL(i)   cell[i]
#if defined(__OPENCL_VERSION__)
#define META_EXACT_CELL_LOAD(x, i) (x) = vload8(0, cell + (i))
#else
#define META_EXACT_CELL_LOAD(x, i) memcpy(&(x), cell + (i), sizeof(x))
#endif

META_INLINE void meta_exact_take_gathered(meta_exact_sum *e)
{
    const meta_i64 n = e->gathered;
    e->gathered = 0;
    META_EXACT_SWEEP(e, 0, n, META_EXACT_FEW_OF);
}

/* Add what @p count cells have contributed, which lies in a cache. */
META_INLINE void meta_exact_take_cells(meta_exact_sum *e, const meta_f64 *cell, meta_i64 count)
{
    while (count > 0) {
        meta_i64 n = count < META_EXACT_PIECE ? count : META_EXACT_PIECE;
        if (n > META_EXACT_SHORT) {
            n = n / (2 * META_EXACT_LANES) * (2 * META_EXACT_LANES);
            META_EXACT_SWEEP_DENSE(e, 0, n, META_EXACT_CELL, META_EXACT_CELL_LOAD);
        } else {
            for (meta_i64 j = 0; j < n; ++j) e->few[e->gathered + j] = cell[j];
            e->gathered += n;
            if (e->gathered > META_EXACT_PIECE - META_EXACT_SHORT) meta_exact_take_gathered(e);
        }
        cell += n;
        count -= n;
    }
}

/* Nothing more is added: e->limb is the sum. */
META_INLINE void meta_exact_end(meta_exact_sum *e)
{
    meta_exact_take_gathered(e);
    meta_exact_flush(e);
    meta_exact_carry(e->limb);
}

#endif
