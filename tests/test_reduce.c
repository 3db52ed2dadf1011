/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_reduce.c
 *  Reductions, dot products and axpy on boxes of arrays of any number of dimensions. */
/* TEST: backends=all auto=yes labels=kernel smoke=yes */
#include "mirror.h"
#include "sums.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 15, LARGE_BYTES = 1 << 21, MOST_IN_FLIGHT = 300 };

static const char *const op_names[] = {"sum", "min", "max"};

/* ------------------------------------------------------------------ oracles */

static sum_expected sum_of(const void *array, const meta_box *box, meta_type type)
{
    sum_expected sum = {0};
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        const int64_t at = case_box_index(box, n);
        sum_add(&sum, sum_real(array, at, type), sum_whole(array, at, type));
    }
    return sum;
}

static sum_expected dot_of(const void *a, const void *b, const meta_box *box, meta_type type)
{
    sum_expected sum = {0};
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        const int64_t at = case_box_index(box, n);
        sum_add(&sum, sum_real(a, at, type) * sum_real(b, at, type),
                sum_whole(a, at, type) * sum_whole(b, at, type));
    }
    return sum;
}

/* The extreme element, a NaN before all others; of no elements the identity. */
#define EXTREME(NAME, name, T, W)                                                                  \
    static T extreme_##name(const T *array, const meta_box *box, meta_op op, T identity)           \
    {                                                                                              \
        T best = identity;                                                                         \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const T x = array[case_box_index(box, n)];                                             \
            if (x != x) return x;                                                                  \
            if (op == META_MIN ? x < best : x > best) best = x;                                    \
        }                                                                                          \
        return best;                                                                               \
    }                                                                                              \
    static bool is_extreme_##name(const void *found, const void *array, const meta_box *box,       \
                                  meta_op op, const void *identity)                                \
    {                                                                                              \
        T value;                                                                                   \
        memcpy(&value, found, sizeof value);                                                       \
        const T best = extreme_##name((const T *)array, box, op, *(const T *)identity);            \
        /* Of equal zeros either may win; a NaN is as good as another. */                          \
        return best != best ? value != value : value == best;                                      \
    }
CASE_ARITHMETIC_TYPES(EXTREME)

static bool (*const is_extreme[])(const void *, const void *, const meta_box *, meta_op,
                                  const void *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = is_extreme_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static const void *identity_of(meta_op op, meta_type type)
{
    static const double f64[] = {0, INFINITY, -INFINITY};
    static const float f32[] = {0, INFINITY, -INFINITY};
    static const int64_t i64[] = {0, INT64_MAX, INT64_MIN};
    static const uint64_t u64[] = {0, UINT64_MAX, 0};
    static const int32_t i32[] = {0, INT32_MAX, INT32_MIN};
    static const uint32_t u32[] = {0, UINT32_MAX, 0};
    switch (type) {
    case META_F64:
        return &f64[op];
    case META_F32:
        return &f32[op];
    case META_I64:
        return &i64[op];
    case META_U64:
        return &u64[op];
    case META_I32:
        return &i32[op];
    default:
        return &u32[op];
    }
}

/* Product and sum are rounded apart: the volatile product cannot be contracted into the sum. */
#define AXPY(NAME, name, T, W)                                                                     \
    static void axpy_##name(void *y, const void *alpha, const void *x, const meta_box *box)        \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            volatile W product = (W) * (const T *)alpha * (W)((const T *)x)[at];                   \
            ((T *)y)[at] = (T)((W)((T *)y)[at] + product);                                         \
        }                                                                                          \
    }
CASE_ARITHMETIC_TYPES(AXPY)

