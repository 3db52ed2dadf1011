/* SPDX-License-Identifier: BSD-3-Clause */
/** @file helper.h
 *  Running meta-mpi-probe, the program that tries what could end a process. Knows no MPI, so that
 *  programs without it can run it too. */
#ifndef META_HELPER_H
#define META_HELPER_H

#include <stdbool.h>
#include <stddef.h>

enum { HELPER_SECONDS = 60, HELPER_TEXT = 4096 };
/** Prefix of each line that the helper itself writes. */
#define HELPER_SAYS "meta-mpi-probe: "

/** How it ended. */
typedef struct helper_end {
    bool missing;           /**< there is no such program: built without MPI, or not installed */
    bool success;           /**< it ended with status 0 */
    char how[256];          /**< if not: why */
    char text[HELPER_TEXT]; /**< the last of what it wrote to either stream, whole lines */
} helper_end;

/** Run it with @p argument, or none where that is NULL, and META_MODE set to @p mode, or not set,
 * and without what the environment says of a job's launcher; end it after HELPER_SECONDS. The
 * calling process is not forked, so that it may have initialised MPI. */
void helper_run(const char *argument, const char *mode, helper_end *end);
/** The last line that the helper itself wrote, without the prefix; "" if none. */
const char *helper_last_line(const helper_end *end, char *line, size_t room);

#endif
