/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_lines.c
 *  The lines of a run's summary: the rows of all processes merged, the longest first. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

typedef meta_profile_line line;

static line *line_of(line *lines, size_t *count, const meta_profile_row *row)
{
    line *l = lines;
    while (l < lines + *count &&
           (l->sum.where != row->where || strcmp(l->sum.backend, row->backend) != 0 ||
            strcmp(l->sum.name, row->name) != 0 || strcmp(l->sum.label, row->label) != 0))
        ++l;
    if (l == lines + *count) {
        ++*count;
        *l = (line){.sum = {.where = row->where}};
        memcpy(l->sum.backend, row->backend, sizeof l->sum.backend);
        memcpy(l->sum.name, row->name, sizeof l->sum.name);
        memcpy(l->sum.label, row->label, sizeof l->sum.label);
    }
    return l;
}

static void add(line *l, const meta_profile_row *row, int rank)
{
    if (l->ranks == 0 || row->seconds < l->least) l->least = row->seconds, l->least_rank = rank;
    if (l->ranks == 0 || row->seconds > l->most) l->most = row->seconds, l->most_rank = rank;
    ++l->ranks;
    l->sum.calls += row->calls;
    l->sum.bytes += row->bytes;
    l->sum.timed += row->timed;
    l->sum.timed_bytes += row->timed_bytes;
    l->sum.seconds += row->seconds;
    l->sum.could += row->could;
}

/* By place and back end, then the longest first; the labels of a name follow it. */
static int order(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->sum.where != y->sum.where) return x->sum.where < y->sum.where ? -1 : 1;
    const int backend = strcmp(x->sum.backend, y->sum.backend);
    if (backend != 0) return backend;
    if (x->all != y->all) return x->all > y->all ? -1 : 1;
    const int name = strcmp(x->sum.name, y->sum.name);
    if (name != 0) return name;
    if (!*x->sum.label != !*y->sum.label) return *x->sum.label ? 1 : -1;
    if (x->sum.seconds != y->sum.seconds) return x->sum.seconds > y->sum.seconds ? -1 : 1;
    return strcmp(x->sum.label, y->sum.label);
}

meta_profile_line *meta_profile_lines(const meta_profile_share *share, int count, size_t *used)
{
    size_t room = 1;
    for (int k = 0; k < count; ++k) room += share[k].count;
    line *lines = calloc(room, sizeof *lines);
    *used = 0;
    if (!lines) return NULL;
    for (int k = 0; k < count; ++k)
        for (size_t n = 0; n < share[k].count; ++n)
            add(line_of(lines, used, &share[k].rows[n]), &share[k].rows[n], share[k].rank);
    for (size_t k = 0; k < *used; ++k) {
        meta_profile_row name = lines[k].sum;
        size_t lines_used = *used;
        memset(name.label, 0, sizeof name.label);
        lines[k].all = line_of(lines, &lines_used, &name)->sum.seconds;
    }
    qsort(lines, *used, sizeof *lines, order);
    return lines;
}
