/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact.h
 *  Exact sums of doubles: no rounding, so the result does not depend on the order of additions.
 *
 *  A sum is a superaccumulator, which covers the range of all doubles (U. Kulisch, Computer
 *  Arithmetic and Validity, 2008; R. M. Neal, Fast Exact Summation Using Small and Large
 *  Superaccumulators, 2015):
 *  META_EXACT_LIMBS signed integers, limb k in units of 2^(32·k − 1074), each with headroom for
 *  carries, followed by the numbers of NaN, +∞ and −∞ added. Accumulators are added limb by limb.
 *
 *  Few elements are added to it directly. Adding a large enough power of two to a double and
 *  subtracting it again extracts the double's leading part; the remainder is exact; and a thousand
 *  leading parts extracted with the same power of two add up without rounding, in any order
 *  (S. M. Rump, T. Ogita, S. Oishi, Accurate Floating-Point Summation, 2008). Two such extractions
 *  leave no remainder for most elements; the two sums of leading parts are added to the accumulator,
 *  and so is any remainder.
 *
 *  Requires IEEE arithmetic: round to nearest, no contraction, no flushing of denormals.
 *
 *  Include it after meta_space.h, on devices with double precision. */
#ifndef META_EXACT_H
#define META_EXACT_H

#ifdef __FAST_MATH__
#error "exact sums need IEEE arithmetic: compile without -ffast-math"
#endif

/* Indices of the counters that follow the limbs. */
#define META_EXACT_NAN      META_EXACT_LIMBS
#define META_EXACT_PLUS     (META_EXACT_LIMBS + 1)
#define META_EXACT_MINUS    (META_EXACT_LIMBS + 2)

/* Leading parts are extracted with 2^LOG times a bound on the elements' magnitude, for at most COUNT
 * elements; the second extraction uses a power of two STEP binades lower. Elements outside of
 * 2^LEAST … 2^MOST are added to the accumulator directly. */
#define META_EXACT_LOG   11
#define META_EXACT_COUNT 2046
#define META_EXACT_STEP  42
#define META_EXACT_LEAST (-900)
#define META_EXACT_MOST  1000

#define META_EXACT_MAGNITUDE 0x7fffffffffffffffu

/* 2^k, for k in the range of normal numbers. */
META_INLINE meta_f64 meta_exact_power(meta_i64 k)
{
    return meta_f64_of((meta_u64)(k + 1023) << 52);
}

/* The least k, but at least META_EXACT_LEAST, with |x| < 2^k for all x of at most this magnitude. */
META_INLINE meta_i64 meta_exact_bound(meta_u64 magnitude)
{
    const meta_i64 k = (meta_i64)(magnitude >> 52) - 1022;
    return k < META_EXACT_LEAST ? META_EXACT_LEAST : k;
}

/* Split a finite double into 32-bit digits of the accumulator. @return the limb of the first. */
META_INLINE meta_i64 meta_exact_split(meta_u64 bits, meta_u64 digit[3])
{
    const meta_u64 exponent = bits >> 52 & 0x7ff, fraction = bits & 0xfffffffffffffu;
    const meta_u64 shift = exponent ? exponent - 1 : 0, by = shift % 32;
    const meta_u64 whole = exponent ? fraction | (meta_u64)1 << 52 : fraction;
    const meta_u64 low = whole << by;
    digit[0] = low & 0xffffffffu;
    digit[1] = low >> 32;
    digit[2] = by ? whole >> (64 - by) : 0;
    return (meta_i64)(shift / 32);
}

/* The index of the counter for a NaN or an infinity; 0 for a finite number. */
META_INLINE meta_i64 meta_exact_special(meta_u64 bits)
{
    if ((bits >> 52 & 0x7ff) != 0x7ff) return 0;
    if (bits & 0xfffffffffffffu) return META_EXACT_NAN;
    return bits >> 63 ? META_EXACT_MINUS : META_EXACT_PLUS;
}

/* At most 2^30 doubles can be added between two calls of meta_exact_carry(). */
META_INLINE void meta_exact_add(meta_i64 *limb, meta_f64 x)
{
    const meta_u64 bits = meta_f64_bits(x);
    const meta_i64 special = meta_exact_special(bits);
    meta_u64 digit[3];
    if (special) {
        ++limb[special];
        return;
    }
    const meta_i64 k = meta_exact_split(bits, digit);
    for (int j = 0; j < 3; ++j)
        limb[k + j] += bits >> 63 ? -(meta_i64)digit[j] : (meta_i64)digit[j];
}

