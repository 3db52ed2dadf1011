/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_gpu_faults.c
 *  Every call of the runtime that a GPU back end makes for the library's own operations fails in
 *  turn, once or for ever; see fault_lives.h. */
/* TEST: backends=faults timeout=1800 labels=core */
#include "test.h"

#include <string.h>

#include "fault_lives.h"
#include "internal.h"

enum { N = 10, CELLS = N * N * N, INNER = (N - 2) * (N - 2) * (N - 2), FACE = (N - 2) * (N - 2) };
static const size_t bytes = CELLS * sizeof(double);
static const meta_box box = {3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};

/* ------------------------------------------------------------------ what is done */

/* A linear function, whose average around a cell is its value there. */
static double in[CELLS], out[CELLS];
static double sum_of_in, sum_inside;

static void prepare_input(void)
{
    sum_of_in = 0;
    for (int k = 0; k < CELLS; ++k) {
        in[k] = k;
        sum_of_in += k;
    }
    sum_inside = INNER * (CELLS - 1) / 2.0;
}

typedef struct buffers {
    double *a, *b, *packed, *result, *pinned;
} buffers;

static bool make_buffers(buffers *m)
{
    *m = (buffers){0};
    bool made = TRY(meta_alloc((void **)&m->a, bytes));
    made &= TRY(meta_alloc((void **)&m->b, bytes));
    made &= TRY(meta_alloc((void **)&m->packed, bytes));
    made &= TRY(meta_alloc((void **)&m->result, sizeof(double)));
    return TRY(meta_host_alloc((void **)&m->pinned, bytes)) && made;
}

/* Freeing may report what the device's queue met, but frees all the same. */
static void free_buffers(const buffers *m)
{
    double *const device[] = {m->a, m->b, m->packed, m->result};
    for (size_t k = 0; k < sizeof device / sizeof *device; ++k)
        if (device[k]) TRY(meta_free(device[k]));
    if (m->pinned) TRY(meta_host_free(m->pinned));
}

static void move(const buffers *m)
{
    const double seven = 7;
    meta_face face;
    meta_event events[3] = {META_EVENT_NULL, META_EVENT_NULL, META_EVENT_NULL};
    TRY(meta_copy_h2d(m->a, in, bytes, NULL));
    memcpy(m->pinned, in, bytes);
    TRY(meta_copy_h2d(m->b, m->pinned, bytes, META_ASYNC));
    TRY(meta_copy_d2d(m->packed, m->b, bytes, &events[0]));
    TRY(meta_copy_d2h(out, m->packed, bytes, &events[1]));
    TRY(meta_event_waitall(2, events));
    CHECK_VALUE(out[CELLS - 1], CELLS - 1);
    TRY(meta_fill(m->packed, CELLS, &seven, META_F64, &events[2]));
    TRY(meta_copy_box(m->b, &box, m->packed, &box, META_F64, META_ASYNC));
    CHECK_OK(meta_face_slab(&face, &box, 0, META_SLAB_LOW, 1));
    TRY(meta_pack_face(m->packed, m->a, &face, META_F64, META_ASYNC));
    TRY(meta_transpose_face(m->packed + FACE, m->packed, (int64_t[]){N - 2, N - 2}, META_F64,
                            NULL));
    TRY(meta_unpack_face(m->b, m->packed, &face, META_F64, META_ASYNC));
    TRY(meta_copy_d2h(out, m->b, bytes, NULL));
    CHECK_VALUE(out[1 + N + N * N], 1 + N + N * N);
    CHECK_VALUE(out[2 + N + N * N], 7);
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_event_free(&events[k]));
}

static void count_call(void *calls, meta_err status)
{
    (void)status;
    ++*(int *)calls;
}

