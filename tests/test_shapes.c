/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_shapes.c
 *  A grid is never read or written by a box that contradicts its shape: that is an error, before
 *  anything is written; and what addresses it rightly works as with any buffer. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "shapes.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <meta_library.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double one = 1, two = 2, nine = 9;

static int64_t cells_of(const meta_box *box)
{
    return case_box_cells(box);
}

static bool grid(void **ptr, meta_box *box, int ndim, const int64_t *cells, int ghosts,
                 meta_type type)
{
    const int width[META_MAX_DIM] = {ghosts, ghosts, ghosts, ghosts};
    return CHECK_OK(meta_grid_alloc(ptr, box, ndim, cells, width, width, type));
}

static double sum_of(const void *u, const meta_box *box)
{
    double sum = -1;
    CHECK_OK(meta_reduce(&sum, u, box, META_SUM, META_F64, NULL));
    return sum;
}

/* The number behind @p word in the last message. */
static size_t number_behind(const char *word)
{
    const char *at = strstr(meta_last_error(), word);
    return at ? (size_t)strtoull(at + strlen(word), NULL, 10) : 0;
}

/* ------------------------------------------------------------------ staggered */

/* What the message says to do, done: the array of faces from meta_alloc(). */
static void check_faces_without_shape(void *out, const meta_box *cells, size_t bytes)
{
    meta_box faces = *cells;
    void *u;
    faces.size[0] += 1;
    faces.end[0] += 1;
    if (!CHECK_OK(meta_alloc(&u, bytes))) return;
    CHECK_U64(bytes, 8 * (uint64_t)case_box_array(&faces));
    CHECK_OK(ramp_f64(&faces, u, faces.start[0], NULL));
    CHECK_OK(grown_f64(cells, out, u, NULL));
    CHECK_NEAR(sum_of(out, cells), (double)cells_of(cells), 0);
    CHECK_OK(meta_free(u));
}

/* Or all arrays with the same extents, and the kernel without GROWN. */
static void check_equal_extents(int ndim, const int64_t *faces)
{
    meta_box box, cells;
    void *out, *u;
    if (!grid(&out, &box, ndim, faces, 2, META_F64) || !grid(&u, &box, ndim, faces, 2, META_F64))
        return;
    cells = box;
    cells.end[0] -= 1;
    CHECK_OK(ramp_f64(&box, u, box.start[0], NULL));
    CHECK_OK(equal_f64(&cells, out, u, NULL));
    CHECK_NEAR(sum_of(out, &cells), (double)cells_of(&cells), 0);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(u));
}

static void check_staggered(int ndim, int64_t n, int64_t depth)
{
    const int64_t cells[3] = {n, n, depth}, faces[3] = {n + 1, n, depth};
    meta_box c, f;
    meta_event done = META_EVENT_NULL;
    char text[128];
    void *out, *u;
    test_case("%d dimensions, %" PRId64 " by %" PRId64 " cells", ndim, n, n);
    if (!grid(&out, &c, ndim, cells, 2, META_F64) || !grid(&u, &f, ndim, faces, 2, META_F64))
        return;
    CHECK_OK(meta_label(u, "faces"));
    CHECK_OK(ramp_f64(&f, u, f.start[0], NULL));
    CHECK_OK(meta_fill_box(out, &c, &nine, META_F64, NULL));
    snprintf(text, sizeof text, "'u' (\"faces\"");
    CHECK_ERR_NAMES(grown_f64(&c, out, u, NULL), META_ERR_ARGUMENT, text);
    snprintf(text, sizeof text, "a grid of %" PRId64 " x %" PRId64, f.size[0], f.size[1]);
    CHECK_CONTAINS(meta_last_error(), text);
    snprintf(text, sizeof text, "an array of %" PRId64 " x %" PRId64, c.size[0] + 1, c.size[1]);
    CHECK_CONTAINS(meta_last_error(), text);
    const size_t bytes = number_behind("meta_alloc() with ");
    CHECK_ERR(grown_f64(&c, out, u, META_ASYNC), META_ERR_ARGUMENT);
    CHECK_ERR(grown_f64(&c, out, u, &done), META_ERR_ARGUMENT);
    CHECK(done.slot == 0 && done.generation == 0);
    CHECK_OK(meta_flush());
    CHECK_NEAR(sum_of(out, &c), 9 * (double)cells_of(&c), 0);
    check_faces_without_shape(out, &c, bytes);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(u));
    check_equal_extents(ndim, faces);
}

