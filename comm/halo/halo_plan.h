/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_plan.h
 *  A halo plan: what its exchanges have in common. Nothing in it but its last section changes after
 *  its creation, and nothing depends on the device that an exchange's arrays are on. */
#ifndef META_COMM_HALO_PLAN_H
#define META_COMM_HALO_PLAN_H

#include "gpu/gpu_mpi.h"
#include "node/node.h"
#include "p2p/p2p.h"
#include "record/comm_record.h"

enum {
    HALO_DIMS = 3,
    HALO_DIRS = 27,
    HALO_TEXT = 16,
    HALO_SLOTS = 2, /**< exchanges whose messages a window holds */
    /* A message's tag is its direction as the sender sees it, behind one of these. */
    HALO_TAG_DATA = 0,             /**< in an exchange, or a comparison's first message */
    HALO_TAG_ARRAYS = HALO_DIRS,   /**< a comparison's second message */
    HALO_TAG_SEAL = 2 * HALO_DIRS, /**< checksums */
    HALO_TAGS = 3 * HALO_DIRS,     /**< of a plan */
    HALO_ALIGN = 64                /**< bytes: where each message begins in its buffer */
};

/** One array of a plan. */
typedef struct halo_field {
    char name[32]; /**< for error messages of an exchange; formatted once */
    meta_type type;
    size_t element; /**< bytes */
    meta_box box;
    int axis[HALO_DIMS];    /**< which dimension of the box is the communicator's; others: batch */
    int stagger[HALO_DIMS]; /**< 1: one more own element along this dimension */
    int64_t count;          /**< elements of the array */
} halo_field;

/** How a message travels. */
typedef enum halo_route {
    HALO_ROUTE_SELF,   /**< this rank is its own neighbour: no message, but kernels */
    HALO_ROUTE_SHARED, /**< through the window in shared memory */
    HALO_ROUTE_MPI
} halo_route;

/** What a plan does in one direction. A direction has one of -1, 0, 1 for each dimension, and the
 *  number sum (offset[d] + 1) * 3^d; the opposite one is that many from the other end. */
typedef struct halo_link {
    int offset[HALO_DIMS];
    int peer;  /**< the neighbour's rank in the plan's communicator, or MPI_PROC_NULL */
    bool used; /**< the plan exchanges something in this direction */
    int world; /**< the peer's rank in the job; negative: none */
    bool near; /**< memory can be shared with it */
    halo_route out, in;
    size_t send_bytes, recv_bytes; /**< of all fields, 0 where nothing is sent that way */
    size_t send_at, recv_at;       /**< offset among the messages of the same route */
    size_t send_chunk, recv_chunk; /**< bytes of one MPI message */
    int first_kernel, kernels;     /**< of the plan's: what is done with what is received */
    bool sealed;                   /**< messages are accompanied by a checksum: halo_seal.c */
    uint64_t pair_plan_id;     /**< for traces: number of this plan among those both ranks share */
    size_t peer_at, peer_slot; /**< of the peer's window: where its message lies, a slot's bytes */
    comm_memory_name peer_window; /**< and its name */
} halo_link;

/** An MPI message. */
typedef struct halo_part {
    int dir;
    size_t at, bytes; /**< in the buffer */
    bool seal;        /**< the checksums of the message before it, which is not in the buffer */
} halo_part;

/** A kernel of every exchange, on one array. The other operand is a part of a message. */
typedef enum halo_kernel_kind {
    HALO_PACK,
    HALO_UNPACK,
    HALO_ADD,
    HALO_COPY /**< within the array: without a message */
} halo_kernel_kind;
typedef struct halo_kernel {
    halo_kernel_kind kind;
    int field;
    meta_face face; /**< of the array */
    meta_face from; /**< HALO_COPY: the elements that are copied there */
    int dir;        /**< of the message */
    bool sent;      /**< it is one of those that are sent */
    size_t at;      /**< offset in it */
} halo_kernel;

