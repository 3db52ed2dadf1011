/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pieces.c
 *  What the calls of a loop use, in pieces that each call uses as a whole or not at all. */
#include <stdlib.h>

#include "auto/loop.h"

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pieces of the buffer of use @p of[first]: cut where any of its uses begins or ends. */
static void cut_buffer(meta_plan_step *s, const meta_loop_use *const *of, uint32_t first,
                       uint64_t *end)
{
    size_t ends = 0;
    for (uint32_t n = first; n < s->uses; ++n) {
        if (of[n]->address != of[first]->address) continue;
        end[ends++] = of[n]->begin;
        end[ends++] = of[n]->end;
    }
    qsort(end, ends, sizeof *end, by_number);
    for (size_t k = 1; k < ends; ++k)
        if (end[k] > end[k - 1])
            s->piece[s->pieces++] = (meta_plan_piece){end[k] - end[k - 1], s->buffers};
    s->buffer[s->buffers++] = of[first]->size;
}

/* The piece that begins at byte @p to, of a buffer whose first one is @p piece and begins at
 * @p at. */
static uint32_t piece_at(const meta_plan_step *s, uint32_t piece, uint64_t at, uint64_t to)
{
    while (at < to) at += s->piece[piece++].bytes;
    return piece;
}

/* Buffers are numbered as the step first uses them, so that a search does not depend on where they
 * lie. */
bool meta_loop_divide(meta_plan_step *s, const meta_loop_event *const *event)
{
    const size_t room = s->uses + 1;
    const meta_loop_use **of = malloc(room * sizeof *of);
    uint64_t *end = malloc(2 * room * sizeof *end);
    bool *is_divided = calloc(room, sizeof *is_divided);
    s->use = malloc(room * sizeof *s->use);
    s->piece = malloc(2 * room * sizeof *s->piece);
    s->buffer = malloc(room * sizeof *s->buffer);
    const bool has_room = of && end && is_divided && s->use && s->piece && s->buffer;
    for (uint32_t c = 0, n = 0; has_room && c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c]->uses; ++u) of[n++] = &event[c]->use[u];
    for (uint32_t first = 0; has_room && first < s->uses; ++first) {
        if (is_divided[first]) continue;
        const uint32_t first_piece = s->pieces;
        cut_buffer(s, of, first, end);
        for (uint32_t n = first; n < s->uses; ++n) {
            if (of[n]->address != of[first]->address) continue;
            meta_plan_use *use = &s->use[n];
            use->first = piece_at(s, first_piece, end[0], of[n]->begin);
            use->last = piece_at(s, use->first, of[n]->begin, of[n]->end);
            use->reads = of[n]->reads;
            use->writes = of[n]->writes;
            is_divided[n] = true;
        }
    }
    free(of);
    free(end);
    free(is_divided);
    return has_room;
}
