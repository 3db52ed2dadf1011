/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_exact.c
 *  Reproducible sums of the program's own kernels: the exact sum of what the cells contribute,
 * rounded once, whatever the numbers, the box, the number of threads and the instruction set. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_exact.kernel.h"

#include "user_exact_many.kernel.h"

#include "exact_sums.h"
#include "lives.h"
#include "mirror.h"
#include "places.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 12, LARGE = 250000 };

/* ------------------------------------------------------------------ arrays */

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

/* ------------------------------------------------------------------ several sums, other results */

/* The oracle: loops that add bit by bit. */
typedef struct tallies {
    exact total, products, some, narrow;
    uint64_t above;
    int32_t first;
} tallies;

static void tally_serially(const meta_box *box, meta_type type, double limit, tallies *t)
{
    memset(t, 0, sizeof *t);
    t->first = INT32_MAX;
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        const int64_t at = case_box_index(box, n), extent = box->end[0] - box->start[0];
        const int64_t rows = box->ndim > 1 ? box->end[1] - box->start[1] : 1;
        const int64_t row = box->ndim > 1 ? box->start[1] + n / extent % rows : 0;
        const int32_t place = (int32_t)(box->start[0] + n % extent + row);
        const double a = exact_at(x.expected, at, type), b = exact_at(y.expected, at, type);
        const volatile double product = a * b;
        exact_add(&t->total, a);
        exact_add(&t->products, product);
        exact_add(&t->narrow, b);
        memcpy(copy.expected + (size_t)at * bytes_of(type),
               x.expected + (size_t)at * bytes_of(type), bytes_of(type));
        if (!(a > limit)) continue;
        ++t->above;
        exact_add(&t->some, b);
        if (place < t->first) t->first = place;
    }
}

static meta_err run_tally(const meta_box *box, meta_type type, double limit, void *const *to,
                          meta_event *done)
{
    void *const in[] = {x.device, y.device};
    if (type == META_F64)
        return tally_f64(box, (double *)copy.device, in[0], in[1], limit, to[0], to[1], to[2],
                         to[3], to[4], to[5], to[6], done);
    return tally_f32(box, (void *)copy.device, in[0], in[1], (float)limit, to[0], to[1], to[2],
                     to[3], to[4], to[5], to[6], done);
}

