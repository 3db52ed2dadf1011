/* SPDX-License-Identifier: BSD-3-Clause */
/** @file message.c
 *  The messages under way: how they are made, advance, end and are recycled. */
#include "p2p/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "record/comm_record.h"

static comm_message *first, *last, *spare;
static comm_message *left; /* to MPI: never used again, and never freed */
static size_t under_way, posted_since;

/* ------------------------------------------------------------------ beginning and end */

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

void comm_message_hold(comm_message *m, const void *ptr)
{
    m->held[m->held[0] != NULL] = ptr;
    core->hold(ptr);
}

static void release_buffers(comm_message *m)
{
    for (int k = 0; k < 2; ++k) {
        if (m->held[k]) core->release(m->held[k]);
        m->held[k] = NULL;
    }
}

/* Wait for what devices do with it, and give everything back that MPI does not use. */
static void give_back(comm_message *m)
{
    for (int k = 0; k < 2; ++k) {
        if (!m->pending[k].ticket) continue;
        core->pending_wait(&m->pending[k]);
        core->pending_release(&m->pending[k]);
    }
    if (m->request_retired < m->request_count) m->left_to_mpi = true;
    if (m->release) m->release(m);
    if (m->requests != &m->request) free(m->requests);
    m->requests = &m->request;
    m->request_count = m->request_retired = 0;
}

meta_err comm_message_drop(comm_message *m, meta_err error)
{
    comm_message_fail(m, error);
    give_back(m);
    release_buffers(m);
    if (m->tracked) {
        core->event_complete(m->event, error, m->text);
        meta_event_free(&m->event);
    }
    error = m->status;
    m->next = spare;
    spare = m;
    return core->fail_as(error, m->text);
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

/* MPI may say first that the other rank has ended. */
static meta_err lose_peer(const comm_message *m)
{
    char why[COMM_TEXT / 2], text[COMM_TEXT / 2];
    snprintf(why, sizeof why, "%s", meta_last_error());
    describe(m, text, sizeof text);
    comm_lose(m->peer, text);
    return core->fail(META_ERR_PEER, "%s; rank %d has ended: %s", text, m->peer, why);
}

void comm_message_fail(comm_message *m, meta_err error)
{
    if (m->status != META_OK) return;
    if (error == META_ERR_MPI && m->kind != COMM_REDUCE && comm_job.peer_timeout > 0 &&
        !comm_mate_lives(m->peer))
        error = lose_peer(m);
    m->status = error;
    snprintf(m->text, sizeof m->text, "%s", meta_last_error());
    if (m->notified) comm_background_error(error, m->text);
}

void comm_message_given(comm_message *m)
{
    if (!m->posted) return;
    m->given = core->profile_now();
    if (comm_traced()) m->number = comm_trace_number(m->kind == COMM_SEND, m->peer, m->tag);
}

static void record_end(comm_message *m)
{
    static const char *const names[] = {
        [COMM_SEND] = "message out", [COMM_RECV] = "message in", [COMM_REDUCE] = "allreduce"};
    const meta_profile_passage p = {.name = names[m->kind],
                                    .bytes = m->bytes,
                                    .begin = m->posted,
                                    .end = core->profile_now(),
                                    .out = m->kind != COMM_RECV,
                                    .peer = m->kind == COMM_REDUCE ? -1 : m->peer,
                                    .flows = m->number != 0,
                                    .channel = (uint64_t)m->tag,
                                    .number = m->number,
                                    .given = m->given};
    if (m->status == META_OK) core->profile_message(&p);
    comm_record_end(&m->posted);
}

void comm_message_pass(comm_message *m)
{
    if (m->passed) return;
    m->passed = true;
    comm_order_leave(m);
}

void comm_message_notify(comm_message *m)
{
    if (m->notified) return;
    m->notified = true;
    if (m->posted) record_end(m);
    release_buffers(m);
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

bool comm_message_end(comm_message *m)
{
    comm_message_pass(m);
    comm_message_notify(m);
    give_back(m);
    m->step = NULL;
    return true;
}

/* ------------------------------------------------------------------ progress */

bool comm_message_device_done(comm_message *m)
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

bool comm_message_mpi_done(comm_message *m)
{
    for (; m->request_retired < m->request_count; ++m->request_retired) {
        MPI_Request *request = &m->requests[m->request_retired];
        int complete = 0;
        const int code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !complete) return false;
        if (code == MPI_SUCCESS) continue;
        comm_message_fail(m, comm_mpi(code, "MPI_Test"));
        if (*request != MPI_REQUEST_NULL) m->left_to_mpi = true;
    }
    m->request_count = m->request_retired = 0;
    return true;
}

/* Continue while the state changes; a message that goes on in parts lets others take their step
 * between them. */
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

static bool messages_advance(void)
{
    bool moved = false;
    posted_since = 0;
    for (comm_message *m = first, *next; m; m = next) {
        if (advance(m)) {
            moved = true;
            m->moved = comm_now;
        }
        next = m->next; /* a step may post or end others, but only this loop takes any out */
        if (m->step) continue;
        *(m->previous ? &m->previous->next : &first) = m->next;
        *(m->next ? &m->next->previous : &last) = m->previous;
        --under_way;
        comm_message **to = m->left_to_mpi ? &left : &spare;
        m->next = *to;
        *to = m;
    }
    return moved;
}

meta_err comm_message_post(comm_message *m, meta_event *done)
{
    comm_waiter waiter = {.complete = false};
    const meta_event event = m->event;
    if (!done) m->waiter = &waiter;
    if (comm_profiled()) comm_record_begin(&m->posted);
    comm_order_join(m);
    m->next = NULL;
    m->previous = last;
    *(last ? &last->next : &first) = m;
    last = m;
    ++under_way;
    m->moved = comm_now;
    comm_wake();
    advance(m);
    /* A caller that only ever posts must recycle as well, at a constant cost for each message. */
    if (++posted_since > under_way / 2) comm_advance();
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
            !(kind == COMM_SEND && m->peer == comm_job.rank && m->notified))
            ++count;
    return count;
}

