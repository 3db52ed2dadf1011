/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress.h
 *  The progress engine: it advances what is under way, waits, and notices peers that do not answer.
 *  What is under way it knows only as sources of progress. */
#ifndef META_COMM_PROGRESS_H
#define META_COMM_PROGRESS_H

#include "base/comm_base.h"

/** One kind of operations under way. All is for callers with the lock. */
typedef struct comm_source {
    bool (*advance)(void);    /**< one step of everything; true if anything moved */
    bool (*unfinished)(void); /**< whether meta_flush() must wait */
    bool (*busy)(void);       /**< whether the progress thread has something to do */
    /** For which other rank something waits, and what for; false: nothing does. */
    bool (*describe)(char *text, size_t room);
    /** End with META_ERR_PEER what waits for a rank that has ended, and what has waited for one too
     * long, comm_waited_since() @p began says. */
    void (*give_up)(double began);
    /** Queue what is counted in comm_owed and touches one of these ranges; NULL: there never is
     * any. */
    void (*queue_owed)(const meta_range *ranges, int count);
} comm_source;

/* engine.c */
/** The sources, up to a NULL; describe() and give_up() are asked in this order. */
void comm_sources_set(const comm_source *const *list);
/** Advance everything once; true if anything moved. */
bool comm_advance(void);
/** The same for callers that wait: what waits too long for other ranks is given up. */
bool comm_advance_in(meta_wait_clock *wait);
/** The same for callers that come again and again, and may compute between: only time in which
 *  nothing moves and they come often counts as waiting. */
bool comm_advance_polled(void);
/** The time that waits are measured by, in seconds, as it was read last: MPI_Wtime() less the time
 *  in which this process was stopped or not scheduled during a wait, and could not see what had
 *  come. Of each such gap a quarter of META_TIMEOUT counts, or a second if that is less. */
extern double comm_now;
/** Read the clock, in a wait: with the lock, now and then. */
void comm_clock_read(meta_wait_clock *wait);
/** The same once in a few rounds of a wait. true: in this one. */
bool comm_clock_round(meta_wait_clock *wait);
/** How long something that moved last at @p moved has waited for rank @p rank of the job, or if
 * that is negative for some, in a wait that began at @p began; not while that rank compiled. */
double comm_waited_since(double began, double moved, int rank);
/** That it is too long (META_TIMEOUT), or rank @p rank of the job, if not negative, has ended or
 *  was too late before. */
bool comm_is_late(double waited, int rank);
/** Advance until *complete, releasing the lock between two attempts. */
void comm_wait(const bool *complete);
/** Advance while @p busy returns true, for at most @p seconds if they are not 0. */
void comm_wait_while(bool (*busy)(const void *), const void *what, double seconds);
bool comm_sources_unfinished(const void *unused);
bool comm_sources_busy(void);
/** Operations that their callers have finished, but which have not queued all their work on a
 * device. */
extern _Atomic int comm_owed;
/** Before new work on these bytes is queued: queue what finished operations on them still owe. */
void comm_queue_owed_on(const meta_range *ranges, int count);
/** The same of the buffer behind @p span. */
void comm_queue_owed(const meta_span *span);
/** Yield, longer the more attempts @p idle have moved nothing. */
void comm_back_off(unsigned idle);
/** Keep the error of an untracked operation for meta_flush(). */
void comm_background_error(meta_err error, const char *text);
meta_err comm_background_take(void);

/* request.c */
/** What a wait outside the sources is for. */
typedef struct comm_awaited {
    const char *phase; /**< as "while a halo plan is made" */
    MPI_Comm among;
    int peer, tag; /**< a rank of it, or MPI_ANY_SOURCE where all of them take part */
} comm_awaited;
static inline comm_awaited comm_all_of(MPI_Comm among, const char *phase)
{
    return (comm_awaited){phase, among, MPI_ANY_SOURCE, 0};
}
/** META_ERR_PEER where such a wait has taken longer than META_TIMEOUT, or a rank that it is for has
 *  ended; without META_TIMEOUT, a warning. */
meta_err comm_watch(meta_wait_clock *wait, const comm_awaited *what);
/** The same for each of many short rounds, few of which look. */
meta_err comm_watch_rounds(meta_wait_clock *wait, const comm_awaited *what);
/** MPI_Test. After a failure it advances until MPI has completed @p request all the same, since a
 *  communicator may not be freed before (Open MPI 4.1.4 ends the process): until a second failure,
 *  and for META_TIMEOUT or 60 seconds at most; then @p request is not MPI_REQUEST_NULL.
 *  @return META_ERR_MPI after a failure, whether or not MPI completed the request */
