/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_timers.c
 *  Starting and stopping the recorder, and gathering the records of all threads. */
#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic uint64_t began; /* when the counts were last reset */
static _Atomic pid_t process;  /* that started recording: a child of fork() writes no trace */

/* All queued work has ended. */
static void read_all(void)
{
    meta_record_auto();
    for (meta_recorder *r = meta_recorders; r; r = r->next) meta_recorder_read(r, SIZE_MAX, true);
}

/* Wait for all queued work and read its records. @return the error of untracked work. */
static meta_err complete_all(void)
{
    const meta_err error = meta_started() ? meta_devices_finish() : META_OK;
    read_all();
    return error;
}

void meta_profile_forget(void)
{
    for (meta_recorder *r = meta_recorders; r; r = r->next) {
        meta_recorder_clear(r);
        pthread_mutex_lock(&r->lock);
        if (!meta_traced()) meta_trace_free(&r->trace);
        pthread_mutex_unlock(&r->lock);
    }
    meta_overlap_forget();
    meta_profile_auto_forget();
    began = meta_profile_now();
}

/* Bytes that the device's copy bandwidth allows in that time: within the device for kernels, else
 * between it and the host. */
static double could_copy(const meta_tally *r)
{
    if (!r->device || r->timed == 0) return 0;
    const meta_limit limit = strcmp(r->name, "copy h2d") == 0   ? META_LIMIT_H2D
                             : strcmp(r->name, "copy d2h") == 0 ? META_LIMIT_D2H
                                                                : META_LIMIT_OWN;
    return 1e-9 * (double)r->nanoseconds * meta_profile_limit((meta_device *)r->device, limit);
}

/* Add to the row of this name and label. */
static void add_up(meta_profile_row *rows, size_t *used, const meta_tally *from, const char *label)
{
    const char *backend = from->device ? from->device->backend->name : "";
    char called[META_LABEL_BYTES];
    meta_profile_row *line = rows;
    meta_label_copy(called, label);
    while (line < rows + *used &&
           (line->where != (int)from->where || strcmp(line->backend, backend) != 0 ||
            strncmp(line->name, from->name, sizeof line->name - 1) != 0 ||
            strcmp(line->label, called) != 0))
        ++line;
    if (line == rows + *used) {
        ++*used;
        *line = (meta_profile_row){.where = (int)from->where};
        snprintf(line->backend, sizeof line->backend, "%s", backend);
        snprintf(line->name, sizeof line->name, "%s", from->name);
        memcpy(line->label, called, sizeof called);
    }
    line->calls += from->calls;
    line->bytes += from->bytes;
    line->timed += from->timed;
    line->timed_bytes += from->timed_bytes;
    line->seconds += 1e-9 * (double)from->nanoseconds;
    line->could += could_copy(from);
}

meta_err meta_profile_share_of(meta_profile_share *share)
{
    meta_profile_share made = {.rank = meta_job_rank(),
                               .seconds = 1e-9 * (double)(meta_profile_now() - began)};
    size_t room = 0;
    META_TRY(complete_all());
    for (meta_recorder *r = meta_recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        room += 2 * r->used;
        pthread_mutex_unlock(&r->lock);
    }
    made.rows = calloc(room + 1 + META_FIXED_ROWS, sizeof *made.rows);
    if (!made.rows)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %zu lines", room);
    for (meta_recorder *r = meta_recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        for (size_t k = 0; k < r->room && made.count + 1 < room; ++k) {
            const meta_tally *from = &r->rows[k];
            if (from->name) add_up(made.rows, &made.count, from, "");
            if (from->name && from->label) add_up(made.rows, &made.count, from, from->label);
        }
        pthread_mutex_unlock(&r->lock);
    }
    made.count += meta_profile_auto_rows(made.rows + made.count);
    meta_overlap_sums(&made.comm, &made.hidden);
    *share = made;
    return META_OK;
}

