/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io_grids.h
 *  Fields for tests of files: a grid cut at random into boxes, one for each rank, and arrays on any
 * device whose cells have values that follow from their place in the grid. */
#ifndef META_TEST_IO_GRIDS_H
#define META_TEST_IO_GRIDS_H

#include "meta_io.h"
#include "test_mpi.h"

enum { IO_MOST_RANKS = 8, IO_MOST_DIMS = 4 };

/** A grid and a cut of it. */
typedef struct io_cut {
    int ndim;
    int64_t cells[META_MAX_DIM];
    struct {
        int64_t first[META_MAX_DIM], end[META_MAX_DIM];
    } box[IO_MOST_RANKS]; /**< of each rank; some may be empty */
} io_cut;

/** Extents of up to @p most cells in all. */
void io_random_grid(io_cut *cut, int64_t most);
/** Cut it among @p ranks ranks; the same on every rank. */
void io_random_cut(io_cut *cut, int ranks);

/** The bytes of the cell with number @p cell of field @p f, of an element of @p type; any bits,
 * NaNs among them. */
void io_cell(int f, int64_t cell, meta_type type, void *bytes);

/** A rank's array of a field with random ghost cells around its box, on this rank's device, or on
 * the host where @p on_host. The cells of the box are as io_cell() says if @p filled; all others
 * are 0xa5. Sets all of @p field but the name. */
bool io_array_make(meta_io_field *field, int f, const io_cut *cut, int rank, meta_type type,
                   bool on_host, bool filled);
/** Check that the box's cells are as io_cell() says, and that all others are 0xa5. */
void io_array_check(const meta_io_field *field, int f, bool on_host);
void io_array_free(meta_io_field *field, bool on_host);

#endif
