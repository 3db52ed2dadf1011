/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.c
 *  The group halo: whole exchanges of ghost cells on a periodic grid of ranks, of one and of five
 *  fields, beside the same exchange in plain MPI. */
#include "config.h"

#include "exchange.h"
#include "group.h"
#include "meta_comm.h"

typedef struct work {
    meta_halo plan, single; /* of all fields together, of one */
    int fields;
    buffer field[MOST_FIELDS];
} work;

static void run(void *with, int64_t times)
{
    const work *w = with;
    void *fields[MOST_FIELDS];
    for (int f = 0; f < w->fields; ++f) fields[f] = w->field[f].at;
    for (int64_t t = 0; t < times; ++t)
        if (!note_meta(meta_halo_exchange(w->plan, fields, NULL))) return;
}

static void run_singles(void *with, int64_t times)
{
    work *w = with;
    for (int64_t t = 0; t < times; ++t)
        for (int f = 0; f < w->fields; ++f)
            if (!note_meta(meta_halo_exchange(w->single, &w->field[f].at, NULL))) return;
}

static void plan_create(meta_halo *plan, MPI_Comm cart, const cube *c, int fields, number type,
                        bool all)
{
    const region own = cube_own(c);
    const meta_halo_desc d = {.size = sizeof d,
                              .cart = cart,
                              .box = region_box(c, &own),
                              .low = {1, 1, 1},
                              .high = {1, 1, 1},
                              .kind = all ? META_HALO_ALL : META_HALO_FACES,
                              .fields = fields,
                              .type = type_of(type)};
    note_meta(meta_halo_create(plan, &d));
}

static void work_create(work *w, MPI_Comm cart, const cube *c, int fields, number type, bool all)
{
    char why[NOTE_ROOM];
    *w = (work){.fields = fields};
    for (int f = 0; f < fields; ++f) buffer_create(&w->field[f], cube_cells(c), type);
    /* Making a plan is collective: a rank without buffers would be waited for. */
    if (note_agree(why)) {
        note("%s", why);
        return;
    }
    plan_create(&w->plan, cart, c, fields, type, all);
    if (fields > 1) plan_create(&w->single, cart, c, 1, type, all);
}

static void work_free(work *w)
{
    if (w->plan.generation != 0) note_meta(meta_halo_free(&w->plan));
    if (w->single.generation != 0) note_meta(meta_halo_free(&w->single));
    for (int f = 0; f < w->fields; ++f) buffer_free(&w->field[f]);
}

static void measure(bench *b, const char *what, work *w, exchange *e, int64_t size)
{
    row r;
    row_begin(&r, "halo", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run, w, e->bytes);
    row_add(&r, "derived", PEER, exchange_derived, e, e->bytes);
    row_add(&r, "mpi_pack", PEER, exchange_mpi_pack, e, e->bytes);
    row_add(&r, "manual", PEER, exchange_manual, e, e->bytes);
    row_add(&r, "send_only", LIMIT | PEER, exchange_send_only, e, e->bytes);
    if (w->fields > 1) row_add(&r, "singles", PEER, run_singles, w, e->bytes);
    row_end(b, &r);
}

static void measure_kind(bench *b, MPI_Comm cart, const char *what, int fields, bool all,
                         int64_t size)
{
    const cube c = {size, 1};
    const double on_device = fields * (double)(cube_cells(&c) * (int64_t)number_size(b->o->type));
    work w = {.fields = 0};
    exchange e = {.neighbours = 0};
    place_need(b->here, on_device, exchange_need(&c, fields, b->o->type));
    if (!rows_impossible("halo", size)) {
        work_create(&w, cart, &c, fields, b->o->type, all);
        exchange_create(&e, cart, &c, fields, b->o->type, all);
        if (!rows_impossible("halo", size)) measure(b, what, &w, &e, size);
    }
    exchange_free(&e);
    work_free(&w);
}

void halo_run(bench *b, int64_t size)
{
    int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, ranks;
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    measure_kind(b, cart, "6faces", 1, false, size);
    measure_kind(b, cart, "6faces_5f", MOST_FIELDS, false, size);
    measure_kind(b, cart, "26", 1, true, size);
    MPI_Comm_free(&cart);
}
