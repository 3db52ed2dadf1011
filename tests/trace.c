/* SPDX-License-Identifier: BSD-3-Clause */
/** @file trace.c
 *  Parses and validates a trace, see trace.h. */
#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 };

/* The first thing that was found wrong. */
static char fault[512];

static bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool wrong(const char *format, ...)
{
    va_list arguments;
    if (*fault) return false;
    va_start(arguments, format);
    vsnprintf(fault, sizeof fault, format, arguments);
    va_end(arguments);
    return false;
}

/* ------------------------------------------------------------------ reading */

const char *trace_text(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

/* A time of the file is microseconds with three decimals. */
static int64_t nanoseconds(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);
    if (!json_is_number(number)) return wrong("an event without a number '%s'", key), 0;
    const double value = json_number_value(number) * 1000;
    if (value < 0) wrong("'%s' is %g us", key, value / 1000);
    return (int64_t)(value + 0.5);
}

static int number_of(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);
    if (!json_is_integer(number)) return wrong("an event without an integer '%s'", key), -1;
    return (int)json_integer_value(number);
}

static void take_slice(trace *t, const json_t *event)
{
    trace_slice *s = &t->slice[t->slices++];
    *s = (trace_slice){.pid = number_of(event, "pid"),
                       .tid = number_of(event, "tid"),
                       .begin = nanoseconds(event, "ts"),
                       .category = trace_text(event, "cat"),
                       .name = trace_text(event, "name"),
                       .args = json_object_get(event, "args")};
    s->end = s->begin + nanoseconds(event, "dur");
}

static void take_arrow(trace *t, const json_t *event, bool starts)
{
    const trace_arrow a = {trace_text(event, "id"), number_of(event, "pid"),
                           number_of(event, "tid"), nanoseconds(event, "ts")};
    if (starts) t->start[t->starts++] = a;
    else t->end[t->ends++] = a;
    if (!starts && strcmp(trace_text(event, "bp"), "e") != 0)
        wrong("the end of %s is not bound to the slice around it", a.id);
}

static void take_event(trace *t, const json_t *event)
{
    const char *phase = trace_text(event, "ph");
    if (number_of(event, "pid") < 0) wrong("an event of no process");
    if (strcmp(phase, "X") == 0) take_slice(t, event);
    else if (strcmp(phase, "s") == 0 || strcmp(phase, "f") == 0)
        take_arrow(t, event, *phase == 's');
    else if (strcmp(phase, "M") != 0 && strcmp(phase, "i") != 0)
        wrong("an event of phase '%s'", phase);
}

const char *trace_read(trace *t, const char *path, const char *text, size_t length)
{
    json_error_t error;
    *fault = '\0';
    *t = (trace){.events = path ? json_load_file(path, JSON_REJECT_DUPLICATES, &error)
                                : json_loadb(text, length, JSON_REJECT_DUPLICATES, &error)};
    if (!t->events) return wrong("line %d: %s", error.line, error.text), fault;
    if (!json_is_array(t->events)) return wrong("it is not an array"), fault;
    const size_t count = json_array_size(t->events);
    t->slice = calloc(count + 1, sizeof *t->slice);
    t->start = calloc(count + 1, sizeof *t->start);
    t->end = calloc(count + 1, sizeof *t->end);
    if (!t->slice || !t->start || !t->end) abort();
    for (size_t k = 0; k < count; ++k) take_event(t, json_array_get(t->events, k));
    return fault;
}

void trace_free(trace *t)
{
    json_decref(t->events);
    free(t->slice);
    free(t->start);
    free(t->end);
    *t = (trace){0};
}

int trace_slices_of(const trace *t, int pid, const char *category, const char *name)
{
    int count = 0;
    for (size_t k = 0; k < t->slices; ++k) {
        const trace_slice *s = &t->slice[k];
        if ((pid < 0 || s->pid == pid) && strcmp(s->category, category) == 0 &&
            strncmp(s->name, name, strlen(name)) == 0)
            ++count;
    }
    return count;
}

/* ------------------------------------------------------------------ slices */

static int by_thread(const void *a, const void *b)
{
    const trace_slice *x = *(const trace_slice *const *)a, *y = *(const trace_slice *const *)b;
    if (x->pid != y->pid) return x->pid - y->pid;
    if (x->tid != y->tid) return x->tid - y->tid;
    return (x > y) - (x < y); /* as they stand in the file */
}

/* The slices of a thread that are open at a time. */
typedef struct stack {
    const trace_slice *open[DEEPEST];
    int depth;
    int64_t last;
} stack;

/* What takes no time may lie at the end of something. */
static void close_until(stack *s, const trace_slice *next)
{
    while (s->depth > 0 && s->open[s->depth - 1]->end <= next->begin &&
           (s->open[s->depth - 1]->end < next->end ||
            strcmp(s->open[s->depth - 1]->category, "range") != 0))
        --s->depth;
}

