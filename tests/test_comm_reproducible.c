/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_reproducible.c
 *  Reproducible sums over ranks: the bits are those of one exact sum over all numbers, however
 *  they are distributed over any kinds of devices. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: backends=all np=1,2,3,4 mixed=yes labels=comm smoke=yes */
#define META_KERNELS_HERE
#include "user_exact.kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact_sums.h"
#include "test_mpi.h"

enum { CELLS = 3000, SUMS = 70 };

static _Alignas(8) unsigned char all[2][CELLS * 8];

static void *device_array(size_t bytes)
{
    void *array = NULL;
    CHECK_OK(meta_alloc(&array, bytes));
    return array;
}

/* The bytes of an element of a type that all devices compute with. */
static size_t pick_type(meta_type *type)
{
    int mine = case_has_f64(), every;
    MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *type = every && test_random_in(0, 1) ? META_F64 : META_F32;
    return *type == META_F64 ? 8 : 4;
}

/* Where rank @p rank's numbers begin: cut at random, the same on every rank. */
static int64_t cut(const int64_t *cuts, int rank)
{
    return rank == 0 ? 0 : rank == test_size ? CELLS : cuts[rank];
}

static void pick_cuts(int64_t *cuts)
{
    for (int k = 1; k < test_size; ++k) cuts[k] = test_random_in(0, CELLS);
    for (int j = 1; j < test_size; ++j)
        for (int k = 1; k + 1 < test_size; ++k)
            if (cuts[k] > cuts[k + 1]) {
                const int64_t lower = cuts[k + 1];
                cuts[k + 1] = cuts[k];
                cuts[k] = lower;
            }
}

/* What is added: numbers, products, or what a kernel of the program's contributes. */
typedef enum addends { NUMBERS, PRODUCTS, CONTRIBUTIONS, ADDENDS } addends;

static meta_err run_total(const meta_box *box, const void *x, void *to, meta_type type,
                          meta_event *done)
{
    return type == META_F64 ? total_f64(box, x, to, done) : total_f32(box, x, to, done);
}

/* The bits of one sum over all ranks. @p way: results in host memory, in place, in device memory
 * without waiting in between, through events. */
static uint64_t sum_of(void *const *mine, const meta_box *box, addends of, meta_type type, int way)
{
    uint64_t local = 0, global = 0;
    void *on_device = way >= 2 ? device_array(16) : NULL;
    void *result = way >= 2 ? on_device : (void *)&local;
    void *to = way == 1 ? result : way == 2 ? (char *)on_device + 8 : (void *)&global;
    meta_event event = META_EVENT_NULL, *done = way == 2 ? META_ASYNC : way == 3 ? &event : NULL;
    meta_event *local_done = way >= 2 ? META_ASYNC : NULL;
    if (of == PRODUCTS) CHECK_OK(meta_dot(result, mine[0], mine[1], box, type, local_done));
    else if (of == NUMBERS) CHECK_OK(meta_reduce(result, mine[0], box, META_SUM, type, local_done));
    else CHECK_OK(run_total(box, mine[0], result, type, local_done));
    CHECK_OK(meta_allreduce(to, result, 1, META_SUM, type, done));
    /* The next sum to the same place is not this one's. */
    if (way >= 2 && of == CONTRIBUTIONS)
        CHECK_OK(run_total(box, mine[1], result, type, META_ASYNC));
    else if (way >= 2) CHECK_OK(meta_reduce(result, mine[1], box, META_SUM, type, META_ASYNC));
    if (way == 3) CHECK_OK(meta_event_wait(event));
    if (way == 3) CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_flush());
    if (way == 2) CHECK_OK(meta_copy_d2h(&global, to, type == META_F64 ? 8 : 4, NULL));
    if (on_device) CHECK_OK(meta_free(on_device));
    return way == 1 ? local : global;
}

static void one_case(int64_t number)
{
    static exact sum;
    const meta_box whole = {1, {CELLS}, {0}, {CELLS}};
    meta_type type;
    int64_t cuts[64] = {0};
    const size_t bytes = pick_type(&type);
    const int flavour = (int)(number % EXACT_FLAVOURS), way = (int)test_random_in(0, 3);
    const addends of = (addends)test_random_in(0, ADDENDS - 1);
    pick_cuts(cuts);
    const int64_t from = cut(cuts, test_rank), count = cut(cuts, test_rank + 1) - from;
    const meta_box box = {1, {count + 1}, {0}, {count}};
    void *mine[2];
    test_case("%lld: contents %d of %s, way %d, addends %d", (long long)number, flavour,
              case_type_name(type), way, (int)of);
    for (int k = 0; k < 2; ++k) {
        exact_fill(all[k], CELLS, type, flavour);
        mine[k] = device_array((size_t)(count + 1) * bytes);
        CHECK_OK(
            meta_copy_h2d(mine[k], all[k] + (size_t)from * bytes, (size_t)count * bytes, NULL));
    }
    memset(&sum, 0, sizeof sum);
    exact_add_box(&sum, all[0], of == PRODUCTS ? all[1] : NULL, &whole, type);
    CHECK_U64(sum_of(mine, &box, of, type, way), exact_round(&sum, type));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(mine[k]));
}