static void a_staggered_grid_whose_rows_lie_elsewhere_is_an_error_with_a_remedy(void)
{
    check_staggered(2, 400, 0);
    check_staggered(2, 960, 0);
    check_staggered(3, 60, 60);
    check_staggered(3, 121, 30);
}

static void a_staggered_grid_whose_rows_lie_as_the_box_says_works(void)
{
    for (int ndim = 2; ndim <= 3; ++ndim) {
        const int64_t cells[3] = {25, 20, 15}, faces[3] = {26, 20, 15};
        meta_box c, f;
        void *out, *u;
        if (!grid(&out, &c, ndim, cells, 1, META_F64) || !grid(&u, &f, ndim, faces, 1, META_F64))
            return;
        CHECK_OK(ramp_f64(&f, u, f.start[0], NULL));
        CHECK_OK(grown_f64(&c, out, u, NULL));
        CHECK_NEAR(sum_of(out, &c), (double)cells_of(&c), 0);
        CHECK_OK(meta_free(out));
        CHECK_OK(meta_free(u));
    }
}

static void a_plane_whose_rows_lie_elsewhere_is_an_error(void)
{
    const int64_t cells[3] = {100, 100, 8};
    meta_box volume, plane;
    void *u, *depth;
    if (!grid(&u, &volume, 3, cells, 1, META_F64) || !grid(&depth, &plane, 2, cells, 1, META_F64))
        return;
    CHECK(plane.size[0] != volume.size[0]);
    CHECK_ERR_NAMES(plane_f64(&volume, u, depth, NULL), META_ERR_ARGUMENT, "'depth'");
    const size_t bytes = number_behind("meta_alloc() with ");
    CHECK_OK(meta_free(depth));
    if (!CHECK_OK(meta_alloc(&depth, bytes))) return;
    CHECK_OK(meta_fill(depth, (int64_t)bytes / 8, &two, META_F64, NULL));
    CHECK_OK(plane_f64(&volume, u, depth, NULL));
    CHECK_NEAR(sum_of(u, &volume), 2 * (double)cells_of(&volume), 0);
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(depth));
}

/* ------------------------------------------------------------------ elements of two sizes */

/* The remedies: a mask without a shape, and one of elements of the same size. */
static void check_masks(void *u, const meta_box *box, int ndim, const int64_t *cells, int ghosts)
{
    const int32_t set = 1;
    const int64_t wide_set = 1;
    const size_t bytes = number_behind("meta_alloc() with ");
    meta_box wide_box;
    void *mask, *wide;
    CHECK(bytes >= 4 * (uint64_t)case_box_array(box));
    if (!CHECK_OK(meta_alloc(&mask, bytes))) return;
    CHECK_OK(meta_fill_box(mask, box, &set, META_I32, NULL));
    CHECK_OK(meta_fill_box(u, box, &one, META_F64, NULL));
    CHECK_OK(masked_f64(box, u, mask, NULL));
    CHECK_NEAR(sum_of(u, box), (double)cells_of(box), 0);
    CHECK_OK(meta_free(mask));
    if (!grid(&wide, &wide_box, ndim, cells, ghosts, META_I64)) return;
    CHECK_OK(meta_fill_box(wide, &wide_box, &wide_set, META_I64, NULL));
    CHECK_OK(wide_masked_f64(box, u, wide, NULL));
    CHECK_NEAR(sum_of(u, box), (double)cells_of(box), 0);
    CHECK_OK(meta_free(wide));
}

