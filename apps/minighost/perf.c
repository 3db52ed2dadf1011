/* SPDX-License-Identifier: BSD-3-Clause */
/** @file perf.c
 *  Statistics over all ranks for --report_perf. */
#include "config.h"

#include "perf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "output.h"
#include "watch.h"

bool perf_gather(perf *f, const problem *p, double seconds, int64_t steps)
{
    int rank;
    perf_rank mine = {.seconds = seconds};
    *f = (perf){.p = p, .steps = steps};
    memcpy(mine.lap, laps_read(), sizeof mine.lap);
    traffic_count(p, &mine.sent);
    for (int v = 0; v < p->variables; ++v) f->checked += problem_checks(p, v);
    MPI_Comm_rank(p->cart, &rank);
    MPI_Comm_size(p->cart, &f->ranks);
    if (rank == 0) {
        f->rank = calloc((size_t)f->ranks, sizeof *f->rank);
        if (f->rank == NULL) failure_note_memory((double)f->ranks * sizeof *f->rank);
    }
    if (failure_agree(p->cart)) {
        perf_free(f);
        return false;
    }
    watch_begin("times are gathered");
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, f->rank, (int)sizeof mine, MPI_BYTE, 0, p->cart);
    watch_end();
    return true;
}

void perf_free(perf *f)
{
    free(f->rank);
    f->rank = NULL;
}

static double seconds_of(const perf_rank *r, unsigned parts)
{
    double sum = 0;
    for (int part = 0; part < LAP_COUNT; ++part)
        if (parts >> part & 1) sum += r->lap[part];
    return sum;
}

/* Of each rank's parts, or of its seconds in all if there are none. */
static spread spread_of(const perf *f, unsigned parts)
{
    spread s = {0, 0, INFINITY, 0};
    for (int pass = 0; pass < 2; ++pass)
        for (int r = 0; r < f->ranks; ++r) {
            const double x = parts ? seconds_of(&f->rank[r], parts) : f->rank[r].seconds;
            if (pass == 0) s.average += x / f->ranks;
            else s.deviation += (x - s.average) * (x - s.average) / f->ranks;
            s.least = fmin(s.least, x);
            s.most = fmax(s.most, x);
        }
    s.deviation = sqrt(s.deviation);
    return s;
}

spread perf_seconds(const perf *f)
{
    return spread_of(f, 0);
}

spread perf_laps(const perf *f, unsigned parts)
{
    return spread_of(f, parts);
}

bool perf_by_axis(const perf *f)
{
    return perf_laps(f, PERF_PART(LAP_START)).most == 0;
}

static void widen(double *least, double *most, double value)
{
    *least = fmin(*least, value);
    *most = fmax(*most, value);
}

void perf_sum_traffic(const perf *f, perf_traffic *t)
{
    memset(t, 0, sizeof *t);
    t->least = t->least_messages = t->least_cells = INFINITY;
    for (int r = 0; r < f->ranks; ++r) {
        const traffic *sent = &f->rank[r].sent;
        double messages = 0, cells = 0;
        for (int kind = 0; kind < WAY_KINDS; ++kind) {
            messages += sent->messages[kind];
            cells += sent->cells[kind];
            t->messages[kind] += sent->messages[kind];
            t->cells[kind] += sent->cells[kind];
        }
        t->messages[WAY_KINDS] += messages;
        t->cells[WAY_KINDS] += cells;
        widen(&t->least_messages, &t->most_messages, messages);
        widen(&t->least_cells, &t->most_cells, cells);
        if (sent->least > 0) t->least = fmin(t->least, sent->least);
        t->most = fmax(t->most, sent->most);
    }
    if (t->most == 0) t->least = 0;
}

double perf_divisions(const perf *f)
{
    const int64_t *n = f->p->global;
    if (f->p->points == 0) return 0;
    return (double)n[0] * (double)n[1] * (double)n[2] * f->p->variables * (double)f->steps;
}

double perf_operations(const perf *f)
{
    return perf_divisions(f) * f->p->points;
}

static const char option[] = "--report_perf: the file";
static const char text_name[] = "results.txt", yaml_name[] = "results.yaml";

void perf_check_files(void)
{
    output_check(option, text_name);
    output_check(option, yaml_name);
}

static void write_file(const perf *f, const char *name, void (*print)(const perf *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to != NULL) print(f, to);
    if (to == NULL || fclose(to) != 0) failure_note_memory((double)size);
    else output_whole(option, name, text, size);
    free(text);
}

void perf_files(const perf *f)
{
    write_file(f, text_name, perf_text);
    write_file(f, yaml_name, perf_yaml);
}
