/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_stencil.c
 *  The four stencils against MiniGhost's formula, bit for bit, and the sums fused with them: of the
 *  new cells, and of boxes of the old ones. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "mirror.h"
#include "sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 15, LARGE_BYTES = 1 << 21, FAR_BYTES = 1 << 23 };

static const char *const stencil_names[] = {"2D5P", "2D9P", "3D7P", "3D27P"};

static int dimensions_of(meta_stencil_kind kind)
{
    return kind == META_2D5P || kind == META_2D9P ? 2 : 3;
}

/* ------------------------------------------------------------------ the oracle */

/* Points in the order in which MiniGhost adds them, one after the other. */
typedef struct point {
    int x, y, z;
} point;

static const point cross_2d[] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, 0}, {0, 1, 0}, {1, 0, 0}};
static const point cross_3d[] = {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 0},
                                 {0, 1, 0},  {1, 0, 0},  {0, 0, 1}};
static const point plane[] = {{-1, -1, 0}, {-1, 0, 0}, {-1, 1, 0}, {0, -1, 0}, {0, 0, 0},
                              {0, 1, 0},   {1, -1, 0}, {1, 0, 0},  {1, 1, 0}};

/* Integers are added as unsigned ones; a conversion back keeps the bits. There is nothing here that
 * a compiler could contract. */
