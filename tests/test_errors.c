/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_errors.c
 *  Misuse of every public function of meta.h: the right error code, a message that names the
 *  function and the argument, no output written, and a library that remains usable. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
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
static void *a, *b;           /* buffers of CELLS doubles on the device of META_MODE */
static void *freed;           /* was one */
static void *foreign;         /* host memory of malloc() */
static void *page_locked;     /* of meta_host_alloc() */
static void *elsewhere;       /* a buffer on another device, NULL if there is none */
static double pattern[CELLS]; /* what a and b hold */
static double stack[CELLS];
static const double one = 1;
static const int no_ghosts[META_MAX_DIM] = {0};

/* Outputs: after a refused call they are what they were. */
static const meta_event untouched_event = {0x5eed, 0xfeed};
static meta_event done;
static double result;
static void *out_pointer;
static int out_int;
static int64_t out_int64;
static size_t out_size;
static meta_mode out_mode, mode;
static int cuda_devices; /* how many there are: this index is the first that is refused */
static meta_face out_face;
static meta_box out_box;

static void set_outputs(void)
{
    done = untouched_event;
    result = -1234.5;
    out_pointer = &out_pointer;
    out_int = out_mode = -77;
    out_int64 = -77;
    out_size = 77;
    out_face = (meta_face){.start = -77, .count = -7};
    out_box = (meta_box){.ndim = -7, .size = {-77}};
}

static void check_outputs(void)
{
    CHECK(done.slot == untouched_event.slot && done.generation == untouched_event.generation);
    CHECK(memcmp(&result, &(double){-1234.5}, sizeof result) == 0);
    CHECK(out_pointer == &out_pointer);
    CHECK(out_int == -77 && out_mode == -77 && out_int64 == -77 && out_size == 77);
    CHECK(out_face.start == -77 && out_face.count == -7);
    CHECK(out_box.ndim == -7 && out_box.size[0] == -77 && out_box.end[0] == 0);
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
        test_fail(__FILE__, line, "the message does not begin with %s: but is: %s", function,
                  message);
    else if (argument && !strstr(message, argument))
        test_fail(__FILE__, line, "the message does not name %s: %s", argument, message);
    check_outputs();
}

/* REFUSED(code, "argument", function, arguments…) */
#define REFUSED(code, argument, function, ...)                                                     \
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

