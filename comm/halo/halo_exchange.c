/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_exchange.c
 *  One exchange of a halo plan, as a state machine that the progress engine advances: everything is
 *  packed in one launch on the halo queue; what other ranks take goes to the host segment by
 * segment, and to MPI or its place in shared memory as soon as it is there; what arrives goes to
 * the device and is unpacked at once; when the last message is queued there, the compute queue is
 * told to wait for it. Nothing here waits, and nothing allocates. */
#include "halo/halo.h"

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
    comm_record_end(&p->began);
    for (int k = 0; k < p->fields; ++k) {
        if (p->field[k].held) core->release(p->field[k].held);
        p->field[k].held = NULL;
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
    const bool lost = error == META_ERR_PEER;
    p->broken = true;
    if (lost) p->lost = comm_job.lost = true;
    /* A rank that was lost counts more than what went before: more than this plan ends with it. */
    if (p->status != META_OK && (!lost || p->status == META_ERR_PEER)) return;
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

/* Give a buffer and its image to MPI, which may still use the one that it was given. */
static void leave_buffer(void **buffer, void **staging)
{
    if (*staging) core->scratch_free(*buffer);
    else if (*buffer) core->scratch_leave(*buffer);
    *buffer = *staging = NULL;
}

/* Cancel what has not come. false: some of it is coming, and MPI keeps the memory. */
static bool cancel_receives(halo_plan *p)
{
    bool over = true;
    for (int k = 0; k < p->recvs; ++k) over &= comm_request_give_up(&p->recv[k], true);
    return over;
}

/* Give the exchange up: nothing of it is under way afterwards but sends that MPI has. */
static void abandon(halo_plan *p, meta_err error)
{
    fail(p, error);
    const bool received = cancel_receives(p);
    p->expected = 0;
    p->waiting = p->packing = false;
    drop(&p->pack);
    for (int s = 0; s < p->segments; ++s) drop(&p->segment[s].copy);
    for (int b = 0; b < p->batches; ++b) drop(&p->batch[b].done);
    p->batches = 0;
    for (int way = 0; way < p->ways; ++way) {
        drop(&p->link[way].upload);
        p->link[way].arrival = HALO_NONE;
    }
    if (!received) {
        halo_requests_free(p->recv, &p->recvs);
        leave_buffer(&p->recv_buffer, &p->recv_staging);
        p->seal = NULL;
    }
    set_ordered(p);
}

/* ------------------------------------------------------------------ what is sent */

/* Launch the packing, and behind it the copies to the host. */
static meta_err pack(halo_plan *p)
{
    const int slot = (int)(p->number % HALO_SLOTS);
    p->waiting = false;
    p->packing = true;
    if (p->call_count == 0) return META_OK; /* the device has no part in it */
    META_TRY(core->queue_after(p->device, META_QUEUE_HALO, META_QUEUE_COMPUTE));
    if (p->start_calls > 0)
        META_TRY(
            core->launch(p->device, META_QUEUE_HALO, p->calls, (size_t)p->start_calls, &p->pack));
    for (int s = 0; s < p->segments; ++s) {
        halo_segment *g = &p->segment[s];
        const meta_span from = comm_span_part(&p->send_span, g->at);
        void *to = g->at < p->mpi_bytes ? halo_send_memory(p, g->at)
                                        : halo_window_mine(p, slot, g->at - p->mpi_bytes);
        META_TRY(
            core->copy(p->device, META_QUEUE_HALO, META_COPY_D2H, to, &from, g->bytes, &g->copy));
    }
    return META_OK;
}

static bool slot_is_free(const halo_plan *p)
{
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (link->used && link->out == META_PATH_SHARED && link->send_bytes > 0 &&
            !halo_window_free_to_fill(p, way))
            return false;
    }
    return true;
}

/* What the neighbours have not read must not be overwritten. */
static bool pack_when_free(halo_plan *p)
{
    if (!slot_is_free(p)) return false;
    const meta_err error = pack(p);
    if (error != META_OK) abandon(p, error);
    return true;
}

