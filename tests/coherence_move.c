/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence_move.c
 *  Steps that create, free, copy, fill, pack and label buffers, and calls that must be refused. */
#include "config.h"

#include "coherence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A range of bytes, of whole elements where others would make any bits of a float. */
static void random_range(coherence_sequence *s, const coherence_buffer *b, size_t *begin,
                         size_t *end)
{
    const int64_t unit = case_is_float(b->type) ? (int64_t)b->unit : 1;
    const int64_t room = (int64_t)b->bytes / unit, count = coherence_size(s, room);
    const int64_t first = coherence_one_in(s, 4) ? 0 : coherence_in(s, 0, room - count);
    *begin = (size_t)(first * unit);
    *end = *begin + (size_t)(count * unit);
    if (coherence_one_in(s, 6)) *begin = 0, *end = b->bytes;
}

/* ------------------------------------------------------------------ buffers */

static void allocate_buffer(coherence_sequence *s)
{
    for (int k = 0; k < COHERENCE_BUFFERS; ++k)
        if (!s->buffer[k].device) {
            coherence_new(s, &s->buffer[k]);
            return;
        }
}

static void free_buffer(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    if (b) coherence_delete(s, b);
}

static void compare_part(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    size_t begin, end;
    if (!b) return;
    random_range(s, b, &begin, &end);
    coherence_compare(s, b, begin, end);
}

static void label(coherence_sequence *s)
{
    const coherence_buffer *b = coherence_pick(s, NULL);
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    char text[32];
    if (!b) return;
    const size_t at = (size_t)coherence_in(s, 0, (int64_t)b->bytes - 1);
    snprintf(text, sizeof text, "slot %d", (int)(b - s->buffer));
    coherence_log("label %s", coherence_name(s, b));
    CALL_OK(s, meta_label(b->device + at, text));
    CALL_OK(s, meta_pointer_info(b->device + at, &desc));
    CHECK_STRING(desc.label, text);
    CHECK(desc.base == (void *)b->device);
    CHECK_INT(desc.bytes, b->bytes);
    CHECK_INT(desc.offset, at);
    if (b->is_plain) CHECK_INT(desc.mode, s->plain_mode);
    else if (!b->native) CHECK_INT(desc.mode, s->mode);
}

static bool is_coherent(const coherence_buffer *b)
{
    return !b->native && !b->is_plain;
}

/* New contents for a part of an array of the buffer's. */
static void write_to(coherence_sequence *s, coherence_buffer *b, unsigned char *array)
{
    const int64_t first = coherence_in(s, 0, b->cells - 1);
    const int64_t count = coherence_in(s, 1, b->cells - first);
    unsigned char *at = b->expected + (size_t)first * b->unit;
    coherence_fill(s, at, count, b->type);
    memcpy(array + (size_t)first * b->unit, at, (size_t)count * b->unit);
}

static bool is_wrapped(const coherence_buffer *b)
{
    return b->native != NULL;
}

/* When all is complete the owner of a wrapped array writes it, and nobody tells the library. */
static void write_wrapped(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, is_wrapped);
    if (!b) return;
    coherence_flush(s);
    coherence_log("the owner writes %s", coherence_name(s, b));
    if (!s->has_failed) CHECK_ARRAY(b->native, b->expected, b->cells, b->type);
    write_to(s, b, b->native);
}

/* The program uses the native object, where that is memory of the host's, as on simulated devices.
 */
static void use_native(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, is_coherent);
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    void *object = NULL;
    size_t offset = 0;
    if (!b) return;
    coherence_log("native object of %s", coherence_name(s, b));
    if (!CALL_OK(s, meta_native(b->device, &object, &offset))) return;
    CALL_OK(s, meta_pointer_info(b->device, &desc));
    if (desc.mode == META_OPENMP || desc.mode >= META_FIRST_PLUGIN) {
        unsigned char *array = (unsigned char *)object + offset;
        if (!s->has_failed) CHECK_ARRAY(array, b->expected, b->cells, b->type);
        write_to(s, b, array);
    }
    coherence_compare(s, b, 0, b->bytes);
    CALL_OK(s, meta_native_end(b->device));
}

