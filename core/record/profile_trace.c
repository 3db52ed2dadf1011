/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_trace.c
 *  A process's part of a trace, as events of the JSON array that chrome://tracing and Perfetto
 * read, one to a line. The pid is the rank; a tid is a track: a queue of a device, the messages in
 * one direction, or the ranges of a thread. Overlapping events of a track, as of messages or of a
 * host device's queue that several threads run, go to further lanes of the same name. */
#include "record/record.h"

#include "base/plain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1024, LANES = 1000, LINE = 2048, TEXT = META_TRACE_PIECE };
/* A process: 100 MiB of memory, and about twice that in the file. */
#define USUAL_EVENTS (UINT64_C(1) << 20)

typedef struct meta_trace_chunk {
    struct meta_trace_chunk *next;
    size_t count;
    meta_trace_event event[CHUNK];
} meta_trace_chunk;

static _Atomic uint64_t events, most_events = USUAL_EVENTS;
static _Atomic uint64_t full_since; /* when the first event was dropped */
static _Atomic uint64_t began;      /* not reset with the counts */

void meta_trace_begin(uint64_t now)
{
    began = now;
}

uint64_t meta_profile_trace_began(void)
{
    return began;
}

meta_err meta_trace_read(void)
{
    const char *value = meta_variable("META_TRACE_EVENTS");
    char *end = NULL;
    most_events = USUAL_EVENTS;
    if (!value) return META_OK;
    errno = 0;
    const unsigned long long most = strtoull(value, &end, 10);
    if (errno || *end || *value < '0' || *value > '9' || most == 0)
        return meta_fail(META_ERR_ENVIRONMENT, "META_TRACE_EVENTS=%s: give a number of events",
                         value);
    most_events = most;
    return META_OK;
}

void meta_trace_add(meta_trace_chunk **chunks, const meta_trace_event *event)
{
    uint64_t never = 0;
    if (events >= most_events) { /* a truncated trace is better than a run without memory */
        if (atomic_compare_exchange_strong(&full_since, &never, event->end))
            meta_log(META_LOG_WARN,
                     "the trace has the first %llu events of this process, up to %.3f s after its "
                     "start; META_TRACE_EVENTS says how many, each takes %zu bytes of memory",
                     (unsigned long long)most_events, 1e-9 * (double)(int64_t)(event->end - began),
                     sizeof *event);
        return;
    }
    if (!*chunks || (*chunks)->count == CHUNK) {
        meta_trace_chunk *more = malloc(sizeof *more);
        if (!more) return;
        more->next = *chunks;
        more->count = 0;
        *chunks = more;
    }
    (*chunks)->event[(*chunks)->count++] = *event;
    ++events;
}

void meta_trace_free(meta_trace_chunk **chunks)
{
    while (*chunks) {
        meta_trace_chunk *c = *chunks;
        *chunks = c->next;
        events -= c->count;
        free(c);
    }
    full_since = 0;
}

/* A buffer of whole lines, flushed to the sink piece by piece. */
typedef struct writer {
    meta_trace_sink *put;
    void *with;
    const meta_trace_clock *clock;
    int pid;
    size_t used;
    char text[TEXT];
} writer;

static void flush(writer *w)
{
    if (w->used > 0) w->put(w->with, w->text, w->used);
    w->used = 0;
}

static void put(writer *w, const char *line, int length)
{
    if (length <= 0 || length >= LINE) return;
    if (w->used + (size_t)length > sizeof w->text) flush(w);
    memcpy(w->text + w->used, line, (size_t)length);
    w->used += (size_t)length;
}

/* Nanoseconds on the clock of all ranks, since the trace began. Monotonic, so that nested events
 * stay nested. */
static uint64_t aligned(const meta_trace_clock *c, uint64_t time)
{
    double offset = c->offset[0];
    if (c->time[1] > c->time[0])
        offset += (c->offset[1] - c->offset[0]) * (double)(int64_t)(time - c->time[0]) /
                  (double)(int64_t)(c->time[1] - c->time[0]);
    const int64_t since = (int64_t)(time - c->base) + (int64_t)offset;
    return since > 0 ? (uint64_t)since : 0;
}

