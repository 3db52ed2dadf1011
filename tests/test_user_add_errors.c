/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_add_errors.c
 *  Misuse of arrays that cells add to, of numbers on the device and of arrays that are written
 *  anywhere: the right error code, a message that names the argument, and nothing written. */
/* TEST: backends=all labels=core */
/* TEST: backends=all labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "user_add.kernel.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ, ARRAYS = 4, BYTES = CELLS * 8 };

static const meta_box inner = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static int32_t *good[ARRAYS];
static int32_t pattern[BYTES / 4];
static meta_mode mode;

static void begin(int *argc, char ***argv)
{
    void *ptr = NULL;
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(NULL, &mode));
    for (int k = 0; k < BYTES / 4; ++k) pattern[k] = 1 + k % 17;
    for (int k = 0; k < ARRAYS; ++k) {
        CHECK_OK(meta_alloc(&ptr, BYTES));
        good[k] = ptr;
        CHECK_OK(meta_copy_h2d(good[k], pattern, BYTES, NULL));
    }
}

static int finish(int status)
{
    if (status == 77 || !good[0]) return status;
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_free(good[k]));
    return test_device.end(status);
}

static const test_setting setting = {.start = begin, .end = finish};

static void arrays_are_untouched(void)
{
    int32_t found[BYTES / 4];
    for (int k = 0; k < ARRAYS; ++k)
        if (CHECK_OK(meta_copy_d2h(found, good[k], BYTES, NULL)))
            CHECK_ARRAY(found, pattern, BYTES / 4, META_I32);
}

static void restore(void)
{
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_copy_h2d(good[k], pattern, BYTES, NULL));
}

/* ------------------------------------------------------------------ ADD */

static void cells_must_not_add_beyond_the_array(void)
{
    for (int d = 0; d < 3; ++d) {
        meta_box box = inner;
        test_case("dimension %d", d);
        box.start[d] = 0;
        CHECK_ERR_NAMES(deposit_i32(&box, good[0], good[1], NULL), META_ERR_BOUNDS, "rho");
        box = inner;
        box.end[d] = box.size[d];
        CHECK_ERR_NAMES(deposit_i32(&box, good[0], good[1], META_ASYNC), META_ERR_BOUNDS, "rho");
    }
    CHECK_ERR_NAMES(deposit_i32(&inner, good[0] + BYTES / 4 - CELLS + 1, good[1], NULL),
                    META_ERR_BOUNDS, "rho");
    CHECK_ERR_NAMES(deposit_i32(&inner, NULL, good[1], NULL), META_ERR_ARGUMENT, "rho");
    CHECK_ERR_NAMES(deposit_i32(&inner, pattern, good[1], NULL), META_ERR_POINTER, "rho");
    arrays_are_untouched();
    CHECK_OK(deposit_i32(&inner, good[0] + BYTES / 4 - CELLS, good[1], NULL));
    restore();
}

/* `rho` reaches one element beyond the box on every side, `charge` is read in it. */
static void an_element_that_cells_add_to_is_no_other_arrays(void)
{
    enum { STEP = 1 + NX + NX * NY, LAST = NX * NY * NZ };
    int32_t *const rho = good[0];
    CHECK_ERR_NAMES(deposit_i32(&inner, rho, rho, NULL), META_ERR_OVERLAP, "rho");
    CHECK_ERR_NAMES(deposit_i32(&inner, rho, rho, NULL), META_ERR_OVERLAP, "charge");
    CHECK_ERR_NAMES(deposit_i32(&inner, rho, rho + 1, NULL), META_ERR_OVERLAP, "rho");
    CHECK_ERR_NAMES(deposit_i32(&inner, rho + 1, rho, NULL), META_ERR_OVERLAP, "rho");
    /* The first cell of one is the last of the other's reach, and beyond it. */
    CHECK_ERR_NAMES(deposit_i32(&inner, rho, rho + LAST - 1 - STEP, NULL), META_ERR_OVERLAP, "rho");
    CHECK_ERR_NAMES(deposit_i32(&inner, rho + LAST - 1 - STEP, rho, NULL), META_ERR_OVERLAP, "rho");
    arrays_are_untouched();
    CHECK_OK(deposit_i32(&inner, rho, rho + LAST - STEP, NULL));
    restore();
    CHECK_OK(deposit_i32(&inner, rho + LAST - STEP, rho, NULL));
    restore();
    /* Two arrays that cells add to. */
    const meta_box line = {1, {CELLS}, {0}, {CELLS}};
    int32_t total = -77, most = -77;
    CHECK_ERR_NAMES(
        count_i32(&line, (uint32_t *)good[0], good[1], good[0], good[3], &total, &most, NULL),
        META_ERR_OVERLAP, "weights");
    CHECK_ERR_NAMES(
        count_i32(&line, (uint32_t *)good[0], good[0], good[2], good[3], &total, &most, NULL),
        META_ERR_OVERLAP, "cells");
    CHECK(total == -77 && most == -77);
    arrays_are_untouched();
}

