/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_misuse.c
 *  Memory errors that META_CHECK=1 detects: each one here gives an error of the right kind that
 *  names the buffers by label and source line, none ends the process, and the library remains
 *  usable. A correct program gets no error. */
/* TEST: backends=all auto=yes labels=core with=CHECK=1 smoke=yes */
#include "config.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

enum { N = 8, CELLS = N * N * N };
static const size_t bytes = CELLS * sizeof(double);
static const meta_box whole = {3, {N, N, N}, {0, 0, 0}, {N, N, N}};
static const meta_box inside = {3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};
static double ones[CELLS];

/* ------------------------------------------------------------------ buffers and their lines */

static char place[64];

static void *buffer(const char *label)
{
    void *p = NULL;
    CHECK_OK(meta_alloc(&p, bytes)), snprintf(place, sizeof place, "test_misuse.c:%d", __LINE__);
    CHECK_OK(meta_label(p, label));
    CHECK_OK(meta_copy_h2d(p, ones, bytes, NULL));
    return p;
}

/* The last call was refused with words about the buffer called @p label. */
static void names(const char *label)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, "(\"%s\", allocated at ", label);
    CHECK_CONTAINS(meta_last_error(), wanted);
    CHECK_CONTAINS(meta_last_error(), place);
}

#define FOUND(call, code, label)                                                                   \
    do {                                                                                           \
        CHECK_ERR(call, code);                                                                     \
        names(label);                                                                              \
    } while (0)

/* The device that holds a buffer; with META_MODE=auto that is after meta_native(). */
static meta_device *device_of(const void *p)
{
    meta_pointer_desc where = META_POINTER_DESC_INIT;
    meta_device *device = NULL;
    meta_mode mode;
    int index;
    CHECK_OK(meta_pointer_info(p, &where));
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_set_acc(where.index, where.mode));
    CHECK_OK(meta_core_table.current_device(&device));
    CHECK_OK(meta_set_acc(index, mode));
    return device;
}

/* Write to a device's memory as a kernel of the application's own does: by the native object,
 * without a check. @p at counts from the buffer's first byte. */
static void write_natively(void *p, int64_t at, size_t count)
{
    static unsigned char any[CELLS * sizeof(double)];
    meta_span span = {.room = count};
    size_t offset;
    memset(any, 0x3c, sizeof any);
    CHECK_OK(meta_native(p, &span.object, &offset));
    /* Before an object that is an address. */
    if (at < 0 && offset < (size_t)-at) span.object = (char *)span.object + at;
    else span.offset = (uint64_t)((int64_t)offset + at);
    CHECK_OK(meta_core_table.copy(device_of(p), META_QUEUE_COMPUTE, META_COPY_H2D, any, &span,
                                  count, NULL));
}

/* Nothing is left over from a misuse. */
static void all_is_well(void)
{
    double sum = 0;
    CHECK_OK(meta_flush());
    void *p = buffer("afterwards");
    CHECK_OK(meta_reduce(&sum, p, &whole, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, CELLS, 0);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_flush());
}

/* ------------------------------------------------------------------ beside a buffer */

static void writing_a_byte_behind_a_buffer(void)
{
    void *p = buffer("overrun");
    write_natively(p, (int64_t)bytes, 1);
    FOUND(meta_free(p), META_ERR_BOUNDS, "overrun");
    CHECK_CONTAINS(meta_last_error(), ": byte 1 behind its last one");
    all_is_well();
}

static void writing_a_byte_before_a_buffer(void)
{
    void *p = buffer("underrun");
    write_natively(p, -1, 1);
    FOUND(meta_free(p), META_ERR_BOUNDS, "underrun");
    CHECK_CONTAINS(meta_last_error(), ": byte 1 before its first one");
    all_is_well();
}

static void writing_a_row_too_much(void)
{
    void *p = buffer("row"), *q = buffer("neighbour");
    write_natively(p, (int64_t)bytes, N * sizeof(double));
    FOUND(meta_flush(), META_ERR_BOUNDS, "row");
    CHECK_CONTAINS(meta_last_error(), "bytes 1 to 64 behind");
    CHECK_OK(meta_flush()); /* told once */
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    all_is_well();
}

