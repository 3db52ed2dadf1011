/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_grid.c
 *  meta_grid_alloc() and meta_grid_family(): grids have the requested cells and alignment, those of
 * a family suit each other, and all work like any other buffer. */
/* TEST: backends=all auto=yes labels=core,kernel smoke=yes */
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
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

/* Of @p most_cells cells about; for 0 a grid is large enough to be padded, or nearly. Now and then
 * of extents whose rows or planes would lie powers of two apart. */
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

/* Whether padding is worth it for grids of these extents, whose elements have from @p least to @p
 * most bytes. */
static bool worth_padding(int ndim, const int64_t *extent, size_t least, size_t most)
{
    const int64_t line = LINE / (int64_t)least, far = SET_STRIDE / (int64_t)most;
    int64_t dense = (int64_t)most, rest = (int64_t)most, row = rounded(extent[0], line);
    int64_t rows = ndim > 1 ? extent[1] : 1;
    for (int d = 0; d < ndim; ++d) {
        dense *= extent[d] > 0 ? extent[d] : 1;
        if (d > 1) rest *= extent[d] > 0 ? extent[d] : 1;
    }
    if (ndim > 1 && row > 0 && row % far == 0) row += line;
    if (ndim > 2 && rows > 0 && row * rows % far == 0) ++rows;
    const int64_t all = (row > 0 ? row : 1) * (rows > 0 ? rows : 1) * rest;
    return dense >= LARGE || (dense >= WORTH_PADDING && 4 * (all - dense) <= dense);
}

static bool padded(const grid_case *c)
{
    int64_t extent[META_MAX_DIM];
    for (int d = 0; d < c->ndim; ++d) extent[d] = c->low[d] + c->cells[d] + c->high[d];
    return worth_padding(c->ndim, extent, c->element, c->element);
}

static void check_extents(const grid_case *c)
{
    const meta_box *box = &c->box;
    CHECK_INT(box->ndim, c->ndim);
    for (int d = 0; d < c->ndim; ++d) {
        CHECK_INT(box->start[d], c->low[d]);
        CHECK_INT(box->end[d] - box->start[d], c->cells[d]);
        CHECK(box->size[d] - box->end[d] >= c->high[d]);
        if (d > 1) CHECK_INT(box->size[d], c->low[d] + c->cells[d] + c->high[d]);
    }
    /* Not more memory than the promises need. */
    const int64_t line = padded(c) ? LINE / (int64_t)c->element : 1;
    CHECK(box->size[0] - box->end[0] - c->high[0] < (padded(c) ? 2 * line : 1));
    if (c->ndim > 1) CHECK(box->size[1] - box->end[1] - c->high[1] <= padded(c));
}

static void check_memory(void *ptr, const meta_box *box, size_t element, bool is_padded,
                         const char *label)
{
    const int64_t pitch = box->size[0] * (int64_t)element;
    meta_pointer_desc memory = META_POINTER_DESC_INIT;
    CHECK_INT((uintptr_t)ptr % (is_padded ? element : LINE), 0);
    if (is_padded) {
        CHECK_INT(((uintptr_t)ptr + (size_t)box->start[0] * element) % LINE, 0);
        CHECK_INT(pitch % LINE, 0);
        if (box->ndim > 1 && pitch > 0) CHECK(pitch % SET_STRIDE != 0);
        if (box->ndim > 2 && pitch * box->size[1] > 0)
            CHECK(pitch * box->size[1] % SET_STRIDE != 0);
    }
    if (!CHECK_OK(meta_pointer_info(ptr, &memory))) return;
    CHECK(memory.base == ptr && memory.kind == META_MEMORY_DEVICE && memory.offset == 0);
    CHECK(memory.bytes >= (size_t)case_box_array(box) * element && memory.bytes > 0);
    CHECK_STRING(memory.label, label);
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
        check_memory(c.ptr, &c.box, c.element, padded(&c), "");
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
    /* (2^19 + 64) x (2^19 + 2) x (2^16 + 2), 63 before them, and no stride a multiple of 4096. */
    CHECK_ERR_NAMES(meta_grid_alloc(&ptr, &box, 3, n, one, one, META_U8), META_ERR_NO_MEMORY,
                    "18017216085623103 bytes");
    CHECK(ptr == (void *)&ptr && box.ndim == -7);
}

/* ------------------------------------------------------------------ families */

enum { MOST_FIELDS = 9, NAME = 24 };

/* What was asked for of a family, and what came. */
typedef struct family_case {
    grid_case cells; /* the type means nothing */
    int fields;
    meta_grid_field field[MOST_FIELDS];
    char name[MOST_FIELDS][NAME];
    bool has_box;
    meta_box box;
} family_case;

/* Cells, faces, edges and nodes, and any that keep an element for each own cell. Memory may grow by
 * a small factor only. */
static void random_stagger(const grid_case *c, int stagger[META_MAX_DIM])
{
    for (int d = 0; d < c->ndim; ++d) {
        const int64_t fewest = c->cells[d] < c->high[d] ? -c->cells[d] : -c->high[d];
        stagger[d] = d < 3 && test_random_in(0, 1);
        if (test_random_in(0, 4) == 0)
            stagger[d] = (int)test_random_in(fewest, c->cells[d] > 5 ? 5 : 1);
    }
}

