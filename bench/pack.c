/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pack.c
 *  Group pack: packing the boundary of a cube of N³ cells and unpacking it into the ghost cells:
 *  single faces and edges, and all six faces. */
#include "config.h"

#include <stdio.h>

#include "cube.h"
#include "group.h"
#include "limit.h"
#ifdef BENCH_WITH_MPI
#include "mpi_pack.h"
#endif

enum { MOST_PARTS = 6, MOST_WIDTH = 2 };

/* Buffers shared by all rows of one size: on the device, and for the plain loops. */
typedef struct room {
    buffer cells, packed, other; /* other: destination of the limit's copies */
    buffer host_cells, host_packed;
} room;

typedef struct work {
    const room *at;
    cube c;
    bool unpack;
    number type;
    int parts;
    region part[MOST_PARTS];
    meta_face face[MOST_PARTS];
    int64_t offset[MOST_PARTS], cells; /* offsets of the parts in the packed buffer; total */
} work;

static void run(void *with, int64_t times)
{
    const work *w = with;
    void *grid = w->at->cells.at;
    for (int64_t k = 0; k < times; ++k)
        for (int i = 0; i < w->parts; ++i) {
            /* Work on a device runs in order: the last part's end completes all. */
            meta_event *done = i + 1 < w->parts ? META_ASYNC : NULL;
            void *packed = number_at(w->at->packed.at, w->offset[i], w->type);
            if (!note_meta(w->unpack
                               ? meta_unpack_face(grid, packed, &w->face[i], type_of(w->type), done)
                               : meta_pack_face(packed, grid, &w->face[i], type_of(w->type), done)))
                return;
        }
}

static void run_loops(void *with, int64_t times)
{
    const work *w = with;
    const size_t bytes = number_size(w->type);
    void *grid = w->at->host_cells.at;
    for (int64_t k = 0; k < times; ++k)
        for (int i = 0; i < w->parts; ++i) {
            void *packed = number_at(w->at->host_packed.at, w->offset[i], w->type);
            if (w->unpack) loop_unpack(grid, packed, &w->c, &w->part[i], bytes);
            else loop_pack(packed, grid, &w->c, &w->part[i], bytes);
        }
}

static void add_part(work *w, region part)
{
    const meta_box box = region_box(&w->c, &part);
    w->part[w->parts] = part;
    w->offset[w->parts] = w->cells;
    note_meta(meta_face_box(&w->face[w->parts], &box));
    w->cells += region_cells(&part);
    ++w->parts;
}

static double sector_bytes(const bench *b, const work *w)
{
    const int64_t sector = b->here->device.is_gpu ? 32 : 64;
    const size_t bytes = number_size(w->type);
    int64_t sectors = 0;
    for (int i = 0; i < w->parts; ++i) sectors += region_sectors(&w->c, &w->part[i], bytes, sector);
    return (double)(sectors * sector) + (double)bytes * (double)w->cells;
}

static void measure(bench *b, const char *what, work *w)
{
    const double bytes = (double)number_size(w->type) * (double)w->cells;
    copy_limit limit;
    row r;
    char full[64];
    snprintf(full, sizeof full, "%s%s%s", what, w->c.ghosts > 1 ? "_2" : "",
             w->unpack ? "_unpack" : "");
    row_begin(&r, "pack", full, w->type, w->c.n);
    r.sector_bytes = sector_bytes(b, w);
    row_add(&r, full, SUBJECT, run, w, 2 * bytes);
    copy_limit_add(&r, &limit, b->here, &w->at->other, &w->at->packed, bytes);
    if (!b->here->any_gpu) {
#ifdef BENCH_WITH_MPI
        mpi_pack m;
        mpi_pack_create(&m, &w->c, w->part, w->parts, w->type, w->at->host_cells.at,
                        w->at->host_packed.at);
        row_add(&r, "mpi_pack", PEER, w->unpack ? mpi_pack_run_unpack : mpi_pack_run, &m,
                2 * bytes);
#endif
        row_add(&r, "manual", PEER, run_loops, w, 2 * bytes);
        row_end(b, &r);
#ifdef BENCH_WITH_MPI
        mpi_pack_free(&m);
#endif
    } else {
        row_end(b, &r);
    }
}

