/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint.h
 *  Checkpoints: files PATH.0, PATH.1 … from which a run restarts, with bitwise identical results
 *  on any number of ranks. A checkpoint is written as PATH.partial and renamed when it is
 *  complete and on the disk, so a numbered file is complete however the program ends. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "checkpoint_format.h"
#include "problem.h"
#include "source.h"

/** The state of a run between two time steps, but for its grid. */
typedef struct checkpoint {
    char *path; /**< of its file */
    checkpoint_header h;
    checkpoint_word *words; /**< checkpoint_words() of each variable */
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
/** Read the grid: @p put gets each variable's array of p->type, with zero ghost cells, in
 *  @p cells. False, and the failure printed, if it is not what was written. */
bool checkpoint_read(const checkpoint *c, const problem *p, void *cells,
                     void (*put)(void *context, int variable, const void *cells), void *context);

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
                       const double *source, const double *flux, const grid_source *from);

#endif
