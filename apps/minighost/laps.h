/* SPDX-License-Identifier: BSD-3-Clause */
/** @file laps.h
 *  Timing breakdown of this rank: all time within the time steps is attributed to one of their
 *  parts. */
#ifndef LAPS_H
#define LAPS_H

#include <stdbool.h>

/** The parts of an exchange along one axis, where the solver exchanges axis after axis. */
enum { AXIS_PACK, AXIS_SEND, AXIS_WAIT, AXIS_RECV, AXIS_UNPACK, AXIS_PARTS };

/** The parts of a time step. */
enum {
    LAP_STENCIL,
    LAP_BOUNDARY, /**< the sums of the cells at the domain's sides */
    LAP_SUM,      /**< the global sums */
    LAP_START,    /**< of an exchange that is one plan: its start … */
    LAP_FINISH,   /**< … and its end */
    LAP_AXIS,     /**< the first of an axis' parts; see LAP_OF() */
    LAP_COUNT = LAP_AXIS + 3 * AXIS_PARTS
};

/** The lap of a part of the exchange along an axis. */
#define LAP_OF(axis, part) (LAP_AXIS + (axis)*AXIS_PARTS + (part))

/** Set all to zero and count from now on, where @p on. @p wait is called at the end of each part
 * but LAP_START, for what the part has begun. */
void laps_begin(bool on, void (*wait)(void));
void laps_stop(void);
/** Whether parts are timed. */
bool laps_on(void);
/** What passed since the last lap was no part of a time step. */
void laps_resume(void);
/** What passed since then, or since the last lap, is counted for @p part. */
void lap(int part);
/** Seconds of all parts so far, LAP_COUNT of them. */
const double *laps_read(void);

#endif
