/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_errors.c
 *  Misuse of the program's own kernels: the right error code, a message that names the argument,
 *  nothing written, and a library that remains usable. */
/* TEST: backends=all,plain,late auto=yes labels=core smoke=yes */
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

#include "user_broken.kernel.h"
#include "user_wrong.kernel.h"

#include "cases.h"
#include "caught.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ what calls are made with */

enum { NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ, ARRAYS = 5, BYTES = CELLS * 4 };
/* The first and the last element of the box, and how far beyond its neighbours reach. */
enum { FIRST = 1 + NX * (1 + NY), LAST = NX - 2 + NX * (NY - 2 + NY * (NZ - 2)), REACHED = FIRST };

static const meta_box good_box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static int32_t *good[ARRAYS];  /* out, field, near, beside, table */
static int32_t pattern[CELLS]; /* what they hold */
static void *freed, *foreign, *page_locked, *elsewhere;
static int32_t on_stack[CELLS];
static meta_mode mode;
static bool runs_kernels; /* whether this back end does */
static const char *const names[ARRAYS] = {"out", "field", "near", "beside", "table"};

/* Outputs: after a refused call they are what they were. */
static const meta_event untouched_event = {0x5eed, 0xfeed};
static meta_event done;
static int32_t most, total;

static meta_err run(const meta_box *box, int32_t *const *array, int32_t *to_most, int32_t *to_total,
                    meta_event *event)
{
    return sound_i32(box, array[0], array[1], array[2], array[3], array[4], 5, to_most, to_total,
                     event);
}

/* Which has the buffers once they are there. */
static sound_i32_arguments by_name = {.a = 5, .most = &most, .total = &total};

static void begin(int *argc, char ***argv)
{
    void *ptr = NULL;
    test_find_own_plugins();
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(NULL, &mode));
    runs_kernels = mode == META_OPENMP || mode == META_OPENCL || mode == META_CUDA ||
                   mode == META_HIP || mode == META_AUTO;
    for (int k = 0; k < CELLS; ++k) pattern[k] = 1 + k % 17;
    for (int k = 0; k < ARRAYS; ++k) {
        CHECK_OK(meta_alloc(&ptr, BYTES));
        good[k] = ptr;
        CHECK_OK(meta_copy_h2d(good[k], pattern, BYTES, NULL));
    }
    by_name.out = good[0];
    by_name.field = good[1];
    by_name.near = good[2];
    by_name.beside = good[3];
    by_name.table = good[4];
    CHECK_OK(meta_host_alloc(&page_locked, BYTES));
    foreign = malloc(BYTES);
    elsewhere = test_alloc_elsewhere(mode, BYTES);
    CHECK_OK(meta_alloc(&freed, BYTES));
    CHECK_OK(meta_free(freed));
}

static int finish(int status)
{
    if (status == 77 || !good[0]) return status;
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_free(good[k]));
    if (elsewhere) CHECK_OK(meta_free(elsewhere));
    CHECK_OK(meta_host_free(page_locked));
    free(foreign);
    return test_device.end(status);
}

static const test_setting setting = {.start = begin, .end = finish};

static void arrays_are_untouched(void)
{
    int32_t found[CELLS];
    for (int k = 0; k < ARRAYS; ++k)
        if (CHECK_OK(meta_copy_d2h(found, good[k], BYTES, NULL)))
            CHECK_ARRAY(found, pattern, CELLS, META_I32);
}

/* What a good call wrote is forgotten. */
static void restore(void)
{
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_copy_h2d(good[k], pattern, BYTES, NULL));
}

/* The same call with good arguments, by their names, does what it should; the arrays are left as
 * they were. */
static void works(void)
{
    int32_t found[CELLS], expected_total = 0, expected_most = INT32_MIN;
    if (!runs_kernels) return;
    CHECK_OK(sound_i32_with(&good_box, &by_name, NULL));
    CHECK_OK(meta_copy_d2h(found, good[0], BYTES, NULL));
    for (int z = 1; z < NZ - 1; ++z)
        for (int y = 1; y < NY - 1; ++y)
            for (int x = 1; x < NX - 1; ++x) {
                const int at = x + NX * (y + NY * z);
                CHECK_INT(found[at], pattern[at - 1] + pattern[at + 1] + pattern[at]);
                expected_total += pattern[at];
                if (pattern[at] + 6 > expected_most) expected_most = pattern[at] + 6;
            }
    CHECK_INT(total, expected_total);
    CHECK_INT(most, expected_most);
    restore();
}

