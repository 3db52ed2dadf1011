/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress.h
 *  How far a long run has come, kept in the folder tests/progress of the build, so that a run that
 *  was stopped goes on where it was. Only with META_TEST_LONG=1. */
#ifndef META_TEST_PROGRESS_H
#define META_TEST_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** Begin the run of @p all units called @p name with @p seed; there is one at a time. @return how
 * many of them an earlier run did that had the same name, seed, number and META_* variables, or 0.
 *  @p writes: this process keeps the file; all may read it. */
int64_t progress_begin(const char *name, uint64_t seed, int64_t all, bool writes);
/** @p done units are done and right. Writes once a second; to be called as often as one likes. */
void progress_at(int64_t done);
/** The run has ended after @p done units, or where progress_at() was last, if that is negative. A
 * later one goes on there; after all units it begins anew. */
void progress_end(int64_t done);

/** The path of another file that belongs to run @p name, for as long as that is not complete; a
 * static buffer. */
const char *progress_file(const char *name);

#endif
