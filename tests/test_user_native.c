/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_native.c
 *  Kernels with bodies in a back end's own language: they run where it is the device's, and with
 *  META_CHECK=1 whatever they compute is compared with what the portable body does. */
/* TEST: backends=all labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
#define META_KERNELS_HERE
#include "user_native.kernel.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 12, NY = 9, CELLS = NX * NY };
static const meta_box box = {2, {NX, NY}, {1, 1}, {NX - 1, NY - 1}};

static bool is_checked(void)
{
    const char *check = getenv("META_CHECK");
    return check && (strcmp(check, "1") == 0 || strcmp(check, "on") == 0);
}

/* What the device's own body of `mark` writes. */
static int own_mark(void)
{
    meta_mode mode = META_OPENMP;
    CHECK_OK(meta_get_acc(NULL, &mode));
    return mode == META_OPENCL ? 2 : mode == META_CUDA || mode == META_HIP ? 3 : 1;
}

static const char *language(void)
{
    return own_mark() == 2 ? "OpenCL C" : "CUDA or HIP";
}

static float *make(int number)
{
    static float values[CELLS];
    void *device = NULL;
    for (int n = 0; n < CELLS; ++n) values[n] = (float)((n + number) % 31);
    CHECK_OK(meta_alloc(&device, sizeof values));
    CHECK_OK(meta_copy_h2d(device, values, sizeof values, NULL));
    return device;
}

/* ------------------------------------------------------------------ which body runs */

static void the_body_in_the_devices_language_runs_there(void)
{
    const int own = own_mark();
    float found[CELLS], most = 0, *out = make(0);
    const meta_err error = mark_f32(&box, out, &most, NULL);
    if (own > 1 && is_checked()) {
        CHECK_INT(error, META_ERR_MISMATCH);
        CHECK_CONTAINS(meta_last_error(), "kernel mark for f32");
        CHECK_CONTAINS(meta_last_error(), language());
        CHECK(most == 0); /* results are written on success only */
    } else {
        CHECK_OK(error);
        CHECK(most == (float)own);
        CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
        CHECK(found[NX + 1] == (float)own);
    }
    CHECK_OK(meta_free(out));
}

static void a_name_in_a_comment_is_no_body(void)
{
    float found[CELLS], *out = make(0), *scale = make(5);
    CHECK_OK(marks_f32(&box, out, scale, NULL));
    CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
    CHECK(found[NX + 1] == 5);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(scale));
}

/* ------------------------------------------------------------------ right ones */

