/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_host_kernels.h
 *  The shared kernels compiled for a CPU: every kernel for every type, in a table, and a function
 *  that runs a call on one thread. To be included in one file of a back end, with contraction off
 *  (-ffp-contract=off). */
#ifndef META_HOST_KERNELS_H
#define META_HOST_KERNELS_H

#include <math.h>
#include <stddef.h>

#include "meta_backend.h"

/* ------------------------------------------------------------------ moving, by element size */

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

/* ------------------------------------------------------------------ arithmetic, by type */

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

/* ------------------------------------------------------------------ tables */

typedef struct meta_host_kernel {
    meta_kernel_function *run, *finish; /* finish: of a reduction */
} meta_host_kernel;

#define META_HOST_ROW_MOVE(name, finish)                                                           \
    {                                                                                              \
        [META_F64] = {name##_u64, NULL}, [META_I64] = {name##_u64, NULL},                          \
        [META_U64] = {name##_u64, NULL}, [META_F32] = {name##_u32, NULL},                          \
        [META_I32] = {name##_u32, NULL}, [META_U32] = {name##_u32, NULL},                          \
        [META_I16] = {name##_u16, NULL}, [META_U16] = {name##_u16, NULL},                          \
        [META_I8] = {name##_u8, NULL}, [META_U8] = {                                               \
            name##_u8,                                                                             \
            NULL                                                                                   \
        }                                                                                          \
    }
#define META_HOST_ROW_MAP(name, finish)                                                            \
    {                                                                                              \
        [META_F64] = {name##_f64, NULL}, [META_F32] = {name##_f32, NULL},                          \
        [META_I64] = {name##_i64, NULL}, [META_U64] = {name##_u64, NULL},                          \
        [META_I32] = {name##_i32, NULL}, [META_U32] = {                                            \
            name##_u32,                                                                            \
            NULL                                                                                   \
        }                                                                                          \
    }
#define META_HOST_ROW_REDUCTION(name, finish)                                                      \
    {                                                                                              \
        [META_F64] = {name##_f64, finish##_f64}, [META_F32] = {name##_f32, finish##_f32},          \
        [META_I64] = {name##_i64, finish##_i64}, [META_U64] = {name##_u64, finish##_u64},          \
        [META_I32] = {name##_i32, finish##_i32}, [META_U32] = {                                    \
            name##_u32,                                                                            \
            finish##_u32                                                                           \
        }                                                                                          \
    }
#define META_HOST_ROW_EXACT(name, finish)                                                          \
    {                                                                                              \
        [META_F64] = {name##_f64, finish##_f64}, [META_F32] = { name##_f32, finish##_f32 }         \
    }
#define META_HOST_ROW(number, NAME, name, FAMILY, ACCESS0, ACCESS1, REACH, values, result)         \
    [number] = META_HOST_ROW_##FAMILY(name, finish_##result),

/* A kernel for a type; .run is NULL where there is none. */
static inline meta_host_kernel meta_host_kernel_of(uint32_t kernel, uint32_t type)
{
    static const meta_host_kernel table[META_KERNEL_COUNT][META_TYPE_COUNT] = {
        META_KERNELS(META_HOST_ROW)};
    if (kernel >= META_KERNEL_COUNT || type >= META_TYPE_COUNT)
        return (meta_host_kernel){NULL, NULL};
    return table[kernel][type];
}

/* What kernel_create() of a back end may be that runs calls by meta_host_run(). A kernel of a later
 * libmeta, or from a text, is an error. */
static inline meta_err meta_host_kernel_create(const meta_host *host,
                                               const meta_kernel_source *source,
                                               meta_plugin_kernel **kernel)
{
    static meta_host_kernel made[META_KERNEL_COUNT][META_TYPE_COUNT];
    const meta_host_kernel found = meta_host_kernel_of(source->desc->number, source->type);
    if (source->text || !found.run)
        return host->fail(META_ERR_UNSUPPORTED, "there is no kernel %s for type %s here",
                          source->desc->name, meta_element_name(source->type));
    made[source->desc->number][source->type] = found;
    *kernel = (meta_plugin_kernel *)(void *)&made[source->desc->number][source->type];
    return META_OK;
}

/* Run a call to its end. */
static inline void meta_host_run(const meta_call *call)
{
    const meta_space one = {.ndim = 1, .rows = 1, .extent = {1}};
    const meta_host_kernel *kernel = (const meta_host_kernel *)(const void *)call->kernel;
    uint64_t partial[META_EXACT_WORDS] = {0};
    meta_work work = {.scalar = call->values,
                      .space = call->space,
                      .row = {0, call->space->rows},
                      .column = {0, call->space->extent[0]},
                      .partial = partial};
    for (uint32_t k = 0; k < call->desc->operands; ++k) work.object[k] = call->object[k];
    kernel->run(&work);
    if (!kernel->finish) return;
    void *result = call->result->host;
    if (!result) result = (char *)call->result->object + call->result->offset;
    kernel->finish(&(meta_work){.object = {partial, result}, .space = &one});
}

#endif
