/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_library_stencil.c
 *  The ready stencils with constant weights and with weights of each cell, and their dot products.
 */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
/* TEST: backends=openmp labels=core with=CPU=baseline */
#include "meta_library.h"
#include "mirror.h"
#include "sums.h"

#include <inttypes.h>
#include <string.h>

enum { CELLS = 1 << 12, MOST_POINTS = 27 };

static const char *const names[] = {"2d5p", "2d9p", "3d7p", "3d27p"};

/* The points of a stencil in the order in which they lie in memory. */
static int points_of(meta_stencil_kind kind, int point[MOST_POINTS][3])
{
    const bool flat = kind == META_2D5P || kind == META_2D9P;
    const bool star = kind == META_2D5P || kind == META_3D7P;
    int count = 0;
    for (int z = flat ? 0 : -1; z <= !flat; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x) {
                if (star && x * x + y * y + z * z > 1) continue;
                memcpy(point[count++], (int[]){x, y, z}, sizeof *point);
            }
    return count;
}

/* Weights of points, or with `of_cells` arrays of them. Products are volatile: no contraction. */
#define ORACLE(NAME, name, T, W)                                                                   \
    static void oracle_##name(void *out, const void *in, void *const *weight, bool of_cells,       \
                              const meta_box *box, meta_stencil_kind kind, sum_expected *dot)      \
    {                                                                                              \
        int point[MOST_POINTS][3];                                                                 \
        const int count = points_of(kind, point);                                                  \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            W sum = 0;                                                                             \
            for (int k = 0; k < count; ++k) {                                                      \
                const int64_t from =                                                               \
                    at + case_box_away(box, point[k][0], point[k][1], point[k][2], 0);             \
                const volatile W term =                                                            \
                    (W)((const T *)weight[k])[of_cells ? at : 0] * (W)((const T *)in)[from];       \
                sum = k == 0 ? term : sum + term;                                                  \
            }                                                                                      \
            ((T *)out)[at] = (T)sum;                                                               \
            const T product = (T)((W)((const T *)in)[at] * sum);                                   \
            sum_add(dot, sum_real(&product, 0, META_##NAME), sum_whole(&product, 0, META_##NAME)); \
        }                                                                                          \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

typedef void oracle(void *, const void *, void *const *, bool, const meta_box *, meta_stencil_kind,
                    sum_expected *);
static oracle *const oracles[] = {
#define ROW(NAME, name, T, W) [META_##NAME] = oracle_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static mirror out, in, weights[MOST_POINTS];

static bool make_buffers(void)
{
    bool made = mirror_new(&out, CELLS * 8) && mirror_new(&in, CELLS * 8);
    for (int k = 0; k < MOST_POINTS; ++k) made = made && mirror_new(&weights[k], CELLS * 8);
    return made;
}

static void free_buffers(void)
{
    mirror_free(&out);
    mirror_free(&in);
    for (int k = 0; k < MOST_POINTS; ++k) mirror_free(&weights[k]);
}

static meta_err call(bool of_cells, const void *constant, const void *const *of_cell,
                     const meta_box *box, meta_stencil_kind kind, meta_type type, void *dot,
                     meta_event *done)
{
    if (of_cells)
        return meta_stencil_variable(out.device, in.device, of_cell, box, kind, type, dot, done);
    return meta_stencil_constant(out.device, in.device, constant, box, kind, type, dot, done);
}

static void compare(meta_stencil_kind kind, bool of_cells, bool with_dot)
{
    static const int flat[4] = {1, 1, 0, 0}, solid[4] = {1, 1, 1, 0};
    const int dims = kind == META_2D5P || kind == META_2D9P ? 2 : 3;
    const int *reach = dims == 2 ? flat : solid;
    const meta_type type = case_arithmetic_type();
    const meta_box box = case_box_within((int)test_random_in(dims, 4), reach, reach, CELLS);
    int point[MOST_POINTS][3];
    const int count = points_of(kind, point);
    unsigned char constant[MOST_POINTS * 8];
    void *expected[MOST_POINTS];
    const void *device[MOST_POINTS] = {NULL};
    sum_expected dot = {0};
    uint64_t found = UINT64_C(0x5a5a5a5a5a5a5a5a);
    void *place = NULL;
    size_t bytes = 1;
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    test_case("%s of %s, weights of %s, %s, %s", names[kind], case_type_name(type),
              of_cells ? "cells" : "points", with_dot ? "dot" : "no dot", case_box_text(&box));
    mirror_refill(&in, type, CASE_PLAIN);
    mirror_refill(&out, type, CASE_PLAIN);
    case_fill(constant, (size_t)count, type, CASE_PLAIN);
    for (int k = 0; k < count; ++k) {
        if (of_cells) mirror_refill(&weights[k], type, CASE_PLAIN);
        expected[k] = of_cells ? weights[k].expected : constant + (size_t)k * bytes;
        device[k] = weights[k].device;
    }
    oracles[type](out.expected, in.expected, expected, of_cells, &box, kind, &dot);
    if (with_dot && test_random_in(0, 1)) CHECK_OK(meta_alloc(&place, 8));
    case_ending_pick(&ending);
    CHECK_OK(call(of_cells, constant, device, &box, kind, type,
                  !with_dot ? NULL
                  : place   ? place
                            : &found,
                  ending.done));
    memset(constant, 0, sizeof constant); /* was read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(&out, type, "out");
    mirror_holds(&in, type, "in");
    if (place) CHECK_OK(meta_copy_d2h(&found, place, bytes, NULL));
    if (place) CHECK_OK(meta_free(place));
    if (with_dot) sum_check(&found, &dot, type, "dot");
}

static void each_stencil(bool of_cells, bool with_dot)
{
    if (make_buffers())
        for (int64_t n = 0; n < test_count(32, 3000); ++n)
            compare((meta_stencil_kind)(n % META_STENCIL_COUNT), of_cells, with_dot);
    free_buffers();
}

static void constant_weights_are_those_of_the_points(void)
{
    each_stencil(false, false);
}

static void constant_weights_with_the_dot_product(void)
{
    each_stencil(false, true);
}

static void variable_weights_are_those_of_the_cells(void)
{
    each_stencil(true, false);
}

static void variable_weights_with_the_dot_product(void)
{
    each_stencil(true, true);
}

/* Of doubles, whose products meta_dot() rounds too. */
static void a_reproducible_dot_product_is_that_of_meta_dot(void)
{
    static const meta_box box = {3, {20, 12, 10}, {1, 1, 1}, {19, 11, 9}};
    double weight[27], dot = 0, expected = 1;
    if (!case_has_f64() || !make_buffers()) return;
    case_fill(weight, 27, META_F64, CASE_PLAIN);
    mirror_refill(&in, META_F64, CASE_PLAIN);
    CHECK_OK(meta_set_reproducible(1));
    CHECK_OK(meta_stencil_constant(out.device, in.device, weight, &box, META_3D27P, META_F64, &dot,
                                   NULL));
    CHECK_OK(meta_dot(&expected, in.device, out.device, &box, META_F64, NULL));
    CHECK_ARRAY(&dot, &expected, 1, META_F64);
    CHECK_ERR_NAMES(meta_stencil_constant(out.device, in.device, weight, &box, META_3D27P, META_F64,
                                          in.device + 2, NULL),
                    META_ERR_ALIGNMENT, "'dot'");
    CHECK_OK(meta_set_reproducible(0));
    free_buffers();
}

static void wrong_operands_are_named(void)
{
    static const meta_box box = {3, {8, 8, 8}, {1, 1, 1}, {7, 7, 7}},
                          bare = {3, {8, 8, 8}, {1, 1, 0}, {7, 7, 7}};
    static const meta_box line = {1, {512}, {1}, {511}},
                          empty = {3, {8, 8, 8}, {1, 1, 1}, {7, 1, 7}};
    const float weight[27] = {1};
    const void *arrays[27];
    float dot = 42;
    if (!make_buffers()) return;
    for (int k = 0; k < 27; ++k) arrays[k] = weights[k].device;
    mirror_refill(&out, META_F32, CASE_PLAIN);
#define CONSTANT(out, in, weight, box, kind, type)                                                 \
    meta_stencil_constant(out, in, weight, box, kind, type, &dot, NULL)
    void *o = out.device, *i = in.device;
    CHECK_ERR_NAMES(CONSTANT(o, i, NULL, &box, META_3D7P, META_F32), META_ERR_ARGUMENT, "'weight'");
    CHECK_ERR_NAMES(CONSTANT(o, i, i, &box, META_3D7P, META_F32), META_ERR_POINTER, "'weight'");
    CHECK_ERR_NAMES(CONSTANT(NULL, i, weight, &box, META_3D7P, META_F32), META_ERR_ARGUMENT,
                    "'out'");
    CHECK_ERR_NAMES(CONSTANT(o, NULL, weight, &box, META_3D7P, META_F32), META_ERR_ARGUMENT,
                    "'in'");
    CHECK_ERR_NAMES(CONSTANT(o, o, weight, &box, META_3D7P, META_F32), META_ERR_OVERLAP, "'out'");
    CHECK_ERR_NAMES(CONSTANT(o, i, weight, &bare, META_3D7P, META_F32), META_ERR_BOUNDS, "'box'");
    CHECK_ERR_NAMES(CONSTANT(o, i, weight, &line, META_2D9P, META_F32), META_ERR_ARGUMENT, "'box'");
    CHECK_ERR_NAMES(CONSTANT(o, i, weight, &box, META_STENCIL_COUNT, META_F32), META_ERR_ARGUMENT,
                    "'kind'");
    CHECK_ERR_NAMES(CONSTANT(o, i, weight, &box, META_3D7P, META_U8), META_ERR_TYPE, "'type'");
    CHECK_ERR_NAMES(meta_stencil_variable(o, i, NULL, &box, META_3D7P, META_F32, NULL, NULL),
                    META_ERR_ARGUMENT, "'weight'");
    arrays[3] = NULL;
    CHECK_ERR_NAMES(meta_stencil_variable(o, i, arrays, &box, META_3D7P, META_F32, NULL, NULL),
                    META_ERR_ARGUMENT, "'weight3'");
    CHECK(dot == 42);
    mirror_holds(&out, META_U8, "out");
    CHECK_OK(CONSTANT(o, i, weight, &empty, META_3D7P, META_F32));
    CHECK(dot == 0);
    mirror_holds(&out, META_U8, "out");
    free_buffers();
}

TEST_DEVICE_MAIN(PROMISE(constant_weights_are_those_of_the_points),
                 PROMISE(constant_weights_with_the_dot_product),
                 PROMISE(variable_weights_are_those_of_the_cells),
                 PROMISE(variable_weights_with_the_dot_product),
                 PROMISE(a_reproducible_dot_product_is_that_of_meta_dot),
                 PROMISE(wrong_operands_are_named))