/* The messages of segment @p s, or without segments all, are on the host. */
static meta_err issue(halo_plan *p, int s)
{
    const int first = s < 0 ? 0 : p->segment[s].first_part;
    const int parts = s < 0 ? p->sends - p->seals : p->segment[s].parts;
    if (p->began) halo_record_sent(p, s);
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (!link->used || link->out != META_PATH_SHARED || link->segment != s ||
            link->send_bytes == 0)
            continue;
        if (link->sealed) halo_seal_slot(p, way);
        halo_window_fill(p, way);
    }
    for (int k = 0; k < parts && p->seals > 0; ++k) META_TRY(halo_seal_part(p, first + k));
    if (parts == 0) return META_OK;
    META_TRY(comm_mpi(MPI_Startall(parts, p->send + first), "MPI_Startall"));
    p->sending = true;
    return META_OK;
}

static meta_err issue_last(halo_plan *p, int s)
{
    p->packing = false;
    META_TRY(issue(p, s));
    return p->seals > 0 ? halo_seals_send(p) : META_OK;
}

static meta_err issue_ready(halo_plan *p, bool *moved)
{
    if (p->segments == 0) {
        *moved = true;
        return issue_last(p, -1);
    }
    while (p->fetched < p->segments && over(p, &p->segment[p->fetched].copy)) {
        const int s = p->fetched;
        *moved = true;
        if (p->status != META_OK) return p->status;
        META_TRY(s + 1 < p->segments ? issue(p, s) : issue_last(p, s));
        ++p->fetched;
    }
    return META_OK;
}

static bool send_packed(halo_plan *p)
{
    bool moved = false;
    if (!over(p, &p->pack)) return false;
    meta_err error = p->status;
    /* MPI takes a device's memory only when the kernels are done; copies wait for them by
     * themselves. */
    if (error == META_OK) error = issue_ready(p, &moved);
    if (error != META_OK) {
        abandon(p, error);
        return true;
    }
    return moved;
}

/* MPI may still read what nobody received: that memory is left to it. */
static void leave_sends(halo_plan *p)
{
    bool over = true;
    if (!p->sending) return;
    p->sending = false;
    for (int k = 0; k < p->sends; ++k) {
        int sent = 0;
        const int code = MPI_Test(&p->send[k], &sent, MPI_STATUS_IGNORE);
        over &= sent;
        if (code == MPI_SUCCESS && !sent) MPI_Cancel(&p->send[k]);
    }
    if (over) return;
    halo_requests_free(p->send, &p->sends);
    leave_buffer(&p->send_buffer, &p->send_staging);
    p->seal = NULL;
}

/* What cannot be asked about any more is left to MPI, and the neighbours are not waited for: they
 * may have given up in another exchange. */
static bool retire_sends(halo_plan *p)
{
    int complete = 0;
    const int code = MPI_Testall(p->sends, p->send, &complete, p->statuses);
    if (code != MPI_SUCCESS) {
        abandon(p, comm_mpi_statuses(code, "MPI_Testall", p->sends, p->statuses));
        leave_sends(p);
        return true;
    }
    if (complete && !p->packing) p->sending = false;
    return complete && !p->packing;
}

/* ------------------------------------------------------------------ what arrives */

/* Copy what lies at @p host to the receive buffer's part at @p at. */
static meta_err upload(halo_plan *p, void *host, size_t at, size_t bytes, meta_pending *pending)
{
    const meta_span to = comm_span_part(&p->recv_span, at);
    if (pending->ticket) core->pending_release(pending); /* on a queue the last one tells of all */
    return core->copy(p->device, META_QUEUE_HALO, META_COPY_H2D, host, &to, bytes, pending);
}

static meta_err check_length(const halo_plan *p, const halo_part *part, const MPI_Status *status)
{
    char name[HALO_TEXT];
    int bytes = 0;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    if ((size_t)bytes == part->bytes) return META_OK;
    halo_way_name(p, part->way, name);
    return core->fail(META_ERR_MISMATCH,
                      "a message of %d bytes came from %s, rank %d of the Cartesian communicator, "
                      "tag %d, where %zu were agreed on",
                      bytes, name, p->link[part->way].peer, status->MPI_TAG, part->bytes);
}

/* What came damaged is left out, and the exchange goes on: no other rank is to wait for this one.
 */
static void leave_out(halo_plan *p, int way, meta_err error)
{
    halo_link *link = &p->link[way];
    if (p->damage == META_OK) snprintf(p->text, sizeof p->text, "%s", meta_last_error());
    if (p->damage == META_OK) p->damage = error;
    link->arrival = HALO_NONE;
    --p->expected;
    if (link->in == META_PATH_SHARED) halo_window_take(p, way);
}

