/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watch.h
 *  Ends the job where a rank does not come to a call of MPI of the program's own, which returns no
 *  error then: with META_TIMEOUT set, after that many seconds in one call, not counting those for
 *  which this process was stopped. What libmeta waits for it limits itself. */
#ifndef WATCH_H
#define WATCH_H

/** This rank is about to make a call of MPI, as all others should. @p what: as "a file is read". */
void watch_begin(const char *what);
void watch_end(void);
/** Should the job be ended, this file is removed, and those that MPI made beside it; NULL: none.
 *  The name is kept until another one is given. */
void watch_leaves(const char *path);
/** Remove it now: the job is about to be ended otherwise. */
void watch_remove_leaves(void);

#endif
