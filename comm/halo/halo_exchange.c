/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_exchange.c
 *  One exchange of a halo plan, as a state machine that the progress engine advances: everything is
 *  packed in one launch on the halo queue; what other ranks take goes to the host segment by
 *  segment, and to MPI or its place in shared memory as soon as it is there; what arrives goes to
 *  the device and is unpacked at once; when the last message is queued there, the compute queue is
 *  made to wait for it. Nothing here waits, and nothing allocates.
 *
 *  Several exchanges of a plan may be under way. MPI matches their messages by the order in which
 *  requests are started, which is therefore on every rank that of their beginning. */
#include "halo/halo_exchange.h"

#include <stdio.h>
#include <string.h>

#include "base/wire.h"
#include "halo/halo.h"

static halo_exchange *active; /* in the order of their beginning */

/* ------------------------------------------------------------------ failures */

static void notify(halo_exchange *x)
{
    if (x->done) return;
    x->done = true;
    comm_record_end(&x->began);
    for (int k = 0; k < x->plan->fields; ++k) {
        if (x->array[k].held) core->release(x->array[k].held);
        x->array[k].held = NULL;
    }
    if (x->tracked) core->event_complete(x->event, x->status, x->text);
    else if (!x->waited) comm_background_error(x->status, x->text);
}

static void set_ordered(halo_exchange *x)
{
    if (x->ordered) return;
    x->ordered = true;
    if (x->state == HALO_ENDED) --comm_owed;
}

static void fail(halo_exchange *x, meta_err error)
{
    const bool lost = error == META_ERR_PEER;
    x->plan->broken = true;
    if (lost) x->plan->lost = true, comm_lose(-1, meta_last_error());
    /* A lost rank outweighs earlier errors: more than this plan ends with it. */
    if (x->status != META_OK && (!lost || x->status == META_ERR_PEER)) return;
    x->status = error;
    snprintf(x->text, sizeof x->text, "%s", meta_last_error());
    snprintf(x->plan->text, sizeof x->plan->text, "%s", x->text);
}

