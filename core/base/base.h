/* SPDX-License-Identifier: BSD-3-Clause */
/** @file base.h
 *  What every room uses: errors, the log, environment variables, the library's state. */
#ifndef META_BASE_H
#define META_BASE_H

#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* meta.h wraps some functions in macros, which must not apply where they are defined. */
#define META_NO_PLACES
#include "base/hooks.h"
#include "base/sized.h"
#include "meta_backend.h"

/** A thread's own variable that every call uses: in the part of thread-local storage, small where
 * the library is loaded late, that is reached without a call. All thread-local variables of the
 * library are then there, so large ones are kept on the heap. */
#define META_THREAD_OWN _Thread_local __attribute__((tls_model("initial-exec")))

/** Begin a public function, which ends where the scope does: the library must have been started. */
#define META_ENTER()                                                                               \
    __attribute__((cleanup(meta_leave_scope), unused)) const char meta_scope = 0;                  \
    META_TRY(meta_enter(__func__))
/** An output argument must be given. */
#define META_NEED(argument)                                                                        \
    do {                                                                                           \
        if ((argument) == NULL)                                                                    \
            return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", #argument);               \
    } while (0)
/** Copy an argument that begins with its size to @p own; @p last is its last member in 0.2.0. */
#define META_GET_DESC(own, desc, last, INIT)                                                       \
    META_TRY(meta_sized_get(&(own), sizeof(own), desc, META_LEAST(__typeof__(own), last), #desc,   \
                            #INIT))
/** An output argument that begins with its size: meta_sized_put() fills it in. */
#define META_NEED_DESC(desc, last, INIT)                                                           \
    META_TRY(meta_sized_need(desc, META_LEAST(__typeof__(*(desc)), last), sizeof *(desc), #desc,   \
                             #INIT))

/* error.c */
meta_err meta_fail(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
meta_err meta_fail_as(meta_err code, const char *message);
/** How often this thread's message was set. */
uint64_t meta_failures(void);
/** This thread's last error without the name of the call. */
const char *meta_last_error_cause(void);
/** A public function begins: messages have its name, */
void meta_call_name(const char *call);
/** unless it is a part of @p call on this thread, until that is NULL. */
void meta_call_hold(const char *call);
/** A heap copy of this thread's message, for an error that a later call reports; NULL: no memory.
 */
char *meta_error_copy(void);

/* thread_memory.c */
/** A kind of heap memory that a thread has one of, such as a long message. */
typedef struct meta_thread_memory {
    /** The thread ends: frees its memory, and forgets it, since destructors of other keys, which
     * follow, may still make calls. */
    void (*release)(void *memory);
    pthread_key_t key;
    _Atomic int state; /**< of the key */
    struct meta_thread_memory *next;
} meta_thread_memory;
/** This thread now has @p memory of malloc(), or none: NULL. What it had before is not freed. */
void meta_thread_memory_keep(meta_thread_memory *kind, void *memory);

/* file.c */
/** Open a file to write to, as open() does, with these flags besides. A named pipe that nobody reads
 *  is an error, and not waited for. */
int meta_file_to_write(const char *path, int flags);

/* log.c */
void meta_log(meta_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void meta_log_set(meta_log_level level);
/** Whether messages of @p level are written. */
bool meta_log_allows(meta_log_level level);
/** This process's rank: %r in META_LOG_FILE and, with @p prefixed, the beginning of each line. */
void meta_log_rank(int rank, bool prefixed);
/** Write to the file @p name, or where it is NULL to the standard error stream. */
void meta_log_file(const char *name);
/** The rank is final: open the log file and write the lines buffered so far. */
void meta_log_open(void);

/* value.c */
/** Whether the first @p length characters are the same letters of ASCII, capital or small. */
bool meta_same_word(const char *a, const char *b, size_t length);
/** @p value of a variable that env.def gives @p forms as its readers expect it, for the rest of the
 *  process; NULL where it is empty. Without memory it is as it was. */
const char *meta_value_of(const char *value, const char *forms);

/* env.c */
/** NULL where it is not set or empty. Of the META_* variables without blanks around it, as env.def
 *  spells words, and a size as a number of bytes. */
const char *meta_variable(const char *name);
/** Read a variable that is on or off (or 1 or 0); unset is off. @p on is set only on success. */
meta_err meta_variable_switch(const char *name, bool *on);
meta_err meta_env_read(void);

/* calls.c */
/** Begin a public function, or fail; meta_leave() ends it in either case. */
meta_err meta_enter(const char *call);
void meta_leave(void);
static inline void meta_leave_scope(const char *scope)
{
    (void)scope;
    meta_leave();
}
/** Whether a public function may begin now. Its name is remembered for messages. */
meta_err meta_ready(const char *call);
/** Whether this thread is in a public function. */
bool meta_in_call(void);
/** From now on calls of this thread return META_ERR_STATE with @p why; NULL: no more. */
void meta_bar(const char *why);
int meta_started(void);
/** Start the library, or (false) end it. */
void meta_started_set(bool on);
/** How often the library has been started: thread-local state of an earlier life is stale. */
unsigned meta_life(void);
/** Before the library is started: META_ERR_STATE in a process where it must not be. */
meta_err meta_calls_prepare(void);
/** The library ends: from now on calls that other threads begin return META_ERR_INIT, */
void meta_calls_refuse(void);
/** and those that were under way before have returned. */
void meta_calls_wait(void);
bool meta_is_ending(void);
/** A device is about to be opened, or a driver has told of its devices: children that fork() makes
 *  from now on cannot use the library. */
void meta_computes(void);

/* state.c */
/** META_CHECK=on; set by the room check. */
extern bool meta_check_on;
static inline int meta_checked(void)
{
    return __builtin_expect(meta_check_on, 0) != 0;
}
/** What is recorded, META_PROFILE_* of record/share.h; set by the room record. */
extern _Atomic int meta_profile_flags;
/** Whether anything is recorded: the whole cost of profiling while it is off. */
static inline bool meta_profiled(void)
{
    return __builtin_expect(atomic_load_explicit(&meta_profile_flags, memory_order_relaxed) != 0,
                            0);
}

/* hooks.c */
/** NULL takes them away. */
void meta_hooks_set(const meta_hooks *hooks);
const meta_hooks *meta_hooks_get(void);
void meta_compiling_set(void (*beat)(void));
/** This process compiles, or waits for another one that does. */
void meta_compiling(void);

#endif
