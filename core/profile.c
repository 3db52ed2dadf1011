/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile.c
 *  Recording what runs: a record for each piece of work, in the thread that queues it, until it is
 *  known when it ran; then a line of that thread's table. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEEPEST = 64, NAME = 32, READS = 2 };

/* Work that was queued. */
typedef struct record {
    const char *name; /* one text has one address */
    meta_device *device;
    meta_queue_kind queue;
    meta_profile_where where;
    meta_activity activity;
    uint64_t id, bytes;
    uint64_t queued; /* before it was */
    const char *label[2];
    meta_stamp stamp;
} record;

/* A line of a thread's table. */
typedef struct row {
    const char *name; /* NULL: an unused place */
    const meta_device *device;
    meta_profile_where where;
    uint64_t calls, bytes, timed, timed_bytes, nanoseconds;
} row;

/* A thread's. Recorders are kept for threads to come, so that none is ever gone while used. */
typedef struct recorder {
    struct recorder *next;
    pthread_mutex_t lock;
    bool taken; /* by a thread that is alive; with the lock of the list */
    row *rows;  /* a hash table of `room` places */
    size_t used, room;
    record *pending; /* a ring of `ring` places */
    size_t first, count, ring;
    int number;
    meta_trace_chunk *trace;
} recorder;

typedef struct range {
    const char *name;
    uint64_t begin; /* 0 where nothing was recorded then */
    uint64_t id;
} range;

_Atomic int meta_profile_flags;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static recorder *_Atomic recorders;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static _Thread_local recorder *mine;

static _Thread_local range ranges[DEEPEST];
static _Thread_local int depth;
static _Thread_local unsigned depth_in_life;

static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER; /* of all devices' clocks */
static _Atomic bool overlaps_full;
static _Atomic uint64_t last_id;
static _Atomic uint64_t began; /* when counting did */
static meta_tool listener;

uint64_t meta_profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int meta_profile_timing(void)
{
    return meta_profiled();
}

/* ------------------------------------------------------------------ names */

static char kernel_names[META_KERNEL_COUNT][META_TYPE_COUNT][NAME];

static void make_names(void)
{
#define NAME3(KERNEL, name, operands)         [META_KERNEL_##KERNEL] = #name,
#define NAME4(KERNEL, name, operands, finish) [META_KERNEL_##KERNEL] = #name,
    static const char *const kernels[] = {META_MOVE_KERNELS(NAME3) META_MAP_KERNELS(
        NAME3) META_REDUCTION_KERNELS(NAME4) META_EXACT_KERNELS(NAME4)};
#undef NAME3
#undef NAME4
#define TYPE2(NAME, name)            #name,
#define TYPE4(NAME, name, wide, sum) #name,
    static const char *const types[] = {META_ARITHMETIC_TYPES(TYPE4) META_SMALL_TYPES(TYPE2)};
#undef TYPE2
#undef TYPE4
    for (int k = 0; k < META_KERNEL_COUNT; ++k)
        for (int t = 0; t < META_TYPE_COUNT; ++t)
            snprintf(kernel_names[k][t], NAME, "%s %s", kernels[k], types[t]);
}

/* What a kernel reads and writes at the least: each element of each operand once, and one that is
 * added to twice. */
static uint64_t bytes_of(const meta_call *call)
{
#define READS3(KERNEL, name, operands)         [META_KERNEL_##KERNEL] = (operands),
#define READS4(KERNEL, name, operands, finish) [META_KERNEL_##KERNEL] = (operands),
    static const unsigned char operands[] = {META_MOVE_KERNELS(READS3) META_MAP_KERNELS(
        READS3) META_REDUCTION_KERNELS(READS4) META_EXACT_KERNELS(READS4)};
#undef READS3
#undef READS4
    size_t element = 0;
    meta_type_check((meta_type)call->type, &element);
    const uint64_t passes = operands[call->kernel] + (call->kernel == META_KERNEL_AXPY ? 1u : 0u);
    return passes * element * (uint64_t)call->space.rows * (uint64_t)call->space.extent[0];
}

