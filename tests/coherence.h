/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence.h
 *  Random sequences of calls and their oracle, which test_coherence.c and test_coherence_halo.c run
 *  on several machines:
 *  buffers with their expected contents on the host, host memory that queued work still uses, and
 *  the steps that sequences consist of. */
#ifndef META_TEST_COHERENCE_H
#define META_TEST_COHERENCE_H

#include "cases.h"

/* No buffer is larger than COHERENCE_LARGEST, and no call uses more than twice that: a device must
 * have memory for the operands of one call. All together have no more than four times that, since
 * two devices of three may hold parts of each. */
enum {
    COHERENCE_BUFFERS = 8,
    COHERENCE_TRANSFERS = 16,
    COHERENCE_LOOSE = 8,
    COHERENCE_LARGEST = 96 << 10
};

typedef struct coherence_buffer {
    unsigned char *device, *expected; /**< NULL: there is no buffer in this slot */
    void *native;                     /**< the owner's array of a wrapped one, otherwise NULL */
    size_t bytes, unit;               /**< size, and size of an element */
    meta_type type;                   /**< F64, F32, I64, I32 or, without arithmetic, U8 */
    int64_t cells;
    meta_box box; /**< layout of a grid; of no dimension if it is none */
    int64_t grid_cells[3];
    int low[3], high[3];
    bool is_plain;   /**< on a fixed device, not on the one of META_MODE */
    bool is_chained; /**< written in this step from host memory that a copy was to fill */
} coherence_buffer;

/** Host memory that copies and results use, until all of them are complete. */
typedef struct coherence_transfer {
    unsigned char *host, *expected; /**< NULL: unused */
    size_t bytes;
    meta_event event;  /**< of the first operation on it, if it has one */
    bool is_untracked; /**< only meta_flush() completes all operations on it */
    bool is_pinned;
} coherence_transfer;

typedef struct coherence_sequence {
    uint64_t random;
    meta_type favourite; /**< type of most buffers, so that calls find operands */
    coherence_buffer buffer[COHERENCE_BUFFERS];
    coherence_transfer transfer[COHERENCE_TRANSFERS];
    meta_event loose[COHERENCE_LOOSE]; /**< of operations without host memory */
    int loose_count;
    unsigned char *freed; /**< the address of a buffer that was freed, or NULL */
    int mode, index;      /**< the device of META_MODE */
    int plain_mode;       /**< another back end's device 0, or -1 */
    bool may_fail;        /**< a device may fail, and calls with it; see coherence_failure.c */
    bool has_failed;      /**< one did, in this step */
    bool has_exchange;    /**< one may be under way, and then its arrays cannot be freed */
} coherence_sequence;

typedef struct coherence_step {
    const char *name;
    int weight;
    void (*run)(coherence_sequence *s);
} coherence_step;

/** Steps end with one without a name. */
extern const coherence_step coherence_move_steps[], coherence_compute_steps[];

/** Devices, and what runs on them. */
typedef struct coherence_machine {
    const char *name;
    const char *devices;          /**< META_AUTO_DEVICES; NULL: the device of META_MODE */
    const char *simulated;        /**< META_TEST_SIM; NULL if there is none */
    const char *must_exist;       /**< a back end without which there is no test; NULL: none */
    int64_t few, many;            /**< sequences */
    int64_t found;                /**< one that found a fault with the usual seed; 0: none */
    int64_t life;                 /**< sequences between the library's start and end */
    const coherence_step *beside; /**< more steps; NULL: none */
    void (*start)(void);          /**< NULL: by meta_init() */
    void (*stop)(void);
    bool fails; /**< one of the simulated devices does in each life, of one sequence */
} coherence_machine;

/** Set the environment of the machine. */
void coherence_machine_set(const coherence_machine *machine);
/** Run the sequences of META_TEST_SEED, or the one that META_TEST_SEQUENCE numbers. */
void coherence_run(const coherence_machine *machine);

/* ------------------------------------------------------------------ random numbers */

