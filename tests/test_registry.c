/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_registry.c
 *  Buffers are addresses: pointer arithmetic, lookup, freeing and reuse, and memory statistics of a
 *  device. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=all auto=yes labels=core with=CHECK=1 */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

static meta_mode mode;
static int device_index;
static meta_device_desc device = META_DEVICE_DESC_INIT;

static void start(int *argc, char ***argv)
{
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(&device_index, &mode));
    CHECK_OK(meta_device_info(device_index, mode, &device));
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

/* ------------------------------------------------------------------ addresses */

static void any_byte_of_a_buffer_can_be_addressed(void)
{
    enum { BYTES = 5003 };
    unsigned char expected[BYTES], found[BYTES];
    char *p;
    if (!CHECK_OK(meta_alloc((void **)&p, BYTES))) return;
    test_random_fill(expected, BYTES, META_U8);
    CHECK_OK(meta_copy_h2d(p, expected, BYTES, NULL));
    for (int k = 0; k < 300; ++k) {
        const size_t at = (size_t)test_random_in(0, BYTES - 1);
        const size_t count = (size_t)test_random_in(0, (int64_t)(BYTES - at));
        unsigned char part[BYTES];
        test_case("%zu bytes from byte %zu", count, at);
        if (k % 2 == 0) {
            CHECK_OK(meta_copy_d2h(part, p + at, count, NULL));
            CHECK_ARRAY(part, expected + at, count, META_U8);
        } else {
            test_random_fill(expected + at, count, META_U8);
            CHECK_OK(meta_copy_h2d(p + at, expected + at, count, NULL));
        }
    }
    CHECK_OK(meta_copy_d2h(found, p, BYTES, NULL));
    CHECK_ARRAY(found, expected, BYTES, META_U8);
    CHECK_OK(meta_free(p));
}

static void buffers_are_aligned_for_every_type_and_to_64_bytes(void)
{
    for (size_t bytes = 1; bytes < 5000; bytes = bytes * 2 + 1) {
        void *p;
        if (!CHECK_OK(meta_alloc(&p, bytes))) return;
        test_case("%zu bytes", bytes);
        CHECK_INT((uintptr_t)p % 64, 0);
        CHECK_OK(meta_free(p));
    }
}

static void an_address_gives_its_buffer_and_offset(void)
{
    enum { BYTES = 1000 };
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    void *object = NULL, *other = NULL;
    size_t offset = 0, front = 0; /* guards may lie before the buffer */
    char *p, *host;
    CHECK_OK(meta_alloc((void **)&p, BYTES));
    CHECK_OK(meta_host_alloc((void **)&host, BYTES));
    CHECK_OK(meta_native(p, NULL, &front));
    for (size_t at = 0; at < BYTES; at += 111) {
        test_case("byte %zu", at);
        CHECK_OK(meta_pointer_info(p + at, &desc));
        CHECK(desc.base == p && desc.kind == META_MEMORY_DEVICE);
        /* With META_MODE=auto meta_native() keeps it on one of the devices. */
        CHECK(mode == META_AUTO ? desc.mode != META_AUTO
                                : desc.mode == mode && desc.index == device_index);
        CHECK_U64(desc.bytes, BYTES);
        CHECK_U64(desc.offset, at);
        CHECK_OK(meta_native(p + at, &object, &offset));
        CHECK_U64(offset - front, at);
        CHECK(object && (!other || object == other));
        other = object;
    }
    if (device.is_host) CHECK(object == p);
    CHECK_ERR_NAMES(meta_host_view(p, NULL), META_ERR_ARGUMENT, "host");
    CHECK_ERR_NAMES(meta_host_view(host, &object), META_ERR_POINTER, "ptr");
    CHECK_ERR_NAMES(meta_host_view(p + BYTES, &object), META_ERR_POINTER, "ptr");
    CHECK(object == other); /* of the last round */
    if (device.is_host) {
        CHECK_OK(meta_host_view(p + 7, &object));
        CHECK(object == p + 7);
    } else {
        CHECK_OK(meta_label(p, "far away"));
        CHECK_ERR_NAMES(meta_host_view(p + 7, &object), META_ERR_UNSUPPORTED, "META_MODE=openmp");
        CHECK_CONTAINS(meta_last_error(), "\"far away\"");
        CHECK_CONTAINS(meta_last_error(), device.backend);
        CHECK(object == other);
    }
    CHECK_OK(meta_native(p + 8, NULL, &offset));
    CHECK_OK(meta_native(p + 8, &object, NULL));
    CHECK_OK(meta_pointer_info(host + 10, &desc));
    CHECK(desc.base == host && desc.kind == META_MEMORY_HOST && desc.offset == 10);
    CHECK_ERR_NAMES(meta_pointer_info(p + BYTES, &desc), META_ERR_POINTER, "ptr");
    CHECK_OK(meta_host_free(host));
    CHECK_OK(meta_free(p));
}

