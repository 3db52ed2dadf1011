/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_shapes.c
 *  A call with one box addresses each grid by the grid's own extents, whatever shapes the others
 * have; a call with a box for each array refuses one that contradicts its grid; and other views of
 * a grid's memory work as with any buffer. An error comes before anything is written. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "shapes.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <meta_library.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double one = 1, two = 2, nine = 9;

static double sum_of(const void *u, const meta_box *box)
{
    double sum = -1;
    CHECK_OK(meta_reduce(&sum, u, box, META_SUM, META_F64, NULL));
    return sum;
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

/* ------------------------------------------------------------------ grids of several shapes */

static void check_staggered(int ndim, int64_t n, int64_t depth)
{
    const int64_t cells[3] = {n, n, depth}, faces[3] = {n + 1, n, depth};
    meta_box c, f;
    void *out, *u;
    test_case("%d dimensions, %" PRId64 " by %" PRId64 " cells", ndim, n, n);
    if (!case_grid(&out, &c, ndim, cells, 2, META_F64) ||
        !case_grid(&u, &f, ndim, faces, 2, META_F64))
        return;
    CHECK_OK(ramp_f64(&f, u, f.start[0], NULL));
    for (int of_faces = 0; of_faces < 2; ++of_faces) {
        const meta_box cells_in_faces = {.ndim = ndim,
                                         .size = {f.size[0], f.size[1], f.size[2]},
                                         .start = {c.start[0], c.start[1], c.start[2]},
                                         .end = {c.end[0], c.end[1], c.end[2]}};
        const meta_box *box = of_faces ? &cells_in_faces : &c;
        CHECK_OK(meta_fill_box(out, &c, &nine, META_F64, NULL));
        CHECK_OK(grown_f64(box, out, u, NULL));
        CHECK_NEAR(sum_of(out, &c), (double)case_box_cells(&c), 0);
        CHECK_OK(meta_fill_box(out, &c, &nine, META_F64, NULL));
        CHECK_OK(equal_f64(box, out, u, NULL));
        CHECK_NEAR(sum_of(out, &c), (double)case_box_cells(&c), 0);
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(u));
}

/* Padded and not, with rows of the same distance and of others. */
static void a_staggered_grid_is_read_with_and_without_grown(void)
{
    check_staggered(2, 400, 0);
    check_staggered(2, 960, 0);
    check_staggered(2, 25, 0);
    check_staggered(3, 60, 60);
    check_staggered(3, 121, 30);
    check_staggered(3, 20, 15);
}

/* Memory without a shape has that of the box and of GROWN. */
static void memory_without_a_shape_is_staggered_by_grown(void)
{
    const int64_t cells[2] = {400, 400};
    meta_box c, faces;
    void *out, *u;
    if (!case_grid(&out, &c, 2, cells, 2, META_F64)) return;
    faces = c;
    faces.size[0] += 1, faces.end[0] += 1;
    if (!CHECK_OK(meta_alloc(&u, 8 * (size_t)case_box_array(&faces)))) return;
    CHECK_OK(ramp_f64(&faces, u, faces.start[0], NULL));
    CHECK_OK(grown_f64(&c, out, u, NULL));
    CHECK_NEAR(sum_of(out, &c), (double)case_box_cells(&c), 0);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(u));
}

