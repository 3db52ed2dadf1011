/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_library_boundary.c
 *  Boundary conditions on slabs of ghost cells, ready ones and a program's own. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "library.kernel.h"

#include "meta_library.h"
#include "mirror.h"

#include <inttypes.h>

enum { CELLS = 1 << 12 };

static const char *const names[] = {"value", "wall", "gradient", "even", "odd"};

/* The ghost of a layer; -0.0 - x is -x for every x. */
#define ORACLE(NAME, name, T, W)                                                                   \
    static void oracle_##name(void *array, const meta_box *box, int dim, bool high, int64_t width, \
                              meta_boundary_kind kind, const void *value)                          \
    {                                                                                              \
        const W v = value ? (W) * (const T *)value : 0;                                            \
        int64_t stride = high ? -1 : 1;                                                            \
        meta_box side = *box;                                                                      \
        for (int d = 0; d < dim; ++d) stride *= box->size[d];                                      \
        side.start[dim] = high ? box->end[dim] - 1 : box->start[dim];                              \
        side.end[dim] = side.start[dim] + 1;                                                       \
        for (int64_t n = 0; n < case_box_cells(&side); ++n)                                        \
            for (int64_t k = 0; k < width; ++k) {                                                  \
                T *const first = (T *)array + case_box_index(&side, n);                            \
                const bool mirrors = kind != META_BOUNDARY_GRADIENT;                               \
                const W cell = (W)first[mirrors ? k * stride : 0];                                 \
                const volatile W twice = 2 * v, steps = (W)(k + 1) * v;                            \
                first[-(k + 1) * stride] =                                                         \
                    (T)(kind == META_BOUNDARY_VALUE               ? v                              \
                        : kind == META_BOUNDARY_WALL              ? twice - cell                   \
                        : kind == META_BOUNDARY_ODD               ? -cell                          \
                        : kind == META_BOUNDARY_GRADIENT && value ? steps + cell                   \
                                                                  : cell);                         \
            }                                                                                      \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

typedef void oracle(void *, const meta_box *, int, bool, int64_t, meta_boundary_kind, const void *);
static oracle *const oracles[] = {
#define ROW(NAME, name, T, W) [META_##NAME] = oracle_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void compare(mirror *m, meta_boundary_kind kind)
{
    static const int none[4] = {0, 0, 0, 0};
    const meta_type type = case_arithmetic_type();
    int low[4], high[4];
    const int ndim = (int)test_random_in(1, 4), dim = (int)test_random_in(0, ndim - 1);
    const bool at_high = test_random_in(0, 1);
    for (int d = 0; d < 4; ++d) {
        low[d] = d == dim ? (int)test_random_in(0, 4) : none[d];
        high[d] = d == dim ? (int)test_random_in(0, 4) : none[d];
    }
    const meta_box box = case_box_within(ndim, low, high, CELLS);
    const int64_t extent = box.end[dim] - box.start[dim];
    const int64_t outside = at_high ? box.size[dim] - box.end[dim] : box.start[dim];
    int64_t width = least(outside, test_random_in(0, 5));
    if (kind != META_BOUNDARY_VALUE && kind != META_BOUNDARY_GRADIENT) width = least(width, extent);
    const bool given = kind != META_BOUNDARY_GRADIENT || test_random_in(0, 1);
    uint64_t value = 0;
    size_t bytes = 1;
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    test_case("%s%s of %s, %" PRId64 " layers at the %s side of dimension %d, %s", names[kind],
              given ? "" : " 0", case_type_name(type), width, at_high ? "high" : "low", dim,
              case_box_text(&box));
    mirror_refill(m, type, (case_flavour)test_random_in(0, CASE_FLAVOURS - 1));
    case_fill(&value, 1, type, CASE_PLAIN);
    const int64_t room = (int64_t)(m->bytes / bytes) - case_box_array(&box);
    const size_t from = (size_t)test_random_in(0, room) * bytes;
    oracles[type](m->expected + from, &box, dim, at_high, width, kind, given ? &value : NULL);
    case_ending_pick(&ending);
    CHECK_OK(meta_boundary(m->device + from, &box, dim,
                           at_high ? META_SLAB_HIGH_GHOST : META_SLAB_LOW_GHOST, width, kind,
                           given ? &value : NULL, type, ending.done));
    value = 0; /* was read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(m, type, names[kind]);
}

static void ghosts_are_set_from_the_cells_beside_them(void)
{
    mirror m = {0};
    if (mirror_new(&m, CELLS * 8))
        for (int64_t n = 0; n < test_count(200, 20000); ++n)
            compare(&m, (meta_boundary_kind)(n % META_BOUNDARY_COUNT));
    mirror_free(&m);
}

/* All six sides of a grid without gaps between rows: a slab in x lies between the cells. */
static void edges_and_corners_are_filled_one_dimension_after_another(void)
{
    meta_box box = {3, {9, 8, 7}, {2, 2, 2}, {7, 6, 5}};
    float array[7][8][9];
    void *device = NULL;
    for (int z = 0; z < 7; ++z)
        for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 9; ++x) array[z][y][x] = (float)(x + 10 * y + 100 * z);
    if (!CHECK_OK(meta_alloc(&device, sizeof array))) return;
    CHECK_OK(meta_copy_h2d(device, array, sizeof array, NULL));
    for (int d = 0; d < 3; ++d) {
        for (int side = META_SLAB_LOW_GHOST; side <= META_SLAB_HIGH_GHOST; ++side)
            CHECK_OK(meta_boundary(device, &box, d, (meta_slab)side, 2, META_BOUNDARY_EVEN, NULL,
                                   META_F32, META_ASYNC));
        box.start[d] -= 2;
        box.end[d] += 2;
    }
    CHECK_OK(meta_copy_d2h(array, device, sizeof array, NULL));
    for (int z = 0; z < 7; ++z)
        for (int y = 0; y < 8; ++y)
            for (int x = 0; x < 9; ++x) {
                const int mx = x < 2 ? 3 - x : x > 6 ? 13 - x : x;
                const int my = y < 2 ? 3 - y : y > 5 ? 11 - y : y;
                const int mz = z < 2 ? 3 - z : z > 4 ? 9 - z : z;
                CHECK_INT(array[z][y][x], mx + 10 * my + 100 * mz);
            }
    CHECK_OK(meta_free(device));
}

/* The kernel `twice` of library.kernel.h: ghost = 2 inner. */
static void a_kernel_of_the_program_runs_on_a_slab(void)
{
    mirror m = {0};
    static const meta_box box = {3, {10, 9, 8}, {2, 2, 2}, {8, 7, 6}};
    const int64_t stride[] = {1, 10, 90};
    if (!mirror_new(&m, 10 * 9 * 8 * 4)) return;
    mirror_refill(&m, META_F32, CASE_PLAIN);
    for (int d = 0; d < 3; ++d)
        for (int high = 0; high < 2; ++high)
            for (int64_t layer = 0; layer < 2; ++layer)
                for (int64_t cell = 0; cell < 2; ++cell) {
                    meta_box side = box, cells;
                    int64_t ghost = -1, inner = -1;
                    float *expected = (float *)(void *)m.expected;
                    side.start[d] = high ? box.end[d] - 1 : box.start[d];
                    side.end[d] = side.start[d] + 1;
                    for (int64_t n = 0; n < case_box_cells(&side); ++n) {
                        const int64_t at = case_box_index(&side, n), in = high ? -1 : 1;
                        expected[at - in * (layer + 1) * stride[d]] =
                            2 * expected[at + in * cell * stride[d]];
                    }
                    CHECK_OK(meta_boundary_slab(&cells, &ghost, &inner, &box, d,
                                                high ? META_SLAB_HIGH_GHOST : META_SLAB_LOW_GHOST,
                                                layer, cell));
                    float *device = (float *)(void *)m.device;
                    CHECK(ghost >= 0 && inner >= 0);
                    CHECK_OK(twice_f32(&cells, device + ghost, device + inner, NULL));
                    test_case("dimension %d, side %d, layer %" PRId64 ", cell %" PRId64, d, high,
                              layer, cell);
                    mirror_holds(&m, META_F32, "twice");
                }
    mirror_free(&m);
}

static void wrong_sides_are_named(void)
{
    static const meta_box box = {2, {10, 10}, {2, 1}, {4, 9}},
                          empty = {2, {10, 10}, {2, 1}, {2, 9}};
    const float value = 3;
    meta_box cells = {0};
    int64_t ghost = 5, inner = 6;
    mirror m = {0};
    if (!mirror_new(&m, 400)) return;
    void *a = m.device;
#define LOW(array, box, dim, width, kind, value)                                                   \
    meta_boundary(array, box, dim, META_SLAB_LOW_GHOST, width, kind, value, META_F32, NULL)
    CHECK_ERR_NAMES(LOW(a, &box, 2, 1, META_BOUNDARY_EVEN, NULL), META_ERR_ARGUMENT, "'dim'");
    CHECK_ERR_NAMES(LOW(a, &box, -1, 1, META_BOUNDARY_EVEN, NULL), META_ERR_ARGUMENT, "'dim'");
    CHECK_ERR_NAMES(LOW(a, &box, 0, -1, META_BOUNDARY_EVEN, NULL), META_ERR_ARGUMENT, "'width'");
    CHECK_ERR_NAMES(LOW(a, &box, 0, 3, META_BOUNDARY_VALUE, &value), META_ERR_BOUNDS, "'width'");
    CHECK_ERR_NAMES(LOW(a, &box, 1, 2, META_BOUNDARY_VALUE, &value), META_ERR_BOUNDS, "'width'");
    CHECK_ERR_NAMES(LOW(a, &box, 0, 1, META_BOUNDARY_WALL, NULL), META_ERR_ARGUMENT, "'value'");
    CHECK_ERR_NAMES(LOW(a, &box, 0, 1, META_BOUNDARY_VALUE, NULL), META_ERR_ARGUMENT, "'value'");
    CHECK_ERR_NAMES(LOW(a, &box, 0, 1, META_BOUNDARY_COUNT, &value), META_ERR_ARGUMENT, "'kind'");
    CHECK_ERR_NAMES(LOW(NULL, &box, 0, 1, META_BOUNDARY_VALUE, &value), META_ERR_ARGUMENT,
                    "'array'");
    CHECK_ERR_NAMES(LOW(a, NULL, 0, 1, META_BOUNDARY_VALUE, &value), META_ERR_ARGUMENT, "'box'");
    CHECK_ERR_NAMES(LOW((char *)a + 4 * 20, &box, 0, 1, META_BOUNDARY_VALUE, &value),
                    META_ERR_BOUNDS, "'array'");
    CHECK_ERR_NAMES(
        meta_boundary(a, &box, 0, META_SLAB_HIGH_GHOST, 3, META_BOUNDARY_ODD, NULL, META_F32, NULL),
        META_ERR_BOUNDS, "'width'");
    CHECK_ERR_NAMES(
        meta_boundary(a, &box, 0, META_SLAB_LOW, 1, META_BOUNDARY_ODD, NULL, META_F32, NULL),
        META_ERR_ARGUMENT, "'side'");
    CHECK_ERR_NAMES(
        meta_boundary(a, &box, 0, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_ODD, NULL, META_U16, NULL),
        META_ERR_TYPE, "'type'");
    CHECK_OK(LOW(a, &box, 0, 0, META_BOUNDARY_VALUE, &value));
    CHECK_OK(LOW(a, &empty, 0, 2, META_BOUNDARY_VALUE, &value));
    mirror_holds(&m, META_U8, "array");
#define SLAB(layer, cell)                                                                          \
    meta_boundary_slab(&cells, &ghost, &inner, &box, 0, META_SLAB_LOW_GHOST, layer, cell)
    CHECK_ERR_NAMES(SLAB(2, 0), META_ERR_BOUNDS, "'layer'");
    CHECK_ERR_NAMES(SLAB(0, 2), META_ERR_BOUNDS, "'cell'");
    CHECK_ERR_NAMES(SLAB(INT64_MAX, 0), META_ERR_BOUNDS, "'layer'");
    CHECK_ERR_NAMES(SLAB(0, -1), META_ERR_ARGUMENT, "'cell'");
    CHECK(cells.ndim == 0 && ghost == 5 && inner == 6);
    CHECK_ERR_NAMES(meta_boundary_slab(NULL, &ghost, &inner, &box, 0, META_SLAB_LOW_GHOST, 0, 0),
                    META_ERR_ARGUMENT, "'cells'");
    mirror_free(&m);
}

TEST_DEVICE_MAIN(PROMISE(ghosts_are_set_from_the_cells_beside_them),
                 PROMISE(edges_and_corners_are_filled_one_dimension_after_another),
                 PROMISE(a_kernel_of_the_program_runs_on_a_slab), PROMISE(wrong_sides_are_named))
