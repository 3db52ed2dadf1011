/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_order_opencl.c
 *  An exchange on a blocked device: a user event in the library's queue keeps later work from
 *  running until the test completes it. The exchange is ordered after the work queued before it
 *  and before the work queued after it, and the host does not wait. */
/* TEST: backends=opencl np=1,2,3 mixed=yes labels=comm */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "test_mpi.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { CELLS = 3000 };
static const size_t bytes = (CELLS + 2) * sizeof(int64_t);
static const meta_box all = {1, {CELLS + 2}, {0}, {CELLS + 2}};
static const meta_box low_ghost = {1, {CELLS + 2}, {0}, {1}},
                      high_ghost = {1, {CELLS + 2}, {CELLS + 1}, {CELLS + 2}};

/* ------------------------------------------------------------------ a gate in the queue */

typedef struct gate {
    cl_event event; /* NULL on a rank whose device is another one */
    pthread_t opener;
} gate;

/* The library's queue of this rank's device; false where that is not OpenCL. */
static bool librarys_queue(meta_state *state)
{
    meta_mode mode = META_SPREAD;
    int index = 0;
    CHECK_OK(meta_get_acc(&index, &mode));
    return mode == META_OPENCL && CHECK_OK(meta_get_state(index, mode, state));
}

/* The same where work can be held up: with META_CHECK=1 the host waits for each kernel. */
static bool patient_queue(meta_state *state)
{
    const char *check = getenv("META_CHECK");
    return !(check && strcmp(check, "1") == 0) && librarys_queue(state);
}

/* What is queued from now on waits. */
static gate close_gate(void)
{
    gate g = {0};
    meta_state state = META_STATE_INIT;
    cl_int status = CL_SUCCESS;
    if (!patient_queue(&state)) return g;
    g.event = clCreateUserEvent(state.context, &status);
    CHECK_INT(status, CL_SUCCESS);
    CHECK_INT(clEnqueueBarrierWithWaitList(state.queue, 1, &g.event, NULL), CL_SUCCESS);
    CHECK_INT(clFlush(state.queue), CL_SUCCESS);
    return g;
}

/* Whether any rank has a device that can be held up. */
static bool gates_anywhere(void)
{
    meta_state state = META_STATE_INIT;
    const int mine = patient_queue(&state);
    int any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any != 0;
}

static void open_gate(gate *g)
{
    if (!g->event) return;
    CHECK_INT(clSetUserEventStatus(g->event, CL_COMPLETE), CL_SUCCESS);
    CHECK_INT(clReleaseEvent(g->event), CL_SUCCESS);
    g->event = NULL;
}

static void *open_late(void *with)
{
    const struct timespec late = {.tv_nsec = 30000000};
    gate *g = with;
    nanosleep(&late, NULL);
    clSetUserEventStatus(g->event, CL_COMPLETE);
    return NULL;
}

/* From another thread, some time later. */
static void let_gate_open(gate *g)
{
    if (g->event) pthread_create(&g->opener, NULL, open_late, g);
}

static void gate_is_open(gate *g)
{
    if (!g->event) return;
    pthread_join(g->opener, NULL);
    CHECK_INT(clReleaseEvent(g->event), CL_SUCCESS);
    g->event = NULL;
}

/* ------------------------------------------------------------------ a ring of ranks */

typedef struct ring {
    MPI_Comm cart;
    meta_halo plan;
    void *u, *v; /* v is no part of an exchange */
    int64_t left, right;
} ring;

static bool make_ring(ring *r)
{
    const int periodic = 1;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &r->cart);
    desc.cart = r->cart;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I64;
    r->left = (test_rank + test_size - 1) % test_size;
    r->right = (test_rank + 1) % test_size;
    return CHECK_OK(meta_alloc(&r->u, bytes)) && CHECK_OK(meta_alloc(&r->v, bytes)) &&
           CHECK_OK(meta_halo_create(&r->plan, &desc));
}

static void free_ring(ring *r)
{
    CHECK_OK(meta_halo_free(&r->plan));
    CHECK_OK(meta_free(r->u));
    CHECK_OK(meta_free(r->v));
    MPI_Comm_free(&r->cart);
}

static void queue_fill(void *array, int64_t value)
{
    CHECK_OK(meta_fill_box(array, &all, &value, META_I64, META_ASYNC));
}

static int64_t value_of(int64_t rank, int64_t round)
{
    return 1000 * round + rank + 1;
}

