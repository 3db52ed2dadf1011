/* SPDX-License-Identifier: BSD-3-Clause */
/** @file native.c
 *  META_CHECK=on: a kernel with a body in the device's own language runs twice, first with its
 * portable body, and what the two compute is compared. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "check/cells.h"
#include "check/raw.h"
#include "check/watched.h"

/* The order of additions to floating sums may differ: by how much the sums then may, relative to
 * the largest value among those compared. Exact sums have no order. */
#define TOLERANCE_F64 1e-9
#define TOLERANCE_F32 1e-4

/* What a result may be: an element or, with its place, an extreme of any type. */
typedef union contents {
    uint64_t word;
    meta_extreme_f64 extreme;
} contents;

/* A result that goes to the host, or an exact sum: its rounded element lies behind the sum in
 * scratch memory, from where it goes to the program's place later. */
typedef struct lone_result {
    meta_result *where;
    void *host; /* the program's; NULL: an exact sum */
    size_t bytes;
    contents portable, value; /* what the two bodies gave */
} lone_result;

typedef struct comparison {
    meta_task task; /* with a ticket of its own */
    meta_ticket ticket;
    watched *list;
    int listed;
    unsigned char **portable;    /* contents of each buffer that is written, else NULL */
    meta_plugin_kernel **native; /* of each operation */
    lone_result *result;         /* of all operations */
    size_t results;
} comparison;

static bool has_native(const meta_operation *op)
{
    return op->call.desc->family == META_FAMILY_USER &&
           meta_user_form(meta_user_of(op->call.desc), op->device) & META_USER_NATIVE;
}

static const watched *buffer_of(const watched *list, int listed, const char *address)
{
    for (int b = 0; b < listed; ++b)
        if (list[b].before && meta_watched_holds(&list[b], address)) return &list[b];
    return NULL;
}

/* Of a kernel of the program's; only those have a list of results. */
static bool is_exact(const meta_operation *op, uint32_t k)
{
    return op->call.desc->family == META_FAMILY_USER &&
           op->call.desc->result[k].combine == META_COMBINE_exact;
}

/* Whether there is such a body, and a copy of all that the launch writes. */
static bool can_compare(const meta_task *work, const watched *list, int listed)
{
    bool any = false;
    for (size_t n = 0; n < work->launch.count; ++n) {
        const meta_operation *op = meta_task_operation(work, n);
        if (has_native(op)) any = true;
        for (uint32_t k = 0; k < op->call.desc->operands; ++k)
            if (op->call.desc->operand[k].access != META_ACCESS_IN &&
                !buffer_of(list, listed, op->operand[k].span.address))
                return false;
        for (uint32_t k = 0; k < op->results; ++k)
            if (!op->where[k].host && !is_exact(op, k) &&
                !buffer_of(list, listed, op->result[k].span.address))
                return false;
    }
    return any;
}

static bool is_written(const watched *w)
{
    for (uint64_t k = 0; k < w->of.memory.bytes / 8 + 1; ++k)
        if (w->written[k]) return true;
    return false;
}

/* ------------------------------------------------------------------ the two runs */

static meta_err begin(comparison *c, const meta_task *work)
{
    const size_t count = work->launch.count;
    size_t results = 0;
    for (size_t n = 0; n < count; ++n) results += meta_task_operation(work, n)->results;
    c->task = *work;
    c->task.launch.ticket = &c->ticket;
    c->portable = calloc((size_t)c->listed, sizeof *c->portable);
    c->native = calloc(count, sizeof(meta_plugin_kernel *));
    c->result = calloc(results + 1, sizeof *c->result);
    if (!c->portable || !c->native || !c->result) return meta_no_memory(count * sizeof *c->result);
    for (size_t n = 0; n < count; ++n) {
        meta_operation *op = meta_task_operation(work, n);
        c->native[n] = op->call.kernel;
        for (uint32_t k = 0; k < op->results; ++k)
            if (op->where[k].host || is_exact(op, k))
                c->result[c->results++] =
                    (lone_result){.where = &op->where[k],
                                  .host = op->where[k].host,
                                  .bytes = meta_operation_result_bytes(op, k)};
    }
    return META_OK;
}