/* Marks in the own cells of the mask alone. */
static void check_mask(int ndim, int64_t n, int ghosts)
{
    const int64_t cells[2] = {n, ndim == 1 ? 0 : 400}, wide_set = 1;
    const int32_t set = 1, none = 0;
    meta_box own, masked;
    void *u, *mask;
    test_case("%d dimensions of %" PRId64 " cells, %d ghosts", ndim, n, ghosts);
    if (!case_grid(&u, &own, ndim, cells, ghosts, META_F64) ||
        !case_grid(&mask, &masked, ndim, cells, ghosts, META_I32))
        return;
    CHECK_OK(meta_fill_box(u, &own, &one, META_F64, NULL));
    CHECK_OK(meta_fill(mask, case_box_array(&masked), &none, META_I32, NULL));
    CHECK_OK(meta_fill_box(mask, &masked, &set, META_I32, NULL));
    CHECK_OK(masked_f64(&own, u, mask, NULL));
    CHECK_NEAR(sum_of(u, &own), (double)case_box_cells(&own), 0);
    CHECK_OK(masked_f64(&masked, u, mask, NULL));
    CHECK_NEAR(sum_of(u, &own), (double)case_box_cells(&own), 0);
    CHECK_OK(meta_free(mask));
    if (!case_grid(&mask, &masked, ndim, cells, ghosts, META_I64)) return;
    CHECK_OK(meta_fill_box(mask, &masked, &wide_set, META_I64, NULL));
    CHECK_OK(wide_masked_f64(&own, u, mask, NULL));
    CHECK_NEAR(sum_of(u, &own), (double)case_box_cells(&own), 0);
    CHECK_OK(meta_free(mask));
    CHECK_OK(meta_free(u));
}

static void a_mask_of_shorter_elements_has_rows_of_its_own(void)
{
    check_mask(2, 400, 1);
    check_mask(2, 400, 2);
    check_mask(2, 413, 1);
    check_mask(1, 100000, 1);
    check_mask(2, 40, 1);
}

/* Of other extents than those of the volume, which their own padding gives them. */
static void a_line_and_planes_are_grids_of_fewer_dimensions(void)
{
    const int64_t cells[3] = {600, 100, 8};
    const float half = 0.5f;
    meta_box volume, plane, line, side;
    void *u, *depth, *factor, *sides;
    if (!case_grid(&u, &volume, 3, cells, 1, META_F64) ||
        !case_grid(&depth, &plane, 2, cells, 1, META_F64) ||
        !case_grid(&factor, &line, 1, cells, 1, META_F32) ||
        !case_grid(&sides, &side, 2, cells + 1, 1, META_F32))
        return;
    CHECK(plane.size[1] != volume.size[1] || plane.size[0] != volume.size[0] ||
          line.size[0] != volume.size[0]);
    CHECK_OK(meta_fill_box(depth, &plane, &two, META_F64, NULL));
    CHECK_OK(meta_fill_box(factor, &line, &half, META_F32, NULL));
    CHECK_OK(meta_fill_box(sides, &side, &half, META_F32, NULL));
    CHECK_OK(plane_f64(&volume, u, depth, NULL));
    CHECK_NEAR(sum_of(u, &volume), 2 * (double)case_box_cells(&volume), 0);
    CHECK_OK(line_f64(&volume, u, factor, NULL));
    CHECK_NEAR(sum_of(u, &volume), (double)case_box_cells(&volume), 0);
    CHECK_OK(sides_f64(&volume, u, sides, NULL));
    CHECK_NEAR(sum_of(u, &volume), 0.5 * (double)case_box_cells(&volume), 0);
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(depth));
    CHECK_OK(meta_free(factor));
    CHECK_OK(meta_free(sides));
}

/* ------------------------------------------------------------------ starts */

enum { PAIRS = 8 };

/* A call on two grids of doubles that writes the first. */
static meta_err of_pair(int call, void *x, void *y, const meta_box *box, meta_event *done)
{
    static const double weight[5] = {1, 1, 1, 1, 1};
    switch (call) {
    case 0:
        return meta_axpy(x, &one, y, box, META_F64, done);
    case 1:
        return meta_stencil(x, y, box, META_2D5P, META_F64, NULL, done);
    case 2:
        return meta_stencil_sums(x, y, box, META_2D9P, META_F64, NULL, NULL, 0, NULL, done);
    case 3:
        return meta_axpby(x, &one, x, &two, y, box, META_F64, done);
    case 4:
        return meta_multiply(x, y, x, box, META_F64, done);
    case 5:
        return meta_convert(x, META_I64, y, META_F64, box, done);
    case 6:
        return meta_stencil_constant(x, y, weight, box, META_2D5P, META_F64, NULL, done);
    default:
        return equal_f64(box, x, y, done);
    }
}

