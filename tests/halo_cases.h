/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_cases.h
 *  Random cases of a halo exchange, the same on every rank, and their oracle: the value of each
 *  element of each array before and after is a function of its owner's position among the ranks
 *  and its global index. */
#ifndef META_TEST_HALO_CASES_H
#define META_TEST_HALO_CASES_H

#include "meta_comm.h"
#include "test.h"

enum { CASE_DIMS = 3, CASE_FIELDS = 5, CASE_WIDEST = 3, CASE_BATCHES = 2 };

/** What is asked of a case; everything else is random. */
typedef struct halo_wish {
    int dims;     /**< 1 … 3 */
    int periodic; /**< one bit for each dimension */
    int width;    /**< of the widest ghosts, 0 … 3 */
    int fields;   /**< 1 … 5 */
    int batch;    /**< dimensions that arrays have beyond those, 0 … 2 */
    bool placed;  /**< which are anywhere among them, through desc.batch, else last */
    meta_halo_kind kind;
    meta_halo_op op;
    bool typed; /**< all of `type`, else random */
    meta_type type;
    bool sided;        /**< the same width on every side, else up to it */
    bool differ;       /**< arrays of different types, paddings, staggering and batches, through
                          desc.field */
    int64_t thick;     /**< a block has its ghosts' width and up to so many cells more */
    meta_mode mode[2]; /**< devices of even and of odd ranks; META_SPREAD: the process's own */
} halo_wish;

/** One array, on the device and on the host. */
typedef struct halo_array {
    meta_type type;
    size_t element;         /**< bytes */
    int stagger[CASE_DIMS]; /**< 1: one own element more, shared with the high neighbour */
    int axis[CASE_DIMS];    /**< dimensions of the box; the others are a batch */
    meta_box box;
    int64_t count; /**< elements */
    void *base;    /**< of the buffer it lies in */
    void *wrapped; /**< the host array that this buffer is, or NULL */
    unsigned char *found, *expected;
} halo_array;

typedef struct halo_case {
    halo_wish wish;
    MPI_Comm cart;
    int extent[CASE_DIMS], wraps[CASE_DIMS], at[CASE_DIMS];
    int low[CASE_DIMS], high[CASE_DIMS];
    uint32_t batch;           /**< a bit for each dimension that is one */
    int64_t cells[CASE_DIMS]; /**< of the global grid */
    int64_t first[CASE_DIMS]; /**< global index of this rank's first own cell */
    int64_t own[CASE_DIMS];
    halo_array array[CASE_FIELDS];
    void *fields[CASE_FIELDS]; /**< as meta_halo_start() takes them */
    meta_halo_field field[CASE_FIELDS];
    meta_halo_desc desc;
} halo_case;

/** A random wish within what META_MODE and the devices at hand allow. */
halo_wish halo_wish_random(void);
/** Every combination there is of dimensions, periodicity, kind, width, fields, operation and
 * ordered pairs of back ends: how many, and the @p number th of them. */
int64_t halo_wish_count(void);
halo_wish halo_wish_number(int64_t number);

/** Draw what is left open, make the communicator, and allocate the arrays on this rank's device,
 * which is then this thread's. Collective. false where an allocation fails. */
bool halo_case_make(halo_case *c, const halo_wish *wish, const char *name, int64_t number);
/** The same case with arrays of its own, on a device of @p mode. */
bool halo_case_again(halo_case *c, const halo_case *like, meta_mode mode);
/** Free what these two made. Collective for the former. */
void halo_case_free(halo_case *c);

/** Every element of every array as it is before exchange number @p step, in `found`. */
void halo_case_initial(halo_case *c, int step);
/** As it must be afterwards, in `expected`. */
void halo_case_expected(halo_case *c, int step);
/** To the devices: from `found`. Queued and complete. */
bool halo_case_upload(halo_case *c);
/** From the devices to `found`, and compare all of it with `expected`. */
bool halo_case_check(halo_case *c);

/** Any rank's failing check: the same on every rank, so that all leave a loop together. */
bool halo_broken_anywhere(void);

#endif
