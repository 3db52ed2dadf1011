/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_abi.c
 *  The plug-in ABI itself: each back end that was built is loaded without libmeta and driven
 * through its function table, in a child process. What the core does not yet do, but a later minor
 * version may, is done here: longer structures, waits and copies between devices. */
/* TEST: backends=any labels=core smoke=yes */
#include "test.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "meta_backend.h"

/* ------------------------------------------------------------------ a core for one back end */

static char message[1024];

__attribute__((format(printf, 2, 3))) static meta_err fail(meta_err code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return code;
}

__attribute__((format(printf, 2, 3))) static void no_log(meta_log_level level, const char *format,
                                                         ...)
{
    (void)level, (void)format;
}

static int two(void)
{
    return 2;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

static const meta_host host = {.size = sizeof host,
                               .fail = fail,
                               .log = no_log,
                               .threads = two,
                               .variable = variable,
                               .timing = two};

static meta_ops ops;
static int devices;

/* CHECK_OK with the back end's message instead of libmeta's. */
#define DO(call)                                                                                   \
    do {                                                                                           \
        message[0] = '\0';                                                                         \
        if (CHECK_OK(call)) break;                                                                 \
        printf("    the back end says: %s\n", message);                                            \
        return;                                                                                    \
    } while (0)

/* @return whether there is a device. */
static bool load(const char *path)
{
    char reason[256] = "";
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const meta_plugin *plugin = module ? dlsym(module, "meta_plugin_v2") : NULL;
    if (!CHECK(plugin != NULL)) return printf("    %s\n", dlerror()), false;
    CHECK(plugin->magic == META_PLUGIN_MAGIC && plugin->size >= sizeof *plugin);
    CHECK(plugin->abi_major == 2 && plugin->ops->size >= sizeof ops);
    ops = *plugin->ops;
    if (!CHECK_OK(plugin->init(&host))) return false;
    devices = ops.device_count(reason, sizeof reason);
    return devices > 0;
}

/* ------------------------------------------------------------------ kernels */

#define IN    META_ACCESS_IN, META_REACH_POINT, {0}, {0}, 0
#define OUT   META_ACCESS_OUT, META_REACH_POINT, {0}, {0}, 0
#define INOUT META_ACCESS_INOUT, META_REACH_POINT, {0}, {0}, 0
enum { ARITHMETIC = (1 << META_I16) - 1, ALL = (1 << META_TYPE_COUNT) - 1 };

static const meta_operand_desc written = {OUT};
static const meta_kernel_desc fill = {.size = sizeof fill,
                                      .number = META_KERNEL_FILL,
                                      .name = "fill",
                                      .family = META_FAMILY_MOVE,
                                      .types = ALL,
                                      .values = 1,
                                      .passes = 1,
                                      .operands = 1,
                                      .operand = &written};
static const meta_kernel_desc axpy = {.size = sizeof axpy,
                                      .number = META_KERNEL_AXPY,
                                      .name = "axpy",
                                      .family = META_FAMILY_MAP,
                                      .types = ARITHMETIC,
                                      .values = 1,
                                      .passes = 3,
                                      .operands = 2,
                                      .operand = (const meta_operand_desc[]){{INOUT}, {IN}}};
static const meta_kernel_desc reduce_sum = {.size = sizeof reduce_sum,
                                            .number = META_KERNEL_REDUCE_SUM,
                                            .name = "reduce_sum",
                                            .family = META_FAMILY_REDUCTION,
                                            .types = ARITHMETIC,
                                            .combine = META_COMBINE_sum,
                                            .passes = 1,
                                            .operands = 1,
                                            .operand = &(const meta_operand_desc){IN}};

static meta_err create(meta_plugin_device *device, const meta_kernel_desc *desc, meta_type type,
                       const char *text, meta_plugin_kernel **kernel)
{
    const meta_kernel_source source = {
        .size = sizeof source, .desc = desc, .type = (uint32_t)type, .text = text};
    *kernel = NULL;
    return ops.kernel_create(device, &source, kernel);
}

static void destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    if (ops.kernel_destroy && kernel) ops.kernel_destroy(device, kernel);
}

/* ------------------------------------------------------------------ calls of a later version */

/* A call, launch and copy of a later minor version, with members that nobody knows yet. */
typedef struct later_call {
    meta_call now;
    char later[40];
} later_call;
typedef struct later_launch {
    meta_launch now;
    char later[24];
} later_launch;
typedef struct later_copy {
    meta_copy now;
    char later[8];
} later_copy;

