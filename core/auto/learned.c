/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learned.c
 *  The table of what was learned, and its text: first the format and the machine, then a line for
 * each device, link and kernel, last a checksum. Numbers have as many digits as give the same bits
 * again, in every locale. */
#include "auto/learned.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cache/cache.h"
#include "meta_backend.h"

#define TITLE  "libmeta-learned "
#define END    "checksum "
#define FINITE "%.17g"

void meta_learned_clear(meta_learned *t)
{
    free(t->line);
    *t = (meta_learned){.turn = 0};
}

/* ------------------------------------------------------------------ adding */

static meta_learned_line *find(const meta_learned *t, const char *name, uint32_t type,
                               uint64_t identity, const meta_time_runs *runs)
{
    for (size_t k = 0; k < t->count; ++k) {
        meta_learned_line *l = &t->line[k];
        if (l->identity == identity && l->type == type && l->runs.device == runs->device &&
            l->runs.octave == runs->octave && strcmp(l->name, name) == 0)
            return l;
    }
    return NULL;
}

static meta_learned_line *append(meta_learned *t)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        meta_learned_line *larger = realloc(t->line, room * sizeof *larger);
        if (!larger) return NULL;
        t->line = larger;
        t->room = room;
    }
    return &t->line[t->count++];
}

static void append_runs(meta_time_runs *r, const meta_time_runs *more)
{
    for (int k = 0; k < more->count; ++k) {
        if (r->count == META_TIMES_WINDOW)
            memmove(r->run, r->run + 1, (size_t)--r->count * sizeof *r->run);
        r->run[r->count++] = more->run[k];
    }
}

void meta_learned_add(meta_learned *t, const char *name, uint32_t type, uint64_t identity,
                      const meta_time_runs *runs, int share)
{
    meta_time_runs mine = *runs;
    if (runs->count == 0 || strlen(name) >= META_LEARNED_NAME || strpbrk(name, " \n")) return;
    meta_learned_line *l = find(t, name, type, identity, runs);
    meta_times_thin(&mine, l || share > 2 ? share : 2);
    if (!l) {
        if (!(l = append(t))) return;
        *l = (meta_learned_line){.type = type, .identity = identity};
        l->runs = (meta_time_runs){.device = runs->device, .octave = runs->octave};
        strcpy(l->name, name);
    }
    append_runs(&l->runs, &mine);
    l->turn = t->turn;
}

void meta_learned_add_pace(meta_learned *t, int device, const meta_pace_run *one)
{
    if (one->bytes <= 0) return;
    meta_pace_run *best = &t->pace[device][meta_octave((uint64_t)one->bytes)];
    if (best->bytes <= 0 || one->bytes * best->seconds > best->bytes * one->seconds) *best = *one;
}

static void average(double *known, double now)
{
    if (now > 0) *known = *known > 0 ? (*known + now) / 2 : now;
}

void meta_learned_add_link(meta_learned *t, int from, int to, const meta_learned_link *link)
{
    average(&t->link[from][to].latency, link->latency);
    average(&t->link[from][to].bandwidth, link->bandwidth);
}

/* ------------------------------------------------------------------ writing */

static int latest_first(const void *a, const void *b)
{
    const meta_learned_line *x = a, *y = b;
    return (x->turn < y->turn) - (x->turn > y->turn);
}

static int in_order(const void *a, const void *b)
{
    const meta_learned_line *x = a, *y = b;
    const int by_name = strcmp(x->name, y->name);
    if (by_name) return by_name;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    if (x->identity != y->identity) return x->identity < y->identity ? -1 : 1;
    if (x->runs.device != y->runs.device) return x->runs.device - y->runs.device;
    return x->runs.octave - y->runs.octave;
}

static void sort(meta_learned *t)
{
    if (t->count == 0) return;
    qsort(t->line, t->count, sizeof *t->line, latest_first);
    if (t->count > META_LEARNED_LINES) t->count = META_LEARNED_LINES;
    qsort(t->line, t->count, sizeof *t->line, in_order);
}

