/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.c
 *  The public functions: handles of plans, how plans are made and freed, and exchanges. */
#include "halo/halo_exchange.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "halo/halo.h"

/* A handle names a slot and how often it had been used; the table only grows. */
typedef struct slot {
    halo_plan *plan;
    uint32_t generation;
} slot;
static slot *slots;
static uint32_t slot_count;
static uint64_t made; /* plans so far */

static meta_err plan_of(meta_halo handle, halo_plan **plan)
{
    if (handle.generation == 0)
        return core->fail(META_ERR_HANDLE, "argument 'plan' is META_HALO_NULL");
    if (handle.slot >= slot_count || handle.generation > slots[handle.slot].generation)
        return core->fail(META_ERR_HANDLE, "argument 'plan' is no plan's handle");
    if (handle.generation != slots[handle.slot].generation || !slots[handle.slot].plan)
        return core->fail(META_ERR_HANDLE,
                          "argument 'plan' is the handle of a plan that was freed");
    *plan = slots[handle.slot].plan;
    return META_OK;
}

/* ------------------------------------------------------------------ making */

/* The description's communicator, as far as its size says that it has one, and its dimensions.
 * *shared: other ranks have it too, and can be told of an error; not one without a fitting
 * topology, which all of its ranks see alike, or which this rank alone was given. */
static meta_err find_cart(const meta_halo_desc *desc, int *dims, bool *shared)
{
    int topology = MPI_UNDEFINED;
    *shared = false;
    if (!desc) return core->fail(META_ERR_ARGUMENT, "argument 'desc' is NULL");
    if (desc->size < offsetof(meta_halo_desc, box) || desc->cart == MPI_COMM_NULL) return META_OK;
    *shared = true;
    COMM_MPI(MPI_Topo_test, (desc->cart, &topology));
    *shared = topology == MPI_CART;
    if (topology != MPI_CART)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->cart' has no Cartesian topology: make it "
                          "with MPI_Cart_create()");
    COMM_MPI(MPI_Cartdim_get, (desc->cart, dims));
    *shared = *dims >= 1 && *dims <= HALO_DIMS;
    if (*shared) return META_OK;
    return core->fail(META_ERR_ARGUMENT,
                      "argument 'desc->cart' has %d dimensions: plans have 1 to "
                      "%d",
                      *dims, HALO_DIMS);
}