#define EACH_WRONG(list, count, argument, function, ...)                                           \
    for (size_t each = 0; each < (count); ++each) {                                                \
        void *const wrong = (list)[each].ptr;                                                      \
        test_case("%s: '%s' is %s", #function, argument, (list)[each].what);                       \
        REFUSED((list)[each].code, argument, function, __VA_ARGS__);                               \
    }
/* In the arguments of the function, `wrong` stands for what is wrong. */
#define WRONG_BUFFERS(argument, function, ...)                                                     \
    EACH_WRONG(wrong_buffers, wrong_buffer_count, argument, function, __VA_ARGS__)
#define WRONG_BYTES(argument, function, ...) /* where every address is aligned */                  \
    EACH_WRONG(wrong_buffers, wrong_byte_count, argument, function, __VA_ARGS__)
#define WRONG_HOSTS(argument, function, ...)                                                       \
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
        box = add_box(META_ERR_BOUNDS, false, "leaves the array at the high side", d);
        box->end[d] = box->size[d] + 1;
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

#define WRONG_BOXES(argument, buffer, function, ...)                                               \
    for (size_t each = 0; each < wrong_box_count; ++each) {                                        \
        const meta_box *const wrong = &wrong_boxes[each].box;                                      \
        test_case("%s: '%s' %s", #function, argument, wrong_boxes[each].what);                     \
        REFUSED(wrong_boxes[each].code, wrong_boxes[each].of_buffer ? buffer : argument, function, \
                __VA_ARGS__);                                                                      \
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
        add_face(META_ERR_OVERFLOW, false, "has a size of INT64_MAX", k)->size[k] = INT64_MAX;
    }
}

#define WRONG_FACES(function, ...)                                                                 \
    for (size_t each = 0; each < wrong_face_count; ++each) {                                       \
        const meta_face *const wrong = &wrong_faces[each].face;                                    \
        test_case("%s: 'face' %s", #function, wrong_faces[each].what);                             \
        REFUSED(wrong_faces[each].code, wrong_faces[each].of_buffer ? "buf" : "face", function,    \
                __VA_ARGS__);                                                                      \
    }

static const int unknown[] = {-1, META_TYPE_COUNT, 1000, INT_MAX, INT_MIN};
#define WRONG_TYPES(function, ...)                                                                 \
    for (size_t each = 0; each < sizeof unknown / sizeof *unknown; ++each) {                       \
        const meta_type wrong = (meta_type)unknown[each];                                          \
        test_case("%s: 'type' is %d", #function, unknown[each]);                                   \
        REFUSED(META_ERR_TYPE, "type", function, __VA_ARGS__);                                     \
    }
#define NO_ARITHMETIC(function, ...)                                                               \
    for (meta_type wrong = META_I16; wrong <= META_U8; wrong = (meta_type)((int)wrong + 1)) {      \
        test_case("%s: 'type' is %d", #function, (int)wrong);                                      \
        REFUSED(META_ERR_TYPE, "type", function, __VA_ARGS__);                                     \
    }
#define WRONG_ENUM(type, count, argument, function, ...)                                           \
    for (size_t each = 0; each < 4; ++each) {                                                      \
        const type wrong = (type)(const int[]){-1, count, 1000, INT_MAX}[each];                    \
        test_case("%s: '%s' is %d", #function, argument, (int)wrong);                              \
        REFUSED(META_ERR_ARGUMENT, argument, function, __VA_ARGS__);                               \
    }
/* Of functions whose first two arguments are a device's index and mode. */
#define WRONG_DEVICES(function, last)                                                              \
    do {                                                                                           \
        REFUSED(META_ERR_ARGUMENT, "mode", function, 0, -1, last);                                 \
        REFUSED(META_ERR_ARGUMENT, "mode", function, 0, META_SPREAD, last);                        \
        REFUSED(META_ERR_ARGUMENT, "mode", function, 0, 1000, last);                               \
        REFUSED(META_ERR_NO_DEVICE, "index", function, 1, META_AUTO, last);                        \
        REFUSED(META_ERR_NO_DEVICE, "index", function, -1, mode, last);                            \
        REFUSED(META_ERR_NO_DEVICE, "index", function, 1000, mode, last);                          \
        REFUSED(META_ERR_NO_DEVICE, "index", function, INT_MAX, mode, last);                       \
        REFUSED(META_ERR_NO_DEVICE, "cuda", function, cuda_devices, META_CUDA, last);              \
    } while (0)
/* Of functions that fill in a descriptor `desc`, whose size must be set. */
#define WRONG_DESCS(Desc, argument, function, ...)                                                 \
    do {                                                                                           \
        Desc *desc = NULL, unset = {0}, small;                                                     \
        REFUSED(META_ERR_ARGUMENT, argument, function, __VA_ARGS__);                               \
        desc = &unset;                                                                             \
        REFUSED(META_ERR_ARGUMENT, argument, function, __VA_ARGS__);                               \
        CHECK(memcmp(&unset, &(Desc){0}, sizeof unset) == 0);                                      \
        memset(&small, 0x5a, sizeof small);                                                        \
        small.size = sizeof small.size;                                                            \
        desc = &small;                                                                             \
        REFUSED(META_ERR_ARGUMENT, argument, function, __VA_ARGS__);                               \
        CHECK(((unsigned char *)desc)[sizeof small - 1] == 0x5a);                                  \
    } while (0)

/* ------------------------------------------------------------------ around every promise */

static void begin(void)
{
    test_require_device();
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_OK(meta_device_count(META_CUDA, &cuda_devices));
    for (int k = 0; k < CELLS; ++k) pattern[k] = 1 + k % 17;
    CHECK_OK(meta_face_box(&good_face, &good_box));
    CHECK_OK(meta_alloc(&a, bytes));
    CHECK_OK(meta_alloc(&b, bytes));
    CHECK_OK(meta_copy_h2d(a, pattern, bytes, NULL));
    CHECK_OK(meta_copy_h2d(b, pattern, bytes, NULL));
    CHECK_OK(meta_host_alloc(&page_locked, bytes));
    foreign = malloc(bytes);
    elsewhere = test_alloc_elsewhere(mode, bytes);
    CHECK_OK(meta_alloc(&freed, bytes));
    CHECK_OK(meta_free(freed));
    list_wrong_pointers();
    list_wrong_boxes();
    list_wrong_faces();
    set_outputs();
}

static void check_buffer_untouched(const void *buffer)
{
    double found[CELLS];
    if (CHECK_OK(meta_copy_d2h(found, buffer, bytes, NULL)))
        CHECK_ARRAY(found, pattern, CELLS, META_F64);
}

/* A small computation, to see that the library works as before. */
static void check_works(void)
{
    const double two = 2;
    double found[CELLS], sum = 0, expected = 0;
    for (int k = 0; k < CELLS; ++k) expected += 2 * pattern[k];
    const meta_box all = {3, {NX, NY, NZ}, {0}, {NX, NY, NZ}};
    meta_event event = META_EVENT_NULL;
    CHECK_OK(meta_fill(b, CELLS, &two, META_F64, META_ASYNC));
    CHECK_OK(meta_dot(&sum, a, b, &all, META_F64, &event));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_NEAR(sum, expected, 1e-14);
    CHECK_OK(meta_pack_face(b, a, &(meta_face){0, 1, {CELLS}, {1}}, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(found, b, bytes, NULL));
    CHECK_ARRAY(found, pattern, CELLS, META_F64);
}

static void end(void)
{
    test_case("after the misuse");
    CHECK_OK(meta_flush());
    check_buffer_untouched(a);
    check_buffer_untouched(b);
    check_works();
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
    CHECK_OK(meta_host_free(page_locked));
    if (elsewhere) CHECK_OK(meta_free(elsewhere));
    free(foreign);
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ before the start, after the
 * end */

/* In this list stands every function that needs a started library. */
static void refuse_everything(void)
{
#define UNSTARTED(function, ...) REFUSED(META_ERR_INIT, NULL, function, __VA_ARGS__)
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_backend_desc backend = META_BACKEND_DESC_INIT;
    meta_pointer_desc pointer = META_POINTER_DESC_INIT;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    meta_state state = META_STATE_INIT;
    meta_event event = {0, 1};
    const meta_event none = META_EVENT_NULL;
    const int64_t size[2] = {2, 2};
    meta_grid_field out_field = {.type = META_F64};
    void *const p = stack, *const q = stack + 8;
    set_outputs();
    refused(meta_finalize(), META_ERR_INIT, "meta_finalize", NULL, __LINE__);
    refused(meta_flush(), META_ERR_INIT, "meta_flush", NULL, __LINE__);
    UNSTARTED(meta_backend_count, &out_int);
    UNSTARTED(meta_backend_info, 0, &backend);
    UNSTARTED(meta_mode_find, "openmp", &out_mode);
    UNSTARTED(meta_device_count, META_OPENMP, &out_int);
    UNSTARTED(meta_device_info, 0, META_OPENMP, &device);
    UNSTARTED(meta_set_acc, 0, META_OPENMP);
    UNSTARTED(meta_get_acc, &out_int, &out_mode);
    UNSTARTED(meta_set_job, 0, 1, 0, 1);
    UNSTARTED(meta_rank_device, 0, 1, 0, 1, &out_mode, &out_int, NULL);
    UNSTARTED(meta_alloc, &out_pointer, 8);
    UNSTARTED(meta_grid_alloc, &out_pointer, &out_box, 2, size, no_ghosts, no_ghosts, META_F64);
    UNSTARTED(meta_grid_family, &out_field, 1, &out_box, 2, size, no_ghosts, no_ghosts);
    UNSTARTED(meta_grid_shape, p, &good_box, META_F64);
    UNSTARTED(meta_free, p);
    UNSTARTED(meta_host_alloc, &out_pointer, 8);
    UNSTARTED(meta_host_free, p);
    UNSTARTED(meta_copy_h2d, p, q, 8, &done);
    UNSTARTED(meta_copy_d2h, p, q, 8, &done);
    UNSTARTED(meta_copy_d2d, p, q, 8, &done);
    UNSTARTED(meta_copy_box, p, &good_box, q, &good_box, META_F64, &done);
    UNSTARTED(meta_copy_box_h2d, p, &good_box, q, &good_box, META_F64, &done);
    UNSTARTED(meta_copy_box_d2h, p, &good_box, q, &good_box, META_F64, &done);
    UNSTARTED(meta_fill, p, 1, &one, META_F64, &done);
    UNSTARTED(meta_fill_box, p, &good_box, &one, META_F64, &done);
    UNSTARTED(meta_wrap, &out_pointer, p, 8, META_NATIVE_HOST);
    UNSTARTED(meta_unwrap, p);
    UNSTARTED(meta_pointer_info, p, &pointer);
    UNSTARTED(meta_label, p, "name");
    UNSTARTED(meta_mem_info, 0, META_OPENMP, &memory);
    UNSTARTED(meta_pool_info, 0, META_OPENMP, &pool);
    UNSTARTED(meta_pool_trim, 0, META_OPENMP, 0);
    UNSTARTED(meta_pool_limit, 0, META_OPENMP, 0);
    UNSTARTED(meta_event_test, none, &out_int);
    UNSTARTED(meta_event_wait, none);
    UNSTARTED(meta_event_waitall, 1, &none);
    UNSTARTED(meta_event_then, none, NULL, NULL);
    UNSTARTED(meta_event_free, &event);
    UNSTARTED(meta_get_state, 0, META_OPENMP, &state);
    UNSTARTED(meta_set_state, 0, META_OPENMP, &state);
    UNSTARTED(meta_native, p, &out_pointer, &out_size);
    UNSTARTED(meta_native_end, p);
    UNSTARTED(meta_set_policy, "cost", META_POLICY_THREAD);
    UNSTARTED(meta_set_policy_function, NULL, NULL, META_POLICY_THREAD);
    UNSTARTED(meta_host_view, p, &out_pointer);
    UNSTARTED(meta_face_make, &out_face, 0, 1, size, size);
    UNSTARTED(meta_face_slab, &out_face, &good_box, 0, META_SLAB_LOW, 1);
    UNSTARTED(meta_face_box, &out_face, &good_box);
    UNSTARTED(meta_face_elements, &good_face, &out_int64);
    UNSTARTED(meta_pack_face, p, q, &good_face, META_F64, &done);
    UNSTARTED(meta_unpack_face, p, q, &good_face, META_F64, &done);
    UNSTARTED(meta_transpose_face, p, q, size, META_F64, &done);
    UNSTARTED(meta_stencil, p, q, &good_box, META_3D7P, META_F64, NULL, &done);
    UNSTARTED(meta_reduce, &result, p, &good_box, META_SUM, META_F64, &done);
    UNSTARTED(meta_stencil_sums, p, q, &good_box, META_3D7P, META_F64, NULL, &result, 1, &good_box,
              &done);
    UNSTARTED(meta_reduce_boxes, &result, 1, 1, &p, 1, &good_box, META_SUM, META_F64, &done);
    UNSTARTED(meta_dot, &result, p, q, &good_box, META_F64, &done);
    UNSTARTED(meta_axpy, p, &one, q, &good_box, META_F64, &done);
    UNSTARTED(meta_set_reproducible, 1);
    UNSTARTED(meta_get_reproducible, &out_int);
    UNSTARTED(meta_range_push, "range");
    refused(meta_range_pop(), META_ERR_INIT, "meta_range_pop", NULL, __LINE__);
    refused(meta_timers_print(), META_ERR_INIT, "meta_timers_print", NULL, __LINE__);
    refused(meta_timers_finalize(), META_ERR_STATE, "meta_timers_finalize", NULL, __LINE__);
    CHECK(memcmp(stack, (const double[CELLS]){0}, sizeof stack) == 0);
    CHECK(event.slot == 0 && event.generation == 1);
}

static void calls_before_the_start_are_refused(void)
{
    test_case("before meta_init");
    refuse_everything();
}

static void calls_after_the_end_are_refused(void)
{
    begin();
    end();
    test_case("after meta_finalize");
    refuse_everything();
    CHECK_ERR_NAMES(meta_flush(), META_ERR_INIT, "meta_init");
}

static void starting_twice_is_refused(void)
{
    begin();
    refused(meta_init(), META_ERR_STATE, "meta_init", NULL, __LINE__);
    end();
}

/* ------------------------------------------------------------------ errors, variables, devices */

static void an_error_code_out_of_range_has_a_text(void)
{
    CHECK(meta_strerror((meta_err)-1) && meta_strerror(META_ERR_COUNT));
    CHECK(meta_strerror((meta_err)INT_MAX) && meta_last_error());
    CHECK_OK(meta_version(NULL, NULL, NULL));
}

static void variables_and_types_are_refused_by_name(void)
{
    set_outputs();
    REFUSED(META_ERR_ARGUMENT, "count", meta_variable_count, NULL);
    WRONG_DESCS(meta_variable_desc, "desc", meta_variable_info, 0, desc);
    meta_variable_desc desc = META_VARIABLE_DESC_INIT;
    REFUSED(META_ERR_ARGUMENT, "index", meta_variable_info, -1, &desc);
    REFUSED(META_ERR_ARGUMENT, "index", meta_variable_info, INT_MAX, &desc);
    CHECK(desc.name == NULL && desc.value == NULL);
    REFUSED(META_ERR_ARGUMENT, "bytes", meta_type_size, META_F64, NULL);
    WRONG_TYPES(meta_type_size, wrong, &out_size);
}

static void back_ends_are_refused_by_name(void)
{
    static char long_name[5000];
    const char *const names[] = {"",        "nonsense", "../openmp", "openmp.so",
                                 "OpenMPI", "openmp:0", long_name};
    begin();
    memset(long_name, 'n', sizeof long_name - 1);
    REFUSED(META_ERR_ARGUMENT, "count", meta_backend_count, NULL);
    WRONG_DESCS(meta_backend_desc, "desc", meta_backend_info, 0, desc);
    meta_backend_desc desc = META_BACKEND_DESC_INIT;
    REFUSED(META_ERR_ARGUMENT, "index", meta_backend_info, -1, &desc);
    REFUSED(META_ERR_ARGUMENT, "index", meta_backend_info, INT_MAX, &desc);
    CHECK(desc.name[0] == '\0' && desc.mode == 0);
    REFUSED(META_ERR_ARGUMENT, "name", meta_mode_find, NULL, &out_mode);
    REFUSED(META_ERR_ARGUMENT, "mode", meta_mode_find, "openmp", NULL);
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        test_case("\"%.20s\"", names[k]);
        REFUSED(META_ERR_NO_DEVICE, "name", meta_mode_find, names[k], &out_mode);
    }
    end();
}

static void devices_are_refused_by_name(void)
{
    begin();
    REFUSED(META_ERR_ARGUMENT, "count", meta_device_count, mode, NULL);
    REFUSED(META_ERR_ARGUMENT, "mode", meta_device_count, -1, &out_int);
    REFUSED(META_ERR_ARGUMENT, "mode", meta_device_count, 1000, &out_int);
    WRONG_DESCS(meta_device_desc, "desc", meta_device_info, 0, mode, desc);
    meta_device_desc device = META_DEVICE_DESC_INIT;
    WRONG_DEVICES(meta_device_info, &device);
    CHECK(device.name[0] == '\0' && device.memory == 0);
    WRONG_DESCS(meta_mem_desc, "desc", meta_mem_info, 0, mode, desc);
    meta_mem_desc memory = META_MEM_DESC_INIT;
    WRONG_DEVICES(meta_mem_info, &memory);
    meta_pool_desc pool = META_POOL_DESC_INIT;
    WRONG_DESCS(meta_pool_desc, "desc", meta_pool_info, 0, mode, desc);
    WRONG_DEVICES(meta_pool_info, &pool);
    WRONG_DEVICES(meta_pool_trim, 0);
    WRONG_DEVICES(meta_pool_limit, 0);
    REFUSED(META_ERR_NO_DEVICE, "index", meta_pool_trim, -1, mode, 0);
    REFUSED(META_ERR_NO_DEVICE, "index", meta_pool_limit, 1000, mode, 0);
    CHECK(memory.total == 0);
    end();
}

static void a_refused_choice_leaves_the_threads_device(void)
{
    meta_mode now = -1;
    begin();
    REFUSED(META_ERR_ARGUMENT, "mode", meta_set_acc, 0, -1);
    REFUSED(META_ERR_ARGUMENT, "mode", meta_set_acc, 0, 1000);
    REFUSED(META_ERR_NO_DEVICE, "index", meta_set_acc, 1, META_AUTO);
    REFUSED(META_ERR_ARGUMENT, "index", meta_set_acc, 1, META_SPREAD);
    REFUSED(META_ERR_NO_DEVICE, "index", meta_set_acc, -1, mode);
    REFUSED(META_ERR_NO_DEVICE, "index", meta_set_acc, 1000, mode);
    REFUSED(META_ERR_NO_DEVICE, "cuda", meta_set_acc, cuda_devices, META_CUDA);
    REFUSED(META_ERR_ARGUMENT, "mode", meta_get_acc, NULL, NULL);
    CHECK_OK(meta_get_acc(NULL, &now));
    CHECK_INT(now, mode);
    end();
}

static void a_process_outside_the_job_is_rejected(void)
{
    static const struct {
        int rank, size, node_rank, node_size;
        const char *argument;
    } wrong[] = {{0, 0, 0, 1, "size"},       {0, -1, 0, 1, "size"},      {-1, 1, 0, 1, "rank"},
                 {1, 1, 0, 1, "rank"},       {0, 2, -1, 1, "node_rank"}, {0, 2, 1, 1, "node_rank"},
                 {0, 2, 0, 0, "node_size"},  {0, 2, 0, 3, "node_size"},  {INT_MAX, 1, 0, 1, "rank"},
                 {0, 2, 0, -1, "node_size"}, {INT_MIN, 1, 0, 1, "rank"}};
    begin();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        test_case("line %zu", k);
        REFUSED(META_ERR_ARGUMENT, wrong[k].argument, meta_set_job, wrong[k].rank, wrong[k].size,
                wrong[k].node_rank, wrong[k].node_size);
        REFUSED(META_ERR_ARGUMENT, wrong[k].argument, meta_rank_device, wrong[k].rank,
                wrong[k].size, wrong[k].node_rank, wrong[k].node_size, &out_mode, &out_int, NULL);
    }
    REFUSED(META_ERR_STATE, NULL, meta_set_job, 0, 1, 0, 1);
    end();
}

/* ------------------------------------------------------------------ memory */

static void allocations_are_refused_by_name(void)
{
    static const size_t too_many[] = {SIZE_MAX, SIZE_MAX - 4096, (size_t)PTRDIFF_MAX + 1};
    begin();
    REFUSED(META_ERR_ARGUMENT, "ptr", meta_alloc, NULL, 8);
    REFUSED(META_ERR_ARGUMENT, "bytes", meta_alloc, &out_pointer, 0);
    REFUSED(META_ERR_ARGUMENT, "ptr", meta_host_alloc, NULL, 8);
    REFUSED(META_ERR_ARGUMENT, "bytes", meta_host_alloc, &out_pointer, 0);
    for (size_t k = 0; k < sizeof too_many / sizeof *too_many; ++k) {
        REFUSED(META_ERR_OVERFLOW, "bytes", meta_alloc, &out_pointer, too_many[k]);
        REFUSED(META_ERR_OVERFLOW, "bytes", meta_host_alloc, &out_pointer, too_many[k]);
    }
    REFUSED(META_ERR_NO_MEMORY, "bytes", meta_alloc, &out_pointer, PTRDIFF_MAX - 4096);
    REFUSED(META_ERR_NO_MEMORY, "bytes", meta_alloc, &out_pointer, (size_t)1 << 55);
    REFUSED(META_ERR_OVERFLOW, "bytes", meta_host_alloc, &out_pointer, PTRDIFF_MAX);
    REFUSED(META_ERR_NO_MEMORY, "bytes", meta_host_alloc, &out_pointer, (size_t)1 << 55);
    end();
}

static void grids_are_refused_by_name(void)
{
    static const int64_t n[META_MAX_DIM] = {4, 4, 4}, negative[] = {4, -1, 4};
    static const int64_t far[] = {INT64_MAX - 70, 2, 2}, vast[] = {1 << 19, 1 << 19, 1 << 18};
    static const int ghosts[META_MAX_DIM] = {1, 1, 1}, wrong[] = {1, 1, -1};
    void **p = &out_pointer;
    meta_box *box = &out_box;
    begin();
    REFUSED(META_ERR_ARGUMENT, "ptr", meta_grid_alloc, NULL, box, 3, n, ghosts, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "box", meta_grid_alloc, p, NULL, 3, n, ghosts, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "ndim", meta_grid_alloc, p, box, 0, n, ghosts, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "ndim", meta_grid_alloc, p, box, -1, n, ghosts, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "ndim", meta_grid_alloc, p, box, META_MAX_DIM + 1, n, ghosts, ghosts,
            META_F64);
    REFUSED(META_ERR_ARGUMENT, "cells", meta_grid_alloc, p, box, 3, NULL, ghosts, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "low", meta_grid_alloc, p, box, 3, n, NULL, ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "high", meta_grid_alloc, p, box, 3, n, ghosts, NULL, META_F64);
    REFUSED(META_ERR_ARGUMENT, "cells[1] is -1", meta_grid_alloc, p, box, 3, negative, ghosts,
            ghosts, META_F64);
    REFUSED(META_ERR_ARGUMENT, "low[2] is -1", meta_grid_alloc, p, box, 3, n, wrong, ghosts,
            META_F64);
    REFUSED(META_ERR_ARGUMENT, "high[2] is -1", meta_grid_alloc, p, box, 3, n, ghosts, wrong,
            META_F64);
    REFUSED(META_ERR_TYPE, "type", meta_grid_alloc, p, box, 3, n, ghosts, ghosts, META_TYPE_COUNT);
    REFUSED(META_ERR_TYPE, "type", meta_grid_alloc, p, box, 3, n, ghosts, ghosts, (meta_type)-1);
    for (int d = 1; d <= 3; ++d)
        REFUSED(META_ERR_OVERFLOW, "cells", meta_grid_alloc, p, box, d, far, ghosts, ghosts,
                META_F64);
    REFUSED(META_ERR_NO_MEMORY, "bytes", meta_grid_alloc, p, box, 3, vast, ghosts, ghosts, META_U8);
    end();
}

static void families_are_refused_by_name(void)
{
    static const int64_t n[META_MAX_DIM] = {4, 4, 4}, negative[] = {4, -1, 4};
    static const int ghosts[META_MAX_DIM] = {1, 1, 1};
    meta_grid_field f[2] = {{.name = "u", .type = META_F64}, {.name = "u", .type = META_F32}};
    meta_box *box = &out_box;
    begin();
    REFUSED(META_ERR_ARGUMENT, "field", meta_grid_family, NULL, 2, box, 3, n, ghosts, ghosts);
    REFUSED(META_ERR_ARGUMENT, "fields", meta_grid_family, f, 0, box, 3, n, ghosts, ghosts);
    REFUSED(META_ERR_ARGUMENT, "ndim", meta_grid_family, f, 1, box, 0, n, ghosts, ghosts);
    REFUSED(META_ERR_ARGUMENT, "cells[1] is -1", meta_grid_family, f, 1, box, 3, negative, ghosts,
            ghosts);
    REFUSED(META_ERR_ARGUMENT, "both called 'u'", meta_grid_family, f, 2, box, 3, n, ghosts,
            ghosts);
    f[1] = (meta_grid_field){.type = META_TYPE_COUNT};
    REFUSED(META_ERR_TYPE, "field[1].type", meta_grid_family, f, 2, box, 3, n, ghosts, ghosts);
    f[1] = (meta_grid_field){.type = META_F32, .stagger = {0, -2}};
    REFUSED(META_ERR_ARGUMENT, "field[1].stagger[1] is -2", meta_grid_family, f, 2, box, 3, n,
            ghosts, ghosts);
    CHECK(!f[0].ptr && !f[1].ptr);
    REFUSED(META_ERR_ARGUMENT, "ptr", meta_grid_shape, NULL, &good_box, META_F64);
    REFUSED(META_ERR_POINTER, "ptr", meta_grid_shape, freed, &good_box, META_F64);
    REFUSED(META_ERR_POINTER, "ptr", meta_grid_shape, foreign, &good_box, META_F64);
    REFUSED(META_ERR_POINTER, "ptr", meta_grid_shape, page_locked, &good_box, META_F64);
    REFUSED(META_ERR_POINTER, "ptr", meta_grid_shape, (char *)a + 8, &good_box, META_F64);
    REFUSED(META_ERR_TYPE, "type", meta_grid_shape, a, &good_box, META_TYPE_COUNT);
    end();
}

static void what_cannot_be_freed_is_refused_by_name(void)
{
    begin();
    for (size_t k = 0; k < wrong_byte_count; ++k) {
        void *const wrong = wrong_buffers[k].ptr;
        const meta_err code = wrong ? META_ERR_POINTER : META_ERR_ARGUMENT;
        test_case("'ptr' is %s", wrong_buffers[k].what);
        REFUSED(code, "ptr", meta_free, wrong);
        REFUSED(code, "ptr", meta_unwrap, wrong);
        if (wrong != page_locked) REFUSED(code, "ptr", meta_host_free, wrong);
    }
    test_case("of another kind");
    REFUSED(META_ERR_POINTER, "meta_free", meta_unwrap, a);
    REFUSED(META_ERR_POINTER, "meta_free", meta_host_free, a);
    REFUSED(META_ERR_POINTER, "meta_host_free", meta_free, page_locked);
    REFUSED(META_ERR_POINTER, "of meta_host_alloc()", meta_host_free, stack);
    REFUSED(META_ERR_POINTER, "of meta_wrap()", meta_unwrap, stack);
    REFUSED(META_ERR_POINTER, "of meta_alloc()", meta_free, stack);
    REFUSED(META_ERR_POINTER, "beginning", meta_free, (char *)a + 8);
    REFUSED(META_ERR_POINTER, "beginning", meta_host_free, (char *)page_locked + 8);
    end();
}

static void copies_are_refused_by_name(void)
{
    begin();
    WRONG_BYTES("dst", meta_copy_h2d, wrong, stack, 16, &done);
    WRONG_HOSTS("src", meta_copy_h2d, a, wrong, 16, &done);
    WRONG_HOSTS("dst", meta_copy_d2h, wrong, a, 16, &done);
    WRONG_BYTES("src", meta_copy_d2h, stack, wrong, 16, &done);
    WRONG_BYTES("dst", meta_copy_d2d, wrong, b, 16, &done);
    WRONG_BYTES("src", meta_copy_d2d, b, wrong, 16, &done);
    test_case("sizes");
    REFUSED(META_ERR_BOUNDS, "dst", meta_copy_h2d, a, stack, bytes + 1, &done);
    REFUSED(META_ERR_BOUNDS, "src", meta_copy_d2h, stack, a, bytes + 1, &done);
    REFUSED(META_ERR_BOUNDS, "dst", meta_copy_d2d, (char *)a + 1, b, bytes, &done);
    REFUSED(META_ERR_BOUNDS, "src", meta_copy_d2d, a, (char *)b + 1, bytes, &done);
    REFUSED(META_ERR_OVERFLOW, "bytes", meta_copy_h2d, a, stack, SIZE_MAX, &done);
    REFUSED(META_ERR_OVERFLOW, "bytes", meta_copy_d2h, stack, a, SIZE_MAX, &done);
    REFUSED(META_ERR_OVERFLOW, "bytes", meta_copy_d2d, a, b, SIZE_MAX, &done);
    REFUSED(META_ERR_BOUNDS, "dst", meta_copy_h2d, a, stack, PTRDIFF_MAX, META_ASYNC);
    REFUSED(META_ERR_OVERLAP, "src", meta_copy_d2d, a, (char *)a + 8, 16, &done);
    REFUSED(META_ERR_OVERLAP, "src", meta_copy_d2d, a, a, 16, &done);
    if (elsewhere) REFUSED(META_ERR_WRONG_DEVICE, "src", meta_copy_d2d, a, elsewhere, 16, &done);
    end();
}

static void box_copies_are_refused_by_name(void)
{
    meta_box other = good_box, flat = good_box;
    begin();
    ++other.start[1];
    flat.ndim = 2;
    WRONG_BUFFERS("dst", meta_copy_box, wrong, &good_box, b, &good_box, META_F64, &done);
    WRONG_BUFFERS("src", meta_copy_box, a, &good_box, wrong, &good_box, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "dst_box", meta_copy_box, a, NULL, b, &good_box, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "src_box", meta_copy_box, a, &good_box, b, NULL, META_F64, &done);
    WRONG_BOXES("dst_box", "dst", meta_copy_box, a, wrong, b, wrong, META_F64, &done);
    for (size_t k = 0; k < wrong_box_count; ++k) {
        if (wrong_boxes[k].of_buffer) continue;
        test_case("'src_box' %s", wrong_boxes[k].what);
        REFUSED(wrong_boxes[k].code, "src_box", meta_copy_box, a, &good_box, b, &wrong_boxes[k].box,
                META_F64, &done);
    }
    WRONG_TYPES(meta_copy_box, a, &good_box, b, &good_box, wrong, &done);
    test_case("shapes");
    REFUSED(META_ERR_ARGUMENT, "src_box", meta_copy_box, a, &good_box, b, &other, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "src_box", meta_copy_box, a, &good_box, b, &flat, META_F64, &done);
    REFUSED(META_ERR_OVERLAP, "src", meta_copy_box, a, &good_box, a, &good_box, META_F64, &done);
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "src", meta_copy_box, a, &good_box, elsewhere, &good_box,
                META_F64, &done);
    end();
}

static void box_copies_with_the_host_are_refused_by_name(void)
{
    /* Far behind the address, where addresses begin again. */
    meta_box other = good_box, far = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
    const int64_t planes = INT64_MAX / ((int64_t)NX * NY * 8) - 1;
    void *last = (void *)(UINTPTR_MAX - 15);
    ++other.start[1];
    far.size[2] = planes;
    far.start[2] = planes - NZ + 1;
    far.end[2] = planes - 1;
    begin();
    REFUSED(META_ERR_OVERFLOW, "src", meta_copy_box_h2d, a, &good_box, last, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_OVERFLOW, "dst", meta_copy_box_d2h, last, &good_box, a, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_OVERFLOW, "src", meta_copy_box_h2d, a, &good_box,
            (void *)(UINTPTR_MAX / 2 + 4096), &far, META_F64, &done);
    REFUSED(META_ERR_OVERFLOW, "src", meta_copy_h2d, a, last, 32, &done);
    REFUSED(META_ERR_OVERFLOW, "dst", meta_copy_d2h, last, a, 32, &done);
    WRONG_BUFFERS("dst", meta_copy_box_h2d, wrong, &good_box, foreign, &good_box, META_F64, &done);
    WRONG_BUFFERS("src", meta_copy_box_d2h, foreign, &good_box, wrong, &good_box, META_F64, &done);
    WRONG_BOXES("dst_box", "dst", meta_copy_box_h2d, a, wrong, foreign, wrong, META_F64, &done);
    WRONG_TYPES(meta_copy_box_h2d, a, &good_box, foreign, &good_box, wrong, &done);
    WRONG_TYPES(meta_copy_box_d2h, foreign, &good_box, a, &good_box, wrong, &done);
    test_case("boxes and hosts");
    REFUSED(META_ERR_ARGUMENT, "dst_box", meta_copy_box_h2d, a, NULL, foreign, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_ARGUMENT, "src_box", meta_copy_box_h2d, a, &good_box, foreign, &other,
            META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "src_box", meta_copy_box_d2h, foreign, &good_box, a, &other,
            META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "src", meta_copy_box_h2d, a, &good_box, NULL, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_ARGUMENT, "dst", meta_copy_box_d2h, NULL, &good_box, a, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_POINTER, "src", meta_copy_box_h2d, a, &good_box, b, &good_box, META_F64,
            &done);
    REFUSED(META_ERR_POINTER, "dst", meta_copy_box_d2h, b, &good_box, a, &good_box, META_F64,
            &done);
    end();
}

static void fills_are_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("buf", meta_fill, wrong, 2, &one, META_F64, &done);
    WRONG_HOSTS("value", meta_fill, a, CELLS, wrong, META_F64, &done);
    WRONG_TYPES(meta_fill, a, CELLS, &one, wrong, &done);
    WRONG_BUFFERS("buf", meta_fill_box, wrong, &good_box, &one, META_F64, &done);
    WRONG_HOSTS("value", meta_fill_box, a, &good_box, wrong, META_F64, &done);
    WRONG_TYPES(meta_fill_box, a, &good_box, &one, wrong, &done);
    WRONG_BOXES("box", "buf", meta_fill_box, a, wrong, &one, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_fill_box, a, NULL, &one, META_F64, &done);
    test_case("counts");
    REFUSED(META_ERR_ARGUMENT, "count", meta_fill, a, -1, &one, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "count", meta_fill, a, INT64_MIN, &one, META_F64, &done);
    REFUSED(META_ERR_BOUNDS, "buf", meta_fill, a, CELLS + 1, &one, META_F64, &done);
    REFUSED(META_ERR_BOUNDS, "buf", meta_fill, a, INT64_MAX, &one, META_F64, &done);
    end();
}

static void wraps_are_refused_by_name(void)
{
    begin();
    REFUSED(META_ERR_ARGUMENT, "ptr", meta_wrap, NULL, foreign, bytes, META_NATIVE_OBJECT);
    REFUSED(META_ERR_ARGUMENT, "native", meta_wrap, &out_pointer, NULL, bytes, META_NATIVE_OBJECT);
    REFUSED(META_ERR_ARGUMENT, "native", meta_wrap, &out_pointer, NULL, bytes, META_NATIVE_HOST);
    REFUSED(META_ERR_ARGUMENT, "bytes", meta_wrap, &out_pointer, foreign, 0, META_NATIVE_HOST);
    REFUSED(META_ERR_OVERFLOW, "bytes", meta_wrap, &out_pointer, foreign, SIZE_MAX,
            META_NATIVE_HOST);
    REFUSED(META_ERR_OVERFLOW, "native", meta_wrap, &out_pointer, (void *)(UINTPTR_MAX - 15), 32,
            META_NATIVE_HOST);
    WRONG_ENUM(meta_native_kind, META_NATIVE_OBJECT + 1, "kind", meta_wrap, &out_pointer, foreign,
               bytes, wrong);
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    CHECK_OK(meta_device_info(0, mode, &desc));
    if (desc.is_host) {
        REFUSED(META_ERR_OVERLAP, "native", meta_wrap, &out_pointer, a, bytes, META_NATIVE_HOST);
        REFUSED(META_ERR_OVERLAP, "native", meta_wrap, &out_pointer, (char *)a + bytes / 2, bytes,
                META_NATIVE_OBJECT);
        REFUSED(META_ERR_OVERLAP, "native", meta_wrap, &out_pointer, page_locked, bytes,
                META_NATIVE_HOST);
    } else if (mode == META_AUTO) { /* openmp is one of its devices here */
        REFUSED(META_ERR_OVERLAP, "native", meta_wrap, &out_pointer, page_locked, bytes,
                META_NATIVE_HOST);
        REFUSED(META_ERR_UNSUPPORTED, "kind", meta_wrap, &out_pointer, foreign, bytes,
                META_NATIVE_OBJECT);
    } else {
        REFUSED(META_ERR_POINTER, "native", meta_wrap, &out_pointer, foreign, bytes,
                META_NATIVE_HOST);
    }
    end();
}

static int any_choice(const meta_decision *decision, void *user)
{
    (void)decision, (void)user;
    return 0;
}

static void policies_are_refused_by_name(void)
{
    static const char *const words[] = {"", "best", "device:", "type:", "random:x", "cost:1"};
    begin();
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
        REFUSED(META_ERR_ARGUMENT, "policy", meta_set_policy, words[k], META_POLICY_THREAD);
    REFUSED(META_ERR_ARGUMENT, "scope", meta_set_policy, "cost", (meta_policy_scope)2);
    REFUSED(META_ERR_ARGUMENT, "scope", meta_set_policy, NULL, (meta_policy_scope)-1);
    REFUSED(META_ERR_ARGUMENT, "scope", meta_set_policy_function, any_choice, NULL,
            (meta_policy_scope)2);
    end();
}

static void addresses_are_refused_by_name(void)
{
    begin();
    WRONG_DESCS(meta_pointer_desc, "desc", meta_pointer_info, a, desc);
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    for (size_t k = 0; k < wrong_byte_count; ++k) {
        void *const wrong = wrong_buffers[k].ptr;
        const meta_err code = wrong ? META_ERR_POINTER : META_ERR_ARGUMENT;
        if (wrong_buffers[k].code == META_ERR_BOUNDS) continue;
        test_case("'ptr' is %s", wrong_buffers[k].what);
        if (wrong != page_locked) REFUSED(code, "ptr", meta_pointer_info, wrong, &desc);
        if (wrong != page_locked) REFUSED(code, "ptr", meta_label, wrong, "name");
        REFUSED(code, "ptr", meta_native, wrong, &out_pointer, &out_size);
        REFUSED(code, "ptr", meta_native_end, wrong);
        REFUSED(code, "ptr", meta_host_view, wrong, &out_pointer);
    }
    CHECK(desc.base == NULL && desc.bytes == 0 && desc.offset == 0);
    REFUSED(META_ERR_ARGUMENT, "offset", meta_native, a, NULL, NULL);
    REFUSED(META_ERR_ARGUMENT, "host", meta_host_view, a, NULL);
    end();
}

/* ------------------------------------------------------------------ events and states */

static void never_called(void *user, meta_err status)
{
    (void)status;
    *(int *)user = 1;
}

static void no_events_are_refused_by_name(void)
{
    int called = 0;
    begin();
    meta_event stale;
    CHECK_OK(meta_fill(b, CELLS, &one, META_F64, &stale));
    meta_event copy = stale;
    CHECK_OK(meta_event_free(&copy));
    CHECK_OK(meta_copy_h2d(b, pattern, bytes, NULL));
    const meta_event none[] = {stale,         {stale.slot, stale.generation + 1}, {0, 2},
                               {1u << 31, 1}, {UINT32_MAX, UINT32_MAX},           {stale.slot, 0},
                               {77, 0}};
    for (size_t k = 0; k < sizeof none / sizeof *none; ++k) {
        const meta_event list[] = {META_EVENT_NULL, none[k]};
        meta_event handle = none[k];
        if (none[k].slot == 0 && none[k].generation == 0) continue;
        test_case("event {%u, %u}", none[k].slot, none[k].generation);
        REFUSED(META_ERR_HANDLE, "event", meta_event_test, none[k], &out_int);
        REFUSED(META_ERR_HANDLE, "event", meta_event_wait, none[k]);
        REFUSED(META_ERR_HANDLE, "events", meta_event_waitall, 2, list);
        REFUSED(META_ERR_HANDLE, "event", meta_event_then, none[k], never_called, &called);
        REFUSED(META_ERR_HANDLE, "event", meta_event_free, &handle);
        CHECK(handle.slot == none[k].slot && handle.generation == none[k].generation);
    }
    test_case("other arguments");
    CHECK_OK(meta_fill(b, 0, &one, META_F64, &stale));
    REFUSED(META_ERR_ARGUMENT, "complete", meta_event_test, stale, NULL);
    REFUSED(META_ERR_ARGUMENT, "events", meta_event_waitall, 1, NULL);
    REFUSED(META_ERR_ARGUMENT, "function", meta_event_then, stale, NULL, NULL);
    REFUSED(META_ERR_ARGUMENT, "event", meta_event_free, NULL);
    REFUSED(META_ERR_ARGUMENT, "event", meta_event_free, META_ASYNC);
    CHECK_INT(called, 0);
    end();
}

static void states_are_refused_by_name(void)
{
    begin();
    WRONG_DESCS(meta_state, "state", meta_get_state, 0, mode, desc);
    meta_state state = META_STATE_INIT;
    WRONG_DEVICES(meta_get_state, &state);
    CHECK(!state.platform && !state.device && !state.context && !state.queue);
    WRONG_DESCS(meta_state, "state", meta_set_state, 0, mode, desc);
    WRONG_DEVICES(meta_set_state, &state);
    REFUSED(META_ERR_STATE, NULL, meta_set_state, 0, mode, &state);
    end();
}

/* ------------------------------------------------------------------ faces and marshalling */

static void faces_are_refused_by_name(void)
{
    static const int64_t size[META_MAX_DIM] = {2, 3}, stride[META_MAX_DIM] = {1, 2};
    static const int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, 2},
                         large[] = {1 << 30, INT64_MAX / 8};
    begin();
    REFUSED(META_ERR_ARGUMENT, "face", meta_face_make, NULL, 0, 2, size, stride);
    REFUSED(META_ERR_ARGUMENT, "size", meta_face_make, &out_face, 0, 2, NULL, stride);
    REFUSED(META_ERR_ARGUMENT, "stride", meta_face_make, &out_face, 0, 2, size, NULL);
    REFUSED(META_ERR_ARGUMENT, "count", meta_face_make, &out_face, 0, 0, size, stride);
    REFUSED(META_ERR_ARGUMENT, "count", meta_face_make, &out_face, 0, -1, size, stride);
    REFUSED(META_ERR_ARGUMENT, "count", meta_face_make, &out_face, 0, META_MAX_DIM + 1, size,
            stride);
    REFUSED(META_ERR_ARGUMENT, "size", meta_face_make, &out_face, 0, 2, negative, stride);
    REFUSED(META_ERR_OVERFLOW, "size", meta_face_make, &out_face, 0, 2, huge, stride);
    REFUSED(META_ERR_OVERFLOW, "size", meta_face_make, &out_face, 0, 2, large, stride);
    REFUSED(META_ERR_ARGUMENT, "count", meta_face_elements, &good_face, NULL);
    REFUSED(META_ERR_ARGUMENT, "face", meta_face_elements, NULL, &out_int64);
    for (size_t k = 0; k < wrong_face_count; ++k) {
        const wrong_face *w = &wrong_faces[k];
        if (w->of_buffer || w->face.start == INT64_MAX || strstr(w->what, "stride")) continue;
        test_case("'face' %s", w->what);
        REFUSED(w->code, "face", meta_face_elements, &w->face, &out_int64);
    }
    end();
}

static void slabs_are_refused_by_name(void)
{
    begin();
    REFUSED(META_ERR_ARGUMENT, "face", meta_face_slab, NULL, &good_box, 0, META_SLAB_LOW, 1);
    REFUSED(META_ERR_ARGUMENT, "box", meta_face_slab, &out_face, NULL, 0, META_SLAB_LOW, 1);
    REFUSED(META_ERR_ARGUMENT, "face", meta_face_box, NULL, &good_box);
    REFUSED(META_ERR_ARGUMENT, "box", meta_face_box, &out_face, NULL);
    for (size_t k = 0; k < wrong_box_count; ++k) {
        if (wrong_boxes[k].of_buffer) continue;
        test_case("'box' %s", wrong_boxes[k].what);
        REFUSED(wrong_boxes[k].code, "box", meta_face_slab, &out_face, &wrong_boxes[k].box, 0,
                META_SLAB_LOW, 1);
        REFUSED(wrong_boxes[k].code, "box", meta_face_box, &out_face, &wrong_boxes[k].box);
    }
    WRONG_ENUM(int, 3, "axis", meta_face_slab, &out_face, &good_box, wrong, META_SLAB_LOW, 1);
    WRONG_ENUM(meta_slab, META_SLAB_HIGH_GHOST + 1, "slab", meta_face_slab, &out_face, &good_box, 0,
               wrong, 1);
    for (int axis = 0; axis < 3; ++axis)
        for (meta_slab slab = META_SLAB_LOW; slab <= META_SLAB_HIGH_GHOST;
             slab = (meta_slab)((int)slab + 1)) {
            const int64_t inside = good_box.end[axis] - good_box.start[axis];
            const int64_t widest = slab <= META_SLAB_HIGH ? inside : 1;
            test_case("axis %d, slab %d", axis, (int)slab);
            REFUSED(META_ERR_BOUNDS, "width", meta_face_slab, &out_face, &good_box, axis, slab,
                    widest + 1);
            REFUSED(META_ERR_BOUNDS, "width", meta_face_slab, &out_face, &good_box, axis, slab,
                    INT64_MAX);
            REFUSED(META_ERR_ARGUMENT, "width", meta_face_slab, &out_face, &good_box, axis, slab,
                    -1);
        }
    end();
}

static void packing_is_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("packed", meta_pack_face, wrong, a, &good_face, META_F64, &done);
    WRONG_BUFFERS("buf", meta_pack_face, b, wrong, &good_face, META_F64, &done);
    WRONG_FACES(meta_pack_face, b, a, wrong, META_F64, &done);
    WRONG_TYPES(meta_pack_face, b, a, &good_face, wrong, &done);
    REFUSED(META_ERR_ARGUMENT, "face", meta_pack_face, b, a, NULL, META_F64, &done);
    REFUSED(META_ERR_OVERLAP, "packed", meta_pack_face, (char *)a + 256, a, &good_face, META_F64,
            &done);
    if (elsewhere) {
        REFUSED(META_ERR_WRONG_DEVICE, "packed", meta_pack_face, elsewhere, a, &good_face, META_F64,
                &done);
        REFUSED(META_ERR_WRONG_DEVICE, "buf", meta_pack_face, b, elsewhere, &good_face, META_F64,
                NULL);
    }
    end();
}

static void unpacking_is_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("packed", meta_unpack_face, b, wrong, &good_face, META_F64, &done);
    WRONG_BUFFERS("buf", meta_unpack_face, wrong, a, &good_face, META_F64, &done);
    WRONG_FACES(meta_unpack_face, b, a, wrong, META_F64, &done);
    WRONG_TYPES(meta_unpack_face, b, a, &good_face, wrong, &done);
    REFUSED(META_ERR_ARGUMENT, "face", meta_unpack_face, b, a, NULL, META_F64, &done);
    REFUSED(META_ERR_OVERLAP, "packed", meta_unpack_face, a, (char *)a + 256, &good_face, META_F64,
            &done);
    for (int k = 0; k < good_face.count; ++k) {
        meta_face still = good_face;
        still.stride[k] = 0;
        test_case("stride[%d] is 0", k);
        REFUSED(META_ERR_ARGUMENT, "face", meta_unpack_face, b, a, &still, META_F64, &done);
    }
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "packed", meta_unpack_face, b, elsewhere, &good_face,
                META_F64, &done);
    end();
}

