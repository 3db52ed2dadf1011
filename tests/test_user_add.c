/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_add.c
 *  Kernels of the program's own whose cells add to the same elements, that read numbers where they
 *  lie on the device, and that write anywhere: what a serial loop leaves, and no other element
 *  touched. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_add.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <string.h>

enum { SMALL = 1 << 13, LARGE = 1 << 17, ARRAYS = 4, TYPES = CASE_FIRST_SMALL };

static mirror buffers[ARRAYS];

static bool make_buffers(int64_t cells)
{
    for (int k = 0; k < ARRAYS; ++k)
        if (!mirror_new(&buffers[k], (size_t)cells * 8)) return false;
    return true;
}

static void free_buffers(void)
{
    for (int k = 0; k < ARRAYS; ++k) mirror_free(&buffers[k]);
}

/* ------------------------------------------------------------------ for each type */

/* A kernel's arguments: arrays, the same for the oracle, and what is not an array. */
typedef struct arguments {
    const meta_box *box;
    void *on[ARRAYS];
    const void *other[ARRAYS];
} arguments;
typedef void oracle(const arguments *a);
typedef meta_err runner(const arguments *a, meta_event *done);

/* Integers wrap in the oracles; a product is volatile, so that no sum contracts with it. */
#define OF_TYPE(NAME, name, T, W)                                                                  \
    static T times_##name(T a, T b)                                                                \
    {                                                                                              \
        const volatile T product = (T)((W)a * (W)b);                                               \
        return product;                                                                            \
    }                                                                                              \
    static void add_##name(T *to, T x)                                                             \
    {                                                                                              \
        *to = (T)((W)*to + (W)x);                                                                  \
    }                                                                                              \
    static void small_##name(void *array, size_t count)                                            \
    {                                                                                              \
        for (size_t k = 0; k < count; ++k) ((T *)array)[k] = (T)test_random_in(0, 20);             \
    }                                                                                              \
    static void oracle_deposit_##name(const arguments *a)                                          \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(a->box); ++n)                                       \
            for (int k = 0; k < 27; ++k) {                                                         \
                const int64_t at = case_box_index(a->box, n);                                      \
                T *to = (T *)a->on[0] + at;                                                        \
                add_##name(&to[case_box_away(a->box, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1, 0)],     \
                           times_##name((T)(k + 1), ((const T *)a->on[1])[at]));                   \
            }                                                                                      \
    }                                                                                              \
    static meta_err run_deposit_##name(const arguments *a, meta_event *done)                       \
    {                                                                                              \
        return deposit_##name(a->box, a->on[0], a->on[1], done);                                   \
    }                                                                                              \
    static void oracle_accumulate_##name(const arguments *a)                                       \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(a->box); ++n) {                                     \
            const int64_t at = case_box_index(a->box, n);                                          \
            add_##name((T *)a->on[0] + at,                                                         \
                       times_##name(*(const T *)a->on[2], ((const T *)a->on[1])[at]));             \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_accumulate_##name(const arguments *a, meta_event *done)                    \
    {                                                                                              \
        return accumulate_##name(a->box, a->on[2], a->on[0], a->on[1], done);                      \
    }                                                                                              \
    static void oracle_aside_##name(const arguments *a)                                            \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(a->box); ++n) {                                     \
            const int64_t at = case_box_index(a->box, n);                                          \
            T *to = (T *)a->on[0] + at;                                                            \
            const T *x = (const T *)a->on[1] + at;                                                 \
            add_##name(&to[case_box_away(a->box, -2, 1, -1, 0)], *x);                              \
            add_##name(to, x[case_box_away(a->box, 1, 0, 0, 0)]);                                  \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_aside_##name(const arguments *a, meta_event *done)                         \
    {                                                                                              \
        return aside_##name(a->box, a->on[1], a->on[0], done);                                     \
    }                                                                                              \
    static T total_##name;                                                                         \
    static void oracle_count_##name(const arguments *a)                                            \
    {                                                                                              \
        total_##name = 0;                                                                          \
        for (int64_t n = 0; n < case_box_cells(a->box); ++n) {                                     \
            const int64_t at = case_box_index(a->box, n);                                          \
            const int32_t bin = ((const int32_t *)a->on[1])[at];                                   \
            ++((uint32_t *)a->on[0])[bin];                                                         \
            add_##name((T *)a->on[2] + bin + 1, ((const T *)a->on[3])[at]);                        \
            add_##name(&total_##name, ((const T *)a->on[3])[at]);                                  \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_count_##name(const arguments *a, meta_event *done)                         \
    {                                                                                              \
        int32_t most = -1;                                                                         \
        T total = 77;                                                                              \
        const meta_err error =                                                                     \
            count_##name(a->box, a->on[0], a->on[1], a->on[2], a->on[3], &total, &most, NULL);     \
        (void)done;                                                                                \
        CHECK(memcmp(&total, &total_##name, sizeof total) == 0);                                   \
        CHECK(most == *(const int32_t *)a->other[0]);                                              \
        return error;                                                                              \
    }                                                                                              \
    static void oracle_scan_##name(const arguments *a)                                             \
    {                                                                                              \
        const int64_t length = *(const int64_t *)a->other[0];                                      \
        T *data = a->on[0];                                                                        \
        for (int64_t cell = a->box->start[0]; cell < a->box->end[0]; ++cell)                       \
            for (int64_t k = 1; k < length; ++k)                                                   \
                add_##name(&data[cell * length + k], data[cell * length + k - 1]);                 \
    }                                                                                              \
    static meta_err run_scan_##name(const arguments *a, meta_event *done)                          \
    {                                                                                              \
        T highest;                                                                                 \
        (void)done;                                                                                \
        return scan_##name(a->box, a->on[0], *(const int64_t *)a->other[0], &highest, NULL);       \
    }                                                                                              \
    static void oracle_scatter_##name(const arguments *a)                                          \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(a->box); ++n) {                                     \
            const int64_t at = case_box_index(a->box, n);                                          \
            T *to = (T *)a->on[0] + ((const int32_t *)a->on[2])[at];                               \
            *to = (T)((W)((const T *)a->on[1])[at] - (W)*to);                                      \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_scatter_##name(const arguments *a, meta_event *done)                       \
    {                                                                                              \
        return scatter_##name(a->box, a->on[1], a->on[0], a->on[2], done);                         \
    }
CASE_ARITHMETIC_TYPES(OF_TYPE)

typedef struct subject {
    const char *name;
    int low[4], high[4];
    oracle *oracle[TYPES];
    runner *run[TYPES];
} subject;
#define OF(kernel)                                                                                 \
    {                                                                                              \
        kernel##_f64, kernel##_f32, kernel##_i64, kernel##_u64, kernel##_i32, kernel##_u32         \
    }
#define SUBJECT(kernel, ...)                                                                       \
    {                                                                                              \
#kernel, __VA_ARGS__, OF(oracle_##kernel), OF(run_##kernel)                                \
    }
static const subject deposit = SUBJECT(deposit, {1, 1, 1, 1}, {1, 1, 1, 1});
static const subject accumulate = SUBJECT(accumulate, {0}, {0});
static const subject aside = SUBJECT(aside, {2, 1, 1, 1}, {1, 1, 1, 1});
static const subject count = SUBJECT(count, {0}, {0});
static const subject scan = SUBJECT(scan, {0}, {0});
static const subject scatter = SUBJECT(scatter, {0}, {0});
static void (*const fill_small[])(void *, size_t) = OF(small);

static size_t bytes_of(meta_type type)
{
    size_t bytes = 1;
    CHECK_OK(meta_type_size(type, &bytes));
    return bytes;
}

/* Small whole numbers, of which sums are exact in any order. */
static void refill_small(mirror *m, meta_type type)
{
    fill_small[type](m->expected, m->bytes / bytes_of(type));
    CHECK_OK(meta_copy_h2d(m->device, m->expected, m->bytes, NULL));
}

/* Run the oracle on the expected contents and the kernel on the device's; compare @p arrays. */
static void compare_arrays(const subject *s, meta_type type, const meta_box *box,
                           const int64_t *from, const void *other, int arrays)
{
    arguments device = {.box = box, .other = {other}}, host = device;
    case_ending ending;
    for (int k = 0; k < arrays; ++k) {
        device.on[k] = buffers[k].device + from[k];
        host.on[k] = buffers[k].expected + from[k];
    }
    s->oracle[type](&host);
    case_ending_pick(&ending);
    CHECK_OK(s->run[type](&device, ending.done));
    CHECK_OK(case_ending_settle(&ending));
}

static void each_type(void (*once)(meta_type type, int64_t cells), int64_t few, int64_t many)
{
    for (int type = 0; type < TYPES; ++type) {
        if (type == META_F64 && !case_has_f64()) continue;
        if (make_buffers(SMALL))
            for (int64_t k = 0; k < test_count(few, many); ++k) once((meta_type)type, SMALL);
        free_buffers();
        if (make_buffers(LARGE))
            for (int64_t k = 0; k < test_count(4, many / 20); ++k) once((meta_type)type, LARGE);
        free_buffers();
    }
}

/* ------------------------------------------------------------------ ADD */

/* Cells that share elements; on the boundaries of threads and blocks as well. */
static void shared_once(const subject *s, meta_type type, int64_t cells)
{
    const int ndim = test_random_in(0, 9) ? (int)test_random_in(1, 4) : (int)test_random_in(5, 6);
    const meta_box box = case_box_within(ndim, s->low, s->high, cells);
    int64_t from[ARRAYS];
    test_case("%s %s, %s", s->name, case_type_name(type), case_box_text(&box));
    for (int k = 0; k < 2; ++k) {
        const int64_t room = (int64_t)(buffers[k].bytes / bytes_of(type)) - case_box_array(&box);
        from[k] = test_random_in(0, room) * (int64_t)bytes_of(type);
        refill_small(&buffers[k], type);
    }
    compare_arrays(s, type, &box, from, NULL, 2);
    for (int k = 0; k < 2; ++k) mirror_holds(&buffers[k], type, s->name);
}

static void deposit_once(meta_type type, int64_t cells)
{
    shared_once(&deposit, type, cells);
}

static void aside_once(meta_type type, int64_t cells)
{
    shared_once(&aside, type, cells);
}

static void what_cells_add_to_each_others_elements_arrives(void)
{
    each_type(deposit_once, 40, 4000);
}

static void cells_add_to_either_side_differently_far(void)
{
    each_type(aside_once, 40, 4000);
}

/* One contribution for each element has the bits of a plain loop. */
static void accumulate_once(meta_type type, int64_t cells)
{
    const int none[4] = {0};
    const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, cells);
    const bool is_signed = type == META_I64 || type == META_I32;
    meta_mode mode;
    CHECK_OK(meta_get_acc(NULL, &mode));
    /* GPUs flush sums of f32 in memory. */
    const bool keeps = mode == META_OPENMP || mode == META_OPENCL;
    const case_flavour flavour = is_signed ? CASE_TINY
                                 : keeps   ? (case_flavour)test_random_in(0, CASE_FLAVOURS - 1)
                                           : CASE_PLAIN;
    const int64_t scalar = test_random_in(0, (int64_t)(buffers[2].bytes / 8) - 1);
    const int64_t from[ARRAYS] = {0, 0, scalar * (int64_t)bytes_of(type)};
    test_case("accumulate %s, contents %d, scalar %" PRId64 ", %s", case_type_name(type),
              (int)flavour, scalar, case_box_text(&box));
    for (int k = 0; k < 3; ++k) mirror_refill(&buffers[k], type, flavour);
    compare_arrays(&accumulate, type, &box, from, NULL, 3);
    for (int k = 0; k < 3; ++k) mirror_holds(&buffers[k], type, "accumulate");
}

static void one_addition_has_the_bits_of_a_plain_loop(void)
{
    each_type(accumulate_once, 60, 6000);
}

/* Few bins: many cells at once add to each. */
static void count_once(meta_type type, int64_t cells)
{
    const int none[4] = {0};
    const int64_t bins = test_random_in(0, 1) ? 1 : test_random_in(2, 100);
    const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, cells);
    const int64_t from[ARRAYS] = {test_random_in(0, 9) * 4, 0,
                                  test_random_in(0, 9) * (int64_t)bytes_of(type), 0};
    int32_t most = INT32_MIN;
    test_case("count %s, %" PRId64 " bins, %s", case_type_name(type), bins, case_box_text(&box));
    refill_small(&buffers[0], META_U32);
    for (size_t k = 0; k < buffers[1].bytes / 4; ++k)
        ((int32_t *)(void *)buffers[1].expected)[k] = (int32_t)test_random_in(0, bins - 1);
    CHECK_OK(meta_copy_h2d(buffers[1].device, buffers[1].expected, buffers[1].bytes, NULL));
    refill_small(&buffers[2], type);
    refill_small(&buffers[3], type);
    for (int64_t n = 0; n < case_box_cells(&box); ++n) {
        const int32_t bin = ((int32_t *)(void *)buffers[1].expected)[case_box_index(&box, n)];
        if (bin > most) most = bin;
    }
    compare_arrays(&count, type, &box, from, &most, 4);
    mirror_holds(&buffers[0], META_U32, "cells");
    mirror_holds(&buffers[1], META_I32, "bin");
    mirror_holds(&buffers[2], type, "weights");
    mirror_holds(&buffers[3], type, "weight");
}

static void all_cells_may_add_to_one_element(void)
{
    each_type(count_once, 40, 4000);
}

/* A thread has one or a few rows, all of whose neighbours are other threads'. */
static void no_addition_of_threads_that_meet_is_lost(void)
{
    enum { TIMES = 30 };
    const meta_box box = {2, {4098, 8}, {1, 1}, {4097, 7}};
    if (make_buffers(LARGE))
        for (int64_t rounds = 0; rounds < test_count(3, 200); ++rounds) {
            const arguments host = {.box = &box, .on = {buffers[0].expected, buffers[1].expected}};
            for (int k = 0; k < 2; ++k) mirror_refill(&buffers[k], META_U32, CASE_PLAIN);
            for (int n = 0; n < TIMES; ++n) {
                oracle_deposit_u32(&host);
                CHECK_OK(deposit_u32(&box, (void *)buffers[0].device, (void *)buffers[1].device,
                                     META_ASYNC));
            }
            mirror_holds(&buffers[0], META_U32, "deposits");
        }
    free_buffers();
}

static void ghosts_are_as_wide_as_cells_add(void)
{
    int low[META_MAX_DIM] = {0, 3}, high[META_MAX_DIM] = {0};
    CHECK_OK(meta_kernel_reach(&aside_f32_kernel, low, high));
    for (int d = 0; d < META_MAX_DIM; ++d) {
        test_case("dimension %d", d);
        CHECK_INT(low[d], d == 0 ? 2 : d == 1 ? 3 : d < 4 ? 1 : 0);
        CHECK_INT(high[d], d < 4 ? 1 : 0);
    }
}

/* ------------------------------------------------------------------ INOUT of a whole array */

static void scan_once(meta_type type, int64_t cells)
{
    const int64_t length = test_random_in(1, 40), count_ = test_random_in(1, cells / length);
    const int64_t first = test_random_in(0, count_ - 1);
    const meta_box box = {1, {count_}, {first}, {test_random_in(first, count_)}};
    const bool is_signed = type == META_I64 || type == META_I32;
    const int64_t room = (int64_t)(buffers[0].bytes / bytes_of(type)) - count_ * length;
    const int64_t from[ARRAYS] = {test_random_in(0, room) * (int64_t)bytes_of(type)};
    test_case("scan %s of %" PRId64 ", %s", case_type_name(type), length, case_box_text(&box));
    mirror_refill(&buffers[0], type, is_signed ? CASE_TINY : CASE_PLAIN);
    compare_arrays(&scan, type, &box, from, &length, 1);
    mirror_holds(&buffers[0], type, "scan");
}

static void a_cell_reads_and_writes_elements_of_its_own_anywhere(void)
{
    each_type(scan_once, 60, 6000);
}

static void scatter_once(meta_type type, int64_t cells)
{
    const int none[4] = {0};
    const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, cells);
    int32_t *place = (int32_t *)(void *)buffers[2].expected;
    const int64_t all = case_box_array(&box), bytes = (int64_t)bytes_of(type);
    const int64_t room = (int64_t)buffers[0].bytes / bytes - all;
    const int64_t from[ARRAYS] = {test_random_in(0, room) * bytes, 0, 0};
    const bool is_signed = type == META_I64 || type == META_I32;
    test_case("scatter %s, %s", case_type_name(type), case_box_text(&box));
    for (int k = 0; k < 2; ++k)
        mirror_refill(&buffers[k], type, is_signed ? CASE_TINY : CASE_PLAIN);
    for (int64_t k = 0; k < all; ++k) place[k] = (int32_t)k;
    for (int64_t k = all - 1; k > 0; --k) {
        const int64_t other = test_random_in(0, k);
        const int32_t swap = place[k];
        place[k] = place[other];
        place[other] = swap;
    }
    CHECK_OK(meta_copy_h2d(buffers[2].device, buffers[2].expected, buffers[2].bytes, NULL));
    compare_arrays(&scatter, type, &box, from, NULL, 3);
    mirror_holds(&buffers[0], type, "to");
    mirror_holds(&buffers[1], type, "from");
    mirror_holds(&buffers[2], META_I32, "place");
}

static void cells_write_where_an_index_array_says(void)
{
    each_type(scatter_once, 60, 6000);
}

/* ------------------------------------------------------------------ SCALAR */

/* Sums go from kernel to kernel on the device; the host waits for none. */
static void a_result_is_read_by_the_next_kernel_without_a_wait(void)
{
    enum { STEPS = 40 };
    const int none[4] = {0};
    if (make_buffers(SMALL))
        for (int64_t k = 0; k < test_count(30, 3000); ++k) {
            const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, SMALL);
            uint64_t *x = (void *)buffers[0].expected, *y = (void *)buffers[1].expected;
            uint64_t *sum = (void *)buffers[2].expected, *device_sum = (void *)buffers[2].device;
            int32_t *way = (void *)buffers[3].expected;
            test_case("chain, %s", case_box_text(&box));
            for (int n = 0; n < ARRAYS; ++n) mirror_refill(&buffers[n], META_U64, CASE_PLAIN);
            for (int step = 0; step < STEPS; ++step) {
                const int to = 7 + step % 3, before = 7 + (step + 2) % 3;
                sum[to] = 0;
                for (int64_t n = 0; n < case_box_cells(&box); ++n) {
                    const int64_t at = case_box_index(&box, n);
                    sum[to] += x[at] * y[at];
                }
                for (int64_t n = 0; n < case_box_cells(&box); ++n) {
                    const int64_t at = case_box_index(&box, n);
                    y[at] += sum[to] * x[at] - sum[before] + (uint64_t)way[step] * 5;
                }
                CHECK_OK(product_u64(&box, (void *)buffers[0].device, (void *)buffers[1].device,
                                     &device_sum[to], META_ASYNC));
                CHECK_OK(advance_u64(&box, (void *)buffers[1].device, &device_sum[to],
                                     (void *)buffers[0].device, &device_sum[before],
                                     (const int32_t *)(void *)buffers[3].device + step, 5,
                                     META_ASYNC));
            }
            for (int n = 0; n < ARRAYS; ++n) mirror_holds(&buffers[n], META_U64, "chain");
        }
    free_buffers();
}