/* Each sequence has a seed of its own, so these are not test.h's. */
int64_t coherence_in(coherence_sequence *s, int64_t low, int64_t high);
/** True in one of @p n cases. */
bool coherence_one_in(coherence_sequence *s, int64_t n);
/** From 1 to @p most, each order of magnitude as often as the next. */
int64_t coherence_size(coherence_sequence *s, int64_t most);
/** Finite numbers; those of one call are all whole or all not. */
void coherence_fill(coherence_sequence *s, void *array, int64_t count, meta_type type);
/** A random box in an array of at most @p cells cells (0 or more), with @p reach free cells on
 *  each side. @return false if there is no room */
bool coherence_box(coherence_sequence *s, meta_box *box, int ndim, int reach, int64_t cells);
/** A box that fits in @p a and @p b, often one of grid @p a; @p b may be NULL. */
bool coherence_box_of(coherence_sequence *s, meta_box *box, const coherence_buffer *a,
                      const coherence_buffer *b, int ndim, int reach);
/** Another array of at most @p cells cells with a box of the extents of @p box. */
bool coherence_box_like(coherence_sequence *s, meta_box *like, const meta_box *box, int64_t cells);

/* ------------------------------------------------------------------ calls, and the log */

/** The call is to succeed. @return whether it did; it need not where a device may fail. */
#define CALL_OK(s, call) coherence_call((s), (call), __FILE__, __LINE__, #call)
bool coherence_call(coherence_sequence *s, meta_err err, const char *file, int line,
                    const char *text);

/** Print the call that follows, if the sequence fails. */
void coherence_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
void coherence_log_clear(void);
void coherence_log_print(void);

/* ------------------------------------------------------------------ buffers */

/** A random buffer for which @p wanted holds (any if NULL); NULL if there is none. */
coherence_buffer *coherence_pick(coherence_sequence *s, bool (*wanted)(const coherence_buffer *));
bool coherence_is_arithmetic(const coherence_buffer *b);
/** A buffer other than @p b, of its type and on its device; NULL if there is none. */
coherence_buffer *coherence_partner(coherence_sequence *s, const coherence_buffer *b);
/** "buffer 3 (f64, 120 cells)": one of a few static buffers. */
const char *coherence_name(const coherence_sequence *s, const coherence_buffer *b);
/** Allocate or wrap a buffer in slot @p b, and give it contents. */
void coherence_new(coherence_sequence *s, coherence_buffer *b);
void coherence_delete(coherence_sequence *s, coherence_buffer *b);
/** Compare bytes [begin, end) by a blocking copy to the host. */
void coherence_compare(coherence_sequence *s, coherence_buffer *b, size_t begin, size_t end);

/* ------------------------------------------------------------------ completion */

/** One of the three ways to ask for completion. */
typedef struct coherence_ending {
    meta_event event, *done;
} coherence_ending;
const char *coherence_ending_pick(coherence_sequence *s, coherence_ending *ending);
/** The call has returned: wait for its event now or later. */
void coherence_ending_leave(coherence_sequence *s, coherence_ending *ending);
/** Host memory, the same random bytes in `host` and `expected`. Completes older work if too much is
 *  pending. */
coherence_transfer *coherence_transfer_new(coherence_sequence *s, size_t bytes);
/** The call that uses @p t has returned. After a blocking one @p t is checked and gone. */
void coherence_transfer_leave(coherence_sequence *s, coherence_transfer *t,
                              const coherence_ending *ending);
/** Wait for the events that are left, or for everything, and check the host memory. */
void coherence_wait(coherence_sequence *s);
void coherence_flush(coherence_sequence *s);

/* ------------------------------------------------------------------ devices that fail */

/** Set META_TEST_SIM to the machine's devices, of which one is to fail soon. */
void coherence_failure_plan(uint64_t seed, const char *simulated);
/** Run a step of a sequence in which a device may fail, and complete it. Whatever it did not write
 *  must be what it was, or an error must say that it is lost; then it is written again. */
void coherence_failure_step(coherence_sequence *s, const coherence_step *step);

#endif
