/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_views.c
 *  What a box makes of a grid's memory: a part of the grid by the grid's extents, an array of other
 *  dimensions or elements, or, where its rows would lie elsewhere, an error. */
/* TEST: backends=all auto=yes labels=core */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

static const double one = 1, nine = 9;

/* ------------------------------------------------------------------ views */

/* The cells of @p box in the array at @p ptr are written, and nothing else of the buffer. */
static void check_fill(char *ptr, const meta_box *box, size_t buffer_bytes, void *buffer)
{
    const int64_t count = (int64_t)buffer_bytes / 8, first = (ptr - (char *)buffer) / 8;
    double *found = malloc(buffer_bytes), *expected = malloc(buffer_bytes);
    if (!CHECK(found && expected)) return;
    for (int64_t k = 0; k < count; ++k) expected[k] = one;
    for (int64_t n = 0; n < case_box_cells(box); ++n)
        expected[first + case_box_index(box, n)] = nine;
    CHECK_OK(meta_fill(buffer, count, &one, META_F64, NULL));
    CHECK_OK(meta_fill_box(ptr, box, &nine, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(found, buffer, buffer_bytes, NULL));
    CHECK_ARRAY(found, expected, count, META_F64);
    free(found);
    free(expected);
}

/* A padded grid of four dimensions, and its bytes. */
static char *batch(meta_box *box, size_t *bytes)
{
    const int64_t cells[4] = {36, 20, 12, 10};
    const int width[4] = {1, 1, 1, 0};
    void *p = NULL;
    if (!CHECK_OK(meta_grid_alloc(&p, box, 4, cells, width, width, META_F64))) return NULL;
    CHECK(box->size[0] > 38); /* padded */
    *bytes = 8 * (size_t)case_box_array(box);
    return p;
}

static void a_batch_is_addressed_volume_by_volume(void)
{
    meta_box all, part;
    size_t bytes;
    char *p = batch(&all, &bytes);
    if (!p) return;
    part = all;
    part.ndim = 3;
    const int64_t volume = all.size[0] * all.size[1] * all.size[2];
    for (int k = 0; k < 10; ++k) check_fill(p + k * volume * 8, &part, bytes, p);
    CHECK_OK(meta_free(p));
}

static void a_pointer_into_the_middle_has_the_shape_of_the_box(void)
{
    const meta_box box = {3, {11, 7, 5}, {1, 1, 0}, {10, 6, 5}};
    meta_box all;
    size_t bytes;
    char *p = batch(&all, &bytes);
    if (!p) return;
    check_fill(p + 8, &box, bytes, p);
    check_fill(p + 8 * all.size[0], &box, bytes, p);
    CHECK_OK(meta_free(p));
}

static void parts_of_a_grid_are_addressed_by_its_extents(void)
{
    meta_box all, box;
    size_t bytes;
    char *p = batch(&all, &bytes);
    if (!p) return;
    for (int d = 0; d < 4; ++d) {
        box = all; /* a side */
        box.end[d] = box.start[d] + 1;
        check_fill(p, &box, bytes, p);
        box = all; /* ghosts, too */
        box.start[d] = 0, box.end[d] = box.size[d];
        check_fill(p, &box, bytes, p);
    }
    box = all; /* fewer of the slowest dimension */
    box.size[3] = box.end[3] = 4;
    check_fill(p, &box, bytes, p);
    box.size[3] = 1000; /* the last extent places nothing */
    check_fill(p, &box, bytes, p);
    CHECK_OK(meta_free(p));
}

/* By one of its own strides, even where it is padded. */
static void a_grid_is_viewed_flat(void)
{
    meta_box all, box;
    size_t bytes;
    char *p = batch(&all, &bytes);
    if (!p) return;
    box = (meta_box){1, {case_box_array(&all)}, {3}, {case_box_array(&all) - 5}};
    check_fill(p, &box, bytes, p);
    box.size[0] = 100, box.end[0] = 77;
    check_fill(p, &box, bytes, p);
    box = (meta_box){2,
                     {all.size[0], all.size[1] * all.size[2] * all.size[3]},
                     {2, 3},
                     {all.size[0], all.size[1] * 7}};
    check_fill(p, &box, bytes, p);
    box = (meta_box){2, {all.size[0] * all.size[1], all.size[2] * all.size[3]}, {5, 1}, {90, 100}};
    check_fill(p, &box, bytes, p);
    box = (meta_box){5,
                     {4, all.size[0] / 4, all.size[1], all.size[2], all.size[3]},
                     {1, 2, 3, 4, 5},
                     {4, 5, 6, 7, 8}};
    check_fill(p, &box, bytes, p);
    CHECK_OK(meta_free(p));
}

/* Without padding, fewer dimensions are views of any rows; with it, those that are not the grid's
 * are refused. */
static void only_a_grid_without_padding_is_viewed_by_other_rows(void)
{
    const int64_t few[3] = {36, 20, 4}, many[3] = {36, 20, 120};
    for (int padded = 0; padded < 2; ++padded) {
        meta_box own;
        void *p;
        if (!case_grid(&p, &own, 3, padded ? many : few, 1, META_F64)) return;
        CHECK_INT(own.size[0] > 38, padded);
        const size_t bytes = 8 * (size_t)case_box_array(&own);
        const meta_box line = {1, {case_box_array(&own)}, {3}, {case_box_array(&own) - 5}},
                       planes = {2, {own.size[0] * own.size[1], own.size[2]}, {5, 1}, {90, 5}},
                       table = {2, {50, 60}, {1, 1}, {49, 59}};
        check_fill(p, &line, bytes, p);
        check_fill(p, &planes, bytes, p);
        if (!padded) check_fill(p, &table, bytes, p);
        else
            CHECK_ERR_NAMES(meta_fill_box(p, &table, &one, META_F64, NULL), META_ERR_ARGUMENT,
                            "50 x 60");
        CHECK_OK(meta_free(p));
    }
}

static void extents_of_one_are_no_dimensions(void)
{
    meta_box box, own;
    size_t bytes;
    const int64_t cells[4] = {1, 300, 1, 200};
    void *p;
    if (!case_grid(&p, &own, 4, cells, 0, META_F64)) return;
    bytes = 8 * (size_t)case_box_array(&own);
    box = (meta_box){2, {own.size[0] * 300, 200}, {0, 3}, {own.size[0] * 300, 190}};
    check_fill(p, &box, bytes, p);
    box = (meta_box){3, {own.size[0] * 300, 1, 200}, {2, 0, 3}, {250, 1, 190}};
    check_fill(p, &box, bytes, p);
    CHECK_OK(meta_free(p));
}

static void a_grid_of_one_row_is_flat(void)
{
    const int64_t cells[2] = {70000, 1};
    for (int ndim = 1; ndim <= 2; ++ndim) {
        const int none[2] = {0, 0}, some[2] = {3, 0};
        meta_box own;
        void *p;
        if (!CHECK_OK(meta_grid_alloc(&p, &own, ndim, cells, some, none, META_F64))) return;
        const size_t bytes = 8 * (size_t)own.size[0];
        CHECK_INT(own.size[0] % 8, 0);
        const meta_box line = {1, {own.size[0]}, {1}, {own.size[0] - 1}},
                       shorter = {1, {65}, {1}, {60}};
        const meta_box table = {2, {8, own.size[0] / 8}, {1, 1}, {7, 290}};
        check_fill(p, &line, bytes, p);
        check_fill(p, &shorter, bytes, p);
        check_fill(p, &table, bytes, p);
        CHECK_OK(meta_free(p));
    }
}

static void memory_without_a_shape_has_that_of_the_box(void)
{
    const meta_box wide = {2, {300, 200}, {1, 1}, {299, 199}},
                   narrow = {2, {200, 300}, {0, 0}, {200, 290}};
    const size_t bytes = 300 * 200 * 8;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    int index;
    meta_mode mode;
    void *p;
    if (!CHECK_OK(meta_alloc(&p, bytes))) return;
    check_fill(p, &wide, bytes, p);
    check_fill(p, &narrow, bytes, p);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_device_info(index, mode, &device));
    double *own = mode == META_OPENMP ? calloc(bytes, 1) : NULL;
    if (!own || !CHECK_OK(meta_wrap(&p, own, bytes, META_NATIVE_HOST))) return free(own);
    check_fill(p, &wide, bytes, p);
    check_fill(p, &narrow, bytes, p);
    CHECK_OK(meta_unwrap(p));
    free(own);
}