/* Names of ranges, each text once and for ever. */
typedef struct range_name {
    struct range_name *next;
    char text[];
} range_name;
static range_name *names[256];

static const char *name_of_range(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    unsigned hash = 5381;
    range_name *n;
    for (const char *c = text; *c; ++c) hash = hash * 33 + (unsigned char)*c;
    hash = (hash ^ hash >> 8 ^ hash >> 16) % 256;
    pthread_mutex_lock(&lock);
    for (n = names[hash]; n && strcmp(n->text, text) != 0;) n = n->next;
    if (!n && (n = malloc(sizeof *n + strlen(text) + 1))) {
        strcpy(n->text, text);
        n->next = names[hash];
        names[hash] = n;
    }
    pthread_mutex_unlock(&lock);
    return n ? n->text : NULL;
}

/* ------------------------------------------------------------------ a thread's recorder */

static void give_back(void *given)
{
    pthread_mutex_lock(&list_lock);
    ((recorder *)given)->taken = false;
    pthread_mutex_unlock(&list_lock);
}

static void make_key(void)
{
    pthread_key_create(&key, give_back);
    make_names();
}

static recorder *take_unused(void)
{
    recorder *r = recorders;
    while (r && r->taken) r = r->next;
    if (!r && (r = calloc(1, sizeof *r))) {
        pthread_mutex_init(&r->lock, NULL);
        r->number = recorders ? recorders->number + 1 : 0;
        r->next = recorders;
        recorders = r;
    }
    if (r) r->taken = true;
    return r;
}

/* This thread's; NULL where there is no memory for it. */
static recorder *own(void)
{
    if (mine) return mine;
    pthread_mutex_lock(&list_lock);
    mine = take_unused();
    pthread_mutex_unlock(&list_lock);
    if (mine) pthread_setspecific(key, mine);
    return mine;
}

/* ------------------------------------------------------------------ its table; with its lock */

static bool is_row(const row *r, const char *name, const meta_device *device, int where)
{
    return r->name == name && r->device == device && (int)r->where == where;
}

static row *place_of(row *rows, size_t room, const char *name, const meta_device *device, int where)
{
    const uintptr_t mixed = (uintptr_t)name / 8 * 31 + (uintptr_t)device / 64 + (unsigned)where;
    size_t k = (mixed ^ mixed >> 7) % room;
    while (rows[k].name && !is_row(&rows[k], name, device, where)) k = (k + 1) % room;
    return &rows[k];
}

static bool grow(recorder *r)
{
    const size_t room = r->room ? 2 * r->room : 64;
    row *larger = calloc(room, sizeof *larger);
    if (!larger) return false;
    for (size_t k = 0; k < r->room; ++k)
        if (r->rows[k].name)
            *place_of(larger, room, r->rows[k].name, r->rows[k].device, r->rows[k].where) =
                r->rows[k];
    free(r->rows);
    r->rows = larger;
    r->room = room;
    return true;
}

static void tally(recorder *r, const char *name, const meta_device *device,
                  meta_profile_where where, uint64_t bytes, uint64_t begin, uint64_t end)
{
    if (2 * r->used >= r->room && !grow(r)) return;
    row *line = place_of(r->rows, r->room, name, device, where);
    if (!line->name) {
        *line = (row){.name = name, .device = device, .where = where};
        ++r->used;
    }
    ++line->calls;
    line->bytes += bytes;
    if (begin == 0 && end == 0) return;
    ++line->timed;
    line->timed_bytes += bytes;
    line->nanoseconds += end - begin;
}

/* ------------------------------------------------------------------ clocks */

/* A device's clock may begin anywhere and run a little faster or slower than the host's. But work
 * begins after it was queued and ends before that is seen: that bounds what is between the clocks,
 * and where both are one clock allows 0. */
