/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.c
 *  Running the program's kernels. Their CPU code computes rows of cells; here is decided which
 *  thread computes which rows, and in what order.
 *
 *  A thread sweeps its planes in blocks of rows, so few that the planes that neighbours reach over
 *  stay in the core's cache until they have been used from both sides. (Tiling: G. Rivera and C.-W.
 *  Tseng, Tiling optimizations for 3D scientific computations, 2000.) */
#include "openmp.h"

#include "access.h"
#include "stream.h"
#include "sweep.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* WORTH_A_THREAD: cells per thread below which another thread does not pay off. AHEAD: how many
 * bytes further on memory is asked for, about what a core reads while one request takes. SHORT_ROW:
 * fewer columns than are asked for at a time. */
enum { WORTH_A_THREAD = 1 << 12, LINE = 64, FEW_ROWS = 8, AHEAD = 2048, SHORT_ROW = 64 };

/* A call, and what all threads know of it. */
typedef struct user_call {
    const meta_call *call;
    const meta_kernel *kernel;
    meta_kernel_cpu *run;
    const openmp_exact *exact; /* NULL: there are no exact sums */
    meta_i64 extent[3];        /* columns, rows of a plane, planes */
    meta_i64 block;            /* rows of a plane that are swept together */
    meta_i64 ahead;            /* as of meta_kernel_rows */
    char *partials;            /* room for each thread, for each result */
    size_t apart;              /* bytes of it: a line, or an exact sum and its contributions */
    int threads;
} user_call;

/* The accumulators of result @p n in a thread, or its exact sum. */
static char *partial_of(const user_call *u, uint32_t n, int thread)
{
    return u->partials + ((size_t)n * (size_t)u->threads + (size_t)thread) * u->apart;
}

