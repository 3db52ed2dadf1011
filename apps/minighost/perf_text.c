/* SPDX-License-Identifier: BSD-3-Clause */
/** @file perf_text.c
 *  The report of --report_perf as text and as JSON. */
#include "config.h"

#include <inttypes.h>

#include "perf.h"

/* The parts, those of another part behind it and further in. */
static const struct row {
    int depth;
    const char *title, *key;
    unsigned parts;
} rows[] = {
    {0, "stencil, and the sum of its new values", "stencil", PERF_PART(LAP_STENCIL)},
    {0, "boundary: sums of the cells there", "boundary", PERF_PART(LAP_BOUNDARY)},
    {0, "global sums over the ranks", "global_sum", PERF_PART(LAP_SUM)},
    {0, "exchange of ghost cells", "exchange", PERF_EXCHANGE},
    {1, "start: pack all, send", "exchange_start", PERF_PART(LAP_START)},
    {1, "finish: wait, receive, unpack all", "exchange_finish", PERF_PART(LAP_FINISH)},
#define AXIS(axis, x)                                                                              \
    {2, "along " x, "exchange_" x, PERF_AXIS(axis)},                                               \
        {3, "pack", "exchange_" x "_pack", PERF_PART(LAP_OF(axis, AXIS_PACK))},                    \
        {3, "send", "exchange_" x "_send", PERF_PART(LAP_OF(axis, AXIS_SEND))},                    \
        {3, "wait", "exchange_" x "_wait", PERF_PART(LAP_OF(axis, AXIS_WAIT))},                    \
        {3, "receive", "exchange_" x "_receive", PERF_PART(LAP_OF(axis, AXIS_RECV))},              \
    {                                                                                              \
        3, "unpack", "exchange_" x "_unpack", PERF_PART(LAP_OF(axis, AXIS_UNPACK))                 \
    }
    AXIS(0, "x"),
    AXIS(1, "y"),
    AXIS(2, "z"),
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const way_titles[] = {"along x", "along y", "along z", "edges and corners",
                                         "in all"};
static const char *const way_keys[] = {"x", "y", "z", "edges_and_corners", "all"};

/* The parts of an exchange depend on how the solver does it. */
static bool is_counted(const perf *f, const struct row *r)
{
    if (r->depth == 0) return true;
    return (r->depth >= 2) == perf_by_axis(f);
}

static void print_parts(const perf *f, FILE *to)
{
    const spread total = perf_seconds(f);
    fprintf(to, "%-42s %10s %10s %10s %10s %6s\n", "seconds, over the ranks", "average",
            "std. dev.", "least", "most", "share");
    for (int k = 0; k < ROWS; ++k) {
        if (!is_counted(f, &rows[k])) continue;
        const spread s = perf_laps(f, rows[k].parts);
        const int indent = 2 * (rows[k].depth >= 2 ? rows[k].depth : 1 + rows[k].depth);
        fprintf(to, "%*s%-*s %10.6f %10.6f %10.6f %10.6f %5.1f%%\n", indent, "", 42 - indent,
                rows[k].title, s.average, s.deviation, s.least, s.most,
                100 * s.average / total.average);
    }
    fprintf(to, "  %-40s %10.6f %10.6f %10.6f %10.6f\n", "in all", total.average, total.deviation,
            total.least, total.most);
    if (perf_by_axis(f)) return;
    fprintf(to,
            "libmeta exchanges in all directions at once, so that there are no times of each. A\n"
            "device with a queue packs and sends in the finish: the start only queues. Every part\n"
            "was waited for; without --report_perf they overlap, and the stencil adds up the\n"
            "boundary in its own pass.\n");
}

static void print_operations(const perf *f, FILE *to)
{
    const double seconds = perf_seconds(f).most;
    const double without = seconds - perf_laps(f, PERF_PART(LAP_BOUNDARY)).most;
    const double giga = 1e-9 * perf_operations(f);
    if (f->p->points == 0) {
        fprintf(to, "no computation\n\n");
        return;
    }
    fprintf(to,
            "%.6g GFLOPS, %.6g for each rank; %.6g without the boundary\n"
            "%.6g floating point operations: %.6g additions, %.6g divisions\n\n",
            giga / seconds, giga / seconds / f->ranks, giga / without, perf_operations(f),
            perf_operations(f) - perf_divisions(f), perf_divisions(f));
}

static void print_traffic(const perf *f, FILE *to)
{
    const double size = (double)number_size(f->p->type);
    perf_traffic t;
    perf_sum_traffic(f, &t);
    fprintf(to, "%-32s %12s %14s %16s\n", "messages sent in a time step", "number", "cells",
            "bytes");
    for (int kind = 0; kind <= WAY_KINDS; ++kind)
        fprintf(to, "  %-30s %12.0f %14.0f %16.0f\n", way_titles[kind], t.messages[kind],
                t.cells[kind], t.cells[kind] * size);
    fprintf(to,
            "as many are received; one has %.0f to %.0f cells, a rank sends %.0f to %.0f messages "
            "of %.0f to %.0f\n",
            t.least, t.most, t.least_messages, t.most_messages, t.least_cells, t.most_cells);
    fprintf(to, "global sums in a time step: 1, of %d numbers in double, for %d of %d variables\n",
            2 * f->p->variables + 1, f->checked, f->p->variables);
}

static double share_of_exchange(const perf *f, int rank)
{
    const perf one = {.p = f->p, .ranks = 1, .rank = &f->rank[rank]};
    return perf_laps(&one, PERF_EXCHANGE).most / f->rank[rank].seconds;
}

static void print_ranks(const perf *f, FILE *to)
{
    fprintf(to, "\n%5s %12s %10s\n", "rank", "seconds", "exchange");
    for (int r = 0; r < f->ranks; ++r)
        fprintf(to, "%5d %12.6f %9.3f%%\n", r, f->rank[r].seconds, 100 * share_of_exchange(f, r));
}

void perf_text(const perf *f, FILE *to)
{
    fprintf(to, "performance of %" PRId64 " time steps on %d %s\n", f->steps, f->ranks,
            f->ranks == 1 ? "rank" : "ranks");
    print_operations(f, to);
    print_parts(f, to);
    fprintf(to, "\n");
    print_traffic(f, to);
    if (f->p->o.report_perf == 2) print_ranks(f, to);
    fprintf(to, "\n");
}

static void put_spread(json *j, const char *key, spread s)
{
    json_open(j, key, '{');
    json_exact(j, "average", s.average);
    json_exact(j, "standard_deviation", s.deviation);
    json_exact(j, "least", s.least);
    json_exact(j, "most", s.most);
    json_close(j, '}');
}

static void put_traffic(const perf *f, json *j)
{
    const double size = (double)number_size(f->p->type);
    perf_traffic t;
    perf_sum_traffic(f, &t);
    json_open(j, "sent_in_a_time_step", '{');
    for (int kind = 0; kind <= WAY_KINDS; ++kind) {
        json_open(j, way_keys[kind], '{');
        json_exact(j, "messages", t.messages[kind]);
        json_exact(j, "cells", t.cells[kind]);
        json_exact(j, "bytes", t.cells[kind] * size);
        json_close(j, '}');
    }
    json_exact(j, "least_cells_of_a_message", t.least);
    json_exact(j, "most_cells_of_a_message", t.most);
    json_exact(j, "least_messages_of_a_rank", t.least_messages);
    json_exact(j, "most_messages_of_a_rank", t.most_messages);
    json_exact(j, "least_cells_of_a_rank", t.least_cells);
    json_exact(j, "most_cells_of_a_rank", t.most_cells);
    json_close(j, '}');
    json_number(j, "global_sums_in_a_time_step", 1);
    json_number(j, "numbers_in_a_global_sum", 2 * f->p->variables + 1);
    json_number(j, "variables_summed", f->checked);
}

void perf_json(const perf *f, json *j)
{
    const spread total = perf_seconds(f);
    const double without = total.most - perf_laps(f, PERF_PART(LAP_BOUNDARY)).most;
    json_open(j, "performance", '{');
    json_exact(j, "gflops", 1e-9 * perf_operations(f) / total.most);
    json_exact(j, "gflops_of_a_rank", 1e-9 * perf_operations(f) / total.most / f->ranks);
    json_exact(j, "gflops_without_boundary", 1e-9 * perf_operations(f) / without);
    json_exact(j, "operations", perf_operations(f));
    json_exact(j, "divisions", perf_divisions(f));
    json_open(j, "seconds", '{');
    for (int k = 0; k < ROWS; ++k)
        if (is_counted(f, &rows[k])) put_spread(j, rows[k].key, perf_laps(f, rows[k].parts));
    put_spread(j, "all", total);
    json_close(j, '}');
    put_traffic(f, j);
    json_open(j, "ranks", '[');
    for (int r = 0; r < f->ranks; ++r) {
        json_open(j, NULL, '{');
        json_exact(j, "seconds", f->rank[r].seconds);
        json_exact(j, "share_of_exchange", share_of_exchange(f, r));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}
