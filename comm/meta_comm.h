/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_comm.h
 *  libmeta between processes: messages and halo exchange of device buffers over MPI, whatever kind
 * of device is at either end. The rules of meta.h hold here as well.
 *
 *  These functions are called from the thread that called meta_comm_init() or meta_comm_attach(),
 *  unless MPI granted MPI_THREAD_SERIALIZED or more; from another one they return META_ERR_STATE.
 *  Likewise only such a thread's work is ordered behind an exchange whose meta_halo_finish() did
 * not block; other threads wait for its event first.
 *
 *  Progress: messages in flight advance only inside calls of this header, meta_event_test/wait/waitall
 *  and meta_flush(). To avoid deadlock, call meta_flush() before your own MPI calls that wait for
 *  another rank. With META_PROGRESS=thread, a progress thread of the library advances them as well.
 *
 *  With META_TIMEOUT set, any of these calls that waits for another rank returns META_ERR_PEER,
 *  or its event has that error, after that many seconds without an answer, whatever else moves
 *  meanwhile: so it must exceed the longest time for which a rank computes, compiles kernels for
 *  its device, reads or writes files or starts, while another one waits for it. (A rank of the
 *  same node that compiles by way of the cache is seen to: the time begins when it has done so.
 *  Time in which the rank that waits was itself stopped or not scheduled hardly counts.)
 *  A rank of the same node that has ended is noticed within a second. The error names the rank,
 *  what was waited for and the tag; where all ranks take part, those of this node that have ended
 *  or do not wait in libmeta. Afterwards messages with that rank and all collective calls fail at
 *  once; end the program with MPI_Abort(). Without META_TIMEOUT a warning says the same after a
 *  minute, and the call goes on waiting.
 *
 *  A wrong argument on one rank of meta_halo_create(), meta_measure_speed(), meta_decompose(),
 *  meta_rebalance(), meta_balance() or meta_redistribute() is the same error on every rank, which names that one. Others
 *  cannot be told where the argument leaves no communicator that they have too: a description that is
 *  NULL or has no size, MPI_COMM_NULL, or one without a Cartesian topology. Then, and in all other
 *  functions, that rank alone has the error, at once; the others wait until it calls as it should, or
 *  for META_TIMEOUT.
 *
 *  MPI_Init_thread() and MPI_Finalize(), which meta_comm_init() and meta_comm_finalize() call, return no
 *  error where a rank does not come. After META_TIMEOUT seconds in one of them a warning says so, and
 *  with META_TIMEOUT_ABORT=on the process ends by _exit(1): the only case in which libmeta ends a
 *  process. An MPI may end it: MPICH with UCX does where a rank ends while another one reads a large
 *  message from its memory ("process_vm_readv"). UCX_TLS=^cma avoids that, and makes such messages
 *  slower. */
#ifndef META_COMM_H
#define META_COMM_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

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
 *          META_ERR_MPI also if another MPI's launcher started the program, or if it is linked to
 *          another MPI than libmeta_comm as well. MPI then stays
 *          initialized, for another attempt or for meta_comm_finalize(). META_ERR_STATE in a process
 *          with more rights than its user (doc/security.md) if MPI is not initialized yet. */
META_API meta_err meta_comm_init(int *argc, char ***argv);
/** Initialize libmeta as meta_comm_init() does, over @p comm, which the library duplicates; ranks are
 *  then those of @p comm.
 *  MPI must be initialized. Collective over @p comm, once. */
META_API meta_err meta_comm_attach(MPI_Comm comm);
/** Complete all messages, or cancel receives that nothing is sent to with META_ERR_STATE after
 *  META_TIMEOUT seconds, 10 where it is not set; complete files that are being written; free
 *  remaining plans and the duplicated communicator; finalize libmeta and MPI if meta_comm_init()
 *  initialized them. Collective. In a program that calls MPI_Finalize() first this is done there, but
 *  for libmeta's end, with a warning: META_ERR_INIT is returned here then. With META_PROGRESS=thread
 *  no message may be under way in that call: the progress thread would be in MPI at the same time.
 *  @return the first error of untracked messages; META_ERR_PEER if a rank was given up: MPI then stays
 *          initialized, because MPI_Finalize() would wait for that rank; META_ERR_STATE in a function
 *          that the library called */
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
 *  @return META_ERR_MISMATCH, or as the event's error, if the sender's count or type differs: the
 *          message is consumed, nothing is written, and the error names both ends' values */
