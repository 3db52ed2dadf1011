/* SPDX-License-Identifier: BSD-3-Clause */
/** @file blocks.h
 *  File I/O of the global grid, stored one variable after another, x fastest, without ghost
 *  cells. Each rank reads or writes its own block, collectively. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "problem.h"

typedef struct blocks {
    const problem *p;
    const char *path; /**< for messages */
    number type;      /**< of the cells in the file and in memory */
    MPI_File file;
    MPI_Datatype in_file, in_memory;
} blocks;

/** Whether MPI cannot open @p path, given with @p option; notes a failure. */
bool blocks_has_colon(const char *option, const char *path);
/** Bytes of a variable. */
int64_t blocks_variable_bytes(const problem *p, number type);

/** Collective, as all below. Open the file called @p name; @p b has its members before that. False,
 *  and the failure printed, if it cannot be opened. */
bool blocks_open(blocks *b, const char *name, int mode);
/** Move @p variable's own cells between the file and the block's array of the type. Failures are
 *  noted. */
void blocks_read(blocks *b, int variable, void *cells);
void blocks_write(blocks *b, int variable, const void *cells);
/** Close it; what was written is on the disk. Failures are noted. */
void blocks_close(blocks *b, bool written);

#endif
