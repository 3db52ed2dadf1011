/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_threads.c
 *  Many application threads at once, each on its own buffers and events, on one device and on
 *  two. */
/* TEST: backends=all,late labels=core */
#include "internal.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, MOST = 24 * 24 * 24 };

static meta_mode own_mode, other_mode; /* META_MODE's, and another that is usable, or the same */
static int own_index;

static bool usable(meta_mode mode)
{
    int devices = 0;
    return meta_device_count(mode, &devices) == META_OK && devices > 0;
}

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(&own_index, &own_mode));
    other_mode = own_mode == META_OPENMP ? META_OPENCL : META_OPENMP;
    if (!usable(other_mode)) other_mode = own_mode;
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

/* A thread of a test: what it is to do, and the first thing that went wrong, which the main thread
 * reports, since the harness knows one thread only. */
typedef struct worker {
    pthread_t thread;
    int number, rounds;
    meta_mode mode; /* its device's */
    uint64_t random;
    _Atomic int callbacks; /* which any thread may call */
    char fault[512];
    double in[MOST], out[MOST], expected[MOST];
} worker;
static worker workers[THREADS];

static bool holds(worker *w, bool condition, int line, const char *what)
{
    if (!condition && !*w->fault)
        snprintf(w->fault, sizeof w->fault, "line %d: %s\n    last error: %s", line, what,
                 meta_last_error());
    return condition;
}
#define HOLDS(w, condition) holds((w), (condition), __LINE__, #condition)
#define WORKS(w, call)      holds((w), (call) == META_OK, __LINE__, #call)

static void run_workers(void *(*body)(void *), int rounds, bool mixed)
{
    for (int k = 0; k < THREADS; ++k) {
        worker *w = &workers[k];
        w->number = k;
        w->rounds = rounds;
        w->mode = mixed && k % 2 ? other_mode : own_mode;
        w->random = test_random() | 1;
        w->callbacks = 0;
        *w->fault = '\0';
        if (pthread_create(&w->thread, NULL, body, w) != 0) abort();
    }
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(workers[k].thread, NULL);
        test_case("thread %d", k);
        CHECK_STRING(workers[k].fault, "");
    }
}

static int64_t random_in(worker *w, int64_t low, int64_t high)
{
    return test_random_of(&w->random, low, high);
}

/* ------------------------------------------------------------------ the work of a thread */

static void count_callback(void *user, meta_err status)
{
    if (status == META_OK) ++((worker *)user)->callbacks;
}

static double expect(worker *w, const meta_box *b)
{
    const int64_t nx = b->size[0], nxy = nx * b->size[1];
    double sum = 0;
    for (int64_t z = b->start[2]; z < b->end[2]; ++z)
        for (int64_t y = b->start[1]; y < b->end[1]; ++y)
            for (int64_t x = b->start[0]; x < b->end[0]; ++x) {
                const double *c = &w->in[x + nx * y + nxy * z];
                const double v =
                    (((((((c[-nxy] + c[-1]) + c[-nx]) + c[0]) + c[nx]) + c[1]) + c[nxy])) / 7;
                w->expected[x + nx * y + nxy * z] = v;
                sum += v;
            }
    return sum;
}

/* All operations of one round on two fresh buffers, some queued, some blocking. */
static void round_on(worker *w, void *in, void *out, const meta_box *box, size_t cells)
{
    const size_t bytes = cells * sizeof(double);
    const double zero = 0;
    double sum = -1, most = -1, expected;
    meta_event event[3];
    for (size_t k = 0; k < cells; ++k) w->in[k] = (double)random_in(w, -1000, 1000);
    memset(w->expected, 0, bytes);
    expected = expect(w, box);
    WORKS(w, meta_copy_h2d(in, w->in, bytes, META_ASYNC));
    WORKS(w, meta_fill(out, (int64_t)cells, &zero, META_F64, &event[0]));
    WORKS(w, meta_event_then(event[0], count_callback, w));
    WORKS(w, meta_stencil(out, in, box, META_3D7P, META_F64, &sum, &event[1]));
    WORKS(w, meta_reduce(&most, in, box, META_MAX, META_F64, META_ASYNC));
    WORKS(w, meta_copy_d2h(w->out, out, bytes, &event[2]));
    WORKS(w, meta_event_waitall(3, event));
    for (int k = 0; k < 3; ++k) WORKS(w, meta_event_free(&event[k]));
    WORKS(w, meta_event_wait((meta_event)META_EVENT_NULL)); /* calls what is due */
    HOLDS(w, memcmp(w->out, w->expected, bytes) == 0);
    HOLDS(w, sum >= expected - 1e-6 && sum <= expected + 1e-6);
    HOLDS(w, most <= 1000 && most >= -1000);
}

