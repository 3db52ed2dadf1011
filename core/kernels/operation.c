/* SPDX-License-Identifier: BSD-3-Clause */
/** @file operation.c
 *  Building an operation from the arguments of a public call. Operands are validated here, with
 * errors that name the argument, before a device is chosen. */
#include "kernels/kernels.h"
#include "memory/shape.h"

#include <inttypes.h>
#include <string.h>

static const meta_operand_desc *desc_of(const meta_operation *op, uint32_t k)
{
    return &op->call.desc->operand[k];
}

void meta_operation_init(meta_operation *op, const meta_kernel_desc *desc, meta_type type,
                         const void *values, const meta_face *shape)
{
    meta_space *s = op->space;
    op->call = (meta_call){.size = sizeof op->call,
                           .type = (uint32_t)type,
                           .desc = desc,
                           .space = s,
                           .object = op->object,
                           .values = values};
    op->device = NULL;
    op->results = 0;
    op->apart = op->own_boxes = op->origins_differ = op->uneven = false;
    op->origin = 0;
    op->given = NULL;
    s->ndim = shape->count;
    s->rows = 1;
    for (int d = 0; d < shape->count; ++d) {
        s->extent[d] = shape->size[d];
        if (d > 0) s->rows *= shape->size[d];
    }
}

void meta_operation_begin(meta_builtin *b, meta_kernel_id kernel, meta_type type,
                          const meta_face *shape)
{
    meta_operation *op = &b->op;
    op->operand = b->operand;
    op->object = b->object;
    op->space = &b->space;
    op->result = &b->result;
    op->where = &b->where;
    meta_operation_init(op, &meta_kernel_table[kernel], type, op->value, shape);
    /* Kernels advance through both layouts, even if only one is used. */
    if (op->call.desc->operands < META_SPACE_OPERANDS)
        memset(&b->space.layout[META_SPACE_OPERANDS - 1], 0, sizeof b->space.layout[0]);
}

void meta_operand_lay(meta_operation *op, uint32_t k, const meta_face *face)
{
    const meta_space *s = op->space;
    meta_layout *layout = meta_operation_layout(op, k);
    int64_t packed = 1;
    op->operand[k].start = face ? face->start : 0;
    for (int d = 0; d < s->ndim; ++d) {
        layout->stride[d] = face ? face->stride[d] : packed;
        packed *= s->extent[d];
    }
}

meta_err meta_operand_set(meta_operation *op, uint32_t k, const void *ptr, const meta_face *face,
                          const char *name)
{
    meta_operand *operand = &op->operand[k];
    const meta_type type = meta_operation_type(op, k);
    operand->name = name;
    operand->is_grid = false;
    meta_operand_lay(op, k, face);
    if (!face) {
        operand->low = 0;
        operand->high = op->space->rows * op->space->extent[0] - 1;
        return meta_resolve(ptr, operand->high + 1, type, name, &operand->span);
    }
    META_TRY(meta_face_reach(face, "face", &operand->low, &operand->high));
    return meta_resolve_face(ptr, face, type, name, &operand->span);
}

/* The box by which operand @p k is addressed, whose span is set and begins a grid: @p own, or the
 * one that *@p box is.
 */
static meta_err apply_shape(meta_operation *op, uint32_t k, const char *name, meta_box *own,
                            const meta_box **box)
{
    meta_operand *operand = &op->operand[k];
    const meta_span *span = &operand->span;
    const meta_shape *shape = span->shape;
    const meta_type type = meta_operation_type(op, k);
    const meta_box *asked = op->given ? op->given : *box, *used = asked;
    if (op->own_boxes) return meta_shape_check(span, asked, type, name);
    operand->is_grid = meta_shape_is(shape, asked, type);
    if (__builtin_expect(!operand->is_grid, 0)) {
        META_TRY(operand->lacking ? meta_shape_apply_lacking(span, asked, operand->lacking, type,
                                                             name, own, &used)
                                  : meta_shape_apply(span, asked, type, name, own, &used));
        operand->is_grid = used != asked;
    }
    if (!operand->is_grid) return META_OK;
    if (op->origin == 0) op->origin = shape->origin;
    else if (op->origin != shape->origin) op->origins_differ = true;
    if (used == asked) return META_OK;
    if (op->given) op->uneven = true;
    else *box = used;
    return META_OK;
}