static void floating_additions_are_refused_where_they_must_be_reproducible(void)
{
    const float *const x = (const float *)good[1];
    CHECK_OK(meta_set_reproducible(1));
    CHECK_ERR_NAMES(deposit_f32(&inner, (float *)good[0], x, NULL), META_ERR_UNSUPPORTED, "'rho'");
    CHECK_CONTAINS(meta_last_error(), "deposit");
    CHECK_CONTAINS(meta_last_error(), "META_REPRODUCIBLE");
    CHECK_CONTAINS(meta_last_error(), "whole numbers");
    arrays_are_untouched();
    CHECK_OK(deposit_i32(&inner, good[0], good[1], NULL));
    restore();
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(deposit_f32(&inner, (float *)good[0], x, NULL));
    restore();
}

/* ------------------------------------------------------------------ SCALAR */

static void a_number_of_the_host_is_no_scalar(void)
{
    static int32_t here = 3;
    void *there = NULL, *freed = NULL;
    CHECK_ERR_NAMES(accumulate_i32(&inner, &here, good[0], good[1], NULL), META_ERR_POINTER, "'a'");
    CHECK_CONTAINS(meta_last_error(), "VALUE");
    CHECK_CONTAINS(meta_last_error(), "accumulate");
    CHECK_ERR_NAMES(accumulate_i32(&inner, NULL, good[0], good[1], NULL), META_ERR_ARGUMENT, "'a'");
    CHECK_OK(meta_host_alloc(&there, 8));
    CHECK_ERR_NAMES(accumulate_i32(&inner, there, good[0], good[1], NULL), META_ERR_POINTER, "'a'");
    CHECK_CONTAINS(meta_last_error(), "VALUE");
    CHECK_OK(meta_host_free(there));
    CHECK_OK(meta_alloc(&freed, BYTES));
    CHECK_OK(meta_free(freed));
    CHECK_ERR_NAMES(accumulate_i32(&inner, freed, good[0], good[1], NULL), META_ERR_POINTER, "'a'");
    CHECK_CONTAINS(meta_last_error(), "freed");
    CHECK_ERR_NAMES(
        accumulate_i32(&inner, (int32_t *)(void *)((char *)good[2] + 2), good[0], good[1], NULL),
        META_ERR_ALIGNMENT, "'a'");
    CHECK_ERR_NAMES(accumulate_i32(&inner, good[2] + BYTES / 4, good[0], good[1], NULL),
                    META_ERR_POINTER, "'a'");
    arrays_are_untouched();
    CHECK_OK(accumulate_i32(&inner, good[2] + BYTES / 4 - 1, good[0], good[1], NULL));
    restore();
}

static void a_number_on_another_device_is_refused(void)
{
    const meta_mode other = mode == META_OPENMP ? META_OPENCL : META_OPENMP;
    void *elsewhere = NULL;
    int devices = 0;
    if (meta_device_count(other, &devices) != META_OK || devices == 0) return;
    CHECK_OK(meta_set_acc(0, other));
    CHECK_OK(meta_alloc(&elsewhere, 8));
    CHECK_OK(meta_set_acc(0, META_SPREAD));
    CHECK_ERR_NAMES(accumulate_i32(&inner, elsewhere, good[0], good[1], NULL),
                    META_ERR_WRONG_DEVICE, "'a'");
    CHECK_OK(meta_free(elsewhere));
    arrays_are_untouched();
}

