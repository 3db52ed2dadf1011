/* SPDX-License-Identifier: BSD-3-Clause */
/** @file shape.h
 *  The shape of a grid, which its buffer keeps from meta_grid_alloc() to meta_free(): nothing is
 *  addressed by a box that contradicts it. */
#ifndef META_SHAPE_H
#define META_SHAPE_H

#include "memory/memory.h"

typedef struct meta_shape {
    meta_box box;          /**< as meta_grid_alloc() returned it */
    int low[META_MAX_DIM]; /**< ghosts that were asked for */
    bool padded;
    bool moved;     /**< padding has moved the start of dimension 0 up */
    size_t element; /**< bytes */
} meta_shape;

/** meta_shape_check() where the extents are others than the grid's. */
meta_err meta_shape_compare(const meta_span *span, const meta_box *box, meta_type type,
                            const char *name);

/** Where @p span begins a grid, the extents of @p box, which is not empty, place rows where the
 * grid has them. */
static inline meta_err meta_shape_check(const meta_span *span, const meta_box *box, meta_type type,
                                        const char *name)
{
    const meta_shape *s = span->shape;
    if (!s) return META_OK;
    bool same = box->ndim <= s->box.ndim; /* strides follow from all extents but the last */
    for (int d = 0; same && d < box->ndim - 1; ++d) same = box->size[d] == s->box.size[d];
    return __builtin_expect(same, 1) ? META_OK : meta_shape_compare(span, box, type, name);
}

/** An index is the same cell along dimension 0 of the grid that @p moved begins, whose start
 * padding has moved, and along dimension @p d of the one that @p other begins: no two starts differ
 * that were asked for with as many ghosts. */
meta_err meta_shape_check_starts(const meta_span *moved, meta_type moved_type,
                                 const char *moved_name, const meta_span *other,
                                 meta_type other_type, const char *other_name, int d);

#endif