/* Held while flags change, not while work is completed, which calls functions of the program's. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static void set_flags(int flags)
{
    meta_profile_flags = flags;
    meta_profile_auto_want(flags);
    meta_observe(META_OBSERVER_RECORD, flags ? meta_profile_work : NULL);
}

static void add_flags(int flags)
{
    meta_recorders_begin();
    meta_profile_names();
    if (!meta_profiled()) meta_profile_forget();
    if (flags & META_PROFILE_TRACE && !meta_traced()) meta_trace_begin(meta_profile_now());
    process = getpid();
    set_flags(meta_profile_flags | flags);
}

void meta_profile_want(int flags)
{
    pthread_mutex_lock(&changing);
    add_flags(flags);
    pthread_mutex_unlock(&changing);
}

static void remove_flags(int flags)
{
    pthread_mutex_lock(&changing);
    set_flags(meta_profile_flags & ~flags);
    pthread_mutex_unlock(&changing);
}

/* Stop recording for @p flags, once all that was queued before is recorded. */
static meta_err want_no_more(int flags)
{
    if (!(meta_profile_flags & flags)) return META_OK;
    const meta_err error = complete_all();
    remove_flags(flags);
    return error;
}

meta_err meta_profile_read(void)
{
    const char *value = meta_variable("META_PROFILE");
    int flags = 0;
    meta_forward_find();
    META_TRY(meta_trace_read());
    while (value) {
        const size_t length = strcspn(value, ",");
        if (length == 7 && strncmp(value, "summary", 7) == 0) {
            flags |= META_PROFILE_SUMMARY;
        } else if (length > 6 && strncmp(value, "trace:", 6) == 0) {
            flags |= META_PROFILE_TRACE;
            META_TRY(meta_trace_path(value + 6, length - 6));
        } else if (length > 5 && strncmp(value, "json:", 5) == 0) {
            flags |= META_PROFILE_JSON;
            META_TRY(meta_profile_json_path(value + 5, length - 5));
        } else {
            return meta_fail(
                META_ERR_ENVIRONMENT,
                "META_PROFILE=%.*s: give summary, json:FILE or trace:FILE, or several with commas",
                (int)length, value);
        }
        value = value[length] ? value + length + 1 : NULL;
    }
    if (flags) meta_profile_want(flags);
    return META_OK;
}

static meta_err report(int flags)
{
    meta_profile_share share;
    META_TRY(meta_profile_share_of(&share));
    if (share.count == 0) flags &= ~META_PROFILE_SUMMARY;
    meta_profile_report(&share, 1, flags);
    free(share.rows);
    return META_OK;
}

uint64_t meta_profile_began(void)
{
    return began;
}

static meta_err trace_text(const meta_trace_clock *clock, meta_trace_sink *sink, void *with)
{
    size_t count = 0;
    for (meta_recorder *r = meta_recorders; r; r = r->next) ++count;
    meta_trace_chunk **lists = calloc(count + 1, sizeof *lists);
    if (!lists) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to write a trace");
    count = 0;
    for (meta_recorder *r = meta_recorders; r; r = r->next) lists[count++] = r->trace;
    const meta_err error = meta_trace_text(lists, count, clock, sink, with);
    free(lists);
    return error;
}

meta_err meta_profile_trace(const meta_trace_clock *clock, meta_trace_sink *sink, void *with)
{
    META_TRY(complete_all());
    return trace_text(clock, sink, with);
}

void meta_profile_trace_done(void)
{
    if (want_no_more(META_PROFILE_TRACE) != META_OK)
        meta_log(META_LOG_WARN, "while a trace ended: %s", meta_last_error());
    for (meta_recorder *r = meta_recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        meta_trace_free(&r->trace);
        pthread_mutex_unlock(&r->lock);
    }
}

/* A process that exits without meta_finalize() writes the completed records, to a file for each
 * rank. Devices are not polled, because their drivers may be gone. Other threads may be anywhere:
 * the recorders stay locked, so that nothing is added to a trace any more. */
