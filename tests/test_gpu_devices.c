/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_gpu_devices.c
 *  Several GPUs in one process, no GPU, and native objects of the application on one of them. On
 *  simulated devices, see fault.h; each case is a child process. */
/* TEST: backends=faults labels=core */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "fault.h"

enum { CELLS = 5000 };
static const size_t bytes = CELLS * sizeof(double);
static const meta_box all = {1, {CELLS}, {0}, {CELLS}};

static bool start(const char *mode)
{
    if (!fault_find()) return false;
    setenv("META_MODE", mode, 1);
    unsetenv("META_RANK_MAP");
    return CHECK_OK(meta_init());
}

static void end(void)
{
    CHECK_OK(meta_finalize());
    fault_check_nothing_left();
}

/* ------------------------------------------------------------------ none */

typedef struct absence {
    int status, driver;
    char reason[128];
} absence;

static void look_in_vain(void *argument)
{
    const absence *a = argument;
    int count = -1;
    void *p;
    if (!fault_find()) return;
    fault->devices = 0;
    fault->count_status = a->status;
    fault->driver_version = a->driver;
    if (!start(gpu->name)) return;
    CHECK_OK(meta_device_count(gpu->mode, &count));
    CHECK_INT(count, 0);
    CHECK_ERR_NAMES(meta_alloc(&p, bytes), META_ERR_NO_DEVICE, a->reason);
    CHECK_OK(meta_set_acc(0, META_OPENMP));
    CHECK_OK(meta_alloc(&p, bytes));
    CHECK_OK(meta_free(p));
    end();
}

static void a_missing_gpu_is_reported_with_the_reason(void)
{
    absence none[] = {{.driver = gpu->good_driver},
                      {.driver = gpu->good_driver, .status = GPU_FAULT_NO_DEVICE},
                      {.driver = 0, .status = GPU_FAULT_OLD_DRIVER},
                      {.driver = gpu->old_driver, .status = GPU_FAULT_OLD_DRIVER},
                      {.driver = gpu->good_driver, .status = GPU_FAULT_UNKNOWN}};
    enum { REASONS = sizeof none / sizeof *none, ROOM = sizeof none->reason };
    snprintf(none[0].reason, ROOM, "no %s device is visible", gpu->title);
    snprintf(none[1].reason, ROOM, "%s", gpu->visible);
    snprintf(none[2].reason, ROOM, "no driver for %s devices is installed", gpu->title);
    snprintf(none[3].reason, ROOM, "the driver serves %s %s, but", gpu->title, gpu->old_version);
    snprintf(none[4].reason, ROOM, "%s: ", fault_call("GetDeviceCount"));
    for (int k = 0; k < REASONS; ++k) {
        test_case("%s", none[k].reason);
        CHECK_CHILD(look_in_vain, &none[k]);
    }
}

/* ------------------------------------------------------------------ one of another kind */

static void launch_in_vain(void *unused)
{
    const double zero = 0;
    double *p = NULL;
    (void)unused;
    setenv("META_CHECK", "0", 1); /* which makes other calls before the launch */
    if (!start(gpu->name) || !CHECK_OK(meta_alloc((void **)&p, bytes))) return;
    CHECK_OK(meta_fill(p, CELLS, &zero, META_F64, NULL));
    fault->status = GPU_FAULT_NO_KERNEL;
    fault->fail_at = fault->calls + 2; /* the first makes the device the thread's */
    CHECK_ERR_NAMES(meta_fill(p, CELLS, &zero, META_F64, NULL), META_ERR_DEVICE, gpu->arch);
    CHECK_STRING(fault->failed, fault_call("LaunchKernel"));
    CHECK_OK(meta_free(p));
    end();
}

static void a_gpu_without_compiled_kernels_is_reported(void)
{
    CHECK_CHILD(launch_in_vain, NULL);
}

/* ------------------------------------------------------------------ blocks */