/* All of it has come. @return whether it can be unpacked */
static bool arrive(halo_plan *p, int way)
{
    p->link[way].arrival = HALO_ARRIVED;
    if (p->began) halo_record_arrived(p, way);
    if (!p->link[way].sealed) return true;
    const meta_err error = halo_seal_check(p, way);
    if (error != META_OK) leave_out(p, way, error);
    return error == META_OK;
}

static meta_err take_part(halo_plan *p, int k, const MPI_Status *status)
{
    const halo_part *part = &p->recv_part[k];
    halo_link *link = &p->link[part->way];
    META_TRY(check_length(p, part, status));
    if (p->recv_staging && !part->seal)
        META_TRY(upload(p, halo_recv_memory(p, part->at), part->at, part->bytes, &link->upload));
    if (--link->parts_left == 0) arrive(p, part->way);
    return META_OK;
}

static bool receive_messages(halo_plan *p)
{
    int count = 0;
    const int code = MPI_Testsome(p->recvs, p->recv, &count, p->index, p->statuses);
    if (code != MPI_SUCCESS) {
        abandon(p, comm_mpi_statuses(code, "MPI_Testsome", count > 0 ? count : 0, p->statuses));
        return true;
    }
    if (count == MPI_UNDEFINED) count = 0;
    for (int k = 0; k < count && p->expected > 0; ++k) {
        const meta_err error = take_part(p, p->index[k], &p->statuses[k]);
        if (error != META_OK) abandon(p, error);
    }
    return count > 0;
}

static bool look_at_window(halo_plan *p)
{
    const int slot = (int)(p->number % HALO_SLOTS);
    bool moved = false;
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        if (link->arrival != HALO_EXPECTED || link->in != META_PATH_SHARED) continue;
        if (!halo_window_filled(p, way)) continue;
        moved = true;
        if (!arrive(p, way) || p->host) continue;
        const meta_err error = upload(p, halo_window_theirs(p, link, slot), link->recv_at,
                                      link->recv_bytes, &link->upload);
        if (error != META_OK) return abandon(p, error), true;
    }
    return moved;
}

/* Launch what is done with everything from direction @p first to @p last. */
static void launch(halo_plan *p, int first, int last)
{
    const halo_link *from = &p->link[first], *to = &p->link[last];
    const int calls = to->first_call + to->calls - from->first_call;
    halo_batch *batch = &p->batch[p->batches];
    *batch = (halo_batch){.first = first, .last = last};
    for (int way = first; way <= last; ++way) {
        if (p->link[way].arrival != HALO_ARRIVED) continue;
        p->link[way].arrival = HALO_UNPACKING;
        --p->expected;
    }
    const meta_err error = core->launch(p->device, META_QUEUE_HALO, p->calls + from->first_call,
                                        (size_t)calls, &batch->done);
    ++p->batches;
    if (error != META_OK) abandon(p, error);
}

/* All that has arrived, neighbouring directions in one launch. */
static bool unpack_arrived(halo_plan *p)
{
    bool moved = false;
    for (int way = 0; way < p->ways; ++way) {
        int last = way;
        if (p->link[way].arrival != HALO_ARRIVED) continue;
        for (int next = way + 1; next < p->ways; ++next) {
            if (p->link[next].arrival == HALO_ARRIVED) last = next;
            else if (p->link[next].calls > 0) break;
        }
        launch(p, way, last);
        way = last;
        moved = true;
    }
    return moved;
}

/* Sums one after the other, in the order of directions. */
static bool add_in_turn(halo_plan *p)
{
    bool moved = false;
    for (; p->turn < p->ways && p->expected > 0; ++p->turn) {
        if (p->link[p->turn].arrival == HALO_NONE) continue;
        if (p->link[p->turn].arrival != HALO_ARRIVED) break;
        launch(p, p->turn, p->turn);
        moved = true;
    }
    return moved;
}

static bool receive(halo_plan *p)
{
    bool moved = p->recvs > 0 && receive_messages(p);
    if (p->window && p->expected > 0) moved |= look_at_window(p);
    /* Sums change cells that are still to be packed; and only behind the packing is the halo queue
     * behind the work that reads the ghosts as they were. */
    if (p->waiting) return moved;
    if (p->expected > 0) moved |= p->op == META_HALO_ADD ? add_in_turn(p) : unpack_arrived(p);
    return moved;
}

