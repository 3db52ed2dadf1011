/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_thread_calls.c
 *  Eight threads call all public functions of one process at random, each on buffers and events of
 * its own, and one of them ends the library every few hundred calls, whatever the others are in;
 * then all start it again at once. Results are whole numbers, so that they are the same however
 * they are computed. Built with ThreadSanitizer by ./check --sanitize.
 *
 *  A long run makes 100,000 calls in each thread. META_TEST_CALLS=N sets their number; a run that
 * was stopped goes on where it was (progress.h). */
/* TEST: backends=all auto=yes labels=core */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meta_library.h"
#include "progress.h"
#include "test.h"
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

enum { THREADS = 8, NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ, ROWS = 8, FIRST_COLUMN = 64 };
enum { BYTES = CELLS * sizeof(double) };
static const meta_box box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};
static const double one = 1, two = 2;

/* ------------------------------------------------------------------ a thread */

typedef struct worker {
    pthread_t thread;
    int number;
    uint64_t random;
    _Atomic int64_t calls;
    bool has_ended; /* a call returned META_ERR_INIT */
    char fault[768];
    int callbacks;
    int mode, index; /* of this thread's device */
    bool is_host;
    /* Of the library's life at hand. */
    void *a, *b, *packed, *matrix;
    double in[CELLS], out[CELLS], native[CELLS];
} worker;
static worker workers[THREADS];

static pthread_barrier_t together;
static atomic_bool is_over;
static int64_t most_calls;
static meta_mode own_mode;
static int own_index;

static void blame(worker *w, int line, const char *what, const char *how)
{
    if (!*w->fault)
        snprintf(w->fault, sizeof w->fault, "line %d: %s: %s; last error: %s", line, what, how,
                 meta_last_error());
}

