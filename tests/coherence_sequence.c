/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence_sequence.c
 *  What sequences of calls consist of: random numbers, buffers, host memory and completion. */
#include "config.h"

#include "coherence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ random numbers */

/* splitmix64, as in test.c. */
static uint64_t bits_of(coherence_sequence *s)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t coherence_in(coherence_sequence *s, int64_t low, int64_t high)
{
    return low + (int64_t)(bits_of(s) % (uint64_t)(high - low + 1));
}

bool coherence_one_in(coherence_sequence *s, int64_t n)
{
    return coherence_in(s, 1, n) == 1;
}

int64_t coherence_size(coherence_sequence *s, int64_t most)
{
    int digits = 0;
    while (most >> digits > 1) ++digits;
    const int64_t below = INT64_C(2) << coherence_in(s, 0, digits);
    const int64_t high = below - 1 < most ? below - 1 : most;
    return coherence_in(s, high / 2 + 1 < high ? high / 2 + 1 : high, high);
}

void coherence_fill(coherence_sequence *s, void *array, int64_t count, meta_type type)
{
    const bool whole = coherence_one_in(s, 2);
    const uint64_t step = bits_of(s) | 1;
    uint64_t bits = bits_of(s);
    for (int64_t k = 0; k < count; ++k) {
        bits = bits * UINT64_C(6364136223846793005) + step;
        const int64_t number = (int64_t)((bits >> 40) % 2001) - 1000;
        const double real = whole ? (double)(number % 9) : (double)number / 7;
        switch (type) {
        case META_F64:
            ((double *)array)[k] = real;
            break;
        case META_F32:
            ((float *)array)[k] = (float)real;
            break;
        case META_I64:
            ((int64_t *)array)[k] = number;
            break;
        case META_I32:
            ((int32_t *)array)[k] = (int32_t)number;
            break;
        default:
            ((uint8_t *)array)[k] = (uint8_t)(bits >> 50);
            break;
        }
    }
}

bool coherence_box(coherence_sequence *s, meta_box *box, int ndim, int reach, int64_t cells)
{
    const int64_t least = 2 * reach + 1;
    int64_t later = 1, left = cells;
    *box = (meta_box){.ndim = ndim};
    for (int d = 1; d < ndim; ++d) later *= least;
    if (cells < later * least) return false;
    for (int d = 0; d < ndim; ++d) {
        int64_t most = left / later;
        if (d + 1 < ndim && most > 30 && !coherence_one_in(s, 4)) most = 30;
        box->size[d] = coherence_in(s, least, most);
        box->start[d] = coherence_in(s, reach, box->size[d] - reach - 1);
        if (coherence_one_in(s, 2)) box->start[d] = reach;
        box->end[d] = coherence_in(s, box->start[d] + 1, box->size[d] - reach);
        left /= box->size[d];
        later /= d + 1 < ndim ? least : 1;
    }
    if (coherence_one_in(s, 40)) box->end[0] = box->start[0];
    return true;
}

bool coherence_box_of(coherence_sequence *s, meta_box *box, const coherence_buffer *a,
                      const coherence_buffer *b, int ndim, int reach)
{
    const int64_t cells = b && b->cells < a->cells ? b->cells : a->cells;
    bool fits = a->box.ndim == ndim && case_box_array(&a->box) <= cells;
    for (int d = 0; fits && d < ndim; ++d) fits = a->box.size[d] > 2 * reach;
    if (!fits || coherence_one_in(s, 4)) return coherence_box(s, box, ndim, reach, cells);
    *box = a->box;
    const bool is_part = coherence_one_in(s, 2);
    for (int d = 0; d < ndim; ++d) {
        if (is_part || box->start[d] < reach || box->end[d] > box->size[d] - reach) {
            box->start[d] = coherence_in(s, reach, box->size[d] - reach - 1);
            box->end[d] = coherence_in(s, box->start[d] + 1, box->size[d] - reach);
        }
    }
    return true;
}

bool coherence_box_like(coherence_sequence *s, meta_box *like, const meta_box *box, int64_t cells)
{
    int64_t later = 1, left = cells;
    *like = (meta_box){.ndim = box->ndim};
    for (int d = 0; d < box->ndim; ++d) later *= box->end[d] - box->start[d];
    if (later == 0 || cells < later) return false;
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t extent = box->end[d] - box->start[d];
        later /= extent;
        const int64_t most = left / later < extent + 4 ? left / later : extent + 4;
        like->size[d] = coherence_in(s, extent, most);
        like->start[d] = coherence_in(s, 0, like->size[d] - extent);
        like->end[d] = like->start[d] + extent;
        left /= like->size[d];
    }
    return true;
}

