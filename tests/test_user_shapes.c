/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_shapes.c
 *  Kernels of the program's own with arrays of other shapes than the box's: lines, planes, and
 *  staggered ones. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_shapes.kernel.h"

#include "mirror.h"

#include <string.h>

/* Every extent of a box may be one, and grow. */
enum { CELLS = 1 << 11, ROOM = CELLS * 32, MOST_ARRAYS = 7, OWN = META_TYPE_COUNT };

/* The types that the kernels are compiled for. */
#define EACH_TYPE(X) X(F32, f32, float) X(I32, i32, int32_t)

/* ------------------------------------------------------------------ what is compared */

/* The dimensions that an array has, as letters; empty: all; and how much larger it is. */
typedef struct shape {
    const char *along;
    int grown[3];
    int type; /* OWN: T */
} shape;

typedef struct cell {
    const meta_box *box;
    const shape *shape;
    int64_t index[META_MAX_DIM];
    void *const *array;
} cell;
typedef void cell_oracle(const cell *c);

typedef struct subject {
    const char *name;
    int low[4], high[4]; /* what the box leaves free in its array */
    int least_ndim, most_ndim;
    cell_oracle *f32, *i32;
    int arrays;
    shape array[MOST_ARRAYS];
} subject;

static mirror buffers[MOST_ARRAYS];

static bool has(const shape *s, int d)
{
    return !*s->along || (d < 4 && strchr(s->along, "xyzw"[d]));
}

static int64_t extent(const shape *s, const meta_box *box, int d)
{
    return !has(s, d) ? 1 : box->size[d] + (d < 3 ? s->grown[d] : 0);
}

static int64_t elements(const shape *s, const meta_box *box)
{
    int64_t count = 1;
    for (int d = 0; d < box->ndim; ++d) count *= extent(s, box, d);
    return count;
}

/* Where the element of array @p k lies that is so far from the cell. */
static int64_t element(const cell *c, int k, int x, int y, int z, int w)
{
    const int away[4] = {x, y, z, w};
    int64_t at = 0, stride = 1;
    for (int d = 0; d < c->box->ndim; ++d) {
        if (!has(&c->shape[k], d)) continue;
        at += stride * (c->index[d] + (d < 4 ? away[d] : 0));
        stride *= extent(&c->shape[k], c->box, d);
    }
    return at;
}

#define NEAR(type, k, x, y, z, w) (((type *)c->array[k])[element(c, k, x, y, z, w)])
#define OF(type, k)               NEAR(type, k, 0, 0, 0, 0)

static void for_each_cell(const subject *s, const meta_box *box, void *const *array,
                          cell_oracle *oracle)
{
    cell c = {.box = box, .shape = s->array, .array = array};
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        int64_t rest = n;
        for (int d = 0; d < box->ndim; ++d) {
            const int64_t cells = box->end[d] - box->start[d];
            c.index[d] = box->start[d] + rest % cells;
            rest /= cells;
        }
        oracle(&c);
    }
}

