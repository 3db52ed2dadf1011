/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm.h
 *  What the files of libmeta_comm share among themselves. */
#ifndef META_COMM_PRIVATE_H
#define META_COMM_PRIVATE_H

#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "internal.h"
#include "meta_comm.h"

/** Return early with an error. */
#define COMM_TRY(expression)                                                                       \
    do {                                                                                           \
        const meta_err error_ = (expression);                                                      \
        if (error_ != META_OK) return error_;                                                      \
    } while (0)
/** Return early if an MPI function fails: COMM_MPI(MPI_Isend, (buf, …)). */
#define COMM_MPI(function, arguments) COMM_TRY(comm_mpi(function arguments, #function))

static const meta_core *const core = &meta_core_table;

enum { COMM_TEXT = 1024, COMM_MAX_TAG = 32767 };

/** This process in its job. */
typedef struct comm_job {
    bool attached;
    bool own_core;        /**< meta_init() was ours */
    MPI_Comm messages;    /**< the duplicate for point-to-point messages */
    MPI_Comm collectives; /**< and the one for collective operations */
    int rank, size, node_rank, node_size;
    int thread_level;
    pthread_t thread;  /**< the one that attached */
    size_t chunk;      /**< most payload bytes of one MPI message; the same on every rank */
    double timeout;    /**< seconds that meta_comm_finalize() waits for messages */
    double patience;   /**< seconds without any answer after which a peer is given up; 0: never */
    bool lost;         /**< one was: what needs all ranks is left undone */
    size_t pipeline;   /**< bytes of the pieces of a staged message; 0: measured */
    bool shared;       /**< ranks of a node exchange through shared memory */
    bool direct;       /**< MPI takes GPU memory, of whatever rank has any: comm_gpu_mpi_takes() */
    bool wants_thread; /**< META_PROGRESS: a thread of the library's own advances messages */
    bool crowded;      /**< there are more ranks on the node than cores */
    int profiled;      /**< META_PROFILE: what all ranks record, META_PROFILE_SUMMARY or _TRACE */
} comm_job;
extern comm_job job;

/* init.c */
/** Begin a public function: attached, on a thread that may call MPI, and with the lock taken. */
meta_err comm_enter(const char *call);
/** End it: give the lock back. */
meta_err comm_leave(meta_err error);

/* thread.c: who may call MPI, and the lock around everything that does */
meta_err comm_thread_allowed(void);
bool comm_thread_may_call(void);
void comm_lock(void);
bool comm_trylock(void);
void comm_unlock(void);
/** Give the lock back until comm_wake() is called, and take it again. */
void comm_sleep(void);
void comm_wake(void);

/* progress_thread.c: META_PROGRESS=thread */
/** The level of MPI_Init_thread() that the settings ask for. */
int comm_thread_level_wanted(void);
meta_err comm_progress_thread_start(void);
/** Without the lock. */
void comm_progress_thread_stop(void);

/* mpi_error.c */
meta_err comm_mpi(int code, const char *function);
/** The same for a function that completes several requests and left their codes in @p statuses. */
meta_err comm_mpi_statuses(int code, const char *function, int count, const MPI_Status *statuses);

/* agree.c */
/** Whether every rank of @p among succeeded; otherwise all return the lowest failing rank's error.
 *  Collective. Frees nothing. */
meta_err comm_agree(MPI_Comm among, meta_err mine);
/** The same; *agreed is what all ranks go by, where MPI failed on this one after it had its part in
 *  the decision and it returns that error. */
meta_err comm_agree_on(MPI_Comm among, meta_err mine, meta_err *agreed);
/** Where all ranks of @p comm have met: a communicator of the same ranks whose errors are returned.
 *  Collective, one outcome for all; written on success. */
meta_err comm_duplicate(MPI_Comm comm, MPI_Comm *copy);

/* launcher.c */
/** META_ERR_MPI if another MPI's launcher started this program. */
meta_err comm_launcher_check(void);