/* ------------------------------------------------------------------ calls, and the log */

bool coherence_call(coherence_sequence *s, meta_err err, const char *file, int line,
                    const char *text)
{
    if (!s->may_fail || err != META_ERR_DEVICE)
        return test_check_err(err, META_OK, file, line, text);
    s->has_failed = true;
    return false;
}

enum { LOGGED = 30, LINE = 512 };
static char logged[LOGGED][LINE];
static long calls;

void coherence_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged[calls++ % LOGGED], LINE, format, arguments);
    va_end(arguments);
}

void coherence_log_clear(void)
{
    calls = 0;
}

void coherence_log_print(void)
{
    const long first = calls > LOGGED ? calls - LOGGED : 0;
    printf("    the last calls of the sequence:\n");
    for (long k = first; k < calls; ++k) printf("    %4ld %s\n", k + 1, logged[k % LOGGED]);
    fflush(stdout);
}

/* ------------------------------------------------------------------ buffers */

coherence_buffer *coherence_pick(coherence_sequence *s, bool (*wanted)(const coherence_buffer *))
{
    const int64_t first = coherence_in(s, 0, COHERENCE_BUFFERS - 1);
    for (int k = 0; k < COHERENCE_BUFFERS; ++k) {
        coherence_buffer *b = &s->buffer[(first + k) % COHERENCE_BUFFERS];
        if (b->device && (!wanted || wanted(b))) return b;
    }
    return NULL;
}

bool coherence_is_arithmetic(const coherence_buffer *b)
{
    return b->type != META_U8;
}

coherence_buffer *coherence_partner(coherence_sequence *s, const coherence_buffer *b)
{
    const int64_t first = coherence_in(s, 0, COHERENCE_BUFFERS - 1);
    for (int k = 0; k < COHERENCE_BUFFERS; ++k) {
        coherence_buffer *other = &s->buffer[(first + k) % COHERENCE_BUFFERS];
        if (other->device && other != b && other->type == b->type && other->is_plain == b->is_plain)
            return other;
    }
    return NULL;
}

const char *coherence_name(const coherence_sequence *s, const coherence_buffer *b)
{
    static char text[4][96];
    static int next;
    char *name = text[next++ % 4];
    const char *kind = b->is_plain ? "plain " : b->native ? "wrapped " : "";
    if (b->box.ndim > 0)
        snprintf(name, sizeof text[0], "%sgrid %d (%s, %dx%dx%d)", kind, (int)(b - s->buffer),
                 case_type_name(b->type), (int)b->box.size[0], (int)b->box.size[1],
                 (int)b->box.size[2]);
    else
        snprintf(name, sizeof text[0], "%sbuffer %d (%s, %d cells)", kind, (int)(b - s->buffer),
                 case_type_name(b->type), (int)b->cells);
    return name;
}

/* The layout of a grid in memory without a shape: sequences address all buffers by any box. */
static meta_err allocate_grid(coherence_buffer *b, void **device)
{
    void *grid;
    size_t bytes = 1;
    meta_err err = meta_grid_alloc(&grid, &b->box, 3, b->grid_cells, b->low, b->high, b->type);
    if (err == META_OK) err = meta_free(grid);
    if (err == META_OK) err = meta_type_size(b->type, &bytes);
    for (int d = 0; d < 3; ++d) bytes *= b->box.size[d] > 0 ? (size_t)b->box.size[d] : 1;
    return err == META_OK ? meta_alloc(device, bytes) : err;
}

/* A plain buffer is on the other device, which is current only for its allocation. */
static bool allocate(coherence_sequence *s, coherence_buffer *b)
{
    void *device = NULL;
    meta_err err;
    if (b->is_plain && !CALL_OK(s, meta_set_acc(0, s->plain_mode))) return false;
    if (b->native) err = meta_wrap(&device, b->native, b->bytes, META_NATIVE_HOST);
    else if (b->box.ndim > 0) err = allocate_grid(b, &device);
    else err = meta_alloc(&device, b->bytes);
    if (b->is_plain)
        CALL_OK(s, coherence_one_in(s, 2) ? meta_set_acc(s->index, s->mode)
                                          : meta_set_acc(0, META_SPREAD));
    if (!b->native) CALL_OK(s, err);
    b->device = err == META_OK ? device : NULL;
    return b->device != NULL;
}