static void *work(void *argument)
{
    worker *w = argument;
    if (!WORKS(w, meta_set_acc(0, w->mode))) return NULL;
    for (int r = 0; r < w->rounds && !*w->fault; ++r) {
        meta_box box = {.ndim = 3};
        size_t cells = 1;
        void *in = NULL, *out = NULL;
        meta_pointer_desc desc = META_POINTER_DESC_INIT;
        for (int d = 0; d < 3; ++d) {
            box.size[d] = random_in(w, 3, 24);
            box.start[d] = 1;
            box.end[d] = box.size[d] - 1;
            cells *= (size_t)box.size[d];
        }
        if (!WORKS(w, meta_alloc(&in, cells * sizeof(double))) ||
            !WORKS(w, meta_alloc(&out, cells * sizeof(double))))
            break;
        WORKS(w, meta_pointer_info(out, &desc));
        HOLDS(w, desc.base == out && desc.mode == w->mode);
        round_on(w, in, out, &box, cells);
        WORKS(w, meta_free(in));
        WORKS(w, meta_free(out));
    }
    return NULL;
}

static void check_callbacks(int rounds)
{
    CHECK_OK(meta_flush());
    for (int k = 0; k < THREADS; ++k) {
        test_case("thread %d", k);
        CHECK_INT(workers[k].callbacks, rounds);
    }
}

static void threads_compute_on_buffers_of_their_own(void)
{
    const int rounds = (int)test_count(40, 1000);
    run_workers(work, rounds, false);
    check_callbacks(rounds);
}

static void threads_compute_on_two_devices(void)
{
    const int rounds = (int)test_count(40, 1000);
    run_workers(work, rounds, true);
    check_callbacks(rounds);
}

/* ------------------------------------------------------------------ the device of each thread */

static void *choose(void *argument)
{
    worker *w = argument;
    meta_mode mode = -1;
    int index = -1;
    WORKS(w, meta_get_acc(&index, &mode));
    HOLDS(w, mode == own_mode && index == own_index); /* the default, whatever others chose */
    for (int r = 0; r < w->rounds; ++r) {
        const meta_mode wanted = random_in(w, 0, 1) ? own_mode : other_mode;
        meta_pointer_desc desc = META_POINTER_DESC_INIT;
        void *p = NULL;
        WORKS(w, meta_set_acc(0, wanted));
        WORKS(w, meta_get_acc(NULL, &mode));
        HOLDS(w, mode == wanted);
        if (!WORKS(w, meta_alloc(&p, 64))) break;
        WORKS(w, meta_pointer_info(p, &desc));
        HOLDS(w, desc.mode == wanted);
        WORKS(w, meta_free(p));
    }
    WORKS(w, meta_set_acc(0, META_SPREAD));
    WORKS(w, meta_get_acc(NULL, &mode));
    HOLDS(w, mode == own_mode);
    return NULL;
}

static void each_thread_has_a_device_of_its_own_choice(void)
{
    CHECK_OK(meta_set_acc(0, other_mode));
    run_workers(choose, 100, true);
    CHECK_OK(meta_set_acc(0, META_SPREAD));
}

/* ------------------------------------------------------------------ what threads share */

static void *fail_in_an_own_way(void *argument)
{
    worker *w = argument;
    HOLDS(w, *meta_last_error() == '\0');
    for (int r = 0; r < w->rounds; ++r) {
        char part[64];
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        HOLDS(w, meta_variable_info(1000 + w->number, &desc) == META_ERR_ARGUMENT);
        snprintf(part, sizeof part, "'index' is %d,", 1000 + w->number);
        HOLDS(w, strstr(meta_last_error(), part) != NULL);
    }
    return NULL;
}

static void each_thread_has_a_message_of_its_own(void)
{
    run_workers(fail_in_an_own_way, 1000, false);
}

static meta_event shared;

static void *wait_for_shared(void *argument)
{
    worker *w = argument;
    WORKS(w, meta_event_wait(shared));
    HOLDS(w, workers[0].out[100] > 0); /* the copy is complete */
    return NULL;
}

