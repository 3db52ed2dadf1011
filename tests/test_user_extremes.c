/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_extremes.c
 *  Least and greatest contributions of the program's own kernels with the cell where they lie:
 * ties, NaN, cells that contribute nothing, boxes of all dimensions, results on the host and the
 * device. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
/* TEST: backends=openmp labels=core with=CPU=avx2 */
/* TEST: backends=openmp labels=core with=CPU=baseline */
#define META_KERNELS_HERE
#include "user_extremes.kernel.h"

#include "user_crowd.kernel.h"

#include "mirror.h"
#include "places.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SMALL = 1 << 13, LARGE = 1 << 18, TYPES = CASE_FIRST_SMALL };

/* ------------------------------------------------------------------ oracle */

/* An extreme as the words of a meta_extreme_f64, whatever its type: bytes that are no part of the
 * value are 0. */
typedef struct found {
    uint64_t value;
    int64_t index[META_MAX_DIM];
} found;

_Static_assert(sizeof(meta_extreme_f64) == PLACE_BYTES, "a place holds an extreme");
enum { LOW, HIGH, LOW_SOME, HIGH_SOME, LAST, PLACES, CELLS = PLACES, MOST, LEAST, RESULTS };

typedef struct expectation {
    found at[PLACES];
    uint64_t cells, most, least;
} expectation;

/* Coordinates of cell n of the box, dimension 0 fastest. */
static void set_index(found *f, const meta_box *box, int64_t n)
{
    for (int d = 0; d < META_MAX_DIM; ++d) {
        f->index[d] = 0;
        if (d >= box->ndim) continue;
        const int64_t extent = box->end[d] - box->start[d];
        f->index[d] = box->start[d] + n % extent;
        n /= extent;
    }
}

/* Cells are visited in the order of memory, so that a later one must be better. */
#define ORACLE(NAME, name, T, W)                                                                   \
    static bool is_better_##name(T x, T than, bool is_min)                                         \
    {                                                                                              \
        if (than != than) return false;                                                            \
        return x != x || (is_min ? x < than : x > than);                                           \
    }                                                                                              \
    typedef struct best_##name {                                                                   \
        T value;                                                                                   \
        bool is_min, has;                                                                          \
        found to;                                                                                  \
    } best_##name;                                                                                 \
    static void contribute_##name(best_##name *b, T x, const meta_box *box, int64_t n)             \
    {                                                                                              \
        if (b->has && !is_better_##name(x, b->value, b->is_min)) return;                           \
        b->value = x;                                                                              \
        b->has = true;                                                                             \
        set_index(&b->to, box, n);                                                                 \
    }                                                                                              \
    static void end_##name(const best_##name *b, found *to)                                        \
    {                                                                                              \
        const uint64_t nan = sizeof(T) == 8 ? UINT64_C(0x7ff8) << 48 : UINT64_C(0x7fc00000);       \
        T value = b->value;                                                                        \
        *to = b->to;                                                                               \
        to->value = 0;                                                                             \
        if (value == 0) value = 0;                                                                 \
        memcpy(&to->value, &value, sizeof value);                                                  \
        if (value != value) to->value = nan;                                                       \
        if (!b->has)                                                                               \
            for (int d = 0; d < META_MAX_DIM; ++d) to->index[d] = -1;                              \
    }                                                                                              \
    static void expect_##name(const void *in, const void *other, const uint32_t *which,            \
                              const meta_box *box, const void *lowest, const void *highest,        \
                              expectation *e)                                                      \
    {                                                                                              \
        best_##name low = {.value = *(const T *)highest, .is_min = true};                          \
        best_##name high = {.value = *(const T *)lowest}, low_some = low, high_some = high;        \
        int64_t last = INT64_MIN;                                                                  \
        e->cells = 0;                                                                              \
        for (int d = 0; d < META_MAX_DIM; ++d) e->at[LAST].index[d] = -1;                          \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            const T x = ((const T *)in)[at], y = ((const T *)other)[at];                           \
            const bool one = which[at] & 4;                                                        \
            contribute_##name(&low, x, box, n);                                                    \
            contribute_##name(&high, x, box, n);                                                   \
            if (which[at] & 1) contribute_##name(&low_some, x, box, n);                            \
            if (one) contribute_##name(&low_some, y, box, n);                                      \
            if (which[at] & 2) contribute_##name(&high_some, x, box, n);                           \
            if (one) contribute_##name(&high_some, y, box, n);                                     \
            ++e->cells;                                                                            \
            const int64_t along = (box->start[0] + n % (box->end[0] - box->start[0])) % 7;         \
            if (one && along > last) last = along, set_index(&e->at[LAST], box, n);                \
        }                                                                                          \
        end_##name(&low, &e->at[LOW]);                                                             \
        end_##name(&high, &e->at[HIGH]);                                                           \
        end_##name(&low_some, &e->at[LOW_SOME]);                                                   \
        end_##name(&high_some, &e->at[HIGH_SOME]);                                                 \
        e->at[LAST].value = (uint64_t)last;                                                        \
        e->least = e->at[LOW].value;                                                               \
        e->most = e->at[HIGH].value;                                                               \
    }                                                                                              \
    static meta_err run_##name(const meta_box *box, void *copy, const void *in, const void *other, \
                               const void *which, void *const *to, meta_event *done)               \
    {                                                                                              \
        return extremes_##name(box, copy, in, other, which, to[LOW], to[CELLS], to[HIGH],          \
                               to[LOW_SOME], to[MOST], to[HIGH_SOME], to[LAST], to[LEAST], done);  \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