static void compute(const buffers *m)
{
    const double two = 2;
    double sum = 0, dot = 0, most = 0;
    int complete = 0, calls = 0;
    meta_event event = META_EVENT_NULL, other = META_EVENT_NULL;
    TRY(meta_stencil(m->b, m->a, &box, META_3D7P, META_F64, &sum, NULL));
    CHECK_VALUE(sum, sum_inside);
    TRY(meta_stencil(m->b, m->a, &box, META_3D27P, META_F64, m->result, META_ASYNC));
    TRY(meta_copy_d2h(&sum, m->result, sizeof sum, NULL));
    CHECK_VALUE(sum, sum_inside);
    TRY(meta_reduce(&sum, m->a, &all, META_SUM, META_F64, &event));
    TRY(meta_reduce(&most, m->a, &all, META_MAX, META_F64, &other));
    if (TRY(meta_event_then(other, count_call, &calls))) TRY(meta_event_test(event, &complete));
    TRY(meta_event_wait(event));
    CHECK_VALUE(sum, sum_of_in);
    TRY(meta_event_wait(other));
    CHECK_VALUE(most, CELLS - 1);
    CHECK_INT(calls, 1);
    TRY(meta_axpy(m->a, &two, m->a, &all, META_F64, META_ASYNC));
    TRY(meta_dot(&dot, m->a, m->b, &box, META_F64, META_ASYNC));
    TRY(meta_copy_h2d(m->b, &sum, sizeof sum, META_ASYNC)); /* what a result is on its way to */
    TRY(meta_flush());
    for (int k = 0; k < INNER && !fault_reported; ++k) {
        const int cell = 1 + k % (N - 2) + N * (1 + k / (N - 2) % (N - 2)) + N * N * (1 + k / FACE);
        dot -= 3.0 * cell * cell;
    }
    CHECK_VALUE(dot, 0);
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_event_free(&other));
}

/* What halo exchange does: its own queue, staging, and the order of the two queues. */
static void use_both_queues(const buffers *m)
{
    const meta_core *core = &meta_core_table;
    meta_pending packed = {0}, copied = {0};
    meta_device *device = NULL;
    meta_span from, to;
    meta_face face;
    meta_builtin move[2];
    int complete;
    void *staging = NULL, *scratch = NULL;
    double *host;
    CHECK_OK(core->ready("both queues"));
    if (!TRY(core->current_device(&device))) return;
    CHECK_OK(meta_face_slab(&face, &box, 0, META_SLAB_LOW, 1));
    if (TRY(core->staging(device, bytes, &staging)) &&
        TRY(core->scratch(device, bytes, &scratch)) &&
        CHECK_OK(core->resolve_face(m->a, &face, META_F64, "buf", &from)) &&
        CHECK_OK(core->resolve(scratch, FACE, META_F64, "packed", &to))) {
        host = staging;
        for (int k = 0; k < 2; ++k)
            if (!CHECK(core->move_begin(&move[k], META_KERNEL_PACK, META_F64, NULL, &face)) ||
                !CHECK_OK(core->move_bind(&move[k], &to, &from)))
                return;
        TRY(meta_copy_h2d(m->a, in, bytes, META_ASYNC));
        if (TRY(core->queue_after(device, META_QUEUE_HALO, META_QUEUE_COMPUTE)) &&
            TRY(core->launch(device, META_QUEUE_HALO, move, 2, &packed)) &&
            TRY(core->copy(device, META_QUEUE_HALO, META_COPY_D2H, host, &to, FACE * sizeof *host,
                           &copied))) {
            TRY(core->queue_after(device, META_QUEUE_COMPUTE, META_QUEUE_HALO));
            TRY(core->pending_wait(&copied));
            CHECK_VALUE(host[0], 1 + N + N * N);
            TRY(core->pending_test(&packed, &complete));
        }
        core->pending_release(&packed);
        core->pending_release(&copied);
        TRY(meta_flush()); /* before what it reads is given back */
    }
    core->scratch_free(scratch);
    core->staging_free(device, staging);
}

static void share(const buffers *m)
{
    meta_state state = META_STATE_INIT;
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mem_desc use = META_MEM_DESC_INIT;
    double *own = fault->make_memory(0, bytes), *wrapped = NULL, five = 0;
    void *object = NULL;
    TRY(meta_device_info(0, gpu->mode, &desc));
    TRY(meta_mem_info(0, gpu->mode, &use));
    if (TRY(meta_get_state(0, gpu->mode, &state))) CHECK(state.queue);
    CHECK_OK(meta_native(m->a + 3, &object, NULL));
    CHECK(object == m->a);
    if (CHECK(own) && TRY(meta_wrap((void **)&wrapped, own, bytes, META_NATIVE_OBJECT))) {
        TRY(meta_copy_h2d(wrapped, in, bytes, META_ASYNC));
        TRY(meta_unwrap(wrapped));
        CHECK(fault->peek(&five, own + 5, sizeof five));
        CHECK_VALUE(five, 5);
    }
    fault->free_memory(own);
}

/* More results in flight than there are places for. */
static void reduce_often(const buffers *m)
{
    enum { MANY = 300 };
    static double sums[MANY];
    for (int k = 0; k < MANY; ++k)
        TRY(meta_reduce(&sums[k], m->a, &all, META_SUM, META_F64, META_ASYNC));
    TRY(meta_flush());
    for (int k = 0; k < MANY; ++k) CHECK_VALUE(sums[k], sum_of_in);
}

