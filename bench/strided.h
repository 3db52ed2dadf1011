/* SPDX-License-Identifier: BSD-3-Clause */
/** @file strided.h
 *  Hand-tuned packing, as an application author would write it: loops specialized for faces
 *  across x, one and two cells thick, and memcpy of whole rows elsewhere. The plain loop nest is
 *  in cube.h. */
#ifndef BENCH_STRIDED_H
#define BENCH_STRIDED_H

#include "cube.h"

/** Between the region's cells in @p cells and @p packed, elements of 4 or 8 bytes. */
void strided_pack(void *packed, const void *cells, const cube *c, const region *r, size_t bytes);
void strided_unpack(void *cells, const void *packed, const cube *c, const region *r, size_t bytes);

#endif
