/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid_io.h
 *  Files of the global grid, read and written collectively: raw little-endian float64, x
 *  fastest, one variable after another, no ghost cells. */
#ifndef GRID_IO_H
#define GRID_IO_H

#include "blocks.h"

typedef struct grid_file {
    blocks b;
    char *temporary; /**< what is written until it is complete; NULL where the file is read */
} grid_file;

/** On rank 0: note a failure if @p path, given with @p option, is not a file of the grid's size. */
void grid_check_input(const problem *p, const char *option, const char *path);
/** On rank 0: note a failure if no file can be written there. Leaves nothing behind. */
void grid_check_output(const problem *p, const char *path);

/** Collective, as all below. False, and the failure printed, if it cannot be opened. */
bool grid_open_input(grid_file *g, const problem *p, const char *path);
bool grid_open_output(grid_file *g, const problem *p, const char *path);
/** Move @p variable's own cells between the file and the block's array of double. Writing may
 *  change the array. Failures are noted. */
void grid_read(grid_file *g, int variable, double *cells);
void grid_write(grid_file *g, int variable, double *cells);
/** Close it. A file that was written gets its name if no rank has noted a failure, else it is
 *  removed; false then, and the failure printed. */
bool grid_close(grid_file *g);

#endif