/* Grids often have the shape of another one, so that both fit one call. */
static void random_grid(coherence_sequence *s, coherence_buffer *b)
{
    const coherence_buffer *twin = coherence_pick(s, NULL);
    if (twin && twin->box.ndim > 0 && !coherence_one_in(s, 4)) {
        memcpy(b->grid_cells, twin->grid_cells, sizeof b->grid_cells);
        memcpy(b->low, twin->low, sizeof b->low);
        memcpy(b->high, twin->high, sizeof b->high);
        b->type = twin->type;
    } else
        for (int d = 0; d < 3; ++d) {
            b->low[d] = (int)coherence_in(s, 0, 2);
            b->high[d] = coherence_one_in(s, 4) ? (int)coherence_in(s, 0, 2) : b->low[d];
            b->grid_cells[d] = coherence_size(s, d == 0 ? 40 : 12);
        }
    b->box.ndim = 3;
}

/* By one or two calls, which may still be queued when more follow. */
static void set_contents(coherence_sequence *s, coherence_buffer *b)
{
    const int64_t middle = coherence_one_in(s, 2) ? b->cells : coherence_in(s, 0, b->cells);
    const size_t bytes = (size_t)middle * b->unit;
    coherence_ending ending;
    uint64_t value;
    coherence_transfer *t = coherence_transfer_new(s, bytes);
    coherence_fill(s, t->host, middle, b->type);
    memcpy(t->expected, t->host, bytes);
    memcpy(b->expected, t->host, bytes);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_h2d to %s, cells 0 … %d, %s", coherence_name(s, b), (int)middle, how);
    CALL_OK(s, meta_copy_h2d(b->device, t->host, bytes, ending.done));
    coherence_transfer_leave(s, t, &ending);
    coherence_fill(s, &value, 1, b->type);
    for (int64_t k = middle; k < b->cells; ++k)
        memcpy(b->expected + (size_t)k * b->unit, &value, b->unit);
    how = coherence_ending_pick(s, &ending);
    coherence_log("fill %s from cell %d, %s", coherence_name(s, b), (int)middle, how);
    CALL_OK(s, meta_fill(b->device + bytes, b->cells - middle, &value, b->type, ending.done));
    coherence_ending_leave(s, &ending);
}

static size_t bytes_of_all(const coherence_sequence *s)
{
    size_t bytes = 0;
    for (int k = 0; k < COHERENCE_BUFFERS; ++k) bytes += s->buffer[k].bytes;
    return bytes;
}

void coherence_new(coherence_sequence *s, coherence_buffer *b)
{
    static const meta_type types[] = {META_F64, META_F64, META_F32, META_I64, META_I32, META_U8};
    if (bytes_of_all(s) > 3 * COHERENCE_LARGEST) return;
    *b = (coherence_buffer){.type = coherence_one_in(s, 4) ? types[coherence_in(s, 0, 5)]
                                                           : s->favourite};
    b->is_plain = s->plain_mode >= 0 && coherence_one_in(s, 8);
    if (coherence_one_in(s, 2)) random_grid(s, b);
    if (!CHECK_OK(meta_type_size(b->type, &b->unit))) return;
    b->cells = coherence_size(s, COHERENCE_LARGEST / (int64_t)b->unit);
    if (coherence_one_in(s, 2) && b->cells > 4000) b->cells /= 16;
    b->bytes = (size_t)b->cells * b->unit;
    if (b->box.ndim == 0 && !b->is_plain && coherence_one_in(s, 5)) b->native = malloc(b->bytes);
    coherence_log("%s slot %d, %d bytes, %s%s", b->native ? "wrap" : "allocate",
                  (int)(b - s->buffer), b->box.ndim > 0 ? 0 : (int)b->bytes,
                  case_type_name(b->type), b->is_plain ? ", plain" : "");
    if (!allocate(s, b)) {
        free(b->native);
        *b = (coherence_buffer){0};
        return;
    }
    if (b->box.ndim > 0) b->cells = case_box_array(&b->box);
    b->bytes = (size_t)b->cells * b->unit;
    b->expected = malloc(b->bytes);
    set_contents(s, b);
}

void coherence_delete(coherence_sequence *s, coherence_buffer *b)
{
    if (s->has_exchange) coherence_flush(s);
    s->has_exchange = false;
    coherence_log("%s %s", b->native ? "unwrap" : "free", coherence_name(s, b));
    if (b->native) {
        CALL_OK(s, meta_unwrap(b->device));
        if (!s->has_failed) CHECK_ARRAY(b->native, b->expected, b->cells, b->type);
        free(b->native);
    } else {
        CALL_OK(s, meta_free(b->device));
        s->freed = b->device;
    }
    free(b->expected);
    *b = (coherence_buffer){0};
}