/* The call is refused, names the argument, and has written nothing. */
static void refused(const meta_box *box, int32_t *const *array, int32_t *to_most, int32_t *to_total,
                    meta_err code, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "'%s'", name);
    for (int way = 0; way < 3; ++way) {
        done = untouched_event;
        most = total = -77;
        CHECK_ERR_NAMES(run(box, array, to_most, to_total,
                            way == 0   ? NULL
                            : way == 1 ? META_ASYNC
                                       : &done),
                        code, quoted);
        CHECK_CONTAINS(meta_last_error(), "meta_kernel_run: ");
        CHECK(done.slot == untouched_event.slot && done.generation == untouched_event.generation);
        CHECK(most == -77 && total == -77);
    }
    arrays_are_untouched();
}

/* ------------------------------------------------------------------ arrays */

static void a_wrong_pointer_is_refused_by_the_name_of_its_array(void)
{
    const struct {
        const char *what;
        void *ptr;
        meta_err code;
    } wrong[] = {
        {"NULL", NULL, META_ERR_ARGUMENT},
        {"freed", freed, META_ERR_POINTER},
        {"into a freed one", (char *)freed + 8, META_ERR_POINTER},
        {"on the stack", &done, META_ERR_POINTER},
        {"static", on_stack, META_ERR_POINTER},
        {"of malloc()", foreign, META_ERR_POINTER},
        {"of meta_host_alloc()", page_locked, META_ERR_POINTER},
        {"one past the end", good[2] + CELLS, META_ERR_POINTER},
        {"the last address", (void *)UINTPTR_MAX, META_ERR_POINTER},
        {"misaligned", (char *)good[2] + 1, META_ERR_ALIGNMENT},
        {"at the last element", good[2] + CELLS - 1, META_ERR_BOUNDS},
        {"one element too far", NULL, META_ERR_BOUNDS},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; ++w)
        for (int k = 0; k < ARRAYS; ++k) {
            int32_t *array[ARRAYS];
            if (k == 4 && wrong[w].code == META_ERR_BOUNDS) continue; /* read by GET() alone */
            memcpy(array, good, sizeof array);
            array[k] = wrong[w].ptr;
            if (strcmp(wrong[w].what, "one element too far") == 0)
                array[k] = good[k] + CELLS - LAST - (k == 2 ? REACHED : 0);
            test_case("'%s' is %s", names[k], wrong[w].what);
            refused(&good_box, array, &most, &total, wrong[w].code, names[k]);
        }
    works();
}

static void an_argument_by_name_that_is_left_out_is_named_and_a_value_is_0(void)
{
    const size_t at[] = {
        offsetof(sound_i32_arguments, out),   offsetof(sound_i32_arguments, field),
        offsetof(sound_i32_arguments, near),  offsetof(sound_i32_arguments, beside),
        offsetof(sound_i32_arguments, table), offsetof(sound_i32_arguments, most),
        offsetof(sound_i32_arguments, total),
    };
    static const char *const left_out[] = {"'out'",   "'field'", "'near'", "'beside'",
                                           "'table'", "'most'",  "'total'"};
    for (size_t k = 0; k < sizeof at / sizeof *at; ++k) {
        sound_i32_arguments some = by_name;
        memset((char *)&some + at[k], 0, sizeof(void *));
        most = total = -77;
        CHECK_ERR_NAMES(sound_i32_with(&good_box, &some, NULL), META_ERR_ARGUMENT, left_out[k]);
        CHECK_CONTAINS(meta_last_error(), "sound");
        CHECK(most == -77 && total == -77);
    }
    CHECK_ERR_NAMES(sound_i32_with(&good_box, NULL, NULL), META_ERR_ARGUMENT, "'arguments'");
    arrays_are_untouched();
    works();
    if (!runs_kernels) return;
    CHECK_OK(sound_i32_with(&good_box,
                            &(sound_i32_arguments){.out = good[0],
                                                   .field = good[1],
                                                   .near = good[2],
                                                   .beside = good[3],
                                                   .table = good[4],
                                                   .most = &most,
                                                   .total = &total},
                            NULL));
    const int32_t without = most;
    restore();
    CHECK_OK(sound_i32_with(&good_box, &by_name, NULL));
    CHECK_INT(without, most - 5);
    restore();
}