/* One is 256 threads, each of which has a cell here. */
static void count_blocks(void *unused)
{
    const double one = 1, zero = 0;
    double *from = NULL, *to = NULL, sum = 0;
    (void)unused;
    setenv("META_CHECK", "0", 1); /* which launches kernels of its own */
    if (!start(gpu->name) || !CHECK_OK(meta_alloc((void **)&from, bytes)) ||
        !CHECK_OK(meta_alloc((void **)&to, bytes)))
        return;
    CHECK_OK(meta_fill(from, CELLS, &one, META_F64, NULL));
    CHECK_OK(meta_fill(to, CELLS, &zero, META_F64, NULL));
    for (int rows = 8; rows <= 64; rows += 56) {
        const meta_box box = {2, {10, rows + 2}, {1, 1}, {9, rows + 1}};
        test_case("%d rows", rows);
        for (int call = 0; call < 4; ++call) {
            fault->most_blocks = 0;
            if (call == 0) CHECK_OK(meta_fill_box(to, &box, &one, META_F64, NULL));
            if (call == 1) CHECK_OK(meta_copy_box(to, &box, from, &box, META_F64, NULL));
            if (call == 2) CHECK_OK(meta_stencil(to, from, &box, META_2D5P, META_F64, &sum, NULL));
            if (call == 3) CHECK_OK(meta_reduce(&sum, from, &box, META_SUM, META_F64, NULL));
            if (!CHECK_INT(fault->most_blocks, (8 * rows + 255) / 256)) FAIL("in call %d", call);
        }
    }
    CHECK_OK(meta_free(from));
    CHECK_OK(meta_free(to));
    end();
}

static void a_small_call_has_no_blocks_without_cells(void)
{
    if (gpu->driver) CHECK_CHILD(count_blocks, NULL);
}

/* ------------------------------------------------------------------ two */

/* A buffer on @p device that is full of @p value. */
static double *buffer_of(int device, double value)
{
    double *buffer = NULL;
    CHECK_OK(meta_set_acc(device, gpu->mode));
    if (CHECK_OK(meta_alloc((void **)&buffer, bytes)))
        CHECK_OK(meta_fill(buffer, CELLS, &value, META_F64, META_ASYNC));
    return buffer;
}

static void check_sum(const double *buffer, double expected)
{
    double sum = 0;
    CHECK_OK(meta_reduce(&sum, buffer, &all, META_SUM, META_F64, NULL));
    CHECK(sum == expected);
}

static void use_two(void *unused)
{
    const double two = 2;
    static double host[CELLS];
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_pointer_desc where = META_POINTER_DESC_INIT;
    double *buffer[2], sum;
    meta_event event;
    int index = -1;
    (void)unused;
    if (!start(gpu->name)) return;
    for (int k = 0; k < 2; ++k) buffer[k] = buffer_of(k, k + 1);
    CHECK_OK(meta_get_acc(&index, NULL));
    CHECK_INT(index, 1);
    /* A call runs where its operands are, whatever the thread's device is. */
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_pointer_info(buffer[k], &where));
        CHECK_INT(where.index, k);
        CHECK_OK(meta_device_info(k, gpu->mode, &desc));
        CHECK_CONTAINS(desc.name, k == 0 ? "GPU 0" : "GPU 1");
        check_sum(buffer[k], (k + 1.0) * CELLS);
    }
    CHECK_ERR(meta_axpy(buffer[0], &two, buffer[1], &all, META_F64, NULL), META_ERR_WRONG_DEVICE);
    CHECK_ERR(meta_copy_d2d(buffer[0], buffer[1], bytes, NULL), META_ERR_WRONG_DEVICE);
    CHECK_ERR(meta_reduce(buffer[0], buffer[1], &all, META_SUM, META_F64, NULL),
              META_ERR_WRONG_DEVICE);
    CHECK_OK(meta_copy_d2h(host, buffer[1], bytes, NULL));
    CHECK_OK(meta_copy_h2d(buffer[0], host, bytes, META_ASYNC));
    check_sum(buffer[0], 2.0 * CELLS);
    /* An event of one, waited for while the thread's device is the other. */
    CHECK_OK(meta_reduce(&sum, buffer[1], &all, META_SUM, META_F64, &event));
    CHECK_OK(meta_set_acc(0, gpu->mode));
    CHECK_OK(meta_event_wait(event));
    CHECK(sum == 2.0 * CELLS);
    CHECK_OK(meta_event_free(&event));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(buffer[k]));
    end();
}

static void two_devices_in_one_process_are_independent(void)
{
    CHECK_CHILD(use_two, NULL);
}

static void *work_on_one(void *number)
{
    const int device = *(const int *)number, rounds = (int)test_count(50, 1000);
    for (int k = 0; k < rounds; ++k) {
        double *buffer = buffer_of(device, device + 1);
        check_sum(buffer, (device + 1.0) * CELLS);
        CHECK_OK(meta_free(buffer));
    }
    return NULL;
}

