/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_results.c
 *  Sums, minima and maxima of the program's own kernels: what cells contribute, where results go,
 *  and when they are valid. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_results.kernel.h"

#include "user_many.kernel.h"

#include "mirror.h"
#include "places.h"
#include "sums.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SMALL = 1 << 13, LARGE = 1 << 18, TYPES = CASE_FIRST_SMALL };

/* ------------------------------------------------------------------ oracles */

typedef struct statistics {
    sum_expected total;
    uint64_t above;
    int64_t last;
    uint64_t least, most, least_above; /* the bits of elements */
} statistics;

/* A NaN is the least and the most of all. */
#define STATISTICS(NAME, name, T, W)                                                               \
    static void statistics_of_##name(const void *array, const meta_box *box, const void *limit,    \
                                     const void *lowest, const void *highest, statistics *s)       \
    {                                                                                              \
        T least = *(const T *)highest, most = *(const T *)lowest, above = *(const T *)highest;     \
        *s = (statistics){.last = INT64_MIN};                                                      \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n), extent = box->end[0] - box->start[0];       \
            const int64_t y =                                                                      \
                box->ndim > 1 ? box->start[1] + n / extent % (box->end[1] - box->start[1]) : 0;    \
            const int64_t index = box->start[0] + n % extent + 1000 * y;                           \
            const T x = ((const T *)array)[at];                                                    \
            sum_add(&s->total, sum_real(array, at, META_##NAME),                                   \
                    sum_whole(array, at, META_##NAME));                                            \
            if (x != x || x < least) least = x;                                                    \
            if (x != x || x > most) most = x;                                                      \
            if (!(x > *(const T *)limit)) continue;                                                \
            ++s->above;                                                                            \
            if (x < above) above = x;                                                              \
            if (index > s->last) s->last = index;                                                  \
        }                                                                                          \
        memcpy(&s->least, &least, sizeof least);                                                   \
        memcpy(&s->most, &most, sizeof most);                                                      \
        memcpy(&s->least_above, &above, sizeof above);                                             \
    }                                                                                              \
    static bool same_##name(const void *found, const void *expected)                               \
    {                                                                                              \
        T a, b;                                                                                    \
        memcpy(&a, found, sizeof a);                                                               \
        memcpy(&b, expected, sizeof b);                                                            \
        return b != b ? a != a : a == b; /* of equal zeros either may win */                       \
    }                                                                                              \
    static meta_err run_statistics_##name(const meta_box *box, void *copy, const void *in,         \
                                          const void *limit, void *const *result,                  \
                                          meta_event *done)                                        \
    {                                                                                              \
        return statistics_##name(box, copy, in, *(const T *)limit, result[0], result[1],           \
                                 result[2], result[3], result[4], result[5], done);                \
    }                                                                                              \
    static meta_err run_twice_##name(const meta_box *box, const void *in, void *total,             \
                                     meta_event *done)                                             \
    {                                                                                              \
        return twice_##name(box, in, total, done);                                                 \
    }
CASE_ARITHMETIC_TYPES(STATISTICS)

static void (*const statistics_of[])(const void *, const meta_box *, const void *, const void *,
                                     const void *, statistics *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = statistics_of_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};
static bool (*const same[])(const void *, const void *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = same_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};
static meta_err (*const run_statistics[])(const meta_box *, void *, const void *, const void *,
                                          void *const *, meta_event *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = run_statistics_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};