static void writing_far_before_a_buffer(void)
{
    void *p = buffer("plane");
    write_natively(p, -(int64_t)(N * N * sizeof(double)), 8);
    FOUND(meta_flush(), META_ERR_BOUNDS, "plane");
    CHECK_CONTAINS(meta_last_error(), "bytes 505 to 512 before");
    CHECK_OK(meta_free(p));
    all_is_well();
}

static void writing_behind_what_is_computed_with_next(void)
{
    void *p = buffer("operand");
    double sum = 0;
    write_natively(p, (int64_t)bytes + 100, 4);
    FOUND(meta_reduce(&sum, p, &whole, META_SUM, META_F64, NULL), META_ERR_BOUNDS, "operand");
    CHECK_OK(meta_free(p));
    all_is_well();
}

static void writing_behind_pinned_host_memory(void)
{
    char *host;
    CHECK_OK(meta_host_alloc((void **)&host, 100));
    snprintf(place, sizeof place, "test_misuse.c:%d", __LINE__ - 1);
    CHECK_OK(meta_label(host, "pinned"));
    memset(host, 0, 101);
    FOUND(meta_host_free(host), META_ERR_BOUNDS, "pinned");
    all_is_well();
}

static void writing_before_pinned_host_memory(void)
{
    char *host;
    CHECK_OK(meta_host_alloc((void **)&host, 100));
    snprintf(place, sizeof place, "test_misuse.c:%d", __LINE__ - 1);
    CHECK_OK(meta_label(host, "pinned"));
    memset(host - 8, 0, 8);
    FOUND(meta_flush(), META_ERR_BOUNDS, "pinned");
    CHECK_OK(meta_host_free(host));
    all_is_well();
}

/* What meta_finalize() returns; the library is started again. */
static meta_err end_and_start(char *message, size_t room)
{
    const meta_err error = meta_finalize();
    snprintf(message, room, "%s", meta_last_error());
    test_require_device();
    return error;
}

static void writing_behind_a_buffer_until_the_end(void)
{
    char message[1024];
    void *p = buffer("to the end");
    write_natively(p, (int64_t)bytes, 1);
    CHECK_INT(end_and_start(message, sizeof message), META_ERR_BOUNDS);
    CHECK_CONTAINS(message, "\"to the end\"");
    CHECK_CONTAINS(message, place);
    all_is_well();
}

/* ------------------------------------------------------------------ after a buffer's life */

/* The native object outlives the buffer while that is in quarantine. */
static void write_later(const char *label, void (*free_it)(void *))
{
    static double value = 1; /* read when the copy runs */
    meta_span span = {.room = 8};
    size_t offset;
    void *p = buffer(label);
    CHECK_OK(meta_native(p, &span.object, &offset));
    span.offset = offset + 80;
    meta_device *device = device_of(p);
    free_it(p);
    CHECK_OK(
        meta_core_table.copy(device, META_QUEUE_COMPUTE, META_COPY_H2D, &value, &span, 8, NULL));
}

static void give_back(void *p)
{
    CHECK_OK(meta_free(p));
}

static void a_kernel_that_writes_to_a_freed_buffer(void)
{
    write_later("late write", give_back);
    FOUND(meta_flush(), META_ERR_POINTER, "late write");
    CHECK_CONTAINS(meta_last_error(), ", freed at ");
    CHECK_CONTAINS(meta_last_error(), "bytes 80 to 87");
    all_is_well();
}

/* The only one that has been freed, or the oldest. */
static void a_write_to_the_first_of_all_freed_buffers(void)
{
    char message[1024];
    CHECK_OK(end_and_start(message, sizeof message));
    write_later("the first", give_back);
    FOUND(meta_flush(), META_ERR_POINTER, "the first");
    write_later("the oldest", give_back);
    CHECK_OK(meta_free(buffer("another")));
    CHECK_ERR_NAMES(meta_flush(), META_ERR_POINTER, "\"the oldest\"");
    all_is_well();
}

static void a_write_to_a_freed_buffer_before_the_end(void)
{
    char message[1024];
    write_later("very late", give_back);
    CHECK_INT(end_and_start(message, sizeof message), META_ERR_POINTER);
    CHECK_CONTAINS(message, "\"very late\"");
    all_is_well();
}

static void a_write_to_a_freed_buffer_whose_memory_goes_on(void)
{
    bool found = false;
    write_later("passed on", give_back);
    for (int k = 0; k < 400 && !found; ++k) {
        void *p = NULL;
        CHECK_OK(meta_alloc(&p, 100));
        const meta_err error = meta_free(p);
        found = error == META_ERR_POINTER;
        if (!found) CHECK_OK(error);
    }
    CHECK(found);
    names("passed on");
    all_is_well();
}