/* ------------------------------------------------------------------ copies */

static void copy_h2d(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    coherence_ending ending;
    size_t begin, end;
    if (!b) return;
    random_range(s, b, &begin, &end);
    coherence_transfer *t = coherence_transfer_new(s, end - begin);
    coherence_fill(s, t->host, (int64_t)((end - begin) / b->unit), b->type);
    memcpy(t->expected, t->host, end - begin);
    memcpy(b->expected + begin, t->host, end - begin);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_h2d to %s, bytes %zu … %zu, %s", coherence_name(s, b), begin, end, how);
    CALL_OK(s, meta_copy_h2d(b->device + begin, t->host, end - begin, ending.done));
    coherence_transfer_leave(s, t, &ending);
}

static void copy_d2h(coherence_sequence *s)
{
    const coherence_buffer *b = coherence_pick(s, NULL);
    coherence_ending ending;
    size_t begin, end;
    if (!b) return;
    random_range(s, b, &begin, &end);
    coherence_transfer *t = coherence_transfer_new(s, end - begin);
    memcpy(t->expected, b->expected + begin, end - begin);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_d2h from %s, bytes %zu … %zu, %s", coherence_name(s, b), begin, end, how);
    CALL_OK(s, meta_copy_d2h(t->host, b->device + begin, end - begin, ending.done));
    coherence_transfer_leave(s, t, &ending);
}

static void copy_d2d(coherence_sequence *s)
{
    const coherence_buffer *from = coherence_pick(s, NULL);
    coherence_buffer *to = from ? coherence_partner(s, from) : NULL;
    coherence_ending ending;
    if (!to) return;
    const int64_t most = from->cells < to->cells ? from->cells : to->cells;
    const size_t bytes = (size_t)coherence_size(s, most) * to->unit;
    const size_t at =
        (size_t)coherence_in(s, 0, from->cells) * to->unit % (from->bytes - bytes + 1);
    const size_t first = at / to->unit * to->unit;
    const size_t last = to->bytes - bytes;
    memcpy(to->expected + last, from->expected + first, bytes);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_d2d to %s at byte %zu from %s at byte %zu, %zu bytes, %s",
                  coherence_name(s, to), last, coherence_name(s, from), first, bytes, how);
    CALL_OK(s, meta_copy_d2d(to->device + last, from->device + first, bytes, ending.done));
    coherence_ending_leave(s, &ending);
}

/* Half of a buffer to its other half. */
static void copy_within(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    coherence_ending ending;
    if (!b) return;
    const size_t bytes = (size_t)coherence_in(s, 0, b->cells / 2) * b->unit;
    memcpy(b->expected + (b->bytes - bytes), b->expected, bytes);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_d2d within %s, %zu bytes to the end, %s", coherence_name(s, b), bytes, how);
    CALL_OK(s, meta_copy_d2d(b->device + (b->bytes - bytes), b->device, bytes, ending.done));
    coherence_ending_leave(s, &ending);
}

/* The host memory between two buffers, which another operation still writes or reads. Nothing is
 * waited for: on one device the queue keeps the order. */