static void (*const expect[])(const void *, const void *, const uint32_t *, const meta_box *,
                              const void *, const void *, expectation *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = expect_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};
static meta_err (*const run[])(const meta_box *, void *, const void *, const void *, const void *,
                               void *const *, meta_event *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = run_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static bool check_extreme(const uint64_t *words, const found *expected, size_t bytes,
                          const char *name)
{
    found f = {0};
    memcpy(&f.value, words, bytes);
    memcpy(f.index, words + 1, sizeof f.index);
    if (memcmp(&f, expected, sizeof f) == 0) return true;
    return FAIL("%s is %016" PRIx64 " at %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                " …, expected %016" PRIx64 " at %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " …",
                name, f.value, f.index[0], f.index[1], f.index[2], f.index[3], expected->value,
                expected->index[0], expected->index[1], expected->index[2], expected->index[3]);
}

static void check_all(const places *p, const expectation *e, size_t bytes)
{
    static const char *const names[] = {"low", "high", "low_some", "high_some", "last"};
    for (int k = 0; k < PLACES; ++k)
        check_extreme(&p->host[k][1], &e->at[k], k == LAST ? 8 : bytes, names[k]);
    CHECK_U64(places_bits(p, CELLS, 8), e->cells);
    CHECK_U64(places_bits(p, MOST, bytes), e->most);
    CHECK_U64(places_bits(p, LEAST, bytes), e->least);
}

/* ------------------------------------------------------------------ contents */

/* Few different numbers, so that most extremes are tied, also with what nothing gives; some NaN. */
static void fill_with_ties(void *to, int64_t count, meta_type type)
{
    const int64_t kinds = test_random_in(1, 6), rare = test_random_in(1, 2000);
    for (int64_t n = 0; n < count; ++n) {
        const int64_t pick = test_random_in(0, kinds - 1);
        const bool odd = test_random_in(0, rare) == 0;
        static const double reals[] = {0, -0.0, 1.5, -1.5, INFINITY, -INFINITY};
        switch (type) {
        case META_F64:
            ((double *)to)[n] = odd ? NAN : reals[pick];
            break;
        case META_F32:
            ((float *)to)[n] = odd ? NAN : (float)reals[pick];
            break;
        case META_I64:
            ((int64_t *)to)[n] = odd ? INT64_MAX : pick - 1;
            break;
        case META_U64:
            ((uint64_t *)to)[n] = odd ? UINT64_MAX : (uint64_t)pick;
            break;
        case META_I32:
            ((int32_t *)to)[n] = odd ? INT32_MIN : (int32_t)pick - 1;
            break;
        default:
            ((uint32_t *)to)[n] = odd ? UINT32_MAX : (uint32_t)pick;
            break;
        }
    }
}

typedef struct arrays {
    mirror copy, in, other, which;
    int64_t cells;
} arrays;

static bool arrays_new(arrays *a, int64_t cells)
{
    a->cells = cells;
    return mirror_new(&a->copy, (size_t)cells * 8) && mirror_new(&a->in, (size_t)cells * 8) &&
           mirror_new(&a->other, (size_t)cells * 8) && mirror_new(&a->which, (size_t)cells * 4);
}

static void arrays_free(arrays *a)
{
    mirror_free(&a->copy);
    mirror_free(&a->in);
    mirror_free(&a->other);
    mirror_free(&a->which);
}

static void upload(mirror *m)
{
    CHECK_OK(meta_copy_h2d(m->device, m->expected, m->bytes, NULL));
}

static void refill(arrays *a, meta_type type)
{
    const case_flavour flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    const int64_t rare = test_random_in(0, 3) == 0 ? 1 << 20 : test_random_in(0, 300);
    uint32_t *which = (uint32_t *)(void *)a->which.expected;
    mirror_refill(&a->copy, type, CASE_PLAIN);
    mirror_refill(&a->in, type, flavour);
    mirror_refill(&a->other, type, flavour);
    if (test_random_in(0, 2) > 0) {
        fill_with_ties(a->in.expected, a->cells, type);
        fill_with_ties(a->other.expected, a->cells, type);
        upload(&a->in);
        upload(&a->other);
    }
    for (int64_t n = 0; n < a->cells; ++n)
        which[n] = test_random_in(0, rare) == 0 ? (uint32_t)test_random_in(0, 7) : 0;
    upload(&a->which);
}

/* ------------------------------------------------------------------ cases */

static void compare_once(arrays *a, const meta_box *box, meta_type type)
{
    size_t bytes = 1;
    expectation expected;
    case_ending ending;
    places p;
    size_t widths[RESULTS] = {0};
    test_case("%s, %s", case_type_name(type), case_box_text(box));
    CHECK_OK(meta_type_size(type, &bytes));
    for (int k = 0; k < RESULTS; ++k)
        widths[k] = k < PLACES ? (size_t)PLACE_BYTES : k == CELLS ? 8 : bytes;
    refill(a, type);
    expect[type](a->in.expected, a->other.expected, (const uint32_t *)(void *)a->which.expected,
                 box, case_lowest_of(type), case_highest_of(type), &expected);
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        const size_t at = (size_t)case_box_index(box, n) * bytes;
        memcpy(a->copy.expected + at, a->in.expected + at, bytes);
    }
    if (!places_pick(&p, RESULTS)) return;
    case_ending_pick(&ending);
    CHECK_OK(run[type](box, a->copy.device, a->in.device, a->other.device, a->which.device, p.given,
                       ending.done));
    CHECK_OK(case_ending_settle(&ending));
    CHECK_OK(meta_flush());
    places_read(&p, widths);
    check_all(&p, &expected, bytes);
    mirror_holds(&a->copy, type, "copy");
    mirror_holds(&a->in, type, "in");
}

