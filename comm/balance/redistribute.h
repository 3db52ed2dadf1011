/* SPDX-License-Identifier: BSD-3-Clause */
/** @file redistribute.h
 *  A field on its way from old blocks to new ones. */
#ifndef META_REDISTRIBUTE_H
#define META_REDISTRIBUTE_H

#include "balance/cuts.h"

/** Global indices, half-open in each dimension. */
typedef struct range {
    int64_t start[CUTS_DIMS], end[CUTS_DIMS];
} range;

/** What is sent to a rank or received from it. */
typedef struct piece {
    int peer;
    meta_face face;
    int64_t count;
    size_t at, bytes; /**< of the packed buffer */
} piece;

/** One end of the transfer: the old array or the new one. */
typedef struct side {
    bool sends;
    const meta_box *box;
    meta_span span; /**< the array */
    range mine;     /**< cells of it that are moved */
    piece *pieces;
    int count;
    size_t bytes; /**< packed */
    void *packed; /**< on the device … */
    meta_span packed_span;
    char *wire; /**< … and where MPI has it */
    void *staging;
} side;

typedef struct moving {
    cuts_ranks *g;
    const meta_cuts *before, *after;
    const meta_redistribute_field *field;
    char name[32];        /**< of the field */
    bool more[CUTS_DIMS]; /**< its blocks have an element more, shared with the next one */
    size_t element;
    side from, to;
    MPI_Request *requests;
    int posted, receives; /* of which the first ones receive */
} moving;

/** Find and check both arrays of field[index]; nothing is allocated yet. @p more, for each
 * dimension, is what ranks agreed on. Local. */
meta_err redistribute_open(moving *m, cuts_ranks *g, const meta_cuts *before,
                           const meta_cuts *after, const meta_redistribute_field *field, int index,
                           const int *more);
/** Move it, and free what was allocated. Collective, with its errors the same everywhere. */
meta_err redistribute_move(moving *m);

#endif
