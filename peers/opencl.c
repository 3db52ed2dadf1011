/* SPDX-License-Identifier: BSD-3-Clause */
/** @file opencl.c
 *  The peer of the OpenCL back end: CLBlast and its own kernels on libmeta's in-order queue. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "common.h"
#include "peer.h"

#ifdef META_CLBLAST
#include <clblast_c.h>
#endif

enum { MOST_GROUP = 256, MOST_PARTIALS = 8192, WORKS = META_PEER_READ + 1 };

struct meta_peer {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel nothing, work[WORKS]; /**< work: NULL without double precision */
    cl_kernel gray_scott[2];        /**< for f32 and f64; NULL until it first runs */
    cl_mem partials;                /**< of a sum; the result of a sum or dot product comes first */
    size_t group, groups;           /**< of a sum: items per group, groups */
    int width;                      /**< doubles per load or store of an item */
    int is_cpu;
    char reason[512];
};

/* Return -1 from the function if a call fails. */
#define TRY(status, call)                                                                          \
    do {                                                                                           \
        const cl_int try_ = (status);                                                              \
        if (try_ != CL_SUCCESS) return failed(peer, call, try_);                                   \
    } while (0)

static int failed(meta_peer *peer, const char *call, cl_int status)
{
    return peer_fail(peer->reason, sizeof peer->reason, "%s failed with OpenCL status %d", call,
                     (int)status);
}

/* ------------------------------------------------------------------ the kernels */

/* WIDTH is a build option. Offsets are in doubles. In a sum, items access memory interleaved on a
 * GPU (chunk is 0); on a CPU each reads its own chunk of `chunk` vectors. */
