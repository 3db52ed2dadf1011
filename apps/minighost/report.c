/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.c
 *  What a run prints, on rank 0. */
#include "config.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "failure.h"
#include "ranks.h"

static const char *const stencil_names[] = {"none, exchange only", "2D 5-point", "2D 9-point",
                                            "3D 7-point", "3D 27-point"};

static bool is_first(const problem *p)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    return rank == 0;
}

static void print_problem(const problem *p)
{
    const options *o = &p->o;
    printf("MiniGhost: %s %s\n", failure_program_name(), PACKAGE_VERSION);
    printf("  grid          %" PRId64 " x %" PRId64 " x %" PRId64 " cells, %d %s, %s\n",
           p->global[0], p->global[1], p->global[2], p->variables,
           p->variables == 1 ? "variable" : "variables", number_name(p->type));
    printf("  process grid  %" PRId64 " x %" PRId64 " x %" PRId64 "\n", o->np[0], o->np[1],
           o->np[2]);
    printf("  stencil       %" PRId64 ", %s\n", o->stencil,
           stencil_names[o->stencil - STENCIL_NONE]);
    printf("  exchange      %" PRId64 ", %s\n", o->comm_method,
           o->comm_method == METHOD_BSPMA ? "BSPMA" : "SVAF");
    printf("  initial grid  %s\n", o->grid_in != NULL ? o->grid_in
                                   : o->debug_grid    ? "zero"
                                                      : "random");
    printf("  spikes        %" PRId64 "\n", o->num_spikes);
    printf("  time steps    %" PRId64 "%s\n", o->num_tsteps,
           o->num_spikes > 1 ? " after each spike" : "");
}

void report_header(const problem *p)
{
    if (is_first(p)) print_problem(p);
    ranks_print(p->cart);
}

void report_balance(balance *b, double source, double sum, double flux)
{
    const double difference = fabs(source - (sum + flux));
    *b = (balance){source, sum, flux, source != 0 ? difference / fabs(source) : difference};
}

void report_columns(const problem *p)
{
    if (is_first(p))
        printf("%5s %8s %8s  %24s %24s %10s\n", "spike", "step", "variable", "grid sum", "flux out",
               "error");
}

void report_step(const problem *p, int round, int64_t step, int variable, const balance *b)
{
    if (!is_first(p)) return;
    printf("%5d %8" PRId64 " %8d  %24.17g %24.17g %10.2e\n", round, step, variable + 1, b->sum,
           b->flux, b->error);
    fflush(stdout);
}

void report_above_tolerance(const problem *p, int round, int64_t step, int variable,
                            const balance *b, double tolerance)
{
    if (!is_first(p)) return;
    printf("time step %" PRId64 " of spike %d, variable %d: grid sum %.17g and flux %.17g, but the "
           "source total is %.17g; the error %.2e is above the tolerance %.0e\n",
           step, round, variable + 1, b->sum, b->flux, b->source, b->error, tolerance);
}

void report_time(const problem *p, double seconds, int64_t steps)
{
    const double cells = (double)p->global[0] * (double)p->global[1] * (double)p->global[2];
    if (!is_first(p)) return;
    printf("\n%.6f s for %" PRId64 " time steps: %.3f ms each, %.1f million cells per second\n\n",
           seconds, steps, 1e3 * seconds / (double)steps,
           1e-6 * cells * p->variables * (double)steps / seconds);
}

void report_final(const problem *p, int variable, const balance *b)
{
    if (!is_first(p)) return;
    printf("variable %d: source total %.17g, final grid sum %.17g, flux out %.17g, error %.2e\n",
           variable + 1, b->source, b->sum, b->flux, b->error);
}

void report_difference(const problem *p, const char *path, double difference, double limit)
{
    if (is_first(p))
        printf("largest difference to %s: %.3e (limit %.0e)\n", path, difference, limit);
}

void report_verdict(const problem *p, bool right)
{
    if (!is_first(p)) return;
    printf("%s\n", right ? "PASS" : "FAIL");
    fflush(stdout);
}