/* A call with all that it points to. */
typedef struct case_call {
    meta_space space;
    void *object[META_SPACE_OPERANDS];
    double value;
    unsigned char byte;
    meta_result result;
} case_call;

/* @p count elements of each operand, from element @p base on. */
static void make_call(later_call *call, case_call *behind, const meta_kernel_desc *desc,
                      meta_type type, meta_plugin_kernel *kernel, int64_t base, int64_t count)
{
    memset(call, 0xff, sizeof *call);
    call->now = (meta_call){.size = sizeof *call,
                            .type = (uint32_t)type,
                            .kernel = kernel,
                            .desc = desc,
                            .space = &behind->space,
                            .object = behind->object,
                            .values = type == META_U8 ? (void *)&behind->byte : &behind->value,
                            .result = desc->combine ? &behind->result : NULL};
    behind->space.ndim = behind->space.rows = 1;
    behind->space.extent[0] = count;
    for (uint32_t k = 0; k < META_SPACE_OPERANDS; ++k)
        behind->space.layout[k] = (meta_layout){.base = base, .stride = {1}};
}

static meta_err launch(meta_plugin_queue *queue, const later_call *calls, size_t count,
                       meta_ticket *ticket, meta_stamp *stamp)
{
    later_launch unit;
    memset(&unit, 0xff, sizeof unit);
    unit.now = (meta_launch){.size = sizeof unit,
                             .calls = &calls->now,
                             .count = count,
                             .stride = sizeof *calls,
                             .ticket = ticket,
                             .stamp = stamp};
    return ops.launch(queue, &unit.now);
}

static meta_err copy(meta_plugin_queue *queue, meta_copy what)
{
    later_copy wanted;
    memset(&wanted, 0xff, sizeof wanted);
    wanted.now = what;
    wanted.now.size = sizeof wanted;
    return ops.copy(queue, &wanted.now);
}

static meta_err wait(meta_ticket ticket)
{
    const meta_err error = ticket ? ops.ticket_wait(ticket) : META_OK;
    if (ticket) ops.ticket_release(ticket);
    return error;
}

static meta_err download(meta_plugin_queue *queue, void *to, const meta_memory *from, size_t bytes)
{
    meta_ticket ticket = NULL;
    const meta_err error = copy(queue, (meta_copy){.kind = META_COPY_D2H,
                                                   .object = from->object,
                                                   .bytes = bytes,
                                                   .host = to,
                                                   .ticket = &ticket});
    return error ? error : wait(ticket);
}

/* Memory of a device, with a queue of it. */
typedef struct place {
    meta_plugin_device *device;
    meta_plugin_queue *queue, *halo;
    meta_memory x, y;
} place;

enum { N = 1 << 16, BYTES = N * (int)sizeof(double) };
static double found[N];

static meta_err open_place(place *p, int index)
{
    meta_err error = ops.open(index, NULL, &p->device);
    if (!error) error = ops.queue_create(p->device, META_QUEUE_COMPUTE, &p->queue);
    if (!error) error = ops.queue_create(p->device, META_QUEUE_HALO, &p->halo);
    if (!error) error = ops.alloc(p->device, BYTES, &p->x);
    if (!error) error = ops.alloc(p->device, BYTES, &p->y);
    return error;
}

static void close_place(place *p)
{
    CHECK_OK(ops.queue_finish(p->queue));
    CHECK_OK(ops.queue_finish(p->halo));
    ops.free(p->device, &p->x);
    ops.free(p->device, &p->y);
    ops.queue_destroy(p->halo);
    ops.queue_destroy(p->queue);
    ops.close(p->device);
}

/* Queue y := 0, x := @p value and @p times y := y + 2 x. */
static meta_err queue_work(place *p, meta_plugin_kernel *const kernel[2], double value, int times,
                           meta_ticket *ticket)
{
    later_call call[2];
    case_call behind[2] = {{.value = 0, .object = {p->y.object}},
                           {.value = value, .object = {p->x.object}}};
    for (int k = 0; k < 2; ++k) make_call(&call[k], &behind[k], &fill, META_F64, kernel[0], 0, N);
    meta_err error = launch(p->queue, call, 2, NULL, NULL);
    behind[0] = (case_call){.value = 2, .object = {p->y.object, p->x.object}};
    make_call(&call[0], &behind[0], &axpy, META_F64, kernel[1], 0, N);
    for (int k = 1; k <= times && !error; ++k)
        error = launch(p->queue, call, 1, k == times ? ticket : NULL, NULL);
    return error;
}

