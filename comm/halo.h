/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.h
 *  A halo plan, as the files that build, check and run it share it. */
#ifndef META_COMM_HALO_H
#define META_COMM_HALO_H

#include "comm.h"

enum { HALO_DIMS = 3, HALO_WAYS = 27, HALO_TEXT = 16 };

/** What a plan does in one direction. A direction has one of -1, 0, 1 for each dimension, and the
 *  number sum (way[d] + 1) * 3^d; the opposite one is that many from the other end. */
typedef struct halo_link {
    int way[HALO_DIMS];
    int peer; /**< the rank that way in the plan's communicator; MPI_PROC_NULL where there is none
               */
    /** Of one field: own cells that the peer needs, and ghosts that the peer fills; of no elements
     *  where nothing goes that way. */
    meta_face send, recv;
    int64_t send_count, recv_count; /**< elements of them */
    size_t send_at, recv_at;        /**< where the fields' cells lie in the buffers, in bytes */
    size_t send_bytes, recv_bytes;
    size_t first_unpack; /**< in the plan's list of calls, one for each field */
    meta_pending upload, unpack;
} halo_link;

typedef enum halo_state {
    HALO_IDLE,
    HALO_STARTED,  /**< meta_halo_finish() has not been called */
    HALO_FINISHING /**< it has, but not everything is complete */
} halo_state;

typedef struct halo_plan halo_plan;
struct halo_plan {
    halo_plan *next; /**< in the list of those that are not idle */
    uint32_t slot;

    /* what it is; settled by halo_plan.c */
    MPI_Comm cart; /**< a duplicate of its own */
    int rank;      /**< in cart */
    meta_device *device;
    int dims, ways, fields;
    meta_box box;
    int low[HALO_DIMS], high[HALO_DIMS];
    meta_halo_kind kind;
    meta_type type;
    size_t element;      /**< bytes */
    int64_t field_count; /**< elements of one array */
    halo_link link[HALO_WAYS];

    /* what it has; halo_buffer.c */
    size_t send_bytes, recv_bytes;
    void *send_buffer, *recv_buffer; /**< on the device */
    meta_span send_span, recv_span;
    void *send_staging, *recv_staging; /**< on the host, where the device is not */
    MPI_Request send[HALO_WAYS], recv[HALO_WAYS];
    int recv_way[HALO_WAYS]; /**< the direction of each */
    int sends, recvs;
    meta_span *field;
    const void **held; /**< the fields of the exchange under way */
    meta_call *calls;  /**< of the start: packing, and copies within this rank */
    meta_call *unpacks;
    size_t call_count;

    /* the exchange; halo_exchange.c */
    halo_state state;
    meta_pending pack, download;
    bool packing; /**< the send buffer is being filled */
    bool sending; /**< MPI has it */
    int expected; /**< messages still to come */
    bool ordered; /**< everything is queued, and in front of whatever is queued next */
    bool done;    /**< the caller knows how it ended */
    bool idle;    /**< nothing is under way: the next exchange can begin */
    bool broken;  /**< an exchange failed, and the neighbours may be in the middle of theirs */
    meta_event event;
    bool tracked, waited;
    meta_err status;
    char text[COMM_TEXT];
};

/** The name of a direction, as "+x-y". */
void halo_way_name(const halo_plan *p, int way, char name[HALO_TEXT]);

/* halo_plan.c */
/** Everything about the plan that this rank can tell alone. */
meta_err halo_plan_fill(halo_plan *p, const meta_halo_desc *desc);

/* halo_verify.c */
/** Compare with every neighbour. */
meta_err halo_plan_verify(const halo_plan *p);

/* halo_buffer.c */
meta_err halo_plan_allocate(halo_plan *p);
/** Give back what halo_plan_allocate() took, as far as it came. */
void halo_plan_release(halo_plan *p);
/** Memory that MPI may read or write for the span's part at @p at. */
char *halo_send_memory(const halo_plan *p, size_t at);
char *halo_recv_memory(const halo_plan *p, size_t at);
/** The part of @p span that begins @p at bytes further. */
meta_span halo_part(const meta_span *span, size_t at);

/* halo_exchange.c */
meta_err halo_start(halo_plan *p, void *const *fields);
meta_err halo_finish(halo_plan *p, meta_event *done);
/** Wait until the plan's last exchange is over. */
void halo_wait_idle(halo_plan *p);
/** End an exchange that is under way, without its neighbours. */
void halo_end(halo_plan *p);

/* halo_fields.c */
/** The arrays of one exchange: live, on the plan's device, large enough, and apart. */
meta_err halo_fields_resolve(halo_plan *p, void *const *fields);
/** The kernel calls of an exchange of them. */
meta_err halo_fields_calls(halo_plan *p);

#endif
