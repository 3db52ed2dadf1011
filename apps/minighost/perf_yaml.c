/* SPDX-License-Identifier: BSD-3-Clause */
/** @file perf_yaml.c
 *  results.yaml: the statistics of --report_perf under the keys of MiniGhost 1.0. */
#include "config.h"

#include <inttypes.h>
#include <time.h>

#include "failure.h"
#include "perf.h"

static void print_problem(const perf *f, FILE *to)
{
    static const char *const computations[] = {
        "None", "5-point difference stencil on a 2D grid (STENCIL_2D5PT)",
        "9-point difference stencil on a 2D grid (STENCIL_2D9PT)",
        "7-point difference stencil on a 3D grid (STENCIL_3D7PT)",
        "27-point difference stencil on a 3D grid (STENCIL_3D27PT)"};
    const problem *p = f->p;
    const char *const methods[] = {"full message aggregation (COMM_METHOD_BSPMA)",
                                   "one variable at a time (COMM_METHOD_SVAF)"};
    fprintf(to, "code: %s\nversion: %s\n", failure_program_name(), PACKAGE_VERSION);
    fprintf(to, "Comm_strategy: %s\n", methods[p->o.comm_method - METHOD_BSPMA]);
    fprintf(to, "Computation: %s\n", computations[p->o.stencil - STENCIL_NONE]);
    fprintf(to, "Boundary_conditions: Dirichlet\n");
    for (int d = 0; d < 3; ++d)
        fprintf(to, "Global_Grid_%c: %" PRId64 "\n", "XYZ"[d], p -> global[d]);
    for (int d = 0; d < 3; ++d)
        fprintf(to, "Local_Grid_%c: %" PRId64 "\n", "XYZ"[d], p -> own.end[d] - p->own.start[d]);
    fprintf(to, "Number_variables: %d\nNumber_reduced: %d\nPercent_reduced: %" PRId64 "\n",
            p->variables, f->checked, p->o.percent_sum);
    fprintf(to, "Time_steps: %" PRId64 "\n", p->o.num_tsteps);
    for (int d = 0; d < 3; ++d) fprintf(to, "Task_grid_%c: %" PRId64 "\n", "XYZ"[d], p -> o.np[d]);
    fprintf(to, "Scaling: %s\n", p->o.scaling == SCALING_STRONG ? "strong" : "weak");
}

static void print_place(const perf *f, FILE *to)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "", text[2][16] = {"", ""};
    struct tm now;
    int length;
    const time_t seconds = time(NULL);
    MPI_Get_processor_name(host, &length);
    if (localtime_r(&seconds, &now) != NULL) {
        strftime(text[0], sizeof text[0], "%H%M%S", &now);
        strftime(text[1], sizeof text[1], "%Y%m%d", &now);
    }
    fprintf(to, "processes: %d\nmachine: %s\n", f->ranks, host);
    fprintf(to, "Program_execution_at: %s\nProgram_execution_date: %s\n", text[0], text[1]);
    fprintf(to, "Total_time: %.6E\nclock_resolution: %.6E\n", perf_seconds(f).most, MPI_Wtick());
}

static void print_computation(const perf *f, FILE *to)
{
    const spread stencil = perf_laps(f, PERF_PART(LAP_STENCIL) | PERF_PART(LAP_BOUNDARY));
    const spread boundary = perf_laps(f, PERF_PART(LAP_BOUNDARY));
    const double seconds = perf_seconds(f).most, giga = 1e-9 * perf_operations(f);
    if (f->p->points == 0) return;
    fprintf(to, "Error_tolerance: 1.0E-%" PRId64 "\n", f->p->o.error_tol);
    fprintf(to, "Comp_time_ave: %.6E\nComp_time_min: %.6E\nComp_time_max: %.6E\n", stencil.average,
            stencil.least, stencil.most);
    fprintf(to, "BC_time_ave: %.6E\nBC_time_min: %.6E\nBC_time_max: %.6E\n", boundary.average,
            boundary.least, boundary.most);
    fprintf(to, "GFLOPS_Total: %.3E\nGFLOPS_per_process: %.3E\n", giga / seconds,
            giga / seconds / f->ranks);
    fprintf(to, "GFLOPS_stencil_Total: %.3E\nGFLOPS_stencil_per_process: %.3E\n",
            giga / (seconds - boundary.most), giga / (seconds - boundary.most) / f->ranks);
    fprintf(to, "FLOPS_Total: %.3E\nFLOPS_Sums: %.3E\nFLOPS_Divide: %.3E\n", perf_operations(f),
            perf_operations(f) - perf_divisions(f), perf_divisions(f));
    fprintf(to, "Number_spikes: %" PRId64 "\n", f->p->o.num_spikes);
}

