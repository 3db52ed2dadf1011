/* SPDX-License-Identifier: BSD-3-Clause */
/** @file vti.h
 *  The grid as files of VTK's XML format for ParaView: for each rank its block, as cell data, and
 * one file that names them all. Compressed with zlib where the program was built with it. */
#ifndef VTI_H
#define VTI_H

#include "snapshots.h"

/** Collective. Write PREFIX_STEP.pvti and PREFIX_STEP_RANK.vti. Failures are noted; the first of
 *  these exists only where all the others do. */
void vti_write(const problem *p, int64_t step, const grid_source *from);

#endif
