/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_errors.c
 *  Misuse of every public function of meta.h: the right code, a message that names the function and
 *  the argument, nothing written, and a library that works as before. */
/* TEST: backends=openmp,opencl timeout=120 labels=core smoke=yes */
#include "test.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ what calls are made with */

enum { NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ };
static const size_t bytes = CELLS * sizeof(double);

static const meta_box good_box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static meta_face good_face;
static void *a, *b;          /* buffers of CELLS doubles on the device of META_MODE */
static void *freed;          /* was one */
static void *foreign;        /* host memory of malloc() */
static void *page_locked;    /* of meta_host_alloc() */
static void *elsewhere;      /* a buffer on another device, NULL where there is none */
static double pattern[CELLS]; /* what a and b hold */
static double stack[CELLS];
static const double one = 1;

/* Outputs: after a refused call they are what they were. */
static const meta_event untouched_event = {0x5eed, 0xfeed};
static meta_event done;
static double result;
static void *out_pointer;
static int out_int;
static int64_t out_int64;
static size_t out_size;
static meta_mode out_mode, mode;
static meta_face out_face;

static void set_outputs(void)
{
    done = untouched_event;
    result = -1234.5;
    out_pointer = &out_pointer;
    out_int = out_mode = -77;
    out_int64 = -77;
    out_size = 77;
    out_face = (meta_face){.start = -77, .count = -7};
}

static void check_outputs(void)
{
    CHECK(done.slot == untouched_event.slot && done.generation == untouched_event.generation);
    CHECK(memcmp(&result, &(double){-1234.5}, sizeof result) == 0);
    CHECK(out_pointer == &out_pointer);
    CHECK(out_int == -77 && out_mode == -77 && out_int64 == -77 && out_size == 77);
    CHECK(out_face.start == -77 && out_face.count == -7);
}

/* A call was refused as it should be. */
static void refused(meta_err found, meta_err expected, const char *function, const char *argument,
                    int line)
{
    const char *message = meta_last_error();
    const size_t length = strlen(function);
    if (found != expected)
        test_fail(__FILE__, line, "%s gives %s\n    expected %s\n    message: %s", function,
                  meta_strerror(found), meta_strerror(expected), message);
    else if (strncmp(message, function, length) != 0 || message[length] != ':')
        test_fail(__FILE__, line, "the message does not begin with %s: but is: %s", function, message);
    else if (argument && !strstr(message, argument))
        test_fail(__FILE__, line, "the message does not name %s: %s", argument, message);
    check_outputs();
}