/* Put back what the program passed. */
static void end(comparison *c)
{
    for (size_t n = 0; c->native && n < c->task.launch.count; ++n)
        if (c->native[n]) meta_task_operation(&c->task, n)->call.kernel = c->native[n];
    for (size_t n = 0; n < c->results; ++n) c->result[n].where->host = c->result[n].host;
    for (int b = 0; c->portable && b < c->listed; ++b) free(c->portable[b]);
    meta_ticket_drop(&c->task);
    free(c->portable);
    free(c->native);
    free(c->result);
}

static meta_err wait(comparison *c)
{
    if (!c->ticket) return META_OK;
    const meta_err error = c->task.device->backend->ops.ticket_wait(c->ticket);
    meta_ticket_drop(&c->task);
    return error;
}

/* Give the bytes that the launch writes back what they were, and no others: another thread may be
 * writing them. */
static meta_err put_back(const watched *w)
{
    const uint64_t bytes = w->of.memory.bytes;
    for (uint64_t from = 0, to; from < bytes; from = to) {
        const bool written = w->written[from / 8] >> from % 8 & 1;
        for (to = from; to < bytes && (w->written[to / 8] >> to % 8 & 1) == written;) ++to;
        if (written)
            META_TRY(meta_raw_copy(w->of.device, META_COPY_H2D, w->before + from, w->object,
                                   w->offset + from, to - from));
    }
    return META_OK;
}

/* Of an exact sum, the rounded element; other results have arrived. */
static meta_err get_sum(const comparison *c, size_t n, contents *to)
{
    const lone_result *r = &c->result[n];
    if (r->host) return META_OK;
    return meta_raw_copy(c->task.device, META_COPY_D2H, to, r->where->object,
                         r->where->offset + META_EXACT_WORDS * sizeof(meta_i64), r->bytes);
}

static meta_err run_portable(comparison *c)
{
    meta_task task = c->task;
    for (size_t n = 0; n < task.launch.count; ++n) {
        meta_operation *op = meta_task_operation(&task, n);
        if (!has_native(op)) continue;
        struct meta_kernel_state *s = meta_user_of(op->call.desc);
        META_TRY(meta_user_object_as(op->device, s,
                                     meta_user_form(s, op->device) & ~(uint32_t)META_USER_NATIVE,
                                     &op->call.kernel));
    }
    for (size_t n = 0; n < c->results; ++n)
        if (c->result[n].host) c->result[n].where->host = &c->result[n].portable;
    META_TRY(meta_queue_pass(&task));
    META_TRY(wait(c));
    META_TRY(meta_queue_after(task.device, META_QUEUE_COMPUTE, META_QUEUE_HALO));
    for (size_t n = 0; n < c->results; ++n) META_TRY(get_sum(c, n, &c->result[n].portable));
    for (int b = 0; b < c->listed; ++b) {
        if (!c->list[b].before || !is_written(&c->list[b])) continue;
        META_TRY(meta_watched_get(&c->list[b], &c->portable[b]));
        META_TRY(put_back(&c->list[b]));
    }
    return META_OK;
}

static meta_err run_native(comparison *c)
{
    for (size_t n = 0; n < c->task.launch.count; ++n)
        meta_task_operation(&c->task, n)->call.kernel = c->native[n];
    for (size_t n = 0; n < c->results; ++n)
        if (c->result[n].host) c->result[n].where->host = &c->result[n].value;
    META_TRY(meta_poison_run(&c->task, c->list, c->listed));
    META_TRY(wait(c));
    for (size_t n = 0; n < c->results; ++n) META_TRY(get_sum(c, n, &c->result[n].value));
    return META_OK;
}

/* ------------------------------------------------------------------ comparing */

static double number(meta_type type, const void *at)
{
    float single;
    double number = 0;
    if (type == META_F32) memcpy(&single, at, sizeof single), number = (double)single;
    else if (type == META_F64) memcpy(&number, at, sizeof number);
    return number;
}

static void value_text(meta_type type, const void *at, char *text, size_t room)
{
    uint64_t word = 0;
    uint32_t half = 0;
    if (meta_element_bytes((uint32_t)type) == 8) memcpy(&word, at, sizeof word);
    else memcpy(&half, at, sizeof half);
    switch (type) {
    case META_F64:
        meta_plain_print(text, room, "%.17g", number(type, at));
        break;
    case META_F32:
        meta_plain_print(text, room, "%.9g", number(type, at));
        break;
    case META_I64:
        snprintf(text, room, "%" PRId64, (int64_t)word);
        break;
    case META_U64:
        snprintf(text, room, "%" PRIu64, word);
        break;
    case META_I32:
        snprintf(text, room, "%" PRId32, (int32_t)half);
        break;
    default:
        snprintf(text, room, "%" PRIu32, half);
        break;
    }
}