/* The box extended by the operand's reach. */
static meta_err box_reached(const meta_box *box, const meta_kernel_desc *kernel,
                            const meta_operand_desc *desc, const char *name, meta_box *reached)
{
    const bool is_user = kernel->family == META_FAMILY_USER;
    if (box->ndim < (int)kernel->grid)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'box' has %d dimensions, the stencil needs %u", box->ndim,
                         kernel->grid);
    *reached = *box;
    for (int d = 0; d < box->ndim && d < META_REACH_DIMS; ++d) {
        if (box->start[d] < desc->low[d] || box->size[d] - box->end[d] < desc->high[d])
            return meta_fail(
                META_ERR_BOUNDS,
                "argument 'box', dimension %d: [%" PRId64 ", %" PRId64 ") of %" PRId64
                " leaves no cell for the stencil to reach over%s%s, %d on the low side and %d on "
                "the high one: give a smaller box, or an array with more ghosts",
                d, box->start[d], box->end[d], box->size[d], is_user ? " in " : "",
                is_user ? name : "", (int)desc->low[d], (int)desc->high[d]);
        reached->start[d] -= desc->low[d];
        reached->end[d] += desc->high[d];
    }
    return META_OK;
}

meta_err meta_operand_set_array(meta_operation *op, uint32_t k, const void *ptr,
                                const meta_box *box, uint32_t lacking, const char *name)
{
    const meta_operand_desc *desc = desc_of(op, k);
    meta_operand *operand = &op->operand[k];
    meta_box own, reached;
    meta_face cells;
    operand->name = name;
    operand->lacking = lacking;
    operand->is_grid = false;
    META_TRY(meta_span_at(ptr, name, &operand->span));
    if (operand->span.shape) META_TRY(apply_shape(op, k, name, &own, &box));
    if (op->uneven) return META_OK; /* the call begins anew, with the program's box */
    meta_face_of_box(&cells, box);
    meta_operand_lay(op, k, &cells);
    if (desc->reach != META_REACH_POINT) {
        META_TRY(box_reached(box, op->call.desc, desc, name, &reached));
        meta_face_of_box(&cells, &reached);
    }
    META_TRY(meta_face_reach(&cells, "face", &operand->low, &operand->high));
    return meta_reach_check(&operand->span, operand->low, operand->high,
                            meta_element_bytes((uint32_t)meta_operation_type(op, k)), name);
}

void meta_operation_value(meta_operation *op, const void *value)
{
    memset(op->value, 0, sizeof op->value);
    memcpy(op->value, value, meta_element_bytes(op->call.type));
}

meta_err meta_operation_result(meta_operation *op, void *ptr, const char *name)
{
    const uint32_t k = op->results;
    const meta_kernel_desc *desc = op->call.desc;
    meta_operand *result = &op->result[k];
    int is_device;
    if (desc->results > 0 && meta_has_place(desc->result[k].combine))
        META_TRY(meta_resolve_extreme(ptr, desc->result[k].type, name, &is_device, &result->span));
    else
        META_TRY(meta_resolve_any(ptr, 1, meta_operation_result_type(op, k), name, &is_device,
                                  &result->span));
    op->where[k] = (meta_result){.host = is_device ? NULL : ptr};
    op->call.result = op->where;
    op->results = k + 1;
    result->name = name;
    result->low = result->high = result->start = 0;
    if (!is_device) result->span.device = NULL;
    return META_OK;
}

/* Whether the operands are the same elements in the same order, accessed without neighbours, as a
 * built-in kernel's may be. The compilers of the program's kernels are told that arrays are apart.
 */
