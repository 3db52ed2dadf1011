/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Running a kernel on the threads of this process: each gets a share of the rows, or of the
 * columns where there are too few rows. */
#include "openmp.h"

#include <stdlib.h>
#include <string.h>

/* Below this many elements a second thread costs more than it brings. */
enum { WORTH_A_THREAD = 1 << 14, LINE = 64, MOST_THREADS = 1024 };

/* The largest accumulator of any kernel, on a cache line of its own. */
typedef union partial {
    _Alignas(LINE) unsigned char bytes[8];
    char line[LINE];
} partial;

static const unsigned char accumulator_bytes[] = {
    [META_F64] = 8, [META_F32] = 8, [META_I64] = 8, [META_U64] = 8, [META_I32] = 4, [META_U32] = 4};
static const unsigned char element_bytes[] = {
    [META_F64] = 8, [META_F32] = 4, [META_I64] = 8, [META_U64] = 8, [META_I32] = 4, [META_U32] = 4};

static int threads_for(const meta_space *s)
{
    const meta_i64 worth = s->rows * s->extent[0] / WORTH_A_THREAD;
    int threads = worth > 1 ? openmp_host->threads() : 1;
    if (threads > worth) threads = worth > 1 ? (int)worth : 1;
    return threads > MOST_THREADS ? MOST_THREADS : threads;
}

static void run_share(meta_kernel_function *run, const meta_work *whole, int k, int n, void *result)
{
    meta_work mine = *whole;
    if (whole->space->rows >= n) openmp_share(whole->space->rows, k, n, mine.row);
    else openmp_share(whole->space->extent[0], k, n, mine.column);
    mine.partial = result;
    run(&mine);
}

static void run_on(int threads, meta_kernel_function *run, const meta_work *whole, partial *results)
{
    if (threads == 1) {
        run_share(run, whole, 0, 1, results);
        return;
    }
    /* A share for each of `threads`, however many of them the runtime gives. */
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k)
        run_share(run, whole, k, threads, results ? &results[k] : NULL);
}

/* Combine the partial results, in the order of the shares, to one element at @p result. */
static void finish(const openmp_kernel *kernel, const meta_call *call, partial *results, int count,
                   void *result)
{
    const size_t bytes = accumulator_bytes[call->type];
    const int extreme =
        call->kernel == META_KERNEL_REDUCE_MIN || call->kernel == META_KERNEL_REDUCE_MAX;
    const size_t width = extreme ? element_bytes[call->type] : bytes;
    const meta_space space = {.ndim = 1, .rows = 1, .extent = {count}};
    const meta_work work = {.object = {results, result}, .space = &space};
    unsigned char *dense = (unsigned char *)results;
    for (int k = 1; k < count; ++k) memmove(dense + (size_t)k * width, results[k].bytes, width);
    kernel->finish(&work);
}

static meta_err run_call(const meta_call *call)
{
    const openmp_kernel kernel = openmp_kernel_of(call->kernel, call->type);
    const int threads = threads_for(&call->space);
    partial few[16], *results = few;
    void *result = call->result_host;
    meta_work whole = {.object = {call->object[0], call->object[1]},
                       .scalar = call->scalar,
                       .space = &call->space,
                       .row = {0, call->space.rows},
                       .column = {0, call->space.extent[0]}};
    if (!kernel.run)
        return openmp_host->fail(META_ERR_TYPE, "the OpenMP back end has no kernel %u for type %u",
                                 call->kernel, call->type);
    if (kernel.finish && threads > (int)(sizeof few / sizeof *few) &&
        !(results = aligned_alloc(LINE, (size_t)threads * sizeof *results)))
        return openmp_host->fail(META_ERR_NO_MEMORY,
                                 "the host has no memory for %d partial results", threads);
    run_on(threads, kernel.run, &whole, results);
    if (kernel.finish) {
        if (!result) result = (char *)call->result_object + call->result_offset;
        finish(&kernel, call, results, threads, result);
    }
    if (results != few) free(results);
    return META_OK;
}

meta_err openmp_launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                       meta_ticket *ticket)
{
    (void)queue;
    if (ticket) *ticket = NULL;
    for (size_t k = 0; k < count; ++k) {
        const meta_err error = run_call(&calls[k]);
        if (error != META_OK) return error;
    }
    return META_OK;
}
