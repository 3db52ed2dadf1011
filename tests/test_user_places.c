/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_places.c
 *  Extremes with their places where other features meet them: beside reproducible sums, and in
 * teams, whose members contribute in several phases. Numbers are few, so that most extremes are
 * tied. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_places.kernel.h"

#include "exact_sums.h"
#include "mirror.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SMALL = 1 << 12, LARGE = 1 << 17 };

static mirror x, y;

static bool begin(int64_t cells)
{
    const bool made = mirror_new(&x, (size_t)cells * 8);
    return mirror_new(&y, (size_t)cells * 8) && made;
}

static void end(void)
{
    mirror_free(&x);
    mirror_free(&y);
}

static size_t bytes_of(meta_type type)
{
    return type == META_F64 ? 8 : 4;
}

/* Contributions may be NaN, zeros of either sign and infinite; those of sums are of many binades.
 */
static void fill(mirror *m, int64_t cells, meta_type type)
{
    static const double few[] = {0, -0.0, 1.5, -1.5, 3, 0x1p-30, -0x1p20, INFINITY, -INFINITY};
    const int64_t kinds = test_random_in(1, sizeof few / sizeof *few),
                  rare = test_random_in(1, 9999);
    for (int64_t n = 0; n < cells; ++n) {
        const double pick = few[test_random_in(0, kinds - 1)];
        const double value = test_random_in(0, rare) == 0 && rare % 2 ? (double)NAN : pick;
        if (type == META_F64) ((double *)(void *)m->expected)[n] = value;
        else ((float *)(void *)m->expected)[n] = (float)value;
    }
    CHECK_OK(meta_copy_h2d(m->device, m->expected, (size_t)cells * bytes_of(type), NULL));
}

/* ------------------------------------------------------------------ oracle */

/* The cells are visited in the order of memory, so that a later one must be better. */
typedef struct best {
    double value;
    int64_t number;
} best;

static void contribute(best *b, double value, int64_t number, int sign)
{
    const bool is_better = value != value || sign * value < sign * b->value;
    if (b->number >= 0 && (b->value != b->value || !is_better)) return;
    b->value = value;
    b->number = number;
}

enum { WORDS = sizeof(meta_extreme_f64) / 8, ROOM = WORDS + 2, RESULTS = 9 };
static const uint64_t untouched = UINT64_C(0x5a5a5a5a5a5a5a5a);

/* Results of either kernel: each is the second word on of its room, on the host or on the device.
 */
typedef struct results {
    uint64_t host[RESULTS * ROOM], *device;
    bool on_device[RESULTS];
    void *given[RESULTS];
} results;

static bool results_pick(results *r)
{
    void *device = NULL;
    if (!CHECK_OK(meta_alloc(&device, sizeof r->host))) return false;
    r->device = device;
    for (int k = 0; k < RESULTS * ROOM; ++k) r->host[k] = untouched;
    CHECK_OK(meta_copy_h2d(device, r->host, sizeof r->host, NULL));
    for (int k = 0; k < RESULTS; ++k) {
        r->on_device[k] = test_random_in(0, 1);
        r->given[k] = (r->on_device[k] ? r->device : r->host) + k * ROOM + 1;
    }
    return true;
}

static void results_read(results *r)
{
    uint64_t device[RESULTS * ROOM];
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(device, r->device, sizeof device, NULL));
    CHECK_OK(meta_free(r->device));
    for (int k = 0; k < RESULTS; ++k) {
        uint64_t *host = r->host + k * ROOM;
        if (r->on_device[k]) memcpy(host, device + k * ROOM, ROOM * sizeof *host);
        CHECK_U64(host[0], untouched);
        CHECK_U64(host[ROOM - 1], untouched);
    }
}

static double element_of(const uint64_t *word, meta_type type)
{
    return exact_at(word, 0, type);
}

