/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_gpu_faults.c
 *  Every call of the runtime that a GPU back end makes for halo exchanges fails in turn, once or
 * for ever; see fault_lives.h. One rank is its own neighbour, by MPI without a launcher. */
/* TEST: backends=faults timeout=1800 mpi=yes labels=comm */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "fault_lives.h"
#include "meta_comm.h"
#include "test.h"

enum { N = 10, CELLS = N * N * N, FIELDS = 2 };
static const meta_box inner = {3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};

static meta_err join_job(void)
{
    int is_initialized;
    MPI_Initialized(&is_initialized);
    if (!is_initialized) MPI_Init(NULL, NULL);
    return meta_comm_init(NULL, NULL);
}

/* ------------------------------------------------------------------ what is done */

static int cell(int x, int y, int z)
{
    return x + N * (y + N * z);
}

/* A ghost cell is the inner one at the other end, which has the number of its place; the wrap below
 * 1 is N - 2. */
static void check_ghosts(const double *out, int field)
{
    CHECK_VALUE(out[cell(0, 3, 4)], field + cell(N - 2, 3, 4));
    CHECK_VALUE(out[cell(N - 1, 3, 4)], field + cell(1, 3, 4));
    CHECK_VALUE(out[cell(3, 0, 4)], field + cell(3, N - 2, 4));
    CHECK_VALUE(out[cell(3, 4, N - 1)], field + cell(3, 4, 1));
    CHECK_VALUE(out[cell(3, 4, 5)], field + cell(3, 4, 5));
}

static void fill(void *const *fields)
{
    static double in[CELLS];
    for (int f = 0; f < FIELDS; ++f) {
        for (int k = 0; k < CELLS; ++k) in[k] = f + k;
        TRY(meta_copy_h2d(fields[f], in, sizeof in, NULL));
    }
}

static void check_fields(void *const *fields)
{
    static double out[CELLS];
    for (int f = 0; f < FIELDS; ++f) {
        memset(out, 0, sizeof out);
        TRY(meta_copy_d2h(out, fields[f], sizeof out, NULL));
        check_ghosts(out, f);
    }
}

static meta_err twice(const meta_box *box, void *field)
{
    const double one = 1;
    return meta_axpy(field, &one, field, box, META_F64, META_ASYNC);
}

/* The box is computed while ghost cells are on their way: each inner cell once. */
static void overlap(meta_halo plan, void *const *fields)
{
    static double out[CELLS];
    memset(out, 0, sizeof out);
    TRY(meta_halo_overlap(plan, fields, twice, twice, fields[1], NULL));
    TRY(meta_copy_d2h(out, fields[1], sizeof out, NULL));
    CHECK_VALUE(out[cell(3, 4, 5)], 2 * (1 + cell(3, 4, 5)));
    CHECK_VALUE(out[cell(1, 1, 1)], 2 * (1 + cell(1, 1, 1)));
}

static void exchange_at_once(meta_halo plan, void *const *fields)
{
    TRY(meta_halo_exchange(plan, fields, NULL));
}

static void exchange_in_two_calls(meta_halo plan, void *const *fields)
{
    meta_event done = META_EVENT_NULL;
    if (TRY(meta_halo_start(plan, fields)) && TRY(meta_halo_finish(plan, &done)))
        TRY(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
}

/* With a plan that has not failed. */
static void use_plan(meta_halo plan, void *const *fields)
{
    fill(fields);
    exchange_at_once(plan, fields);
    check_fields(fields);
    fill(fields);
    if (!fault_reported) exchange_in_two_calls(plan, fields);
    check_fields(fields);
    fill(fields);
    if (!fault_reported) overlap(plan, fields);
}

static void exchange(void *const *fields)
{
    const int sizes[3] = {1, 1, 1}, periodic[3] = {1, 1, 1};
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periodic, 0, &desc.cart);
    desc.box = inner;
    desc.type = META_F64;
    desc.fields = FIELDS;
    for (int d = 0; d < 3; ++d) desc.low[d] = desc.high[d] = 1;
    if (TRY(meta_halo_create(&plan, &desc))) {
        use_plan(plan, fields);
        TRY(meta_halo_free(&plan));
    }
    MPI_Comm_free(&desc.cart);
}

/* Where the device works again, or another one, so does a new plan. */
static void use(bool works)
{
    void *fields[FIELDS] = {NULL};
    if (TRY(meta_alloc(&fields[0], CELLS * sizeof(double))) &&
        TRY(meta_alloc(&fields[1], CELLS * sizeof(double)))) {
        exchange(fields);
        if (fault_reported && works) {
            TRY(meta_flush()); /* which reports what failed of untracked work */
            fault_reported = false;
            exchange(fields);
            CHECK(!fault_reported);
        }
    }
    for (int f = 0; f < FIELDS; ++f)
        if (fields[f]) TRY(meta_free(fields[f]));
}

static void use_halo(void)
{
    use(!fault->sticky);
}

static void use_halo_beside_openmp(void)
{
    use(true);
}

/* ------------------------------------------------------------------ promises */

static const fault_life life = {.use = use_halo, .start = join_job, .stop = meta_comm_finalize};

static void a_call_that_fails_in_an_exchange_is_an_error_or_recovered_from(void)
{
    fault_each(life, 1, test_long() ? 1 : 2);
}

static void a_job_goes_on_after_its_device_was_lost(void)
{
    fault_life lost = life;
    lost.sticky = true;
    fault_each(lost, 1, test_long() ? 1 : 4);
}

static void with_auto_an_exchange_goes_on_without_a_device_that_fails(void)
{
    fault_life both = life;
    both.use = use_halo_beside_openmp;
    both.automatic = true;
    fault_each(both, 1, test_long() ? 1 : 2);
    both.sticky = true;
    fault_each(both, 2, test_long() ? 1 : 4);
}

TEST_MAIN(PROMISE(a_call_that_fails_in_an_exchange_is_an_error_or_recovered_from),
          PROMISE(a_job_goes_on_after_its_device_was_lost),
          PROMISE(with_auto_an_exchange_goes_on_without_a_device_that_fails))