static void compare_once(const subject *s, meta_type own)
{
    const meta_box box =
        case_box_within((int)test_random_in(s->least_ndim, s->most_ndim), s->low, s->high, CELLS);
    const void *arguments[MOST_ARRAYS + 1];
    void *on_host[MOST_ARRAYS];
    int64_t result = 0;
    meta_kernel *kernel = NULL;
    case_ending ending;
    test_case("%s %s, %s", s->name, case_type_name(own), case_box_text(&box));
    for (int k = 0; k < s->arrays; ++k) {
        const meta_type type = s->array[k].type == OWN ? own : (meta_type)s->array[k].type;
        const int64_t room = ROOM - elements(&s->array[k], &box);
        const int64_t from = 4 * (test_random_in(0, 1) ? test_random_in(0, room) : room);
        mirror_refill(&buffers[k], type, case_is_float(type) ? CASE_PLAIN : CASE_TINY);
        arguments[k] = buffers[k].device + from;
        on_host[k] = buffers[k].expected + from;
    }
    arguments[s->arrays] = &result;
    for_each_cell(s, &box, on_host, own == META_F32 ? s->f32 : s->i32);
    if (!CHECK_OK(meta_kernel_find(s->name, own, &kernel))) return;
    case_ending_pick(&ending);
    CHECK_OK(meta_kernel_run(kernel, &box, arguments, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < s->arrays; ++k)
        mirror_holds(&buffers[k], s->array[k].type == OWN ? own : (meta_type)s->array[k].type,
                     s->name);
}

static void free_buffers(void)
{
    for (int k = 0; k < MOST_ARRAYS; ++k)
        if (buffers[k].bytes) mirror_free(&buffers[k]);
}

static bool make_buffers(int count)
{
    for (int k = 0; k < count; ++k)
        if (!mirror_new(&buffers[k], ROOM * 4)) return free_buffers(), false;
    return true;
}

static void compare(const subject *s)
{
    if (make_buffers(s->arrays))
        for (int64_t k = 0; k < test_count(80, 10000); ++k)
            compare_once(s, k % 2 ? META_I32 : META_F32);
    free_buffers();
}

/* ------------------------------------------------------------------ oracles */

#define ORACLES(NAME, name, T)                                                                     \
    static void dropped_cell_##name(const cell *c)                                                 \
    {                                                                                              \
        const T far = OF(T, 4) - OF(T, 5);                                                         \
        OF(T, 0) = OF(T, 1) + 2 * OF(T, 2) - 4 * OF(T, 3) + 8 * (OF(int32_t, 6) < 0 ? -far : far); \
    }                                                                                              \
    static void levels_cell_##name(const cell *c)                                                  \
    {                                                                                              \
        const T thick = NEAR(T, 1, 0, 0, 1, 0) - OF(T, 1);                                         \
        const T slope =                                                                            \
            NEAR(T, 2, 1, 0, 0, 0) - NEAR(T, 2, -1, 0, 0, 0) + NEAR(T, 2, 0, -1, 0, 0);            \
        OF(T, 0) = thick + 2 * slope - 4 * NEAR(T, 2, 0, 1, 0, 0) + 8 * NEAR(T, 3, 0, -2, 0, 0) -  \
                   NEAR(T, 3, 0, 2, 0, 0) + 2 * NEAR(T, 4, 0, -1, 2, 0) -                          \
                   4 * NEAR(T, 4, 0, 0, 1, 0);                                                     \
    }                                                                                              \
    static void faces_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        OF(T, 0) = OF(T, 3) - NEAR(T, 3, -1, 0, 0, 0);                                             \
        OF(T, 1) += OF(T, 3) - NEAR(T, 3, 0, -1, 0, 0);                                            \
        OF(T, 2) = OF(T, 3) - NEAR(T, 3, 0, 0, -1, 0);                                             \
    }                                                                                              \
    static void divergence_cell_##name(const cell *c)                                              \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, 1, 0, 0, 0) - OF(T, 1) + NEAR(T, 2, 0, 1, 0, 0) - OF(T, 2) +         \
                   NEAR(T, 3, 0, 0, 1, 0) - OF(T, 3);                                              \
    }                                                                                              \
    static void between_cell_##name(const cell *c)                                                 \
    {                                                                                              \
        OF(T, 0) = 2 * OF(T, 1) - NEAR(T, 1, -1, 0, 0, 0);                                         \
        OF(T, 2) = -OF(T, 1);                                                                      \
    }                                                                                              \
    static void one_cell_##name(const cell *c)                                                     \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, 2, 0, 0, 0) - 2 * OF(T, 1);                                          \
    }                                                                                              \
    static void two_cell_##name(const cell *c)                                                     \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, 1, 0, 0, 0) - NEAR(T, 1, -1, 0, 0, 0) + 2 * NEAR(T, 2, 0, 1, 0, 0) - \
                   NEAR(T, 2, 0, -1, 0, 0);                                                        \
    }                                                                                              \
    static void four_cell_##name(const cell *c)                                                    \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, 0, 0, 0, 1) - NEAR(T, 1, 0, 0, 0, -1) +                              \
                   2 * NEAR(T, 2, 1, -1, 1, 0) - 4 * NEAR(T, 3, -1, 0, 0, 0);                      \
    }
EACH_TYPE(ORACLES)
#define BOTH(name) name##_cell_f32, name##_cell_i32