static void transposing_is_refused_by_name(void)
{
    static const int64_t size[] = {8, 6}, negative[] = {-1, 6}, huge[] = {INT64_MAX, 2};
    static const int64_t large[] = {CELLS, 2}, one_column[] = {INT64_MAX / 16, 1};
    begin();
    WRONG_BUFFERS("out", meta_transpose_face, wrong, a, size, META_F64, &done);
    WRONG_BUFFERS("in", meta_transpose_face, b, wrong, size, META_F64, &done);
    WRONG_TYPES(meta_transpose_face, b, a, size, wrong, &done);
    REFUSED(META_ERR_ARGUMENT, "size", meta_transpose_face, b, a, NULL, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "size", meta_transpose_face, b, a, negative, META_F64, &done);
    REFUSED(META_ERR_OVERFLOW, "size", meta_transpose_face, b, a, huge, META_F64, &done);
    REFUSED(META_ERR_BOUNDS, "out", meta_transpose_face, b, a, large, META_F64, &done);
    REFUSED(META_ERR_BOUNDS, "out", meta_transpose_face, b, a, one_column, META_F64, &done);
    REFUSED(META_ERR_OVERLAP, "in", meta_transpose_face, b, (char *)b + 64, size, META_F64, &done);
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "in", meta_transpose_face, b, elsewhere, size, META_F64,
                &done);
    end();
}