static void check_ghosts(const int64_t *array, const ring *r, int64_t round)
{
    CHECK_INT(array[0], value_of(r->left, round));
    CHECK_INT(array[1], value_of(test_rank, round));
    CHECK_INT(array[CELLS], value_of(test_rank, round));
    CHECK_INT(array[CELLS + 1], value_of(r->right, round));
}

/* ------------------------------------------------------------------ promises */

enum { ROUNDS = 5, TESTS = 2000 };

/* Own cells are written by work that cannot run yet. */
static void an_exchange_waits_for_the_work_in_front_of_it_and_the_host_does_not(void)
{
    static int64_t found[CELLS + 2];
    const bool held = gates_anywhere();
    ring r;
    if (!make_ring(&r)) return;
    for (int64_t round = 0; round < ROUNDS; ++round) {
        meta_event done;
        int complete = 0;
        queue_fill(r.u, -1);
        CHECK_OK(meta_flush());
        gate g = close_gate();
        queue_fill(r.u, value_of(test_rank, round));
        CHECK_OK(meta_halo_start(r.plan, &r.u));
        CHECK_OK(meta_halo_finish(r.plan, &done));
        for (int k = 0; k < TESTS && !complete; ++k) CHECK_OK(meta_event_test(done, &complete));
        CHECK(!complete || !held);
        MPI_Barrier(MPI_COMM_WORLD); /* every rank has seen that */
        open_gate(&g);
        CHECK_OK(meta_event_wait(done));
        CHECK_OK(meta_event_free(&done));
        CHECK_OK(meta_copy_d2h(found, r.u, bytes, NULL));
        check_ghosts(found, &r, round);
    }
    free_ring(&r);
}

/* All of a step is queued by a thread that knows nothing of the gate. */
static void work_behind_an_exchange_sees_its_ghosts(void)
{
    static int64_t found[CELLS + 2];
    ring r;
    if (!make_ring(&r)) return;
    for (int64_t round = 0; round < ROUNDS; ++round) {
        int64_t low = 0, high = 0;
        queue_fill(r.u, -1);
        queue_fill(r.v, -2);
        CHECK_OK(meta_flush());
        gate g = close_gate();
        queue_fill(r.u, value_of(test_rank, round));
        let_gate_open(&g);
        CHECK_OK(meta_halo_exchange(r.plan, &r.u, META_ASYNC));
        CHECK_OK(meta_reduce(&low, r.u, &low_ghost, META_SUM, META_I64, META_ASYNC));
        CHECK_OK(meta_copy_d2d(r.v, r.u, bytes, META_ASYNC));
        queue_fill(r.u, -3); /* the exchange and the copy have read what stood there */
        CHECK_OK(meta_reduce(&high, r.v, &high_ghost, META_SUM, META_I64, META_ASYNC));
        CHECK_OK(meta_copy_d2h(found, r.v, bytes, NULL));
        CHECK_OK(meta_flush());
        CHECK_INT(low, value_of(r.left, round));
        CHECK_INT(high, value_of(r.right, round));
        check_ghosts(found, &r, round);
        gate_is_open(&g);
    }
    free_ring(&r);
}

/* What computes between start and finish stands behind the gate, the exchange does not. */
static void an_exchange_does_not_wait_for_work_queued_after_its_start(void)
{
    static int64_t found[CELLS + 2];
    ring r;
    if (!make_ring(&r)) return;
    for (int64_t round = 0; round < ROUNDS; ++round) {
        meta_event done;
        queue_fill(r.u, value_of(test_rank, round));
        CHECK_OK(meta_halo_start(r.plan, &r.u));
        gate g = close_gate();
        queue_fill(r.v, value_of(test_rank, -round));
        CHECK_OK(meta_halo_finish(r.plan, &done));
        CHECK_OK(meta_event_wait(done)); /* forever, if it did */
        CHECK_OK(meta_event_free(&done));
        MPI_Barrier(MPI_COMM_WORLD);
        open_gate(&g);
        CHECK_OK(meta_copy_d2h(found, r.v, bytes, NULL));
        CHECK_INT(found[1], value_of(test_rank, -round));
        CHECK_OK(meta_copy_d2h(found, r.u, bytes, NULL));
        check_ghosts(found, &r, round);
    }
    free_ring(&r);
}

/* ------------------------------------------------------------------ the application's kernels */

