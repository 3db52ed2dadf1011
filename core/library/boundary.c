/* SPDX-License-Identifier: BSD-3-Clause */
/** @file boundary.c
 *  Boundary conditions: kernels that set slabs of ghost cells from the cells beside them. */
#include "library/library.h"
#include "queue/join.h"

#include <inttypes.h>
#include <string.h>

#include "library/boundary.kernel.h"

/* ------------------------------------------------------------------ where */

static meta_err check_side(const meta_box *box, int dim, meta_slab side)
{
    META_TRY(meta_box_check(box, "box"));
    if (dim < 0 || dim >= box->ndim)
        return meta_fail(META_ERR_ARGUMENT, "argument 'dim' is %d: the box has dimensions 0 to %d",
                         dim, box->ndim - 1);
    if (side != META_SLAB_LOW_GHOST && side != META_SLAB_HIGH_GHOST)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'side' is %d: give META_SLAB_LOW_GHOST or META_SLAB_HIGH_GHOST",
                         (int)side);
    return META_OK;
}

/* There are this many layers of ghosts in the array, and of cells in the box. */
static meta_err check_layers(const meta_box *box, int dim, meta_slab side, int64_t ghosts,
                             int64_t cells, const char *ghosts_name, const char *cells_name)
{
    const int64_t outside =
        side == META_SLAB_LOW_GHOST ? box->start[dim] : box->size[dim] - box->end[dim];
    const int64_t inside = box->end[dim] - box->start[dim];
    if (ghosts > outside)
        return meta_fail(META_ERR_BOUNDS,
                         "argument '%s' takes %" PRId64 " layers of ghosts, and the array has "
                         "%" PRId64 " cells outside 'box' at this side of dimension %d",
                         ghosts_name, ghosts, outside, dim);
    if (cells > inside)
        return meta_fail(META_ERR_BOUNDS,
                         "argument '%s' takes %" PRId64 " layers of cells, and 'box' has %" PRId64
                         " along dimension %d",
                         cells_name, cells, inside, dim);
    return META_OK;
}

static void lay_slab(meta_box *cells, int64_t *ghost, int64_t *inner, const meta_box *box, int dim,
                     meta_slab side, int64_t layer, int64_t cell)
{
    int64_t apart = layer + cell + 1; /* elements from the one to the other */
    for (int d = 0; d < dim; ++d) apart *= box->size[d];
    *cells = *box;
    if (side == META_SLAB_LOW_GHOST) {
        cells->start[dim] = box->start[dim] - 1 - layer;
        *ghost = 0;
        *inner = apart;
    } else { /* no address may lie before the array's, so the slab is that of the cells */
        cells->start[dim] = box->end[dim] - 1 - cell;
        *ghost = apart;
        *inner = 0;
    }
    cells->end[dim] = cells->start[dim] + 1;
}

meta_err meta_boundary_slab(meta_box *cells, int64_t *ghost, int64_t *inner, const meta_box *box,
                            int dim, meta_slab side, int64_t layer, int64_t cell)
{
    META_ENTER();
    META_NEED(cells);
    META_NEED(ghost);
    META_NEED(inner);
    META_TRY(check_side(box, dim, side));
    META_TRY(meta_array_check(box, "box")); /* what is counted in it are elements */
    if (layer < 0 || cell < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s' is %" PRId64 ": give 0 or more",
                         layer < 0 ? "layer" : "cell", layer < 0 ? layer : cell);
    if (layer >= INT64_MAX / 2 || cell >= INT64_MAX / 2)
        return meta_fail(META_ERR_BOUNDS, "argument '%s' is %" PRId64 ": no array has so many",
                         layer > cell ? "layer" : "cell", layer > cell ? layer : cell);
    META_TRY(check_layers(box, dim, side, layer + 1, cell + 1, "layer", "cell"));
    lay_slab(cells, ghost, inner, box, dim, side, layer, cell);
    return META_OK;
}

/* ------------------------------------------------------------------ what */

typedef union element {
    double f64;
    float f32;
    uint64_t u64;
    uint32_t u32;
} element;

