/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid.h
 *  A field's global grid cut twice: into the boxes of ranks, and into the pieces in which a file is
 *  written and read, each by one rank. Cells of a grid are numbered with x fastest; those of a box
 *  likewise, and in the same order, so a run of the grid's cells has a run of the box's cells. */
#ifndef META_IO_GRID_H
#define META_IO_GRID_H

#include "base/io_base.h"

/** A rank's box in the global grid. */
typedef struct io_box {
    int64_t first[META_MAX_DIM], cells[META_MAX_DIM]; /**< 0 and 1 beyond the grid's dimensions */
    int64_t count;                                    /**< of its cells */
} io_box;

/** A grid and its pieces. */
typedef struct io_grid {
    int ndim;
    int64_t cells[META_MAX_DIM]; /**< extents, at least 1 */
    int64_t count;               /**< cells in all */
    int64_t pieces;              /**< how many there are */
    int64_t piece;               /**< cells of a piece; the last ones may have fewer */
    int level; /**< -1: pieces are runs of `piece` cells. Otherwise each is a box: all cells of the
                    dimensions before this one, `along` planes of it, one of those behind it */
    bool in_turn; /**< owners have every so manieth piece, rather than consecutive ones */
    int64_t below, along, per_line; /**< cells of a plane of it, and pieces of a line along it */
} io_grid;

/* pieces.c */
/** The most cells of a piece; the same on all ranks. */
int64_t io_piece_room(size_t element);
/** Set ndim, cells and count. @return META_ERR_ARGUMENT without cells, META_ERR_OVERFLOW; messages
 * are about argument field[@p f] */
meta_err io_grid_set(io_grid *grid, int ndim, const int64_t *cells, size_t element, int f);
/** Cut it into runs of @p piece cells, */
void io_grid_runs(io_grid *grid, int64_t piece);
/** or into boxes of at most that many. */
void io_grid_boxes(io_grid *grid, int64_t piece);
/** The first cell of piece @p k, and how many it has. */
void io_piece(const io_grid *grid, int64_t k, int64_t *start, int64_t *cells);
/** Its place and extents where pieces are boxes. */
void io_piece_box(const io_grid *grid, int64_t k, int64_t *first, int64_t *cells);

/* box.c */
/** How many of the box's cells come before cell @p cell of the grid. */
int64_t io_box_before(const io_grid *grid, const io_box *box, int64_t cell);
/** Move the box's cells @p from … @p to - 1 between a packed array of them and the piece of the
 * grid that begins at cell @p start. */
void io_box_move(const io_grid *grid, const io_box *box, int64_t from, int64_t to, size_t element,
                 char *packed, char *piece, int64_t start, bool to_piece);
/** Whether the boxes share a cell. */
bool io_boxes_meet(const io_grid *grid, const io_box *a, const io_box *b);

/* part.c */
/** A rank's own array of a field. */
typedef struct io_part {
    char *buf;
    bool on_device;
    meta_type type;
    size_t element;
    meta_box box;
    io_box place; /**< of the box in the grid */
} io_part;
/** Check a name in a file, which is argument @p argument. */
meta_err io_name_check(const char *name, const char *argument);
/** Check field @p f of the arguments as far as no grid is needed. */
meta_err io_part_check(const meta_io_field *field, int f);
/** The same in its grid, with the array. */
meta_err io_part_open(io_part *part, const meta_io_field *field, int f, const io_grid *grid);
/** Copy its cells @p from … @p to - 1 to or from packed host memory. */
meta_err io_part_copy(const io_part *part, int64_t from, int64_t to, char *packed, bool to_array);

/* exchange.c */
/** All ranks' boxes of a field: an array of ranks->size elements, to be freed. Collective, one
 * outcome for all. @p error: of this rank so far */
meta_err io_boxes_gather(const io_ranks *ranks, meta_err error, const io_box *mine, io_box **boxes);
/** Whether the boxes cover the grid, each cell once; of this rank, for io_agree(). */
meta_err io_boxes_check(const io_ranks *ranks, const io_grid *grid, const io_box *boxes, int f,
                        const char *name);

/** Writes or reads piece @p k, which has @p bytes bytes. Where pieces are written in turn it is
 * called on every rank in each round, @p k is -1 where that has no piece, or is to write none any
 * more, and *in_step becomes false where ranks can agree on nothing any more. */
typedef meta_err io_access(void *with, int64_t k, void *data, size_t bytes, bool *in_step);
/** Write every piece from the boxes of all ranks (@p writes), or read those that any box has cells
 * of: one rank accesses a piece, and the others send it, or get from it, their cells. Collective;
 * the error of this rank, for io_agree(); *in_step is false where the others cannot be told. */
meta_err io_exchange(const io_ranks *ranks, const io_grid *grid, const io_box *boxes,
                     const io_part *part, bool writes, io_access *access, void *with,
                     bool *in_step);
/** Whether this rank accesses pieces. */
bool io_is_owner(const io_ranks *ranks, const io_grid *grid);

#endif
