/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_types.h
 *  The element types and the kernels of libmeta: the one list of each that everything expands. */
#ifndef META_TYPES_H
#define META_TYPES_H

/** The most dimensions a box, a face or an iteration space can have. */
#define META_MAX_DIM 10

/** Element types that take part in arithmetic: X(NAME, name, WIDE, SUM).
 *
 *  WIDE is the type additions are made in (unsigned for integers, so that they wrap), SUM the type
 *  sums over many elements are accumulated in. */
#define META_ARITHMETIC_TYPES(X) \
    X(F64, f64, f64, f64)        \
    X(F32, f32, f32, f64)        \
    X(I64, i64, u64, u64)        \
    X(U64, u64, u64, u64)        \
    X(I32, i32, u32, u32)        \
    X(U32, u32, u32, u32)

/** Element types that are only moved: X(NAME, name). */
#define META_SMALL_TYPES(X) \
    X(I16, i16)             \
    X(U16, u16)             \
    X(I8, i8)               \
    X(U8, u8)

/** Unsigned types of each element size, in which every type is moved: X(bytes, name). */
#define META_MOVE_TYPES(X) X(8, u64) X(4, u32) X(2, u16) X(1, u8)

/** Kernels that move elements without looking at them: X(NAME, name, operands).
 *  Operand 0 is written, operand 1 is read. */
#define META_MOVE_KERNELS(X) \
    X(COPY, copy, 2)         \
    X(PACK, pack, 2)         \
    X(UNPACK, unpack, 2)     \
    X(TRANSPOSE, transpose, 2) \
    X(FILL, fill, 1)

/** Kernels that compute a value for every element: X(NAME, name, operands). Operand 0 is written. */
#define META_MAP_KERNELS(X)         \
    X(AXPY, axpy, 2)                \
    X(STENCIL_2D5P, stencil_2d5p, 2) \
    X(STENCIL_2D9P, stencil_2d9p, 2) \
    X(STENCIL_3D7P, stencil_3d7p, 2) \
    X(STENCIL_3D27P, stencil_3d27p, 2)

/** Kernels that end in one value: X(NAME, name, operands, finish).
 *  The stencils with a sum write operand 0 as well; finish names the combining kernel. */
#define META_REDUCTION_KERNELS(X)                        \
    X(REDUCE_SUM, reduce_sum, 1, finish_sum)             \
    X(REDUCE_MIN, reduce_min, 1, finish_min)             \
    X(REDUCE_MAX, reduce_max, 1, finish_max)             \
    X(DOT, dot, 2, finish_sum)                           \
    X(STENCIL_2D5P_SUM, stencil_2d5p_sum, 2, finish_sum) \
    X(STENCIL_2D9P_SUM, stencil_2d9p_sum, 2, finish_sum) \
    X(STENCIL_3D7P_SUM, stencil_3d7p_sum, 2, finish_sum) \
    X(STENCIL_3D27P_SUM, stencil_3d27p_sum, 2, finish_sum)

/** Sums that no order of additions changes, of F64 and F32 alone: X(NAME, name, operands, finish).
 *  Their result is META_EXACT_RESULT 64-bit words, always in device memory: an accumulator of
 *  META_EXACT_WORDS, as exact.h describes it, and the element that it rounds to. */
#define META_EXACT_KERNELS(X)                \
    X(EXACT_SUM, exact_sum, 1, finish_exact) \
    X(EXACT_DOT, exact_dot, 2, finish_exact)
#define META_EXACT_LIMBS  67
#define META_EXACT_WORDS  70
#define META_EXACT_RESULT 71

#endif