/* Whether @p pending is complete; its error breaks the exchange. */
static bool over(halo_exchange *x, meta_pending *pending)
{
    int complete = 0;
    if (!pending->ticket) return true;
    const meta_err error = core->pending_test(pending, &complete);
    if (error != META_OK) fail(x, error);
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

/* Leave a buffer and its image to MPI, which may still use the one that it was given. */
static void leave_buffer(void **buffer, void **staging)
{
    if (*staging) core->scratch_free(*buffer);
    else if (*buffer) core->scratch_leave(*buffer);
    *buffer = *staging = NULL;
}

/* MPI may still read what nobody received: that memory is left to it. */
static void leave_sends(halo_exchange *x)
{
    bool all = true;
    if (!x->sending) return;
    x->sending = false;
    for (int k = 0; k < x->sends; ++k) {
        int sent = 0;
        const int code = MPI_Test(&x->send[k], &sent, MPI_STATUS_IGNORE);
        all &= sent;
        if (code == MPI_SUCCESS && !sent) MPI_Cancel(&x->send[k]);
    }
    if (all) return;
    halo_requests_free(x->send, &x->sends);
    leave_buffer(&x->send_buffer, &x->send_staging);
    x->seal = NULL;
}

/* Afterwards nothing of the exchange is under way but sends that MPI has. */
static void stop(halo_exchange *x, meta_err error)
{
    bool received = true;
    fail(x, error);
    for (int k = 0; k < x->recvs; ++k) received &= comm_request_give_up(&x->recv[k], true);
    x->expected = 0;
    x->waiting = x->packing = false;
    drop(&x->pack);
    for (int s = 0; s < x->segments; ++s) drop(&x->segment[s].copy);
    for (int b = 0; b < x->batches; ++b) drop(&x->batch[b].done);
    x->batches = 0;
    for (int dir = 0; dir < x->plan->dirs; ++dir) {
        drop(&x->dir[dir].upload);
        x->dir[dir].arrival = HALO_NONE;
    }
    if (!received) {
        /* Some of it is coming, and MPI keeps the memory. */
        halo_requests_free(x->recv, &x->recvs);
        leave_buffer(&x->recv_buffer, &x->recv_staging);
        x->seal = NULL;
    }
    set_ordered(x);
}

/* Give the exchange up, and with it those begun later: their receives would match its messages. A
 * lost peer ends all of them. */
static void abandon(halo_exchange *x, meta_err error)
{
    stop(x, error);
    for (halo_exchange *other = x->plan->exchanges; other; other = other->next) {
        if (other == x || other->state == HALO_IDLE || other->done) continue;
        if (other->number < x->number && error != META_ERR_PEER) continue;
        stop(other, core->fail_as(error, x->text));
        if (error == META_ERR_PEER) leave_sends(other);
    }
    core->fail_as(error, x->text);
}

/* ------------------------------------------------------------------ what is sent */

/* Launch the packing, and behind it the copies to the host. */
static meta_err pack(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    meta_device *device = x->on.device;
    x->waiting = false;
    x->packing = true;
    if (p->kernels == 0) return META_OK; /* the device has no part in it */
    META_TRY(core->queue_after(device, META_QUEUE_HALO, META_QUEUE_COMPUTE));
    if (p->start_kernels > 0)
        META_TRY(core->launch(device, META_QUEUE_HALO, halo_moves_of(x), (size_t)p->start_kernels,
                              &x->pack));
    for (int s = 0; s < x->segments; ++s) {
        halo_segment *g = &x->segment[s];
        const meta_span from = comm_span_part(&x->send_span, g->at);
        void *to = g->at < p->send_bytes ? (void *)halo_send_memory(x, g->at)
                   : x->slot_staging     ? x->slot_staging
                                         : (void *)halo_window_mine(p, x->number, 0);
        META_TRY(core->copy(device, META_QUEUE_HALO, META_COPY_D2H, to, &from, g->bytes, &g->copy));
    }
    return META_OK;
}

/* Whether the neighbours have taken what the exchange before the last left in the window. */
static bool slot_is_free(const halo_exchange *x)
{
    if (!x->plan->window) return true;
    for (int dir = 0; dir < x->plan->dirs; ++dir) {
        const halo_link *link = &x->plan->link[dir];
        if (link->used && link->out == HALO_ROUTE_SHARED && link->send_bytes > 0 &&
            !halo_window_free_to_fill(x->plan, x->number, dir))
            return false;
    }
    return true;
}

static bool pack_when_free(halo_exchange *x)
{
    if (!slot_is_free(x)) return false;
    const meta_err error = pack(x);
    if (error != META_OK) abandon(x, error);
    return true;
}

/* Whether every exchange that was begun earlier has given MPI all its messages. */
static bool may_send(const halo_exchange *x)
{
    for (const halo_exchange *e = x->plan->exchanges; e && x->sends > 0; e = e->next)
        if (e->number < x->number && (e->waiting || e->packing)) return false;
    return true;
}

/* The messages of segment @p s, or without segments all, are on the host. */
static meta_err issue(halo_exchange *x, int s)
{
    const halo_plan *p = x->plan;
    const int first = s < 0 ? 0 : x->segment[s].first_part;
    const int parts = s < 0 ? p->sends - p->seals : x->segment[s].parts;
    if (x->began) halo_record_sent(x, s);
    if (s >= 0 && x->slot_staging && x->segment[s].at >= p->send_bytes)
        memcpy(halo_window_mine(p, x->number, 0), x->slot_staging, x->segment[s].bytes);
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        if (!link->used || link->out != HALO_ROUTE_SHARED || x->dir[dir].segment != s ||
            link->send_bytes == 0)
            continue;
        if (link->sealed) halo_seal_slot(x, dir);
        halo_window_fill(p, x->number, dir);
    }
    for (int k = 0; k < parts && p->seals > 0; ++k) META_TRY(halo_seal_part(x, first + k));
    if (parts == 0) return META_OK;
    META_TRY(comm_mpi(MPI_Startall(parts, x->send + first), "MPI_Startall"));
    x->sending = true;
    return META_OK;
}

static meta_err issue_last(halo_exchange *x, int s)
{
    x->packing = false;
    META_TRY(issue(x, s));
    return x->plan->seals > 0 ? halo_seals_send(x) : META_OK;
}