static void check_mask(int ndim, int64_t n, int ghosts, bool only_moved)
{
    const int64_t cells[2] = {n, ndim == 1 ? 0 : 400};
    meta_box own, masked;
    void *u, *mask;
    test_case("%d dimensions of %" PRId64 " cells, %d ghosts", ndim, n, ghosts);
    if (!grid(&u, &own, ndim, cells, ghosts, META_F64) ||
        !grid(&mask, &masked, ndim, cells, ghosts, META_I32))
        return;
    CHECK_INT(ndim == 1 || own.size[0] == masked.size[0], only_moved);
    CHECK(own.start[0] != masked.start[0] || !only_moved);
    CHECK_OK(meta_fill_box(u, &own, &one, META_F64, NULL));
    CHECK_ERR_NAMES(masked_f64(&own, u, mask, NULL), META_ERR_ARGUMENT, "'mask'");
    CHECK_ERR(masked_f64(&own, u, mask, META_ASYNC), META_ERR_ARGUMENT);
    CHECK_OK(meta_flush());
    CHECK_NEAR(sum_of(u, &own), (double)cells_of(&own), 0);
    CHECK_ERR(masked_f64(&own, u, mask, NULL), META_ERR_ARGUMENT);
    check_masks(u, &own, ndim, cells, ghosts);
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(mask));
}

static void a_grid_of_shorter_elements_with_other_rows_is_an_error(void)
{
    check_mask(2, 400, 1, false);
    check_mask(2, 400, 2, false);
}

/* Extents are the same, but padding has moved the start of the mask. */
static void a_grid_whose_start_padding_has_moved_is_an_error_beside_one_that_stayed(void)
{
    check_mask(2, 413, 1, true);
    check_mask(1, 100000, 1, true);
}

/* Dimension 0 of a grid of fewer dimensions is one of the box's: the first, or the second. */
static void the_same_holds_for_lines_and_planes(void)
{
    const int64_t block[3] = {70000, 2, 2}, line[1] = {70000}, slab[3] = {3, 269, 300};
    const int low[3] = {1, 1, 1}, high[3] = {1, 2, 1};
    meta_box own, lower;
    void *u, *factor;
    if (!grid(&u, &own, 3, block, 1, META_F64) || !grid(&factor, &lower, 1, line, 1, META_F32))
        return;
    CHECK(own.start[0] == 1 && lower.start[0] == 2);
    CHECK_ERR_NAMES(line_f64(&own, u, factor, NULL), META_ERR_ARGUMENT, "'u'");
    CHECK_CONTAINS(meta_last_error(), "'factor'");
    CHECK_CONTAINS(meta_last_error(), "begin at index 1 and 2");
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(factor));
    if (!CHECK_OK(meta_grid_alloc(&u, &own, 3, slab, low, high, META_F64)) ||
        !grid(&factor, &lower, 2, slab + 1, 1, META_F32))
        return;
    CHECK(own.size[1] == lower.size[0] && own.start[1] == 1 && lower.start[0] == 2);
    CHECK_ERR_NAMES(sides_f64(&own, u, factor, NULL), META_ERR_ARGUMENT, "begin at index 1 and 2");
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(factor));
}

/* Each operand has a box of its own: a moving window shifts its cells by one. */
static void boxes_of_two_grids_may_start_anywhere(void)
{
    const int64_t cells[2] = {413, 400};
    meta_box own, to, from;
    int32_t set = 3, sum = 0;
    void *a, *b;
    if (!grid(&a, &own, 2, cells, 1, META_I32) || !grid(&b, &own, 2, cells, 1, META_I32)) return;
    to = from = own;
    to.end[0] -= 1;
    from.start[0] += 1;
    CHECK_OK(meta_fill_box(a, &own, &set, META_I32, NULL));
    CHECK_OK(meta_copy_box(b, &to, a, &from, META_I32, NULL));
    CHECK_OK(meta_reduce(&sum, b, &to, META_SUM, META_I32, NULL));
    CHECK_INT(sum, 3 * cells_of(&to));
    to.start[0] -= 1, to.end[0] -= 1; /* over a ghost cell */
    CHECK_OK(meta_copy_box(b, &to, a, &from, META_I32, NULL));
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
}

