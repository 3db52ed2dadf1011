/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_comm.h
 *  libmeta between processes: point-to-point messages, allreduce and halo exchange of device buffers
 *  over MPI, between any two kinds of device. The rules of meta.h apply.
 *
 *  Threads: call these functions from the thread that called meta_comm_init() or meta_comm_attach(),
 *  unless MPI granted MPI_THREAD_SERIALIZED or more; from other threads they return META_ERR_STATE.
 *  Likewise, only work queued by such a thread is ordered after an exchange whose meta_halo_finish()
 *  did not block; other threads must wait for its event first.
 *
 *  Progress: messages in flight advance only inside calls of this header, meta_event_test/wait/waitall
 *  and meta_flush(). To avoid deadlock, call meta_flush() before your own MPI calls that wait for
 *  another rank. With META_PROGRESS=thread, a progress thread of the library advances them as well.
 *
 *  Timeout: with META_TIMEOUT set, a call that waits for another rank returns META_ERR_PEER, or its
 *  event gets that error, after that many seconds without a response. The message names the rank, the
 *  operation and the tag. Everything else that waits for that rank fails too; end the program with
 *  MPI_Abort(). Without META_TIMEOUT, a warning is logged after a minute, and the call keeps waiting. */
#ifndef META_COMM_H
#define META_COMM_H

#include <mpi.h>

#include "meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ life */

/** Initialize MPI (MPI_THREAD_FUNNELED) and libmeta if they are not initialized, set this process's
 *  rank in the job, and choose its device. Collective over MPI_COMM_WORLD.
 *  @p argc and @p argv are main()'s or NULL.
 *  @return the same error on every rank, with the failing rank's message, if any rank failed;
 *          META_ERR_MPI also if another MPI's launcher started the program. MPI then stays
 *          initialized, for another attempt or for meta_comm_finalize(). */
META_API meta_err meta_comm_init(int *argc, char ***argv);
/** The same over @p comm, which the library duplicates; ranks are then those of @p comm.
 *  MPI must be initialized. Collective over @p comm, once. */
META_API meta_err meta_comm_attach(MPI_Comm comm);
/** Complete all messages, or cancel them with META_ERR_STATE after META_TIMEOUT seconds; free
 *  remaining plans and the duplicated communicator; finalize libmeta and MPI if meta_comm_init()
 *  initialized them. Collective.
 *  @return the first error of untracked messages; META_ERR_PEER if a rank was given up: MPI then stays
 *          initialized, because MPI_Finalize() would wait for that rank */
META_API meta_err meta_comm_finalize(void);
/** This process's rank and the number of ranks; one of the pointers may be NULL. */
META_API meta_err meta_comm_rank(int *rank, int *size);

/* ------------------------------------------------------------------ messages */

/** Send @p count elements of device buffer @p packed to rank @p dst. Complete when @p packed may be
 *  reused, whether or not the receive is posted: the data is then in staging buffers or with MPI, and
 *  later calls and meta_flush() complete the transfer. @p tag is 0 … 32767. With MPI_PROC_NULL as rank,
 *  these functions are no-ops. */
META_API meta_err meta_packed_send(int dst, const void *packed, int64_t count, meta_type type,
                                   int tag, meta_event *done);
/** Receive exactly @p count elements of @p type from rank @p src into device buffer @p packed.
 *  @return (or as the event's error) META_ERR_MISMATCH if the sender's count or type differs: the
 *          message is consumed, nothing is written, and the error names both ends' values */
META_API meta_err meta_packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                                   meta_event *done);
/** meta_pack_face() into @p packed, then meta_packed_send() from it. */
META_API meta_err meta_pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                                 meta_type type, int tag, meta_event *done);
/** meta_packed_recv() into @p packed, then meta_unpack_face() from it. */
META_API meta_err meta_recv_unpack(int src, const meta_face *face, void *buf, void *packed,
                                   meta_type type, int tag, meta_event *done);
/** Reduce @p count elements over all ranks; every rank gets the result. @p send and @p recv are host
 *  addresses or device buffers, and may be the same. Integers wrap; if any operand is NaN, so is the
 *  result. Collective: every rank passes the same count, operation and type. Reproducible
 *  floating-point sums (meta_set_reproducible()) continue with the exact sums of those results of
 *  meta_reduce() and the like that are unchanged at @p send, and are rounded once.
 *  @return (or as the event's error) META_ERR_MISMATCH on every rank if their reproducible settings
 *          differ; @p recv is then undefined */
