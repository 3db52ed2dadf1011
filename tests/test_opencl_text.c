/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_opencl_text.c
 *  The OpenCL back end without the library above it: kernels from text, few operands and many, and
 *  work that crosses from one queue or device to another. */
/* Not labelled `kernel`, so not run on oclgrind: version 21.10 ends the process at an intrinsic that
 * inlining leaves in these kernels, and its compiler's messages do not follow #line. */
/* TEST: backends=opencl labels=core */
#define FAKE_LOG_LEVEL META_LOG_WARN
#include "fake_host.h"
#include "meta_backend.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 24, LENGTH = 20000, TEXT = 1 << 16 };

static const meta_ops *ops;
static meta_plugin_device *device;
static meta_plugin_queue *queue;

/* ------------------------------------------------------------------ the library's part */

static int two_threads(void)
{
    return 2;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

static int no_timing(void)
{
    return 0;
}

static const meta_host host = {.size = sizeof host,
                               .fail = fake_fail,
                               .log = fake_log,
                               .threads = two_threads,
                               .variable = variable,
                               .timing = no_timing};

static bool succeeds(meta_err err, const char *what)
{
    return err == META_OK || test_fail(__FILE__, __LINE__, "%s: error %d, %s", what, err, failure);
}
#define SUCCEEDS(call) succeeds((call), #call)

/* Load the module. There may be no device. */
static void start(int *argc, char ***argv)
{
    void *module = dlopen(test_built("backends/opencl/.libs/opencl.so"), RTLD_NOW | RTLD_LOCAL);
    const meta_plugin *plugin;
    char reason[256];
    (void)argc, (void)argv;
    if (!module) FAIL("%s", dlerror());
    plugin = module ? dlsym(module, "meta_plugin_v2") : NULL;
    if (!CHECK(plugin != NULL)) exit(1);
    if (!SUCCEEDS(plugin->init(&host))) exit(1);
    ops = plugin->ops;
    if (ops->device_count(reason, sizeof reason) == 0) test_require(META_ERR_NO_DEVICE);
    if (!SUCCEEDS(ops->open(0, NULL, &device)) ||
        !SUCCEEDS(ops->queue_create(device, META_QUEUE_COMPUTE, &queue)))
        exit(1);
    logged[0] = '\0';
}

static int end(int status)
{
    if (status == 77) return status;
    if (queue) ops->queue_destroy(queue);
    if (device) ops->close(device);
    return status;
}

static const test_setting setting = {.start = start, .end = end};

/* ------------------------------------------------------------------ kernels from text */

/* Operand 0 becomes v0 + v1 · the sum over k of k · operand k. */
static void write_text(char *text, const char *name, int operands)
{
    char *at = text;
    at += sprintf(at, "__kernel void %s(", name);
    for (int k = 0; k < operands; ++k) at += sprintf(at, "__global void *a%d, ", k);
    at += sprintf(at, "meta_u64 v0, meta_u64 v1, META_SPACE_PARAMETER)\n{\n    META_SPACE;\n"
                      "    for (meta_i64 n = get_global_id(1); n < s->rows;"
                      " n += get_global_size(1)) {\n"
                      "        const meta_row r = meta_row_first(s, n);\n"
                      "        for (meta_i64 i = get_global_id(0); i < s->extent[0];"
                      " i += get_global_size(0)) {\n            META_T sum = 0;\n");
    for (int k = 1; k < operands; ++k)
        at += sprintf(at,
                      "            sum += %d * ((__global const META_T *)a%d)[r.at[%d] + i * "
                      "s->layout[%d].stride[0]];\n",
                      k, k, k, k);
    sprintf(at, "            ((__global META_T *)a0)[r.at[0] + i * s->layout[0].stride[0]] ="
                " (META_T)v0 + (META_T)v1 * sum;\n        }\n    }\n}\n");
}

/* A space with room for the layouts of all operands. */
typedef union space {
    meta_space space;
    char bytes[sizeof(meta_space) + MANY * sizeof(meta_layout)];
} space;

/* Operands lie in their buffers in ways of their own. */
static void lay_out(space *s, int operands, const int64_t extent[3], int64_t shift)
{
    memset(s, 0, sizeof *s);
    s->space.ndim = 3;
    s->space.rows = extent[1] * extent[2];
    for (int d = 0; d < 3; ++d) s->space.extent[d] = extent[d];
    for (int k = 0; k < operands; ++k) {
        meta_layout *layout = (meta_layout *)(void *)(s->bytes + offsetof(meta_space, layout)) + k;
        int64_t pitch = 1 + k % 3;
        layout->base = shift + 3 * k;
        for (int d = 0; d < 3; ++d) {
            const int along = (d + k) % 3;
            layout->stride[along] = pitch;
            pitch *= extent[along] + k % 2;
        }
    }
}

static int64_t place(const meta_call *call, uint32_t k, const int64_t c[3])
{
    const meta_layout *layout = meta_call_layout(call, k);
    return layout->base + c[0] * layout->stride[0] + c[1] * layout->stride[1] +
           c[2] * layout->stride[2];
}

/* What the text says, as plain loops. */
static void compute(const meta_call *call, int32_t *const *array, const int32_t *values)
{
    int64_t c[3];
    for (c[2] = 0; c[2] < call->space->extent[2]; ++c[2])
        for (c[1] = 0; c[1] < call->space->extent[1]; ++c[1])
            for (c[0] = 0; c[0] < call->space->extent[0]; ++c[0]) {
                int32_t sum = 0;
                for (uint32_t k = 1; k < call->desc->operands; ++k)
                    sum += (int32_t)k * array[k][place(call, k, c)];
                array[0][place(call, 0, c)] = values[0] + values[1] * sum;
            }
}

static void copy(meta_copy_kind kind, const meta_memory *memory, void *array)
{
    const meta_copy work = {.size = sizeof work,
                            .kind = kind,
                            .object = memory->object,
                            .bytes = LENGTH * sizeof(int32_t),
                            .host = array};
    SUCCEEDS(ops->copy(queue, &work));
    SUCCEEDS(ops->queue_finish(queue));
}

/* One kernel, three calls in two launches, each with another space, and no wait between them. */
static void run(const char *name, int operands)
{
    enum { CALLS = 3 };
    static const int64_t extents[CALLS][3] = {{17, 5, 3}, {1, 11, 4}, {40, 2, 7}};
    static space spaces[CALLS];
    static char text[TEXT];
    static const int32_t values[2] = {-7, 3};
    const meta_operand_desc operand[MANY] = {{.access = META_ACCESS_OUT}};
    const meta_kernel_desc desc = {.size = sizeof desc,
                                   .number = 1000,
                                   .name = name,
                                   .family = META_FAMILY_MAP,
                                   .types = 1 << META_I32,
                                   .values = 2,
                                   .operands = (uint32_t)operands,
                                   .operand = operand};
    const meta_kernel_source source = {sizeof source, &desc, META_I32, text, NULL, 0};
    meta_memory memory[MANY] = {{NULL, NULL, 0}};
    void *object[MANY];
    int32_t *array[MANY];
    meta_call calls[CALLS];
    int32_t *found = malloc(LENGTH * sizeof *found);
    meta_plugin_kernel *kernel = NULL;
    write_text(text, name, operands);
    if (!SUCCEEDS(ops->kernel_create(device, &source, &kernel))) {
        free(found);
        return;
    }
    for (int k = 0; k < operands; ++k) {
        array[k] = malloc(LENGTH * sizeof *array[k]);
        for (int n = 0; n < LENGTH; ++n) array[k][n] = (int32_t)test_random_in(-1000, 1000);
        SUCCEEDS(ops->alloc(device, LENGTH * sizeof *array[k], &memory[k]));
        object[k] = memory[k].object;
        copy(META_COPY_H2D, &memory[k], array[k]);
    }
    for (int n = 0; n < CALLS; ++n) {
        lay_out(&spaces[n], operands, extents[n], 4000 * n);
        calls[n] = (meta_call){.size = sizeof *calls,
                               .type = META_I32,
                               .kernel = kernel,
                               .desc = &desc,
                               .space = &spaces[n].space,
                               .object = object,
                               .values = values};
        compute(&calls[n], array, values);
    }
    meta_ticket ticket = NULL;
    const meta_launch both = {sizeof both, calls, 2, sizeof *calls, NULL, NULL};
    const meta_launch last = {sizeof last, calls + 2, 1, sizeof *calls, &ticket, NULL};
    SUCCEEDS(ops->launch(queue, &both));
    SUCCEEDS(ops->launch(queue, &last));
    /* The back end has read the spaces, as everything of a call. */
    memset(spaces, 0x55, sizeof spaces);
    SUCCEEDS(ops->ticket_wait(ticket));
    ops->ticket_release(ticket);
    copy(META_COPY_D2H, &memory[0], found);
    CHECK_ARRAY(found, array[0], LENGTH, META_I32);
    for (int k = 0; k < operands; ++k) {
        ops->free(device, &memory[k]);
        free(array[k]);
    }
    ops->kernel_destroy(device, kernel);
    free(found);
}

static void text_of_three_operands_computes(void)
{
    run("three", 3);
}

static void text_of_operands_beyond_the_arguments_room_computes(void)
{
    CHECK(meta_space_bytes(MANY) > 1024);
    run("many", MANY);
}

static meta_err create(const char *name, const char *text, uint32_t combine)
{
    static const meta_operand_desc operand = {.access = META_ACCESS_OUT};
    const meta_kernel_desc desc = {.size = sizeof desc,
                                   .name = name,
                                   .family = META_FAMILY_MAP,
                                   .types = 1 << META_I32,
                                   .combine = combine,
                                   .operands = 1,
                                   .operand = &operand};
    const meta_kernel_source source = {sizeof source, &desc, META_I32, text, NULL, 0};
    meta_plugin_kernel *kernel = NULL;
    const meta_err err = ops->kernel_create(device, &source, &kernel);
    if (err == META_OK) ops->kernel_destroy(device, kernel);
    return err;
}

static void text_that_does_not_compile_is_an_error_with_the_whole_log(void)
{
    static char text[TEXT];
    char *at = text, word[64];
    logged[0] = '\0';
    at += sprintf(at, "__kernel void broken(__global void *a0, META_SPACE_PARAMETER)\n{\n");
    for (int k = 0; k < 15; ++k) at += sprintf(at, "    no_such_name_%d = %d;\n", k, k);
    sprintf(at, "}\n");
    CHECK_INT(create("broken", text, META_COMBINE_none), META_ERR_DEVICE);
    CHECK_CONTAINS(failure, "CL_BUILD_PROGRAM_FAILURE");
    CHECK_CONTAINS(failure, "no_such_name_0");
    CHECK_CONTAINS(failure, "broken:3:"); /* a line of the text, not of what precedes it */
    for (int k = 0; k < 15; ++k) {
        snprintf(word, sizeof word, "no_such_name_%d", k);
        CHECK_CONTAINS(logged, word);
    }
}

static void text_without_the_kernel_or_its_parameters_is_an_error(void)
{
    CHECK_INT(create("absent", "__kernel void other(__global int *a) {}\n", META_COMBINE_none),
              META_ERR_ARGUMENT);
    CHECK_CONTAINS(failure, "absent");
    CHECK_INT(create("lacking", "__kernel void lacking(__global int *a) {}\n", META_COMBINE_none),
              META_ERR_ARGUMENT);
    CHECK_CONTAINS(failure, "lacking has 1 parameters, but needs 2");
    CHECK_INT(create("total", "__kernel void total(__global int *a, META_SPACE_PARAMETER) {}\n",
                     META_COMBINE_sum),
              META_ERR_UNSUPPORTED);
}

static void *create_one(void *err)
{
    *(meta_err *)err =
        create("shared", "__kernel void shared(__global int *a, META_SPACE_PARAMETER) {}\n",
               META_COMBINE_none);
    return NULL;
}

static void kernels_are_created_by_several_threads_at_once(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    meta_err err[THREADS];
    for (int k = 0; k < THREADS; ++k)
        CHECK_INT(pthread_create(&thread[k], NULL, create_one, &err[k]), 0);
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(thread[k], NULL);
        CHECK_INT(err[k], META_OK);
    }
}

