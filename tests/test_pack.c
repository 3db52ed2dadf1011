/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_pack.c
 *  Packing, unpacking and transposing faces (strided sections), and constructing them. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "mirror.h"

#include <inttypes.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 16, LARGE_BYTES = 1 << 21 };

/* ------------------------------------------------------------------ pack and unpack */

static void oracle_pack(unsigned char *packed, const unsigned char *buf, const meta_face *face,
                        size_t bytes)
{
    for (int64_t n = 0; n < case_face_elements(face); ++n)
        memcpy(packed + n * (int64_t)bytes, buf + case_face_index(face, n) * (int64_t)bytes, bytes);
}

static void oracle_unpack(unsigned char *buf, const unsigned char *packed, const meta_face *face,
                          size_t bytes)
{
    for (int64_t n = 0; n < case_face_elements(face); ++n)
        memcpy(buf + case_face_index(face, n) * (int64_t)bytes, packed + n * (int64_t)bytes, bytes);
}

/* A face, where it counts from in `buf`, and where its packed elements begin; both in bytes. */
typedef struct pack_case {
    meta_type type;
    size_t bytes, from, to;
    meta_face face;
} pack_case;

static pack_case random_pack(size_t room, case_kind kind)
{
    pack_case c = {.type = case_any_type()};
    int64_t from;
    CHECK_OK(meta_type_size(c.type, &c.bytes));
    const int64_t elements = (int64_t)(room / c.bytes);
    c.face = case_face((int)test_random_in(1, META_MAX_DIM), elements / 4, elements, kind, &from);
    c.from = (size_t)from * c.bytes;
    c.to = (size_t)test_random_in(0, elements - case_face_elements(&c.face)) * c.bytes;
    test_case("%s, buf + %zu bytes, packed + %zu bytes, %s", case_type_name(c.type), c.from, c.to,
              case_face_text(&c.face));
    return c;
}

