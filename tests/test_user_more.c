/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_more.c
 *  Parameters of every kind of the program's own kernels: reaches, arrays and values of other types
 *  than T's, structures, indices, names, and as many arrays as there may be. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp auto=yes labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_more.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELLS = 1 << 13, MOST_ARRAYS = 32, MOST_VALUES = 32, OWN = META_TYPE_COUNT };

/* The types that the kernels are compiled for. */
#define EACH_TYPE(X) X(F32, f32, float) X(I32, i32, int32_t)

/* ------------------------------------------------------------------ what is compared */

/* A cell of a case: where it lies in the arrays, and what it is called. */
typedef struct cell {
    const meta_box *box;
    int64_t at, index[4];
    void *const *array;
} cell;
typedef void cell_oracle(const cell *c);

typedef struct subject {
    const char *name;
    int low[4], high[4]; /* the furthest that it reads */
    int least_ndim, most_ndim;
    cell_oracle *f32, *i32;
    int arrays;
    int type[MOST_ARRAYS]; /* OWN: T */
} subject;

static mirror buffers[MOST_ARRAYS];
static const void *values[MOST_VALUES]; /* follow the arrays */
static int value_count;

static bool make_buffers(int count)
{
    value_count = 0;
    for (int k = 0; k < count; ++k)
        if (!mirror_new(&buffers[k], CELLS * 8)) return false;
    return true;
}

static void free_buffers(void)
{
    for (int k = 0; k < MOST_ARRAYS; ++k)
        if (buffers[k].bytes) mirror_free(&buffers[k]);
}

static void for_each_cell(const meta_box *box, void *const *array, cell_oracle *oracle)
{
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        cell c = {.box = box, .at = case_box_index(box, n), .array = array};
        int64_t rest = n;
        for (int d = 0; d < box->ndim && d < 4; ++d) {
            const int64_t extent = box->end[d] - box->start[d];
            c.index[d] = box->start[d] + rest % extent;
            rest /= extent;
        }
        oracle(&c);
    }
}

/* Whether values and sums of a few of them are exact in any order, as small integers are. */
static void refill(mirror *m, meta_type type)
{
    mirror_refill(m, type, case_is_float(type) || type == META_U64 ? CASE_PLAIN : CASE_TINY);
}

static void compare_once(const subject *s, meta_type own)
{
    const meta_box box =
        case_box_within((int)test_random_in(s->least_ndim, s->most_ndim), s->low, s->high, CELLS);
    const void *arguments[MOST_ARRAYS + MOST_VALUES];
    void *on_host[MOST_ARRAYS];
    meta_kernel *kernel = NULL;
    case_ending ending;
    test_case("%s %s, %s", s->name, case_type_name(own), case_box_text(&box));
    for (int k = 0; k < s->arrays; ++k) {
        const meta_type type = s->type[k] == OWN ? own : (meta_type)s->type[k];
        size_t bytes = 1;
        CHECK_OK(meta_type_size(type, &bytes));
        const int64_t room = (int64_t)(buffers[k].bytes / bytes) - case_box_array(&box);
        const int64_t from = (test_random_in(0, 1) ? test_random_in(0, room) : 0) * (int64_t)bytes;
        refill(&buffers[k], type);
        arguments[k] = buffers[k].device + from;
        on_host[k] = buffers[k].expected + from;
    }
    for (int k = 0; k < value_count; ++k) arguments[s->arrays + k] = values[k];
    for_each_cell(&box, on_host, own == META_F32 ? s->f32 : s->i32);
    if (!CHECK_OK(meta_kernel_find(s->name, own, &kernel))) return;
    case_ending_pick(&ending);
    CHECK_OK(meta_kernel_run(kernel, &box, arguments, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < s->arrays; ++k)
        mirror_holds(&buffers[k], s->type[k] == OWN ? own : (meta_type)s->type[k], s->name);
}

static void compare(const subject *s, int64_t few, int64_t many)
{
    if (make_buffers(s->arrays))
        for (int64_t k = 0; k < test_count(few, many); ++k)
            compare_once(s, k % 2 ? META_I32 : META_F32);
    free_buffers();
}

#define OF(type, k)        ((type *)c->array[k])[c->at]
#define NEAR(type, k, ...) ((const type *)c->array[k])[c->at + case_box_away(c->box, __VA_ARGS__)]
/* Products are volatile, so that no sum contracts with them. */
#define PRODUCT(NAME, name, T)                                                                     \
    static T product_##name(int a, T b)                                                            \
    {                                                                                              \
        const volatile T product = (T)a * b;                                                       \
        return product;                                                                            \
    }
EACH_TYPE(PRODUCT)

/* ------------------------------------------------------------------ reaches */

#define REACHES(NAME, name, T)                                                                     \
    static void sides_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        T sum = NEAR(T, 1, -2, 0, 0, 0) - NEAR(T, 1, 1, 0, 0, 0);                                  \
        sum += product_##name(3, NEAR(T, 1, 0, 3, 0, 0));                                          \
        sum -= product_##name(5, NEAR(T, 1, 0, 0, -1, 0));                                         \
        OF(T, 0) = sum + product_##name(7, NEAR(T, 1, -1, 2, -1, 0));                              \
    }                                                                                              \
    static void far_cell_##name(const cell *c)                                                     \
    {                                                                                              \
        T sum = NEAR(T, 1, -1, 1, -1, 1) - product_##name(2, NEAR(T, 1, 1, -1, 1, -1));            \
        sum += NEAR(T, 2, -2, 0, 0, 0);                                                            \
        sum -= product_##name(3, NEAR(T, 2, 0, 2, 0, 0));                                          \
        sum += product_##name(5, NEAR(T, 2, 0, 0, -2, 0));                                         \
        OF(T, 0) = sum - product_##name(7, NEAR(T, 2, 0, 0, 0, 2));                                \
    }                                                                                              \
    static void line_cell_##name(const cell *c)                                                    \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, -1, 0, 0, 0) - product_##name(2, NEAR(T, 1, 1, 0, 0, 0));            \
    }                                                                                              \
    static void plane_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        OF(T, 0) = NEAR(T, 1, -1, 1, 0, 0) - product_##name(2, NEAR(T, 1, 1, -1, 0, 0));           \
    }