/* @p tolerance: how far floating numbers may be apart; 0: their bits are the same, or both are NaN.
 */
static bool agree(meta_type type, const void *a, const void *b, double tolerance)
{
    if (memcmp(a, b, meta_element_bytes((uint32_t)type)) == 0) return true;
    if (!meta_is_floating(type)) return false;
    const double x = number(type, a), y = number(type, b);
    if (isnan(x) && isnan(y)) return true;
    return tolerance > 0 && fabs(x - y) <= tolerance;
}

static double tolerance_of(meta_type type, double scale)
{
    return (type == META_F64 ? TOLERANCE_F64 : type == META_F32 ? TOLERANCE_F32 : 0) * scale;
}

/* What differs: @p what is the array or result, with the place. */
static meta_err differ(const meta_operation *op, const char *what, meta_type type,
                       const void *native, const void *portable)
{
    char is[64], other[64];
    value_text(type, native, is, sizeof is);
    value_text(type, portable, other, sizeof other);
    return meta_fail(META_ERR_MISMATCH,
                     "META_CHECK: kernel %s for %s: its body in %s and the portable one differ: %s "
                     "is %s, but %s by the portable body",
                     op->call.desc->name, meta_element_name(op->call.type),
                     meta_user_language(op->device), what, is, other);
}

/* The cells of an array that a cell writes at itself only. */
static meta_err compare_cells(const meta_operation *op, uint32_t k, const watched *w,
                              const unsigned char *native, const unsigned char *portable)
{
    const meta_type type = meta_operation_type(op, k);
    int64_t first[META_MAX_DIM] = {0}, place = 0;
    uint64_t count = 0;
    char what[META_CELL_ROOM + 192], cell[META_CELL_ROOM];
    meta_walk walk = meta_walk_begin(op, k, w->of.memory.address);
    do {
        const int64_t at = meta_walk_place(&walk);
        if (agree(type, native + at, portable + at, 0)) continue;
        if (count++ > 0) continue;
        memcpy(first, walk.at, sizeof first);
        place = at;
    } while (meta_walk_next(&walk));
    if (count == 0) return META_OK;
    meta_walk_text(op, first, cell);
    snprintf(what, sizeof what, "array '%.64s' in %" PRIu64 " cells, of which the first, (%s),",
             op->operand[k].name, count, cell);
    return differ(op, what, type, native + place, portable + place);
}

/* The elements of an array to which cells add, or that they write anywhere. */
static meta_err compare_elements(const meta_operation *op, uint32_t k, const watched *w,
                                 const unsigned char *native, const unsigned char *portable)
{
    const meta_type type = meta_operation_type(op, k);
    const meta_operand *o = &op->operand[k];
    const int64_t bytes = (int64_t)meta_element_bytes((uint32_t)type);
    const int64_t front = o->span.address - (char *)w->of.memory.address;
    const bool adds = op->call.desc->operand[k].access == META_ACCESS_ADD;
    uint64_t count = 0;
    int64_t first = 0;
    double scale = 0;
    char what[256];
    for (int64_t n = o->low; adds && meta_is_floating(type) && n <= o->high; ++n)
        scale = fmax(scale, fabs(number(type, portable + front + n * bytes)));
    const double tolerance = isfinite(scale) ? tolerance_of(type, scale) : 0;
    for (int64_t n = o->low; n <= o->high; ++n) {
        const int64_t at = front + n * bytes;
        if (agree(type, native + at, portable + at, tolerance)) continue;
        if (count++ == 0) first = n;
    }
    if (count == 0) return META_OK;
    snprintf(what, sizeof what,
             "array '%.64s' in %" PRIu64 " elements, of which the first, number %" PRId64
             " from the argument's address,",
             o->name, count, first);
    return differ(op, what, type, native + front + first * bytes, portable + front + first * bytes);
}

