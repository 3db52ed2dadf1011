/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm_base.h
 *  What every room of libmeta_comm uses: this process in its job, the lock, MPI's errors. */
#ifndef META_COMM_BASE_H
#define META_COMM_BASE_H

#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "internal.h"
#include "meta_comm.h"

/** Return early if an MPI function fails: COMM_MPI(MPI_Isend, (buf, …)). */
#define COMM_MPI(function, arguments) META_TRY(comm_mpi(function arguments, #function))

static const meta_core *const core = &meta_core_table;

enum { COMM_TEXT = 1024 };

/** This process in its job. */
typedef struct comm_process {
    _Atomic bool attached; /**< written with the lock */
    bool own_core;         /**< meta_init() was ours */
    MPI_Comm messages;     /**< the duplicate for point-to-point messages */
    MPI_Comm collectives;  /**< and the one for collective operations */
    int rank, size, node_rank, node_size;
    int thread_level;
    pthread_t thread;        /**< the one that attached */
    size_t chunk;            /**< most payload bytes of one MPI message; the same on every rank */
    double finalize_timeout; /**< seconds that meta_comm_finalize() waits for messages */
    double peer_timeout; /**< seconds without an answer before a peer counts as lost; 0: never */
    meta_err (*at_end[2])(void); /**< what meta_comm_finalize() calls first, up to NULL */
    bool lost;                   /**< one is: what needs all ranks is skipped */
    char lost_why[256];          /**< what the first one did not do */
    size_t pipeline;             /**< bytes of the pieces of a staged message; 0: measured */
    bool shared;                 /**< ranks of a node exchange through shared memory */
    bool direct;                 /**< MPI takes GPU memory: comm_gpu_mpi_takes() */
    bool wants_thread;           /**< META_PROGRESS=thread */
    bool crowded;                /**< there are more ranks on the node than cores */
    int profiled; /**< META_PROFILE: what all ranks record, META_PROFILE_SUMMARY, _JSON or _TRACE */
} comm_process;
extern comm_process comm_job;

/* job.c */
/** Begin a public function: attached, on a thread that may call MPI, with the lock taken. */
meta_err comm_enter(const char *call);
/** End it: release the lock. */
meta_err comm_leave(meta_err error);
/** META_ERR_INIT if this process is not part of a job. The answer lasts while the lock is held. */
meta_err comm_check_attached(void);
/** Whether this thread may call MPI; META_ERR_STATE with the reason if not. */
meta_err comm_thread_allowed(void);
bool comm_thread_may_call(void);
/* The lock: whoever calls MPI holds it. */
void comm_lock(void);
bool comm_trylock(void);
void comm_unlock(void);
/** Release the lock until comm_wake() is called. */
void comm_sleep(void);
void comm_wake(void);

/** Rank @p rank of the job, or some rank where it is negative, does not answer: what needs it, and
 *  what needs all ranks, fails at once from now on. @p why: what it did not do, as "rank 3 has not
 *  sent a message, tag 7". */
void comm_lose(int rank, const char *why);
bool comm_is_lost(int rank);
/** The job is left: nobody is lost in the next one. */
void comm_lost_forget(void);
/** META_ERR_PEER if one was lost before, with the reason; @p phase: what cannot be done, as "while
 *  all ranks meet". */
meta_err comm_check_lost(const char *phase);

/** What to return for the result of a function that the caller of @p call gave as argument @p name:
 *  also where its error is not libmeta's, or has no message. @p before: core->failures() then. */
meta_err comm_callback_error(meta_err result, uint64_t before, const char *call, const char *name);

/* mpi_error.c */
meta_err comm_mpi(int code, const char *function);
/** The same for a function that completes several requests and left their codes in @p statuses. */
meta_err comm_mpi_statuses(int code, const char *function, int count, const MPI_Status *statuses);

/* type.c */
const char *comm_type_name(uint32_t type);

/** The part of @p span that begins @p at bytes further. */
static inline meta_span comm_span_part(const meta_span *span, size_t at)
{
    meta_span part = *span;
    part.offset += at;
    part.address += at;
    part.room -= at;
    return part;
}

#endif
