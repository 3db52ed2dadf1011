/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_pieces.c
 *  Reductions of more numbers than pass at once: right at the edges of pieces, wherever the numbers
 * lie and however the caller waits; and with little memory of their own. */
/* TEST: backends=all np=2 mixed=yes labels=comm */
/* TEST: backends=openmp np=1,3 labels=comm */
/* TEST: backends=opencl np=3 mixed=yes labels=comm long=yes */
#include "test_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { PIECE = 4 << 20, MOST = 3 * PIECE / 8 };

/* ------------------------------------------------------------------ any numbers */

static int64_t number_of(int rank, int64_t k)
{
    return (k * 7 + rank * 13) % 101 - 50;
}

static int64_t expected_of(meta_op op, int64_t k)
{
    int64_t of_all = number_of(0, k);
    for (int r = 1; r < test_size; ++r) {
        const int64_t x = number_of(r, k);
        if (op == META_SUM) of_all += x;
        else if (op == META_MIN ? x < of_all : x > of_all) of_all = x;
    }
    return of_all;
}

static void put(void *array, int64_t k, meta_type type, int64_t value)
{
    if (type == META_F64) ((double *)array)[k] = (double)value;
    else if (type == META_F32) ((float *)array)[k] = (float)value;
    else if (type == META_I64) ((int64_t *)array)[k] = value;
    else ((int32_t *)array)[k] = (int32_t)value;
}

typedef struct place {
    void *at; /* a buffer, or the program's own memory */
    bool on_device;
} place;

static place place_of(size_t bytes)
{
    place p = {NULL, test_random_in(0, 1) == 1};
    if (p.on_device) CHECK_OK(meta_alloc(&p.at, bytes));
    else p.at = malloc(bytes);
    return p;
}

static void drop(place p)
{
    if (p.on_device) CHECK_OK(meta_free(p.at));
    else free(p.at);
}

static void fill(place p, const void *values, size_t bytes)
{
    if (p.on_device) CHECK_OK(meta_copy_h2d(p.at, values, bytes, NULL));
    else memcpy(p.at, values, bytes);
}

/* After a call that does not wait, what was reduced on the device may change. */
static void reduce(place to, place from, int64_t count, meta_op op, meta_type type, size_t bytes)
{
    meta_event event = META_EVENT_NULL;
    const int way = (int)test_random_in(0, 2);
    meta_event *done = way == 0 ? NULL : way == 1 ? META_ASYNC : &event;
    static const char zeros[8];
    CHECK_OK(meta_allreduce(to.at, from.at, count, op, type, done));
    if (way > 0 && from.on_device && from.at != to.at)
        CHECK_OK(meta_fill(from.at, (int64_t)(bytes / 4), zeros, META_I32, META_ASYNC));
    if (way == 2) CHECK_OK(meta_event_wait(event));
    if (way == 2) CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_flush());
}

static void one_case(int64_t number, double *values, double *expected)
{
    static const meta_type types[] = {META_I64, META_I32, META_F32, META_F64};
    static const size_t sizes[] = {8, 4, 4, 8};
    const int t = (int)test_random_in(0, 3);
    const meta_op op = (meta_op)test_random_in(0, 2);
    const int64_t piece = PIECE / (int64_t)sizes[t],
                  edges[] = {piece, piece + 1, 2 * piece, 2 * piece + 777, piece - 1};
    const int64_t count = edges[number % 5];
    const size_t bytes = (size_t)count * sizes[t];
    test_case("%" PRId64 ": %" PRId64 " elements of type %d, operation %d", number, count,
              (int)types[t], (int)op);
    for (int64_t k = 0; k < count; ++k) {
        put(values, k, types[t], number_of(test_rank, k));
        put(expected, k, types[t], expected_of(op, k));
    }
    const place from = place_of(bytes), to = test_random_in(0, 2) ? place_of(bytes) : from;
    fill(from, values, bytes);
    reduce(to, from, count, op, types[t], bytes);
    if (to.on_device) CHECK_OK(meta_copy_d2h(values, to.at, bytes, NULL));
    CHECK_ARRAY(to.on_device ? values : to.at, expected, (size_t)count, types[t]);
    if (to.at != from.at) drop(to);
    drop(from);
}

