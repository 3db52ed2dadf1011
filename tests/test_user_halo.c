/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_halo.c
 *  Order of the program's own kernels and of halo exchanges of the same arrays. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm */
/* TEST: backends=all np=2 labels=comm with=CHECK=1 */
#define META_KERNELS_HERE
#include "user_halo.kernel.h"

#include "test_mpi.h"

#include <string.h>

enum { CELLS = 500, ARRAYS = 32, RESULTS = 31 };

static const meta_box inner = {1, {CELLS + 2}, {1}, {CELLS + 1}};

/* A periodic line of ranks, and one ghost cell at each side. */
static meta_halo ring_plan(MPI_Comm *line)
{
    const int periodic = 1;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, line);
    desc.cart = *line;
    desc.box = inner;
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I32;
    CHECK_OK(meta_halo_create(&plan, &desc));
    return plan;
}

/* One step of the whole ring, as every rank can compute it. */
static int32_t ring_step(int32_t *next, const int32_t *now, int cells, int32_t add)
{
    int32_t most = INT32_MIN;
    for (int k = 0; k < cells; ++k) {
        next[k] = (now[(k + cells - 1) % cells] + now[k] + 2 * now[(k + 1) % cells] + add) % 100000;
        if (k / CELLS == test_rank && next[k] > most) most = next[k];
    }
    return most;
}

/* Steps of an exchange and a kernel each, none of which is waited for. */
static void a_kernel_reads_the_ghosts_of_the_exchange_before_it(void)
{
    enum { STEPS = 40 };
    const int cells = CELLS * test_size;
    int32_t *whole[2], found[CELLS], most[STEPS], expected[STEPS];
    MPI_Comm line;
    meta_halo plan = ring_plan(&line);
    void *u[2];
    for (int k = 0; k < 2; ++k) {
        whole[k] = malloc((size_t)cells * sizeof **whole);
        CHECK_OK(meta_alloc(&u[k], (CELLS + 2) * sizeof(int32_t)));
    }
    for (int k = 0; k < cells; ++k) whole[0][k] = (k * 7919) % 1000;
    CHECK_OK(meta_copy_h2d((int32_t *)u[0] + 1, whole[0] + CELLS * test_rank,
                           CELLS * sizeof(int32_t), NULL));
    for (int step = 0; step < STEPS; ++step) {
        const int from = step % 2, to = 1 - from;
        expected[step] = ring_step(whole[to], whole[from], cells, step);
        if (step % 3 == 0) {
            CHECK_OK(meta_halo_start(plan, &u[from]));
            CHECK_OK(meta_halo_finish(plan, META_ASYNC));
        } else {
            CHECK_OK(meta_halo_exchange(plan, &u[from], META_ASYNC));
        }
        CHECK_OK(ring_i32(&inner, u[to], u[from], step, &most[step], META_ASYNC));
    }
    CHECK_OK(meta_copy_d2h(found, (int32_t *)u[STEPS % 2] + 1, sizeof found, NULL));
    CHECK_OK(meta_flush());
    CHECK_ARRAY(found, whole[STEPS % 2] + CELLS * test_rank, CELLS, META_I32);
    CHECK_ARRAY(most, expected, STEPS, META_I32);
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_free(u[k]));
        free(whole[k]);
    }
    MPI_Comm_free(&line);
}

static void as_many_arrays_and_results_as_possible_follow_an_exchange(void)
{
    const void *arguments[ARRAYS + RESULTS];
    int32_t found[CELLS], expected[CELLS], ghosts[CELLS + 2], result[RESULTS];
    MPI_Comm line;
    meta_halo plan = ring_plan(&line);
    meta_kernel *kernel = NULL;
    void *a[ARRAYS];
    for (int k = 0; k < ARRAYS; ++k) {
        const int32_t value = 10 * k + test_rank;
        CHECK_OK(meta_alloc(&a[k], (CELLS + 2) * sizeof(int32_t)));
        CHECK_OK(meta_fill(a[k], CELLS + 2, &value, META_I32, META_ASYNC));
        arguments[k] = a[k];
    }
    for (int k = 0; k < RESULTS; ++k) arguments[ARRAYS + k] = &result[k];
    for (int k = 0; k < CELLS; ++k) expected[k] = 2 * (310 + test_rank);
    expected[0] += (test_rank + test_size - 1) % test_size - test_rank;
    expected[CELLS - 1] += (test_rank + 1) % test_size - test_rank;
    if (CHECK_OK(meta_kernel_find("throng", META_I32, &kernel)))
        for (int round = 0; round < 5; ++round) {
            memset(result, 0x55, sizeof result);
            CHECK_OK(meta_halo_exchange(plan, &a[ARRAYS - 1], META_ASYNC));
            CHECK_OK(meta_kernel_run(kernel, &inner, arguments, META_ASYNC));
            CHECK_OK(meta_copy_d2h(found, (int32_t *)a[0] + 1, sizeof found, NULL));
            CHECK_OK(meta_flush());
            CHECK_ARRAY(found, expected, CELLS, META_I32);
            for (int k = 0; k < RESULTS; ++k) {
                const int32_t value = 10 * (k + 1) + test_rank;
                CHECK_INT(result[k], k % 2 ? value : value * CELLS);
            }
        }
    CHECK_OK(meta_copy_d2h(ghosts, a[ARRAYS - 1], sizeof ghosts, NULL));
    CHECK_INT(ghosts[0], 310 + (test_rank + test_size - 1) % test_size);
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < ARRAYS; ++k) CHECK_OK(meta_free(a[k]));
    MPI_Comm_free(&line);
}

TEST_COMM_MAIN(PROMISE(a_kernel_reads_the_ghosts_of_the_exchange_before_it),
               PROMISE(as_many_arrays_and_results_as_possible_follow_an_exchange))