META_API meta_err meta_packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                                   meta_event *done);
/** meta_pack_face() into @p packed, then meta_packed_send() from it. */
META_API meta_err meta_pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                                 meta_type type, int tag, meta_event *done);
/** meta_packed_recv() into @p packed, then meta_unpack_face() from it. */
META_API meta_err meta_recv_unpack(int src, const meta_face *face, void *buf, void *packed,
                                   meta_type type, int tag, meta_event *done);
/** Combine @p count elements over all ranks; every rank gets the result. @p send and @p recv are
 * host addresses or device buffers, and may be the same. Integers wrap, a NaN wins. Collective:
 *  every rank calls with the same count, operation and type. Sums of floating numbers that are
 *  reproducible (meta_set_reproducible()) go on with the exact sums behind the results of
 * meta_reduce() and the like that still lie at @p send, and are rounded once. Device memory passes
 * through a few MiB of host memory; with an event or META_ASYNC through as much as it has itself.
 *  @return META_ERR_MISMATCH, or as the event's error, on every rank where some want them
 * reproducible and others do not; @p recv then holds anything */
META_API meta_err meta_allreduce(void *recv, const void *send, int64_t count, meta_op op,
                                 meta_type type, meta_event *done);

/* ------------------------------------------------------------------ halo plans */

/** A plan for exchanging the ghost cells of some arrays of one shape; a handle, not a pointer. */
typedef struct meta_halo {
    uint32_t slot;       /**< the library's */
    uint32_t generation; /**< the library's */
} meta_halo;
/** A handle of no plan. */
#define META_HALO_NULL                                                                             \
    {                                                                                              \
        0, 0                                                                                       \
    }

/** The neighbours with which a plan exchanges. */
typedef enum meta_halo_kind {
    META_HALO_FACES, /**< face neighbours only: for 2D5P and 3D7P */
    META_HALO_ALL    /**< also edge and corner neighbours: for 2D9P and 3D27P */
} meta_halo_kind;

/** What becomes of ghost cells and the cells that they stand for. */
typedef enum meta_halo_op {
    META_HALO_COPY, /**< ghosts become what the neighbours' own cells hold */
    META_HALO_ADD   /**< what ghosts hold is added to the neighbours' own cells: deposition. The
                       ghosts stay as they are. Directions are added one after the other in a fixed
                       order, so floating sums do not depend on which message comes first. */
} meta_halo_op;

/** One of several arrays with different types or layouts, such as those of a family of grids:
 *
 *      const meta_halo_field list[] = {{f[0].type, f[0].box}, {f[1].type, f[1].box}};
 *      meta_halo_desc desc = META_HALO_DESC(cart, box, 1, META_HALO_FACES, 2, META_F64);
 *      desc.field = list; // desc.box is that of the cells
 */
typedef struct meta_halo_field {
    meta_type type; /**< of its elements */
    meta_box box; /**< as meta_halo_desc.box, in this array: that of a grid, such as meta_grid_field.box. In each dimension of the communicator its
                     own cells are as many as that one's, or one more: a staggered array, whose last
                     own element is the high neighbour's first one (both own it), and whose ghosts lie
                     beyond it. META_HALO_COPY leaves such a shared element as it is; META_HALO_ADD
                     gives both ranks the sum of what they had. A batch is this array's own: of any
                     extents, whatever those of other arrays, or none. */
} meta_halo_field;

/** Description of a halo plan. Set it to META_HALO_DESC_INIT first.
 *
 *  Batches: a box may have more dimensions than the communicator, as u(x, y, z, species) has. All
 *  own elements along such a dimension travel, in the same message; it has no ghosts and no
 *  neighbours. Those dimensions come last, unless `batch` says which ones they are. */
