/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_space.h
 *  The iteration space of a kernel, with the layouts of its operands (a box, a face, packed elements),
 *  and iteration over its rows.
 *
 *  Compiled as C, C++, CUDA, HIP and OpenCL C; the language header included before it defines
 *  meta_i64, and META_INLINE if the functions need more than static inline. The structures have the
 *  same layout in all of them, so a space is passed to a device by value. */
#ifndef META_SPACE_H
#define META_SPACE_H

/** How the functions here are declared. */
#ifndef META_INLINE
#define META_INLINE static inline
#endif

/** The operands whose layouts a space has: those of a built-in kernel, or of a kernel that is compiled
 *  from text. */
#ifndef META_SPACE_OPERANDS
#define META_SPACE_OPERANDS 2
#endif
/** The address space, in OpenCL C, of the space that a kernel is given. */
#ifndef META_SPACE_MEMORY
#define META_SPACE_MEMORY
#endif

/** The layout of an operand: element c of the iteration space has the index base + sum over d of
 *  c[d] * stride[d], in elements from the start of the operand's memory object. */
typedef struct meta_layout {
    meta_i64 base;                 /**< the index of the first element */
    meta_i64 stride[META_MAX_DIM]; /**< from an element to the next one along each dimension */
} meta_layout;

/** An iteration space. Elements have coordinates c[0..ndim). Dimension 0 makes the columns, all others together the rows,
 *  dimension 1 fastest. There is at least one dimension, and every extent is at least 1. The layouts
 *  of a kernel with more operands follow contiguously. */
typedef struct meta_space {
    meta_i64 ndim;                           /**< dimensions, at least 1 */
    meta_i64 rows;                           /**< product of extent[1..ndim) */
    meta_i64 extent[META_MAX_DIM];           /**< elements along each dimension */
    meta_layout layout[META_SPACE_OPERANDS]; /**< one for each operand */
} meta_space;

/** A row: its number, the index of its column 0 in each operand, its coordinates in dimensions 1... */
typedef struct meta_row {
    meta_i64 number;                   /**< from 0 */
    meta_i64 at[META_SPACE_OPERANDS];  /**< the index of column 0 in each operand */
    meta_i64 coordinate[META_MAX_DIM]; /**< in dimensions 1 and above */
} meta_row;

/** Row @p number of a space. */
META_INLINE meta_row meta_row_first(META_SPACE_MEMORY const meta_space *s, meta_i64 number)
{
    meta_row r;
    meta_i64 rest = number;
    r.number = number;
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) r.at[k] = s->layout[k].base;
    for (meta_i64 d = 1; d < s->ndim; ++d) {
        r.coordinate[d] = rest % s->extent[d];
        rest /= s->extent[d];
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) r.at[k] += r.coordinate[d] * s->layout[k].stride[d];
    }
    return r;
}

/** Go on to the next row. */
META_INLINE void meta_row_next(META_SPACE_MEMORY const meta_space *s, meta_row *r)
{
    ++r->number;
    for (meta_i64 d = 1; d < s->ndim; ++d) {
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) r->at[k] += s->layout[k].stride[d];
        if (++r->coordinate[d] < s->extent[d]) return;
        r->coordinate[d] = 0;
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) r->at[k] -= s->extent[d] * s->layout[k].stride[d];
    }
}

#endif