/* Such as xface, xface_high; xedge_lh is along x, low in y and high in z. */
static void name_direction(char *name, size_t room_for, direction d)
{
    static const char axis[] = "xyz";
    char sides[3] = "";
    int along = 0, across = 0;
    const bool face = direction_axes(d) == 1;
    for (int k = 0; k < 3; ++k) {
        if (d.along[k] != 0) sides[across++] = d.along[k] < 0 ? 'l' : 'h';
        if ((d.along[k] != 0) == face) along = k;
    }
    sides[across < 2 ? across : 2] = '\0';
    if (face) snprintf(name, room_for, "%cface%s", axis[along], sides[0] == 'h' ? "_high" : "");
    else snprintf(name, room_for, "%cedge_%s", axis[along], sides);
}

static work work_of(const room *at, int width, bool unpack, number type, int64_t size)
{
    return (work){.at = at, .c = {size, width}, .unpack = unpack, .type = type};
}

static region part_of(const work *w, direction d)
{
    return w->unpack ? cube_ghost(&w->c, d) : cube_border(&w->c, d);
}

static void measure_one(bench *b, const room *at, const work *like, direction d)
{
    char name[32];
    work one = work_of(at, (int)like->c.ghosts, like->unpack, like->type, like->c.n);
    name_direction(name, sizeof name, d);
    add_part(&one, part_of(&one, d));
    measure(b, name, &one);
}

static void measure_width(bench *b, const room *at, int width, bool unpack, int64_t size)
{
    work all = work_of(at, width, unpack, b->o->type, size);
    for (int axis = 0; axis < 3; ++axis)
        for (int side = -1; side <= 1; side += 2) {
            direction d = {{0, 0, 0}};
            d.along[axis] = side;
            measure_one(b, at, &all, d);
            add_part(&all, part_of(&all, d));
        }
    measure(b, "6faces", &all);
    for (int axis = 0; axis < 3; ++axis)
        for (int corner = 0; corner < 4; ++corner) {
            direction d = {{0, 0, 0}};
            d.along[axis == 0 ? 1 : 0] = corner % 2 == 0 ? -1 : 1;
            d.along[axis == 2 ? 1 : 2] = corner / 2 == 0 ? -1 : 1;
            measure_one(b, at, &all, d);
        }
}

static void room_create(room *at, const bench *b, int64_t size)
{
    const cube largest = {size, MOST_WIDTH};
    const int64_t cells = cube_cells(&largest), faces = MOST_PARTS * MOST_WIDTH * size * size;
    const double bytes = (double)number_size(b->o->type);
    const double on_device = bytes * (double)(cells + 2 * faces);
    const double on_host = b->here->any_gpu ? 0 : bytes * (double)(cells + faces);
    *at = (room){.cells = {.at = NULL}};
    place_need(b->here, on_device, on_host);
    buffer_create(&at->cells, cells, b->o->type);
    buffer_create(&at->packed, faces, b->o->type);
    buffer_create(&at->other, faces, b->o->type);
    if (b->here->any_gpu) return;
    buffer_create_host(&at->host_cells, cells, b->o->type);
    buffer_create_host(&at->host_packed, faces, b->o->type);
}

static void room_free(room *at)
{
    buffer_free(&at->cells);
    buffer_free(&at->packed);
    buffer_free(&at->other);
    buffer_free(&at->host_cells);
    buffer_free(&at->host_packed);
}

void pack_run(bench *b, int64_t size)
{
    room at;
    room_create(&at, b, size);
    if (!rows_impossible("pack", size))
        for (int width = 1; width <= MOST_WIDTH; ++width)
            for (int unpack = 0; unpack < 2; ++unpack)
                if (width <= size) measure_width(b, &at, width, unpack, size);
    room_free(&at);
}