static void large_reductions_are_those_of_all_their_numbers(void)
{
    double *values = malloc(MOST * sizeof *values), *expected = malloc(MOST * sizeof *expected);
    for (int64_t k = 0; k < test_count(5, 200); ++k) one_case(k, values, expected);
    free(values);
    free(expected);
}

/* ------------------------------------------------------------------ exact sums */

/* A number of the first and the last rank that in any other order takes the rest with it. */
static void exact_sums_of_many_numbers_are_rounded_once(void)
{
    enum { COUNT = 50000 };
    static double mine[COUNT], found[COUNT], expected[COUNT];
    CHECK_OK(meta_set_reproducible(1));
    for (int k = 0; k < COUNT; ++k) {
        mine[k] = (double)number_of(test_rank, k);
        expected[k] = (double)expected_of(META_SUM, k);
        if (test_size < 3) continue;
        if (test_rank == 0) mine[k] = 1e300;
        if (test_rank == test_size - 1) mine[k] = -1e300;
        expected[k] = 0;
        for (int r = 1; r < test_size - 1; ++r) expected[k] += (double)number_of(r, k);
    }
    for (int way = 0; way < 4; ++way) {
        const place from = place_of(sizeof mine), to = place_of(sizeof mine);
        test_case("way %d", way);
        fill(from, mine, sizeof mine);
        reduce(to, from, COUNT, META_SUM, META_F64, sizeof mine);
        if (to.on_device) CHECK_OK(meta_copy_d2h(found, to.at, sizeof found, NULL));
        CHECK_ARRAY(to.on_device ? found : to.at, expected, COUNT, META_F64);
        drop(to);
        drop(from);
    }
    CHECK_OK(meta_set_reproducible(0));
}

static void ranks_that_disagree_on_exact_sums_do_so_before_the_numbers_pass(void)
{
    const int64_t count = MOST;
    double *values = calloc(MOST, sizeof *values), one = 1, sum = 0;
    if (test_size == 1) return free(values);
    CHECK_OK(meta_set_reproducible(test_rank == 0));
    CHECK_ERR(meta_allreduce(values, values, count, META_SUM, META_F64, NULL), META_ERR_MISMATCH);
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_allreduce(&sum, &one, 1, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, test_size, 0);
    free(values);
}

/* ------------------------------------------------------------------ memory */

static int64_t address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (int64_t)pages * 4096;
}

/* 64 MiB of numbers, where there is address space for half as much more. */
static void a_reduction_needs_memory_for_a_piece_alone(void)
{
    enum { COUNT = 8 << 20, ROOM = 32 << 20 };
    const char *sanitized = getenv("META_TEST_SANITIZE");
    const double one = 1;
    double sum = 0;
    void *array;
    struct rlimit before, limit;
    const meta_box all = {1, {COUNT}, {0}, {COUNT}};
    if (sanitized && strcmp(sanitized, "no") != 0) return;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof(double)))) return;
    CHECK_OK(meta_fill(array, COUNT, &one, META_F64, NULL));
    CHECK_OK(meta_reduce(&sum, array, &all, META_MAX, META_F64, NULL));
    CHECK_OK(meta_allreduce(array, array, COUNT / 8, META_SUM, META_F64, NULL)); /* MPI's own */
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    limit = before;
    limit.rlim_cur = (rlim_t)(address_space() + ROOM);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_OK(meta_allreduce(array, array, COUNT, META_MAX, META_F64, NULL));
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK_OK(meta_reduce(&sum, array, &all, META_MAX, META_F64, NULL));
    CHECK_NEAR(sum, test_size, 0);
    CHECK_OK(meta_free(array));
}

TEST_COMM_MAIN(PROMISE(large_reductions_are_those_of_all_their_numbers),
               PROMISE(exact_sums_of_many_numbers_are_rounded_once),
               PROMISE(ranks_that_disagree_on_exact_sums_do_so_before_the_numbers_pass),
               PROMISE(a_reduction_needs_memory_for_a_piece_alone))
