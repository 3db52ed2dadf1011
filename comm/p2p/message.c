/* SPDX-License-Identifier: BSD-3-Clause */
/** @file message.c
 *  The messages under way: their making, order, completion and recycling. */
#include "comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static comm_message *first, *last, *spare;
static size_t under_way, posted_since;

/* ------------------------------------------------------------------ making */

meta_err comm_message_new(comm_message **made, comm_kind kind, int peer, int tag, meta_event *done)
{
    comm_message *m = spare;
    if (m) spare = m->next;
    else if (!(m = malloc(sizeof *m)))
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for another message");
    memset(m, 0, offsetof(comm_message, text));
    m->text[0] = '\0';
    m->kind = kind;
    m->peer = peer;
    m->tag = tag;
    m->request = MPI_REQUEST_NULL;
    m->requests = &m->request;
    m->tracked = done && done != META_ASYNC;
    if (m->tracked) {
        const meta_err error = core->event_new(&m->event);
        if (error != META_OK) {
            m->next = spare;
            spare = m;
            return error;
        }
    }
    *made = m;
    return META_OK;
}

meta_err comm_message_requests(comm_message *m, size_t count)
{
    if (count <= 1) return META_OK;
    MPI_Request *requests = count <= INT32_MAX ? malloc(count * sizeof *requests) : NULL;
    if (!requests)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory for the %zu parts of a message "
                          "(a larger META_CHUNK makes fewer)",
                          count);
    for (size_t k = 0; k < count; ++k) requests[k] = MPI_REQUEST_NULL;
    m->requests = requests;
    return META_OK;
}

meta_err comm_message_staging(comm_message *m, meta_device *device, size_t bytes)
{
    void *data;
    META_TRY(core->staging(device, bytes, &data));
    m->wire_data = data;
    m->wire_device = device;
    return META_OK;
}

void comm_message_hold(comm_message *m, const void *ptr)
{
    m->held[m->held[0] != NULL] = ptr;
    core->hold(ptr);
}

/* ------------------------------------------------------------------ the end */

static void let_go(comm_message *m)
{
    for (int k = 0; k < 2; ++k) {
        if (m->held[k]) core->release(m->held[k]);
        m->held[k] = NULL;
    }
}

static void give_back(comm_message *m)
{
    for (int k = 0; k < 2; ++k)
        if (m->pending[k].ticket) core->pending_release(&m->pending[k]);
    comm_exact_unpin(m);
    if (m->wire_data) core->staging_free(m->wire_device, m->wire_data);
    m->wire_data = NULL;
    comm_parts_free(m);
    if (m->requests != &m->request) free(m->requests);
    m->requests = &m->request;
}

meta_err comm_message_drop(comm_message *m, meta_err error)
{
    /* Work that reads or writes the staging may be queued already. */
    for (int k = 0; k < 2; ++k)
        if (m->pending[k].ticket) core->pending_wait(&m->pending[k]);
    comm_parts_settle(m);
    snprintf(m->text, sizeof m->text, "%s", meta_last_error());
    let_go(m);
    give_back(m);
    if (m->tracked) {
        core->event_complete(m->event, error, m->text);
        meta_event_free(&m->event);
    }
    core->fail_as(error, m->text);
    m->next = spare;
    spare = m;
    return error;
}

void comm_message_tell(comm_message *m)
{
    if (m->told) return;
    m->told = true;
    if (m->posted) comm_record_told(m);
    let_go(m);
    if (m->waiter) {
        m->waiter->complete = true;
        m->waiter->status = m->status;
        memcpy(m->waiter->text, m->text, sizeof m->text);
        m->waiter = NULL;
    } else if (m->tracked) {
        core->event_complete(m->event, m->status, m->text);
    } else {
        comm_background_error(m->status, m->text);
    }
}

void comm_message_fail(comm_message *m, meta_err error)
{
    if (m->status != META_OK) return;
    m->status = error;
    snprintf(m->text, sizeof m->text, "%s", meta_last_error());
    if (m->told) comm_background_error(error, m->text);
}

bool comm_message_end(comm_message *m)
{
    comm_message_pass(m);
    comm_message_tell(m);
    give_back(m);
    m->step = NULL;
    return true;
}

bool comm_message_settled(comm_message *m)
{
    int complete = 1;
    for (int k = 0; k < 2; ++k) {
        if (!m->pending[k].ticket) continue;
        const meta_err error = core->pending_test(&m->pending[k], &complete);
        if (error != META_OK) comm_message_fail(m, error);
        if (error == META_OK && !complete) return false;
        core->pending_release(&m->pending[k]);
    }
    return true;
}

bool comm_message_retired(comm_message *m)
{
    while (m->request_retired < m->request_count) {
        int complete = 0;
        const int code = MPI_Test(&m->requests[m->request_retired], &complete, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) comm_message_fail(m, comm_mpi(code, "MPI_Test"));
        else if (!complete) return false;
        ++m->request_retired;
    }
    m->request_count = m->request_retired = 0;
    return true;
}