/* What was unpacked may be overwritten by its sender. */
static bool retire_batches(halo_plan *p)
{
    bool all = true;
    for (int b = 0; b < p->batches; ++b) {
        const halo_batch *batch = &p->batch[b];
        if (!over(p, &p->batch[b].done)) {
            all = false;
            continue;
        }
        for (int way = batch->first; way <= batch->last; ++way) {
            halo_link *link = &p->link[way];
            if (link->arrival != HALO_UNPACKING) continue;
            link->arrival = HALO_UNPACKED;
            if (link->in == META_PATH_SHARED) halo_window_take(p, way);
        }
    }
    return all;
}

/* Everything is queued: what the compute queue gets from now on comes after it. */
static bool order(halo_plan *p)
{
    meta_err error = META_OK;
    if (p->call_count > 0)
        error = core->queue_after(p->device, META_QUEUE_COMPUTE, META_QUEUE_HALO);
    if (error != META_OK) fail(p, error);
    set_ordered(p);
    return true;
}

/* ------------------------------------------------------------------ progress */

static void count_traffic(const halo_plan *p)
{
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (!link->used) continue;
        if (link->send_bytes > 0) halo_traffic_sent(link->out, 1, link->send_bytes);
        if (link->recv_bytes > 0) halo_traffic_received(link->in, 1, link->recv_bytes);
    }
}

static bool complete(halo_plan *p)
{
    if (p->packing || !retire_batches(p)) return false;
    for (int way = 0; way < p->ways; ++way)
        if (!over(p, &p->link[way].upload)) return false;
    if (p->status == META_OK) count_traffic(p);
    else p->damage = META_OK;
    if (p->damage != META_OK) p->status = p->damage;
    tell(p);
    return true;
}

static bool advance(halo_plan *p)
{
    bool moved = false;
    if (p->waiting) moved |= pack_when_free(p);
    if (p->packing) moved |= send_packed(p);
    if (p->expected > 0) moved |= receive(p);
    if (p->sending) moved |= retire_sends(p);
    if (p->batches > 0 && !p->done) retire_batches(p);
    if (p->state != HALO_FINISHING) return moved;
    if (!p->ordered && p->expected == 0 && !p->waiting) moved |= order(p);
    if (p->ordered && !p->done) moved |= complete(p);
    return moved;
}

static bool plans_advance(void)
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

static bool plans_finishing(void)
{
    for (const halo_plan *p = active; p; p = p->next)
        if (p->state == HALO_FINISHING) return true;
    return false;
}

bool comm_plans_busy(void)
{
    for (const halo_plan *p = active; p; p = p->next)
        if (p->state == HALO_FINISHING || p->waiting || p->packing || p->sending || p->expected > 0)
            return true;
    return false;
}

static void plans_queue_owed(meta_device *device)
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

/* ------------------------------------------------------------------ without the neighbours */

