/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exchange.c
 *  Cells between the ranks that have them, or want them, and the ranks that access pieces of a
 * file. In each round a rank accesses one piece, and in each step of it ranks exchange in pairs, so
 * that a rank needs memory for two pieces whatever the boxes are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid/grid.h"

enum { TAG = 1 };
static const char phase[] = "while ranks exchange the cells of a file";

/* ------------------------------------------------------------------ boxes of all ranks */

meta_err io_boxes_gather(const io_ranks *ranks, meta_err error, const io_box *mine, io_box **boxes)
{
    const uint64_t bytes = (uint64_t)ranks->size * sizeof **boxes;
    *boxes = error == META_OK ? malloc(bytes) : NULL;
    if (error == META_OK && !*boxes) error = io_no_memory(bytes);
    error = io_agree(ranks, error);
    if (error == META_OK)
        error = job->all_gather(ranks->comm, mine, (int)sizeof *mine, *boxes, phase);
    if (error == META_OK) return META_OK;
    free(*boxes);
    *boxes = NULL;
    return error;
}

meta_err io_boxes_check(const io_ranks *ranks, const io_grid *grid, const io_box *boxes, int f,
                        const char *name)
{
    int64_t count = 0;
    for (int r = 0; r < ranks->size; ++r) {
        count += boxes[r].count;
        if (r == ranks->rank || !io_boxes_meet(grid, &boxes[r], &boxes[ranks->rank])) continue;
        return core->fail(
            META_ERR_ARGUMENT,
            "argument 'field[%d]' ('%s'): cells of this rank's box are also in that of "
            "rank %d: give each cell on one rank",
            f, name, r);
    }
    if (count == grid->count) return META_OK;
    return core->fail(META_ERR_ARGUMENT,
                      "argument 'field[%d]' ('%s'): the boxes of all ranks have %" PRId64
                      " of the grid's %" PRId64 " cells: give all of them",
                      f, name, count, grid->count);
}

/* ------------------------------------------------------------------ who accesses which piece */

/* The owners are spread over the ranks, and so over nodes: number @p w is rank w·size/owners. */
static int64_t owners_of(const io_ranks *ranks, const io_grid *grid)
{
    return grid->pieces < ranks->size ? grid->pieces : ranks->size;
}

static int64_t owner_of(const io_ranks *ranks, const io_grid *grid, int rank)
{
    const int64_t owners = owners_of(ranks, grid);
    const int64_t w = (rank * owners + ranks->size - 1) / ranks->size;
    return w < owners && w * ranks->size / owners == rank ? w : -1;
}

bool io_is_owner(const io_ranks *ranks, const io_grid *grid)
{
    return owner_of(ranks, grid, ranks->rank) >= 0;
}

/* The piece that rank @p rank accesses in a round, or -1: each owner has consecutive ones. */
static int64_t piece_of(const io_ranks *ranks, const io_grid *grid, int rank, int64_t round)
{
    const int64_t w = owner_of(ranks, grid, rank), owners = owners_of(ranks, grid);
    if (w < 0) return -1;
    if (grid->in_turn) {
        const int64_t k = round * owners + w;
        return k < grid->pieces ? k : -1;
    }
    const int64_t k = grid->pieces * w / owners + round;
    return k < grid->pieces * (w + 1) / owners ? k : -1;
}

/* ------------------------------------------------------------------ a round */

typedef struct exchange {
    const io_ranks *ranks;
    const io_grid *grid;
    const io_box *boxes;
    const io_part *part;
    bool writes;
    io_access *access;
    void *with;
    char *piece, *out, *in; /* room for a piece each; packed cells to and from another rank */
    meta_err error;         /* the first one here; the exchange goes on, as the others need it */
    char text[IO_TEXT];
} exchange;

static void note(exchange *x, meta_err error)
{
    if (error == META_OK || x->error != META_OK) return;
    x->error = error;
    snprintf(x->text, sizeof x->text, "%s", meta_last_error());
}

/* The cells of a piece that are in rank @p rank's box. */
typedef struct share {
    int64_t start;    /* of the piece in the grid */
    int64_t from, to; /* in the box */
} share;

static share share_of(const exchange *x, int64_t k, int rank)
{
    share s = {0, 0, 0};
    int64_t cells;
    if (k < 0) return s;
    io_piece(x->grid, k, &s.start, &cells);
    s.from = io_box_before(x->grid, &x->boxes[rank], s.start);
    s.to = io_box_before(x->grid, &x->boxes[rank], s.start + cells);
    return s;
}

static int bytes_of(const exchange *x, const share *s)
{
    return (int)((s->to - s->from) * (int64_t)x->part->element);
}

/* Between this rank's piece and packed cells of another rank's box. */
static void move(const exchange *x, const share *s, int rank, char *packed, bool to_piece)
{
    io_box_move(x->grid, &x->boxes[rank], s->from, s->to, x->part->element, packed, x->piece,
                s->start, to_piece);
}

