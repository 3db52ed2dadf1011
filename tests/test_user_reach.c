/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_reach.c
 *  META_CHECK=1 finds kernels of the program's own that do not do what their lists say: that reach
 *  further, or leave cells of an OUT array out; and calls whose arrays are perhaps in the wrong
 * order. */
/* TEST: backends=all auto=yes labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "user_reach.kernel.h"

#include "caught.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 9, NY = 7, NZ = 6, CELLS = NX * NY * NZ, ARRAYS = 5 };
static const meta_box box = {3, {NX, NY, NZ}, {2, 2, 2}, {NX - 2, NY - 2, NZ - 2}};

static void *array[ARRAYS];
static float before[CELLS], found[CELLS];

static bool make_arrays(void)
{
    for (int n = 0; n < CELLS; ++n) before[n] = (float)(n % 31);
    for (int k = 0; k < ARRAYS; ++k) {
        if (!CHECK_OK(meta_alloc(&array[k], sizeof before))) return false;
        CHECK_OK(meta_copy_h2d(array[k], before, sizeof before, NULL));
    }
    return true;
}

static void free_arrays(void)
{
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_free(array[k]));
}

static int64_t element(int64_t x, int64_t y, int64_t z)
{
    return x + NX * (y + NY * z);
}

/* The number of the kernel file's line with that comment. */
static int line_of(const char *comment)
{
    const char *at = strstr(reads_f32_kernel.text, comment);
    int line = 1;
    for (const char *c = reads_f32_kernel.text; c < at; ++c) line += *c == '\n';
    return at ? line : -1;
}

/* ------------------------------------------------------------------ reach */

static bool is_within(int which, int x, int y, int z)
{
    switch (which) {
    case 0:
        return abs(x) + abs(y) + abs(z) <= 1;
    case 1:
        return x >= -2 && x <= 0 && y >= 0 && y <= 1 && z == 0;
    case 2:
        return abs(z) <= 1;
    default:
        return x == 0 && y == 0 && z == 0;
    }
}

static void an_access_beyond_the_reach_is_found_by_line_and_offset(void)
{
    static const char *const names[] = {"star", "sides", "line", "cell"};
    static const char *const reaches[] = {"STAR(1)", "SIDES(2, 0, 0, 1, 0, 0)", "BOX(1)", "CELL"};
    if (!make_arrays()) return;
    for (int64_t n = test_count(200, 2000); n > 0; --n) {
        const int which = (int)test_random_in(0, 3);
        const int x = (int)test_random_in(-2, 2), y = (int)test_random_in(-2, 2),
                  z = (int)test_random_in(-2, 2);
        char where[160], at[64];
        test_case("'%s' at (%d, %d, %d)", names[which], x, y, z);
        const meta_err error =
            reads_f32(&box, array[0], array[1], array[2], array[3], array[4], which, x, y, z, NULL);
        if (is_within(which, x, y, z)) {
            CHECK_OK(error);
            continue;
        }
        snprintf(where, sizeof where, "the line of %s", names[which]);
        snprintf(where, sizeof where, "user_reach.kernel.h:%d: ", line_of(where));
        snprintf(at, sizeof at, "'%s' at (%d, %d, %d, 0)", names[which], x, y, z);
        CHECK_INT(error, META_ERR_BOUNDS);
        CHECK_CONTAINS(meta_last_error(), "kernel reads f32");
        CHECK_CONTAINS(meta_last_error(), where);
        CHECK_CONTAINS(meta_last_error(), at);
        CHECK_CONTAINS(meta_last_error(), reaches[which]);
    }
    CHECK_OK(reads_f32(&box, array[0], array[1], array[2], array[3], array[4], 3, 0, 0, 0, NULL));
    free_arrays();
}