static bool is_exact(const user_call *u, uint32_t n)
{
    return u->call->desc->result[n].combine == META_COMBINE_exact;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* What the cells of a piece contribute, or a team's members, lies behind the sum. */
static size_t exact_bytes(const openmp_exact *exact)
{
    return whole_lines(exact->bytes);
}

static size_t contributions_bytes(const meta_kernel *kernel)
{
    const meta_kernel_team *team = meta_kernel_team_of(kernel);
    return whole_lines((team ? meta_team_members(team) : META_KERNEL_PIECE) * sizeof(double));
}

static double *contributions(const user_call *u, void *sum)
{
    return (double *)(void *)((char *)sum + exact_bytes(u->exact));
}

/* One thread's view of it. */
typedef struct sweep_state {
    const user_call *u;
    meta_kernel_cpu_argument argument[META_KERNEL_PARAMETERS];
    char *home[META_KERNEL_ARRAYS];     /* where each array's cell (0, …) lies */
    uint32_t order[META_KERNEL_ARRAYS]; /* its argument's number */
    uint32_t arrays;
    void *sum[META_KERNEL_PARAMETERS];            /* the thread's exact sums, … */
    double *contribution[META_KERNEL_PARAMETERS]; /* … and what its cells contribute to each */
    uint32_t sums;
    bool alone; /* no other thread's cells add to what the next piece adds to */
} sweep_state;

/* ------------------------------------------------------------------ arguments */

/* The values end with the box's start. */
static meta_i64 start_of(const user_call *u, int d)
{
    const uint64_t *value = u->call->values;
    meta_i64 start;
    memcpy(&start, &value[u->call->desc->values - META_KERNEL_DIMS + (uint32_t)d], sizeof start);
    return start;
}

static void begin(sweep_state *s, const user_call *u, int thread)
{
    const meta_call *call = u->call;
    const char *value = call->values;
    uint32_t result = 0;
    s->u = u;
    s->arrays = s->sums = 0;
    for (uint32_t n = 0; n < u->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &u->kernel->parameter[n];
        meta_kernel_cpu_argument *a = &s->argument[n];
        if (meta_parameter_is_result(p)) {
            a->at = partial_of(u, result, thread);
            if (!is_exact(u, result++)) continue;
            u->exact->begin(a->at);
            s->sum[s->sums] = a->at;
            s->contribution[s->sums] = contributions(u, a->at);
            a->at = s->contribution[s->sums++];
        } else if (!meta_parameter_is_array(p)) {
            a->at = (void *)(uintptr_t)value;
            value += meta_parameter_words(p) * sizeof(uint64_t);
        } else {
            const meta_layout *layout = meta_call_layout(call, s->arrays);
            for (int d = 0; d < META_KERNEL_DIMS; ++d) a->stride[d] = layout->stride[d];
            s->home[s->arrays] =
                (char *)call->object[s->arrays] + layout->base * (meta_i64)p->bytes;
            s->order[s->arrays++] = n;
        }
    }
}

/* ------------------------------------------------------------------ a piece */

static meta_i64 least(meta_i64 a, meta_i64 b)
{
    return a < b ? a : b;
}

/* Coordinates 2 … of a plane. */
static void plane_coordinates(const meta_space *space, meta_i64 plane, meta_i64 *c)
{
    for (meta_i64 d = 2; d < space->ndim; ++d) {
        c[d] = plane % space->extent[d];
        plane /= space->extent[d];
    }
}

/* A row at a time, and not all of a long one: where there are exact sums. */
static void run_in_pieces(sweep_state *s, const meta_kernel_rows *all)
{
    const user_call *u = s->u;
    meta_kernel_rows piece = *all;
    char *row[META_KERNEL_ARRAYS];
    for (uint32_t k = 0; k < s->arrays; ++k) row[k] = s->argument[s->order[k]].at;
    piece.rows = 1;
    for (meta_i64 y = 0; y < all->rows; ++y) {
        piece.index[1] = all->index[1] + y;
        for (meta_i64 x = 0; x < all->cells; x += piece.cells) {
            piece.cells = least(all->cells - x, META_KERNEL_PIECE);
            piece.index[0] = all->index[0] + x;
            piece.number = all->number + y * all->columns + x;
            for (uint32_t k = 0; k < s->arrays; ++k) {
                meta_kernel_cpu_argument *a = &s->argument[s->order[k]];
                const meta_i64 bytes = u->kernel->parameter[s->order[k]].bytes;
                a->at = row[k] + (y * a->stride[1] + x * a->stride[0]) * bytes;
            }
            u->run(&piece);
            for (uint32_t k = 0; k < s->sums; ++k)
                u->exact->take(s->sum[k], s->contribution[k], piece.cells);
        }
    }
}

/* Columns [x, x + cells) of rows [y, y + rows) of a plane. */
static void run_piece(sweep_state *s, meta_i64 x, meta_i64 cells, meta_i64 y, meta_i64 rows,
                      meta_i64 plane)
{
    const user_call *u = s->u;
    const meta_space *space = u->call->space;
    meta_i64 c[META_MAX_DIM] = {x, y};
    meta_kernel_rows piece = {.cells = cells,
                              .rows = rows,
                              .argument = s->argument,
                              .alone = s->alone,
                              .kernel = u->kernel,
                              .reproducible = u->exact != NULL,
                              .number = (plane * u->extent[1] + y) * u->extent[0] + x,
                              .columns = u->extent[0],
                              .ahead = u->ahead};
    plane_coordinates(space, plane, c);
    for (int d = 0; d < META_KERNEL_DIMS; ++d) piece.index[d] = start_of(u, d) + c[d];
    for (uint32_t k = 0; k < s->arrays; ++k) {
        const meta_kernel_parameter *p = &u->kernel->parameter[s->order[k]];
        const meta_layout *layout = meta_call_layout(u->call, k);
        meta_i64 element = 0;
        for (meta_i64 d = 0; d < space->ndim; ++d) element += c[d] * layout->stride[d];
        s->argument[s->order[k]].at = s->home[k] + element * (meta_i64)p->bytes;
    }
    if (u->exact) run_in_pieces(s, &piece);
    else u->run(&piece);
}

/* ------------------------------------------------------------------ a thread's share */

/* Two cells that are further apart than this add to no element both. Counted in columns if @p d is
 * 0, else in rows or planes, numbered through. Of an array that lacks such a dimension any two may.
 */
static meta_i64 shared_distance(const user_call *u, int d)
{
    const meta_space *space = u->call->space;
    const meta_i64 last = d == 0 ? 1 : least(space->ndim, META_KERNEL_DIMS);
    const uint32_t counted = d == 0 ? 1 : (UINT32_MAX << d) & ~(UINT32_MAX << space->ndim);
    meta_i64 most = 0;
    for (uint32_t n = 0; n < u->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &u->kernel->parameter[n];
        meta_i64 distance = 0, step = 1;
        if (p->kind != META_PARAMETER_ADD) continue;
        if (p->reach == META_PARAMETER_WHOLE || p->dropped & counted) return INT64_MAX / 4;
        for (meta_i64 k = d; k < last; ++k) {
            distance += (p->low[k] + p->high[k]) * step;
            step *= space->extent[k];
        }
        if (distance > most) most = distance;
    }
    return most;
}

/* A thread's columns, rows or planes, and those of them that no other thread's cells add to: there
 * additions need not be atomic, which takes many times as long. */
typedef struct share {
    meta_i64 from, to, own_from, own_to;
} share;

static share share_of(const user_call *u, int d, meta_i64 total, int thread, int threads)
{
    if (threads == 1) return (share){.to = total, .own_to = total};
    const meta_i64 distance = shared_distance(u, d);
    meta_i64 part[2];
    openmp_share(total, thread, threads, part);
    return (share){.from = part[0],
                   .to = part[1],
                   .own_from = part[0] > 0 ? part[0] + distance : 0,
                   .own_to = part[1] < total ? part[1] - distance : total};
}

/* Decide for number @p n of the share. @return the first one for which it may differ */
static meta_i64 decide(sweep_state *s, const share *of, meta_i64 n)
{
    s->alone = n >= of->own_from && n < of->own_to;
    if (s->alone) return of->own_to;
    return n < of->own_from && of->own_from < of->own_to ? of->own_from : of->to;
}

static void run_teams(sweep_state *s, int thread, int threads)
{
    const user_call *u = s->u;
    openmp_team_share mine = {.call = u->call,
                              .kernel = u->kernel,
                              .run = u->run,
                              .argument = s->argument,
                              .home = s->home,
                              .order = s->order,
                              .arrays = s->arrays,
                              .exact = u->exact,
                              .sum = s->sum,
                              .contribution = s->contribution,
                              .sums = s->sums};
    for (int d = 0; d < META_KERNEL_DIMS; ++d) mine.start[d] = start_of(u, d);
    openmp_teams_run(&mine, thread, threads);
}

static void run_share(const user_call *u, int thread, int threads)
{
    const meta_i64 columns = u->extent[0], rows = u->extent[1], planes = u->extent[2];
    sweep_state s;
    begin(&s, u, thread);
    if (meta_kernel_team_of(u->kernel)) {
        run_teams(&s, thread, threads);
    } else if (planes >= threads) {
        const share of = share_of(u, 2, planes, thread, threads);
        for (meta_i64 y = 0; y < rows; y += u->block)
            for (meta_i64 z = of.from; z < of.to; ++z) {
                decide(&s, &of, z);
                run_piece(&s, 0, columns, y, least(u->block, rows - y), z);
            }
    } else if (rows * planes >= threads) {
        const share of = share_of(u, 1, rows * planes, thread, threads);
        for (meta_i64 n = of.from; n < of.to;) {
            const meta_i64 y = n % rows, count = least(rows - y, decide(&s, &of, n) - n);
            run_piece(&s, 0, columns, y, count, n / rows);
            n += count;
        }
    } else {
        const share of = share_of(u, 0, columns, thread, threads);
        for (meta_i64 z = 0; z < planes; ++z)
            for (meta_i64 x = of.from, next; x < of.to; x = next) {
                next = decide(&s, &of, x);
                run_piece(&s, x, next - x, 0, rows, z);
            }
    }
    for (uint32_t k = 0; k < s.sums; ++k) u->exact->end(s.sum[k]);
}

static void run_all(const user_call *u)
{
    const int threads = u->threads;
    if (threads == 1) {
        run_share(u, 0, 1);
        return;
    }
    /* `threads` shares, even if the runtime provides fewer threads. */
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k) run_share(u, k, threads);
}