/* As integers of the same size, and as twice as many of half. */
static void a_grid_is_used_as_elements_of_another_type(void)
{
    const int64_t cells[2] = {400, 100}, minus = -1;
    const uint32_t ones = UINT32_MAX;
    meta_box box, halves;
    int64_t least = 0;
    uint32_t half = 0;
    void *p;
    if (!case_grid(&p, &box, 2, cells, 1, META_F64)) return;
    CHECK_OK(meta_fill_box(p, &box, &minus, META_I64, NULL));
    CHECK_OK(meta_reduce(&least, p, &box, META_MAX, META_I64, NULL));
    CHECK_INT(least, -1);
    halves = box;
    halves.size[0] *= 2, halves.start[0] *= 2, halves.end[0] *= 2;
    CHECK_OK(meta_reduce(&half, p, &halves, META_MIN, META_U32, NULL));
    CHECK_U64(half, ones);
    CHECK_OK(meta_free(p));
}

static void a_freed_grid_takes_its_shape_with_it(void)
{
    const int64_t square[2] = {250, 250}, wide[2] = {500, 125};
    const meta_box other = {2, {125, 500}, {0, 0}, {125, 500}};
    for (int n = 0; n < 20; ++n) {
        meta_box first, second;
        void *p;
        if (!case_grid(&p, &first, 2, square, 0, META_F64)) return;
        const size_t bytes = 8 * (size_t)case_box_array(&first);
        CHECK_ERR(meta_fill_box(p, &other, &one, META_F64, NULL), META_ERR_BOUNDS);
        CHECK_OK(meta_free(p));
        if (!CHECK_OK(meta_alloc(&p, bytes))) return;
        CHECK_OK(meta_fill_box(p, &other, &one, META_F64, NULL));
        CHECK_OK(meta_free(p));
        if (!case_grid(&p, &second, 2, wide, 0, META_F64)) return;
        CHECK_OK(meta_fill_box(p, &second, &one, META_F64, NULL));
        CHECK_ERR(meta_fill_box(p, &first, &one, META_F64, NULL), META_ERR_BOUNDS);
        CHECK_OK(meta_free(p));
    }
}