static void an_array_on_another_device_is_refused(void)
{
    for (int k = 0; k < ARRAYS && elsewhere; ++k) {
        int32_t *array[ARRAYS];
        memcpy(array, good, sizeof array);
        array[k] = elsewhere;
        test_case("'%s' is elsewhere", names[k]);
        refused(&good_box, array, &most, &total, META_ERR_WRONG_DEVICE, names[k]);
    }
    if (elsewhere) refused(&good_box, good, elsewhere, &total, META_ERR_WRONG_DEVICE, "most");
    if (elsewhere) refused(&good_box, good, &most, elsewhere, META_ERR_WRONG_DEVICE, "total");
    works();
}

static void a_written_array_must_not_overlap_another(void)
{
    for (int k = 0; k < 2; ++k) /* out and field are written */
        for (int other = 0; other < ARRAYS; ++other) {
            int32_t *array[ARRAYS];
            if (k == other) continue;
            memcpy(array, good, sizeof array);
            array[other] = good[k];
            test_case("'%s' is '%s'", names[other], names[k]);
            refused(&good_box, array, &most, &total, META_ERR_OVERLAP, names[other]);
            refused(&good_box, array, &most, &total, META_ERR_OVERLAP, names[k]);
        }
    works();
}

/* Of a buffer that holds two arrays, each call uses cells that the other array does not have. */
static void arrays_side_by_side_do_not_overlap(void)
{
    int32_t *array[ARRAYS];
    void *both = NULL;
    memcpy(array, good, sizeof array);
    if (!CHECK_OK(meta_alloc(&both, 2 * BYTES))) return;
    CHECK_OK(meta_copy_h2d(both, pattern, BYTES, NULL));
    CHECK_OK(meta_copy_h2d((char *)both + BYTES, pattern, BYTES, NULL));
    array[0] = both;
    array[2] = (int32_t *)both + CELLS;
    if (runs_kernels) CHECK_OK(run(&good_box, array, &most, &total, NULL));
    array[0] = (int32_t *)both + CELLS;
    array[2] = both;
    if (runs_kernels) CHECK_OK(run(&good_box, array, &most, &total, NULL));
    /* The last element that may be read precedes the first that is written, or is that one. */
    array[2] = array[0] + FIRST - 1 - (LAST + REACHED);
    if (runs_kernels) CHECK_OK(run(&good_box, array, &most, &total, NULL));
    restore();
    ++array[2];
    refused(&good_box, array, &most, &total, META_ERR_OVERLAP, "near");
    CHECK_OK(meta_free(both));
    restore();
    works();
}

static void inputs_may_be_the_same_array(void)
{
    int32_t *array[ARRAYS];
    memcpy(array, good, sizeof array);
    array[3] = array[4] = array[2];
    if (runs_kernels) CHECK_OK(run(&good_box, array, &most, &total, NULL));
    restore();
    works();
}

/* ------------------------------------------------------------------ boxes */

static void a_wrong_box_is_refused(void)
{
    static const int dimensions[] = {0, -1, META_MAX_DIM + 1, INT_MAX, INT_MIN};
    meta_box box = good_box;
    refused(NULL, good, &most, &total, META_ERR_ARGUMENT, "box");
    for (size_t k = 0; k < sizeof dimensions / sizeof *dimensions; ++k) {
        box.ndim = dimensions[k];
        refused(&box, good, &most, &total, META_ERR_ARGUMENT, "box");
    }
    for (int d = 0; d < 3; ++d) {
        test_case("dimension %d", d);
        box = good_box, box.start[d] = -1;
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        box = good_box, box.end[d] = box.size[d] + 1;
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        box = good_box, box.end[d] = INT64_MAX;
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        box = good_box, box.end[d] = 0;
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        box = good_box, box.size[d] = INT64_MAX / 8;
        refused(&box, good, &most, &total, META_ERR_OVERFLOW, "box");
    }
    works();
}