typedef struct meta_halo_desc {
    size_t size;   /**< of this structure */
    MPI_Comm cart; /**< Cartesian, 1 … 3 dimensions; its dimension d is the box's dimension d (0 is x),
                        or, with `batch`, the d-th of those that are none */
    meta_box box;  /**< this rank's own cells in the array, ghosts outside. A plan goes by the boxes that it was made
                        with: a grid of other extents is META_ERR_ARGUMENT (see meta_box). At least as many
                        dimensions as @p cart has. Extents may differ from rank to rank, where they
                        are the same along each side that two ranks share; a batch's may not. */
    int low[META_MAX_DIM];  /**< ghost cells at the low side of each dimension of the box, 0 … n;
                                 0 along a batch (META_HALO_DESC() sets three elements) */
    int high[META_MAX_DIM]; /**< and at the high side; the same on every rank */
    meta_halo_kind kind; /**< which neighbours take part */
    int fields;          /**< how many arrays travel together, in one message per neighbour */
    meta_type type;      /**< of their elements */
    meta_halo_op op;     /**< copy, or add */
    const meta_halo_field *field; /**< NULL: all arrays have @p box and @p type. Else what each of
                              them is, @p fields elements, read before the call returns; @p type
                              then means nothing, and of @p box the own extents alone do. */
    uint32_t batch; /**< 0: dimensions beyond the communicator's are a batch. Else bit d is 1 where
                         dimension d of a box is one, as 1 for u(species, x, y, z); what is left
                         beyond the communicator's is one too. Of no meaning for a box with as many
                         dimensions as the communicator. */
} meta_halo_desc;
/** Start value of a meta_halo_desc: one array of META_F64, without ghosts. */
#define META_HALO_DESC_INIT                                                              \
    {sizeof(meta_halo_desc), MPI_COMM_NULL, {0, {0}, {0}, {0}}, {0}, {0}, META_HALO_FACES, 1, META_F64, \
     META_HALO_COPY, NULL, 0}
/** Start value for the usual case: @p FIELDS arrays of one type that have @p WIDTH ghost cells on every
 *  side of the own cells @p BOX, as in `meta_halo_desc d = META_HALO_DESC(cart, box, 1, META_HALO_FACES, 2,
 *  META_F64);` in a function. Members may be changed afterwards: low and high of a batch that is one of
 *  the first three dimensions must be. */
#define META_HALO_DESC(CART, BOX, WIDTH, KIND, FIELDS, TYPE)                             \
    {sizeof(meta_halo_desc), CART, BOX, {WIDTH, WIDTH, WIDTH}, {WIDTH, WIDTH, WIDTH}, KIND, FIELDS, \
     TYPE, META_HALO_COPY, NULL, 0}

/** Build a plan for exchanging ghost cells. An exchange's arrays may be on any device, all of them on one: this thread's device
 *  decides how messages travel, and the memory for its exchanges is allocated now. Collective over the
 *  communicator; neighbours compare what they will send with what is expected, and if any two disagree every rank gets
 *  META_ERR_MISMATCH naming them and both values. Periodicity is the communicator's.
 *  @return META_ERR_ARGUMENT for a box of fewer dimensions than the communicator, or with ghosts along a
 *  batch; META_ERR_BOUNDS for ghosts outside the array, a box thinner than what it sends or arrays
 * of other extents; META_ERR_TYPE for sums of a type that the device cannot add; META_ERR_MPI where MPI refuses to
 * duplicate the communicator, which is done for the first of its plans and once in some thousand more */
META_API meta_err meta_halo_create(meta_halo *plan, const meta_halo_desc *desc);
/** Begin an exchange of the plan's number of arrays: their own cells are sent as all work queued so
 *  far leaves them. Until the exchange is finished the arrays' own cells may be read, not written,
 *  and their ghosts hold anything. Ghosts towards no neighbour stay as they are. Waits for what the
 *  plan's last exchange still has under way after its finish.
 *  @return META_ERR_STATE if the plan's last exchange is not finished; META_ERR_WRONG_DEVICE for arrays
 *          on two devices */
META_API meta_err meta_halo_start(meta_halo plan, void *const *fields);
/** Finish the exchange that meta_halo_start() began: when complete, and for all work queued afterwards, the ghosts hold the neighbours'
 *  cells. With an event or META_ASYNC it does not wait for the neighbours; the next call that uses
 *  the arrays does where it must. Kernels of the program's own are ordered behind the ghosts only by a
 *  completed event or by NULL. @return META_ERR_STATE without a start;
 *  with META_CHECK=on, or as the event's error, META_ERR_MISMATCH for a message that did not come as it
 *  was sent: its cells are left out, those of others are there, and the plan goes on */
