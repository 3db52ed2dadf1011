/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Running kernels on the threads of this process. Each thread gets a share of the rows, or of the
 * columns if there are too few rows. The kernels of a launch are independent, so they share one
 * parallel region; small launches run on the calling thread alone. */
#include "openmp.h"

#include "access.h"
#include "faces.h"
#include "sides.h"

#include <stdlib.h>
#include <string.h>

/* WORTH_A_THREAD: elements per thread below which another thread does not pay off. */
enum { WORTH_A_THREAD = 1 << 14, LINE = 64 };

/* Partial results are padded to cache lines to avoid false sharing. */
#define LINES(bytes) (((bytes) + LINE - 1) / LINE * LINE)
#define EXACT_BYTES  (META_EXACT_WORDS * sizeof(meta_i64))

/* Cost of a call in contiguous elements; strided elements and short rows cost more, since each
 * access takes a cache line. */
static meta_i64 work_of(const meta_call *call)
{
    enum { GATHERED = 4 };
    const meta_space *s = call->space;
    int gathered = s->extent[0] < GATHERED;
    for (uint32_t k = 0; k < call->desc->operands; ++k) gathered |= s->layout[k].stride[0] != 1;
    return gathered ? s->rows * s->extent[0] * GATHERED : s->rows * s->extent[0];
}

int openmp_threads_for(meta_i64 work, meta_i64 least)
{
    if (work < 2 * least) return 1; /* the smallest calls need no division */
    const meta_i64 worth = work / least;
    int threads = openmp_host->threads();
    if (threads > worth) threads = (int)worth;
    return threads > OPENMP_MOST_THREADS ? OPENMP_MOST_THREADS : threads;
}

/* Set the rows and columns of @p work to share k of n. */
static inline void share_rows(const meta_space *s, int k, int n, meta_work *work)
{
    work->row[0] = work->column[0] = 0;
    work->row[1] = s->rows;
    work->column[1] = s->extent[0];
    if (n == 1) return;
    if (s->rows >= n) openmp_share(s->rows, k, n, work->row);
    else openmp_share(s->extent[0], k, n, work->column);
}

/* Set @p work to share k of n. It is filled in place, and never copied: a copy would wait until
 * what was just stored has left the processor's store buffer. */
static inline void share_of(const meta_call *call, int k, int n, meta_work *work)
{
    const meta_space *s = call->space;
    work->object[0] = call->object[0];
    work->object[1] = call->desc->operands > 1 ? call->object[1] : NULL;
    work->scalar = call->values;
    work->space = s;
    work->partial = NULL;
    work->way = 0;
    work->sides = NULL;
    work->side_sums = NULL;
    share_rows(s, k, n, work);
}

/* Only floating-point stencils have several ways. */
static access_trial begin_trial(const meta_call *call, reuse_of_call reuse, int threads)
{
    const int floating = call->type == META_F64 || call->type == META_F32;
    return call->desc->grid > 0 && floating ? access_begin(call, reuse, threads)
                                            : (access_trial){0};
}

/* ------------------------------------------------------------------ reductions */

static void reduce_share(const meta_call *call, int way, int k, int n, char *result)
{
    meta_work mine;
    share_of(call, k, n, &mine);
    mine.partial = result;
    mine.way = way;
    openmp_kernel_of(call)->run(&mine);
}

/* Store the threads' partial results @p apart bytes from each other. The loop runs `threads`
 * shares, even if the runtime provides fewer threads. */
static void reduce_on(int threads, const meta_call *call, int way, char *results, size_t apart)
{
    if (threads == 1) {
        reduce_share(call, way, 0, 1, results);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k)
        reduce_share(call, way, k, threads, results + (size_t)k * apart);
}

void openmp_combine(meta_kernel_function *finish, char *results, size_t apart, size_t width,
                    int threads, int each, const meta_result *result)
{
    const meta_space space = {.ndim = 1, .rows = 1, .extent = {(meta_i64)threads * each}};
    const meta_work work = {.object = {results, meta_result_memory(result)}, .space = &space};
    for (int k = 1; k < threads; ++k)
        memmove(results + (size_t)k * width, results + (size_t)k * apart, width);
    finish(&work);
}

static meta_err run_reduction(const meta_call *call, reuse_of_call reuse)
{
    _Alignas(LINE) char on_stack[16 * LINES(EXACT_BYTES)];
    const openmp_kernel *kernel = openmp_kernel_of(call);
    const int threads = openmp_threads_for(openmp_cells_of(call), WORTH_A_THREAD);
    const size_t width = kernel->partial_bytes, apart = LINES(width);
    char *results = on_stack;
    if ((size_t)threads * apart > sizeof on_stack &&
        !(results = aligned_alloc(LINE, (size_t)threads * apart)))
        return openmp_host->fail(META_ERR_NO_MEMORY,
                                 "the host has no memory for %d partial results", threads);
    const access_trial trial = begin_trial(call, reuse, threads);
    reduce_on(threads, call, trial.way, results, apart);
    access_end(&trial);
    openmp_combine(kernel->finish, results, apart, width, threads, 1, call->result);
    if (results != on_stack) free(results);
    return META_OK;
}

