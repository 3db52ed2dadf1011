/* SPDX-License-Identifier: BSD-3-Clause */
/** @file touch.c
 *  The bytes that a call touches, from its descriptor and layouts. */
#include "auto/auto.h"

#include <string.h>

/* An operand's elements: from the lowest to the highest, relative to its base. */
typedef struct stretch {
    int64_t low, high;
} stretch;

static stretch elements(const meta_call *call, uint32_t k)
{
    const meta_space *s = call->space;
    const meta_layout *layout = meta_call_layout(call, k);
    const meta_operand_desc *o = &call->desc->operand[k];
    stretch e = {0, 0};
    for (int d = 0; d < s->ndim; ++d) {
        const int64_t stride = layout->stride[d];
        int64_t low = 0, high = s->extent[d] - 1;
        if (o->reach != META_REACH_POINT && d < META_REACH_DIMS) {
            low -= o->low[d];
            high += o->high[d];
        }
        e.low += stride < 0 ? high * stride : low * stride;
        e.high += stride < 0 ? low * stride : high * stride;
    }
    return e;
}

/* Whether the elements lie one behind the other: some dimension has stride 1, another one its
 * extent, and so on. */
static bool is_dense(const meta_call *call, uint32_t k)
{
    const meta_space *s = call->space;
    const meta_layout *layout = meta_call_layout(call, k);
    int64_t elements = 1;
    uint32_t left = 0;
    for (int d = 0; d < s->ndim; ++d)
        if (s->extent[d] > 1 && layout->stride[d] != 0) left |= UINT32_C(1) << d;
    while (left) {
        int d = 0;
        while (d < s->ndim && (!(left >> d & 1) || layout->stride[d] != elements)) ++d;
        if (d == s->ndim) return false;
        elements *= s->extent[d];
        left &= ~(UINT32_C(1) << d);
    }
    return true;
}

/* Whether they are the same, whatever their numbers. */
static bool is_same(const meta_auto_shape *a, const meta_auto_shape *b)
{
    const size_t numbers = offsetof(meta_auto_shape, base);
    return a->base == b->base &&
           memcmp((const char *)a + numbers, (const char *)b + numbers, sizeof *a - numbers) == 0;
}

/* The number of the shape that the call writes: the buffer knows those that repeat. */
static uint64_t shape_of(meta_auto_buffer *b, const meta_call *call, uint32_t k, int64_t bytes)
{
    const meta_space *s = call->space;
    const meta_layout *layout = meta_call_layout(call, k);
    meta_auto_shape shape = {.base = layout->base, .bytes = bytes};
    int at = 0;
    for (int d = 0; d < s->ndim; ++d) {
        shape.extent[d] = s->extent[d];
        shape.stride[d] = layout->stride[d];
    }
    while (at < META_AUTO_SHAPES - 1 && !is_same(&b->shape[at], &shape)) ++at;
    const uint64_t number = is_same(&b->shape[at], &shape) ? b->shape[at].number : 0;
    shape.number = number ? number : ++meta_auto.shapes;
    if (at > 0) memmove(b->shape + 1, b->shape, (size_t)at * sizeof *b->shape);
    b->shape[0] = shape;
    return shape.number;
}

/* To which a program's kernel writes what META_CHECK=on finds, beside what its arrays say. */
static bool is_notes(const meta_call *call, uint32_t k)
{
    return call->desc->number == META_USER_CHECKED_NUMBER && k + 1 == call->desc->operands;
}

/* META_CHECK=on writes poison to the cells of an OUT array, and searches them for it afterwards:
 * the kernel must run where the poison is. */
static bool is_poisoned(const meta_call *call, uint32_t k)
{
    return call->desc->operand[k].access == META_ACCESS_OUT &&
           call->desc->family == META_FAMILY_USER && meta_checked();
}

static void operand(const meta_call *call, uint32_t k, meta_auto_range *range)
{
    const meta_operand_desc *o = &call->desc->operand[k];
    const uint32_t type = o->own_type ? o->own_type - 1 : call->type;
    const int64_t bytes = (int64_t)meta_element_bytes(type);
    const int64_t base = meta_call_layout(call, k)->base;
    meta_auto_buffer *buffer = call->object[k];
    *range = (meta_auto_range){.buffer = buffer,
                               .reads = o->access != META_ACCESS_OUT || is_poisoned(call, k),
                               .writes = o->access != META_ACCESS_IN || is_notes(call, k)};
    if (o->reach == META_REACH_WHOLE) { /* anything behind the address */
        range->begin = (uint64_t)(base * bytes);
        range->end = buffer->bytes;
        range->reads = true;
        return;
    }
    stretch e = {0, 0};
    if (o->reach != META_REACH_ONE) e = elements(call, k);
    range->begin = (uint64_t)((base + e.low) * bytes);
    range->end = (uint64_t)((base + e.high + 1) * bytes);
    if (!range->writes || o->reach != META_REACH_POINT || is_dense(call, k)) return;
    if (is_poisoned(call, k)) return;
    /* What lies between the elements written stays as it is. */
    range->keeps = !range->reads;
    range->reads = true;
    range->shape = shape_of(buffer, call, k, bytes);
}

static uint64_t result_bytes(const meta_call *call, uint32_t k)
{
    const meta_kernel_desc *desc = call->desc;
    const uint32_t combine = desc->results ? desc->result[k].combine : desc->combine;
    if (combine == META_COMBINE_exact) return META_EXACT_RESULT * sizeof(meta_i64);
    return desc->results ? meta_result_bytes(&desc->result[k]) : meta_element_bytes(call->type);
}

void meta_auto_add_results(const meta_call *call, meta_auto_host_range *range)
{
    for (uint32_t k = 0; k < meta_auto_results(call->desc); ++k) {
        const char *begin = call->result[k].host;
        if (!begin) continue;
        const char *end = begin + result_bytes(call, k);
        if (!range->begin || begin < range->begin) range->begin = begin;
        if (end > range->end) range->end = end;
    }
}

int meta_auto_touched(const meta_call *call, meta_auto_range *ranges)
{
    const meta_kernel_desc *desc = call->desc;
    const uint32_t results = meta_auto_results(desc);
    int count = 0;
    for (uint32_t k = 0; k < desc->operands; ++k) operand(call, k, &ranges[count++]);
    for (uint32_t k = 0; k < results; ++k) {
        const meta_result *r = &call->result[k];
        if (r->host) continue;
        ranges[count++] = (meta_auto_range){.buffer = r->object,
                                            .begin = r->offset,
                                            .end = r->offset + result_bytes(call, k),
                                            .writes = true};
    }
    return count;
}