static void many_cases(int64_t cells, int64_t cases, int dimensions)
{
    static const int none[4] = {0};
    arrays a = {0};
    if (arrays_new(&a, cells))
        for (int64_t k = 0; k < cases; ++k) {
            const int ndim = (int)test_random_in(1, dimensions);
            const meta_box box = ndim > 4 || test_random_in(0, 1)
                                     ? case_box(ndim, 0, cells)
                                     : case_box_within(ndim, none, none, cells);
            compare_once(&a, &box, case_arithmetic_type());
        }
    arrays_free(&a);
}

static void a_place_is_that_of_the_first_cell_with_the_extreme(void)
{
    many_cases(SMALL, test_count(400, 20000), 4);
    many_cases(LARGE, test_count(12, 600), 4);
}

static void a_place_in_a_batch_has_the_index_along_every_dimension(void)
{
    many_cases(SMALL, test_count(150, 5000), META_MAX_DIM);
}

static void places_are_reproducible(void)
{
    CHECK_OK(meta_set_reproducible(true));
    many_cases(SMALL, test_count(20, 200), 4);
    CHECK_OK(meta_set_reproducible(false));
}

/* One NaN or one extreme in every place of a vector, of a chunk of cells and of a thread's share.
 */
static void the_only_extreme_is_found_wherever_it_lies(void)
{
    static const int64_t counts[] = {1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1000, 20000};
    enum { COUNTS = sizeof counts / sizeof *counts };
    arrays a = {0};
    if (arrays_new(&a, 20000))
        for (int64_t k = 0; k < test_count(300, 4000); ++k) {
            const bool is_f64 = case_has_f64() && k % 2;
            const int64_t count = counts[k % COUNTS];
            const int64_t at = k < 24 ? 0 : k < 48 ? count - 1 : test_random_in(0, count - 1);
            const meta_box line = {2, {count, 1}, {0, 0}, {count, 1}};
            const double f64 = k % 3 ? NAN : -1e3;
            const float f32 = k % 3 ? NAN : -1e3f;
            meta_extreme_f64 low_f64;
            meta_extreme_f32 low_f32;
            uint64_t cells;
            meta_extreme_i64 last;
            double most_f64;
            float most_f32;
            found none[3];
            test_case("cell %" PRId64 " of %" PRId64, at, count);
            mirror_refill(&a.in, is_f64 ? META_F64 : META_F32, CASE_PLAIN);
            if (is_f64) {
                void *const to[] = {&low_f64, &none[0], &none[1],  &none[2],
                                    &last,    &cells,   &most_f64, &(double){0}};
                CHECK_OK(meta_fill(a.in.device + at * 8, 1, &f64, META_F64, META_ASYNC));
                CHECK_OK(run_f64(&line, a.copy.device, a.in.device, a.other.device, a.which.device,
                                 to, NULL));
                CHECK(k % 3 ? isnan(low_f64.value) : low_f64.value == -1e3);
                CHECK_INT(low_f64.index[0], at);
            } else {
                void *const to[] = {&low_f32, &none[0], &none[1],  &none[2],
                                    &last,    &cells,   &most_f32, &(float){0}};
                CHECK_OK(meta_fill(a.in.device + at * 4, 1, &f32, META_F32, META_ASYNC));
                CHECK_OK(run_f32(&line, a.copy.device, a.in.device, a.other.device, a.which.device,
                                 to, NULL));
                CHECK(k % 3 ? isnan(low_f32.value) : low_f32.value == -1e3f);
                CHECK_INT(low_f32.index[0], at);
            }
        }
    arrays_free(&a);
}