/* ------------------------------------------------------------------ every operation */

enum { SIDE = 200, LONGER = 24, HOST = (SIDE + LONGER) * SIDE };

typedef struct setting {
    void *a, *b;  /* a has no shape, b is a grid */
    meta_box box; /* not the grid's */
    double *host;
} setting;

static meta_err of_grid(const setting *s, int operation)
{
    const double weight[5] = {1, 1, 1, 1, 1};
    const void *const weights[5] = {s->b, s->b, s->b, s->b, s->b};
    const meta_box *box = &s->box;
    double result = 9;
    void *const fields[] = {s->b};
    meta_err error = META_OK;
    switch (operation) {
    case 0:
        error = meta_fill_box(s->b, box, &one, META_F64, NULL);
        break;
    case 1:
        error = meta_copy_box(s->b, box, s->a, box, META_F64, NULL);
        break;
    case 2:
        error = meta_copy_box(s->a, box, s->b, box, META_F64, NULL);
        break;
    case 3:
        error = meta_copy_box_h2d(s->b, box, s->host, box, META_F64, NULL);
        break;
    case 4:
        error = meta_copy_box_d2h(s->host, box, s->b, box, META_F64, NULL);
        break;
    case 5:
        error = meta_reduce(&result, s->b, box, META_SUM, META_F64, NULL);
        break;
    case 6:
        error = meta_reduce_boxes(&result, 1, 1, fields, 1, box, META_MAX, META_F64, NULL);
        break;
    case 7:
        error = meta_dot(&result, s->a, s->b, box, META_F64, NULL);
        break;
    case 8:
        error = meta_dot(&result, s->b, s->a, box, META_F64, NULL);
        break;
    case 9:
        error = meta_axpy(s->b, &one, s->a, box, META_F64, NULL);
        break;
    case 10:
        error = meta_axpy(s->a, &one, s->b, box, META_F64, NULL);
        break;
    case 11:
        error = meta_stencil(s->b, s->a, box, META_2D5P, META_F64, NULL, NULL);
        break;
    case 12:
        error = meta_stencil(s->a, s->b, box, META_2D9P, META_F64, &result, NULL);
        break;
    case 13:
        error =
            meta_stencil_sums(s->a, s->b, box, META_2D5P, META_F64, NULL, &result, 1, box, NULL);
        break;
    case 14:
        error = meta_boundary(s->b, box, 1, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_EVEN, NULL,
                              META_F64, NULL);
        break;
    case 15:
        error = meta_boundary(s->b, box, 0, META_SLAB_HIGH_GHOST, 1, META_BOUNDARY_VALUE, &one,
                              META_F64, NULL);
        break;
    case 16:
        error = meta_axpby(s->a, &one, s->a, &one, s->b, box, META_F64, NULL);
        break;
    case 17:
        error = meta_xpay(s->b, s->a, &one, s->a, box, META_F64, NULL);
        break;
    case 18:
        error = meta_scale(s->b, &two, s->b, box, META_F64, NULL);
        break;
    case 19:
        error = meta_multiply(s->a, s->a, s->b, box, META_F64, NULL);
        break;
    case 20:
        error = meta_convert(s->b, META_I64, s->a, META_F64, box, NULL);
        break;
    case 21:
        error = meta_convert(s->a, META_I64, s->b, META_F64, box, NULL);
        break;
    case 22:
        error = meta_stencil_constant(s->b, s->a, weight, box, META_2D5P, META_F64, NULL, NULL);
        break;
    case 23:
        error = meta_stencil_variable(s->a, s->a, weights, box, META_2D5P, META_F64, NULL, NULL);
        break;
    case 24:
        error = equal_f64(box, s->b, s->a, NULL);
        break;
    case 25:
        error = equal_f64(box, s->a, s->b, NULL);
        break;
    case 26:
        error = ramp_f64(box, s->b, 0, META_ASYNC);
        break;
    default:
        return META_ERR_COUNT;
    }
    CHECK(result == 9);
    return error;
}