static void judge_slice(stack *s, const trace_slice *next)
{
    const char *name = next->name;
    if (next->begin < s->last)
        wrong("rank %d, thread %d: time goes back at %s, from %" PRId64 " to %" PRId64 " ns",
              next->pid, next->tid, name, s->last, next->begin);
    s->last = next->begin;
    close_until(s, next);
    if (s->depth > 0) {
        const trace_slice *around = s->open[s->depth - 1];
        if (next->end > around->end)
            wrong("rank %d, thread %d: %s begins within %s and ends %" PRId64 " ns after it",
                  next->pid, next->tid, name, around->name, next->end - around->end);
        if (strcmp(next->category, "range") != 0)
            wrong("rank %d, thread %d: %s lies within %s", next->pid, next->tid, name,
                  around->name);
    }
    if (s->depth == DEEPEST) wrong("rank %d: %s lies too deep", next->pid, name);
    else s->open[s->depth++] = next;
}

/* Times that were lost would fit together. */
static void judge_extent(const trace *t)
{
    int64_t first = INT64_MAX, last = 0;
    for (size_t k = 0; k < t->slices; ++k) {
        if (t->slice[k].begin < first) first = t->slice[k].begin;
        if (t->slice[k].end > last) last = t->slice[k].end;
    }
    if (t->slices > 1 && last <= first) wrong("everything is at %" PRId64 " ns", first);
}

static void judge_slices(const trace *t)
{
    stack s = {.depth = 0};
    const trace_slice **sorted = calloc(t->slices + 1, sizeof *sorted);
    if (!sorted) abort();
    for (size_t k = 0; k < t->slices; ++k) sorted[k] = &t->slice[k];
    qsort(sorted, t->slices, sizeof *sorted, by_thread);
    for (size_t k = 0; k < t->slices; ++k) {
        if (k == 0 || sorted[k - 1]->pid != sorted[k]->pid || sorted[k - 1]->tid != sorted[k]->tid)
            s = (stack){.depth = 0};
        judge_slice(&s, sorted[k]);
    }
    free(sorted);
}

/* ------------------------------------------------------------------ names */

/* How many events @p name there are of that rank, and of that thread if it is not negative. */
static int titles_of(const trace *t, const char *name, int pid, int tid)
{
    int count = 0;
    for (size_t k = 0; k < json_array_size(t->events); ++k) {
        const json_t *event = json_array_get(t->events, k);
        if (strcmp(trace_text(event, "name"), name) == 0 && number_of(event, "pid") == pid &&
            (tid < 0 || number_of(event, "tid") == tid))
            ++count;
    }
    return count;
}

static void judge_names(const trace *t)
{
    for (size_t k = 0; k < t->slices; ++k) {
        const trace_slice *s = &t->slice[k];
        if (!*s->name) wrong("a slice of rank %d, thread %d, without a name", s->pid, s->tid);
        if (k > 0 && s[-1].pid == s->pid && s[-1].tid == s->tid) continue;
        if (titles_of(t, "thread_name", s->pid, s->tid) != 1)
            wrong("rank %d, thread %d, has not one name", s->pid, s->tid);
        if (titles_of(t, "process_name", s->pid, -1) != 1)
            wrong("rank %d has not one name", s->pid);
    }
}

/* ------------------------------------------------------------------ arrows */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const trace_arrow *)a)->id, ((const trace_arrow *)b)->id);
}

static void judge_place(const trace *t, const trace_arrow *a)
{
    for (size_t k = 0; k < t->slices; ++k) {
        const trace_slice *s = &t->slice[k];
        if (s->pid == a->pid && s->tid == a->tid && s->begin <= a->at && a->at <= s->end) return;
    }
    wrong("message %s: an end of it lies in no slice", a->id);
}

static void judge_pair(const trace_arrow *from, const trace_arrow *to)
{
    int sender = -1, receiver = -1;
    if (strcmp(from->id, to->id) != 0) {
        wrong("message %s has one end", strcmp(from->id, to->id) < 0 ? from->id : to->id);
        return;
    }
    if (sscanf(from->id, "%d>%d.", &sender, &receiver) != 2 || from->pid != sender ||
        to->pid != receiver)
        wrong("message %s goes from rank %d to rank %d", from->id, from->pid, to->pid);
    if (from->at > to->at)
        wrong("message %s is there %" PRId64 " ns before it is sent", from->id, from->at - to->at);
}

static void judge_arrows(trace *t)
{
    qsort(t->start, t->starts, sizeof *t->start, by_id);
    qsort(t->end, t->ends, sizeof *t->end, by_id);
    for (size_t k = 1; k < t->starts; ++k)
        if (strcmp(t->start[k - 1].id, t->start[k].id) == 0)
            wrong("two messages are %s", t->start[k].id);
    for (size_t k = 0; k < t->starts && k < t->ends; ++k) judge_pair(&t->start[k], &t->end[k]);
    if (t->starts != t->ends) wrong("%zu messages begin, %zu end", t->starts, t->ends);
    for (size_t k = 0; k < t->starts; ++k) judge_place(t, &t->start[k]);
    for (size_t k = 0; k < t->ends; ++k) judge_place(t, &t->end[k]);
}

const char *trace_fault(trace *t)
{
    *fault = '\0';
    if (t->slices == 0) wrong("nothing took any time");
    judge_extent(t);
    judge_slices(t);
    judge_names(t);
    judge_arrows(t);
    return fault;
}