static void random_family(family_case *f, int64_t most_cells)
{
    *f = (family_case){.fields = (int)test_random_in(1, MOST_FIELDS)};
    random_case(&f->cells, most_cells);
    const bool one_type = test_random_in(0, 2) == 0;
    for (int k = 0; k < f->fields; ++k) {
        f->field[k].type = one_type ? f->cells.type : case_any_type();
        random_stagger(&f->cells, f->field[k].stagger);
        snprintf(f->name[k], NAME, "field %d", k);
        if (test_random_in(0, 1)) f->field[k].name = f->name[k];
    }
    f->has_box = test_random_in(0, 1);
}

static bool allocate_family(family_case *f)
{
    const grid_case *c = &f->cells;
    return CHECK_OK(meta_grid_family(f->field, f->fields, f->has_box ? &f->box : NULL, c->ndim,
                                     c->cells, c->low, c->high));
}

static bool family_is_padded(const family_case *f)
{
    const grid_case *c = &f->cells;
    int64_t extent[META_MAX_DIM];
    size_t least = 8, most = 1, element = 1;
    int more[META_MAX_DIM] = {0};
    for (int k = 0; k < f->fields; ++k) {
        CHECK_OK(meta_type_size(f->field[k].type, &element));
        if (element < least) least = element;
        if (element > most) most = element;
        for (int d = 0; d < c->ndim; ++d)
            if (f->field[k].stagger[d] > more[d]) more[d] = f->field[k].stagger[d];
    }
    for (int d = 0; d < c->ndim; ++d) extent[d] = c->low[d] + c->cells[d] + more[d] + c->high[d];
    return worth_padding(c->ndim, extent, least, most);
}

static void check_field(const family_case *f, const meta_grid_field *field, bool is_padded)
{
    const grid_case *c = &f->cells;
    const int last = c->ndim - 1;
    const meta_box *box = &field->box;
    size_t element = 1;
    CHECK_OK(meta_type_size(field->type, &element));
    CHECK_INT(box->ndim, c->ndim);
    for (int d = 0; d < c->ndim; ++d) {
        CHECK_INT(box->start[d], c->low[d]);
        CHECK_INT(box->end[d], c->low[d] + c->cells[d] + field->stagger[d]);
        CHECK(box->size[d] - box->end[d] >= c->high[d]);
        if (d < last) CHECK_INT(box->size[d], f->field[0].box.size[d]);
    }
    if (last > 1) CHECK_INT(box->size[last] - box->end[last], c->high[last]);
    check_memory(field->ptr, box, element, is_padded, field->name ? field->name : "");
}

static void check_box_of_cells(const family_case *f)
{
    const grid_case *c = &f->cells;
    for (int d = 0; d < c->ndim; ++d) {
        CHECK_INT(f->box.start[d], c->low[d]);
        CHECK_INT(f->box.end[d], c->low[d] + c->cells[d]);
        CHECK(f->box.size[d] >= f->box.end[d] + c->high[d]);
        if (d < c->ndim - 1) CHECK_INT(f->box.size[d], f->field[0].box.size[d]);
    }
}

static void grids_of_a_family_have_one_start_and_the_same_strides(void)
{
    int large = 0, mixed = 0;
    for (int64_t k = test_count(300, 3000); k > 0 && test_failures() == 0; --k) {
        family_case f;
        random_family(&f, test_random_in(0, 3) || !may_be_large() ? MOST_CELLS : 0);
        if (!allocate_family(&f)) return;
        const bool is_padded = family_is_padded(&f);
        large += is_padded;
        for (int n = 0; n < f.fields; ++n) {
            check_field(&f, &f.field[n], is_padded);
            mixed += f.field[n].type != f.field[0].type;
        }
        if (f.has_box) check_box_of_cells(&f);
        for (int n = 0; n < f.fields; ++n) CHECK_OK(meta_free(f.field[n].ptr));
    }
    CHECK((large > 10 && mixed > 10) || !may_be_large());
}

/* Padding does not depend on whether a field is large by itself. */
static void small_fields_are_padded_as_the_large_ones_are(void)
{
    static const int64_t n[] = {240, 200};
    static const int one[] = {1, 1};
    meta_grid_field field[] = {{.type = META_F64}, {.type = META_I8}};
    meta_box alone;
    void *ptr;
    if (!CHECK_OK(meta_grid_alloc(&ptr, &alone, 2, n, one, one, META_I8)) ||
        !CHECK_OK(meta_grid_family(field, 2, NULL, 2, n, one, one)))
        return;
    CHECK_INT(alone.size[0], 242);
    for (int k = 0; k < 2; ++k) {
        CHECK_INT(field[k].box.size[0], 256);
        CHECK_OK(meta_free(field[k].ptr));
    }
    CHECK_OK(meta_free(ptr));
}

