/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.h
 *  A halo plan, as the files that build, check and run it share it. */
#ifndef META_COMM_HALO_H
#define META_COMM_HALO_H

#include "gpu/gpu_mpi.h"
#include "halo/exchanges.h"
#include "p2p/p2p.h"
#include "record/comm_record.h"

enum {
    HALO_DIMS = 3,
    HALO_WAYS = 27,
    HALO_TEXT = 16,
    HALO_SLOTS = 2, /**< exchanges whose cells a window holds */
    HALO_ALIGN = 64 /**< bytes: where each message begins in its buffer */
};

/** One array of a plan. */
typedef struct halo_field {
    char name[32]; /**< as errors of an exchange call it; not made anew for each */
    meta_type type;
    size_t element; /**< bytes */
    meta_box box;
    int stagger[HALO_DIMS]; /**< 1: one more own element along this dimension */
    int64_t count;          /**< elements of the array */
    meta_span span;         /**< of the exchange under way */
    const void *held;
} halo_field;

/** How far what comes from one direction has come. */
typedef enum halo_arrival {
    HALO_NONE,     /**< nothing comes from there */
    HALO_EXPECTED, /**< not here yet, or not all of it */
    HALO_ARRIVED,  /**< here, or queued to be: it can be unpacked */
    HALO_UNPACKING,
    HALO_UNPACKED
} halo_arrival;

/** What a plan does in one direction. A direction has one of -1, 0, 1 for each dimension, and the
 *  number sum (way[d] + 1) * 3^d; the opposite one is that many from the other end. */
typedef struct halo_link {
    int way[HALO_DIMS];
    int peer;  /**< the rank that way in the plan's communicator; MPI_PROC_NULL where there is none
                */
    bool used; /**< the plan exchanges something in this direction */
    int node;  /**< the peer's rank in the plan's node; MPI_UNDEFINED where it is on another one */
    meta_path out, in;             /**< of what is sent and of what is received */
    size_t send_bytes, recv_bytes; /**< of all fields, 0 where nothing goes that way */
    size_t send_at, recv_at; /**< where they lie: in the buffers, or in a slot of the window */
    size_t send_chunk, recv_chunk; /**< bytes of one MPI message */
    int first_call, calls;         /**< of what is done with what is received */
    int segment;                   /**< the last one with bytes for this direction */
    bool sealed;       /**< messages from and to there are accompanied by a checksum: halo_seal.c */
    int world;         /**< in a trace: the peer's rank in the job, negative where it has none, */
    uint64_t together; /**< and which of the plans it is that the two ranks share */
    size_t peer_at, peer_slot; /**< of the peer's window: where its message lies, a slot's bytes */

    /* the exchange under way */
    halo_arrival arrival;
    int parts_left; /**< MPI messages that have not come */
    uint32_t sum;   /**< of what was sent that way so far, where it is sealed */
    meta_pending upload;
} halo_link;

/** What every exchange completes in a kernel call: operand k is array field[k], from its element
 *  base[k] on, or, for HALO_SLOT, lies in the exchange's slot of the window. */
typedef struct halo_patch {
    int field[2];
    int64_t base[2];
    size_t element;
    int way; /**< of the slot's message */
    bool sent;
} halo_patch;
enum { HALO_FIXED = -1, HALO_SLOT = -2 };

/** A part of the send buffer that goes from the device to the host in one copy. */
typedef struct halo_segment {
    size_t at, bytes;
    int first_part, parts; /**< MPI messages that lie in it */
    meta_pending copy;
} halo_segment;

/** An MPI message. */
typedef struct halo_part {
    int way;
    size_t at, bytes; /**< in the buffer */
    bool seal;        /**< the seal of the others, which is not in the buffer */
} halo_part;

/** Follows a message between ranks of which one has META_CHECK=1. */
typedef struct halo_seal {
    uint32_t magic, way; /**< the direction as its sender sees it */
    uint64_t number;     /**< of the exchange */
    uint64_t bytes;      /**< of the message */
    uint32_t sum;        /**< comm_checksum() of it */
    uint32_t seal;       /**< and of all that stands before */
} halo_seal;
_Static_assert(sizeof(halo_seal) == 32, "the seal's layout is part of the wire format");

/** Kernels that were launched together, and the directions they serve. */
typedef struct halo_batch {
    meta_pending done;
    int first, last;
} halo_batch;

typedef enum halo_state {
    HALO_IDLE,
    HALO_STARTED,  /**< meta_halo_finish() has not been called */
    HALO_FINISHING /**< it has, but not everything is complete */
} halo_state;

typedef struct halo_window halo_window; /* halo_window.c */