META_API meta_err meta_halo_finish(meta_halo plan, meta_event *done);
/** An exchange of a plan between meta_halo_begin() and meta_halo_end(); a handle, not a pointer. */
typedef struct meta_exchange {
    uint32_t slot;       /**< the library's */
    uint32_t generation; /**< the library's */
} meta_exchange;
/** A handle of no exchange. */
#define META_EXCHANGE_NULL {0, 0}
/** meta_halo_start() for a plan of which several exchanges are under way at once, of different arrays.
 *  Every rank begins the exchanges of a plan in the same order; they may be ended in any order, another
 *  one on each rank, and go on meanwhile. Does not wait for the plan's other exchanges, but as
 *  meta_halo_start() does for ended ones of the same arrays. The plan keeps buffers for as many
 *  exchanges as ever were under way at once with arrays on one device: the first time allocates.
 *  @param exchange  receives the handle, on success
 *  @return as meta_halo_start(), which needs no exchange to be ended; META_ERR_NO_MEMORY */
META_API meta_err meta_halo_begin(meta_halo plan, void *const *fields, meta_exchange *exchange);
/** meta_halo_finish() for one exchange; sets the handle to META_EXCHANGE_NULL.
 *  @return META_ERR_HANDLE where it was ended before; the errors of meta_halo_finish(). Where one
 *          exchange fails (META_ERR_MISMATCH with META_CHECK=on is none), so do those of the plan that
 *          were begun after it */
META_API meta_err meta_halo_end(meta_exchange *exchange, meta_event *done);
/** Exchange the ghost cells of the plan's number of arrays: meta_halo_start() and meta_halo_finish() by
 *  one call.
 *  @return their errors */
META_API meta_err meta_halo_exchange(meta_halo plan, void *const *fields, meta_event *done);
/** Computation on @p box, a part of the plan's owned cells, called by meta_halo_overlap(). What it
 *  returns becomes that call's error; its message is that of the call of libmeta that failed in it.
 */
typedef meta_err meta_halo_work(const meta_box *box, void *with);
/** An exchange beside computation, by one call: meta_halo_start(), @p interior on the own cells that lie
 *  no nearer to a neighbour than its ghosts are wide (once, and not at all where there are none),
 *  meta_halo_finish(), and @p boundary on the rest of the own cells, in up to six boxes that do not
 *  overlap. The two may be the same function, and queue work (META_ASYNC) that writes other arrays.
 *  Boxes are parts of meta_halo_desc.box, and have all of its batch. A stencil that reaches no
 *  further than the ghosts are wide is so applied to every own cell once.
 *  @param done  of the exchange, as in meta_halo_finish(). With META_ASYNC or an event, @p boundary is
 *               called before the ghosts are there. Operations of the library that it queues and that use
 *               the exchange's arrays are ordered behind the ghosts, and so are all later ones. Kernels of
 *               the program's own (meta_get_state(), meta_native(), loops on the host) are not: the library
 *               does not see them, and they compute with old ghosts, without an error. Pass NULL for
 *               those, or let @p boundary wait for the event first.
 *  @return the first error, of the exchange or of a work; the exchange is finished in any case. Where a work
 *          fails and @p done is an event, that is not set, and the exchange goes on as with META_ASYNC */
META_API meta_err meta_halo_overlap(meta_halo plan, void *const *fields, meta_halo_work *interior,
                                    meta_halo_work *boundary, void *with, meta_event *done);
/** Free the plan and set it to META_HALO_NULL. Collective, but waits only for neighbours. Messages of an exchange that
 *  only a neighbour began are received and dropped, with a warning.
 *  @return META_ERR_STATE while an exchange is not finished or ended; META_ERR_PEER where a neighbour does not come:
 *          the plan is freed all the same */
META_API meta_err meta_halo_free(meta_halo *plan);

/* ------------------------------------------------------------------ uneven devices */

/** Where a global grid is cut into blocks: the ranks whose coordinate along dimension d of a
 * Cartesian communicator is k hold its planes at[d][k] … at[d][k + 1] - 1. So at[d][0] is 0, and
 * the last element the grid's extent. The arrays are the caller's: one for each dimension of the
 * communicator, of an element more than there are ranks along it. Further pointers mean nothing. */
typedef struct meta_cuts {
    int64_t *at[META_MAX_DIM]; /**< for each dimension, the first planes of its blocks and the end */
} meta_cuts;

/** The block of @p rank of @p cart: the global index of its first cell and its extents, each an
 * array of an element a dimension; either may be NULL, not both. Asks no other rank. */
META_API meta_err meta_cuts_block(const meta_cuts *cuts, MPI_Comm cart, int rank, int64_t *first,
                                  int64_t *cells);