static meta_err issue_ready(halo_exchange *x, bool *moved)
{
    if (x->segments == 0) {
        *moved = true;
        return issue_last(x, -1);
    }
    while (x->fetched < x->segments && over(x, &x->segment[x->fetched].copy)) {
        const int s = x->fetched;
        *moved = true;
        if (x->status != META_OK) return x->status;
        META_TRY(s + 1 < x->segments ? issue(x, s) : issue_last(x, s));
        ++x->fetched;
    }
    return META_OK;
}

/* MPI takes a device's memory only when the kernels are done; copies are queued behind them. */
static bool send_packed(halo_exchange *x)
{
    bool moved = false;
    if (!over(x, &x->pack) || !may_send(x)) return false;
    const meta_err error = x->status == META_OK ? issue_ready(x, &moved) : x->status;
    if (error == META_OK) return moved;
    abandon(x, error);
    return true;
}

/* What cannot be tested any more is left to MPI, and the neighbours are not waited for: they may
 * have given up in another exchange. */
static bool retire_sends(halo_exchange *x)
{
    int complete = 0;
    const int code = MPI_Testall(x->sends, x->send, &complete, x->statuses);
    if (code != MPI_SUCCESS) {
        abandon(x, comm_mpi_statuses(code, "MPI_Testall", x->sends, x->statuses));
        leave_sends(x);
        return true;
    }
    if (complete && !x->packing) x->sending = false;
    return complete && !x->packing;
}

/* ------------------------------------------------------------------ what arrives */

/* Copy what lies at @p host to the receive buffer's part at @p at. */
static meta_err upload(halo_exchange *x, void *host, size_t at, size_t bytes, meta_pending *pending)
{
    const meta_span to = comm_span_part(&x->recv_span, at);
    if (pending->ticket)
        core->pending_release(pending); /* the queue's last one implies the others */
    return core->copy(x->on.device, META_QUEUE_HALO, META_COPY_H2D, host, &to, bytes, pending);
}

static meta_err check_length(const halo_exchange *x, const halo_part *part,
                             const MPI_Status *status)
{
    char name[HALO_TEXT];
    int bytes = 0;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    if ((size_t)bytes == part->bytes) return META_OK;
    halo_dir_name(x->plan, part->dir, name);
    return core->fail(META_ERR_MISMATCH,
                      "a message of %d bytes came from %s, rank %d of the Cartesian communicator, "
                      "tag %d, where %zu were agreed on",
                      bytes, name, x->plan->link[part->dir].peer, status->MPI_TAG, part->bytes);
}

/* All from direction @p dir is here. What came damaged is left out, and the exchange goes on, so
 * that no other rank waits for this one. @return whether it can be unpacked */
static bool arrive(halo_exchange *x, int dir)
{
    const halo_link *link = &x->plan->link[dir];
    x->dir[dir].arrival = HALO_ARRIVED;
    if (x->began) halo_record_arrived(x, dir);
    const meta_err error = link->sealed ? halo_seal_check(x, dir) : META_OK;
    if (error == META_OK) return true;
    if (x->damage == META_OK) snprintf(x->text, sizeof x->text, "%s", meta_last_error());
    if (x->damage == META_OK) x->damage = error;
    x->dir[dir].arrival = HALO_NONE;
    --x->expected;
    if (link->in == HALO_ROUTE_SHARED) halo_window_take(x->plan, x->number, dir);
    return false;
}

static meta_err take_part(halo_exchange *x, int k, const MPI_Status *status)
{
    const halo_part *part = &x->plan->recv_part[k];
    halo_dir *d = &x->dir[part->dir];
    META_TRY(check_length(x, part, status));
    if (x->recv_staging && !part->seal)
        META_TRY(upload(x, halo_recv_memory(x, part->at), part->at, part->bytes, &d->upload));
    if (--d->parts_left == 0) arrive(x, part->dir);
    return META_OK;
}

static bool receive_messages(halo_exchange *x)
{
    int count = 0;
    const int code = MPI_Testsome(x->recvs, x->recv, &count, x->index, x->statuses);
    if (code != MPI_SUCCESS) {
        abandon(x, comm_mpi_statuses(code, "MPI_Testsome", count > 0 ? count : 0, x->statuses));
        return true;
    }
    if (count == MPI_UNDEFINED) count = 0;
    for (int k = 0; k < count && x->expected > 0; ++k) {
        const meta_err error = take_part(x, x->index[k], &x->statuses[k]);
        if (error != META_OK) abandon(x, error);
    }
    return count > 0;
}