static void use(void (*more)(const buffers *m))
{
    buffers m;
    prepare_input();
    if (make_buffers(&m)) {
        move(&m);
        compute(&m);
        use_both_queues(&m);
        share(&m);
        if (more) more(&m);
    }
    free_buffers(&m);
}

static void use_gpu(void)
{
    use(NULL);
}

static void use_gpu_often(void)
{
    use(reduce_often);
}

/* ------------------------------------------------------------------ beside OpenMP */

/* What was lost with the device is an error when it is read. */
static void compute_once(double *a, double *b)
{
    const double two = 2;
    double sum = 0;
    out[CELLS - 1] = 0;
    TRY(meta_copy_h2d(a, in, bytes, META_ASYNC));
    TRY(meta_copy_h2d(b, in, bytes, META_ASYNC));
    TRY(meta_axpy(b, &two, a, &all, META_F64, META_ASYNC));
    TRY(meta_reduce(&sum, b, &all, META_SUM, META_F64, META_ASYNC));
    TRY(meta_copy_d2h(out, b, bytes, NULL));
    TRY(meta_flush());
    CHECK_VALUE(sum, 3 * sum_of_in);
    CHECK_VALUE(out[CELLS - 1], 3 * (CELLS - 1));
}

/* Once the device is known to fail, all goes to OpenMP. */
static void use_both(void)
{
    double *a = NULL, *b = NULL;
    prepare_input();
    if (TRY(meta_alloc((void **)&a, bytes)) && TRY(meta_alloc((void **)&b, bytes))) {
        compute_once(a, b);
        if (fault_reported) {
            fault_reported = false;
            compute_once(a, b);
            CHECK(!fault_reported);
        }
    }
    if (a) TRY(meta_free(a));
    if (b) TRY(meta_free(b));
}

/* Times that cannot be read are missing from the profile, and that is all. */
static void use_profile(void)
{
    double *a = NULL, *b = NULL;
    prepare_input();
    if (TRY(meta_alloc((void **)&a, bytes)) && TRY(meta_alloc((void **)&b, bytes)))
        compute_once(a, b);
    if (fault->failed && strstr(fault->failed, "EventElapsedTime")) CHECK(!fault_reported);
    if (a) TRY(meta_free(a));
    if (b) TRY(meta_free(b));
}

/* ------------------------------------------------------------------ promises */

static void a_transient_failure_is_an_error_or_recovered_from(void)
{
    fault_each((fault_life){.use = use_gpu}, 1, 1);
}

static void failures_with_the_applications_stream_and_no_pool_are_handled(void)
{
    fault_each((fault_life){.use = use_gpu, .adopt = true}, 1, test_long() ? 1 : 3);
}

static void a_device_that_is_lost_leaves_the_others(void)
{
    fault_each((fault_life){.use = use_gpu, .sticky = true}, 1, test_long() ? 1 : 2);
    fault_each((fault_life){.use = use_gpu, .adopt = true, .sticky = true}, 1, test_long() ? 1 : 7);
}

static void failures_with_more_pending_results_than_slots_are_handled(void)
{
    const long before = fault_calls((fault_life){.use = use_gpu});
    fault_each((fault_life){.use = use_gpu_often}, before - 50, test_long() ? 5 : 61);
    fault_each((fault_life){.use = use_gpu_often, .sticky = true}, before - 50,
               test_long() ? 7 : 97);
}

static void with_auto_a_device_that_fails_takes_only_what_it_had(void)
{
    fault_each((fault_life){.use = use_both, .automatic = true}, 1, 1);
    fault_each((fault_life){.use = use_both, .automatic = true, .sticky = true}, 1, 1);
}

static void failures_while_times_are_taken_are_handled(void)
{
    fault_each((fault_life){.use = use_profile, .profile = true}, 1, 1);
}

TEST_MAIN(PROMISE(a_transient_failure_is_an_error_or_recovered_from),
          PROMISE(failures_with_the_applications_stream_and_no_pool_are_handled),
          PROMISE(a_device_that_is_lost_leaves_the_others),
          PROMISE(failures_with_more_pending_results_than_slots_are_handled),
          PROMISE(with_auto_a_device_that_fails_takes_only_what_it_had),
          PROMISE(failures_while_times_are_taken_are_handled))