/* Name a track, when its first event is put. */
static void put_title(writer *w, const meta_trace_event *e, int tid, int lane)
{
    static const char *const queues[] = {
        [META_QUEUE_COMPUTE] = "compute", [META_QUEUE_HALO] = "halo"};
    char title[96], quote[256], line[LINE], number[16] = "";
    if (e->device)
        snprintf(title, sizeof title, "%s:%d %s", e->device->backend->name, e->device->index,
                 queues[e->queue]);
    else if (e->activity == META_ACTIVITY_MESSAGE)
        snprintf(title, sizeof title, "%s",
                 e->message.peer < 0 ? "reductions over ranks"
                 : e->message.out    ? "messages out"
                                     : "messages in");
    else snprintf(title, sizeof title, "ranges of thread %d", e->thread);
    if (lane > 0) snprintf(number, sizeof number, " (%d)", lane + 1);
    put(w, line,
        snprintf(line, sizeof line,
                 "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\","
                 "\"args\":{\"name\":\"%s%s\"}},\n"
                 "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\","
                 "\"args\":{\"sort_index\":%d}},\n",
                 w->pid, tid, meta_json_quote(title, quote, sizeof quote), number, w->pid, tid,
                 tid));
}

/* An end of the arrow from a send to its receive; the id is the same at both. */
static void put_flow(writer *w, const meta_trace_event *e, int tid, uint64_t begin, uint64_t end)
{
    uint64_t at = aligned(w->clock, e->message.given);
    const int from = e->message.out ? w->pid : e->message.peer,
              to = e->message.out ? e->message.peer : w->pid;
    char line[LINE];
    if (!e->message.flows) return;
    /* Viewers attach an arrow to the slice that encloses its time. */
    if (at >= end && end > begin) at = end - 1;
    if (at < begin) at = begin;
    put(w, line,
        snprintf(line, sizeof line,
                 "{\"ph\":\"%s\"%s,\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"cat\":\"message\","
                 "\"name\":\"message\",\"id\":\"%d>%d.%llx.%llu\"},\n",
                 e->message.out ? "s" : "f", e->message.out ? "" : ",\"bp\":\"e\"", w->pid, tid,
                 (unsigned long long)(at / 1000), (unsigned)(at % 1000), from, to,
                 (unsigned long long)e->message.channel, (unsigned long long)e->message.number));
}

/* A decision: an instant on the track of the device that was chosen. */
static void put_decision(writer *w, const meta_trace_event *e, int tid)
{
    const uint64_t at = aligned(w->clock, e->begin);
    char name[512], terms[1200] = "", line[LINE];
    put(w, line,
        snprintf(line, sizeof line,
                 "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,"
                 "\"cat\":\"decision\",\"name\":\"%s\",\"args\":{\"expected\":\"%s\"}},\n",
                 w->pid, tid, (unsigned long long)(at / 1000), (unsigned)(at % 1000),
                 meta_json_quote(e->name, name, sizeof name),
                 e->label[0] ? meta_json_quote(e->label[0], terms, sizeof terms) : ""));
}

static void put_event(writer *w, const meta_trace_event *e, int tid)
{
    static const char *const kinds[META_ACTIVITY_COUNT] = {"kernel", "copy", "message", "range"};
    const uint64_t begin = aligned(w->clock, e->begin), end = aligned(w->clock, e->end);
    static const char *const keys[][2] = {
        [META_TRACE_WORK] = {"written", "read"}, [META_TRACE_MOVE] = {"reason", "for"}};
    char name[512], label[512], line[LINE], args[768] = "", peer[32] = "";
    size_t at = 0;
    if (e->activity == META_ACTIVITY_MESSAGE && e->message.peer >= 0)
        snprintf(peer, sizeof peer, " %s %d", e->message.out ? "to" : "from", e->message.peer);
    if (e->bytes > 0)
        at = (size_t)snprintf(args, sizeof args, "\"bytes\":%llu", (unsigned long long)e->bytes);
    for (int k = 0; k < 2; ++k)
        if (e->device && e->label[k] && at < sizeof args)
            at += (size_t)snprintf(args + at, sizeof args - at, "%s\"%s\":\"%s\"", at ? "," : "",
                                   keys[e->kind][k],
                                   meta_json_quote(e->label[k], label, sizeof label / 2));
    put(w, line,
        snprintf(line, sizeof line,
                 "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"dur\":%llu.%03u,"
                 "\"cat\":\"%s\",\"name\":\"%s%s\",\"args\":{%s}},\n",
                 w->pid, tid, (unsigned long long)(begin / 1000), (unsigned)(begin % 1000),
                 (unsigned long long)((end - begin) / 1000), (unsigned)((end - begin) % 1000),
                 kinds[e->activity], meta_json_quote(e->name, name, sizeof name), peer, args));
    if (e->activity == META_ACTIVITY_MESSAGE) put_flow(w, e, tid, begin, end);
}

/* The track of an event, in the order of the trace: ranges, queues, messages. */
typedef struct track_key {
    int kind;
    uintptr_t number;
} track_key;

