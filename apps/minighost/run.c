/* SPDX-License-Identifier: BSD-3-Clause */
/** @file run.c
 *  A run of MiniGhost: rounds of one spike and its time steps, with a check of every step. */
#include "config.h"

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "failure.h"
#include "grid_io.h"
#include "laps.h"
#include "progress.h"
#include "report.h"
#include "solve.h"
#include "watch.h"

typedef struct run {
    const problem *p;
    checkpoint *from; /* NULL where the run begins at the beginning */
    solver *s;
    double *cells;          /* one variable's array, on its way to or from the solver or a file */
    double *wanted;         /* the same of the expected grid */
    double *source;         /* of each variable: what should be there in all */
    double *flux;           /* and what has left the domain */
    double *local, *global; /* sums, fluxes and a failure's mark, before and after the reduction */
    void *sums, *totals;    /* of a time step, see solver_step(); of all ranks, if reproducible */
    bool reproducible;      /* see solver_reproducible() */
    bool *checked;          /* of each variable: in every time step */
    double tolerance, seconds;
    int64_t steps; /* that these are for */
    report report;
    checkpoints written;
    snapshots seen;
    balancing balancing;
} run;

static void *allocate(double count, size_t size)
{
    void *memory = count < 0x1p62 / (double)size ? calloc((size_t)count, size) : NULL;
    if (memory == NULL) failure_note_memory(count * (double)size);
    return memory;
}

/* What is as large as the block. */
static void create_cells(run *r)
{
    const problem *p = r->p;
    free(r->cells);
    free(r->wanted);
    r->wanted = NULL;
    r->cells = allocate((double)p->cells, sizeof(double));
    if (p->o.expect != NULL) r->wanted = allocate((double)p->cells, sizeof(double));
}

static void create(run *r, problem *p, checkpoint *from)
{
    const double variables = p->variables;
    *r = (run){.p = p, .from = from, .tolerance = pow(10, -(double)p->o.error_tol)};
    create_cells(r);
    balance_begin(&r->balancing, p);
    r->source = allocate(variables, sizeof(double));
    r->flux = allocate(variables, sizeof(double));
    r->local = allocate(2 * variables + 1, sizeof(double));
    r->global = allocate(2 * variables + 1, sizeof(double));
    r->sums = allocate(variables * (p->terms + 1), sizeof(double));
    r->reproducible = solver_reproducible();
    if (r->reproducible) r->totals = allocate(variables * (p->terms + 1), sizeof(double));
    r->checked = allocate(variables, sizeof(bool));
    if (failure_agree(p->cart)) return;
    for (int v = 0; v < p->variables; ++v) r->checked[v] = problem_checks(p, v);
    r->s = solver_create(p);
}

static void destroy(run *r)
{
    if (r->s != NULL) solver_free(r->s);
    free(r->cells);
    free(r->wanted);
    free(r->source);
    free(r->flux);
    free(r->local);
    free(r->global);
    free(r->sums);
    free(r->totals);
    free(r->checked);
    balance_end(&r->balancing);
    checkpoints_end(&r->written);
}

static double add_all(const problem *p, double value)
{
    double sum;
    watch_begin("differences are added");
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, p->cart);
    watch_end();
    return sum;
}

static double value_of(const run *r, const void *sums, int64_t index)
{
    const void *value = number_at((void *)(uintptr_t)sums, index, r->p->type);
    if (r->p->type == NUMBER_F64) return *(const double *)value;
    return *(const float *)value;
}

/* What is in a variable's grid, in all ranks. */
static double total_of(run *r, int variable)
{
    const problem *p = r->p;
    if (!r->reproducible) return add_all(p, problem_sum(p, r->cells));
    solver_sum(r->s, variable, r->sums);
    solver_add_ranks(r->totals, r->sums, 1, p->type);
    return value_of(r, r->totals, 0);
}

static void get_variable(void *context, int variable, void *cells)
{
    const run *r = context;
    solver_get(r->s, variable, cells);
}

static bool set_saved_grid(run *r)
{
    for (int v = 0; v < r->p->variables; ++v) {
        r->source[v] = r->from->source[v];
        r->flux[v] = r->from->flux[v];
    }
    return checkpoint_read(r->from, r->p, r->cells, r->s);
}

static bool set_initial_grid(run *r)
{
    const problem *p = r->p;
    grid_file file;
    if (p->o.grid_in != NULL && !grid_open_input(&file, p, p->o.grid_in)) return false;
    for (int v = 0; v < p->variables; ++v) {
        if (p->o.grid_in != NULL) grid_read(&file, v, r->cells);
        else problem_fill(p, v, r->cells);
        if (!r->reproducible) r->source[v] = total_of(r, v);
        problem_narrow(p, r->cells);
        solver_put(r->s, v, r->cells);
        if (r->reproducible) r->source[v] = total_of(r, v);
    }
    return p->o.grid_in != NULL ? grid_close(&file) : !failure_agree(p->cart);
}

