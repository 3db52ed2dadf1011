/* SPDX-License-Identifier: BSD-3-Clause */
/** @file base.h
 *  What every room uses: errors, the log, variables, whether the library is started. */
#ifndef META_BASE_H
#define META_BASE_H

#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Here the functions are defined that meta.h makes macros of. */
#define META_NO_PLACES
#include "internal.h"

/** Begin a public function: the library must have been started. */
#define META_ENTER() META_TRY(meta_enter(__func__))
/** An output argument must be given. */
#define META_NEED(argument)                                                             \
    do {                                                                                \
        if ((argument) == NULL)                                                         \
            return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", #argument);    \
    } while (0)
/** A descriptor that grows: the caller's size must hold what the first version had. */
#define META_NEED_DESC(desc, INIT)                                                              \
    do {                                                                                        \
        META_NEED(desc);                                                                        \
        if ((desc)->size < sizeof *(desc))                                                      \
            return meta_fail(META_ERR_ARGUMENT, "argument '%s' has size %zu: set it to " #INIT, \
                             #desc, (desc)->size);                                              \
    } while (0)

/* error.c */
meta_err meta_fail(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
meta_err meta_fail_as(meta_err code, const char *message);
void meta_call_name(const char *call);
/** A copy of this thread's message for an operation that outlives the call; NULL where none fits. */
char *meta_error_copy(void);

/* log.c */
void meta_log(meta_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void meta_log_set(meta_log_level level);
void meta_log_rank(int rank);
/** Write to the file @p name, or where it is NULL to the standard error stream. */
void meta_log_file(const char *name);
/** It is settled which rank this is. */
void meta_log_settle(void);

/* env.c */
const char *meta_variable(const char *name);
meta_err meta_env_read(void);

/* life.c */
meta_err meta_enter(const char *call);
int meta_started(void);
/** How often the library has been started: thread-local state of an earlier life is stale. */
unsigned meta_life(void);

#endif
