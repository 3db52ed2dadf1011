/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_host_kernels.h
 *  The built-in kernels compiled for a CPU, as kernel objects of a back end, and a function that
 * runs a call on the calling thread. Include it in one file of a back end and compile that file
 * without contraction of multiply-adds (-ffp-contract=off). */
#ifndef META_HOST_KERNELS_H
#define META_HOST_KERNELS_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include <math.h>
#include <stddef.h>

#include "meta_backend.h"

/* ------------------------------------------------------------------ move kernels, by size */

#define META_SUFFIX u64
#define META_M      meta_u64
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u32
#define META_M      meta_u32
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u16
#define META_M      meta_u16
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u8
#define META_M      meta_u8
#include "move.h"
#undef META_SUFFIX
#undef META_M

/* ------------------------------------------------------------------ arithmetic kernels, by type */

#define META_SUFFIX  f64
#define META_T       meta_f64
#define META_W       meta_f64
#define META_A       meta_f64
#define META_LOWEST  (-(meta_f64)INFINITY)
#define META_HIGHEST ((meta_f64)INFINITY)
#include "arithmetic_type.h"
#define META_SUFFIX  f32
#define META_T       meta_f32
#define META_W       meta_f32
#define META_A       meta_f64
#define META_LOWEST  (-(meta_f32)INFINITY)
#define META_HIGHEST ((meta_f32)INFINITY)
#include "arithmetic_type.h"
#define META_SUFFIX  i64
#define META_T       meta_i64
#define META_W       meta_u64
#define META_A       meta_u64
#define META_LOWEST  INT64_MIN
#define META_HIGHEST INT64_MAX
#include "arithmetic_type.h"
#define META_SUFFIX  u64
#define META_T       meta_u64
#define META_W       meta_u64
#define META_A       meta_u64
#define META_LOWEST  0
#define META_HIGHEST UINT64_MAX
#include "arithmetic_type.h"
#define META_SUFFIX  i32
#define META_T       meta_i32
#define META_W       meta_u32
#define META_A       meta_u32
#define META_LOWEST  INT32_MIN
#define META_HIGHEST INT32_MAX
#include "arithmetic_type.h"
#define META_SUFFIX  u32
#define META_T       meta_u32
#define META_W       meta_u32
#define META_A       meta_u32
#define META_LOWEST  0
#define META_HIGHEST UINT32_MAX
#include "arithmetic_type.h"

/* ------------------------------------------------------------------ exact sums */

#include "exact.h"

#include "exact_rows.h"

#define META_SUFFIX f64
#define META_T      meta_f64
#include "exact_sum.h"
#define META_SUFFIX f32
#define META_T      meta_f32
#include "exact_sum.h"

/* ------------------------------------------------------------------ kernel objects */

/** A kernel for one element type; what a meta_plugin_kernel made by meta_host_kernel_create()
 * points to. */
typedef struct meta_host_kernel {
    meta_kernel_function *run;    /**< NULL: there is no such kernel */
    meta_kernel_function *finish; /**< combines the partial results of a reduction; else NULL */
} meta_host_kernel;

/* A row per kernel, filled in for the element types of its family. */
/* clang-format off */
#define META_HOST_MOVE(name, result)                                                             \
    {[META_F64] = {name##_u64, NULL}, [META_F32] = {name##_u32, NULL},                             \
     [META_I64] = {name##_u64, NULL}, [META_U64] = {name##_u64, NULL},                             \
     [META_I32] = {name##_u32, NULL}, [META_U32] = {name##_u32, NULL},                             \
     [META_I16] = {name##_u16, NULL}, [META_U16] = {name##_u16, NULL},                             \
     [META_I8] = {name##_u8, NULL}, [META_U8] = {name##_u8, NULL}}
#define META_HOST_MAP(name, result)                                                              \
    {[META_F64] = {name##_f64, NULL}, [META_F32] = {name##_f32, NULL},                             \
     [META_I64] = {name##_i64, NULL}, [META_U64] = {name##_u64, NULL},                             \
     [META_I32] = {name##_i32, NULL}, [META_U32] = {name##_u32, NULL}}
#define META_HOST_REDUCTION(name, result)                                                        \
    {[META_F64] = {name##_f64, finish_##result##_f64},                                             \
     [META_F32] = {name##_f32, finish_##result##_f32},                                             \
     [META_I64] = {name##_i64, finish_##result##_i64},                                             \
     [META_U64] = {name##_u64, finish_##result##_u64},                                             \
     [META_I32] = {name##_i32, finish_##result##_i32},                                             \
     [META_U32] = {name##_u32, finish_##result##_u32}}
#define META_HOST_EXACT(name, result)                                                            \
    {[META_F64] = {name##_f64, finish_##result##_f64},                                             \
     [META_F32] = {name##_f32, finish_##result##_f32}}
#define META_HOST_ROW(number, NAME, name, FAMILY, access0, access1, reach, values, result)         \
    [number] = META_HOST_##FAMILY(name, result),
static const meta_host_kernel meta_host_table[META_KERNEL_COUNT][META_TYPE_COUNT] = {
    META_KERNELS(META_HOST_ROW)
};
/* clang-format on */
#undef META_HOST_MOVE
#undef META_HOST_MAP
#undef META_HOST_REDUCTION
#undef META_HOST_EXACT
#undef META_HOST_ROW

/** The kernel numbered @p number for @p type; .run is NULL where there is none. */
static inline meta_host_kernel meta_host_kernel_of(uint32_t number, uint32_t type)
{
    const meta_host_kernel none = {NULL, NULL};
    return number < META_KERNEL_COUNT && type < META_TYPE_COUNT ? meta_host_table[number][type]
                                                                : none;
}

/** kernel_create() of a CPU back end: a kernel object that meta_host_run() runs. There is nothing
 * to destroy. */
static inline meta_err meta_host_kernel_create(const meta_host *host,
                                               const meta_kernel_source *source,
                                               meta_plugin_kernel **kernel)
{
    const uint32_t number = source->desc->number, type = source->type;
    if (source->text)
        return host->fail(META_ERR_UNSUPPORTED, "kernel %s: source text cannot be compiled here",
                          source->desc->name);
    if (number >= META_KERNEL_COUNT)
        return host->fail(META_ERR_UNSUPPORTED, "there is no kernel %u (%s) here", number,
                          source->desc->name);
    if (!meta_host_kernel_of(number, type).run)
        return host->fail(META_ERR_TYPE, "there is no kernel %s for type %s here",
                          source->desc->name, meta_element_name(type));
    *kernel = (meta_plugin_kernel *)(uintptr_t)&meta_host_table[number][type];
    return META_OK;
}

/** Run a call to completion on the calling thread. */
static inline void meta_host_run(const meta_call *call)
{
    static const meta_space one = {.ndim = 1, .rows = 1, .extent = {1}};
    const meta_host_kernel *kernel = (const meta_host_kernel *)(const void *)call->kernel;
    meta_u64 partial[META_EXACT_WORDS] = {0};
    meta_work work = {.scalar = call->values,
                      .space = call->space,
                      .row = {0, call->space->rows},
                      .column = {0, call->space->extent[0]},
                      .partial = partial};
    for (uint32_t k = 0; k < call->desc->operands; ++k) work.object[k] = call->object[k];
    kernel->run(&work);
    if (!kernel->finish) return;
    meta_work last = {.object = {partial, meta_result_memory(call->result)}, .space = &one};
    kernel->finish(&last);
}

#endif
