/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cases.c
 *  Random shapes, contents and completion modes. */
#include "config.h"

#include "cases.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ types */

const char *case_type_name(meta_type type)
{
    static const char *const names[META_TYPE_COUNT] = {
        [META_F64] = "f64", [META_F32] = "f32", [META_I64] = "i64", [META_U64] = "u64",
        [META_I32] = "i32", [META_U32] = "u32", [META_I16] = "i16", [META_U16] = "u16",
        [META_I8] = "i8",   [META_U8] = "u8"};
    return names[type];
}

bool case_is_float(meta_type type)
{
    return type == META_F64 || type == META_F32;
}

const void *case_lowest_of(meta_type type)
{
    static const double f64 = -INFINITY;
    static const float f32 = -INFINITY;
    static const int64_t i64 = INT64_MIN;
    static const int32_t i32 = INT32_MIN;
    static const uint64_t none = 0;
    return type == META_F64   ? (const void *)&f64
           : type == META_F32 ? (const void *)&f32
           : type == META_I64 ? (const void *)&i64
           : type == META_I32 ? (const void *)&i32
                              : &none;
}

const void *case_highest_of(meta_type type)
{
    static const double f64 = INFINITY;
    static const float f32 = INFINITY;
    static const int64_t i64 = INT64_MAX;
    static const int32_t i32 = INT32_MAX;
    static const uint64_t all = UINT64_MAX;
    return type == META_F64   ? (const void *)&f64
           : type == META_F32 ? (const void *)&f32
           : type == META_I64 ? (const void *)&i64
           : type == META_I32 ? (const void *)&i32
                              : &all;
}

meta_type case_any_type(void)
{
    return (meta_type)test_random_in(0, META_TYPE_COUNT - 1);
}

bool case_has_f64(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index;
    return CHECK_OK(meta_get_acc(&index, &mode)) &&
           CHECK_OK(meta_device_info(index, mode, &desc)) && desc.has_f64;
}

meta_type case_arithmetic_type(void)
{
    meta_type type;
    do type = (meta_type)test_random_in(0, CASE_FIRST_SMALL - 1);
    while (type == META_F64 && !case_has_f64());
    return type;
}

/* ------------------------------------------------------------------ boxes */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Extents of at least @p low[d] and together at most @p cells; a few as long as can be. */
static void random_extents(int ndim, const int64_t *low, int64_t cells, int64_t *extent)
{
    const int first = (int)test_random_in(0, ndim - 1);
    const int64_t twice_even = (int64_t)(2 * pow((double)cells, 1.0 / ndim));
    int64_t rest = cells;
    for (int d = 0; d < ndim; ++d) rest /= low[d];
    for (int k = 0; k < ndim; ++k) {
        const int d = (first + k) % ndim;
        const int64_t most = rest * low[d], usual = test_random_in(1, twice_even);
        const int64_t high = test_random_in(0, 7) == 0 ? most : least(most, usual);
        extent[d] = high > low[d] ? test_random_in(low[d], high) : low[d];
        rest = most / extent[d];
    }
}

/* Whether a box of @p low cells or more along each dimension fits. */
static bool fits(int ndim, const int64_t *low, int64_t cells)
{
    int64_t rest = cells;
    for (int d = 0; d < ndim; ++d) rest /= low[d];
    return rest > 0;
}

meta_box case_box(int ndim, int reach, int64_t cells)
{
    meta_box box = {.ndim = ndim};
    int64_t low[META_MAX_DIM] = {0};
    const bool empty = test_random_in(0, 49) == 0;
    /* No dimension of one cell, and none filled, so that no two can be taken as one. */
    bool apart = test_random_in(0, 2) == 0;
    for (int d = 0; d < ndim; ++d) low[d] = d < reach ? 4 : 3;
    apart = apart && fits(ndim, low, cells);
    for (int d = 0; d < ndim && !apart; ++d) low[d] = d < reach ? 3 : 1;
    random_extents(ndim, low, cells, box.size);
    for (int d = 0; d < ndim; ++d) {
        const int64_t first = d < reach, last = box.size[d] - first;
        const bool whole = !apart && test_random_in(0, 1);
        box.start[d] = whole ? first : test_random_in(first, last - 1 - apart);
        box.end[d] = whole ? last : test_random_in(box.start[d] + 1 + apart, last);
        if (apart && box.end[d] - box.start[d] == box.size[d]) --box.end[d];
    }
    if (empty) {
        const int d = (int)test_random_in(0, ndim - 1);
        box.end[d] = box.start[d];
    }
    return box;
}

meta_box case_box_like(const meta_box *box, int64_t cells)
{
    meta_box like = {.ndim = box->ndim};
    int64_t low[META_MAX_DIM] = {0};
    for (int d = 0; d < box->ndim; ++d) {
        low[d] = box->end[d] - box->start[d];
        if (low[d] == 0) low[d] = 1;
    }
    random_extents(box->ndim, low, cells, like.size);
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t extent = box->end[d] - box->start[d];
        like.start[d] = test_random_in(0, like.size[d] - extent);
        like.end[d] = like.start[d] + extent;
    }
    return like;
}

