/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress.c
 *  A progress line on standard error: how far the run is, its speed and the remaining time. */
#include "config.h"

#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    const problem *p; /* NULL if there is no line */
    int64_t steps;
    double start, next;
    int width; /* of the line there is now */
} line;

void progress_begin(const problem *p, int64_t steps)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    const bool shown = p->o.progress == 2 || (p->o.progress == 1 && isatty(STDERR_FILENO));
    memset(&line, 0, sizeof line);
    if (rank != 0 || !shown || steps == 0) return;
    line.p = p;
    line.steps = steps;
    line.start = MPI_Wtime();
}

/* As "1:02:03" or "2:03". */
static void print_duration(char *text, size_t room, double seconds)
{
    const int64_t all = seconds < 3600e4 ? (int64_t)(seconds + 0.5) : (int64_t)3600e4;
    const int64_t hours = all / 3600, minutes = all / 60 % 60;
    if (hours > 0)
        snprintf(text, room, "%" PRId64 ":%02" PRId64 ":%02" PRId64, hours, minutes, all % 60);
    else snprintf(text, room, "%" PRId64 ":%02" PRId64, minutes, all % 60);
}

void progress_step(int64_t done, int round, int64_t step)
{
    const double now = line.p != NULL ? MPI_Wtime() : 0;
    if (line.p == NULL || now < line.next) return;
    const problem *p = line.p;
    const double spent = now - line.start, share = (double)done / (double)line.steps;
    const double cells = (double)p->global[0] * (double)p->global[1] * (double)p->global[2];
    char text[160], left[32];
    line.next = now + 0.2;
    print_duration(left, sizeof left, spent / share - spent);
    const int width = snprintf(
        text, sizeof text,
        "%3.0f%%  spike %d, time step %" PRId64 "  %.1f million cells per second  %s left",
        100 * share, round, step, 1e-6 * cells * p->variables * (double)done / spent, left);
    fprintf(stderr, "\r%-*s", line.width > width ? line.width : width, text);
    fflush(stderr);
    line.width = width;
}

void progress_clear(void)
{
    if (line.p == NULL || line.width == 0) return;
    fprintf(stderr, "\r%*s\r", line.width, "");
    fflush(stderr);
    line.width = 0;
}

void progress_end(void)
{
    progress_clear();
    line.p = NULL;
}