static void check_found(double expected)
{
    for (int k = 0; k < N; ++k)
        if (found[k] != expected) {
            CHECK_NEAR(found[k], expected, 0);
            return;
        }
    CHECK(true);
}

/* ------------------------------------------------------------------ what is promised */

/* More calls than a GPU takes at once, of one kernel for two types, and a reduction. */
static void launch_longer_calls(void *path)
{
    enum { FILLS = 30, PART = 1000, CALLS = FILLS + 1, SUMMED = FILLS * PART };
    static later_call call[CALLS];
    static case_call behind[CALLS];
    meta_plugin_kernel *of_f64, *of_u8, *sum;
    meta_ticket ticket = NULL;
    meta_stamp stamp = {0};
    double total = -1;
    place p = {0};
    if (!load(path)) return;
    DO(open_place(&p, 0));
    DO(create(p.device, &fill, META_F64, NULL, &of_f64));
    DO(create(p.device, &fill, META_U8, NULL, &of_u8));
    DO(create(p.device, &reduce_sum, META_F64, NULL, &sum));
    for (int k = 0; k < FILLS; ++k) {
        behind[k] = (case_call){.value = k, .byte = 7, .object = {p.x.object}};
        make_call(&call[k], &behind[k], &fill, META_F64, of_f64, k * PART, PART);
    }
    behind[FILLS] = (case_call){.byte = 7, .object = {p.y.object}};
    make_call(&call[FILLS], &behind[FILLS], &fill, META_U8, of_u8, 3, 100);
    DO(launch(p.queue, call, CALLS, &ticket, &stamp));
    /* What the calls point to is only valid until launch() returns. */
    memset(call, 0xff, sizeof call);
    memset(behind, 0xff, sizeof behind);
    DO(wait(ticket));
    DO(download(p.queue, found, &p.x, BYTES));
    for (int k = 0; k < SUMMED; ++k)
        if (found[k] != k / PART && !CHECK_NEAR(found[k], k / PART, 0)) break;
    DO(download(p.queue, found, &p.y, BYTES));
    for (int k = 3; k < 103; ++k)
        if (((unsigned char *)found)[k] != 7 && !CHECK_INT(((unsigned char *)found)[k], 7)) break;
    if (stamp.work) {
        CHECK_INT(ops.stamp_read(stamp.work, &stamp.begin, &stamp.end), 1);
        ops.stamp_release(stamp.work);
    }
    CHECK(stamp.begin <= stamp.end);

    behind[0] = (case_call){.object = {p.x.object}, .result = {.host = &total}};
    make_call(&call[0], &behind[0], &reduce_sum, META_F64, sum, 0, SUMMED);
    ticket = NULL;
    DO(launch(p.queue, call, 1, &ticket, NULL));
    DO(wait(ticket));
    CHECK_NEAR(total, PART * (FILLS - 1) * FILLS / 2.0, 0);
    behind[0].result = (meta_result){.object = p.y.object, .offset = 5 * sizeof(double)};
    DO(launch(p.queue, call, 1, NULL, NULL));
    DO(download(p.queue, found, &p.y, BYTES));
    CHECK_NEAR(found[5], PART * (FILLS - 1) * FILLS / 2.0, 0);
    destroy(p.device, of_f64);
    destroy(p.device, of_u8);
    destroy(p.device, sum);
    close_place(&p);
}

static void wait_on_another_queue(void *path)
{
    meta_plugin_kernel *kernel[2];
    place p = {0};
    if (!load(path)) return;
    DO(open_place(&p, 0));
    DO(create(p.device, &fill, META_F64, NULL, &kernel[0]));
    DO(create(p.device, &axpy, META_F64, NULL, &kernel[1]));
    DO(ops.queue_wait(p.halo, NULL)); /* complete */
    for (int round = 1; round <= 5; ++round) {
        meta_ticket ticket = NULL;
        DO(queue_work(&p, kernel, round, 20, &ticket));
        DO(ops.queue_wait(p.halo, ticket));
        if (ticket) ops.ticket_release(ticket);
        DO(download(p.halo, found, &p.y, BYTES));
        check_found(40.0 * round);
    }
    for (int k = 0; k < 2; ++k) destroy(p.device, kernel[k]);
    close_place(&p);
}

