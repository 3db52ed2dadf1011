/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_auto.c
 *  META_MODE=auto in the profile: its copies between devices and its decisions become records;
 *  where each kernel ran is counted, and from that what the best fixed device would have cost. */
#include "auto/account.h"
#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = META_AUTO_MOST };

/* Runs of a kernel on a device, and those that were timed. The first one may have compiled the
 * kernel, and counts only where there is no other. */
typedef struct runs {
    uint64_t timed, cells, nanoseconds;
    uint64_t first_cells, first_nanoseconds;
} runs;

/* Launches of a kernel within an octave of cells. */
typedef struct kind {
    const char *name;  /* interned, with the type */
    const char *plain; /* without; NULL: several calls in one launch */
    uint32_t type;
    int octave;
    uint64_t launches, cells, nanoseconds; /* nanoseconds: of those that were timed */
    runs on[DEVICES];
} kind;

/* The program's copies in one direction. */
typedef struct copies {
    uint64_t count, bytes, nanoseconds;
    uint64_t timed_bytes[DEVICES], timed[DEVICES];
} copies;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kind *kinds;
static size_t kind_count, kind_room;
static copies copied[2]; /* in, out */
static uint64_t moved;   /* nanoseconds of copies between devices */
static meta_account_rest lost;

/* ------------------------------------------------------------------ counting */

static const char *name_of(const meta_device *device)
{
    char text[64];
    snprintf(text, sizeof text, "%s:%d", device->backend->name, device->index);
    return meta_profile_name(text);
}

static int number_of(const meta_device *device)
{
    int d = 0;
    while (d < DEVICES && meta_account_device(d) && meta_account_device(d) != device) ++d;
    return d < DEVICES && meta_account_device(d) ? d : -1;
}

static kind *kind_of(const meta_record *r)
{
    const int octave = r->cells > 0 ? 63 - __builtin_clzll(r->cells) : 0;
    for (size_t k = 0; k < kind_count; ++k)
        if (kinds[k].name == r->name && kinds[k].octave == octave && kinds[k].plain == r->plain)
            return &kinds[k];
    if (kind_count == kind_room) {
        const size_t room = kind_room ? 2 * kind_room : 32;
        kind *larger = realloc(kinds, room * sizeof *larger);
        if (!larger) return NULL;
        kinds = larger;
        kind_room = room;
    }
    kinds[kind_count] =
        (kind){.name = r->name, .plain = r->plain, .type = r->type, .octave = octave};
    return &kinds[kind_count++];
}

static void count_run(const meta_record *r, int d, uint64_t time)
{
    kind *k = kind_of(r);
    if (!k) return;
    runs *on = &k->on[d];
    ++k->launches;
    k->cells += r->cells;
    if (time == 0) return;
    k->nanoseconds += time;
    if (on->timed++ == 0) {
        on->first_cells = r->cells;
        on->first_nanoseconds = time;
    } else {
        on->cells += r->cells;
        on->nanoseconds += time;
    }
}

static void count_copy(const meta_record *r, int d, uint64_t time)
{
    copies *c = &copied[strcmp(r->name, "copy d2h") == 0];
    ++c->count;
    c->bytes += r->bytes;
    if (time == 0) return;
    c->nanoseconds += time;
    c->timed_bytes[d] += r->bytes;
    c->timed[d] += time;
}

void meta_profile_auto_count(meta_recorder *r, const meta_record *done)
{
    const uint64_t begin = done->stamp.begin, end = done->stamp.end;
    if (done->where == META_WHERE_MOVE) {
        pthread_mutex_lock(&lock);
        moved += end - begin;
        pthread_mutex_unlock(&lock);
        return;
    }
    const int d = done->where == META_WHERE_MEASURE ? -1 : number_of(done->device);
    if (d < 0) return;
    pthread_mutex_lock(&lock);
    if (done->activity == META_ACTIVITY_KERNEL) count_run(done, d, end - begin);
    else if (done->where == META_WHERE_WORK) count_copy(done, d, end - begin);
    pthread_mutex_unlock(&lock);
    if (done->activity != META_ACTIVITY_KERNEL) return;
    const meta_tally line = {
        .name = done->name, .label = name_of(done->device), .where = META_WHERE_DEVICE};
    meta_recorder_tally(r, &line, done->bytes, begin, end);
}

