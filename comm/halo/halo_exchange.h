/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_exchange.h
 *  One exchange of a halo plan: its state while it is under way, and its memory and MPI requests,
 *  which are bound to one device and reused by the plan's next exchange of arrays there. */
#ifndef META_COMM_HALO_EXCHANGE_H
#define META_COMM_HALO_EXCHANGE_H

#include "halo/halo_plan.h"

/** An array of the exchange under way. */
typedef struct halo_array {
    meta_span span;
    const void *held;
} halo_array;

/** How far what comes from one direction has come. */
typedef enum halo_arrival {
    HALO_NONE,     /**< nothing comes from there */
    HALO_EXPECTED, /**< not here yet, or not all of it */
    HALO_ARRIVED,  /**< here, or queued to be: it can be unpacked */
    HALO_UNPACKING,
    HALO_UNPACKED
} halo_arrival;

/** One direction of an exchange. */
typedef struct halo_dir {
    int segment; /**< the last one with bytes for this direction; -1: none */
    halo_arrival arrival;
    int parts_left;    /**< MPI messages that have not come */
    uint32_t checksum; /**< of what was sent in this direction so far, where it is sealed */
    meta_pending upload;
} halo_dir;

/** A part of the send buffer that is copied from the device to the host in one piece. */
typedef struct halo_segment {
    size_t at, bytes;
    int first_part, parts; /**< MPI messages that lie in it */
    meta_pending copy;
} halo_segment;

/** Follows a message between ranks of which one has META_CHECK=on. */
typedef struct halo_seal {
    uint32_t magic, dir; /**< the direction as its sender sees it */
    uint64_t number;     /**< of the exchange */
    uint64_t bytes;      /**< of the message */
    uint32_t sum;        /**< comm_checksum() of it */
    uint32_t seal;       /**< comm_checksum() of the members before */
} halo_seal;
_Static_assert(sizeof(halo_seal) == 32, "the seal's layout is part of the wire format");

/** Kernels of one launch, and the directions they serve. */
typedef struct halo_batch {
    meta_pending done;
    int first, last;
} halo_batch;

typedef enum halo_state {
    HALO_IDLE,  /**< nothing is under way */
    HALO_BEGUN, /**< not ended by the application */
    HALO_ENDED  /**< but not everything is complete */
} halo_state;

struct halo_exchange {
    halo_exchange *next;   /**< among those of the plan */
    halo_exchange *active; /**< among those under way, of all plans */
    halo_plan *plan;
    uint32_t slot; /**< of its handles */

    /* bound to the device: halo_buffer.c */
    halo_device on;
    meta_traffic traffic;            /**< of each exchange */
    void *send_buffer, *recv_buffer; /**< on the device: for MPI, then for the window, then own */
    meta_span send_span, recv_span;
    size_t own_at; /**< where in the send buffer what is added within this rank begins */
    void *send_staging, *recv_staging; /**< on the host, where MPI does not take the device's */
    void *slot_staging; /**< page-locked memory for what goes to the window, where copies need it */
    MPI_Request *send, *recv;
    int sends, recvs; /**< as the plan's; 0 once requests were left to MPI */
    halo_seal *seal;  /**< of each direction, those sent, then those received; NULL: none */
    void *seal_image; /**< on the host, of a message in memory that only the device reads */
    halo_segment *segment;
    int segments;
    int *index; /**< as long as the longer list of requests, as are the statuses */
    MPI_Status *statuses;
    /* of the plan's kernels, a set for each slot: halo_moves.c */
    meta_builtin *moves[HALO_SLOTS];
    meta_span *bound[HALO_SLOTS]; /**< the arrays to which they are bound; .device is NULL before
                                     the first */
    halo_array *array;

    /* under way: halo_exchange.c */
    uint64_t number; /**< of the plan's exchanges */
    uint64_t began;  /**< when, where it is recorded; else 0 */
    halo_state state;
    bool waiting; /**< for the window's slot, before anything can be packed */
    bool packing; /**< what is sent has not all been given to MPI or the peer */
    meta_pending pack;
    int fetched;  /**< segments that have come to the host */
    bool sending; /**< MPI has some of it */
    int expected; /**< directions of which something is still to be unpacked */
    int turn;     /**< META_HALO_ADD: the direction that is added next */
    halo_dir dir[HALO_DIRS];
    halo_batch batch[HALO_DIRS];
    int batches;
    bool ordered; /**< all is queued, and ahead of whatever the compute queue gets next */
    bool done;    /**< the application has been notified */
    double moved; /**< when it did last, or was ended: comm_now */
    meta_event event;
    bool tracked;    /**< by the event */
    bool waited;     /**< by a caller that reads the outcome from here */
    meta_err damage; /**< of a message that did not come as it was sent; described by the text */
    meta_err status;
    char text[COMM_TEXT];
};