static void align(record *r)
{
    meta_device_clock *c = &r->device->clock;
    meta_stamp *s = &r->stamp;
    const uint64_t seen = meta_profile_now();
    pthread_mutex_lock(&clock_lock);
    const int64_t least = (int64_t)(r->queued - s->begin), most = (int64_t)(seen - s->end);
    if (!c->known) c->offset = least <= 0 && most >= 0 ? 0 : least;
    c->known = true;
    if (c->offset > most) c->offset = most;
    if (c->offset < least) c->offset = least;
    s->begin += (uint64_t)c->offset;
    s->end += (uint64_t)c->offset;
    /* A queue runs one thing after the other, whatever the clocks were just set by. */
    if (s->begin < c->end[r->queue]) s->begin = c->end[r->queue];
    if (s->end < s->begin) s->end = s->begin;
    c->end[r->queue] = s->end;
    pthread_mutex_unlock(&clock_lock);
}

/* ------------------------------------------------------------------ records */

static void tell_begin(meta_activity activity, const char *name, uint64_t bytes, uint64_t *id)
{
    if (!(meta_profile_flags & META_PROFILE_TOOL)) return;
    *id = ++last_id;
    if (listener.begin) listener.begin(listener.user, activity, name, bytes, *id);
}

static void tell_end(meta_activity activity, uint64_t id, uint64_t begin, uint64_t end)
{
    if (id == 0 || !(meta_profile_flags & META_PROFILE_TOOL) || !listener.end) return;
    listener.end(listener.user, activity, id, begin, end);
}

static bool traced(void)
{
    return meta_profile_flags & META_PROFILE_TRACE;
}

static void trace(recorder *r, const record *done)
{
    const meta_trace_event event = {.name = done->name,
                                    .activity = done->activity,
                                    .device = done->device,
                                    .queue = done->queue,
                                    .begin = done->stamp.begin,
                                    .end = done->stamp.end,
                                    .bytes = done->bytes,
                                    .label = {done->label[0], done->label[1]}};
    if (traced() && (event.begin != 0 || event.end != 0)) meta_trace_add(&r->trace, &event);
}

/* It is known when it ran, or that it never will be. With the recorder's lock. */
static void settle(recorder *r, record *done)
{
    if (done->where == META_WHERE_WORK && done->activity == META_ACTIVITY_KERNEL &&
        meta_hooks_get() && meta_overlap_work(done->stamp.begin, done->stamp.end))
        overlaps_full = true;
    trace(r, done);
    tally(r, done->name, done->device, done->where, done->bytes, done->stamp.begin,
          done->stamp.end);
}

/* Add up the time before which all work has been settled. */
static void fold_overlaps(void)
{
    uint64_t until = meta_profile_now();
    overlaps_full = false;
    for (recorder *r = recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        if (r->count > 0 && r->pending[r->first].queued < until)
            until = r->pending[r->first].queued;
        pthread_mutex_unlock(&r->lock);
    }
    meta_overlap_fold(until);
}

/* Ask the back end whether it has ended. */
static bool is_read(record *asked)
{
    const meta_ops *ops = &asked->device->backend->ops;
    meta_stamp *s = &asked->stamp;
    if (!ops->stamp_read(s->work, &s->begin, &s->end)) return false;
    ops->stamp_release(s->work);
    s->work = NULL;
    if (s->begin != 0 || s->end != 0) align(asked);
    return true;
}

