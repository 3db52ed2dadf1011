/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_team_exact.c
 *  Reproducible sums of kernels of teams: the exact sum of what the members contribute, rounded
 *  once, whatever the numbers, the box, the teams, the number of threads and the instruction set.
 */
/* TEST: backends=all labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_team_exact.kernel.h"

#include "exact_sums.h"
#include "lives.h"
#include "mirror.h"
#include "places.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 12, LARGE = 200000, DIMS = 3 };

static mirror x, y, copy;

static bool begin(int64_t cells)
{
    const bool made = mirror_new(&x, (size_t)cells * 8) && mirror_new(&y, (size_t)cells * 8) &&
                      mirror_new(&copy, (size_t)cells * 8);
    return CHECK_OK(meta_set_reproducible(1)) && made;
}

static void end(void)
{
    CHECK_OK(meta_set_reproducible(0));
    mirror_free(&x);
    mirror_free(&y);
    mirror_free(&copy);
}

static size_t bytes_of(meta_type type)
{
    return type == META_F64 ? 8 : 4;
}

static void fill(mirror *m, int64_t cells, meta_type type, int flavour)
{
    exact_fill(m->expected, cells, type, flavour);
    CHECK_OK(meta_copy_h2d(m->device, m->expected, (size_t)cells * bytes_of(type), NULL));
}

/* ------------------------------------------------------------------ contributions in phases */

/* The team of a cell, as the documentation describes it: the member's place, the team's extents,
 * and the number among the box's cells of its first one. */
typedef struct member {
    int64_t my[DIMS], extent[DIMS], first;
} member;

static member member_of(const meta_box *box, int64_t n)
{
    static const int64_t side[DIMS] = {7, 5, 3};
    member m = {{0}, {1, 1, 1}, n};
    int64_t step = 1;
    for (int d = 0; d < box->ndim && d < DIMS; ++d) {
        const int64_t extent = box->end[d] - box->start[d], at = n % extent;
        const int64_t first = at / side[d] * side[d];
        m.my[d] = at - first;
        m.extent[d] = extent - first < side[d] ? extent - first : side[d];
        m.first -= m.my[d] * step;
        step *= extent;
        n /= extent;
    }
    return m;
}

/* The cell's number in the box that member number @p k of the team has. */
static int64_t cell_of(const meta_box *box, const member *m, int64_t k)
{
    int64_t n = m->first, step = 1;
    for (int d = 0; d < box->ndim && d < DIMS; ++d) {
        n += k % m->extent[d] * step;
        k /= m->extent[d];
        step *= box->end[d] - box->start[d];
    }
    return n;
}

/* The oracle: loops that add bit by bit. */
typedef struct scores {
    exact total, products, firsts, narrow;
    uint64_t above;
    double most, least;
    int64_t least_at;
} scores;

static void score_cell(const meta_box *box, meta_type type, double limit, int32_t turns, int64_t n,
                       scores *s)
{
    const int64_t at = case_box_index(box, n);
    const double a = exact_at(x.expected, at, type), b = exact_at(y.expected, at, type);
    const member m = member_of(box, n);
    const int64_t last = m.extent[0] * m.extent[1] * m.extent[2] - 1;
    const int64_t number = m.my[0] + m.extent[0] * (m.my[1] + m.extent[1] * m.my[2]);
    const int64_t opposite = case_box_index(box, cell_of(box, &m, last - number));
    volatile double total = 0, products = 0;
    total += a;
    if (a > limit) {
        ++s->above;
        exact_add(&s->narrow, b);
    }
    for (int32_t turn = 0; turn < turns; ++turn) {
        if ((m.my[0] + turn) % 3 == 0) continue;
        const volatile double product = a * b;
        total += -exact_at(x.expected, opposite, type);
        products += product;
        if (turn > 0) total += 7;
    }
    exact_add(&s->total, total);
    exact_add(&s->products, products);
    if (number == 0 && turns != 2) exact_add(&s->firsts, a);
    memcpy(copy.expected + (size_t)at * bytes_of(type), x.expected + (size_t)at * bytes_of(type),
           bytes_of(type));
    if (b > s->most) s->most = b;
    if (s->least_at < 0 || a < s->least) s->least = a, s->least_at = n;
}

/* Results on the host and on the device. */
enum { MOST, TOTAL, ABOVE, PRODUCTS, FIRSTS, LEAST_AT, NARROW, RESULTS };