EACH_TYPE(REACHES)

static void a_kernel_may_reach_differently_far_to_each_side(void)
{
    static const subject sides = {"sides",        {2, 0, 1},      {1, 3, 0}, 3,         4,
                                  sides_cell_f32, sides_cell_i32, 2,         {OWN, OWN}};
    compare(&sides, 150, 10000);
}

static void a_kernel_may_reach_along_four_dimensions(void)
{
    static const subject far = {
        "far", {2, 2, 2, 2}, {2, 2, 2, 2}, 4, 4, far_cell_f32, far_cell_i32, 3, {OWN, OWN, OWN}};
    compare(&far, 100, 10000);
}

static void lines_and_planes_have_words_of_their_own(void)
{
    static const subject line = {"line",        {1},           {1}, 1,         1,
                                 line_cell_f32, line_cell_i32, 2,   {OWN, OWN}};
    static const subject plane = {"plane",        {1, 1},         {1, 1}, 2,         2,
                                  plane_cell_f32, plane_cell_i32, 2,      {OWN, OWN}};
    compare(&line, 80, 10000);
    compare(&plane, 80, 10000);
}

static void ghost_widths_are_raised_to_what_kernels_reach(void)
{
    int low[META_MAX_DIM] = {0, 1, 3}, high[META_MAX_DIM] = {0};
    CHECK_OK(meta_kernel_reach(&sides_f32_kernel, low, high));
    for (int d = 0; d < META_MAX_DIM; ++d) {
        test_case("sides, dimension %d", d);
        CHECK_INT(low[d], d == 0 ? 2 : d == 1 ? 1 : d == 2 ? 3 : 0);
        CHECK_INT(high[d], d == 0 ? 1 : d == 1 ? 3 : 0);
    }
    CHECK_OK(meta_kernel_reach(&far_i32_kernel, low, high));
    for (int d = 0; d < META_MAX_DIM; ++d) {
        test_case("far, dimension %d", d);
        CHECK_INT(low[d], d == 2 ? 3 : d < 4 ? 2 : 0);
        CHECK_INT(high[d], d == 1 ? 3 : d < 4 ? 2 : 0);
    }
}

/* ------------------------------------------------------------------ indices */

#define WHERE(NAME, name, T)                                                                       \
    static void where_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        for (int d = 0; d < 4; ++d) OF(int64_t, d) = c->index[d];                                  \
        OF(T, 4) = (T)(c->index[0] % 100 - c->index[1] % 10);                                      \
    }
EACH_TYPE(WHERE)

