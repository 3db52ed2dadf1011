/* SPDX-License-Identifier: BSD-3-Clause */
/** @file strided.h
 *  Packing as a program does that was tuned for it: loops made for faces across x, one and two
 * cells thick, whole rows by memcpy elsewhere. What a plain loop nest costs, cube.h has. */
#ifndef BENCH_STRIDED_H
#define BENCH_STRIDED_H

#include "cube.h"

/** Between the region's cells in @p cells and @p packed, elements of 4 or 8 bytes. */
void strided_pack(void *packed, const void *cells, const cube *c, const region *r, size_t bytes);
void strided_unpack(void *cells, const void *packed, const cube *c, const region *r, size_t bytes);

#endif
