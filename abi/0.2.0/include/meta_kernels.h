/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernels.h
 *  The table of built-in kernels, expanded by everything that handles kernels. To add a kernel, write
 *  its body in move.h or arithmetic.h and its row here. */
#ifndef META_KERNELS_H
#define META_KERNELS_H

/** X(number, NAME, name, FAMILY, ACCESS0, ACCESS1, REACH, values, result), ordered by number.
 *
 *  - number: never changes and is never reused; plug-ins built earlier identify kernels by it.
 *  - FAMILY: the element types that the body is compiled for.
 *      MOVE: all types, as the unsigned type of the same size.
 *      MAP: the arithmetic types.
 *      REDUCTION: the arithmetic types, with a kernel that combines partial results.
 *      EXACT: F64 and F32; the result is an exact sum, always in device memory.
 *  - ACCESS: of each operand. OUT: every element of the iteration space is written. INOUT: every
 *      element is read and written. IN: read. NONE: the kernel does not have this operand.
 *  - REACH: the neighbours that an IN operand is read at. POINT: none. STAR2, BOX2, STAR3, BOX3: a
 *      stencil of radius 1 in that many dimensions.
 *  - values: the number of elements passed by value (the fill value, alpha).
 *  - result: of a reduction, sum, min, max or exact, else none; the kernel finish_<result> combines
 *      partial results. */
#define META_KERNELS(X)                                                                            \
    X(0, COPY, copy, MOVE, OUT, IN, POINT, 0, none)                                                \
    X(1, PACK, pack, MOVE, OUT, IN, POINT, 0, none)                                                \
    X(2, UNPACK, unpack, MOVE, OUT, IN, POINT, 0, none)                                            \
    X(3, TRANSPOSE, transpose, MOVE, OUT, IN, POINT, 0, none)                                      \
    X(4, FILL, fill, MOVE, OUT, NONE, POINT, 1, none)                                              \
    X(5, AXPY, axpy, MAP, INOUT, IN, POINT, 1, none)                                               \
    X(6, STENCIL_2D5P, stencil_2d5p, MAP, OUT, IN, STAR2, 0, none)                                 \
    X(7, STENCIL_2D9P, stencil_2d9p, MAP, OUT, IN, BOX2, 0, none)                                  \
    X(8, STENCIL_3D7P, stencil_3d7p, MAP, OUT, IN, STAR3, 0, none)                                 \
    X(9, STENCIL_3D27P, stencil_3d27p, MAP, OUT, IN, BOX3, 0, none)                                \
    X(10, REDUCE_SUM, reduce_sum, REDUCTION, IN, NONE, POINT, 0, sum)                              \
    X(11, REDUCE_MIN, reduce_min, REDUCTION, IN, NONE, POINT, 0, min)                              \
    X(12, REDUCE_MAX, reduce_max, REDUCTION, IN, NONE, POINT, 0, max)                              \
    X(13, DOT, dot, REDUCTION, IN, IN, POINT, 0, sum)                                              \
    X(14, STENCIL_2D5P_SUM, stencil_2d5p_sum, REDUCTION, OUT, IN, STAR2, 0, sum)                   \
    X(15, STENCIL_2D9P_SUM, stencil_2d9p_sum, REDUCTION, OUT, IN, BOX2, 0, sum)                    \
    X(16, STENCIL_3D7P_SUM, stencil_3d7p_sum, REDUCTION, OUT, IN, STAR3, 0, sum)                   \
    X(17, STENCIL_3D27P_SUM, stencil_3d27p_sum, REDUCTION, OUT, IN, BOX3, 0, sum)                  \
    X(18, EXACT_SUM, exact_sum, EXACT, IN, NONE, POINT, 0, exact)                                  \
    X(19, EXACT_DOT, exact_dot, EXACT, IN, IN, POINT, 0, exact)

#endif