static void an_index_counts_like_the_start_of_the_box(void)
{
    static const subject where = {"where",
                                  {0},
                                  {0},
                                  1,
                                  4,
                                  where_cell_f32,
                                  where_cell_i32,
                                  5,
                                  {META_I64, META_I64, META_I64, META_I64, OWN}};
    compare(&where, 150, 10000);
}

/* ------------------------------------------------------------------ types of arrays and values */

#define MASKED(NAME, name, T)                                                                      \
    static void masked_cell_##name(const cell *c)                                                  \
    {                                                                                              \
        const uint32_t here = OF(uint32_t, 4);                                                     \
        const int is_set = OF(int32_t, 3) != 0;                                                    \
        if (is_set) OF(T, 1) = -OF(T, 1);                                                          \
        OF(int32_t, 0) = is_set ? here < NEAR(uint32_t, 4, 1, 0, 0, 0) : -1;                       \
        OF(uint64_t, 2) += here;                                                                   \
    }
EACH_TYPE(MASKED)

static void arrays_may_be_of_other_types(void)
{
    static const subject masked = {"masked",
                                   {1, 1, 1, 1},
                                   {1, 1, 1, 1},
                                   1,
                                   4,
                                   masked_cell_f32,
                                   masked_cell_i32,
                                   5,
                                   {META_I32, OWN, META_U64, META_I32, META_U32}};
    compare(&masked, 150, 10000);
}

static const meta_box row = {1, {300}, {7}, {290}};

/* The elements of the row are @p expected, the others untouched. */
static void row_holds(mirror *m, meta_type type, const void *expected)
{
    size_t bytes = 1;
    CHECK_OK(meta_type_size(type, &bytes));
    for (int64_t n = 0; n < case_box_cells(&row); ++n)
        memcpy(m->expected + (size_t)case_box_index(&row, n) * bytes, expected, bytes);
    mirror_holds(m, type, "row");
}

static void values_may_be_of_any_type(void)
{
    if (!make_buffers(2)) return;
    for (int64_t k = 0; k < test_count(100, 10000); ++k) {
        const int64_t i64 = test_random_in(-1000000000000, 1000000000000);
        const uint64_t u64 = (uint64_t)test_random_in(0, 1000000000000);
        const int32_t i32 = (int32_t)test_random();
        const uint32_t u32 = (uint32_t)test_random();
        const int16_t i16 = (int16_t)test_random();
        const uint8_t u8 = (uint8_t)test_random();
        const int32_t small = (int32_t)test_random_in(-1000, 1000);
        const float f32 = (float)test_random_in(-1000, 1000), t = (float)test_random_real();
        const int64_t whole = i64 - (int64_t)u64 + i32 - (int64_t)u32 + i16 - u8;
        const float sum = f32 + t;
        const int32_t sum_i32 = (int32_t)f32 + small;
        int64_t *at = (void *)buffers[0].device;
        CHECK_OK(values_f32(&row, at, (void *)buffers[1].device, i64, u64, i32, u32, i16, u8, f32,
                            t, META_ASYNC));
        row_holds(&buffers[0], META_I64, &whole);
        row_holds(&buffers[1], META_F32, &sum);
        CHECK_OK(values_i32(&row, at, (void *)buffers[1].device, i64, u64, i32, u32, i16, u8, f32,
                            small, META_ASYNC));
        row_holds(&buffers[1], META_I32, &sum_i32);
    }
    free_buffers();
}

static user_more_large random_large(void)
{
    user_more_large large;
    for (int k = 0; k < 16; ++k) large.number[k] = (uint32_t)test_random_in(0, 1000);
    return large;
}

static void structures_are_passed_by_value(void)
{
    if (!make_buffers(1)) return;
    for (int64_t k = 0; k < test_count(60, 10000); ++k) {
        user_more_large large = random_large();
        user_more_shape shape = {{0},
                                 (int32_t)test_random_in(-1000, 1000),
                                 (int16_t)test_random(),
                                 (int8_t)test_random()};
        for (int n = 0; n < 3; ++n) shape.factor[n] = test_random_in(-1000000, 1000000);
        const int32_t last = (int32_t)test_random_in(-1000000, 1000000);
        int64_t *out = (void *)buffers[0].expected;
        for (int64_t x = row.start[0]; x < row.end[0]; ++x)
            out[x] = shape.factor[0] + shape.factor[1] * shape.factor[2] +
                     shape.shift * shape.sign + shape.step +
                     (int64_t)large.number[x % 16] * large.number[15 - x % 16] + last;
        CHECK_OK(structures_i32(&row, (void *)buffers[0].device, shape, large, last, META_ASYNC));
        memset(&large, 0, sizeof large); /* they have been read */
        memset(&shape, 0, sizeof shape);
        mirror_holds(&buffers[0], META_I64, "structures");
    }
    free_buffers();
}