static const char source_f64[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define JOIN_(a, b) a##b\n"
    "#define JOIN(a, b) JOIN_(a, b)\n"
    "#define V JOIN(double, WIDTH)\n"
    "#define LOAD(i, a) JOIN(vload, WIDTH)(i, a)\n"
    "#define STORE(v, i, a) JOIN(vstore, WIDTH)(v, i, a)\n"
    "#define ARGUMENTS __global double *out, ulong out0, __global const double *a, ulong a0, \\\n"
    "                  __global const double *b, ulong b0, ulong count\n"
    "#define BEGIN ulong i = get_global_id(0), vectors = count / WIDTH; \\\n"
    "              out += out0; a += a0; b += b0;\n"
    "__kernel void copy(ARGUMENTS)\n"
    "{\n"
    "    BEGIN\n"
    "    if (i < vectors) STORE(LOAD(i, a), i, out);\n"
    "    i += vectors * WIDTH;\n"
    "    if (i < count) out[i] = a[i];\n"
    "}\n"
    "__kernel void triad(ARGUMENTS)\n"
    "{\n"
    "    BEGIN\n"
    "    if (i < vectors) STORE(LOAD(i, a) + 3 * LOAD(i, b), i, out);\n"
    "    i += vectors * WIDTH;\n"
    "    if (i < count) out[i] = a[i] + 3 * b[i];\n"
    "}\n"
    "__kernel void read(ARGUMENTS, ulong chunk, __local double *tree)\n"
    "{\n"
    "    BEGIN\n"
    "    double lanes[WIDTH], sum = 0;\n"
    "    V sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;\n"
    "    const ulong step = chunk ? 1 : get_global_size(0);\n"
    "    const ulong end = chunk ? min((i + 1) * chunk, vectors) : vectors;\n"
    "    const uint me = get_local_id(0);\n"
    "    for (ulong k = vectors * WIDTH; i == 0 && k < count; ++k) sum += a[k];\n"
    "    if (chunk) i *= chunk;\n"
    "    for (; i + 3 * step < end; i += 4 * step) {\n"
    "        sum0 += LOAD(i, a);\n"
    "        sum1 += LOAD(i + step, a);\n"
    "        sum2 += LOAD(i + 2 * step, a);\n"
    "        sum3 += LOAD(i + 3 * step, a);\n"
    "    }\n"
    "    for (; i < end; i += step) sum0 += LOAD(i, a);\n"
    "    STORE(sum0 + sum1 + (sum2 + sum3), 0, lanes);\n"
    "    for (int k = 0; k < WIDTH; ++k) sum += lanes[k];\n"
    "    tree[me] = sum;\n"
    "    for (uint left = get_local_size(0) / 2; left > 0; left /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (me < left) tree[me] += tree[me + left];\n"
    "    }\n"
    "    if (me == 0) out[get_group_id(0)] = tree[0];\n"
    "}\n";

/* Build options: R, the element type. */
static const char source_gray_scott[] =
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "__kernel void gray_scott(__global R *restrict u1, ulong u10, __global R *restrict v1, ulong "
    "v10,\n"
    "                         __global const R *restrict u0, ulong u00,\n"
    "                         __global const R *restrict v0, ulong v00,\n"
    "                         int nx, int ny, int nz, long first, long sy, long sz,\n"
    "                         R Du, R Dv, R F, R k, R dt)\n"
    "{\n"
    "    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
    "    if (x >= nx || y >= ny || z >= nz) return;\n"
    "    const long c = first + x + y * sy + z * sz;\n"
    "    u1 += u10, v1 += v10, u0 += u00, v0 += v00;\n"
    "    const R u = u0[c], v = v0[c], uvv = u * v * v;\n"
    "    const R su = u0[c - 1] + u0[c + 1] + u0[c - sy] + u0[c + sy] + u0[c - sz] + u0[c + sz] - "
    "6 * u;\n"
    "    const R sv = v0[c - 1] + v0[c + 1] + v0[c - sy] + v0[c + sy] + v0[c - sz] + v0[c + sz] - "
    "6 * v;\n"
    "    u1[c] = u + dt * (Du * su - uvv + F * (1 - u));\n"
    "    v1[c] = v + dt * (Dv * sv + uvv - (F + k) * v);\n"
    "}\n";

static const char source_nothing[] = "__kernel void nothing(void) {}\n";

static int has_double(const meta_peer *peer)
{
    cl_device_fp_config config = 0;
    clGetDeviceInfo(peer->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL);
    return config != 0;
}

static int make_kernel(meta_peer *peer, const char *name, cl_kernel *kernel)
{
    cl_int status;
    *kernel = clCreateKernel(peer->program, name, &status);
    TRY(status, "clCreateKernel");
    return 0;
}

static int make_kernels(meta_peer *peer)
{
    const int f64 = has_double(peer);
    const char *text[] = {source_nothing, source_f64};
    char options[32];
    cl_int status;
    snprintf(options, sizeof options, "-DWIDTH=%d", peer->width);
    peer->program = clCreateProgramWithSource(peer->context, f64 ? 2 : 1, text, NULL, &status);
    TRY(status, "clCreateProgramWithSource");
    TRY(clBuildProgram(peer->program, 1, &peer->device, options, NULL, NULL), "clBuildProgram");
    if (make_kernel(peer, "nothing", &peer->nothing) != 0) return -1;
    if (!f64) return 0;
    if (make_kernel(peer, "copy", &peer->work[META_PEER_COPY]) != 0) return -1;
    if (make_kernel(peer, "triad", &peer->work[META_PEER_TRIAD]) != 0) return -1;
    return make_kernel(peer, "read", &peer->work[META_PEER_READ]);
}

/* ------------------------------------------------------------------ opening */

/* Choose enough items, and a vector width, to saturate the device's memory bandwidth. */
static int choose_shape(meta_peer *peer)
{
    cl_device_type type = 0;
    cl_uint units = 1;
    size_t most = 1;
    TRY(clGetDeviceInfo(peer->device, CL_DEVICE_TYPE, sizeof type, &type, NULL), "clGetDeviceInfo");
    TRY(clGetDeviceInfo(peer->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL),
        "clGetDeviceInfo");
    TRY(clGetDeviceInfo(peer->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL),
        "clGetDeviceInfo");
    peer->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    peer->width = peer->is_cpu ? 8 : 2;
    for (peer->group = 1; !peer->is_cpu && peer->group < MOST_GROUP && 2 * peer->group <= most;)
        peer->group *= 2;
    peer->groups = (peer->is_cpu ? 4 : 8) * (size_t)units;
    if (peer->groups > MOST_PARTIALS) peer->groups = MOST_PARTIALS;
    return 0;
}

static int make(meta_peer *peer)
{
    cl_int status;
    if (choose_shape(peer) != 0 || make_kernels(peer) != 0) return -1;
    peer->partials = clCreateBuffer(peer->context, CL_MEM_READ_WRITE,
                                    (MOST_PARTIALS + 1) * sizeof(double), NULL, &status);
    TRY(status, "clCreateBuffer");
    return 0;
}

static void close_peer(meta_peer *peer)
{
    if (peer->partials) clReleaseMemObject(peer->partials);
    for (int k = 0; k < WORKS; ++k)
        if (peer->work[k]) clReleaseKernel(peer->work[k]);
    for (int k = 0; k < 2; ++k)
        if (peer->gray_scott[k]) clReleaseKernel(peer->gray_scott[k]);
    if (peer->nothing) clReleaseKernel(peer->nothing);
    if (peer->program) clReleaseProgram(peer->program);
    free(peer);
}

static int open_peer(const meta_state *state, int index, int threads, meta_peer **peer,
                     char *reason, size_t room)
{
    (void)index, (void)threads; /* the queue belongs to the device */
    meta_peer *made = calloc(1, sizeof *made);
    if (!made) return peer_fail(reason, room, "the host has no memory left");
    made->device = state->device;
    made->context = state->context;
    made->queue = state->queue;
    if (make(made) != 0) {
        peer_fail(reason, room, "%s", made->reason);
        close_peer(made);
        return -1;
    }
    *peer = made;
    return 0;
}

static const char *reason_of(const meta_peer *peer)
{
    return peer->reason;
}

/* ------------------------------------------------------------------ the dot product */

static int read_result(meta_peer *peer, size_t bytes, void *result)
{
    TRY(clEnqueueReadBuffer(peer->queue, peer->partials, CL_TRUE, 0, bytes, result, 0, NULL, NULL),
        "clEnqueueReadBuffer");
    return 0;
}

#ifdef META_CLBLAST

#define NO_BLAS NULL

static int dot(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result)
{
    const size_t bytes = type == META_F64 ? sizeof(double) : sizeof(float);
    const size_t n = (size_t)count, a0 = a.offset / bytes, b0 = b.offset / bytes;
    CLBlastStatusCode status;
    if (type != META_F64 && type != META_F32)
        return peer_fail(peer->reason, sizeof peer->reason, "CLBlast computes in f64 and f32 only");
    memset(result, 0, bytes);
    if (count == 0) return 0;
    if (type == META_F64)
        status =
            CLBlastDdot(n, peer->partials, 0, a.object, a0, 1, b.object, b0, 1, &peer->queue, NULL);
    else
        status =
            CLBlastSdot(n, peer->partials, 0, a.object, a0, 1, b.object, b0, 1, &peer->queue, NULL);
    if (status == CLBlastNoDoublePrecision)
        return peer_fail(peer->reason, sizeof peer->reason,
                         "this OpenCL device computes without double precision; use f32");
    if (status != CLBlastSuccess)
        return peer_fail(peer->reason, sizeof peer->reason,
                         "CLBlast%cdot failed with status %d (CLBlastStatusCode in clblast_c.h)",
                         type == META_F64 ? 'D' : 'S', (int)status);
    return read_result(peer, bytes, result);
}

#else

#define META_CLBLAST NULL
#define NO_BLAS                                                                                    \
    "this libmeta was built without CLBlast: install it (Debian: libclblast-dev), then configure " \
    "and build libmeta anew"

static int dot(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result)
{
    (void)type, (void)count, (void)a, (void)b, (void)result;
    return peer_fail(peer->reason, sizeof peer->reason, "%s", NO_BLAS);
}

#endif

/* ------------------------------------------------------------------ memory and launches */

static int set_operand(meta_peer *peer, cl_kernel kernel, cl_uint number, meta_peer_memory m)
{
    cl_mem object = m.object;
    const cl_ulong offset = m.offset / sizeof(double);
    TRY(clSetKernelArg(kernel, number, sizeof object, &object), "clSetKernelArg");
    TRY(clSetKernelArg(kernel, number + 1, sizeof offset, &offset), "clSetKernelArg");
    return 0;
}

static int set_operands(meta_peer *peer, cl_kernel kernel, meta_peer_memory out, meta_peer_memory a,
                        meta_peer_memory b, int64_t count)
{
    const cl_ulong elements = (cl_ulong)count;
    if (set_operand(peer, kernel, 0, out) != 0 || set_operand(peer, kernel, 2, a) != 0 ||
        set_operand(peer, kernel, 4, b) != 0)
        return -1;
    TRY(clSetKernelArg(kernel, 6, sizeof elements, &elements), "clSetKernelArg");
    return 0;
}

static int enqueue(meta_peer *peer, cl_kernel kernel, size_t items, size_t group)
{
    TRY(clEnqueueNDRangeKernel(peer->queue, kernel, 1, NULL, &items, group ? &group : NULL, 0, NULL,
                               NULL),
        "clEnqueueNDRangeKernel");
    return 0;
}

/* Sum a with `groups` groups, each of which stores its partial sum in out. */
static int add_up(meta_peer *peer, meta_peer_memory out, meta_peer_memory a, int64_t count,
                  size_t groups)
{
    cl_kernel kernel = peer->work[META_PEER_READ];
    const cl_ulong vectors = (cl_ulong)(count / peer->width);
    const cl_ulong chunk = peer->is_cpu ? vectors / groups + 1 : 0;
    if (set_operands(peer, kernel, out, a, a, count) != 0) return -1;
    TRY(clSetKernelArg(kernel, 7, sizeof chunk, &chunk), "clSetKernelArg");
    TRY(clSetKernelArg(kernel, 8, peer->group * sizeof(double), NULL), "clSetKernelArg");
    return enqueue(peer, kernel, groups * peer->group, peer->group);
}

static int read_all(meta_peer *peer, meta_peer_memory a, int64_t count, double *result)
{
    const meta_peer_memory whole = {peer->partials, 0}, partials = {peer->partials, sizeof(double)};
    if (add_up(peer, partials, a, count, peer->groups) != 0) return -1;
    if (add_up(peer, whole, partials, (int64_t)peer->groups, 1) != 0) return -1;
    return read_result(peer, sizeof(double), result);
}

static int copy_buffer(meta_peer *peer, meta_peer_memory out, meta_peer_memory a, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    if (bytes > 0)
        TRY(clEnqueueCopyBuffer(peer->queue, a.object, out.object, a.offset, out.offset, bytes, 0,
                                NULL, NULL),
            "clEnqueueCopyBuffer");
    return 0;
}

static int memory(meta_peer *peer, meta_peer_work work, int64_t count, meta_peer_memory out,
                  meta_peer_memory a, meta_peer_memory b, double *result)
{
    cl_kernel kernel = peer->work[work];
    const size_t items = (size_t)(count / peer->width + peer->width);
    if (work != META_PEER_COPY_NT && !kernel)
        return peer_fail(peer->reason, sizeof peer->reason,
                         "this OpenCL device computes without double precision");
    if (work == META_PEER_READ) return read_all(peer, a, count, result);
    if (work == META_PEER_COPY_NT) {
        if (copy_buffer(peer, out, a, count) != 0) return -1;
    } else if (set_operands(peer, kernel, out, a, work == META_PEER_TRIAD ? b : a, count) != 0 ||
               enqueue(peer, kernel, (items + MOST_GROUP - 1) / MOST_GROUP * MOST_GROUP, 0) != 0)
        return -1;
    TRY(clFinish(peer->queue), "clFinish");
    return 0;
}

static int launch_nothing(meta_peer *peer, int count)
{
    for (int k = 0; k < count; ++k)
        if (enqueue(peer, peer->nothing, 1, 0) != 0) return -1;
    return 0;
}

static int empty(meta_peer *peer, int count)
{
    if (launch_nothing(peer, count) != 0) return -1;
    TRY(clFinish(peer->queue), "clFinish");
    return 0;
}

static int stage(meta_peer *peer, const meta_peer_stage *s)
{
    size_t at = 0;
    if (launch_nothing(peer, s->before) != 0) return -1;
    for (int k = 0; k < s->count; at += s->bytes[k++])
        TRY(clEnqueueReadBuffer(peer->queue, s->device.object, CL_FALSE, s->device.offset + at,
                                s->bytes[k], (char *)s->host + at, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    TRY(clFinish(peer->queue), "clFinish");
    at = 0;
    for (int k = 0; k < s->count; at += s->bytes[k++])
        TRY(clEnqueueWriteBuffer(peer->queue, s->device.object, CL_FALSE, s->device.offset + at,
                                 s->bytes[k], (char *)s->host + at, 0, NULL, NULL),
            "clEnqueueWriteBuffer");
    if (launch_nothing(peer, s->after) != 0) return -1;
    TRY(clFinish(peer->queue), "clFinish");
    return 0;
}

static int pairs(meta_peer *peer, size_t bytes, int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        cl_int status;
        const cl_mem memory =
            clCreateBuffer(peer->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
        TRY(status, "clCreateBuffer");
        status = clEnqueueMigrateMemObjects(peer->queue, 1, &memory,
                                            CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL);
        if (status == CL_SUCCESS) status = clFinish(peer->queue);
        clReleaseMemObject(memory);
        TRY(status, "clEnqueueMigrateMemObjects");
    }
    return 0;
}

/* ------------------------------------------------------------------ a kernel written by hand */

static int make_gray_scott(meta_peer *peer, meta_type type, cl_kernel *kernel)
{
    const char *text = source_gray_scott;
    cl_int status;
    const cl_program program = clCreateProgramWithSource(peer->context, 1, &text, NULL, &status);
    TRY(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &peer->device,
                            type == META_F64 ? "-DR=double" : "-DR=float", NULL, NULL);
    if (status == CL_SUCCESS) *kernel = clCreateKernel(program, "gray_scott", &status);
    clReleaseProgram(program); /* the kernel keeps it */
    TRY(status, "clBuildProgram");
    return 0;
}

static int set_argument(meta_peer *peer, cl_kernel kernel, cl_uint *number, size_t bytes,
                        const void *value)
{
    TRY(clSetKernelArg(kernel, (*number)++, bytes, value), "clSetKernelArg");
    return 0;
}

static int set_step(meta_peer *peer, cl_kernel kernel, const meta_peer_gray_scott *s)
{
    const meta_peer_memory *const arrays[] = {&s->u1, &s->v1, &s->u0, &s->v0};
    const double values[] = {s->Du, s->Dv, s->F, s->k, s->dt};
    const size_t bytes = s->type == META_F64 ? sizeof(double) : sizeof(float);
    const cl_long sy = s->size[0], sz = s->size[0] * s->size[1];
    const cl_long place[] = {s->start[0] + s->start[1] * sy + s->start[2] * sz, sy, sz};
    cl_uint number = 0;
    int failures = 0;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
        const cl_mem object = arrays[k]->object;
        const cl_ulong offset = arrays[k]->offset / bytes;
        failures += set_argument(peer, kernel, &number, sizeof object, &object) != 0;
        failures += set_argument(peer, kernel, &number, sizeof offset, &offset) != 0;
    }
    for (int d = 0; d < 3; ++d) {
        const cl_int cells = (cl_int)(s->end[d] - s->start[d]);
        failures += set_argument(peer, kernel, &number, sizeof cells, &cells) != 0;
    }
    for (size_t k = 0; k < sizeof place / sizeof *place; ++k)
        failures += set_argument(peer, kernel, &number, sizeof *place, &place[k]) != 0;
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        const float single = (float)values[k];
        failures += set_argument(peer, kernel, &number, bytes,
                                 s->type == META_F64 ? (const void *)&values[k] : &single) != 0;
    }
    return failures ? -1 : 0;
}

static int gray_scott(meta_peer *peer, const meta_peer_gray_scott *s)
{
    const size_t group[3] = {64, 4, 1}; /* on a GPU */
    cl_kernel *kernel = &peer->gray_scott[s->type == META_F64];
    size_t items[3];
    if (s->type != META_F64 && s->type != META_F32)
        return peer_fail(peer->reason, sizeof peer->reason,
                         "the peer computes in f64 and f32 only");
    if (!*kernel && make_gray_scott(peer, s->type, kernel) != 0) return -1;
    if (set_step(peer, *kernel, s) != 0) return -1;
    for (int d = 0; d < 3; ++d) {
        const size_t cells = (size_t)(s->end[d] - s->start[d]), each = peer->is_cpu ? 1 : group[d];
        items[d] = (cells + each - 1) / each * each;
    }
    TRY(clEnqueueNDRangeKernel(peer->queue, *kernel, 3, NULL, items, peer->is_cpu ? NULL : group, 0,
                               NULL, NULL),
        "clEnqueueNDRangeKernel");
    TRY(clFinish(peer->queue), "clFinish");
    return 0;
}

META_API const meta_peer_table meta_peer_v1 = {
    .size = sizeof meta_peer_v1,
    .blas = META_CLBLAST,
    .no_blas = NO_BLAS,
    .launch = "an empty kernel, enqueued and finished",
    .open = open_peer,
    .close = close_peer,
    .reason = reason_of,
    .dot = dot,
    .sum = NULL,
    .memory = memory,
    .empty = empty,
    .stage = stage,
    .pairs = pairs,
    .gray_scott = gray_scott,
};
