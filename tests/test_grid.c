/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_grid.c
 *  meta_grid_alloc(): grids have the requested cells and alignment, and work like any other
 *  buffer. */
/* TEST: backends=all auto=yes labels=core,kernel smoke=yes */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, SET_STRIDE = 4096, MOST_CELLS = 1 << 16 };
/* From WORTH_PADDING on grids are padded by a quarter at most, from LARGE on in any case. */
enum { WORTH_PADDING = 256 << 10, LARGE = 24 << 20 };

/* What was asked for, and what came. */
typedef struct grid_case {
    int ndim, low[META_MAX_DIM], high[META_MAX_DIM];
    int64_t cells[META_MAX_DIM];
    meta_type type;
    size_t element;
    void *ptr;
    meta_box box;
} grid_case;

/* Now and then of just the extents whose rows or planes would lie far powers of two apart. */
/* Of @p most cells about; a grid for 0 of them is large enough to be padded, or nearly. */
static void random_case(grid_case *c, int64_t most_cells)
{
    int64_t room = most_cells > 0 ? most_cells : test_random_in(0, 1) ? LARGE : WORTH_PADDING;
    *c = (grid_case){.ndim = (int)test_random_in(1, META_MAX_DIM), .type = case_any_type()};
    CHECK_OK(meta_type_size(c->type, &c->element));
    if (most_cells == 0) c->ndim = (int)test_random_in(1, 4);
    for (int d = 0; d < c->ndim; ++d) {
        const int64_t most = room < 8 ? 1 : d < 3 ? room / 4 : 3, ghosts = room < 8 ? 0 : 2;
        c->low[d] = (int)test_random_in(0, d == 0 ? 20 : ghosts);
        c->high[d] = (int)test_random_in(0, d == 0 ? 20 : ghosts);
        c->cells[d] = test_random_in(0, 40) == 0 ? 0 : test_random_in(1, most);
        if (d < 2 && test_random_in(0, 3) == 0)
            c->cells[d] = test_random_in(1, 2) * (d == 0 ? SET_STRIDE / (int64_t)c->element : 8);
        room /= (c->cells[d] + c->low[d] + c->high[d]) | 1;
        if (most_cells == 0 && d == c->ndim - 1) c->cells[d] += room + 1;
    }
    test_case("%d dimensions of %" PRId64 " %" PRId64 " … cells, ghosts %d %d … and %d %d …, %s",
              c->ndim, c->cells[0], c->cells[1], c->low[0], c->low[1], c->high[0], c->high[1],
              case_type_name(c->type));
}

static bool allocate(grid_case *c)
{
    return CHECK_OK(meta_grid_alloc(&c->ptr, &c->box, c->ndim, c->cells, c->low, c->high, c->type));
}

static int64_t rounded(int64_t elements, int64_t line)
{
    return (elements + line - 1) / line * line;
}

static bool padded(const grid_case *c)
{
    const int64_t line = LINE / (int64_t)c->element, far = SET_STRIDE / (int64_t)c->element;
    int64_t bytes = (int64_t)c->element, more, row, rest = 1;
    for (int d = 0; d < c->ndim; ++d) {
        const int64_t extent = c->low[d] + c->cells[d] + c->high[d];
        bytes *= extent > 0 ? extent : 1;
        if (d > 1) rest *= extent > 0 ? extent : 1;
    }
    row = rounded(rounded(c->low[0], line < 8 ? 1 : line / 8) + c->cells[0] + c->high[0], line);
    if (c->ndim > 1 && row % far == 0 && row > 0) row += line;
    more = c->ndim > 1 ? c->low[1] + c->cells[1] + c->high[1] : 1;
    if (c->ndim > 2 && more > 0 && row * more % far == 0) ++more;
    more = (row > 0 ? row : 1) * (more > 0 ? more : 1) * rest * (int64_t)c->element;
    return bytes >= LARGE || (bytes >= WORTH_PADDING && 4 * (more - bytes) <= bytes);
}

static void check_extents(const grid_case *c)
{
    const meta_box *box = &c->box;
    CHECK_INT(box->ndim, c->ndim);
    for (int d = 0; d < c->ndim; ++d) {
        CHECK_INT(box->end[d] - box->start[d], c->cells[d]);
        CHECK(box->start[d] >= c->low[d]);
        CHECK(box->size[d] - box->end[d] >= c->high[d]);
        if (d > 0) CHECK_INT(box->start[d], c->low[d]);
        if (d > 1) CHECK_INT(box->size[d], c->low[d] + c->cells[d] + c->high[d]);
    }
    /* Not more memory than the promises need. */
    const int64_t line = padded(c) ? LINE / (int64_t)c->element : 1;
    CHECK((box->start[0] - c->low[0]) * (int64_t)c->element < (padded(c) ? 8 : 1));
    CHECK(box->size[0] - box->end[0] - c->high[0] < (padded(c) ? 2 * line : 1));
    if (c->ndim > 1) CHECK(box->size[1] - box->end[1] - c->high[1] <= padded(c));
}

