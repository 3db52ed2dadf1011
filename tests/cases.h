/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cases.h
 *  Random cases for the tests of operations: shapes, contents and completion modes. The position
 *  of a shape's elements is computed here independently, so that an oracle uses nothing from the
 *  library. */
#ifndef META_TEST_CASES_H
#define META_TEST_CASES_H

#include "test.h"

/** Element types as C knows them: X(NAME, name, type, type its sums are made in). */
#define CASE_ARITHMETIC_TYPES(X)                                                                   \
    X(F64, f64, double, double)                                                                    \
    X(F32, f32, float, float)                                                                      \
    X(I64, i64, int64_t, uint64_t)                                                                 \
    X(U64, u64, uint64_t, uint64_t)                                                                \
    X(I32, i32, int32_t, uint32_t)                                                                 \
    X(U32, u32, uint32_t, uint32_t)

/** Arithmetic types are those before this one. */
#define CASE_FIRST_SMALL META_I16

const char *case_type_name(meta_type type);
bool case_is_float(meta_type type);
/** The lowest and the highest value of an arithmetic type, infinite if it has those: what a maximum
 *  and a minimum of nothing are. */
const void *case_lowest_of(meta_type type);
const void *case_highest_of(meta_type type);
/** A random type, of all ten or of those the device computes with. */
meta_type case_any_type(void);
meta_type case_arithmetic_type(void);
/** Whether this thread's device computes with doubles. */
bool case_has_f64(void);

/** A random box of @p ndim dimensions in an array of at most @p cells cells. In the first @p reach
 *  dimensions a cell is free on either side; elsewhere it often touches the array's ends. One in
 *  fifty is empty. */
meta_box case_box(int ndim, int reach, int64_t cells);
/** Another array, of at most @p cells cells if there is room, and in it a box of the extents of
 *  @p box. */
meta_box case_box_like(const meta_box *box, int64_t cells);
/** A random box with at least @p low[d] cells before it and @p high[d] behind it in each of the
 * first four dimensions, in an array of at most @p cells cells. One dimension is often long, up to
 *  thousands of cells, and rows are often whole cache lines. */
meta_box case_box_within(int ndim, const int low[4], const int high[4], int64_t cells);
/** The cells of the box, those of the array, and the index in the array of the box's cell @p n. */
int64_t case_box_cells(const meta_box *box);
int64_t case_box_array(const meta_box *box);
int64_t case_box_index(const meta_box *box, int64_t n);
/** A grid with @p ghosts ghost cells on every side. */
bool case_grid(void **ptr, meta_box *box, int ndim, const int64_t *cells, int ghosts,
               meta_type type);
/** Where the cell lies that is so many cells away along the first four dimensions, counted from any
 *  cell; dimensions that the box does not have add nothing. */
int64_t case_box_away(const meta_box *box, int x, int y, int z, int w);

/** Whether the elements of a face are apart, as unpacking needs it, or may be any. */
typedef enum case_kind { CASE_APART, CASE_ANY } case_kind;
/** A random face of @p levels levels and at most @p elements elements, whose elements lie within
 *  @p room elements; @p from receives the index in them from which face->start counts. Strides are
 *  of either sign; with CASE_ANY some are 0. One in fifty has no element. */
meta_face case_face(int levels, int64_t elements, int64_t room, case_kind kind, int64_t *from);
int64_t case_face_elements(const meta_face *face);
/** Where element @p n of the face lies, counted as face->start is. */
int64_t case_face_index(const meta_face *face, int64_t n);

/** A shape in words; one of a few static buffers. */
const char *case_box_text(const meta_box *box);
const char *case_face_text(const meta_face *face);

/** What numbers an array is filled with. */
typedef enum case_flavour {
    CASE_PLAIN, /**< floats from -100 to 100, integers of any bits */
    CASE_TINY,  /**< denormals; integers from -40 to 40 */
    CASE_WILD,  /**< floats of every kind: zeros, denormals, huge ones, infinities and NaN */
    CASE_FLAVOURS
} case_flavour;
void case_fill(void *array, size_t count, meta_type type, case_flavour flavour);
/** A 1D array of @p cells doubles on the device, copied from zeros on the host, and its box. The
 *  caller frees it; where a call fails, so does a check. */
void *case_zeros(int64_t cells, meta_box *box);

/** One of the three ways to ask for completion, at random: pass ending.done to the operation, then
 *  settle it. After META_ASYNC only a later blocking call on the device finds the work complete. */
typedef struct case_ending {
    meta_event event, *done;
} case_ending;
void case_ending_pick(case_ending *ending);
meta_err case_ending_settle(case_ending *ending);

#endif
