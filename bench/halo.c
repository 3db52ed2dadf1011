/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.c
 *  Group halo: complete halo exchanges on a periodic grid of ranks, with one and with five fields,
 *  compared with the same exchange in plain MPI; the cost of an empty exchange; and how much of an
 *  exchange is hidden behind a stencil. */
#include "config.h"

#include "exchange.h"
#include "group.h"
#include "overlap.h"
#include "plan.h"

typedef struct work {
    meta_halo plan, single; /* of all fields, of one field */
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

static void run_start_finish(void *with, int64_t times)
{
    work *w = with;
    for (int64_t t = 0; t < times; ++t)
        if (!note_meta(meta_halo_start(w->plan, &w->field[0].at)) ||
            !note_meta(meta_halo_finish(w->plan, NULL)))
            return;
}

static void work_create(work *w, MPI_Comm cart, const cube *c, int ghosts, int fields, number type,
                        bool all)
{
    const region own = cube_own(c);
    const meta_box box = region_box(c, &own);
    char why[NOTE_ROOM];
    *w = (work){.fields = fields};
    for (int f = 0; f < fields; ++f) buffer_create(&w->field[f], cube_cells(c), type);
    /* Creating a plan is collective: it would hang if a rank without buffers left it out. */
    if (note_agree(why)) {
        note("%s", why);
        return;
    }
    plan_create(&w->plan, cart, &box, ghosts, fields, type_of(type), all);
    if (fields > 1) plan_create(&w->single, cart, &box, ghosts, 1, type_of(type), all);
}

static void work_free(work *w)
{
    plan_free(&w->plan);
    plan_free(&w->single);
    for (int f = 0; f < w->fields; ++f) buffer_free(&w->field[f]);
}

/* The messages of one exchange. */
static int64_t messages_of(work *w)
{
    const int64_t before = plan_messages();
    run(w, 1);
    return plan_messages() - before;
}

/* ------------------------------------------------------------------ raw launches and copies */

typedef struct raw_work {
    const place *here;
    buffer device; /* of the size of the sent data, if device memory is not host memory */
    meta_peer_stage stage;
    size_t bytes[MOST_NEIGHBOURS];
} raw_work;

static void run_raw(void *with, int64_t times)
{
    raw_work *w = with;
    const place *p = w->here;
    for (int64_t t = 0; t < times && w->device.at != NULL; ++t)
        if (p->table->stage(p->peer, &w->stage) != 0) {
            note("%s", p->table->reason(p->peer));
            return;
        }
}

/* A launch per face packed, unpacked, or copied if this rank is its own neighbour; and staging
 * copies through host memory for faces sent to other ranks. */
static void raw_create(raw_work *w, const place *p, const exchange *e, number type)
{
    int mine;
    *w = (raw_work){.here = p, .device = {.at = NULL}};
    if (!place_stages(p)) return;
    MPI_Comm_rank(e->comm, &mine);
    for (int k = 0; k < e->neighbours; ++k) {
        w->stage.before += e->fields;
        if (e->to[k].rank == mine) continue;
        w->stage.after += e->fields;
        w->bytes[w->stage.count++] = (size_t)e->to[k].bytes;
    }
    buffer_create(&w->device, (int64_t)(e->bytes / (double)e->element) + 1, type);
    w->stage.bytes = w->bytes;
    w->stage.device = buffer_native(&w->device, 0);
    w->stage.host = e->buffer;
}

/* ------------------------------------------------------------------ the rows */

static void measure(bench *b, const char *what, work *w, exchange *e, raw_work *raw, int64_t size)
{
    row r;
    row_begin(&r, "halo", what, b->o->type, size);
    r.messages = messages_of(w);
    row_add(&r, what, SUBJECT, run, w, e->bytes);
    row_add(&r, "derived", PEER, exchange_derived, e, e->bytes);
    row_add(&r, "mpi_pack", PEER, exchange_mpi_pack, e, e->bytes);
    row_add(&r, "manual", PEER, exchange_manual, e, e->bytes);
    row_add(&r, "send_only", LIMIT | PEER, exchange_send_only, e, e->bytes);
    if (w->fields > 1) row_add(&r, "singles", PEER, run_singles, w, e->bytes);
    if (b->here->any_stages) row_add(&r, "raw", PEER, run_raw, raw, e->bytes);
    row_end(b, &r);
}

static void measure_kind(bench *b, MPI_Comm cart, const char *what, int fields, bool all,
                         int64_t size)
{
    const cube c = {size, 1};
    const double on_device = fields * (double)(cube_cells(&c) * (int64_t)number_size(b->o->type));
    work w = {.fields = 0};
    exchange e = {.neighbours = 0};
    raw_work raw = {.device = {.at = NULL}};
    place_need(b->here, on_device, exchange_need(&c, fields, b->o->type));
    if (!rows_impossible("halo", size)) {
        work_create(&w, cart, &c, 1, fields, b->o->type, all);
        exchange_create(&e, cart, &c, fields, b->o->type, all);
        raw_create(&raw, b->here, &e, b->o->type);
        if (!rows_impossible("halo", size)) measure(b, what, &w, &e, &raw, size);
    }
    buffer_free(&raw.device);
    exchange_free(&e);
    work_free(&w);
}

/* The overhead of start and finish: exchanges of ghosts of width zero or one around a single cell,
 * compared with bare messages of the same size. */
static void measure_least(bench *b, MPI_Comm cart, const char *what, int ghosts)
{
    const cube c = {1, 1};
    work w;
    exchange e;
    row r;
    work_create(&w, cart, &c, ghosts, 1, b->o->type, false);
    exchange_create(&e, cart, &c, 1, b->o->type, false);
    for (int k = 0; k < e.neighbours; ++k) e.to[k].bytes *= ghosts;
    const double bytes = ghosts * e.bytes;
    if (!rows_impossible("halo", ghosts)) {
        row_begin(&r, "halo", what, b->o->type, ghosts);
        r.messages = messages_of(&w);
        row_add(&r, what, SUBJECT, run_start_finish, &w, bytes);
        row_add(&r, "raw", bytes > 0 ? LIMIT | PEER : PEER, exchange_send_only, &e, bytes);
        row_end(b, &r);
    }
    exchange_free(&e);
    work_free(&w);
}

void halo_run(bench *b, int64_t size)
{
    static bool measured_least;
    int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, ranks;
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    if (!measured_least) {
        measure_least(b, cart, "empty", 0);
        measure_least(b, cart, "least", 1);
    }
    measured_least = true;
    measure_kind(b, cart, "6faces", 1, false, size);
    measure_kind(b, cart, "6faces_5f", 5, false, size);
    measure_kind(b, cart, "26", 1, true, size);
    overlap_run(b, cart, size);
    MPI_Comm_free(&cart);
}
