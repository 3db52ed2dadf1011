/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_copy.c
 *  Copies to, from and on a device, box copies, and fills. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 15, LARGE_BYTES = 1 << 21 };

/* ------------------------------------------------------------------ to and from the host */

/* A part of `room` bytes: of any size, mostly short, its ends wherever they fall. */
static void random_part(size_t room, size_t *from, size_t *bytes)
{
    const int64_t most = test_random_in(0, 3) ? 100 : (int64_t)room;
    *bytes = (size_t)test_random_in(0, most);
    *from = (size_t)test_random_in(0, (int64_t)(room - *bytes));
    test_case("%zu bytes from byte %zu of %zu", *bytes, *from, room);
}

static void h2d_writes_the_bytes_named_and_no_others(void)
{
    unsigned char host[SMALL_BYTES];
    mirror m = {0};
    if (mirror_new(&m, SMALL_BYTES))
        TEST_CASES (k, 2000, 200000) {
            size_t from, bytes;
            case_ending ending;
            random_part(m.bytes, &from, &bytes);
            const size_t skip = (size_t)test_random_in(0, (int64_t)(sizeof host - bytes));
            case_fill(host + skip, bytes, META_U8, CASE_PLAIN);
            memcpy(m.expected + from, host + skip, bytes);
            case_ending_pick(&ending);
            CHECK_OK(meta_copy_h2d(m.device + from, host + skip, bytes, ending.done));
            CHECK_OK(case_ending_settle(&ending));
            mirror_holds(&m, META_U8, "the buffer");
        }
    mirror_free(&m);
}

static void d2h_reads_the_bytes_named_and_writes_no_others(void)
{
    unsigned char host[SMALL_BYTES], expected[SMALL_BYTES];
    mirror m = {0};
    test_random_fill(host, sizeof host, META_U8);
    memcpy(expected, host, sizeof host);
    if (mirror_new(&m, SMALL_BYTES))
        TEST_CASES (k, 2000, 200000) {
            size_t from, bytes;
            meta_event event, *done = test_random_in(0, 1) ? &event : NULL;
            random_part(m.bytes, &from, &bytes);
            const size_t skip = (size_t)test_random_in(0, (int64_t)(sizeof host - bytes));
            memcpy(expected + skip, m.expected + from, bytes);
            CHECK_OK(meta_copy_d2h(host + skip, m.device + from, bytes, done));
            if (done) CHECK_OK(meta_event_wait(event));
            if (done) CHECK_OK(meta_event_free(&event));
            if (!CHECK_ARRAY(host, expected, sizeof host, META_U8))
                memcpy(host, expected, sizeof host);
        }
    mirror_free(&m);
}

static void pinned_host_memory_is_host_memory(void)
{
    mirror m = {0};
    void *host = NULL;
    if (mirror_new(&m, LARGE_BYTES) && CHECK_OK(meta_host_alloc(&host, LARGE_BYTES)))
        TEST_CASES (k, 20, 1000) {
            size_t from, bytes;
            random_part(m.bytes, &from, &bytes);
            test_random_fill((char *)host + from, bytes, META_U8);
            memcpy(m.expected + from, (char *)host + from, bytes);
            CHECK_OK(meta_copy_h2d(m.device + from, (char *)host + from, bytes, NULL));
            mirror_holds(&m, META_U8, "the buffer");
            CHECK_OK(meta_copy_d2h(host, m.device, m.bytes, NULL));
            CHECK_ARRAY(host, m.expected, m.bytes, META_U8);
        }
    if (host) CHECK_OK(meta_host_free(host));
    mirror_free(&m);
}

/* ------------------------------------------------------------------ on the device */