META_API meta_err meta_allreduce(void *recv, const void *send, int64_t count, meta_op op,
                                 meta_type type, meta_event *done);

/* ------------------------------------------------------------------ halo plans */

/** A plan for exchanging the ghost cells of some arrays of one shape; a handle, not a pointer. */
typedef struct meta_halo {
    uint32_t slot, generation;
} meta_halo;
#define META_HALO_NULL {0, 0}

typedef enum meta_halo_kind {
    META_HALO_FACES, /**< face neighbours only: for 2D5P and 3D7P */
    META_HALO_ALL    /**< also edge and corner neighbours: for 2D9P and 3D27P */
} meta_halo_kind;

typedef enum meta_halo_op {
    META_HALO_COPY, /**< copy the neighbours' owned cells to the ghost cells */
    META_HALO_ADD   /**< reverse exchange (deposition): add the ghost cells to the neighbours' owned
                         cells. The ghost cells do not change. Directions are added in a fixed order,
                         so floating-point sums do not depend on the order of arrival. */
} meta_halo_op;

/** One of several arrays with different types or layouts. */
typedef struct meta_halo_field {
    meta_type type;
    meta_box box; /**< like meta_halo_desc.box, for this array. Each extent of the owned cells equals that
                       of meta_halo_desc.box, or is one more: a staggered array, whose last owned element
                       is also the high neighbour's first one (both ranks own it). Ghost cells are
                       outside the box. META_HALO_COPY does not change a shared element; META_HALO_ADD
                       gives both ranks the sum of their values. */
} meta_halo_field;

/** Description of a halo plan. Set it to META_HALO_DESC_INIT first. */
typedef struct meta_halo_desc {
    size_t size;
    MPI_Comm cart;       /**< Cartesian communicator; its dimension d is the box's dimension d (0 is x) */
    meta_box box;        /**< this rank's owned cells in the array, ghost cells outside; 1 … 3 dimensions,
                              as many as @p cart has. Extents may differ from rank to rank. */
    int low[META_MAX_DIM];  /**< ghost width on the low side of each dimension, 0 … n */
    int high[META_MAX_DIM]; /**< ghost width on the high side; both the same on every rank */
    meta_halo_kind kind;
    int fields;          /**< number of arrays exchanged together, in one message per neighbour */
    meta_type type;
    meta_halo_op op;
    const meta_halo_field *field; /**< NULL: all arrays have @p box and @p type. Otherwise @p fields
                              elements, one per array, read before the call returns; @p type is then
                              ignored, and of @p box only the extents of the owned cells are used. */
} meta_halo_desc;
#define META_HALO_DESC_INIT                                                              \
    {sizeof(meta_halo_desc), MPI_COMM_NULL, {0, {0}, {0}, {0}}, {0}, {0}, META_HALO_FACES, 1, META_F64, \
     META_HALO_COPY, NULL}

/** Create a halo plan for arrays on this thread's device. Collective over the communicator. Neighbours
 *  verify that what one sends is what the other expects; if any two disagree, every rank gets
 *  META_ERR_MISMATCH naming them and both values. Periodicity is that of the communicator.
 *  @return META_ERR_BOUNDS for ghost cells outside the array, a box thinner than the ghost width that it
 *          sends, or arrays with other extents; META_ERR_TYPE for sums of a type that the device cannot
 *          add */
META_API meta_err meta_halo_create(meta_halo *plan, const meta_halo_desc *desc);
/** Start an exchange of @p fields, the plan's number of arrays. Their owned cells are sent after all work
 *  queued so far. Until the exchange is finished, the owned cells may be read but not written, and the
 *  ghost cells are undefined. Ghost cells without a neighbour do not change. Waits for what is still in
 *  flight of the plan's previous exchange.
 *  @return META_ERR_STATE if the plan's previous exchange is not finished */
META_API meta_err meta_halo_start(meta_halo plan, void *const *fields);
/** Finish the exchange: when it is complete, and for all work queued afterwards, the ghost cells hold the
 *  neighbours' cells. With an event or META_ASYNC the call does not wait for the neighbours; the next
 *  call that queues work on the plan's device does if necessary. @return META_ERR_STATE without a start;
 *  with META_CHECK=1 (or as the event's error) META_ERR_MISMATCH for a corrupted message: its cells are
 *  not unpacked, those of other messages are, and the plan remains usable */