/* ------------------------------------------------------------------ under way */

void comm_message_pass(comm_message *m)
{
    if (m->passed) return;
    m->passed = true;
    comm_order_leave(m);
}

static void append(comm_message *m)
{
    comm_order_join(m);
    m->next = NULL;
    m->previous = last;
    *(last ? &last->next : &first) = m;
    last = m;
    ++under_way;
}

static void take_out(comm_message *m)
{
    *(m->previous ? &m->previous->next : &first) = m->next;
    *(m->next ? &m->next->previous : &last) = m->previous;
    --under_way;
    if (m->left_to_mpi) return;
    m->next = spare;
    spare = m;
}

/* Further while its state changes; one that goes on in parts lets others have their step between
 * them. */
static bool advance(comm_message *m)
{
    bool moved = false;
    for (bool (*step)(comm_message *) = NULL; m->step && m->step != step;) {
        step = m->step;
        if (!step(m)) break;
        moved = true;
    }
    return moved;
}

bool comm_messages_advance(void)
{
    bool moved = false;
    posted_since = 0;
    for (comm_message *m = first, *next; m; m = next) {
        moved |= advance(m);
        next = m->next; /* a step may post or end others, but only this loop takes any out */
        if (!m->step) take_out(m);
    }
    return moved;
}

meta_err comm_message_post(comm_message *m, meta_event *done)
{
    comm_waiter waiter = {.complete = false};
    const meta_event event = m->event;
    if (!done) m->waiter = &waiter;
    if (comm_profiled()) comm_record_post(m);
    append(m);
    comm_watch(true);
    comm_wake();
    advance(m);
    /* Who only ever posts must recycle as well, at a constant cost for each message. */
    if (++posted_since > under_way / 2) comm_progress();
    if (!done) {
        comm_wait(&waiter.complete);
        return waiter.status == META_OK ? META_OK : core->fail_as(waiter.status, waiter.text);
    }
    if (done != META_ASYNC) *done = event;
    return META_OK;
}

/* ------------------------------------------------------------------ all of them */

size_t comm_messages_count(comm_kind kind)
{
    size_t count = 0;
    for (const comm_message *m = first; m; m = m->next)
        if (m->step && m->kind == kind &&
            !(kind == COMM_SEND && m->peer == comm_job.rank && m->told))
            ++count;
    return count;
}

/* MPI may still touch the memory of what it has: that is left to it. */
static void abandon(comm_message *m, meta_err error)
{
    comm_message_fail(m, error);
    for (int k = 0; k < 2; ++k)
        if (m->pending[k].ticket) core->pending_wait(&m->pending[k]);
    comm_parts_settle(m);
    comm_parts_free(m);
    if (m->request_count > 0) {
        m->wire_data = NULL;
        m->requests = &m->request;
        m->left_to_mpi = true;
    }
    if (m->from) abandon(m->from, error);
    m->from = NULL;
    comm_message_end(m);
}

void comm_messages_abandon(comm_kind kind)
{
    static const char *const words[] = {"a message to", "a message from", "a reduction begun by"};
    for (comm_message *m = first; m; m = m->next)
        if (m->step && m->kind == kind)
            abandon(m, core->fail(META_ERR_STATE,
                                  "%s rank %d, tag %d, was not complete when "
                                  "communication was ended",
                                  words[kind], m->peer, m->tag));
    comm_messages_advance();
}

static bool waits_for_others(const comm_message *m)
{
    return m->step && !(m->kind == COMM_SEND && m->peer == comm_job.rank);
}

static void describe(const comm_message *m, char *text, size_t room)
{
    if (m->kind == COMM_SEND)
        snprintf(text, room, "a message sent: rank %d has not received it, tag %d", m->peer,
                 m->tag);
    else if (m->kind == COMM_RECV)
        snprintf(text, room, "a message received: rank %d has not sent it, tag %d", m->peer,
                 m->tag);
    else snprintf(text, room, "a reduction: not every rank has called meta_allreduce()");
}

static const comm_message *waiting(void)
{
    const comm_message *m = first;
    while (m && !waits_for_others(m)) m = m->next;
    return m;
}

bool comm_messages_waiting(void)
{
    return waiting() != NULL;
}

bool comm_messages_describe(char *text, size_t room)
{
    const comm_message *m = waiting();
    if (m) describe(m, text, room);
    return m != NULL;
}

void comm_messages_give_up(double waited)
{
    char text[COMM_TEXT / 2];
    for (comm_message *m = first; m; m = m->next) {
        if (!waits_for_others(m)) continue;
        comm_job.lost = true;
        describe(m, text, sizeof text);
        abandon(m, core->fail(META_ERR_PEER, "%s, for %.3g s (META_TIMEOUT)", text, waited));
    }
}

void comm_messages_forget(void)
{
    comm_messages_advance();
    while (spare) {
        comm_message *m = spare;
        spare = m->next;
        free(m);
    }
}
