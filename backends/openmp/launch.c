/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Running a kernel on the threads of this process: each gets a share of the rows, or of the
 * columns where there are too few rows. */
#include "openmp.h"

#include <stdlib.h>
#include <string.h>

/* Below this many elements a second thread costs more than it brings. */
enum { WORTH_A_THREAD = 1 << 14, LINE = 64, MOST_THREADS = 1024 };

/* The partial result of each thread has cache lines of its own. */
#define LINES(bytes) (((bytes) + LINE - 1) / LINE * LINE)
#define EXACT_BYTES  (META_EXACT_WORDS * sizeof(meta_i64))

static const unsigned char accumulator_bytes[] = {
    [META_F64] = 8, [META_F32] = 8, [META_I64] = 8, [META_U64] = 8, [META_I32] = 4, [META_U32] = 4};
static const unsigned char element_bytes[] = {
    [META_F64] = 8, [META_F32] = 4, [META_I64] = 8, [META_U64] = 8, [META_I32] = 4, [META_U32] = 4};

/* The bytes of a partial result of a reduction. */
static size_t partial_bytes(const meta_call *call)
{
    switch (call->kernel) {
    case META_KERNEL_REDUCE_MIN:
    case META_KERNEL_REDUCE_MAX:
        return element_bytes[call->type];
    case META_KERNEL_EXACT_SUM:
    case META_KERNEL_EXACT_DOT:
        return EXACT_BYTES;
    default:
        return accumulator_bytes[call->type];
    }
}

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

/* The threads leave their partial results @p apart bytes from each other. */
static void run_on(int threads, meta_kernel_function *run, const meta_work *whole, char *results,
                   size_t apart)
{
    if (threads == 1) {
        run_share(run, whole, 0, 1, results);
        return;
    }
    /* A share for each of `threads`, however many of them the runtime gives. */
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k)
        run_share(run, whole, k, threads, results ? results + (size_t)k * apart : NULL);
}

/* Combine the partial results, in the order of the shares, to what goes to @p result. */
static void finish(const openmp_kernel *kernel, char *results, size_t apart, size_t width,
                   int count, void *result)
{
    const meta_space space = {.ndim = 1, .rows = 1, .extent = {count}};
    const meta_work work = {.object = {results, result}, .space = &space};
    for (int k = 1; k < count; ++k)
        memmove(results + (size_t)k * width, results + (size_t)k * apart, width);
    kernel->finish(&work);
}

static meta_err run_reduction(const openmp_kernel *kernel, const meta_call *call,
                              const meta_work *whole, int threads)
{
    _Alignas(LINE) char few[16 * LINES(EXACT_BYTES)];
    const size_t width = partial_bytes(call), apart = LINES(width);
    char *results = few;
    void *result = call->result_host;
    if ((size_t)threads * apart > sizeof few &&
        !(results = aligned_alloc(LINE, (size_t)threads * apart)))
        return openmp_host->fail(META_ERR_NO_MEMORY,
                                 "the host has no memory for %d partial results", threads);
    run_on(threads, kernel->run, whole, results, apart);
    if (!result) result = (char *)call->result_object + call->result_offset;
    finish(kernel, results, apart, width, threads, result);
    if (results != few) free(results);
    return META_OK;
}

static meta_err run_call(const meta_call *call)
{
    const openmp_kernel kernel = openmp_kernel_of(call->kernel, call->type);
    const int threads = threads_for(&call->space);
    const meta_work whole = {.object = {call->object[0], call->object[1]},
                             .scalar = call->scalar,
                             .space = &call->space,
                             .row = {0, call->space.rows},
                             .column = {0, call->space.extent[0]}};
    if (!kernel.run)
        return openmp_host->fail(META_ERR_TYPE, "the OpenMP back end has no kernel %u for type %u",
                                 call->kernel, call->type);
    if (kernel.finish) return run_reduction(&kernel, call, &whole, threads);
    run_on(threads, kernel.run, &whole, NULL, 0);
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