static bool receive_from_window(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    bool moved = false;
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        if (x->dir[dir].arrival != HALO_EXPECTED || link->in != HALO_ROUTE_SHARED) continue;
        if (!halo_window_filled(p, x->number, dir)) continue;
        moved = true;
        if (!arrive(x, dir) || x->on.host) continue;
        const meta_err error =
            upload(x, halo_window_theirs(p, x->number, dir), p->recv_bytes + link->recv_at,
                   link->recv_bytes, &x->dir[dir].upload);
        if (error != META_OK) return abandon(x, error), true;
    }
    return moved;
}

/* Launch the kernels of everything from direction @p first to @p last. */
static void launch(halo_exchange *x, int first, int last)
{
    const halo_link *from = &x->plan->link[first], *to = &x->plan->link[last];
    const int calls = to->first_kernel + to->kernels - from->first_kernel;
    halo_batch *batch = &x->batch[x->batches];
    *batch = (halo_batch){.first = first, .last = last};
    for (int dir = first; dir <= last; ++dir) {
        if (x->dir[dir].arrival != HALO_ARRIVED) continue;
        x->dir[dir].arrival = HALO_UNPACKING;
        --x->expected;
    }
    const meta_err error =
        core->launch(x->on.device, META_QUEUE_HALO, halo_moves_of(x) + from->first_kernel,
                     (size_t)calls, &batch->done);
    ++x->batches;
    if (error != META_OK) abandon(x, error);
}

/* All that has arrived, neighbouring directions in one launch. */
static bool unpack_arrived(halo_exchange *x)
{
    const int dirs = x->plan->dirs;
    bool moved = false;
    for (int dir = 0; dir < dirs; ++dir) {
        int last = dir;
        if (x->dir[dir].arrival != HALO_ARRIVED) continue;
        for (int next = dir + 1; next < dirs; ++next) {
            if (x->dir[next].arrival == HALO_ARRIVED) last = next;
            else if (x->plan->link[next].kernels > 0) break;
        }
        launch(x, dir, last);
        dir = last;
        moved = true;
    }
    return moved;
}

/* Sums one after the other, in the order of directions. */
static bool add_in_turn(halo_exchange *x)
{
    bool moved = false;
    for (; x->turn < x->plan->dirs && x->expected > 0; ++x->turn) {
        if (x->dir[x->turn].arrival == HALO_NONE) continue;
        if (x->dir[x->turn].arrival != HALO_ARRIVED) break;
        launch(x, x->turn, x->turn);
        moved = true;
    }
    return moved;
}

static bool receive(halo_exchange *x)
{
    bool moved = x->recvs > 0 && receive_messages(x);
    if (x->plan->window && x->expected > 0) moved |= receive_from_window(x);
    /* Sums change cells that are still to be packed; and only behind the packing is the halo queue
     * behind the work that reads the ghosts as they were. */
    if (x->waiting) return moved;
    if (x->expected > 0) moved |= x->plan->op == META_HALO_ADD ? add_in_turn(x) : unpack_arrived(x);
    return moved;
}

/* What was unpacked may be overwritten by its sender. */
static bool retire_batches(halo_exchange *x)
{
    bool all = true;
    for (int b = 0; b < x->batches; ++b) {
        const halo_batch *batch = &x->batch[b];
        if (!over(x, &x->batch[b].done)) {
            all = false;
            continue;
        }
        for (int dir = batch->first; dir <= batch->last; ++dir) {
            if (x->dir[dir].arrival != HALO_UNPACKING) continue;
            x->dir[dir].arrival = HALO_UNPACKED;
            if (x->plan->link[dir].in == HALO_ROUTE_SHARED)
                halo_window_take(x->plan, x->number, dir);
        }
    }
    return all;
}

/* ------------------------------------------------------------------ progress */

static bool complete(halo_exchange *x)
{
    if (x->packing || !retire_batches(x)) return false;
    for (int dir = 0; dir < x->plan->dirs && !x->on.host; ++dir)
        if (!over(x, &x->dir[dir].upload)) return false;
    if (x->status == META_OK) halo_traffic_count(x);
    else x->damage = META_OK;
    if (x->damage != META_OK) x->status = x->damage;
    notify(x);
    return true;
}