/* Without a neighbour in the array there is nothing to read. */
static void a_box_must_leave_room_for_the_reach(void)
{
    for (int d = 0; d < 3; ++d) {
        meta_box box = good_box;
        test_case("dimension %d", d);
        box.start[d] = 0;
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        CHECK_CONTAINS(meta_last_error(), "near");
        box = good_box;
        box.end[d] = box.size[d];
        refused(&box, good, &most, &total, META_ERR_BOUNDS, "box");
        CHECK_CONTAINS(meta_last_error(), "near");
    }
    works();
}

/* ------------------------------------------------------------------ results and values */

static void a_wrong_place_for_a_result_is_refused_by_its_name(void)
{
    int32_t two[2];
    refused(&good_box, good, NULL, &total, META_ERR_ARGUMENT, "most");
    refused(&good_box, good, &most, NULL, META_ERR_ARGUMENT, "total");
    refused(&good_box, good, (int32_t *)(void *)((char *)two + 1), &total, META_ERR_ALIGNMENT,
            "most");
    refused(&good_box, good, &most, (int32_t *)(void *)((char *)good[2] + 2), META_ERR_ALIGNMENT,
            "total");
    works();
}

static void arguments_of_a_kernel_object_are_checked(void)
{
    const int32_t a = 5;
    const void *arguments[] = {good[0], good[1], good[2], good[3], good[4], &a, &most, &total};
    meta_kernel small = sound_i32_kernel;
    int widths[META_MAX_DIM] = {0};
    most = total = -77;
    CHECK_ERR_NAMES(meta_kernel_run(NULL, &good_box, arguments, NULL), META_ERR_ARGUMENT,
                    "'kernel'");
    CHECK_ERR_NAMES(meta_kernel_run(&sound_i32_kernel, &good_box, NULL, NULL), META_ERR_ARGUMENT,
                    "'arguments'");
    small.size = offsetof(meta_kernel, team); /* less than in any version */
    CHECK_ERR_NAMES(meta_kernel_run(&small, &good_box, arguments, NULL), META_ERR_ARGUMENT,
                    "'kernel'");
    arguments[5] = NULL;
    CHECK_ERR_NAMES(meta_kernel_run(&sound_i32_kernel, &good_box, arguments, NULL),
                    META_ERR_ARGUMENT, "'a'");
    CHECK(most == -77 && total == -77);
    CHECK_ERR_NAMES(meta_kernel_prepare(NULL), META_ERR_ARGUMENT, "'kernel'");
    CHECK_ERR_NAMES(meta_kernel_reach(NULL, widths, widths), META_ERR_ARGUMENT, "'kernel'");
    CHECK_ERR_NAMES(meta_kernel_reach(&sound_i32_kernel, NULL, widths), META_ERR_ARGUMENT, "'low'");
    CHECK_ERR_NAMES(meta_kernel_reach(&sound_i32_kernel, widths, NULL), META_ERR_ARGUMENT,
                    "'high'");
    arrays_are_untouched();
    works();
}

/* Where sums are reproducible the arguments are checked as ever. */
static void wrong_places_of_reproducible_sums_are_named(void)
{
    float floats[2] = {-77, -77};
    void *array[ARRAYS];
    memcpy(array, good, sizeof array);
    CHECK_OK(meta_set_reproducible(1));
    CHECK_ERR_NAMES(sound_f32(&good_box, array[0], array[1], array[2], array[3], array[4], 1,
                              &floats[0], NULL, NULL),
                    META_ERR_ARGUMENT, "'total'");
    CHECK_ERR_NAMES(sound_f32(&good_box, array[0], array[1], array[2], array[3], array[4], 1,
                              &floats[0], (float *)(void *)((char *)array[0] + 2), NULL),
                    META_ERR_ALIGNMENT, "'total'");
    CHECK_ERR_NAMES(sound_f32(&good_box, array[0], array[0], array[2], array[3], array[4], 1,
                              &floats[0], &floats[1], NULL),
                    META_ERR_OVERLAP, "'field'");
    CHECK(floats[0] <= -77 && floats[1] <= -77);
    arrays_are_untouched();
    works(); /* integers add up to the same in any order */
    if (runs_kernels && case_has_f64())
        CHECK_OK(sound_f32(&good_box, array[0], array[1], array[2], array[3], array[4], 1,
                           &floats[0], &floats[1], NULL));
    CHECK_OK(meta_set_reproducible(0));
    restore();
}