/* ------------------------------------------------------------------ results */

/* What a result is before any cell has contributed to it. */
static void set_identity(char *line, const meta_result_desc *desc)
{
#define LIMITS(NAME, name, LOWEST, HIGHEST)                                                        \
    case META_##NAME:                                                                              \
        for (int k = 0; k < META_KERNEL_LANES; ++k)                                                \
            ((meta_##name *)(void *)line)[k] =                                                     \
                desc->combine == META_COMBINE_min ? (HIGHEST) : (LOWEST);                          \
        break;
    memset(line, 0, LINE);
    if (desc->combine == META_COMBINE_sum) return;
    if (meta_has_place(desc->combine)) {
        openmp_extreme_begin(line);
        return;
    }
    switch (desc->type) {
        LIMITS(F64, f64, -INFINITY, INFINITY)
        LIMITS(F32, f32, -INFINITY, INFINITY)
        LIMITS(I64, i64, INT64_MIN, INT64_MAX)
        LIMITS(U64, u64, 0, UINT64_MAX)
        LIMITS(I32, i32, INT32_MIN, INT32_MAX)
        LIMITS(U32, u32, 0, UINT32_MAX)
    default:
        break;
    }
#undef LIMITS
}

/* ------------------------------------------------------------------ calls */

/* How many rows of a plane are swept together: as many as fit half the cache with all planes that a
 * cell reaches. */
static meta_i64 block_rows(const meta_kernel *kernel, meta_i64 columns)
{
    meta_i64 bytes = 0;
    int reach = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (!meta_parameter_is_array(p) || p->kind == META_PARAMETER_SCALAR || p->dropped & 1)
            continue;
        reach |= p->low[2] | p->high[2];
        bytes += (1 + p->low[2] + p->high[2]) * (meta_i64)p->bytes;
    }
    const meta_i64 fit = reach ? stream_cache() / 2 / (bytes * columns) : INT64_MAX;
    return fit > FEW_ROWS ? fit : FEW_ROWS;
}

/* Whether memory is requested ahead: only where the next rows lie there, not other memory between
 * short pieces of long rows, and where calls have been faster with it. */
static access_trial begin_trial(const meta_call *call, const meta_kernel *kernel, int threads)
{
    const access_trial without = {0};
    const meta_space *space = call->space;
    const meta_i64 columns = space->extent[0], cells = space->rows * columns;
    meta_i64 bytes = 0;
    uint32_t array = 0;
    if (cells < WORTH_A_THREAD || columns < SHORT_ROW) return without;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (!meta_parameter_is_array(p)) continue;
        const meta_layout *layout = meta_call_layout(call, array++);
        if (p->kind == META_PARAMETER_SCALAR || p->reach == META_PARAMETER_WHOLE || p->dropped & 1)
            continue;
        if (space->ndim > 1 && layout->stride[1] > 2 * columns) return without;
        bytes += (meta_i64)p->bytes;
    }
    if (bytes == 0) return without;
    const reuse_of_call reuse = reuse_count(call, cells * bytes);
    /* Teams request nothing. */
    return meta_kernel_team_of(kernel) ? without : access_begin_user(call, reuse, threads);
}