/* ------------------------------------------------------------------ random ones */

/* Where a dimension of several elements has another stride in the array of the box, although
 * indices beyond 0 are used along it. Dimensions of one element do not count. */
static bool differs(const meta_box *own, const meta_box *box)
{
    int64_t stride[2] = {1, 1};
    int d[2] = {0, 0};
    for (;;) {
        while (d[0] < own->ndim && own->size[d[0]] == 1) ++d[0];
        while (d[1] < box->ndim && box->size[d[1]] == 1) ++d[1];
        if (d[0] == own->ndim || d[1] == box->ndim) return false;
        if (stride[0] != stride[1] && box->end[d[1]] > 1) return true;
        stride[0] *= own->size[d[0]++];
        stride[1] *= box->size[d[1]++];
    }
}

/* Where a stride is used that is none of the grid's. */
static bool has_foreign(const meta_box *own, const meta_box *box)
{
    int64_t stride = 1;
    for (int d = 0; d < box->ndim; stride *= box->size[d++]) {
        int64_t of_grid = 1;
        bool found = box->end[d] == 1;
        for (int k = 0; k < own->ndim; of_grid *= own->size[k++]) found |= of_grid == stride;
        if (!found) return true;
    }
    return false;
}

static int dimensions(const meta_box *box)
{
    int count = 0;
    for (int d = 0; d < box->ndim; ++d) count += box->size[d] > 1;
    return count;
}

/* Extents are the grid's, or others in some dimensions, now and then fewer or more of these; ranges
 * are any that fit the buffer. */
static void random_box(const meta_box *own, meta_box *box)
{
    const int64_t room = case_box_array(own);
    *box = *own;
    if (test_random_in(0, 3) == 0) box->ndim = (int)test_random_in(1, own->ndim + 1);
    if (box->ndim > own->ndim) box->size[own->ndim] = test_random_in(1, 2);
    for (int d = 0; d < box->ndim; ++d)
        if (test_random_in(0, 3) == 0) box->size[d] += test_random_in(-3, 3);
    for (int d = 0; d < box->ndim; ++d) {
        if (box->size[d] < 1) box->size[d] = 1;
        box->start[d] = test_random_in(0, test_random_in(0, 1) ? 0 : box->size[d] - 1);
        box->end[d] =
            test_random_in(test_random_in(0, 1) ? box->size[d] : box->start[d] + 1, box->size[d]);
    }
    for (int d = box->ndim - 1; d >= 0 && case_box_index(box, case_box_cells(box) - 1) >= room; --d)
        box->start[d] = 0, box->end[d] = 1;
}