/* *own is set to the description, where that is right. */
static meta_err read_desc(meta_halo_desc *own, const meta_halo *plan, const meta_halo_desc *desc,
                          int *dims, bool *shared)
{
    const meta_err error = find_cart(desc, dims, shared);
    if (!plan) return core->fail(META_ERR_ARGUMENT, "argument 'plan' is NULL");
    META_TRY(error);
    META_TRY(core->sized_get(own, sizeof *own, desc, META_LEAST(meta_halo_desc, field), "desc",
                             "META_HALO_DESC_INIT")); /* before there were batches */
    if (desc->cart == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->cart' is MPI_COMM_NULL");
    return META_OK;
}

static void destroy(halo_plan *p, halo_leaving how)
{
    halo_exchanges_free(p);
    halo_window_free(p);
    halo_place_leave(&p->place, how);
    free(p->send_part);
    free(p->recv_part);
    free(p->kernel);
    free(p->field);
    free(p);
}

static meta_err make_slot(uint32_t *found)
{
    for (uint32_t k = 0; k < slot_count; ++k)
        if (!slots[k].plan) return *found = k, META_OK;
    slot *more = slot_count < UINT32_MAX ? realloc(slots, (slot_count + 1) * sizeof *more) : NULL;
    if (!more) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for another plan");
    slots = more;
    slots[slot_count] = (slot){NULL, 0};
    *found = slot_count++;
    return META_OK;
}

/* Everything local that can fail, before the ranks agree for the first time. */
static meta_err prepare(halo_plan *p, const meta_halo_desc *desc, int dims)
{
    if (!p) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan");
    p->dims = dims;
    p->dirs = dims == 1 ? 3 : dims == 2 ? 9 : 27;
    for (int dir = 0; dir < HALO_DIRS; ++dir) p->link[dir].peer = MPI_PROC_NULL;
    META_TRY(make_slot(&p->slot));
    COMM_MPI(MPI_Comm_rank, (p->place.comm, &p->rank));
    META_TRY(halo_plan_fill(p, desc));
    return halo_ranks_find(p);
}

static meta_err verify(halo_plan *p)
{
    META_TRY(comm_agree(p->place.comm, halo_plan_verify(p)));
    halo_messages_place(p); /* again: now it is known what comes through the window */
    return META_OK;
}

/* Through MPI, if on any rank a window cannot be made or opened. A rank that could not say so to
 * the others does not go on: they would take its next vote for this one. */
static meta_err connect(halo_plan *p)
{
    meta_err agreed;
    char text[COMM_TEXT];
    halo_routes_choose(p, comm_job.shared);
    halo_messages_place(p);
    const meta_err own = halo_window_make(p);
    snprintf(text, sizeof text, "%s", meta_last_error());
    META_TRY(verify(p));
    core->fail_as(own, text);
    meta_err error = comm_agree_on(p->place.comm, own, &agreed);
    if (error == META_OK) error = comm_agree_on(p->place.comm, halo_window_open(p), &agreed);
    if (agreed == META_ERR_PEER || (error != META_OK && !comm_job.shared)) return error;
    halo_window_seal(p);
    if (error == META_OK) return META_OK;
    core->log(META_LOG_WARN, "no shared memory for a halo plan, its messages go through MPI: %s",
              meta_last_error());
    halo_window_free(p);
    halo_routes_choose(p, false);
    halo_messages_place(p);
    return verify(p);
}

/* The first exchange is made with the plan, for the device at hand: most programs need no other. */
static meta_err make_messages(halo_plan *p)
{
    halo_exchange *first;
    META_TRY(halo_parts_make(p));
    META_TRY(halo_kernels_make(p));
    return halo_exchange_acquire(p, p->home.device, &first);
}

/* @p checked: this rank's arguments are right. */
static meta_err build(halo_plan *p, const meta_halo_desc *desc, int dims, MPI_Comm comm,
                      meta_err checked)
{
    META_TRY(comm_agree(comm, checked == META_OK ? prepare(p, desc, dims) : checked));
    p->met = true;
    META_TRY(connect(p));
    META_TRY(comm_agree(comm, make_messages(p)));
    halo_record_plan(p);
    halo_paths_report(p);
    return META_OK;
}

/* Of a plan that was not made, for the reason @p error. */
static halo_leaving drop_messages(const halo_plan *p, meta_err error)
{
    comm_drained what = {"while a halo plan that was not made is dropped", COMM_DRAIN_SECONDS, 0};
    if (error == META_ERR_PEER) return HALO_LEFT_DIRTY;
    if (p && p->met && halo_drain(p, false, &what) != META_OK) return HALO_LEFT_DIRTY;
    return error == META_ERR_MPI ? HALO_LEFT_DRAINED : HALO_LEFT_CLEAN;
}

static meta_err create(meta_halo *plan, const meta_halo_desc *desc)
{
    halo_place place;
    meta_halo_desc own;
    int dims;
    char text[COMM_TEXT];
    bool shared;
    const meta_err checked = read_desc(&own, plan, desc, &dims, &shared);
    if (!shared) return checked;
    snprintf(text, sizeof text, "%s", meta_last_error());
    META_TRY(halo_place_take(desc->cart, &place));
    core->fail_as(checked, text);
    halo_plan *p = calloc(1, sizeof *p);
    if (p) p->place = place;
    const meta_err error = build(p, &own, dims, place.comm, checked);
    if (error != META_OK) {
        snprintf(text, sizeof text, "%s", meta_last_error());
        const halo_leaving how = drop_messages(p, error);
        if (p) destroy(p, how);
        else halo_place_leave(&place, how);
        return core->fail_as(error, text);
    }
    p->made = ++made;
    slots[p->slot].plan = p;
    ++slots[p->slot].generation;
    *plan = (meta_halo){p->slot, slots[p->slot].generation};
    return META_OK;
}

/* ------------------------------------------------------------------ the end */

static meta_err free_plan(meta_halo *plan)
{
    halo_plan *p;
    if (!plan) return core->fail(META_ERR_ARGUMENT, "argument 'plan' is NULL");
    META_TRY(plan_of(*plan, &p));
    bool never;
    for (const halo_exchange *x = p->exchanges; x; x = x->next) {
        if (x->state != HALO_BEGUN) continue;
        return core->fail(META_ERR_STATE, "%s",
                          x == halo_handle_find(p->last, &never)
                              ? "the plan's exchange is not finished: call meta_halo_finish() first"
                              : "an exchange of the plan is not ended: call meta_halo_end() first");
    }
    halo_wait_idle(p);
    const bool lost = p->lost || comm_job.lost;
    comm_drained what = {.phase = "while a halo plan is freed"};
    const meta_err error = lost ? META_OK : halo_drain(p, true, &what);
    if (what.dropped > 0 && !p->broken)
        core->log(META_LOG_WARN,
                  "meta_halo_free: %lld message%s of the plan to rank %d of the Cartesian "
                  "communicator %s never received: a neighbour began more exchanges, or one "
                  "of them failed",
                  (long long)what.dropped, what.dropped == 1 ? "" : "s", p->rank,
                  what.dropped == 1 ? "was" : "were");
    slots[p->slot].plan = NULL;
    destroy(p, lost || error != META_OK ? HALO_LEFT_DIRTY
               : p->broken              ? HALO_LEFT_DRAINED
                                        : HALO_LEFT_CLEAN);
    *plan = (meta_halo)META_HALO_NULL;
    return error;
}

/* In the order of creation, which ranks share; that of slots may differ between them. */
static halo_plan *oldest(void)
{
    halo_plan *found = NULL;
    for (uint32_t k = 0; k < slot_count; ++k)
        if (slots[k].plan && (!found || slots[k].plan->made < found->made)) found = slots[k].plan;
    return found;
}

/* A plan that ends with the job. */
static meta_err drop_plan(halo_plan *p, bool met)
{
    comm_drained what = {"while a halo plan that was never freed is dropped", COMM_DRAIN_SECONDS,
                         0};
    for (halo_exchange *x = p->exchanges; x; x = x->next)
        if (x->state != HALO_IDLE)
            halo_give_up(x, core->fail(META_ERR_STATE, "an exchange of a halo plan was not "
                                                       "complete when communication was ended"));
    const bool drains = met && !comm_job.lost;
    const meta_err error = drains ? halo_drain(p, true, &what) : META_OK;
    slots[p->slot].plan = NULL;
    destroy(p, drains && error == META_OK ? HALO_LEFT_DRAINED : HALO_LEFT_DIRTY);
    return error;
}

meta_err comm_plans_drop(bool met)
{
    char text[COMM_TEXT];
    meta_err first = META_OK;
    uint32_t left = 0;
    for (halo_plan *p; (p = oldest()); ++left) {
        const meta_err error = drop_plan(p, met);
        if (first != META_OK || error == META_OK) continue;
        first = error;
        snprintf(text, sizeof text, "%s", meta_last_error());
    }
    halo_families_drop();
    halo_record_forget();
    if (left > 0)
        core->log(META_LOG_WARN, "%u halo plan%s never freed: call meta_halo_free()",
                  (unsigned)left, left == 1 ? " was" : "s were");
    return first == META_OK ? META_OK : core->fail_as(first, text);
}

/* ------------------------------------------------------------------ public */

meta_err meta_halo_create(meta_halo *plan, const meta_halo_desc *desc)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(create(plan, desc));
}

