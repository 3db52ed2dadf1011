/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_launch.c
 *  Many moves in one launch, as halo plans make them: every face, edge and corner of several
 *  grids at once gives the same result as a plain loop, however the back end combines them. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "internal.h"
#include "mirror.h"

#include <inttypes.h>
#include <string.h>

enum { WAYS = 27, MOST_FIELDS = 3, MOST_CALLS = WAYS * MOST_FIELDS, MOST_WIDTH = 3 };

static const meta_core *const core = &meta_core_table;

/* Grids one after the other in a buffer, with the same ghosts at both sides of a dimension. */
typedef struct grids {
    meta_type type;
    size_t bytes;
    int fields, width;
    meta_box own;
    int64_t cells; /* of a grid, ghosts included */
} grids;

static grids random_grids(int64_t longest)
{
    grids g = {.type = case_any_type(), .fields = (int)test_random_in(1, MOST_FIELDS), .cells = 1};
    CHECK_OK(meta_type_size(g.type, &g.bytes));
    g.width = (int)test_random_in(1, MOST_WIDTH);
    g.own.ndim = (int)test_random_in(1, 3);
    for (int d = 0; d < g.own.ndim; ++d) {
        const int64_t padding = d == 0 ? test_random_in(0, 9) : 0;
        g.own.start[d] = g.width;
        g.own.end[d] = g.width + test_random_in(g.width, longest);
        g.own.size[d] = g.own.end[d] + g.width + padding;
        g.cells *= g.own.size[d];
    }
    return g;
}

/* What is sent in a direction, or the ghosts there. @return 0 where it points nowhere. */
static int part_of(const grids *g, int way, int ghosts, meta_box *part)
{
    int axes = 0, rest = way;
    *part = g->own;
    for (int d = 0; d < 3; ++d, rest /= 3) {
        const int along = rest % 3 - 1;
        if (along == 0) continue;
        if (d >= g->own.ndim) return 0;
        ++axes;
        if (along < 0) part->end[d] = g->own.start[d] + g->width;
        else part->start[d] = g->own.end[d] - g->width;
        if (ghosts) part->start[d] += along * g->width, part->end[d] += along * g->width;
    }
    return axes;
}

/* A launch's calls while they are gathered, and the bytes that are packed so far. */
typedef struct list {
    meta_builtin moves[MOST_CALLS];
    size_t count;
    meta_device *device;
    int64_t packed;
} list;

static void move_expected(mirror *to, int64_t to_at, const mirror *from, int64_t from_at,
                          size_t bytes)
{
    memcpy(to->expected + to_at, from->expected + from_at, bytes);
}

static void add_face(list *l, const grids *g, mirror *grid, mirror *packed, const meta_box *part,
                     int field, int unpack)
{
    meta_face face;
    meta_span span, packed_span;
    const int64_t bytes = (int64_t)g->bytes, at = field * g->cells * bytes;
    if (!CHECK_OK(meta_face_box(&face, part))) return;
    const int64_t count = case_face_elements(&face);
    if (l->packed + count * bytes > (int64_t)packed->bytes) return; /* no room left: leave it out */
    if (!CHECK_OK(core->resolve_face(grid->device + at, &face, g->type, "grid", &span)) ||
        !CHECK_OK(
            core->resolve(packed->device + l->packed, count, g->type, "packed", &packed_span)) ||
        !CHECK(core->move_begin(&l->moves[l->count], unpack ? META_KERNEL_UNPACK : META_KERNEL_PACK,
                                g->type, unpack ? &face : NULL, unpack ? NULL : &face)) ||
        !CHECK_OK(core->move_bind(&l->moves[l->count], unpack ? &span : &packed_span,
                                  unpack ? &packed_span : &span)))
        return;
    l->device = span.device;
    ++l->count;
    for (int64_t n = 0; n < count; ++n) {
        const int64_t cell = at + case_face_index(&face, n) * bytes, in = l->packed + n * bytes;
        if (unpack) move_expected(grid, cell, packed, in, g->bytes);
        else move_expected(packed, in, grid, cell, g->bytes);
    }
    l->packed += count * bytes;
}

