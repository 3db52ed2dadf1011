/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_pool.c
 *  The exchanges of plans: made when as many are under way as never before on a device, kept, and
 *  freed with their plan; and their handles. */
#include "halo/halo_exchange.h"

#include <stdlib.h>

/* A handle names a slot and how often it had been used; the table only grows. */
static struct {
    halo_exchange *exchange;
    uint32_t generation;
} * slots;
static uint32_t slot_count;

static meta_err take_slot(halo_exchange *x)
{
    for (uint32_t k = 0; k < slot_count; ++k)
        if (!slots[k].exchange) return slots[x->slot = k].exchange = x, META_OK;
    void *more = slot_count < UINT32_MAX ? realloc(slots, (slot_count + 1) * sizeof *slots) : NULL;
    if (!more) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for an exchange");
    slots = more;
    slots[slot_count].generation = 0;
    slots[x->slot = slot_count++].exchange = x;
    return META_OK;
}

meta_exchange halo_handle_new(const halo_exchange *x)
{
    return (meta_exchange){x->slot, ++slots[x->slot].generation};
}

halo_exchange *halo_handle_find(meta_exchange handle, bool *never)
{
    *never = handle.generation == 0 || handle.slot >= slot_count ||
             handle.generation > slots[handle.slot].generation;
    return *never || handle.generation != slots[handle.slot].generation
               ? NULL
               : slots[handle.slot].exchange;
}

static void destroy(halo_exchange *x)
{
    if (x->slot < slot_count && slots[x->slot].exchange == x) slots[x->slot].exchange = NULL;
    halo_exchange_release(x);
    free(x);
}

meta_err halo_exchange_acquire(halo_plan *p, meta_device *device, halo_exchange **found)
{
    for (halo_exchange *x = p->exchanges; x; x = x->next)
        if (x->on.device == device && x->state == HALO_IDLE && !x->waited)
            return *found = x, META_OK;
    halo_exchange *x = calloc(1, sizeof *x);
    if (!x) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for an exchange");
    x->plan = p;
    x->slot = UINT32_MAX;
    meta_err error = take_slot(x);
    if (error == META_OK) error = halo_device_find(device, &x->on);
    if (error == META_OK) error = halo_exchange_allocate(x);
    if (error != META_OK) return destroy(x), error;
    x->next = p->exchanges;
    p->exchanges = x;
    *found = x;
    return META_OK;
}

void halo_exchanges_free(halo_plan *p)
{
    for (halo_exchange *x; (x = p->exchanges);) {
        p->exchanges = x->next;
        destroy(x);
    }
}