/* The cells of two extremes with the same value. */
static meta_err compare_place(const meta_operation *op, uint32_t k, const void *native,
                              const void *portable)
{
    const int dims = (int)op->space->ndim;
    const size_t index = offsetof(meta_extreme_f64, index); /* of each type's */
    int64_t is[META_MAX_DIM], other[META_MAX_DIM];
    char text[META_CELL_ROOM], other_text[META_CELL_ROOM];
    memcpy(is, (const char *)native + index, sizeof is);
    memcpy(other, (const char *)portable + index, sizeof other);
    if (memcmp(is, other, sizeof is) == 0) return META_OK;
    meta_index_text(is, dims, text);
    meta_index_text(other, dims, other_text);
    return meta_fail(META_ERR_MISMATCH,
                     "META_CHECK: kernel %s for %s: its body in %s and the portable one differ: "
                     "result '%.64s' lies in cell (%s), but in (%s) by the portable body",
                     op->call.desc->name, meta_element_name(op->call.type),
                     meta_user_language(op->device), op->result[k].name, text, other_text);
}

static meta_err compare_result(const meta_operation *op, uint32_t k, const void *native,
                               const void *portable)
{
    const meta_type type = meta_operation_result_type(op, k);
    const bool adds =
        op->call.desc->result[k].combine == META_COMBINE_sum && meta_is_floating(type);
    const double scale = fmax(fabs(number(type, native)), fabs(number(type, portable)));
    char what[256];
    if (agree(type, native, portable, adds && isfinite(scale) ? tolerance_of(type, scale) : 0))
        return meta_has_place(op->call.desc->result[k].combine)
                   ? compare_place(op, k, native, portable)
                   : META_OK;
    snprintf(what, sizeof what, "result '%.64s'", op->result[k].name);
    return differ(op, what, type, native, portable);
}

/* What operation @p op has written to buffer @p b, whose contents are @p native now. */
static meta_err compare_in(const comparison *c, const meta_operation *op, int b,
                           const unsigned char *native)
{
    const meta_kernel_desc *desc = op->call.desc;
    const watched *w = &c->list[b];
    for (uint32_t k = 0; k < desc->operands; ++k) {
        const meta_operand_desc *o = &desc->operand[k];
        if (o->access == META_ACCESS_IN || !meta_watched_holds(w, op->operand[k].span.address))
            continue;
        META_TRY((o->access == META_ACCESS_ADD || o->reach == META_REACH_WHOLE
                      ? compare_elements
                      : compare_cells)(op, k, w, native, c->portable[b]));
    }
    for (uint32_t k = 0; k < op->results; ++k) {
        const char *address = op->result[k].span.address;
        if (op->where[k].host || is_exact(op, k) || !meta_watched_holds(w, address)) continue;
        const ptrdiff_t at = address - (char *)w->of.memory.address;
        META_TRY(compare_result(op, k, native + at, c->portable[b] + at));
    }
    return META_OK;
}

static meta_err compare(const comparison *c)
{
    const lone_result *r = c->result;
    for (size_t n = 0; n < c->task.launch.count; ++n) {
        const meta_operation *op = meta_task_operation(&c->task, n);
        for (uint32_t k = 0; k < op->results; ++k)
            if (op->where[k].host || is_exact(op, k)) {
                if (has_native(op)) META_TRY(compare_result(op, k, &r->value, &r->portable));
                ++r;
            }
    }
    for (int b = 0; b < c->listed; ++b) {
        unsigned char *native;
        meta_err error = META_OK;
        if (!c->portable[b]) continue;
        META_TRY(meta_watched_get(&c->list[b], &native));
        for (size_t n = 0; n < c->task.launch.count && error == META_OK; ++n) {
            const meta_operation *op = meta_task_operation(&c->task, n);
            if (has_native(op)) error = compare_in(c, op, b, native);
        }
        free(native);
        META_TRY(error);
    }
    return META_OK;
}

meta_err meta_native_run(meta_task *work, watched *list, int listed)
{
    comparison c = {.list = list, .listed = listed};
    if (!can_compare(work, list, listed)) return meta_poison_run(work, list, listed);
    meta_err error = begin(&c, work);
    if (error == META_OK) error = run_portable(&c);
    if (error == META_OK) error = run_native(&c);
    if (error == META_OK) error = compare(&c);
    for (size_t n = 0; n < c.results && error == META_OK; ++n)
        if (c.result[n].host) memcpy(c.result[n].host, &c.result[n].value, c.result[n].bytes);
    if (error == META_OK && work->launch.ticket) *work->launch.ticket = NULL; /* complete */
    end(&c);
    return error;
}