static void use_threads(void *unused)
{
    pthread_t thread[4];
    int device[4];
    (void)unused;
    if (!start(gpu->name)) return;
    for (int k = 0; k < 4; ++k) {
        device[k] = k % 2;
        CHECK(pthread_create(&thread[k], NULL, work_on_one, &device[k]) == 0);
    }
    for (int k = 0; k < 4; ++k) pthread_join(thread[k], NULL);
    end();
}

static void threads_may_use_different_devices(void)
{
    CHECK_CHILD(use_threads, NULL);
}

static void describe_open_devices(void *unused)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_mem_desc use = META_MEM_DESC_INIT;
    (void)unused;
    if (!start(gpu->name)) return;
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_set_acc(k, gpu->mode));
    const long calls = fault->calls;
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_device_info(k, gpu->mode, &desc));
        CHECK_OK(meta_mem_info(k, gpu->mode, &use));
        CHECK_CONTAINS(desc.name, k == 0 ? "GPU 0" : "GPU 1");
        CHECK_U64(use.total, desc.memory);
        /* HIP-CPU has none. */
        if (gpu->driver) CHECK_STRING(desc.pci, k == 0 ? "002a:01:1f.0" : "002a:02:1f.0");
    }
    CHECK_INT(fault->calls, calls);
    end();
}

static void an_open_device_is_described_without_its_driver(void)
{
    CHECK_CHILD(describe_open_devices, NULL);
}

/* ------------------------------------------------------------------ the application's own */

static void wrap_own(void *unused)
{
    static double host[CELLS];
    const double three = 3;
    double *own = NULL, *buffer = NULL, last = 0;
    void *object = NULL;
    (void)unused;
    if (!start(gpu->name)) return;
    own = fault->make_memory(1, bytes);
    if (!CHECK(own)) return;
    CHECK_OK(meta_set_acc(0, gpu->mode));
    CHECK_ERR_NAMES(meta_wrap((void **)&buffer, own, bytes, META_NATIVE_OBJECT),
                    META_ERR_WRONG_DEVICE, "device 1, not to 0");
    CHECK_ERR(meta_wrap((void **)&buffer, own, bytes, META_NATIVE_HOST), META_ERR_POINTER);
    CHECK_ERR_NAMES(meta_wrap((void **)&buffer, host, bytes, META_NATIVE_OBJECT), META_ERR_POINTER,
                    "'native' is no memory of");
    CHECK_OK(meta_set_acc(1, gpu->mode));
    CHECK_ERR(meta_wrap((void **)&buffer, own, bytes + 1, META_NATIVE_OBJECT), META_ERR_BOUNDS);
    if (CHECK_OK(meta_wrap((void **)&buffer, own, bytes, META_NATIVE_OBJECT))) {
        CHECK(buffer == own);
        CHECK_OK(meta_native(buffer + 2, &object, NULL));
        CHECK(object == own);
        CHECK_OK(meta_fill(buffer, CELLS, &three, META_F64, META_ASYNC));
        check_sum(buffer, 3.0 * CELLS);
        CHECK_OK(meta_unwrap(buffer));
        CHECK(fault->peek(&last, own + CELLS - 1, sizeof last));
        CHECK(last == 3);
    }
    fault->free_memory(own);
    end();
}

static void a_device_pointer_is_wrapped_where_it_belongs(void)
{
    CHECK_CHILD(wrap_own, NULL);
}

static void use_own_stream(void *unused)
{
    meta_state given = META_STATE_INIT, found = META_STATE_INIT;
    double *buffer;
    (void)unused;
    if (!start(gpu->name)) return;
    given.queue = fault->make_stream(1);
    given.context = given.queue;
    CHECK_ERR_NAMES(meta_set_state(1, gpu->mode, &given), META_ERR_ARGUMENT, "'state'");
    given.context = NULL;
    CHECK_ERR_NAMES(meta_set_state(0, gpu->mode, &given), META_ERR_ARGUMENT, "no stream of");
    *fault->misuse = '\0'; /* that is how it was found out */
    CHECK_OK(meta_set_state(1, gpu->mode, &given));
    CHECK_ERR(meta_set_state(1, gpu->mode, &given), META_ERR_STATE);
    CHECK_OK(meta_get_state(1, gpu->mode, &found));
    CHECK(found.queue == given.queue);
    CHECK_OK(meta_get_state(0, gpu->mode, &found));
    CHECK(found.queue && found.queue != given.queue);
    buffer = buffer_of(1, 4);
    check_sum(buffer, 4.0 * CELLS);
    CHECK_OK(meta_free(buffer));
    CHECK_OK(meta_finalize());
    CHECK_INT(fault->live[GPU_FAULT_STREAM], 1); /* it is still there */
    fault->free_stream(given.queue);
    fault_check_nothing_left();
}