/* ------------------------------------------------------------------ shapes */

static const shape like_box = {"", {0}, OWN};

static void an_array_may_lack_dimensions_of_the_box(void)
{
    const subject dropped = {"dropped",
                             {0},
                             {0},
                             3,
                             4,
                             BOTH(dropped),
                             7,
                             {like_box,
                              like_box,
                              {"z", {0}, OWN},
                              {"xyw", {0}, OWN},
                              {"x", {0}, OWN},
                              {"yzw", {0}, OWN},
                              {"y", {0}, META_I32}}};
    compare(&dropped);
}

static void neighbours_lie_along_the_dimensions_that_an_array_has(void)
{
    const subject levels = {"levels",
                            {1, 2, 0},
                            {1, 2, 3},
                            3,
                            3,
                            BOTH(levels),
                            5,
                            {like_box,
                             {"z", {0, 0, 1}, OWN},
                             {"xyw", {0}, OWN},
                             {"y", {0}, OWN},
                             {"yzw", {0, 0, -1}, OWN}}};
    compare(&levels);
}

static void staggered_arrays_are_larger_than_the_box(void)
{
    const subject faces = {
        "faces", {1, 1, 1},
        {0},     3,
        4,       BOTH(faces),
        4,       {{"", {1, 0, 0}, OWN}, {"", {0, 1, 0}, OWN}, {"", {0, 0, 3}, OWN}, like_box}};
    const subject divergence = {
        "divergence",
        {0},
        {0},
        3,
        4,
        BOTH(divergence),
        4,
        {like_box, {"", {1, 0, 0}, OWN}, {"", {0, 1, 0}, OWN}, {"", {0, 0, 1}, OWN}}};
    compare(&faces);
    compare(&divergence);
}

static void a_box_of_faces_reads_cells(void)
{
    const subject between = {"between", {1, 0, 0},
                             {1, 0, 0}, 1,
                             4,         BOTH(between),
                             3,         {like_box, {"", {-1, 0, 0}, OWN}, {"", {-1, 0, 0}, OWN}}};
    compare(&between);
}

static void boxes_of_one_two_and_four_dimensions_have_such_arrays(void)
{
    const subject one = {"one", {0},       {2}, 1,
                         1,     BOTH(one), 2,   {{"", {2, 0, 0}, OWN}, {"x", {0}, OWN}}};
    const subject two = {"two", {1, 1},    {1, 1}, 2,
                         2,     BOTH(two), 3,      {like_box, {"x", {0}, OWN}, {"y", {0}, OWN}}};
    const subject four = {"four",
                          {1, 1, 1, 1},
                          {1, 1, 1, 1},
                          4,
                          4,
                          BOTH(four),
                          4,
                          {like_box, {"w", {0}, OWN}, {"xyz", {0}, OWN}, {"x", {0}, OWN}}};
    compare(&one);
    compare(&two);
    compare(&four);
}

static void results_may_come_from_a_line_alone(void)
{
    const int none[4] = {0};
    if (!make_buffers(1)) return;
    for (int64_t k = 0; k < test_count(60, 10000); ++k) {
        const meta_box box = case_box_within((int)test_random_in(2, 4), none, none, CELLS);
        const int64_t rows = box.end[1] - box.start[1], each = case_box_cells(&box) / rows;
        int64_t total = -1, expected = 0;
        int32_t most = -1, highest = INT32_MIN;
        test_case("mean i32, %s", case_box_text(&box));
        mirror_refill(&buffers[0], META_I32, CASE_TINY);
        const int32_t *profile = (const int32_t *)(void *)buffers[0].expected;
        for (int64_t y = box.start[1]; y < box.end[1]; ++y) {
            expected += each * profile[y];
            if (profile[y] > highest) highest = profile[y];
        }
        CHECK_OK(mean_i32(&box, (void *)buffers[0].device, &total, &most, NULL));
        CHECK_INT(total, expected);
        CHECK_INT(most, highest);
    }
    free_buffers();
}

