/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_space.h
 *  The iteration space of a kernel: what a box, a face or two of them look like to a kernel.
 *
 *  This text is compiled as C, C++ and OpenCL C; the language header that comes before it defines
 *  meta_i64. The layout is the same in all of them, so a space is passed to a device by value. */
#ifndef META_SPACE_H
#define META_SPACE_H

/** The most buffers one kernel touches. */
#define META_MAX_OPERANDS 2

/** Elements are numbered by coordinates c[0..ndim); element c of operand k lies at index
 *  base[k] + sum over d of c[d] * stride[k][d], in elements from the start of operand k's memory
 *  object. Dimension 0 makes the columns, the others together the rows, dimension 1 fastest.
 *  At least one dimension, every extent at least 1. */
typedef struct meta_space {
    meta_i64 ndim;
    meta_i64 rows; /**< product of extent[1..ndim) */
    meta_i64 extent[META_MAX_DIM];
    meta_i64 base[META_MAX_OPERANDS];
    meta_i64 stride[META_MAX_OPERANDS][META_MAX_DIM];
} meta_space;

#endif