void meta_profile_auto_forget(void)
{
    pthread_mutex_lock(&lock);
    free(kinds);
    kinds = NULL;
    kind_count = kind_room = 0;
    moved = 0;
    lost = (meta_account_rest){0};
    memset(copied, 0, sizeof copied);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ events of auto */

static meta_record move_of(const meta_auto_event *e)
{
    char text[160];
    meta_record r = {.device = e->on,
                     .given = meta_backend_of(META_AUTO)->device[0],
                     .queue = e->queue,
                     .where = META_WHERE_MOVE,
                     .activity = META_ACTIVITY_COPY,
                     .bytes = e->bytes,
                     .queued = e->queued,
                     .stamp = e->stamp};
    snprintf(text, sizeof text, "%s:%d to %s:%d", e->from->backend->name, e->from->index,
             e->to->backend->name, e->to->index);
    r.name = meta_profile_name(text);
    r.label[0] = meta_profile_name(meta_auto_why_text(e->why));
    if (e->kernel[0] && e->operand >= 0)
        snprintf(text, sizeof text, "%s %s, operand %d", e->kernel, meta_element_name(e->type),
                 e->operand + 1);
    else snprintf(text, sizeof text, "%s %s", e->kernel, meta_element_name(e->type));
    if (e->kernel[0]) r.label[1] = meta_profile_name(text);
    return r;
}

static void add_decision(const meta_auto_event *e)
{
    char text[192];
    meta_recorder *r = meta_recorder_own();
    snprintf(text, sizeof text, "%s %s, %llu cells: %s:%d%s", e->kernel, meta_element_name(e->type),
             (unsigned long long)e->bytes, e->to->backend->name, e->to->index,
             e->why == META_AUTO_WHY_TRIAL ? ", to know" : "");
    const meta_trace_event event = {.name = meta_profile_name(text),
                                    .kind = META_TRACE_DECISION,
                                    .activity = META_ACTIVITY_KERNEL,
                                    .device = e->on,
                                    .queue = e->queue,
                                    .begin = e->queued,
                                    .end = e->queued,
                                    .label = {e->text ? meta_profile_name(e->text) : NULL, NULL}};
    if (!r || !event.name || !meta_traced()) return;
    pthread_mutex_lock(&r->lock);
    meta_trace_add(&r->trace, &event);
    pthread_mutex_unlock(&r->lock);
}

/* A warning once; how many copies there are in the end is in the summary. */
static void count_lost(void)
{
    const meta_account_rest more = meta_account_take_rest();
    if (more.copies == 0 && more.decisions == 0) return;
    pthread_mutex_lock(&lock);
    const bool is_first = lost.copies == 0 && lost.decisions == 0;
    lost.copies += more.copies;
    lost.bytes += more.bytes;
    lost.decisions += more.decisions;
    pthread_mutex_unlock(&lock);
    if (is_first)
        meta_log(META_LOG_WARN,
                 "the profile lacks %llu copies between devices and %llu decisions of "
                 "META_MODE=auto: too many came between two calls of the program that are "
                 "recorded, or the host's memory is out",
                 (unsigned long long)more.copies, (unsigned long long)more.decisions);
}

bool meta_profile_auto_take(meta_record *move)
{
    meta_auto_event e;
    while (meta_account_take(&e)) {
        if (e.is_decision) add_decision(&e);
        else *move = move_of(&e);
        free(e.text);
        if (!e.is_decision) return true;
    }
    count_lost();
    return false;
}

void meta_profile_auto_want(int flags)
{
    meta_account_want(!flags                       ? 0
                      : flags & META_PROFILE_TRACE ? META_ACCOUNT_MOVES | META_ACCOUNT_DECISIONS
                                                   : META_ACCOUNT_MOVES);
}

/* ------------------------------------------------------------------ fixed devices */

/* Nanoseconds of all launches of a kind on device @p d. */
static bool all_runs(const kind *k, int d, double *time)
{
    const runs *on = &k->on[d];
    if (on->cells > 0) {
        *time = (double)on->nanoseconds / (double)on->cells * (double)k->cells;
        return true;
    }
    double one;
    if (k->plain && meta_account_expect(k->plain, k->type, d, k->cells / k->launches, &one)) {
        *time = one * (double)k->launches;
        return true;
    }
    if (on->first_cells == 0) return false;
    *time = (double)on->first_nanoseconds / (double)on->first_cells * (double)k->cells;
    return true;
}

/* Nanoseconds of all the program's copies in a direction from or to device @p d. */
static bool all_copies(const copies *c, bool out, int d, double *time)
{
    const double memory = 0.1; /* nanoseconds a byte, where the device's memory is the host's */
    *time = memory * (double)c->bytes;
    if (c->bytes == 0) return true;
    if (c->timed_bytes[d] > 0) {
        *time = (double)c->timed[d] / (double)c->timed_bytes[d] * (double)c->bytes;
        return true;
    }
    if (meta_device_is_host(meta_account_device(d))) return true;
    return meta_account_expect_copies(d, out, c->count, c->bytes, time);
}

static meta_profile_row *add_row(meta_profile_row **next, const char *name, const char *label,
                                 double nanoseconds)
{
    meta_profile_row *row = (*next)++;
    *row = (meta_profile_row){.where = META_WHERE_FIXED, .timed = 1, .seconds = 1e-9 * nanoseconds};
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->label, sizeof row->label, "%s", label);
    return row;
}