static void a_kilobyte_of_values_is_passed(void)
{
    enum { COUNT = 17 };
    user_more_large v[COUNT];
    if (!make_buffers(1)) return;
    int64_t *device = (void *)buffers[0].device, *out = (void *)buffers[0].expected;
    for (int k = 0; k < COUNT; ++k) v[k] = random_large();
    for (int64_t x = row.start[0]; x < row.end[0]; ++x) {
        out[x] = 0;
        for (int k = 0; k < COUNT; ++k) out[x] += v[k].number[x % 16];
    }
    CHECK_OK(wide_f32(&row, device, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                      v[10], v[11], v[12], v[13], v[14], v[15], v[16], NULL));
    mirror_holds(&buffers[0], META_I64, "wide");
    free_buffers();
}

/* ------------------------------------------------------------------ few arrays and many */

#define FEW_AND_MANY(NAME, name, T)                                                                \
    static void single_cell_##name(const cell *c)                                                  \
    {                                                                                              \
        OF(T, 0) = 42;                                                                             \
    }                                                                                              \
    static void crowd_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        T sum = OF(T, 3) - OF(T, 4) + product_##name(2, OF(T, 5));                                 \
        sum -= NEAR(T, 6, -1, 0, 0, 0);                                                            \
        sum += product_##name(3, NEAR(T, 7, 0, 1, 0, 0));                                          \
        sum -= product_##name(4, NEAR(T, 8, 1, 1, 1, 0));                                          \
        OF(T, 0) = sum + (T)NEAR(int32_t, 9, -1, -1, -1, 0);                                       \
        sum = OF(T, 10) - OF(T, 11);                                                               \
        for (int k = 2; k < 10; ++k)                                                               \
            if (k % 2) sum -= product_##name(k, OF(T, 10 + k));                                    \
            else sum += product_##name(k, OF(T, 10 + k));                                          \
        OF(T, 1) += sum + OF(T, 20) - 11;                                                          \
        sum = OF(T, 21) - OF(T, 22);                                                               \
        for (int k = 2; k < 10; ++k)                                                               \
            if (k % 2) sum -= product_##name(k, OF(T, 21 + k));                                    \
            else sum += product_##name(k, OF(T, 21 + k));                                          \
        OF(int32_t, 2) = (int32_t)(sum + ((const T *)c->array[31])[2]);                            \
    }
EACH_TYPE(FEW_AND_MANY)

static void one_array_is_enough(void)
{
    static const subject single = {"single",        {0}, {0},  1, 4, single_cell_f32,
                                   single_cell_i32, 1,   {OWN}};
    compare(&single, 60, 10000);
}

static void thirty_two_arrays_are_possible(void)
{
    static const float k_f32 = 11;
    static const int32_t k_i32 = 11;
    subject crowd = {"crowd",        {1, 1, 1, 1},   {1, 1, 1, 1}, 1,  4,
                     crowd_cell_f32, crowd_cell_i32, MOST_ARRAYS,  {0}};
    for (int k = 0; k < MOST_ARRAYS; ++k) crowd.type[k] = k == 2 || k == 9 ? META_I32 : OWN;
    if (make_buffers(MOST_ARRAYS))
        for (int64_t n = 0; n < test_count(50, 5000); ++n) {
            values[0] = n % 2 ? (const void *)&k_i32 : &k_f32;
            value_count = 1;
            compare_once(&crowd, n % 2 ? META_I32 : META_F32);
        }
    free_buffers();
}

/* ------------------------------------------------------------------ names and words */

static void names_do_not_meet_those_of_the_texts_around_a_kernel(void)
{
    enum { ARRAYS = 5 };
    int32_t most = 0, sum = 0, expected_most = INT32_MIN, expected_sum = 0;
    int32_t *h[ARRAYS], *d[ARRAYS];
    if (!make_buffers(ARRAYS)) return;
    for (int k = 0; k < ARRAYS; ++k) {
        mirror_refill(&buffers[k], META_I32, CASE_TINY);
        h[k] = (void *)buffers[k].expected;
        d[k] = (void *)buffers[k].device;
    }
    for (int64_t x = row.start[0]; x < row.end[0]; ++x) {
        h[0][x] = h[2][x] + 1 - 2 + 3 - 4 + 5;
        h[1][x] = h[3][x] + h[4][x] + 6 - 7 + 8 - 9 + 12;
        if (h[2][x] + 10 - 11 > expected_most) expected_most = h[2][x] + 10 - 11;
        expected_sum += h[3][x];
    }
    CHECK_OK(step_i32(&row, d[0], d[1], d[2], d[3], d[4], 1, 2, 3, 4, 5, 6, 7, 8, 9, &most, 10, 11,
                      &sum, 12, NULL));
    CHECK_INT(most, expected_most);
    CHECK_INT(sum, expected_sum);
    for (int k = 0; k < ARRAYS; ++k) mirror_holds(&buffers[k], META_I32, "step");
    free_buffers();
}

