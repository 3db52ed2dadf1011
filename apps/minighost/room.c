/* SPDX-License-Identifier: BSD-3-Clause */
/** @file room.c
 *  Checks that the problem fits in memory before any of it is touched. */
#include "config.h"

#include "room.h"

#include <inttypes.h>
#include <string.h>

#include "failure.h"
#include "node_memory.h"
#include "ranks.h"

/* Both arrays of each variable, or as the reference has it one and a work array, rows having up to
 * three lines of 64 bytes of padding; and what an exchange packs. */
static double grid_bytes(const problem *p)
{
    const double cells = (double)p->cells, size = (double)number_size(p->type);
    const double padding = p->o.reference ? 0 : 3 * 64 / size * cells / (double)p->size[0];
    const double arrays = p->o.reference ? p->variables + 1 : 2 * p->variables;
    double planes = 0;
    for (int d = 0; d < 3; ++d) planes += 2 * cells / (double)p->size[d];
    return (arrays * (cells + padding) + 2 * planes * p->grouped) * size;
}

static void check_node(const problem *p, double mine)
{
    const double all = node_memory_needed(p->cart, mine), there = node_memory_left();
    if (all > there)
        failure_note("%" PRId64 " x %" PRId64 " x %" PRId64
                     " cells of %d %s need %.0f bytes of this "
                     "node's memory, which has %.0f left; use a smaller grid, fewer variables, "
                     "--type f32 or more nodes",
                     p->global[0], p->global[1], p->global[2], p->variables,
                     p->variables == 1 ? "variable" : "variables", all, there);
}

int64_t room_cells(const problem *p, bool held)
{
    where here;
    double own = 1;
    memset(&here, 0, sizeof here);
    where_am_i(p->cart, &here);
    for (int d = 0; d < 3; ++d) own *= (double)(p->own.end[d] - p->own.start[d]);
    const double host = (double)p->cells * sizeof(double), grid = grid_bytes(p);
    /* While cells are moved there is an array more. */
    const double moved = grid * (p->o.balance == BALANCE_DYNAMIC ? 1 + 0.5 / p->variables : 1);
    const double cells =
        here.device_memory > 0
            ? own * here.device_memory / moved
            : own * (node_memory_left() + (held ? host + grid : 0)) / (host + moved);
    return cells < 1 ? 1 : cells < 0x1p60 ? (int64_t)cells : INT64_C(1) << 60;
}

void room_check(const problem *p)
{
    where here;
    memset(&here, 0, sizeof here);
    where_am_i(p->cart, &here);
    const double grid = grid_bytes(p), arrays = p->o.expect != NULL ? 2 : 1;
    const double host = arrays * (double)p->cells * sizeof(double);
    check_node(p, here.device_memory > 0 ? host : host + grid);
    if (here.device_memory > 0 && grid > here.device_memory)
        failure_note("%d %s of this rank's %" PRId64 " cells need %.0f bytes of memory on the "
                     "device %s, which has %.0f; use a smaller grid, fewer variables, --type f32 "
                     "or more ranks",
                     p->variables, p->variables == 1 ? "variable" : "variables", p->cells, grid,
                     here.device, here.device_memory);
}
