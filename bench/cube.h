/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cube.h
 *  The benchmark grids: cubes with ghost cells, their faces and edges, and the plain loop nest
 *  that packs them. */
#ifndef BENCH_CUBE_H
#define BENCH_CUBE_H

#include <stddef.h>

#include "meta.h"

typedef struct cube {
    int64_t n;      /**< own cells along an edge */
    int64_t ghosts; /**< cells at either side of them */
} cube;

/** A half-open range of a cube's cells; index 0 is the first ghost cell. */
typedef struct region {
    int64_t start[3], end[3];
} region;

/** A direction out of the cube: -1, 0 or 1 along each axis. */
typedef struct direction {
    int along[3];
} direction;

/** Direction number 0 … 26; 13 is none at all, and 26 - k is opposite to k. */
direction direction_of(int k);
/** Along how many axes it points: 1 a face, 2 an edge, 3 a corner. */
int direction_axes(direction d);

/** All cells of the dense array, ghosts included. */
int64_t cube_cells(const cube *c);
/** No less than the bytes of a grid of meta_grid_alloc(), of elements of @p bytes. */
double cube_grid_bytes(const cube *c, size_t bytes);
region cube_own(const cube *c);
/** What is sent in a direction, as thick as the ghosts: the own cells next to them; and the ghost
 *  cells there. */
region cube_border(const cube *c, direction d);
region cube_ghost(const cube *c, direction d);

int64_t region_cells(const region *r);
/** The region in the dense array, and in a grid whose own cells are @p own. */
meta_box region_box(const cube *c, const region *r);
meta_box region_in_grid(const cube *c, const region *r, const meta_box *own);
/** The number of memory sectors of @p sector bytes that the region of elements of @p bytes touches,
 *  in an array that begins with one. */
int64_t region_sectors(const cube *c, const region *r, size_t bytes, int64_t sector);

/** The plain loop nest: between the region's cells in @p cells and @p packed, elements of 4 or 8
 *  bytes. */
void loop_pack(void *packed, const void *cells, const cube *c, const region *r, size_t bytes);
void loop_unpack(void *cells, const void *packed, const cube *c, const region *r, size_t bytes);

#endif