/* The part of a ghost that does not come from a cell: so many times the value, or nothing. */
static element offset_of(const void *value, unsigned times, meta_type type)
{
    const size_t bytes = meta_element_bytes((uint32_t)type);
    element e = {0};
    if (value && times > 0) memcpy(&e, value, bytes);
    switch (type) {
    case META_F64:
        e.f64 = value && times > 0 ? times * e.f64 : -0.0;
        break;
    case META_F32:
        e.f32 = value && times > 0 ? (float)times * e.f32 : -0.0f;
        break;
    case META_I64:
    case META_U64:
        e.u64 *= times;
        break;
    default:
        e.u32 *= times;
        break;
    }
    return e;
}

static meta_err set_value(void *array, const meta_box *box, int dim, meta_slab side, int64_t width,
                          const void *value, meta_type type, meta_event *done)
{
    static const meta_library_kernels kernels = META_LIBRARY_KERNELS(meta_boundary_value);
    const void *const arguments[] = {array, value};
    meta_box slab = *box;
    if (side == META_SLAB_LOW_GHOST) {
        slab.start[dim] = box->start[dim] - width;
        slab.end[dim] = box->start[dim];
    } else {
        slab.start[dim] = box->end[dim];
        slab.end[dim] = box->end[dim] + width;
    }
    return meta_user_run(kernels[type], &slab, arguments, done);
}

/* The outermost layer comes first: if its ghosts and cells lie in the buffer, so do all others. */
static meta_err set_layers(meta_device *device, void *array, const meta_box *box, int dim,
                           meta_slab side, int64_t width, meta_boundary_kind kind,
                           const void *value, meta_type type, meta_event *done)
{
    static const meta_library_kernels even = META_LIBRARY_KERNELS(meta_boundary_even),
                                      odd = META_LIBRARY_KERNELS(meta_boundary_odd);
    const bool is_odd = kind == META_BOUNDARY_WALL || kind == META_BOUNDARY_ODD;
    const int64_t bytes = (int64_t)meta_element_bytes((uint32_t)type);
    meta_pieces pieces;
    meta_pieces_begin(&pieces, device, done);
    for (int64_t layer = width - 1; layer >= 0; --layer) {
        const bool mirrors = kind != META_BOUNDARY_GRADIENT;
        const unsigned times = kind == META_BOUNDARY_WALL       ? 2
                               : kind == META_BOUNDARY_GRADIENT ? (unsigned)layer + 1
                                                                : 0;
        const element offset = offset_of(value, times, type);
        meta_box cells;
        int64_t ghost, inner;
        lay_slab(&cells, &ghost, &inner, box, dim, side, layer, mirrors ? layer : 0);
        const void *const arguments[] = {(char *)array + ghost * bytes,
                                         (const char *)array + inner * bytes, &offset};
        const meta_err error =
            meta_piece_queued(&pieces, meta_user_run((is_odd ? odd : even)[type], &cells, arguments,
                                                     meta_piece(&pieces, layer == 0)));
        if (error != META_OK) return meta_pieces_drop(&pieces, error);
    }
    return meta_pieces_end(&pieces);
}

meta_err meta_boundary(void *array, const meta_box *box, int dim, meta_slab side, int64_t width,
                       meta_boundary_kind kind, const void *value, meta_type type, meta_event *done)
{
    const bool mirrors = kind != META_BOUNDARY_VALUE && kind != META_BOUNDARY_GRADIENT;
    meta_span span;
    meta_box own;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(check_side(box, dim, side));
    if ((int)kind < 0 || kind >= META_BOUNDARY_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kind' is %d, which is no boundary condition",
                         (int)kind);
    if (width < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument 'width' is %" PRId64 ": give 0 or more",
                         width);
    if (kind < META_BOUNDARY_GRADIENT || (kind == META_BOUNDARY_GRADIENT && value))
        META_TRY(meta_host_range(value, bytes, "value"));
    if (width == 0 || meta_box_empty(box)) return meta_submit_nothing(done);
    META_TRY(meta_resolve_array(array, box, type, "array", &span, &own));
    META_TRY(check_layers(&own, dim, side, width, mirrors ? width : 1, "width", "width"));
    if (kind == META_BOUNDARY_VALUE)
        return set_value(array, &own, dim, side, width, value, type, done);
    return set_layers(span.device, array, &own, dim, side, width, kind, value, type, done);
}