static track_key track_of(const meta_trace_event *e)
{
    if (e->activity == META_ACTIVITY_RANGE) return (track_key){0, (uintptr_t)e->thread};
    if (e->device) return (track_key){1, (uintptr_t)e->device + (uintptr_t)e->queue};
    return (track_key){2, e->message.peer < 0 ? 2 : e->message.out ? 0 : 1};
}

static int compare_tracks(const meta_trace_event *a, const meta_trace_event *b)
{
    const track_key x = track_of(a), y = track_of(b);
    if (x.kind != y.kind) return x.kind - y.kind;
    return (x.number > y.number) - (x.number < y.number);
}

/* By track and start; of two that start together the longer one first. */
static int order(const void *a, const void *b)
{
    const meta_trace_event *x = *(const meta_trace_event *const *)a,
                           *y = *(const meta_trace_event *const *)b;
    const int track = compare_tracks(x, y);
    if (track != 0) return track;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

/* The first lane whose last event has ended; -1: none is left. */
static int lane_of(uint64_t *ends, int *lanes, const meta_trace_event *e)
{
    int lane = 0;
    /* Ranges nest, decisions take no time. */
    if (e->activity == META_ACTIVITY_RANGE || e->kind == META_TRACE_DECISION) {
        if (*lanes == 0) *lanes = 1, ends[0] = 0;
        return 0;
    }
    while (lane < *lanes && ends[lane] > e->begin) ++lane;
    if (lane == LANES) return -1;
    if (lane == *lanes) ++*lanes;
    ends[lane] = e->end;
    return lane;
}

static void put_tracks(writer *w, meta_trace_event *const *sorted, size_t count)
{
    static uint64_t ends[LANES];
    int track = 0, lanes = 0;
    for (size_t k = 0; k < count; ++k) {
        const meta_trace_event *e = sorted[k];
        if (k == 0 || compare_tracks(sorted[k - 1], e) != 0) ++track, lanes = 0;
        const int before = lanes, lane = lane_of(ends, &lanes, e);
        if (lane < 0) continue;
        if (lanes > before) put_title(w, e, track * LANES + lane, lane);
        if (e->kind == META_TRACE_DECISION) put_decision(w, e, track * LANES + lane);
        else put_event(w, e, track * LANES + lane);
    }
}

/* The rank, its node, the accuracy of its clock, and whether events were dropped. */
static void put_process(writer *w)
{
    char node[HOST_NAME_MAX + 1] = "", name[2 * sizeof node], clock[64] = "", line[LINE];
    const uint64_t full = full_since;
    if (gethostname(node, sizeof node - 1) != 0) *node = '\0';
    if (w->clock->within > 0)
        meta_plain_print(clock, sizeof clock, ", clock within %.1f us of rank 0's",
                         1e-3 * w->clock->within);
    put(w, line,
        snprintf(
            line, sizeof line,
            "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"rank "
            "%d\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_labels\",\"args\":{\"labels\":\"on %s"
            "%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
            "%d}},\n",
            w->pid, w->pid, w->pid, meta_json_quote(node, name, sizeof name), clock, w->pid,
            w->pid));
    if (full == 0) return;
    const uint64_t at = aligned(w->clock, full);
    put(w, line,
        snprintf(line, sizeof line,
                 "{\"ph\":\"i\",\"s\":\"p\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,"
                 "\"name\":\"what comes after the first %llu events is left out\"},\n",
                 w->pid, LANES, (unsigned long long)(at / 1000), (unsigned)(at % 1000),
                 (unsigned long long)most_events));
}

meta_err meta_trace_text(meta_trace_chunk *const *lists, size_t list_count,
                         const meta_trace_clock *clock, meta_trace_sink *sink, void *with)
{
    size_t count = 0;
    for (size_t k = 0; k < list_count; ++k)
        for (const meta_trace_chunk *c = lists[k]; c; c = c->next) count += c->count;
    meta_trace_event **sorted = malloc((count + 1) * sizeof(meta_trace_event *));
    writer *w = malloc(sizeof *w);
    if (!sorted || !w) {
        free(sorted);
        free(w);
        return meta_fail(META_ERR_NO_MEMORY,
                         "the host has no memory to write a trace of %zu events", count);
    }
    w->put = sink, w->with = with, w->clock = clock, w->pid = meta_job_rank(), w->used = 0;
    count = 0;
    for (size_t k = 0; k < list_count; ++k)
        for (meta_trace_chunk *c = lists[k]; c; c = c->next)
            for (size_t n = 0; n < c->count; ++n) sorted[count++] = &c->event[n];
    qsort(sorted, count, sizeof *sorted, order);
    put_process(w);
    put_tracks(w, sorted, count);
    flush(w);
    free(sorted);
    free(w);
    return META_OK;
}
