/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_matrix.c
 *  The halo matrix: process grids, periodicities, faces and all neighbours, widths, numbers of
 *  fields of different types, extents and staggering, copies and sums, and every ordered pair of
 *  back ends. Each element of each array (ghost cells, owned cells and padding) is compared with
 *  the oracle. A long run covers all combinations, other runs a sample. */
/* TEST: backends=none auto=yes np=2,3 labels=comm */
/* TEST: np=1,2,3,4,8 labels=comm */
/* TEST: np=5,6,7 labels=comm long=yes */
/* TEST: backends=all np=2 mixed=yes labels=comm */
/* TEST: backends=openmp np=2 with=STREAM_BYTES=0 labels=comm */
/* TEST: backends=openmp np=2 with=STREAM_BYTES=0,CPU=baseline labels=comm */
#include "test_mpi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "halo_cases.h"

/* The ways to do it. */
static void exchange(halo_case *c, meta_halo plan, int way)
{
    meta_event done = META_EVENT_NULL;
    int complete = 0;
    if (way == 0) {
        CHECK_OK(meta_halo_exchange(plan, c->fields, NULL));
        return;
    }
    CHECK_OK(meta_halo_start(plan, c->fields));
    if (way == 1) {
        CHECK_OK(meta_halo_finish(plan, NULL));
    } else if (way == 2) { /* what is queued next sees the ghosts: nobody waits */
        CHECK_OK(meta_halo_finish(plan, META_ASYNC));
    } else {
        CHECK_OK(meta_halo_finish(plan, &done));
        while (way == 3 && !complete) CHECK_OK(meta_event_test(done, &complete));
        if (way == 4) CHECK_OK(meta_event_wait(done));
        CHECK_OK(meta_event_free(&done));
    }
}

static void run_case(halo_case *c)
{
    meta_halo plan;
    const int ways = 5, first = (int)test_random_in(0, ways - 1);
    const int steps = test_long() ? ways : 3;
    if (!CHECK_OK(meta_halo_create(&plan, &c->desc))) return;
    for (int step = 0; step < steps; ++step) {
        halo_case_initial(c, step);
        halo_case_expected(c, step);
        halo_case_upload(c);
        exchange(c, plan, (first + step) % ways);
        halo_case_check(c);
    }
    CHECK_OK(meta_halo_free(&plan));
}

static void run_wish(const halo_wish *wish, int64_t number)
{
    halo_case c;
    if (halo_case_make(&c, wish, "case", number)) run_case(&c);
    halo_case_free(&c);
}

/* All wishes in turn in a long run, each with many extents, types and paddings on few ranks; else a
 * sample that is random but has every device's turn. */
static void every_element_is_as_its_global_index_says(void)
{
    const int64_t all = halo_wish_count(), sample = test_size > 4 ? 6 : 30;
    const int64_t many = test_size <= 2 && all < 25000 ? 25000 : all;
    const int64_t cases = test_count(sample, many), part = cases < all ? all / cases : 1;
    TEST_CASES (k, sample, many) {
        if (halo_broken_anywhere()) break;
        const int64_t number = (part * k + test_random_in(0, part - 1)) % all;
        const halo_wish wish = halo_wish_number(number);
        run_wish(&wish, number);
    }
}

/* Faces and messages of several pages, if blocks are not cut often. */
static halo_wish large_wish(void)
{
    halo_wish wish = halo_wish_random();
    wish.thick = wish.dims == 1 ? 1000 : wish.dims == 2 ? 500 : test_long() ? 60 : 30;
    return wish;
}

static void every_element_of_large_blocks_is_as_its_global_index_says(void)
{
    TEST_CASES (k, test_size > 4 ? 2 : 8, 200) {
        if (halo_broken_anywhere()) break;
        const halo_wish wish = large_wish();
        run_wish(&wish, k);
    }
}

static void join_with(const char *name, const char *value)
{
    CHECK_OK(meta_comm_finalize());
    setenv("META_SHARED", "off", 1);
    if (name) setenv(name, value, 1);
    test_require(meta_comm_init(NULL, NULL));
    unsetenv("META_SHARED");
    if (name) unsetenv(name);
}