/* Both arrays are named, and where they begin; nothing is written. */
static void check_starts(void *x, void *y, const meta_box *box, const char *begin)
{
    const uint32_t before = bytes_of(x);
    double result = 9;
    for (int call = 0; call < PAIRS; ++call) {
        meta_event done = META_EVENT_NULL;
        test_case("call %d, %s", call, begin);
        CHECK_ERR_NAMES(of_pair(call, x, y, box, NULL), META_ERR_ARGUMENT, begin);
        CHECK_CONTAINS(meta_last_error(), "(\"inner\"");
        CHECK_CONTAINS(meta_last_error(), "(\"outer\"");
        CHECK_ERR(of_pair(call, x, y, box, META_ASYNC), META_ERR_ARGUMENT);
        CHECK_ERR(of_pair(call, x, y, box, &done), META_ERR_ARGUMENT);
        CHECK(done.slot == 0 && done.generation == 0);
    }
    CHECK_ERR_NAMES(meta_dot(&result, x, y, box, META_F64, NULL), META_ERR_ARGUMENT, begin);
    CHECK(result == 9);
    CHECK_OK(meta_flush());
    CHECK_U64(bytes_of(x), before);
}

static bool two_grids(void **x, const int *x_low, void **y, const int *y_low, meta_box *box)
{
    static const int64_t cells[2] = {30, 20};
    static const int high[2] = {2, 2};
    return CHECK_OK(meta_grid_alloc(y, box, 2, cells, y_low, high, META_F64)) &&
           CHECK_OK(meta_grid_alloc(x, box, 2, cells, x_low, high, META_F64)) &&
           CHECK_OK(meta_label(*x, "inner")) && CHECK_OK(meta_label(*y, "outer")) &&
           CHECK_OK(meta_fill(*x, case_box_array(box), &one, META_F64, NULL));
}

static void grids_that_begin_at_different_cells_are_an_error_that_names_both(void)
{
    static const int low[][2] = {{1, 1}, {2, 1}, {1, 2}, {70, 1}, {71, 1}};
    static const struct {
        int x, y;
        const char *begin;
    } pair[] = {{0, 1, "begin at index 1 and 2 along dimension 0"},
                {1, 0, "begin at index 2 and 1 along dimension 0"},
                {0, 2, "begin at index 1 and 2 along dimension 1"},
                {0, 3, "begin at index 1 and 70 along dimension 0"},
                {3, 4, "begin at index 70 and 71 along dimension 0"}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; ++k) {
        meta_box box, all;
        void *x, *y;
        if (!two_grids(&x, low[pair[k].x], &y, low[pair[k].y], &box)) return;
        all = box;
        if (pair[k].x == 1 || pair[k].x == 4) all.end[0] -= 1; /* what both have */
        check_starts(x, y, &all, pair[k].begin);
        /* One without a shape has the box's, whichever it is. */
        CHECK_OK(meta_grid_shape(k % 2 ? x : y, NULL, META_F64));
        all.end[0] = all.start[0] + 5, all.end[1] = all.start[1] + 5;
        for (int call = 0; call < PAIRS; ++call) CHECK_OK(of_pair(call, x, y, &all, NULL));
        CHECK_OK(meta_free(x));
        CHECK_OK(meta_free(y));
    }
}

static void grids_that_begin_at_the_same_cell_meet_wherever_it_is(void)
{
    static const int low[][2] = {{0, 0}, {1, 1}, {63, 0}, {64, 2}, {200, 100}};
    for (size_t k = 0; k < sizeof low / sizeof *low; ++k) {
        meta_box box;
        void *x, *y;
        if (!two_grids(&x, low[k], &y, low[k], &box)) return;
        test_case("begin at %d, %d", low[k][0], low[k][1]);
        box.start[0] += 1, box.start[1] += 1; /* cells to reach over */
        for (int call = 0; call < PAIRS; ++call) CHECK_OK(of_pair(call, x, y, &box, NULL));
        CHECK_OK(meta_free(x));
        CHECK_OK(meta_free(y));
    }
}