/* ------------------------------------------------------------------ kernels */

static void an_unknown_kernel_is_not_found(void)
{
    meta_kernel *const nothing = (meta_kernel *)(void *)&most;
    meta_kernel *found = nothing;
    int count = 0;
    CHECK_ERR_NAMES(meta_kernel_find("no_such_kernel", META_F32, &found), META_ERR_ARGUMENT,
                    "no_such_kernel");
    CHECK_ERR_NAMES(meta_kernel_find("", META_F32, &found), META_ERR_ARGUMENT, "'name'");
    CHECK_ERR_NAMES(meta_kernel_find("sound_i32", META_I32, &found), META_ERR_ARGUMENT, "'name'");
    CHECK_ERR_NAMES(meta_kernel_find(NULL, META_F32, &found), META_ERR_ARGUMENT, "'name'");
    CHECK_ERR_NAMES(meta_kernel_find("sound", META_F64, &found), META_ERR_ARGUMENT, "f64");
    CHECK_ERR_NAMES(meta_kernel_find("sound", META_U8, &found), META_ERR_ARGUMENT, "'type'");
    CHECK_ERR_NAMES(meta_kernel_find("sound", (meta_type)-1, &found), META_ERR_ARGUMENT, "'type'");
    CHECK_ERR_NAMES(meta_kernel_find("sound", (meta_type)1000, &found), META_ERR_ARGUMENT,
                    "'type'");
    CHECK_ERR_NAMES(meta_kernel_find("sound", META_F32, NULL), META_ERR_ARGUMENT, "'kernel'");
    CHECK_ERR_NAMES(meta_kernel_count(NULL), META_ERR_ARGUMENT, "'count'");
    CHECK_OK(meta_kernel_count(&count));
    CHECK_ERR_NAMES(meta_kernel_at(-1, &found), META_ERR_ARGUMENT, "'index'");
    CHECK_ERR_NAMES(meta_kernel_at(count, &found), META_ERR_ARGUMENT, "'index'");
    CHECK_ERR_NAMES(meta_kernel_at(INT_MAX, &found), META_ERR_ARGUMENT, "'index'");
    CHECK_ERR_NAMES(meta_kernel_at(0, NULL), META_ERR_ARGUMENT, "'kernel'");
    CHECK(found == nothing);
}

static void impossible_parameters_are_refused_by_their_names(void)
{
    const struct {
        const char *kernel, *names;
        meta_err code;
    } wrong[] = {{"too_many_arrays", "32", META_ERR_ARGUMENT},
                 {"too_many_parameters", "64", META_ERR_ARGUMENT},
                 {"giant_value", "giant", META_ERR_ARGUMENT},
                 {"odd_array", "odd", META_ERR_TYPE},
                 {"no_array", "no_array", META_ERR_ARGUMENT},
                 {"written_line", "line is written", META_ERR_ARGUMENT},
                 {"written_plane", "plane is written", META_ERR_ARGUMENT},
                 {"distant_line", "nowhere", META_ERR_ARGUMENT},
                 {"distant_plane", "nowhere", META_ERR_ARGUMENT},
                 {"shaped_whole", "table is WHOLE", META_ERR_ARGUMENT}};
    const void *arguments[80];
    for (int k = 0; k < 80; ++k) arguments[k] = good[0];
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        meta_kernel *kernel = NULL;
        test_case("%s", wrong[k].kernel);
        if (!CHECK_OK(meta_kernel_find(wrong[k].kernel, META_F32, &kernel))) continue;
        for (int again = 0; again < 2; ++again) {
            CHECK_ERR_NAMES(meta_kernel_run(kernel, &good_box, arguments, NULL), wrong[k].code,
                            wrong[k].names);
            CHECK_CONTAINS(meta_last_error(), wrong[k].kernel);
            CHECK_ERR_NAMES(meta_kernel_prepare(kernel), wrong[k].code, wrong[k].names);
        }
    }
    arrays_are_untouched();
    works();
}