typedef struct halo_plan halo_plan;
struct halo_plan {
    halo_plan *next; /**< in the list of those that are not idle */
    uint32_t slot;
    uint64_t made; /**< grows from plan to plan: ranks share the order of those that they share */

    /* what it is; settled by halo_plan.c */
    MPI_Comm cart; /**< a duplicate of its own */
    int rank;      /**< in cart */
    meta_device *device;
    bool host;   /**< the device's memory is the host's */
    bool shares; /**< what it sends may lie in plain host memory: no copy of its device needs it
                    pinned */
    bool direct; /**< MPI takes the device's memory */
    int dims, ways, fields;
    meta_box box;
    int low[HALO_DIMS], high[HALO_DIMS];
    meta_halo_kind kind;
    meta_halo_op op;
    halo_field *field;
    halo_link link[HALO_WAYS];

    /* where messages lie: halo_path.c, halo_window.c, halo_buffer.c */
    size_t send_bytes, recv_bytes; /**< of the buffers on the device */
    size_t mpi_bytes;  /**< of the former, from the beginning, for MPI; the rest is shared */
    size_t own_at;     /**< where in it what is added within this rank begins */
    size_t slot_bytes; /**< of the window's slots */
    MPI_Comm node;     /**< the plan's ranks on this node; MPI_COMM_NULL where unused */
    halo_window *window;
    void *send_buffer, *recv_buffer; /**< on the device */
    meta_span send_span, recv_span;
    void *send_staging, *recv_staging; /**< on the host, where MPI does not take the device's */
    halo_part *send_part, *recv_part;
    MPI_Request *send, *recv;
    int sends, recvs;
    int seals;       /**< of the sends; like those of the receives they come last */
    halo_seal *seal; /**< of each direction, those sent, then those received; NULL where none are */
    void *seal_image; /**< the host's, for a message whose memory is the device's alone */
    halo_segment *segment;
    int segments;
    int *index; /**< as long as the longer list of requests, as are the statuses */
    MPI_Status *statuses;

    /* what is launched: halo_calls.c */
    meta_call *calls; /**< those of the start, then those of each direction */
    halo_patch *patch;
    int start_calls, call_count;

    /* the exchange; halo_exchange.c */
    uint64_t number; /**< of exchanges begun; the slot of this one is its remainder */
    uint64_t began;  /**< when, where it is recorded; else 0 */
    halo_state state;
    bool waiting; /**< for the window's slot, before anything can be packed */
    bool packing; /**< what is to be sent is on its way to where MPI or the peer takes it */
    meta_pending pack;
    int fetched;  /**< segments that have come to the host */
    bool sending; /**< MPI has some of it */
    int expected; /**< directions of which something is still to be unpacked */
    int turn;     /**< META_HALO_ADD: the direction that is added next */
    halo_batch batch[HALO_WAYS];
    int batches;
    bool ordered; /**< everything is queued, and in front of whatever is queued next */
    bool done;    /**< the caller knows how it ended */
    bool idle;    /**< nothing is under way: the next exchange can begin */
    bool met;     /**< all ranks know their neighbours */
    bool broken;  /**< an exchange failed, and the neighbours may be in the middle of theirs */
    bool lost;    /**< a peer does not answer: what needs all ranks is left undone */
    meta_event event;
    bool tracked, waited;
    meta_err damage; /**< of a message that did not come as it was sent; the text says which */
    meta_err status;
    char text[COMM_TEXT];
};

/** The name of a direction, as "+x-y". */
void halo_way_name(const halo_plan *p, int way, char name[HALO_TEXT]);
/** Whether another rank lies that way, whether or not anything is exchanged with it. */
bool halo_has_neighbour(const halo_plan *p, int way);

/* halo_plan.c */
/** Everything about the plan that this rank can tell alone. */
meta_err halo_plan_fill(halo_plan *p, const meta_halo_desc *desc);
/** The elements of field @p k that are sent in direction @p way, or with @p ghosts those that what
 *  comes from there is for; their number. */
int64_t halo_face(const halo_plan *p, int way, int k, bool sent, meta_face *face);
/** Bytes of a message, with each field at a multiple of eight; @p at (may be NULL): of field @p k.
 */
size_t halo_message_bytes(const halo_plan *p, int way, bool sent, int k, size_t *at);

/* halo_path.c */
/** Which ranks are on this node. Collective over the plan's communicator. */
meta_err halo_node_find(halo_plan *p);
/** Choose the way of every message this rank sends; @p shared: through shared memory where it can
 * be. */
void halo_paths_choose(halo_plan *p, bool shared);
/** Lay the messages out in the buffers and in the window. */
void halo_paths_place(halo_plan *p);
/** Say which way messages take, on the log. */
void halo_paths_report(const halo_plan *p);