/* As many elements, of which one has more ghosts before its cells and the other behind them, used
 * as a whole: kernels without neighbours may have them flat. */
static void equal_extents_do_not_make_up_for_different_starts(void)
{
    static const int64_t cells[2] = {30, 20};
    static const int less[2] = {1, 1}, more[2] = {1, 2};
    static const int flat[] = {0, 3, 4, 5};
    meta_box box, other;
    void *x, *y;
    if (!CHECK_OK(meta_grid_alloc(&x, &box, 2, cells, less, more, META_F64)) ||
        !CHECK_OK(meta_grid_alloc(&y, &other, 2, cells, more, less, META_F64)))
        return;
    CHECK(memcmp(box.size, other.size, sizeof box.size) == 0);
    for (int d = 0; d < 2; ++d) box.start[d] = 0, box.end[d] = box.size[d];
    for (size_t k = 0; k < sizeof flat / sizeof *flat; ++k)
        CHECK_ERR_NAMES(of_pair(flat[k], x, y, &box, NULL), META_ERR_ARGUMENT,
                        "begin at index 1 and 2 along dimension 1");
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

static void sums_of_several_fields_take_the_same_cells_of_each(void)
{
    static const int low[][2] = {{1, 1}, {1, 2}};
    double results[2] = {9, 9};
    meta_box box;
    void *x, *y;
    if (!two_grids(&x, low[0], &y, low[1], &box)) return;
    void *const fields[] = {x, y};
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 1, 2, fields, 1, &box, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "begin at index 1 and 2 along dimension 1");
    CHECK_CONTAINS(meta_last_error(), "'field[0]' (\"inner\"");
    CHECK_CONTAINS(meta_last_error(), "'field[1]' (\"outer\"");
    CHECK(results[0] == 9 && results[1] == 9);
    CHECK_OK(meta_grid_shape(y, NULL, META_F64));
    CHECK_OK(meta_reduce_boxes(results, 1, 2, fields, 1, &box, META_SUM, META_F64, NULL));
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

/* Dimension 0 of a grid of fewer dimensions is one of the box's: the first, or the second. A
 * dimension that it lacks does not count. */
static void lines_and_planes_begin_where_the_others_do(void)
{
    const int64_t block[3] = {70, 12, 12};
    const int low[3] = {1, 2, 3}, high[3] = {1, 1, 1};
    meta_box own, lower;
    void *u, *factor;
    if (!CHECK_OK(meta_grid_alloc(&u, &own, 3, block, low, high, META_F64)) ||
        !case_grid(&factor, &lower, 1, block, 2, META_F32))
        return;
    CHECK_ERR_NAMES(line_f64(&own, u, factor, NULL), META_ERR_ARGUMENT, "'u'");
    CHECK_CONTAINS(meta_last_error(), "'factor'");
    CHECK_CONTAINS(meta_last_error(), "begin at index 1 and 2 along dimension 0");
    CHECK_OK(meta_free(factor));
    if (!case_grid(&factor, &lower, 1, block, 1, META_F32)) return;
    CHECK_OK(line_f64(&own, u, factor, NULL));
    CHECK_OK(meta_free(factor));
    if (!case_grid(&factor, &lower, 2, block + 1, 2, META_F32)) return;
    CHECK_ERR_NAMES(sides_f64(&own, u, factor, NULL), META_ERR_ARGUMENT,
                    "begin at index 3 and 2 along dimension 2");
    CHECK_OK(meta_free(factor));
    if (!CHECK_OK(meta_grid_alloc(&factor, &lower, 2, block + 1, low + 1, high, META_F32))) return;
    CHECK_OK(sides_f64(&own, u, factor, NULL));
    CHECK_OK(meta_free(factor));
    CHECK_OK(meta_free(u));
}

/* Each operand has a box of its own: a moving window shifts its cells by one. */
static void boxes_of_two_grids_may_start_anywhere(void)
{
    const int64_t cells[2] = {413, 400};
    meta_box own, to, from;
    int32_t set = 3, sum = 0;
    void *a, *b;
    if (!case_grid(&a, &from, 2, cells, 2, META_I32) || !case_grid(&b, &own, 2, cells, 1, META_I32))
        return;
    CHECK_OK(meta_fill_box(a, &from, &set, META_I32, NULL));
    to = own;
    to.end[0] -= 1;
    from.start[0] += 1;
    CHECK_OK(meta_copy_box(b, &to, a, &from, META_I32, NULL));
    CHECK_OK(meta_reduce(&sum, b, &to, META_SUM, META_I32, NULL));
    CHECK_INT(sum, 3 * case_box_cells(&to));
    to.start[0] -= 1, to.end[0] -= 1; /* over a ghost cell */
    CHECK_OK(meta_copy_box(b, &to, a, &from, META_I32, NULL));
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
}

/* ------------------------------------------------------------------ every operation */

enum { SIDE = 200, LONGER = 24, HOST = (SIDE + LONGER) * (SIDE + LONGER) };

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
        error = meta_stencil_variable(s->a, s->b, weights, box, META_2D5P, META_F64, NULL, NULL);
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
    if (error != META_OK) CHECK(result == 9);
    return error;
}

