/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve_f.c
 *  The C side of the solver in Fortran. */
#include "config.h"

#include "solve_f.h"

#include <string.h>

#include "check.h"
#include "comm_handle.h"
#include "laps.h"
#include "ranks.h"

/* As problem.f90 has them. */
_Static_assert(LAP_STENCIL == 0 && LAP_BOUNDARY == 1 && LAP_START == 3 && LAP_FINISH == 4, "laps");
_Static_assert(OVERLAP_AUTO == 0 && OVERLAP_ON == 1, "the option overlap");
_Static_assert(NUMBER_F64 == 0 && NUMBER_F32 == 1, "types");

void minighost_shape_of(const problem *p, minighost_shape *shape)
{
    *shape = (minighost_shape){.cart = handle_of_comm(p->cart),
                               .type = (int)type_of(p->type),
                               .stencil = (int)p->stencil,
                               .variables = p->variables,
                               .grouped = p->grouped,
                               .points = p->points,
                               .terms = p->terms,
                               .corners = p->corners,
                               .reference = p->o.reference,
                               .overlap = p->o.overlap};
    for (int d = 0; d < 3; ++d) {
        shape->global[d] = p->global[d];
        shape->cells[d] = p->own.end[d] - p->own.start[d];
        shape->cut[d] = p->cut[d];
        shape->parts[d] = (int)p->o.np[d];
        for (int t = 0; t < p->terms; ++t) {
            shape->lower[t][d] = p->term[t].cells.start[d];
            shape->upper[t][d] = p->term[t].cells.end[d] - 1;
        }
    }
}

int minighost_threads(const problem *p)
{
    where here;
    memset(&here, 0, sizeof here);
    where_am_i(p->cart, &here);
    return here.threads;
}

void minighost_failed(int err, const char *message)
{
    if (err == META_ERR_PEER) failure_abort(message);
    failure_note("%s", message);
}

bool minighost_agree(const problem *p)
{
    return failure_agree(p->cart);
}
