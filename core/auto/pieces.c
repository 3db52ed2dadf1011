/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pieces.c
 *  What the calls of a loop use, in pieces that each call uses as a whole or not at all. */
#include <stdlib.h>

#include "auto/loop.h"

static int by_place(const void *a, const void *b)
{
    const meta_loop_use *u = a, *v = b;
    if (u->address != v->address) return u->address < v->address ? -1 : 1;
    return (u->begin > v->begin) - (u->begin < v->begin);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pieces of one buffer, of which there are @p count uses: cut where any begins or ends. */
static void cut_buffer(meta_plan_step *s, const meta_loop_use *u, size_t count, uint64_t *end)
{
    size_t ends = 0;
    for (size_t k = 0; k < count; ++k) {
        end[ends++] = u[k].begin;
        end[ends++] = u[k].end;
    }
    qsort(end, ends, sizeof *end, by_number);
    for (size_t k = 1; k < ends; ++k)
        if (end[k] > end[k - 1])
            s->piece[s->pieces++] = (meta_plan_piece){end[k] - end[k - 1], s->buffers};
    s->buffer[s->buffers++] = u->size;
}

/* The piece that begins at byte @p to, of a buffer whose first one is @p piece and begins at
 * @p at. */
static uint32_t piece_at(const meta_plan_step *s, uint32_t piece, uint64_t at, uint64_t to)
{
    while (at < to) at += s->piece[piece++].bytes;
    return piece;
}

/* The pieces of the uses of the buffer at @p address. */
static void divide_uses(meta_plan_step *s, const meta_loop_event *const *event,
                        const meta_loop_use *lowest, uint32_t first_piece)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c]->uses; ++u, ++n) {
            const meta_loop_use *of = &event[c]->use[u];
            if (of->address != lowest->address) continue;
            s->use[n].first = piece_at(s, first_piece, lowest->begin, of->begin);
            s->use[n].last = piece_at(s, s->use[n].first, of->begin, of->end);
            s->use[n].reads = of->reads;
            s->use[n].writes = of->writes;
        }
}

bool meta_loop_divide(meta_plan_step *s, const meta_loop_event *const *event)
{
    size_t count = 0, n = 0;
    for (uint32_t c = 0; c < s->calls; ++c) count += event[c]->uses;
    meta_loop_use *sorted = malloc((count + 1) * sizeof *sorted);
    uint64_t *end = malloc((2 * count + 1) * sizeof *end);
    s->use = malloc((count + 1) * sizeof *s->use);
    s->piece = malloc((2 * count + 1) * sizeof *s->piece);
    s->buffer = malloc((count + 1) * sizeof *s->buffer);
    const bool has_room = sorted && end && s->use && s->piece && s->buffer;
    for (uint32_t c = 0; has_room && c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c]->uses; ++u) sorted[n++] = event[c]->use[u];
    if (has_room && count > 0) qsort(sorted, count, sizeof *sorted, by_place);
    for (size_t k = 0, done = 0; has_room && done < count; done = k) {
        const uint32_t first_piece = s->pieces;
        while (k < count && sorted[k].address == sorted[done].address) ++k;
        cut_buffer(s, sorted + done, k - done, end);
        divide_uses(s, event, &sorted[done], first_piece);
    }
    free(sorted);
    free(end);
    return has_room;
}