/* With META_CHECK no memory is kept in a pool, and in memory of the device's own a guard lies
 * before each buffer. */
static void checking_is_switched_by_a_word(void)
{
    static const char *const words[] = {"on", "1", "ON", "off", "0", ""};
    char kept[8] = "";
    if (getenv("META_CHECK")) snprintf(kept, sizeof kept, "%s", getenv("META_CHECK"));
    for (int k = 0; k < 6; ++k) {
        meta_pool_desc pool = META_POOL_DESC_INIT;
        size_t front = 0;
        void *p, *object;
        test_case("META_CHECK=%s", words[k]);
        CHECK_OK(meta_finalize());
        setenv("META_CHECK", words[k], 1);
        if (!CHECK_OK(meta_init()) || !CHECK_OK(meta_alloc(&p, 100))) return;
        CHECK_OK(meta_native(p, &object, &front));
        if (object != p) CHECK_INT(front > 0, k < 3); /* a handle: of the buffer and its guards */
        CHECK_OK(meta_pool_info(device_index, mode, &pool));
        if (k < 3) CHECK_U64(pool.limit, 0);
        CHECK_OK(meta_free(p));
    }
    CHECK_OK(meta_finalize());
    setenv("META_CHECK", "yes", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_CHECK=yes: give on or off");
    setenv("META_CHECK", kept, 1);
    CHECK_OK(meta_init());
}

/* ------------------------------------------------------------------ very many of them */

typedef struct buffer {
    char *p;
    size_t bytes;
    unsigned char mark;
} buffer;
enum { MOST = 4000 };
static buffer live[MOST];

static void make(buffer *b)
{
    b->bytes = (size_t)test_random_in(1, 600);
    b->mark = (unsigned char)test_random();
    if (CHECK_OK(meta_alloc((void **)&b->p, b->bytes)))
        CHECK_OK(meta_fill(b->p, (int64_t)b->bytes, &b->mark, META_U8, META_ASYNC));
}

static void check_and_free(buffer *b)
{
    unsigned char last = 0, first = 0;
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    CHECK_OK(meta_copy_d2h(&first, b->p, 1, NULL));
    CHECK_OK(meta_copy_d2h(&last, b->p + b->bytes - 1, 1, NULL));
    CHECK_INT(first, b->mark);
    CHECK_INT(last, b->mark);
    CHECK_OK(meta_pointer_info(b->p + b->bytes / 2, &desc));
    CHECK(desc.base == b->p && desc.bytes == b->bytes);
    CHECK_OK(meta_free(b->p));
    CHECK_ERR_NAMES(meta_free(b->p), META_ERR_POINTER, "freed");
    b->p = NULL;
}

static int by_address(const void *a, const void *b)
{
    const char *p = ((const buffer *)a)->p, *q = ((const buffer *)b)->p;
    return p < q ? -1 : p > q;
}

static void thousands_of_live_buffers_never_overlap(void)
{
    static buffer sorted[MOST];
    const int most = (int)test_count(2500, MOST);
    meta_mem_desc before = META_MEM_DESC_INIT, after = META_MEM_DESC_INIT;
    CHECK_OK(meta_mem_info(device_index, mode, &before));
    for (int k = 0; k < most; ++k) make(&live[k]);
    for (int step = 0; step < 3 * most; ++step) {
        buffer *b = &live[test_random_in(0, most - 1)];
        if (b->p) check_and_free(b);
        else make(b);
    }
    for (int k = 0; k < most; ++k)
        if (!live[k].p) make(&live[k]);
    memcpy(sorted, live, sizeof live);
    qsort(sorted, (size_t)most, sizeof *sorted, by_address);
    for (int k = 1; k < most; ++k) {
        test_case("buffer %d", k);
        CHECK(sorted[k - 1].p + sorted[k - 1].bytes <= sorted[k].p);
    }
    for (int k = 0; k < most; ++k) check_and_free(&live[k]);
    CHECK_OK(meta_mem_info(device_index, mode, &after));
    CHECK_U64(after.buffers, before.buffers);
    CHECK_U64(after.allocated, before.allocated);
}

/* One past an array is what a wrong index gives; a GPU's runtime packs memory without a gap. */
static void the_address_behind_a_buffer_is_no_buffers(void)
{
    enum { COUNT = 40, GRANULE = 512 };
    char *device_memory[COUNT], *host_memory[COUNT];
    for (size_t k = 0; k < COUNT; ++k) {
        CHECK_OK(meta_alloc((void **)&device_memory[k], (k % 4 + 1) * GRANULE));
        CHECK_OK(meta_host_alloc((void **)&host_memory[k], (k % 4 + 1) * GRANULE));
    }
    for (size_t k = 0; k < COUNT; ++k) {
        meta_pointer_desc desc = META_POINTER_DESC_INIT;
        test_case("buffers %zu", k);
        CHECK_ERR_NAMES(meta_pointer_info(device_memory[k] + (k % 4 + 1) * GRANULE, &desc),
                        META_ERR_POINTER, "ptr");
        CHECK_ERR_NAMES(meta_pointer_info(host_memory[k] + (k % 4 + 1) * GRANULE, &desc),
                        META_ERR_POINTER, "ptr");
    }
    for (size_t k = 0; k < COUNT; ++k) {
        CHECK_OK(meta_free(device_memory[k]));
        CHECK_OK(meta_host_free(host_memory[k]));
    }
}

static void a_freed_address_is_recognised_until_it_is_issued_again(void)
{
    enum { BYTES = 4096 };
    char *first, *p = NULL;
    const double value = 1;
    CHECK_OK(meta_alloc((void **)&first, BYTES));
    CHECK_OK(meta_free(first));
    CHECK_ERR_NAMES(meta_fill(first + 8, 1, &value, META_F64, NULL), META_ERR_POINTER, "freed");
    CHECK_ERR_NAMES(meta_free(first), META_ERR_POINTER, "freed");
    /* Sooner or later the address comes again, and then it is a buffer like any other. */
    for (int k = 0; k < 100 && p != first; ++k) {
        CHECK_OK(meta_alloc((void **)&p, BYTES));
        if (p == first) CHECK_OK(meta_fill(first + 8, 1, &value, META_F64, NULL));
        CHECK_OK(meta_free(p));
    }
}

/* As long as the pool keeps its memory; what went back to the system may be the program's own. */
static void what_was_freed_is_no_host_memory_either(void)
{
    static const size_t sizes[] = {64, 1000, 4096, 100000, 3 << 20};
    const double value = 1;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    char *good;
    CHECK_OK(meta_pool_info(device_index, mode, &pool));
    if (pool.limit < 4 << 20) return; /* it keeps nothing */
    CHECK_OK(meta_alloc((void **)&good, 4 << 20));
    CHECK_OK(meta_fill(good, (4 << 20) / 8, &value, META_F64, NULL));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const meta_box line = {1, {(int64_t)sizes[k] / 8}, {0}, {(int64_t)sizes[k] / 8}};
        char *p;
        test_case("%zu bytes", sizes[k]);
        CHECK_OK(meta_alloc((void **)&p, sizes[k]));
        CHECK_OK(meta_label(p, "gone"));
        CHECK_OK(meta_free(p));
        CHECK_ERR_NAMES(meta_copy_h2d(good, p, sizes[k], NULL), META_ERR_POINTER, "'src'");
        CHECK_CONTAINS(meta_last_error(), "was freed (\"gone\", allocated at ");
        CHECK_ERR_NAMES(meta_copy_d2h(p + 8, good, 1, NULL), META_ERR_POINTER, "'dst'");
        CHECK_ERR_NAMES(meta_copy_d2h(p - 8, good, 9, NULL), META_ERR_POINTER, "'dst'");
        CHECK_ERR_NAMES(meta_fill(good, 1, p, META_F64, NULL), META_ERR_POINTER, "'value'");
        CHECK_ERR_NAMES(meta_reduce(p, good, &line, META_SUM, META_F64, NULL), META_ERR_POINTER,
                        "'result'");
    }
    CHECK_OK(meta_free(good));
}