static void insert_spike(run *r, int spike)
{
    const problem *p = r->p;
    for (int v = 0; v < p->variables; ++v) {
        int64_t place;
        const double value = problem_spike(p, spike, v, &place);
        r->source[v] += value;
        if (place < 0) continue;
        solver_get(r->s, v, r->cells);
        problem_widen(p, r->cells);
        r->cells[place] += value;
        problem_narrow(p, r->cells);
        solver_put(r->s, v, r->cells);
    }
}

/* The sums, and the fluxes made of them, in the order of the variables. */
static void take_sums(const run *r, const void *sums, double *taken)
{
    const problem *p = r->p;
    for (int v = 0; v < p->variables; ++v) {
        const int64_t first = (int64_t)v * (p->terms + 1);
        double flux = 0;
        for (int t = 0; t < p->terms; ++t)
            flux += value_of(r, sums, first + t) * p->term[t].points / p->points;
        taken[v] = r->checked[v] ? value_of(r, sums, first + p->terms) : 0;
        taken[p->variables + v] = flux;
    }
}

/* The step's sums of all ranks, and whether one of them failed. */
static void collect(run *r)
{
    const problem *p = r->p;
    const int failure = 2 * p->variables;
    r->local[failure] = failure_seen();
    if (r->reproducible) {
        solver_add_ranks(r->totals, r->sums, (int64_t)p->variables * (p->terms + 1), p->type);
        take_sums(r, r->totals, r->global);
        r->global[failure] = add_all(p, r->local[failure]);
    } else {
        take_sums(r, r->sums, r->local);
        solver_add_ranks(r->global, r->local, failure + 1, NUMBER_F64);
    }
    for (int v = 0; v < p->variables; ++v) r->flux[v] += r->global[p->variables + v];
}

static bool check_step(run *r, int round, int64_t step)
{
    const options *o = &r->p->o;
    const bool reported =
        step == o->num_tsteps || (o->report_diffusion > 0 && step % o->report_diffusion == 0);
    for (int v = 0; v < r->p->variables; ++v) {
        balance b;
        if (!r->checked[v]) continue;
        report_balance(&b, r->source[v], r->global[v], r->flux[v]);
        if (reported) report_step(&r->report, round, step, v, &b);
        if (b.error <= r->tolerance) continue;
        report_above_tolerance(&r->report, round, step, v, &b, r->tolerance);
        return false;
    }
    return true;
}

/* Time steps of the run before this round: those of a checkpoint may have had another number. */
static int64_t steps_before(const run *r, int round)
{
    const int first = r->from != NULL ? (int)r->from->is.round : 1;
    const int64_t before = r->from != NULL ? r->from->is.before : 0;
    return before + (round - first) * r->p->o.num_tsteps;
}

static void save(run *r, int round, int64_t step)
{
    const int64_t interval = r->p->o.checkpoint_interval;
    if (interval == 0 || step % interval != 0) return;
    progress_clear();
    checkpoints_write(&r->written, round, step, steps_before(r, round), r->source, r->flux, r->s);
}

static void look(run *r, int round, int64_t step)
{
    snapshots_take(&r->seen, round, step, steps_before(r, round),
                   &(grid_source){r->cells, get_variable, r});
}

/* Time steps of the run that follow this one. */
static int64_t steps_left(const run *r, int round, int64_t step)
{
    const options *o = &r->p->o;
    const int64_t rounds = o->num_spikes > round ? o->num_spikes - round : 0;
    return o->num_tsteps - step + rounds * o->num_tsteps;
}

/* Cells to where they are computed fastest. */
static bool rebalance(run *r, int round, int64_t step)
{
    if (!balance_after(&r->balancing, r->s, steps_left(r, round, step))) return true;
    create_cells(r);
    return !failure_agree(r->p->cart);
}

static int advance(run *r, int round, int64_t first)
{
    const problem *p = r->p;
    for (int64_t step = first; step <= p->o.num_tsteps; ++step) {
        const double start = MPI_Wtime();
        laps_resume();
        balance_before(&r->balancing);
        solver_step(r->s, r->checked, r->sums);
        collect(r);
        lap(LAP_SUM);
        r->seconds += MPI_Wtime() - start;
        ++r->steps;
        if (r->global[2 * p->variables] != 0) return STATUS_UNUSABLE;
        if (p->points != 0 && !check_step(r, round, step)) return STATUS_WRONG;
        if (!rebalance(r, round, step)) return STATUS_UNUSABLE;
        progress_step(r->steps, round, step);
        save(r, round, step);
        look(r, round, step);
    }
    return STATUS_RIGHT;
}

/* A round is a spike, if there is one, and its time steps. */
static int run_round(run *r, int round)
{
    const bool resumed = r->from != NULL && round == r->from->is.round;
    if (resumed) return advance(r, round, r->from->is.step + 1);
    if (round <= r->p->o.num_spikes) insert_spike(r, round - 1);
    look(r, round, 0);
    return advance(r, round, 1);
}