/* ------------------------------------------------------------------ between queues and devices */

static void devices_of_one_context_wait_for_and_copy_from_each_other(void)
{
    meta_state state = META_STATE_INIT;
    meta_plugin_device *other = NULL, *apart = NULL;
    meta_plugin_queue *others = NULL, *aparts = NULL;
    meta_memory here, there;
    meta_ticket written = NULL;
    int32_t *array = malloc(LENGTH * sizeof *array), *found = malloc(LENGTH * sizeof *found);
    test_random_fill(array, LENGTH, META_I32);
    SUCCEEDS(ops->state(device, queue, &state));
    state.queue = NULL;
    if (!SUCCEEDS(ops->open(0, &state, &other)) || !SUCCEEDS(ops->open(0, NULL, &apart))) return;
    SUCCEEDS(ops->queue_create(other, META_QUEUE_COMPUTE, &others));
    SUCCEEDS(ops->queue_create(apart, META_QUEUE_COMPUTE, &aparts));
    CHECK(ops->copy_peer(device, other));
    CHECK(!ops->copy_peer(device, apart));
    SUCCEEDS(ops->alloc(device, LENGTH * sizeof *array, &here));
    SUCCEEDS(ops->alloc(other, LENGTH * sizeof *array, &there));
    const meta_copy write = {.size = sizeof write,
                             .kind = META_COPY_H2D,
                             .object = there.object,
                             .bytes = LENGTH * sizeof *array,
                             .host = array,
                             .ticket = &written};
    const meta_copy peer = {.size = sizeof peer,
                            .kind = META_COPY_PEER,
                            .object = here.object,
                            .offset = 40,
                            .bytes = 4000,
                            .peer = other,
                            .peer_object = there.object,
                            .peer_offset = 80};
    copy(META_COPY_H2D, &here, array);
    SUCCEEDS(ops->copy(others, &write));
    SUCCEEDS(ops->queue_wait(queue, written));
    SUCCEEDS(ops->queue_wait(queue, NULL));
    CHECK_INT(ops->queue_wait(aparts, written), META_ERR_UNSUPPORTED);
    SUCCEEDS(ops->copy(queue, &peer));
    copy(META_COPY_D2H, &here, found);
    SUCCEEDS(ops->ticket_wait(written));
    ops->ticket_release(written);
    memmove(array + 10, array + 20, 4000);
    CHECK_ARRAY(found, array, LENGTH, META_I32);
    ops->free(device, &here);
    ops->free(other, &there);
    ops->queue_destroy(others);
    ops->queue_destroy(aparts);
    ops->close(other);
    ops->close(apart);
    free(array);
    free(found);
}

TEST_MAIN_WITH(&setting, PROMISE(text_of_three_operands_computes),
               PROMISE(text_of_operands_beyond_the_arguments_room_computes),
               PROMISE(text_that_does_not_compile_is_an_error_with_the_whole_log),
               PROMISE(text_without_the_kernel_or_its_parameters_is_an_error),
               PROMISE(kernels_are_created_by_several_threads_at_once),
               PROMISE(devices_of_one_context_wait_for_and_copy_from_each_other))