/** A device and how its memory is reached. */
typedef struct halo_device {
    meta_device *device;
    bool host;     /**< its memory is the host's */
    bool direct;   /**< MPI takes its memory */
    bool pageable; /**< its copies take host memory that is not page-locked */
} halo_device;

/** The part of a communicator that a plan has for itself: a range of tags. */
typedef struct halo_family halo_family; /* halo_family.c */
typedef struct halo_place {
    MPI_Comm comm; /**< a duplicate of the program's, shared with other plans */
    int first_tag; /**< of HALO_TAGS */
    halo_family *family;
    int range;
} halo_place;

typedef struct halo_window halo_window; /* halo_window.c */
typedef struct halo_exchange halo_exchange;

typedef struct halo_plan {
    uint32_t slot;
    uint64_t made; /**< grows from plan to plan: ranks share the order of those that they share */
    halo_place place;
    int rank;         /**< in place.comm */
    halo_device home; /**< of the thread that made the plan: decides chunks and routes */

    /* geometry: halo_plan.c; dimensions are the communicator's unless they are a box's */
    int dims, dirs, fields;
    meta_box box;
    int axis[HALO_DIMS]; /**< as halo_field.axis */
    int low[HALO_DIMS], high[HALO_DIMS];
    meta_halo_kind kind;
    meta_halo_op op;
    halo_field *field;
    halo_link link[HALO_DIRS];

    /* messages: halo_path.c, halo_window.c */
    size_t send_bytes, recv_bytes; /**< of all that MPI sends and receives */
    size_t slot_bytes;             /**< of all that is sent through the window */
    size_t taken_bytes;            /**< and of all that comes through it */
    size_t own_bytes;              /**< of what is added within this rank */
    halo_window *window;
    halo_part *send_part, *recv_part;
    int sends, recvs; /**< MPI messages */
    int seals;        /**< of the sends; like those of the receives they come last */

    /* kernels: halo_moves.c */
    halo_kernel *kernel; /**< those of the beginning, then those of each direction */
    int start_kernels, kernels;

    /* its exchanges: halo_exchange.c, halo_pool.c */
    halo_exchange *exchanges; /**< all that were made, under way or not */
    meta_exchange last;       /**< begun by meta_halo_start() */
    uint64_t number;          /**< of exchanges begun */
    bool met;                 /**< all ranks know their neighbours */
    bool broken; /**< an exchange failed, and the neighbours may be in the middle of theirs */
    bool lost;   /**< a peer does not answer: collective calls are skipped */
    char text[COMM_TEXT]; /**< why */
} halo_plan;

/** The name of a direction, as "+x-y". */
void halo_dir_name(const halo_plan *p, int dir, char name[HALO_TEXT]);
/** Whether another rank lies in direction @p dir, whether or not anything is exchanged with it. */
bool halo_has_neighbour(const halo_plan *p, int dir);
/** The tag of a message of kind @p kind, HALO_TAG_…, which its sender sends in direction @p dir. */
static inline int halo_tag(const halo_plan *p, int kind, int dir)
{
    return p->place.first_tag + kind + dir;
}

/* halo_family.c */
/** A place among the plans of the program's communicator @p of, the same on every rank. Collective,
 *  one outcome for all; also the ranks' comparison, now and then, of which places are free. */
meta_err halo_place_take(MPI_Comm of, halo_place *place);
/** How a plan leaves it. */
typedef enum halo_leaving {
    HALO_LEFT_CLEAN,   /**< nothing failed: it is used again */
    HALO_LEFT_DRAINED, /**< messages were received, but a request may still be MPI's */
    HALO_LEFT_DIRTY    /**< messages may be under way: the communicator is not freed either */
} halo_leaving;
void halo_place_leave(const halo_place *place, halo_leaving how);
/** All plans are gone. Collective, unless a rank was lost. */
void halo_families_drop(void);

/* halo_plan.c */
/** Everything about the plan that this rank can tell alone. */
meta_err halo_plan_fill(halo_plan *p, const meta_halo_desc *desc);
/** How the memory of @p device is reached. */
meta_err halo_device_find(meta_device *device, halo_device *found);
/** META_ERR_TYPE where @p device cannot add elements of @p type, which argument @p name asks for.
 */
