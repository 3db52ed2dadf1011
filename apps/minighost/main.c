/* SPDX-License-Identifier: BSD-3-Clause */
/** @file main.c
 *  The MiniGhost proxy application: initialize, validate the input before any work, run,
 *  finalize. */
#include "config.h"

#include <stdio.h>

#include "balance.h"
#include "checkpoint.h"
#include "failure.h"
#include "grid_io.h"
#include "options.h"
#include "output.h"
#include "perf.h"
#include "problem.h"
#include "room.h"
#include "run.h"
#include "solve.h"
#include "standard_output.h"
#include "watch.h"

static void check_files(const problem *p)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    if (rank == 0 && p->o.json != NULL) output_check("--json", p->o.json);
    if (rank == 0 && p->o.report_perf > 0) perf_check_files();
    if (p->o.grid_in != NULL) grid_check_input(p, "--grid-in", p->o.grid_in);
    if (p->o.expect != NULL) grid_check_input(p, "--expect", p->o.expect);
    if (p->o.grid_out != NULL) grid_check_output(p, p->o.grid_out);
}

/* Blocks that are cut by speed may be larger than even ones. */
static bool cut(problem *p)
{
    balance_cut(p);
    if (failure_agree(MPI_COMM_WORLD)) return false;
    if (p->o.balance != BALANCE_OFF) room_check(p);
    return !failure_agree(MPI_COMM_WORLD);
}

/* From a checkpoint where @p from is not NULL. */
static int run_options(const options *o, checkpoint *from)
{
    problem p;
    int status = STATUS_UNUSABLE;
    problem_create(&p, o);
    if (!failure_agree(MPI_COMM_WORLD)) {
        if (from != NULL) checkpoint_compare(from, &p);
        check_files(&p);
        balance_check(&p);
        room_check(&p);
        if (!failure_agree(MPI_COMM_WORLD) && cut(&p)) status = run_problem(&p, from);
    }
    problem_free(&p);
    return status;
}

static int run_from_checkpoint(options *o)
{
    checkpoint from;
    int status = STATUS_UNUSABLE;
    if (!checkpoint_load(&from, o)) return STATUS_UNUSABLE;
    checkpoint_options(&from, o);
    if (!failure_agree(MPI_COMM_WORLD)) status = run_options(o, &from);
    checkpoint_free(&from);
    return status;
}

static int run_program(int argc, char **argv, int rank, int size)
{
    options o;
    switch (options_parse(&o, argc, argv, size)) {
    case OPTIONS_HELP:
        if (rank == 0) options_help();
        return STATUS_RIGHT;
    case OPTIONS_VERSION:
        if (rank == 0) printf("%s %s\n", failure_program_name(), PACKAGE_VERSION);
        return STATUS_RIGHT;
    case OPTIONS_WRONG:
        failure_agree(MPI_COMM_WORLD);
        return STATUS_UNUSABLE;
    case OPTIONS_RUN:
        break;
    }
    solver_begin();
    if (failure_agree(MPI_COMM_WORLD)) return STATUS_UNUSABLE;
    const int status = o.restart_cp_num >= -1 ? run_from_checkpoint(&o) : run_options(&o, NULL);
    solver_end();
    return failure_agree(MPI_COMM_WORLD) ? STATUS_UNUSABLE : status;
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    failure_program(argv[0]);
    standard_output_begin();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int status = output_end(run_program(argc, argv, rank, size));
    watch_begin("the job ends");
    MPI_Finalize();
    watch_end();
    return status;
}