static void global_sums_are_exact_and_rounded_once(void)
{
    CHECK_OK(meta_set_reproducible(1));
    for (int64_t k = 0; k < test_count(120, 10000); ++k) one_case(k);
    CHECK_OK(meta_set_reproducible(0));
}

/* Many sums, their exact values and plain numbers among them, in one reduction; @p count of them.
 */
static void many_sums(int64_t count, meta_event *done)
{
    static double local[SUMS], global[SUMS], numbers[SUMS];
    static exact sums[SUMS];
    const meta_box one = {1, {2}, {0}, {2}};
    double *device = case_has_f64() ? device_array(2 * sizeof *device) : NULL;
    memset(sums, 0, sizeof sums);
    for (int64_t k = 0; k < count; ++k) {
        for (int rank = 0; rank < test_size; ++rank) {
            exact_fill(numbers, 2, META_F64, 1);
            for (int n = 0; n < (k % 3 ? 2 : 1); ++n) exact_add(&sums[k], numbers[n]);
            if (rank != test_rank) continue;
            local[k] = numbers[0];
            if (k % 3 == 0 || !device) continue;
            CHECK_OK(meta_copy_h2d(device, numbers, 2 * sizeof *numbers, NULL));
            CHECK_OK(meta_reduce(&local[k], device, &one, META_SUM, META_F64, META_ASYNC));
        }
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_allreduce(global, local, count, META_SUM, META_F64, done));
    if (done) CHECK_OK(meta_event_wait(*done));
    if (done) CHECK_OK(meta_event_free(done));
    for (int64_t k = 0; k < count && device; ++k) {
        uint64_t found;
        memcpy(&found, &global[k], sizeof found);
        CHECK_U64(found, exact_round(&sums[k], META_F64));
    }
    if (device) CHECK_OK(meta_free(device));
}

static void many_sums_in_one_reduction_are_each_exact(void)
{
    meta_event event;
    CHECK_OK(meta_set_reproducible(1));
    for (int64_t k = 0; k < test_count(8, 200); ++k) {
        const int64_t counts[] = {SUMS, 2, 63, 64, 7, SUMS - 1, 1, 8};
        many_sums(counts[k % 8], k % 2 ? &event : NULL);
    }
    CHECK_OK(meta_set_reproducible(0));
}

/* What was summed is forgotten with its place: the values there now are added. */
static void other_values_at_the_address_are_what_is_added(void)
{
    const float ones[4] = {1, 1, 1, 0x1p-20f};
    const meta_box line = {1, {4}, {0}, {4}};
    float local = 0, global = 0;
    void *device = device_array(sizeof ones);
    CHECK_OK(meta_set_reproducible(1));
    CHECK_OK(meta_copy_h2d(device, ones, sizeof ones, NULL));
    if (case_has_f64()) CHECK_OK(meta_reduce(&local, device, &line, META_SUM, META_F32, NULL));
    local = 5;
    CHECK_OK(meta_allreduce(&global, &local, 1, META_SUM, META_F32, NULL));
    CHECK(global == 5.0f * (float)test_size);
    /* In place, twice. */
    local = 3;
    CHECK_OK(meta_allreduce(&local, &local, 1, META_SUM, META_F32, NULL));
    CHECK_OK(meta_allreduce(&local, &local, 1, META_SUM, META_F32, NULL));
    CHECK(local == 3.0f * (float)(test_size * test_size));
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_free(device));
}

/* Two sums next to each other of 1 + 2^-60, over which a reduction then writes 1: with another
 * rank's -1 nothing is left, where the exact ones leave 2^-60. */
static void a_reduction_over_several_sums_forgets_each(void)
{
    const double numbers[2] = {1, 0x1p-60}, one = test_rank == 0, minus = -(test_rank == 1);
    const double ones[2] = {one, one}, others[2] = {minus, minus};
    const meta_box line = {1, {2}, {0}, {2}};
    double local[2], global[2];
    void *device = device_array(sizeof numbers);
    CHECK_OK(meta_set_reproducible(1));
    if (case_has_f64()) CHECK_OK(meta_copy_h2d(device, numbers, sizeof numbers, NULL));
    for (int k = 0; k < 2 && case_has_f64(); ++k)
        CHECK_OK(meta_reduce(&local[k], device, &line, META_SUM, META_F64, NULL));
    CHECK_OK(meta_allreduce(local, ones, 2, META_SUM, META_F64, NULL));
    CHECK_OK(meta_allreduce(global, test_rank == 0 ? local : others, 2, META_SUM, META_F64, NULL));
    for (int k = 0; k < 2; ++k) CHECK(global[k] == (test_size > 1 ? 0 : 1));
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_free(device));
}

/* The sum is too low for a double, though not for the exact one, to which another rank could add
 * what brings it back; of no numbers the highest is minus infinity, to which it could not. */
