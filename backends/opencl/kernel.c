/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel.c
 *  Kernel objects: everything is compiled and looked up when one is made, so that a launch only
 * sets arguments. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"

static void free_kernel(meta_plugin_kernel *kernel)
{
    if (!kernel) return;
    for (uint32_t k = 0; k < kernel->results; ++k) free_kernel(kernel->result[k].finish);
    free(kernel->result);
    if (kernel->cl) clReleaseKernel(kernel->cl);
    free(kernel);
}

/* ------------------------------------------------------------------ built-in kernels */

_Static_assert(OCL_PROGRAM_F64 + (int)META_U32 == OCL_PROGRAM_U32,
               "programs of arithmetic are in the order of meta_type");

/* The program that has a kernel of @p family for @p type: elements are moved as the unsigned type
 * of their size. OCL_PROGRAM_COUNT where there is none. */
static int program_of(uint32_t family, uint32_t type)
{
    if (family != META_FAMILY_MOVE)
        return type <= META_U32 ? OCL_PROGRAM_F64 + (int)type : OCL_PROGRAM_COUNT;
    switch (meta_element_bytes(type)) {
#define CASE_OF_SIZE(bytes, name)                                                                  \
    case bytes:                                                                                    \
        return OCL_PROGRAM_MOVE_##name;
        META_MOVE_TYPES(CASE_OF_SIZE)
#undef CASE_OF_SIZE
    default:
        return OCL_PROGRAM_COUNT;
    }
}

/* Fill in what OpenCL knows of a kernel: the object itself and the largest work group. */
static meta_err create_cl(const meta_plugin_device *device, cl_program program,
                          meta_plugin_kernel *kernel)
{
    cl_int status = CL_SUCCESS;
    kernel->cl = clCreateKernel(program, kernel->name, &status);
    if (status == CL_INVALID_KERNEL_NAME && kernel->is_text)
        return ocl_host->fail(META_ERR_ARGUMENT, "the text has no __kernel function %s",
                              kernel->name);
    if (status != CL_SUCCESS)
        return ocl_host->fail(META_ERR_DEVICE, "clCreateKernel(%s): %s (%d)", kernel->name,
                              ocl_error_name(status), (int)status);
    OCL_TRY(clGetKernelWorkGroupInfo(kernel->cl, device->about.device, CL_KERNEL_WORK_GROUP_SIZE,
                                     sizeof kernel->group, &kernel->group, NULL),
            "clGetKernelWorkGroupInfo");
    return META_OK;
}

/* All built-in kernels have the same parameters: two operands, one value. */
static meta_err make_built_in(const meta_plugin_device *device, cl_program program,
                              const char *name, const char *suffix, meta_plugin_kernel **made)
{
    meta_plugin_kernel *kernel = calloc(1, sizeof *kernel);
    *made = kernel;
    if (!kernel) return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    kernel->buffers = META_SPACE_OPERANDS;
    kernel->scalars = 1;
    snprintf(kernel->name, sizeof kernel->name, "%s_%s", name, suffix);
    return create_cl(device, program, kernel);
}

/* The program of arithmetic for @p type. */
static meta_err program_for(meta_plugin_device *device, int number)
{
    if (device->programs[number]) return META_OK;
    return ocl_program_build(device, number, &device->programs[number]);
}

/* Append a result that is combined as @p combine says, of @p type, whose program is built; its
 * partial results have @p first words before them. */
static meta_err add_result(const meta_plugin_device *device, uint32_t combine, uint32_t type,
                           uint32_t first, meta_plugin_kernel *kernel)
{
#define FINISH_NAME(reduction) [META_COMBINE_##reduction] = "finish_" #reduction
    static const char *const finish_names[] = {FINISH_NAME(sum),    FINISH_NAME(min),
                                               FINISH_NAME(max),    FINISH_NAME(exact),
                                               FINISH_NAME(min_at), FINISH_NAME(max_at)};
#undef FINISH_NAME
    const int number = OCL_PROGRAM_F64 + (int)type;
    const bool has_f64 = device->about.has_f64, has_place = meta_has_place(combine);
    const bool is_exact = combine == META_COMBINE_exact;
    size_t partial = is_exact ? OCL_PARTIAL_BYTES : meta_partial_bytes(combine, type);
    if (combine == META_COMBINE_sum && type == META_F32 && !has_f64) partial = sizeof(meta_f32);
    ocl_result *r = &kernel->result[kernel->results];
    *r = (ocl_result){.bytes = is_exact ? 8 : meta_element_bytes(type),
                      .partial_bytes = partial,
                      .first = first,
                      .has_place = has_place};
    r->unit = has_place ? sizeof(meta_i64) : r->bytes;
    if (has_place) r->bytes = OCL_RESULT_BYTES;
    kernel->has_places = kernel->has_places || has_place;
    ++kernel->results;
    META_TRY(make_built_in(device, device->programs[number], finish_names[combine],
                           ocl_program_suffix(number), &r->finish));
    r->finish->operands = 2; /* partial results and the result */
    if (has_place) r->finish->values = 1, r->finish->element_bytes = sizeof(meta_i64);
    return META_OK;
}