/* ------------------------------------------------------------------ accounts */

static void memory_in_use_and_its_peak_are_counted(void)
{
    meta_mem_desc start = META_MEM_DESC_INIT, now = META_MEM_DESC_INIT;
    void *p, *q, *host;
    CHECK_OK(meta_mem_info(device_index, mode, &start));
    CHECK(start.total > 0);
    CHECK_OK(meta_alloc(&p, 3000000));
    CHECK_OK(meta_alloc(&q, 5000000));
    CHECK_OK(meta_host_alloc(&host, 1000));
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, start.allocated + 8000000);
    CHECK_U64(now.buffers, start.buffers + 2);
    CHECK(now.peak >= now.allocated);
    CHECK_OK(meta_free(q));
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, start.allocated + 3000000);
    CHECK(now.peak >= start.allocated + 8000000);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_host_free(host));
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, start.allocated);
    CHECK_U64(now.buffers, start.buffers);
}

static void a_refused_allocation_is_not_counted(void)
{
    meta_mem_desc start = META_MEM_DESC_INIT, now = META_MEM_DESC_INIT;
    void *p = &p;
    CHECK_OK(meta_mem_info(device_index, mode, &start));
    CHECK_ERR(meta_alloc(&p, (size_t)1 << 56), META_ERR_NO_MEMORY);
    CHECK(p == &p);
    CHECK_OK(meta_mem_info(device_index, mode, &now));
    CHECK_U64(now.allocated, start.allocated);
    CHECK_U64(now.buffers, start.buffers);
    CHECK_U64(now.peak, start.peak);
}

