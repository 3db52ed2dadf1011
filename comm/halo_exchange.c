/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_exchange.c
 *  One exchange of a halo plan: everything is packed in one launch on the halo queue and goes to
 * MPI when it is on the host; what arrives goes to the device and is unpacked at once; when the
 * last message is queued there, the compute queue is told to wait for it. Nothing here waits, and
 *  nothing allocates. */
#include "halo.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static halo_plan *active;
static _Atomic int owing; /* exchanges that were finished but have not queued everything */

/* ------------------------------------------------------------------ the end */

static void tell(halo_plan *p)
{
    if (p->done) return;
    p->done = true;
    for (int k = 0; k < p->fields; ++k) {
        if (p->held[k]) core->release(p->held[k]);
        p->held[k] = NULL;
    }
    if (p->tracked) core->event_complete(p->event, p->status, p->text);
    else if (!p->waited) comm_background_error(p->status, p->text);
}

static void set_ordered(halo_plan *p)
{
    if (p->ordered) return;
    p->ordered = true;
    if (p->state == HALO_FINISHING) --owing;
}

static void fail(halo_plan *p, meta_err error)
{
    p->broken = true;
    if (p->status != META_OK) return;
    p->status = error;
    snprintf(p->text, sizeof p->text, "%s", meta_last_error());
}

/* Whether @p pending is over; its error breaks the exchange. */
static bool over(halo_plan *p, meta_pending *pending)
{
    int complete = 0;
    if (!pending->ticket) return true;
    const meta_err error = core->pending_test(pending, &complete);
    if (error != META_OK) fail(p, error);
    if (error == META_OK && !complete) return false;
    core->pending_release(pending);
    return true;
}

static void drop(meta_pending *pending)
{
    if (!pending->ticket) return;
    core->pending_wait(pending);
    core->pending_release(pending);
}

