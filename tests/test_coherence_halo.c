/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_coherence_halo.c
 *  Random sequences as in test_coherence.c, with halo exchanges and messages among them. All ranks
 *  run the same sequence with the same numbers and the grid is periodic, so what a rank receives
 *  from a neighbour is what it has itself. */
/* TEST: np=1,2 labels=comm */
#include "coherence.h"

#include <stdlib.h>
#include <string.h>

#include "test_mpi.h"

static MPI_Comm cart = MPI_COMM_NULL;

/* ------------------------------------------------------------------ halo plans */

static bool can_exchange(const coherence_buffer *b)
{
    bool can = b->box.ndim == 3 && !b->is_plain && !b->native && b->type != META_U8;
    for (int d = 0; can && d < 3; ++d)
        can = b->low[d] <= b->grid_cells[d] && b->high[d] <= b->grid_cells[d];
    return can;
}

/* Another grid of the same shape; NULL: there is none. */
static coherence_buffer *twin_of(coherence_sequence *s, const coherence_buffer *b)
{
    for (coherence_buffer *t = s->buffer; t < s->buffer + COHERENCE_BUFFERS; ++t)
        if (t != b && t->device && t->type == b->type && can_exchange(t) &&
            memcmp(&t->box, &b->box, sizeof b->box) == 0 &&
            memcmp(t->low, b->low, sizeof b->low) == 0 &&
            memcmp(t->high, b->high, sizeof b->high) == 0)
            return t;
    return NULL;
}

/* A ghost cell, and the own cell that it is a copy of. */
typedef struct ghost {
    int64_t at, own;
} ghost;

/* All of a plan's, in any order. */
static int64_t ghosts_of(const coherence_buffer *b, meta_halo_kind kind, ghost *ghosts)
{
    const meta_box *box = &b->box;
    int64_t count = 0, c[3];
    for (c[2] = -b->low[2]; c[2] < b->grid_cells[2] + b->high[2]; ++c[2])
        for (c[1] = -b->low[1]; c[1] < b->grid_cells[1] + b->high[1]; ++c[1])
            for (c[0] = -b->low[0]; c[0] < b->grid_cells[0] + b->high[0]; ++c[0]) {
                int64_t at = 0, own = 0, stride = 1;
                int outside = 0;
                for (int d = 0; d < 3; ++d) {
                    const int64_t cells = b->grid_cells[d];
                    outside += c[d] < 0 || c[d] >= cells;
                    at += (box->start[d] + c[d]) * stride;
                    own += (box->start[d] + (c[d] + cells) % cells) * stride;
                    stride *= box->size[d];
                }
                if (outside == 0 || (outside > 1 && kind == META_HALO_FACES)) continue;
                ghosts[count++] = (ghost){at, own};
            }
    return count;
}

/* Integers wrap. */
static void add_to(coherence_buffer *b, const ghost *g)
{
    if (b->type == META_I64)
        ((uint64_t *)(void *)b->expected)[g->own] += ((uint64_t *)(void *)b->expected)[g->at];
    else ((uint32_t *)(void *)b->expected)[g->own] += ((uint32_t *)(void *)b->expected)[g->at];
}

static void expect_exchange(coherence_buffer *b, meta_halo_kind kind, meta_halo_op op)
{
    ghost *ghosts = malloc((size_t)b->cells * sizeof *ghosts);
    const int64_t count = ghosts_of(b, kind, ghosts);
    for (int64_t k = 0; k < count; ++k)
        if (op == META_HALO_ADD) add_to(b, &ghosts[k]);
        else
            memcpy(b->expected + (size_t)ghosts[k].at * b->unit,
                   b->expected + (size_t)ghosts[k].own * b->unit, b->unit);
    free(ghosts);
}

static void exchange(coherence_sequence *s)
{
    coherence_buffer *b = coherence_pick(s, can_exchange), *twin = b ? twin_of(s, b) : NULL;
    const meta_halo_kind kind = coherence_one_in(s, 2) ? META_HALO_FACES : META_HALO_ALL;
    const bool is_cut = coherence_one_in(s, 2), adds = coherence_one_in(s, 3);
    meta_halo plan = META_HALO_NULL;
    coherence_ending ending;
    if (!b) return;
    if (coherence_one_in(s, 2)) twin = NULL;
    meta_halo_desc desc = META_HALO_DESC(cart, b->box, 0, META_HALO_FACES, twin ? 2 : 1, META_F64);
    desc.kind = kind;
    desc.type = b->type;
    memcpy(desc.low, b->low, sizeof b->low);
    memcpy(desc.high, b->high, sizeof b->high);
    if (adds && (b->type == META_I64 || b->type == META_I32)) desc.op = META_HALO_ADD;
    expect_exchange(b, kind, desc.op);
    if (twin) expect_exchange(twin, kind, desc.op);
    void *fields[2] = {b->device, twin ? twin->device : NULL};
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("exchange %s %s, %s, %s%s, %s", coherence_name(s, b),
                  twin ? coherence_name(s, twin) : "", kind == META_HALO_ALL ? "all" : "faces",
                  desc.op == META_HALO_ADD ? "added" : "copied", is_cut ? ", start and finish" : "",
                  how);
    if (!CHECK_OK(meta_halo_create(&plan, &desc))) return;
    if (is_cut) {
        CHECK_OK(meta_halo_start(plan, fields));
        CHECK_OK(meta_halo_finish(plan, ending.done));
    } else {
        CHECK_OK(meta_halo_exchange(plan, fields, ending.done));
    }
    coherence_ending_leave(s, &ending);
    s->has_exchange = true;
    CHECK_OK(meta_halo_free(&plan));
}

