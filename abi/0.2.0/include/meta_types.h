/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_types.h
 *  The list of libmeta's element types, expanded by everything that handles types. */
#ifndef META_TYPES_H
#define META_TYPES_H

/** Upper bound on the dimensions of a box, a face or an iteration space. */
#define META_MAX_DIM 10

/** Arithmetic element types: X(NAME, name, bytes, WIDE, SUM).
 *
 *  WIDE is the type of additions (unsigned for integers, so that they wrap), SUM the type of
 *  accumulators. */
#define META_ARITHMETIC_TYPES(X) \
    X(F64, f64, 8, f64, f64)     \
    X(F32, f32, 4, f32, f64)     \
    X(I64, i64, 8, u64, u64)     \
    X(U64, u64, 8, u64, u64)     \
    X(I32, i32, 4, u32, u32)     \
    X(U32, u32, 4, u32, u32)

/** Element types that can only be moved: X(NAME, name, bytes). */
#define META_SMALL_TYPES(X) \
    X(I16, i16, 2)          \
    X(U16, u16, 2)          \
    X(I8, i8, 1)            \
    X(U8, u8, 1)

/** The unsigned type of each element size, as which elements are moved: X(bytes, name). */
#define META_MOVE_TYPES(X) X(8, u64) X(4, u32) X(2, u16) X(1, u8)

/** An exact sum in device memory: a superaccumulator of META_EXACT_WORDS 64-bit words, see exact.h,
 *  followed by the element that it rounds to. */
#define META_EXACT_LIMBS  67
#define META_EXACT_WORDS  70 /**< of the sum */
#define META_EXACT_RESULT 71 /**< with the element */

/** Give @p x, of element type @p T, the one representation of its value: signed zeros and NaN payloads
 *  would depend on the order of combining and on the device. */
#define META_CANONICAL(T, x)                                                        \
    do {                                                                            \
        union {                                                                     \
            meta_u64 bits;                                                          \
            T value;                                                                \
        } nan_;                                                                     \
        nan_.bits = sizeof(T) == 8 ? (meta_u64)0x7ff8 << 48 : (meta_u64)0x7fc00000; \
        if ((x) == 0) (x) = 0;                                                      \
        if ((x) != (x)) (x) = nan_.value;                                           \
    } while (0)

#endif
