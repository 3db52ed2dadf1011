/* SPDX-License-Identifier: BSD-3-Clause */
/** @file source.h
 *  Where the input files of a run get the grid from. */
#ifndef SOURCE_H
#define SOURCE_H

typedef struct grid_source {
    void *cells; /**< room for the block's array in double */
    /** Fill @p cells with the block's array of a variable, of the problem's type. */
    void (*get)(void *context, int variable, void *cells);
    void *context;
} grid_source;

#endif