/* .calls: of how many kernels and sizes, and copies, the time is not known. */
static void add_fixed(meta_profile_row **next, int d)
{
    const meta_device *device = meta_account_device(d);
    double kernels = 0, host = 0, time = 0;
    uint64_t unknown = 0;
    char name[64];
    for (size_t k = 0; k < kind_count; ++k) {
        if (all_runs(&kinds[k], d, &time)) kernels += time;
        else ++unknown;
    }
    for (int out = 0; out < 2; ++out) {
        if (all_copies(&copied[out], out, d, &time)) host += time;
        else ++unknown;
    }
    snprintf(name, sizeof name, "%s:%d alone", device->backend->name, device->index);
    add_row(next, name, "", kernels + host)->calls = unknown;
    if (unknown > 0) return;
    add_row(next, name, "kernels", kernels);
    add_row(next, name, "copies with the host", host);
}

size_t meta_profile_auto_rows(meta_profile_row *rows)
{
    meta_profile_row *next = rows;
    double kernels = 0, host = 0;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < kind_count; ++k) kernels += (double)kinds[k].nanoseconds;
    for (int out = 0; out < 2; ++out) host += (double)copied[out].nanoseconds;
    if (lost.copies > 0)
        *next++ = (meta_profile_row){.where = META_WHERE_MOVE,
                                     .name = "without a record",
                                     .calls = lost.copies,
                                     .bytes = lost.bytes};
    if (kind_count > 0) {
        add_row(&next, "META_MODE=auto", "", kernels + host + (double)moved);
        add_row(&next, "META_MODE=auto", "kernels", kernels);
        add_row(&next, "META_MODE=auto", "copies with the host", host);
        add_row(&next, "META_MODE=auto", "between devices", (double)moved);
        for (int d = 0; d < DEVICES && meta_account_device(d); ++d) add_fixed(&next, d);
    }
    pthread_mutex_unlock(&lock);
    return (size_t)(next - rows);
}