/* All bytes of a buffer. */
static uint32_t bytes_of(const void *buffer)
{
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    uint32_t crc = 0;
    CHECK_OK(meta_pointer_info(buffer, &desc));
    CHECK_OK(meta_crc32(&crc, buffer, desc.bytes, NULL));
    return crc;
}

/* Boxes that leave cells at their sides, and ones of whole arrays, which functions may flatten. */
static void every_operation_refuses_a_box_of_other_extents_and_writes_nothing(void)
{
    const int64_t cells[2] = {SIDE, SIDE};
    static double host[HOST];
    int refused = 0;
    for (int longer = -8; longer <= 8; longer += 2)
        for (int whole = 0; whole < 2 && longer != 0; ++whole) {
            setting s = {.host = host};
            meta_box own;
            if (!grid(&s.b, &own, 2, cells, 2, META_F64) ||
                !CHECK_OK(meta_alloc(&s.a, sizeof host)))
                return;
            CHECK_OK(meta_fill(s.a, HOST, &two, META_F64, NULL));
            CHECK_OK(meta_fill(s.b, case_box_array(&own), &one, META_F64, NULL));
            s.box = own;
            s.box.size[0] += longer;
            s.box.size[1] = SIDE - 20;
            for (int d = 0; d < 2; ++d) {
                s.box.start[d] = whole ? 0 : 1;
                s.box.end[d] = s.box.size[d] - (whole ? 0 : 1);
            }
            for (int k = 0; k < HOST; ++k) host[k] = 5;
            const uint32_t a = bytes_of(s.a), b = bytes_of(s.b);
            for (int n = 0;; ++n) {
                test_case("operation %d, extent %d longer, whole %d", n, longer, whole);
                const bool reaches = (n >= 11 && n <= 15) || (n >= 22 && n <= 25);
                if (reaches && whole) continue; /* no cells to reach over */
                const meta_err error = of_grid(&s, n);
                if (error == META_ERR_COUNT) break;
                CHECK_INT(error, META_ERR_ARGUMENT);
                CHECK_CONTAINS(meta_last_error(), "meta_grid_alloc() returned");
                ++refused;
            }
            CHECK_OK(meta_flush());
            CHECK_U64(bytes_of(s.a), a);
            CHECK_U64(bytes_of(s.b), b);
            for (int k = 0; k < HOST; ++k)
                if (!CHECK(host[k] == 5)) break;
            CHECK_NEAR(sum_of(s.b, &own), (double)cells_of(&own), 0);
            CHECK_OK(meta_free(s.a));
            CHECK_OK(meta_free(s.b));
        }
    CHECK_INT(refused, 8 * (27 + 27 - 9));
}

/* ------------------------------------------------------------------ what is right */

