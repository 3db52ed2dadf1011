/* SPDX-License-Identifier: BSD-3-Clause */
/** @file extremes.c
 *  Results of the program's kernels that say where they lie: what the threads found becomes one. */
#include "openmp.h"

#include <math.h>

#include "meta_extreme.h"

#define META_SUFFIX  f64
#define META_T       meta_f64
#define META_LOWEST  (-(meta_f64)INFINITY)
#define META_HIGHEST ((meta_f64)INFINITY)
#include "extremes.h"
#undef META_SUFFIX
#undef META_T
#undef META_LOWEST
#undef META_HIGHEST
#define META_SUFFIX  f32
#define META_T       meta_f32
#define META_LOWEST  (-(meta_f32)INFINITY)
#define META_HIGHEST ((meta_f32)INFINITY)
#include "extremes.h"
#undef META_SUFFIX
#undef META_T
#undef META_LOWEST
#undef META_HIGHEST
#define META_SUFFIX  i64
#define META_T       meta_i64
#define META_LOWEST  INT64_MIN
#define META_HIGHEST INT64_MAX
#include "extremes.h"
#undef META_SUFFIX
#undef META_T
#undef META_LOWEST
#undef META_HIGHEST
#define META_SUFFIX  u64
#define META_T       meta_u64
#define META_LOWEST  0
#define META_HIGHEST UINT64_MAX
#include "extremes.h"
#undef META_SUFFIX
#undef META_T
#undef META_LOWEST
#undef META_HIGHEST
#define META_SUFFIX  i32
#define META_T       meta_i32
#define META_LOWEST  INT32_MIN
#define META_HIGHEST INT32_MAX
#include "extremes.h"
#undef META_SUFFIX
#undef META_T
#undef META_LOWEST
#undef META_HIGHEST
#define META_SUFFIX  u32
#define META_T       meta_u32
#define META_LOWEST  0
#define META_HIGHEST UINT32_MAX
#include "extremes.h"

#define FINISH(NAME, name, bytes, wide, sum)                                                       \
    [META_##NAME] = {finish_min_at_##name, finish_max_at_##name},
static meta_kernel_function *const finish[][2] = {META_ARITHMETIC_TYPES(FINISH)};

void openmp_extreme_begin(void *partial)
{
    int64_t *words = partial;
    words[0] = 0;
    words[1] = -1;
}

void openmp_extreme_combine(const meta_call *call, uint32_t n, char *partials, size_t apart,
                            int threads)
{
    const meta_result_desc *desc = &call->desc->result[n];
    const size_t width = meta_partial_bytes(desc->combine, desc->type);
    const meta_i64 count = threads;
    meta_space space = {.ndim = call->space->ndim, .rows = call->space->rows};
    const meta_work work = {.object = {partials, meta_result_memory(&call->result[n])},
                            .scalar = &count,
                            .space = &space};
    for (meta_i64 d = 0; d < space.ndim; ++d) {
        space.extent[d] = call->space->extent[d];
        space.layout[0].stride[d] = call->start[d];
    }
    for (int k = 1; k < threads; ++k)
        memmove(partials + (size_t)k * width, partials + (size_t)k * apart, width);
    finish[desc->type][desc->combine == META_COMBINE_max_at](&work);
}