static void (*const oracle_axpy[])(void *, const void *, const void *, const meta_box *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = axpy_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

/* ------------------------------------------------------------------ random cases */

typedef struct reduce_case {
    meta_type type;
    case_flavour flavour;
    meta_box box;
    size_t bytes, a, b; /* of an element; where the arrays begin, in bytes */
} reduce_case;

static reduce_case random_case(size_t room)
{
    reduce_case c = {.type = case_arithmetic_type()};
    CHECK_OK(meta_type_size(c.type, &c.bytes));
    c.flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    const int64_t cells = (int64_t)(room / c.bytes);
    c.box = case_box((int)test_random_in(1, META_MAX_DIM), 0, cells);
    c.a = (size_t)test_random_in(0, cells - case_box_array(&c.box)) * c.bytes;
    c.b = (size_t)test_random_in(0, cells - case_box_array(&c.box)) * c.bytes;
    return c;
}

static void describe(const char *name, const reduce_case *c)
{
    test_case("%s of %s, contents %d, first array + %zu bytes, second + %zu bytes, %s", name,
              case_type_name(c->type), (int)c->flavour, c->a, c->b, case_box_text(&c->box));
}

/* Somewhere to put a result: on the host, or within a device buffer. */
typedef struct place {
    uint64_t host;
    unsigned char *device;
    void *given; /* what to pass as result */
} place;

static bool place_pick(place *p)
{
    void *device = NULL;
    *p = (place){.host = UINT64_C(0x5a5a5a5a5a5a5a5a)};
    if (test_random_in(0, 1)) {
        if (!CHECK_OK(meta_alloc(&device, 24))) return false;
        if (!CHECK_OK(meta_fill(device, 24, &p->host, META_U8, NULL))) return false;
        p->device = device;
    }
    p->given = p->device ? p->device + 8 : (void *)&p->host;
    return true;
}

/* The result comes to p->host; around it in the device buffer nothing has changed. */
static void place_read(place *p, size_t bytes)
{
    unsigned char all[24], around[24];
    if (p->device) {
        memset(around, 0x5a, sizeof around);
        CHECK_OK(meta_copy_d2h(all, p->device, sizeof all, NULL));
        memcpy(&p->host, all + 8, 8);
        memcpy(around + 8, all + 8, bytes);
        CHECK_ARRAY(all, around, sizeof all, META_U8);
        CHECK_OK(meta_free(p->device));
    } else if (bytes == 4) {
        CHECK_U64(p->host >> 32, 0x5a5a5a5a);
    }
}

/* A NaN or an infinity somewhere makes a sum's value a matter of its own promise. */
static bool is_tame(const reduce_case *c)
{
    return !case_is_float(c->type) || c->flavour != CASE_WILD;
}

static void reduce_and_compare(mirror *a, mirror *unused)
{
    const reduce_case c = random_case(a->bytes);
    const meta_op op = (meta_op)test_random_in(0, META_OP_COUNT - 1);
    const unsigned char *array = a->expected + c.a;
    meta_event event, *done = test_random_in(0, 1) ? &event : NULL;
    place result;
    (void)unused;
    describe(op_names[op], &c);
    mirror_refill(a, c.type, c.flavour);
    if (!place_pick(&result)) return;
    CHECK_OK(meta_reduce(result.given, a->device + c.a, &c.box, op, c.type, done));
    if (done) CHECK_OK(meta_event_wait(event));
    if (done) CHECK_OK(meta_event_free(&event));
    place_read(&result, c.bytes);
    if (op != META_SUM)
        CHECK(is_extreme[c.type](&result.host, array, &c.box, op, identity_of(op, c.type)));
    else if (is_tame(&c)) {
        const sum_expected expected = sum_of(array, &c.box, c.type);
        sum_check(&result.host, &expected, c.type, "reduce");
    }
}

static void dot_and_compare(mirror *a, mirror *b)
{
    reduce_case c = random_case(a->bytes);
    meta_event event, *done = test_random_in(0, 1) ? &event : NULL;
    place result;
    if (!is_tame(&c)) c.flavour = CASE_PLAIN;
    describe("dot", &c);
    mirror_refill(a, c.type, c.flavour);
    mirror_refill(b, c.type, c.flavour);
    const sum_expected expected = dot_of(a->expected + c.a, b->expected + c.b, &c.box, c.type);
    if (!place_pick(&result)) return;
    CHECK_OK(meta_dot(result.given, a->device + c.a, b->device + c.b, &c.box, c.type, done));
    if (done) CHECK_OK(meta_event_wait(event));
    if (done) CHECK_OK(meta_event_free(&event));
    place_read(&result, c.bytes);
    sum_check(&result.host, &expected, c.type, "dot");
}

static void axpy_and_compare(mirror *y, mirror *x)
{
    reduce_case c = random_case(y->bytes);
    uint64_t alpha = 0;
    case_ending ending;
    const bool same = test_random_in(0, 4) == 0;
    describe(same ? "axpy with x = y" : "axpy", &c);
    mirror_refill(y, c.type, c.flavour);
    mirror_refill(x, c.type, c.flavour);
    case_fill(&alpha, 1, c.type, test_random_in(0, 3) ? CASE_PLAIN : c.flavour);
    if (same) oracle_axpy[c.type](y->expected + c.a, &alpha, y->expected + c.a, &c.box);
    else oracle_axpy[c.type](y->expected + c.a, &alpha, x->expected + c.b, &c.box);
    case_ending_pick(&ending);
    CHECK_OK(meta_axpy(y->device + c.a, &alpha, same ? y->device + c.a : x->device + c.b, &c.box,
                       c.type, ending.done));
    alpha = 0; /* it has been read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(y, c.type, "y");
}

static void many(void (*one)(mirror *, mirror *), size_t room, int64_t few, int64_t most)
{
    mirror a = {0}, b = {0};
    if (mirror_new(&a, room) && mirror_new(&b, room))
        TEST_CASES (k, few, most) one(&a, &b);
    mirror_free(&a);
    mirror_free(&b);
}

static void reductions_take_every_cell_of_the_box_and_no_other(void)
{
    many(reduce_and_compare, SMALL_BYTES, 4000, 400000);
}

static void reductions_of_large_boxes_are_right(void)
{
    many(reduce_and_compare, LARGE_BYTES, 40, 4000);
}

static void dot_takes_every_pair_of_cells_of_the_box(void)
{
    many(dot_and_compare, SMALL_BYTES, 1500, 150000);
    many(dot_and_compare, LARGE_BYTES, 15, 1500);
}

static void axpy_has_the_bits_of_the_formula_and_touches_no_other_cell(void)
{
    many(axpy_and_compare, SMALL_BYTES, 1500, 150000);
    many(axpy_and_compare, LARGE_BYTES, 15, 1500);
}

/* ------------------------------------------------------------------ floats of every kind */

/* An array of ones on the device, whose element `at` is `special`. */
static bool one_special(void *device, int64_t count, int64_t at, meta_type type, double special)
{
    const double one = 1;
    const float one_f32 = 1, special_f32 = (float)special;
    const void *value = type == META_F64 ? (const void *)&special : (const void *)&special_f32;
    size_t bytes = 1;
    return CHECK_OK(meta_type_size(type, &bytes)) &&
           CHECK_OK(meta_fill(device, count, type == META_F64 ? (const void *)&one : &one_f32, type,
                              META_ASYNC)) &&
           CHECK_OK(meta_fill((char *)device + at * (int64_t)bytes, 1, value, type, NULL));
}

static double reduced(const void *device, int64_t count, meta_op op, meta_type type)
{
    const meta_box line = {1, {count}, {0}, {count}};
    double f64 = 0;
    float f32 = 0;
    CHECK_OK(
        meta_reduce(type == META_F64 ? (void *)&f64 : (void *)&f32, device, &line, op, type, NULL));
    return type == META_F64 ? f64 : (double)f32;
}

static void special_anywhere(void (*check)(const void *device, int64_t count, meta_type type),
                             double special)
{
    const int64_t counts[] = {1, 2, 3, 17, 1000, 40000};
    void *device = NULL;
    if (!CHECK_OK(meta_alloc(&device, 40000 * 8))) return;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k)
        for (int type = META_F64; type <= META_F32; ++type)
            for (int64_t n = 0; n < test_count(12, 100); ++n) {
                const int64_t at = n == 0   ? 0
                                   : n == 1 ? counts[k] - 1
                                            : test_random_in(0, counts[k] - 1);
                if (type == META_F64 && !case_has_f64()) continue;
                test_case("element %" PRId64 " of %" PRId64 " of %s", at, counts[k],
                          case_type_name((meta_type)type));
                if (one_special(device, counts[k], at, (meta_type)type, special))
                    check(device, counts[k], (meta_type)type);
            }
    CHECK_OK(meta_free(device));
}

static void nan_wins(const void *device, int64_t count, meta_type type)
{
    for (int op = 0; op < META_OP_COUNT; ++op)
        CHECK(isnan(reduced(device, count, (meta_op)op, type)));
}

static void a_nan_anywhere_makes_every_reduction_nan(void)
{
    special_anywhere(nan_wins, NAN);
}

static void highest(const void *device, int64_t count, meta_type type)
{
    CHECK(reduced(device, count, META_SUM, type) == INFINITY);
    CHECK(reduced(device, count, META_MAX, type) == INFINITY);
    CHECK(reduced(device, count, META_MIN, type) == (count == 1 ? INFINITY : 1));
}

static void lowest(const void *device, int64_t count, meta_type type)
{
    CHECK(reduced(device, count, META_SUM, type) == -INFINITY);
    CHECK(reduced(device, count, META_MAX, type) == (count == 1 ? -INFINITY : 1));
    CHECK(reduced(device, count, META_MIN, type) == -INFINITY);
}

static void infinities_are_the_ends_of_the_order(void)
{
    special_anywhere(highest, INFINITY);
    special_anywhere(lowest, -INFINITY);
}

static void least_is_tiny(const void *device, int64_t count, meta_type type)
{
    const double tiny = (double)FLT_TRUE_MIN;
    CHECK(reduced(device, count, META_MIN, type) == tiny);
}

static void a_denormal_is_greater_than_zero(void)
{
    special_anywhere(least_is_tiny, (double)FLT_TRUE_MIN);
}

static void zeros_of_both_signs_are_equal(void)
{
    const float zeros[] = {0.0f, -0.0f, 0.0f, -0.0f};
    void *device = NULL;
    if (!CHECK_OK(meta_alloc(&device, sizeof zeros))) return;
    CHECK_OK(meta_copy_h2d(device, zeros, sizeof zeros, NULL));
    for (int op = 0; op < META_OP_COUNT; ++op)
        CHECK(reduced(device, 4, (meta_op)op, META_F32) == 0);
    CHECK_OK(meta_free(device));
}

/* Numbers near 1 among pairs of ±2^24, in random order: a float's sum forgets the small ones. */
static void f32_sums_are_accumulated_in_double(void)
{
    enum { COUNT = 60000 };
    static float numbers[COUNT];
    void *device = NULL;
    const meta_box line = {1, {COUNT}, {0}, {COUNT}};
    long double expected = 0;
    float found = 0;
    if (!case_has_f64()) return;
    if (!CHECK_OK(meta_alloc(&device, sizeof numbers))) return;
    for (int k = 0; k < COUNT; ++k) {
        numbers[k] = k % 2 ? (float)(1 + test_random_real()) : k % 4 ? 0x1p24f : -0x1p24f;
        if (k % 2) expected += (long double)numbers[k];
    }
    for (int k = COUNT - 1; k > 0; --k) {
        const int64_t other = test_random_in(0, k);
        const float number = numbers[k];
        numbers[k] = numbers[other], numbers[other] = number;
    }
    CHECK_OK(meta_copy_h2d(device, numbers, sizeof numbers, NULL));
    CHECK_OK(meta_reduce(&found, device, &line, META_SUM, META_F32, NULL));
    CHECK_NEAR((double)found, (double)expected, 1e-7);
    CHECK_OK(meta_free(device));
}

/* The squares of 2^12 + 1 need 26 bits, more than a float has. */
static void f32_products_are_accumulated_in_double(void)
{
    const float a[] = {4097, 4096, 1}, b[] = {4097, -4096, -8192};
    const meta_box line = {1, {3}, {0}, {3}};
    void *x = NULL, *y = NULL;
    float found = 0;
    if (!case_has_f64()) return;
    if (!CHECK_OK(meta_alloc(&x, sizeof a)) || !CHECK_OK(meta_alloc(&y, sizeof b))) return;
    CHECK_OK(meta_copy_h2d(x, a, sizeof a, NULL));
    CHECK_OK(meta_copy_h2d(y, b, sizeof b, NULL));
    CHECK_OK(meta_dot(&found, x, y, &line, META_F32, NULL));
    CHECK(found == 1);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

/* ------------------------------------------------------------------ nothing, and many */

static void an_empty_box_gives_the_identity_on_host_and_device(void)
{
    void *device = NULL;
    if (!CHECK_OK(meta_alloc(&device, 64))) return;
    for (int n = 0; n < 2 * CASE_FIRST_SMALL * (META_OP_COUNT + 1); ++n) {
        const meta_type type = (meta_type)(n / 2 % CASE_FIRST_SMALL);
        const int which = n / 2 / CASE_FIRST_SMALL; /* the last one is dot */
        const meta_op op = which < META_OP_COUNT ? (meta_op)which : META_SUM;
        const meta_box empty = {3, {2, 2, 2}, {0, 1, 0}, {2, 1, 2}};
        uint64_t found = 0x5a5a5a5a5a5a5a5a;
        void *result = n % 2 ? (void *)((char *)device + 32) : (void *)&found;
        size_t bytes = 1;
        test_case("%s of %s, result on the %s", which < META_OP_COUNT ? op_names[op] : "dot",
                  case_type_name(type), n % 2 ? "device" : "host");
        CHECK_OK(meta_type_size(type, &bytes));
        if (which < META_OP_COUNT) CHECK_OK(meta_reduce(result, device, &empty, op, type, NULL));
        else CHECK_OK(meta_dot(result, device, device, &empty, type, NULL));
        if (n % 2) CHECK_OK(meta_copy_d2h(&found, result, bytes, NULL));
        CHECK_ARRAY(&found, identity_of(op, type), 1, type);
    }
    CHECK_OK(meta_free(device));
}

/* Reductions and the fills between them, all queued before one is waited for: each sees the array
 * as it was at its turn. */
static void many_reductions_are_in_flight_and_each_in_its_turn(void)
{
    enum { COUNT = 5000 };
    static int64_t on_host[MOST_IN_FLIGHT], read_back[MOST_IN_FLIGHT];
    static meta_event events[MOST_IN_FLIGHT];
    const int64_t in_flight = test_count(MOST_IN_FLIGHT, MOST_IN_FLIGHT);
    const meta_box line = {1, {COUNT}, {0}, {COUNT}};
    void *array = NULL, *results = NULL;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof(int64_t))) ||
        !CHECK_OK(meta_alloc(&results, sizeof read_back)))
        return;
    for (int64_t k = 0; k < in_flight; ++k) {
        void *result = k % 2 ? (int64_t *)results + k : (void *)&on_host[k];
        CHECK_OK(meta_fill(array, COUNT, &k, META_I64, META_ASYNC));
        CHECK_OK(meta_reduce(result, array, &line, META_SUM, META_I64, &events[k]));
    }
    CHECK_OK(meta_event_waitall((size_t)in_flight, events));
    CHECK_OK(meta_copy_d2h(read_back, results, sizeof read_back, NULL));
    for (int64_t k = 0; k < in_flight; ++k) {
        test_case("number %" PRId64, k);
        CHECK_INT(k % 2 ? read_back[k] : on_host[k], k * COUNT);
        CHECK_OK(meta_event_free(&events[k]));
    }
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_free(results));
}

