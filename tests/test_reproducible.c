/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_reproducible.c
 *  Reproducible sums of one process: the exact sum, rounded once, whatever the numbers, the box,
 *  the number of threads and the instruction set. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "exact_sums.h"
#include "lives.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 12, LARGE = 250000 };

static _Alignas(8) unsigned char first[LARGE * 8], second[LARGE * 8];

/* Two buffers, and room for a result between what must not be touched. */
typedef struct arrays {
    unsigned char *a, *b, *result;
} arrays;

static bool open_arrays(arrays *with, size_t bytes)
{
    void *memory[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; ++k)
        if (!CHECK_OK(meta_alloc(&memory[k], k < 2 ? bytes : 24))) return false;
    *with = (arrays){memory[0], memory[1], memory[2]};
    return CHECK_OK(meta_set_reproducible(1));
}

static void close_arrays(const arrays *with)
{
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_free(with->a));
    CHECK_OK(meta_free(with->b));
    CHECK_OK(meta_free(with->result));
}

static meta_type float_type(void)
{
    return test_random_in(0, 1) && case_has_f64() ? META_F64 : META_F32;
}

/* The bits of a result. @p how: a blocking call for the host, an event, and for the device. */
static uint64_t result_of(const arrays *with, int how, const meta_box *box, meta_type type,
                          bool dot)
{
    const size_t bytes = type == META_F64 ? 8 : 4;
    const uint64_t before = UINT64_C(0x5a5a5a5a5a5a5a5a);
    uint64_t found[3] = {before, before, before};
    void *at = how == 2 ? (void *)(with->result + 8) : &found[1];
    meta_event event = META_EVENT_NULL, *done = how == 1 ? &event : how == 2 ? META_ASYNC : NULL;
    if (how == 2) CHECK_OK(meta_copy_h2d(with->result, found, sizeof found, NULL));
    if (dot) CHECK_OK(meta_dot(at, with->a, with->b, box, type, done));
    else CHECK_OK(meta_reduce(at, with->a, box, META_SUM, type, done));
    if (how == 1) CHECK_OK(meta_event_wait(event));
    if (how == 1) CHECK_OK(meta_event_free(&event));
    if (how == 2) CHECK_OK(meta_copy_d2h(found, with->result, sizeof found, NULL));
    CHECK(found[0] == before && found[2] == before);
    CHECK(bytes == 8 || found[1] >> 32 == before >> 32);
    return bytes == 8 ? found[1] : found[1] & UINT32_MAX;
}

static void one_case(const arrays *with, int64_t cells, int dimensions)
{
    static exact sum;
    const meta_type type = float_type();
    const size_t bytes = type == META_F64 ? 8 : 4;
    const int flavour = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const int other = test_random_in(0, 1) ? flavour : 0;
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    const bool dot = test_random_in(0, 1);
    test_case("%s of %s, contents %d and %d, %s", dot ? "dot" : "sum", case_type_name(type),
              flavour, other, case_box_text(&box));
    exact_fill(first, cells, type, flavour);
    exact_fill(second, cells, type, other);
    CHECK_OK(meta_copy_h2d(with->a, first, (size_t)cells * bytes, NULL));
    CHECK_OK(meta_copy_h2d(with->b, second, (size_t)cells * bytes, NULL));
    memset(&sum, 0, sizeof sum);
    exact_add_box(&sum, first, dot ? second : NULL, &box, type);
    CHECK_U64(result_of(with, (int)test_random_in(0, 2), &box, type, dot), exact_round(&sum, type));
}

static void sums_are_exact_and_rounded_once(void)
{
    arrays with;
    if (!open_arrays(&with, (size_t)LARGE * 8)) return;
    for (int64_t k = 0; k < test_count(1500, 100000); ++k) one_case(&with, SMALL, META_MAX_DIM);
    for (int64_t k = 0; k < test_count(25, 2000); ++k) one_case(&with, LARGE, 3);
    close_arrays(&with);
}