static void many_threads_may_wait_for_one_event(void)
{
    const double one = 1;
    double *p;
    CHECK_OK(meta_alloc((void **)&p, sizeof workers[0].out));
    for (int round = 0; round < 50; ++round) {
        memset(workers[0].out, 0, sizeof workers[0].out);
        CHECK_OK(meta_fill(p, MOST, &one, META_F64, META_ASYNC));
        CHECK_OK(meta_copy_d2h(workers[0].out, p, sizeof workers[0].out, &shared));
        run_workers(wait_for_shared, 1, false);
        CHECK_OK(meta_event_free(&shared));
    }
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ shared state of the library */

enum { ADDERS = 96, SUMS = 2, CELLS = 1 << 20 };

typedef struct adder {
    pthread_t thread;
    const double *cells;
    meta_err error;
    double sum;
} adder;

static pthread_barrier_t all_adders;

static void *add_exactly(void *argument)
{
    adder *a = argument;
    const meta_box line = {1, {CELLS}, {0}, {CELLS}};
    pthread_barrier_wait(&all_adders);
    for (int k = 0; k < SUMS && a->error == META_OK; ++k)
        a->error = meta_reduce(&a->sum, a->cells, &line, META_SUM, META_F64, NULL);
    return NULL;
}

/* More threads on each device than it queues reproducible sums of at once. */
static void reproducible_sums_of_many_threads_on_two_devices_end(void)
{
    static adder adders[ADDERS];
    const double one = 1;
    double *cells[2] = {NULL, NULL};
    if (test_under_oclgrind()) return;
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_set_acc(0, k ? other_mode : own_mode));
        if (!CHECK_OK(meta_alloc((void **)&cells[k], CELLS * sizeof *cells[k]))) return;
        CHECK_OK(meta_fill(cells[k], CELLS, &one, META_F64, NULL));
    }
    CHECK_OK(meta_set_acc(own_index, own_mode));
    CHECK_OK(meta_set_reproducible(1));
    pthread_barrier_init(&all_adders, NULL, ADDERS);
    for (int k = 0; k < ADDERS; ++k) {
        adders[k] = (adder){.cells = cells[k % 2]};
        if (pthread_create(&adders[k].thread, NULL, add_exactly, &adders[k]) != 0) abort();
    }
    for (int k = 0; k < ADDERS; ++k) {
        pthread_join(adders[k].thread, NULL);
        CHECK_OK(adders[k].error);
        CHECK_NEAR(adders[k].sum, CELLS, 0);
    }
    pthread_barrier_destroy(&all_adders);
    CHECK_OK(meta_set_reproducible(0));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(cells[k]));
}

static double host_results[512];
static atomic_bool wrapping;

/* The first thread wraps and unwraps the memory of the others' results. */
static void *reduce_into_wrapped(void *argument)
{
    worker *w = argument;
    const meta_box line = {1, {64}, {0}, {64}};
    const double one = 1;
    double *cells = NULL;
    void *wrapped;
    if (w->number == 0) {
        for (int k = 0; k < w->rounds && !*w->fault; ++k) {
            WORKS(w, meta_wrap(&wrapped, host_results, sizeof host_results, META_NATIVE_HOST));
            WORKS(w, meta_unwrap(wrapped));
        }
        wrapping = false;
        return NULL;
    }
    WORKS(w, meta_alloc((void **)&cells, 64 * sizeof *cells));
    WORKS(w, meta_fill(cells, 64, &one, META_F64, NULL));
    while (wrapping && !*w->fault)
        WORKS(w, meta_reduce(&host_results[w->number], cells, &line, META_SUM, META_F64, NULL));
    WORKS(w, meta_free(cells));
    return NULL;
}

static void a_result_may_lie_where_another_thread_wraps_and_unwraps(void)
{
    if (own_mode != META_OPENMP) return; /* elsewhere wrapped memory is no host memory */
    wrapping = true;
    run_workers(reduce_into_wrapped, (int)test_count(20000, 200000), false);
}

static void *record_and_gather(void *argument)
{
    worker *w = argument;
    const meta_box line = {1, {MOST}, {0}, {MOST}};
    meta_profile_share share = {0};
    const double one = 1;
    double *cells = NULL, sum;
    WORKS(w, meta_alloc((void **)&cells, sizeof w->in));
    WORKS(w, meta_fill(cells, MOST, &one, META_F64, NULL));
    WORKS(w, meta_reduce(&sum, cells, &line, META_SUM, META_F64, NULL));
    WORKS(w, meta_core_table.profile_share(&share));
    HOLDS(w, share.count > 0);
    free(share.rows);
    WORKS(w, meta_free(cells));
    return NULL;
}

static void threads_may_gather_a_profile_at_once(void)
{
    CHECK_OK(meta_timers_init());
    run_workers(record_and_gather, 1, false);
    CHECK_OK(meta_timers_finalize());
}

/* Even threads say which process this is, odd ones ask. */
static void *know_the_job(void *argument)
{
    worker *w = argument;
    for (int k = 0; k < w->rounds; ++k) {
        meta_profile_share share = {0};
        if (w->number % 2 == 0) {
            WORKS(w, meta_set_job(k % 4, 4, 0, 1));
            continue;
        }
        WORKS(w, meta_core_table.profile_share(&share));
        HOLDS(w, share.rank >= 0 && share.rank < 4);
        free(share.rows);
    }
    return NULL;
}

static void the_job_may_be_set_while_other_threads_read_it(void)
{
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
    run_workers(know_the_job, 100, false);
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
}

TEST_MAIN_WITH(&setting, PROMISE(threads_compute_on_buffers_of_their_own),
               PROMISE(threads_compute_on_two_devices),
               PROMISE(each_thread_has_a_device_of_its_own_choice),
               PROMISE(each_thread_has_a_message_of_its_own),
               PROMISE(many_threads_may_wait_for_one_event),
               PROMISE(reproducible_sums_of_many_threads_on_two_devices_end),
               PROMISE(a_result_may_lie_where_another_thread_wraps_and_unwraps),
               PROMISE(threads_may_gather_a_profile_at_once),
               PROMISE(the_job_may_be_set_while_other_threads_read_it))