/* ------------------------------------------------------------------ several calls at once */

/* Calls [first, first + count) of a launch, which share a parallel region; no reductions. */
typedef struct group {
    const meta_launch *launch;
    size_t first, count;
    int way;         /* of packs for another process */
    uint64_t *spent; /* NULL, or where the first thread adds up the time of its share of these */
} group;

/* Whether a call packs for another process so much that the way may matter. */
static int packs_for_another(const meta_call *call)
{
    enum { LEAST = 32 * LINE };
    return meta_call_hints(call) & META_CALL_FOR_ANOTHER &&
           openmp_cells_of(call) * (meta_i64)meta_element_bytes(call->type) >= LEAST;
}

static uint64_t mix(uint64_t hash, meta_i64 value)
{
    return (hash ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Before a group's packs for another process, of which it has some. */
static access_trial begin_packs(const group *g)
{
    const meta_call *first = NULL;
    meta_i64 cells = 0;
    uint64_t shape = 0;
    for (size_t k = 0; k < g->count; ++k) {
        const meta_call *call = meta_launch_call(g->launch, g->first + k);
        const meta_space *s = call->space;
        if (!packs_for_another(call)) continue;
        if (!first) first = call;
        cells += openmp_cells_of(call);
        shape = mix(mix(mix(shape, s->extent[0]), s->rows), s->layout[1].stride[0]);
    }
    return access_begin_packs(first, cells, shape >> 32);
}

static void run_one(const group *g, size_t n, int way, int share, int shares)
{
    const meta_call *call = meta_launch_call(g->launch, n);
    const openmp_kernel *kernel = openmp_kernel_of(call);
    meta_work mine;
    share_of(call, share, shares, &mine);
    mine.way = way;
    if (g->count > 1 && kernel->run_two) {
        const size_t other = faces_beside(g->launch, g->first, g->count, n);
        if (other != n && faces_beside(g->launch, g->first, g->count, other) == n) {
            if (other < n) return; /* already copied, interleaved with call `other` */
            meta_work also;
            share_of(meta_launch_call(g->launch, other), share, shares, &also);
            kernel->run_two(&mine, &also);
            return;
        }
    }
    kernel->run(&mine);
}

/* Large calls are divided among the threads; small ones are dealt out whole. */
static void run_shares(const group *g, int share, int shares)
{
    for (size_t k = 0; k < g->count; ++k) {
        const size_t n = g->first + k;
        const meta_call *call = meta_launch_call(g->launch, n);
        const int for_another = (g->way || g->spent) && packs_for_another(call);
        const uint64_t begin = for_another && g->spent && share == 0 ? openmp_now() : 0;
        const int way = for_another ? g->way : 0;
        const int whole = shares > 1 && g->count > 1 && work_of(call) < WORTH_A_THREAD / 4;
        if (whole && k % (size_t)shares != (size_t)share) continue;
        run_one(g, n, way, whole ? 0 : share, whole ? 1 : shares);
        if (begin > 0) *g->spent += openmp_now() - begin;
    }
}

/* A single call on several threads. What they read of it reaches them as values, not through the
 * launch: each pointer that they follow into the calling thread's memory fetches a line from its
 * core. */
static void run_single(const meta_call *call, int way, int threads)
{
    meta_kernel_function *const run = openmp_kernel_of(call)->run;
    const meta_space *const space = call->space;
    meta_work whole;
    share_of(call, 0, 1, &whole);
    whole.way = way;
    if (threads == 1) {
        run(&whole);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1) firstprivate(run, space, whole)
    for (int k = 0; k < threads; ++k) {
        share_rows(space, k, threads, &whole);
        run(&whole);
    }
}

static void run_group_on(const group *g, int threads)
{
    if (threads == 1) {
        run_shares(g, 0, 1);
        return;
    }
    if (g->count == 1 && !g->spent) {
        run_single(meta_launch_call(g->launch, g->first), g->way, threads);
        return;
    }
    /* `threads` shares, even if the runtime provides fewer threads. */
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k) run_shares(g, k, threads);
}

static void run_group_for_another(group *g, int threads)
{
    const access_trial trial = begin_packs(g);
    uint64_t spent = 0;
    g->way = trial.way;
    if (trial.of) g->spent = &spent;
    run_group_on(g, threads);
    if (trial.of) access_end_after(&trial, spent);
}

static void run_group(group *g)
{
    meta_i64 work = 0;
    int for_another = 0;
    for (size_t k = 0; k < g->count; ++k) {
        const meta_call *call = meta_launch_call(g->launch, g->first + k);
        work += work_of(call);
        for_another |= packs_for_another(call);
    }
    const int threads = openmp_threads_for(work, WORTH_A_THREAD);
    if (for_another) run_group_for_another(g, threads);
    else run_group_on(g, threads);
}

static void run_stencil(const meta_call *call, reuse_of_call reuse)
{
    const int threads = openmp_threads_for(work_of(call), WORTH_A_THREAD);
    const access_trial trial = begin_trial(call, reuse, threads);
    run_single(call, trial.way, threads);
    access_end(&trial);
}

static meta_i64 bytes_of(const meta_call *call)
{
    return call->space->rows * call->space->extent[0] *
           (meta_i64)(call->desc->passes * meta_element_bytes(call->type));
}

static meta_err run_alone(const meta_call *call)
{
    const openmp_kernel *kernel = openmp_kernel_of(call);
    if (kernel->user) return openmp_user_run(call);
    const reuse_of_call reuse = reuse_count(call, bytes_of(call));
    if (kernel->finish) return run_reduction(call, reuse);
    run_stencil(call, reuse);
    return META_OK;
}

/* What each thread adds up of a stencil's pass and of the boxes summed in it, in lines of its own.
 */
typedef struct partials {
    _Alignas(LINE) double side[SIDES_MOST];
    _Alignas(LINE) char sum[LINES(sizeof(double))];
} partials;

/* Call @p n of the launch, a stencil, adds up those of the @p count sums behind it that it can. */
static meta_err run_with_sides(const meta_launch *launch, size_t n, size_t count)
{
    const meta_call *stencil = meta_launch_call(launch, n), *sum[SIDES_MOST];
    const openmp_kernel *kernel = openmp_kernel_of(stencil);
    const int threads = openmp_threads_for(work_of(stencil), WORTH_A_THREAD);
    partials on_stack[16], *results = on_stack;
    sides all = {.count = 0};
    for (size_t k = n + 1; k <= n + count; ++k) {
        const meta_call *call = meta_launch_call(launch, k);
        if (sides_add(&all, call, stencil)) {
            sum[all.count - 1] = call;
            continue;
        }
        const meta_err error = run_alone(call);
        if (error != META_OK) return error;
    }
    if (all.count == 0) return run_alone(stencil);
    if (threads > 16 && !(results = aligned_alloc(LINE, (size_t)threads * sizeof *results)))
        return openmp_host->fail(META_ERR_NO_MEMORY,
                                 "the host has no memory for %d partial results", threads);
    const access_trial trial =
        begin_trial(stencil, reuse_count(stencil, bytes_of(stencil)), threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
    for (int k = 0; k < threads; ++k) {
        meta_work mine;
        memset(&results[k], 0, sizeof *results);
        share_of(stencil, k, threads, &mine);
        mine.way = trial.way;
        mine.partial = results[k].sum;
        mine.sides = &all;
        mine.side_sums = results[k].side;
        kernel->run(&mine);
    }
    access_end(&trial);
    for (int s = 0; s < all.count; ++s) {
        double of[OPENMP_MOST_THREADS];
        for (int k = 0; k < threads; ++k) of[k] = results[k].side[s];
        openmp_combine(openmp_kernel_of(sum[s])->finish, (char *)of, sizeof *of, sizeof *of,
                       threads, 1, sum[s]->result);
    }
    if (kernel->finish)
        openmp_combine(kernel->finish, results[0].sum, sizeof *results, kernel->partial_bytes,
                       threads, 1, stencil->result);
    if (results != on_stack) free(results);
    return META_OK;
}

static int is_plain_sum(const meta_call *call)
{
    return !openmp_kernel_of(call)->user && call->desc->number == META_KERNEL_REDUCE_SUM;
}

/* Of floating-point elements: the others' kernels are shared ones, which add up no sides. */
static int is_stencil(const meta_call *call)
{
    return !openmp_kernel_of(call)->user && call->desc->grid > 0 &&
           (call->type == META_F64 || call->type == META_F32);
}

static meta_err run_calls(const meta_launch *launch)
{
    group g = {.launch = launch};
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        const openmp_kernel *kernel = openmp_kernel_of(call);
        size_t sums = 0;
        if (!kernel->finish && !kernel->user && call->desc->grid == 0) {
            const meta_i64 bytes = bytes_of(call);
            if (reuse_counts(bytes)) reuse_count(call, bytes);
            ++g.count;
            continue;
        }
        if (g.count > 0) run_group(&g);
        for (size_t k = n + 1; is_stencil(call) && k < launch->count; ++k) {
            if (!is_plain_sum(meta_launch_call(launch, k))) break;
            ++sums;
        }
        const meta_err error = sums > 0 ? run_with_sides(launch, n, sums) : run_alone(call);
        if (error != META_OK) return error;
        n += sums;
        g = (group){.launch = launch, .first = n + 1};
    }
    if (g.count > 0) run_group(&g);
    return META_OK;
}

meta_err openmp_launch(meta_plugin_queue *queue, const meta_launch *launch)
{
    (void)queue;
    if (launch->ticket) *launch->ticket = NULL;
    if (launch->stamp) launch->stamp->begin = openmp_now();
    const meta_err error = run_calls(launch);
    if (launch->stamp) launch->stamp->end = openmp_now();
    return error;
}