/* Between this rank's array and packed cells. Once something failed here, what is sent counts no
 * more. */
static void copy(exchange *x, const share *s, char *packed, bool to_array)
{
    if (x->error == META_OK) note(x, io_part_copy(x->part, s->from, s->to, packed, to_array));
    if (x->error != META_OK && !to_array) memset(packed, 0, (size_t)bytes_of(x, s));
}

/* This rank's own share of its own piece. The cells of a whole piece are in the same order in the
 * box. */
static void move_own(exchange *x, int64_t k)
{
    const share s = share_of(x, k, x->ranks->rank);
    int64_t start, cells;
    if (s.from == s.to) return;
    io_piece(x->grid, k, &start, &cells);
    if (s.to - s.from == cells) {
        copy(x, &s, x->piece, !x->writes);
        return;
    }
    if (x->writes) copy(x, &s, x->out, false);
    move(x, &s, x->ranks->rank, x->out, x->writes);
    if (!x->writes) copy(x, &s, x->out, true);
}

/* Send to rank @p to, and receive from rank @p from, what they need in this round. */
static meta_err step(exchange *x, int64_t round, int64_t mine, int to, int from)
{
    const io_ranks *ranks = x->ranks;
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
    const share give = x->writes ? share_of(x, piece_of(ranks, x->grid, to, round), ranks->rank)
                                 : share_of(x, mine, to),
                take = x->writes ? share_of(x, mine, from)
                                 : share_of(x, piece_of(ranks, x->grid, from, round), ranks->rank);
    if (take.from < take.to)
        META_TRY(job->receive(ranks->comm, x->in, bytes_of(x, &take), from, TAG, &received));
    if (give.from < give.to) {
        if (x->writes) copy(x, &give, x->out, false);
        else move(x, &give, to, x->out, false);
        META_TRY(job->send(ranks->comm, x->out, bytes_of(x, &give), to, TAG, &sent));
    }
    if (take.from < take.to) {
        META_TRY(job->wait(ranks->comm, &received, from, TAG, phase));
        if (x->writes) move(x, &take, from, x->in, true);
        else copy(x, &take, x->in, true);
    }
    if (give.from < give.to) META_TRY(job->wait(ranks->comm, &sent, to, TAG, phase));
    return META_OK;
}

static bool is_wanted(const exchange *x, int64_t k)
{
    for (int r = 0; r < x->ranks->size; ++r) {
        const share s = share_of(x, k, r);
        if (s.from < s.to) return true;
    }
    return false;
}

static meta_err access_piece(exchange *x, int64_t k)
{
    int64_t start, cells = 0;
    bool in_step = true;
    if (x->error != META_OK) k = -1;
    if (k < 0 && !(x->writes && x->grid->in_turn)) return META_OK;
    if (k >= 0) io_piece(x->grid, k, &start, &cells);
    const meta_err error =
        x->access(x->with, k, x->piece, (size_t)cells * x->part->element, &in_step);
    if (!in_step) return error;
    note(x, error);
    return META_OK;
}

static meta_err rounds(exchange *x)
{
    const io_ranks *ranks = x->ranks;
    const int64_t owners = owners_of(ranks, x->grid);
    const int64_t last = (x->grid->pieces + owners - 1) / owners;
    for (int64_t round = 0; round < last; ++round) {
        const int64_t mine = piece_of(ranks, x->grid, ranks->rank, round);
        if (!x->writes && mine >= 0 && is_wanted(x, mine)) META_TRY(access_piece(x, mine));
        move_own(x, mine);
        for (int s = 1; s < ranks->size; ++s)
            META_TRY(step(x, round, mine, (ranks->rank + s) % ranks->size,
                          (ranks->rank - s + ranks->size) % ranks->size));
        if (x->writes) META_TRY(access_piece(x, mine));
    }
    return META_OK;
}

meta_err io_exchange(const io_ranks *ranks, const io_grid *grid, const io_box *boxes,
                     const io_part *part, bool writes, io_access *access, void *with, bool *in_step)
{
    exchange x = {.ranks = ranks,
                  .grid = grid,
                  .boxes = boxes,
                  .part = part,
                  .writes = writes,
                  .access = access,
                  .with = with};
    const size_t room = (size_t)grid->piece * part->element;
    *in_step = true;
    char *memory = calloc(3, room);
    meta_err error = io_agree(ranks, memory ? META_OK : io_no_memory(3 * (uint64_t)room));
    if (error != META_OK) return free(memory), error;
    x.piece = memory;
    x.out = memory + room;
    x.in = memory + 2 * room;
    error = rounds(&x);
    *in_step = error == META_OK;
    if (error != META_OK) return error; /* MPI may still use the memory */
    free(memory);
    return x.error == META_OK ? META_OK : core->fail_as(x.error, x.text);
}