static void a_result_of_nothing_takes_the_place_of_a_sum(void)
{
    const double numbers[2] = {-DBL_MAX, -DBL_MAX};
    const meta_box line = {1, {2}, {0}, {2}}, nothing = {1, {2}, {1}, {1}};
    double local = test_rank == 1 ? DBL_MAX : 0, global = 0;
    void *device = device_array(sizeof numbers);
    CHECK_OK(meta_set_reproducible(1));
    if (case_has_f64() && test_rank == 0) {
        CHECK_OK(meta_copy_h2d(device, numbers, sizeof numbers, NULL));
        CHECK_OK(meta_reduce(&local, device, &line, META_SUM, META_F64, NULL));
        CHECK(isinf(local));
        CHECK_OK(meta_reduce(&local, device, &nothing, META_MAX, META_F64, NULL));
    } else if (test_rank == 0) local = -INFINITY;
    CHECK_OK(meta_allreduce(&global, &local, 1, META_SUM, META_F64, NULL));
    CHECK(isinf(global) && global < 0);
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_free(device));
}

static void more_sums_than_are_remembered_are_right_within_rounding(void)
{
    enum { MANY = 5000 };
    static float local[MANY], global[MANY];
    const float ones[2] = {1, 0x1p-30f};
    const meta_box line = {1, {2}, {0}, {2}};
    void *device = device_array(sizeof ones);
    if (case_has_f64()) {
        CHECK_OK(meta_set_reproducible(1));
        CHECK_OK(meta_copy_h2d(device, ones, sizeof ones, NULL));
    } else {
        for (int k = 0; k < MANY; ++k) local[k] = 1;
    }
    for (int k = 0; k < MANY && case_has_f64(); ++k)
        CHECK_OK(meta_reduce(&local[k], device, &line, META_SUM, META_F32, META_ASYNC));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_set_reproducible(1));
    CHECK_OK(meta_allreduce(global, local, MANY, META_SUM, META_F32, NULL));
    for (int k = 0; k < MANY; ++k) CHECK_NEAR((double)global[k], (double)test_size, 1e-6);
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_free(device));
}

static void ranks_that_disagree_all_get_an_error(void)
{
    enum { LONG = 1000 };
    static double many[LONG], all_of_them[LONG];
    for (int odd = 0; odd < 2; ++odd) {
        const int64_t counts[] = {1, 63, 64, LONG};
        CHECK_OK(meta_set_reproducible(test_rank % 2 == odd));
        for (int k = 0; k < 4; ++k) {
            test_case("%d numbers, on in rank %d", (int)counts[k], odd);
            if (test_size == 1) /* a rank agrees with itself */
                CHECK_OK(meta_allreduce(all_of_them, many, counts[k], META_SUM, META_F64, NULL));
            else
                CHECK_ERR_NAMES(
                    meta_allreduce(all_of_them, many, counts[k], META_SUM, META_F64, NULL),
                    META_ERR_MISMATCH, "reproducible");
        }
        CHECK_OK(meta_set_reproducible(odd));
        many[0] = 1;
        CHECK_OK(meta_allreduce(all_of_them, many, LONG, META_SUM, META_F64, NULL));
        CHECK(all_of_them[0] == test_size);
    }
    CHECK_OK(meta_set_reproducible(0));
}

static void plain_sums_and_extremes_are_as_before(void)
{
    static double many[200], sums[200];
    const double zero = -0.0, nan = test_rank ? -NAN : 1;
    double least = 1;
    uint64_t bits;
    for (int count = 1; count <= 200; count += 31) {
        for (int k = 0; k < count; ++k) many[k] = k + test_rank;
        CHECK_OK(meta_allreduce(sums, many, count, META_SUM, META_F64, NULL));
        for (int k = 0; k < count; ++k)
            CHECK(sums[k] == test_size * k + test_size * (test_size - 1) / 2);
    }
    CHECK_OK(meta_allreduce(&least, &zero, 1, META_MIN, META_F64, NULL));
    memcpy(&bits, &least, sizeof bits);
    CHECK_U64(bits, 0);
    CHECK_OK(meta_allreduce(&least, &nan, 1, META_MAX, META_F64, NULL));
    memcpy(&bits, &least, sizeof bits);
    if (test_size > 1) CHECK_U64(bits, UINT64_C(0x7ff8000000000000));
}

TEST_COMM_MAIN(PROMISE(global_sums_are_exact_and_rounded_once),
               PROMISE(many_sums_in_one_reduction_are_each_exact),
               PROMISE(other_values_at_the_address_are_what_is_added),
               PROMISE(a_reduction_over_several_sums_forgets_each),
               PROMISE(a_result_of_nothing_takes_the_place_of_a_sum),
               PROMISE(more_sums_than_are_remembered_are_right_within_rounding),
               PROMISE(ranks_that_disagree_all_get_an_error),
               PROMISE(plain_sums_and_extremes_are_as_before))