static void chain(coherence_sequence *s)
{
    enum { READ_WRITTEN, OVERWRITE_READ, OVERWRITE_WRITTEN };
    coherence_buffer *a = coherence_pick(s, NULL), *b = a ? coherence_partner(s, a) : NULL;
    if (!b) return;
    const int64_t kind = coherence_in(s, 0, 2), most = a->cells < b->cells ? a->cells : b->cells;
    const size_t bytes = (size_t)coherence_size(s, most) * a->unit;
    coherence_transfer *t = coherence_transfer_new(s, bytes);
    t->is_untracked = true;
    if (kind == OVERWRITE_READ) {
        coherence_fill(s, t->host, (int64_t)(bytes / a->unit), a->type);
        memcpy(a->expected, t->host, bytes);
        coherence_log("chain: copy_h2d to %s, %zu bytes, META_ASYNC", coherence_name(s, a), bytes);
        CALL_OK(s, meta_copy_h2d(a->device, t->host, bytes, META_ASYNC));
    } else {
        coherence_log("chain: copy_d2h from %s, %zu bytes, META_ASYNC", coherence_name(s, a),
                      bytes);
        CALL_OK(s, meta_copy_d2h(t->host, a->device, bytes, META_ASYNC));
        memcpy(t->expected, a->expected, bytes);
    }
    if (kind == READ_WRITTEN) {
        memcpy(b->expected, t->expected, bytes);
        coherence_log("then copy_h2d of it to %s, META_ASYNC", coherence_name(s, b));
        b->is_chained = true;
        CALL_OK(s, meta_copy_h2d(b->device, t->host, bytes, META_ASYNC));
    } else {
        memcpy(t->expected, b->expected, bytes);
        coherence_log("then copy_d2h over it from %s, META_ASYNC", coherence_name(s, b));
        CALL_OK(s, meta_copy_d2h(t->host, b->device, bytes, META_ASYNC));
    }
}

/* ------------------------------------------------------------------ boxes */

static void move_box(unsigned char *to, const meta_box *to_box, const unsigned char *from,
                     const meta_box *from_box, size_t unit)
{
    for (int64_t n = 0; n < case_box_cells(to_box); ++n)
        memcpy(to + (size_t)case_box_index(to_box, n) * unit,
               from + (size_t)case_box_index(from_box, n) * unit, unit);
}

static void copy_box(coherence_sequence *s)
{
    const coherence_buffer *from = coherence_pick(s, NULL);
    coherence_buffer *to = from ? coherence_partner(s, from) : NULL;
    coherence_ending ending;
    meta_box source, target;
    if (!to || !coherence_box_of(s, &source, from, NULL, 3, 0) ||
        !coherence_box_like(s, &target, &source, to->cells))
        return;
    move_box(to->expected, &target, from->expected, &source, to->unit);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_box to %s %s from %s %s, %s", coherence_name(s, to), case_box_text(&target),
                  coherence_name(s, from), case_box_text(&source), how);
    CALL_OK(s, meta_copy_box(to->device, &target, from->device, &source, to->type, ending.done));
    coherence_ending_leave(s, &ending);
}

static void copy_box_host(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    const bool to_device = coherence_one_in(s, 2);
    coherence_ending ending;
    meta_box box, like;
    if (!b || !coherence_box_of(s, &box, b, NULL, 3, 0) ||
        !coherence_box_like(s, &like, &box, 2 * b->cells))
        return;
    const int64_t cells = case_box_array(&like);
    coherence_transfer *t = coherence_transfer_new(s, (size_t)cells * b->unit);
    coherence_fill(s, t->host, cells, b->type);
    memcpy(t->expected, t->host, t->bytes);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("copy_box_%s %s %s, on the host %s, %s", to_device ? "h2d" : "d2h",
                  coherence_name(s, b), case_box_text(&box), case_box_text(&like), how);
    if (to_device) {
        move_box(b->expected, &box, t->host, &like, b->unit);
        CALL_OK(s, meta_copy_box_h2d(b->device, &box, t->host, &like, b->type, ending.done));
    } else {
        move_box(t->expected, &like, b->expected, &box, b->unit);
        CALL_OK(s, meta_copy_box_d2h(t->host, &like, b->device, &box, b->type, ending.done));
    }
    coherence_transfer_leave(s, t, &ending);
}