/* The call returns what it found first, with its message, and not that of the second mistake. */
static void two_mistakes_that_one_call_finds(void)
{
    const size_t large = (size_t)64 << 20; /* as much as quarantine holds */
    void *p = NULL;
    write_later("in quarantine", give_back);
    CHECK_OK(meta_alloc(&p, large)), snprintf(place, sizeof place, "test_misuse.c:%d", __LINE__);
    CHECK_OK(meta_label(p, "large"));
    write_natively(p, (int64_t)large, 1);
    FOUND(meta_free(p), META_ERR_BOUNDS, "large");
    CHECK_CONTAINS(meta_last_error(), ": byte 1 behind its last one");
    all_is_well();
}

static void computing_with_a_freed_buffer(void)
{
    double sum = -7;
    void *p = buffer("was read");
    CHECK_OK(meta_free(p));
    FOUND(meta_reduce(&sum, p, &whole, META_SUM, META_F64, NULL), META_ERR_POINTER, "was read");
    CHECK_CONTAINS(meta_last_error(), ", freed at ");
    CHECK_NEAR(sum, -7, 0);
    all_is_well();
}

static void filling_a_freed_buffer(void)
{
    void *p = buffer("was written");
    CHECK_OK(meta_free(p));
    FOUND(meta_fill((char *)p + 64, 1, ones, META_F64, META_ASYNC), META_ERR_POINTER,
          "was written");
    all_is_well();
}

static void freeing_twice(void)
{
    void *p = buffer("twice");
    CHECK_OK(meta_free(p));
    FOUND(meta_free(p), META_ERR_POINTER, "twice");
    CHECK_CONTAINS(meta_last_error(), ", freed at ");
    all_is_well();
}

static void freeing_from_the_middle(void)
{
    char *p = buffer("middle");
    FOUND(meta_free(p + 64), META_ERR_POINTER, "middle");
    CHECK_OK(meta_free(p));
    all_is_well();
}

static void unwrapping_an_allocation(void)
{
    void *p = buffer("no wrap");
    FOUND(meta_unwrap(p), META_ERR_POINTER, "no wrap");
    CHECK_OK(meta_free(p));
    all_is_well();
}

/* ------------------------------------------------------------------ wrong operands */

static void operands_of_two_devices(void)
{
    meta_mode mode;
    int index;
    CHECK_OK(meta_get_acc(&index, &mode));
    if (meta_set_acc(0, mode == META_OPENMP ? META_OPENCL : META_OPENMP) != META_OK) return;
    void *there = buffer("there");
    CHECK_OK(meta_set_acc(index, mode));
    void *here = buffer("here");
    FOUND(meta_copy_d2d(here, there, 8, NULL), META_ERR_WRONG_DEVICE, "here");
    names("there");
    CHECK_OK(meta_free(here));
    CHECK_OK(meta_free(there));
    all_is_well();
}

static void a_host_array_as_a_buffer(void)
{
    CHECK_ERR_NAMES(meta_fill(ones, 1, ones, META_F64, NULL), META_ERR_POINTER, "'buf'");
    all_is_well();
}

static void a_buffer_as_a_host_array(void)
{
    void *p = buffer("device side"), *q = buffer("other");
    FOUND(meta_copy_h2d(q, p, bytes, NULL), META_ERR_POINTER, "device side");
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    all_is_well();
}

static void a_box_larger_than_its_buffer(void)
{
    const meta_box larger = {3, {N, N, N + 1}, {0, 0, 0}, {N, N, N + 1}};
    double sum;
    void *p = buffer("small");
    FOUND(meta_reduce(&sum, p, &larger, META_SUM, META_F64, NULL), META_ERR_BOUNDS, "small");
    CHECK_OK(meta_free(p));
    all_is_well();
}

static void a_face_that_begins_before_its_buffer(void)
{
    const meta_face face = {.start = 3, .count = 1, .size = {5}, .stride = {-1}};
    void *p = buffer("field"), *packed = buffer("packed");
    FOUND(meta_pack_face(packed, p, &face, META_F64, NULL), META_ERR_BOUNDS, "field");
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(packed));
    all_is_well();
}

