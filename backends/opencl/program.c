/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  Programs: the built-in kernels for one element size or type, or a kernel from text, compiled or
 *  loaded from the cache of binaries. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_log.h"
#include "opencl.h"

/* What differs between the programs of built-in kernels. */
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
#define ARITHMETIC_RECIPE(NAME, name, bytes, wide, sum)                                            \
    {#name, ocl_text_arithmetic_h, EXPAND(ARITHMETIC_TEXT, #name, #wide, #sum, LIMITS_##NAME)},
static const recipe recipes[OCL_PROGRAM_COUNT] = {META_MOVE_TYPES(MOVE_RECIPE)
                                                      META_ARITHMETIC_TYPES(ARITHMETIC_RECIPE)};

const char *ocl_program_suffix(int number)
{
    return recipes[number].suffix;
}

/* ------------------------------------------------------------------ sources and options */

enum { PARTS = 11 };
#define OPTIONS "-cl-std=CL1.2"

/* A program's source, in parts, and build options. */
typedef struct plan {
    char title[96];  /* for messages */
    char first[512]; /* definitions, ahead of all other text */
    char line[256];  /* ahead of a text of the application's */
    const char *text[PARTS];
    const char *options;
} plan;

/* Definitions that all programs for a device share. */
static const char *device_definitions(const ocl_about *about)
{
    if (about->has_f64)
        return about->is_cpu ? "#define META_HAS_F64\n#define META_CPU\n"
                             : "#define META_HAS_F64\n";
    return about->is_cpu ? "#define META_CPU\n" : "";
}

/* @p has_f32: whether there may be arithmetic in f32. */
static const char *build_options(const ocl_about *about, bool has_f32)
{
    return has_f32 && about->exact_f32 ? OPTIONS " -cl-fp32-correctly-rounded-divide-sqrt" : OPTIONS;
}

static void plan_built_in(const ocl_about *about, int number, plan *p)
{
    const recipe *r = &recipes[number];
    const bool floating = number == OCL_PROGRAM_F64 || number == OCL_PROGRAM_F32;
    const unsigned char *part[PARTS] = {NULL, ocl_text_meta_types_h, ocl_text_lang_opencl_h,
                                        ocl_text_meta_space_h, ocl_text_lang_opencl_body_h};
    int count = 5;
    snprintf(p->title, sizeof p->title, "program %s of %s", r->suffix,
             number < OCL_PROGRAM_F64 ? "moves" : "arithmetic");
    snprintf(p->first, sizeof p->first,
             "#define META_SUFFIX %s\n%s%s#define META_ELEMENT %d\n#define META_STREAM %" PRId64
             "\n",
             r->suffix, r->definitions, device_definitions(about),
             number == OCL_PROGRAM_F64 ? 8 : 4, ocl_stream_bytes);
    if (floating && about->is_cpu) part[count++] = ocl_text_cpu_stencil_h;
    part[count++] = r->body;
    if (floating && about->has_f64) {
        part[count++] = ocl_text_exact_h;
        part[count++] = about->is_cpu ? ocl_text_exact_rows_h : ocl_text_exact_threads_h;
        part[count++] = ocl_text_exact_sum_h;
    }
    p->text[0] = p->first;
    for (int k = 1; k < PARTS; ++k) p->text[k] = k < count ? (const char *)part[k] : "";
    p->options = build_options(about, number == OCL_PROGRAM_F32);
}

static void plan_text(const ocl_about *about, const meta_kernel_source *source,
                      bool space_in_buffer, plan *p)
{
    const uint32_t operands = source->desc->operands;
    *p = (plan){.text = {NULL}};
    snprintf(p->title, sizeof p->title, "kernel %.64s", source->desc->name);
    snprintf(p->first, sizeof p->first,
             "#define META_T meta_%s\n#define META_SPACE_OPERANDS %u\n%s%s"
             "#define META_USER_SUFFIX %s\n#define META_USER_PARTIALS %d\n%s%s",
             meta_element_name(source->type), (unsigned)(operands ? operands : 1),
             device_definitions(about), space_in_buffer ? "#define META_SPACE_IN_BUFFER\n" : "",
             meta_element_name(source->type), OCL_MAX_PARTIALS,
             source->type <= META_F32 ? "#define META_USER_FLOATING\n" : "",
             about->atomic_64 ? "#define META_USER_ATOMIC_64\n" : "");
    if (source->user) /* the kernel may be called as a built-in function or macro is */
        snprintf(p->line, sizeof p->line, "#undef %s\n#define %s " OCL_USER_PREFIX "%s\n",
                 source->desc->name, source->desc->name, source->desc->name);
    else snprintf(p->line, sizeof p->line, "#line 1 \"%.64s\"\n", source->desc->name);
    p->text[0] = p->first;
    p->text[1] = (const char *)ocl_text_meta_types_h;
    p->text[2] = (const char *)ocl_text_lang_opencl_h;
    p->text[3] = (const char *)ocl_text_meta_space_h;
    if (source->user) { /* the core has set the lines' numbers */
        p->text[4] = (const char *)ocl_text_lang_opencl_body_h;
        p->text[5] = (const char *)ocl_text_meta_kernel_body_h;
        p->text[6] = (const char *)ocl_text_lang_opencl_user_h;
    }
    p->text[7] = p->line;
    p->text[8] = source->text;
    for (int k = 0; k < PARTS; ++k)
        if (!p->text[k]) p->text[k] = "";
    /* Arrays, values and variables of any kernel may be of float. */
    p->options = build_options(about, source->type == META_F32 || source->user);
}

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

static meta_err build_source(const meta_plugin_device *device, const plan *p, cl_program *program)
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
    const plan *p;
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

static meta_err build(const meta_plugin_device *device, const plan *p, cl_program *program)
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

meta_err ocl_program_build(const meta_plugin_device *device, int number, cl_program *program)
{
    plan p;
    plan_built_in(&device->about, number, &p);
    return build(device, &p, program);
}

meta_err ocl_program_build_text(const meta_plugin_device *device, const meta_kernel_source *source,
                                bool space_in_buffer, cl_program *program)
{
    plan p;
    plan_text(&device->about, source, space_in_buffer, &p);
    return build(device, &p, program);
}