static bool same_elements(const meta_operation *op, uint32_t a, uint32_t b)
{
    const meta_operand *x = &op->operand[a], *y = &op->operand[b];
    return op->call.desc->family != META_FAMILY_USER && x->span.address == y->span.address &&
           x->start == y->start && x->low == y->low && x->high == y->high &&
           desc_of(op, b)->reach == META_REACH_POINT &&
           memcmp(meta_call_layout(&op->call, a)->stride, meta_call_layout(&op->call, b)->stride,
                  (size_t)op->space->ndim * sizeof(meta_i64)) == 0;
}

/* Whether @p distance is a sum of strides 0 … d, each times a number from its low to its high.
 * Strides are those of a box: along the faster dimensions together it is less than one step along
 * d, so that only a few numbers are possible. */
static bool is_distance(const meta_i64 *stride, const int64_t *low, const int64_t *high, int d,
                        int64_t distance)
{
    int64_t below = 0, above = 0;
    if (d < 0) return distance == 0;
    if (stride[d] == 0) return is_distance(stride, low, high, d - 1, distance); /* it lacks d */
    for (int k = 0; k < d; ++k) {
        below += low[k] * stride[k];
        above += high[k] * stride[k];
    }
    const int64_t first = (distance - above) / stride[d] - 1;
    const int64_t last = (distance - below) / stride[d] + 1;
    for (int64_t n = first > low[d] ? first : low[d]; n <= last && n <= high[d]; ++n)
        if (is_distance(stride, low, high, d - 1, distance - n * stride[d])) return true;
    return false;
}

/* Whether a kernel of the program's may access an element of @p written by @p other as well. The
 * cells of two boxes in one array lie between each other, so that their ranges overlap but their
 * elements do not: boundary conditions set ghosts from cells of the same array. */
static bool meet(const meta_operation *op, uint32_t written, uint32_t other)
{
    const meta_space *s = op->space;
    const meta_operand_desc *w = desc_of(op, written), *o = desc_of(op, other);
    const meta_operand *a = &op->operand[written], *b = &op->operand[other];
    const meta_i64 *stride = meta_call_layout(&op->call, written)->stride;
    const meta_i64 *other_stride = meta_call_layout(&op->call, other)->stride;
    const int64_t bytes = (int64_t)meta_element_bytes(meta_operation_type(op, written));
    const int64_t apart = a->span.address - b->span.address;
    int64_t low[META_MAX_DIM], high[META_MAX_DIM];
    if (o->reach == META_REACH_WHOLE || w->reach == META_REACH_WHOLE ||
        bytes != (int64_t)meta_element_bytes(meta_operation_type(op, other)))
        return true;
    if (apart + a->high * bytes < b->low * bytes || b->high * bytes < apart + a->low * bytes)
        return false;
    if (apart % bytes != 0) return true;
    if (o->reach != META_REACH_ONE &&
        memcmp(stride, other_stride, (size_t)s->ndim * sizeof *stride) != 0)
        return true;
    for (int d = 0; d < s->ndim; ++d) {
        const bool reaches = d < META_REACH_DIMS;
        const int64_t last = s->extent[d] - 1, others = o->reach == META_REACH_ONE ? 0 : last;
        low[d] = -last - (reaches ? o->low[d] + w->high[d] : 0);
        high[d] = others + (reaches ? o->high[d] + w->low[d] : 0);
    }
    return is_distance(stride, low, high, (int)s->ndim - 1, apart / bytes + a->start - b->start);
}

meta_err meta_operation_check_overlap(const meta_operation *op)
{
    const meta_kernel_desc *kernel = op->call.desc;
    for (uint32_t k = 0; k < kernel->operands; ++k) {
        const meta_operand *written = &op->operand[k];
        if (desc_of(op, k)->access == META_ACCESS_IN) continue;
        for (uint32_t j = 0; j < kernel->operands; ++j) {
            const meta_operand *other = &op->operand[j];
            if (j == k || (j < k && desc_of(op, j)->access != META_ACCESS_IN)) continue;
            if (desc_of(op, k)->access == META_ACCESS_INOUT && same_elements(op, k, j)) continue;
            if (kernel->family == META_FAMILY_USER && !meet(op, k, j)) continue;
            META_TRY(meta_no_overlap(&written->span, written->low, written->high, written->name,
                                     meta_element_bytes(meta_operation_type(op, k)), &other->span,
                                     other->low, other->high, other->name,
                                     meta_element_bytes(meta_operation_type(op, j))));
        }
    }
    return META_OK;
}

