/* SPDX-License-Identifier: BSD-3-Clause */
/** @file message.h
 *  Messages under way, as the files of this room share them. */
#ifndef META_COMM_MESSAGE_H
#define META_COMM_MESSAGE_H

#include "p2p/p2p.h"

/** Precedes the payload of every point-to-point message, so that its receiver can check it: in one
 *  MPI message with a payload of at most a chunk, else as an MPI message of its own, followed by
 *  the payload in parts of a chunk each. */
typedef struct comm_header {
    uint32_t magic;
    uint16_t version;
    uint16_t type;
    uint64_t count; /**< elements */
    uint64_t bytes; /**< of payload in all */
    uint64_t chunk; /**< payload bytes of a part; the last one may be shorter */
    uint32_t sum;   /**< comm_checksum() of the payload with META_CHECK=on, else 0 */
    uint32_t seal;  /**< comm_checksum() of everything before it */
} comm_header;
_Static_assert(sizeof(comm_header) == 40, "the header's layout is part of the wire format");

/** Where a part's bytes are while MPI has them. */
typedef enum comm_wire {
    COMM_WIRE_NONE,
    COMM_WIRE_HEADER, /**< in the message's own header */
    COMM_WIRE_STAGING,
    COMM_WIRE_HEAP,
    COMM_WIRE_TARGET /**< at their destination: the memory of a host device */
} comm_wire;

/** A part of a point-to-point message, on its way between a device and MPI. */
typedef struct comm_part {
    comm_wire wire;
    char *data;
    size_t bytes;        /**< that MPI carries */
    meta_device *device; /**< whose staging was taken */
    meta_pending copy;
    MPI_Request request;
} comm_part;

enum { COMM_WINDOW = 4 /**< parts of a message that are under way at once */ };

/** A caller blocked until a message completes. */
typedef struct comm_waiter {
    bool complete;
    meta_err status;
    char text[COMM_TEXT];
} comm_waiter;

typedef struct comm_message comm_message;

/** An operation under way: a state machine whose state is the function that takes the next step. */
struct comm_message {
    comm_message *next, *previous;
    /** Try the next step: true if it was taken; `step` is then the following one, NULL at the end.
     */
    bool (*step)(comm_message *m);
    /** Give back what its kind has taken, once no device uses it; what MPI may still use is left
     *  to MPI, and left_to_mpi set. May be called again. */
    void (*release)(comm_message *m);
    comm_kind kind;
    int peer, tag;
    /* Messages of one kind, peer and tag take turns in the order of their posting: order.c. */
    bool turn, passed;
    comm_message *successor, *predecessor;
    comm_message *newest; /**< of the one whose turn it is: the last one */
    comm_message *in_bucket;

    meta_type type;
    int64_t count;
    size_t bytes;    /**< of payload as the caller has it */
    bool has_header; /**< received, or given to MPI */
    comm_header header;
    uint32_t sum; /**< of the payload that has arrived, where the header has one */

    /* The parts of a point-to-point message. Of those sent, `retired` ≤ `issued` ≤ `fetched` ≤
     * `loaded`, as long as nothing fails; of those received, `retired` ≤ `fetched` ≤ `issued`. */
    size_t chunk, parts;
    size_t loaded;   /**< copies queued from the device to the host */
    size_t issued;   /**< given to MPI, or taken over from a message of this rank itself */
    size_t fetched;  /**< on the host, and if received queued to the device */
    size_t retired;  /**< complete, with their memory given back */
    comm_part *part; /**< number k is element k % room */
    size_t room;
    comm_part inline_part[COMM_WINDOW];
    bool copy_all_now;  /**< `packed` may change after the call: all copies are queued in it */
    comm_message *from; /**< received from this rank itself: the other end */
    bool attached;      /**< sent to this rank itself: the other end has begun with it */

    meta_span packed;    /**< source or destination of the payload */
    meta_builtin unpack; /**< what follows, if unpacks */
    bool unpacks;
    meta_pending pending[2];
    const void *held[2];

    MPI_Request request; /**< requests points here where one is enough */
    MPI_Request *requests;
    int request_count, request_retired;
    bool left_to_mpi; /**< MPI may still use it: it is never used again */

    /* allreduce */
    meta_op op;
    const void *source;      /**< what MPI reads and writes: the caller's host memory, */
    void *target;            /**< or staging */
    char *staging;           /**< of a reduction, */
    meta_device *staging_of; /**< and whose it is */
    bool from_device, to_device;
    meta_span sink;
    bool voted; /**< a sum of floating numbers: ranks compare whether they want it exact */
    bool exact; /**< this one does */
    bool small; /**< the vote travels with the numbers, in `carried` */
    int vote, votes;
    int64_t *limbs; /**< exact sums of a piece */
    void **pinned;  /**< until those are filled in: what the core keeps of each number, or NULL */
    bool at_once;   /**< the numbers are given to MPI together; the same on every rank */
    bool whole;     /**< staging has room for all of them, not for a piece alone */
    int64_t piece;  /**< elements of a piece, */
    int64_t at;     /**< and the first one of that under way */

