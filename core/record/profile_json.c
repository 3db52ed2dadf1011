/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_json.c
 *  The summary of a run as a JSON file, for programs; doc/profiling.md says what is in it. Times
 *  are written as two integers, since a program's locale may have a comma where JSON has a point.
 */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef meta_profile_line line;
enum { QUOTED = 6 * 64 + 8 }; /* a name or label with each character escaped */

static char path[PATH_MAX];

meta_err meta_profile_json_path(const char *name, size_t length)
{
    return meta_profile_path("json", name, length, path);
}

/* ------------------------------------------------------------------ members of an object */

static void put_text(FILE *f, const char *key, const char *text)
{
    char quoted[QUOTED];
    fprintf(f, ",\"%s\":\"%s\"", key, meta_json_quote(text, quoted, sizeof quoted));
}

static void put_count(FILE *f, const char *key, uint64_t count)
{
    fprintf(f, ",\"%s\":%" PRIu64, key, count);
}

static void put_seconds(FILE *f, const char *key, double seconds)
{
    const uint64_t nano = 1000000000, all = seconds > 0 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
    fprintf(f, ",\"%s\":%" PRIu64 ".%09" PRIu64, key, all / nano, all % nano);
}

static void put_rank(FILE *f, const char *key, double seconds, int rank)
{
    fprintf(f, ",\"%s\":{\"rank\":%d", key, rank);
    put_seconds(f, "seconds", seconds);
    fputc('}', f);
}

/* Begin an object of a list with a member. */
static void begin(FILE *f, bool *is_first, const char *key, const char *text)
{
    char quoted[QUOTED];
    fprintf(f, "%s\n{\"%s\":\"%s\"", *is_first ? "" : ",", key,
            meta_json_quote(text, quoted, sizeof quoted));
    *is_first = false;
}

static void put_amounts(FILE *f, const meta_profile_row *sum)
{
    put_count(f, "calls", sum->calls);
    put_count(f, "bytes", sum->bytes);
    put_count(f, "timed_calls", sum->timed);
    put_count(f, "timed_bytes", sum->timed_bytes);
    put_seconds(f, "seconds", sum->seconds);
}

/* ------------------------------------------------------------------ processes and rows */

static void put_processes(FILE *f, const meta_profile_share *share, int count)
{
    fputs("\"processes\":[", f);
    for (int k = 0; k < count; ++k) {
        fprintf(f, "%s\n{\"rank\":%d", k > 0 ? "," : "", share[k].rank);
        put_seconds(f, "seconds", share[k].seconds);
        put_seconds(f, "communication", share[k].comm);
        put_seconds(f, "hidden", share[k].hidden);
        fputc('}', f);
    }
    fputs("]", f);
}

static void put_rows(FILE *f, const line *lines, size_t used)
{
    static const char *const sections[] = {
        [META_WHERE_WORK] = "work",       [META_WHERE_HALO] = "halo",
        [META_WHERE_MESSAGE] = "message", [META_WHERE_MEASURE] = "measure",
        [META_WHERE_WIRE] = "wire",       [META_WHERE_RANGE] = "range"};
    bool is_first = true;
    fputs(",\n\"rows\":[", f);
    for (const line *l = lines; l < lines + used; ++l) {
        if (l->sum.where > META_WHERE_RANGE) continue;
        begin(f, &is_first, "section", sections[l->sum.where]);
        if (*l->sum.backend) put_text(f, "backend", l->sum.backend);
        put_text(f, "name", l->sum.name);
        if (*l->sum.label) put_text(f, "label", l->sum.label);
        put_amounts(f, &l->sum);
        if (l->sum.could > 0) put_count(f, "copy_bytes", (uint64_t)l->sum.could);
        put_count(f, "ranks", (uint64_t)l->ranks);
        put_rank(f, "least", l->least, l->least_rank);
        put_rank(f, "most", l->most, l->most_rank);
        fputc('}', f);
    }
    fputs("]", f);
}

/* ------------------------------------------------------------------ META_MODE=auto */