#define SMOOTH(name, T, type, T_SUM)                                                               \
    static void smooth_##name##_is_right(void)                                                     \
    {                                                                                              \
        T now[CELLS], level[NY], age[CELLS], next[CELLS], sum = 0, least = 0, k = 3;               \
        T_SUM all = 0;                                                                             \
        int64_t cells = 0;                                                                         \
        void *at[5];                                                                               \
        T lowest = 10000;                                                                          \
        for (int n = 0; n < CELLS; ++n) now[n] = (T)test_random_in(-99, 99), age[n] = next[n] = 7; \
        for (int n = 0; n < NY; ++n) level[n] = (T)test_random_in(-99, 99);                        \
        for (int n = 0; n < 5; ++n) CHECK_OK(meta_alloc(&at[n], sizeof now));                      \
        CHECK_OK(meta_copy_h2d(at[0], next, sizeof next, NULL));                                   \
        CHECK_OK(meta_copy_h2d(at[1], age, sizeof age, NULL));                                     \
        CHECK_OK(meta_copy_h2d(at[2], now, sizeof now, NULL));                                     \
        CHECK_OK(meta_copy_h2d(at[3], level, sizeof level, NULL));                                 \
        CHECK_OK(                                                                                  \
            smooth_##name(&box, at[0], at[1], at[2], at[3], k, &sum, &cells, at[4], META_ASYNC));  \
        CHECK_OK(meta_flush());                                                                    \
        for (int y = 1; y < NY - 1; ++y)                                                           \
            for (int x = 1; x < NX - 1; ++x) {                                                     \
                const T v = now[x - 1 + NX * y] + now[x + 1 + NX * (y + 1)] +                      \
                            now[x + NX * (y - 1)] + k * level[y];                                  \
                next[x + NX * y] = v;                                                              \
                age[x + NX * y] += 1;                                                              \
                all += v;                                                                          \
                if (v + (T)(x + y) < lowest) lowest = v + (T)(x + y);                              \
            }                                                                                      \
        CHECK(sum == (T)all);                                                                      \
        CHECK_INT(cells, (NX - 2) * (NY - 2));                                                     \
        CHECK_OK(meta_copy_d2h(&least, at[4], sizeof least, NULL));                                \
        CHECK(least == lowest);                                                                    \
        CHECK_OK(meta_copy_d2h(now, at[0], sizeof now, NULL));                                     \
        CHECK_ARRAY(now, next, CELLS, type);                                                       \
        CHECK_OK(meta_copy_d2h(now, at[1], sizeof now, NULL));                                     \
        CHECK_ARRAY(now, age, CELLS, type);                                                        \
        for (int n = 0; n < 5; ++n) CHECK_OK(meta_free(at[n]));                                    \
    }
SMOOTH(f64, double, META_F64, double)
SMOOTH(f32, float, META_F32, double)
SMOOTH(i32, int32_t, META_I32, int64_t)

static void a_body_with_pointers_and_strides_computes_the_same(void)
{
    for (int64_t n = test_count(3, 50); n > 0; --n) {
        smooth_f64_is_right();
        smooth_f32_is_right();
        smooth_i32_is_right();
    }
}

/* ------------------------------------------------------------------ wrong ones */

/* The number of the kernel file's line with that comment. */
static int line_of(const char *comment)
{
    const char *at = strstr(errs_f32_kernel.text, comment);
    int line = 1;
    for (const char *c = errs_f32_kernel.text; c < at; ++c) line += *c == '\n';
    return at ? line : -1;
}

static void a_body_that_computes_something_else_is_found(void)
{
    static const char *const what[] = {"",
                                       "array 'out' in 1 cells, of which the first, (5, 3), is ",
                                       "array 'to' in 1 elements, of which the first, number 41 ",
                                       "array 'added' in 1 elements, of which the first, number ",
                                       "result 'sum' is ",
                                       "result 'most' is 110, but 30 "};
    const bool own = own_mark() > 1;
    float *out = make(0), *to = make(3), *added = make(4), *in = make(0);
    for (int wrong = 0; wrong <= 6; ++wrong) {
        float sum = -1, most = -1, expected = 0;
        char line[64];
        test_case("%s", wrong < 6 ? what[wrong] : "reach");
        const meta_err error = errs_f32(&box, out, to, added, in, wrong, &sum, &most, NULL);
        for (int n = 0; n < CELLS; ++n)
            if (n % NX > 0 && n % NX < NX - 1 && n / NX > 0 && n / NX < NY - 1)
                expected += (float)(n % 31);
        if (wrong == 0 || !own || !is_checked()) {
            CHECK_OK(error);
            CHECK(sum == expected + (float)(wrong == 4 && own));
            continue;
        }
        CHECK_CONTAINS(meta_last_error(), "kernel errs ");
        if (wrong == 6) {
            snprintf(line, sizeof line, "user_native.kernel.h:%d: AT() of 'in' at (2, 0, 0, 0)",
                     line_of(own_mark() == 2 ? "the line of OpenCL" : "the line of GPUs"));
            CHECK_INT(error, META_ERR_BOUNDS);
            CHECK_CONTAINS(meta_last_error(), line);
            continue;
        }
        CHECK_INT(error, META_ERR_MISMATCH);
        CHECK_CONTAINS(meta_last_error(), what[wrong]);
        CHECK_CONTAINS(meta_last_error(), " by the portable body");
        CHECK_CONTAINS(meta_last_error(), language());
        CHECK(sum == -1 && most == -1);
    }
    float found[CELLS];
    if (own && is_checked()) { /* both values are in the message */
        float sum, most;
        CHECK_ERR_NAMES(errs_f32(&box, out, to, added, in, 1, &sum, &most, NULL), META_ERR_MISMATCH,
                        "is 11, but 10 by the portable body");
        CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
        CHECK(found[5 + 3 * NX] == 11); /* what its own body computed remains */
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(to));
    CHECK_OK(meta_free(added));
    CHECK_OK(meta_free(in));
}

/* ------------------------------------------------------------------ text at run time */

static void a_text_given_at_run_time_may_have_such_bodies(void)
{
    meta_kernel *kernel;
    float found[CELLS], *out = make(0);
    const void *const arguments[] = {out};
    const meta_err error = meta_kernel_compile(
        &kernel, "late", META_F32, "late.kernel.h",
        "#include <meta_kernel.h>\n"
        "#define late_ARGS(A) A(OUT, T, out)\n"
        "META_CELLS(late) { ON(out) = (T)(INDEX(0) * INDEX(0)); }\n"
        "#ifdef META_NATIVE_OPENCL\n"
        "META_NATIVE_OPENCL(late) { ON(out) = (T)mul24((int)INDEX(0), (int)INDEX(0)); }\n"
        "#endif\n"
        "#ifdef META_NATIVE_GPU\n"
        "META_NATIVE_GPU(late) { using number = T; ON(out) = number(INDEX(0) * INDEX(0)); }\n"
        "#endif\n"
        "#include META_AGAIN\n");
    if (error != META_ERR_UNSUPPORTED && CHECK_OK(error)) {
        CHECK_OK(meta_kernel_run(kernel, &box, arguments, NULL));
        CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
        CHECK(found[NX + 7] == 49);
    }
    CHECK_OK(meta_free(out));
}

TEST_DEVICE_MAIN(PROMISE(the_body_in_the_devices_language_runs_there),
                 PROMISE(a_name_in_a_comment_is_no_body),
                 PROMISE(a_body_with_pointers_and_strides_computes_the_same),
                 PROMISE(a_body_that_computes_something_else_is_found),
                 PROMISE(a_text_given_at_run_time_may_have_such_bodies))