/* node.c */
/** This rank's place on its node, and its share of the node's cores. Collective over @p among. */
meta_err comm_node_find(MPI_Comm among, int *node_rank, int *node_size, int *threads);

/* settings.c */
/** The META_* variables, into `job`. */
meta_err comm_settings_read(void);

/* gpu_mpi.c: META_GPU_MPI */
meta_err comm_gpu_mpi_read(void);
/** Find out whether MPI takes this rank's device memory, and decide with all ranks, into
 *  `job.direct`. After the device was chosen; collective over job.messages. */
meta_err comm_gpu_mpi_settle(void);
/** Whether MPI is given memory of @p device: it is the one that was tried. */
bool comm_gpu_mpi_takes(const meta_device *device);

/* type.c */
const char *comm_type_name(uint32_t type);

/* allreduce.c: MPI operations of our own */
meta_err comm_operations_create(void);
void comm_operations_free(void);

/* ------------------------------------------------------------------ messages */

typedef enum comm_kind { COMM_SEND, COMM_RECV, COMM_REDUCE } comm_kind;

/** Comes first in every point-to-point message, so that its receiver can check it: in front of the
 *  payload where that is no longer than a chunk, else as an MPI message of its own, and the payload
 *  follows in parts of a chunk each. */
typedef struct comm_header {
    uint32_t magic;
    uint16_t version;
    uint16_t type;
    uint64_t count; /**< elements */
    uint64_t bytes; /**< of payload in all */
    uint64_t chunk; /**< payload bytes of a part; the last one may be shorter */
    uint32_t sum;   /**< comm_checksum() of the payload with META_CHECK=1, else 0 */
    uint32_t seal;  /**< comm_checksum() of all that stands before it */
} comm_header;
_Static_assert(sizeof(comm_header) == 40, "the header's layout is part of the wire format");

/** Where a message's bytes are while MPI has them. */
typedef enum comm_wire {
    COMM_WIRE_NONE,
    COMM_WIRE_HEADER, /**< in the message's own header */
    COMM_WIRE_STAGING,
    COMM_WIRE_HEAP,
    COMM_WIRE_TARGET /**< where they belong: the memory of a host device */
} comm_wire;

/** A part of a point-to-point message, on its way between a device and MPI. */
typedef struct comm_part {
    comm_wire wire;
    char *data;
    size_t bytes;        /**< that MPI carries */
    meta_device *device; /**< of which staging was taken */
    meta_pending copy;
    MPI_Request request;
    bool doubtful; /**< MPI has failed once to say whether the request is complete */
} comm_part;

enum { COMM_WINDOW = 4 /**< parts of a message that are under way at once */ };

/** Somebody who waits for a message in a blocking call. */
typedef struct comm_waiter {
    bool complete;
    meta_err status;
    char text[COMM_TEXT];
} comm_waiter;

typedef struct comm_message comm_message;

/** An operation under way: a state machine whose state is the function that does its next step. */
struct comm_message {
    comm_message *next, *previous;
    /** Try the next step: true if it was done, and `step` is the one after it or NULL at the end.
     */
    bool (*step)(comm_message *m);
    comm_kind kind;
    int peer, tag;
    /* Messages of one kind, peer and tag take their turn in the order of their posting: order.c. */
    bool turn, passed;
    comm_message *successor, *predecessor;
    comm_message *newest; /**< of the one whose turn it is: the last one */
    comm_message *in_bucket;

    meta_type type;
    int64_t count;
    size_t bytes; /**< of payload as the caller has it */
    bool headed;  /**< the header has arrived, or MPI has it to send */
    comm_header header;
    uint32_t sum; /**< of the payload that has arrived, where the header has one */