static int run_rounds(run *r)
{
    const options *o = &r->p->o;
    const int rounds = o->num_spikes > 0 ? (int)o->num_spikes : 1;
    const int first = r->from != NULL ? (int)r->from->is.round : 1;
    int status = STATUS_RIGHT;
    report_columns(&r->report);
    laps_begin(o->report_perf > 0, solver_wait);
    progress_begin(r->p,
                   (rounds - first + 1) * o->num_tsteps - (r->from != NULL ? r->from->is.step : 0));
    for (int round = first; round <= rounds && status == STATUS_RIGHT; ++round)
        status = run_round(r, round);
    progress_end();
    laps_stop();
    if (status == STATUS_RIGHT) report_time(&r->report, r->seconds, r->steps);
    if (status == STATUS_RIGHT) report_moves(&r->report, &r->balancing);
    return status;
}

static void report_performance(run *r)
{
    perf f;
    if (r->p->o.report_perf == 0 || r->steps == 0) return;
    if (!perf_gather(&f, r->p, r->seconds, r->steps)) return;
    report_perf(&r->report, &f);
    perf_free(&f);
}

static void get_cells(run *r, int variable)
{
    solver_get(r->s, variable, r->cells);
    problem_widen(r->p, r->cells);
}

/* All variables; on the host and in double, whatever the time steps did, unless reproducible. */
static bool check_final_sums(run *r)
{
    bool right = true;
    for (int v = 0; v < r->p->variables; ++v) {
        balance b;
        get_cells(r, v);
        const double sum = total_of(r, v);
        report_balance(&b, r->source[v], sum, r->flux[v]);
        report_final(&r->report, v, &b);
        right = right && b.error <= r->tolerance;
    }
    return right;
}

static bool write_grid(run *r)
{
    grid_file file;
    if (!grid_open_output(&file, r->p, r->p->o.grid_out)) return false;
    for (int v = 0; v < r->p->variables; ++v) {
        get_cells(r, v);
        grid_write(&file, v, r->cells);
    }
    return grid_close(&file);
}

static double difference(const problem *p, const double *a, const double *b)
{
    double largest = 0;
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z)
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y)
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x) {
                const int64_t i = (z * p->size[1] + y) * p->size[0] + x;
                double d = fabs(a[i] - b[i]);
                if (b[i] != 0) d /= fabs(b[i]);
                if (isnan(d)) d = INFINITY;
                if (d > largest) largest = d;
            }
    return largest;
}

static int compare_grid(run *r)
{
    const problem *p = r->p;
    const double limit = p->type == NUMBER_F32 ? 1e-5 : 1e-12;
    double mine = 0, largest;
    grid_file file;
    if (!grid_open_input(&file, p, p->o.expect)) return STATUS_UNUSABLE;
    for (int v = 0; v < p->variables; ++v) {
        grid_read(&file, v, r->wanted);
        get_cells(r, v);
        const double d = difference(p, r->cells, r->wanted);
        if (d > mine) mine = d;
    }
    if (!grid_close(&file)) return STATUS_UNUSABLE;
    watch_begin("differences are compared");
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, p->cart);
    watch_end();
    report_difference(&r->report, p->o.expect, largest, limit);
    return largest <= limit ? STATUS_RIGHT : STATUS_WRONG;
}

static int finish(run *r)
{
    report_performance(r);
    if (!check_final_sums(r)) return STATUS_WRONG;
    if (failure_agree(r->p->cart)) return STATUS_UNUSABLE;
    if (r->p->o.grid_out != NULL && !write_grid(r)) return STATUS_UNUSABLE;
    return r->p->o.expect != NULL ? compare_grid(r) : STATUS_RIGHT;
}

/* The file of --json is complete before the last line is printed. */
static int conclude(run *r, int status)
{
    if (status != STATUS_UNUSABLE) report_result(&r->report, status == STATUS_RIGHT);
    report_end(&r->report, status != STATUS_UNUSABLE);
    if (failure_agree(r->p->cart)) status = STATUS_UNUSABLE;
    if (status != STATUS_UNUSABLE) report_verdict(&r->report, status == STATUS_RIGHT);
    return status;
}

static int start_and_run(run *r)
{
    const problem *p = r->p;
    checkpoints_begin(&r->written, p);
    snapshots_begin(&r->seen, p);
    if (failure_agree(p->cart)) return STATUS_UNUSABLE;
    report_begin(&r->report, p, r->from);
    if (failure_agree(p->cart)) return STATUS_UNUSABLE;
    if (!(r->from != NULL ? set_saved_grid(r) : set_initial_grid(r))) return STATUS_UNUSABLE;
    int status = run_rounds(r);
    report_checkpoints(&r->report, &r->written);
    report_snapshots(&r->report, &r->seen);
    if (status == STATUS_RIGHT) status = finish(r);
    return status;
}

int run_problem(problem *p, checkpoint *from)
{
    run r;
    int status = STATUS_UNUSABLE;
    create(&r, p, from);
    if (!failure_agree(p->cart)) status = start_and_run(&r);
    destroy(&r);
    if (failure_agree(p->cart)) status = STATUS_UNUSABLE;
    return conclude(&r, status);
}