static void cells_add_to_a_line(void)
{
    enum { NX = 7, NY = 5, NZ = 6 };
    const meta_box box = {3, {NX, NY, NZ}, {0, 0, 1}, {NX, NY, NZ}};
    int32_t field[NX * NY * NZ], lines[2 * NZ], found[2 * NZ];
    void *on_field, *on_lines;
    for (int n = 0; n < NX * NY * NZ; ++n) field[n] = (int32_t)test_random_in(-9, 9);
    for (int n = 0; n < 2 * NZ; ++n) lines[n] = n;
    CHECK_OK(meta_alloc(&on_field, sizeof field));
    CHECK_OK(meta_alloc(&on_lines, sizeof lines));
    CHECK_OK(meta_copy_h2d(on_field, field, sizeof field, NULL));
    CHECK_OK(meta_copy_h2d(on_lines, lines, sizeof lines, NULL));
    int32_t *const sums = on_lines;
    CHECK_OK(layers_i32(&box, on_field, sums + NZ, sums, NULL));
    for (int n = NX * NY; n < NX * NY * NZ; ++n)
        lines[n / (NX * NY)] += field[n] + NZ + n / (NX * NY);
    CHECK_OK(meta_copy_d2h(found, on_lines, sizeof found, NULL));
    CHECK(memcmp(found, lines, sizeof lines) == 0);
    CHECK_ERR_NAMES(layers_i32(&box, on_field, sums + 1, sums, NULL), META_ERR_OVERLAP, "'sums'");
    CHECK_ERR_NAMES(layers_i32(&box, on_field, sums, sums, NULL), META_ERR_OVERLAP, "'sums'");
    CHECK_OK(meta_free(on_field));
    CHECK_OK(meta_free(on_lines));
}

/* Boxes that threads share by planes, rows and columns: no addition may be lost. */
static void threads_add_to_the_same_line(void)
{
    enum { CELLS_OF_EACH = 1 << 18, MOST = 1 << 18 };
    static const int64_t shapes[][3] = {{64, 64, 64}, {512, 512, 1}, {CELLS_OF_EACH, 1, 1}};
    static int32_t field[CELLS_OF_EACH], found[MOST], zero[MOST];
    void *on_field, *line[4];
    for (int n = 0; n < CELLS_OF_EACH; ++n) field[n] = (int32_t)test_random_in(0, 3);
    CHECK_OK(meta_alloc(&on_field, sizeof field));
    CHECK_OK(meta_copy_h2d(on_field, field, sizeof field, NULL));
    for (int k = 0; k < 4; ++k) CHECK_OK(meta_alloc(&line[k], sizeof found));
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s) {
        const int64_t *n = shapes[s];
        /* The plane's elements reach one further in x. */
        const meta_box box = {3, {n[0], n[1], n[2]}, {0}, {n[0] - 1, n[1], n[2]}};
        const int64_t extent[4] = {n[0], n[1], n[2], n[0] * n[1]};
        static int32_t expected[4][MOST];
        test_case("totals i32, %s", case_box_text(&box));
        memset(expected, 0, sizeof expected);
        for (int64_t c = 0; c < n[0] * n[1] * n[2]; ++c) {
            const int64_t x = c % n[0], y = c / n[0] % n[1], z = c / n[0] / n[1];
            if (x == n[0] - 1) continue;
            expected[0][x] += field[c];
            expected[1][y] += field[c];
            expected[2][z] += field[c];
            expected[3][y * n[0] + x + 1] += field[c];
        }
        for (int k = 0; k < 4; ++k) CHECK_OK(meta_copy_h2d(line[k], zero, sizeof zero, NULL));
        if (n[1] > 2) {
            meta_box inner = box;
            inner.start[0] = 1, inner.start[1] = 1, inner.end[1] = n[1] - 1;
            CHECK_OK(totals_i32(&inner, on_field, line[0], line[1], line[2], line[3], NULL));
            for (int64_t c = 0; c < n[0] * n[1] * n[2]; ++c) { /* without the rim */
                const int64_t x = c % n[0], y = c / n[0] % n[1], z = c / n[0] / n[1];
                if (x == n[0] - 1 || (x > 0 && y > 0 && y < n[1] - 1)) continue;
                expected[0][x] -= field[c];
                expected[1][y] -= field[c];
                expected[2][z] -= field[c];
                expected[3][y * n[0] + x + 1] -= field[c];
            }
        } else {
            CHECK_OK(along_x_i32(&box, on_field, line[0], NULL));
            CHECK_OK(along_z_i32(&box, on_field, line[2], NULL));
            memset(expected[1], 0, sizeof expected[1]);
            memset(expected[3], 0, sizeof expected[3]);
        }
        for (int k = 0; k < 4; ++k) {
            CHECK_OK(meta_copy_d2h(found, line[k], sizeof found, NULL));
            CHECK(memcmp(found, expected[k], (size_t)extent[k] * sizeof *found) == 0);
        }
    }
    CHECK_OK(meta_free(on_field));
    for (int k = 0; k < 4; ++k) CHECK_OK(meta_free(line[k]));
}

