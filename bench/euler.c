/* SPDX-License-Identifier: BSD-3-Clause */
/** @file euler.c
 *  Group euler: a time step of examples/euler.c on N x N cells of all ranks, and the same one in
 *  plain MPI and OpenMP. Times are of a cell. */
#include "config.h"

#include <math.h>

#include "note.h"

/* Ahead of the other headers, of which some types have names of its variables. */
#define TRY(call) ((void)note_meta(call))
#define META_KERNELS_HERE
#include "euler_step.h"

#include "group.h"
#include "job.h"
#include "plain_euler.h"
#include "plain_loops.h"

enum { STEPS = 2 }; /* a call: sweeps along x first and along y first */

static void run(void *with, int64_t times)
{
    flow *f = with;
    for (int64_t k = 0; k < STEPS * times && !note_seen(); ++k) {
        advance(f);
        exchange(f);
    }
    TRY(meta_flush());
}

static void run_plain(void *unused, int64_t times)
{
    (void)unused;
    plain_euler_run(STEPS * times);
}

static void measure(bench *b, flow *f, int64_t size)
{
    row r;
    row_begin(&r, "euler", "step", b->o->type, size);
    row_add(&r, "step", SUBJECT, run, f, 0);
    row_add(&r, "plain", PEER, run_plain, NULL, 0);
    for (int k = 0; k < r.count; ++k) r.list[k].each = STEPS * (int)(size * size);
    r.times_peer = true;
    row_end(b, &r);
}

void euler_run(bench *b, int64_t size)
{
    static const double AROUND = 64; /* ghosts and padding, in cells along an axis */
    char why[NOTE_ROOM];
    flow f = {.problem = &problems[BLAST], .grid = {size, size}, .end = INFINITY};
    const double edge = (double)size + AROUND;
    const double bytes = ARRAYS * sizeof(double) * edge * edge / job_here()->size;
    rank = job_here()->rank;
    ranks = job_here()->size;
    if (b->o->type != NUMBER_F64) note("the kernels are compiled for f64");
    place_need(b->here, bytes, bytes);
    const char *few = share_cells(&f);
    if (few != NULL) note("%d ranks are too many: each needs 4 cells along an axis", ranks);
    if (rows_impossible("euler", size)) {
        MPI_Comm_free(&f.cart);
        return;
    }
    if (b->here->threads > 0) plain_threads(b->here->threads);
    make_grid(&f);
    begin(&f);
    TRY(euler_limit_f64(&f.own, f.a[E], f.a[U], f.a[V], &f.least, NULL));
    exchange(&f);
    TRY(meta_flush()); /* a rank that waits in MPI's own calls advances no exchange of libmeta's */
    plain_euler_begin(size);
    if (!rows_impossible("euler", size)) measure(b, &f, size);
    plain_euler_end();
    free_grid(&f);
    note_agree(why); /* of a grid that could not be made */
}