static void fill(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL);
    coherence_ending ending;
    meta_box box;
    uint64_t value;
    if (!b || !coherence_box_of(s, &box, b, NULL, 3, 0)) return;
    const bool is_flat = coherence_one_in(s, 3);
    const int64_t count = coherence_size(s, b->cells), first = coherence_in(s, 0, b->cells - count);
    if (is_flat) box = (meta_box){1, {b->cells}, {first}, {first + count}};
    coherence_fill(s, &value, 1, b->type);
    for (int64_t n = 0; n < case_box_cells(&box); ++n)
        memcpy(b->expected + (size_t)case_box_index(&box, n) * b->unit, &value, b->unit);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("fill%s %s %s, %s", is_flat ? "" : "_box", coherence_name(s, b),
                  case_box_text(&box), how);
    CALL_OK(s, is_flat ? meta_fill(b->device + (size_t)first * b->unit, count, &value, b->type,
                                   ending.done)
                       : meta_fill_box(b->device, &box, &value, b->type, ending.done));
    coherence_ending_leave(s, &ending);
}

/* ------------------------------------------------------------------ faces */

/* Of slabs of a grid's faces, and of boxes elsewhere. */
static bool random_face(coherence_sequence *s, meta_face *face, const coherence_buffer *b)
{
    const int axis = (int)coherence_in(s, 0, 2);
    const meta_slab slab = (meta_slab)coherence_in(s, META_SLAB_LOW, META_SLAB_HIGH_GHOST);
    meta_box box;
    if (b->box.ndim > 0 && !coherence_one_in(s, 4)) {
        const int64_t ghosts = b->low[axis] < b->high[axis] ? b->low[axis] : b->high[axis];
        const int64_t room = slab <= META_SLAB_HIGH ? b->grid_cells[axis] : ghosts;
        return room > 0 && CHECK_OK(meta_face_slab(face, &b->box, axis, slab,
                                                   coherence_in(s, 1, room < 2 ? room : 2)));
    }
    return coherence_box(s, &box, 3, 0, b->cells) && CHECK_OK(meta_face_box(face, &box));
}

static void pack_or_unpack(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, NULL), *packed = b ? coherence_partner(s, b) : NULL;
    const bool is_pack = coherence_one_in(s, 2);
    coherence_ending ending;
    meta_face face;
    if (!packed || !random_face(s, &face, b)) return;
    const int64_t elements = case_face_elements(&face);
    if (elements > packed->cells) return;
    const size_t unit = b->unit, at = (size_t)coherence_in(s, 0, packed->cells - elements) * unit;
    for (int64_t n = 0; n < elements; ++n) {
        unsigned char *element = b->expected + (size_t)case_face_index(&face, n) * unit;
        unsigned char *slot = packed->expected + at + (size_t)n * unit;
        memcpy(is_pack ? slot : element, is_pack ? element : slot, unit);
    }
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("%s %s %s, packed in %s at byte %zu, %s", is_pack ? "pack_face" : "unpack_face",
                  coherence_name(s, b), case_face_text(&face), coherence_name(s, packed), at, how);
    CALL_OK(s, is_pack
                   ? meta_pack_face(packed->device + at, b->device, &face, b->type, ending.done)
                   : meta_unpack_face(b->device, packed->device + at, &face, b->type, ending.done));
    coherence_ending_leave(s, &ending);
}

static void transpose(coherence_sequence *s)
{
    const coherence_buffer *in = coherence_pick(s, NULL);
    coherence_buffer *out = in ? coherence_partner(s, in) : NULL;
    coherence_ending ending;
    if (!out) return;
    const int64_t most = in->cells < out->cells ? in->cells : out->cells;
    const int64_t columns = coherence_size(s, most), rows = coherence_size(s, most / columns);
    const int64_t size[2] = {columns, rows};
    for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < columns; ++x)
            memcpy(out->expected + (size_t)(y + x * rows) * in->unit,
                   in->expected + (size_t)(x + y * columns) * in->unit, in->unit);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("transpose_face %s to %s, %dx%d, %s", coherence_name(s, in),
                  coherence_name(s, out), (int)columns, (int)rows, how);
    CALL_OK(s, meta_transpose_face(out->device, in->device, size, in->type, ending.done));
    coherence_ending_leave(s, &ending);
}

/* ------------------------------------------------------------------ calls that are refused */

