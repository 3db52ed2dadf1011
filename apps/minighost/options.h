/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.h
 *  The command line of MiniGhost: its option names, codes and defaults. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"

enum { SCALING_STRONG = 1, SCALING_WEAK = 2 };
enum { METHOD_BSPMA = 10, METHOD_SVAF = 11 };
enum { STENCIL_NONE = 20, STENCIL_2D5P = 21, STENCIL_2D9P, STENCIL_3D7P, STENCIL_3D27P };
enum { BC_DIRICHLET = 31 };
enum { BALANCE_OFF, BALANCE_MEASURED, BALANCE_DYNAMIC };
enum { OVERLAP_AUTO, OVERLAP_ON, OVERLAP_OFF };
enum { MAX_VARIABLES = 1000000 };

typedef struct options {
    int64_t scaling, n[3], np[3], num_vars, num_spikes, num_tsteps, stencil, comm_method, bc;
    int64_t percent_sum, report_diffusion, error_tol, report_perf, debug_grid;
    int64_t checkpoint_method, checkpoint_interval, checkpoint_keep, restart_cp_num;
    int64_t every, png_variable, png_plane, progress;
    uint64_t given; /**< see options_given() */
    number type;
    bool reference; /**< --kernel: MiniGhost 1.0's own three passes */
    int balance;    /**< how the grid is cut into blocks */
    int overlap;    /**< whether a block's inner part is computed while ghost cells travel */
    const char *grid_in, *grid_out, *expect, *json, *checkpoint_file, *restart_file, *vti,
        *png; /**< NULL where not given */
} options;

typedef enum options_result {
    OPTIONS_RUN,
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_WRONG
} options_result;

/** Read the command line of a job of @p ranks; notes a failure where it returns OPTIONS_WRONG. */
options_result options_parse(options *o, int argc, char **argv, int ranks);
/** Whether the command line has the option --@p name, of a number or --type. */
bool options_given(const options *o, const char *name);
/** The name of a BALANCE_… value. */
const char *options_balance_name(int balance);
/** Print what there is, to standard output. */
void options_help(void);

#endif