/* What a call for the box returns; @p used receives the extents by which it addresses the grid. */
static meta_err expected_of(const meta_box *own, const meta_box *box, bool padded, meta_box *used)
{
    const int dims = dimensions(box), own_dims = dimensions(own);
    bool inside = box->ndim == own->ndim;
    *used = *box;
    for (int d = 0; inside && d < box->ndim; ++d) inside = box->end[d] <= own->size[d];
    if (inside) memcpy(used->size, own->size, sizeof used->size);
    if (inside) return META_OK;
    const bool is_view = dims == own_dims ? !differs(own, box)
                                          : dims > own_dims || !padded || !has_foreign(own, box);
    if (box->ndim != own->ndim) return is_view ? META_OK : META_ERR_ARGUMENT;
    return is_view && case_box_array(box) == case_box_array(own) ? META_OK : META_ERR_BOUNDS;
}

static meta_err check_random(void *p, const meta_box *own, const meta_box *box, bool padded)
{
    const size_t bytes = 8 * (size_t)case_box_array(own);
    const double before = 4;
    meta_box used;
    const meta_err error = expected_of(own, box, padded, &used);
    double *found = malloc(bytes), *expected = malloc(bytes);
    if (!CHECK(found && expected)) return error;
    CHECK_OK(meta_fill(p, (int64_t)bytes / 8, &before, META_F64, NULL));
    CHECK_INT(meta_fill_box(p, box, &nine, META_F64, NULL), error);
    for (size_t k = 0; k < bytes / 8; ++k) expected[k] = before;
    for (int64_t n = 0; error == META_OK && n < case_box_cells(&used); ++n)
        expected[case_box_index(&used, n)] = nine;
    CHECK_OK(meta_copy_d2h(found, p, bytes, NULL));
    CHECK_ARRAY(found, expected, bytes / 8, META_F64);
    free(found);
    free(expected);
    return error;
}

static void a_random_box_is_refused_or_addresses_the_cells_of_the_grid(void)
{
    int found[META_ERR_COUNT] = {0};
    for (int n = 0; n < 300; ++n) {
        const int ndim = (int)test_random_in(1, 4);
        const bool large = test_random_in(0, 2) == 0;
        int64_t cells[4], room = large ? 40000 : 400;
        int low[4], high[4];
        meta_box own, box;
        void *p;
        for (int d = 0; d < ndim; ++d) {
            cells[d] =
                d == ndim - 1 ? (room > 1 ? room : 1) : test_random_in(1, room < 30 ? 3 : 30);
            room /= cells[d] + 1;
            low[d] = (int)test_random_in(0, 2), high[d] = (int)test_random_in(0, 2);
        }
        if (!CHECK_OK(meta_grid_alloc(&p, &own, ndim, cells, low, high, META_F64))) return;
        bool padded = false;
        for (int d = 0; d < ndim; ++d) padded |= own.size[d] != low[d] + cells[d] + high[d];
        for (int k = 0; k < 4; ++k) {
            random_box(&own, &box);
            test_case("grid %s; box %s", case_box_text(&own), case_box_text(&box));
            ++found[check_random(p, &own, &box, padded)];
        }
        CHECK_OK(meta_free(p));
    }
}

TEST_DEVICE_MAIN(PROMISE(a_batch_is_addressed_volume_by_volume),
                 PROMISE(a_pointer_into_the_middle_has_the_shape_of_the_box),
                 PROMISE(parts_of_a_grid_are_addressed_by_its_extents),
                 PROMISE(a_grid_is_viewed_flat),
                 PROMISE(only_a_grid_without_padding_is_viewed_by_other_rows),
                 PROMISE(extents_of_one_are_no_dimensions), PROMISE(a_grid_of_one_row_is_flat),
                 PROMISE(memory_without_a_shape_has_that_of_the_box),
                 PROMISE(a_grid_is_used_as_elements_of_another_type),
                 PROMISE(a_freed_grid_takes_its_shape_with_it),
                 PROMISE(a_random_box_is_refused_or_addresses_the_cells_of_the_grid))