meta_err halo_check_sums(const meta_device *device, meta_type type, const char *name);
/** The elements of field @p k that are sent in direction @p dir, or if not @p sent those that are
 *  received from there; their number. */
int64_t halo_face(const halo_plan *p, int dir, int k, bool sent, meta_face *face);
/** Bytes of a message, with each field at a multiple of eight; @p at (may be NULL): of field @p k.
 */
size_t halo_message_bytes(const halo_plan *p, int dir, bool sent, int k, size_t *at);

/* halo_path.c */
/** Find the neighbours in the job, and which of them are on this node. */
meta_err halo_ranks_find(halo_plan *p);
/** Choose the route of every message this rank sends; @p shared: shared memory where possible. */
void halo_routes_choose(halo_plan *p, bool shared);
/** Lay the messages out in the buffers and in the window. */
void halo_messages_place(halo_plan *p);
/** Cut what MPI carries into messages. */
meta_err halo_parts_make(halo_plan *p);
/** The path that messages of @p route take from or to arrays on a device. */
meta_path halo_path_of(const halo_device *on, halo_route route);
/** Log the paths of all messages. */
void halo_paths_report(const halo_plan *p);

/* halo_moves.c */
/** The kernels of all exchanges. */
meta_err halo_kernels_make(halo_plan *p);

/* halo_verify.c */
/** Compare with every neighbour, and learn the route of what each sends. */
meta_err halo_plan_verify(halo_plan *p);

/* halo_window.c */
/** Make this rank's part of the window, if anything may go through it. */
meta_err halo_window_make(halo_plan *p);
/** Its name for neighbours. */
comm_memory_name halo_window_name(const halo_plan *p);
/** Open the parts of those neighbours that are exchanged with through it. */
meta_err halo_window_open(halo_plan *p);
/** Every neighbour has opened this rank's. */
void halo_window_seal(halo_plan *p);
void halo_window_free(halo_plan *p);
/* Exchange @p number has its messages in slot number % HALO_SLOTS, where it finds the checksums
 * that go with them, and the marks by which each end of a message tells the other that it is there
 * and that it was taken. */
/** This rank's slot, from @p at on, or where the peer in direction @p dir leaves what it sends. */
char *halo_window_mine(const halo_plan *p, uint64_t number, size_t at);
char *halo_window_theirs(const halo_plan *p, uint64_t number, int dir);
/** Whether the peer has taken what was sent before from this slot in direction @p dir. */
bool halo_window_free_to_fill(const halo_plan *p, uint64_t number, int dir);
void halo_window_fill(const halo_plan *p, uint64_t number, int dir);
/** Whether the peer has filled its slot with what comes from direction @p dir. */
bool halo_window_filled(const halo_plan *p, uint64_t number, int dir);
void halo_window_take(const halo_plan *p, uint64_t number, int dir);
/** Put the checksum of what is sent before the slot is filled; get it before it is taken. */
void halo_window_put_checksum(const halo_plan *p, uint64_t number, int dir, uint32_t sum);
uint32_t halo_window_get_checksum(const halo_plan *p, uint64_t number, int dir);

/* halo_drain.c */
/** Take in what neighbours have sent and this rank has not received, so that no later plan with
 *  these tags meets it. Every neighbour does the same. @p made: all ranks have made the plan.
 *  @return META_ERR_PEER if one does not in time */
meta_err halo_drain(const halo_plan *p, bool made, comm_drained *what);

/* halo_overlap.c */
/** The own cells that nothing received from a neighbour touches, and up to six boxes of the rest;
 *  returns how many of those there are. */
int halo_overlap_boxes(const halo_plan *p, meta_box *interior, meta_box boundary[2 * HALO_DIMS]);

/* halo_record.c: META_PROFILE=trace */
/** A plan has been made. */
void halo_record_plan(halo_plan *p);
/** All plans are gone. */
void halo_record_forget(void);

#endif