static void a_write_beside_the_cell_is_found(void)
{
    if (!make_arrays()) return;
    CHECK_OK(writes_f32(&box, array[0], 0, NULL));
    CHECK_ERR_NAMES(writes_f32(&box, array[0], 1, NULL), META_ERR_BOUNDS, "'out' at (1, 0, 0, 0)");
    CHECK_CONTAINS(meta_last_error(), "the cell itself");
    CHECK_OK(writes_f32(&box, array[0], 0, NULL));
    free_arrays();
}

/* The same bits from the code that checks. */
static void what_is_within_reach_is_computed_as_ever(void)
{
    if (!make_arrays()) return;
    CHECK_OK(reads_f32(&box, array[0], array[1], array[2], array[3], array[4], 1, -2, 1, 0, NULL));
    CHECK_OK(meta_copy_d2h(found, array[0], sizeof found, NULL));
    for (int64_t z = box.start[2]; z < box.end[2]; ++z)
        for (int64_t y = box.start[1]; y < box.end[1]; ++y)
            for (int64_t x = box.start[0]; x < box.end[0]; ++x)
                before[element(x, y, z)] = (float)(element(x - 2, y + 1, z) % 31);
    CHECK_ARRAY(found, before, CELLS, META_F32);
    free_arrays();
}

/* Additions take place within the reach only. */
static void an_addition_beyond_the_reach_is_found(void)
{
    float zero = 0;
    if (!make_arrays()) return;
    for (int64_t n = test_count(50, 500); n > 0; --n) {
        const int64_t x = test_random_in(-2, 1), y = test_random_in(-1, 3);
        char at[64];
        test_case("at (%d, %d)", (int)x, (int)y);
        CHECK_OK(meta_fill(array[0], CELLS, &zero, META_F32, NULL));
        const meta_err error = adds_f32(&box, array[0], x, y, NULL);
        if (x >= -1 && x <= 0 && y >= 0 && y <= 2) {
            CHECK_OK(error);
            continue;
        }
        snprintf(at, sizeof at, "'sum' at (%d, %d, 0, 0)", (int)x, (int)y);
        CHECK_INT(error, META_ERR_BOUNDS);
        CHECK_CONTAINS(meta_last_error(), at);
        CHECK_CONTAINS(meta_last_error(), "SIDES(1, 0, 0, 2, 0, 0)");
    }
    free_arrays();
}

/* ------------------------------------------------------------------ GET() */

/* The array begins somewhere in its buffer, and ends with it. */
static void an_index_beyond_the_array_is_found_by_line_index_and_size(void)
{
    int32_t index[CELLS] = {0};
    void *device;
    if (!make_arrays() || !CHECK_OK(meta_alloc(&device, sizeof index))) return;
    for (int64_t n = test_count(40, 400); n > 0; --n) {
        const int64_t skipped = test_random_in(0, CELLS - 1), size = CELLS - skipped;
        const int64_t cell = element(test_random_in(2, NX - 3), test_random_in(2, NY - 3),
                                     test_random_in(2, NZ - 3));
        const int32_t wanted = (int32_t)(test_random_in(0, 1) ? test_random_in(-2, 0)
                                                              : test_random_in(size - 2, size + 1));
        const float *table = (float *)array[1] + skipped;
        char where[160], size_text[64];
        test_case("element %d of %d", (int)wanted, (int)size);
        index[cell] = wanted;
        CHECK_OK(meta_copy_h2d(device, index, sizeof index, NULL));
        const meta_err error = gets_f32(&box, array[0], table, device, NULL);
        index[cell] = 0;
        if (wanted >= 0 && wanted < size) {
            CHECK_OK(error);
            continue;
        }
        snprintf(where, sizeof where, "user_reach.kernel.h:%d: GET() of 'table' with index %d",
                 line_of("the line of table"), (int)wanted);
        snprintf(size_text, sizeof size_text, "there are %d elements", (int)size);
        CHECK_INT(error, META_ERR_BOUNDS);
        CHECK_CONTAINS(meta_last_error(), "kernel gets f32");
        CHECK_CONTAINS(meta_last_error(), where);
        CHECK_CONTAINS(meta_last_error(), size_text);
    }
    CHECK_OK(meta_free(device));
    free_arrays();
}