static bool is_free(const coherence_sequence *s, const unsigned char *address)
{
    for (const coherence_buffer *b = s->buffer; b < s->buffer + COHERENCE_BUFFERS; ++b)
        if (b->device && address >= b->device && address < b->device + b->bytes) return false;
    return true;
}

static void use_freed(coherence_sequence *s)
{
    const uint8_t value = 1;
    if (!s->freed || !is_free(s, s->freed)) return;
    coherence_log("fill a freed buffer");
    CHECK_ERR(meta_fill(s->freed, 1, &value, META_U8, NULL), META_ERR_POINTER);
}

static void leave_buffer(coherence_sequence *s)
{
    const coherence_buffer *b = coherence_pick(s, NULL);
    const uint64_t value = 0;
    unsigned char host[16] = {0};
    if (!b) return;
    const meta_box box = {1, {b->cells + 1}, {0}, {b->cells + 1}};
    coherence_ending ending;
    coherence_log("calls that leave %s", coherence_name(s, b));
    coherence_ending_pick(s, &ending);
    CHECK_ERR(meta_fill_box(b->device, &box, &value, b->type, ending.done), META_ERR_BOUNDS);
    CHECK_ERR(meta_copy_h2d(b->device + b->bytes - 1, host, 2, ending.done), META_ERR_BOUNDS);
    CHECK_ERR(meta_copy_d2h(b->device, host, 1, NULL), META_ERR_POINTER);
    if (b->bytes > 2)
        CHECK_ERR(meta_copy_d2d(b->device, b->device + 1, 2, ending.done), META_ERR_OVERLAP);
    if (b->unit > 1 && b->cells > 1)
        CHECK_ERR(meta_fill(b->device + 1, 1, &value, b->type, NULL), META_ERR_ALIGNMENT);
}

static bool is_plain(const coherence_buffer *b)
{
    return b->is_plain;
}

static bool is_not_plain(const coherence_buffer *b)
{
    return !b->is_plain;
}

static void mix_devices(coherence_sequence *s)
{
    const coherence_buffer *a = coherence_pick(s, is_plain), *b = coherence_pick(s, is_not_plain);
    const meta_box box = {1, {1}, {0}, {1}};
    const meta_face face = {0, 1, {1}, {1}};
    coherence_ending ending;
    if (!a || !b) return;
    if (coherence_one_in(s, 2)) {
        const coherence_buffer *swap = a;
        a = b, b = swap;
    }
    coherence_ending_pick(s, &ending);
    coherence_log("calls with %s and %s", coherence_name(s, a), coherence_name(s, b));
    CHECK_ERR(meta_copy_d2d(a->device, b->device, 1, ending.done), META_ERR_WRONG_DEVICE);
    CHECK_ERR(meta_copy_box(a->device, &box, b->device, &box, META_U8, ending.done),
              META_ERR_WRONG_DEVICE);
    CHECK_ERR(meta_pack_face(a->device, b->device, &face, META_U8, ending.done),
              META_ERR_WRONG_DEVICE);
}

const coherence_step coherence_move_steps[] = {{"allocate", 10, allocate_buffer},
                                               {"free", 3, free_buffer},
                                               {"compare", 8, compare_part},
                                               {"label", 2, label},
                                               {"write_wrapped", 3, write_wrapped},
                                               {"use_native", 3, use_native},
                                               {"copy_h2d", 8, copy_h2d},
                                               {"copy_d2h", 8, copy_d2h},
                                               {"copy_d2d", 5, copy_d2d},
                                               {"copy_within", 2, copy_within},
                                               {"chain", 5, chain},
                                               {"copy_box", 5, copy_box},
                                               {"copy_box_host", 5, copy_box_host},
                                               {"fill", 5, fill},
                                               {"pack", 8, pack_or_unpack},
                                               {"transpose", 3, transpose},
                                               {"use_freed", 2, use_freed},
                                               {"leave_buffer", 1, leave_buffer},
                                               {"mix_devices", 2, mix_devices},
                                               {"wait", 5, coherence_wait},
                                               {"flush", 2, coherence_flush},
                                               {NULL, 0, NULL}};