static void a_stencils_sum_is_that_of_what_it_wrote(void)
{
    static exact sum;
    arrays with;
    if (!open_arrays(&with, SMALL * 8)) return;
    for (int64_t k = 0; k < test_count(200, 20000); ++k) {
        const meta_type type = float_type();
        const size_t bytes = type == META_F64 ? 8 : 4;
        const int kind = (int)test_random_in(0, META_STENCIL_COUNT - 1);
        const int reach = kind <= META_2D9P ? 2 : 3;
        const meta_box box = case_box((int)test_random_in(reach, 5), reach, SMALL);
        uint64_t found = 0;
        test_case("stencil %d of %s, %s", kind, case_type_name(type), case_box_text(&box));
        exact_fill(first, SMALL, type, (int)test_random_in(0, 4));
        CHECK_OK(meta_copy_h2d(with.a, first, SMALL * bytes, NULL));
        CHECK_OK(meta_stencil(with.b, with.a, &box, (meta_stencil_kind)kind, type, &found, NULL));
        CHECK_OK(meta_copy_d2h(second, with.b, SMALL * bytes, NULL));
        memset(&sum, 0, sizeof sum);
        exact_add_box(&sum, second, NULL, &box, type);
        CHECK_U64(found, exact_round(&sum, type));
    }
    close_arrays(&with);
}

/* The same numbers in lines, planes and blocks, and in strange orders. */
static void the_order_of_the_numbers_does_not_matter(void)
{
    const meta_box boxes[] = {{1, {SMALL}, {0}, {SMALL}},
                              {2, {4, SMALL / 4}, {0, 0}, {4, SMALL / 4}},
                              {3, {64, 2, SMALL / 128}, {0, 0, 0}, {64, 2, SMALL / 128}}};
    arrays with;
    if (!open_arrays(&with, SMALL * 8)) return;
    for (int64_t k = 0; k < test_count(60, 6000); ++k) {
        const meta_type type = float_type();
        const size_t bytes = type == META_F64 ? 8 : 4;
        uint64_t expected = 0;
        exact_fill(first, SMALL, type, (int)test_random_in(0, EXACT_FLAVOURS - 1));
        for (int turn = 0; turn < 4; ++turn) {
            for (int64_t n = SMALL - 1; n > 0 && turn > 0; --n) {
                const size_t x = (size_t)n * bytes, y = (size_t)test_random_in(0, n) * bytes;
                unsigned char held[8];
                memcpy(held, first + x, bytes);
                memmove(first + x, first + y, bytes);
                memcpy(first + y, held, bytes);
            }
            CHECK_OK(meta_copy_h2d(with.a, first, SMALL * bytes, NULL));
            const uint64_t found = result_of(&with, 0, &boxes[turn % 3], type, false);
            if (turn == 0) expected = found;
            CHECK_U64(found, expected);
        }
    }
    close_arrays(&with);
}

/* ------------------------------------------------------------------ many threads at once */

enum { THREADS = 24, TURNS = 20, PART = 3000 };

typedef struct share {
    pthread_t thread;
    const void *device;
    uint64_t found[TURNS];
} share;

static int turns;

/* Each on its own part; more of them than sums of one device are queued at once. */
static void *add_own_part(void *with)
{
    share *mine = with;
    const meta_box line = {1, {PART}, {0}, {PART}};
    for (int k = 0; k < turns; ++k)
        if (meta_reduce(&mine->found[k], mine->device, &line, META_SUM, META_F32, NULL) != META_OK)
            mine->found[k] = UINT64_MAX;
    return NULL;
}

