/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  Programs: the kernels' text for one element type, built at its first use or taken from the
 *  cache of binaries. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opencl.h"

/* How a program differs from the others. */
typedef struct recipe {
    const char *suffix;
    const unsigned char *body;
    const char *definitions;
} recipe;

#define LIMITS_F64 "(-INFINITY)", "INFINITY"
#define LIMITS_F32 "(-INFINITY)", "INFINITY"
#define LIMITS_I64 "LONG_MIN", "LONG_MAX"
#define LIMITS_U64 "0", "ULONG_MAX"
#define LIMITS_I32 "INT_MIN", "INT_MAX"
#define LIMITS_U32 "0", "UINT_MAX"
#define ARITHMETIC_TEXT(T, W, A, LOWEST, HIGHEST)                                                  \
    "#define META_T meta_" T "\n#define META_W meta_" W "\n#define META_A meta_" A                 \
    "\n#define META_LOWEST " LOWEST "\n#define META_HIGHEST " HIGHEST "\n"
#define EXPAND(MACRO, ...)       MACRO(__VA_ARGS__)
#define MOVE_RECIPE(bytes, name) {#name, ocl_text_move_h, "#define META_M meta_" #name "\n"},
#define ARITHMETIC_RECIPE(NAME, name, bytes, wide, sum)                                                   \
    {#name, ocl_text_arithmetic_h, EXPAND(ARITHMETIC_TEXT, #name, #wide, #sum, LIMITS_##NAME)},
static const recipe recipes[OCL_PROGRAM_COUNT] = {META_MOVE_TYPES(MOVE_RECIPE)
                                                      META_ARITHMETIC_TYPES(ARITHMETIC_RECIPE)};

#define KERNEL_NAME3(NAME, name, operands)         #name,
#define KERNEL_NAME4(NAME, name, operands, finish) #name,
static const char *const kernel_names[OCL_KERNEL_COUNT] = {
    META_MOVE_KERNELS(KERNEL_NAME3) META_MAP_KERNELS(KERNEL_NAME3)
        META_REDUCTION_KERNELS(KERNEL_NAME4) META_EXACT_KERNELS(KERNEL_NAME4) "finish_sum",
    "finish_min", "finish_max", "finish_exact"};

/* ------------------------------------------------------------------ what is built */

enum { PARTS = 10 };

/* A program's text and options. */
typedef struct plan {
    char first[512]; /* the definitions, before all other text */
    const char *text[PARTS];
    const char *options;
    const char *suffix;
    ocl_key key;
} plan;

static void make_key(const ocl_about *about, plan *p)
{
    static const cl_device_info device_facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR,
                                                  CL_DEVICE_VERSION, CL_DRIVER_VERSION};
    static const cl_platform_info platform_facts[] = {CL_PLATFORM_NAME, CL_PLATFORM_VERSION};
    char fact[512];
    p->key = (ocl_key)OCL_KEY_INIT;
    for (int k = 0; k < PARTS; ++k) ocl_key_add(&p->key, p->text[k]);
    ocl_key_add(&p->key, p->options);
    for (size_t k = 0; k < sizeof device_facts / sizeof device_facts[0]; ++k) {
        memset(fact, 0, sizeof fact);
        clGetDeviceInfo(about->device, device_facts[k], sizeof fact - 1, fact, NULL);
        ocl_key_add(&p->key, fact);
    }
    for (size_t k = 0; k < sizeof platform_facts / sizeof platform_facts[0]; ++k) {
        memset(fact, 0, sizeof fact);
        clGetPlatformInfo(about->platform, platform_facts[k], sizeof fact - 1, fact, NULL);
        ocl_key_add(&p->key, fact);
    }
}

static void make_plan(const ocl_about *about, int number, plan *p)
{
    const recipe *r = &recipes[number];
    const int floating = number == OCL_PROGRAM_F64 || number == OCL_PROGRAM_F32;
    snprintf(p->first, sizeof p->first,
             "#define META_SUFFIX %s\n%s%s%s#define META_ELEMENT %d\n#define META_STREAM %" PRId64
             "\n",
             r->suffix, r->definitions, about->has_f64 ? "#define META_HAS_F64\n" : "",
             about->is_cpu ? "#define META_CPU\n" : "", number == OCL_PROGRAM_F64 ? 8 : 4,
             ocl_stream_bytes);
    p->suffix = r->suffix;
    p->text[0] = p->first;
    p->text[1] = (const char *)ocl_text_meta_types_h;
    p->text[2] = (const char *)ocl_text_lang_opencl_h;
    p->text[3] = (const char *)ocl_text_meta_space_h;
    p->text[4] = (const char *)ocl_text_lang_opencl_body_h;
    p->text[5] = floating && about->is_cpu ? (const char *)ocl_text_cpu_stencil_h : "";
    p->text[6] = (const char *)r->body;
    p->text[7] = p->text[8] = p->text[9] = "";
    if (about->has_f64 && floating) {
        p->text[7] = (const char *)ocl_text_exact_h;
        p->text[8] =
            (const char *)(about->is_cpu ? ocl_text_exact_rows_h : ocl_text_exact_threads_h);
        p->text[9] = (const char *)ocl_text_exact_sum_h;
    }
    p->options = number == OCL_PROGRAM_F32 && about->exact_f32
                     ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                     : "-cl-std=CL1.2";
    make_key(about, p);
}

