/* SPDX-License-Identifier: BSD-3-Clause */
/** @file opencl_fault.c
 *  Functions of OpenCL that count the back end's calls and fail on request, as those of
 * host_fault.c do: see host_fault.h. One that waits for something or gives it back does so all the
 * same. */
#include "config.h"

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "host_fault.h"

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#include "opencl_real.h"

#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (!real) *(void **)&real = real_of(#name);
#define FAILS(name) host_fault_driver_fails(#name, __builtin_return_address(0))

#define STATUS(name, parameters, arguments)                                                        \
    cl_int name parameters                                                                         \
    {                                                                                              \
        REAL(name)                                                                                 \
        if (FAILS(name)) return CL_OUT_OF_HOST_MEMORY;                                             \
        return real arguments;                                                                     \
    }
#define ENDING(name, parameters, arguments)                                                        \
    cl_int name parameters                                                                         \
    {                                                                                              \
        REAL(name)                                                                                 \
        const int fails = FAILS(name);                                                             \
        const cl_int status = real arguments;                                                      \
        return fails ? CL_OUT_OF_RESOURCES : status;                                               \
    }
#define MAKING(type, name, parameters, arguments)                                                  \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name)                                                                                 \
        if (!FAILS(name)) return real arguments;                                                   \
        if (status) *status = CL_OUT_OF_HOST_MEMORY;                                               \
        return NULL;                                                                               \
    }
#define INFO(name, object, what)                                                                   \
    STATUS(name, (object o, what w, size_t room, void *to, size_t *bytes), (o, w, room, to, bytes))

#pragma GCC visibility push(default)
/* clang-format off */
STATUS(clBuildProgram, (cl_program p, cl_uint n, const cl_device_id *d, const char *o,
       void(CL_CALLBACK *f)(cl_program, void *), void *u), (p, n, d, o, f, u))
STATUS(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e),
       (q, n, w, e))
STATUS(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e),
       (q, n, w, e))
STATUS(clEnqueueCopyBuffer, (cl_command_queue q, cl_mem a, cl_mem b, size_t x, size_t y, size_t z,
       cl_uint n, const cl_event *w, cl_event *e), (q, a, b, x, y, z, n, w, e))
STATUS(clEnqueueReadBuffer, (cl_command_queue q, cl_mem a, cl_bool b, size_t x, size_t y, void *z,
       cl_uint n, const cl_event *w, cl_event *e), (q, a, b, x, y, z, n, w, e))
STATUS(clEnqueueWriteBuffer, (cl_command_queue q, cl_mem a, cl_bool b, size_t x, size_t y,
       const void *z, cl_uint n, const cl_event *w, cl_event *e), (q, a, b, x, y, z, n, w, e))
STATUS(clEnqueueNDRangeKernel, (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *x,
       const size_t *y, const size_t *z, cl_uint n, const cl_event *w, cl_event *e),
       (q, k, d, x, y, z, n, w, e))
STATUS(clFlush, (cl_command_queue q), (q))
STATUS(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *c),
       (p, t, n, d, c))
STATUS(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *c), (n, p, c))
STATUS(clSetKernelArg, (cl_kernel k, cl_uint n, size_t b, const void *v), (k, n, b, v))
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
INFO(clGetContextInfo, cl_context, cl_context_info)
INFO(clGetEventInfo, cl_event, cl_event_info)
INFO(clGetEventProfilingInfo, cl_event, cl_profiling_info)
INFO(clGetKernelInfo, cl_kernel, cl_kernel_info)
INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
INFO(clGetProgramInfo, cl_program, cl_program_info)
STATUS(clGetKernelWorkGroupInfo, (cl_kernel o, cl_device_id d, cl_kernel_work_group_info w,
       size_t room, void *to, size_t *bytes), (o, d, w, room, to, bytes))
STATUS(clRetainCommandQueue, (cl_command_queue o), (o))
STATUS(clRetainContext, (cl_context o), (o))
STATUS(clRetainEvent, (cl_event o), (o))
STATUS(clRetainMemObject, (cl_mem o), (o))
ENDING(clFinish, (cl_command_queue q), (q))
ENDING(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
ENDING(clReleaseCommandQueue, (cl_command_queue o), (o))
ENDING(clReleaseContext, (cl_context o), (o))
ENDING(clReleaseEvent, (cl_event o), (o))
ENDING(clReleaseKernel, (cl_kernel o), (o))
ENDING(clReleaseMemObject, (cl_mem o), (o))
ENDING(clReleaseProgram, (cl_program o), (o))
MAKING(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t b, void *h, cl_int *status),
       (c, f, b, h, status))
MAKING(cl_command_queue, clCreateCommandQueue, (cl_context c, cl_device_id d,
       cl_command_queue_properties p, cl_int *status), (c, d, p, status))
MAKING(cl_context, clCreateContext, (const cl_context_properties *p, cl_uint n,
       const cl_device_id *d, void(CL_CALLBACK *f)(const char *, const void *, size_t, void *),
       void *u, cl_int *status), (p, n, d, f, u, status))
MAKING(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *status), (p, n, status))
MAKING(cl_program, clCreateProgramWithBinary, (cl_context c, cl_uint n, const cl_device_id *d,
       const size_t *l, const unsigned char **b, cl_int *s, cl_int *status),
       (c, n, d, l, b, s, status))
MAKING(cl_program, clCreateProgramWithSource, (cl_context c, cl_uint n, const char **t,
       const size_t *l, cl_int *status), (c, n, t, l, status))
/* clang-format on */
#pragma GCC visibility pop
#endif