enum { OPERATIONS = 27, REACHING = 9 };

/* Those with a box for each array, and those that need cells beyond the box. */
static bool is_copy(int operation)
{
    return operation >= 1 && operation <= 4;
}

static bool reaches(int operation)
{
    return (operation >= 11 && operation <= 15) || (operation >= 22 && operation <= 25);
}

/* The rows of the box are so many elements longer than the grid's; it has a layer of cells around
 * it or reaches to the ends of what both have. */
static bool begin(setting *s, int longer, bool whole)
{
    static const int64_t cells[2] = {SIDE, SIDE};
    static double host[HOST];
    meta_box own;
    *s = (setting){.host = host};
    if (!case_grid(&s->b, &own, 2, cells, 2, META_F64) || !CHECK_OK(meta_alloc(&s->a, sizeof host)))
        return false;
    CHECK_OK(meta_label(s->b, "pressure"));
    CHECK_OK(meta_fill(s->a, HOST, &two, META_F64, NULL));
    CHECK_OK(meta_fill(s->b, case_box_array(&own), &one, META_F64, NULL));
    for (int k = 0; k < HOST; ++k) host[k] = 5;
    s->box = own;
    s->box.size[0] += longer;
    s->box.size[1] = SIDE - 20;
    for (int d = 0; d < 2; ++d) {
        const int64_t common = s->box.size[d] < own.size[d] ? s->box.size[d] : own.size[d];
        s->box.start[d] = whole ? 0 : 1;
        s->box.end[d] = common - (whole ? 0 : 1);
    }
    return true;
}

static void end(setting *s)
{
    CHECK_OK(meta_free(s->a));
    CHECK_OK(meta_free(s->b));
}

/* The operations of a kind fail so, and write nothing. */
static int check_refused(const setting *s, bool copies, meta_err error, const char *part)
{
    const uint32_t a = bytes_of(s->a), b = bytes_of(s->b);
    int refused = 0;
    for (int n = 0; n < OPERATIONS; ++n) {
        if (is_copy(n) != copies) continue;
        test_case("operation %d, %s", n, part);
        CHECK_INT(of_grid(s, n), error);
        CHECK_CONTAINS(meta_last_error(), part);
        CHECK_CONTAINS(meta_last_error(), "\"pressure\"");
        ++refused;
    }
    CHECK_OK(meta_flush());
    CHECK_U64(bytes_of(s->a), a);
    CHECK_U64(bytes_of(s->b), b);
    for (int k = 0; k < HOST; ++k)
        if (!CHECK(s->host[k] == 5)) break;
    return refused;
}