/* The number of the kernel file's line with that comment. */
static int line_of(const char *comment)
{
    const char *found = strstr(broken_f32_kernel.text, comment);
    int line = 1;
    for (const char *c = broken_f32_kernel.text; c < found; ++c) line += *c == '\n';
    return found ? line : -1;
}

static void a_text_that_does_not_compile_gives_the_compilers_whole_log(void)
{
    static char said[1 << 16];
    char first[64], last[64];
    float *const out = (float *)(void *)good[0], *const in = (float *)(void *)good[2];
    if (!runs_kernels) return;
    if (mode == META_AUTO) { /* whether OpenCL compiles it depends on the choice */
        CHECK(true);
        return;
    }
    if (mode != META_OPENCL) { /* it is C, and C++ */
        CHECK_OK(broken_f32(&good_box, out, in, NULL));
        restore();
        return;
    }
    snprintf(first, sizeof first, "user_broken.kernel.h:%d:", line_of("the line of the first"));
    snprintf(last, sizeof last, "user_broken.kernel.h:%d:", line_of("the line of the last"));
    for (int again = 0; again < 2; ++again) {
        catch_errors();
        const meta_err error =
            again ? broken_f32(&good_box, out, in, NULL) : meta_kernel_prepare(&broken_f32_kernel);
        take_caught(said, sizeof said);
        CHECK_INT(error, META_ERR_DEVICE);
        CHECK_CONTAINS(meta_last_error(), "broken");
        CHECK_CONTAINS(meta_last_error(), first);
        if (!again) CHECK_CONTAINS(said, first); /* a warning is written once */
        if (!again) CHECK_CONTAINS(said, last);
    }
    arrays_are_untouched();
    works();
}

static void a_back_end_without_such_kernels_says_so(void)
{
    if (runs_kernels) return;
    for (int way = 0; way < 3; ++way) {
        done = untouched_event;
        most = total = -77;
        CHECK_ERR_NAMES(run(&good_box, good, &most, &total,
                            way == 0   ? NULL
                            : way == 1 ? META_ASYNC
                                       : &done),
                        META_ERR_UNSUPPORTED, "sound");
        CHECK(done.slot == untouched_event.slot && done.generation == untouched_event.generation);
        CHECK(most == -77 && total == -77);
    }
    CHECK_ERR_NAMES(meta_kernel_prepare(&sound_i32_kernel), META_ERR_UNSUPPORTED, "sound");
    arrays_are_untouched();
}

TEST_MAIN_WITH(&setting, PROMISE(a_wrong_pointer_is_refused_by_the_name_of_its_array),
               PROMISE(an_argument_by_name_that_is_left_out_is_named_and_a_value_is_0),
               PROMISE(an_array_on_another_device_is_refused),
               PROMISE(a_written_array_must_not_overlap_another),
               PROMISE(arrays_side_by_side_do_not_overlap), PROMISE(inputs_may_be_the_same_array),
               PROMISE(a_wrong_box_is_refused), PROMISE(a_box_must_leave_room_for_the_reach),
               PROMISE(a_wrong_place_for_a_result_is_refused_by_its_name),
               PROMISE(arguments_of_a_kernel_object_are_checked),
               PROMISE(wrong_places_of_reproducible_sums_are_named),
               PROMISE(an_unknown_kernel_is_not_found),
               PROMISE(impossible_parameters_are_refused_by_their_names),
               PROMISE(a_text_that_does_not_compile_gives_the_compilers_whole_log),
               PROMISE(a_back_end_without_such_kernels_says_so))