__attribute__((destructor)) static void save_trace(void)
{
    const meta_trace_clock clock = {.base = meta_profile_trace_began()};
    if (!meta_traced() || process != getpid()) return;
    for (meta_recorder *r = meta_recorders; r; r = r->next)
        if (pthread_mutex_trylock(&r->lock) != 0) return;
    if (meta_job_rank() > 0) meta_trace_path_of(meta_job_rank());
    if (!meta_trace_open()) return;
    meta_log(META_LOG_WARN,
             "the program ended without meta_finalize(): the trace has what was known "
             "of this process alone");
    if (trace_text(&clock, meta_trace_put, NULL) == META_OK) meta_trace_close();
}

void meta_profile_end(void)
{
    read_all();
    if (meta_traced()) {
        const meta_trace_clock clock = {.base = meta_profile_trace_began()};
        if (meta_job_rank() == 0 && meta_trace_open()) {
            if (meta_profile_trace(&clock, meta_trace_put, NULL) != META_OK)
                meta_log(META_LOG_WARN, "the trace is not complete: %s", meta_last_error());
            meta_trace_close();
        }
        meta_profile_trace_done();
    }
    int reports = meta_profile_flags & (META_PROFILE_SUMMARY | META_PROFILE_JSON);
    if (meta_job_rank() != 0) reports &= ~META_PROFILE_JSON;
    if (reports && report(reports) != META_OK)
        meta_log(META_LOG_WARN, "there is no summary of the run: %s", meta_last_error());
    remove_flags(META_PROFILE_SUMMARY | META_PROFILE_JSON | META_PROFILE_TIMERS);
    meta_profile_forget(); /* records name devices, which are about to be closed */
}

/* ------------------------------------------------------------------ public */

/* Where the library is started, and not while another thread ends it, which completes the rest. */
static meta_err complete_if_started(const char *call)
{
    meta_err error = META_OK;
    if (!meta_started()) return META_OK;
    error = meta_enter(call);
    if (error == META_OK) error = complete_all();
    else if (error == META_ERR_INIT) error = META_OK;
    meta_leave();
    return error;
}

/* Set or clear META_PROFILE_TIMERS and begin from zero; false where another thread did. */
static bool switch_timers(bool on)
{
    pthread_mutex_lock(&changing);
    const bool changes = on == !(meta_profile_flags & META_PROFILE_TIMERS);
    if (changes && on) add_flags(META_PROFILE_TIMERS);
    if (changes && !on) set_flags(meta_profile_flags & ~META_PROFILE_TIMERS);
    if (changes) meta_profile_forget();
    pthread_mutex_unlock(&changing);
    return changes;
}

meta_err meta_timers_init(void)
{
    meta_call_name(__func__);
    const bool is_on = meta_profile_flags & META_PROFILE_TIMERS;
    const meta_err error = !is_on && meta_profiled() ? complete_if_started(__func__) : META_OK;
    if (is_on || !switch_timers(true))
        return meta_fail(META_ERR_STATE, "timers are started already");
    return error;
}

meta_err meta_timers_print(void)
{
    META_ENTER();
    if (!(meta_profile_flags & (META_PROFILE_TIMERS | META_PROFILE_SUMMARY | META_PROFILE_JSON)))
        return meta_fail(META_ERR_STATE,
                         "nothing is counted: call meta_timers_init() first, or set "
                         "META_PROFILE=summary");
    const meta_hooks *comm = meta_hooks_get();
    return comm ? comm->print() : report(META_PROFILE_SUMMARY);
}

meta_err meta_timers_finalize(void)
{
    meta_call_name(__func__);
    const bool is_on = meta_profile_flags & META_PROFILE_TIMERS;
    const meta_err error = is_on ? complete_if_started(__func__) : META_OK;
    if (!is_on || !switch_timers(false))
        return meta_fail(META_ERR_STATE, "timers are not started: call meta_timers_init() first");
    return error;
}

meta_err meta_set_tool(const meta_tool *tool)
{
    meta_call_name(__func__);
    meta_tool own;
    if (tool) META_GET_DESC(own, tool, end, META_TOOL_INIT);
    META_TRY(want_no_more(META_PROFILE_TOOL));
    if (!tool) return META_OK;
    meta_tool_set(&own);
    meta_profile_want(META_PROFILE_TOOL);
    return META_OK;
}