static void untracked_reductions_are_complete_after_flush(void)
{
    enum { COUNT = 1000 };
    static uint32_t sums[MOST_IN_FLIGHT];
    const uint32_t in_flight = (uint32_t)test_count(MOST_IN_FLIGHT, MOST_IN_FLIGHT);
    const meta_box line = {1, {COUNT}, {0}, {COUNT}};
    void *array = NULL;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof(uint32_t)))) return;
    for (uint32_t k = 0; k < in_flight; ++k) {
        CHECK_OK(meta_fill(array, COUNT, &k, META_U32, META_ASYNC));
        CHECK_OK(meta_reduce(&sums[k], array, &line, META_SUM, META_U32, META_ASYNC));
    }
    CHECK_OK(meta_flush());
    for (uint32_t k = 0; k < in_flight; ++k) CHECK_U64(sums[k], k * COUNT);
    CHECK_OK(meta_free(array));
}

/* Of an array on the host one element is a result that is not there yet. A copy from the element
 * finds the result there, and a copy to it is the later write. */
static void a_pending_result_is_in_its_place_before_a_copy_uses_it(void)
{
    enum { COUNT = 3000, PLACES = 4, AT = 2 };
    const meta_box line = {1, {COUNT}, {0}, {COUNT}};
    const int64_t three = 3;
    void *array = NULL, *copy = NULL;
    if (!CHECK_OK(meta_alloc(&array, COUNT * sizeof three)) ||
        !CHECK_OK(meta_alloc(&copy, PLACES * sizeof(int64_t))))
        return;
    CHECK_OK(meta_fill(array, COUNT, &three, META_I64, NULL));
    for (int from = 0; from < PLACES; ++from)
        for (int to = from + 1; to <= PLACES; ++to) {
            const size_t bytes = (size_t)(to - from) * sizeof(int64_t);
            int64_t host[PLACES] = {10, 11, 12, 13}, found[PLACES] = {0};
            test_case("places %d to %d of %d, of which %d is a result's", from, to, PLACES, AT);
            CHECK_OK(meta_reduce(&host[AT], array, &line, META_SUM, META_I64, META_ASYNC));
            CHECK_OK(meta_copy_h2d(copy, host + from, bytes, META_ASYNC));
            CHECK_OK(meta_copy_d2h(found + from, copy, bytes, NULL));
            for (int k = from; k < to; ++k) CHECK_INT(found[k], k == AT ? 3 * COUNT : 10 + k);
            CHECK_OK(meta_reduce(&host[AT], array, &line, META_MAX, META_I64, META_ASYNC));
            CHECK_OK(meta_copy_d2h(host + from, copy, bytes, META_ASYNC));
            CHECK_OK(meta_flush());
            CHECK_INT(host[AT], from <= AT && AT < to ? 3 * COUNT : 3);
        }
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_free(copy));
}

TEST_DEVICE_MAIN(PROMISE(reductions_take_every_cell_of_the_box_and_no_other),
                 PROMISE(reductions_of_large_boxes_are_right),
                 PROMISE(dot_takes_every_pair_of_cells_of_the_box),
                 PROMISE(axpy_has_the_bits_of_the_formula_and_touches_no_other_cell),
                 PROMISE(a_nan_anywhere_makes_every_reduction_nan),
                 PROMISE(infinities_are_the_ends_of_the_order),
                 PROMISE(a_denormal_is_greater_than_zero), PROMISE(zeros_of_both_signs_are_equal),
                 PROMISE(f32_sums_are_accumulated_in_double),
                 PROMISE(f32_products_are_accumulated_in_double),
                 PROMISE(an_empty_box_gives_the_identity_on_host_and_device),
                 PROMISE(many_reductions_are_in_flight_and_each_in_its_turn),
                 PROMISE(untracked_reductions_are_complete_after_flush),
                 PROMISE(a_pending_result_is_in_its_place_before_a_copy_uses_it))