static meta_err start(meta_halo plan, void *const *fields)
{
    halo_plan *p;
    META_TRY(plan_of(plan, &p));
    META_TRY(halo_start(p, fields));
    comm_wake();
    return META_OK;
}

static meta_err finish(meta_halo plan, meta_event *done)
{
    halo_plan *p;
    META_TRY(plan_of(plan, &p));
    comm_wake(); /* a thread that sleeps looks when the lock is given back */
    return halo_finish(p, done);
}

meta_err meta_halo_begin(meta_halo plan, void *const *fields, meta_exchange *exchange)
{
    halo_plan *p = NULL;
    META_TRY(comm_enter(__func__));
    meta_err error =
        exchange ? plan_of(plan, &p) : core->fail(META_ERR_ARGUMENT, "argument 'exchange' is NULL");
    if (error == META_OK) error = halo_begin(p, fields, exchange);
    comm_wake();
    return comm_leave(error);
}

static meta_err exchange_of(const meta_exchange *handle, halo_exchange **exchange)
{
    bool never;
    if (!handle) return core->fail(META_ERR_ARGUMENT, "argument 'exchange' is NULL");
    *exchange = halo_handle_find(*handle, &never);
    if (handle->generation == 0)
        return core->fail(META_ERR_HANDLE, "argument 'exchange' is META_EXCHANGE_NULL");
    if (never) return core->fail(META_ERR_HANDLE, "argument 'exchange' is no exchange's handle");
    if (*exchange && (*exchange)->state == HALO_BEGUN) return META_OK;
    return core->fail(META_ERR_HANDLE,
                      "argument 'exchange' is the handle of an exchange that was ended");
}