/* ------------------------------------------------------------------ computing */

static void stencils_are_refused_by_name(void)
{
    meta_box flat = good_box;
    begin();
    WRONG_BUFFERS("out", meta_stencil, wrong, a, &good_box, META_3D27P, META_F64, &result, &done);
    WRONG_BUFFERS("in", meta_stencil, b, wrong, &good_box, META_3D7P, META_F64, &result, &done);
    WRONG_BOXES("box", "out", meta_stencil, b, a, wrong, META_3D7P, META_F64, &result, &done);
    WRONG_TYPES(meta_stencil, b, a, &good_box, META_3D7P, wrong, &result, &done);
    NO_ARITHMETIC(meta_stencil, b, a, &good_box, META_3D7P, wrong, &result, &done);
    WRONG_ENUM(meta_stencil_kind, META_STENCIL_COUNT, "kind", meta_stencil, b, a, &good_box, wrong,
               META_F64, &result, &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_stencil, b, a, NULL, META_3D7P, META_F64, NULL, &done);
    REFUSED(META_ERR_OVERLAP, "in", meta_stencil, a, a, &good_box, META_3D7P, META_F64, NULL,
            &done);
    for (int d = 0; d < 3; ++d) {
        meta_box low = good_box, high = good_box;
        low.start[d] = 0;
        high.end[d] = high.size[d];
        test_case("no cell beside the box in dimension %d", d);
        REFUSED(META_ERR_BOUNDS, "box", meta_stencil, b, a, &low, META_3D27P, META_F64, NULL,
                &done);
        REFUSED(META_ERR_BOUNDS, "box", meta_stencil, b, a, &high, META_3D7P, META_F64, NULL,
                &done);
    }
    test_case("other arguments");
    flat.ndim = 2;
    REFUSED(META_ERR_ARGUMENT, "box", meta_stencil, b, a, &flat, META_3D7P, META_F64, NULL, &done);
    flat.ndim = 1;
    REFUSED(META_ERR_ARGUMENT, "box", meta_stencil, b, a, &flat, META_2D5P, META_F64, NULL, &done);
    REFUSED(META_ERR_ALIGNMENT, "sum", meta_stencil, b, a, &good_box, META_3D7P, META_F64,
            (char *)&result + 1, &done);
    if (elsewhere) {
        REFUSED(META_ERR_WRONG_DEVICE, "in", meta_stencil, b, elsewhere, &good_box, META_3D7P,
                META_F64, NULL, &done);
        REFUSED(META_ERR_WRONG_DEVICE, "sum", meta_stencil, b, a, &good_box, META_3D7P, META_F64,
                elsewhere, &done);
    }
    end();
}