static void check_places(const grid_case *c)
{
    const meta_box *box = &c->box;
    const int64_t pitch = box->size[0] * (int64_t)c->element;
    meta_pointer_desc memory = META_POINTER_DESC_INIT;
    CHECK_INT((uintptr_t)c->ptr % (padded(c) ? c->element > 8 ? c->element : 8 : LINE), 0);
    if (padded(c)) {
        CHECK_INT(((intptr_t)c->ptr + box->start[0] * (int64_t)c->element) % LINE, 0);
        CHECK_INT(pitch % LINE, 0);
        if (c->ndim > 1 && pitch > 0) CHECK(pitch % SET_STRIDE != 0);
        if (c->ndim > 2 && pitch * box->size[1] > 0) CHECK(pitch * box->size[1] % SET_STRIDE != 0);
    }
    if (!CHECK_OK(meta_pointer_info(c->ptr, &memory))) return;
    CHECK(memory.base == c->ptr && memory.kind == META_MEMORY_DEVICE);
    CHECK(memory.bytes >= (size_t)case_box_array(box) * c->element && memory.bytes > 0);
}

/* Whether a case moves a large grid's cells, which takes an interpreter of kernels minutes. */
static bool may_be_large(void)
{
    const char *brief = getenv("META_TEST_BRIEF");
    return !brief || strcmp(brief, "1") != 0;
}

static void a_grid_has_the_requested_cells_and_alignment(void)
{
    int large = 0, middling = 0;
    for (int64_t k = test_count(400, 4000); k > 0 && test_failures() == 0; --k) {
        grid_case c;
        meta_box again;
        void *other = NULL;
        random_case(&c, test_random_in(0, 3) || !may_be_large() ? MOST_CELLS : 0);
        if (!allocate(&c)) return;
        large += padded(&c);
        middling += padded(&c) && case_box_array(&c.box) * (int64_t)c.element < LARGE;
        check_extents(&c);
        check_places(&c);
        if (CHECK_OK(meta_grid_alloc(&other, &again, c.ndim, c.cells, c.low, c.high, c.type))) {
            CHECK(memcmp(&again, &c.box, sizeof again) == 0);
            CHECK_OK(meta_free(other));
        }
        CHECK_OK(meta_free(c.ptr));
    }
    CHECK((large > 10 && middling > 3) || !may_be_large());
}

/* Every ghost cell that was asked for is there, and every own cell keeps what it is given. */
static void own_cells_and_ghosts_are_the_callers(void)
{
    for (int64_t k = test_count(60, 600); k > 0 && test_failures() == 0; --k) {
        grid_case c;
        meta_face face;
        random_case(&c, k % 20 == 0 && may_be_large() ? 0 : MOST_CELLS);
        if (!allocate(&c)) return;
        for (int d = 0; d < c.ndim; ++d) {
            CHECK_OK(meta_face_slab(&face, &c.box, d, META_SLAB_LOW_GHOST, c.low[d]));
            CHECK_OK(meta_face_slab(&face, &c.box, d, META_SLAB_HIGH_GHOST, c.high[d]));
        }
        meta_box whole = c.box, dense = {.ndim = c.ndim};
        for (int d = 0; d < c.ndim; ++d) {
            whole.start[d] -= c.low[d];
            whole.end[d] += c.high[d];
            dense.end[d] = dense.size[d] = whole.end[d] - whole.start[d];
        }
        const size_t count = (size_t)case_box_cells(&dense), bytes = count * c.element;
        unsigned char *given = malloc(bytes + 1), *found = malloc(bytes + 1);
        void *packed = NULL;
        if (bytes > 0 && CHECK(given && found) && CHECK_OK(meta_alloc(&packed, bytes))) {
            test_random_fill(given, count, c.type);
            CHECK_OK(meta_copy_h2d(packed, given, bytes, NULL));
            CHECK_OK(meta_copy_box(c.ptr, &whole, packed, &dense, c.type, META_ASYNC));
            CHECK_OK(meta_fill(packed, (int64_t)bytes, "", META_U8, META_ASYNC));
            CHECK_OK(meta_copy_box(packed, &dense, c.ptr, &whole, c.type, META_ASYNC));
            CHECK_OK(meta_copy_d2h(found, packed, bytes, NULL));
            CHECK(memcmp(found, given, bytes) == 0);
            CHECK_OK(meta_free(packed));
        }
        free(given);
        free(found);
        CHECK_OK(meta_free(c.ptr));
    }
}