/* Where the own cells of the grid of operand @p k begin along dimension @p d of the call; -1: that
 * is none of its dimensions. */
static int64_t start_along(const meta_operation *op, uint32_t k, int d)
{
    const meta_operand *o = &op->operand[k];
    const int dims = op->given ? op->given->ndim : (int)op->space->ndim;
    int e = d;
    if (!o->is_grid || (o->lacking >> d & 1)) return -1;
    if (o->span.shape->box.ndim < dims)
        e -= __builtin_popcount(o->lacking & ((UINT32_C(1) << d) - 1));
    return o->span.shape->box.start[e];
}

meta_err meta_operation_check_starts(const meta_operation *op)
{
    const int dims = op->given ? op->given->ndim : (int)op->space->ndim;
    for (int d = 0; d < dims; ++d) {
        const meta_operand *first = NULL;
        int64_t begins = -1;
        for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
            const meta_operand *o = &op->operand[k];
            const int64_t start = start_along(op, k, d);
            if (start < 0) continue;
            if (!first) first = o, begins = start;
            if (start != begins)
                return meta_shape_starts_differ(&first->span, first->name, begins, &o->span,
                                                o->name, start, d);
        }
    }
    return META_OK;
}

static bool merges(const meta_operation *op, meta_i64 into, meta_i64 d)
{
    const meta_i64 extent = op->space->extent[into];
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const meta_layout *layout = meta_call_layout(&op->call, k);
        if (layout->stride[d] != layout->stride[into] * extent) return false;
    }
    return true;
}

void meta_operation_compact(meta_operation *op)
{
    const uint32_t operands = op->call.desc->operands;
    meta_space *s = op->space;
    meta_i64 last = -1; /* last dimension of the compacted space */
    if (op->call.desc->grid > 0 || op->call.desc->family == META_FAMILY_USER || s->ndim == 1)
        return;
    for (meta_i64 d = 0; d < s->ndim; ++d) {
        if (s->extent[d] == 1) continue;
        if (last >= 0 && merges(op, last, d)) {
            s->extent[last] *= s->extent[d];
            continue;
        }
        ++last;
        s->extent[last] = s->extent[d];
        for (uint32_t k = 0; k < operands; ++k) {
            meta_layout *layout = meta_operation_layout(op, k);
            layout->stride[last] = layout->stride[d];
        }
    }
    if (last < 0) { /* a single element */
        last = 0;
        s->extent[0] = 1;
        for (uint32_t k = 0; k < operands; ++k) meta_operation_layout(op, k)->stride[0] = 1;
    }
    s->ndim = last + 1;
    s->rows = 1;
    for (meta_i64 d = 1; d <= last; ++d) s->rows *= s->extent[d];
}

uint64_t meta_call_bytes(const meta_call *call)
{
    const uint64_t cells = (uint64_t)call->space->rows * (uint64_t)call->space->extent[0];
    if (call->desc->family == META_FAMILY_USER) return meta_user_bytes(call);
    return call->desc->passes * meta_element_bytes(call->type) * cells;
}

int meta_operation_ranges(const meta_operation *op, meta_range *ranges)
{
    int count = 0;
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const meta_operand *o = &op->operand[k];
        const int64_t bytes = (int64_t)meta_element_bytes(meta_operation_type(op, k));
        ranges[count++] = (meta_range){o->span.address + o->low * bytes,
                                       (uint64_t)((o->high - o->low + 1) * bytes)};
    }
    for (uint32_t k = 0; k < op->results; ++k) {
        const uint64_t bytes = meta_operation_result_bytes(op, k);
        ranges[count++] = op->result[k].span.device
                              ? (meta_range){op->result[k].span.address, bytes}
                              : (meta_range){op->where[k].host, bytes};
    }
    return count;
}