static void stencils_with_sums_are_refused_by_name(void)
{
    meta_box parts[2] = {good_box, good_box};
    const int64_t *first = good_box.start, *size = good_box.size;
    const int64_t cell = (first[2] * size[1] + first[1]) * size[0] + first[0];
    double sums[2];
    begin();
    WRONG_BUFFERS("out", meta_stencil_sums, wrong, a, &good_box, META_3D27P, META_F64, &result,
                  sums, 2, parts, &done);
    WRONG_BUFFERS("in", meta_stencil_sums, b, wrong, &good_box, META_3D7P, META_F64, &result, sums,
                  2, parts, &done);
    WRONG_BOXES("box", "out", meta_stencil_sums, b, a, wrong, META_3D7P, META_F64, &result, sums, 2,
                parts, &done);
    WRONG_TYPES(meta_stencil_sums, b, a, &good_box, META_3D7P, wrong, &result, sums, 2, parts,
                &done);
    NO_ARITHMETIC(meta_stencil_sums, b, a, &good_box, META_3D7P, wrong, &result, sums, 2, parts,
                  &done);
    WRONG_ENUM(meta_stencil_kind, META_STENCIL_COUNT, "kind", meta_stencil_sums, b, a, &good_box,
               wrong, META_F64, &result, sums, 2, parts, &done);
    test_case("the sums");
    REFUSED(META_ERR_ARGUMENT, "boxes", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, sums, -1, parts, &done);
    REFUSED(META_ERR_ARGUMENT, "part", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, sums, 2, NULL, &done);
    REFUSED(META_ERR_ARGUMENT, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, NULL, 2, parts, &done);
    REFUSED(META_ERR_ALIGNMENT, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, (char *)sums + 1, 2, parts, &done);
    REFUSED(META_ERR_POINTER, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, (char *)b - 4, 2, parts, &done);
    REFUSED(META_ERR_OVERLAP, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, (double *)b + cell, 2, parts, &done);
    REFUSED(META_ERR_OVERLAP, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, (double *)a + cell - 1, 2, parts, &done);
    parts[1].end[0] = parts[1].size[0] + 1;
    REFUSED(META_ERR_BOUNDS, "part[1]", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, sums, 2, parts, &done);
    parts[1] = good_box;
    parts[1].ndim = 0;
    REFUSED(META_ERR_ARGUMENT, "part[1]", meta_stencil_sums, b, a, &good_box, META_3D7P, META_F64,
            &result, sums, 2, parts, &done);
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "sums", meta_stencil_sums, b, a, &good_box, META_3D7P,
                META_F64, NULL, elsewhere, 1, parts, &done);
    end();
}

