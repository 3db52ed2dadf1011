/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cube.c
 *  The benchmark grids: cubes with ghost cells, their faces and edges. */
#include "config.h"

#include "cube.h"

direction direction_of(int k)
{
    return (direction){{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}};
}

int direction_axes(direction d)
{
    return (d.along[0] != 0) + (d.along[1] != 0) + (d.along[2] != 0);
}

static int64_t edge(const cube *c)
{
    return c->n + 2 * c->ghosts;
}

int64_t cube_cells(const cube *c)
{
    return edge(c) * edge(c) * edge(c);
}

/* Rows are padded by up to three 64-byte cache lines, and planes by one row. */
double cube_grid_bytes(const cube *c, size_t bytes)
{
    const double e = (double)edge(c);
    return (e * (double)bytes + 3 * 64) * (e + 1) * e;
}

region cube_own(const cube *c)
{
    region r;
    for (int d = 0; d < 3; ++d) {
        r.start[d] = c->ghosts;
        r.end[d] = c->ghosts + c->n;
    }
    return r;
}

region cube_border(const cube *c, direction d)
{
    region r = cube_own(c);
    for (int k = 0; k < 3; ++k) {
        if (d.along[k] < 0) r.end[k] = 2 * c->ghosts;
        if (d.along[k] > 0) r.start[k] = c->n;
    }
    return r;
}

region cube_ghost(const cube *c, direction d)
{
    region r = cube_border(c, d);
    for (int k = 0; k < 3; ++k) {
        r.start[k] += d.along[k] * c->ghosts;
        r.end[k] += d.along[k] * c->ghosts;
    }
    return r;
}

int64_t region_cells(const region *r)
{
    return (r->end[0] - r->start[0]) * (r->end[1] - r->start[1]) * (r->end[2] - r->start[2]);
}

meta_box region_box(const cube *c, const region *r)
{
    const int64_t e = edge(c);
    return (meta_box){
        3, {e, e, e}, {r->start[0], r->start[1], r->start[2]}, {r->end[0], r->end[1], r->end[2]}};
}

meta_box region_in_grid(const cube *c, const region *r, const meta_box *own)
{
    meta_box box = *own;
    for (int d = 0; d < 3; ++d) {
        box.start[d] = own->start[d] + r->start[d] - c->ghosts;
        box.end[d] = own->start[d] + r->end[d] - c->ghosts;
    }
    return box;
}

int64_t region_sectors(const cube *c, const region *r, size_t bytes, int64_t sector)
{
    int64_t count = 0, last = -1;
    for (int64_t z = r->start[2]; z < r->end[2]; ++z)
        for (int64_t y = r->start[1]; y < r->end[1]; ++y) {
            const int64_t row = (z * edge(c) + y) * edge(c);
            const int64_t from = (row + r->start[0]) * (int64_t)bytes / sector;
            const int64_t to = ((row + r->end[0]) * (int64_t)bytes - 1) / sector;
            count += to - from + (from != last);
            last = to;
        }
    return count;
}

#define LOOPS(type)                                                                                \
    static void pack_##type(type *packed, const type *cells, int64_t e, const region *r)           \
    {                                                                                              \
        for (int64_t z = r->start[2]; z < r->end[2]; ++z)                                          \
            for (int64_t y = r->start[1]; y < r->end[1]; ++y)                                      \
                for (int64_t x = r->start[0]; x < r->end[0]; ++x)                                  \
                    *packed++ = cells[(z * e + y) * e + x];                                        \
    }                                                                                              \
    static void unpack_##type(type *cells, const type *packed, int64_t e, const region *r)         \
    {                                                                                              \
        for (int64_t z = r->start[2]; z < r->end[2]; ++z)                                          \
            for (int64_t y = r->start[1]; y < r->end[1]; ++y)                                      \
                for (int64_t x = r->start[0]; x < r->end[0]; ++x)                                  \
                    cells[(z * e + y) * e + x] = *packed++;                                        \
    }
LOOPS(uint64_t)
LOOPS(uint32_t)
#undef LOOPS

void loop_pack(void *packed, const void *cells, const cube *c, const region *r, size_t bytes)
{
    if (bytes == 8) pack_uint64_t(packed, cells, edge(c), r);
    else pack_uint32_t(packed, cells, edge(c), r);
}

void loop_unpack(void *cells, const void *packed, const cube *c, const region *r, size_t bytes)
{
    if (bytes == 8) unpack_uint64_t(cells, packed, edge(c), r);
    else unpack_uint32_t(cells, packed, edge(c), r);
}