static void a_write_or_an_addition_beyond_the_array_is_found(void)
{
    if (!make_arrays()) return;
    CHECK_OK(puts_at_f32(&box, array[0], array[1], array[2], CELLS - 1, 0, NULL));
    CHECK_ERR_NAMES(puts_at_f32(&box, array[0], array[1], array[2], CELLS, 0, NULL),
                    META_ERR_BOUNDS, "GET() of 'to' with index 378, ");
    CHECK_ERR_NAMES(puts_at_f32(&box, array[0], array[1], array[2], 0, -1, NULL), META_ERR_BOUNDS,
                    "GET() of 'sum' with index -1, ");
    CHECK_ERR_NAMES(puts_at_f32(&box, array[0], array[1], array[2], 0, INT64_MAX, NULL),
                    META_ERR_BOUNDS, "GET() of 'sum' with index 9223372036854775807, ");
    CHECK_OK(puts_at_f32(&box, array[0], array[1], array[2], 0, CELLS - 1, NULL));
    free_arrays();
}

/* The checks need room beside the arguments of any kernel. */
static void a_kernel_with_all_arrays_is_checked_too(void)
{
    const int64_t n = element(3, 3, 3);
    if (!make_arrays()) return;
    const float *in = array[1];
#define FIVE in, in, in, in, in
#define CALL(x, n)                                                                                 \
    most_f32(&box, array[0], FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, array[2], (x), (n), NULL)
    CHECK_OK(CALL(0, n));
    CHECK_OK(meta_copy_d2h(found, array[0], sizeof found, NULL));
    CHECK(found[n] == (float)(7 * (n % 31)));
    CHECK_ERR_NAMES(CALL(1, n), META_ERR_BOUNDS, "AT() of 'f4' at (1, 0, 0, 0)");
    CHECK_ERR_NAMES(CALL(0, CELLS), META_ERR_BOUNDS, "GET() of 'last' with index 378, ");
    CHECK_OK(CALL(0, n));
    free_arrays();
}

/* Also of texts that are given at run time. */
static void a_text_given_at_run_time_is_checked_too(void)
{
    meta_kernel *kernel;
    int64_t x = 0, n = CELLS - 1;
    const meta_err error =
        meta_kernel_compile(&kernel, "late", META_F32, "late.kernel.h",
                            "#include <meta_kernel.h>\n"
                            "#define late_ARGS(A) A(OUT, T, out) \\\n"
                            "    A(IN, T, in, STAR(1)) A(IN, T, table, WHOLE) \\\n"
                            "    A(VALUE, int64_t, x) A(VALUE, int64_t, n)\n"
                            "META_CELLS(late)\n"
                            "{\n"
                            "    ON(out) = AT(in, x, 0, 0) +\n"
                            "              GET(table, n);\n"
                            "}\n"
                            "#include META_AGAIN\n");
    if (error == META_ERR_UNSUPPORTED || !CHECK_OK(error) || !make_arrays()) return;
    const void *const arguments[] = {array[0], array[1], array[2], &x, &n};
    CHECK_OK(meta_kernel_run(kernel, &box, arguments, NULL));
    x = 2;
    CHECK_ERR_NAMES(meta_kernel_run(kernel, &box, arguments, NULL), META_ERR_BOUNDS,
                    "late.kernel.h:7: AT() of 'in' at (2, 0, 0, 0)");
    x = 0, n = CELLS;
    CHECK_ERR_NAMES(meta_kernel_run(kernel, &box, arguments, NULL), META_ERR_BOUNDS,
                    "late.kernel.h:8: GET() of 'table' with index 378, ");
    free_arrays();
}

/* ------------------------------------------------------------------ OUT */