/* ------------------------------------------------------------------ where the host may look */

static void read_a_byte(void *address)
{
    const volatile unsigned char *byte = address;
    (void)*byte;
}

static void a_host_access_to_device_memory_faults(void)
{
    char *p;
    CHECK_OK(meta_alloc((void **)&p, 100000));
    /* HIP-CPU plays a GPU in the host's own memory. */
    if (!device.is_host && strncmp(device.driver, "HIP-CPU", 7) != 0) {
        CHECK_INT(test_child(read_a_byte, p, NULL, 0).signal, SIGSEGV);
        CHECK_INT(test_child(read_a_byte, p + 99999, NULL, 0).signal, SIGSEGV);
    }
    CHECK_OK(meta_free(p));
}

static void host_memory_of_the_library_serves_as_any_other(void)
{
    enum { COUNT = 1000 };
    double *host, *p, found[COUNT];
    CHECK_OK(meta_host_alloc((void **)&host, sizeof found));
    CHECK_OK(meta_alloc((void **)&p, sizeof found));
    for (int k = 0; k < COUNT; ++k) host[k] = k;
    CHECK_OK(meta_copy_h2d(p, host, sizeof found, NULL));
    memset(host, 0, sizeof found);
    CHECK_OK(meta_copy_d2h(host, p, sizeof found, NULL));
    for (int k = 0; k < COUNT; ++k) found[k] = k;
    CHECK_ARRAY(host, found, COUNT, META_F64);
    CHECK_ERR_NAMES(meta_copy_d2d(p, host, 8, NULL), META_ERR_POINTER, "meta_host_alloc");
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_host_free(host));
}

/* ------------------------------------------------------------------ wrapped arrays of the host */

static void a_wrapped_array_is_the_buffer_itself(void)
{
    enum { COUNT = 5000 };
    static double array[COUNT], expected[COUNT];
    const meta_box middle = {1, {COUNT}, {100}, {4000}};
    const double seven = 7;
    void *p = NULL;
    double sum = 0;
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    if (!device.is_host) return;
    for (int k = 0; k < COUNT; ++k) array[k] = k;
    CHECK_OK(meta_wrap(&p, array, sizeof array, META_NATIVE_HOST));
    CHECK(p == array);
    CHECK_OK(meta_pointer_info(array + 3, &desc));
    CHECK(desc.kind == META_MEMORY_WRAPPED && desc.offset == 24);
    CHECK_OK(meta_reduce(&sum, array, &middle, META_MAX, META_F64, NULL));
    CHECK_NEAR(sum, 3999, 0);
    CHECK_OK(meta_fill_box(array, &middle, &seven, META_F64, NULL));
    for (int k = 0; k < COUNT; ++k) expected[k] = k >= 100 && k < 4000 ? 7 : k;
    CHECK_ARRAY(array, expected, COUNT, META_F64);
    CHECK_OK(meta_copy_d2h(expected, array, sizeof array, NULL));
    CHECK_ARRAY(array, expected, COUNT, META_F64);
    CHECK_OK(meta_unwrap(array));
    CHECK_ARRAY(array, expected, COUNT, META_F64);
    CHECK_ERR_NAMES(meta_fill_box(array, &middle, &seven, META_F64, NULL), META_ERR_POINTER, "buf");
    CHECK_ERR_NAMES(meta_unwrap(array), META_ERR_POINTER, "ptr");
}