void coherence_compare(coherence_sequence *s, coherence_buffer *b, size_t begin, size_t end)
{
    unsigned char *found = malloc(end - begin + 1);
    memset(found, 0xa5, end - begin + 1);
    coherence_log("compare %s, bytes %zu … %zu", coherence_name(s, b), begin, end);
    const bool copied = CALL_OK(s, meta_copy_d2h(found, b->device + begin, end - begin, NULL));
    if (!copied || s->has_failed) memset(found + (end - begin), 0xa5, 1);
    else if (begin % b->unit == 0 && (end - begin) % b->unit == 0)
        CHECK_ARRAY(found, b->expected + begin, (end - begin) / b->unit, b->type);
    else CHECK_ARRAY(found, b->expected + begin, end - begin, META_U8);
    CHECK_INT(found[end - begin], 0xa5);
    free(found);
}

/* ------------------------------------------------------------------ completion */

const char *coherence_ending_pick(coherence_sequence *s, coherence_ending *ending)
{
    static const char *const names[] = {"blocking", "META_ASYNC", "event"};
    const int64_t way = coherence_in(s, 0, 2);
    ending->event = (meta_event)META_EVENT_NULL;
    ending->done = way == 0 ? NULL : way == 1 ? META_ASYNC : &ending->event;
    return names[way];
}

static void wait_loose(coherence_sequence *s)
{
    CALL_OK(s, meta_event_waitall((size_t)s->loose_count, s->loose));
    for (int k = 0; k < s->loose_count; ++k) CALL_OK(s, meta_event_free(&s->loose[k]));
    s->loose_count = 0;
}

void coherence_ending_leave(coherence_sequence *s, coherence_ending *ending)
{
    if (ending->done != &ending->event) return;
    if (s->loose_count == COHERENCE_LOOSE) wait_loose(s);
    s->loose[s->loose_count++] = ending->event;
}

coherence_transfer *coherence_transfer_new(coherence_sequence *s, size_t bytes)
{
    coherence_transfer *t = NULL;
    void *memory = NULL;
    for (int k = 0; k < COHERENCE_TRANSFERS; ++k)
        if (!s->transfer[k].host) t = &s->transfer[k];
    if (!t) {
        coherence_flush(s);
        t = &s->transfer[0];
    }
    *t = (coherence_transfer){.bytes = bytes, .is_pinned = coherence_one_in(s, 8)};
    if (t->is_pinned && !CALL_OK(s, meta_host_alloc(&memory, bytes + 1))) t->is_pinned = false;
    t->host = t->is_pinned ? memory : malloc(bytes + 1);
    t->expected = malloc(bytes + 1);
    memset(t->host, (int)coherence_in(s, 1, 63), bytes + 1);
    memcpy(t->expected, t->host, bytes + 1);
    return t;
}

static void check_transfer(coherence_sequence *s, coherence_transfer *t)
{
    if (!s->has_failed) CHECK_ARRAY(t->host, t->expected, t->bytes + 1, META_U8);
    if (t->is_pinned) CALL_OK(s, meta_host_free(t->host));
    else free(t->host);
    free(t->expected);
    *t = (coherence_transfer){0};
}

void coherence_transfer_leave(coherence_sequence *s, coherence_transfer *t,
                              const coherence_ending *ending)
{
    if (ending->done == &ending->event) t->event = ending->event;
    else if (ending->done == META_ASYNC) t->is_untracked = true;
    else check_transfer(s, t);
}

static bool has_event(const coherence_transfer *t)
{
    return t->event.slot != 0 || t->event.generation != 0;
}

void coherence_wait(coherence_sequence *s)
{
    coherence_log("wait for events");
    if (coherence_one_in(s, 2)) wait_loose(s);
    for (int k = 0; k < COHERENCE_TRANSFERS; ++k) {
        coherence_transfer *t = &s->transfer[k];
        int complete = 0;
        if (!t->host || !has_event(t) || coherence_one_in(s, 2)) continue;
        CALL_OK(s, meta_event_wait(t->event));
        CALL_OK(s, meta_event_test(t->event, &complete));
        CHECK_INT(complete || s->has_failed, 1);
        CALL_OK(s, meta_event_free(&t->event));
        if (!t->is_untracked) check_transfer(s, t);
    }
}

void coherence_flush(coherence_sequence *s)
{
    coherence_log("flush");
    CALL_OK(s, meta_flush());
    wait_loose(s);
    for (int k = 0; k < COHERENCE_TRANSFERS; ++k) {
        coherence_transfer *t = &s->transfer[k];
        int complete = 1;
        if (!t->host) continue;
        if (has_event(t)) {
            CALL_OK(s, meta_event_test(t->event, &complete));
            CALL_OK(s, meta_event_free(&t->event));
        }
        CHECK_INT(complete || s->has_failed, 1);
        check_transfer(s, t);
    }
}