static void check_value(const results *r, int k, double expected, meta_type type, const char *name)
{
    const double found = element_of(r->host + k * ROOM + 1, type);
    if (found == expected || (found != found && expected != expected)) return;
    FAIL("%s is %a, expected %a", name, found, expected);
}

static void check_place(const results *r, int k, const best *b, const meta_box *box, meta_type type,
                        const char *name)
{
    const int64_t *index = (const int64_t *)(const void *)(r->host + k * ROOM + 2);
    int64_t rest = b->number;
    check_value(r, k, b->value, type, name);
    for (int d = 0; d < META_MAX_DIM; ++d) {
        const int64_t extent = d < box->ndim ? box->end[d] - box->start[d] : 1;
        const int64_t expected = b->number < 0   ? -1
                                 : d < box->ndim ? box->start[d] + rest % extent
                                                 : 0;
        if (b->number >= 0) rest /= extent; /* of an empty box it may be 0 */
        if (index[d] != expected)
            FAIL("index %d of %s is %" PRId64 ", expected %" PRId64, d, name, index[d], expected);
    }
}

/* ------------------------------------------------------------------ beside sums */

/* What the words of a result, of sums those of an element, are. */
enum { CELLS, LOW, TOTAL, HIGH, MOST, PRODUCTS, LOW_SOME };

static meta_err run_beside(const meta_box *box, meta_type type, void *const *to, meta_event *done)
{
    const void *const a = x.device, *const b = y.device;
    if (type == META_F64)
        return beside_f64(box, to[CELLS], to[LOW], to[TOTAL], a, b, to[HIGH], to[MOST],
                          to[PRODUCTS], to[LOW_SOME], done);
    return beside_f32_with(box,
                           &(beside_f32_arguments){.cells = to[CELLS],
                                                   .x = a,
                                                   .y = b,
                                                   .total = to[TOTAL],
                                                   .products = to[PRODUCTS],
                                                   .low = to[LOW],
                                                   .low_some = to[LOW_SOME],
                                                   .high = to[HIGH],
                                                   .most = to[MOST]},
                           done);
}