META_API meta_err meta_halo_finish(meta_halo plan, meta_event *done);
/** meta_halo_start(), then meta_halo_finish(). */
META_API meta_err meta_halo_exchange(meta_halo plan, void *const *fields, meta_event *done);
/** Computation on @p box, a part of the plan's owned cells, called by meta_halo_overlap(). */
typedef meta_err meta_halo_work(const meta_box *box, void *with);
/** Overlap an exchange with computation: meta_halo_start(), @p interior on the owned cells at least a
 *  ghost width away from every neighbour (once, or not at all if there are none), meta_halo_finish(), and
 *  @p boundary on the other owned cells, in up to six disjoint boxes. Both may be the same function, and
 *  queue work (META_ASYNC) that writes other arrays. Boxes are parts of meta_halo_desc.box. A stencil
 *  whose radius does not exceed the ghost width is thus applied to every owned cell exactly once.
 *  @param done  of the exchange, as in meta_halo_finish(); META_ASYNC is the natural choice
 *  @return the first error, of the exchange or of a work; the exchange is finished in any case */
META_API meta_err meta_halo_overlap(meta_halo plan, void *const *fields, meta_halo_work *interior,
                                    meta_halo_work *boundary, void *with, meta_event *done);
/** Free the plan and set the handle to META_HALO_NULL. Collective.
 *  @return META_ERR_STATE while an exchange is not finished; META_ERR_PEER if not all ranks call it: the
 *          plan is freed anyway */
META_API meta_err meta_halo_free(meta_halo *plan);

/* ------------------------------------------------------------------ uneven devices */

/** The block decomposition of a global grid: ranks with coordinate k along dimension d of a Cartesian
 *  communicator own planes at[d][k] … at[d][k + 1] - 1. So at[d][0] is 0, and the last element is the
 *  grid's extent. The caller provides the arrays: one per dimension of the communicator, with one
 *  element more than there are ranks along it. Further pointers are ignored. */
typedef struct meta_cuts {
    int64_t *at[META_MAX_DIM];
} meta_cuts;

/** The block of @p rank of @p cart: the global index of its first cell and its extents, arrays with one
 *  element per dimension; one of them may be NULL. Local (no communication). */
META_API meta_err meta_cuts_block(const meta_cuts *cuts, MPI_Comm cart, int rank, int64_t *first,
                                  int64_t *cells);

/** The caller's kernel to be timed: queue it (META_ASYNC) or run it, once. */
typedef meta_err meta_speed_work(void *with);
/** Measure this rank's speed in cells per second. A sample calls @p work with @p with repeatedly for at
 *  least a millisecond, with a flush before and after; the result is the median of @p times samples.
 *  @p cells is the number of cells one call computes. All ranks compute until the last one has its
 *  samples, because the ranks of a node share its cores and memory bandwidth. With the warm-up, the
 *  number of calls of @p work is unspecified. Collective over @p comm.
 *  @return the first error of @p work, on every rank */
META_API meta_err meta_measure_speed(MPI_Comm comm, meta_speed_work *work, void *with, int64_t cells,
                                     int times, double *speed);

/** Input of meta_decompose(). Set it to META_DECOMPOSE_DESC_INIT first. */
typedef struct meta_decompose_desc {
    size_t size;
    MPI_Comm cart;               /**< Cartesian, 1 … 3 dimensions; dimension d is the grid's (0 is x) */
    int64_t cells[META_MAX_DIM]; /**< extents of the global grid */
    int64_t least[META_MAX_DIM]; /**< minimum number of planes per rank along each dimension, such as the
                                      ghost width; 0 means 1 */
    double speed;                /**< this rank's speed in cells per second, from meta_measure_speed() or
                                      your own; only the ratios matter */
    int64_t most;                /**< maximum number of cells for this rank; 0: no limit */
} meta_decompose_desc;
#define META_DECOMPOSE_DESC_INIT                                                         \
    {sizeof(meta_decompose_desc), MPI_COMM_NULL, {0}, {0}, 1.0, 0}

