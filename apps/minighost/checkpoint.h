/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint.h
 *  Checkpoints: files PATH.0, PATH.1 … of libmeta_io, from which a run restarts, with bitwise
 *  identical results on any number of ranks. checkpoint_io.c reads and writes them; the program in
 *  plain MPI has none (checkpoint_mpi.c). */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "problem.h"
#include "solve.h"

/** Whether this program has checkpoints. */
bool checkpoint_is_there(void);

/** The state of a run between two time steps, but for its grid. */
typedef struct checkpoint_state {
    number type;
    int64_t global[3], variables;
    int64_t round, step; /**< that were done: from 1 on */
    int64_t before;      /**< time steps of the run before this round */
    int64_t stencil, debug_grid, comm_method, num_spikes, num_tsteps, percent_sum, report_diffusion,
        error_tol;
} checkpoint_state;

/** A file that a run restarts from. */
typedef struct checkpoint {
    const char *base; /**< its path without the number */
    char *path;       /**< and with it */
    int64_t number;
    checkpoint_state is;
    double *source, *flux;     /**< of each variable */
    struct meta_io_file *file; /**< open until the grid is read, so that all is of one file */
} checkpoint;

/** Collective, as all below. Read what stands before the grid in the checkpoint that the options
 * ask for. False, and the failure printed, if there is none that can be used. */
bool checkpoint_load(checkpoint *c, const options *o);
void checkpoint_free(checkpoint *c);
/** Take from the checkpoint what the command line does not say. Notes a failure where it says
 *  something else about the grid, or where no time step is left. */
void checkpoint_options(const checkpoint *c, options *o);
/** Note a failure if the problem is not the checkpoint's. */
void checkpoint_compare(const checkpoint *c, const problem *p);
/** Give the solver the grid; @p cells has room for the block's array. False, and the failure
 *  printed, if it is not what was written. */
bool checkpoint_read(checkpoint *c, const problem *p, void *cells, solver *s);

/** What a run writes. */
typedef struct checkpoints {
    const problem *p;
    int64_t next, written, failed;
    char *last; /**< the one written last, NULL before that */
} checkpoints;

/** Note a failure if none can be written; where the run does not restart from one of the same
 * name, there must be none. */
void checkpoints_begin(checkpoints *w, const problem *p);
void checkpoints_end(checkpoints *w);
/** Write one, after @p before time steps of other rounds. A failure is printed as a warning, and
 *  forgotten: the older ones are as they were. */
void checkpoints_write(checkpoints *w, int round, int64_t step, int64_t before,
                       const double *source, const double *flux, solver *s);

#endif