static void threads_can_add_at_the_same_time(void)
{
    static share shares[THREADS];
    static exact sum;
    const meta_box line = {1, {PART}, {0}, {PART}};
    arrays with;
    const bool together = !test_under_oclgrind();
    turns = together ? TURNS : 1;
    if (!case_has_f64()) return;
    if (!open_arrays(&with, THREADS * PART * 4)) return;
    exact_fill(first, (int64_t)THREADS * PART, META_F32, 1);
    CHECK_OK(meta_copy_h2d(with.a, first, THREADS * PART * 4, NULL));
    for (int k = 0; k < THREADS; ++k) {
        shares[k] = (share){.device = with.a + (size_t)k * PART * 4};
        CHECK(pthread_create(&shares[k].thread, NULL, add_own_part, &shares[k]) == 0);
        if (!together) CHECK(pthread_join(shares[k].thread, NULL) == 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        if (together) CHECK(pthread_join(shares[k].thread, NULL) == 0);
        memset(&sum, 0, sizeof sum);
        exact_add_box(&sum, first + (size_t)k * PART * 4, NULL, &line, META_F32);
        for (int turn = 0; turn < turns; ++turn)
            CHECK_U64(shares[k].found[turn], exact_round(&sum, META_F32));
    }
    close_arrays(&with);
}

/* ------------------------------------------------------------------ what else is promised */

static uint64_t extreme_of(const void *numbers, meta_op op, meta_type type)
{
    const meta_box line = {1, {4}, {0}, {4}};
    void *device = NULL;
    uint64_t found = 0;
    if (!CHECK_OK(meta_alloc(&device, 32))) return 1;
    CHECK_OK(meta_copy_h2d(device, numbers, type == META_F64 ? 32 : 16, NULL));
    CHECK_OK(meta_reduce(&found, device, &line, op, type, NULL));
    CHECK_OK(meta_free(device));
    return found;
}

static void extremes_have_one_zero_and_one_nan(void)
{
    const float zeros[4] = {-0.0f, -0.0f, -0.0f, -0.0f}, nans[4] = {1, -NAN, NAN, 2};
    const double zeros_f64[4] = {-0.0, -0.0, -0.0, -0.0}, nans_f64[4] = {1, -(double)NAN, 3, 2};
    for (int op = META_MIN; op <= META_MAX; ++op) {
        CHECK_U64(extreme_of(zeros, (meta_op)op, META_F32), 0);
        CHECK_U64(extreme_of(nans, (meta_op)op, META_F32), 0x7fc00000);
        if (!case_has_f64()) continue;
        CHECK_U64(extreme_of(zeros_f64, (meta_op)op, META_F64), 0);
        CHECK_U64(extreme_of(nans_f64, (meta_op)op, META_F64), UINT64_C(0x7ff8000000000000));
    }
}

static void integers_still_wrap(void)
{
    const uint32_t numbers[4] = {UINT32_MAX, 7, 1, 3};
    CHECK_OK(meta_set_reproducible(1));
    CHECK_U64(extreme_of(numbers, META_SUM, META_U32), 10);
    CHECK_OK(meta_set_reproducible(0));
}

static void wrong_settings_are_refused(void)
{
    int on = 7;
    CHECK_ERR_NAMES(meta_set_reproducible(2), META_ERR_ARGUMENT, "'on' is 2");
    CHECK_ERR_NAMES(meta_set_reproducible(-1), META_ERR_ARGUMENT, "'on' is -1");
    CHECK_ERR_NAMES(meta_get_reproducible(NULL), META_ERR_ARGUMENT, "'on' is NULL");
    CHECK_OK(meta_set_reproducible(1));
    CHECK_OK(meta_get_reproducible(&on));
    CHECK_INT(on, 1);
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_get_reproducible(&on));
    CHECK_INT(on, 0);
}

/* ------------------------------------------------------------------ other lives of the library */

static void sums_in_a_life(void)
{
    arrays with;
    if (!open_arrays(&with, (size_t)LARGE * 8)) return;
    for (int64_t k = 0; k < test_count(3, 100); ++k) one_case(&with, LARGE, 3);
    for (int64_t k = 0; k < test_count(40, 1000); ++k) one_case(&with, SMALL, 4);
    close_arrays(&with);
}

static void threads_and_instruction_sets_do_not_matter(void)
{
    lives_each(sums_in_a_life);
}

static void the_variable_switches_them_on(void)
{
    static const char *const words[] = {"1", "on", "ON", "On", "0", "off", "OFF", ""};
    int on = 7;
    CHECK_OK(meta_finalize());
    CHECK_ERR(meta_set_reproducible(1), META_ERR_INIT);
    setenv("META_REPRODUCIBLE", "yes", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_REPRODUCIBLE=yes: give on or off");
    for (int k = 0; k < 8; ++k) {
        test_case("META_REPRODUCIBLE=%s", words[k]);
        setenv("META_REPRODUCIBLE", words[k], 1);
        CHECK_OK(meta_init());
        CHECK_OK(meta_get_reproducible(&on));
        CHECK_INT(on, k < 4);
        CHECK_OK(meta_finalize());
    }
    unsetenv("META_REPRODUCIBLE");
    CHECK_OK(meta_init());
    CHECK_OK(meta_get_reproducible(&on));
    CHECK_INT(on, 0);
}

TEST_DEVICE_MAIN(PROMISE(sums_are_exact_and_rounded_once),
                 PROMISE(a_stencils_sum_is_that_of_what_it_wrote),
                 PROMISE(the_order_of_the_numbers_does_not_matter),
                 PROMISE(threads_can_add_at_the_same_time),
                 PROMISE(extremes_have_one_zero_and_one_nan), PROMISE(integers_still_wrap),
                 PROMISE(wrong_settings_are_refused),
                 PROMISE(threads_and_instruction_sets_do_not_matter),
                 PROMISE(the_variable_switches_them_on))