static void print_spread(FILE *to, const char *name, const char *part, spread s)
{
    fprintf(to, "%s_%s_ave: %.6E\n%s_%s_max: %.6E\n%s_%s_min: %.6E\n", name, part, s.average, name,
            part, s.most, name, part, s.least);
}

/* The parts of an exchange that the solver can tell apart, and no others. */
static void print_exchange(const perf *f, FILE *to)
{
    static const char *const parts[] = {"pack", "send", "wait", "recv", "unpack"};
    print_spread(to, "Comm", "total", perf_laps(f, PERF_EXCHANGE));
    if (!perf_by_axis(f)) {
        fprintf(to,
                "# libmeta exchanges in all directions at once: start is pack and send, finish\n"
                "# is wait, receive and unpack.\n");
        print_spread(to, "Comm", "start", perf_laps(f, PERF_PART(LAP_START)));
        print_spread(to, "Comm", "finish", perf_laps(f, PERF_PART(LAP_FINISH)));
        return;
    }
    for (int part = 0; part < AXIS_PARTS; ++part)
        print_spread(to, "Comm", parts[part], perf_laps(f, PERF_WHAT(part)));
    for (int axis = 0; axis < 3; ++axis) {
        const char name[] = {'C', 'o', 'm', 'm', '_', "xyz"[axis], '\0'};
        print_spread(to, name, "total", perf_laps(f, PERF_AXIS(axis)));
        for (int part = 0; part < AXIS_PARTS; ++part)
            print_spread(to, name, parts[part], perf_laps(f, PERF_PART(LAP_OF(axis, part))));
    }
}

static void print_amount(FILE *to, const char *way, const char *which, const char *suffix,
                         double words, size_t size)
{
    fprintf(to, "%s_%s_words%s: %.0f\n%s_%s_bytes%s: %.0f\n", way, which, suffix, words, way, which,
            suffix, words * (double)size);
}

static void print_messages(const perf *f, FILE *to)
{
    const char *const ways[] = {"Send", "Recv"};
    const size_t size = number_size(f->p->type);
    perf_traffic t;
    perf_sum_traffic(f, &t);
    for (int k = 0; k < 2; ++k) {
        fprintf(to, "%s_messages: %.0f\n", ways[k], t.messages[WAY_KINDS]);
        print_amount(to, ways[k], "total", "", t.cells[WAY_KINDS], size);
        print_amount(to, ways[k], "min", "", t.least, size);
        print_amount(to, ways[k], "max", "", t.most, size);
        fprintf(to, "%s_min_proc: %.0f\n", ways[k], t.least_messages);
        print_amount(to, ways[k], "min", "_proc", t.least_cells, size);
        fprintf(to, "%s_max_proc: %.0f\n", ways[k], t.most_messages);
        print_amount(to, ways[k], "max", "_proc", t.most_cells, size);
    }
}

void perf_yaml(const perf *f, FILE *to)
{
    print_problem(f, to);
    print_place(f, to);
    print_computation(f, to);
    if (f->ranks > 1) {
        print_exchange(f, to);
        print_messages(f, to);
    }
    if (f->p->points == 0 || f->checked == 0) return;
    fprintf(to,
            "# A variable's sum over a rank's cells is taken with its stencil: in Comp_time.\n");
    fprintf(to, "Number_gridsum: %" PRId64 "\n", f->checked * f->steps);
    print_spread(to, "Gridsum_Time", "comm", perf_laps(f, PERF_PART(LAP_SUM)));
    fprintf(to, "Number_Reduce: %" PRId64 "\nReduce_words: %d\nReduce_bytes: %zu\n", f->steps,
            2 * f->p->variables + 1, (size_t)(2 * f->p->variables + 1) * sizeof(double));
}