static void parts_of_an_array_can_be_wrapped_but_never_overlap(void)
{
    static double array[300];
    void *p = NULL, *q = NULL, *none = &p;
    if (!device.is_host) return;
    CHECK_OK(meta_wrap(&p, array, 100 * sizeof *array, META_NATIVE_HOST));
    CHECK_OK(meta_wrap(&q, array + 100, 100 * sizeof *array, META_NATIVE_OBJECT));
    CHECK(p == array && q == array + 100);
    for (int at = 0; at < 200; at += 50)
        CHECK_ERR(meta_wrap(&none, array + at, 8, META_NATIVE_HOST), META_ERR_OVERLAP);
    CHECK_ERR(meta_wrap(&none, array + 150, 100 * sizeof *array, META_NATIVE_HOST),
              META_ERR_OVERLAP);
    CHECK_ERR(meta_wrap(&none, array, sizeof array, META_NATIVE_HOST), META_ERR_OVERLAP);
    CHECK(none == &p);
    CHECK_ERR_NAMES(meta_copy_d2d(p, q, 101 * sizeof *array, NULL), META_ERR_BOUNDS, "dst");
    CHECK_OK(meta_copy_d2d(p, q, 100 * sizeof *array, NULL));
    CHECK_OK(meta_unwrap(p));
    CHECK_OK(meta_wrap(&p, array, 50 * sizeof *array, META_NATIVE_HOST));
    CHECK_OK(meta_unwrap(p));
    CHECK_OK(meta_unwrap(q));
}

/* Back ends count elements from the beginning of a buffer. */
static void elements_lie_whole_from_the_beginning_of_a_wrapped_array(void)
{
    static _Alignas(8) unsigned char array[88];
    static const unsigned char untouched[sizeof array];
    const double one = 1;
    void *p;
    if (!device.is_host) return;
    CHECK_OK(meta_wrap(&p, array + 4, 80, META_NATIVE_HOST));
    CHECK_ERR_NAMES(meta_fill(array + 8, 1, &one, META_F64, NULL), META_ERR_ALIGNMENT, "buf");
    CHECK_ERR_NAMES(meta_fill(array + 4, 1, &one, META_F64, NULL), META_ERR_ALIGNMENT, "buf");
    CHECK_ARRAY(array, untouched, sizeof array, META_U8);
    CHECK_OK(meta_copy_d2d(array + 4, array + 12, 8, NULL)); /* bytes may lie anywhere */
    CHECK_OK(meta_unwrap(p));
}

static void host_memory_ends_where_it_was_asked_to_end(void)
{
    char *host, *p;
    CHECK_OK(meta_host_alloc((void **)&host, 64));
    CHECK_OK(meta_alloc((void **)&p, 128));
    CHECK_OK(meta_copy_h2d(p, host, 64, NULL));
    CHECK_ERR_NAMES(meta_copy_h2d(p, host, 65, NULL), META_ERR_BOUNDS, "src");
    CHECK_ERR_NAMES(meta_copy_d2h(host + 60, p, 5, NULL), META_ERR_BOUNDS, "dst");
    CHECK_ERR_NAMES(meta_copy_d2h(host - 1, p, 2, NULL), META_ERR_BOUNDS, "dst");
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_host_free(host));
}

static void a_host_array_wraps_only_on_a_host_device(void)
{
    static double array[10];
    void *p = NULL;
    if (device.is_host || mode == META_AUTO) { /* openmp is one of its devices here */
        CHECK_OK(meta_wrap(&p, array, sizeof array, META_NATIVE_HOST));
        CHECK(p == array);
        CHECK_OK(meta_unwrap(p));
        return;
    }
    CHECK_ERR_NAMES(meta_wrap(&p, array, sizeof array, META_NATIVE_HOST), META_ERR_POINTER,
                    "native");
    CHECK(p == NULL);
}

TEST_MAIN_WITH(&setting, PROMISE(any_byte_of_a_buffer_can_be_addressed),
               PROMISE(buffers_are_aligned_for_every_type_and_to_64_bytes),
               PROMISE(an_address_gives_its_buffer_and_offset),
               PROMISE(checking_is_switched_by_a_word),
               PROMISE(thousands_of_live_buffers_never_overlap),
               PROMISE(the_address_behind_a_buffer_is_no_buffers),
               PROMISE(a_freed_address_is_recognised_until_it_is_issued_again),
               PROMISE(what_was_freed_is_no_host_memory_either),
               PROMISE(memory_in_use_and_its_peak_are_counted),
               PROMISE(a_refused_allocation_is_not_counted),
               PROMISE(a_host_access_to_device_memory_faults),
               PROMISE(host_memory_of_the_library_serves_as_any_other),
               PROMISE(a_wrapped_array_is_the_buffer_itself),
               PROMISE(parts_of_an_array_can_be_wrapped_but_never_overlap),
               PROMISE(elements_lie_whole_from_the_beginning_of_a_wrapped_array),
               PROMISE(host_memory_ends_where_it_was_asked_to_end),
               PROMISE(a_host_array_wraps_only_on_a_host_device))