/* The oldest record that waits, if its work has ended, or with @p ended in any case. */
static bool take_oldest(recorder *r, bool ended, record *taken)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    if (r->count > 0) {
        record *oldest = &r->pending[r->first];
        found = is_read(oldest);
        if (!found && ended) {
            oldest->device->backend->ops.stamp_release(oldest->stamp.work);
            oldest->stamp = (meta_stamp){0};
            found = true;
        }
        if (found) {
            *taken = *oldest;
            r->first = (r->first + 1) % r->ring;
            --r->count;
            settle(r, taken);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

/* Settle @p most records at the most. Tools are told without the lock. */
static void read_stamps(recorder *r, size_t most, bool ended)
{
    record taken;
    while (most-- > 0 && take_oldest(r, ended, &taken))
        tell_end(taken.activity, taken.id, taken.stamp.begin, taken.stamp.end);
}

/* Room for one more that waits. */
static bool make_room(recorder *r)
{
    if (r->count < r->ring) return true;
    const size_t ring = r->ring ? 2 * r->ring : 64;
    record *larger = malloc(ring * sizeof *larger);
    if (!larger) return false;
    for (size_t k = 0; k < r->count; ++k) larger[k] = r->pending[(r->first + k) % r->ring];
    free(r->pending);
    r->pending = larger;
    r->ring = ring;
    r->first = 0;
    return true;
}

/* The work is queued. */
static void keep(record *queued)
{
    recorder *r = own();
    bool settled = true, waiting = false;
    if (r) {
        pthread_mutex_lock(&r->lock);
        if (!queued->stamp.work) settle(r, queued);
        else if (make_room(r)) {
            r->pending[(r->first + r->count++) % r->ring] = *queued;
            settled = false;
        }
        waiting = r->count > 0;
        pthread_mutex_unlock(&r->lock);
    }
    if (settled && queued->stamp.work) { /* there was no memory */
        queued->device->backend->ops.stamp_release(queued->stamp.work);
        queued->stamp = (meta_stamp){0};
    }
    if (settled) tell_end(queued->activity, queued->id, queued->stamp.begin, queued->stamp.end);
    if (waiting) read_stamps(r, READS, false);
    if (overlaps_full) fold_overlaps();
}

/* What the application calls the buffer of an operand, for the trace; NULL where it has no label,
 * and where a launch has several operands of a kind. Labels are not part of the registry yet. */
static const char *label_of(const meta_device *device, const void *object, size_t calls)
{
    (void)device, (void)object, (void)calls;
    return NULL;
}

static record new_record(meta_device *device, meta_queue_kind queue, bool comm)
{
    return (record){.device = device,
                    .queue = queue,
                    .where = !comm                      ? META_WHERE_WORK
                             : queue == META_QUEUE_HALO ? META_WHERE_HALO
                                                        : META_WHERE_MESSAGE};
}

/* After it was queued, or not. */
static meta_err finish(record *r, const meta_ticket *ticket, meta_err error)
{
    if (error != META_OK) {
        tell_end(r->activity, r->id, 0, 0);
        return error;
    }
    /* A back end that tells no times may still have done the work at once. */
    if (!r->device->backend->ops.launch_timed && ticket && !*ticket) {
        r->stamp.begin = r->queued;
        r->stamp.end = meta_profile_now();
    }
    keep(r);
    return META_OK;
}

meta_err meta_profile_launch(meta_device *device, meta_queue_kind queue, meta_plugin_queue *to,
                             const meta_call *calls, size_t count, meta_ticket *ticket, bool comm)
{
    const meta_ops *ops = &device->backend->ops;
    record r = new_record(device, queue, comm);
    meta_err error;
    if (count == 0) return ops->launch(to, calls, count, ticket);
    r.activity = META_ACTIVITY_KERNEL;
    r.name = kernel_names[calls[0].kernel][calls[0].type];
    for (size_t k = 0; k < count; ++k) r.bytes += bytes_of(&calls[k]);
    for (int k = 0; k < META_MAX_OPERANDS; ++k)
        r.label[k] = label_of(device, calls[0].object[k], count);
    tell_begin(r.activity, r.name, r.bytes, &r.id);
    r.queued = meta_profile_now();
    if (ops->launch_timed) error = ops->launch_timed(to, calls, count, ticket, &r.stamp);
    else error = ops->launch(to, calls, count, ticket);
    return finish(&r, ticket, error);
}

meta_err meta_profile_copy(meta_device *device, meta_queue_kind queue, meta_plugin_queue *to,
                           meta_copy_kind kind, void *host, const meta_span *span, size_t bytes,
                           meta_ticket *ticket, bool comm)
{
    static const char *const kinds[] = {[META_COPY_H2D] = "copy h2d", [META_COPY_D2H] = "copy d2h"};
    const meta_ops *ops = &device->backend->ops;
    record r = new_record(device, queue, comm);
    meta_err error;
    r.activity = META_ACTIVITY_COPY;
    r.name = kinds[kind];
    r.bytes = bytes;
    tell_begin(r.activity, r.name, r.bytes, &r.id);
    r.queued = meta_profile_now();
    if (ops->copy_timed)
        error =
            ops->copy_timed(to, kind, host, span->object, span->offset, bytes, ticket, &r.stamp);
    else error = ops->copy(to, kind, host, span->object, span->offset, bytes, ticket);
    return finish(&r, ticket, error);
}

/* ------------------------------------------------------------------ messages */

void meta_profile_message(const meta_profile_passage *p)
{
    uint64_t id = 0;
    recorder *r = own();
    if (r) {
        pthread_mutex_lock(&r->lock);
        tally(r, p->name, NULL, META_WHERE_WIRE, p->bytes, p->begin, p->end);
        const meta_trace_event event = {.name = p->name,
                                        .activity = META_ACTIVITY_MESSAGE,
                                        .begin = p->begin,
                                        .end = p->end,
                                        .bytes = p->bytes,
                                        .passage = *p};
        if (traced()) meta_trace_add(&r->trace, &event);
        pthread_mutex_unlock(&r->lock);
    }
    tell_begin(META_ACTIVITY_MESSAGE, p->name, p->bytes, &id);
    tell_end(META_ACTIVITY_MESSAGE, id, p->begin, p->end);
}

/* ------------------------------------------------------------------ ranges */

/* Ranges left open in an earlier life of the library are gone. */
static int *open_ranges(void)
{
    if (depth_in_life != meta_life()) depth = 0;
    depth_in_life = meta_life();
    return &depth;
}

meta_err meta_range_push(const char *name)
{
    int *open;
    META_ENTER();
    META_NEED(name);
    open = open_ranges();
    if (*open == DEEPEST)
        return meta_fail(META_ERR_STATE,
                         "%d ranges of this thread are open already: close one with "
                         "meta_range_pop()",
                         DEEPEST);
    range *r = &ranges[*open];
    *r = (range){0};
    if (meta_profiled()) {
        r->name = name_of_range(name);
        if (!r->name) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a name");
        tell_begin(META_ACTIVITY_RANGE, r->name, 0, &r->id);
        r->begin = meta_profile_now();
    }
    ++*open;
    return META_OK;
}

meta_err meta_range_pop(void)
{
    int *open;
    META_ENTER();
    open = open_ranges();
    if (*open == 0)
        return meta_fail(META_ERR_STATE,
                         "no range of this thread is open: open one with meta_range_push()");
    const range *r = &ranges[--*open];
    if (!meta_profiled() || r->begin < began) return META_OK;
    const uint64_t end = meta_profile_now();
    recorder *to = own();
    if (to) {
        pthread_mutex_lock(&to->lock);
        tally(to, r->name, NULL, META_WHERE_RANGE, 0, r->begin, end);
        const meta_trace_event event = {.name = r->name,
                                        .activity = META_ACTIVITY_RANGE,
                                        .thread = to->number,
                                        .begin = r->begin,
                                        .end = end};
        if (traced()) meta_trace_add(&to->trace, &event);
        pthread_mutex_unlock(&to->lock);
    }
    tell_end(META_ACTIVITY_RANGE, r->id, r->begin, end);
    return META_OK;
}

/* ------------------------------------------------------------------ gathering */

/* Everything that was queued has ended. */
static void read_all(void)
{
    for (recorder *r = recorders; r; r = r->next) read_stamps(r, SIZE_MAX, true);
}

/* Wait until it has. @return the error of work that nobody tracks. */
static meta_err complete_all(void)
{
    const meta_err error = meta_started() ? meta_devices_each(meta_device_finish) : META_OK;
    read_all();
    return error;
}

void meta_profile_forget(void)
{
    for (recorder *r = recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        free(r->rows);
        r->rows = NULL;
        r->used = r->room = 0;
        if (!traced()) meta_trace_free(&r->trace);
        pthread_mutex_unlock(&r->lock);
    }
    meta_overlap_forget();
    began = meta_profile_now();
}

static meta_profile_row *line_of(meta_profile_row *rows, size_t *used, const row *from)
{
    const char *backend = from->device ? from->device->backend->name : "";
    meta_profile_row *line = rows;
    while (line < rows + *used &&
           (line->where != (int)from->where || strcmp(line->backend, backend) != 0 ||
            strncmp(line->name, from->name, sizeof line->name - 1) != 0))
        ++line;
    if (line == rows + *used) {
        ++*used;
        *line = (meta_profile_row){.where = (int)from->where};
        snprintf(line->backend, sizeof line->backend, "%s", backend);
        snprintf(line->name, sizeof line->name, "%s", from->name);
    }
    return line;
}

/* Whether a copy on the device is what to compare with: kernels move memory as it does. */
static bool is_kernel(const row *r)
{
    return r->device && r->timed > 0 && strncmp(r->name, "copy h2d", 8) != 0 &&
           strncmp(r->name, "copy d2h", 8) != 0;
}

static void add_up(meta_profile_row *rows, size_t *used, const row *from)
{
    meta_profile_row *line = line_of(rows, used, from);
    const double seconds = 1e-9 * (double)from->nanoseconds;
    line->calls += from->calls;
    line->bytes += from->bytes;
    line->timed += from->timed;
    line->timed_bytes += from->timed_bytes;
    line->seconds += seconds;
    if (is_kernel(from)) line->could += seconds * meta_profile_limit((meta_device *)from->device);
}

static meta_err rows_of(meta_profile_row **rows, size_t *used)
{
    size_t room = 0;
    META_TRY(complete_all());
    *used = 0;
    for (recorder *r = recorders; r; r = r->next) room += r->used;
    *rows = calloc(room + 1, sizeof **rows);
    if (!*rows) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %zu lines", room);
    for (recorder *r = recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        for (size_t k = 0; k < r->room && *used < room; ++k)
            if (r->rows[k].name) add_up(*rows, used, &r->rows[k]);
        pthread_mutex_unlock(&r->lock);
    }
    return META_OK;
}

/* ------------------------------------------------------------------ beginning and end */

void meta_profile_want(int flags)
{
    pthread_once(&once, make_key);
    if (!meta_profiled()) meta_profile_forget();
    meta_profile_flags |= flags;
}

/* What was queued before is settled; if nothing is recorded any more, so is all there is. */
static meta_err want_no_more(int flags)
{
    if (!(meta_profile_flags & flags)) return META_OK;
    const meta_err error = complete_all();
    meta_profile_flags &= ~flags;
    return error;
}

/* One of the things that META_PROFILE names. */
static meta_err read_one(const char *value, size_t length, int *flags)
{
    static const char trace_to[] = "trace:";
    const size_t before = sizeof trace_to - 1;
    if (length == 7 && strncmp(value, "summary", 7) == 0) {
        *flags |= META_PROFILE_SUMMARY;
        return META_OK;
    }
    if (length > before && strncmp(value, trace_to, before) == 0) {
        *flags |= META_PROFILE_TRACE;
        return meta_trace_path(value + before, length - before);
    }
    return meta_fail(META_ERR_ENVIRONMENT,
                     "META_PROFILE=%.*s: give summary or trace:FILE, or both with a comma",
                     (int)length, value);
}

meta_err meta_profile_read(void)
{
    const char *value = meta_variable("META_PROFILE");
    int flags = 0;
    while (value) {
        const size_t length = strcspn(value, ",");
        META_TRY(read_one(value, length, &flags));
        value = value[length] ? value + length + 1 : NULL;
    }
    if (flags) meta_profile_want(flags);
    return META_OK;
}

meta_err meta_profile_share_of(meta_profile_share *share)
{
    meta_profile_share made = {.rank = meta_job_rank(),
                               .seconds = 1e-9 * (double)(meta_profile_now() - began)};
    META_TRY(rows_of(&made.rows, &made.count));
    meta_overlap_sums(&made.comm, &made.hidden);
    *share = made;
    return META_OK;
}

static meta_err print(void)
{
    meta_profile_share share;
    META_TRY(meta_profile_share_of(&share));
    if (share.count > 0) meta_profile_print(&share, 1);
    free(share.rows);
    return META_OK;
}

uint64_t meta_profile_began(void)
{
    return began;
}

meta_err meta_profile_trace(const meta_trace_clock *clock, meta_trace_sink *sink, void *with)
{
    size_t count = 0;
    META_TRY(complete_all());
    for (recorder *r = recorders; r; r = r->next) ++count;
    meta_trace_chunk **lists = calloc(count + 1, sizeof *lists);
    if (!lists) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to write a trace");
    count = 0;
    for (recorder *r = recorders; r; r = r->next) lists[count++] = r->trace;
    const meta_err error = meta_trace_text(lists, count, clock, sink, with);
    free(lists);
    return error;
}

void meta_profile_trace_done(void)
{
    if (want_no_more(META_PROFILE_TRACE) != META_OK)
        meta_log(META_LOG_WARN, "while a trace ended: %s", meta_last_error());
    for (recorder *r = recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        meta_trace_free(&r->trace);
        pthread_mutex_unlock(&r->lock);
    }
}

/* This process alone. */
static void write_trace(void)
{
    const meta_trace_clock clock = {.base = began};
    if (meta_job_rank() == 0 && meta_trace_open()) {
        if (meta_profile_trace(&clock, meta_trace_put, NULL) != META_OK)
            meta_log(META_LOG_WARN, "the trace is not complete: %s", meta_last_error());
        meta_trace_close();
    }
    meta_profile_trace_done();
}

void meta_profile_end(void)
{
    read_all();
    if (traced()) write_trace();
    if (meta_profile_flags & META_PROFILE_SUMMARY && print() != META_OK)
        meta_log(META_LOG_WARN, "there is no summary of the run: %s", meta_last_error());
    meta_profile_flags &= ~(META_PROFILE_SUMMARY | META_PROFILE_TIMERS);
    meta_profile_forget(); /* what is left names devices, which are about to be closed */
}

/* ------------------------------------------------------------------ public */

meta_err meta_timers_init(void)
{
    meta_call_name(__func__);
    if (meta_profile_flags & META_PROFILE_TIMERS)
        return meta_fail(META_ERR_STATE, "timers are started already");
    const meta_err error = meta_profiled() ? complete_all() : META_OK;
    meta_profile_want(META_PROFILE_TIMERS);
    meta_profile_forget();
    return error;
}

meta_err meta_timers_print(void)
{
    META_ENTER();
    if (!(meta_profile_flags & (META_PROFILE_TIMERS | META_PROFILE_SUMMARY)))
        return meta_fail(META_ERR_STATE,
                         "nothing is counted: call meta_timers_init() first, or set "
                         "META_PROFILE=summary");
    const meta_hooks *comm = meta_hooks_get();
    return comm ? comm->print() : print();
}

meta_err meta_timers_finalize(void)
{
    meta_call_name(__func__);
    if (!(meta_profile_flags & META_PROFILE_TIMERS))
        return meta_fail(META_ERR_STATE, "timers are not started: call meta_timers_init() first");
    const meta_err error = want_no_more(META_PROFILE_TIMERS);
    meta_profile_forget();
    return error;
}

meta_err meta_set_tool(const meta_tool *tool)
{
    meta_call_name(__func__);
    if (tool) META_NEED_DESC(tool, META_TOOL_INIT);
    META_TRY(want_no_more(META_PROFILE_TOOL));
    if (!tool) return META_OK;
    listener = *tool;
    meta_profile_want(META_PROFILE_TOOL);
    return META_OK;
}