static void a_stencil_without_ghost_cells(void)
{
    void *out = buffer("out"), *in = buffer("in");
    CHECK_ERR_NAMES(meta_stencil(out, in, &whole, META_3D7P, META_F64, NULL, NULL), META_ERR_BOUNDS,
                    "'box'");
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    all_is_well();
}

static void a_copy_onto_itself(void)
{
    char *p = buffer("shifted");
    FOUND(meta_copy_d2d(p + 8, p, 16, NULL), META_ERR_OVERLAP, "shifted");
    CHECK_OK(meta_free(p));
    all_is_well();
}

/* ------------------------------------------------------------------ results among what is read */

static void a_reduction_into_what_it_reads(void)
{
    char *p = buffer("its own sum");
    FOUND(meta_reduce(p + 80, p, &whole, META_SUM, META_F64, NULL), META_ERR_OVERLAP,
          "its own sum");
    CHECK_CONTAINS(meta_last_error(), "byte 80 ");
    CHECK_OK(meta_free(p));
    all_is_well();
}

static void a_dot_product_into_one_of_its_vectors(void)
{
    char *a = buffer("a"), *b = buffer("b");
    FOUND(meta_dot(b + 8, a, b, &whole, META_F64, NULL), META_ERR_OVERLAP, "b");
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    all_is_well();
}

static void a_stencils_sum_into_a_ghost_cell_that_it_reads(void)
{
    char *out = buffer("out"), *in = buffer("in");
    const int64_t ghost = (3 * N + 3) * (int64_t)sizeof(double); /* x = 3, y = 3 in plane 0 */
    FOUND(meta_stencil(out, in, &inside, META_3D7P, META_F64, in + ghost, NULL), META_ERR_OVERLAP,
          "in");
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    all_is_well();
}

static void a_stencils_sum_among_its_new_values(void)
{
    char *out = buffer("out"), *in = buffer("in");
    const int64_t cell = ((2 * N + 2) * N + 2) * (int64_t)sizeof(double);
    FOUND(meta_stencil(out, in, &inside, META_3D27P, META_F64, out + cell, NULL), META_ERR_OVERLAP,
          "out");
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    all_is_well();
}

/* ------------------------------------------------------------------ changes while a kernel runs */

/* How the device takes host memory as its own: HIP-CPU, like a GPU, as an object of its own. */
static meta_native_kind kind_of_host_memory(void)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index;
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_device_info(index, mode, &device));
    return strncmp(device.driver, "HIP-CPU", 7) == 0 ? META_NATIVE_OBJECT : META_NATIVE_HOST;
}

/* @p room bytes of memory at two addresses, each a buffer; false where the device does not take
 * host memory as its own. */
static bool view_twice(char *view[2], char *mapped[2], size_t room)
{
    const meta_native_kind kind = kind_of_host_memory();
    const int file = memfd_create("two views", 0);
    if (!CHECK(file >= 0 && ftruncate(file, (off_t)room) == 0)) return false;
    for (int k = 0; k < 2; ++k) {
        mapped[k] = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        CHECK(mapped[k] != MAP_FAILED);
    }
    close(file);
    if (meta_wrap((void **)&view[0], mapped[0], room, kind) != META_OK) return false;
    CHECK_OK(meta_wrap((void **)&view[1], mapped[1], room, kind));
    snprintf(place, sizeof place, "test_misuse.c:%d", __LINE__ - 1);
    CHECK_OK(meta_label(view[1], "second view"));
    return true;
}

/* What the copy writes to one buffer changes the other one, which it only reads. */
static void write_to_both(size_t room, const char *words)
{
    char *view[2], *mapped[2];
    const bool taken = view_twice(view, mapped, room);
    if (taken) {
        memset(mapped[0] + room / 2, 7, 64);
        CHECK_ERR(meta_copy_d2d(view[0], view[1] + room / 2, 64, NULL), META_ERR_DEVICE);
        CHECK_CONTAINS(meta_last_error(), "while copy ran");
        CHECK_CONTAINS(meta_last_error(), words);
        CHECK_CONTAINS(meta_last_error(), "(\"second view\", wrapped at ");
        CHECK_CONTAINS(meta_last_error(), place);
        /* A copy within one of them is nothing that the other takes part in. */
        CHECK_OK(meta_copy_d2d(view[0], view[0] + room / 2, 64, NULL));
        for (int k = 0; k < 2; ++k) CHECK_OK(meta_unwrap(view[k]));
    }
    for (int k = 0; k < 2; ++k) munmap(mapped[k], room);
    all_is_well();
}

