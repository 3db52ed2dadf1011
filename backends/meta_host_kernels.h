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

static const unsigned char meta_host_bytes[META_TYPE_COUNT] = {
    [META_F64] = 8, [META_I64] = 8, [META_U64] = 8, [META_F32] = 4, [META_I32] = 4,
    [META_U32] = 4, [META_I16] = 2, [META_U16] = 2, [META_I8] = 1,  [META_U8] = 1,
};

/* A kernel for a type; .run is NULL where there is none. */
static inline meta_host_kernel meta_host_kernel_of(uint32_t kernel, uint32_t type)
{
    if (type >= META_TYPE_COUNT) return (meta_host_kernel){NULL, NULL};
    switch (kernel) {
#define CASE(NAME, name, operands)                                                                 \
    case META_KERNEL_##NAME:                                                                       \
        return (meta_host_kernel){meta_host_bytes[type] == 8   ? name##_u64                                  \
                             : meta_host_bytes[type] == 4 ? name##_u32                                  \
                             : meta_host_bytes[type] == 2 ? name##_u16                                  \
                                                     : name##_u8,                                  \
                             NULL};
        META_MOVE_KERNELS(CASE)
#undef CASE
#define CASE(NAME, name, operands)                                                                 \
    case META_KERNEL_##NAME: {                                                                     \
        static const meta_host_kernel of_type[META_TYPE_COUNT] = {                                      \
            [META_F64] = {name##_f64, NULL}, [META_F32] = {name##_f32, NULL},                      \
            [META_I64] = {name##_i64, NULL}, [META_U64] = {name##_u64, NULL},                      \
            [META_I32] = {name##_i32, NULL}, [META_U32] = {name##_u32, NULL}};                     \
        return of_type[type];                                                                      \
    }
        META_MAP_KERNELS(CASE)
#undef CASE
#define CASE(NAME, name, operands, finish)                                                         \
    case META_KERNEL_##NAME: {                                                                     \
        static const meta_host_kernel of_type[META_TYPE_COUNT] = {                                      \
            [META_F64] = {name##_f64, finish##_f64}, [META_F32] = {name##_f32, finish##_f32},      \
            [META_I64] = {name##_i64, finish##_i64}, [META_U64] = {name##_u64, finish##_u64},      \
            [META_I32] = {name##_i32, finish##_i32}, [META_U32] = {name##_u32, finish##_u32}};     \
        return of_type[type];                                                                      \
    }
        META_REDUCTION_KERNELS(CASE)
#undef CASE
#define CASE(NAME, name, operands, finish)                                                         \
    case META_KERNEL_##NAME: {                                                                     \
        static const meta_host_kernel of_type[META_TYPE_COUNT] = {                                      \
            [META_F64] = {name##_f64, finish##_f64}, [META_F32] = {name##_f32, finish##_f32}};     \
        return of_type[type];                                                                      \
    }
        META_EXACT_KERNELS(CASE)
#undef CASE
    default:
        return (meta_host_kernel){NULL, NULL};
    }
}

/* Run a call to its end. A kernel of a later libmeta is an error, not a crash. */
static inline meta_err meta_host_run(const meta_host *host, const meta_call *call)
{
    const meta_space one = {.ndim = 1, .rows = 1, .extent = {1}};
    uint64_t partial[META_EXACT_WORDS] = {0};
    void *result = call->result_host;
    const meta_host_kernel kernel = meta_host_kernel_of(call->kernel, call->type);
    if (!kernel.run)
        return host->fail(META_ERR_UNSUPPORTED, "there is no kernel %u for type %u here",
                          call->kernel, call->type);
    kernel.run(&(meta_work){.object = {call->object[0], call->object[1]},
                            .scalar = call->scalar,
                            .space = &call->space,
                            .row = {0, call->space.rows},
                            .column = {0, call->space.extent[0]},
                            .partial = partial});
    if (!kernel.finish) return META_OK;
    if (!result) result = (char *)call->result_object + call->result_offset;
    kernel.finish(&(meta_work){.object = {partial, result}, .space = &one});
    return META_OK;
}

#endif
