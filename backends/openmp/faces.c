/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.c
 *  Loop nests that copy a thread's share of a strided space. */
#include "faces.h"

#include <stdlib.h>

/* A loop nest of at least two levels, and the addresses of the next run. */
typedef struct nest {
    meta_i64 levels;
    meta_i64 count[META_MAX_DIM + 1], to_step[META_MAX_DIM + 1], from_step[META_MAX_DIM + 1];
    meta_i64 at[META_MAX_DIM + 1];
    char *to, *also_to;
    const char *from, *also_from;
    meta_i64 bytes; /* per run */
    meta_i64 left;  /* runs to copy */
} nest;

static void add_level(nest *n, meta_i64 count, meta_i64 to_step, meta_i64 from_step)
{
    n->count[n->levels] = count;
    n->to_step[n->levels] = to_step;
    n->from_step[n->levels] = from_step;
    n->at[n->levels++] = 0;
}

/* Move the addresses by a number of iterations of a level, which may be negative. */
static void move_addresses(nest *n, meta_i64 level, meta_i64 iterations)
{
    const meta_i64 to = iterations * n->to_step[level], from = iterations * n->from_step[level];
    n->to += to;
    n->from += from;
    if (!n->also_to) return;
    n->also_to += to;
    n->also_from += from;
}

/* Advance a level by `by` iterations, at most to its end, with carry into the next level. */
static void advance(nest *n, meta_i64 level, meta_i64 by)
{
    for (; level < n->levels; ++level, by = 1) {
        move_addresses(n, level, by);
        if ((n->at[level] += by) < n->count[level]) return;
        move_addresses(n, level, -n->count[level]);
        n->at[level] = 0;
    }
}

/* Skip the first @p iterations of the levels from @p level outwards. Not inlined: only
 * multi-threaded copies need it, and GCC 12 falsely warns that the levels are uninitialised. */
static __attribute__((noinline)) void skip(nest *n, meta_i64 level, meta_i64 iterations)
{
    for (; iterations > 0; ++level) {
        n->at[level] = iterations % n->count[level];
        move_addresses(n, level, n->at[level]);
        iterations /= n->count[level];
    }
}

/* First element of a thread's share of an operand. */
static void *begin_of(const meta_work *w, int operand, meta_i64 bytes)
{
    const meta_space *s = w->space;
    return (char *)w->object[operand] +
           (s->layout[operand].base + w->column[0] * s->layout[operand].stride[0]) * bytes;
}

/* Contiguous columns form one run; strided ones are the innermost loop. */
static void nest_make(nest *n, const meta_work *w, const meta_work *also, meta_i64 bytes)
{
    const meta_space *s = w->space;
    const meta_i64 columns = w->column[1] - w->column[0];
    const int contiguous =
        columns == 1 || (s->layout[0].stride[0] == 1 && s->layout[1].stride[0] == 1);
    n->levels = 0;
    n->to = begin_of(w, 0, bytes);
    n->from = begin_of(w, 1, bytes);
    n->also_to = also ? begin_of(also, 0, bytes) : NULL;
    n->also_from = also ? begin_of(also, 1, bytes) : NULL;
    n->bytes = contiguous ? columns * bytes : bytes;
    n->left = w->row[1] - w->row[0];
    if (!contiguous) {
        n->left *= columns;
        add_level(n, columns, s->layout[0].stride[0] * bytes, s->layout[1].stride[0] * bytes);
    }
    for (meta_i64 d = 1; d < s->ndim; ++d)
        add_level(n, s->extent[d], s->layout[0].stride[d] * bytes, s->layout[1].stride[d] * bytes);
    while (n->levels < 2) add_level(n, 1, 0, 0);
    if (w->row[0] > 0) skip(n, !contiguous, w->row[0]);
}

/* The longer loop is the inner one; if both are long, the one that is first in memory order. */
static void move_block(const nest *n, meta_i64 runs, meta_i64 lines, faces_loop *loop)
{
    enum { SHORT = 8 };
    const int inner = runs < SHORT && runs < lines, outer = 1 - inner;
    const faces_block block = {.to = n->to,
                               .also_to = n->also_to,
                               .from = n->from,
                               .also_from = n->also_from,
                               .bytes = n->bytes,
                               .count = {inner ? lines : runs, inner ? runs : lines},
                               .to_step = {n->to_step[inner], n->to_step[outer]},
                               .from_step = {n->from_step[inner], n->from_step[outer]}};
    loop(&block);
}

void faces_move(const meta_work *work, const meta_work *also, meta_i64 bytes,
                faces_loop_for *loop_for)
{
    nest n;
    nest_make(&n, work, also, bytes);
    if (n.left <= 0 || n.bytes <= 0) return;
    faces_loop *loop = loop_for(n.bytes, work->way);
    while (n.left > 0) {
        const meta_i64 line = n.count[0];
        if (n.at[0] == 0 && n.left >= line) {
            meta_i64 lines = n.count[1] - n.at[1];
            if (lines > n.left / line) lines = n.left / line;
            move_block(&n, line, lines, loop);
            n.left -= lines * line;
            if (n.left > 0) advance(&n, 1, lines);
        } else {
            meta_i64 runs = line - n.at[0];
            if (runs > n.left) runs = n.left;
            move_block(&n, runs, 1, loop);
            n.left -= runs;
            if (n.left > 0) advance(&n, 0, runs);
        }
    }
}

/* ------------------------------------------------------------------ two faces at once */

/* Whether two calls differ only in their base offsets. */
static int same_shape(const meta_call *a, const meta_call *b)
{
    const meta_space *s = a->space, *t = b->space;
    if (a->kernel != b->kernel || s->ndim != t->ndim) return 0;
    for (meta_i64 d = 0; d < s->ndim; ++d)
        if (s->extent[d] != t->extent[d] || s->layout[0].stride[d] != t->layout[0].stride[d] ||
            s->layout[1].stride[d] != t->layout[1].stride[d])
            return 0;
    return 1;
}

/* Whether two such calls access the same cache lines of operand @p k: a row of one call lies next
 * to the same or the following row of the other. */
static int share_lines(const meta_call *a, const meta_call *b, int k)
{
    enum { NEAR = 8 }; /* elements */
    const meta_space *s = a->space;
    const int by_rows = s->layout[0].stride[0] == 1 && s->layout[1].stride[0] == 1;
    const meta_i64 apart = llabs(b->space->layout[k].base - s->layout[k].base);
    const meta_i64 step = s->ndim > by_rows ? llabs(s->layout[k].stride[by_rows]) : 0;
    return a->object[k] == b->object[k] && step > NEAR &&
           (apart < NEAR || llabs(step - apart) < NEAR);
}

size_t faces_beside(const meta_launch *launch, size_t first, size_t count, size_t n)
{
    enum { LEAST = 1 << 10, NEAR = 8 };
    const meta_call *call = meta_launch_call(launch, n);
    const meta_space *s = call->space;
    const int by_rows = s->layout[0].stride[0] == 1 && s->layout[1].stride[0] == 1;
    if (s->rows * s->extent[0] < LEAST || (by_rows && s->extent[0] > NEAR)) return n;
    for (size_t k = first; k < first + count; ++k) {
        const meta_call *other = meta_launch_call(launch, k);
        const int same_object =
            call->object[0] == other->object[0] || call->object[1] == other->object[1];
        if (same_object && k != n && same_shape(call, other) &&
            (share_lines(call, other, 0) || share_lines(call, other, 1)))
            return k;
    }
    return n;
}