#define TYPES(X) X(f64, double, META_F64) X(f32, float, META_F32) X(i32, int32_t, META_I32)
#define SKIPS(name, T, type)                                                                       \
    static void skip_##name(void)                                                                  \
    {                                                                                              \
        T out[CELLS], sum[CELLS], is[CELLS];                                                       \
        void *device[2];                                                                           \
        const int64_t from = test_random_in(box.start[0] + 1, box.end[0]);                         \
        int64_t cells = -1;                                                                        \
        char where[64];                                                                            \
        for (int n = 0; n < CELLS; ++n) out[n] = (T)(n % 29), sum[n] = (T)(n % 31);                \
        for (int k = 0; k < 2; ++k) {                                                              \
            CHECK_OK(meta_alloc(&device[k], sizeof out));                                          \
            CHECK_OK(meta_copy_h2d(device[k], k ? sum : out, sizeof out, NULL));                   \
        }                                                                                          \
        test_case(#name ", from %d", (int)from);                                                   \
        snprintf(where, sizeof where, "not %d, the first at (2, 2, 2)",                            \
                 (int)((from - 2) * (NY - 4) * (NZ - 4)));                                         \
        CHECK_ERR_NAMES(skips_##name(&box, device[0], device[1], from, &cells, NULL),              \
                        META_ERR_ARGUMENT, "'out'");                                               \
        CHECK_CONTAINS(meta_last_error(), "kernel skips");                                         \
        CHECK_CONTAINS(meta_last_error(), where);                                                  \
        for (int64_t n = 0; n < CELLS; ++n) {                                                      \
            const int64_t x = n % NX, y = n / NX % NY, z = n / NX / NY;                            \
            if (x < 2 || y < 2 || z < 2 || x >= NX - 2 || y >= NY - 2 || z >= NZ - 2) continue;    \
            sum[n] += 1;                                                                           \
            if (x >= from) out[n] = sum[n];                                                        \
        }                                                                                          \
        CHECK_OK(meta_copy_d2h(is, device[0], sizeof is, NULL));                                   \
        CHECK_ARRAY(is, out, CELLS, type); /* what is not written is what it was */                \
        CHECK_OK(meta_copy_d2h(is, device[1], sizeof is, NULL));                                   \
        CHECK_ARRAY(is, sum, CELLS, type); /* and what is, has been written once */                \
        CHECK_OK(skips_##name(&box, device[0], device[1], 0, &cells, NULL));                       \
        CHECK_INT(cells, (NX - 4) * (NY - 4) * (NZ - 4));                                          \
        for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(device[k]));                                \
    }
TYPES(SKIPS)

static void a_cell_of_an_output_that_is_not_written_is_found(void)
{
    for (int64_t n = test_count(5, 100); n > 0; --n) {
        skip_f64();
        skip_f32();
        skip_i32();
    }
}

/* Every bit pattern may be written: also those that META_CHECK looks for. */
static void values_that_equal_poison_may_be_written(void)
{
    static const uint32_t poison[] = {0x7fa5007e, 0x7fa5817f, 0x7ff5007e, 0x7ff5817f, 0x7ff5a5a5};
    int32_t in[CELLS], is[CELLS], zero[CELLS] = {0}, one[CELLS];
    void *device[3];
    int64_t cells = -1;
    for (int n = 0; n < CELLS; ++n) memcpy(&in[n], &poison[n % 5], sizeof *in), one[n] = 1;
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(meta_alloc(&device[k], sizeof in));
        CHECK_OK(meta_copy_h2d(device[k], k == 2 ? in : zero, sizeof in, NULL));
    }
    const meta_box all = {1, {CELLS}, {0}, {CELLS}};
    CHECK_OK(copies_i32(&all, device[0], device[1], device[2], &cells, NULL));
    CHECK_INT(cells, CELLS);
    CHECK_OK(meta_copy_d2h(is, device[0], sizeof is, NULL));
    CHECK_ARRAY(is, in, CELLS, META_I32);
    CHECK_OK(meta_copy_d2h(is, device[1], sizeof is, NULL));
    CHECK_ARRAY(is, one, CELLS, META_I32);
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_free(device[k]));
}