/* A number that lies in the array that the kernel writes, at an element that it does not write. */
static void a_number_may_lie_beside_the_cells_that_are_written(void)
{
    const meta_box box = {2, {40, 20}, {3, 2}, {30, 18}};
    if (make_buffers(SMALL))
        for (int64_t k = 0; k < test_count(40, 1000); ++k) {
            const bool before = test_random_in(0, 1);
            const int64_t at = before ? 40 * test_random_in(2, 17) + test_random_in(0, 2)
                                      : 40 * test_random_in(2, 17) + test_random_in(30, 39);
            int32_t *y = (void *)buffers[0].expected, *device = (void *)buffers[0].device;
            const int32_t *x = (void *)buffers[1].expected;
            test_case("element %" PRId64, at);
            for (int n = 0; n < 2; ++n) mirror_refill(&buffers[n], META_I32, CASE_TINY);
            const int32_t number = y[at];
            for (int64_t n = 0; n < case_box_cells(&box); ++n) {
                const int64_t cell = case_box_index(&box, n);
                y[cell] += number * x[cell] - number + number * 3;
            }
            CHECK_OK(advance_i32(&box, device, device + at, (void *)buffers[1].device, device + at,
                                 device + at, 3, META_ASYNC));
            mirror_holds(&buffers[0], META_I32, "advance");
        }
    free_buffers();
}