static void an_empty_box_has_no_place(void)
{
    arrays a = {0};
    if (arrays_new(&a, 512))
        for (int64_t k = 0; k < test_count(60, 600); ++k) {
            meta_box box = {3, {8, 8, 8}, {1, 1, 1}, {3, 3, 3}};
            const int d = (int)test_random_in(0, 2);
            box.end[d] = box.start[d];
            if (test_random_in(0, 1)) box.size[d] = box.start[d] = box.end[d] = 0;
            compare_once(&a, &box, case_arithmetic_type());
        }
    arrays_free(&a);
}

/* Of a field without any slope every cell has the greatest; of one step a column. */
static void neighbours_and_ghosts_count_in_the_index(void)
{
    enum { NX = 40, NY = 30 };
    static float field[NX * NY];
    const meta_box inner = {2, {NX, NY}, {3, 5}, {NX - 2, NY - 1}};
    meta_extreme_f32 slope;
    void *u = NULL;
    if (!CHECK_OK(meta_alloc(&u, sizeof field))) return;
    CHECK_OK(meta_copy_h2d(u, field, sizeof field, NULL));
    CHECK_OK(steepest_f32(&inner, u, &slope, NULL));
    CHECK(slope.value == 0);
    CHECK_INT(slope.index[0], 3);
    CHECK_INT(slope.index[1], 5);
    CHECK_INT(slope.index[2], 0);
    for (int k = 0; k < NX * NY; ++k) field[k] = k % NX > 20 && k / NX >= 11 ? 2 : 0;
    CHECK_OK(meta_copy_h2d(u, field, sizeof field, NULL));
    CHECK_OK(steepest_f32(&inner, u, &slope, NULL));
    CHECK(slope.value == 2);
    CHECK_INT(slope.index[0], 20);
    CHECK_INT(slope.index[1], 11);
    CHECK_OK(meta_free(u));
}

