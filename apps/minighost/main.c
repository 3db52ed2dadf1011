/* SPDX-License-Identifier: BSD-3-Clause */
/** @file main.c
 *  MiniGhost, the proxy application: start, check the input before any work, run, end. */
#include "config.h"

#include <stdio.h>

#include "failure.h"
#include "grid_io.h"
#include "options.h"
#include "problem.h"
#include "run.h"
#include "solve.h"

static void check_files(const problem *p)
{
    if (p->o.grid_in != NULL) grid_check_input(p, "--grid-in", p->o.grid_in);
    if (p->o.expect != NULL) grid_check_input(p, "--expect", p->o.expect);
    if (p->o.grid_out != NULL) grid_check_output(p, p->o.grid_out);
}

static int run_options(const options *o)
{
    problem p;
    int status = STATUS_UNUSABLE;
    problem_create(&p, o);
    if (!failure_agree(MPI_COMM_WORLD)) {
        check_files(&p);
        if (!failure_agree(MPI_COMM_WORLD)) status = run_problem(&p);
    }
    problem_free(&p);
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
    const int status = run_options(&o);
    solver_end();
    return failure_agree(MPI_COMM_WORLD) ? STATUS_UNUSABLE : status;
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    failure_program(argv[0]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int status = run_program(argc, argv, rank, size);
    MPI_Finalize();
    return status;
}