static void numbers_on_the_device_are_enough(void)
{
    const meta_box box = {1, {1}, {0}, {1}};
    if (!make_buffers(SMALL)) return;
    int32_t *n = (void *)buffers[0].device, *to = (void *)buffers[1].device;
    int32_t *expected = (void *)buffers[1].expected, difference = -1;
    mirror_refill(&buffers[0], META_I32, CASE_TINY);
    mirror_refill(&buffers[1], META_I32, CASE_TINY);
    const int32_t *from = (void *)buffers[0].expected;
    CHECK_OK(rest_i32(&box, &n[3], &n[8], &difference, NULL));
    CHECK_INT(difference, from[3] - from[8]);
    CHECK_OK(rest_i32_with(
        &box, &(rest_i32_arguments){.a = &n[8], .b = &n[8], .difference = &to[5]}, META_ASYNC));
    CHECK_OK(rest_i32(&box, &n[8], &to[5], &to[6], META_ASYNC));
    expected[5] = 0;
    expected[6] = from[8];
    mirror_holds(&buffers[1], META_I32, "rest");
    free_buffers();
}

TEST_DEVICE_MAIN(PROMISE(what_cells_add_to_each_others_elements_arrives),
                 PROMISE(cells_add_to_either_side_differently_far),
                 PROMISE(one_addition_has_the_bits_of_a_plain_loop),
                 PROMISE(all_cells_may_add_to_one_element),
                 PROMISE(no_addition_of_threads_that_meet_is_lost),
                 PROMISE(ghosts_are_as_wide_as_cells_add),
                 PROMISE(a_cell_reads_and_writes_elements_of_its_own_anywhere),
                 PROMISE(cells_write_where_an_index_array_says),
                 PROMISE(a_result_is_read_by_the_next_kernel_without_a_wait),
                 PROMISE(a_number_may_lie_beside_the_cells_that_are_written),
                 PROMISE(numbers_on_the_device_are_enough))