meta_box case_box_within(int ndim, const int low[4], const int high[4], int64_t cells)
{
    enum { LONG = 3000, LINE = 16 };
    meta_box box = {.ndim = ndim};
    const int longest = test_random_in(0, 1) ? 0 : (int)test_random_in(0, ndim - 1);
    int64_t rest = cells;
    for (int k = 0; k < ndim; ++k) {
        const int d =
            k < ndim - 1 ? (longest + 1 + k) % ndim : longest; /* the longest comes last */
        const int64_t before = d < 4 ? low[d] : 0, behind = d < 4 ? high[d] : 0;
        const int64_t slack = test_random_in(0, 2) ? 0 : test_random_in(0, 3);
        const int64_t few = ndim < 3 ? 40 : ndim < 5 ? 7 : 2;
        int64_t most = least(k < ndim - 1 ? few : LONG, rest - before - behind - slack);
        if (most < 1) most = 1;
        const int64_t extent = test_random_in(0, 5) == 0 ? 1 : test_random_in(1, most);
        box.start[d] = before + test_random_in(0, slack);
        box.end[d] = box.start[d] + extent;
        box.size[d] = before + extent + slack + behind;
        rest /= box.size[d];
    }
    const int64_t whole_lines = (box.size[0] + LINE - 1) / LINE * LINE;
    if (test_random_in(0, 1) && case_box_array(&box) / box.size[0] * whole_lines <= cells)
        box.size[0] = whole_lines;
    return box;
}

bool case_grid(void **ptr, meta_box *box, int ndim, const int64_t *cells, int ghosts,
               meta_type type)
{
    int width[META_MAX_DIM];
    for (int d = 0; d < META_MAX_DIM; ++d) width[d] = ghosts;
    return CHECK_OK(meta_grid_alloc(ptr, box, ndim, cells, width, width, type));
}

int64_t case_box_cells(const meta_box *box)
{
    int64_t cells = 1;
    for (int d = 0; d < box->ndim; ++d) cells *= box->end[d] - box->start[d];
    return cells;
}

int64_t case_box_array(const meta_box *box)
{
    int64_t cells = 1;
    for (int d = 0; d < box->ndim; ++d) cells *= box->size[d];
    return cells;
}

int64_t case_box_index(const meta_box *box, int64_t n)
{
    int64_t index = 0, pitch = 1;
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t extent = box->end[d] - box->start[d];
        index += (box->start[d] + n % extent) * pitch;
        n /= extent;
        pitch *= box->size[d];
    }
    return index;
}

int64_t case_box_away(const meta_box *box, int x, int y, int z, int w)
{
    const int along[4] = {x, y, z, w};
    int64_t away = 0, pitch = 1;
    for (int d = 0; d < box->ndim && d < 4; ++d) {
        away += along[d] * pitch;
        pitch *= box->size[d];
    }
    return away;
}

/* ------------------------------------------------------------------ faces */

int64_t case_face_elements(const meta_face *face)
{
    int64_t elements = 1;
    for (int k = 0; k < face->count; ++k) elements *= face->size[k];
    return elements;
}

int64_t case_face_index(const meta_face *face, int64_t n)
{
    int64_t index = face->start;
    for (int k = 0; k < face->count; ++k) {
        index += n % face->size[k] * face->stride[k];
        n /= face->size[k];
    }
    return index;
}

/* How far apart the first and the last element lie. */
static int64_t span_of(const meta_face *face)
{
    int64_t span = 0;
    for (int k = 0; k < face->count; ++k)
        span += (face->size[k] - 1) * (face->stride[k] < 0 ? -face->stride[k] : face->stride[k]);
    return span;
}

/* Strides in a random order of the levels, each beyond the reach of those before it. */
static void strides_apart(meta_face *face, int64_t room)
{
    int order[META_MAX_DIM] = {0};
    int64_t next = 1, later = 1;
    for (int k = 0; k < face->count; ++k) {
        const int64_t other = test_random_in(0, k);
        order[k] = order[other], order[other] = k;
        later *= face->size[k];
    }
    for (int k = 0; k < face->count; ++k) {
        const int level = order[k];
        /* The levels to come need `later` times what this one leaves. */
        const int64_t most = (room - 1) / later;
        const int64_t gap = test_random_in(0, 1) ? 0 : test_random_in(0, 3);
        face->stride[level] = least(next + gap, most > next ? most : next);
        next = face->stride[level] * face->size[level];
        later /= face->size[level];
    }
}

static void strides_of_any_kind(meta_face *face, int64_t room)
{
    for (int k = 0; k < face->count; ++k) {
        const int64_t most =
            face->size[k] > 1 ? (room - 1) / face->count / (face->size[k] - 1) : room;
        face->stride[k] = test_random_in(0, least(most, test_random_in(1, 50)));
    }
}