static void reductions_are_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("buf", meta_reduce, &result, wrong, &good_box, META_SUM, META_F64, &done);
    WRONG_BOXES("box", "buf", meta_reduce, &result, a, wrong, META_MAX, META_F64, &done);
    WRONG_TYPES(meta_reduce, &result, a, &good_box, META_SUM, wrong, &done);
    NO_ARITHMETIC(meta_reduce, &result, a, &good_box, META_MIN, wrong, &done);
    WRONG_ENUM(meta_op, META_OP_COUNT, "op", meta_reduce, &result, a, &good_box, wrong, META_F64,
               &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_reduce, &result, a, NULL, META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "result", meta_reduce, NULL, a, &good_box, META_SUM, META_F64,
            &done);
    REFUSED(META_ERR_ALIGNMENT, "result", meta_reduce, (char *)&result + 1, a, &good_box, META_SUM,
            META_F64, &done);
    REFUSED(META_ERR_POINTER, "result", meta_reduce, (char *)b - 4, a, &good_box, META_SUM,
            META_F64, &done);
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "result", meta_reduce, elsewhere, a, &good_box, META_SUM,
                META_F64, &done);
    void *const fields[] = {a, NULL}, *const none[] = {NULL};
    double results[4];
    test_case("of several boxes");
    REFUSED(META_ERR_ARGUMENT, "field", meta_reduce_boxes, results, 1, 1, NULL, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "field[0]", meta_reduce_boxes, results, 1, 1, none, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "field[1]", meta_reduce_boxes, results, 1, 2, fields, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_reduce_boxes, results, 1, 1, fields, 1, NULL, META_SUM,
            META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "fields", meta_reduce_boxes, results, 1, -1, fields, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "boxes", meta_reduce_boxes, results, 1, 1, fields, -1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "stride", meta_reduce_boxes, results, 0, 2, fields, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "results", meta_reduce_boxes, NULL, 1, 1, fields, 1, &good_box,
            META_SUM, META_F64, &done);
    REFUSED(META_ERR_TYPE, "type", meta_reduce_boxes, results, 1, 1, fields, 1, &good_box, META_SUM,
            META_I8, &done);
    REFUSED(META_ERR_ARGUMENT, "op", meta_reduce_boxes, results, 1, 1, fields, 1, &good_box,
            META_OP_COUNT, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "on", meta_set_reproducible, 2);
    REFUSED(META_ERR_ARGUMENT, "on", meta_get_reproducible, NULL);
    end();
}

