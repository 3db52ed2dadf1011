/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.c
 *  The report of a run: printed by rank 0, and complete in the --json file. */
#include "config.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "failure.h"
#include "output.h"
#include "progress.h"
#include "ranks.h"

static const char *const stencil_names[] = {"none, exchange only", "2D 5-point", "2D 9-point",
                                            "3D 7-point", "3D 27-point"};

static bool in_file(const report *r)
{
    return r->j.to != NULL;
}

static const char *stencil_name(const options *o)
{
    return stencil_names[o->stencil - STENCIL_NONE];
}

static const char *kernel_name(const options *o)
{
    return o->reference ? "reference" : "fast";
}

static const char *method_name(const options *o)
{
    return o->comm_method == METHOD_BSPMA ? "BSPMA" : "SVAF";
}

static const char *blocks_name(const options *o)
{
    static const char *const names[] = {"even", "by trial",
                                        "by trial, cut anew where that pays"};
    return names[o->balance];
}

static const char *initial_grid(const options *o, const checkpoint *from)
{
    if (from != NULL) return from->path;
    return o->grid_in != NULL ? o->grid_in : o->debug_grid ? "zero" : "random";
}

static void print_problem(const problem *p, const checkpoint *from)
{
    const options *o = &p->o;
    printf("MiniGhost: %s %s\n", failure_program_name(), PACKAGE_VERSION);
    printf("  grid          %" PRId64 " x %" PRId64 " x %" PRId64 " cells, %d %s, %s\n",
           p->global[0], p->global[1], p->global[2], p->variables,
           p->variables == 1 ? "variable" : "variables", number_name(p->type));
    printf("  process grid  %" PRId64 " x %" PRId64 " x %" PRId64 "\n", o->np[0], o->np[1],
           o->np[2]);
    printf("  stencil       %" PRId64 ", %s\n", o->stencil, stencil_name(o));
    printf("  kernel        %s\n", kernel_name(o));
    printf("  exchange      %" PRId64 ", %s\n", o->comm_method, method_name(o));
    printf("  blocks        %s\n", blocks_name(o));
    printf("  initial grid  %s\n", initial_grid(o, from));
    if (from != NULL)
        printf("                after spike %" PRId64 ", time step %" PRId64 "\n", from->is.round,
               from->is.step);
    printf("  spikes        %" PRId64 "\n", o->num_spikes);
    printf("  time steps    %" PRId64 "%s\n", o->num_tsteps,
           o->num_spikes > 1 ? " after each spike" : "");
}

static void put_three(json *j, const char *key, const int64_t *numbers)
{
    json_open(j, key, '[');
    for (int d = 0; d < 3; ++d) json_number(j, NULL, numbers[d]);
    json_close(j, ']');
}

static void put_problem(json *j, const problem *p, const checkpoint *from)
{
    const options *o = &p->o;
    json_string(j, "program", failure_program_name());
    json_string(j, "version", PACKAGE_VERSION);
    put_three(j, "grid", p->global);
    put_three(j, "process_grid", o->np);
    json_string(j, "scaling", o->scaling == SCALING_STRONG ? "strong" : "weak");
    json_number(j, "variables", p->variables);
    json_string(j, "type", number_name(p->type));
    json_number(j, "stencil", o->stencil);
    json_string(j, "stencil_name", stencil_name(o));
    json_string(j, "kernel", kernel_name(o));
    json_number(j, "exchange", o->comm_method);
    json_string(j, "exchange_name", method_name(o));
    json_string(j, "balance", options_balance_name(o->balance));
    json_string(j, "initial_grid", initial_grid(o, from));
    if (from != NULL) {
        json_open(j, "restarted_after", '{');
        json_number(j, "spike", from->is.round);
        json_number(j, "step", from->is.step);
        json_close(j, '}');
    }
    json_number(j, "spikes", o->num_spikes);
    json_number(j, "time_steps_of_a_round", o->num_tsteps);
    json_number(j, "percent_sum", o->percent_sum);
    json_number(j, "error_tol", o->error_tol);
}

static void open_file(report *r)
{
    if (!r->first || r->p->o.json == NULL) return;
    r->j.to = open_memstream(&r->text, &r->size);
    if (in_file(r)) json_open(&r->j, NULL, '{');
    else failure_note_memory(1024);
}

static int64_t cells_of(const problem *p, int rank)
{
    int64_t first[3], cells[3];
    problem_block(p, rank, first, cells);
    return cells[0] * cells[1] * cells[2];
}