meta_face case_face(int levels, int64_t elements, int64_t room, case_kind kind, int64_t *from)
{
    meta_face face = {.count = levels};
    int64_t low[META_MAX_DIM], lowest = 0;
    const bool full = test_random_in(0, 2) == 0 && elements >> levels > 0;
    for (int k = 0; k < levels; ++k) low[k] = full ? 2 : 1;
    random_extents(levels, low, elements, face.size);
    if (kind == CASE_APART || test_random_in(0, 1)) strides_apart(&face, room);
    else strides_of_any_kind(&face, room);
    const int64_t position = test_random_in(0, room - 1 - span_of(&face));
    for (int k = 0; k < levels; ++k) {
        if (test_random_in(0, 2) == 0) face.stride[k] = -face.stride[k];
        if (face.stride[k] < 0) lowest += (face.size[k] - 1) * face.stride[k];
    }
    *from = test_random_in(0, room - 1);
    face.start = position - lowest - *from;
    if (test_random_in(0, 49) == 0) face.size[test_random_in(0, levels - 1)] = 0;
    return face;
}

/* ------------------------------------------------------------------ in words */

static void write_list(char *text, size_t room, const char *name, const int64_t *list, int count)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, room - at, " %s={", name);
    for (int k = 0; k < count && at < room; ++k)
        at += (size_t)snprintf(text + at, room - at, "%s%" PRId64, k ? "," : "", list[k]);
    if (at < room) snprintf(text + at, room - at, "}");
}

static char *next_text(void)
{
    static char texts[4][1024];
    static int next;
    return texts[next = (next + 1) % 4];
}

const char *case_box_text(const meta_box *box)
{
    char *text = next_text();
    snprintf(text, 1024, "box ndim=%d", box->ndim);
    write_list(text, 1024, "size", box->size, box->ndim);
    write_list(text, 1024, "start", box->start, box->ndim);
    write_list(text, 1024, "end", box->end, box->ndim);
    return text;
}

const char *case_face_text(const meta_face *face)
{
    char *text = next_text();
    snprintf(text, 1024, "face start=%" PRId64, face->start);
    write_list(text, 1024, "size", face->size, face->count);
    write_list(text, 1024, "stride", face->stride, face->count);
    return text;
}

/* ------------------------------------------------------------------ contents */

static double tiny_f64(uint64_t bits)
{
    double value;
    bits &= UINT64_C(0x801fffffffffffff) >> (bits >> 52 & 31) | UINT64_C(1) << 63;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float tiny_f32(uint64_t bits)
{
    float value;
    uint32_t part = (uint32_t)bits;
    part &= UINT32_C(0x80ffffff) >> (bits >> 52 & 15) | UINT32_C(1) << 31;
    memcpy(&value, &part, sizeof value);
    return value;
}

static double wild_f64(uint64_t bits)
{
    const double kinds[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, DBL_MAX, -DBL_MAX, DBL_MIN};
    return bits % 16 == 0  ? kinds[bits >> 4 & 7]
           : bits % 16 < 4 ? tiny_f64(bits)
                           : (double)(int64_t)bits / 0x1p40;
}

static float wild_f32(uint64_t bits)
{
    const float kinds[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN};
    return bits % 16 == 0  ? kinds[bits >> 4 & 7]
           : bits % 16 < 4 ? tiny_f32(bits)
                           : (float)(int32_t)(bits >> 32) / 0x1p10f;
}

void case_fill(void *array, size_t count, meta_type type, case_flavour flavour)
{
    size_t bytes = 1;
    unsigned char *element = array;
    CHECK_OK(meta_type_size(type, &bytes));
    if (flavour == CASE_PLAIN || (flavour == CASE_WILD && !case_is_float(type))) {
        test_random_fill(array, count, type);
        return;
    }
    for (size_t k = 0; k < count; ++k, element += bytes) {
        const uint64_t bits = test_random();
        const double f64 = flavour == CASE_TINY ? tiny_f64(bits) : wild_f64(bits);
        const float f32 = flavour == CASE_TINY ? tiny_f32(bits) : wild_f32(bits);
        const int64_t whole = (int64_t)(bits % 81) - 40;
        if (type == META_F64) memcpy(element, &f64, sizeof f64);
        else if (type == META_F32) memcpy(element, &f32, sizeof f32);
        else memcpy(element, &whole, bytes);
    }
}

void *case_zeros(int64_t cells, meta_box *box)
{
    const int ghosts = 0;
    void *array = NULL, *zeros = calloc((size_t)cells, sizeof(double));
    if (CHECK(zeros != NULL) &&
        CHECK_OK(meta_grid_alloc(&array, box, 1, &cells, &ghosts, &ghosts, META_F64)))
        CHECK_OK(meta_copy_h2d(array, zeros, (size_t)cells * sizeof(double), NULL));
    free(zeros);
    return array;
}

/* ------------------------------------------------------------------ completion */

void case_ending_pick(case_ending *ending)
{
    const int64_t way = test_random_in(0, 2);
    ending->event = (meta_event)META_EVENT_NULL;
    ending->done = way == 0 ? NULL : way == 1 ? META_ASYNC : &ending->event;
}

meta_err case_ending_settle(case_ending *ending)
{
    if (ending->done != &ending->event) return META_OK;
    const meta_err waited = meta_event_wait(ending->event), freed = meta_event_free(&ending->event);
    return waited != META_OK ? waited : freed;
}