/** The moves of the exchange's slot. */
static inline meta_builtin *halo_moves_of(const halo_exchange *x)
{
    return x->moves[x->number % HALO_SLOTS];
}

/** Memory that MPI may read or write for the buffer's part at @p at. */
static inline char *halo_send_memory(const halo_exchange *x, size_t at)
{
    return (x->send_staging ? (char *)x->send_staging : x->send_span.address) + at;
}

static inline char *halo_recv_memory(const halo_exchange *x, size_t at)
{
    return (x->recv_staging ? (char *)x->recv_staging : x->recv_span.address) + at;
}

/* halo_pool.c */
/** An idle exchange of the plan for arrays on @p device; made where there is none. */
meta_err halo_exchange_acquire(halo_plan *p, meta_device *device, halo_exchange **found);
/** A new handle: those of earlier exchanges become stale. */
meta_exchange halo_handle_new(const halo_exchange *x);
/** The exchange of a handle; NULL: the handle is stale, or never was one's (*never). */
halo_exchange *halo_handle_find(meta_exchange handle, bool *never);
/** Free all exchanges of the plan. */
void halo_exchanges_free(halo_plan *p);

/* halo_buffer.c */
/** Memory and requests for arrays on @p x->on. */
meta_err halo_exchange_allocate(halo_exchange *x);
/** Give back what halo_exchange_allocate() took, as far as it came. */
void halo_exchange_release(halo_exchange *x);
/** Free @p count requests, those that are left; @p count is 0 then. */
void halo_requests_free(MPI_Request *request, int *count);

/* halo_moves.c */
/** The arrays of one exchange: live, on one device, large enough, and apart. @p first: fields[0].
 */
meta_err halo_fields_resolve(halo_exchange *x, void *const *fields, const meta_span *first);
/** The array at @p ptr of field @p f of a plan. */
meta_err halo_field_resolve(const halo_field *f, const void *ptr, meta_span *span);
/** Moves for the plan's kernels. */
meta_err halo_moves_make(halo_exchange *x);
/** Bind them to the arrays and the slot of the exchange that begins. */
meta_err halo_moves_bind(halo_exchange *x);

/* halo_exchange.c */
meta_err halo_begin(halo_plan *p, void *const *fields, meta_exchange *handle);
meta_err halo_end(halo_exchange *x, meta_event *done);
meta_err halo_start(halo_plan *p, void *const *fields);
meta_err halo_finish(halo_plan *p, meta_event *done);
/** The caller of halo_finish() does not pass on the event that it got: an error of the exchange is
 * one of the background. */
void halo_untrack(halo_plan *p, meta_event event);
/** Wait until nothing of the plan is under way. */
void halo_wait_idle(const halo_plan *p);
/** End an exchange that is under way, without its neighbours. */
void halo_give_up(halo_exchange *x, meta_err error);

/* halo_seal.c */
/** Memory for seals, where any message has one. */
meta_err halo_seals_make(halo_exchange *x);
void halo_seals_free(halo_exchange *x);
/** Part @p k is about to be given to MPI. */
meta_err halo_seal_part(halo_exchange *x, int k);
/** All parts were: give MPI the seals. */
meta_err halo_seals_send(halo_exchange *x);
/** The slot for direction @p dir is about to be filled. */
void halo_seal_slot(const halo_exchange *x, int dir);
/** Whether all that came from direction @p dir is what was sent; META_ERR_MISMATCH if not. */
meta_err halo_seal_check(halo_exchange *x, int dir);

/* traffic.c */
/** Add up what one exchange moves by each path; then count one. */
void halo_traffic_prepare(halo_exchange *x);
void halo_traffic_count(const halo_exchange *x);

/* halo_record.c: the messages of a segment (-1: all) are about to be given to MPI, one has arrived
 */
void halo_record_sent(const halo_exchange *x, int segment);
void halo_record_arrived(const halo_exchange *x, int dir);

#endif
