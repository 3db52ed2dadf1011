/* SPDX-License-Identifier: BSD-3-Clause */
/** @file strided.c
 *  Hand-tuned packing, as an application author would write it. */
#include "config.h"

#include "strided.h"

#include <string.h>

/* The cells of a region: `planes` planes of `rows` rows of `width` cells, and their strides. */
typedef struct shape {
    int64_t first, width, rows, planes, row, plane;
} shape;

static shape shape_of(const cube *c, const region *r)
{
    const int64_t e = c->n + 2 * c->ghosts;
    return (shape){.first = (r->start[2] * e + r->start[1]) * e + r->start[0],
                   .width = r->end[0] - r->start[0],
                   .rows = r->end[1] - r->start[1],
                   .planes = r->end[2] - r->start[2],
                   .row = e,
                   .plane = e * e};
}

#define LOOPS(type)                                                                                \
    static void pack_##type(type *restrict packed, const type *restrict cells, const shape *s)     \
    {                                                                                              \
        for (int64_t z = 0; z < s->planes; ++z) {                                                  \
            const type *at = cells + s->first + z * s->plane;                                      \
            const int64_t row = s->row, rows = s->rows;                                            \
            if (s->width == 1) {                                                                   \
                for (int64_t y = 0; y < rows; ++y) packed[y] = at[y * row];                        \
            } else if (s->width == 2) {                                                            \
                for (int64_t y = 0; y < rows; ++y)                                                 \
                    memcpy(packed + 2 * y, at + y * row, 2 * sizeof *at);                          \
            } else {                                                                               \
                for (int64_t y = 0; y < rows; ++y)                                                 \
                    memcpy(packed + y * s->width, at + y * row, (size_t)s->width * sizeof *at);    \
            }                                                                                      \
            packed += rows * s->width;                                                             \
        }                                                                                          \
    }                                                                                              \
    static void unpack_##type(type *restrict cells, const type *restrict packed, const shape *s)   \
    {                                                                                              \
        for (int64_t z = 0; z < s->planes; ++z) {                                                  \
            type *at = cells + s->first + z * s->plane;                                            \
            const int64_t row = s->row, rows = s->rows;                                            \
            if (s->width == 1) {                                                                   \
                for (int64_t y = 0; y < rows; ++y) at[y * row] = packed[y];                        \
            } else if (s->width == 2) {                                                            \
                for (int64_t y = 0; y < rows; ++y)                                                 \
                    memcpy(at + y * row, packed + 2 * y, 2 * sizeof *at);                          \
            } else {                                                                               \
                for (int64_t y = 0; y < rows; ++y)                                                 \
                    memcpy(at + y * row, packed + y * s->width, (size_t)s->width * sizeof *at);    \
            }                                                                                      \
            packed += rows * s->width;                                                             \
        }                                                                                          \
    }
LOOPS(uint64_t)
LOOPS(uint32_t)
#undef LOOPS

void strided_pack(void *packed, const void *cells, const cube *c, const region *r, size_t bytes)
{
    const shape s = shape_of(c, r);
    if (bytes == 8) pack_uint64_t(packed, cells, &s);
    else pack_uint32_t(packed, cells, &s);
}

void strided_unpack(void *cells, const void *packed, const cube *c, const region *r, size_t bytes)
{
    const shape s = shape_of(c, r);
    if (bytes == 8) unpack_uint64_t(cells, packed, &s);
    else unpack_uint32_t(cells, packed, &s);
}
