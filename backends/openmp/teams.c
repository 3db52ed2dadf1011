/* SPDX-License-Identifier: BSD-3-Clause */
/** @file teams.c
 *  Running a program's kernels of teams: a thread computes its share of the teams, one after the
 * other. The memory that a team's members share is on the stack of its CPU code. */
#include "openmp.h"

#include <string.h>

/* The coordinates of a team's first cell, and what the CPU code is told of it. */
static void place(const openmp_team_share *s, meta_i64 number, meta_i64 *c, meta_kernel_place *p)
{
    const meta_space *space = s->call->space;
    const meta_kernel_team *team = s->kernel->team;
    for (int d = 0; d < META_KERNEL_DIMS; ++d) {
        p->start[d] = s->start[d];
        p->number[d] = 0;
        p->teams[d] = 1;
        if (d < META_KERNEL_TEAM_DIMS) p->extent[d] = 1;
    }
    for (int d = 0; d < (int)space->ndim; ++d) {
        const meta_i64 side = d < META_KERNEL_TEAM_DIMS ? team->extent[d] : 1;
        const meta_i64 teams = meta_team_count(team, space, d), mine = number % teams;
        number /= teams;
        c[d] = mine * side;
        if (d >= META_KERNEL_DIMS) continue;
        p->start[d] += c[d];
        p->number[d] = mine;
        p->teams[d] = teams;
        if (d < META_KERNEL_TEAM_DIMS)
            p->extent[d] = space->extent[d] - c[d] < side ? space->extent[d] - c[d] : side;
    }
}

static void run_team(const openmp_team_share *s, meta_i64 number)
{
    const meta_space *space = s->call->space;
    const meta_i64 columns = space->extent[0], rows = space->ndim > 1 ? space->extent[1] : 1;
    meta_i64 c[META_MAX_DIM], cells = 1;
    meta_kernel_teams teams = {.rows = {.cells = 1,
                                        .rows = 1,
                                        .argument = s->argument,
                                        .kernel = s->kernel,
                                        .reproducible = s->exact != NULL,
                                        .columns = columns,
                                        .planes = rows * columns}};
    place(s, number, c, &teams.place);
    memcpy(teams.rows.index, teams.place.start, sizeof teams.rows.index);
    for (meta_i64 d = 0; d < space->ndim; cells *= space->extent[d++])
        teams.rows.number += c[d] * cells;
    for (uint32_t k = 0; k < s->arrays; ++k) {
        const meta_layout *layout = meta_call_layout(s->call, k);
        const uint32_t n = s->order[k];
        meta_i64 element = 0;
        for (meta_i64 d = 0; d < space->ndim; ++d) element += c[d] * layout->stride[d];
        s->argument[n].at = s->home[k] + element * (meta_i64)s->kernel->parameter[n].bytes;
    }
    s->run(&teams.rows);
    const meta_i64 *members = teams.place.extent;
    for (uint32_t k = 0; k < s->sums; ++k)
        s->exact->take(s->sum[k], s->contribution[k], members[0] * members[1] * members[2]);
}

void openmp_teams_run(const openmp_team_share *s, int thread, int threads)
{
    meta_i64 part[2];
    openmp_share(meta_team_count_all(s->kernel->team, s->call->space), thread, threads, part);
    for (meta_i64 number = part[0]; number < part[1]; ++number) run_team(s, number);
}