static void beside_once(int64_t cells, int dimensions)
{
    static exact total, products;
    const meta_type type = test_random_in(0, 1) ? META_F64 : META_F32;
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    best low = {INFINITY, -1}, high = {-INFINITY, -1}, low_some = low, most = high;
    case_ending ending;
    results r;
    test_case("%s, %s", case_type_name(type), case_box_text(&box));
    fill(&x, cells, type);
    fill(&y, cells, type);
    memset(&total, 0, sizeof total);
    memset(&products, 0, sizeof products);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const int64_t at = case_box_index(&box, n);
        const double a = exact_at(x.expected, at, type), b = exact_at(y.expected, at, type);
        const volatile double product = a * b;
        const double sum = type == META_F64 ? a + b : (double)((float)a + (float)b);
        exact_add(&total, a);
        exact_add(&products, product);
        contribute(&low, a, n, 1);
        contribute(&high, b, n, -1);
        contribute(&most, a, n, -1);
        if (!(b > a)) continue;
        contribute(&low_some, b, n, 1);
        contribute(&low_some, sum, n, 1);
    }
    if (!results_pick(&r)) return;
    case_ending_pick(&ending);
    CHECK_OK(run_beside(&box, type, r.given, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    results_read(&r);
    CHECK_U64(r.host[CELLS * ROOM + 1], (uint64_t)case_box_cells(&box));
    CHECK_U64(r.host[PRODUCTS * ROOM + 1], exact_round(&products, META_F64));
    CHECK_U64(type == META_F64 ? r.host[TOTAL * ROOM + 1] : r.host[TOTAL * ROOM + 1] & UINT32_MAX,
              exact_round(&total, type));
    check_place(&r, LOW, &low, &box, type, "low");
    check_place(&r, HIGH, &high, &box, type, "high");
    check_place(&r, LOW_SOME, &low_some, &box, type, "low_some");
    check_value(&r, MOST, most.value, type, "most");
}

static void places_beside_exact_sums_are_those_of_the_first_cells(void)
{
    if (!case_has_f64()) return;
    CHECK_OK(meta_set_reproducible(1));
    if (begin(LARGE)) {
        for (int64_t k = 0; k < test_count(200, 10000); ++k) beside_once(SMALL, META_MAX_DIM);
        for (int64_t k = 0; k < test_count(12, 600); ++k) beside_once(LARGE, 3);
    }
    end();
    CHECK_OK(meta_set_reproducible(0));
}

/* ------------------------------------------------------------------ in teams */

enum { SHARED_CELLS, SHARED_LOW, SHARED_HIGH, SHARED_LEAST, SHARED_SOME };

static meta_err run_shared(const meta_box *box, meta_type type, void *const *to, meta_event *done)
{
    const void *const a = x.device, *const b = y.device;
    if (type == META_F64)
        return shared_f64(box, to[SHARED_CELLS], a, b, to[SHARED_LOW], to[SHARED_HIGH],
                          to[SHARED_LEAST], to[SHARED_SOME], done);
    return shared_f32(box, to[SHARED_CELLS], a, b, to[SHARED_LOW], to[SHARED_HIGH],
                      to[SHARED_LEAST], to[SHARED_SOME], done);
}

static void shared_once(int64_t cells, int dimensions)
{
    const meta_type type = case_has_f64() && test_random_in(0, 1) ? META_F64 : META_F32;
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    const int64_t columns = box.end[0] - box.start[0];
    best low = {INFINITY, -1}, high = {-INFINITY, -1}, low_some = low;
    case_ending ending;
    results r;
    test_case("%s, %s", case_type_name(type), case_box_text(&box));
    fill(&x, cells, type);
    fill(&y, cells, type);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const int64_t at = case_box_index(&box, n), column = n % columns, first = column / 6 * 6;
        const int64_t last = first + 6 < columns ? first + 5 : columns - 1;
        const int64_t opposite = case_box_index(&box, n - column + first + last - column);
        const double a = exact_at(x.expected, at, type), b = exact_at(y.expected, at, type);
        contribute(&low, exact_at(x.expected, opposite, type), n, 1);
        contribute(&high, a, n, -1);
        contribute(&high, b, n, -1);
        if (column % 6 % 2 == 0 && b > a) contribute(&low_some, b, n, 1);
    }
    if (!results_pick(&r)) return;
    case_ending_pick(&ending);
    CHECK_OK(run_shared(&box, type, r.given, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    results_read(&r);
    CHECK_U64(r.host[SHARED_CELLS * ROOM + 1], (uint64_t)case_box_cells(&box));
    check_place(&r, SHARED_LOW, &low, &box, type, "low");
    check_place(&r, SHARED_HIGH, &high, &box, type, "high");
    check_place(&r, SHARED_SOME, &low_some, &box, type, "low_some");
    check_value(&r, SHARED_LEAST, low.value, type, "least");
}

static void the_place_in_a_team_is_the_members_cell(void)
{
    if (begin(LARGE)) {
        for (int64_t k = 0; k < test_count(200, 10000); ++k) shared_once(SMALL, META_MAX_DIM);
        for (int64_t k = 0; k < test_count(12, 600); ++k) shared_once(LARGE, 4);
    }
    end();
}

/* The kernel has no floating-point sum. */
static void reproducible_sums_leave_places_in_teams_alone(void)
{
    CHECK_OK(meta_set_reproducible(1));
    if (begin(SMALL))
        for (int64_t k = 0; k < test_count(20, 500); ++k) shared_once(SMALL, 4);
    end();
    CHECK_OK(meta_set_reproducible(0));
}

TEST_DEVICE_MAIN(PROMISE(places_beside_exact_sums_are_those_of_the_first_cells),
                 PROMISE(the_place_in_a_team_is_the_members_cell),
                 PROMISE(reproducible_sums_leave_places_in_teams_alone))