/* Results and the fills between them, all queued before one is waited for. */
static void many_places_are_in_flight_and_each_in_its_turn(void)
{
    enum { COUNT = 5000, IN_FLIGHT = 300 };
    static meta_extreme_i32 on_host[IN_FLIGHT], read_back[IN_FLIGHT];
    static meta_event events[IN_FLIGHT];
    const meta_box line = {1, {COUNT}, {1}, {COUNT - 1}};
    void *array = NULL, *results = NULL;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof(int32_t))) ||
        !CHECK_OK(meta_alloc(&results, sizeof read_back)))
        return;
    for (int32_t k = 0; k < IN_FLIGHT; ++k) {
        const int32_t zero = 0, top = 7 + k;
        meta_extreme_i32 *result = k % 2 ? (meta_extreme_i32 *)results + k : &on_host[k];
        CHECK_OK(meta_fill(array, COUNT, &zero, META_I32, META_ASYNC));
        CHECK_OK(meta_fill((int32_t *)array + 100 + k, 2, &top, META_I32, META_ASYNC));
        CHECK_OK(steepest_i32(&line, array, result, k % 3 ? &events[k] : META_ASYNC));
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(read_back, results, sizeof read_back, NULL));
    for (int k = 0; k < IN_FLIGHT; ++k) {
        const meta_extreme_i32 *r = k % 2 ? &read_back[k] : &on_host[k];
        test_case("number %d", k);
        CHECK_INT(r->value, 7 + k);
        CHECK_INT(r->index[0], 99 + k);
        if (k % 3) CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_free(results));
}

static void a_kernel_may_have_twenty_places(void)
{
    enum { COUNT = 20, LINE = 70000 };
    static meta_extreme_u32 at[COUNT];
    static uint32_t numbers[LINE];
    const void *arguments[1 + COUNT];
    const meta_box line = {1, {LINE}, {0}, {LINE}};
    void *u = NULL;
    for (int k = 0; k < LINE; ++k) numbers[k] = (uint32_t)test_random_in(0, 1 << 30);
    if (!CHECK_OK(meta_alloc(&u, sizeof numbers))) return;
    CHECK_OK(meta_copy_h2d(u, numbers, sizeof numbers, NULL));
    arguments[0] = u;
    for (int k = 0; k < COUNT; ++k) arguments[1 + k] = &at[k];
    CHECK_OK(meta_kernel_run(&crowd_u32_kernel, &line, arguments, NULL));
    for (int k = 0; k < COUNT; ++k) {
        int best = -1;
        for (int n = k / 2; n < LINE; n += k / 2 + 1)
            if (best < 0 || (k % 2 ? numbers[n] > numbers[best] : numbers[n] < numbers[best]))
                best = n;
        test_case("place %d", k);
        CHECK_INT(at[k].index[0], best);
        CHECK_U64(at[k].value, numbers[best]);
    }
    CHECK_OK(meta_free(u));
}

/* ------------------------------------------------------------------ misuse */

