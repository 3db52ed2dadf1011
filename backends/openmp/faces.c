/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.c
 *  The order in which a thread moves its share of a strided space. */
#include "faces.h"

/* The dimensions that are looped over, at least two, and the place where the next run lies. */
typedef struct nest {
    meta_i64 levels;
    meta_i64 count[META_MAX_DIM + 1], to_step[META_MAX_DIM + 1], from_step[META_MAX_DIM + 1];
    meta_i64 at[META_MAX_DIM + 1];
    char *to;
    const char *from;
    meta_i64 bytes; /* of a run */
    meta_i64 left;  /* runs */
} nest;

static void add_level(nest *n, meta_i64 count, meta_i64 to_step, meta_i64 from_step)
{
    n->count[n->levels] = count;
    n->to_step[n->levels] = to_step;
    n->from_step[n->levels] = from_step;
    n->at[n->levels++] = 0;
}

/* Go on by `by` on a level, at most to its end, where the next level goes on by one. */
static void go_on(nest *n, meta_i64 level, meta_i64 by)
{
    for (; level < n->levels; ++level, by = 1) {
        n->to += by * n->to_step[level];
        n->from += by * n->from_step[level];
        if ((n->at[level] += by) < n->count[level]) return;
        n->to -= n->count[level] * n->to_step[level];
        n->from -= n->count[level] * n->from_step[level];
        n->at[level] = 0;
    }
}

/* Levels from @p level on begin where so many of their places have been. */
static void skip(nest *n, meta_i64 level, meta_i64 places)
{
    for (; places > 0 && level < n->levels; ++level) {
        n->at[level] = places % n->count[level];
        n->to += n->at[level] * n->to_step[level];
        n->from += n->at[level] * n->from_step[level];
        places /= n->count[level];
    }
}

/* The columns are a run, or else the innermost loop. */
static void nest_make(nest *n, const meta_work *w, meta_i64 bytes)
{
    const meta_space *s = w->space;
    const meta_i64 columns = w->column[1] - w->column[0];
    const int together = columns == 1 || (s->stride[0][0] == 1 && s->stride[1][0] == 1);
    n->levels = 0;
    n->to = (char *)w->object[0] + (s->base[0] + w->column[0] * s->stride[0][0]) * bytes;
    n->from = (const char *)w->object[1] + (s->base[1] + w->column[0] * s->stride[1][0]) * bytes;
    n->bytes = together ? columns * bytes : bytes;
    n->left = w->row[1] - w->row[0];
    if (!together) {
        n->left *= columns;
        add_level(n, columns, s->stride[0][0] * bytes, s->stride[1][0] * bytes);
    }
    for (meta_i64 d = 1; d < s->ndim; ++d)
        add_level(n, s->extent[d], s->stride[0][d] * bytes, s->stride[1][d] * bytes);
    while (n->levels < 2) add_level(n, 1, 0, 0);
    skip(n, !together, w->row[0]);
}

/* The longer loop is the inner one, unless both are long: then it is the one in order of memory. */
static void move_block(const nest *n, meta_i64 runs, meta_i64 lines, faces_loop *loop)
{
    enum { SHORT = 8 };
    const int inner = runs < SHORT && runs < lines, outer = 1 - inner;
    const faces_block block = {.to = n->to,
                               .from = n->from,
                               .bytes = n->bytes,
                               .count = {inner ? lines : runs, inner ? runs : lines},
                               .to_step = {n->to_step[inner], n->to_step[outer]},
                               .from_step = {n->from_step[inner], n->from_step[outer]}};
    loop(&block);
}

void faces_move(const meta_work *work, meta_i64 bytes, faces_loop_for *loop_for)
{
    nest n;
    nest_make(&n, work, bytes);
    if (n.left <= 0 || n.bytes <= 0) return;
    faces_loop *loop = loop_for(n.bytes);
    while (n.left > 0) {
        const meta_i64 line = n.count[0];
        if (n.at[0] == 0 && n.left >= line) {
            meta_i64 lines = n.count[1] - n.at[1];
            if (lines > n.left / line) lines = n.left / line;
            move_block(&n, line, lines, loop);
            n.left -= lines * line;
            if (n.left > 0) go_on(&n, 1, lines);
        } else {
            meta_i64 runs = line - n.at[0];
            if (runs > n.left) runs = n.left;
            move_block(&n, runs, 1, loop);
            n.left -= runs;
            if (n.left > 0) go_on(&n, 0, runs);
        }
    }
}
