/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_overlap.c
 *  Which of a plan's own cells can be computed while its ghost cells travel. */
#include "halo/halo_plan.h"

/* Whether anything comes from side @p side (-1: low, 1: high) of dimension @p d. */
static bool receives(const halo_plan *p, int d, int side)
{
    for (int k = 0; k < p->dirs; ++k) {
        const halo_link *link = &p->link[k];
        if (link->used && link->offset[d] == side && link->recv_bytes > 0) return true;
    }
    return false;
}

/* The thickness of the own cells at that side that depend on what comes from there: for copied
 * ghosts a stencil's reach, for sums that of the ghosts which are added, of which a staggered array
 * has one element more at its low side. */
static int64_t depth(const halo_plan *p, int d, int side)
{
    int shared = 0;
    if (!receives(p, d, side)) return 0;
    if (p->op == META_HALO_COPY) return side < 0 ? p->low[d] : p->high[d];
    for (int k = 0; k < p->fields; ++k) shared |= p->field[k].stagger[d];
    return side < 0 ? p->high[d] + shared : p->low[d];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int halo_overlap_boxes(const halo_plan *p, meta_box *interior, meta_box boundary[2 * HALO_DIMS])
{
    int count = 0;
    *interior = p->box;
    for (int d = p->dims - 1; d >= 0; --d)
        for (int side = -1; side <= 1; side += 2) {
            const int b = p->axis[d];
            const int64_t own = interior->end[b] - interior->start[b];
            const int64_t thick = least(depth(p, d, side), own);
            if (thick <= 0) continue;
            meta_box *slab = &boundary[count++];
            *slab = *interior;
            if (side < 0) interior->start[b] = slab->end[b] = interior->start[b] + thick;
            else interior->end[b] = slab->start[b] = interior->end[b] - thick;
            if (thick == own) return count; /* the interior is empty */
        }
    return count;
}