static meta_err (*const run_twice[])(const meta_box *, const void *, void *, meta_event *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = run_twice_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

/* ------------------------------------------------------------------ one case */

static void check_statistics(const places *p, const statistics *expected, meta_type type,
                             case_flavour flavour)
{
    if (!case_is_float(type) || flavour != CASE_WILD)
        sum_check(&p->host[0][1], &expected->total, type, "total");
    CHECK(same[type](&p->host[1][1], &expected->least));
    CHECK(same[type](&p->host[2][1], &expected->most));
    CHECK_U64(p->host[3][1], expected->above);
    CHECK(same[type](&p->host[4][1], &expected->least_above));
    CHECK_INT(p->host[5][1], expected->last);
}

static void compare_once(mirror *copy, mirror *in, meta_type type, int64_t cells)
{
    const int none[4] = {0};
    const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, cells);
    const case_flavour flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    uint64_t limit = 0;
    size_t bytes = 1;
    statistics expected;
    case_ending ending;
    places p;
    test_case("statistics of %s, contents %d, %s", case_type_name(type), (int)flavour,
              case_box_text(&box));
    CHECK_OK(meta_type_size(type, &bytes));
    const size_t widths[] = {bytes, bytes, bytes, 8, bytes, 8};
    mirror_refill(copy, type, flavour);
    mirror_refill(in, type, flavour);
    case_fill(&limit, 1, type, flavour);
    if (test_random_in(0, 3) == 0) memcpy(&limit, case_highest_of(type), bytes);
    statistics_of[type](in->expected, &box, &limit, case_lowest_of(type), case_highest_of(type),
                        &expected);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const size_t at = (size_t)case_box_index(&box, n) * bytes;
        memcpy(copy->expected + at, in->expected + at, bytes);
    }
    if (!places_pick(&p, 6)) return;
    case_ending_pick(&ending);
    CHECK_OK(run_statistics[type](&box, copy->device, in->device, &limit, p.given, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    CHECK_OK(meta_flush());
    places_read(&p, widths);
    check_statistics(&p, &expected, type, flavour);
    mirror_holds(copy, type, "copy");
    mirror_holds(in, type, "in");
}

static void many_cases(meta_type type, int64_t cells, int64_t cases)
{
    mirror copy = {0}, in = {0};
    if (mirror_new(&copy, (size_t)cells * 8) && mirror_new(&in, (size_t)cells * 8))
        for (int64_t k = 0; k < cases; ++k) compare_once(&copy, &in, type, cells);
    mirror_free(&copy);
    mirror_free(&in);
}

static void every_cell_of_the_box_contributes_and_no_other(void)
{
    for (int type = 0; type < TYPES; ++type) {
        if (type == META_F64 && !case_has_f64()) continue;
        many_cases((meta_type)type, SMALL, test_count(120, 10000));
        many_cases((meta_type)type, LARGE, test_count(4, 300));
    }
}

static void a_cell_may_contribute_more_than_once(void)
{
    const int around[4] = {1, 1, 1, 1};
    mirror in = {0};
    if (mirror_new(&in, SMALL * 8))
        for (int64_t k = 0; k < test_count(200, 10000); ++k) {
            const meta_type type = case_arithmetic_type();
            const meta_box box = case_box_within((int)test_random_in(1, 4), around, around, SMALL);
            const int64_t away = case_box_away(&box, 1, 0, 0, 0);
            sum_expected expected = {0};
            uint64_t found = 0;
            test_case("twice of %s, %s", case_type_name(type), case_box_text(&box));
            mirror_refill(&in, type, CASE_PLAIN);
            for (int64_t n = 0; n < case_box_cells(&box); ++n)
                for (int64_t side = -away; side <= away; side += 2 * away) {
                    const int64_t at = case_box_index(&box, n) + side;
                    sum_add(&expected, sum_real(in.expected, at, type),
                            sum_whole(in.expected, at, type));
                }
            CHECK_OK(run_twice[type](&box, in.device, &found, NULL));
            sum_check(&found, &expected, type, "twice");
        }
    mirror_free(&in);
}

/* ------------------------------------------------------------------ special floats */

/* In every place of a vector, of a chunk of cells and of a thread's share. */
static void a_nan_anywhere_is_the_least_and_the_most(void)
{
    static const int64_t counts[] = {1, 7, 8, 9, 255, 256, 257, 1000, 20000};
    mirror copy = {0}, in = {0};
    if (mirror_new(&copy, 20000 * 8) && mirror_new(&in, 20000 * 8))
        for (int64_t k = 0; k < test_count(400, 4000); ++k) {
            const meta_type type = case_has_f64() && k % 2 ? META_F64 : META_F32;
            const int64_t count = counts[k / 2 % 9];
            const int64_t at = k < 18 ? 0 : k < 36 ? count - 1 : test_random_in(0, count - 1);
            const meta_box line = {1, {count}, {0}, {count}};
            const double nan_f64 = NAN, limit = 0;
            const float nan_f32 = NAN;
            uint64_t last = 0, above = 0;
            double f64[4] = {0};
            float f32[4] = {0};
            test_case("element %" PRId64 " of %" PRId64 " %s", at, count, case_type_name(type));
            mirror_refill(&in, type, CASE_PLAIN);
            if (type == META_F64) {
                void *const to[] = {&f64[0], &f64[1], &f64[2], &above, &f64[3], &last};
                CHECK_OK(meta_fill(in.device + at * 8, 1, &nan_f64, type, META_ASYNC));
                CHECK_OK(run_statistics[type](&line, copy.device, in.device, &limit, to, NULL));
                CHECK(isnan(f64[0]) && isnan(f64[1]) && isnan(f64[2]) && !isnan(f64[3]));
            } else {
                void *const to[] = {&f32[0], &f32[1], &f32[2], &above, &f32[3], &last};
                CHECK_OK(meta_fill(in.device + at * 4, 1, &nan_f32, type, META_ASYNC));
                CHECK_OK(
                    run_statistics[type](&line, copy.device, in.device, &(float){0}, to, NULL));
                CHECK(isnan(f32[0]) && isnan(f32[1]) && isnan(f32[2]) && !isnan(f32[3]));
            }
        }
    mirror_free(&copy);
    mirror_free(&in);
}

/* Numbers near 1 among pairs of ±2^24, in random order: a float's sum forgets the small ones. */
static void f32_sums_are_accumulated_in_double(void)
{
    enum { COUNT = 60000 };
    static float numbers[COUNT + 2];
    const meta_box line = {1, {COUNT + 2}, {1}, {COUNT + 1}};
    long double expected = 0;
    float found = 0;
    void *device = NULL;
    if (!case_has_f64() || !CHECK_OK(meta_alloc(&device, sizeof numbers))) return;
    for (int k = 0; k < COUNT; ++k)
        numbers[k] = k % 2 ? (float)(1 + test_random_real()) : k % 4 ? 0x1p24f : -0x1p24f;
    for (int k = 1; k <= COUNT; ++k)
        expected += (long double)numbers[k - 1] + (long double)numbers[k + 1];
    CHECK_OK(meta_copy_h2d(device, numbers, sizeof numbers, NULL));
    CHECK_OK(twice_f32(&line, device, &found, NULL));
    CHECK_NEAR((double)found, (double)expected, 1e-7);
    CHECK_OK(meta_free(device));
}

/* ------------------------------------------------------------------ nothing, and many */

static void an_empty_box_gives_the_identities_and_writes_nothing_else(void)
{
    mirror copy = {0}, in = {0};
    if (mirror_new(&copy, 4096) && mirror_new(&in, 4096))
        for (int64_t k = 0; k < test_count(60, 600); ++k) {
            const meta_type type = case_arithmetic_type();
            meta_box box = {3, {4, 4, 4}, {1, 1, 1}, {3, 3, 3}};
            const uint64_t limit = 0;
            const int d = (int)test_random_in(0, 2);
            size_t bytes = 1;
            case_ending ending;
            places p;
            box.end[d] = box.start[d];
            if (test_random_in(0, 1)) box.size[d] = box.start[d] = box.end[d] = 0;
            test_case("%s, %s", case_type_name(type), case_box_text(&box));
            CHECK_OK(meta_type_size(type, &bytes));
            const size_t widths[] = {bytes, bytes, bytes, 8, bytes, 8};
            const statistics expected = {.last = INT64_MIN};
            statistics identities = expected;
            memcpy(&identities.least, case_highest_of(type), bytes);
            memcpy(&identities.least_above, case_highest_of(type), bytes);
            memcpy(&identities.most, case_lowest_of(type), bytes);
            if (!places_pick(&p, 6)) break;
            case_ending_pick(&ending);
            CHECK_OK(
                run_statistics[type](&box, copy.device, in.device, &limit, p.given, ending.done));
            CHECK_OK(case_ending_settle(&ending));
            CHECK_OK(meta_flush());
            places_read(&p, widths);
            check_statistics(&p, &identities, type, CASE_PLAIN);
            mirror_holds(&copy, META_U8, "copy");
        }
    mirror_free(&copy);
    mirror_free(&in);
}

/* Results and the fills between them, all queued before one is waited for. */
static void many_results_are_in_flight_and_each_in_its_turn(void)
{
    enum { COUNT = 5000, IN_FLIGHT = 300 };
    static int64_t on_host[IN_FLIGHT], read_back[IN_FLIGHT];
    static meta_event events[IN_FLIGHT];
    const meta_box line = {1, {COUNT}, {1}, {COUNT - 1}};
    void *array = NULL, *results = NULL;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof(int64_t))) ||
        !CHECK_OK(meta_alloc(&results, sizeof read_back)))
        return;
    for (int64_t k = 0; k < IN_FLIGHT; ++k) {
        int64_t *result = k % 2 ? (int64_t *)results + k : &on_host[k];
        CHECK_OK(meta_fill(array, COUNT, &k, META_I64, META_ASYNC));
        CHECK_OK(twice_i64(&line, array, result, k % 3 ? &events[k] : META_ASYNC));
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(read_back, results, sizeof read_back, NULL));
    for (int64_t k = 0; k < IN_FLIGHT; ++k) {
        test_case("number %" PRId64, k);
        CHECK_INT(k % 2 ? read_back[k] : on_host[k], 2 * k * (COUNT - 2));
        if (k % 3) CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_free(results));
}

