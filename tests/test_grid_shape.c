/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_grid_shape.c
 *  meta_grid_shape(): memory becomes a grid, gets another shape, or has none any more. */
/* TEST: backends=all auto=yes labels=core */
#include "cases.h"

#include <pthread.h>
#include <string.h>

enum { WIDE = 20, HIGH = 15, ELEMENTS = WIDE * HIGH, BYTES = ELEMENTS * 8 };

static const double one = 1, nine = 9;
static const meta_box wide = {2, {WIDE, HIGH}, {2, 1}, {18, 13}},
                      high = {2, {HIGH, WIDE}, {1, 2}, {13, 18}},
                      part = {2, {9, 9}, {3, 2}, {8, 7}};

/* A box fills the cells that it has in an array of the extents of @p shape, and no others. */
static void check_cells(void *p, const meta_box *box, const meta_box *shape)
{
    double found[ELEMENTS], expected[ELEMENTS];
    meta_box own = *box;
    memcpy(own.size, shape->size, sizeof own.size);
    for (int k = 0; k < ELEMENTS; ++k) expected[k] = one;
    for (int64_t n = 0; n < case_box_cells(&own); ++n) expected[case_box_index(&own, n)] = nine;
    CHECK_OK(meta_fill(p, ELEMENTS, &one, META_F64, NULL));
    CHECK_OK(meta_fill_box(p, box, &nine, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(found, p, BYTES, NULL));
    CHECK_ARRAY(found, expected, ELEMENTS, META_F64);
}

static void a_buffer_becomes_a_grid_of_any_shape_and_none_again(void)
{
    void *p;
    if (!CHECK_OK(meta_alloc(&p, BYTES))) return;
    check_cells(p, &part, &part);
    CHECK_OK(meta_grid_shape(p, &wide, META_F64));
    check_cells(p, &part, &wide);
    CHECK_OK(meta_grid_shape(p, &high, META_I64)); /* elements of the same size */
    check_cells(p, &part, &high);
    CHECK_OK(meta_grid_shape(p, NULL, META_F64));
    check_cells(p, &part, &part);
    CHECK_OK(meta_grid_shape(p, NULL, META_F64));  /* it has none already */
    CHECK_OK(meta_grid_shape(p, &wide, META_F32)); /* a box of doubles is a view */
    check_cells(p, &part, &part);
    CHECK_OK(meta_grid_shape(p, &(meta_box){1, {3}, {1}, {2}}, META_U8)); /* fewer bytes */
    check_cells(p, &part, &part);
    CHECK_OK(meta_free(p));
}

/* Its type means nothing then. */
static void a_grid_forgets_its_shape_and_keeps_its_contents(void)
{
    static const int64_t cells[] = {14, 10};
    static const int ghosts[] = {2, 2};
    meta_box own;
    double sum = 0;
    void *p;
    if (!CHECK_OK(meta_grid_alloc(&p, &own, 2, cells, ghosts, ghosts, META_F64))) return;
    CHECK_OK(meta_fill_box(p, &own, &nine, META_F64, NULL));
    CHECK_OK(meta_grid_shape(p, NULL, (meta_type)77));
    CHECK_OK(meta_reduce(&sum, p, &own, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, 9 * 14 * 10, 0);
    CHECK_OK(meta_copy_box(p, &(meta_box){2, {9, 9}, {0, 0}, {3, 3}}, p,
                           &(meta_box){2, {9, 9}, {3, 3}, {6, 6}}, META_F64, NULL));
    CHECK_OK(meta_grid_shape(p, &own, META_F64));
    CHECK_ERR(meta_copy_box(p, &(meta_box){2, {9, 9}, {0, 0}, {3, 3}}, p,
                            &(meta_box){2, {9, 9}, {3, 3}, {6, 6}}, META_F64, NULL),
              META_ERR_ARGUMENT);
    CHECK_OK(meta_free(p));
}

/* Work that was queued has the shape of its call. */
static void queued_work_keeps_the_shape_that_it_was_queued_with(void)
{
    double found[ELEMENTS], expected[ELEMENTS];
    void *p;
    if (!CHECK_OK(meta_alloc(&p, BYTES))) return;
    for (int k = 0; k < ELEMENTS; ++k) expected[k] = one;
    for (int64_t n = 0; n < case_box_cells(&wide); ++n) expected[case_box_index(&wide, n)] = nine;
    CHECK_OK(meta_grid_shape(p, &wide, META_F64));
    CHECK_OK(meta_fill(p, ELEMENTS, &one, META_F64, META_ASYNC));
    CHECK_OK(meta_fill_box(p, &wide, &nine, META_F64, META_ASYNC));
    CHECK_OK(meta_grid_shape(p, &high, META_F64));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(found, p, BYTES, NULL));
    CHECK_ARRAY(found, expected, ELEMENTS, META_F64);
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ errors */

/* The buffer at @p p, which is a grid of `wide`, still is one. */
static void check_refused(void *p, void *ptr, const meta_box *box, meta_type type, meta_err error,
                          const char *part_of_message)
{
    CHECK_ERR_NAMES(meta_grid_shape(ptr, box, type), error, part_of_message);
    check_cells(p, &part, &wide);
}

static void what_is_no_box_of_the_buffer_is_refused(void)
{
    static const meta_box none = {.ndim = 0}, many = {.ndim = META_MAX_DIM + 1},
                          minus = {2, {-1, 4}, {0, 0}, {0, 0}},
                          outside = {2, {8, 8}, {2, 2}, {9, 8}},
                          turned = {2, {8, 8}, {5, 2}, {4, 8}},
                          before = {2, {8, 8}, {-1, 2}, {4, 8}},
                          large = {2, {WIDE + 1, HIGH}, {0, 0}, {1, 1}},
                          huge = {3, {INT64_C(1) << 40, INT64_C(1) << 40, 2}, {0, 0, 0}, {1, 1, 1}};
    void *p;
    if (!CHECK_OK(meta_alloc(&p, BYTES)) || !CHECK_OK(meta_label(p, "memory")) ||
        !CHECK_OK(meta_grid_shape(p, &wide, META_F64)))
        return;
    check_refused(p, p, &none, META_F64, META_ERR_ARGUMENT, "'box'");
    check_refused(p, p, &many, META_F64, META_ERR_ARGUMENT, "'box'");
    check_refused(p, p, &minus, META_F64, META_ERR_BOUNDS, "dimension 0");
    check_refused(p, p, &outside, META_F64, META_ERR_BOUNDS, "dimension 0: [2, 9)");
    check_refused(p, p, &turned, META_F64, META_ERR_BOUNDS, "dimension 0: [5, 4)");
    check_refused(p, p, &before, META_F64, META_ERR_BOUNDS, "dimension 0: [-1, 4)");
    check_refused(p, p, &large, META_F64, META_ERR_BOUNDS, "2520 bytes, the buffer (\"memory\"");
    check_refused(p, p, &huge, META_F64, META_ERR_OVERFLOW, "'box'");
    check_refused(p, p, &wide, META_TYPE_COUNT, META_ERR_TYPE, "'type'");
    check_refused(p, p, &wide, (meta_type)-1, META_ERR_TYPE, "'type'");
    CHECK_OK(meta_free(p));
}

static void what_is_no_buffer_of_the_library_is_refused(void)
{
    static double mine[ELEMENTS];
    void *p, *freed, *host, *wrapped;
    meta_mode mode;
    int index;
    if (!CHECK_OK(meta_alloc(&p, BYTES)) || !CHECK_OK(meta_grid_shape(p, &wide, META_F64)) ||
        !CHECK_OK(meta_alloc(&freed, 5 * BYTES)) || !CHECK_OK(meta_host_alloc(&host, BYTES)))
        return;
    CHECK_OK(meta_free(freed));
    const meta_box *boxes[] = {&wide, NULL};
    for (int k = 0; k < 2; ++k) {
        check_refused(p, NULL, boxes[k], META_F64, META_ERR_ARGUMENT, "'ptr'");
        check_refused(p, freed, boxes[k], META_F64, META_ERR_POINTER, "freed");
        check_refused(p, host, boxes[k], META_F64, META_ERR_POINTER, "meta_host_alloc()");
        check_refused(p, mine, boxes[k], META_F64, META_ERR_POINTER, "'ptr'");
        check_refused(p, (char *)p + 8, boxes[k], META_F64, META_ERR_POINTER, "inside the buffer");
    }
    CHECK_OK(meta_get_acc(&index, &mode));
    if (mode == META_OPENMP && CHECK_OK(meta_wrap(&wrapped, mine, sizeof mine, META_NATIVE_HOST))) {
        for (int k = 0; k < 2; ++k)
            check_refused(p, wrapped, boxes[k], META_F64, META_ERR_POINTER, "meta_wrap()");
        CHECK_OK(meta_unwrap(wrapped));
    }
    CHECK_OK(meta_host_free(host));
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ threads */

enum { THREADS = 6, TIMES = 200 };

/* Errors of a thread, whose buffer is of one shape, of another, and of none. */
static void *work(void *unused)
{
    static const meta_box *const shapes[] = {&wide, &high, NULL};
    static const double last = 4;
    intptr_t wrong = 0;
    void *p;
    (void)unused;
    if (meta_alloc(&p, BYTES) != META_OK) return (void *)1;
    for (int n = 0; n < TIMES; ++n) {
        const meta_box *shape = shapes[n % 3], *used = shape ? shape : &part;
        const int64_t corner = used->size[0] * part.start[1] + part.start[0];
        double found = 0;
        wrong += meta_grid_shape(p, shape, META_F64) != META_OK;
        wrong += meta_fill(p, ELEMENTS, &one, META_F64, NULL) != META_OK;
        wrong += meta_fill_box(p, &part, &last, META_F64, NULL) != META_OK;
        wrong += meta_copy_d2h(&found, (char *)p + corner * 8, 8, NULL) != META_OK;
        wrong += found != last;
    }
    wrong += meta_free(p) != META_OK;
    return (void *)wrong;
}

static void threads_give_shapes_to_their_own_buffers(void)
{
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; ++k)
        if (!CHECK_INT(pthread_create(&thread[k], NULL, work, NULL), 0)) return;
    for (int k = 0; k < THREADS; ++k) {
        void *wrong = NULL;
        CHECK_INT(pthread_join(thread[k], &wrong), 0);
        CHECK_INT((intptr_t)wrong, 0);
    }
}

TEST_DEVICE_MAIN(PROMISE(a_buffer_becomes_a_grid_of_any_shape_and_none_again),
                 PROMISE(a_grid_forgets_its_shape_and_keeps_its_contents),
                 PROMISE(queued_work_keeps_the_shape_that_it_was_queued_with),
                 PROMISE(what_is_no_box_of_the_buffer_is_refused),
                 PROMISE(what_is_no_buffer_of_the_library_is_refused),
                 PROMISE(threads_give_shapes_to_their_own_buffers))