static meta_err run_scores(const meta_box *box, meta_type type, double limit, int32_t turns,
                           void *const *to, meta_event *done)
{
    void *const in[] = {x.device, y.device};
    if (type == META_F64)
        return scores_f64(box, (void *)copy.device, in[0], in[1], limit, turns, to[MOST], to[TOTAL],
                          to[ABOVE], to[PRODUCTS], to[FIRSTS], to[LEAST_AT], to[NARROW], done);
    return scores_f32(box, (void *)copy.device, in[0], in[1], (float)limit, turns, to[MOST],
                      to[TOTAL], to[ABOVE], to[PRODUCTS], to[FIRSTS], to[LEAST_AT], to[NARROW],
                      done);
}

static void scores_once(int64_t cells, int dimensions)
{
    static scores expected;
    const meta_type type = test_random_in(0, 1) ? META_F64 : META_F32;
    const int flavour = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const int other = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    const double limit = test_random_in(0, 3) ? 0.25 : 1e30;
    const int32_t turns = (int32_t)test_random_in(0, 4);
    const int64_t count = case_box_cells(&box);
    const size_t bytes = bytes_of(type);
    const size_t widths[RESULTS] = {bytes, bytes, 8, 8, bytes, PLACE_BYTES, 4};
    case_ending ending;
    places p;
    test_case("%s, contents %d and %d, above %g, %d turns, %s", case_type_name(type), flavour,
              other, limit, (int)turns, case_box_text(&box));
    fill(&x, cells, type, flavour);
    fill(&y, cells, type, other);
    memset(&expected, 0, sizeof expected);
    expected.most = -INFINITY;
    expected.least = INFINITY;
    expected.least_at = -1;
    for (int64_t n = 0; n < count; ++n)
        score_cell(&box, type, type == META_F64 ? limit : (double)(float)limit, turns, n,
                   &expected);
    if (!places_pick(&p, RESULTS)) return;
    case_ending_pick(&ending);
    CHECK_OK(run_scores(&box, type, limit, turns, p.given, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    CHECK_OK(meta_flush());
    places_read(&p, widths);
    CHECK_U64(places_bits(&p, TOTAL, bytes), exact_round(&expected.total, type));
    CHECK_U64(places_bits(&p, ABOVE, 8), expected.above);
    CHECK_U64(places_bits(&p, PRODUCTS, 8), exact_round(&expected.products, META_F64));
    CHECK_U64(places_bits(&p, FIRSTS, bytes), exact_round(&expected.firsts, type));
    CHECK_U64(places_bits(&p, NARROW, 4), exact_round(&expected.narrow, META_F32));
    if (!expected.total.nan && count > 0) /* a NaN is both extremes, of which others tell */
        CHECK(exact_at(&p.host[LEAST_AT][1], 0, type) == expected.least);
    mirror_holds(&copy, META_U8, "copy");
}

static void what_members_contribute_in_all_phases_is_added_exactly(void)
{
    if (!case_has_f64()) return;
    if (begin(LARGE)) {
        for (int64_t k = 0; k < test_count(300, 20000); ++k) scores_once(SMALL, META_MAX_DIM);
        for (int64_t k = 0; k < test_count(8, 500); ++k) scores_once(LARGE, 3);
    }
    end();
}

/* ------------------------------------------------------------------ teams do not matter */

typedef struct summing {
    const char *name;
    const char *members; /* NULL: of as many as any device's groups have */
} summing;
static const summing kernels[] = {{"by_line", NULL},
                                  {"by_brick", NULL},
                                  {"alone", NULL},
                                  {"by_cells", NULL},
                                  {"crowd", "16384 members"}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Whether the device is an OpenCL CPU; @p mode is its back end's. */
static bool is_opencl_cpu(meta_mode *mode)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    int index = 0;
    CHECK_OK(meta_get_acc(&index, mode));
    CHECK_OK(meta_device_info(index, *mode, &device));
    return *mode == META_OPENCL && !device.is_gpu;
}

/* On CPUs of OpenMP and OpenCL teams of any size run, elsewhere some may not. */
static bool is_refused(meta_err error, const char *members)
{
    meta_mode mode = META_OPENMP;
    if (error != META_ERR_UNSUPPORTED || !members || is_opencl_cpu(&mode) || mode == META_OPENMP)
        return false;
    CHECK_CONTAINS(meta_last_error(), members);
    return true;
}

static void sum_by(const summing *of, const meta_box *box, meta_type type, uint64_t expected)
{
    uint64_t found = 0;
    const void *const arguments[] = {x.device, &found};
    meta_kernel *kernel = NULL;
    if (!CHECK_OK(meta_kernel_find(of->name, type, &kernel))) return;
    const meta_err error = meta_kernel_run(kernel, box, arguments, NULL);
    if (is_refused(error, of->members)) return;
    CHECK_OK(error);
    if (!CHECK_U64(found, expected)) FAIL("that is kernel %s", of->name);
}

static void sums_once(int64_t cells, int dimensions, int least)
{
    static exact sum;
    const meta_type type = test_random_in(0, 1) ? META_F64 : META_F32;
    const int flavour = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const meta_box box = case_box((int)test_random_in(least, dimensions), 0, cells);
    test_case("sum of %s, contents %d, %s", case_type_name(type), flavour, case_box_text(&box));
    fill(&x, cells, type, flavour);
    memset(&sum, 0, sizeof sum);
    exact_add_box(&sum, x.expected, NULL, &box, type);
    for (int k = 0; k < KERNELS; ++k) sum_by(&kernels[k], &box, type, exact_round(&sum, type));
}

static void the_extents_of_teams_do_not_matter(void)
{
    if (!case_has_f64()) return;
    if (begin(LARGE)) {
        for (int64_t k = 0; k < test_count(60, 5000); ++k) sums_once(SMALL, META_MAX_DIM, 1);
        for (int64_t k = 0; k < test_count(6, 300); ++k) sums_once(LARGE, 3, 1);
    }
    end();
}

/* The same numbers in other members. */
static void the_order_of_the_members_does_not_matter(void)
{
    const meta_box boxes[] = {{1, {SMALL}, {0}, {SMALL}},
                              {2, {4, SMALL / 4}, {0, 0}, {4, SMALL / 4}},
                              {3, {64, 2, SMALL / 128}, {0, 0, 0}, {64, 2, SMALL / 128}}};
    if (!case_has_f64()) return;
    if (begin(SMALL))
        for (int64_t k = 0; k < test_count(40, 4000); ++k) {
            static exact sum;
            const meta_type type = k % 2 ? META_F64 : META_F32;
            const size_t bytes = bytes_of(type);
            exact_fill(x.expected, SMALL, type, (int)(k / 2 % EXACT_FLAVOURS));
            memset(&sum, 0, sizeof sum);
            exact_add_box(&sum, x.expected, NULL, &boxes[0], type);
            for (int turn = 0; turn < 3; ++turn) {
                for (int64_t n = SMALL - 1; n > 0 && turn > 0; --n) {
                    unsigned char *a = x.expected + (size_t)n * bytes, held[8];
                    unsigned char *b = x.expected + (size_t)test_random_in(0, n) * bytes;
                    memcpy(held, a, bytes);
                    memmove(a, b, bytes);
                    memcpy(b, held, bytes);
                }
                test_case("%s, contents %d, turn %d", case_type_name(type),
                          (int)(k / 2 % EXACT_FLAVOURS), turn);
                CHECK_OK(meta_copy_h2d(x.device, x.expected, SMALL * bytes, NULL));
                sum_by(&kernels[turn % 3], &boxes[turn], type, exact_round(&sum, type));
            }
        }
    end();
}

static void sums_of_a_team_that_is_too_large_are_refused_with_both_numbers(void)
{
    static exact sum;
    const meta_box box = {2, {400, 300}, {0, 0}, {400, 300}};
    uint64_t found = 1, more = 1, most = 1;
    meta_mode mode = META_OPENMP;
    if (!case_has_f64()) return;
    if (begin(400 * 300)) {
        fill(&x, 400 * 300, META_F64, 3);
        const meta_err error = mass_f64(&box, (const void *)x.device, (void *)&found, (void *)&more,
                                        (void *)&most, NULL);
        if (is_opencl_cpu(&mode)) {
            CHECK_INT(error, META_ERR_UNSUPPORTED);
            CHECK_CONTAINS(meta_last_error(), "the 65536 members of a team");
            CHECK_CONTAINS(meta_last_error(), "3 reproducible sums takes 1572864 bytes");
            CHECK_CONTAINS(meta_last_error(), "at most 1048576");
            CHECK(found == 1 && more == 1 && most == 1);
        } else if (!is_refused(error, "65536 members") && CHECK_OK(error)) {
            memset(&sum, 0, sizeof sum);
            exact_add_box(&sum, x.expected, NULL, &box, META_F64);
            CHECK_U64(found, exact_round(&sum, META_F64));
            CHECK_U64(most, found);
        }
    }
    end();
}

static void a_sum_of_no_team_is_zero(void)
{
    static const meta_box empty = {2, {8, 8}, {2, 3}, {2, 5}};
    double found = 42;
    if (!case_has_f64()) return;
    if (begin(64)) {
        CHECK_OK(by_line_f64(&empty, (const void *)x.device, &found, NULL));
        CHECK(found == 0 && !signbit(found));
    }
    end();
}

/* ------------------------------------------------------------------ settings */

/* Either form keeps its code, and they take turns. */
static void the_setting_counts_at_each_call(void)
{
    const meta_box line = {1, {3}, {0}, {3}};
    const double numbers[] = {1e300, 1, -1e300};
    double found = 0;
    if (!case_has_f64()) return;
    if (begin(3)) {
        CHECK_OK(meta_copy_h2d(x.device, numbers, sizeof numbers, NULL));
        for (int turn = 0; turn < 4; ++turn) {
            CHECK_OK(meta_set_reproducible(turn % 2 == 0));
            CHECK_OK(by_line_f64(&line, (const void *)x.device, &found, NULL));
            test_case("turn %d", turn);
            if (turn % 2 == 0) CHECK(found == 1);
            else CHECK(found == 0 || found == 1); /* whatever the order */
        }
    }
    end();
}

static void teams_from_text_have_exact_sums(void)
{
    static const char text[] =
        "#include <meta_kernel.h>\n"
        "#define work_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum) A(SHARED, T, tile, 16)\n"
        "META_TEAMS(work, 16, 1, 1)\n"
        "{\n"
        "    MEMBERS { SHARED(tile, MY(0)) = ON(x); }\n"
        "    MEMBERS { ADD(sum, SHARED(tile, EXTENT(0) - 1 - MY(0))); }\n"
        "}\n"
        "#include META_AGAIN\n";
    static exact sum;
    static const meta_box line = {1, {SMALL}, {5}, {SMALL - 7}};
    meta_kernel *kernel = NULL;
    if (!case_has_f64()) return;
    if (begin(SMALL) &&
        CHECK_OK(meta_kernel_compile(&kernel, "work", META_F64, "work.kernel.h", text))) {
        CHECK_OK(meta_kernel_prepare(kernel));
        for (int64_t k = 0; k < test_count(20, 1000); ++k) {
            uint64_t found = 0;
            const void *const arguments[] = {x.device, &found};
            fill(&x, SMALL, META_F64, (int)(k % EXACT_FLAVOURS));
            memset(&sum, 0, sizeof sum);
            exact_add_box(&sum, x.expected, NULL, &line, META_F64);
            CHECK_OK(meta_kernel_run(kernel, &line, arguments, NULL));
            CHECK_U64(found, exact_round(&sum, META_F64));
        }
    }
    end();
}

/* ------------------------------------------------------------------ other lives of the library */

static void sums_in_a_life(void)
{
    if (!begin(LARGE)) return;
    for (int64_t k = 0; k < test_count(1, 40); ++k) sums_once(LARGE, 3, 1);
    for (int64_t k = 0; k < test_count(20, 600); ++k) scores_once(SMALL, 4);
    end();
}

static void threads_and_instruction_sets_do_not_matter(void)
{
    if (case_has_f64()) lives_each(sums_in_a_life);
}

TEST_DEVICE_MAIN(PROMISE(what_members_contribute_in_all_phases_is_added_exactly),
                 PROMISE(the_extents_of_teams_do_not_matter),
                 PROMISE(the_order_of_the_members_does_not_matter),
                 PROMISE(sums_of_a_team_that_is_too_large_are_refused_with_both_numbers),
                 PROMISE(a_sum_of_no_team_is_zero), PROMISE(the_setting_counts_at_each_call),
                 PROMISE(teams_from_text_have_exact_sums),
                 PROMISE(threads_and_instruction_sets_do_not_matter))
