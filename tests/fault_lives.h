/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault_lives.h
 *  Lives of the library in which calls of a GPU's runtime fail, each in a child process: a call of
 * the library returns an error that names the failing call, or what is right; the rest of the
 * library works, nothing leaks, and the next life is as if nothing had been. */
#ifndef META_TEST_FAULT_LIVES_H
#define META_TEST_FAULT_LIVES_H

#include "fault.h"

/** A life. */
typedef struct fault_life {
    void (*use)(void);                      /**< what is done on the GPU, the thread's device */
    meta_err (*start)(void), (*stop)(void); /**< NULL: meta_init(), which opens no device, and
                                                 meta_finalize() */
    bool adopt;                             /**< with the application's stream, and no pool */
    bool automatic;                         /**< by META_MODE=auto, with OpenMP beside the GPU */
    bool profile;                           /**< with META_PROFILE, which takes times */
    bool compile;                           /**< no code of the program's kernels is in the cache */
    long fail_at;                           /**< number of the call that fails */
    int status;                             /**< with which */
    bool sticky;                            /**< and so does every later one */
} fault_life;

/** How many calls such a life makes without a failure. */
long fault_calls(fault_life life);
/** Let each call fail in turn, or every @p step -th from number @p from on, with each status, or
 *  without --long with one after the other. */
void fault_each(fault_life life, long from, long step);

/** Whether some call of the library has returned an error in this life. */
extern bool fault_reported;

/** A call that may fail. @return whether it succeeded; an error must be one of the ordered failure,
 * and name the call that fails. */
#define TRY(call) fault_went((call), #call, __FILE__, __LINE__)
bool fault_went(meta_err err, const char *text, const char *file, int line);
/** A result, which is right unless an error was returned before. */
#define CHECK_VALUE(found, expected)                                                               \
    fault_check_value((found), (expected), #found, __FILE__, __LINE__)
void fault_check_value(double found, double expected, const char *text, const char *file, int line);

#endif