/* Between two devices where there are two, and within one. */
static void copy_between_devices(void *path)
{
    if (!load(path)) return;
    for (int k = 1; k <= 2 && k <= devices; ++k) {
        meta_plugin_kernel *kernel[2];
        place from = {0}, second = {0};
        meta_ticket ticket = NULL;
        test_case("%s to device %d of %d", (const char *)path, k - 1, devices);
        DO(open_place(&from, 0));
        if (k == 2) DO(open_place(&second, 1));
        place *to = k == 2 ? &second : &from;
        DO(create(from.device, &fill, META_F64, NULL, &kernel[0]));
        DO(create(from.device, &axpy, META_F64, NULL, &kernel[1]));
        DO(queue_work(&from, kernel, 3, 20, &ticket));
        const meta_err waits = ops.queue_wait(to->halo, ticket);
        CHECK(waits == META_OK || (k == 2 && waits == META_ERR_UNSUPPORTED));
        if (waits == META_OK && ticket) ops.ticket_release(ticket);
        if (waits != META_OK) DO(wait(ticket));
        if (ops.copy_peer && ops.copy_peer(to->device, from.device)) {
            meta_stamp stamp = {0};
            ticket = NULL;
            DO(copy(to->halo, (meta_copy){.kind = META_COPY_PEER,
                                          .object = to->x.object,
                                          .offset = BYTES / 2,
                                          .bytes = BYTES / 2,
                                          .peer = from.device,
                                          .peer_object = from.y.object,
                                          .peer_offset = BYTES / 4,
                                          .ticket = &ticket,
                                          .stamp = &stamp}));
            DO(wait(ticket));
            if (stamp.work) ops.stamp_release(stamp.work);
            DO(download(to->queue, found, &to->x, BYTES));
            memcpy(found, found + N / 2, BYTES / 2);
            check_found(120);
        }
        for (int j = 0; j < 2; ++j) destroy(from.device, kernel[j]);
        if (k == 2) close_place(&second);
        close_place(&from);
    }
}

static void ask_for_kernels_that_there_are_not(void *path)
{
    static const meta_kernel_desc later = {.size = sizeof later,
                                           .number = META_KERNEL_COUNT + 100,
                                           .name = "of a later libmeta",
                                           .types = ALL,
                                           .operands = 1,
                                           .operand = &written};
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    meta_plugin_kernel *kernel;
    place p = {0};
    setenv("META_TEST_OPENCL_DOUBLE", "off", 1);
    if (!load(path)) return;
    DO(ops.device_info(0, &desc));
    DO(open_place(&p, 0));
    CHECK_ERR(create(p.device, &later, META_F32, NULL, &kernel), META_ERR_UNSUPPORTED);
    CHECK(message[0] != '\0' && !kernel);
    message[0] = '\0';
    CHECK_ERR(create(p.device, &axpy, META_I8, NULL, &kernel), META_ERR_TYPE);
    CHECK(message[0] != '\0' && !kernel);
    CHECK_ERR(create(p.device, &axpy, META_F64, NULL, &kernel),
              desc.has_f64 ? META_OK : META_ERR_TYPE);
    destroy(p.device, kernel);
    DO(create(p.device, &axpy, META_F32, NULL, &kernel));
    destroy(p.device, kernel);
    close_place(&p);
}

/* ------------------------------------------------------------------ every back end */

static void each_back_end(void (*body)(void *))
{
    static const char *const files[] = {
        ".libs/libmeta/openmp.so",        ".libs/libmeta/opencl.so",
        ".libs/libmeta/cuda.so",          ".libs/libmeta/hip.so",
        "tests/plugins/gpu/.libs/hip.so", "tests/plugins/.libs/plain.so",
        "tests/plugins/.libs/late.so"};
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k) {
        char path[4096];
        snprintf(path, sizeof path, "%s", test_built(files[k]));
        test_case("%s", files[k]);
        if (access(path, R_OK) == 0) CHECK_CHILD(body, path);
    }
}

static void a_launch_steps_through_longer_calls_by_its_stride(void)
{
    each_back_end(launch_longer_calls);
}

static void a_queue_waits_for_a_ticket_of_another_queue(void)
{
    each_back_end(wait_on_another_queue);
}

static void work_and_copies_of_two_devices_are_ordered_by_tickets(void)
{
    each_back_end(copy_between_devices);
}

static void a_kernel_that_cannot_be_made_is_an_error_of_its_creation(void)
{
    each_back_end(ask_for_kernels_that_there_are_not);
}

TEST_MAIN(PROMISE(a_launch_steps_through_longer_calls_by_its_stride),
          PROMISE(a_queue_waits_for_a_ticket_of_another_queue),
          PROMISE(work_and_copies_of_two_devices_are_ordered_by_tickets),
          PROMISE(a_kernel_that_cannot_be_made_is_an_error_of_its_creation))
