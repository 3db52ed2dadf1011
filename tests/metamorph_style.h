/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_style.h
 *  Small programs in MetaMorph's style, as functions: nothing in them knows libmeta. Each returns
 * how many of its calls failed. */
#ifndef METAMORPH_STYLE_H
#define METAMORPH_STYLE_H

/** Each rank has nx × ny × nz cells of a torus that is cut along x, and a ghost plane at its low
 * side. The ghosts are exchanged, and *sum is the sum of this rank's cells and ghosts, but for the
 * last plane. */
int style_torus(int rank, int ranks, const int cells[3], int steps, int async, double *sum);
/** Averages of seven points on a periodic grid that is cut along z: cells[2] planes on each rank.
 * @p own holds this rank's cells without ghosts, before and after; *sum becomes their sum. */
int style_average(int rank, int ranks, const int cells[3], int steps, int async, float *own,
                  float *sum);

#endif