static double share_of(const problem *p, int64_t cells)
{
    return (double)cells / ((double)p->global[0] * (double)p->global[1] * (double)p->global[2]);
}

static void fill_cells(const problem *p, rank_row *row, int ranks)
{
    for (int k = 0; k < ranks; ++k) {
        row[k].cells = cells_of(p, k);
        row[k].share = share_of(p, row[k].cells);
    }
}

void report_begin(report *r, const problem *p, const checkpoint *from)
{
    int rank, ranks;
    *r = (report){.p = p};
    MPI_Comm_rank(p->cart, &rank);
    MPI_Comm_size(p->cart, &ranks);
    r->first = rank == 0;
    open_file(r);
    if (r->first) print_problem(p, from);
    if (in_file(r)) put_problem(&r->j, p, from);
    rank_row *row = ranks_gather(p->cart, NULL);
    if (row != NULL) fill_cells(p, row, ranks);
    if (row != NULL) ranks_print_table(row, ranks, false);
    if (row != NULL && in_file(r)) ranks_json(&r->j, row, ranks, false);
    free(row);
}

/* The sections of the file that follow the time steps. */
static void end_listing(report *r)
{
    if (r->listing) json_close(&r->j, ']');
    r->listing = false;
}

void report_end(report *r, bool complete)
{
    if (in_file(r)) {
        const bool right = !ferror(r->j.to);
        if (fclose(r->j.to) != 0 || !right) failure_note_memory((double)r->size);
        else if (complete) output_whole("--json", r->p->o.json, r->text, r->size);
    }
    free(r->text);
    *r = (report){.p = r->p, .first = r->first};
}

void report_balance(balance *b, double source, double sum, double flux)
{
    const double difference = fabs(source - (sum + flux));
    *b = (balance){source, sum, flux, source != 0 ? difference / fabs(source) : difference};
}

static void put_balance(json *j, const balance *b)
{
    json_exact(j, "source_total", b->source);
    json_exact(j, "grid_sum", b->sum);
    json_exact(j, "flux_out", b->flux);
    json_exact(j, "error", b->error);
}

static void put_place(json *j, int round, int64_t step, int variable)
{
    json_number(j, "spike", round);
    json_number(j, "step", step);
    json_number(j, "variable", variable + 1);
}

void report_columns(report *r)
{
    if (!r->first) return;
    printf("%5s %8s %8s  %24s %24s %10s\n", "spike", "step", "variable", "grid sum", "flux out",
           "error");
    if (in_file(r)) json_open(&r->j, "steps", '[');
    r->listing = in_file(r);
}

void report_step(report *r, int round, int64_t step, int variable, const balance *b)
{
    if (!r->first) return;
    progress_clear();
    printf("%5d %8" PRId64 " %8d  %24.17g %24.17g %10.2e\n", round, step, variable + 1, b->sum,
           b->flux, b->error);
    fflush(stdout);
    if (!in_file(r)) return;
    json_open(&r->j, NULL, '{');
    put_place(&r->j, round, step, variable);
    put_balance(&r->j, b);
    json_close(&r->j, '}');
}

void report_above_tolerance(report *r, int round, int64_t step, int variable, const balance *b,
                            double tolerance)
{
    if (!r->first) return;
    progress_clear();
    printf("time step %" PRId64 " of spike %d, variable %d: grid sum %.17g and flux %.17g, but the "
           "source total is %.17g; the error %.2e is above the tolerance %.0e\n",
           step, round, variable + 1, b->sum, b->flux, b->source, b->error, tolerance);
    if (!in_file(r)) return;
    end_listing(r);
    json_open(&r->j, "above_tolerance", '{');
    put_place(&r->j, round, step, variable);
    put_balance(&r->j, b);
    json_exact(&r->j, "tolerance", tolerance);
    json_close(&r->j, '}');
}

void report_time(report *r, double seconds, int64_t steps)
{
    const problem *p = r->p;
    const double cells = (double)p->global[0] * (double)p->global[1] * (double)p->global[2];
    const double rate = cells * p->variables * (double)steps / seconds;
    if (!r->first) return;
    if (steps == 0) {
        printf("\nno time step was left\n\n");
        return;
    }
    printf("\n%.6f s for %" PRId64 " time steps: %.3f ms each, %.1f million cells per second\n\n",
           seconds, steps, 1e3 * seconds / (double)steps, 1e-6 * rate);
    if (!in_file(r)) return;
    end_listing(r);
    json_open(&r->j, "time", '{');
    json_exact(&r->j, "seconds", seconds);
    json_number(&r->j, "time_steps", steps);
    json_exact(&r->j, "seconds_of_a_step", seconds / (double)steps);
    json_exact(&r->j, "cells_per_second", rate);
    json_close(&r->j, '}');
}

