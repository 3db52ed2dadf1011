/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cells.h
 *  The cells of an operand in an image of its buffer, for META_CHECK=on. */
#ifndef META_CHECK_CELLS_H
#define META_CHECK_CELLS_H

#include "kernels/kernels.h"

/** A walk over the cells of operand @p k. */
typedef struct meta_walk {
    const meta_space *space;
    const meta_i64 *stride;
    int64_t front, bytes; /**< of the first cell in the buffer, and of an element */
    int64_t at[META_MAX_DIM];
} meta_walk;

/** Begin at the first cell; the buffer begins at address @p buffer. */
meta_walk meta_walk_begin(const meta_operation *op, uint32_t k, const char *buffer);
/** Where the cell's element is in the buffer. */
int64_t meta_walk_place(const meta_walk *w);
/** To the next cell. @return false if there is none */
bool meta_walk_next(meta_walk *w);

/** An index as text, "3, 4, 5". */
enum { META_CELL_ROOM = 256 };
void meta_index_text(const int64_t *index, int dims, char text[META_CELL_ROOM]);
/** The index of the cell with coordinates @p at in the space of @p op, a kernel's of the program's,
 * as the body sees it. */
void meta_walk_text(const meta_operation *op, const int64_t *at, char text[META_CELL_ROOM]);

#endif