static void two_buffers_of_the_same_memory(void)
{
    write_to_both(1 << 16, " byte 0 of the buffer");
}

static void two_long_buffers_of_the_same_memory(void)
{
    write_to_both(65 << 20, " a byte from 0 to 262143 of the buffer");
}

/* ------------------------------------------------------------------ a program without a fault */

/* Everything once, results in unused cells of the operands' own buffers included. */
static void a_correct_program_gets_no_report(void)
{
    static double found[CELLS];
    const double half = 0.5;
    meta_face face;
    meta_event event;
    char *a = buffer("a"), *b = buffer("b");
    CHECK_OK(meta_stencil(b, a, &inside, META_3D7P, META_F64, b, NULL));
    CHECK_OK(meta_copy_d2h(found, b, bytes, NULL));
    CHECK_NEAR(found[0], (N - 2) * (N - 2) * (N - 2), 0);
    CHECK_OK(meta_reduce(a, a, &inside, META_SUM, META_F64, &event));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_axpy(a, &half, a, &whole, META_F64, META_ASYNC));
    CHECK_OK(meta_axpy(a, &half, b, &inside, META_F64, META_ASYNC));
    CHECK_OK(meta_face_slab(&face, &inside, 0, META_SLAB_LOW, 1));
    CHECK_OK(meta_pack_face(b, a, &face, META_F64, META_ASYNC));
    CHECK_OK(meta_unpack_face(a, b, &face, META_F64, META_ASYNC));
    CHECK_OK(meta_copy_d2d(a + 64, a, 64, META_ASYNC));
    CHECK_OK(meta_copy_box(b, &inside, a, &inside, META_F64, META_ASYNC));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    all_is_well();
}

/* Guards, poison and quarantine show only where checks are on. */
static void new_memory_holds_the_poison_pattern(void)
{
    double found[16];
    void *p = NULL;
    CHECK_OK(meta_alloc(&p, sizeof found));
    CHECK_OK(meta_copy_d2h(found, p, sizeof found, NULL));
    for (int k = 0; k < 16; ++k) CHECK(found[k] != found[k]);
    CHECK_OK(meta_free(p));
}

static void start(int *argc, char ***argv)
{
    for (int k = 0; k < CELLS; ++k) ones[k] = 1;
    test_device.start(argc, argv);
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

TEST_MAIN_WITH(
    &setting, PROMISE(writing_a_byte_behind_a_buffer), PROMISE(writing_a_byte_before_a_buffer),
    PROMISE(writing_a_row_too_much), PROMISE(writing_far_before_a_buffer),
    PROMISE(writing_behind_what_is_computed_with_next), PROMISE(writing_behind_pinned_host_memory),
    PROMISE(writing_before_pinned_host_memory), PROMISE(writing_behind_a_buffer_until_the_end),
    PROMISE(a_kernel_that_writes_to_a_freed_buffer),
    PROMISE(a_write_to_the_first_of_all_freed_buffers),
    PROMISE(a_write_to_a_freed_buffer_before_the_end),
    PROMISE(a_write_to_a_freed_buffer_whose_memory_goes_on),
    PROMISE(two_mistakes_that_one_call_finds), PROMISE(computing_with_a_freed_buffer),
    PROMISE(filling_a_freed_buffer), PROMISE(freeing_twice), PROMISE(freeing_from_the_middle),
    PROMISE(unwrapping_an_allocation), PROMISE(operands_of_two_devices),
    PROMISE(a_host_array_as_a_buffer), PROMISE(a_buffer_as_a_host_array),
    PROMISE(a_box_larger_than_its_buffer), PROMISE(a_face_that_begins_before_its_buffer),
    PROMISE(a_stencil_without_ghost_cells), PROMISE(a_copy_onto_itself),
    PROMISE(a_reduction_into_what_it_reads), PROMISE(a_dot_product_into_one_of_its_vectors),
    PROMISE(a_stencils_sum_into_a_ghost_cell_that_it_reads),
    PROMISE(a_stencils_sum_among_its_new_values), PROMISE(two_buffers_of_the_same_memory),
    PROMISE(two_long_buffers_of_the_same_memory), PROMISE(a_correct_program_gets_no_report),
    PROMISE(new_memory_holds_the_poison_pattern))