    /* The parts of a point-to-point message. Of those that are sent, `retired` ≤ `issued` ≤
     * `fetched` ≤ `loaded`, as long as nothing fails; of those that are received, `retired` ≤
     * `fetched` ≤ `issued`. */
    size_t chunk, parts;
    size_t loaded;   /**< copies queued from the device to the host */
    size_t issued;   /**< given to MPI, or by a message from this rank itself taken over */
    size_t fetched;  /**< on the host, and if received queued to the device */
    size_t retired;  /**< nothing of them is under way, and their memory is given back */
    comm_part *part; /**< number k is element k % room */
    size_t room;
    comm_part few[COMM_WINDOW];
    bool hasty;         /**< all copies are queued at once */
    comm_message *from; /**< received from this rank itself: the other end */
    bool attached;      /**< the other end of one that is sent to this rank has begun with it */

    meta_span packed; /**< where payload comes from or goes to */
    meta_call unpack; /**< what follows, if unpacks */
    bool unpacks;
    meta_pending pending[2];
    const void *held[2];

    char *wire_data;          /**< staging of a reduction */
    meta_device *wire_device; /**< of which it was taken */

    MPI_Request request; /**< requests points here where one is enough */
    MPI_Request *requests;
    int request_count, request_retired;
    bool left_to_mpi; /**< ended while MPI may still write to it: it is never used again */

    /* allreduce */
    meta_op op;
    const void
        *source; /**< what MPI reads and writes: host memory, or staging of the two devices */
    void *target;
    bool from_device, to_device;
    meta_span sink;
    bool voted; /**< a sum of floating numbers: ranks compare whether they want it exact */
    bool exact; /**< this one does */
    bool small; /**< the vote travels with the numbers, in `carried` */
    int vote, votes;
    int64_t *limbs; /**< exact sums; until they are filled in, a pinned one in each first word */
    bool pinned;

    uint64_t posted; /**< when, where it is recorded; else 0 */
    uint64_t given;  /**< when MPI was given its first bytes, or had them */
    uint64_t number; /**< of all to this peer with this tag, or from it; 0 where it has none */

    meta_event event; /**< of the caller, where tracked */
    bool tracked;
    comm_waiter *waiter;
    bool told; /**< the caller knows how it ended */
    meta_err status;
    char text[COMM_TEXT];
    _Alignas(8) unsigned char carried[512]; /**< see `small` */
};

/* message.c */
/** A new message, with an event where @p done asks for one. */
meta_err comm_message_new(comm_message **made, comm_kind kind, int peer, int tag, meta_event *done);
/** Room for @p count requests. */
meta_err comm_message_requests(comm_message *m, size_t count);
/** Staging of @p bytes for a reduction. */
meta_err comm_message_staging(comm_message *m, meta_device *device, size_t bytes);
/** Keep meta_free() away from the buffer behind @p ptr until the caller has been told. */
void comm_message_hold(comm_message *m, const void *ptr);
/** Give up a message that was never posted; returns @p error. */
meta_err comm_message_drop(comm_message *m, meta_err error);
/** Put it into the engine's hands, its first step in m->step; block where @p done is NULL. */
meta_err comm_message_post(comm_message *m, meta_event *done);
/** Let the next message of its kind, peer and tag begin. */
void comm_message_pass(comm_message *m);
/** Tell the caller that the operation is complete, with m->status. */
void comm_message_tell(comm_message *m);
/** Remember that it failed with @p error and this thread's last message; the first one counts. */
void comm_message_fail(comm_message *m, meta_err error);
/** Complete: pass, tell, give everything back. Returns true, as a step does. */
bool comm_message_end(comm_message *m);
/** Whether its device work is complete; an error of it fails the message. */
bool comm_message_settled(comm_message *m);
/** Whether MPI is through with its requests; an error of one fails the message. */
bool comm_message_retired(comm_message *m);
/** Whether a peer keeps one waiting. */
bool comm_messages_waiting(void);
/** In words, which one; false where there is none. */
bool comm_messages_describe(char *text, size_t room);
/** End all messages that wait for other ranks, with META_ERR_PEER. */
void comm_messages_give_up(double waited);
/** How many messages of @p kind are under way; sends to this rank itself do not count. */
size_t comm_messages_count(comm_kind kind);
/** End all messages of @p kind with an error. */
void comm_messages_abandon(comm_kind kind);
bool comm_messages_advance(void);
/** Give back the memory of messages that ended. */
void comm_messages_forget(void);