/* The cells of @p box in the array at @p ptr are written, and nothing else of the buffer. */
static void check_fill(char *ptr, const meta_box *box, size_t buffer_bytes, void *buffer)
{
    const int64_t count = (int64_t)buffer_bytes / 8, first = (ptr - (char *)buffer) / 8;
    double *found = malloc(buffer_bytes), *expected = malloc(buffer_bytes);
    if (!CHECK(found && expected)) return;
    for (int64_t k = 0; k < count; ++k) expected[k] = one;
    for (int64_t n = 0; n < cells_of(box); ++n) expected[first + case_box_index(box, n)] = nine;
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

static void extents_of_one_are_no_dimensions(void)
{
    meta_box box, own;
    size_t bytes;
    const int64_t cells[4] = {1, 300, 1, 200};
    void *p;
    if (!grid(&p, &own, 4, cells, 0, META_F64)) return;
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
        const meta_box line = {1, {own.size[0]}, {1}, {own.size[0] - 1}},
                       shorter = {1, {65}, {1}, {60}};
        const meta_box table = {2, {100, 300}, {1, 1}, {70, 290}};
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
    if (!grid(&p, &box, 2, cells, 1, META_F64)) return;
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
        if (!grid(&p, &first, 2, square, 0, META_F64)) return;
        const size_t bytes = 8 * (size_t)case_box_array(&first);
        CHECK_ERR(meta_fill_box(p, &other, &one, META_F64, NULL), META_ERR_ARGUMENT);
        CHECK_OK(meta_free(p));
        if (!CHECK_OK(meta_alloc(&p, bytes))) return;
        CHECK_OK(meta_fill_box(p, &other, &one, META_F64, NULL));
        CHECK_OK(meta_free(p));
        if (!grid(&p, &second, 2, wide, 0, META_F64)) return;
        CHECK_OK(meta_fill_box(p, &second, &one, META_F64, NULL));
        CHECK_ERR(meta_fill_box(p, &first, &one, META_F64, NULL), META_ERR_ARGUMENT);
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

/* Extents are the grid's, or others in some dimensions; ranges are any that fit the buffer. */
static void random_box(const meta_box *own, meta_box *box)
{
    const int64_t room = case_box_array(own);
    *box = *own;
    for (int d = 0; d < box->ndim; ++d)
        if (test_random_in(0, 3) == 0) box->size[d] += test_random_in(-3, 3);
    for (int d = 0; d < box->ndim; ++d) {
        if (box->size[d] < 1) box->size[d] = 1;
        box->start[d] = test_random_in(0, test_random_in(0, 1) ? 0 : box->size[d] - 1);
        box->end[d] = test_random_in(box->start[d] + 1, box->size[d]);
    }
    for (int d = box->ndim - 1; d >= 0 && case_box_index(box, cells_of(box) - 1) >= room; --d)
        box->start[d] = 0, box->end[d] = 1;
}

static void check_random(void *p, const meta_box *own, const meta_box *box, bool padded)
{
    const size_t bytes = 8 * (size_t)case_box_array(own);
    const double before = 4;
    meta_box grid_box = *own;
    CHECK_OK(meta_fill(p, (int64_t)bytes / 8, &before, META_F64, NULL));
    const meta_err error = meta_fill_box(p, box, &nine, META_F64, NULL);
    const bool refused = dimensions(box) == dimensions(own)            ? differs(own, box)
                         : padded && dimensions(box) < dimensions(own) ? has_foreign(own, box)
                                                                       : false;
    CHECK_INT(error, refused ? META_ERR_ARGUMENT : META_OK);
    double *found = malloc(bytes), *expected = malloc(bytes);
    if (!CHECK(found && expected)) return;
    for (size_t k = 0; k < bytes / 8; ++k) expected[k] = before;
    /* By the strides of the grid, where the box has its dimensions: by those of the box otherwise.
     */
    if (dimensions(box) != dimensions(own)) grid_box = *box;
    for (int64_t n = 0; error == META_OK && n < cells_of(box); ++n) {
        int64_t rest = n, at = 0, stride = 1;
        for (int d = 0; d < box->ndim; ++d) {
            const int64_t extent = box->end[d] - box->start[d];
            at += (box->start[d] + rest % extent) * stride;
            rest /= extent;
            stride *= grid_box.size[d];
        }
        expected[at] = nine;
    }
    CHECK_OK(meta_copy_d2h(found, p, bytes, NULL));
    CHECK_ARRAY(found, expected, bytes / 8, META_F64);
    free(found);
    free(expected);
}

static void a_random_box_is_refused_or_addresses_the_cells_of_the_grid(void)
{
    int refused = 0, run = 0;
    for (int n = 0; n < 300; ++n) {
        const int ndim = (int)test_random_in(1, 4);
        const bool large = test_random_in(0, 3) == 0;
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
        bool padded = false;
        if (!CHECK_OK(meta_grid_alloc(&p, &own, ndim, cells, low, high, META_F64))) return;
        for (int d = 0; d < ndim; ++d) padded |= own.size[d] > low[d] + cells[d] + high[d];
        for (int k = 0; k < 4; ++k) {
            random_box(&own, &box);
            test_case("grid %s; box %s", case_box_text(&own), case_box_text(&box));
            check_random(p, &own, &box, padded);
            if (dimensions(&box) == dimensions(&own)) ++*(differs(&own, &box) ? &refused : &run);
        }
        CHECK_OK(meta_free(p));
    }
    CHECK(refused > 100 && run > 100);
}

/* ------------------------------------------------------------------ threads */

enum { THREADS = 6, TIMES = 60 };

/* Errors of a thread. */
static void *work(void *argument)
{
    const int64_t number = (intptr_t)argument;
    const int width[2] = {1, 1};
    intptr_t wrong = 0;
    for (int64_t n = 0; n < TIMES; ++n) {
        const int64_t cells[2] = {200 + 7 * number + n % 3, 190};
        meta_box own, other;
        void *p;
        if (meta_grid_alloc(&p, &own, 2, cells, width, width, META_F64) != META_OK)
            return (void *)1;
        other = own;
        other.size[0] += 1 + n % 5;
        wrong += meta_fill_box(p, &own, &one, META_F64, NULL) != META_OK;
        wrong += meta_fill_box(p, &other, &one, META_F64, NULL) != META_ERR_ARGUMENT;
        wrong += meta_free(p) != META_OK;
    }
    return (void *)wrong;
}

static void threads_have_grids_of_their_own_shapes(void)
{
    pthread_t thread[THREADS];
    for (intptr_t k = 0; k < THREADS; ++k)
        if (!CHECK_INT(pthread_create(&thread[k], NULL, work, (void *)k), 0)) return;
    for (int k = 0; k < THREADS; ++k) {
        void *wrong = NULL;
        CHECK_INT(pthread_join(thread[k], &wrong), 0);
        CHECK_INT((intptr_t)wrong, 0);
    }
}

TEST_DEVICE_MAIN(PROMISE(a_staggered_grid_whose_rows_lie_elsewhere_is_an_error_with_a_remedy),
                 PROMISE(a_staggered_grid_whose_rows_lie_as_the_box_says_works),
                 PROMISE(a_plane_whose_rows_lie_elsewhere_is_an_error),
                 PROMISE(a_grid_of_shorter_elements_with_other_rows_is_an_error),
                 PROMISE(a_grid_whose_start_padding_has_moved_is_an_error_beside_one_that_stayed),
                 PROMISE(the_same_holds_for_lines_and_planes),
                 PROMISE(boxes_of_two_grids_may_start_anywhere),
                 PROMISE(every_operation_refuses_a_box_of_other_extents_and_writes_nothing),
                 PROMISE(a_batch_is_addressed_volume_by_volume),
                 PROMISE(a_pointer_into_the_middle_has_the_shape_of_the_box),
                 PROMISE(parts_of_a_grid_are_addressed_by_its_extents),
                 PROMISE(a_grid_is_viewed_flat), PROMISE(extents_of_one_are_no_dimensions),
                 PROMISE(a_grid_of_one_row_is_flat),
                 PROMISE(memory_without_a_shape_has_that_of_the_box),
                 PROMISE(a_grid_is_used_as_elements_of_another_type),
                 PROMISE(a_freed_grid_takes_its_shape_with_it),
                 PROMISE(a_random_box_is_refused_or_addresses_the_cells_of_the_grid),
                 PROMISE(threads_have_grids_of_their_own_shapes))