/* ------------------------------------------------------------------ from source */

/* The error of a build, with the first lines of what the compiler said. */
static meta_err fail_of_build(cl_program program, cl_device_id device, const char *suffix,
                              cl_int status)
{
    char log[2048] = "", said[400];
    size_t kept = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    if (!log[0]) { /* it did not fit: some drivers then give nothing */
        size_t bytes = 0;
        char *whole;
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
        whole = calloc(1, bytes + 1);
        if (whole && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, whole,
                                           NULL) == CL_SUCCESS)
            snprintf(log, sizeof log, "%.*s", (int)sizeof log - 1, whole);
        free(whole);
    }
    for (const char *c = log; *c && kept < sizeof said - 1; ++c)
        said[kept++] = *c == '\n' ? ' ' : *c;
    said[kept] = '\0';
    return ocl_host->fail(META_ERR_DEVICE,
                          "clBuildProgram(%s): %s (%d), the OpenCL compiler says: %s", suffix,
                          ocl_error_name(status), (int)status, said);
}

static meta_err build_source(const meta_plugin_device *device, const plan *p, cl_program *program)
{
    cl_int status = CL_SUCCESS;
    meta_err err;
    cl_program made =
        clCreateProgramWithSource(device->context, PARTS, (const char **)p->text, NULL, &status);
    OCL_TRY(status, "clCreateProgramWithSource");
    status = clBuildProgram(made, 1, &device->about.device, p->options, NULL, NULL);
    if (status != CL_SUCCESS) {
        err = fail_of_build(made, device->about.device, p->suffix, status);
        clReleaseProgram(made);
        return err;
    }
    *program = made;
    return META_OK;
}

/* ------------------------------------------------------------------ from the cache */

/* A binary that the driver refuses is as good as none. */
static int build_cached(const meta_plugin_device *device, const plan *p, cl_program *program)
{
    cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
    size_t bytes = 0;
    unsigned char *binary = ocl_cache_read(&p->key, &bytes);
    cl_program made;
    if (!binary) return 0;
    made = clCreateProgramWithBinary(device->context, 1, &device->about.device, &bytes,
                                     (const unsigned char **)&binary, &loaded, &status);
    free(binary);
    if (status == CL_SUCCESS && loaded == CL_SUCCESS)
        status = clBuildProgram(made, 1, &device->about.device, p->options, NULL, NULL);
    if (status == CL_SUCCESS && loaded == CL_SUCCESS) {
        *program = made;
        return 1;
    }
    if (made) clReleaseProgram(made);
    ocl_host->log(META_LOG_INFO, "OpenCL program %s: the driver refuses the binary in the cache",
                  p->suffix);
    return 0;
}

/* The program's binary for @p device, which may be one of several of its context. */
static unsigned char *binary_of(cl_program program, cl_device_id device, size_t *bytes)
{
    cl_uint count = 0;
    cl_device_id *devices;
    size_t *sizes;
    unsigned char **binaries, *binary = NULL;
    clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL);
    devices = calloc((size_t)count + 1, sizeof *devices);
    sizes = calloc((size_t)count + 1, sizeof *sizes);
    binaries = calloc((size_t)count + 1, sizeof *binaries);
    if (devices && sizes && binaries &&
        clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof *devices, devices, NULL) ==
            CL_SUCCESS &&
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof *sizes, sizes, NULL) ==
            CL_SUCCESS) {
        cl_uint k = 0;
        while (k < count && devices[k] != device) ++k;
        if (k < count && sizes[k] > 0) binaries[k] = binary = malloc(sizes[k]);
        *bytes = sizes[k];
        if (binary && clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof *binaries,
                                       binaries, NULL) != CL_SUCCESS) {
            free(binary);
            binary = NULL;
        }
    }
    free(devices);
    free(sizes);
    free(binaries);
    return binary;
}