/** The caller's kernel to be timed: queue it (META_ASYNC) or run it, once. */
typedef meta_err meta_speed_work(void *with);
/** How fast this rank computes, in cells a second: @p work is called with @p with, a flush before
 * and behind, as often as takes a millisecond or more; the median of @p times such samples counts.
 * @p cells is what one call computes. All ranks compute until the last one has its samples, because
 * ranks of a node share its cores and its memory. Warms up first; @p work is so called any number
 * of times. Collective over @p comm.
 *  @return the first error of a work, on every rank */
META_API meta_err meta_measure_speed(MPI_Comm comm, meta_speed_work *work, void *with,
                                     int64_t cells, int times, double *speed);

/** Input of meta_decompose(). Set it to META_DECOMPOSE_DESC_INIT first. */
typedef struct meta_decompose_desc {
    size_t size;   /**< of this structure */
    MPI_Comm cart; /**< Cartesian, 1 … 3 dimensions; dimension d is the grid's (0 is x) */
    int64_t cells[META_MAX_DIM]; /**< extents of the global grid */
    int64_t least[META_MAX_DIM]; /**< planes that every rank gets at least along each dimension,
                                    such as the ghosts' width; 0 is 1 */
    double speed; /**< of this rank, in cells a second: meta_measure_speed()'s or your own;
                       only the ratios matter */
    int64_t most; /**< cells that this rank can hold; 0: any number */
} meta_decompose_desc;
/** Start value of a meta_decompose_desc. */
#define META_DECOMPOSE_DESC_INIT                                                                   \
    {                                                                                              \
        sizeof(meta_decompose_desc), MPI_COMM_NULL, {0}, {0}, 1.0, 0                               \
    }

/** Cut the grid so that the rank which needs longest, its cells over its speed, needs as little
 * time as possible, and none gets more cells than it can hold. Cuts go through the whole grid:
 * planes are never split. Where only one dimension has several ranks the cuts are the best there
 * are (bisection over the time). Otherwise finding those is NP-hard (Beaumont, Boudet, Rastello and
 * Robert, IEEE Trans. Computers 50, 2001): from even cuts, and from those by the sums of the
 * speeds, one dimension after the other is cut as well as the others allow until nothing improves
 * (as Nicol, J. Parallel Distrib. Comput. 23, 1994, does for uneven cells), and the best outcome
 * counts. Collective, the same cuts on every rank; a rank needs memory by the extents of the
 * process grid, not by the number of ranks.
 *  @param cuts     its arrays receive them
 *  @param seconds  NULL, or receives the time of the rank that needs longest
 *  @return META_ERR_ARGUMENT where there are fewer planes than ranks need, or a speed is not
 * positive and finite; META_ERR_NO_MEMORY where the ranks cannot hold the grid, both with the
 * numbers; META_ERR_MISMATCH where ranks disagree on the grid. The same on every rank */
META_API meta_err meta_decompose(const meta_cuts *cuts, const meta_decompose_desc *desc,
                                 double *seconds);

/** Propose cuts to follow those at @p now, from what this rank needed for a step on its block:
 *  @p seconds, computing alone, without waiting for others. Every rank's time is taken to be
 * proportional to its cells, which it often is not: meta_balance() measures. desc->speed means
 * nothing here. The proposal is @p now itself where nothing better is found. Move only where the steps that are left
 * gain more than the move costs; measured times have noise, so a few per cent are none. Collective.
 *  @param next    its arrays receive the proposal; they are not those of @p now
 *  @param before  NULL, or receives the time of the rank that needed longest
 *  @param after   NULL, or receives what the one that will need longest will need, at equal speeds
 *  @return as meta_decompose() */
META_API meta_err meta_rebalance(const meta_cuts *next, const meta_cuts *now,
                                 const meta_decompose_desc *desc, double seconds, double *before,
                                 double *after);