/* traffic.c */
/** Count messages and their bytes. */
void halo_traffic_sent(meta_path path, uint64_t messages, uint64_t bytes);
void halo_traffic_received(meta_path path, uint64_t messages, uint64_t bytes);

/* halo_record.c: a plan is made, the messages of a segment (-1: all) are about to be given to MPI,
 * one has arrived, all plans are gone */
void halo_record_plan(halo_plan *p);
void halo_record_sent(const halo_plan *p, int segment);
void halo_record_arrived(const halo_plan *p, int way);
void halo_record_forget(void);

/* halo_verify.c */
/** Compare with every neighbour, and learn what each sends by which way. */
meta_err halo_plan_verify(halo_plan *p);

/* halo_window.c */
/** Whether this node has room for the windows that its ranks want. Collective over p->node. */
meta_err halo_window_fits(const halo_plan *p, bool *fits);
/** Make the window. Collective over p->node. */
meta_err halo_window_create(halo_plan *p);
/** Collective, unless the plan is lost. */
void halo_window_free(halo_plan *p);
/** Slot @p slot of this rank, from @p at on, or where @p link's peer leaves what it sends. */
char *halo_window_mine(const halo_plan *p, int slot, size_t at);
char *halo_window_theirs(const halo_plan *p, const halo_link *link, int slot);
/** Whether the peer has taken what lay in the slot of exchange p->number in direction @p way. */
bool halo_window_free_to_fill(const halo_plan *p, int way);
/** It is full now. */
void halo_window_fill(const halo_plan *p, int way);
/** Whether the peer has filled its slot of this exchange for what comes from direction @p way. */
bool halo_window_filled(const halo_plan *p, int way);
/** This rank needs it no more. */
void halo_window_take(const halo_plan *p, int way);
/** A number that goes with the slot: said before it is full, and heard before it is taken. */
void halo_window_say(const halo_plan *p, int way, uint32_t sum);
uint32_t halo_window_heard(const halo_plan *p, int way);

/* halo_seal.c */
/** Memory for seals, where any message has one. */
meta_err halo_seals_make(halo_plan *p);
void halo_seals_free(halo_plan *p);
/** The exchange that begins has sent nothing. */
void halo_seals_reset(halo_plan *p);
/** Part @p k is about to be given to MPI. */
meta_err halo_seal_part(halo_plan *p, int k);
/** All parts were: give MPI the seals. */
meta_err halo_seals_send(halo_plan *p);
/** The slot for direction @p way is about to be full. */
void halo_seal_slot(halo_plan *p, int way);
/** What came from direction @p way, all of it, is what was sent; META_ERR_MISMATCH if not. */
meta_err halo_seal_check(halo_plan *p, int way);

/* halo_drain.c */
/** After a failure: take in what neighbours sent and this rank has not received, so that no later
 * plan whose communicator has the same context in MPI meets it. Every neighbour does the same.
 *  @return META_ERR_PEER if one does not in time */
meta_err halo_drain(const halo_plan *p);

/* halo_buffer.c */
meta_err halo_plan_allocate(halo_plan *p);
/** Give back what halo_plan_allocate() took, as far as it came. */
void halo_plan_release(halo_plan *p);
/** Free @p count requests, those that are left; @p count is 0 then. */
void halo_requests_free(MPI_Request *request, int *count);
/** Memory that MPI may read or write for the span's part at @p at. */
char *halo_send_memory(const halo_plan *p, size_t at);
char *halo_recv_memory(const halo_plan *p, size_t at);

/* halo_calls.c */
/** The arrays of one exchange: live, on the plan's device, large enough, and apart. */
meta_err halo_fields_resolve(halo_plan *p, void *const *fields);
/** Whether two arrays of exchanges under way have a byte in common. */
bool halo_fields_overlap(const halo_field *a, const halo_field *b);
/** The kernel calls of all exchanges. */
meta_err halo_calls_make(halo_plan *p);
/** Complete them for the exchange that begins. */
void halo_calls_patch(halo_plan *p);

/* halo_exchange.c */
meta_err halo_start(halo_plan *p, void *const *fields);
meta_err halo_finish(halo_plan *p, meta_event *done);
/** Wait until the plan's last exchange is over. */
void halo_wait_idle(halo_plan *p);
/** End an exchange that is under way, without its neighbours. */
void halo_end(halo_plan *p, meta_err error);

/* halo_overlap.c */
/** The own cells that nothing which comes from a neighbour touches, and up to six boxes of the
 * rest; returns how many of those there are. */
int halo_overlap_boxes(const halo_plan *p, meta_box *interior, meta_box boundary[2 * HALO_DIMS]);

#endif
