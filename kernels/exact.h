/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact.h
 *  Sums of doubles without rounding, so that no order of additions changes them.
 *
 *  A sum is an accumulator as wide as all doubles together (U. Kulisch, Computer Arithmetic and
 *  Validity, 2008; R. M. Neal, Fast Exact Summation Using Small and Large Superaccumulators, 2015):
 *  META_EXACT_LIMBS signed integers, limb k in units of 2^(32·k − 1074), each with room for carries;
 *  then how many NaN, +∞ and −∞ were met. Adding accumulators adds integers.
 *
 *  Most elements never reach it one by one. A large enough power of two, added to a double and
 *  subtracted again, leaves the double's leading part; the rest is what is left of it, exactly; and
 *  a thousand leading parts of one power of two add up without rounding, in any order (S. M. Rump,
 *  T. Ogita, S. Oishi, Accurate Floating-Point Summation, 2008). Two such steps take all of most
 *  elements, two sums go to the accumulator, and what an element has left goes there as well.
 *
 *  It needs IEEE arithmetic as it is: round to nearest, no contraction, no flushing of denormals.
 *
 *  Include it after meta_space.h, where doubles are to be had. */
#ifndef META_EXACT_H
#define META_EXACT_H

#ifdef __FAST_MATH__
#error "exact sums need IEEE arithmetic: compile without -ffast-math"
#endif

/* Behind the limbs. */
#define META_EXACT_NAN      META_EXACT_LIMBS
#define META_EXACT_PLUS     (META_EXACT_LIMBS + 1)
#define META_EXACT_MINUS    (META_EXACT_LIMBS + 2)

/* Powers of two that take leading parts: 2^LOG times a bound of the elements' magnitude, for at most
 * COUNT elements; the next one is STEP binades lower. Outside of 2^LEAST … 2^MOST elements go to the
 * accumulator one by one. */
#define META_EXACT_LOG   11
#define META_EXACT_COUNT 2046
#define META_EXACT_STEP  42
#define META_EXACT_LEAST (-900)
#define META_EXACT_MOST  1000

#define META_EXACT_MAGNITUDE 0x7fffffffffffffffu

/* 2^k for normal numbers. */
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

/* A finite double as 32-bit digits of the accumulator: the number of the limb of the first. */
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

/* Which counter a NaN or an infinity belongs to; 0 for a finite number. */
META_INLINE meta_i64 meta_exact_special(meta_u64 bits)
{
    if ((bits >> 52 & 0x7ff) != 0x7ff) return 0;
    if (bits & 0xfffffffffffffu) return META_EXACT_NAN;
    return bits >> 63 ? META_EXACT_MINUS : META_EXACT_PLUS;
}

/* 2^30 doubles can be added between two calls of meta_exact_carry(). */
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

/* Make every limb but the last one of 32 bits; the last one then has the sum's sign. */
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

/* The digits of the magnitude of an accumulator without carries; two stand for the last limb. */
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

/* The 32 bits from bit @p at on. */
META_INLINE meta_u64 meta_exact_window(const meta_exact_digits *d, meta_i64 at)
{
    const meta_i64 k = at / 32, by = at % 32;
    const meta_u64 low = d->digit[k], high = k < META_EXACT_LIMBS ? d->digit[k + 1] : 0;
    return (low | high << 32) >> by & 0xffffffffu;
}

/* Whether a bit below bit @p at is set. */
META_INLINE int meta_exact_below(const meta_exact_digits *d, meta_i64 at)
{
    for (meta_i64 k = 0; k < at / 32; ++k)
        if (d->digit[k]) return 1;
    return (d->digit[at / 32] & (((meta_u32)1 << at % 32) - 1)) != 0;
}

/* The number of the highest bit that is set; -1 where none is. */
META_INLINE meta_i64 meta_exact_highest(const meta_exact_digits *d)
{
    meta_i64 k = META_EXACT_LIMBS, bit = 31;
    while (k >= 0 && !d->digit[k]) --k;
    if (k < 0) return -1;
    while (!(d->digit[k] >> bit)) --bit;
    return 32 * k + bit;
}

/* The magnitude rounded to nearest, ties to even, as the bits of a float type with @p width bits of
 * fraction, whose least number is bit @p least of the accumulator, and whose infinity has exponent
 * @p top. */
META_INLINE meta_u64 meta_exact_nearest(const meta_exact_digits *d, meta_i64 width, meta_i64 least,
                                        meta_u64 top)
{
    const meta_i64 highest = meta_exact_highest(d), lead = highest - width;
    const meta_i64 at = lead > least ? lead : least;
    if (highest < 0) return 0;
    meta_u64 bits = meta_exact_window(d, at) |
                    (at + 32 < 32 * META_EXACT_LIMBS ? meta_exact_window(d, at + 32) : 0) << 32;
    bits &= ((meta_u64)2 << width) - 1;
    /* The leading bit is not stored: it adds one to the exponent, which is one too low. */
    bits += (meta_u64)(at - least) << width;
    if (at > 0 && (d->digit[(at - 1) / 32] >> (at - 1) % 32 & 1) &&
        ((bits & 1) || meta_exact_below(d, at - 1)))
        ++bits;
    return bits >> width >= top ? top << width : bits;
}

/* The sum in an accumulator without carries, as the bits of a double or, where @p bytes is 4, of a
 * float. Zero is +0, and there is one NaN. */
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
    return limb[META_EXACT_LIMBS - 1] < 0 ? bits | sign : bits;
}

#endif