static bool advance(halo_exchange *x)
{
    bool moved = false;
    if (x->waiting) moved |= pack_when_free(x);
    if (x->packing) moved |= send_packed(x);
    if (x->expected > 0) moved |= receive(x);
    if (x->sending) moved |= retire_sends(x);
    if (x->batches > 0 && !x->done) retire_batches(x);
    if (x->state != HALO_ENDED) return moved;
    if (!x->ordered && x->expected == 0 && !x->waiting) {
        /* All is queued: what the compute queue gets from now on comes after it. */
        const meta_err error =
            x->plan->kernels == 0
                ? META_OK
                : core->queue_after(x->on.device, META_QUEUE_COMPUTE, META_QUEUE_HALO);
        if (error != META_OK) fail(x, error);
        set_ordered(x);
        moved = true;
    }
    if (x->ordered && !x->done) moved |= complete(x);
    return moved;
}

static bool exchanges_advance(void)
{
    bool moved = false;
    for (halo_exchange **at = &active; *at;) {
        halo_exchange *x = *at;
        if (advance(x)) {
            moved = true;
            x->moved = comm_now;
        }
        if (x->done && !x->sending) {
            *at = x->active;
            x->state = HALO_IDLE;
            moved = true;
        } else {
            at = &x->active;
        }
    }
    return moved;
}

static bool exchanges_unfinished(void)
{
    for (const halo_exchange *x = active; x; x = x->active)
        if (x->state == HALO_ENDED) return true;
    return false;
}