static void keep_binary(const meta_plugin_device *device, const plan *p, cl_program program)
{
    size_t bytes = 0;
    unsigned char *binary = binary_of(program, device->about.device, &bytes);
    if (binary) ocl_cache_write(&p->key, binary, bytes);
    free(binary);
}

/* Of several processes that start at once, one builds and the others wait and take its binary. */
static meta_err build_or_wait(const meta_plugin_device *device, const plan *p, cl_program *program,
                              const char **how)
{
    const int lock = ocl_cache_lock(&p->key);
    meta_err err = META_OK;
    *how = "taken from the cache, where another process put it,";
    if (!build_cached(device, p, program)) {
        *how = "built";
        err = build_source(device, p, program);
        if (!err) keep_binary(device, p, *program);
    }
    ocl_cache_unlock(lock);
    return err;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static meta_err build(const meta_plugin_device *device, int number, cl_program *program)
{
    const double start = milliseconds();
    const char *how = "taken from the cache";
    plan p;
    make_plan(&device->about, number, &p);
    if (!build_cached(device, &p, program)) OCL_TRY_META(build_or_wait(device, &p, program, &how));
    ocl_host->log(META_LOG_INFO, "OpenCL program %s for %s %s in %.0f ms",
                  number < OCL_PROGRAM_F64 ? "that moves" : "that computes", p.suffix, how,
                  milliseconds() - start);
    return META_OK;
}

/* ------------------------------------------------------------------ kernels */

static int is_move(uint32_t id)
{
    return id <= META_KERNEL_FILL;
}

/* Every type is moved as the unsigned type of its size. */
static int move_program(uint32_t type)
{
    switch (type) {
    case META_F64:
    case META_I64:
    case META_U64:
        return OCL_PROGRAM_MOVE_u64;
    case META_F32:
    case META_I32:
    case META_U32:
        return OCL_PROGRAM_MOVE_u32;
    case META_I16:
    case META_U16:
        return OCL_PROGRAM_MOVE_u16;
    default:
        return OCL_PROGRAM_MOVE_u8;
    }
}

_Static_assert(OCL_PROGRAM_F64 + (int)META_U32 == OCL_PROGRAM_U32,
               "programs of arithmetic are in the order of meta_type");

static meta_err create_kernel(const meta_plugin_device *device, const ocl_program *program,
                              const char *suffix, uint32_t id, ocl_kernel *kernel)
{
    cl_int status = CL_SUCCESS;
    cl_kernel made;
    size_t group = 1;
    snprintf(kernel->name, sizeof kernel->name, "%s_%s", kernel_names[id], suffix);
    made = clCreateKernel(program->cl, kernel->name, &status);
    if (status != CL_SUCCESS)
        return ocl_host->fail(META_ERR_DEVICE, "clCreateKernel(%s): %s (%d)", kernel->name,
                              ocl_error_name(status), (int)status);
    status = clGetKernelWorkGroupInfo(made, device->about.device, CL_KERNEL_WORK_GROUP_SIZE,
                                      sizeof group, &group, NULL);
    if (status != CL_SUCCESS) {
        clReleaseKernel(made);
        return ocl_fail(status, "clGetKernelWorkGroupInfo");
    }
    kernel->group = group;
    kernel->cl = made;
    return META_OK;
}

meta_err ocl_kernel_get(meta_plugin_device *device, uint32_t id, uint32_t type,
                        const ocl_kernel **kernel)
{
    const int number = is_move(id) ? move_program(type) : OCL_PROGRAM_F64 + (int)type;
    ocl_program *program = &device->programs[number];
    ocl_kernel *found = &program->kernels[id];
    meta_err err = META_OK;
    if (number == OCL_PROGRAM_F64 && !device->about.has_f64)
        return ocl_host->fail(META_ERR_TYPE,
                              "type is META_F64, but OpenCL device %s computes without double "
                              "precision; use META_F32 or another device",
                              device->about.name);
    *kernel = found;
    if (found->ready) return META_OK; /* another type's build does not hold up its launches */
    pthread_mutex_lock(&device->build_lock);
    if (!program->cl) err = build(device, number, &program->cl);
    if (!err && !found->cl) err = create_kernel(device, program, recipes[number].suffix, id, found);
    if (!err) found->ready = 1;
    pthread_mutex_unlock(&device->build_lock);
    return err;
}

void ocl_programs_release(meta_plugin_device *device)
{
    for (int p = 0; p < OCL_PROGRAM_COUNT; ++p) {
        ocl_program *program = &device->programs[p];
        for (int k = 0; k < OCL_KERNEL_COUNT; ++k)
            if (program->kernels[k].cl) clReleaseKernel(program->kernels[k].cl);
        if (program->cl) clReleaseProgram(program->cl);
    }
}