meta_err comm_request_test(MPI_Request *request, int *complete);
/** Advance until @p request is complete.
 *  @return META_ERR_PEER after META_TIMEOUT seconds, META_ERR_MPI if MPI fails: unless the request
 *  is MPI_REQUEST_NULL then, MPI may still use its memory */
meta_err comm_request_wait(MPI_Request *request, comm_awaited what);
/** Advance until every rank of @p among is here: after it, blocking collective calls of MPI keep no
 *  rank waiting for a message that another one has posted but not given to MPI yet. Collective.
 *  @p met: the other ranks go on to such calls, also where MPI failed on this rank. */
meta_err comm_meet(MPI_Comm among, bool *met);
/** End @p request without waiting long for the peer; @p cancel: a receive, which is cancelled.
 *  false: MPI still has it; the handle was freed, its memory must be left to MPI. */
bool comm_request_give_up(MPI_Request *request, bool cancel);
/** Receive and drop a message that has come, for which there is no memory. */
void comm_consume(MPI_Comm among, int source, int tag);
/** Receive and drop a message from @p source, or MPI_ANY_SOURCE, of tag @p tag, or MPI_ANY_TAG;
 *  @p found: there was one, described by *status. @return META_ERR_PEER if it does not arrive in time
 */
meta_err comm_take_in(MPI_Comm among, int source, int tag, bool *found, MPI_Status *status);

/* drain.c */
/** How long a peer that is known to drain too may take to say that it has sent all. */
enum { COMM_DRAIN_SECONDS = 10 };
/** What a peer's messages are drained for: comm_drain_peer(). */
typedef struct comm_drained {
    const char *phase; /**< as "while a halo plan is freed" */
    double longest;    /**< seconds without an answer where META_TIMEOUT is not set; 0: no limit */
    int64_t dropped;   /**< messages so far, without the last ones */
} comm_drained;
/** Receive and discard what rank @p peer of @p among has sent with tag @p tag, or MPI_ANY_TAG, up to
 *  its last message, an empty one of tag @p end.
 *  @return META_ERR_PEER if that does not come in time */
meta_err comm_drain_peer(MPI_Comm among, int peer, int tag, int end, comm_drained *what);

/* collective.c: collective calls, which return META_ERR_PEER where a rank does not come within
 * META_TIMEOUT, and at once where one was lost before. @p phase is as above. */
/** @p values become those of all ranks together. */
meta_err comm_all_reduce(MPI_Comm among, void *values, int count, MPI_Datatype type, MPI_Op op,
                         const char *phase);
/** @p values become those of rank @p root. */
meta_err comm_all_from(MPI_Comm among, void *values, int count, MPI_Datatype type, int root,
                       const char *phase);
/** @p all: @p bytes bytes of each rank, one behind the other. */
meta_err comm_all_gather(MPI_Comm among, const void *mine, int bytes, void *all, const char *phase);
/** MPI_Comm_dup(). *copy is MPI_COMM_NULL unless it was made, which it may be though MPI failed. */
meta_err comm_all_duplicate(MPI_Comm comm, MPI_Comm *copy, const char *phase);

/* agree.c */
/** Whether every rank of @p among succeeded; otherwise all return the lowest failing rank's error.
 *  Collective. Frees nothing. If MPI fails here on one rank, the others get META_ERR_PEER after
 *  META_TIMEOUT unless that rank had already taken part. */
meta_err comm_agree(MPI_Comm among, meta_err mine);
/** The same; *agreed is the outcome on the other ranks, as far as this one knows: META_ERR_PEER
 *  where it did not take part, and @p mine where MPI failed after it did. */
meta_err comm_agree_on(MPI_Comm among, meta_err mine, meta_err *agreed);
/** Duplicate @p comm; the copy returns errors. Collective, one outcome for all. */
meta_err comm_duplicate(MPI_Comm comm, MPI_Comm *copy);
/** Free such a copy, unless a rank was lost: what it left unfinished may be under way in it. */
void comm_free(MPI_Comm *copy);

/* progress_thread.c: META_PROGRESS=thread */
/** The level of MPI_Init_thread() that the settings ask for. */
int comm_thread_level_wanted(void);
meta_err comm_progress_thread_start(void);
/** Without the lock. */
void comm_progress_thread_stop(void);

#endif