static void ghost_widths_take_the_shape_into_account(void)
{
    int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0};
    CHECK_OK(meta_kernel_reach(&divergence_f32_kernel, low, high));
    for (int d = 0; d < META_MAX_DIM; ++d) CHECK(low[d] == 0 && high[d] == 0);
    CHECK_OK(meta_kernel_reach(&between_i32_kernel, low, high));
    CHECK_INT(low[0], 1);
    CHECK_INT(high[0], 1);
    CHECK_OK(meta_kernel_reach(&levels_f32_kernel, low, high));
    CHECK_INT(low[1], 2);
    CHECK_INT(high[1], 2);
    CHECK_INT(low[2], 0);
    CHECK_INT(high[2], 3);
}

/* ------------------------------------------------------------------ what does not fit */

enum { NX = 6, NY = 5, NZ = 4, ALL = (NX + 1) * (NY + 1) * (NZ + 1) };
static const meta_box cells = {3, {NX, NY, NZ}, {0}, {NX, NY, NZ}};

static void arrays_are_held_against_their_true_extents(void)
{
    void *out, *in, *large;
    float *at[3];
    int64_t positive;
    CHECK_OK(meta_alloc(&out, sizeof(float) * NX * NY * NZ));
    CHECK_OK(meta_alloc(&in, sizeof(float) * NX * NY * NZ));
    CHECK_OK(meta_alloc(&large, sizeof(float) * ALL));
    at[0] = at[1] = at[2] = large;
    CHECK_OK(divergence_f32(&cells, out, at[0], at[1], at[2], &positive, NULL));
    for (int k = 0; k < 3; ++k) { /* one element too few for each face array */
        static const char *const names[] = {"'u'", "'v'", "'w'"};
        static const int faces[] = {(NX + 1) * NY * NZ, NX * (NY + 1) * NZ, NX * NY * (NZ + 1)};
        float *const fits = (float *)large + ALL - faces[k];
        at[k] = fits;
        CHECK_OK(divergence_f32(&cells, out, at[0], at[1], at[2], &positive, NULL));
        at[k] = fits + 1;
        CHECK_ERR_NAMES(divergence_f32(&cells, out, at[0], at[1], at[2], &positive, NULL),
                        META_ERR_BOUNDS, names[k]);
        at[k] = large;
    }
    /* A profile of as many elements as the box has layers, and a plane. */
    float *const end = (float *)large + ALL;
    const int32_t *const mask = (const int32_t *)in;
    CHECK_OK(
        dropped_f32(&cells, out, in, end - NZ, end - NX * NY, end - NX, end - NY * NZ, mask, NULL));
    CHECK_ERR_NAMES(dropped_f32(&cells, out, in, end - NZ + 1, end - NX * NY, end - NX,
                                end - NY * NZ, mask, NULL),
                    META_ERR_BOUNDS, "'profile'");
    CHECK_ERR_NAMES(dropped_f32(&cells, out, in, end - NZ, end - NX * NY + 1, end - NX,
                                end - NY * NZ, mask, NULL),
                    META_ERR_BOUNDS, "'surface'");
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(large));
}