static void put_moves(json *j, const balancing *b)
{
    static const char *const axes[] = {"x", "y", "z"};
    const problem *p = b->p;
    json_open(j, "balance_moves", '{');
    json_number(j, "moves", b->moves);
    json_exact(j, "seconds", b->seconds);
    for (int d = 0; d < 3; ++d) {
        json_open(j, axes[d], '[');
        for (int64_t k = 0; k <= p->o.np[d]; ++k) json_number(j, NULL, p->cut[d][k]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

void report_moves(report *r, const balancing *b)
{
    int ranks;
    if (!r->first || r->p->o.balance != BALANCE_DYNAMIC) return;
    MPI_Comm_size(r->p->cart, &ranks);
    printf("cells were moved %" PRId64 " %s, in %.6f s besides\n", b->moves,
           b->moves == 1 ? "time" : "times", b->seconds);
    for (int k = 0; k < ranks && b->moves > 0; ++k) {
        const int64_t cells = cells_of(r->p, k);
        printf("  rank %d: %" PRId64 " cells, %.1f %%\n", k, cells, 100 * share_of(r->p, cells));
    }
    printf("\n");
    if (in_file(r)) put_moves(&r->j, b);
}

void report_checkpoints(report *r, const checkpoints *w)
{
    if (!r->first || w->written + w->failed == 0) return;
    printf("checkpoints: %" PRId64 " written", w->written);
    if (w->last != NULL) printf(", the last one is %s", w->last);
    if (w->failed > 0) printf("; %" PRId64 " could not be written", w->failed);
    printf("\n\n");
    if (!in_file(r)) return;
    end_listing(r);
    json_open(&r->j, "checkpoints", '{');
    json_number(&r->j, "written", w->written);
    json_number(&r->j, "failed", w->failed);
    json_string(&r->j, "last", w->last);
    json_close(&r->j, '}');
}

void report_snapshots(report *r, const snapshots *s)
{
    if (!r->first || s->written + s->failed == 0) return;
    printf("snapshots: %" PRId64 " written", s->written);
    if (s->written > 0) printf(", the last one after time step %" PRId64, s->last);
    if (s->failed > 0) printf("; %" PRId64 " could not be written", s->failed);
    printf("\n\n");
    if (!in_file(r)) return;
    end_listing(r);
    json_open(&r->j, "snapshots", '{');
    json_number(&r->j, "written", s->written);
    json_number(&r->j, "failed", s->failed);
    json_number(&r->j, "last_step", s->last);
    json_close(&r->j, '}');
}

void report_perf(report *r, const perf *f)
{
    if (!r->first) return;
    perf_text(f, stdout);
    perf_files(f);
    if (in_file(r)) perf_json(f, &r->j);
}

void report_final(report *r, int variable, const balance *b)
{
    if (!r->first) return;
    printf("variable %d: source total %.17g, final grid sum %.17g, flux out %.17g, error %.2e\n",
           variable + 1, b->source, b->sum, b->flux, b->error);
    if (!in_file(r)) return;
    if (variable == 0) json_open(&r->j, "final", '[');
    json_open(&r->j, NULL, '{');
    json_number(&r->j, "variable", variable + 1);
    put_balance(&r->j, b);
    json_close(&r->j, '}');
    if (variable == r->p->variables - 1) json_close(&r->j, ']');
}

void report_difference(report *r, const char *path, double difference, double limit)
{
    if (!r->first) return;
    printf("largest difference to %s: %.3e (limit %.0e)\n", path, difference, limit);
    if (!in_file(r)) return;
    json_open(&r->j, "expected", '{');
    json_string(&r->j, "file", path);
    json_exact(&r->j, "largest_difference", difference);
    json_exact(&r->j, "limit", limit);
    json_close(&r->j, '}');
}

void report_result(report *r, bool right)
{
    if (!in_file(r)) return;
    end_listing(r);
    json_bool(&r->j, "pass", right);
    json_close(&r->j, '}');
}

void report_verdict(const report *r, bool right)
{
    if (!r->first) return;
    printf("%s\n", right ? "PASS" : "FAIL");
    fflush(stdout);
}