/* ------------------------------------------------------------------ messages */

/* A buffer that a message uses is not the program's until it is complete. */
static void complete(coherence_sequence *s, coherence_ending *ending)
{
    if (ending->done == META_ASYNC) coherence_flush(s);
    if (ending->done != &ending->event) return;
    CHECK_OK(meta_event_wait(ending->event));
    CHECK_OK(meta_event_free(&ending->event));
}

/* What one neighbour gets is what the other one sends. */
static void message(coherence_sequence *s)
{
    const coherence_buffer *from = coherence_pick(s, coherence_is_arithmetic);
    coherence_buffer *to = from ? coherence_partner(s, from) : NULL;
    meta_event sent = META_EVENT_NULL;
    coherence_ending ending;
    if (!to) return;
    const int64_t most = from->cells < to->cells ? from->cells : to->cells;
    const int64_t count = coherence_size(s, most);
    const size_t bytes = (size_t)count * to->unit;
    const size_t first = (size_t)coherence_in(s, 0, from->cells - count) * from->unit;
    const size_t last = (size_t)coherence_in(s, 0, to->cells - count) * to->unit;
    memcpy(to->expected + last, from->expected + first, bytes);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("%d cells of %s from byte %zu to the next rank's %s at byte %zu, %s", (int)count,
                  coherence_name(s, from), first, coherence_name(s, to), last, how);
    CHECK_OK(meta_packed_send((test_rank + 1) % test_size, from->device + first, count, from->type,
                              7, &sent));
    CHECK_OK(meta_packed_recv((test_rank + test_size - 1) % test_size, to->device + last, count,
                              to->type, 7, ending.done));
    CHECK_OK(meta_event_wait(sent));
    CHECK_OK(meta_event_free(&sent));
    complete(s, &ending);
}

static bool is_integer(const coherence_buffer *b)
{
    return b->type == META_I64 || b->type == META_I32;
}

static void greatest(coherence_sequence *s)
{
    const coherence_buffer *from = coherence_pick(s, is_integer);
    coherence_buffer *to = from ? coherence_partner(s, from) : NULL;
    coherence_ending ending;
    if (!to) return;
    const int64_t most = from->cells < to->cells ? from->cells : to->cells;
    const int64_t count = coherence_size(s, most);
    const size_t last = (size_t)coherence_in(s, 0, to->cells - count) * to->unit;
    memcpy(to->expected + last, from->expected, (size_t)count * to->unit);
    const char *how = coherence_ending_pick(s, &ending);
    coherence_log("allreduce MAX of %d cells of %s to %s at byte %zu, %s", (int)count,
                  coherence_name(s, from), coherence_name(s, to), last, how);
    CHECK_OK(
        meta_allreduce(to->device + last, from->device, count, META_MAX, from->type, ending.done));
    complete(s, &ending);
}

static const coherence_step steps[] = {{"exchange", 15, exchange},
                                       {"message", 8, message},
                                       {"greatest", 4, greatest},
                                       {NULL, 0, NULL}};

/* ------------------------------------------------------------------ machines */

static void start(void)
{
    test_require(meta_comm_attach(MPI_COMM_WORLD));
}

static void stop(void)
{
    CHECK_OK(meta_comm_finalize());
}

static void machine_holds(coherence_machine m)
{
    const int dims[3] = {test_size, 1, 1}, periods[3] = {1, 1, 1};
    if (getenv("META_MODE")) return;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    m.beside = steps;
    m.start = start;
    m.stop = stop;
    coherence_machine_set(&m);
    coherence_run(&m);
    if (test_failures() > 0 && test_size > 1) MPI_Abort(MPI_COMM_WORLD, 1); /* others wait */
    MPI_Comm_free(&cart);
    unsetenv("META_MODE");
}

static void three_simulated_devices_are_coherent_with_messages(void)
{
    machine_holds((coherence_machine){
        .name = "three simulated devices",
        .devices = "sim",
        .simulated = "a rate=1G; b rate=4G latency=10us bandwidth=10G; c rate=9G peer=50G",
        .few = 100,
        .many = 30000,
        .life = 10});
}

static void devices_with_little_memory_are_coherent_with_messages(void)
{
    machine_holds((coherence_machine){
        .name = "the CPU and simulated devices with little memory",
        .devices = "openmp,sim",
        .simulated = "a rate=4G peer=50G memory=240K; b rate=9G peer=50G memory=240K",
        .few = 100,
        .many = 30000,
        .life = 10});
}

TEST_MPI_MAIN(PROMISE(three_simulated_devices_are_coherent_with_messages),
              PROMISE(devices_with_little_memory_are_coherent_with_messages))
