/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_no_double.c
 *  An OpenCL device without double precision supports everything else, and errors say what is
 *  missing. */
/* TEST: backends=opencl labels=kernel */
#include "meta_library.h"
#include "mirror.h"
#include "sums.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 10 * 10 * 10 };

static const meta_box inside = {3, {10, 10, 10}, {1, 1, 1}, {9, 9, 9}};

static void start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("META_TEST_OPENCL_DOUBLE", "off", 1);
    test_require_device();
}

static int end(int status)
{
    if (status == 77) return status;
    return CHECK_OK(meta_finalize()) ? status : 1;
}

static const test_setting without_double = {.start = start, .end = end};

static void device_says_that_it_has_no_double(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_get_acc(&index, &mode))) return;
    CHECK_OK(meta_device_info(index, mode, &desc));
    CHECK_INT(desc.has_f64, 0);
}

static void f64_arithmetic_is_refused_and_nothing_written(void)
{
    const double alpha = 2;
    double result = 42;
    mirror a = {0}, b = {0};
    if (mirror_new(&a, CELLS * sizeof(double)) && mirror_new(&b, CELLS * sizeof(double))) {
        for (int kind = 0; kind < META_STENCIL_COUNT; ++kind)
            for (int with_sum = 0; with_sum < 2; ++with_sum)
                CHECK_ERR_NAMES(meta_stencil(a.device, b.device, &inside, (meta_stencil_kind)kind,
                                             META_F64, with_sum ? &result : NULL, NULL),
                                META_ERR_TYPE, "double");
        for (int op = 0; op < META_OP_COUNT; ++op)
            CHECK_ERR_NAMES(meta_reduce(&result, a.device, &inside, (meta_op)op, META_F64, NULL),
                            META_ERR_TYPE, "double");
        CHECK_ERR_NAMES(meta_dot(&result, a.device, b.device, &inside, META_F64, NULL),
                        META_ERR_TYPE, "double");
        CHECK_ERR_NAMES(meta_axpy(a.device, &alpha, b.device, &inside, META_F64, NULL),
                        META_ERR_TYPE, "double");
        CHECK(result == 42);
        mirror_holds(&a, META_U8, "the array");
    }
    mirror_free(&a);
    mirror_free(&b);
}

static void an_event_of_a_refused_call_is_left_alone(void)
{
    double result = 42;
    meta_event event = {12345, 67890};
    mirror a = {0};
    if (mirror_new(&a, CELLS * sizeof(double))) {
        CHECK_ERR(meta_reduce(&result, a.device, &inside, META_SUM, META_F64, &event),
                  META_ERR_TYPE);
        CHECK_INT(event.slot, 12345);
        CHECK_INT(event.generation, 67890);
        CHECK_ERR(meta_reduce(&result, a.device, &inside, META_SUM, META_F64, META_ASYNC),
                  META_ERR_TYPE);
        CHECK_OK(meta_flush());
    }
    mirror_free(&a);
}

static void f64_is_moved_like_every_type(void)
{
    const meta_face face = {.start = 111, .count = 2, .size = {8, 8}, .stride = {1, 10}};
    const meta_box low = {3, {10, 10, 10}, {0, 0, 0}, {10, 10, 4}};
    const meta_box high = {3, {10, 10, 10}, {0, 0, 5}, {10, 10, 9}};
    const int64_t size[2] = {8, 8};
    const double value = 2.5;
    mirror a = {0}, b = {0};
    if (mirror_new(&a, CELLS * sizeof value) && mirror_new(&b, CELLS * sizeof value)) {
        double *x = (double *)(void *)a.expected, *y = (double *)(void *)b.expected;
        mirror_refill(&a, META_F64, CASE_PLAIN);
        mirror_refill(&b, META_F64, CASE_PLAIN);
        CHECK_OK(meta_pack_face(b.device, a.device, &face, META_F64, NULL));
        for (int64_t n = 0; n < 64; ++n) memcpy(y + n, x + case_face_index(&face, n), 8);
        CHECK_OK(meta_transpose_face(b.device + 64 * 8, b.device, size, META_F64, NULL));
        for (int n = 0; n < 64; ++n) memcpy(y + 64 + n % 8 * 8 + n / 8, y + n, 8);
        mirror_holds(&b, META_F64, "packed and transposed");
        CHECK_OK(meta_unpack_face(a.device, b.device + 64 * 8, &face, META_F64, NULL));
        for (int64_t n = 0; n < 64; ++n) memcpy(x + case_face_index(&face, n), y + 64 + n, 8);
        CHECK_OK(meta_copy_box(a.device, &low, a.device, &high, META_F64, NULL));
        for (int64_t n = 0; n < 400; ++n)
            memcpy(x + case_box_index(&low, n), x + case_box_index(&high, n), 8);
        CHECK_OK(meta_fill_box(a.device, &inside, &value, META_F64, NULL));
        for (int64_t n = 0; n < 512; ++n) x[case_box_index(&inside, n)] = value;
        mirror_holds(&a, META_F64, "unpacked, copied and filled");
    }
    mirror_free(&a);
    mirror_free(&b);
}