static void pack_and_compare(mirror *packed, mirror *buf)
{
    const pack_case c = random_pack(buf->bytes, CASE_ANY);
    case_ending ending;
    case_ending_pick(&ending);
    oracle_pack(packed->expected + c.to, buf->expected + c.from, &c.face, c.bytes);
    CHECK_OK(
        meta_pack_face(packed->device + c.to, buf->device + c.from, &c.face, c.type, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(packed, c.type, "the packed buffer");
}

static void unpack_and_compare(mirror *packed, mirror *buf)
{
    const pack_case c = random_pack(buf->bytes, CASE_APART);
    case_ending ending;
    case_ending_pick(&ending);
    oracle_unpack(buf->expected + c.from, packed->expected + c.to, &c.face, c.bytes);
    CHECK_OK(meta_unpack_face(buf->device + c.from, packed->device + c.to, &c.face, c.type,
                              ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(buf, c.type, "the unpacked buffer");
}

static void many_faces(void (*one)(mirror *, mirror *), size_t room, int64_t few, int64_t many)
{
    mirror packed = {0}, buf = {0};
    if (mirror_new(&packed, room) && mirror_new(&buf, room))
        TEST_CASES (k, few, many) {
            if (k % 100 == 99) mirror_refill(&packed, META_U8, CASE_PLAIN);
            if (k % 100 == 49) mirror_refill(&buf, META_U8, CASE_PLAIN);
            one(&packed, &buf);
            if (k % 100 == 0) mirror_holds(&packed, META_U8, "the packed buffer");
            if (k % 100 == 0) mirror_holds(&buf, META_U8, "the array");
        }
    mirror_free(&packed);
    mirror_free(&buf);
}

static void pack_takes_the_elements_of_a_face_in_order_and_touches_no_other(void)
{
    many_faces(pack_and_compare, SMALL_BYTES, 4000, 1000000);
}

static void unpack_leaves_cells_outside_the_face_alone(void)
{
    many_faces(unpack_and_compare, SMALL_BYTES, 4000, 1000000);
}

static void large_faces_pack_like_small_ones(void)
{
    many_faces(pack_and_compare, LARGE_BYTES, 60, 2000);
}

static void large_faces_unpack_like_small_ones(void)
{
    many_faces(unpack_and_compare, LARGE_BYTES, 60, 2000);
}

static void unpack_undoes_pack(void)
{
    mirror packed = {0}, buf = {0};
    if (mirror_new(&packed, SMALL_BYTES) && mirror_new(&buf, SMALL_BYTES))
        TEST_CASES (k, 300, 30000) {
            const pack_case c = random_pack(SMALL_BYTES, CASE_APART);
            const unsigned char zero[8] = {0};
            CHECK_OK(meta_pack_face(packed.device + c.to, buf.device + c.from, &c.face, c.type,
                                    META_ASYNC));
            CHECK_OK(
                meta_fill(buf.device, (int64_t)(SMALL_BYTES / c.bytes), zero, c.type, META_ASYNC));
            CHECK_OK(meta_unpack_face(buf.device + c.from, packed.device + c.to, &c.face, c.type,
                                      META_ASYNC));
            oracle_pack(packed.expected + c.to, buf.expected + c.from, &c.face, c.bytes);
            memset(buf.expected, 0, SMALL_BYTES);
            oracle_unpack(buf.expected + c.from, packed.expected + c.to, &c.face, c.bytes);
            mirror_holds(&buf, c.type, "the array");
            mirror_refill(&buf, META_U8, CASE_PLAIN);
        }
    mirror_free(&packed);
    mirror_free(&buf);
}

/* ------------------------------------------------------------------ transpose */

static void transpose_and_compare(mirror *out, mirror *in)
{
    const meta_type type = case_any_type();
    size_t bytes = 1;
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t room = (int64_t)(in->bytes / bytes), long_side = test_random_in(1, room);
    int64_t size[2] = {long_side, test_random_in(0, room / long_side)};
    if (test_random_in(0, 1)) size[0] = size[1], size[1] = long_side;
    if (test_random_in(0, 1)) size[0] = test_random_in(1, 90), size[1] = test_random_in(1, 90);
    if (test_random_in(0, 49) == 0) size[0] = 0;
    const int64_t from = test_random_in(0, room - size[0] * size[1]) * (int64_t)bytes;
    const int64_t to = test_random_in(0, room - size[0] * size[1]) * (int64_t)bytes;
    test_case("%s, %" PRId64 " x %" PRId64 ", in + %" PRId64 ", out + %" PRId64 " bytes",
              case_type_name(type), size[0], size[1], from, to);
    for (int64_t j = 0; j < size[1]; ++j)
        for (int64_t i = 0; i < size[0]; ++i)
            memcpy(out->expected + to + (i * size[1] + j) * (int64_t)bytes,
                   in->expected + from + (j * size[0] + i) * (int64_t)bytes, bytes);
    case_ending_pick(&ending);
    CHECK_OK(meta_transpose_face(out->device + to, in->device + from, size, type, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(out, type, "the transposed face");
}

static void transpose_exchanges_rows_and_columns_and_touches_nothing_else(void)
{
    many_faces(transpose_and_compare, SMALL_BYTES, 1500, 150000);
}

static void large_faces_transpose_like_small_ones(void)
{
    many_faces(transpose_and_compare, LARGE_BYTES, 30, 2000);
}

/* ------------------------------------------------------------------ making faces */

/* Whether the array's cell with these coordinates is in a box that may have been cut to a slab. */
static bool in_slab(const meta_box *box, const int64_t *cell, int axis, int slab, int64_t width)
{
    for (int d = 0; d < box->ndim; ++d) {
        int64_t low = box->start[d], high = box->end[d];
        if (d == axis) {
            if (slab == META_SLAB_LOW) high = low + width;
            if (slab == META_SLAB_HIGH) low = high - width;
            if (slab == META_SLAB_LOW_GHOST) high = low, low -= width;
            if (slab == META_SLAB_HIGH_GHOST) low = high, high += width;
        }
        if (cell[d] < low || cell[d] >= high) return false;
    }
    return true;
}

/* The face holds those cells of the box's array that are in the slab (the whole box for axis -1),
 * in the order of memory. */
static void check_face(const meta_face *face, const meta_box *box, int axis, int slab,
                       int64_t width)
{
    const int64_t elements = case_face_elements(face);
    int64_t n = 0;
    for (int64_t index = 0; index < case_box_array(box); ++index) {
        int64_t cell[META_MAX_DIM], rest = index;
        for (int d = 0; d < box->ndim; ++d) cell[d] = rest % box->size[d], rest /= box->size[d];
        if (!in_slab(box, cell, axis, slab, width)) continue;
        if (n < elements && !CHECK_INT(case_face_index(face, n), index)) return;
        ++n;
    }
    CHECK_INT(elements, n);
}

static void slab_of_every_axis_side_and_width_is_right(void)
{
    TEST_CASES (k, 300, 20000) {
        const meta_box box = case_box((int)test_random_in(1, META_MAX_DIM), 0, 500);
        const int axis = (int)test_random_in(0, box.ndim - 1);
        for (int slab = META_SLAB_LOW; slab <= META_SLAB_HIGH_GHOST; ++slab) {
            const int64_t available = slab == META_SLAB_LOW_GHOST ? box.start[axis]
                                      : slab == META_SLAB_HIGH_GHOST
                                          ? box.size[axis] - box.end[axis]
                                          : box.end[axis] - box.start[axis];
            for (int64_t width = 0; width <= available; ++width) {
                meta_face face;
                test_case("axis %d, slab %d, width %" PRId64 ", %s", axis, slab, width,
                          case_box_text(&box));
                if (CHECK_OK(meta_face_slab(&face, &box, axis, (meta_slab)slab, width)))
                    check_face(&face, &box, axis, slab, width);
            }
        }
    }
}

static void slab_wider_than_its_place_is_refused_and_nothing_written(void)
{
    TEST_CASES (k, 300, 20000) {
        const meta_box box = case_box((int)test_random_in(1, META_MAX_DIM), 0, 500);
        const int axis = (int)test_random_in(0, box.ndim - 1);
        const int slab = (int)test_random_in(META_SLAB_LOW, META_SLAB_HIGH_GHOST);
        const int64_t available = slab == META_SLAB_LOW_GHOST    ? box.start[axis]
                                  : slab == META_SLAB_HIGH_GHOST ? box.size[axis] - box.end[axis]
                                                                 : box.end[axis] - box.start[axis];
        meta_face face, before;
        memset(&face, 0x5a, sizeof face);
        before = face;
        test_case("axis %d, slab %d, %s", axis, slab, case_box_text(&box));
        CHECK_ERR_NAMES(meta_face_slab(&face, &box, axis, (meta_slab)slab, available + 1),
                        META_ERR_BOUNDS, "'width'");
        CHECK(memcmp(&face, &before, sizeof face) == 0);
    }
}

static void face_of_a_box_has_its_cells_in_the_order_of_memory(void)
{
    TEST_CASES (k, 500, 50000) {
        const meta_box box = case_box((int)test_random_in(1, META_MAX_DIM), 0, 500);
        meta_face face;
        test_case("%s", case_box_text(&box));
        if (CHECK_OK(meta_face_box(&face, &box))) check_face(&face, &box, -1, 0, 0);
    }
}

static void face_made_of_parts_has_these_parts(void)
{
    TEST_CASES (k, 500, 50000) {
        int64_t from;
        const meta_face given =
            case_face((int)test_random_in(1, META_MAX_DIM), 1000, 10000, CASE_ANY, &from);
        meta_face made;
        test_case("%s", case_face_text(&given));
        if (!CHECK_OK(meta_face_make(&made, given.start, given.count, given.size, given.stride)))
            continue;
        CHECK_INT(made.start, given.start);
        CHECK_INT(made.count, given.count);
        CHECK(memcmp(made.size, given.size, (size_t)given.count * sizeof *made.size) == 0);
        CHECK(memcmp(made.stride, given.stride, (size_t)given.count * sizeof *made.stride) == 0);
    }
}

static void elements_of_a_face_are_counted(void)
{
    TEST_CASES (k, 500, 50000) {
        int64_t from, found = -1;
        const meta_face face =
            case_face((int)test_random_in(1, META_MAX_DIM), 1000, 10000, CASE_ANY, &from);
        test_case("%s", case_face_text(&face));
        if (CHECK_OK(meta_face_elements(&face, &found)))
            CHECK_INT(found, case_face_elements(&face));
    }
}

static void elements_beyond_an_int64_are_an_overflow_unless_there_are_none(void)
{
    const int64_t huge = INT64_C(1) << 40;
    meta_face face = {.count = 3, .size = {huge, huge, huge}, .stride = {1, 1, 1}};
    int64_t found = -1;
    CHECK_ERR_NAMES(meta_face_elements(&face, &found), META_ERR_OVERFLOW, "'face'");
    CHECK_INT(found, -1);
    face.size[1] = 0;
    CHECK_OK(meta_face_elements(&face, &found));
    CHECK_INT(found, 0);
}

TEST_DEVICE_MAIN(PROMISE(pack_takes_the_elements_of_a_face_in_order_and_touches_no_other),
                 PROMISE(unpack_leaves_cells_outside_the_face_alone),
                 PROMISE(large_faces_pack_like_small_ones),
                 PROMISE(large_faces_unpack_like_small_ones), PROMISE(unpack_undoes_pack),
                 PROMISE(transpose_exchanges_rows_and_columns_and_touches_nothing_else),
                 PROMISE(large_faces_transpose_like_small_ones),
                 PROMISE(slab_of_every_axis_side_and_width_is_right),
                 PROMISE(slab_wider_than_its_place_is_refused_and_nothing_written),
                 PROMISE(face_of_a_box_has_its_cells_in_the_order_of_memory),
                 PROMISE(face_made_of_parts_has_these_parts),
                 PROMISE(elements_of_a_face_are_counted),
                 PROMISE(elements_beyond_an_int64_are_an_overflow_unless_there_are_none))
