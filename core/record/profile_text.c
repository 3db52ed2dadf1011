/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_text.c
 *  The summary of a run as a table. */
#include "record/record.h"

#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 8 }; /* of a name */
typedef meta_profile_line line;

static const char *const titles[META_WHERE_COUNT] = {
    [META_WHERE_WORK] = "kernels and copies",
    [META_WHERE_HALO] = "for halo exchanges",
    [META_WHERE_MESSAGE] = "for messages and reductions",
    [META_WHERE_MEASURE] = "measured by the library, for its choices",
    [META_WHERE_WIRE] = "messages, from their posting",
    [META_WHERE_RANGE] = "ranges",
    [META_WHERE_DEVICE] = "where META_MODE=auto ran kernels",
    [META_WHERE_MOVE] = "copies of META_MODE=auto between devices, and why",
    [META_WHERE_FIXED] = "time of all work by META_MODE=auto, and expected on one device alone",
};

/* A number of bytes in at most nine characters. */
static const char *bytes_text(uint64_t bytes, char text[16])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes / 1000;
    int k = 0;
    if (bytes < 10000) return snprintf(text, 16, "%d B", (int)bytes), text;
    while (value >= 10000 && k < 4) value /= 1000, ++k;
    snprintf(text, 16, "%.1f %s", value, units[k]);
    return text;
}

/* The sum over all ranks. */
static void print_fixed(const line *l, const char *name)
{
    if (l->sum.calls == 0) fprintf(stderr, "  %-26s %17.3f ms\n", name, 1e3 * l->sum.seconds);
    else
        fprintf(stderr,
                "  %-26s         not known: kernels, sizes and copies without a time there: %llu\n",
                name, (unsigned long long)l->sum.calls);
}

static void print_line(const line *l, int shares)
{
    char bytes[16], least[40], most[40], speed[16] = "", share[16] = "", label[80], rates[40];
    const meta_profile_row *s = &l->sum;
    const bool is_buffer = s->where <= META_WHERE_RANGE;
    snprintf(label, sizeof label, is_buffer ? "  \"%s\"" : "  %s", s->label);
    if (s->where == META_WHERE_FIXED) {
        print_fixed(l, *s->label ? label : s->name);
        return;
    }
    fprintf(stderr, "  %-26s %9llu %10s", *s->label ? label : s->name, (unsigned long long)s->calls,
            s->bytes > 0 ? bytes_text(s->bytes, bytes) : "");
    if (s->timed == 0) {
        fprintf(stderr, s->where == META_WHERE_MOVE ? "  too many at a time\n"
                                                    : "  this back end tells no times\n");
        return;
    }
    if (s->timed_bytes > 0 && s->seconds > 0)
        snprintf(speed, sizeof speed, "%.2f", 1e-9 * (double)s->timed_bytes / s->seconds);
    if (s->could > 0)
        snprintf(share, sizeof share, "%.0f %%", 100 * (double)s->timed_bytes / s->could);
    snprintf(least, sizeof least, "%.3f", 1e3 * l->least);
    snprintf(most, sizeof most, "%.3f", 1e3 * l->most);
    if (shares > 1) {
        snprintf(least, sizeof least, "%.3f (%d)", 1e3 * l->least, l->least_rank);
        snprintf(most, sizeof most, "%.3f (%d)", 1e3 * l->most, l->most_rank);
    }
    snprintf(rates, sizeof rates, " %8s %7s", speed, share);
    for (size_t k = strlen(rates); k > 0 && rates[k - 1] == ' ';) rates[--k] = '\0';
    fprintf(stderr, " %10.2f %14s %10.3f %14s%s%s\n", 1e6 * s->seconds / (double)s->timed, least,
            1e3 * s->seconds / l->ranks, most, rates,
            s->timed < s->calls ? "  some without a time" : "");
}

static void print_lines(const line *lines, size_t count, int shares)
{
    int labels = 0;
    for (size_t k = 0; k < count; ++k) {
        const meta_profile_row *s = &lines[k].sum, *before = k > 0 ? &lines[k - 1].sum : NULL;
        if (!before || before->where != s->where || strcmp(before->backend, s->backend) != 0)
            fprintf(stderr, "%s%s%s\n", titles[s->where], *s->backend ? " on " : "", s->backend);
        labels = *s->label ? labels + 1 : 0;
        if (labels <= MOST_LABELS) print_line(&lines[k], shares);
        else if (k + 1 == count || !*lines[k + 1].sum.label)
            fprintf(stderr, "    and %d more\n", labels - MOST_LABELS);
    }
}

static void print_overlap(const meta_profile_share *share, int count)
{
    static const char *const kinds[] = {"under way", "hidden behind kernels", "exposed"};
    double all = 0;
    for (int k = 0; k < count; ++k) all += share[k].comm;
    if (all == 0) return;
    fprintf(stderr, "communication, of a rank: least, mean and most\n");
    for (int kind = 0; kind < 3; ++kind) {
        double sum = 0, least = 0, most = 0;
        int least_rank = 0, most_rank = 0;
        for (int k = 0; k < count; ++k) {
            const meta_profile_share *s = &share[k];
            const double seconds = kind == 0   ? s->comm
                                   : kind == 1 ? s->hidden
                                               : s->comm - s->hidden;
            sum += seconds;
            if (k == 0 || seconds < least) least = seconds, least_rank = s->rank;
            if (k == 0 || seconds > most) most = seconds, most_rank = s->rank;
        }
        fprintf(stderr, "  %-26s %10.3f (%d) %10.3f %10.3f (%d) ms\n", kinds[kind], 1e3 * least,
                least_rank, 1e3 * sum / count, 1e3 * most, most_rank);
    }
}

static void print(const meta_profile_share *share, int count, const line *lines, size_t used)
{
    double seconds = 0;
    for (int k = 0; k < count; ++k)
        if (share[k].seconds > seconds) seconds = share[k].seconds;
    if (count == 1 && meta_job_size() > 1)
        fprintf(stderr, "libmeta: rank %d alone, %.3f s counted\n", share->rank, seconds);
    else
        fprintf(stderr, "libmeta: %d process%s, %.3f s counted\n", count, count == 1 ? "" : "es",
                seconds);
    fprintf(stderr, "  %-26s %9s %10s %10s %14s %10s %14s %8s %7s\n", "", "calls", "bytes",
            "us a call", "least ms", "mean ms", "most ms", "GB/s", "of copy");
    print_lines(lines, used, count);
    print_overlap(share, count);
}

void meta_profile_report(const meta_profile_share *share, int count, int flags)
{
    size_t used;
    line *lines = meta_profile_lines(share, count, &used);
    if (!lines) {
        meta_log(META_LOG_WARN, "the host has no memory for the summary of a run");
        return;
    }
    const locale_t before = meta_plain_begin();
    if (flags & META_PROFILE_SUMMARY) print(share, count, lines, used);
    meta_plain_end(before);
    if (flags & META_PROFILE_JSON) meta_profile_write(share, count, lines, used);
    free(lines);
}
