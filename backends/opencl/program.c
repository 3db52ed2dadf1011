/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  Programs as texts: the built-in kernels for one element size or type, or a kernel from text.
 *  No OpenCL is needed for them, so that kernels can be checked where there is no device. */
#include "config.h"

#include "programs.h"

#include <inttypes.h>
#include <stdio.h>

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

#define OPTIONS "-cl-std=CL1.2"

/* Definitions that all programs for a device share. */
static const char *device_definitions(const ocl_language *about)
{
    if (about->has_f64)
        return about->is_cpu ? "#define META_HAS_F64\n#define META_CPU\n"
                             : "#define META_HAS_F64\n";
    return about->is_cpu ? "#define META_CPU\n" : "";
}

/* @p has_f32: whether there may be arithmetic in f32. */
static const char *build_options(const ocl_language *about, bool has_f32)
{
    return has_f32 && about->exact_f32 ? OPTIONS " -cl-fp32-correctly-rounded-divide-sqrt"
                                       : OPTIONS;
}

void ocl_plan_built_in(const ocl_language *about, int number, ocl_plan *p)
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
             number == OCL_PROGRAM_F64 ? 8 : 4, about->stream_bytes);
    if (floating && about->is_cpu) {
        part[count++] = ocl_text_cpu_stencil_h;
        part[count++] = ocl_text_cpu_extremes_h;
    }
    part[count++] = r->body;
    if (number >= OCL_PROGRAM_F64) {
        part[count++] = ocl_text_meta_extreme_h;
        part[count++] = ocl_text_extremes_h;
    }
    if (floating && about->has_f64) {
        part[count++] = ocl_text_exact_h;
        part[count++] = about->is_cpu ? ocl_text_exact_rows_h : ocl_text_exact_threads_h;
        part[count++] = ocl_text_exact_sum_h;
    }
    p->text[0] = p->first;
    for (int k = 1; k < PARTS; ++k) p->text[k] = k < count ? (const char *)part[k] : "";
    p->options = build_options(about, number == OCL_PROGRAM_F32);
}

void ocl_plan_text(const ocl_language *about, const meta_kernel_source *source,
                   bool space_in_buffer, ocl_plan *p)
{
    const uint32_t operands = source->desc->operands;
    *p = (ocl_plan){.text = {NULL}};
    snprintf(p->title, sizeof p->title, "kernel %.64s", source->desc->name);
    snprintf(p->first, sizeof p->first,
             "#define META_T meta_%s\n#define META_SPACE_OPERANDS %u\n%s%s"
             "#define META_USER_SUFFIX %s\n#define META_USER_PARTIALS %d\n%s%s",
             meta_element_name(source->type), (unsigned)(operands ? operands : 1),
             device_definitions(about), space_in_buffer ? "#define META_SPACE_IN_BUFFER\n" : "",
             meta_element_name(source->type), (int)ocl_most_partials(source->desc),
             source->type <= META_F32 ? "#define META_USER_FLOATING\n" : "",
             about->atomic_64 ? "#define META_USER_ATOMIC_64\n" : "");
    if (!source->user) snprintf(p->line, sizeof p->line, "#line 1 \"%.64s\"\n", source->desc->name);
    p->text[0] = p->first;
    p->text[1] = (const char *)ocl_text_meta_types_h;
    p->text[2] = (const char *)ocl_text_lang_opencl_h;
    p->text[3] = (const char *)ocl_text_meta_space_h;
    if (source->user) { /* the core has set the lines' numbers */
        p->text[4] = (const char *)ocl_text_lang_opencl_body_h;
        p->text[5] = (const char *)ocl_text_meta_kernel_body_h;
        p->text[6] = (const char *)ocl_text_meta_extreme_h;
        p->text[7] = (const char *)ocl_text_lang_opencl_user_h;
        p->text[8] = (const char *)ocl_text_lang_team_h;
        p->text[9] = (const char *)ocl_text_meta_kernel_team_body_h;
    }
    if (meta_exact_results(source->desc) > 0) {
        p->text[10] = (const char *)ocl_text_exact_h;
        p->text[11] =
            (const char *)(about->is_cpu ? ocl_text_exact_rows_h : ocl_text_exact_threads_h);
        p->text[12] = (const char *)ocl_text_exact_cells_h;
    }
    p->text[13] = p->line;
    p->text[14] = source->text;
    for (int k = 0; k < PARTS; ++k)
        if (!p->text[k]) p->text[k] = "";
    /* Arrays, values and variables of any kernel may be of float. */
    p->options = build_options(about, source->type == META_F32 || source->user);
}
