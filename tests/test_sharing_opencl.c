/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_sharing_opencl.c
 *  Sharing an OpenCL device: the library's queue for the application's own kernels, and the
 *  application's own context, queue and buffers for the library. */
/* TEST: backends=opencl labels=core */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 5000 };
static const size_t bytes = COUNT * sizeof(double);
static const meta_box all = {1, {COUNT}, {0}, {COUNT}};

static cl_device_id device; /* device 0 of the back end */
static cl_platform_id platform;

/* ------------------------------------------------------------------ lives */

static void start(int *argc, char ***argv)
{
    meta_state state = META_STATE_INIT;
    test_device.start(argc, argv);
    CHECK_OK(meta_get_state(0, META_OPENCL, &state));
    CHECK(state.platform && state.device && state.context && state.queue);
    device = state.device;
    platform = state.platform;
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

/* Begin a life in which the device has not been used yet. */
static void begin_anew(void)
{
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
}

/* The application's own objects. */
static cl_context own_context;
static cl_command_queue own_queue;

static bool make_own(void)
{
    cl_int status = CL_SUCCESS;
    own_context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!CHECK_INT(status, CL_SUCCESS)) return false;
    own_queue = clCreateCommandQueue(own_context, device, 0, &status);
    return CHECK_INT(status, CL_SUCCESS);
}

/* A driver's thread may let go of a command's queue a moment after the command is complete. */
static void release_own(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    cl_uint count = 0;
    for (int k = 0; k < 1000 && count != 1; ++k) {
        if (k > 0) nanosleep(&moment, NULL);
        CHECK_INT(
            clGetCommandQueueInfo(own_queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL),
            0);
    }
    CHECK_INT(count, 1);
    CHECK_INT(clReleaseCommandQueue(own_queue), CL_SUCCESS);
    CHECK_INT(clReleaseContext(own_context), CL_SUCCESS);
}

/* ------------------------------------------------------------------ a kernel of one's own */

/* x[first + i] := 3 x[first + i] + 1 */
static const char *const source =
    "__kernel void own(__global double *x, ulong first)\n"
    "{\n"
    "    x[first + get_global_id(0)] = 3 * x[first + get_global_id(0)] + 1;\n"
    "}\n";

static cl_kernel make_kernel(cl_context context)
{
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_program program =
        clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &status);
    if (!CHECK_INT(status, CL_SUCCESS)) return NULL;
    if (CHECK_INT(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS))
        kernel = clCreateKernel(program, "own", &status);
    CHECK_INT(status, CL_SUCCESS);
    clReleaseProgram(program);
    return kernel;
}

