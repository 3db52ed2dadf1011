/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.c
 *  Halo plans as the application sees them: handles, their making and their end. */
#include "halo.h"

#include <stdlib.h>

/* A handle names a slot and how often it had been used; the table only grows. */
typedef struct slot {
    halo_plan *plan;
    uint32_t generation;
} slot;
static slot *slots;
static uint32_t slot_count;

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

static meta_err check_desc(const meta_halo *plan, const meta_halo_desc *desc, int *dims)
{
    int topology = MPI_UNDEFINED;
    if (!plan) return core->fail(META_ERR_ARGUMENT, "argument 'plan' is NULL");
    if (!desc) return core->fail(META_ERR_ARGUMENT, "argument 'desc' is NULL");
    if (desc->size < sizeof *desc)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc' has size %zu: set it to "
                          "META_HALO_DESC_INIT",
                          desc->size);
    if (desc->cart == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->cart' is MPI_COMM_NULL");
    COMM_MPI(MPI_Topo_test, (desc->cart, &topology));
    if (topology != MPI_CART)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->cart' has no Cartesian topology: make it "
                          "with MPI_Cart_create()");
    COMM_MPI(MPI_Cartdim_get, (desc->cart, dims));
    if (*dims < 1 || *dims > HALO_DIMS)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->cart' has %d dimensions: plans have 1 to "
                          "%d",
                          *dims, HALO_DIMS);
    return META_OK;
}

/* Frees the plan; its communicator only where all ranks do. */
static void destroy(halo_plan *p, bool collective)
{
    halo_plan_release(p);
    if (collective && p->cart != MPI_COMM_NULL) MPI_Comm_free(&p->cart);
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

/* What needs no other rank and can fail: done before the ranks agree for the first time. */
static meta_err prepare(halo_plan *p, const meta_halo_desc *desc, int dims)
{
    if (!p) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan");
    p->dims = dims;
    p->ways = dims == 1 ? 3 : dims == 2 ? 9 : 27;
    p->idle = true;
    for (int way = 0; way < HALO_WAYS; ++way) p->link[way].peer = MPI_PROC_NULL;
    COMM_TRY(make_slot(&p->slot));
    COMM_MPI(MPI_Comm_rank, (p->cart, &p->rank));
    return halo_plan_fill(p, desc);
}

static meta_err build(halo_plan *p, const meta_halo_desc *desc, int dims, MPI_Comm cart)
{
    COMM_TRY(comm_agree(cart, prepare(p, desc, dims)));
    COMM_TRY(comm_agree(cart, halo_plan_verify(p)));
    return comm_agree(cart, halo_plan_allocate(p));
}

static meta_err create(meta_halo *plan, const meta_halo_desc *desc)
{
    MPI_Comm cart;
    int dims;
    COMM_TRY(check_desc(plan, desc, &dims));
    COMM_TRY(comm_meet(desc->cart));
    COMM_MPI(MPI_Comm_dup, (desc->cart, &cart));
    meta_err error =
        comm_mpi(MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    halo_plan *p = calloc(1, sizeof *p);
    if (p) p->cart = cart;
    if (error == META_OK) error = build(p, desc, dims, cart);
    if (error != META_OK) {
        if (p) halo_plan_release(p);
        free(p);
        MPI_Comm_free(&cart);
        return error;
    }
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
    COMM_TRY(plan_of(*plan, &p));
    if (p->state == HALO_STARTED)
        return core->fail(META_ERR_STATE,
                          "the plan's exchange is not finished: call meta_halo_finish() "
                          "first");
    halo_wait_idle(p);
    slots[p->slot].plan = NULL;
    destroy(p, true);
    *plan = (meta_halo)META_HALO_NULL;
    return META_OK;
}

void comm_plans_drop(bool collective)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < slot_count; ++k) {
        halo_plan *p = slots[k].plan;
        if (!p) continue;
        ++left;
        if (!p->idle) halo_end(p);
        slots[k].plan = NULL;
        destroy(p, collective);
    }
    if (left > 0)
        core->log(META_LOG_WARN, "%u halo plan%s never freed: call meta_halo_free()",
                  (unsigned)left, left == 1 ? " was" : "s were");
}

/* ------------------------------------------------------------------ public */

meta_err meta_halo_create(meta_halo *plan, const meta_halo_desc *desc)
{
    COMM_TRY(comm_enter(__func__));
    return comm_leave(create(plan, desc));
}

static meta_err start(meta_halo plan, void *const *fields)
{
    halo_plan *p;
    COMM_TRY(plan_of(plan, &p));
    return halo_start(p, fields);
}

static meta_err finish(meta_halo plan, meta_event *done)
{
    halo_plan *p;
    COMM_TRY(plan_of(plan, &p));
    return halo_finish(p, done);
}

static meta_err exchange(meta_halo plan, void *const *fields, meta_event *done)
{
    COMM_TRY(start(plan, fields));
    return finish(plan, done);
}

meta_err meta_halo_start(meta_halo plan, void *const *fields)
{
    COMM_TRY(comm_enter(__func__));
    return comm_leave(start(plan, fields));
}

meta_err meta_halo_finish(meta_halo plan, meta_event *done)
{
    COMM_TRY(comm_enter(__func__));
    return comm_leave(finish(plan, done));
}

meta_err meta_halo_exchange(meta_halo plan, void *const *fields, meta_event *done)
{
    COMM_TRY(comm_enter(__func__));
    return comm_leave(exchange(plan, fields, done));
}

meta_err meta_halo_free(meta_halo *plan)
{
    COMM_TRY(comm_enter(__func__));
    return comm_leave(free_plan(plan));
}