static void combine_results(const user_call *u)
{
    for (uint32_t n = 0; n < u->call->desc->results; ++n) {
        const meta_result_desc *r = &u->call->desc->result[n];
        const int each = is_exact(u, n) ? 1 : META_KERNEL_LANES;
        if (meta_has_place(r->combine)) {
            openmp_extreme_combine(u->call, n, partial_of(u, n, 0), u->apart, u->threads);
            continue;
        }
        openmp_combine(openmp_finish_of(r->combine, r->type), partial_of(u, n, 0), u->apart,
                       (size_t)each * meta_partial_bytes(r->combine, r->type), u->threads, each,
                       &u->call->result[n]);
    }
}

meta_err openmp_user_run(const meta_call *call)
{
    _Alignas(LINE) char on_stack[16 * LINE];
    const meta_space *space = call->space;
    const openmp_kernel *kernel = openmp_kernel_of(call);
    const meta_i64 rows = space->ndim > 1 ? space->extent[1] : 1;
    const meta_i64 planes = space->ndim > 2 ? space->rows / rows : 1;
    const int threads = openmp_threads_for(space->rows * space->extent[0], WORTH_A_THREAD);
    const openmp_exact *exact = kernel->exact;
    const size_t apart = exact ? exact_bytes(exact) + contributions_bytes(kernel->user) : LINE;
    const size_t bytes = (size_t)threads * call->desc->results * apart;
    access_trial trial = {0};
    user_call u = {.call = call,
                   .kernel = kernel->user,
                   .run = kernel->cpu,
                   .exact = exact,
                   .extent = {space->extent[0], rows, planes},
                   .block = least(rows, block_rows(kernel->user, space->extent[0])),
                   .partials = on_stack,
                   .apart = apart,
                   .threads = threads};
    if (bytes > sizeof on_stack && !(u.partials = aligned_alloc(LINE, bytes)))
        return openmp_host->fail(META_ERR_NO_MEMORY,
                                 "the host has no memory for %d partial results", threads);
    for (uint32_t n = 0; n < call->desc->results; ++n)
        for (int k = 0; k < threads && !is_exact(&u, n); ++k)
            set_identity(partial_of(&u, n, k), &call->desc->result[n]);
    if (!exact) trial = begin_trial(call, kernel->user, threads);
    u.ahead = trial.way & SWEEP_REQUESTS ? AHEAD : 0;
    run_all(&u);
    access_end(&trial);
    combine_results(&u);
    if (u.partials != on_stack) free(u.partials);
    return META_OK;
}