static void tally_once(int64_t cells, int dimensions)
{
    static tallies expected;
    const meta_type type = test_random_in(0, 1) ? META_F64 : META_F32;
    const size_t bytes = bytes_of(type);
    const int flavour = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const int other = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    const double limit = test_random_in(0, 3) ? 0.25 : 1e30;
    const size_t widths[] = {bytes, bytes, 8, 8, bytes, 4, 4};
    case_ending ending;
    places p;
    test_case("%s, contents %d and %d, above %g, %s", case_type_name(type), flavour, other, limit,
              case_box_text(&box));
    fill(&x, cells, type, flavour);
    fill(&y, cells, type, other);
    tally_serially(&box, type, type == META_F64 ? limit : (double)(float)limit, &expected);
    if (!places_pick(&p, 7)) return;
    case_ending_pick(&ending);
    CHECK_OK(run_tally(&box, type, limit, p.given, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    CHECK_OK(meta_flush());
    places_read(&p, widths);
    CHECK_U64(places_bits(&p, 1, bytes), exact_round(&expected.total, type));
    CHECK_U64(places_bits(&p, 2, 8), expected.above);
    CHECK_U64(places_bits(&p, 3, 8), exact_round(&expected.products, META_F64));
    CHECK_U64(places_bits(&p, 4, bytes), exact_round(&expected.some, type));
    CHECK_U64(places_bits(&p, 5, 4), (uint32_t)expected.first);
    CHECK_U64(places_bits(&p, 6, 4), exact_round(&expected.narrow, META_F32));
    mirror_holds(&copy, META_U8, "copy");
}

static void several_sums_beside_other_results_are_each_exact(void)
{
    if (!case_has_f64()) return;
    if (begin(LARGE)) {
        for (int64_t k = 0; k < test_count(300, 20000); ++k) tally_once(SMALL, META_MAX_DIM);
        for (int64_t k = 0; k < test_count(12, 800); ++k) tally_once(LARGE, 3);
    }
    end();
}

/* ------------------------------------------------------------------ one sum */

static meta_err run_total(const meta_box *box, meta_type type, void *to, meta_event *done)
{
    return type == META_F64 ? total_f64(box, (const double *)(const void *)x.device, to, done)
                            : total_f32(box, (const float *)(const void *)x.device, to, done);
}

static void total_once(int64_t cells, int dimensions)
{
    static exact sum;
    const meta_type type = test_random_in(0, 1) ? META_F64 : META_F32;
    const int flavour = (int)test_random_in(0, EXACT_FLAVOURS - 1);
    const meta_box box = case_box((int)test_random_in(1, dimensions), 0, cells);
    uint64_t found = 0;
    test_case("sum of %s, contents %d, %s", case_type_name(type), flavour, case_box_text(&box));
    fill(&x, cells, type, flavour);
    memset(&sum, 0, sizeof sum);
    exact_add_box(&sum, x.expected, NULL, &box, type);
    CHECK_OK(run_total(&box, type, &found, NULL));
    CHECK_U64(found, exact_round(&sum, type));
}

/* The same numbers in lines, planes and blocks, and in strange orders. */
static void the_order_of_the_cells_does_not_matter(void)
{
    const meta_box boxes[] = {{1, {SMALL}, {0}, {SMALL}},
                              {2, {4, SMALL / 4}, {0, 0}, {4, SMALL / 4}},
                              {3, {64, 2, SMALL / 128}, {0, 0, 0}, {64, 2, SMALL / 128}}};
    if (!case_has_f64()) return;
    if (begin(SMALL))
        for (int64_t k = 0; k < test_count(60, 6000); ++k) {
            const meta_type type = k % 2 ? META_F64 : META_F32;
            const size_t bytes = bytes_of(type);
            uint64_t expected = 0;
            exact_fill(x.expected, SMALL, type, (int)(k / 2 % EXACT_FLAVOURS));
            for (int turn = 0; turn < 4; ++turn) {
                uint64_t found = 0;
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
                CHECK_OK(run_total(&boxes[turn % 3], type, &found, NULL));
                if (turn == 0) expected = found;
                CHECK_U64(found, expected);
            }
        }
    end();
}

/* A cell's own contributions are added in the order of the body, in double; the cells' exactly. */
static void a_cell_may_contribute_several_times(void)
{
    static exact sum;
    const int low[4] = {1}, high[4] = {1};
    if (!case_has_f64()) return;
    if (begin(SMALL))
        for (int64_t k = 0; k < test_count(200, 10000); ++k) {
            const meta_type type = k % 2 ? META_F64 : META_F32;
            const meta_box box = case_box_within((int)test_random_in(1, 4), low, high, SMALL);
            const int64_t extent = box.end[0] - box.start[0];
            uint64_t found = 0;
            test_case("several of %s, %s", case_type_name(type), case_box_text(&box));
            fill(&x, SMALL, type, (int)test_random_in(0, EXACT_FLAVOURS - 1));
            memset(&sum, 0, sizeof sum);
            for (int64_t n = 0; n < case_box_cells(&box); ++n) {
                const int64_t at = case_box_index(&box, n);
                volatile double cell = 0;
                cell += exact_at(x.expected, at - 1, type);
                if ((box.start[0] + n % extent) % 3 == 0) {
                    cell += exact_at(x.expected, at, type);
                    cell += 7;
                }
                cell += -exact_at(x.expected, at + 1, type);
                exact_add(&sum, cell);
            }
            if (type == META_F64)
                CHECK_OK(several_f64(&box, (const void *)x.device, (void *)&found, NULL));
            else CHECK_OK(several_f32(&box, (const void *)x.device, (void *)&found, NULL));
            CHECK_U64(found, exact_round(&sum, type));
        }
    end();
}

static void a_kernel_may_have_many_sums(void)
{
    enum { SUMS = 24 };
    static exact sums[SUMS];
    static const meta_box box = {3, {50, 20, 40}, {3, 0, 1}, {47, 20, 40}};
    if (!case_has_f64()) return;
    if (begin(50 * 20 * 40))
        for (int64_t k = 0; k < test_count(8, 200); ++k) {
            const meta_type type = k % 2 ? META_F64 : META_F32;
            uint64_t found[SUMS + 1] = {0};
            const void *arguments[2 + SUMS] = {x.device};
            meta_kernel *kernel = NULL;
            fill(&x, 50 * 20 * 40, type, k / 2 % 2 ? 1 : 3);
            memset(sums, 0, sizeof sums);
            for (int64_t n = 0; n < case_box_cells(&box); ++n)
                for (int s = 0; s < SUMS; ++s) {
                    const double cell = exact_at(x.expected, case_box_index(&box, n), type);
                    const volatile double wide = cell * (s + 1);
                    const volatile float narrow = (float)cell * (float)(s + 1);
                    exact_add(&sums[s], type == META_F64 ? wide : (double)narrow);
                }
            for (int s = 0; s <= SUMS; ++s) arguments[1 + s] = &found[s];
            if (CHECK_OK(meta_kernel_find("exact_many", type, &kernel)))
                CHECK_OK(meta_kernel_run(kernel, &box, arguments, NULL));
            for (int s = 0; s < SUMS; ++s) {
                test_case("sum %d of %s", s, case_type_name(type));
                CHECK_U64(found[s], exact_round(&sums[s], type));
            }
        }
    end();
}

/* ------------------------------------------------------------------ limits */

static uint64_t total_of(const double *numbers, int64_t count)
{
    const meta_box line = {1, {count}, {0}, {count}};
    uint64_t found[7] = {0};
    void *to[7];
    for (int k = 0; k < 7; ++k) to[k] = &found[k];
    for (int64_t k = 0; k < count; ++k) ((double *)(void *)y.expected)[k] = numbers[k];
    CHECK_OK(meta_copy_h2d(x.device, numbers, (size_t)count * sizeof *numbers, NULL));
    CHECK_OK(meta_copy_h2d(y.device, numbers, (size_t)count * sizeof *numbers, NULL));
    CHECK_OK(run_tally(&line, META_F64, 0, to, NULL));
    return found[6];
}

/* A float receives a sum of doubles. */
static void a_float_receives_what_doubles_add_up_to(void)
{
    const double beyond[] = {1e300, -1e300, 0.75}, too_much[] = {1e300, 1e300},
                 tiny[] = {-1e-60, -1e-70}, tie[] = {1, 0x1p-24, 0x1p-200};
    if (!case_has_f64()) return;
    if (begin(16)) {
        CHECK_U64(total_of(beyond, 3), 0x3f400000);
        CHECK_U64(total_of(too_much, 2), 0x7f800000);
        CHECK_U64(total_of(tiny, 2), 0); /* and not -0 */
        CHECK_U64(total_of(tie, 2), 0x3f800000);
        CHECK_U64(total_of(tie, 3), 0x3f800001);
    }
    end();
}

static void a_sum_of_nothing_is_zero(void)
{
    static const meta_box empty = {2, {8, 8}, {2, 3}, {2, 5}};
    double found = 42;
    if (!case_has_f64()) return;
    if (begin(64)) {
        CHECK_OK(run_total(&empty, META_F64, &found, NULL));
        CHECK(found == 0 && !signbit(found));
    }
    end();
}

/* ------------------------------------------------------------------ in flight */

/* Sums, their places on the host and on the device, and what they add, which changes in between;
 * now and then sums are not to be reproducible. */
static void many_sums_are_in_flight_and_each_in_its_turn(void)
{
    enum { COUNT = 5000, IN_FLIGHT = 200 };
    static double on_host[IN_FLIGHT], read_back[IN_FLIGHT];
    static meta_event events[IN_FLIGHT];
    const meta_box line = {1, {COUNT}, {1}, {COUNT - 1}};
    void *results = NULL;
    if (!case_has_f64()) return;
    if (!begin(COUNT) || !CHECK_OK(meta_alloc(&results, sizeof read_back))) return;
    for (int64_t k = 0; k < IN_FLIGHT; ++k) {
        void *result = k % 2 ? (double *)results + k : &on_host[k];
        const double value = 0.1 * (double)k;
        CHECK_OK(meta_set_reproducible(k % 7 != 3));
        CHECK_OK(meta_fill(x.device, COUNT, &value, META_F64, META_ASYNC));
        CHECK_OK(run_total(&line, META_F64, result, k % 3 ? &events[k] : META_ASYNC));
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(read_back, results, sizeof read_back, NULL));
    for (int64_t k = 0; k < IN_FLIGHT; ++k) {
        static exact sum;
        const double found = k % 2 ? read_back[k] : on_host[k];
        uint64_t bits;
        memset(&sum, 0, sizeof sum);
        for (int n = 0; n < COUNT - 2; ++n) exact_add(&sum, 0.1 * (double)k);
        memcpy(&bits, &found, sizeof bits);
        test_case("number %" PRId64, k);
        if (k % 7 == 3) CHECK_NEAR(found, 0.1 * (double)(k * (COUNT - 2)), 1e-6);
        else CHECK_U64(bits, exact_round(&sum, META_F64));
        if (k % 3) CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_free(results));
    end();
}

/* ------------------------------------------------------------------ text at run time */

static void kernels_from_text_have_exact_sums(void)
{
    static const char text[] = "#include <meta_kernel.h>\n"
                               "#define energy_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)\n"
                               "META_CELLS(energy)\n"
                               "{\n"
                               "    ADD(sum, ON(x) * ON(x));\n"
                               "}\n"
                               "#include META_AGAIN\n";
    static exact sum;
    static const meta_box line = {1, {SMALL}, {5}, {SMALL - 7}};
    meta_kernel *kernel = NULL;
    if (!case_has_f64()) return;
    if (begin(SMALL) &&
        CHECK_OK(meta_kernel_compile(&kernel, "energy", META_F64, "energy.kernel.h", text))) {
        CHECK_OK(meta_kernel_prepare(kernel));
        for (int64_t k = 0; k < test_count(20, 1000); ++k) {
            uint64_t found = 0;
            const void *const arguments[] = {x.device, &found};
            fill(&x, SMALL, META_F64, (int)(k % EXACT_FLAVOURS));
            memset(&sum, 0, sizeof sum);
            exact_add_box(&sum, x.expected, x.expected, &line, META_F64);
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
    for (int64_t k = 0; k < test_count(2, 60); ++k) total_once(LARGE, 3);
    for (int64_t k = 0; k < test_count(30, 1000); ++k) total_once(SMALL, 4);
    for (int64_t k = 0; k < test_count(10, 300); ++k) tally_once(SMALL, 4);
    end();
}

static void threads_and_instruction_sets_do_not_matter(void)
{
    if (case_has_f64()) lives_each(sums_in_a_life);
}

TEST_DEVICE_MAIN(PROMISE(several_sums_beside_other_results_are_each_exact),
                 PROMISE(the_order_of_the_cells_does_not_matter),
                 PROMISE(a_cell_may_contribute_several_times), PROMISE(a_kernel_may_have_many_sums),
                 PROMISE(a_float_receives_what_doubles_add_up_to),
                 PROMISE(a_sum_of_nothing_is_zero),
                 PROMISE(many_sums_are_in_flight_and_each_in_its_turn),
                 PROMISE(kernels_from_text_have_exact_sums),
                 PROMISE(threads_and_instruction_sets_do_not_matter))