/* Bytes of all buffers of this thread's device. */
static uint64_t bytes_in_use(void)
{
    meta_pool_desc pool = META_POOL_DESC_INIT;
    meta_mode mode;
    int index;
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_pool_info(index, mode, &pool));
    return pool.held - pool.kept;
}

/* A call that fails with @p error, names @p part, allocates nothing and writes nothing. */
static void check_refused(meta_grid_field *field, int fields, int ndim, const int64_t *cells,
                          const int *low, const int *high, meta_err error, const char *part)
{
    meta_box box = {.ndim = -7};
    meta_grid_field before[MOST_FIELDS];
    const uint64_t used = bytes_in_use();
    test_case("%s", part);
    if (field && fields > 0) memcpy(before, field, (size_t)fields * sizeof *field);
    CHECK_ERR_NAMES(meta_grid_family(field, fields, &box, ndim, cells, low, high), error, part);
    CHECK_INT(box.ndim, -7);
    if (field && fields > 0) CHECK(memcmp(before, field, (size_t)fields * sizeof *field) == 0);
    /* Less than before: META_CHECK=on keeps buffers that were freed, until memory is short. */
    if (bytes_in_use() > used) CHECK_U64(bytes_in_use(), used);
}

static void what_is_no_family_is_refused_and_nothing_is_allocated(void)
{
    enum { FIELDS = 3 };
    static const int64_t n[] = {20, 3}, minus[] = {20, -1}, many[] = {INT64_MAX / 2, 16},
                         huge[] = {INT64_C(1) << 40, INT64_C(1) << 12};
    static const int two[] = {2, 2}, below[] = {2, -2}, wide[] = {4, 4};
    const meta_grid_field right[FIELDS] = {
        {.name = "a", .type = META_I8}, {.name = "b", .type = META_F64}, {.type = META_U16}};
    meta_grid_field f[FIELDS];
#define REFUSED(ndim, cells, low, high, error, part)                                               \
    check_refused(f, FIELDS, ndim, cells, low, high, error, part)
#define AGAIN memcpy(f, right, sizeof f)
    AGAIN;
    check_refused(NULL, FIELDS, 2, n, two, two, META_ERR_ARGUMENT, "'field'");
    check_refused(f, 0, 2, n, two, two, META_ERR_ARGUMENT, "'fields' is 0");
    check_refused(f, -1, 2, n, two, two, META_ERR_ARGUMENT, "'fields' is -1");
    REFUSED(2, NULL, two, two, META_ERR_ARGUMENT, "'cells'");
    REFUSED(2, n, NULL, two, META_ERR_ARGUMENT, "'low'");
    REFUSED(2, n, two, NULL, META_ERR_ARGUMENT, "'high'");
    REFUSED(0, n, two, two, META_ERR_ARGUMENT, "'ndim' is 0");
    REFUSED(META_MAX_DIM + 1, n, two, two, META_ERR_ARGUMENT, "'ndim'");
    REFUSED(2, minus, two, two, META_ERR_ARGUMENT, "cells[1] is -1");
    REFUSED(2, n, below, two, META_ERR_ARGUMENT, "low[1] is -2");
    REFUSED(2, n, two, below, META_ERR_ARGUMENT, "high[1] is -2");
    REFUSED(2, many, two, two, META_ERR_OVERFLOW, "'cells'");
    REFUSED(2, huge, two, two, META_ERR_NO_MEMORY, "bytes");
    f[2].stagger[1] = -3;
    REFUSED(2, n, two, two, META_ERR_ARGUMENT, "field[2].stagger[1] is -3");
    f[2].stagger[1] = -4;
    REFUSED(2, n, two, wide, META_ERR_ARGUMENT, "there are 3 cells");
    AGAIN;
    f[1].stagger[0] = INT32_MIN;
    REFUSED(2, n, two, two, META_ERR_ARGUMENT, "field[1].stagger[0]");
    AGAIN;
    f[2].name = "a";
    REFUSED(2, n, two, two, META_ERR_ARGUMENT, "field[0] and field[2] are both called 'a'");
    AGAIN;
    f[1].type = META_TYPE_COUNT;
    REFUSED(2, n, two, two, META_ERR_TYPE, "'field[1].type'");
    f[1].type = (meta_type)-1;
    REFUSED(2, n, two, two, META_ERR_TYPE, "'field[1].type'");
    AGAIN;
    CHECK_OK(meta_grid_family(f, FIELDS, NULL, 2, n, two, two));
    for (int k = 0; k < FIELDS; ++k) CHECK_OK(meta_free(f[k].ptr));
#undef REFUSED
#undef AGAIN
}

TEST_DEVICE_MAIN(PROMISE(a_grid_has_the_requested_cells_and_alignment),
                 PROMISE(own_cells_and_ghosts_are_the_callers), PROMISE(padding_changes_no_bit),
                 PROMISE(a_failed_allocation_says_how_many_bytes_it_wanted),
                 PROMISE(grids_of_a_family_have_one_start_and_the_same_strides),
                 PROMISE(small_fields_are_padded_as_the_large_ones_are),
                 PROMISE(what_is_no_family_is_refused_and_nothing_is_allocated))