/* REFUSED(code, "argument", function, arguments…) */
#define REFUSED(code, argument, function, ...) \
    (set_outputs(), refused(function(__VA_ARGS__), code, #function, argument, __LINE__))

/* ------------------------------------------------------------------ wrong arguments, in lists */

typedef struct wrong_pointer {
    const char *what;
    void *ptr;
    meta_err code;
} wrong_pointer;
static wrong_pointer wrong_buffers[16], wrong_hosts[8];
static size_t wrong_buffer_count, wrong_byte_count, wrong_host_count;

static void list_wrong_pointers(void)
{
    const wrong_pointer buffers[] = {
        {"NULL", NULL, META_ERR_ARGUMENT},
        {"freed", freed, META_ERR_POINTER},
        {"into a freed one", (char *)freed + 8, META_ERR_POINTER},
        {"on the stack", &freed, META_ERR_POINTER},
        {"static", stack, META_ERR_POINTER},
        {"of malloc()", foreign, META_ERR_POINTER},
        {"of meta_host_alloc()", page_locked, META_ERR_POINTER},
        {"one past the end", (char *)a + bytes, META_ERR_POINTER},
        {"one byte before", (char *)a - 1, META_ERR_POINTER},
        {"at the last element", (char *)a + bytes - sizeof(double), META_ERR_BOUNDS},
        {"the last address", (void *)UINTPTR_MAX, META_ERR_POINTER},
        {"misaligned", (char *)a + 1, META_ERR_ALIGNMENT},
    };
    const wrong_pointer hosts[] = {
        {"NULL", NULL, META_ERR_ARGUMENT},
        {"a buffer", a, META_ERR_POINTER},
        {"the middle of a buffer", (char *)b + 16, META_ERR_POINTER},
    };
    wrong_buffer_count = sizeof buffers / sizeof *buffers;
    wrong_byte_count = wrong_buffer_count - 1;
    wrong_host_count = sizeof hosts / sizeof *hosts;
    memcpy(wrong_buffers, buffers, sizeof buffers);
    memcpy(wrong_hosts, hosts, sizeof hosts);
}

#define EACH_WRONG(list, count, argument, function, ...)                                     \
    for (size_t each = 0; each < (count); ++each) {                                          \
        void *const wrong = (list)[each].ptr;                                                \
        test_case("%s: '%s' is %s", #function, argument, (list)[each].what);                 \
        REFUSED((list)[each].code, argument, function, __VA_ARGS__);                         \
    }
/* In the arguments of the function, `wrong` stands for what is wrong. */
#define WRONG_BUFFERS(argument, function, ...) \
    EACH_WRONG(wrong_buffers, wrong_buffer_count, argument, function, __VA_ARGS__)
#define WRONG_BYTES(argument, function, ...) /* where every address is aligned */ \
    EACH_WRONG(wrong_buffers, wrong_byte_count, argument, function, __VA_ARGS__)
#define WRONG_HOSTS(argument, function, ...) \
    EACH_WRONG(wrong_hosts, wrong_host_count, argument, function, __VA_ARGS__)

typedef struct wrong_box {
    char what[64];
    meta_box box;
    meta_err code;
    bool of_buffer; /* the box itself is sound, the buffer is too small for it */
} wrong_box;
static wrong_box wrong_boxes[64];
static size_t wrong_box_count;

static meta_box *add_box(meta_err code, bool of_buffer, const char *what, int dimension)
{
    wrong_box *w = &wrong_boxes[wrong_box_count++];
    *w = (wrong_box){.box = good_box, .code = code, .of_buffer = of_buffer};
    snprintf(w->what, sizeof w->what, "%s, dimension %d", what, dimension);
    return &w->box;
}

static void list_wrong_boxes(void)
{
    static const int dimensions[] = {0, -1, META_MAX_DIM + 1, INT_MAX, INT_MIN};
    wrong_box_count = 0;
    for (size_t k = 0; k < sizeof dimensions / sizeof *dimensions; ++k)
        add_box(META_ERR_ARGUMENT, false, "wrong number of dimensions", -1)->ndim = dimensions[k];
    for (int d = 0; d < 3; ++d) {
        meta_box *box;
        add_box(META_ERR_BOUNDS, false, "leaves the array at the low side", d)->start[d] = -1;
        add_box(META_ERR_BOUNDS, false, "starts at INT64_MIN", d)->start[d] = INT64_MIN;
        ++add_box(META_ERR_BOUNDS, false, "leaves the array at the high side", d)->end[d];
        wrong_boxes[wrong_box_count - 1].box.end[d] = good_box.size[d] + 1;
        add_box(META_ERR_BOUNDS, false, "ends at INT64_MAX", d)->end[d] = INT64_MAX;
        add_box(META_ERR_BOUNDS, false, "ends before it starts", d)->end[d] = 0;
        add_box(META_ERR_BOUNDS, false, "has a negative extent", d)->size[d] = -good_box.size[d];
        add_box(META_ERR_OVERFLOW, false, "has too many elements", d)->size[d] = INT64_MAX / 8;
        add_box(META_ERR_OVERFLOW, false, "has an extent of INT64_MAX", d)->size[d] = INT64_MAX;
        box = add_box(META_ERR_BOUNDS, true, "is larger than the buffer", d);
        box->size[d] = 8 * good_box.size[d];
        box->start[d] = 8 * good_box.size[d] - 3;
        box->end[d] = 8 * good_box.size[d] - 1;
    }
}

#define WRONG_BOXES(argument, buffer, function, ...)                                            \
    for (size_t each = 0; each < wrong_box_count; ++each) {                                     \
        const meta_box *const wrong = &wrong_boxes[each].box;                                   \
        test_case("%s: '%s' %s", #function, argument, wrong_boxes[each].what);                  \
        REFUSED(wrong_boxes[each].code, wrong_boxes[each].of_buffer ? buffer : argument,        \
                function, __VA_ARGS__);                                                         \
    }

typedef struct wrong_face {
    char what[64];
    meta_face face;
    meta_err code;
    bool of_buffer;
} wrong_face;
static wrong_face wrong_faces[64];
static size_t wrong_face_count;

static meta_face *add_face(meta_err code, bool of_buffer, const char *what, int level)
{
    wrong_face *w = &wrong_faces[wrong_face_count++];
    *w = (wrong_face){.face = good_face, .code = code, .of_buffer = of_buffer};
    snprintf(w->what, sizeof w->what, "%s, level %d", what, level);
    return &w->face;
}

static void list_wrong_faces(void)
{
    static const int counts[] = {0, -1, META_MAX_DIM + 1, INT_MAX, INT_MIN};
    wrong_face_count = 0;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k)
        add_face(META_ERR_ARGUMENT, false, "wrong number of levels", -1)->count = counts[k];
    add_face(META_ERR_BOUNDS, true, "starts before the buffer", -1)->start = -1;
    add_face(META_ERR_BOUNDS, true, "starts at INT64_MIN", -1)->start = INT64_MIN;
    add_face(META_ERR_BOUNDS, true, "starts behind the buffer", -1)->start = CELLS;
    add_face(META_ERR_OVERFLOW, false, "starts at INT64_MAX", -1)->start = INT64_MAX;
    for (int k = 0; k < 3; ++k) {
        add_face(META_ERR_ARGUMENT, false, "has a negative size", k)->size[k] = -1;
        add_face(META_ERR_ARGUMENT, false, "has a size of INT64_MIN", k)->size[k] = INT64_MIN;
        add_face(META_ERR_BOUNDS, true, "leaves the buffer backwards", k)->stride[k] = -CELLS;
        add_face(META_ERR_BOUNDS, true, "leaves the buffer forwards", k)->stride[k] = CELLS;
        add_face(META_ERR_OVERFLOW, false, "has a stride of INT64_MAX", k)->stride[k] = INT64_MAX;
        add_face(META_ERR_OVERFLOW, false, "has a stride of INT64_MIN", k)->stride[k] = INT64_MIN;
        add_face(META_ERR_OVERFLOW, false, "has a size of INT64_MAX", k)->size[k] = INT64_MAX;
    }
}

#define WRONG_FACES(function, ...)                                                             \
    for (size_t each = 0; each < wrong_face_count; ++each) {                                   \
        const meta_face *const wrong = &wrong_faces[each].face;                                \
        test_case("%s: 'face' %s", #function, wrong_faces[each].what);                         \
        REFUSED(wrong_faces[each].code, wrong_faces[each].of_buffer ? "buf" : "face",          \
                function, __VA_ARGS__);                                                        \
    }

static const int unknown[] = {-1, META_TYPE_COUNT, 1000, INT_MAX, INT_MIN};
#define WRONG_TYPES(function, ...)                                             \
    for (size_t each = 0; each < sizeof unknown / sizeof *unknown; ++each) {   \
        const meta_type wrong = (meta_type)unknown[each];                      \
        test_case("%s: 'type' is %d", #function, unknown[each]);               \
        REFUSED(META_ERR_TYPE, "type", function, __VA_ARGS__);                 \
    }
#define NO_ARITHMETIC(function, ...)                                                            \
    for (meta_type wrong = META_I16; wrong <= META_U8; wrong = (meta_type)((int)wrong + 1)) {   \
        test_case("%s: 'type' is %d", #function, (int)wrong);                                   \
        REFUSED(META_ERR_TYPE, "type", function, __VA_ARGS__);                                  \
    }
#define WRONG_ENUM(type, count, argument, function, ...)                               \
    for (size_t each = 0; each < 4; ++each) {                                          \
        const type wrong = (type)(const int[]){-1, count, 1000, INT_MAX}[each];        \
        test_case("%s: '%s' is %d", #function, argument, (int)wrong);                  \
        REFUSED(META_ERR_ARGUMENT, argument, function, __VA_ARGS__);                   \
    }
#define WRONG_DEVICES(function, before, after)                                              \
    do {                                                                                    \
        test_case("%s: wrong device", #function);                                           \
        REFUSED(META_ERR_ARGUMENT, "mode", function, 0, -1 after);                          \
        REFUSED(META_ERR_ARGUMENT, "mode", function, 0, 1000 after);                        \
        REFUSED(META_ERR_UNSUPPORTED, "mode", function, 0, META_AUTO after);                \
        REFUSED(META_ERR_NO_DEVICE, "index", function, -1, mode after);                     \
        REFUSED(META_ERR_NO_DEVICE, "index", function, 1000, mode after);                   \
        REFUSED(META_ERR_NO_DEVICE, "index", function, INT_MAX, mode after);                \
        REFUSED(META_ERR_NO_DEVICE, "cuda", function, 0, META_CUDA after);                  \
    } while (0)
