/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_failures.c
 *  Whatever the host may refuse fails in turn in a job: each allocation and each system call that
 * libmeta makes while it joins, exchanges, sends, reduces, cuts a grid, moves its cells and leaves,
 * one at a time. Every time there is an error with a message, or all results are right, and the
 * job can be joined again. One rank is its own neighbour: what others do about an error stands in
 * test_comm_faults.c. */
/* TEST: backends=openmp np=1 labels=comm */
/* TEST: backends=opencl np=1 labels=comm */
/* TEST: backends=openmp np=1 with=CHECK=1 labels=comm */
#include "test_mpi.h"

#include <inttypes.h>
#include <stdio.h>

#include "first_error.h"
#include "host_fault.h"

enum { CELLS = 600, ALL = CELLS + 2 };
static MPI_Comm ring;

static void exchange(void *u)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    double found[ALL];
    desc.cart = ring;
    desc.box = (meta_box){1, {ALL}, {1}, {ALL - 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_F64;
    STEP(meta_fill(u, ALL, &(double){7}, META_F64, NULL));
    STEP(meta_fill_box(u, &(meta_box){1, {ALL}, {0}, {1}}, &(double){0}, META_F64, NULL));
    STEP(meta_halo_create(&plan, &desc));
    STEP(meta_halo_exchange(plan, &u, NULL));
    STEP(meta_copy_d2h(found, u, sizeof found, NULL));
    right(found[0], 7, "a ghost cell");
    STEP(meta_halo_free(&plan));
}

static void pass(void *from, void *to)
{
    meta_event sent = META_EVENT_NULL;
    double found = 0;
    STEP(meta_fill(from, ALL, &(double){9}, META_F64, NULL));
    STEP(meta_packed_send(0, from, ALL, META_F64, 3, &sent));
    STEP(meta_packed_recv(0, to, ALL, META_F64, 3, NULL));
    STEP(meta_event_wait(sent));
    STEP(meta_event_free(&sent));
    STEP(meta_copy_d2h(&found, (double *)to + ALL - 1, sizeof found, NULL));
    right(found, 9, "what was sent");
}

static void reduce(void)
{
    double x[2] = {3, 1}, sum[2] = {-1, -1};
    float most = -1;
    STEP(meta_allreduce(sum, x, 2, META_SUM, META_F64, NULL));
    right(sum[0], 3, "the sum");
    STEP(meta_allreduce(&most, &(float){5}, 1, META_MAX, META_F32, NULL));
    right((double)most, 5, "the maximum");
    STEP(meta_set_reproducible(1));
    STEP(meta_allreduce(sum, x, 2, META_SUM, META_F64, NULL));
    right(sum[1], 1, "the reproducible sum");
    STEP(meta_set_reproducible(0));
}

static void move(void *from, void *to)
{
    int64_t at[2], next_at[2];
    const meta_cuts cuts = {{at}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    const meta_box all = {1, {CELLS}, {0}, {CELLS}};
    const meta_redistribute_field field = {
        .type = META_F64, .from = from, .from_box = all, .to = to, .to_box = all};
    double found = 0;
    desc.cart = ring;
    desc.cells[0] = CELLS;
    STEP(meta_decompose(&cuts, &desc, NULL));
    right((double)at[1], CELLS, "the cut");
    STEP(meta_balance(&(meta_cuts){{next_at}}, &cuts, &desc, 1, 1, NULL));
    right((double)next_at[1], CELLS, "the same cut");
    STEP(meta_fill(from, CELLS, &(double){11}, META_F64, NULL));
    STEP(meta_redistribute(ring, &cuts, &cuts, 1, &field));
    STEP(meta_copy_d2h(&found, to, sizeof found, NULL));
    right(found, 11, "a cell that was moved");
}

static void live(void)
{
    void *u = NULL, *v = NULL;
    STEP(meta_comm_init(NULL, NULL));
    if (went(meta_alloc(&u, ALL * sizeof(double)), "meta_alloc()") &&
        went(meta_alloc(&v, ALL * sizeof(double)), "meta_alloc()")) {
        exchange(u);
        if (first.code == META_OK) pass(u, v);
        if (first.code == META_OK) reduce();
        if (first.code == META_OK) move(u, v);
    }
    if (u && !went(meta_free(u), "meta_free()")) meta_free(u);
    if (v && !went(meta_free(v), "meta_free()")) meta_free(v);
    if (!went(meta_comm_finalize(), "meta_comm_finalize()")) meta_comm_finalize();
}

static long live_with(long n)
{
    memset(&first, 0, sizeof first);
    test_case("call %ld fails", n);
    host_fault_arm(n);
    live();
    host_fault_disarm();
    return host_fault_calls();
}

static void fail_in_turn(bool driver)
{
    const int periodic = 1;
    long lives = 0, errors = 0;
    const char *number = getenv("META_TEST_FAIL_AT");
    setenv("META_LOG", "off", 1);
    setenv("META_TIMEOUT", "2", 1);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &ring);
    host_fault_of_driver(driver);
    for (int k = 0; k < 2; ++k) live_with(0); /* what is kept for ever is there now */
    if (!CHECK_INT(first.code, META_OK)) printf("%s: %s\n", first.call, first.message);
    const long calls = live_with(0);
    const int64_t wanted = test_count(driver ? 8 : 150, calls), step = 1 + calls / wanted;
    for (long n = number ? atol(number) : 1 + (long)(test_random() % (uint64_t)step);; n += step) {
        const long made = live_with(n);
        if (!*host_fault_place() && n > made) break;
        test_case("call %ld failed: %s\n    first error: %s, %s", n, host_fault_place(),
                  first.call ? first.call : "none", first.message);
        ++lives;
        if (first.code != META_OK) {
            ++errors;
            CHECK((int)first.code > 0 && first.code < META_ERR_COUNT);
            if (!strstr(first.message, "meta_")) FAIL("the message names no call");
        }
        live_with(0);
        if (first.code != META_OK) FAIL("and then %s: %s", first.call, first.message);
        if (number) break;
    }
    test_case("all");
    CHECK(lives > 0 || driver || !host_fault_possible());
    printf("note   of %ld calls %ld failed, one at a time: %ld errors\n", calls, lives, errors);
    MPI_Comm_free(&ring);
}

static void whatever_the_host_refuses_in_a_job_is_an_error(void)
{
    fail_in_turn(false);
}

/* OpenCL's; others make no call of it. */
static void whatever_the_driver_refuses_in_a_job_is_an_error(void)
{
    fail_in_turn(true);
}

TEST_MPI_MAIN(PROMISE(whatever_the_driver_refuses_in_a_job_is_an_error),
              PROMISE(whatever_the_host_refuses_in_a_job_is_an_error))