meta_err meta_halo_end(meta_exchange *exchange, meta_event *done)
{
    halo_exchange *x = NULL;
    META_TRY(comm_enter(__func__));
    meta_err error = exchange_of(exchange, &x);
    if (error == META_OK) {
        *exchange = (meta_exchange)META_EXCHANGE_NULL;
        comm_wake(); /* a thread that sleeps looks when the lock is given back */
        error = halo_end(x, done);
    }
    return comm_leave(error);
}

meta_err meta_halo_start(meta_halo plan, void *const *fields)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(start(plan, fields));
}

meta_err meta_halo_finish(meta_halo plan, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(finish(plan, done));
}

meta_err meta_halo_exchange(meta_halo plan, void *const *fields, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    const meta_err error = start(plan, fields);
    return comm_leave(error == META_OK ? finish(plan, done) : error);
}

static bool is_empty(const meta_box *box)
{
    for (int d = 0; d < box->ndim; ++d)
        if (box->start[d] >= box->end[d]) return true;
    return false;
}

/* A work failed, so that the caller gets no event: the exchange goes on as with META_ASYNC. */
static meta_err fail_beside(meta_halo plan, meta_event *event, meta_err error)
{
    char text[COMM_TEXT];
    halo_plan *p;
    snprintf(text, sizeof text, "%s", meta_last_error());
    if (comm_enter("meta_halo_overlap") == META_OK) {
        if (plan_of(plan, &p) == META_OK) halo_untrack(p, *event);
        comm_leave(META_OK);
    }
    meta_event_free(event);
    core->ready("meta_halo_overlap");
    return core->fail_as(error, text);
}

/* The callbacks may call the library: they run without the lock. */
meta_err meta_halo_overlap(meta_halo plan, void *const *fields, meta_halo_work *interior,
                           meta_halo_work *boundary, void *with, meta_event *done)
{
    meta_box inside, border[2 * HALO_DIMS];
    char text[COMM_TEXT];
    int borders = 0;
    halo_plan *p;
    META_TRY(core->ready(__func__));
    if (!interior) return core->fail(META_ERR_ARGUMENT, "argument 'interior' is NULL");
    if (!boundary) return core->fail(META_ERR_ARGUMENT, "argument 'boundary' is NULL");
    META_TRY(comm_enter(__func__));
    meta_err error = plan_of(plan, &p);
    if (error == META_OK) {
        borders = halo_overlap_boxes(p, &inside, border);
        error = start(plan, fields);
    }
    META_TRY(comm_leave(error));
    uint64_t before = core->failures();
    if (!is_empty(&inside))
        error = comm_callback_error(interior(&inside, with), before, __func__, "interior");
    if (error != META_OK) snprintf(text, sizeof text, "%s", meta_last_error());
    meta_event event;
    const bool tracked = done && done != META_ASYNC;
    meta_event *const ending = !tracked ? done : error == META_OK ? &event : META_ASYNC;
    META_TRY(comm_enter(__func__));
    const meta_err second = comm_leave(finish(plan, ending));
    if (error != META_OK) return core->fail_as(error, text);
    META_TRY(second);
    for (int k = 0; k < borders && error == META_OK; ++k) {
        before = core->failures();
        error = comm_callback_error(boundary(&border[k], with), before, __func__, "boundary");
    }
    if (tracked && error != META_OK) return fail_beside(plan, &event, error);
    if (tracked) *done = event;
    return error;
}

meta_err meta_halo_free(meta_halo *plan)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(free_plan(plan));
}