/* Give the exchange up: nothing of it is under way afterwards but sends that MPI has. */
static void abandon(halo_plan *p, meta_err error)
{
    fail(p, error);
    for (int k = 0; k < p->recvs && p->expected > 0; ++k) {
        int complete = 0;
        if (MPI_Test(&p->recv[k], &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && !complete) {
            MPI_Cancel(&p->recv[k]);
            MPI_Wait(&p->recv[k], MPI_STATUS_IGNORE);
        }
    }
    p->expected = 0;
    drop(&p->pack);
    drop(&p->download);
    p->packing = false;
    for (int way = 0; way < p->ways; ++way) {
        drop(&p->link[way].upload);
        drop(&p->link[way].unpack);
    }
    set_ordered(p);
}

/* ------------------------------------------------------------------ steps */

static bool send_packed(halo_plan *p)
{
    const bool packed = over(p, &p->pack), fetched = over(p, &p->download);
    if (!packed || !fetched) return false;
    p->packing = false;
    if (p->status != META_OK) {
        abandon(p, p->status);
    } else if (p->sends > 0) {
        const meta_err error = comm_mpi(MPI_Startall(p->sends, p->send), "MPI_Startall");
        p->sending = error == META_OK;
        if (error != META_OK) abandon(p, error);
    }
    return true;
}

static bool retire_sends(halo_plan *p)
{
    MPI_Status status[HALO_WAYS];
    int complete = 0;
    const int code = MPI_Testall(p->sends, p->send, &complete, status);
    if (code != MPI_SUCCESS) {
        fail(p, comm_mpi_statuses(code, "MPI_Testall", p->sends, status));
        complete = 1;
    }
    if (complete) p->sending = false;
    return complete;
}

/* The message in one direction lies in the host's memory. */
static meta_err unpack(halo_plan *p, halo_link *link)
{
    if (p->recv_staging) {
        const meta_span to = halo_part(&p->recv_span, link->recv_at);
        COMM_TRY(core->copy(p->device, META_QUEUE_HALO, META_COPY_H2D,
                            halo_recv_memory(p, link->recv_at), &to, link->recv_bytes,
                            &link->upload));
    }
    return core->launch(p->device, META_QUEUE_HALO, p->unpacks + link->first_unpack,
                        (size_t)p->fields, &link->unpack);
}

static bool receive(halo_plan *p)
{
    MPI_Status status[HALO_WAYS];
    int index[HALO_WAYS], count = 0;
    const int code = MPI_Testsome(p->recvs, p->recv, &count, index, status);
    if (code != MPI_SUCCESS) {
        abandon(p, comm_mpi_statuses(code, "MPI_Testsome", count > 0 ? count : 0, status));
        return true;
    }
    if (count == MPI_UNDEFINED) count = 0;
    for (int k = 0; k < count && p->expected > 0; ++k) {
        const meta_err error = unpack(p, &p->link[p->recv_way[index[k]]]);
        --p->expected;
        if (error != META_OK) abandon(p, error);
    }
    return count > 0;
}

/* Everything is queued: what the compute queue gets from now on comes after it. */
static bool order(halo_plan *p)
{
    const meta_err error = core->queue_after(p->device, META_QUEUE_COMPUTE, META_QUEUE_HALO);
    if (error != META_OK) fail(p, error);
    set_ordered(p);
    return true;
}

static bool complete(halo_plan *p)
{
    if (p->packing) return false;
    for (int way = 0; way < p->ways; ++way)
        if (!over(p, &p->link[way].upload) || !over(p, &p->link[way].unpack)) return false;
    tell(p);
    return true;
}

static bool advance(halo_plan *p)
{
    bool moved = false;
    if (p->packing) moved |= send_packed(p);
    if (p->expected > 0) moved |= receive(p);
    if (p->sending) moved |= retire_sends(p);
    if (p->state != HALO_FINISHING) return moved;
    if (!p->ordered && p->expected == 0) moved |= order(p);
    if (p->ordered && !p->done) moved |= complete(p);
    return moved;
}

bool comm_plans_advance(void)
{
    bool moved = false;
    for (halo_plan **at = &active; *at;) {
        halo_plan *p = *at;
        moved |= advance(p);
        if (p->done && !p->sending) {
            *at = p->next;
            p->state = HALO_IDLE;
            p->idle = true;
            moved = true;
        } else {
            at = &p->next;
        }
    }
    return moved;
}

bool comm_plans_finishing(void)
{
    for (const halo_plan *p = active; p; p = p->next)
        if (p->state == HALO_FINISHING) return true;
    return false;
}

bool comm_plans_busy(void)
{
    for (const halo_plan *p = active; p; p = p->next)
        if (p->state == HALO_FINISHING || p->packing || p->sending || p->expected > 0) return true;
    return false;
}

bool comm_plans_owing(void)
{
    return owing > 0;
}

void comm_plans_settle(meta_device *device)
{
    for (halo_plan *p = owing > 0 ? active : NULL; p;) {
        if (p->device == device && p->state == HALO_FINISHING && !p->ordered) {
            comm_wait(&p->ordered);
            p = active; /* the list may have changed */
        } else {
            p = p->next;
        }
    }
}

void halo_end(halo_plan *p)
{
    abandon(p, core->fail(META_ERR_STATE,
                          "an exchange of a halo plan was not complete when communication "
                          "was ended"));
    tell(p);
    if (p->sending) {
        /* MPI may still read what nobody received: that memory is left to it. */
        if (p->send_staging) core->scratch_free(p->send_buffer);
        else core->scratch_leave(p->send_buffer);
        p->send_staging = p->send_buffer = NULL;
        p->sending = false;
    }
    comm_plans_advance();
}

void halo_wait_idle(halo_plan *p)
{
    comm_wait(&p->idle);
}

/* ------------------------------------------------------------------ start and finish */

static bool share_cells(const halo_plan *a, const halo_plan *b)
{
    const size_t a_bytes = (size_t)a->field_count * a->element,
                 b_bytes = (size_t)b->field_count * b->element;
    for (int i = 0; i < a->fields; ++i)
        for (int k = 0; k < b->fields; ++k)
            if (a->field[i].address < b->field[k].address + b_bytes &&
                b->field[k].address < a->field[i].address + a_bytes)
                return true;
    return false;
}

/* What earlier exchanges of the same arrays still have to queue comes first. Those of other arrays
 * are not waited for, so that the order of plans may differ from rank to rank. */
static void settle_before(const halo_plan *p)
{
    for (halo_plan *other = owing > 0 ? active : NULL; other;) {
        if (other->state == HALO_FINISHING && !other->ordered && share_cells(other, p)) {
            comm_wait(&other->ordered);
            other = active; /* the list may have changed */
        } else {
            other = other->next;
        }
    }
}

static meta_err begin(halo_plan *p)
{
    p->expected = p->recvs;
    if (p->recvs > 0) COMM_TRY(comm_mpi(MPI_Startall(p->recvs, p->recv), "MPI_Startall"));
    COMM_TRY(core->queue_after(p->device, META_QUEUE_HALO, META_QUEUE_COMPUTE));
    if (p->call_count > 0)
        COMM_TRY(core->launch(p->device, META_QUEUE_HALO, p->calls, p->call_count, &p->pack));
    if (!p->send_staging) return META_OK;
    return core->copy(p->device, META_QUEUE_HALO, META_COPY_D2H, p->send_staging, &p->send_span,
                      p->send_bytes, &p->download);
}

meta_err halo_start(halo_plan *p, void *const *fields)
{
    if (p->state == HALO_STARTED)
        return core->fail(META_ERR_STATE, "the plan's last exchange is not finished: call "
                                          "meta_halo_finish() first");
    halo_wait_idle(p);
    if (p->broken)
        return core->fail(META_ERR_STATE,
                          "an exchange of this plan failed, and its neighbours may be in "
                          "the middle of theirs: free the plan and make a new one");
    COMM_TRY(halo_fields_resolve(p, fields));
    COMM_TRY(halo_fields_calls(p));
    settle_before(p);
    for (int k = 0; k < p->fields; ++k) {
        p->held[k] = fields[k];
        core->hold(fields[k]);
    }
    p->state = HALO_STARTED;
    p->idle = p->done = p->ordered = p->tracked = p->waited = false;
    p->status = META_OK;
    p->packing = true;
    p->next = active;
    active = p;
    const meta_err error = begin(p);
    if (error != META_OK) {
        abandon(p, error);
        p->waited = true;
        tell(p);
        comm_plans_advance();
        return core->fail_as(error, p->text);
    }
    comm_plans_advance();
    return META_OK;
}

meta_err halo_finish(halo_plan *p, meta_event *done)
{
    if (p->state != HALO_STARTED)
        return core->fail(META_ERR_STATE,
                          "the plan has no exchange to finish: call meta_halo_start() "
                          "first");
    p->tracked = done && done != META_ASYNC;
    if (p->tracked) {
        const meta_err error = core->event_new(&p->event);
        if (error != META_OK) return p->tracked = false, error;
    }
    p->waited = !done;
    p->state = HALO_FINISHING;
    if (!p->ordered) ++owing;
    const meta_event event = p->event;
    if (p->tracked) *done = event;
    comm_progress();
    if (done) return META_OK;
    comm_wait(&p->done);
    return p->status == META_OK ? META_OK : core->fail_as(p->status, p->text);
}