/* Without shared memory, and with blocks large enough for messages of several pieces where settings
 * make pieces small. */
static void values_do_not_depend_on_the_way_messages_take(void)
{
    static const struct {
        const char *name, *value;
    } settings[] = {{NULL, NULL}, {"META_TEST_CHUNK", "4096"}, {"META_PIPELINE", "4096"}};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; ++s) {
        join_with(settings[s].name, settings[s].value);
        TEST_CASES (k, test_size > 4 ? 1 : 3, 100) {
            if (halo_broken_anywhere()) break;
            const halo_wish wish = large_wish();
            run_wish(&wish, k);
        }
    }
    CHECK_OK(meta_comm_finalize());
    test_require(meta_comm_init(NULL, NULL));
}

/* Any numbers, of this rank's own: ranks must draw alike from test_random(), and have not equally
 * many elements. */
static void fill(unsigned char *to, const halo_array *a, uint64_t seed)
{
    for (int64_t k = 0; k < a->count; ++k, to += a->element) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double f64 = (double)(seed >> 11) * 0x1p-53;
        const float f32 = (float)f64;
        memcpy(to, &seed, a->element);
        if (a->type == META_F64) memcpy(to, &f64, sizeof f64);
        if (a->type == META_F32) memcpy(to, &f32, sizeof f32);
    }
}

/* The same numbers again and again; what the first exchange made of them is in `expected`. */
static void add_again_and_again(halo_case *c, meta_halo plan, unsigned char *const *numbers)
{
    for (int step = 0; step < 5; ++step) {
        const struct timespec late = {.tv_nsec = 1000 * test_random_in(0, 500) * (1 + test_rank)};
        for (int f = 0; f < c->wish.fields; ++f)
            memcpy(c->array[f].found, numbers[f], (size_t)c->array[f].count * c->array[f].element);
        halo_case_upload(c);
        nanosleep(&late, NULL);
        CHECK_OK(meta_halo_exchange(plan, c->fields, step % 2 ? META_ASYNC : NULL));
        for (int f = 0; f < c->wish.fields; ++f) {
            halo_array *a = &c->array[f];
            const size_t bytes = (size_t)a->count * a->element;
            CHECK_OK(meta_copy_d2h(a->found, c->fields[f], bytes, NULL));
            if (step == 0) memcpy(a->expected, a->found, bytes);
            CHECK_ARRAY(a->found, a->expected, a->count, a->type);
        }
    }
}

static void add_random_numbers(halo_case *c)
{
    unsigned char *numbers[CASE_FIELDS] = {NULL};
    const uint64_t seed = test_random();
    meta_halo plan;
    for (int f = 0; f < c->wish.fields; ++f) {
        const halo_array *a = &c->array[f];
        numbers[f] = malloc((size_t)a->count * a->element);
        fill(numbers[f], a, seed + (uint64_t)(f * 1000 + test_rank));
    }
    if (CHECK_OK(meta_halo_create(&plan, &c->desc))) {
        add_again_and_again(c, plan, numbers);
        CHECK_OK(meta_halo_free(&plan));
    }
    for (int f = 0; f < c->wish.fields; ++f) free(numbers[f]);
}

/* Sums that are not exact depend on the order of additions, which is to be the same every time. */
static void floating_sums_have_the_same_bits_every_time(void)
{
    TEST_CASES (k, 4, 200) {
        if (halo_broken_anywhere()) break;
        halo_wish wish = halo_wish_random();
        halo_case c;
        wish.op = META_HALO_ADD;
        if (halo_case_make(&c, &wish, "sum", k)) add_random_numbers(&c);
        halo_case_free(&c);
    }
}

TEST_COMM_MAIN(PROMISE(every_element_is_as_its_global_index_says),
               PROMISE(every_element_of_large_blocks_is_as_its_global_index_says),
               PROMISE(values_do_not_depend_on_the_way_messages_take),
               PROMISE(floating_sums_have_the_same_bits_every_time))