    double moved;    /**< when it did last: comm_now */
    uint64_t posted; /**< when, if recorded; else 0 */
    uint64_t given;  /**< when MPI was given its first bytes, or had them */
    uint64_t number; /**< among those of its peer, tag and direction, if traced; else 0 */

    meta_event event; /**< of the caller, if tracked */
    bool tracked;
    comm_waiter *waiter;
    bool notified; /**< the caller knows how it ended */
    meta_err status;
    char text[COMM_TEXT];
    _Alignas(8) unsigned char carried[512]; /**< see `small` */
};

/* message.c */
/** A new message, with an event where @p done asks for one. */
meta_err comm_message_new(comm_message **made, comm_kind kind, int peer, int tag, meta_event *done);
/** Keep the buffer at @p ptr from being freed until the caller is notified. */
void comm_message_hold(comm_message *m, const void *ptr);
/** Discard a message that was never posted; returns @p error. */
meta_err comm_message_drop(comm_message *m, meta_err error);
/** Hand it to the engine, its first step in m->step; block where @p done is NULL. */
meta_err comm_message_post(comm_message *m, meta_event *done);
/** Record that MPI has its first bytes. */
void comm_message_given(comm_message *m);
/** Let the next message of its kind, peer and tag begin. */
void comm_message_pass(comm_message *m);
/** Notify the caller that the operation is complete, with m->status. */
void comm_message_notify(comm_message *m);
/** Record that it failed with @p error and this thread's last message; the first failure counts. */
void comm_message_fail(comm_message *m, meta_err error);
/** Complete: pass, notify, give everything back. Returns true, as a step does. */
bool comm_message_end(comm_message *m);
/** Whether its device work is complete; an error of it fails the message. */
bool comm_message_device_done(comm_message *m);
/** Whether its MPI requests are complete; an error of one fails the message. */
bool comm_message_mpi_done(comm_message *m);

/* order.c: messages of one kind, peer and tag begin in the order of their posting */
/** Queue @p m behind the others; m->turn is set if there are none. */
void comm_order_join(comm_message *m);
/** Take it out, and if it had its turn let the next one begin. */
void comm_order_leave(comm_message *m);
/** The one that has its turn; NULL if there is none. */
comm_message *comm_order_first(comm_kind kind, int peer, int tag);

/* arguments.c */
/** Check the arguments that every message has; *nobody: the rank is MPI_PROC_NULL, and the
 *  operation is complete already. */
meta_err comm_check_message(int peer, const char *name, int64_t count, meta_type type, int tag,
                            meta_event *done, bool *nobody);
/** Resolve the operands of a face's message and begin the move from one to the other. */
meta_err comm_face_move(meta_builtin *move, meta_kernel_id kernel, const meta_face *face,
                        const void *buf, const void *packed, meta_type type, meta_span *to_packed,
                        meta_span *to_buf, int64_t *count);

/* part.c */
/** Make @p m a message of @p count elements at @p packed, which is held. */
void comm_message_payload(comm_message *m, const meta_span *packed, int64_t count, meta_type type,
                          size_t bytes);
/** Part number @p k, and the payload bytes it holds. */
comm_part *comm_part_at(comm_message *m, size_t k);
size_t comm_part_payload(const comm_message *m, size_t k);
/** Cut the message into parts of @p chunk payload bytes, of which @p room may be under way. */
meta_err comm_parts_cut(comm_message *m, size_t chunk, size_t room);
/** Make it a new one without memory. */
comm_part *comm_part_begin(comm_message *m, size_t k);
/** Memory of @p bytes for it: staging of @p device, or of the heap where that is NULL. */
meta_err comm_part_memory(comm_part *p, meta_device *device, size_t bytes);
void comm_part_free(comm_part *p);
/** Whether its copy is complete; an error of it fails the message. */
bool comm_part_copied(comm_message *m, comm_part *p);
/** Whether MPI is done with it; @p bytes (may be NULL): how many it received. An error of MPI fails
 *  the message. */
bool comm_part_carried(comm_message *m, comm_part *p, size_t *bytes);

/* reduce_ops.c */
MPI_Op comm_reduce_operation(meta_op op, meta_type type);
MPI_Datatype comm_reduce_datatype(meta_op op, meta_type type);
/** Of minima and maxima, make all zeros and all NaN alike, whichever rank's was taken. */
void comm_reduce_canonical(void *x, int64_t count, meta_type type);

#endif