static void write_line(FILE *to, const meta_learned_line *l)
{
    fprintf(to, "kernel %s %s %016" PRIx64 " %" PRIu64 " %d", l->name, meta_element_name(l->type),
            l->identity, l->turn, l->runs.device);
    for (int k = 0; k < l->runs.count; ++k)
        fprintf(to, " " FINITE " " FINITE, l->runs.run[k].cells, l->runs.run[k].seconds);
    fputc('\n', to);
}

static void write_all(FILE *to, const meta_learned *t, const char *machine)
{
    fprintf(to, TITLE "%d\n%sturn %" PRIu64 "\n", META_LEARNED_FORMAT, machine, t->turn);
    for (int d = 0; d < META_SLABS_DEVICES; ++d)
        for (int o = 0; o < META_OCTAVES; ++o) {
            const meta_pace_run *p = &t->pace[d][o];
            if (p->bytes > 0)
                fprintf(to, "pace %d " FINITE " " FINITE "\n", d, p->bytes, p->seconds);
        }
    for (int from = 0; from < META_SLABS_DEVICES; ++from)
        for (int d = 0; d < META_SLABS_DEVICES; ++d) {
            const meta_learned_link *l = &t->link[from][d];
            if (l->latency > 0 || l->bandwidth > 0)
                fprintf(to, "link %d %d " FINITE " " FINITE "\n", from, d, l->latency,
                        l->bandwidth);
        }
    for (size_t k = 0; k < t->count; ++k) write_line(to, &t->line[k]);
}

static void checksum(const char *text, size_t bytes, char sum[33])
{
    meta_cache_key key = META_CACHE_KEY_INIT;
    meta_cache_key_add(&key, text, bytes);
    snprintf(sum, 33, "%016" PRIx64 "%016" PRIx64, key.part[0], key.part[1]);
}

char *meta_learned_text(meta_learned *t, const char *machine, size_t *bytes)
{
    char *text = NULL, sum[33];
    FILE *to = open_memstream(&text, bytes);
    if (!to) return NULL;
    sort(t);
    const locale_t before = meta_plain_begin();
    write_all(to, t, machine);
    meta_plain_end(before);
    bool written = fflush(to) == 0;
    if (written) {
        checksum(text, *bytes, sum);
        written = fprintf(to, END "%s\n", sum) > 0;
    }
    if (fclose(to) == 0 && written) return text;
    free(text);
    return NULL;
}

/* ------------------------------------------------------------------ reading */

static bool read_positive(char **at, double *value)
{
    char *end;
    *value = strtod(*at, &end);
    if (end == *at || !isfinite(*value) || *value < 0) return false;
    *at = end;
    return true;
}

/* Cells or bytes, and the time that they took. */
static bool read_run(char **at, double *count, double *seconds)
{
    return read_positive(at, count) && read_positive(at, seconds) && *count >= 1 &&
           *count <= 0x1p63 && *seconds > 0;
}

static bool read_device(char **at, int devices, int *device)
{
    char *end;
    const unsigned long n = strtoul(*at, &end, 10);
    if (end == *at || n >= (unsigned long)devices) return false;
    *device = (int)n;
    *at = end;
    return true;
}

static bool read_type(const char *name, uint32_t *type)
{
    for (*type = 0; *type < META_TYPE_COUNT; ++*type)
        if (strcmp(meta_element_name(*type), name) == 0) return true;
    return false;
}

static bool read_kernel(meta_learned *t, char *at, int devices)
{
    _Static_assert(META_LEARNED_NAME == 96, "the format below has one less");
    char type[16];
    int read = 0;
    meta_learned_line l = {.turn = 0};
    if (sscanf(at, "%95s %15s %" SCNx64 " %" SCNu64 "%n", l.name, type, &l.identity, &l.turn,
               &read) < 4 ||
        !read_type(type, &l.type))
        return false;
    at += read;
    if (!read_device(&at, devices, &l.runs.device)) return false;
    while (*at) {
        meta_time_run r;
        if (l.runs.count == META_TIMES_WINDOW || !read_run(&at, &r.cells, &r.seconds)) return false;
        const int octave = meta_octave((uint64_t)r.cells);
        if (l.runs.count > 0 && octave != l.runs.octave) return false;
        l.runs.octave = octave;
        l.runs.run[l.runs.count++] = r;
    }
    meta_learned_line *place = l.runs.count > 0 ? append(t) : NULL;
    if (place) *place = l;
    return place != NULL;
}