static void dot_products_are_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("a", meta_dot, &result, wrong, b, &good_box, META_F64, &done);
    WRONG_BUFFERS("b", meta_dot, &result, a, wrong, &good_box, META_F64, &done);
    WRONG_BOXES("box", "a", meta_dot, &result, a, b, wrong, META_F64, &done);
    WRONG_TYPES(meta_dot, &result, a, b, &good_box, wrong, &done);
    NO_ARITHMETIC(meta_dot, &result, a, b, &good_box, wrong, &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_dot, &result, a, b, NULL, META_F64, &done);
    REFUSED(META_ERR_ARGUMENT, "result", meta_dot, NULL, a, b, &good_box, META_F64, &done);
    REFUSED(META_ERR_ALIGNMENT, "result", meta_dot, (char *)&result + 4, a, b, &good_box, META_F64,
            &done);
    if (elsewhere) {
        REFUSED(META_ERR_WRONG_DEVICE, "'b'", meta_dot, &result, a, elsewhere, &good_box, META_F64,
                &done);
        REFUSED(META_ERR_WRONG_DEVICE, "result", meta_dot, elsewhere, a, b, &good_box, META_F64,
                &done);
    }
    end();
}

static void axpy_is_refused_by_name(void)
{
    begin();
    WRONG_BUFFERS("y", meta_axpy, wrong, &one, a, &good_box, META_F64, &done);
    WRONG_BUFFERS("x", meta_axpy, b, &one, wrong, &good_box, META_F64, &done);
    WRONG_HOSTS("alpha", meta_axpy, b, wrong, a, &good_box, META_F64, &done);
    WRONG_BOXES("box", "y", meta_axpy, b, &one, a, wrong, META_F64, &done);
    WRONG_TYPES(meta_axpy, b, &one, a, &good_box, wrong, &done);
    NO_ARITHMETIC(meta_axpy, b, &one, a, &good_box, wrong, &done);
    REFUSED(META_ERR_ARGUMENT, "box", meta_axpy, b, &one, a, NULL, META_F64, &done);
    REFUSED(META_ERR_OVERLAP, "'x'", meta_axpy, a, &one, (char *)a + 8,
            &(meta_box){1, {8}, {0}, {8}}, META_F64, &done);
    if (elsewhere)
        REFUSED(META_ERR_WRONG_DEVICE, "'x'", meta_axpy, b, &one, elsewhere, &good_box, META_F64,
                &done);
    end();
}