static bool messages_unfinished(void)
{
    return comm_messages_count(COMM_SEND) + comm_messages_count(COMM_RECV) +
               comm_messages_count(COMM_REDUCE) >
           0;
}

/* End a message; MPI may still use what it has of it. */
static void abandon(comm_message *m, meta_err error)
{
    comm_message_fail(m, error);
    give_back(m);
    if (m->from) abandon(m->from, error);
    m->from = NULL;
    comm_message_end(m);
}

void comm_messages_abandon(comm_kind kind)
{
    static const char *const names[] = {"a message to", "a message from", "a reduction begun by"};
    for (comm_message *m = first; m; m = m->next)
        if (m->step && m->kind == kind)
            abandon(m, core->fail(META_ERR_STATE,
                                  "%s rank %d, tag %d, was not complete when "
                                  "communication was ended",
                                  names[kind], m->peer, m->tag));
    messages_advance();
}

static bool waits_for_others(const comm_message *m)
{
    return m->step && !(m->kind == COMM_SEND && m->peer == comm_job.rank);
}

static int other_rank(const comm_message *m)
{
    return m->kind == COMM_REDUCE ? -1 : m->peer;
}

static const comm_message *first_waiting(void)
{
    const comm_message *m = first;
    while (m && !waits_for_others(m)) m = m->next;
    return m;
}

static bool messages_busy(void)
{
    return first_waiting() != NULL;
}

static bool messages_describe(char *text, size_t room)
{
    const comm_message *m = first_waiting();
    if (m) describe(m, text, room);
    return m != NULL;
}

/* A reduction is for all ranks of the job. */
static bool is_lost(const comm_message *m, double waited)
{
    int rank;
    if (comm_is_late(waited, other_rank(m))) return true;
    return m->kind == COMM_REDUCE && comm_job.peer_timeout > 0 && comm_ended_mate(0, &rank);
}

static void messages_give_up(double began)
{
    char text[COMM_TEXT / 2];
    for (comm_message *m = first; m; m = m->next) {
        const double waited = comm_waited_since(began, m->moved, other_rank(m));
        if (!waits_for_others(m) || !is_lost(m, waited)) continue;
        describe(m, text, sizeof text);
        comm_mates_describe(comm_job.peer_timeout / 2, text, sizeof text);
        comm_lose(other_rank(m), text);
        abandon(m, core->fail(META_ERR_PEER, "%s, for %.3g s (META_TIMEOUT)", text, waited));
    }
}

const comm_source comm_message_source = {.advance = messages_advance,
                                         .unfinished = messages_unfinished,
                                         .busy = messages_busy,
                                         .describe = messages_describe,
                                         .give_up = messages_give_up};

void comm_messages_forget(void)
{
    messages_advance();
    while (spare) {
        comm_message *m = spare;
        spare = m->next;
        free(m);
    }
}
