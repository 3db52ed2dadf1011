/* SPDX-License-Identifier: BSD-3-Clause */
/** @file spawn.h
 *  Running another program. No shell, and no fork(), which can corrupt what a network card reads
 *  and writes in this process's memory. */
#ifndef META_SPAWN_H
#define META_SPAWN_H

#include <stdbool.h>

typedef enum meta_run_end {
    META_RUN_EXITED,     /**< `number` is its exit status */
    META_RUN_KILLED,     /**< `number` is the signal */
    META_RUN_UNKNOWN,    /**< it ended, but a handler of the program's took its status */
    META_RUN_TIMED_OUT,  /**< it was killed after the limit */
    META_RUN_NOT_STARTED /**< `number` is the errno */
} meta_run_end;

/** Run the program at path argument[0], with standard input empty and both outputs in file
 *  @p output, in a process group of its own.
 *  @param limit  seconds after which the group is killed */
meta_run_end meta_run_program(const char *const *argument, const char *const *environment,
                              const char *output, double limit, int *number);

/** Find @p name in PATH, or as it is if it has a slash. @p path has room for PATH_MAX, and is empty
 * if it is not found. */
bool meta_find_program(const char *name, char *path);

#endif