/* x[k] := value, after some useless work that a compiler cannot leave out; then y[k] := x[k]. */
static const char *const source =
    "__kernel void slow(__global long *x, long x_at, long value, long never)\n"
    "{\n"
    "    long sum = value;\n"
    "    for (int k = 0; k < 20000; ++k) sum += (sum ^ k) == never ? k : 0;\n"
    "    x[x_at + get_global_id(0)] = sum == never ? never : value;\n"
    "}\n"
    "__kernel void take(__global const long *x, long x_at, __global long *y, long y_at)\n"
    "{\n"
    "    y[y_at + get_global_id(0)] = x[x_at + get_global_id(0)];\n"
    "}\n";

typedef struct kernels {
    cl_command_queue queue;
    cl_kernel slow, take;
} kernels;

static bool make_kernels(kernels *k)
{
    meta_state state = META_STATE_INIT;
    cl_int status = CL_SUCCESS;
    cl_device_id device;
    if (!librarys_queue(&state)) return false;
    device = state.device;
    cl_program program = clCreateProgramWithSource(
        state.context, 1, (const char **)(uintptr_t)&source, NULL, &status);
    if (!CHECK_INT(status, CL_SUCCESS)) return false;
    CHECK_INT(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    k->queue = state.queue;
    k->slow = clCreateKernel(program, "slow", &status);
    CHECK_INT(status, CL_SUCCESS);
    k->take = clCreateKernel(program, "take", &status);
    CHECK_INT(status, CL_SUCCESS);
    clReleaseProgram(program);
    return true;
}

/* Arguments @p k and the next one: the array's object, and which of its elements is the first. */
static void give_array(cl_kernel kernel, cl_uint k, const void *array)
{
    void *object = NULL;
    size_t offset = 0;
    CHECK_OK(meta_native(array, &object, &offset));
    const cl_mem memory = object;
    const cl_long at = (cl_long)(offset / sizeof(cl_long));
    CHECK_INT(clSetKernelArg(kernel, k, sizeof memory, &memory), CL_SUCCESS);
    CHECK_INT(clSetKernelArg(kernel, k + 1, sizeof at, &at), CL_SUCCESS);
}

static void queue_slow(const kernels *k, void *array, int64_t value)
{
    const cl_long v = value, never = INT64_MIN;
    const size_t count = CELLS + 2;
    give_array(k->slow, 0, array);
    CHECK_INT(clSetKernelArg(k->slow, 2, sizeof v, &v), CL_SUCCESS);
    CHECK_INT(clSetKernelArg(k->slow, 3, sizeof never, &never), CL_SUCCESS);
    CHECK_INT(clEnqueueNDRangeKernel(k->queue, k->slow, 1, NULL, &count, NULL, 0, NULL, NULL),
              CL_SUCCESS);
}

static void queue_take(const kernels *k, const void *from, void *to)
{
    const size_t count = CELLS + 2;
    give_array(k->take, 0, from);
    give_array(k->take, 2, to);
    CHECK_INT(clEnqueueNDRangeKernel(k->queue, k->take, 1, NULL, &count, NULL, 0, NULL, NULL),
              CL_SUCCESS);
}

static void kernels_of_the_application_are_in_order_with_exchanges(void)
{
    static int64_t found[CELLS + 2];
    ring r;
    kernels k;
    if (!make_ring(&r)) return;
    const bool own = make_kernels(&k);
    for (int64_t round = 0; round < ROUNDS; ++round) {
        queue_fill(r.u, -1);
        if (own) queue_slow(&k, r.u, value_of(test_rank, round));
        else queue_fill(r.u, value_of(test_rank, round));
        CHECK_OK(meta_halo_exchange(r.plan, &r.u, NULL));
        if (own) queue_take(&k, r.u, r.v);
        else CHECK_OK(meta_copy_d2d(r.v, r.u, bytes, META_ASYNC));
        queue_fill(r.u, -3);
        CHECK_OK(meta_copy_d2h(found, r.v, bytes, NULL));
        check_ghosts(found, &r, round);
    }
    if (own) clReleaseKernel(k.slow), clReleaseKernel(k.take);
    free_ring(&r);
}

TEST_COMM_MAIN(PROMISE(an_exchange_waits_for_the_work_in_front_of_it_and_the_host_does_not),
               PROMISE(work_behind_an_exchange_sees_its_ghosts),
               PROMISE(an_exchange_does_not_wait_for_work_queued_after_its_start),
               PROMISE(kernels_of_the_application_are_in_order_with_exchanges))
