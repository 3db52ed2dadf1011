/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.c
 *  Opening a device, with its own native objects or the application's, and closing it. */
#include "config.h"

#include <stdlib.h>

#include "opencl.h"

static int is_part_of(cl_device_id device, cl_device_id whole)
{
    while (device && device != whole) {
        cl_device_id parent = NULL;
        if (clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL) !=
            CL_SUCCESS)
            return 0;
        device = parent;
    }
    return device == whole;
}

/* Take context and device from the queue; those given beside it must be the same. */
static meta_err adopt_queue(const meta_state *state, cl_context *context, cl_device_id *device)
{
    cl_command_queue queue = state->queue;
    cl_command_queue_properties properties = 0;
    OCL_TRY(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
            "clGetCommandQueueInfo(state->queue)");
    OCL_TRY(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL),
            "clGetCommandQueueInfo(state->queue)");
    OCL_TRY(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL),
            "clGetCommandQueueInfo(state->queue)");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return ocl_host->fail(META_ERR_ARGUMENT,
                              "state->queue runs its commands out of order; give a queue without "
                              "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
    if (state->context && state->context != *context)
        return ocl_host->fail(META_ERR_ARGUMENT, "state->queue is not of state->context");
    if (state->device && state->device != *device)
        return ocl_host->fail(META_ERR_ARGUMENT, "state->queue is not on state->device");
    return META_OK;
}

static meta_err check_context(cl_context context, cl_device_id device)
{
    cl_uint count = 0;
    cl_device_id *devices;
    cl_int status;
    int found = 0;
    OCL_TRY(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL),
            "clGetContextInfo(state->context)");
    devices = calloc((size_t)count + 1, sizeof *devices);
    if (!devices) return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    status = clGetContextInfo(context, CL_CONTEXT_DEVICES, count * sizeof *devices, devices, NULL);
    for (cl_uint k = 0; k < count; ++k) found |= devices[k] == device;
    free(devices);
    OCL_TRY(status, "clGetContextInfo(state->context)");
    if (!found)
        return ocl_host->fail(META_ERR_ARGUMENT, "state->context is not of the device asked for");
    return META_OK;
}

/* Check that the application's objects belong together and to the device; retain those used. */
static meta_err adopt(meta_plugin_device *device, const meta_state *state)
{
    cl_context context = state->context;
    cl_device_id id = state->device ? state->device : device->about.device;
    char reason[256];
    if (state->queue) META_TRY(adopt_queue(state, &context, &id));
    if (!is_part_of(id, device->about.device))
        return ocl_host->fail(META_ERR_ARGUMENT, "%s is not the device asked for, %s",
                              state->device ? "state->device" : "the device of state->queue",
                              device->about.name);
    if (state->platform && state->platform != device->about.platform)
        return ocl_host->fail(META_ERR_ARGUMENT, "state->platform is not that of device %s",
                              device->about.name);
    if (context) META_TRY(check_context(context, id));
    const int known =
        ocl_describe(device->about.platform, id, &device->about, reason, sizeof reason);
    if (known <= 0)
        return ocl_host->fail(known < 0 ? META_ERR_NO_MEMORY : META_ERR_ARGUMENT,
                              "state->device: %s", reason);
    if (context) {
        OCL_TRY(clRetainContext(context), "clRetainContext");
        device->context = context;
    }
    if (state->queue) {
        OCL_TRY(clRetainCommandQueue(state->queue), "clRetainCommandQueue");
        device->adopted = state->queue;
    }
    return META_OK;
}

static meta_err own_context(meta_plugin_device *device)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->about.platform, 0};
    cl_int status = CL_SUCCESS;
    device->context = clCreateContext(properties, 1, &device->about.device, NULL, NULL, &status);
    OCL_TRY(status, "clCreateContext");
    return META_OK;
}

static void log_device(const ocl_about *about)
{
    ocl_host->log(META_LOG_INFO, "OpenCL device %s (%s), %u compute units%s", about->name,
                  about->driver, (unsigned)about->units,
                  about->has_f64 ? "" : ", without double precision");
    if (!about->exact_f32 || !about->keeps_f32)
        ocl_host->log(META_LOG_WARN,
                      "OpenCL device %s %s; f32 results may differ in the last bit from other "
                      "devices",
                      about->name,
                      about->exact_f32 ? "does not keep denormal f32 numbers"
                                       : "does not round f32 divisions correctly");
}

meta_err ocl_open(int index, const meta_state *state, meta_plugin_device **device)
{
    meta_plugin_device *opened = calloc(1, sizeof *opened);
    meta_err err;
    if (!opened) return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    pthread_mutex_init(&opened->build_lock, NULL);
    pthread_mutex_init(&opened->launch_lock, NULL);
    err = ocl_device_find(index, &opened->about);
    if (!err && state) err = adopt(opened, state);
    if (!err && !opened->context) err = own_context(opened);
    if (err) {
        ocl_close(opened);
        return err;
    }
    log_device(&opened->about);
    *device = opened;
    return META_OK;
}

void ocl_close(meta_plugin_device *device)
{
    ocl_kernels_release(device);
    if (device->adopted) clReleaseCommandQueue(device->adopted);
    if (device->context) clReleaseContext(device->context);
    pthread_mutex_destroy(&device->build_lock);
    pthread_mutex_destroy(&device->launch_lock);
    free(device);
}

meta_err ocl_state(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state)
{
    state->platform = device->about.platform;
    state->device = device->about.device;
    state->context = device->context;
    state->queue = queue ? queue->cl : NULL;
    if (queue) queue->foreign = true;
    return META_OK;
}