/* ------------------------------------------------------------------ profiling */

static void ranges_and_tools_are_refused_by_name(void)
{
    begin();
    REFUSED(META_ERR_ARGUMENT, "name", meta_range_push, NULL);
    REFUSED(META_ERR_ARGUMENT, "tool", meta_set_tool, &(meta_tool){0});
    REFUSED(META_ERR_ARGUMENT, "tool", meta_set_tool, &(meta_tool){.size = sizeof(size_t)});
    end();
}

static void timers_and_ranges_out_of_turn_are_refused(void)
{
    enum { DEEPEST = 64 };
    begin();
    refused(meta_timers_print(), META_ERR_STATE, "meta_timers_print", NULL, __LINE__);
    refused(meta_timers_finalize(), META_ERR_STATE, "meta_timers_finalize", NULL, __LINE__);
    CHECK_OK(meta_timers_init());
    refused(meta_timers_init(), META_ERR_STATE, "meta_timers_init", NULL, __LINE__);
    refused(meta_range_pop(), META_ERR_STATE, "meta_range_pop", NULL, __LINE__);
    for (int k = 0; k < DEEPEST; ++k) CHECK_OK(meta_range_push("nested"));
    REFUSED(META_ERR_STATE, NULL, meta_range_push, "one too many");
    for (int k = 0; k < DEEPEST; ++k) CHECK_OK(meta_range_pop());
    refused(meta_range_pop(), META_ERR_STATE, "meta_range_pop", NULL, __LINE__);
    CHECK_OK(meta_timers_finalize());
    end();
}

/* What was said of a place has no say in whether a call succeeds. */
static void meta_here_accepts_any_location(void)
{
    CHECK_OK(meta_here(NULL, -1));
    begin();
    CHECK_OK(meta_here("", 0));
    REFUSED(META_ERR_ARGUMENT, "bytes", meta_alloc, &out_pointer, 0);
    CHECK_OK(meta_here("a/file", -7));
    CHECK_OK(meta_here(NULL, 0));
    REFUSED(META_ERR_POINTER, "ptr", meta_free, freed);
    CHECK_OK(meta_here("a/file", INT_MAX));
    end();
    CHECK_OK(meta_here("after the end", 1));
}

/* ------------------------------------------------------------------ is any function forgotten? */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (file && text) text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    if (file) fclose(file);
    return text;
}

/* Whether @p text has the name followed by a comma behind @p before. */
static bool has_case(const char *text, const char *before, const char *name)
{
    char part[128];
    snprintf(part, sizeof part, "%s%s,", before, name);
    return strstr(text, part) != NULL;
}

static void every_public_function_has_its_cases_here(void)
{
    /* These cannot be misused, or are looked at by a promise of their own. */
    static const char *const others[] = {
        "meta_strerror",        "meta_last_error", "meta_version",     "meta_init",
        "meta_finalize",        "meta_flush",      "meta_timers_init", "meta_timers_print",
        "meta_timers_finalize", "meta_range_pop",  "meta_here"};
    static const char *const startless[] = {"meta_variable_count", "meta_variable_info",
                                            "meta_type_size", "meta_set_tool"};
    char *header = read_text(test_source("core/meta.h"));
    char *tests = read_text(test_source("tests/test_errors.c"));
    int functions = 0;
    for (const char *at = header; (at = strstr(at, "\nMETA_API ")) != NULL; ++at) {
        char name[64];
        const char *end_of_name = strchr(at, '('), *first = end_of_name;
        bool other = false, needs_start = true;
        while (first > at && first[-1] != ' ' && first[-1] != '*') --first;
        snprintf(name, sizeof name, "%.*s", (int)(end_of_name - first), first);
        for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
            other |= strcmp(name, others[k]) == 0;
        for (size_t k = 0; k < sizeof startless / sizeof *startless; ++k)
            needs_start &= strcmp(name, startless[k]) != 0;
        ++functions;
        if (other) continue;
        if (needs_start && !has_case(tests, "UNSTARTED(", name))
            FAIL("%s is not called before the start and after the end", name);
        if (!has_case(tests, " ", name)) FAIL("%s has no wrong arguments here", name);
    }
    CHECK(functions > 40);
    free(header);
    free(tests);
}

TEST_MAIN(PROMISE(calls_before_the_start_are_refused), PROMISE(calls_after_the_end_are_refused),
          PROMISE(starting_twice_is_refused), PROMISE(an_error_code_out_of_range_has_a_text),
          PROMISE(variables_and_types_are_refused_by_name), PROMISE(back_ends_are_refused_by_name),
          PROMISE(devices_are_refused_by_name), PROMISE(a_refused_choice_leaves_the_threads_device),
          PROMISE(a_process_outside_the_job_is_rejected), PROMISE(allocations_are_refused_by_name),
          PROMISE(grids_are_refused_by_name), PROMISE(families_are_refused_by_name),
          PROMISE(what_cannot_be_freed_is_refused_by_name), PROMISE(copies_are_refused_by_name),
          PROMISE(box_copies_are_refused_by_name),
          PROMISE(box_copies_with_the_host_are_refused_by_name), PROMISE(fills_are_refused_by_name),
          PROMISE(wraps_are_refused_by_name), PROMISE(policies_are_refused_by_name),
          PROMISE(addresses_are_refused_by_name), PROMISE(no_events_are_refused_by_name),
          PROMISE(states_are_refused_by_name), PROMISE(faces_are_refused_by_name),
          PROMISE(slabs_are_refused_by_name), PROMISE(packing_is_refused_by_name),
          PROMISE(unpacking_is_refused_by_name), PROMISE(transposing_is_refused_by_name),
          PROMISE(stencils_are_refused_by_name), PROMISE(stencils_with_sums_are_refused_by_name),
          PROMISE(reductions_are_refused_by_name), PROMISE(dot_products_are_refused_by_name),
          PROMISE(axpy_is_refused_by_name), PROMISE(ranges_and_tools_are_refused_by_name),
          PROMISE(timers_and_ranges_out_of_turn_are_refused),
          PROMISE(meta_here_accepts_any_location),
          PROMISE(every_public_function_has_its_cases_here))