static void copy_between_and_compare(mirror *dst, mirror *src)
{
    size_t from, bytes;
    case_ending ending;
    random_part(src->bytes, &from, &bytes);
    const size_t to = (size_t)test_random_in(0, (int64_t)(dst->bytes - bytes));
    memcpy(dst->expected + to, src->expected + from, bytes);
    test_case("%zu bytes from byte %zu to byte %zu", bytes, from, to);
    case_ending_pick(&ending);
    CHECK_OK(meta_copy_d2d(dst->device + to, src->device + from, bytes, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(dst, META_U8, "the buffer");
}

static void d2d_writes_the_bytes_named_and_no_others(void)
{
    mirror a = {0}, b = {0};
    if (mirror_new(&a, SMALL_BYTES) && mirror_new(&b, SMALL_BYTES))
        TEST_CASES (k, 2000, 200000) {
            if (k % 50 == 0) mirror_refill(&a, META_U8, CASE_PLAIN);
            copy_between_and_compare(&b, &a);
        }
    mirror_free(&a);
    mirror_free(&b);
}

static void large_copies_are_like_small_ones(void)
{
    mirror a = {0}, b = {0};
    if (mirror_new(&a, LARGE_BYTES) && mirror_new(&b, LARGE_BYTES))
        TEST_CASES (k, 60, 2000) copy_between_and_compare(&b, &a);
    mirror_free(&a);
    mirror_free(&b);
}

static void d2d_copies_within_a_buffer(void)
{
    mirror m = {0};
    if (mirror_new(&m, SMALL_BYTES))
        TEST_CASES (k, 500, 50000) {
            const size_t half = m.bytes / 2;
            const size_t bytes = (size_t)test_random_in(0, 200);
            size_t from = (size_t)test_random_in(0, (int64_t)(half - bytes));
            size_t to = half + (size_t)test_random_in(0, (int64_t)(half - bytes));
            if (test_random_in(0, 3) == 0) from = half - bytes, to = half; /* neighbours */
            if (test_random_in(0, 1)) {
                const size_t other = from;
                from = to, to = other;
            }
            memcpy(m.expected + to, m.expected + from, bytes);
            test_case("%zu bytes from byte %zu to byte %zu", bytes, from, to);
            CHECK_OK(meta_copy_d2d(m.device + to, m.device + from, bytes, NULL));
            mirror_holds(&m, META_U8, "the buffer");
        }
    mirror_free(&m);
}

/* ------------------------------------------------------------------ boxes */

/* A type, and a place for the array of `box` in `m`. */
static size_t random_place(const mirror *m, const meta_box *box, size_t bytes)
{
    return (size_t)test_random_in(0, (int64_t)(m->bytes / bytes) - case_box_array(box)) * bytes;
}

static void copy_box_and_compare(mirror *dst, mirror *src)
{
    const meta_type type = case_any_type();
    size_t bytes = 1;
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t room = (int64_t)(src->bytes / bytes);
    const meta_box from_box = case_box((int)test_random_in(1, META_MAX_DIM), 0, room / 2);
    const meta_box to_box = case_box_like(&from_box, room);
    const size_t from = random_place(src, &from_box, bytes), to = random_place(dst, &to_box, bytes);
    test_case("%s, from byte %zu, %s, to byte %zu, %s", case_type_name(type), from,
              case_box_text(&from_box), to, case_box_text(&to_box));
    for (int64_t n = 0; n < case_box_cells(&from_box); ++n)
        memcpy(dst->expected + to + case_box_index(&to_box, n) * (int64_t)bytes,
               src->expected + from + case_box_index(&from_box, n) * (int64_t)bytes, bytes);
    case_ending_pick(&ending);
    CHECK_OK(
        meta_copy_box(dst->device + to, &to_box, src->device + from, &from_box, type, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(dst, type, "the buffer");
}

static void fill_box_and_compare(mirror *m, mirror *unused)
{
    const meta_type type = case_any_type();
    size_t bytes = 1;
    unsigned char value[8];
    case_ending ending;
    (void)unused;
    CHECK_OK(meta_type_size(type, &bytes));
    const meta_box box =
        case_box((int)test_random_in(1, META_MAX_DIM), 0, (int64_t)(m->bytes / bytes));
    const size_t from = random_place(m, &box, bytes);
    test_case("%s, from byte %zu, %s", case_type_name(type), from, case_box_text(&box));
    case_fill(value, 1, type, CASE_PLAIN);
    for (int64_t n = 0; n < case_box_cells(&box); ++n)
        memcpy(m->expected + from + case_box_index(&box, n) * (int64_t)bytes, value, bytes);
    case_ending_pick(&ending);
    CHECK_OK(meta_fill_box(m->device + from, &box, value, type, ending.done));
    memset(value, 0, sizeof value); /* it has been read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(m, type, "the buffer");
}

static void fill_and_compare(mirror *m, mirror *unused)
{
    const meta_type type = case_any_type();
    size_t bytes = 1;
    unsigned char value[8];
    case_ending ending;
    (void)unused;
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t room = (int64_t)(m->bytes / bytes);
    const int64_t count = test_random_in(0, test_random_in(0, 3) ? 100 : room);
    const size_t from = (size_t)test_random_in(0, room - count) * bytes;
    test_case("%s, from byte %zu, %lld elements", case_type_name(type), from, (long long)count);
    case_fill(value, 1, type, CASE_PLAIN);
    for (int64_t n = 0; n < count; ++n)
        memcpy(m->expected + from + n * (int64_t)bytes, value, bytes);
    case_ending_pick(&ending);
    CHECK_OK(meta_fill(m->device + from, count, value, type, ending.done));
    memset(value, 0, sizeof value); /* it has been read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(m, type, "the buffer");
}

static void many(void (*one)(mirror *, mirror *), size_t room, int64_t few, int64_t most)
{
    mirror a = {0}, b = {0};
    if (mirror_new(&a, room) && mirror_new(&b, room))
        TEST_CASES (k, few, most) {
            if (k % 20 == 0) mirror_refill(&a, META_U8, CASE_PLAIN);
            if (k % 20 == 0) mirror_refill(&b, META_U8, CASE_PLAIN);
            one(&a, &b);
        }
    mirror_free(&a);
    mirror_free(&b);
}

static void copy_box_writes_the_cells_of_the_box_and_no_others(void)
{
    many(copy_box_and_compare, SMALL_BYTES, 2000, 200000);
    many(copy_box_and_compare, LARGE_BYTES, 40, 2000);
}

static void copy_box_copies_within_an_array(void)
{
    mirror m = {0};
    if (mirror_new(&m, SMALL_BYTES))
        TEST_CASES (k, 300, 30000) {
            /* The low and the high planes of the slowest dimension: apart in memory. */
            const int64_t nx = test_random_in(1, 30), ny = test_random_in(1, 30);
            const int64_t planes = SMALL_BYTES / 4 / (nx * ny);
            const int64_t deep = test_random_in(1, planes / 2);
            meta_box low = {3, {nx, ny, planes}, {0, 0, 0}, {nx, ny, deep}}, high = low;
            high.start[2] = planes - deep, high.end[2] = planes;
            test_case("to %s", case_box_text(&low));
            for (int64_t n = 0; n < case_box_cells(&low); ++n)
                memcpy(m.expected + 4 * case_box_index(&low, n),
                       m.expected + 4 * case_box_index(&high, n), 4);
            CHECK_OK(meta_copy_box(m.device, &low, m.device, &high, META_U32, NULL));
            mirror_holds(&m, META_U32, "the array");
            mirror_refill(&m, META_U32, CASE_PLAIN);
        }
    mirror_free(&m);
}

static void copy_box_copies_between_sides_that_interleave(void)
{
    mirror m = {0};
    const int64_t n = 12;
    if (mirror_new(&m, (size_t)(n * n * n) * 4))
        for (int axis = 0; axis < 3; ++axis) {
            meta_box low = {3, {n, n, n}, {0, 0, 0}, {n, n, n}}, high = low;
            low.end[axis] = 2, high.start[axis] = n - 2;
            test_case("to %s", case_box_text(&high));
            for (int64_t k = 0; k < case_box_cells(&low); ++k)
                memcpy(m.expected + 4 * case_box_index(&high, k),
                       m.expected + 4 * case_box_index(&low, k), 4);
            CHECK_OK(meta_copy_box(m.device, &high, m.device, &low, META_F32, NULL));
            mirror_holds(&m, META_F32, "the array");
            low.end[axis] = n - 1, high.start[axis] = 1;
            CHECK_ERR(meta_copy_box(m.device, &high, m.device, &low, META_F32, NULL),
                      META_ERR_OVERLAP);
        }
    mirror_free(&m);
}

static void fill_box_writes_the_cells_of_the_box_and_no_others(void)
{
    many(fill_box_and_compare, SMALL_BYTES, 2000, 200000);
    many(fill_box_and_compare, LARGE_BYTES, 40, 2000);
}

static void fill_writes_the_elements_counted_and_no_others(void)
{
    many(fill_and_compare, SMALL_BYTES, 1000, 100000);
    many(fill_and_compare, LARGE_BYTES, 40, 2000);
}

/* ------------------------------------------------------------------ addresses */

static void any_byte_of_a_buffer_has_an_address(void)
{
    mirror m = {0};
    if (mirror_new(&m, 4099))
        TEST_CASES (k, 300, 30000) {
            const size_t at = (size_t)test_random_in(0, (int64_t)m.bytes - 1);
            unsigned char byte = 0;
            meta_pointer_desc desc = META_POINTER_DESC_INIT;
            test_case("byte %zu", at);
            CHECK_OK(meta_copy_d2h(&byte, m.device + at, 1, NULL));
            CHECK_INT(byte, m.expected[at]);
            CHECK_OK(meta_pointer_info(m.device + at, &desc));
            CHECK_U64(desc.offset, at);
            CHECK(desc.base == m.device);
            CHECK_U64(desc.bytes, m.bytes);
        }
    mirror_free(&m);
}

static void queued_work_of_one_buffer_runs_in_order(void)
{
    mirror m = {0};
    uint32_t *values = malloc(sizeof *values * 64);
    if (mirror_new(&m, SMALL_BYTES) && CHECK(values))
        TEST_CASES (k, 20, 1000) {
            for (int step = 0; step < 64; ++step) {
                const int64_t count = SMALL_BYTES / 4 - step;
                values[step] = (uint32_t)test_random();
                CHECK_OK(meta_fill(m.device, count, &values[step], META_U32, META_ASYNC));
                for (int64_t n = 0; n < count; ++n) memcpy(m.expected + 4 * n, &values[step], 4);
            }
            mirror_holds(&m, META_U32, "the buffer");
        }
    free(values);
    mirror_free(&m);
}

TEST_DEVICE_MAIN(PROMISE(h2d_writes_the_bytes_named_and_no_others),
                 PROMISE(d2h_reads_the_bytes_named_and_writes_no_others),
                 PROMISE(pinned_host_memory_is_host_memory),
                 PROMISE(d2d_writes_the_bytes_named_and_no_others),
                 PROMISE(d2d_copies_within_a_buffer), PROMISE(large_copies_are_like_small_ones),
                 PROMISE(copy_box_writes_the_cells_of_the_box_and_no_others),
                 PROMISE(copy_box_copies_within_an_array),
                 PROMISE(copy_box_copies_between_sides_that_interleave),
                 PROMISE(fill_box_writes_the_cells_of_the_box_and_no_others),
                 PROMISE(fill_writes_the_elements_counted_and_no_others),
                 PROMISE(any_byte_of_a_buffer_has_an_address),
                 PROMISE(queued_work_of_one_buffer_runs_in_order))