static bool read_line(meta_learned *t, char *line, int devices)
{
    char *at = strchr(line, ' ');
    int from, d;
    if (!at) return false;
    *at++ = '\0';
    if (strcmp(line, "kernel") == 0) return read_kernel(t, at, devices);
    if (strcmp(line, "turn") == 0) {
        t->turn = strtoull(at, &at, 10);
    } else if (strcmp(line, "pace") == 0) {
        meta_pace_run p;
        if (!read_device(&at, devices, &d) || !read_run(&at, &p.bytes, &p.seconds)) return false;
        meta_learned_add_pace(t, d, &p);
    } else if (strcmp(line, "link") == 0) {
        if (!read_device(&at, devices, &from) || !read_device(&at, devices, &d)) return false;
        meta_learned_link *l = &t->link[from][d];
        if (!read_positive(&at, &l->latency) || !read_positive(&at, &l->bandwidth)) return false;
    } else {
        return false;
    }
    return *at == '\0';
}

/* Of a copy, up to its end. */
static bool read_lines(meta_learned *t, char *at, int devices)
{
    while (*at) {
        char *end = strchr(at, '\n');
        if (!end) return false;
        *end = '\0';
        if (!read_line(t, at, devices)) return false;
        at = end + 1;
    }
    return true;
}

/* How many bytes lie before the checksum, which is right; 0: it is not. */
static size_t checked(const char *text, size_t bytes)
{
    enum { LAST = sizeof END - 1 + 32 + 1 };
    char sum[33];
    if (bytes < LAST || strlen(text) != bytes || text[bytes - 1] != '\n') return 0;
    checksum(text, bytes - LAST, sum);
    const char *last = text + bytes - LAST;
    if (strncmp(last, END, sizeof END - 1) != 0 || strncmp(last + sizeof END - 1, sum, 32) != 0)
        return 0;
    return bytes - LAST;
}

/* Whether this libmeta reads the text of this machine. *at: what is behind the machine. */
static bool is_mine(const char *text, size_t bytes, const char *machine, const char **at,
                    char *reason, size_t room)
{
    const size_t title = sizeof TITLE - 1, length = machine ? strlen(machine) : 0;
    if (bytes < title || strncmp(text, TITLE, title) != 0)
        return snprintf(reason, room, "libmeta has not written it"), false;
    const long format = strtol(text + title, NULL, 10);
    if (format != META_LEARNED_FORMAT)
        return snprintf(reason, room,
                        "it is of version %ld of the format, and this libmeta reads %d", format,
                        META_LEARNED_FORMAT),
               false;
    const size_t end = checked(text, bytes);
    if (!end || !memchr(text, '\n', end)) return snprintf(reason, room, "it is damaged"), false;
    *at = strchr(text, '\n') + 1;
    if (!machine) {
        const char *turn = strstr(text, "\nturn ");
        if (turn) *at = turn + 1;
        return true;
    }
    if (strncmp(*at, machine, length) == 0) return *at += length, true;
    /* The first line that differs. */
    while (*machine && strncmp(*at, machine, strcspn(machine, "\n") + 1) == 0) {
        machine += strcspn(machine, "\n") + 1;
        *at = strchr(*at, '\n') + 1;
    }
    snprintf(reason, room, "it is of another machine: '%.*s' there, '%.*s' here",
             (int)strcspn(*at, "\n"), *at, (int)strcspn(machine, "\n"), machine);
    return false;
}

bool meta_learned_parse(meta_learned *t, const char *text, size_t bytes, const char *machine,
                        int devices, char *reason, size_t room)
{
    const char *at;
    if (!is_mine(text, bytes, machine, &at, reason, room)) return false;
    const size_t length = (size_t)(text + checked(text, bytes) - at);
    char *copy = malloc(length + 1);
    if (!copy) return snprintf(reason, room, "the host has no memory for it"), false;
    memcpy(copy, at, length);
    copy[length] = '\0';
    const locale_t before = meta_plain_begin();
    const bool read = read_lines(t, copy, devices);
    meta_plain_end(before);
    free(copy);
    if (!read) {
        snprintf(reason, room, "it is damaged");
        meta_learned_clear(t);
    }
    return read;
}