/* order.c: messages of one kind, peer and tag begin in the order of their posting */
/** Queue @p m behind the others; m->turn says whether there are none. */
void comm_order_join(comm_message *m);
/** Take it out, and if it had its turn let the next one begin. */
void comm_order_leave(comm_message *m);
/** The one that has its turn; NULL if there is none. */
comm_message *comm_order_first(comm_kind kind, int peer, int tag);

/* part.c */
/** The part of @p span that begins @p at bytes further. */
meta_span comm_span_part(const meta_span *span, size_t at);
/** Part number @p k, and the payload bytes it holds. */
comm_part *comm_part_at(comm_message *m, size_t k);
size_t comm_part_payload(const comm_message *m, size_t k);
/** Cut the message into parts of @p chunk payload bytes, of which @p room may be under way. */
meta_err comm_parts_cut(comm_message *m, size_t chunk, size_t room);
/** Make it a new one without memory. */
comm_part *comm_part_begin(comm_message *m, size_t k);
/** Memory of @p bytes for it. */
meta_err comm_part_staging(comm_part *p, meta_device *device, size_t bytes);
meta_err comm_part_heap(comm_part *p, size_t bytes);
void comm_part_free(comm_part *p);
/** Whether its copy is complete; an error of it fails the message. */
bool comm_part_copied(comm_message *m, comm_part *p);
/** Whether MPI is through with it; @p bytes (may be NULL): how many it received. An error of MPI
 * fails the message. */
bool comm_part_carried(comm_message *m, comm_part *p, size_t *bytes);
/** Wait for the copies of all parts. */
void comm_parts_settle(comm_message *m);
/** Give back all parts; memory that MPI may still touch is left to it, and then m->left_to_mpi. */
void comm_parts_free(comm_message *m);

/* chunk.c */
/** The size of the pieces that a message of @p bytes is best cut into between this device and MPI;
 *  0: whole. */
size_t comm_chunk_for(meta_device *device, size_t bytes);
/** The payload of one MPI message where pieces of @p wish bytes are wanted (0: whole): what
 * META_CHUNK allows, and not so little that there are thousands. */
size_t comm_chunk_fit(size_t bytes, size_t wish);
/** Forget what was measured: the devices are about to be closed. */
void comm_speeds_forget(void);

/* engine.c */
/** Advance everything once; true if anything moved. */
bool comm_progress(void);
/** The same for one who does not wait: it is not counted for META_TIMEOUT. */
bool comm_advance(void);
/** Advance until *complete, letting others have the lock between two attempts. */
void comm_wait(const bool *complete);
/** Advance while @p busy says so, and until @p deadline of MPI_Wtime() where it is not 0. */
void comm_wait_while(bool (*busy)(const void *), const void *what, double deadline);

/* request.c */
/** Advance until @p request of MPI is complete. @p phase says for whom and what it is waited, as
 * "while a halo plan is made"; @p peer is a rank, or MPI_ANY_SOURCE where all of them take part.
 *  @return META_ERR_PEER after META_TIMEOUT seconds: the request is still MPI's then */
meta_err comm_request_wait(MPI_Request *request, const char *phase, int peer, int tag);
/** The same for a collective operation, of which it is enough that it is complete: where MPI failed to
 *  say so, *own is that error, and META_OK is returned. */
meta_err comm_collective_wait(MPI_Request *request, const char *phase, meta_err *own);
/** Begin a barrier. Where MPI fails it is tried once more, because the others wait for it: the error
 *  of the first time is returned, and *request is MPI_REQUEST_NULL only if the second failed too. */
