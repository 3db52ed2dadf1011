/* SPDX-License-Identifier: BSD-3-Clause */
/** @file vti.h
 *  The grid as files in VTK's XML format for ParaView: one file per rank with its block as cell
 *  data, and one file that lists them. Compressed if the program was built with zlib. */
#ifndef VTI_H
#define VTI_H

#include "snapshots.h"

/** Collective. Write PREFIX_STEP.pvti and PREFIX_STEP_RANK.vti. Failures are noted; the first of
 *  these exists only where all the others do. */
void vti_write(const problem *p, int64_t step, const grid_source *from);

#endif
