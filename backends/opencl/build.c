/* SPDX-License-Identifier: BSD-3-Clause */
/** @file build.c
 *  Programs, compiled or loaded from the cache of binaries. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_log.h"
#include "opencl.h"

/* ------------------------------------------------------------------ from source */

/* Log the compiler's whole output and return the error of the build with it. */
static meta_err fail_of_build(cl_program program, cl_device_id device, const char *title,
                              cl_int status)
{
    size_t bytes = 0;
    char *log;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    log = calloc(1, bytes + 1);
    if (log) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    if (log) meta_log_lines(ocl_host, META_LOG_WARN, "OpenCL compiler", title, log);
    const meta_err error =
        ocl_host->fail(META_ERR_DEVICE, "clBuildProgram(%s): %s (%d), the OpenCL compiler says: %s",
                       title, ocl_error_name(status), (int)status, log ? log : "");
    free(log);
    return error;
}

static meta_err build_source(const meta_plugin_device *device, const ocl_plan *p,
                             cl_program *program)
{
    cl_int status = CL_SUCCESS;
    meta_err err;
    cl_program made =
        clCreateProgramWithSource(device->context, PARTS, (const char **)p->text, NULL, &status);
    OCL_TRY(status, "clCreateProgramWithSource");
    status = clBuildProgram(made, 1, &device->about.device, p->options, NULL, NULL);
    if (status != CL_SUCCESS) {
        err = fail_of_build(made, device->about.device, p->title, status);
        clReleaseProgram(made);
        return err;
    }
    *program = made;
    return META_OK;
}

/* ------------------------------------------------------------------ from the cache */

/* What a program is made of, for the cache. */
typedef struct job {
    const meta_plugin_device *device;
    const ocl_plan *p;
    cl_program program;
} job;

static meta_err load_binary(void *with, const void *code, size_t bytes)
{
    job *j = with;
    const unsigned char *binary = code;
    cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
    cl_program made = clCreateProgramWithBinary(j->device->context, 1, &j->device->about.device,
                                                &bytes, &binary, &loaded, &status);
    if (status == CL_SUCCESS) status = loaded;
    if (status == CL_SUCCESS)
        status = clBuildProgram(made, 1, &j->device->about.device, j->p->options, NULL, NULL);
    if (status == CL_SUCCESS) {
        j->program = made;
        return META_OK;
    }
    if (made) clReleaseProgram(made);
    return ocl_fail(status, "clCreateProgramWithBinary");
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

static meta_err build_program(void *with, void **code, size_t *bytes)
{
    job *j = with;
    META_TRY(build_source(j->device, j->p, &j->program));
    *code = binary_of(j->program, j->device->about.device, bytes);
    return META_OK;
}

/* The facts that a binary depends on: the texts, the options, and these. */
static const cl_device_info device_facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                              CL_DRIVER_VERSION};
static const cl_platform_info platform_facts[] = {CL_PLATFORM_NAME, CL_PLATFORM_VERSION};
enum {
    DEVICE_FACTS = sizeof device_facts / sizeof *device_facts,
    PLATFORM_FACTS = sizeof platform_facts / sizeof *platform_facts,
    FACTS = PARTS + 1 + DEVICE_FACTS + PLATFORM_FACTS
};

static meta_err build(const meta_plugin_device *device, const ocl_plan *p, cl_program *program)
{
    const ocl_about *about = &device->about;
    const char *fact[FACTS];
    char said[DEVICE_FACTS + PLATFORM_FACTS][512] = {{0}}, title[sizeof p->title + 8];
    job j = {.device = device, .p = p};
    const meta_cached what = {.size = sizeof what,
                              .kind = "opencl",
                              .title = title,
                              .fact = fact,
                              .facts = FACTS,
                              .with = &j,
                              .load = load_binary,
                              .build = build_program};
    snprintf(title, sizeof title, "OpenCL %s", p->title);
    for (int k = 0; k < PARTS; ++k) fact[k] = p->text[k];
    fact[PARTS] = p->options;
    for (int k = 0; k < DEVICE_FACTS + PLATFORM_FACTS; ++k) {
        if (k < DEVICE_FACTS)
            clGetDeviceInfo(about->device, device_facts[k], sizeof *said - 1, said[k], NULL);
        else
            clGetPlatformInfo(about->platform, platform_facts[k - DEVICE_FACTS], sizeof *said - 1,
                              said[k], NULL);
        fact[PARTS + 1 + k] = said[k];
    }
    META_TRY(meta_host_cached(ocl_host, &what));
    *program = j.program;
    return META_OK;
}

static ocl_language language_of(const ocl_about *about)
{
    return (ocl_language){.is_cpu = about->is_cpu,
                          .has_f64 = about->has_f64,
                          .exact_f32 = about->exact_f32,
                          .atomic_64 = about->atomic_64,
                          .stream_bytes = ocl_stream_bytes};
}

meta_err ocl_program_build(const meta_plugin_device *device, int number, cl_program *program)
{
    const ocl_language language = language_of(&device->about);
    ocl_plan p;
    ocl_plan_built_in(&language, number, &p);
    return build(device, &p, program);
}

meta_err ocl_program_build_text(const meta_plugin_device *device, const meta_kernel_source *source,
                                bool space_in_buffer, cl_program *program)
{
    const ocl_language language = language_of(&device->about);
    ocl_plan p;
    ocl_plan_text(&language, source, space_in_buffer, &p);
    return build(device, &p, program);
}