/* ------------------------------------------------------------------ labels */

static int reports_of(const reads_f32_arguments *arguments, char *text, size_t room)
{
    int lines = 0;
    catch_errors();
    for (int k = 0; k < 3; ++k) CHECK_OK(reads_f32_with(&box, arguments, NULL));
    take_caught(text, room);
    for (const char *at = text; (at = strstr(at, "wrong order")); ++at) ++lines;
    return lines;
}

static void arrays_labelled_as_each_others_parameters_are_reported_once(void)
{
    static const char *const labels[ARRAYS] = {"out", "star", "sides", "line", "other"};
    static char text[4096];
    if (!make_arrays()) return;
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_label(array[k], labels[k]));
    reads_f32_arguments a = {.out = array[0],
                             .star = array[1],
                             .sides = array[2],
                             .line = array[3],
                             .cell = array[4],
                             .which = 3};
    CHECK_INT(reports_of(&a, text, sizeof text), 0);
    a.line = array[4]; /* another label, and none that is a parameter's */
    a.cell = array[3];
    CHECK_INT(reports_of(&a, text, sizeof text), 0);
    a.star = array[3];
    a.line = array[1];
    a.cell = array[4];
    CHECK_INT(reports_of(&a, text, sizeof text), 1);
    CHECK_CONTAINS(text,
                   "kernel reads: argument 'star' is the array with label \"line\", and 'line' "
                   "the one with label \"star\"");
    CHECK_CONTAINS(text, "reads_f32_with()");
    CHECK_INT(reports_of(&a, text, sizeof text), 0);
    free_arrays();
}

static void grids_of_another_kind_of_number_are_reported_once(void)
{
    static char text[4096];
    const meta_type types[] = {META_I32, META_U32, META_F32};
    const int64_t extent[] = {CELLS};
    const int none[] = {0};
    int64_t cells;
    void *grid[3];
    meta_box all[3];
    for (int k = 0; k < 3; ++k)
        CHECK_OK(meta_grid_alloc(&grid[k], &all[k], 1, extent, none, none, types[k]));
    CHECK_OK(meta_label(grid[2], "speed"));
    catch_errors();
    for (int k = 0; k < 3; ++k)
        CHECK_OK(copies_i32(&all[0], grid[1], grid[0], grid[2], &cells, NULL));
    take_caught(text, sizeof text);
    CHECK_CONTAINS(text, "kernel copies: argument 'in' is an array of i32, and a grid of f32");
    CHECK_CONTAINS(text, "speed");
    const char *reported = strstr(text, "a grid of ");
    CHECK(reported && !strstr(reported + 1, "a grid of "));
    CHECK_OK(meta_grid_shape(grid[2], &all[2], META_I32));
    CHECK_OK(meta_label(grid[2], "index"));
    catch_errors();
    CHECK_OK(copies_i32(&all[0], grid[1], grid[0], grid[2], &cells, NULL));
    take_caught(text, sizeof text);
    CHECK(!strstr(text, "a grid of "));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_free(grid[k]));
}

TEST_DEVICE_MAIN(PROMISE(an_access_beyond_the_reach_is_found_by_line_and_offset),
                 PROMISE(a_write_beside_the_cell_is_found),
                 PROMISE(what_is_within_reach_is_computed_as_ever),
                 PROMISE(an_addition_beyond_the_reach_is_found),
                 PROMISE(an_index_beyond_the_array_is_found_by_line_index_and_size),
                 PROMISE(a_write_or_an_addition_beyond_the_array_is_found),
                 PROMISE(a_kernel_with_all_arrays_is_checked_too),
                 PROMISE(a_text_given_at_run_time_is_checked_too),
                 PROMISE(a_cell_of_an_output_that_is_not_written_is_found),
                 PROMISE(values_that_equal_poison_may_be_written),
                 PROMISE(arrays_labelled_as_each_others_parameters_are_reported_once),
                 PROMISE(grids_of_another_kind_of_number_are_reported_once))