static void a_kernel_may_have_forty_results(void)
{
    enum { COUNT = 40, CELLS = 30000 };
    int32_t found[COUNT], least = INT32_MAX, most = INT32_MIN;
    const void *arguments[1 + COUNT];
    const meta_box line = {1, {CELLS}, {0}, {CELLS}};
    int64_t sum = 0;
    meta_kernel *kernel = NULL;
    mirror in = {0};
    if (!mirror_new(&in, CELLS * sizeof(int32_t))) return;
    mirror_refill(&in, META_I32, CASE_TINY);
    for (int k = 0; k < CELLS; ++k) {
        const int32_t x = ((const int32_t *)(const void *)in.expected)[k];
        sum += x;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    arguments[0] = in.device;
    for (int k = 0; k < COUNT; ++k) arguments[1 + k] = &found[k];
    if (CHECK_OK(meta_kernel_find("many", META_I32, &kernel)))
        CHECK_OK(meta_kernel_run(kernel, &line, arguments, NULL));
    for (int k = 0; k < COUNT; ++k) {
        test_case("result %d", k);
        CHECK_INT(found[k], k % 3 == 0 ? sum + k * CELLS : k % 3 == 1 ? least + k : most + k);
    }
    mirror_free(&in);
}

TEST_DEVICE_MAIN(PROMISE(every_cell_of_the_box_contributes_and_no_other),
                 PROMISE(a_cell_may_contribute_more_than_once),
                 PROMISE(a_nan_anywhere_is_the_least_and_the_most),
                 PROMISE(f32_sums_are_accumulated_in_double),
                 PROMISE(an_empty_box_gives_the_identities_and_writes_nothing_else),
                 PROMISE(many_results_are_in_flight_and_each_in_its_turn),
                 PROMISE(a_kernel_may_have_forty_results))