/** Balance the load: cut the grid so that the maximum over the ranks of cells / speed is as small as
 *  possible, and no rank gets more cells than its limit. Cuts go through the whole grid (rectilinear
 *  partitioning). If only one dimension has several ranks, the cuts are optimal (bisection over the
 *  time). Otherwise the problem is NP-hard (Beaumont, Boudet, Rastello and Robert, IEEE Trans.
 *  Computers 50, 2001), and the result is a local optimum: starting from even cuts, and from cuts by the
 *  sums of the speeds, each dimension in turn is cut optimally for the other dimensions' cuts until
 *  nothing improves (as Nicol, J. Parallel Distrib. Comput. 23, 1994, does for uneven cells). The better
 *  one is returned. Collective, with the same cuts on every rank; memory per rank grows with the extents
 *  of the process grid, not with the number of ranks.
 *  @param cuts     receives the cuts in its arrays
 *  @param seconds  NULL, or receives the time of the slowest rank
 *  @return META_ERR_ARGUMENT if there are fewer planes than the ranks need, or a speed is not positive
 *          and finite; META_ERR_NO_MEMORY if the grid exceeds the ranks' limits, both with the numbers;
 *          META_ERR_MISMATCH if ranks disagree on the grid. The same error on every rank */
META_API meta_err meta_decompose(const meta_cuts *cuts, const meta_decompose_desc *desc,
                                 double *seconds);

/** Propose new cuts to replace @p now, from the time this rank took for a step on its block:
 *  @p seconds, computation only, without waiting for other ranks. desc->speed is ignored. The proposal
 *  equals @p now if nothing better is found. Redistribute only if the remaining steps gain more than
 *  the move costs; a predicted gain of a few per cent is measurement noise. Collective.
 *  @param next    receives the proposal in its arrays, which must not be those of @p now
 *  @param before  NULL, or receives the measured time of the slowest rank
 *  @param after   NULL, or receives the predicted time of the slowest rank, at unchanged speeds
 *  @return as meta_decompose() */
META_API meta_err meta_rebalance(const meta_cuts *next, const meta_cuts *now,
                                 const meta_decompose_desc *desc, double seconds, double *before,
                                 double *after);

/** A distributed array over the global grid, one block per rank. */
typedef struct meta_redistribute_field {
    meta_type type;
    const void *from;  /**< source: this rank's block before, a device buffer on any device */
    meta_box from_box; /**< the owned cells in @p from: the block's extents or, for staggered arrays, one
                            more in any dimension (see meta_halo_field.box), the same on every rank */
    void *to;          /**< destination: this rank's block after; a different buffer, on any device */
    meta_box to_box;   /**< the owned cells in @p to */
} meta_redistribute_field;
/** Move the owned cells of @p fields arrays from the blocks of @p before to the blocks of @p after.
 *  Cells outside the boxes do not change: exchange the halo afterwards. Work already queued is completed
 *  first; the move is complete on return. Arrays are moved one at a time, each with temporary host and
 *  device buffers for the cells that this rank sends and receives. Collective.
 *  @return META_ERR_MISMATCH if ranks disagree on cuts, number or types of the fields, META_ERR_BOUNDS
 *          if a box does not match its block; the same on every rank, and nothing is written. After
 *          META_ERR_NO_MEMORY, _DEVICE or _MPI the contents of the new arrays are undefined */
META_API meta_err meta_redistribute(MPI_Comm cart, const meta_cuts *before, const meta_cuts *after,
                                    int fields, const meta_redistribute_field *field);

/* ------------------------------------------------------------------ traffic */

/** Transport of a halo message. */
typedef enum meta_path {
    META_PATH_SELF,   /**< within this rank: a copy on its device, without MPI */
    META_PATH_SHARED, /**< to a rank on this node, packed into and unpacked from a shared-memory window */
    META_PATH_HOST,   /**< packed in host memory, which is passed to MPI */
    META_PATH_STAGED, /**< device memory through pinned staging buffers on the host, pipelined in chunks */
    META_PATH_DIRECT, /**< device memory passed to MPI (GPU-aware MPI) */
    META_PATH_COUNT
} meta_path;

/** Messages and bytes of all halo plans since meta_comm_init(). Set it to META_TRAFFIC_INIT first. */
typedef struct meta_traffic {
    size_t size;
    uint64_t messages_sent[META_PATH_COUNT], bytes_sent[META_PATH_COUNT];
    uint64_t messages_received[META_PATH_COUNT], bytes_received[META_PATH_COUNT];
} meta_traffic;
#define META_TRAFFIC_INIT {sizeof(meta_traffic), {0}, {0}, {0}, {0}}

/** This rank's traffic. Paths are those of this rank's end of a message; the other end may differ. */
META_API meta_err meta_comm_traffic(meta_traffic *traffic);
/** The name of @p path, such as "shared"; a constant string, never NULL. */
META_API const char *meta_path_name(meta_path path);

#ifdef __cplusplus
}
#endif
#endif