bool comm_exchanges_busy(void)
{
    for (const halo_exchange *x = active; x; x = x->active)
        if (x->state == HALO_ENDED || x->waiting || x->packing || x->sending || x->expected > 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ order among arrays */

/* An exchange while it is the one it was: it may be complete and begun anew by another thread. */
typedef struct reference {
    const halo_exchange *x;
    uint64_t number;
} reference;

static bool is_unordered(const void *what)
{
    const reference *r = what;
    return r->x->number == r->number && !r->x->ordered;
}

/* Whether the exchange's arrays share a byte with one of the ranges. */
static bool touches(const halo_exchange *x, const meta_range *ranges, int count)
{
    for (int k = 0; k < x->plan->fields; ++k) {
        const halo_field *f = &x->plan->field[k];
        const char *first = x->array[k].span.address;
        for (int r = 0; r < count; ++r) {
            const char *other = ranges[r].address;
            if (other < first + (size_t)f->count * f->element && first < other + ranges[r].bytes)
                return true;
        }
    }
    return false;
}

/* Wait until ended exchanges of these bytes have queued all their device work. */
static void order_behind(const meta_range *ranges, int count)
{
    for (halo_exchange *x = comm_owed > 0 ? active : NULL; x;) {
        if (x->state == HALO_ENDED && !x->ordered && touches(x, ranges, count)) {
            comm_wait_while(is_unordered, &(reference){x, x->number}, 0);
            x = active; /* the list may have changed */
        } else {
            x = x->active;
        }
    }
}

/* ------------------------------------------------------------------ without the neighbours */

/* What @p x waits for: a direction from which nothing has come, or in which nothing was taken. */
static int missing(const halo_exchange *x, const char **what)
{
    const halo_plan *p = x->plan;
    *what = "has not sent";
    for (int dir = 0; dir < p->dirs; ++dir)
        if (x->dir[dir].arrival == HALO_EXPECTED) return dir;
    *what = "has not taken";
    for (int dir = 0; dir < p->dirs && x->waiting; ++dir)
        if (p->link[dir].used && p->link[dir].out == HALO_ROUTE_SHARED &&
            !halo_window_free_to_fill(p, x->number, dir))
            return dir;
    for (int k = 0; k < x->sends && x->sending; ++k) {
        int sent = 0;
        if (MPI_Request_get_status(x->send[k], &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && !sent)
            return p->send_part[k].dir;
    }
    return -1;
}

static bool describe(const halo_exchange *x, char *text, size_t room)
{
    char name[HALO_TEXT];
    const char *what;
    const int dir = missing(x, &what);
    if (dir < 0) return false;
    const bool taking = strcmp(what, "has not taken") == 0;
    halo_dir_name(x->plan, dir, name);
    snprintf(text, room,
             "halo exchange %llu: rank %d of the Cartesian communicator, the neighbour towards %s, "
             "%s its message of tag %d",
             (unsigned long long)x->number, x->plan->link[dir].peer, name, what,
             halo_tag(x->plan, HALO_TAG_DATA, taking ? dir : x->plan->dirs - 1 - dir));
    return true;
}

static bool may_wait(const halo_exchange *x)
{
    return x->state == HALO_ENDED || x->waiting;
}

static bool exchanges_describe(char *text, size_t room)
{
    for (const halo_exchange *x = active; x; x = x->active)
        if (may_wait(x) && describe(x, text, room)) return true;
    return false;
}

void halo_give_up(halo_exchange *x, meta_err error)
{
    abandon(x, error);
    notify(x);
    leave_sends(x);
    exchanges_advance();
}

/* Whether a neighbour from which something is missing has ended. */
static bool has_lost_neighbour(const halo_exchange *x)
{
    const halo_plan *p = x->plan;
    for (int dir = 0; dir < p->dirs; ++dir)
        if (p->link[dir].used && p->link[dir].near && comm_is_late(0, p->link[dir].world))
            return true;
    return false;
}

static void exchanges_give_up(double began)
{
    char text[COMM_TEXT / 2];
    for (halo_exchange *x = active; x;) {
        const double waited = comm_waited_since(began, x->moved, -1);
        if (x->state != HALO_ENDED || !(comm_is_late(waited, -1) || has_lost_neighbour(x)) ||
            !describe(x, text, sizeof text)) {
            x = x->active;
            continue;
        }
        const char *what;
        const int dir = missing(x, &what);
        comm_mates_describe(comm_job.peer_timeout / 2, text, sizeof text);
        if (dir >= 0) comm_lose(x->plan->link[dir].world, text);
        halo_give_up(x, core->fail(META_ERR_PEER, "%s for %.3g s (META_TIMEOUT)", text, waited));
        x = active; /* the list has changed */
    }
}

const comm_source comm_exchange_source = {.advance = exchanges_advance,
                                          .unfinished = exchanges_unfinished,
                                          .busy = comm_exchanges_busy,
                                          .describe = exchanges_describe,
                                          .give_up = exchanges_give_up,
                                          .queue_owed = order_behind};

static bool is_under_way(const void *what)
{
    const reference *r = what;
    return r->x->number == r->number && r->x->state != HALO_IDLE;
}

static bool any_under_way(const void *plan)
{
    for (const halo_exchange *x = ((const halo_plan *)plan)->exchanges; x; x = x->next)
        if (x->state != HALO_IDLE || x->waited) return true;
    return false;
}

void halo_wait_idle(const halo_plan *p)
{
    comm_wait_while(any_under_way, p, 0);
}

/* ------------------------------------------------------------------ beginning and ending */

/* Ended exchanges of the same arrays must have queued their device work first. Those of other
 * arrays are not waited for, so that the order of plans may differ from rank to rank. */
static void order_behind_others(const halo_exchange *x)
{
    for (int k = 0; k < x->plan->fields && comm_owed > 0; ++k) {
        const halo_field *f = &x->plan->field[k];
        const meta_range range = {x->array[k].span.address, (uint64_t)f->count * f->element};
        order_behind(&range, 1);
    }
}

static void reset(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    x->state = HALO_BEGUN;
    x->done = x->ordered = x->tracked = x->waited = false;
    x->status = x->damage = META_OK;
    x->fetched = x->batches = x->turn = x->expected = 0;
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        halo_dir *d = &x->dir[dir];
        d->arrival = link->kernels == 0 ? HALO_NONE : HALO_EXPECTED;
        d->parts_left = 0;
        d->checksum = COMM_CHECKSUM_START;
        x->expected += link->kernels > 0;
        /* What is packed here is unpacked behind it, on the same queue. */
        if (link->kernels > 0 && link->peer == p->rank) d->arrival = HALO_ARRIVED;
    }
    for (int k = 0; k < p->recvs; ++k) ++x->dir[p->recv_part[k].dir].parts_left;
}

static meta_err begin(halo_exchange *x)
{
    if (comm_profiled()) comm_record_begin(&x->began);
    META_TRY(halo_moves_bind(x));
    if (x->recvs > 0) META_TRY(comm_mpi(MPI_Startall(x->recvs, x->recv), "MPI_Startall"));
    if (slot_is_free(x)) return pack(x);
    x->waiting = true;
    return META_OK;
}

static meta_err check_unbroken(const halo_plan *p)
{
    if (p->lost) return core->fail_as(META_ERR_PEER, p->text);
    META_TRY(comm_check_lost("while ghost cells are exchanged"));
    if (!p->broken) return META_OK;
    return core->fail(META_ERR_STATE,
                      "an exchange of this plan failed, and its neighbours may be in "
                      "the middle of theirs: free the plan and make a new one");
}

meta_err halo_begin(halo_plan *p, void *const *fields, meta_exchange *handle)
{
    meta_span first;
    halo_exchange *x;
    META_TRY(check_unbroken(p));
    if (!fields) return core->fail(META_ERR_ARGUMENT, "argument 'fields' is NULL");
    META_TRY(halo_field_resolve(p->field, fields[0], &first));
    META_TRY(halo_exchange_acquire(p, first.device, &x));
    META_TRY(halo_fields_resolve(x, fields, &first));
    x->waited = true; /* no other thread takes it while this one waits */
    order_behind_others(x);
    x->waited = false;
    META_TRY(check_unbroken(p));
    for (int k = 0; k < p->fields; ++k) {
        x->array[k].held = fields[k];
        core->hold(fields[k]);
    }
    x->number = ++p->number;
    reset(x);
    halo_exchange **last = &active;
    while (*last) last = &(*last)->active;
    *last = x;
    x->active = NULL;
    const meta_err error = begin(x);
    if (error != META_OK) {
        abandon(x, error);
        x->waited = true;
        notify(x);
        x->waited = false;
        exchanges_advance();
        return core->fail_as(error, p->text);
    }
    *handle = halo_handle_new(x);
    exchanges_advance();
    return META_OK;
}

meta_err halo_end(halo_exchange *x, meta_event *done)
{
    meta_err error = META_OK, outcome = META_OK;
    char text[COMM_TEXT];
    x->tracked = done && done != META_ASYNC;
    if (x->tracked) error = core->event_new(&x->event);
    if (error != META_OK) {
        /* The caller gets no event, but is not left in the middle of an exchange. */
        snprintf(text, sizeof text, "%s", meta_last_error());
        x->tracked = false;
        done = NULL;
    }
    x->waited = !done;
    x->state = HALO_ENDED;
    x->moved = comm_now;
    if (!x->ordered) ++comm_owed;
    if (x->tracked) *done = x->event;
    comm_advance();
    if (done) return META_OK;
    comm_wait(&x->done);
    outcome = x->status;
    if (outcome != META_OK) core->fail_as(outcome, x->text);
    x->waited = false;
    return error == META_OK ? outcome : core->fail_as(error, text);
}

meta_err halo_start(halo_plan *p, void *const *fields)
{
    bool never;
    const halo_exchange *x = halo_handle_find(p->last, &never);
    if (x && x->state == HALO_BEGUN)
        return core->fail(META_ERR_STATE, "the plan's last exchange is not finished: call "
                                          "meta_halo_finish() first");
    if (x) comm_wait_while(is_under_way, &(reference){x, x->number}, 0);
    return halo_begin(p, fields, &p->last);
}

meta_err halo_finish(halo_plan *p, meta_event *done)
{
    bool never;
    halo_exchange *x = halo_handle_find(p->last, &never);
    if (!x || x->state != HALO_BEGUN)
        return core->fail(META_ERR_STATE,
                          "the plan has no exchange to finish: call meta_halo_start() "
                          "first");
    return halo_end(x, done);
}

void halo_untrack(halo_plan *p, meta_event event)
{
    bool never;
    halo_exchange *x = halo_handle_find(p->last, &never);
    if (!x || !x->tracked || x->event.slot != event.slot || x->event.generation != event.generation)
        return;
    x->tracked = false;
    if (x->done) comm_background_error(x->status, x->text);
}