/* Queue it for @p count doubles at the library's address @p p. */
static void queue_own(cl_command_queue queue, cl_kernel kernel, const double *p, size_t count)
{
    void *object = NULL;
    size_t offset = 0;
    CHECK_OK(meta_native(p, &object, &offset));
    cl_mem memory = object;
    const cl_ulong first = offset / sizeof(double);
    CHECK_INT(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
    CHECK_INT(clSetKernelArg(kernel, 1, sizeof first, &first), CL_SUCCESS);
    CHECK_INT(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
              CL_SUCCESS);
}

/* Calls of the library and own kernels, none of them waited for; what they leave is checked. */
static void mix_work(cl_command_queue queue, cl_kernel kernel, double *p, double *q)
{
    enum { FIRST = 100 };
    static double found[COUNT], expected[COUNT];
    const double half = 0.5, two = 2;
    double behind = 2, before = 2;
    CHECK_OK(meta_fill(p, COUNT, &two, META_F64, META_ASYNC));
    for (int k = 0; k < 20; ++k) {
        queue_own(queue, kernel, p + FIRST, COUNT - FIRST);
        CHECK_OK(meta_copy_d2d(q, p, bytes, META_ASYNC));
        CHECK_OK(meta_fill(p, COUNT, &two, META_F64, META_ASYNC));
        CHECK_OK(meta_axpy(p, &half, q, &all, META_F64, META_ASYNC));
        behind = 2 + 0.5 * (3 * behind + 1);
        before = 2 + 0.5 * before;
    }
    CHECK_OK(meta_copy_d2h(found, p, bytes, NULL));
    for (int k = 0; k < COUNT; ++k) expected[k] = k < FIRST ? before : behind;
    CHECK_ARRAY(found, expected, COUNT, META_F64);
}

static void own_kernels_on_the_librarys_queue_are_in_order(void)
{
    meta_state state = META_STATE_INIT;
    double *p, *q;
    CHECK_OK(meta_get_state(0, META_OPENCL, &state));
    cl_kernel kernel = make_kernel(state.context);
    CHECK_OK(meta_alloc((void **)&p, bytes));
    CHECK_OK(meta_alloc((void **)&q, bytes));
    mix_work(state.queue, kernel, p, q);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    clReleaseKernel(kernel);
}

/* ------------------------------------------------------------------ the application's objects */

static void the_library_works_in_the_applications_context_and_queue(void)
{
    meta_state state = META_STATE_INIT, found = META_STATE_INIT;
    double *p, *q;
    if (!make_own()) return;
    begin_anew();
    state.context = own_context;
    state.queue = own_queue;
    if (!CHECK_OK(meta_set_state(0, META_OPENCL, &state))) return;
    CHECK_OK(meta_get_state(0, META_OPENCL, &found));
    CHECK(found.context == own_context && found.queue == own_queue && found.device == device);
    cl_kernel kernel = make_kernel(own_context);
    CHECK_OK(meta_alloc((void **)&p, bytes));
    CHECK_OK(meta_alloc((void **)&q, bytes));
    mix_work(own_queue, kernel, p, q);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
    CHECK_ERR_NAMES(meta_set_state(0, META_OPENCL, &state), META_ERR_STATE, "opencl:0");
    begin_anew();
    clReleaseKernel(kernel);
    release_own();
}

static void a_state_may_hold_only_a_context_or_nothing(void)
{
    meta_state state = META_STATE_INIT, found = META_STATE_INIT;
    if (!make_own()) return;
    begin_anew();
    state.context = own_context;
    state.device = device;
    state.platform = platform;
    CHECK_OK(meta_set_state(0, META_OPENCL, &state));
    CHECK_OK(meta_get_state(0, META_OPENCL, &found));
    CHECK(found.context == own_context && found.queue && found.queue != own_queue);
    begin_anew();
    CHECK_OK(meta_set_state(0, META_OPENCL, &(meta_state)META_STATE_INIT));
    CHECK_OK(meta_get_state(0, META_OPENCL, &found));
    CHECK(found.context && found.context != own_context);
    begin_anew();
    release_own();
}

static void objects_that_do_not_belong_together_are_refused(void)
{
    cl_int status = CL_SUCCESS;
    const meta_state nothing = META_STATE_INIT;
    if (!make_own()) return;
    cl_context another = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    cl_command_queue unordered =
        clCreateCommandQueue(own_context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    begin_anew();
    struct {
        const char *what;
        meta_state state;
    } wrong[] = {{"a queue of another context", nothing},
                 {"a queue that is not in order", nothing},
                 {"another platform", nothing}};
    wrong[0].state.context = another;
    wrong[0].state.queue = own_queue;
    wrong[1].state.queue = status == CL_SUCCESS ? unordered : NULL;
    wrong[2].state.platform = &wrong;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        test_case("%s", wrong[k].what);
        if (k == 1 && !wrong[k].state.queue) continue; /* the device has no such queues */
        CHECK_ERR_NAMES(meta_set_state(0, META_OPENCL, &wrong[k].state), META_ERR_ARGUMENT,
                        "state");
    }
    test_case("afterwards");
    meta_state right = nothing;
    right.context = own_context;
    right.queue = own_queue;
    CHECK_OK(meta_set_state(0, META_OPENCL, &right));
    begin_anew();
    if (unordered) clReleaseCommandQueue(unordered);
    clReleaseContext(another);
    release_own();
}

/* ------------------------------------------------------------------ the application's buffers */

static void read_own(cl_mem memory, double *found)
{
    CHECK_INT(clEnqueueReadBuffer(own_queue, memory, CL_TRUE, 0, bytes, found, 0, NULL, NULL),
              CL_SUCCESS);
}

static void a_buffer_of_the_application_can_be_wrapped(void)
{
    static double found[COUNT], expected[COUNT];
    cl_int status = CL_SUCCESS;
    meta_state state = META_STATE_INIT;
    void *object = NULL;
    size_t offset = 0;
    double *p, *again = NULL;
    const double seven = 7;
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    if (!make_own()) return;
    cl_mem memory = clCreateBuffer(own_context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    begin_anew();
    state.context = own_context;
    state.queue = own_queue;
    CHECK_OK(meta_set_state(0, META_OPENCL, &state));
    if (!CHECK_OK(meta_wrap((void **)&p, memory, bytes, META_NATIVE_OBJECT))) return;
    CHECK_OK(meta_pointer_info(p + 3, &desc));
    CHECK(desc.kind == META_MEMORY_WRAPPED && desc.base == p && desc.offset == 24);
    CHECK_OK(meta_native(p + 3, &object, &offset));
    CHECK(object == memory && offset == 24);
    for (int k = 0; k < COUNT; ++k) expected[k] = k;
    CHECK_OK(meta_copy_h2d(p, expected, bytes, META_ASYNC));
    CHECK_OK(meta_fill(p + 10, 20, &seven, META_F64, META_ASYNC));
    for (int k = 10; k < 30; ++k) expected[k] = 7;
    read_own(memory, found); /* on the queue that both share */
    CHECK_ARRAY(found, expected, COUNT, META_F64);
    CHECK_ERR_NAMES(meta_wrap((void **)&again, memory, bytes, META_NATIVE_OBJECT), META_ERR_OVERLAP,
                    "native");
    CHECK(again == NULL);
    CHECK_ERR_NAMES(meta_free(p), META_ERR_POINTER, "meta_unwrap");
    CHECK_OK(meta_unwrap(p));
    CHECK_ERR_NAMES(meta_fill(p, 1, &seven, META_F64, NULL), META_ERR_POINTER, "buf");
    read_own(memory, found);
    CHECK_ARRAY(found, expected, COUNT, META_F64);
    CHECK_OK(meta_wrap((void **)&p, memory, bytes / 2, META_NATIVE_OBJECT));
    CHECK_ERR_NAMES(meta_fill(p, COUNT, &seven, META_F64, NULL), META_ERR_BOUNDS, "buf");
    CHECK_OK(meta_unwrap(p));
    begin_anew();
    clReleaseMemObject(memory);
    release_own();
}

static void a_buffer_that_cannot_be_wrapped_is_refused(void)
{
    cl_int status = CL_SUCCESS;
    void *p = NULL, *ours = NULL, *object = NULL;
    static double array[10];
    if (!make_own()) return;
    cl_mem foreign = clCreateBuffer(own_context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    CHECK_OK(meta_alloc(&ours, bytes));
    CHECK_OK(meta_native(ours, &object, NULL));
    CHECK_ERR_NAMES(meta_wrap(&p, foreign, bytes, META_NATIVE_OBJECT), META_ERR_WRONG_DEVICE,
                    "native");
    CHECK_ERR_NAMES(meta_wrap(&p, object, 2 * bytes, META_NATIVE_OBJECT), META_ERR_BOUNDS, "bytes");
    CHECK_ERR_NAMES(meta_wrap(&p, object, bytes, META_NATIVE_OBJECT), META_ERR_OVERLAP, "native");
    CHECK_ERR_NAMES(meta_wrap(&p, array, sizeof array, META_NATIVE_HOST), META_ERR_POINTER,
                    "native");
    CHECK(p == NULL);
    CHECK_OK(meta_free(ours));
    clReleaseMemObject(foreign);
    release_own();
}

TEST_MAIN_WITH(&setting, PROMISE(own_kernels_on_the_librarys_queue_are_in_order),
               PROMISE(the_library_works_in_the_applications_context_and_queue),
               PROMISE(a_state_may_hold_only_a_context_or_nothing),
               PROMISE(objects_that_do_not_belong_together_are_refused),
               PROMISE(a_buffer_of_the_application_can_be_wrapped),
               PROMISE(a_buffer_that_cannot_be_wrapped_is_refused))
