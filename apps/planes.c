/* SPDX-License-Identifier: BSD-3-Clause */
/** @file planes.c
 *  Copies between a dense host array and a padded grid on the device, one plane at a time. */
#include "config.h"

#include "planes.h"

/* The planes of constant z of a grid with its ghosts. */
typedef struct planes {
    meta_box padded, dense; /* of the plane at hand: in the grid, and by itself */
    int64_t end;
    meta_type type;
    size_t bytes; /* of a plane */
    void *room;   /* for one, on the device; NULL if there is none */
} planes;

static void begin(planes *p, const meta_box *own, const int *low, const int *high, number type)
{
    *p = (planes){.padded = *own, .dense = {.ndim = 3}, .type = type_of(type)};
    for (int d = 0; d < 3; ++d) {
        p->padded.start[d] -= low[d];
        p->padded.end[d] += high[d];
        p->dense.size[d] = p->dense.end[d] = p->padded.end[d] - p->padded.start[d];
    }
    p->end = p->padded.end[2];
    p->padded.end[2] = p->padded.start[2] + 1;
    p->dense.size[2] = p->dense.end[2] = 1;
    p->bytes = (size_t)(p->dense.size[0] * p->dense.size[1]) * number_size(type);
    check(meta_alloc(&p->room, p->bytes));
}

static bool there_is(const planes *p)
{
    return p->room != NULL && p->padded.start[2] < p->end;
}

static void next(planes *p)
{
    ++p->padded.start[2];
    ++p->padded.end[2];
}

static void end(planes *p)
{
    if (p->room != NULL) check(meta_free(p->room));
}

void planes_put(void *grid, const meta_box *own, const int *low, const int *high, const void *cells,
                number type)
{
    planes p;
    const char *from = cells;
    begin(&p, own, low, high, type);
    for (; there_is(&p); next(&p), from += p.bytes) {
        check(meta_copy_h2d(p.room, from, p.bytes, NULL));
        check(meta_copy_box(grid, &p.padded, p.room, &p.dense, p.type, META_ASYNC));
    }
    end(&p);
}

void planes_get(void *cells, const void *grid, const meta_box *own, const int *low, const int *high,
                number type)
{
    planes p;
    char *to = cells;
    begin(&p, own, low, high, type);
    for (; there_is(&p); next(&p), to += p.bytes) {
        check(meta_copy_box(p.room, &p.dense, grid, &p.padded, p.type, META_ASYNC));
        check(meta_copy_d2h(to, p.room, p.bytes, NULL));
    }
    end(&p);
}