static void the_applications_stream_is_used_and_left(void)
{
    CHECK_CHILD(use_own_stream, NULL);
}

typedef int copy_async(void *to, const void *from, size_t bytes, int kind, void *stream);

/* An upload that the application puts on the library's stream, which is idle by then. */
static void upload_on_the_librarys_stream(void *unused)
{
    enum { HOST_TO_DEVICE = 1 };
    const double seven = 7;
    double found = 0;
    meta_state state = META_STATE_INIT;
    (void)unused;
    if (!start(gpu->name)) return;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); /* the fake, runtime included */
    copy_async *copy = library ? (copy_async *)dlsym(library, "cudaMemcpyAsync") : NULL;
    double *buffer = buffer_of(0, 1);
    CHECK_OK(meta_get_state(0, gpu->mode, &state));
    CHECK_OK(meta_flush());
    if (CHECK(copy) &&
        CHECK_INT(copy(buffer, &seven, sizeof seven, HOST_TO_DEVICE, state.queue), 0)) {
        CHECK_OK(meta_flush());
        CHECK(fault->peek(&found, buffer, sizeof found));
        CHECK(found == seven);
    }
    CHECK_OK(meta_free(buffer));
    end();
}

/* HIP-CPU's runtime can only be called from C++. */
static void the_applications_work_on_the_librarys_stream_is_waited_for(void)
{
    if (gpu->driver) CHECK_CHILD(upload_on_the_librarys_stream, NULL);
}

/* ------------------------------------------------------------------ ranks */

static void deal(void *number)
{
    const int devices = *(const int *)number;
    char text[16];
    snprintf(text, sizeof text, "%d", devices);
    setenv("META_TEST_GPUS", text, 1);
    if (!start(gpu->name)) return;
    for (int r = 0; r < 4; ++r) {
        int index = -1;
        meta_mode mode = -1;
        CHECK_OK(meta_rank_device(r, 4, r, 4, &mode, &index, NULL));
        CHECK_INT(mode, gpu->mode);
        CHECK_INT(index, r % devices);
    }
    CHECK_OK(meta_set_job(3, 4, 3, 4));
    int index = -1;
    double *buffer = NULL;
    CHECK_OK(meta_get_acc(&index, NULL));
    CHECK_INT(index, 3 % devices);
    CHECK_OK(meta_alloc((void **)&buffer, bytes));
    CHECK_OK(meta_free(buffer));
    end();
}

static void the_ranks_of_a_node_take_turns(void)
{
    for (int devices = 1; devices <= 4; ++devices) {
        test_case("%d devices", devices);
        CHECK_CHILD(deal, &devices);
    }
}

static void ask_for_a_third(void *unused)
{
    char third[16], count[32];
    void *p;
    (void)unused;
    snprintf(third, sizeof third, "%s:2", gpu->name);
    snprintf(count, sizeof count, "%s has 2 devices", gpu->name);
    if (!start(third)) return;
    CHECK_ERR_NAMES(meta_alloc(&p, bytes), META_ERR_NO_DEVICE, "2");
    CHECK_ERR_NAMES(meta_set_acc(2, gpu->mode), META_ERR_NO_DEVICE, count);
    end();
}

static void a_missing_device_is_an_error(void)
{
    CHECK_CHILD(ask_for_a_third, NULL);
}

TEST_MAIN(PROMISE(a_missing_gpu_is_reported_with_the_reason),
          PROMISE(a_gpu_without_compiled_kernels_is_reported),
          PROMISE(a_small_call_has_no_blocks_without_cells),
          PROMISE(two_devices_in_one_process_are_independent),
          PROMISE(threads_may_use_different_devices),
          PROMISE(an_open_device_is_described_without_its_driver),
          PROMISE(a_device_pointer_is_wrapped_where_it_belongs),
          PROMISE(the_applications_stream_is_used_and_left),
          PROMISE(the_applications_work_on_the_librarys_stream_is_waited_for),
          PROMISE(the_ranks_of_a_node_take_turns), PROMISE(a_missing_device_is_an_error))