/* Whether the thread goes on: the call succeeded, or returned the error that it may. */
static bool went(worker *w, meta_err code, meta_err other, int line, const char *call)
{
    ++w->calls;
    if (code == META_OK || code == other) return true;
    if (code == META_ERR_INIT) w->has_ended = true;
    else blame(w, line, call, meta_strerror(code));
    return false;
}
#define DO(call)                                                                                   \
    do {                                                                                           \
        if (!went(w, (call), META_OK, __LINE__, #call)) return;                                    \
    } while (0)
/* A call that may also return @p other, which depends on other threads. */
#define DO_OR(other, call)                                                                         \
    do {                                                                                           \
        if (!went(w, (call), (other), __LINE__, #call)) return;                                    \
    } while (0)
/* A wrong call: it returns @p error with a message that has @p part. */
#define REFUSED(error, part, call)                                                                 \
    do {                                                                                           \
        const meta_err code_ = (call);                                                             \
        ++w->calls;                                                                                \
        if (code_ == META_ERR_INIT) w->has_ended = true;                                           \
        else if (code_ != (error) || !strstr(meta_last_error(), part))                             \
            blame(w, __LINE__, #call, meta_strerror(code_));                                       \
        if (w->has_ended || *w->fault) return;                                                     \
    } while (0)
#define IS(found, expected)                                                                        \
    do {                                                                                           \
        if (!((found) <= (expected) && (found) >= (expected)))                                     \
            blame(w, __LINE__, #found, "it is not " #expected);                                    \
    } while (0)

static int64_t random_in(worker *w, int64_t low, int64_t high)
{
    return test_random_of(&w->random, low, high);
}

/* ------------------------------------------------------------------ what it does */

static void count_callback(void *user, meta_err status)
{
    if (status == META_OK) ++((worker *)user)->callbacks;
}

static int first_candidate(const meta_decision *decision, void *user)
{
    (void)decision, (void)user;
    return 0;
}

static void describe(worker *w)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_backend_desc backend = META_BACKEND_DESC_INIT;
    meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    meta_pool_desc pool = META_POOL_DESC_INIT;
    meta_state state = META_STATE_INIT;
    meta_mode mode;
    int count, index, threads;
    size_t size;
    DO(meta_version(&count, &index, &threads));
    DO(meta_backend_count(&count));
    DO(meta_backend_info((int)random_in(w, 0, count - 1), &backend));
    DO(meta_variable_count(&count));
    DO(meta_variable_info((int)random_in(w, 0, count - 1), &variable));
    DO(meta_type_size(META_F64, &size));
    DO(meta_mode_find("openmp", &mode));
    DO(meta_rank_device(0, 1, 0, 1, &mode, &index, &threads));
    DO_OR(META_ERR_STATE, meta_set_job(0, 1, 0, 1));
    DO(meta_get_acc(&index, &mode));
    DO(meta_device_count(mode, &count));
    DO(meta_device_info(index, mode, &device));
    DO(meta_mem_info(index, mode, &memory));
    DO(meta_pool_info(index, mode, &pool));
    DO(meta_pool_limit(index, mode, (size_t)random_in(w, 0, 1 << 20)));
    DO(meta_pool_trim(index, mode, (size_t)random_in(w, 0, 1 << 20)));
    if (mode != META_AUTO) DO(meta_get_state(index, mode, &state));
    if (mode != META_AUTO) REFUSED(META_ERR_STATE, "", meta_set_state(index, mode, &state));
}

static void choose(worker *w)
{
    meta_mode mode = -1;
    int index = -1;
    DO(meta_set_acc(0, META_SPREAD));
    DO(meta_get_acc(&index, &mode));
    IS(mode, own_mode);
    IS(index, own_index);
    DO(meta_set_acc(index, mode));
    DO(meta_set_policy("cost", META_POLICY_THREAD));
    DO(meta_set_policy_function(first_candidate, NULL, META_POLICY_THREAD));
    DO(meta_scale(w->packed, &two, w->a, &all, META_F64, NULL));
    DO(meta_set_policy_function(NULL, NULL, META_POLICY_THREAD));
    DO(meta_set_policy(NULL, META_POLICY_THREAD));
}

static void allocate(worker *w)
{
    static const int64_t cells[] = {4, 4, 4};
    static const int ghosts[] = {1, 1, 1};
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    meta_box laid;
    double host[16], *pinned;
    void *p, *grid, *object, *view, *wrapped;
    const size_t bytes = (size_t)random_in(w, 1, 1 << 14);
    DO(meta_here("program.c", (int)bytes));
    DO(meta_alloc(&p, bytes));
    DO(meta_label(p, "scratch"));
    DO(meta_pointer_info((char *)p + bytes - 1, &desc));
    IS((char *)desc.base - (char *)p, 0);
    DO(meta_native(p, &object, NULL));
    DO(meta_native_end(p));
    if (w->is_host) DO(meta_host_view(p, &view));
    DO(meta_free(p));
    DO(meta_grid_alloc(&grid, &laid, 3, cells, ghosts, ghosts, META_F64));
    DO(meta_free(grid));
    if (w->is_host) {
        DO(meta_wrap(&wrapped, w->native, sizeof w->native, META_NATIVE_HOST));
        DO(meta_fill(wrapped, CELLS, &two, META_F64, META_ASYNC));
        DO(meta_unwrap(wrapped));
        IS(w->native[CELLS - 1], 2);
    }
    DO(meta_host_alloc((void **)&pinned, sizeof host));
    for (int k = 0; k < 16; ++k) pinned[k] = k;
    DO(meta_copy_h2d(w->packed, pinned, sizeof host, NULL));
    DO(meta_copy_d2h(host, w->packed, sizeof host, NULL));
    IS(host[15], 15);
    DO(meta_host_free(pinned));
}

static void move(worker *w)
{
    static const int64_t size[] = {NX, NY * NZ}, stride[] = {1, NX};
    meta_face face;
    int64_t elements;
    DO(meta_copy_h2d(w->a, w->in, BYTES, META_ASYNC));
    DO(meta_copy_d2d(w->b, w->a, BYTES, META_ASYNC));
    DO(meta_copy_box(w->packed, &box, w->a, &box, META_F64, META_ASYNC));
    DO(meta_copy_box_h2d(w->b, &box, w->in, &box, META_F64, NULL));
    DO(meta_copy_box_d2h(w->out, &box, w->b, &box, META_F64, NULL));
    DO(meta_fill_box(w->packed, &box, &one, META_F64, META_ASYNC));
    DO(meta_face_make(&face, 0, 2, size, stride));
    DO(meta_face_elements(&face, &elements));
    DO(meta_pack_face(w->packed, w->a, &face, META_F64, META_ASYNC));
    DO(meta_unpack_face(w->b, w->packed, &face, META_F64, META_ASYNC));
    DO(meta_transpose_face(w->packed, w->b, size, META_F64, META_ASYNC));
    DO(meta_face_slab(&face, &box, 0, META_SLAB_LOW, 1));
    DO(meta_face_box(&face, &box));
    DO(meta_copy_d2h(w->out, w->b, BYTES, NULL));
    if (memcmp(w->out, w->in, BYTES) != 0) blame(w, __LINE__, "a copy", "it differs");
    DO(meta_copy_d2h(w->out, w->packed, BYTES, NULL));
    IS(w->out[1], w->in[NX]);
}

static void wait_for(worker *w)
{
    meta_event event[2];
    int complete = 0;
    w->callbacks = 0;
    DO(meta_fill(w->packed, CELLS, &two, META_F64, &event[0]));
    DO(meta_event_then(event[0], count_callback, w));
    DO(meta_copy_d2h(w->out, w->packed, BYTES, &event[1]));
    DO(meta_event_test(event[0], &complete));
    DO(meta_event_wait(event[1]));
    IS(w->out[CELLS - 1], 2);
    DO(meta_event_waitall(2, event));
    DO(meta_event_free(&event[0]));
    DO(meta_event_free(&event[1]));
    if (random_in(w, 0, 3) == 0) DO(meta_flush());
}

static double sum_of_in(const worker *w)
{
    double sum = 0;
    for (int k = 0; k < CELLS; ++k) sum += w->in[k];
    return sum;
}

static void compute(worker *w)
{
    void *fields[] = {w->a, w->packed};
    const meta_box boxes[] = {box, box};
    double sum = -1, sums[4];
    int on;
    DO(meta_copy_h2d(w->a, w->in, BYTES, NULL));
    DO(meta_stencil(w->b, w->a, &box, META_3D7P, META_F64, &sum, NULL));
    DO(meta_stencil_sums(w->b, w->a, &box, META_3D7P, META_F64, &sum, sums, 2, boxes, NULL));
    DO(meta_reduce(&sum, w->a, &all, META_SUM, META_F64, NULL));
    IS(sum, sum_of_in(w));
    DO(meta_fill(w->packed, CELLS, &two, META_F64, META_ASYNC));
    DO(meta_reduce_boxes(sums, 2, 2, fields, 2, boxes, META_MAX, META_F64, NULL));
    DO(meta_flush()); /* results on the host are not part of a queue's order */
    IS(sums[3], 2);
    DO(meta_dot(&sum, w->a, w->packed, &all, META_F64, NULL));
    IS(sum, 2 * sum_of_in(w));
    DO(meta_axpy(w->packed, &one, w->a, &all, META_F64, NULL));
    DO(meta_set_reproducible((int)random_in(w, 0, 1)));
    DO(meta_get_reproducible(&on));
    DO(meta_reduce(&sum, w->packed, &all, META_SUM, META_F64, NULL));
    IS(sum, sum_of_in(w) + 2 * CELLS);
}

static void use_library(worker *w)
{
    static const int32_t start[ROWS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, column[ROWS] = {0};
    static const double weights[7] = {0, 0, 0, 1, 0, 0, 0};
    const void *arrays[7];
    meta_csr matrix = META_CSR_INIT;
    meta_box cells;
    int64_t ghost, inner;
    uint32_t crc, again;
    double last[2];
    for (int k = 0; k < 7; ++k) arrays[k] = w->packed;
    DO(meta_copy_h2d(w->a, w->in, BYTES, NULL));
    DO(meta_fill(w->packed, CELLS, &two, META_F64, META_ASYNC));
    DO(meta_axpby(w->b, &one, w->a, &two, w->packed, &all, META_F64, META_ASYNC));
    DO(meta_xpay(w->b, w->a, &two, w->packed, &all, META_F64, META_ASYNC));
    DO(meta_scale(w->b, &two, w->a, &all, META_F64, META_ASYNC));
    DO(meta_multiply(w->b, w->a, w->packed, &all, META_F64, META_ASYNC));
    DO(meta_copy_d2h(last, w->b, sizeof last, NULL));
    IS(last[1], 2 * w->in[1]);
    DO(meta_convert(w->b, META_F32, w->a, META_F64, &all, NULL));
    DO(meta_stencil_constant(w->b, w->a, weights, &box, META_3D7P, META_F64, NULL, NULL));
    DO(meta_stencil_variable(w->b, w->a, arrays, &box, META_3D7P, META_F64, NULL, NULL));
    DO(meta_boundary(w->b, &box, 0, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_EVEN, NULL, META_F64,
                     NULL));
    DO(meta_boundary_slab(&cells, &ghost, &inner, &box, 0, META_SLAB_LOW_GHOST, 0, 0));
    DO(meta_copy_h2d(w->matrix, start, sizeof start, NULL));
    DO(meta_copy_h2d((char *)w->matrix + FIRST_COLUMN, column, sizeof column, NULL));
    matrix.rows = matrix.entries = ROWS;
    matrix.columns = 1;
    matrix.start = w->matrix;
    matrix.column = (char *)w->matrix + FIRST_COLUMN;
    matrix.value = w->a;
    DO(meta_csr_check(&matrix));
    DO(meta_csr_multiply(w->b, NULL, &matrix, w->a, NULL, NULL));
    DO(meta_copy_d2h(last, w->b, sizeof last, NULL));
    IS(last[1], w->in[0] * w->in[1]);
    DO(meta_crc32(&crc, w->a, BYTES, NULL));
    DO(meta_copy_d2d(w->b, w->a, BYTES, META_ASYNC));
    DO(meta_crc32(&again, w->b, BYTES, NULL));
    IS(again, crc);
    DO(meta_prefix_sum(w->b, w->a, CELLS, 1, META_F64, NULL));
    DO(meta_copy_d2h(last, (double *)w->b + CELLS - 1, sizeof last[0], NULL));
    IS(last[0], sum_of_in(w));
}

static void use_kernels(worker *w)
{
    int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0}, count;
    meta_kernel *kernel, *const kernels[] = {&sound_f32_kernel};
    float most = 0, total = 0;
    DO(meta_kernel_count(&count));
    DO(meta_kernel_at((int)random_in(w, 0, count - 1), &kernel));
    DO(meta_kernel_find("sound", META_F32, &kernel));
    DO(meta_kernel_compile(&kernel, "sound", META_F32, "sound.kernel.h", sound_f32_kernel.text));
    DO(meta_kernel_reach(kernel, low, high));
    DO(meta_kernel_prepare(kernel));
    DO(meta_kernels_prepare(kernels, 1));
    DO(meta_fill(w->a, CELLS, &(float){1}, META_F32, META_ASYNC));
    DO(meta_fill(w->b, CELLS, &(float){2}, META_F32, META_ASYNC));
    DO(meta_fill(w->matrix, 8, &(int32_t){3}, META_I32, META_ASYNC));
    DO(sound_f32(&box, w->packed, w->b, w->a, (float *)w->a, w->matrix, 4, &most, &total, NULL));
    IS(most, 9);
    IS(total, (NX - 2) * (NY - 2) * (NZ - 2));
}

/* Profiling is the process's: another thread may have begun or ended it. */
static void profile(worker *w)
{
    DO_OR(META_ERR_STATE, meta_timers_init());
    DO(meta_range_push("outer"));
    DO(meta_range_push("inner"));
    DO(meta_fill(w->packed, CELLS, &one, META_F64, META_ASYNC));
    DO(meta_range_pop());
    DO(meta_range_pop());
    if (random_in(w, 0, 9) == 0) DO_OR(META_ERR_STATE, meta_timers_print());
    DO_OR(META_ERR_STATE, meta_timers_finalize());
}

static void misuse(worker *w)
{
    char part[64];
    meta_variable_desc variable = META_VARIABLE_DESC_INIT;
    meta_event none = {0};
    double host[2] = {0};
    snprintf(part, sizeof part, "'index' is %d,", 1000 + w->number);
    REFUSED(META_ERR_ARGUMENT, part, meta_variable_info(1000 + w->number, &variable));
    REFUSED(META_ERR_BOUNDS, "'buf'", meta_fill(w->a, CELLS + 1 + w->number, &one, META_F64, NULL));
    REFUSED(META_ERR_POINTER, "'ptr'", meta_free(host));
    REFUSED(META_ERR_POINTER, "'src'", meta_copy_d2h(host, host, sizeof host, NULL));
    REFUSED(META_ERR_ARGUMENT, "'kind'",
            meta_stencil(w->b, w->a, &box, META_STENCIL_COUNT, META_F64, NULL, NULL));
    DO(meta_event_wait(none));
}

static void (*const steps[])(worker *) = {describe, choose,      allocate,    move,    wait_for,
                                          compute,  use_library, use_kernels, profile, misuse};

/* ------------------------------------------------------------------ lives of the library */

static void begin(worker *w)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    w->has_ended = false;
    w->a = w->b = w->packed = w->matrix = NULL;
    DO(meta_get_acc(&w->index, &w->mode));
    DO(meta_device_info(w->index, w->mode, &device));
    w->is_host = device.is_host;
    DO(meta_alloc(&w->a, BYTES));
    DO(meta_alloc(&w->b, BYTES));
    DO(meta_alloc(&w->packed, BYTES));
    DO(meta_alloc(&w->matrix, 256));
    for (int k = 0; k < CELLS; ++k) w->in[k] = (double)random_in(w, -1000, 1000);
    DO(meta_copy_h2d(w->a, w->in, BYTES, META_ASYNC));
}

/* Nobody has begun it again: whatever does not need the library works, anything else is refused. */
static void find_it_ended(worker *w)
{
    int count;
    void *p;
    ++w->calls;
    if (meta_variable_count(&count) != META_OK)
        blame(w, __LINE__, "meta_variable_count()", "refused");
    ++w->calls;
    if (meta_alloc(&p, 8) != META_ERR_INIT) blame(w, __LINE__, "meta_alloc()", "not META_ERR_INIT");
    ++w->calls;
    if (meta_flush() != META_ERR_INIT) blame(w, __LINE__, "meta_flush()", "not META_ERR_INIT");
}

/* One thread ends each life, sometimes two at the same time; the others notice. */
static void live(worker *w, int64_t number)
{
    const bool ends =
        number % THREADS == w->number || (number % 4 == 0 && (number + 1) % THREADS == w->number);
    const int64_t last = w->calls + random_in(w, 1, test_long() ? 1500 : 300);
    const meta_err begun = meta_init(); /* all at once, and one is the first */
    went(w, begun, META_ERR_STATE, __LINE__, "meta_init()");
    pthread_barrier_wait(&together);
    begin(w);
    while (!w->has_ended && !*w->fault) {
        steps[random_in(w, 0, (int64_t)(sizeof steps / sizeof *steps) - 1)](w);
        if (ends && w->calls >= last) break;
    }
    /* After a fault the others wait for an end as well. */
    if (!w->has_ended && (ends || *w->fault)) {
        const meta_err ended = meta_finalize();
        ++w->calls;
        /* META_ERR_STATE, where another thread is in it. */
        if (ended != META_OK && ended != META_ERR_INIT && ended != META_ERR_STATE)
            blame(w, __LINE__, "meta_finalize()", meta_strerror(ended));
    }
    find_it_ended(w);
}

static int64_t fewest_calls(void)
{
    int64_t fewest = INT64_MAX;
    for (int k = 0; k < THREADS; ++k)
        if (workers[k].calls < fewest) fewest = workers[k].calls;
    return fewest;
}

static void *live_again_and_again(void *argument)
{
    worker *w = argument;
    for (int64_t number = 0; !is_over; ++number) {
        live(w, number);
        pthread_barrier_wait(&together);
        if (w->number == 0) {
            bool faulty = false;
            for (int k = 0; k < THREADS; ++k) faulty = faulty || *workers[k].fault;
            if (!faulty) progress_at(fewest_calls());
            is_over = faulty || fewest_calls() >= most_calls;
        }
        pthread_barrier_wait(&together);
        w->random ^= (uint64_t)number;
    }
    return NULL;
}

static void threads_may_call_everything_while_one_ends_the_library_and_all_begin_it_again(void)
{
    const char *asked = getenv("META_TEST_CALLS");
    const uint64_t seed = test_random();
    int64_t calls = 0;
    most_calls = asked && *asked ? atoll(asked) : test_long() ? 100000 : 600;
    const int64_t done = progress_begin("thread_calls", seed, most_calls, true);
    CHECK_OK(meta_get_acc(&own_index, &own_mode));
    CHECK_OK(meta_finalize());
    pthread_barrier_init(&together, NULL, THREADS);
    for (int k = 0; k < THREADS; ++k) {
        worker *w = &workers[k];
        w->number = k;
        w->random = (seed ^ (uint64_t)(done * THREADS + k) * UINT64_C(0xd1342543de82ef95)) | 1;
        w->calls = done;
        if (pthread_create(&w->thread, NULL, live_again_and_again, w) != 0) abort();
    }
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(workers[k].thread, NULL);
        test_case("thread %d after %" PRId64 " calls", k, (int64_t)workers[k].calls);
        CHECK_STRING(workers[k].fault, "");
        calls += workers[k].calls;
    }
    pthread_barrier_destroy(&together);
    progress_end(test_failures() == 0 ? most_calls : -1);
    printf("figure: %" PRId64 " calls of %d threads, %" PRId64 " in each at least\n", calls,
           THREADS, fewest_calls());
    CHECK_OK(meta_init());
}

/* Leaks and profiles are reported at the end of each life. */
static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    setenv("META_LOG", "off", 1);
    if (!freopen("/dev/null", "w", stderr)) abort();
    test_device.start(argc, argv);
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

TEST_MAIN_WITH(
    &setting,
    PROMISE(threads_may_call_everything_while_one_ends_the_library_and_all_begin_it_again))
