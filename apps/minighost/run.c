/* SPDX-License-Identifier: BSD-3-Clause */
/** @file run.c
 *  A run of MiniGhost: rounds of a spike and its time steps, with the check of every step. */
#include "config.h"

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "grid_io.h"
#include "report.h"
#include "solve.h"

typedef struct run {
    const problem *p;
    solver *s;
    double *cells;          /* one variable's array, on its way to or from the solver or a file */
    double *wanted;         /* the same of the expected grid */
    double *source;         /* of each variable: what should be there in all */
    double *flux;           /* what left the domain through this block's sides */
    double *local, *global; /* sums, fluxes and a failure's mark, before and after the reduction */
    void *sums;             /* of a time step, see solver_step() */
    bool *checked;          /* of each variable: in every time step */
    double tolerance, seconds;
} run;

static void *allocate(double count, size_t size)
{
    void *memory = count < 0x1p62 / (double)size ? calloc((size_t)count, size) : NULL;
    if (memory == NULL) failure_note_memory(count * (double)size);
    return memory;
}

static void create(run *r, const problem *p)
{
    const double variables = p->variables;
    *r = (run){.p = p, .tolerance = pow(10, -(double)p->o.error_tol)};
    r->cells = allocate((double)p->cells, sizeof(double));
    if (p->o.expect != NULL) r->wanted = allocate((double)p->cells, sizeof(double));
    r->source = allocate(variables, sizeof(double));
    r->flux = allocate(variables, sizeof(double));
    r->local = allocate(2 * variables + 1, sizeof(double));
    r->global = allocate(2 * variables + 1, sizeof(double));
    r->sums = allocate(variables * (p->terms + 1), sizeof(double));
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
    free(r->checked);
}

static double add_all(const problem *p, double value)
{
    double sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, p->cart);
    return sum;
}

static bool set_initial_grid(run *r)
{
    const problem *p = r->p;
    grid_file file;
    if (p->o.grid_in != NULL && !grid_open_input(&file, p, p->o.grid_in)) return false;
    for (int v = 0; v < p->variables; ++v) {
        if (p->o.grid_in != NULL) grid_read(&file, v, r->cells);
        else problem_fill(p, v, r->cells);
        r->source[v] = add_all(p, problem_sum(p, r->cells));
        problem_narrow(p, r->cells);
        solver_put(r->s, v, r->cells);
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

static double value_of(const run *r, int64_t index)
{
    const void *value = number_at(r->sums, index, r->p->type);
    if (r->p->type == NUMBER_F64) return *(const double *)value;
    return *(const float *)value;
}

/* The step's sums of all ranks, and whether one of them failed. */
static void collect(run *r)
{
    const problem *p = r->p;
    for (int v = 0; v < p->variables; ++v) {
        const int64_t first = (int64_t)v * (p->terms + 1);
        for (int t = 0; t < p->terms; ++t)
            r->flux[v] += value_of(r, first + t) * p->term[t].points / p->points;
        r->local[v] = r->checked[v] ? value_of(r, first + p->terms) : 0;
        r->local[p->variables + v] = r->flux[v];
    }
    r->local[2 * p->variables] = failure_seen();
    MPI_Allreduce(r->local, r->global, 2 * p->variables + 1, MPI_DOUBLE, MPI_SUM, p->cart);
}

static bool check_step(const run *r, int round, int64_t step)
{
    const options *o = &r->p->o;
    const bool reported = step % o->report_diffusion == 0 || step == o->num_tsteps;
    for (int v = 0; v < r->p->variables; ++v) {
        balance b;
        if (!r->checked[v]) continue;
        report_balance(&b, r->source[v], r->global[v], r->global[r->p->variables + v]);
        if (reported) report_step(r->p, round, step, v, &b);
        if (b.error <= r->tolerance) continue;
        report_above_tolerance(r->p, round, step, v, &b, r->tolerance);
        return false;
    }
    return true;
}

static int advance(run *r, int round)
{
    const problem *p = r->p;
    for (int64_t step = 1; step <= p->o.num_tsteps; ++step) {
        const double start = MPI_Wtime();
        solver_step(r->s, r->checked, r->sums);
        collect(r);
        r->seconds += MPI_Wtime() - start;
        if (r->global[2 * p->variables] != 0) return STATUS_UNUSABLE;
        if (p->points != 0 && !check_step(r, round, step)) return STATUS_WRONG;
    }
    return STATUS_RIGHT;
}

static int run_rounds(run *r)
{
    const int rounds = r->p->o.num_spikes > 0 ? (int)r->p->o.num_spikes : 1;
    int status = STATUS_RIGHT;
    report_columns(r->p);
    for (int round = 0; round < rounds && status == STATUS_RIGHT; ++round) {
        if (round < r->p->o.num_spikes) insert_spike(r, round);
        status = advance(r, round + 1);
    }
    if (status == STATUS_RIGHT) report_time(r->p, r->seconds, rounds * r->p->o.num_tsteps);
    return status;
}

static void get_cells(run *r, int variable)
{
    solver_get(r->s, variable, r->cells);
    problem_widen(r->p, r->cells);
}

/* On the host and in double, whatever the time steps did; all variables. */
static bool check_final_sums(run *r)
{
    bool right = true;
    for (int v = 0; v < r->p->variables; ++v) {
        balance b;
        get_cells(r, v);
        const double sum = add_all(r->p, problem_sum(r->p, r->cells));
        report_balance(&b, r->source[v], sum, add_all(r->p, r->flux[v]));
        report_final(r->p, v, &b);
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
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, p->cart);
    report_difference(p, p->o.expect, largest, limit);
    return largest <= limit ? STATUS_RIGHT : STATUS_WRONG;
}

static int finish(run *r)
{
    if (!check_final_sums(r)) return STATUS_WRONG;
    if (failure_agree(r->p->cart)) return STATUS_UNUSABLE;
    if (r->p->o.grid_out != NULL && !write_grid(r)) return STATUS_UNUSABLE;
    return r->p->o.expect != NULL ? compare_grid(r) : STATUS_RIGHT;
}

int run_problem(const problem *p)
{
    run r;
    int status = STATUS_UNUSABLE;
    create(&r, p);
    if (!failure_agree(p->cart)) {
        report_header(p);
        if (!failure_agree(p->cart) && set_initial_grid(&r)) status = run_rounds(&r);
        if (status == STATUS_RIGHT) status = finish(&r);
    }
    destroy(&r);
    if (failure_agree(p->cart)) status = STATUS_UNUSABLE;
    if (status != STATUS_UNUSABLE) report_verdict(p, status == STATUS_RIGHT);
    return status;
}
