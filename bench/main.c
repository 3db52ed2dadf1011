/* SPDX-License-Identifier: BSD-3-Clause */
/** @file main.c
 *  meta-bench: libmeta measured against hardware limits and peers in the same run. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "group.h"
#include "job.h"
#include "print.h"
#include "standard_output.h"

enum { STATUS_MEASURED = 0, STATUS_UNUSABLE = 2, MOST_GROUPS = 16 };

/* Collective. Whether any rank has recorded a fatal failure. */
static bool failed(void)
{
    char why[NOTE_ROOM];
    if (!note_agree(why)) return false;
    note_print("%s", why);
    return true;
}

/* Why the group cannot run here; NULL if it can. */
static const char *obstacle(const group *g)
{
    if (g->run == NULL)
        return "this meta-bench was built without MPI; configure libmeta with --with-mpi";
    if (job_here()->size < g->least_ranks)
        return "needs 2 or more ranks; start meta-bench with mpiexec -n 2";
    return NULL;
}

static void check_groups(const options *o)
{
    for (int k = 0; k < group_count; ++k)
        if (o->wanted[k] && obstacle(&groups[k]) != NULL)
            note("%s: %s", groups[k].name, obstacle(&groups[k]));
}

static void run_group(bench *b, const group *g)
{
    print_columns(b->o, g);
    /* Sizes do not apply to groups of single calls. */
    if (b->o->size_count == 0 || g->sizes[1] == 0)
        for (int k = 0; g->sizes[k] != 0; ++k) g->run(b, g->sizes[k]);
    else
        for (int k = 0; k < b->o->size_count; ++k) g->run(b, b->o->sizes[k]);
}

static void run_groups(bench *b)
{
    bool all = true;
    for (int k = 0; k < group_count; ++k) all = all && !b->o->wanted[k];
    for (int k = 0; k < group_count; ++k) {
        if (!all && !b->o->wanted[k]) continue;
        if (obstacle(&groups[k]) != NULL)
            note_print("%s: skipped: %s", groups[k].name, obstacle(&groups[k]));
        else run_group(b, &groups[k]);
    }
}

/* Collective. @p status, or STATUS_UNUSABLE where what was printed could not be written. */
static int written(int status)
{
    const char *error = job_here()->rank == 0 ? standard_output_error() : NULL;
    if (error != NULL) note("%s", error);
    return failed() ? STATUS_UNUSABLE : status;
}

static int measure(const options *o)
{
    place here;
    bench b = {.o = o, .here = &here};
    bool right = false;
    place_open(&here, o->backend);
    if (!failed()) {
        print_place(o, &here);
        run_groups(&b);
        if (b.rows == 0) note("nothing could be measured");
        right = written(STATUS_MEASURED) == STATUS_MEASURED;
    }
    place_close(&here);
    return right ? STATUS_MEASURED : STATUS_UNUSABLE;
}

static int run_program(int argc, char **argv)
{
    bool wanted[MOST_GROUPS] = {false};
    options o;
    const bool first = job_here()->rank == 0;
    switch (options_parse(&o, wanted, argc, argv)) {
    case OPTIONS_HELP:
        if (first) options_help();
        return written(STATUS_MEASURED);
    case OPTIONS_VERSION:
        if (first) printf("meta-bench %s\n", PACKAGE_VERSION);
        return written(STATUS_MEASURED);
    case OPTIONS_WRONG:
        failed();
        return STATUS_UNUSABLE;
    case OPTIONS_RUN:
        break;
    }
    check_groups(&o);
    if (failed()) return STATUS_UNUSABLE;
    note_meta(job_begin_meta());
    if (failed()) return STATUS_UNUSABLE;
    const int status = measure(&o);
    note_meta(job_end_meta());
    return failed() ? STATUS_UNUSABLE : status;
}

int main(int argc, char **argv)
{
    standard_output_begin();
    job_begin(&argc, &argv);
    const int status = run_program(argc, argv);
    job_end();
    return status;
}