/* Not even where the kernel adds to it or writes it. */
static void a_number_is_not_among_the_cells_that_are_written(void)
{
    const int32_t first = 1 + NX * (1 + NY), last = NX - 2 + NX * (NY - 2 + NY * (NZ - 2));
    for (int32_t n = 0; n < CELLS; ++n) {
        const bool written =
            n % NX % (NX - 1) && n / NX % NY % (NY - 1) && n / (NX * NY) % (NZ - 1);
        const meta_err error = accumulate_i32(&inner, good[0] + n, good[0], good[1], NULL);
        test_case("element %d, written from %d to %d", (int)n, (int)first, (int)last);
        CHECK_INT(error, written ? META_ERR_OVERLAP : META_OK);
        if (written) CHECK_CONTAINS(meta_last_error(), "'a'");
    }
    restore();
    /* Of a whole array nobody knows which elements are. */
    const meta_box line = {1, {4}, {0}, {4}};
    CHECK_ERR_NAMES(scatter_i32(&line, good[0] + 100, good[0], good[1], NULL), META_ERR_OVERLAP,
                    "'from'");
    CHECK_ERR_NAMES(scatter_i32(&line, good[1], good[0], good[0] + 100, NULL), META_ERR_OVERLAP,
                    "'place'");
    arrays_are_untouched();
}

/* ------------------------------------------------------------------ lists and devices */

static void a_scalar_of_an_odd_type_is_refused(void)
{
    meta_kernel_parameter parameter[3];
    meta_kernel odd = accumulate_i32_kernel;
    const void *const arguments[] = {good[2], good[0], good[1]};
    memcpy(parameter, odd.parameter, sizeof parameter);
    odd.parameter = parameter;
    odd.state = NULL;
    parameter[0].type = META_TYPE_COUNT;
    parameter[0].type_name = "int16_t";
    CHECK_ERR_NAMES(meta_kernel_run(&odd, &inner, arguments, NULL), META_ERR_TYPE, "int16_t");
    CHECK_CONTAINS(meta_last_error(), "parameter a");
    arrays_are_untouched();
}

/* The last promise: it starts the library anew. */
static void a_device_without_64_bit_atomics_says_so(void)
{
    if (mode != META_OPENCL) return;
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_free(good[k]));
    CHECK_OK(meta_finalize());
    setenv("META_TEST_OPENCL_ATOMICS", "32", 1);
    CHECK_OK(meta_init());
    void *to = NULL, *x = NULL;
    CHECK_OK(meta_alloc(&to, BYTES));
    CHECK_OK(meta_alloc(&x, BYTES));
    CHECK_OK(meta_copy_h2d(to, pattern, BYTES, NULL));
    CHECK_OK(meta_copy_h2d(x, pattern, BYTES, NULL));
    CHECK_ERR_NAMES(deposit_i64(&inner, to, x, NULL), META_ERR_UNSUPPORTED, "'rho'");
    CHECK_CONTAINS(meta_last_error(), "cl_khr_int64_base_atomics");
    CHECK_ERR_NAMES(deposit_u64(&inner, to, x, NULL), META_ERR_UNSUPPORTED, "'rho'");
    CHECK_ERR_NAMES(deposit_f64(&inner, to, x, NULL), META_ERR_UNSUPPORTED, "'rho'");
    CHECK_ERR_NAMES(meta_kernel_prepare(&deposit_i64_kernel), META_ERR_UNSUPPORTED, "'rho'");
    int32_t found[BYTES / 4];
    CHECK_OK(meta_copy_d2h(found, to, BYTES, NULL));
    CHECK_ARRAY(found, pattern, BYTES / 4, META_I32);
    /* Of 4 bytes, and others of the same file, run. */
    const meta_box line = {1, {CELLS}, {0}, {CELLS}};
    int64_t sum = 0;
    CHECK_OK(deposit_i32(&inner, to, x, NULL));
    CHECK_OK(product_i64(&line, x, x, &sum, NULL));
    CHECK_OK(meta_free(to));
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_finalize());
    setenv("META_TEST_OPENCL_ATOMICS", "some", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_TEST_OPENCL_ATOMICS=some");
    unsetenv("META_TEST_OPENCL_ATOMICS");
    CHECK_OK(meta_init());
    for (int k = 0; k < ARRAYS; ++k) {
        void *ptr = NULL;
        CHECK_OK(meta_alloc(&ptr, BYTES));
        good[k] = ptr;
    }
}

TEST_MAIN_WITH(&setting, PROMISE(cells_must_not_add_beyond_the_array),
               PROMISE(an_element_that_cells_add_to_is_no_other_arrays),
               PROMISE(floating_additions_are_refused_where_they_must_be_reproducible),
               PROMISE(a_number_of_the_host_is_no_scalar),
               PROMISE(a_number_on_another_device_is_refused),
               PROMISE(a_number_is_not_among_the_cells_that_are_written),
               PROMISE(a_scalar_of_an_odd_type_is_refused),
               PROMISE(a_device_without_64_bit_atomics_says_so))