static sum_expected sum_of_products(const mirror *a, const mirror *b, meta_type type)
{
    sum_expected sum = {0};
    for (int64_t n = 0; n < case_box_cells(&inside); ++n) {
        const int64_t at = case_box_index(&inside, n);
        sum_add(&sum, sum_real(a->expected, at, type) * sum_real(b->expected, at, type),
                sum_whole(a->expected, at, type) * sum_whole(b->expected, at, type));
    }
    return sum;
}

static void every_other_type_is_computed_with(void)
{
    const float alpha_f32 = 1;
    const uint64_t alpha = 1;
    mirror a = {0}, b = {0};
    if (mirror_new(&a, CELLS * 8) && mirror_new(&b, CELLS * 8))
        for (int t = META_F32; t < CASE_FIRST_SMALL; ++t) {
            const meta_type type = (meta_type)t;
            uint64_t found = 0;
            /* Each is a program to compile: in a sample one of each kind. */
            if (!test_long() && (type == META_I64 || type == META_U32)) continue;
            test_case("%s", case_type_name(type));
            mirror_refill(&a, type, CASE_PLAIN);
            mirror_refill(&b, type, CASE_PLAIN);
            const sum_expected dot = sum_of_products(&a, &b, type);
            CHECK_OK(meta_dot(&found, a.device, b.device, &inside, type, NULL));
            sum_check(&found, &dot, type, "dot");
            for (int op = 0; op < META_OP_COUNT; ++op)
                CHECK_OK(meta_reduce(&found, a.device, &inside, (meta_op)op, type, NULL));
            for (int kind = 0; kind < META_STENCIL_COUNT; ++kind)
                CHECK_OK(meta_stencil(b.device, a.device, &inside, (meta_stencil_kind)kind, type,
                                      &found, NULL));
            CHECK_OK(meta_axpy(b.device, type == META_F32 ? (const void *)&alpha_f32 : &alpha,
                               a.device, &inside, type, NULL));
        }
    mirror_free(&a);
    mirror_free(&b);
}

/* The last promise: it starts the library anew. */
static void another_value_than_auto_and_off_is_refused(void)
{
    CHECK_OK(meta_finalize());
    setenv("META_TEST_OPENCL_DOUBLE", "perhaps", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT,
                    "META_TEST_OPENCL_DOUBLE=perhaps: give auto | off");
    setenv("META_TEST_OPENCL_DOUBLE", "off", 1);
    CHECK_OK(meta_init());
}

/* An accumulator of doubles is not to be had, and no other sum would be the right one. */
static void reproducible_f32_sums_are_refused(void)
{
    const float weight[7] = {1, 1, 1, 1, 1, 1, 1};
    float result = 42;
    mirror a = {0}, b = {0};
    CHECK_OK(meta_set_reproducible(1));
    if (mirror_new(&a, CELLS * sizeof(float)) && mirror_new(&b, CELLS * sizeof(float))) {
        CHECK_ERR_NAMES(meta_reduce(&result, a.device, &inside, META_SUM, META_F32, NULL),
                        META_ERR_UNSUPPORTED, "META_REPRODUCIBLE");
        CHECK_ERR_NAMES(meta_dot(&result, a.device, b.device, &inside, META_F32, NULL),
                        META_ERR_UNSUPPORTED, "double");
        CHECK_ERR_NAMES(
            meta_stencil(a.device, b.device, &inside, META_3D7P, META_F32, &result, NULL),
            META_ERR_UNSUPPORTED, "double");
        CHECK_ERR_NAMES(meta_stencil_constant(a.device, b.device, weight, &inside, META_3D7P,
                                              META_F32, &result, NULL),
                        META_ERR_UNSUPPORTED, "double");
        CHECK(result == 42);
        mirror_holds(&a, META_U8, "the array");
        CHECK_OK(meta_reduce(&result, a.device, &inside, META_MAX, META_F32, NULL));
    }
    CHECK_OK(meta_set_reproducible(0));
    mirror_free(&a);
    mirror_free(&b);
}

TEST_MAIN_WITH(&without_double, PROMISE(device_says_that_it_has_no_double),
               PROMISE(f64_arithmetic_is_refused_and_nothing_written),
               PROMISE(reproducible_f32_sums_are_refused),
               PROMISE(an_event_of_a_refused_call_is_left_alone),
               PROMISE(f64_is_moved_like_every_type), PROMISE(every_other_type_is_computed_with),
               PROMISE(another_value_than_auto_and_off_is_refused))