/* What @p p waits for: a direction from which nothing has come, or in which nothing was taken. */
static int missing(const halo_plan *p, const char **what)
{
    *what = "has not sent";
    for (int way = 0; way < p->ways; ++way)
        if (p->link[way].arrival == HALO_EXPECTED) return way;
    *what = "has not taken";
    for (int way = 0; way < p->ways && p->waiting; ++way)
        if (p->link[way].used && p->link[way].out == META_PATH_SHARED &&
            !halo_window_free_to_fill(p, way))
            return way;
    for (int k = 0; k < p->sends && p->sending; ++k) {
        int sent = 0;
        if (MPI_Request_get_status(p->send[k], &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && !sent)
            return p->send_part[k].way;
    }
    return -1;
}

static bool describe(const halo_plan *p, char *text, size_t room)
{
    char name[HALO_TEXT];
    const char *what;
    const int way = missing(p, &what);
    if (way < 0) return false;
    const bool taking = strcmp(what, "has not taken") == 0;
    halo_way_name(p, way, name);
    snprintf(text, room,
             "halo exchange %llu: rank %d of the Cartesian communicator, the neighbour towards %s, "
             "%s its message of tag %d",
             (unsigned long long)p->number, p->link[way].peer, name, what,
             taking ? way : p->ways - 1 - way);
    return true;
}

static bool may_wait(const halo_plan *p)
{
    return p->state == HALO_FINISHING || p->waiting;
}

static bool plans_waiting(void)
{
    const char *what;
    for (const halo_plan *p = active; p; p = p->next)
        if (may_wait(p) && missing(p, &what) >= 0) return true;
    return false;
}

static bool plans_describe(char *text, size_t room)
{
    for (const halo_plan *p = active; p; p = p->next)
        if (may_wait(p) && describe(p, text, room)) return true;
    return false;
}

void halo_end(halo_plan *p, meta_err error)
{
    abandon(p, error);
    tell(p);
    leave_sends(p);
    plans_advance();
}

static void plans_give_up(double waited)
{
    char text[COMM_TEXT / 2];
    for (halo_plan *p = active; p;) {
        if (p->state != HALO_FINISHING || !describe(p, text, sizeof text)) {
            p = p->next;
            continue;
        }
        halo_end(p, core->fail(META_ERR_PEER, "%s for %.3g s (META_TIMEOUT)", text, waited));
        p = active; /* the list has changed */
    }
}

const comm_source comm_plan_source = {.advance = plans_advance,
                                      .unfinished = plans_finishing,
                                      .busy = comm_plans_busy,
                                      .waiting = plans_waiting,
                                      .describe = plans_describe,
                                      .give_up = plans_give_up,
                                      .owed = &owing,
                                      .queue_owed = plans_queue_owed};

void halo_wait_idle(halo_plan *p)
{
    comm_wait(&p->idle);
}

/* ------------------------------------------------------------------ start and finish */

static bool share_cells(const halo_plan *a, const halo_plan *b)
{
    for (int i = 0; i < a->fields; ++i)
        for (int k = 0; k < b->fields; ++k)
            if (halo_fields_overlap(&a->field[i], &b->field[k])) return true;
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

static void reset(halo_plan *p)
{
    p->state = HALO_STARTED;
    p->idle = p->done = p->ordered = p->tracked = p->waited = false;
    p->status = p->damage = META_OK;
    p->fetched = p->batches = p->turn = 0;
    p->expected = 0;
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        link->arrival = link->calls == 0 ? HALO_NONE : HALO_EXPECTED;
        link->parts_left = 0;
        p->expected += link->calls > 0;
        /* What is packed here is unpacked behind it, on the same queue. */
        if (link->calls > 0 && link->peer == p->rank) link->arrival = HALO_ARRIVED;
    }
    for (int k = 0; k < p->recvs; ++k) ++p->link[p->recv_part[k].way].parts_left;
    if (p->seals > 0) halo_seals_reset(p);
}

static meta_err begin(halo_plan *p)
{
    ++p->number;
    if (comm_profiled()) comm_record_begin(&p->began);
    halo_calls_patch(p);
    reset(p);
    if (p->recvs > 0) META_TRY(comm_mpi(MPI_Startall(p->recvs, p->recv), "MPI_Startall"));
    if (slot_is_free(p)) return pack(p);
    p->waiting = true;
    return META_OK;
}

meta_err halo_start(halo_plan *p, void *const *fields)
{
    if (p->state == HALO_STARTED)
        return core->fail(META_ERR_STATE, "the plan's last exchange is not finished: call "
                                          "meta_halo_finish() first");
    halo_wait_idle(p);
    if (p->lost) return core->fail_as(META_ERR_PEER, p->text);
    if (p->broken)
        return core->fail(META_ERR_STATE,
                          "an exchange of this plan failed, and its neighbours may be in "
                          "the middle of theirs: free the plan and make a new one");
    META_TRY(halo_fields_resolve(p, fields));
    settle_before(p);
    for (int k = 0; k < p->fields; ++k) {
        p->field[k].held = fields[k];
        core->hold(fields[k]);
    }
    p->next = active;
    active = p;
    comm_not_waiting();
    const meta_err error = begin(p);
    if (error != META_OK) {
        abandon(p, error);
        p->waited = true;
        tell(p);
        plans_advance();
        return core->fail_as(error, p->text);
    }
    plans_advance();
    return META_OK;
}

/* The caller gets no event, but is not left in the middle of an exchange. */
static meta_err finish_without(halo_plan *p, meta_err error)
{
    char text[COMM_TEXT];
    snprintf(text, sizeof text, "%s", meta_last_error());
    halo_finish(p, NULL);
    return core->fail_as(error, text);
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
        p->tracked = error == META_OK;
        if (error != META_OK) return finish_without(p, error);
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