static meta_err make_results(meta_plugin_kernel *kernel, uint32_t count)
{
    kernel->result = calloc(count, sizeof *kernel->result);
    return kernel->result ? META_OK
                          : ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
}

static meta_err create_built_in(meta_plugin_device *device, const meta_kernel_desc *desc,
                                uint32_t type, meta_plugin_kernel **made)
{
    const int number = program_of(desc->family, type);
    const bool is_exact = desc->combine == META_COMBINE_exact;
    const char *suffix;
    if (desc->number >= META_KERNEL_COUNT || desc->combine > META_COMBINE_exact)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "the OpenCL back end has no kernel %s; it is older than the library",
                              desc->name);
    if (number == OCL_PROGRAM_COUNT || !(desc->types & UINT32_C(1) << type))
        return ocl_host->fail(META_ERR_TYPE, "kernel %s does not know element type %s", desc->name,
                              meta_element_name(type));
    if (number == OCL_PROGRAM_F64 && !device->about.has_f64)
        return ocl_host->fail(META_ERR_TYPE,
                              "type is META_F64, but OpenCL device %s computes without double "
                              "precision; use META_F32 or another device",
                              device->about.name);
    if (is_exact && !device->about.has_f64)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "kernel %s needs double precision, which OpenCL device %s lacks",
                              desc->name, device->about.name);
    META_TRY(program_for(device, number));
    suffix = ocl_program_suffix(number);
    META_TRY(make_built_in(device, device->programs[number], desc->name, suffix, made));
    (*made)->is_exact = is_exact;
    if (desc->combine == META_COMBINE_none) return META_OK;
    META_TRY(make_results(*made, 1));
    return add_result(device, desc->combine, type, 0, *made);
}

/* ------------------------------------------------------------------ kernels from text */

/* Whether the arguments exceed what the device has room for, with so many values. */
static bool space_needs_buffer(const ocl_about *about, const meta_kernel_desc *desc,
                               uint32_t values)
{
    const size_t others = ((size_t)desc->operands + values) * sizeof(cl_ulong);
    return others + meta_space_bytes(desc->operands) > about->argument_bytes;
}

/* Whether the kernel computes with double. */
static bool uses_f64(const meta_kernel_source *source)
{
    const meta_kernel *user = source->user;
    if (source->type == META_F64) return true;
    for (uint32_t k = 0; user && k < user->parameters; ++k)
        if (user->parameter[k].type == META_F64) return true;
    return false;
}

/* The name of an array with elements of 8 bytes to which cells add; NULL if there is none. */
static const char *adds_to_8_bytes(const meta_kernel_source *source)
{
    const meta_kernel *user = source->user;
    for (uint32_t k = 0; user && k < user->parameters; ++k)
        if (user->parameter[k].kind == META_PARAMETER_ADD && user->parameter[k].bytes == 8)
            return user->parameter[k].name;
    return NULL;
}