static void a_box_that_leaves_a_smaller_array_is_refused(void)
{
    meta_box box = {3, {NX + 1, NY, NZ}, {1}, {NX, NY, NZ}};
    void *u, *p, *q;
    CHECK_OK(meta_alloc(&u, sizeof(float) * ALL));
    CHECK_OK(meta_alloc(&p, sizeof(float) * ALL));
    CHECK_OK(meta_alloc(&q, sizeof(float) * ALL));
    CHECK_OK(between_f32(&box, u, p, q, NULL));
    box.end[0] = NX + 1; /* there is no cell behind the last face */
    CHECK_ERR_NAMES(between_f32(&box, u, p, q, NULL), META_ERR_BOUNDS, "'box'");
    CHECK_CONTAINS(meta_last_error(), "'p'");
    CHECK_CONTAINS(meta_last_error(), "dimension 0");
    box.end[0] = NX, box.start[0] = 0; /* nor before the first */
    CHECK_ERR_NAMES(between_f32(&box, u, p, q, NULL), META_ERR_BOUNDS, "'box'");
    CHECK_CONTAINS(meta_last_error(), "in p");
    box = (meta_box){3, {INT64_C(1) << 20, INT64_C(1) << 20, INT64_C(1) << 20}, {0}, {1, 1, 1}};
    int64_t positive;
    CHECK_ERR_NAMES(divergence_f32(&box, u, p, q, q, &positive, NULL), META_ERR_OVERFLOW, "'box'");
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_free(q));
}

static void a_box_must_have_the_dimensions_of_its_arrays(void)
{
    const meta_box row = {1, {NX}, {1}, {NX - 2}}, sheet = {2, {NX, NY}, {1, 1}, {3, 3}};
    void *out, *in;
    int32_t most;
    int64_t total;
    CHECK_OK(meta_alloc(&out, sizeof(float) * ALL));
    CHECK_OK(meta_alloc(&in, sizeof(float) * ALL));
    CHECK_ERR_NAMES(mean_i32(&row, in, &total, &most, NULL), META_ERR_ARGUMENT, "'box'");
    CHECK_CONTAINS(meta_last_error(), "'profile'");
    CHECK_CONTAINS(meta_last_error(), "LINE(1), which takes 2");
    CHECK_ERR_NAMES(two_f32(&row, out, in, in, NULL), META_ERR_ARGUMENT, "PLANE(1), which takes 2");
    CHECK_ERR_NAMES(dropped_f32(&sheet, out, in, in, in, in, in, in, NULL), META_ERR_ARGUMENT,
                    "LINE(2), which takes 3");
    CHECK_OK(two_f32(&sheet, out, in, in, NULL));
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

static void staggered_outputs_must_not_overlap_inputs(void)
{
    void *u, *v, *w;
    const meta_box inner = {3, {NX, NY, NZ}, {1, 1, 1}, {NX, NY, NZ}};
    CHECK_OK(meta_alloc(&u, sizeof(float) * 2 * ALL));
    CHECK_OK(meta_alloc(&v, sizeof(float) * ALL));
    CHECK_OK(meta_alloc(&w, sizeof(float) * 2 * ALL));
    CHECK_OK(faces_f32(&inner, u, v, w, (float *)u + ALL, NULL));
    CHECK_ERR_NAMES(faces_f32(&inner, u, v, w, u, NULL), META_ERR_OVERLAP, "'u'");
    CHECK_ERR_NAMES(faces_f32(&inner, u, v, v, (float *)u + ALL, NULL), META_ERR_OVERLAP, "'v'");
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(v));
    CHECK_OK(meta_free(w));
}

TEST_DEVICE_MAIN(PROMISE(an_array_may_lack_dimensions_of_the_box),
                 PROMISE(neighbours_lie_along_the_dimensions_that_an_array_has),
                 PROMISE(staggered_arrays_are_larger_than_the_box),
                 PROMISE(a_box_of_faces_reads_cells),
                 PROMISE(boxes_of_one_two_and_four_dimensions_have_such_arrays),
                 PROMISE(results_may_come_from_a_line_alone), PROMISE(cells_add_to_a_line),
                 PROMISE(threads_add_to_the_same_line),
                 PROMISE(ghost_widths_take_the_shape_into_account),
                 PROMISE(arrays_are_held_against_their_true_extents),
                 PROMISE(a_box_that_leaves_a_smaller_array_is_refused),
                 PROMISE(a_box_must_have_the_dimensions_of_its_arrays),
                 PROMISE(staggered_outputs_must_not_overlap_inputs))