meta_err comm_barrier(MPI_Comm among, MPI_Request *request);
/** Advance until every rank of @p among is here: after it, blocking collective calls of MPI keep no
 *  rank waiting for a message that another one has posted but not given to MPI yet. Collective.
 *  @return META_ERR_PEER where they do not come; after another error they have met all the same */
meta_err comm_meet(MPI_Comm among);
/** End @p request without waiting for the peer longer than a moment; @p cancel: a receive, which is
 * cancelled. false: MPI has it still, the handle was freed, and so its memory must be left to MPI. */
bool comm_request_give_up(MPI_Request *request, bool cancel);
/** Take a message that has come, for which there is no memory. */
void comm_consume(MPI_Comm among, int source, int tag);
/** Take in a message from @p source, or MPI_ANY_SOURCE, that nobody will receive; @p found: there was
 *  one, of which *status tells. @return META_ERR_PEER where it does not come whole in time */
meta_err comm_take_in(MPI_Comm among, int source, bool *found, MPI_Status *status);

/* watch.c: peers that do not answer */
/** Something moved, or nothing did although the caller waits: warn after a while, or, with
 *  META_TIMEOUT, give up what is waited for. */
void comm_watch(bool moved);
/** Seconds waited since @p began without an answer: META_ERR_PEER where that is too long. */
meta_err comm_watch_since(double began, bool *warned, const char *phase, int peer, int tag);

/** Let others compute, more of them the longer nothing moved: @p idle attempts so far. */
void comm_back_off(unsigned idle);
/** Remember the error of an operation that nobody tracks, for meta_flush(). */
void comm_background_error(meta_err error, const char *text);
meta_err comm_background_take(void);
void comm_hooks_set(void);

/* profile.c */
/** Settle with all ranks what is recorded. Collective over job.collectives. */
meta_err comm_profile_begin(void);
/** Print the summary that META_PROFILE asks for. Collective. */
meta_err comm_profile_end(void);
/** The core's hook. Collective. */
meta_err comm_profile_print(void);
static inline bool comm_profiled(void)
{
    return __builtin_expect(atomic_load_explicit(core->profiling, memory_order_relaxed) != 0, 0);
}
/** The message is posted, its first bytes are about to be given to MPI or have come, its caller is
 * told. */
void comm_record_post(comm_message *m);
void comm_record_given(comm_message *m);
void comm_record_told(comm_message *m);

/* profile_trace.c */
bool comm_traced(void);
uint64_t comm_trace_number(const comm_message *m);
/** Compare the ranks' clocks, and in the end write the trace. Collective over job.collectives. */
meta_err comm_trace_begin(void);
meta_err comm_trace_end(void);

/* send.c and recv.c: first steps */
meta_err comm_send_load(comm_message *m);
bool comm_send_step(comm_message *m);
bool comm_recv_step(comm_message *m);

/* exact.c: reproducible sums over ranks */
/** Whether the sum of @p m is one that ranks vote on; then how many bytes of staging it needs
 * before those of the numbers, and how many requests where they are @p requests without it. */
meta_err comm_exact_needs(comm_message *m, size_t *bytes, int64_t *requests);
/** Keep the exact sums behind the numbers at @p send; those at @p recv will not be theirs. */
void comm_exact_pin(comm_message *m, const void *send, const void *recv);
void comm_exact_unpin(comm_message *m);
/** The first step of such a sum, at its turn; false where it is not its turn. */
bool comm_exact_step(comm_message *m);

/* allreduce.c again: parts of a reduction, and its end, for exact.c */
/** Give MPI the elements of the target, behind `first` requests; a failure fails the message. */
void comm_reduce_parts(comm_message *m, int first);
/** The step after the last one of MPI's. */
bool comm_reduce_upload(comm_message *m);

#include "halo/halo.h"

#endif