static void put_kernels(FILE *f, const line *lines, size_t used)
{
    bool is_first = true;
    fputs("\"kernels\":[", f);
    for (const line *l = lines; l < lines + used; ++l) {
        if (l->sum.where != META_WHERE_DEVICE || !*l->sum.label) continue;
        begin(f, &is_first, "kernel", l->sum.name);
        put_text(f, "device", l->sum.label);
        put_amounts(f, &l->sum);
        fputc('}', f);
    }
    fputs("]", f);
}

/* A pair of devices is named "sim:0 to sim:1"; what has no reason but no pair either is what was
 * not recorded. */
static void put_copies(FILE *f, const line *lines, size_t used)
{
    static const char between[] = " to ";
    bool is_first = true;
    uint64_t calls = 0, bytes = 0;
    fputs(",\n\"copies\":[", f);
    for (const line *l = lines; l < lines + used; ++l) {
        char from[sizeof l->sum.name];
        if (l->sum.where != META_WHERE_MOVE) continue;
        memcpy(from, l->sum.name, sizeof from);
        char *end = strstr(from, between);
        if (!end) calls += l->sum.calls, bytes += l->sum.bytes;
        if (!end || !*l->sum.label) continue;
        *end = '\0';
        begin(f, &is_first, "from", from);
        put_text(f, "to", end + strlen(between));
        put_text(f, "reason", l->sum.label);
        put_amounts(f, &l->sum);
        fputc('}', f);
    }
    fprintf(f, "],\n\"without_record\":{\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", calls,
            bytes);
}

/* Of META_MODE=auto, and of each device alone: the line of a name without a label begins an object,
 * to which those with a label add a part. */
static void put_times(FILE *f, const line *lines, size_t used)
{
    bool is_first = true;
    fputs(",\n\"times\":[", f);
    for (const line *l = lines; l < lines + used; ++l) {
        const meta_profile_row *sum = &l->sum;
        char key[sizeof sum->label], name[sizeof sum->name];
        if (sum->where != META_WHERE_FIXED) continue;
        if (!*sum->label) {
            if (!is_first) fputc('}', f);
            memcpy(name, sum->name, sizeof name);
            if (strstr(name, " alone")) *strstr(name, " alone") = '\0';
            begin(f, &is_first, "on", name);
            if (sum->calls > 0) put_count(f, "not_known", sum->calls);
            else put_seconds(f, "seconds", sum->seconds);
            continue;
        }
        for (size_t k = 0; k < sizeof key; ++k) key[k] = sum->label[k] == ' ' ? '_' : sum->label[k];
        put_seconds(f, key, sum->seconds);
    }
    fputs(is_first ? "]" : "}]", f);
}

static void put_auto(FILE *f, const line *lines, size_t used)
{
    bool is_auto = false;
    for (size_t k = 0; k < used; ++k) is_auto |= lines[k].sum.where > META_WHERE_RANGE;
    if (!is_auto) return;
    fputs(",\n\"auto\":{", f);
    put_kernels(f, lines, used);
    put_copies(f, lines, used);
    put_times(f, lines, used);
    fputs("}", f);
}

/* ------------------------------------------------------------------ the file */

static bool put_all(FILE *f, const meta_profile_share *share, int count, const line *lines,
                    size_t used)
{
    fprintf(f, "{\"libmeta\":\"%d.%d.%d\",\n", META_VERSION_MAJOR, META_VERSION_MINOR,
            META_VERSION_PATCH);
    put_processes(f, share, count);
    put_rows(f, lines, used);
    put_auto(f, lines, used);
    fputs("}\n", f);
    return fflush(f) == 0 && !ferror(f);
}

void meta_profile_write(const meta_profile_share *share, int count, const line *lines, size_t used)
{
    if (!*path) return;
    const int file = meta_file_to_write(path, O_TRUNC);
    FILE *f = file >= 0 ? fdopen(file, "w") : NULL;
    const bool is_written = f && put_all(f, share, count, lines, used);
    const int error = errno;
    if (f) fclose(f); /* its text is written, or the error known */
    else if (file >= 0) close(file);
    if (is_written) meta_log(META_LOG_INFO, "the summary of this run is in %s", path);
    else meta_log(META_LOG_WARN, "the summary %s could not be written: %s", path, strerror(error));
    *path = '\0';
}