/* Boxes that leave cells at their sides, and ones of whole arrays, which functions may flatten. */
static void a_box_of_other_extents_is_refused_by_copies_alone(void)
{
    int refused = 0, run = 0;
    for (int longer = -8; longer <= 8; longer += 4)
        for (int whole = 0; whole < 2 && longer != 0; ++whole) {
            setting s;
            if (!begin(&s, longer, whole)) return;
            refused += check_refused(&s, true, META_ERR_ARGUMENT, "meta_grid_alloc() returned");
            for (int n = 0; n < OPERATIONS; ++n) {
                test_case("operation %d, extent %d longer, whole %d", n, longer, whole);
                if (is_copy(n) || (reaches(n) && whole)) continue; /* no cells to reach over */
                CHECK_OK(of_grid(&s, n));
                ++run;
            }
            CHECK_ERR(of_grid(&s, OPERATIONS), META_ERR_COUNT);
            end(&s);
        }
    CHECK_INT(refused, 4 * 2 * 4);
    CHECK_INT(run, 4 * (2 * (OPERATIONS - 4) - REACHING));
}

/* Its own extents have room for it. */
static void a_box_that_leaves_a_grid_is_refused_by_every_operation(void)
{
    for (int d = 0; d < 2; ++d) {
        setting s;
        if (!begin(&s, 8, false)) return;
        s.box.size[1] = SIDE + LONGER - 10;
        s.box.end[d] = s.box.size[d] - 1;
        s.box.start[1 - d] = 1, s.box.end[1 - d] = 9;
        const int copies = check_refused(&s, true, META_ERR_ARGUMENT, "an array of ");
        const int others = check_refused(&s, false, META_ERR_BOUNDS,
                                         d == 0 ? "dimension 0: [1, " : "dimension 1: [1, ");
        CHECK_INT(copies + others, OPERATIONS);
        end(&s);
    }
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
        double sum = 0;
        void *p;
        if (meta_grid_alloc(&p, &own, 2, cells, width, width, META_F64) != META_OK)
            return (void *)1;
        other = own;
        other.size[0] += 1 + n % 5;
        wrong += meta_fill_box(p, &own, &one, META_F64, NULL) != META_OK;
        wrong += meta_fill_box(p, &other, &two, META_F64, NULL) != META_OK;
        wrong += meta_reduce(&sum, p, &own, META_SUM, META_F64, NULL) != META_OK;
        wrong += sum != 2 * (double)case_box_cells(&own);
        other.end[0] = other.size[0];
        wrong += meta_fill_box(p, &other, &one, META_F64, NULL) != META_ERR_BOUNDS;
        wrong += meta_grid_shape(p, NULL, META_F64) != META_OK;
        other.end[1] = 100;
        wrong += meta_fill_box(p, &other, &one, META_F64, NULL) != META_OK;
        wrong += meta_grid_shape(p, &own, META_F64) != META_OK;
        wrong += meta_fill_box(p, &other, &one, META_F64, NULL) != META_ERR_BOUNDS;
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

TEST_DEVICE_MAIN(PROMISE(a_staggered_grid_is_read_with_and_without_grown),
                 PROMISE(memory_without_a_shape_is_staggered_by_grown),
                 PROMISE(a_mask_of_shorter_elements_has_rows_of_its_own),
                 PROMISE(a_line_and_planes_are_grids_of_fewer_dimensions),
                 PROMISE(grids_that_begin_at_different_cells_are_an_error_that_names_both),
                 PROMISE(grids_that_begin_at_the_same_cell_meet_wherever_it_is),
                 PROMISE(equal_extents_do_not_make_up_for_different_starts),
                 PROMISE(sums_of_several_fields_take_the_same_cells_of_each),
                 PROMISE(lines_and_planes_begin_where_the_others_do),
                 PROMISE(boxes_of_two_grids_may_start_anywhere),
                 PROMISE(a_box_of_other_extents_is_refused_by_copies_alone),
                 PROMISE(a_box_that_leaves_a_grid_is_refused_by_every_operation),
                 PROMISE(threads_have_grids_of_their_own_shapes))