static void a_wrong_address_is_refused_by_name_and_nothing_is_written(void)
{
    const meta_box line = {1, {100}, {1}, {99}};
    meta_extreme_f32 kept = {-7, {-9, -9}};
    void *u = NULL, *small = NULL;
    if (!CHECK_OK(meta_alloc(&u, 400)) || !CHECK_OK(meta_alloc(&small, 200))) return;
    CHECK_OK(meta_fill(u, 100, &(float){1}, META_F32, NULL));
    CHECK_OK(meta_fill(small, 50, &(float){-7}, META_F32, NULL));
    CHECK_ERR_NAMES(steepest_f32(&line, u, NULL, NULL), META_ERR_ARGUMENT, "slope");
    CHECK_ERR_NAMES(steepest_f32(&line, u, (meta_extreme_f32 *)((char *)small + 120), NULL),
                    META_ERR_BOUNDS, "slope");
    CHECK_CONTAINS(meta_last_error(), "meta_extreme_f32 of 88 bytes");
    CHECK_CONTAINS(meta_last_error(), "80 bytes behind");
    CHECK_ERR_NAMES(steepest_f32(&line, u, (meta_extreme_f32 *)((char *)small + 4), NULL),
                    META_ERR_ALIGNMENT, "slope");
    CHECK_ERR_NAMES(steepest_f32(&line, u, (meta_extreme_f32 *)((char *)&kept + 4), NULL),
                    META_ERR_ALIGNMENT, "slope");
    const meta_box beyond = {1, {100}, {0}, {99}};
    CHECK_ERR_NAMES(steepest_f32(&beyond, u, &kept, NULL), META_ERR_BOUNDS, "box");
    CHECK(kept.value == -7 && kept.index[0] == -9);
    float back[50];
    CHECK_OK(meta_copy_d2h(back, small, sizeof back, NULL));
    for (int k = 0; k < 50; ++k) CHECK(back[k] == -7);
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(small));
}

/* ------------------------------------------------------------------ text at run time */

static void a_text_may_have_places(void)
{
    static const char text[] = "#include <meta_kernel.h>\n"
                               "#define peak_ARGS(A) A(IN, T, u, CELL) A(MAX_AT, T, top) \\\n"
                               "    A(MIN_AT, int64_t, odd)\n"
                               "META_CELLS(peak)\n"
                               "{\n"
                               "    RAISE(top, ON(u));\n"
                               "    if (INDEX(0) % 2) LOWER(odd, -INDEX(1));\n"
                               "}\n"
                               "#include META_AGAIN\n";
    enum { NX = 60, NY = 50 };
    const meta_box box = {2, {NX, NY}, {0, 3}, {NX, NY}};
    static float field[NX * NY];
    meta_extreme_f32 top;
    meta_extreme_i64 odd;
    meta_kernel *peak = NULL;
    void *u = NULL;
    field[NX * 31 + 17] = field[NX * 31 + 18] = 5;
    if (!CHECK_OK(meta_kernel_compile(&peak, "peak", META_F32, "peak.kernel.h", text)) ||
        !CHECK_OK(meta_alloc(&u, sizeof field)))
        return;
    CHECK_OK(meta_copy_h2d(u, field, sizeof field, NULL));
    CHECK_OK(meta_kernel_run(peak, &box, (const void *[]){u, &top, &odd}, NULL));
    CHECK(top.value == 5);
    CHECK_INT(top.index[0], 17);
    CHECK_INT(top.index[1], 31);
    CHECK_INT(odd.value, -(NY - 1));
    CHECK_INT(odd.index[0], 1);
    CHECK_INT(odd.index[1], NY - 1);
    CHECK_OK(meta_free(u));
}

TEST_DEVICE_MAIN(PROMISE(a_place_is_that_of_the_first_cell_with_the_extreme),
                 PROMISE(a_place_in_a_batch_has_the_index_along_every_dimension),
                 PROMISE(places_are_reproducible),
                 PROMISE(the_only_extreme_is_found_wherever_it_lies),
                 PROMISE(an_empty_box_has_no_place),
                 PROMISE(neighbours_and_ghosts_count_in_the_index),
                 PROMISE(many_places_are_in_flight_and_each_in_its_turn),
                 PROMISE(a_kernel_may_have_twenty_places),
                 PROMISE(a_wrong_address_is_refused_by_name_and_nothing_is_written),
                 PROMISE(a_text_may_have_places))