#define ORACLE(NAME, name, T, W)                                                                   \
    static W chain_##name(const T *cell, const point *points, int count, int64_t sy, int64_t sz)   \
    {                                                                                              \
        W sum = (W)cell[points[0].x + points[0].y * sy + points[0].z * sz];                        \
        for (int k = 1; k < count; ++k)                                                            \
            sum = sum + (W)cell[points[k].x + points[k].y * sy + points[k].z * sz];                \
        return sum;                                                                                \
    }                                                                                              \
    static T average_##name(const T *cell, meta_stencil_kind kind, int64_t sy, int64_t sz)         \
    {                                                                                              \
        W sum;                                                                                     \
        switch (kind) {                                                                            \
        case META_2D5P:                                                                            \
            return (T)chain_##name(cell, cross_2d, 5, sy, sz) / (T)5;                              \
        case META_2D9P:                                                                            \
            return (T)chain_##name(cell, plane, 9, sy, sz) / (T)9;                                 \
        case META_3D7P:                                                                            \
            return (T)chain_##name(cell, cross_3d, 7, sy, sz) / (T)7;                              \
        default:                                                                                   \
            sum = chain_##name(cell - sz, plane, 9, sy, sz);                                       \
            sum = sum + chain_##name(cell, plane, 9, sy, sz);                                      \
            sum = sum + chain_##name(cell + sz, plane, 9, sy, sz);                                 \
            return (T)sum / (T)27;                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void oracle_##name(void *out, const void *in, const meta_box *box,                      \
                              meta_stencil_kind kind)                                              \
    {                                                                                              \
        const int64_t sy = box->size[0], sz = box->size[0] * box->size[1];                         \
        const int64_t row = box->end[0] - box->start[0], cells = case_box_cells(box);              \
        for (int64_t n = 0; n < cells; n += row) {                                                 \
            const int64_t first = case_box_index(box, n);                                          \
            for (int64_t at = first; at < first + row; ++at)                                       \
                ((T *)out)[at] = average_##name((const T *)in + at, kind, sy, sz);                 \
        }                                                                                          \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

static void (*const oracle[])(void *, const void *, const meta_box *, meta_stencil_kind) = {
#define ROW(NAME, name, T, W) [META_##NAME] = oracle_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

/* ------------------------------------------------------------------ sums */

static sum_expected sum_of(const void *array, const meta_box *box, meta_type type)
{
    const int64_t row = box->end[0] - box->start[0], cells = case_box_cells(box);
    sum_expected sum = {0};
    for (int64_t n = 0; n < cells; n += row) {
        const int64_t first = case_box_index(box, n);
        for (int64_t at = first; at < first + row; ++at)
            sum_add(&sum, sum_real(array, at, type), sum_whole(array, at, type));
    }
    return sum;
}

/* ------------------------------------------------------------------ random cases */

typedef struct stencil_case {
    meta_type type;
    meta_stencil_kind kind;
    case_flavour flavour;
    meta_box box;
    size_t in, out; /* where the arrays begin, in bytes */
} stencil_case;

static stencil_case random_case(size_t room, int most_dimensions)
{
    stencil_case c = {.type = case_arithmetic_type()};
    size_t bytes = 1;
    CHECK_OK(meta_type_size(c.type, &bytes));
    c.kind = (meta_stencil_kind)test_random_in(0, META_STENCIL_COUNT - 1);
    c.flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    const int least_dimensions = dimensions_of(c.kind);
    const int64_t cells = (int64_t)(room / bytes);
    c.box =
        case_box((int)test_random_in(least_dimensions, most_dimensions), least_dimensions, cells);
    c.in = (size_t)test_random_in(0, cells - case_box_array(&c.box)) * bytes;
    c.out = (size_t)test_random_in(0, cells - case_box_array(&c.box)) * bytes;
    test_case("%s of %s, contents %d, in + %zu bytes, out + %zu bytes, %s", stencil_names[c.kind],
              case_type_name(c.type), (int)c.flavour, c.in, c.out, case_box_text(&c.box));
    return c;
}

/* A grid as meta_grid_alloc() makes them, of rows that begin with a line of 64 bytes; rows of up to
 * some thousand cells, of which a cache holds few. */
static stencil_case padded_case(size_t room)
{
    enum { LINE = 64 };
    stencil_case c = {.type = case_arithmetic_type()};
    size_t bytes = 1;
    CHECK_OK(meta_type_size(c.type, &bytes));
    c.kind = (meta_stencil_kind)test_random_in(0, META_STENCIL_COUNT - 1);
    c.flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    const int64_t line = (int64_t)(LINE / bytes), cells = (int64_t)(room / bytes);
    const int64_t columns = test_random_in(1, test_random_in(0, 1) ? 100 : 5000);
    c.box = (meta_box){.ndim = 3, .start = {line, 1, 1}};
    c.box.size[0] = (line + columns + 1 + line - 1) / line * line;
    int64_t left = cells / c.box.size[0];
    c.box.size[2] = test_random_in(3, left / 3 < 14 ? left / 3 : 14);
    left /= c.box.size[2];
    c.box.size[1] = test_random_in(3, left);
    c.box.end[0] = line + columns;
    for (int d = 1; d < 3; ++d) c.box.end[d] = c.box.size[d] - 1;
    test_case("padded, %s of %s, contents %d, %s", stencil_names[c.kind], case_type_name(c.type),
              (int)c.flavour, case_box_text(&c.box));
    return c;
}

/* The cases of a promise: 0 dimensions ask for padded ones. */
static stencil_case some_case(size_t room, int most_dimensions)
{
    return most_dimensions > 0 ? random_case(room, most_dimensions) : padded_case(room);
}

static void run_without_sum(mirror *out, mirror *in, int most_dimensions)
{
    const stencil_case c = some_case(in->bytes, most_dimensions);
    case_ending ending;
    mirror_refill(in, c.type, c.flavour);
    oracle[c.type](out->expected + c.out, in->expected + c.in, &c.box, c.kind);
    case_ending_pick(&ending);
    CHECK_OK(meta_stencil(out->device + c.out, in->device + c.in, &c.box, c.kind, c.type, NULL,
                          ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(out, c.type, "the grid");
}

/* The grid must be the oracle's as well, so it is that of the stencil without a sum. */
static void run_case_with_sum(const stencil_case *c, mirror *out, mirror *in)
{
    uint64_t on_host = 0;
    void *on_device = NULL;
    case_ending ending;
    mirror_refill(in, c->type, c->flavour);
    oracle[c->type](out->expected + c->out, in->expected + c->in, &c->box, c->kind);
    const sum_expected expected = sum_of(out->expected + c->out, &c->box, c->type);
    if (test_random_in(0, 1) && !CHECK_OK(meta_alloc(&on_device, 24))) return;
    case_ending_pick(&ending);
    CHECK_OK(meta_stencil(out->device + c->out, in->device + c->in, &c->box, c->kind, c->type,
                          on_device ? (char *)on_device + 8 : (void *)&on_host, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(out, c->type, "the grid");
    if (on_device) CHECK_OK(meta_copy_d2h(&on_host, (char *)on_device + 8, 8, NULL));
    /* Infinities and NaN have promises of their own. */
    if (!case_is_float(c->type) || c->flavour != CASE_WILD)
        sum_check(&on_host, &expected, c->type, on_device ? "on the device" : "on the host");
    if (on_device) CHECK_OK(meta_free(on_device));
}

static void run_with_sum(mirror *out, mirror *in, int most_dimensions)
{
    const stencil_case c = some_case(in->bytes, most_dimensions);
    run_case_with_sum(&c, out, in);
}

/* ------------------------------------------------------------------ sums of boxes */

enum { MOST_PARTS = 11 };

/* A side of the box, or cells anywhere in the array, one in twenty empty; along each dimension. */
static meta_box random_part(const meta_box *box)
{
    meta_box part = *box;
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t how = test_random_in(0, 5), all = box->size[d];
        if (how == 0 && box->start[d] < box->end[d]) part.end[d] = part.start[d] + 1;
        if (how == 1 && box->start[d] < box->end[d]) part.start[d] = part.end[d] - 1;
        if (how != 2) continue;
        part.start[d] = test_random_in(0, all - 1);
        part.end[d] = test_random_in(part.start[d] + (test_random_in(0, 19) > 0), all);
    }
    return part;
}

/* In one pass with the stencil or apart, the grid is the same and each sum that of its box. */
static void run_with_parts(mirror *out, mirror *in, int most_dimensions)
{
    enum { ROOM = (MOST_PARTS + 2) * 8 };
    const stencil_case c = some_case(in->bytes, most_dimensions);
    const int parts = (int)test_random_in(0, MOST_PARTS);
    const bool summed = test_random_in(0, 1), on_device = test_random_in(0, 1);
    unsigned char before[ROOM], found[ROOM], *place = found;
    sum_expected expected[MOST_PARTS + 1];
    meta_box part[MOST_PARTS];
    case_ending ending;
    size_t bytes = 1;
    CHECK_OK(meta_type_size(c.type, &bytes));
    mirror_refill(in, c.type, c.flavour);
    for (int k = 0; k < parts; ++k) {
        part[k] = random_part(&c.box);
        expected[k] = sum_of(in->expected + c.in, &part[k], c.type);
    }
    oracle[c.type](out->expected + c.out, in->expected + c.in, &c.box, c.kind);
    if (summed) expected[parts] = sum_of(out->expected + c.out, &c.box, c.type);
    test_random_fill(before, ROOM, META_U8);
    memcpy(found, before, ROOM);
    if (on_device && !CHECK_OK(meta_alloc((void **)&place, ROOM))) return;
    if (on_device) CHECK_OK(meta_copy_h2d(place, before, ROOM, NULL));
    case_ending_pick(&ending);
    CHECK_OK(meta_stencil_sums(out->device + c.out, in->device + c.in, &c.box, c.kind, c.type,
                               summed ? place + (size_t)parts * bytes : NULL, place, parts, part,
                               ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(out, c.type, "the grid");
    if (on_device) CHECK_OK(meta_copy_d2h(found, place, ROOM, NULL));
    const size_t end = (size_t)(parts + summed) * bytes;
    for (int k = 0; k < parts + summed; ++k)
        if (!case_is_float(c.type) || c.flavour != CASE_WILD)
            sum_check(found + (size_t)k * bytes, &expected[k], c.type,
                      k == parts ? "of the new cells" : case_box_text(&part[k]));
    CHECK_ARRAY(found + end, before + end, ROOM - end, META_U8);
    if (on_device) CHECK_OK(meta_free(place));
}

/* Beyond the caches a back end may try several ways, and keep the fastest. */
static void run_again(mirror *out, mirror *in, int most_dimensions)
{
    const stencil_case c = some_case(in->bytes, most_dimensions);
    for (int call = 0; call < 3; ++call) run_case_with_sum(&c, out, in);
}

static void many(void (*one)(mirror *, mirror *, int), size_t room, int most_dimensions,
                 int64_t few, int64_t most)
{
    mirror out = {0}, in = {0};
    if (mirror_new(&out, room) && mirror_new(&in, room))
        TEST_CASES (k, few, most) one(&out, &in, most_dimensions);
    mirror_free(&out);
    mirror_free(&in);
}

static void stencils_have_the_bits_of_the_formula_and_touch_no_other_cell(void)
{
    many(run_without_sum, SMALL_BYTES, 4, 4000, 400000);
}

static void stencils_have_the_bits_of_the_formula_in_every_batch(void)
{
    many(run_without_sum, SMALL_BYTES, META_MAX_DIM, 300, 30000);
}

static void stencils_have_the_bits_of_the_formula_on_large_grids(void)
{
    many(run_without_sum, LARGE_BYTES, 4, 60, 6000);
}

static void stencils_have_the_bits_of_the_formula_on_padded_grids(void)
{
    many(run_without_sum, LARGE_BYTES, 0, 60, 6000);
    many(run_with_sum, LARGE_BYTES, 0, 60, 6000);
}

static void stencils_with_a_sum_make_the_same_grid_and_the_right_sum(void)
{
    many(run_with_sum, SMALL_BYTES, 4, 4000, 400000);
}

static void stencils_with_a_sum_are_right_on_large_grids(void)
{
    many(run_with_sum, LARGE_BYTES, 4, 60, 6000);
}

static void stencils_have_the_bits_of_the_formula_beyond_the_caches(void)
{
    if (test_under_oclgrind()) return;
    many(run_again, FAR_BYTES, 3, 10, 1000);
    many(run_again, FAR_BYTES, 0, 10, 1000);
}

static void sums_of_boxes_are_right_beside_the_same_grid(void)
{
    many(run_with_parts, SMALL_BYTES, 4, 2000, 200000);
    many(run_with_parts, LARGE_BYTES, 3, 60, 6000);
    many(run_with_parts, LARGE_BYTES, 0, 60, 6000);
}

static void sums_of_boxes_are_right_beyond_the_caches(void)
{
    if (test_under_oclgrind()) return;
    many(run_with_parts, FAR_BYTES, 3, 10, 1000);
    many(run_with_parts, FAR_BYTES, 0, 10, 1000);
}

/* ------------------------------------------------------------------ chosen cases */

/* A grid of 5 x 5 x 5 cells of `type` on the device, all @p value, its interior, and another. */
typedef struct grid {
    void *in, *out;
    meta_box box;
} grid;

static bool grid_new(grid *g, const void *value, meta_type type)
{
    *g = (grid){.box = {3, {5, 5, 5}, {1, 1, 1}, {4, 4, 4}}};
    return CHECK_OK(meta_alloc(&g->in, 125 * 8)) && CHECK_OK(meta_alloc(&g->out, 125 * 8)) &&
           CHECK_OK(meta_fill(g->in, 125, value, type, NULL)) &&
           CHECK_OK(meta_fill(g->out, 125, value, type, NULL));
}

static void grid_free(grid *g)
{
    if (g->in) CHECK_OK(meta_free(g->in));
    if (g->out) CHECK_OK(meta_free(g->out));
}

/* A value whose division by @p points might round wrongly: any bits, subnormal ones, those next to
 * where the quotient's rounding changes, the largest and infinite ones. (q + 1/2) points takes 59
 * bits, and a long double has 64 or more on x86, aarch64 and POWER. */
#define RARE(name, T, U, MANTISSA, LOWEST)                                                         \
    static T rare_##name(int points)                                                               \
    {                                                                                              \
        static const T chosen[] = {-(T)0, (T)INFINITY, -(T)INFINITY, (T)1, MOST_##name};           \
        const U place = (U)1 << (MANTISSA - 1), bits = (U)test_random();                           \
        const U exponent = (((U)1 << (8 * sizeof(U) - MANTISSA)) - 1) * place;                     \
        const U subnormal = bits & ~exponent;                                                      \
        const int64_t power = test_random_in(LOWEST, -LOWEST - 8);                                 \
        const long double turn = ((long double)(place | (bits & (place - 1))) + 0.5L) * points;    \
        T value;                                                                                   \
        switch (test_random_in(0, 4)) {                                                            \
        case 0:                                                                                    \
            memcpy(&value, &bits, sizeof value);                                                   \
            return value;                                                                          \
        case 1:                                                                                    \
            memcpy(&value, &subnormal, sizeof value);                                              \
            return value;                                                                          \
        case 2:                                                                                    \
            return chosen[test_random_in(0, 4)];                                                   \
        default:                                                                                   \
            value = (T)ldexpl(turn, (int)power - MANTISSA);                                        \
            return test_random_in(0, 1) ? value : -value;                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Of each cell's points, all but one at most are -0, which adds nothing. */                   \
    static void place_apart_##name(void *array, const meta_box *box, int points)                   \
    {                                                                                              \
        T *a = array;                                                                              \
        for (int64_t n = 0; n < case_box_array(box); ++n) {                                        \
            const int64_t x = n % box->size[0], row = n / box->size[0];                            \
            const int64_t y = row % box->size[1], z = row / box->size[1];                          \
            a[n] = x % 3 == 1 && y % 3 == 1 && z % 3 == 1 ? rare_##name(points) : -(T)0;           \
        }                                                                                          \
    }
#define MOST_f64 DBL_MAX
#define MOST_f32 FLT_MAX
RARE(f64, double, uint64_t, 53, -1070)
RARE(f32, float, uint32_t, 24, -145)

static void averages_of_all_exponents_are_rounded_as_a_division_rounds(void)
{
    static const int points[] = {5, 9, 7, 27};
    mirror out = {0}, in = {0};
    if (!mirror_new(&out, SMALL_BYTES * 4) || !mirror_new(&in, SMALL_BYTES * 4)) return;
    TEST_CASES (k, 40, 40000) {
        const meta_type type = k % 2 ? META_F32 : META_F64;
        const int kind = (int)(k / 2 % META_STENCIL_COUNT);
        meta_box box = {.ndim = 3, .start = {1, 1, 1}};
        for (int d = 0; d < 3; ++d) box.size[d] = test_random_in(3, 25);
        for (int d = 0; d < 3; ++d) box.end[d] = box.size[d] - 1;
        test_case("%s of %s, %s", stencil_names[kind], case_type_name(type), case_box_text(&box));
        if (type == META_F64) place_apart_f64(in.expected, &box, points[kind]);
        else place_apart_f32(in.expected, &box, points[kind]);
        CHECK_OK(meta_copy_h2d(in.device, in.expected, in.bytes, NULL));
        oracle[type](out.expected, in.expected, &box, (meta_stencil_kind)kind);
        CHECK_OK(
            meta_stencil(out.device, in.device, &box, (meta_stencil_kind)kind, type, NULL, NULL));
        mirror_holds(&out, type, "the grid");
    }
    mirror_free(&out);
    mirror_free(&in);
}

static void integers_are_divided_towards_zero(void)
{
    static const int points[] = {5, 9, 7, 27};
    for (int kind = 0; kind < META_STENCIL_COUNT; ++kind)
        for (int32_t value = -3; value <= 3; ++value) {
            const int32_t one_less = value - 1;
            const meta_box centre = {3, {5, 5, 5}, {2, 2, 2}, {3, 3, 3}};
            grid g;
            int32_t found = 99;
            test_case("%s, all %d but one %d", stencil_names[kind], value, one_less);
            if (grid_new(&g, &value, META_I32)) {
                CHECK_OK(meta_fill_box(g.in, &centre, &one_less, META_I32, NULL));
                CHECK_OK(meta_stencil(g.out, g.in, &centre, (meta_stencil_kind)kind, META_I32,
                                      &found, NULL));
                CHECK_INT(found, (value * points[kind] - 1) / points[kind]);
            }
            grid_free(&g);
        }
}

static void integers_wrap_around(void)
{
    const int32_t most_i32 = INT32_MAX;
    const uint64_t most_u64 = UINT64_MAX;
    grid g;
    int32_t i32 = 0;
    uint64_t u64 = 0;
    /* 5 (2^31 - 1) is 2^31 - 5 modulo 2^32. The sum over 27 equal cells wraps again. */
    if (grid_new(&g, &most_i32, META_I32)) {
        CHECK_OK(meta_stencil(g.out, g.in, &g.box, META_2D5P, META_I32, &i32, NULL));
        const int32_t average = INT32_C(2147483643) / 5;
        CHECK_INT(i32, (int32_t)(27u * (uint32_t)average));
    }
    grid_free(&g);
    /* 7 (2^64 - 1) is 2^64 - 7. */
    if (grid_new(&g, &most_u64, META_U64)) {
        CHECK_OK(meta_stencil(g.out, g.in, &g.box, META_3D7P, META_U64, &u64, NULL));
        CHECK_U64(u64, 27u * (UINT64_C(0xfffffffffffffff9) / 7));
    }
    grid_free(&g);
}

static void a_nan_propagates_through_stencil_and_sum(void)
{
    const float one = 1, nan = NAN;
    for (int kind = 0; kind < META_STENCIL_COUNT; ++kind) {
        const meta_box centre = {3, {5, 5, 5}, {2, 2, 2}, {3, 3, 3}};
        grid g;
        float sum = 0, cell = 0;
        test_case("%s", stencil_names[kind]);
        if (grid_new(&g, &one, META_F32)) {
            CHECK_OK(meta_fill_box(g.in, &centre, &nan, META_F32, NULL));
            CHECK_OK(
                meta_stencil(g.out, g.in, &g.box, (meta_stencil_kind)kind, META_F32, &sum, NULL));
            CHECK(isnan(sum));
            CHECK_OK(meta_copy_d2h(&cell, (float *)g.out + 1 + 5 * 2 + 25 * 2, sizeof cell, NULL));
            CHECK(isnan(cell));
        }
        grid_free(&g);
    }
}

static void an_infinity_propagates_through_stencil_and_sum(void)
{
    const float one = 1, infinite = -INFINITY;
    for (int kind = 0; kind < META_STENCIL_COUNT; ++kind) {
        const meta_box centre = {3, {5, 5, 5}, {2, 2, 2}, {3, 3, 3}};
        grid g;
        float sum = 0;
        test_case("%s", stencil_names[kind]);
        if (grid_new(&g, &one, META_F32)) {
            CHECK_OK(meta_fill_box(g.in, &centre, &infinite, META_F32, NULL));
            CHECK_OK(
                meta_stencil(g.out, g.in, &g.box, (meta_stencil_kind)kind, META_F32, &sum, NULL));
            CHECK(sum == infinite);
        }
        grid_free(&g);
    }
}

static void denormals_are_kept(void)
{
    const float tiny = FLT_TRUE_MIN * 27;
    for (int kind = 0; kind < META_STENCIL_COUNT; ++kind) {
        grid g;
        float sum = 0;
        test_case("%s", stencil_names[kind]);
        if (grid_new(&g, &tiny, META_F32)) {
            CHECK_OK(
                meta_stencil(g.out, g.in, &g.box, (meta_stencil_kind)kind, META_F32, &sum, NULL));
            CHECK(sum == 27 * tiny);
        }
        grid_free(&g);
    }
}

static void an_empty_box_has_the_sum_0_and_changes_nothing(void)
{
    mirror out = {0}, in = {0};
    if (mirror_new(&out, 4096) && mirror_new(&in, 4096))
        for (int type = 0; type < CASE_FIRST_SMALL; ++type) {
            const meta_box empty = {2, {8, 8}, {3, 1}, {3, 7}};
            uint64_t sum = UINT64_MAX;
            const uint64_t zero = 0;
            size_t bytes = 1;
            if (type == META_F64 && !case_has_f64()) continue;
            test_case("%s", case_type_name((meta_type)type));
            CHECK_OK(meta_type_size((meta_type)type, &bytes));
            CHECK_OK(meta_stencil(out.device, in.device, &empty, META_2D5P, (meta_type)type, &sum,
                                  NULL));
            CHECK(memcmp(&sum, &zero, bytes) == 0);
            mirror_holds(&out, META_U8, "the grid");
        }
    mirror_free(&out);
    mirror_free(&in);
}

TEST_DEVICE_MAIN(PROMISE(stencils_have_the_bits_of_the_formula_and_touch_no_other_cell),
                 PROMISE(stencils_have_the_bits_of_the_formula_in_every_batch),
                 PROMISE(stencils_have_the_bits_of_the_formula_on_large_grids),
                 PROMISE(stencils_have_the_bits_of_the_formula_on_padded_grids),
                 PROMISE(stencils_with_a_sum_make_the_same_grid_and_the_right_sum),
                 PROMISE(stencils_with_a_sum_are_right_on_large_grids),
                 PROMISE(stencils_have_the_bits_of_the_formula_beyond_the_caches),
                 PROMISE(sums_of_boxes_are_right_beside_the_same_grid),
                 PROMISE(sums_of_boxes_are_right_beyond_the_caches),
                 PROMISE(averages_of_all_exponents_are_rounded_as_a_division_rounds),
                 PROMISE(integers_are_divided_towards_zero), PROMISE(integers_wrap_around),
                 PROMISE(a_nan_propagates_through_stencil_and_sum),
                 PROMISE(an_infinity_propagates_through_stencil_and_sum),
                 PROMISE(denormals_are_kept),
                 PROMISE(an_empty_box_has_the_sum_0_and_changes_nothing))
