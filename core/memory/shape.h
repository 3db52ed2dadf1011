/* SPDX-License-Identifier: BSD-3-Clause */
/** @file shape.h
 *  The shape of a grid, which its buffer has from meta_grid_alloc() or meta_grid_shape() on. A call
 * with one box for several arrays addresses each grid by its own extents; a copy, a file or a plan,
 * which has a box for each array, fails where that contradicts the grid's. */
#ifndef META_SHAPE_H
#define META_SHAPE_H

#include "memory/memory.h"

typedef struct meta_shape {
    meta_box box;    /**< the extents and own cells */
    bool padded;     /**< extents exceed own cells and ghosts, so that rows have gaps */
    meta_type type;  /**< of an element */
    size_t element;  /**< its bytes */
    uint64_t origin; /**< equal for equal starts of as many dimensions; set by the registry */
} meta_shape;

/** Whether @p box is one of elements of @p type in the grid's own number of dimensions. */
static inline bool meta_shape_counts(const meta_shape *s, const meta_box *box, meta_type type)
{
    return s->box.ndim == box->ndim && s->element == meta_element_bytes((uint32_t)type);
}

/** Whether the first @p dims extents are the grid's. */
static inline bool meta_shape_same(const meta_shape *s, const meta_box *box, int dims)
{
    bool same = true;
    for (int d = 0; same && d < dims; ++d) same = box->size[d] == s->box.size[d];
    return same;
}

/** Whether an array of elements of @p type that has the extents of @p box is the grid. */
static inline bool meta_shape_is(const meta_shape *s, const meta_box *box, meta_type type)
{
    return meta_shape_counts(s, box, type) && meta_shape_same(s, box, box->ndim);
}

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
    /* strides follow from all extents but the last */
    const bool same = box->ndim <= s->box.ndim && meta_shape_same(s, box, box->ndim - 1);
    return __builtin_expect(same, 1) ? META_OK : meta_shape_compare(span, box, type, name);
}

/** The box by which an array of a call is addressed that is given @p box, which is not empty: of
 * the extents of the grid that @p span begins, if that counts. @p own has room for it; *@p used is
 * @p own or @p box. */
meta_err meta_shape_apply(const meta_span *span, const meta_box *box, meta_type type,
                          const char *name, meta_box *own, const meta_box **used);

/** The same for an array that lacks the dimensions of the mask @p lacking, along which @p box has
 * an extent of 1: the grid may lack them, too. */
meta_err meta_shape_apply_lacking(const meta_span *span, const meta_box *box, uint32_t lacking,
                                  meta_type type, const char *name, meta_box *own,
                                  const meta_box **used);

/** The error for two grids of a call whose starts differ along dimension @p d of the call, @p
 * first_start and
 *  @p second_start. */
meta_err meta_shape_starts_differ(const meta_span *first, const char *first_name,
                                  int64_t first_start, const meta_span *second,
                                  const char *second_name, int64_t second_start, int d);

#endif