static meta_err create_text(meta_plugin_device *device, const meta_kernel_source *source,
                            meta_plugin_kernel **made)
{
    const meta_kernel_desc *desc = source->desc;
    meta_plugin_kernel *kernel;
    cl_program program = NULL;
    cl_uint parameters = 0;
    meta_err err;
    if (desc->combine != META_COMBINE_none)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "kernel %s: the OpenCL back end has no reductions from text",
                              desc->name);
    if (meta_element_bytes(source->type) == 0)
        return ocl_host->fail(META_ERR_TYPE, "kernel %s does not know element type %s", desc->name,
                              meta_element_name(source->type));
    if (uses_f64(source) && !device->about.has_f64)
        return ocl_host->fail(META_ERR_TYPE,
                              "kernel %s is for META_F64, but OpenCL device %s computes without "
                              "double precision",
                              desc->name, device->about.name);
    if (meta_exact_results(desc) > 0 && !device->about.has_f64)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "kernel %s: reproducible sums need double precision, which OpenCL "
                              "device %s lacks",
                              desc->name, device->about.name);
    if (adds_to_8_bytes(source) && !device->about.atomic_64)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "kernel %s adds to '%s', whose elements have 8 bytes, but OpenCL "
                              "device %s cannot do that atomically (it lacks "
                              "cl_khr_int64_base_atomics): use a type of 4 bytes or another device",
                              desc->name, adds_to_8_bytes(source), device->about.name);
    if (meta_kernel_team_of(source->user))
        META_TRY(ocl_team_check(device, source->user, meta_exact_results(desc)));
    kernel = *made = calloc(1, sizeof *kernel);
    if (!kernel) return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    if ((size_t)snprintf(kernel->name, sizeof kernel->name, "%s%s",
                         source->user ? OCL_USER_PREFIX : "", desc->name) >= sizeof kernel->name)
        return ocl_host->fail(META_ERR_ARGUMENT, "the kernel's name %s has more than %zu letters",
                              desc->name, sizeof kernel->name - 1);
    kernel->is_text = true;
    kernel->team = meta_kernel_team_of(source->user);
    kernel->buffers = desc->operands;
    kernel->words_in_buffer = source->user && meta_words_in_memory(desc);
    kernel->scalars = kernel->words_in_buffer ? 1 : desc->values;
    if (!device->about.is_cpu) kernel->shared = meta_exact_results(desc) * OCL_SHARED_BYTES;
    kernel->space_in_buffer = space_needs_buffer(&device->about, desc, kernel->scalars);
    META_TRY(ocl_program_build_text(device, source, kernel->space_in_buffer, &program));
    err = create_cl(device, program, kernel);
    clReleaseProgram(program); /* the kernel keeps it */
    META_TRY(err);
    if (kernel->team) META_TRY(ocl_team_check_built(device, kernel));
    OCL_TRY(clGetKernelInfo(kernel->cl, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, NULL),
            "clGetKernelInfo");
    if (desc->results > 0) {
        uint32_t words = 0;
        META_TRY(make_results(kernel, desc->results));
        for (uint32_t k = 0; k < desc->results; ++k) {
            const meta_result_desc *r = &desc->result[k];
            META_TRY(program_for(device, OCL_PROGRAM_F64 + (int)r->type));
            META_TRY(add_result(device, r->combine, r->type, words, kernel));
            words += meta_partial_words(r);
        }
    }
    if (parameters != kernel->buffers + kernel->scalars + 1 + (desc->results ? 2 : 0))
        return ocl_host->fail(META_ERR_ARGUMENT,
                              "kernel %s has %u parameters, but needs %u: its operands, %u; its "
                              "values, %u; and META_SPACE_PARAMETER",
                              kernel->name, (unsigned)parameters,
                              (unsigned)(kernel->buffers + kernel->scalars + 1),
                              (unsigned)kernel->buffers, (unsigned)kernel->scalars);
    return META_OK;
}

/* ------------------------------------------------------------------ the device's kernels */

meta_err ocl_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel)
{
    meta_plugin_kernel *made = NULL;
    meta_err err;
    pthread_mutex_lock(&device->build_lock);
    err = source->text ? create_text(device, source, &made)
                       : create_built_in(device, source->desc, source->type, &made);
    if (!err) {
        made->operands = source->desc->operands;
        made->values = source->desc->values;
        made->partials = ocl_most_partials(source->desc);
        made->element_bytes = source->user ? sizeof(cl_ulong) : meta_element_bytes(source->type);
        made->next = device->kernels;
        device->kernels = *kernel = made;
    }
    pthread_mutex_unlock(&device->build_lock);
    if (err) free_kernel(made);
    return err;
}

void ocl_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    pthread_mutex_lock(&device->build_lock);
    for (meta_plugin_kernel **link = &device->kernels; *link; link = &(*link)->next)
        if (*link == kernel) {
            *link = kernel->next;
            break;
        }
    pthread_mutex_unlock(&device->build_lock);
    free_kernel(kernel);
}

void ocl_kernels_release(meta_plugin_device *device)
{
    while (device->kernels) {
        meta_plugin_kernel *kernel = device->kernels;
        device->kernels = kernel->next;
        free_kernel(kernel);
    }
    for (int p = 0; p < OCL_PROGRAM_COUNT; ++p)
        if (device->programs[p]) clReleaseProgram(device->programs[p]);
}