/* Propagate carries: every limb but the last is reduced to 32 bits; the last has the sum's sign. */
META_INLINE void meta_exact_carry(meta_i64 *limb)
{
    meta_i64 carry = 0;
    for (int k = 0; k < META_EXACT_LIMBS - 1; ++k) {
        const meta_i64 whole = limb[k] + carry;
        limb[k] = whole & 0xffffffff;
        carry = (whole - limb[k]) / ((meta_i64)1 << 32);
    }
    limb[META_EXACT_LIMBS - 1] += carry;
}

/* ------------------------------------------------------------------ rounding */

/* The magnitude of an accumulator after carry propagation; the last limb makes two digits. */
typedef struct meta_exact_digits {
    meta_u32 digit[META_EXACT_LIMBS + 1];
} meta_exact_digits;

META_INLINE void meta_exact_magnitude(const meta_i64 *limb, meta_exact_digits *d)
{
    const int last = META_EXACT_LIMBS - 1, negative = limb[last] < 0;
    meta_u64 carry = negative ? 1 : 0;
    for (int k = 0; k <= last; ++k) {
        const meta_u64 mask = k < last ? 0xffffffffu : ~(meta_u64)0;
        const meta_u64 digit = negative ? ~(meta_u64)limb[k] & mask : (meta_u64)limb[k];
        const meta_u64 whole = digit + carry;
        d->digit[k] = (meta_u32)whole;
        carry = whole >> 32;
    }
    d->digit[last + 1] = (meta_u32)carry;
}

/* 32 bits, from bit @p at up. */
META_INLINE meta_u64 meta_exact_window(const meta_exact_digits *d, meta_i64 at)
{
    const meta_i64 k = at / 32, by = at % 32;
    const meta_u64 low = d->digit[k], high = k < META_EXACT_LIMBS ? d->digit[k + 1] : 0;
    return (low | high << 32) >> by & 0xffffffffu;
}

/* The sticky bit: whether any bit below bit @p at is set. */
META_INLINE int meta_exact_below(const meta_exact_digits *d, meta_i64 at)
{
    for (meta_i64 k = 0; k < at / 32; ++k)
        if (d->digit[k]) return 1;
    return (d->digit[at / 32] & (((meta_u32)1 << at % 32) - 1)) != 0;
}

/* The index of the highest set bit; -1 if there is none. */
META_INLINE meta_i64 meta_exact_highest(const meta_exact_digits *d)
{
    meta_i64 k = META_EXACT_LIMBS, bit = 31;
    while (k >= 0 && !d->digit[k]) --k;
    if (k < 0) return -1;
    while (!(d->digit[k] >> bit)) --bit;
    return 32 * k + bit;
}

/* Round the magnitude to nearest, ties to even. @return the bits of a floating-point type with
 * @p width bits of fraction, whose smallest denormal is bit @p least of the accumulator, and whose
 * infinity has the biased exponent @p top. */
META_INLINE meta_u64 meta_exact_nearest(const meta_exact_digits *d, meta_i64 width, meta_i64 least,
                                        meta_u64 top)
{
    const meta_i64 highest = meta_exact_highest(d), lead = highest - width;
    const meta_i64 at = lead > least ? lead : least;
    if (highest < 0) return 0;
    meta_u64 bits = meta_exact_window(d, at) |
                    (at + 32 < 32 * META_EXACT_LIMBS ? meta_exact_window(d, at + 32) : 0) << 32;
    bits &= ((meta_u64)2 << width) - 1;
    /* The implicit leading bit carries into the exponent, which is therefore one less here. */
    bits += (meta_u64)(at - least) << width;
    if (at > 0 && (d->digit[(at - 1) / 32] >> (at - 1) % 32 & 1) &&
        ((bits & 1) || meta_exact_below(d, at - 1)))
        ++bits;
    return bits >> width >= top ? top << width : bits;
}

/* Round an accumulator after carry propagation. @return the bits of a double or, if @p bytes is 4, of a
 * float. Zero is +0, and NaN is canonical. */
META_INLINE meta_u64 meta_exact_round(const meta_i64 *limb, int bytes)
{
    const meta_i64 width = bytes == 4 ? 23 : 52, least = bytes == 4 ? 925 : 0;
    const meta_u64 top = bytes == 4 ? 0xff : 0x7ff, sign = (meta_u64)1 << (8 * bytes - 1);
    meta_exact_digits d;
    if (limb[META_EXACT_NAN] || (limb[META_EXACT_PLUS] && limb[META_EXACT_MINUS]))
        return top << width | (meta_u64)1 << (width - 1);
    if (limb[META_EXACT_PLUS]) return top << width;
    if (limb[META_EXACT_MINUS]) return top << width | sign;
    meta_exact_magnitude(limb, &d);
    const meta_u64 bits = meta_exact_nearest(&d, width, least, top);
    /* Doubles may add up to less than a float can hold. */
    return limb[META_EXACT_LIMBS - 1] < 0 && bits ? bits | sign : bits;
}

#endif