/* The averages of a 7-point stencil on a dense grid and on a padded one. */
static void padding_changes_no_bit(void)
{
    enum { GHOSTS = 1 };
    static const int one[3] = {1, 1, 1};
    const meta_type type = case_has_f64() ? META_F64 : META_F32;
    size_t element = 1;
    CHECK_OK(meta_type_size(type, &element));
    for (int64_t k = test_count(20, 200); k > 0 && test_failures() == 0; --k) {
        int64_t n[3] = {test_random_in(1, 70), test_random_in(1, 20), test_random_in(1, 10)};
        if (k == 1 && may_be_large()) n[0] = 70, n[1] = 300, n[2] = 301; /* padded */
        if (k == 2) n[0] = n[1] = n[2] = 64;                             /* as well */
        meta_box dense = {.ndim = 3}, padded;
        void *in = NULL, *out = NULL, *from = NULL, *to = NULL;
        for (int d = 0; d < 3; ++d) {
            dense.size[d] = n[d] + 2 * GHOSTS;
            dense.start[d] = GHOSTS;
            dense.end[d] = GHOSTS + n[d];
        }
        const size_t count = (size_t)case_box_array(&dense), bytes = count * element;
        unsigned char *host = malloc(bytes), *found = malloc(bytes), *wanted = malloc(bytes);
        test_case("%" PRId64 " x %" PRId64 " x %" PRId64 " cells", n[0], n[1], n[2]);
        if (!CHECK(host && found && wanted) || !CHECK_OK(meta_alloc(&in, bytes)) ||
            !CHECK_OK(meta_alloc(&out, bytes)) ||
            !CHECK_OK(meta_grid_alloc(&from, &padded, 3, n, one, one, type)) ||
            !CHECK_OK(meta_grid_alloc(&to, &padded, 3, n, one, one, type)))
            return;
        test_random_fill(host, count, type);
        CHECK_OK(meta_copy_h2d(in, host, bytes, NULL));
        CHECK_OK(meta_copy_h2d(out, host, bytes, NULL));
        meta_box whole = dense, there = padded;
        for (int d = 0; d < 3; ++d) {
            --whole.start[d], ++whole.end[d];
            --there.start[d], ++there.end[d];
        }
        CHECK_OK(meta_copy_box(from, &there, in, &whole, type, META_ASYNC));
        CHECK_OK(meta_stencil(out, in, &dense, META_3D7P, type, NULL, META_ASYNC));
        CHECK_OK(meta_copy_d2h(wanted, out, bytes, NULL));
        CHECK_OK(meta_stencil(to, from, &padded, META_3D7P, type, NULL, META_ASYNC));
        CHECK_OK(meta_copy_box(out, &dense, to, &padded, type, META_ASYNC));
        CHECK_OK(meta_copy_d2h(found, out, bytes, NULL));
        CHECK_ARRAY(found, wanted, count, type);
        CHECK_OK(meta_free(in));
        CHECK_OK(meta_free(out));
        CHECK_OK(meta_free(from));
        CHECK_OK(meta_free(to));
        free(host);
        free(found);
        free(wanted);
    }
}

static void a_failed_allocation_says_how_many_bytes_it_wanted(void)
{
    static const int64_t n[] = {1 << 19, 1 << 19, 1 << 16};
    static const int one[] = {1, 1, 1};
    void *ptr = &ptr;
    meta_box box = {.ndim = -7};
    /* (2^19 + 64) x (2^19 + 2) x (2^16 + 2), 56 before them, and no stride a multiple of 4096. */
    CHECK_ERR_NAMES(meta_grid_alloc(&ptr, &box, 3, n, one, one, META_U8), META_ERR_NO_MEMORY,
                    "18017216085623096 bytes");
    CHECK(ptr == (void *)&ptr && box.ndim == -7);
}

TEST_DEVICE_MAIN(PROMISE(a_grid_has_the_requested_cells_and_alignment),
                 PROMISE(own_cells_and_ghosts_are_the_callers), PROMISE(padding_changes_no_bit),
                 PROMISE(a_failed_allocation_says_how_many_bytes_it_wanted))