static void add_copy(list *l, const grids *g, mirror *grid, int way, int field)
{
    meta_box to, from;
    meta_face to_face, from_face;
    meta_span span;
    const int64_t bytes = (int64_t)g->bytes, at = field * g->cells * bytes;
    part_of(g, way, 1, &to);
    part_of(g, WAYS - 1 - way, 0, &from);
    if (!CHECK_OK(meta_face_box(&to_face, &to)) || !CHECK_OK(meta_face_box(&from_face, &from)) ||
        !CHECK_OK(core->resolve(grid->device + at, g->cells, g->type, "grid", &span)) ||
        !CHECK(core->move_begin(&l->moves[l->count], META_KERNEL_COPY, g->type, &to_face,
                                &from_face)) ||
        !CHECK_OK(core->move_bind(&l->moves[l->count], &span, &span)))
        return;
    l->device = span.device;
    ++l->count;
    for (int64_t n = 0; n < case_face_elements(&to_face); ++n)
        move_expected(grid, at + case_face_index(&to_face, n) * bytes, grid,
                      at + case_face_index(&from_face, n) * bytes, g->bytes);
}

typedef enum kind { PACK, UNPACK, COPY, KINDS } kind;

static void launch_and_compare(mirror *grid, mirror *packed, kind what, int64_t longest)
{
    const grids g = random_grids(longest);
    const int all = (int)test_random_in(0, 1);
    static list l;
    meta_pending pending = {NULL, NULL};
    l = (list){.packed = 8 * test_random_in(0, 4)};
    test_case("kind %d of %s, %d grids, %d wide, %s, %s", (int)what, case_type_name(g.type),
              g.fields, g.width, all ? "all neighbours" : "faces", case_box_text(&g.own));
    if (g.cells * (int64_t)g.bytes * g.fields > (int64_t)grid->bytes) return;
    for (int way = 0; way < WAYS; ++way)
        for (int field = 0; field < g.fields; ++field) {
            meta_box part;
            const int axes = part_of(&g, way, what == UNPACK, &part);
            if (axes == 0 || (axes > 1 && !all)) continue;
            if (what == COPY) add_copy(&l, &g, grid, way, field);
            else add_face(&l, &g, grid, packed, &part, field, what == UNPACK);
        }
    if (l.count == 0) return;
    CHECK_OK(core->launch(l.device, META_QUEUE_COMPUTE, l.moves, l.count, &pending));
    CHECK_OK(core->pending_wait(&pending));
    core->pending_release(&pending);
    mirror_holds(grid, g.type, "the grids");
    mirror_holds(packed, g.type, "what was packed");
}

static void many_launches(kind what, int64_t longest, size_t room, int64_t cases)
{
    mirror grid = {0}, packed = {0};
    if (mirror_new(&grid, room) && mirror_new(&packed, room))
        for (int64_t k = 0; k < cases; ++k) {
            if (k % 20 == 19) mirror_refill(&packed, META_U8, CASE_PLAIN);
            if (k % 20 == 9) mirror_refill(&grid, META_U8, CASE_PLAIN);
            launch_and_compare(&grid, &packed, what, longest);
        }
    mirror_free(&grid);
    mirror_free(&packed);
}

static void faces_packed_in_one_launch_are_correct(void)
{
    many_launches(PACK, 12, 1 << 18, test_count(300, 30000));
}

static void faces_unpacked_in_one_launch_are_correct(void)
{
    many_launches(UNPACK, 12, 1 << 18, test_count(300, 30000));
}

static void opposite_sides_copied_in_one_launch_are_correct(void)
{
    many_launches(COPY, 12, 1 << 18, test_count(300, 30000));
}

/* So large that threads share them, and that faces are moved side by side. */
static void large_launches_are_as_correct_as_small_ones(void)
{
    for (int what = PACK; what < KINDS; ++what)
        many_launches((kind)what, 110, 1 << 23, test_count(12, 400));
}

TEST_DEVICE_MAIN(PROMISE(faces_packed_in_one_launch_are_correct),
                 PROMISE(faces_unpacked_in_one_launch_are_correct),
                 PROMISE(opposite_sides_copied_in_one_launch_are_correct),
                 PROMISE(large_launches_are_as_correct_as_small_ones))
