/* SPDX-License-Identifier: BSD-3-Clause */
/** @file link.h
 *  How long copies between devices take. */
#ifndef META_AUTO_LINK_H
#define META_AUTO_LINK_H

#include "auto/learned.h"

/** Expected nanoseconds of a copy between two devices, as measured so far. */
double meta_auto_move_time(int from, int to, uint64_t bytes);
/** The line of that time over bytes: latency + bytes * per_byte nanoseconds. */
void meta_auto_link_line(int from, int to, double *latency, double *per_byte);
/** Nanoseconds of @p copies copies of @p bytes together, by what was measured alone.
 * @return false if nothing was */
bool meta_auto_moves_measured(int from, int to, uint64_t copies, uint64_t bytes, double *time);
/** Whether the next copy between them should be timed. */
bool meta_auto_move_wanted(int from, int to);
/** A copy took @p time nanoseconds. */
void meta_auto_link_learn(int from, int to, uint64_t bytes, double time);
/** What an earlier process measured, before any copy. */
void meta_auto_link_import(int from, int to, const meta_learned_link *known);
/** What this process has measured. @return false if that is nothing */
bool meta_auto_link_export(int from, int to, meta_learned_link *own);
void meta_auto_links_close(void);

#endif