/** Find cuts by trial: called after some steps with the cuts at @p now, it writes the ones to use
 * next, and is called again after some steps with those, until *gain is 0. What a rank takes for a
 * step is a curve through what it took for different numbers of cells (a functional performance
 * model: Lastovetsky and Reddy, Int. J. High Perform. Comput. Appl. 21, 2007), measured while all
 * ranks compute; meta_decompose() with these curves gives the cuts to try. Cuts stay only if a step
 * with them is measured to be at least one per cent faster than with the best ones so far, which
 * are gone back to otherwise; the first ones are those of the first call. So the outcome is as good
 * as these but for the measurements' noise: give the medians of several steps, the first ones after
 * a move left out. At most 12 cuts are tried, fewer where no better ones are to be expected.
 *
 * The library remembers what was measured with the communicator desc->cart, until that is freed, or
 * a call has other desc->cells, or the same cuts take more than 1.25 of their time in two calls one
 * after the other: the search then begins anew with the cuts at @p now. To begin anew otherwise,
 * give a duplicate (MPI_Comm_dup()). Not every proposal must be followed: what was measured counts,
 * with whatever cuts. desc->speed means nothing here. Collective, the same outcome on every rank.
 *  @param next       its arrays receive the cuts; they are not those of @p now
 *  @param computing  seconds that this rank computes in a step, without waiting for others
 *  @param step       seconds of a whole step; the longest of all ranks counts
 *  @param gain       NULL, or receives by how many seconds a step is expected to be shorter with
 *                    the cuts at @p next: positive, and 0 only where they are those at @p now.
 *                    INFINITY where some rank has more cells than desc->most now, or fewer planes
 *                    than desc->least, and must have others
 *  @return as meta_decompose(); META_ERR_ARGUMENT also where a rank has no cells now */
META_API meta_err meta_balance(const meta_cuts *next, const meta_cuts *now,
                               const meta_decompose_desc *desc, double computing, double step,
                               double *gain);

/** A distributed array over the global grid, one block per rank. */
typedef struct meta_redistribute_field {
    meta_type type;    /**< of its elements */
    const void *from;  /**< a device buffer, any device: this rank's part before */
    meta_box from_box; /**< its own cells in the array: as many as the block's, or in any dimension
                          one more, as meta_halo_field.box describes it, the same on every rank */
    void *to;          /**< and after; another buffer, of the same device or another one */
    meta_box to_box;   /**< A box for each array (see meta_box). Both have the communicator's dimensions: of an array with a batch behind
                          them, as u(x, y, z, species), give each part as a field, at its address. */
} meta_redistribute_field;
/** Move the own cells of @p fields arrays from blocks cut at @p before to blocks cut at @p after.
 * Cells outside the boxes stay as they are: exchange ghosts afterwards. Work that is queued is done
 * before; complete on return. One array after the other, for which host and device have room for
 * what this rank sends and receives of it meanwhile. Collective.
 *  @return META_ERR_MISMATCH where ranks disagree on cuts, number or types of the fields,
 * META_ERR_BOUNDS where a box is not its block's; the same on every rank, and nothing was written.
 * After META_ERR_NO_MEMORY, _DEVICE or _MPI the new arrays hold anything */
META_API meta_err meta_redistribute(MPI_Comm cart, const meta_cuts *before, const meta_cuts *after,
                                    int fields, const meta_redistribute_field *field);

/* ------------------------------------------------------------------ traffic */

/** Transport of a halo message. */
typedef enum meta_path {
    META_PATH_SELF,   /**< within this rank: a copy on its device, without MPI */
    META_PATH_SHARED, /**< to a rank of this node, unpacked where the sender packed it, in a window
                         of shared memory */
    META_PATH_HOST,   /**< packed in host memory, which MPI is given */
    META_PATH_STAGED, /**< from and to a device's memory by way of pinned host memory, in chunks */
    META_PATH_DIRECT, /**< device memory given to MPI */
    META_PATH_COUNT   /**< the number of paths */
} meta_path;

/** Messages and bytes of all halo plans since meta_comm_init(). Set it to META_TRAFFIC_INIT first. */
typedef struct meta_traffic {
    size_t size;                                 /**< of this structure */
    uint64_t messages_sent[META_PATH_COUNT];     /**< to other ranks and this one, by path */
    uint64_t bytes_sent[META_PATH_COUNT];        /**< that they had */
    uint64_t messages_received[META_PATH_COUNT]; /**< from other ranks and this one, by path */
    uint64_t bytes_received[META_PATH_COUNT];    /**< that they had */
} meta_traffic;
/** Start value of a meta_traffic. */
#define META_TRAFFIC_INIT                                                                          \
    {                                                                                              \
        sizeof(meta_traffic), {0}, {0}, {0},                                                       \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/** This rank's traffic. Paths are those of this rank's end of a message; the other end may differ. */
META_API meta_err meta_comm_traffic(meta_traffic *traffic);
/** The name of @p path, such as "shared"; a constant string, never NULL. */
META_API const char *meta_path_name(meta_path path);

#ifdef __cplusplus
}
#endif
#endif