static void a_kernel_may_be_called_like_a_function_of_the_device(void)
{
    if (!make_buffers(2)) return;
    for (int k = 0; k < 2; ++k) mirror_refill(&buffers[k], META_F32, CASE_PLAIN);
    for (int64_t x = row.start[0]; x < row.end[0]; ++x)
        ((float *)(void *)buffers[0].expected)[x] =
            ((float *)(void *)buffers[1].expected)[x] - 1.5f;
    CHECK_OK(dot_f32(&row, (void *)buffers[0].device, (void *)buffers[1].device, 1.5f, NULL));
    mirror_holds(&buffers[0], META_F32, "dot");
    free_buffers();
}

#define WORDS(NAME, name, T)                                                                       \
    static void words_cell_##name(const cell *c)                                                   \
    {                                                                                              \
        const T x = OF(T, 3), y = OF(T, 4);                                                        \
        OF(T, 0) = x < y ? y - x : x - y;                                                          \
        OF(T, 1) = x < y ? x : y;                                                                  \
        OF(T, 2) = x < y + 1 ? y + 1 : x;                                                          \
    }
EACH_TYPE(WORDS)

static void the_words_of_arithmetic_are_those_of_c(void)
{
    static const subject words = {
        "words", {0}, {0}, 1, 4, words_cell_f32, words_cell_i32, 5, {OWN, OWN, OWN, OWN, OWN}};
    compare(&words, 60, 10000);
}

#define ROUNDED(NAME, name, T)                                                                     \
    static void rounded_cell_##name(const cell *c)                                                 \
    {                                                                                              \
        OF(T, 0) = (T)nearbyintf((float)OF(T, 2) * 0.5f);                                          \
        OF(T, 1) = OF(T, 2);                                                                       \
    }
EACH_TYPE(ROUNDED)

static void numbers_are_rounded_as_in_c(void)
{
    static const subject rounded = {
        "rounded", {0}, {0}, 1, 4, rounded_cell_f32, rounded_cell_i32, 3, {OWN, OWN, OWN}};
    compare(&rounded, 60, 10000);
}

#define BACK(NAME, name, T)                                                                        \
    static void back_cell_##name(const cell *c)                                                    \
    {                                                                                              \
        const T first = OF(T, 2) + 1;                                                              \
        OF(T, 1) = first * 2;                                                                      \
        OF(T, 0) = first + first * 2;                                                              \
    }
EACH_TYPE(BACK)

static void what_a_body_has_written_it_may_read_back(void)
{
    static const subject back = {"back",         {0}, {0}, 1, 4, back_cell_f32, back_cell_i32, 3,
                                 {OWN, OWN, OWN}};
    compare(&back, 60, 10000);
}

TEST_DEVICE_MAIN(PROMISE(a_kernel_may_reach_differently_far_to_each_side),
                 PROMISE(a_kernel_may_reach_along_four_dimensions),
                 PROMISE(lines_and_planes_have_words_of_their_own),
                 PROMISE(ghost_widths_are_raised_to_what_kernels_reach),
                 PROMISE(an_index_counts_like_the_start_of_the_box),
                 PROMISE(arrays_may_be_of_other_types), PROMISE(values_may_be_of_any_type),
                 PROMISE(structures_are_passed_by_value), PROMISE(a_kilobyte_of_values_is_passed),
                 PROMISE(one_array_is_enough), PROMISE(thirty_two_arrays_are_possible),
                 PROMISE(names_do_not_meet_those_of_the_texts_around_a_kernel),
                 PROMISE(a_kernel_may_be_called_like_a_function_of_the_device),
                 PROMISE(the_words_of_arithmetic_are_those_of_c),
                 PROMISE(numbers_are_rounded_as_in_c),
                 PROMISE(what_a_body_has_written_it_may_read_back))
