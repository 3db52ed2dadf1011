/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_kernels.c
 *  Kernels of the program's own for every element type: the bits of a plain loop in boxes of every
 *  shape, and no other cell touched. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNELS_HERE
#include "user_kernels.kernel.h"

#include "mirror.h"

#include <inttypes.h>
#include <string.h>

enum { SMALL = 1 << 13, LARGE = 1 << 17, ARRAYS = 3, TYPES = CASE_FIRST_SMALL };

/* ------------------------------------------------------------------ oracles */

/* The arrays of a kernel, in the order of its parameters. */
typedef struct arrays {
    void *at[ARRAYS];
} arrays;
typedef void oracle(const meta_box *box, const arrays *on, const void *value);
typedef meta_err runner(const meta_box *box, const arrays *on, const void *value, meta_event *done);

/* Integers wrap in the oracles; a product is volatile, so that no sum contracts with it. */
#define ORACLES(NAME, name, T, W)                                                                  \
    static T times_##name(T a, T b)                                                                \
    {                                                                                              \
        const volatile T product = (T)((W)a * (W)b);                                               \
        return product;                                                                            \
    }                                                                                              \
    static T plus_##name(T a, T b)                                                                 \
    {                                                                                              \
        return (T)((W)a + (W)b);                                                                   \
    }                                                                                              \
    static void oracle_star_##name(const meta_box *box, const arrays *on, const void *value)       \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const T *in = (const T *)on->at[1] + case_box_index(box, n);                           \
            T sum = in[case_box_away(box, -1, 0, 0, 0)];                                           \
            sum = plus_##name(sum, in[case_box_away(box, 1, 0, 0, 0)]);                            \
            sum = plus_##name(sum, in[case_box_away(box, 0, -1, 0, 0)]);                           \
            sum = plus_##name(sum, in[case_box_away(box, 0, 1, 0, 0)]);                            \
            sum = plus_##name(sum, in[case_box_away(box, 0, 0, -1, 0)]);                           \
            sum = plus_##name(sum, in[case_box_away(box, 0, 0, 1, 0)]);                            \
            ((T *)on->at[0])[case_box_index(box, n)] =                                             \
                plus_##name(times_##name(*(const T *)value, *in), sum);                            \
        }                                                                                          \
    }                                                                                              \
    static void oracle_corners_##name(const meta_box *box, const arrays *on, const void *value)    \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const T *in = (const T *)on->at[1] + case_box_index(box, n);                           \
            T sum = *(const T *)value;                                                             \
            for (int k = 0; k < 27; ++k)                                                           \
                sum = plus_##name(                                                                 \
                    sum,                                                                           \
                    times_##name((T)(k + 1),                                                       \
                                 in[case_box_away(box, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1, 0)])); \
            ((T *)on->at[0])[case_box_index(box, n)] = sum;                                        \
        }                                                                                          \
    }                                                                                              \
    static void oracle_update_##name(const meta_box *box, const arrays *on, const void *value)     \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            T *left = on->at[0], *y = on->at[1];                                                   \
            const T *x = on->at[2];                                                                \
            left[at] = (T)((W)y[at] - (W)x[at]);                                                   \
            y[at] = plus_##name(times_##name(*(const T *)value, y[at]), x[at]);                    \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_star_##name(const meta_box *box, const arrays *on, const void *value,      \
                                    meta_event *done)                                              \
    {                                                                                              \
        return star_##name(box, on->at[0], on->at[1], *(const T *)value, done);                    \
    }                                                                                              \
    static meta_err run_corners_##name(const meta_box *box, const arrays *on, const void *value,   \
                                       meta_event *done)                                           \
    {                                                                                              \
        return corners_##name(box, on->at[0], on->at[1], *(const T *)value, done);                 \
    }                                                                                              \
    static meta_err run_update_##name(const meta_box *box, const arrays *on, const void *value,    \
                                      meta_event *done)                                            \
    {                                                                                              \
        return update_##name(box, on->at[0], on->at[1], on->at[2], *(const T *)value, done);       \
    }                                                                                              \
    static void oracle_gather_##name(const meta_box *box, const arrays *on, const void *value)     \
    {                                                                                              \
        (void)value;                                                                               \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            ((T *)on->at[1])[at] = ((const T *)on->at[0])[((const int32_t *)on->at[2])[at]];       \
        }                                                                                          \
    }                                                                                              \
    static meta_err run_gather_##name(const meta_box *box, const arrays *on, const void *value,    \
                                      meta_event *done)                                            \
    {                                                                                              \
        (void)value;                                                                               \
        return gather_##name(box, on->at[0], on->at[1], on->at[2], done);                          \
    }
CASE_ARITHMETIC_TYPES(ORACLES)

typedef struct subject {
    const char *name;
    int arrays, reach; /* its arrays, and how far it reads around a cell */
    oracle *oracle[TYPES];
    runner *run[TYPES];
} subject;
#define OF(kernel)                                                                                 \
    kernel##_f64, kernel##_f32, kernel##_i64, kernel##_u64, kernel##_i32, kernel##_u32
static const subject star_kernel = {"star", 2, 1, {OF(oracle_star)}, {OF(run_star)}};
static const subject corners_kernel = {"corners", 2, 1, {OF(oracle_corners)}, {OF(run_corners)}};
static const subject update_kernel = {"update", 3, 0, {OF(oracle_update)}, {OF(run_update)}};
static const subject gather_kernel = {"gather", 3, 0, {OF(oracle_gather)}, {OF(run_gather)}};

/* ------------------------------------------------------------------ one case */

static mirror buffers[ARRAYS];

/* What the kernels' signed arithmetic must not overflow. */
static case_flavour flavour_for(meta_type type)
{
    if (type == META_I64 || type == META_I32) return CASE_TINY;
    return (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
}

/* The arrays begin anywhere in their buffers. */
static void place_arrays(const subject *s, const meta_box *box, meta_type type, arrays *on_device,
                         arrays *on_host)
{
    size_t bytes = 1;
    CHECK_OK(meta_type_size(type, &bytes));
    for (int k = 0; k < s->arrays; ++k) {
        const int64_t room = (int64_t)(buffers[k].bytes / bytes) - case_box_array(box);
        const int64_t from = (test_random_in(0, 1) ? test_random_in(0, room) : 0) * (int64_t)bytes;
        on_device->at[k] = buffers[k].device + from;
        on_host->at[k] = buffers[k].expected + from;
    }
}

static void compare_once(const subject *s, meta_type type, int64_t cells)
{
    const int low[4] = {s->reach, s->reach, s->reach, s->reach};
    const int ndim = test_random_in(0, 9) ? (int)test_random_in(1, 4) : (int)test_random_in(5, 6);
    const meta_box box = case_box_within(ndim, low, low, cells);
    const case_flavour flavour = flavour_for(type);
    uint64_t value = 0;
    arrays on_device, on_host;
    case_ending ending;
    test_case("%s %s, contents %d, %s", s->name, case_type_name(type), (int)flavour,
              case_box_text(&box));
    place_arrays(s, &box, type, &on_device, &on_host);
    for (int k = 0; k < s->arrays; ++k) mirror_refill(&buffers[k], type, flavour);
    case_fill(&value, 1, type, flavour);
    s->oracle[type](&box, &on_host, &value);
    case_ending_pick(&ending);
    CHECK_OK(s->run[type](&box, &on_device, &value, ending.done));
    value = 0; /* it has been read */
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < s->arrays; ++k) mirror_holds(&buffers[k], type, s->name);
}

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

static void compare(const subject *s)
{
    for (int type = 0; type < TYPES; ++type) {
        if (type == META_F64 && !case_has_f64()) continue;
        if (make_buffers(SMALL))
            for (int64_t k = 0; k < test_count(100, 10000); ++k)
                compare_once(s, (meta_type)type, SMALL);
        free_buffers();
        if (make_buffers(LARGE))
            for (int64_t k = 0; k < test_count(6, 500); ++k)
                compare_once(s, (meta_type)type, LARGE);
        free_buffers();
    }
}

static void a_stencil_has_the_bits_of_a_plain_loop(void)
{
    compare(&star_kernel);
}

static void every_neighbour_is_the_one_that_is_named(void)
{
    compare(&corners_kernel);
}

static void an_array_is_read_and_written_in_place(void)
{
    compare(&update_kernel);
}

/* ------------------------------------------------------------------ gathers */

static void gather_once(meta_type type)
{
    const int none[4] = {0};
    const meta_box box = case_box_within((int)test_random_in(1, 4), none, none, SMALL);
    arrays on_device, on_host;
    size_t bytes = 1;
    test_case("gather %s, %s", case_type_name(type), case_box_text(&box));
    CHECK_OK(meta_type_size(type, &bytes));
    mirror_refill(&buffers[0], type, CASE_PLAIN);
    mirror_refill(&buffers[1], type, CASE_PLAIN);
    const int64_t from = test_random_in(0, SMALL - 1) * (int64_t)bytes;
    const int64_t room = (int64_t)(buffers[0].bytes - (size_t)from) / (int64_t)bytes;
    for (size_t k = 0; k < buffers[2].bytes / sizeof(int32_t); ++k)
        ((int32_t *)(void *)buffers[2].expected)[k] = (int32_t)test_random_in(0, room - 1);
    CHECK_OK(meta_copy_h2d(buffers[2].device, buffers[2].expected, buffers[2].bytes, NULL));
    for (int k = 0; k < ARRAYS; ++k) {
        on_device.at[k] = buffers[k].device + (k == 0 ? from : 0);
        on_host.at[k] = buffers[k].expected + (k == 0 ? from : 0);
    }
    gather_kernel.oracle[type](&box, &on_host, NULL);
    CHECK_OK(gather_kernel.run[type](&box, &on_device, NULL, META_ASYNC));
    for (int k = 0; k < ARRAYS; ++k) mirror_holds(&buffers[k], k < 2 ? type : META_I32, "gather");
}

static void a_whole_array_is_read_anywhere(void)
{
    if (make_buffers(SMALL))
        for (int64_t k = 0; k < test_count(150, 20000); ++k)
            for (int type = 0; type < TYPES; ++type)
                if (type != META_F64 || case_has_f64()) gather_once((meta_type)type);
    free_buffers();
}

/* ------------------------------------------------------------------ order */

/* A chain of kernels, moves and fills, none of which is waited for. */
static void work_without_a_wait_is_done_in_order(void)
{
    enum { SIDE = 12, STEPS = 30 };
    const meta_box box = {3, {SIDE, SIDE, SIDE}, {1, 1, 1}, {SIDE - 1, SIDE - 1, SIDE - 1}};
    const size_t bytes = (size_t)SIDE * SIDE * SIDE * sizeof(int32_t);
    const int32_t a = 3;
    if (!make_buffers(SMALL)) return;
    for (int k = 0; k < 2; ++k) mirror_refill(&buffers[k], META_U32, CASE_PLAIN);
    for (int64_t rounds = 0; rounds < test_count(20, 1000); ++rounds) {
        for (int step = 0; step < STEPS; ++step) {
            mirror *to = &buffers[step % 2], *from = &buffers[1 - step % 2];
            const arrays on_device = {{to->device, from->device}};
            const arrays on_host = {{to->expected, from->expected}};
            oracle_star_u32(&box, &on_host, &a);
            CHECK_OK(run_star_u32(&box, &on_device, &a, META_ASYNC));
            if (step % 5 == 0) {
                memcpy(from->expected, to->expected, bytes / 2);
                CHECK_OK(meta_copy_d2d(from->device, to->device, bytes / 2, META_ASYNC));
            }
            if (step % 7 == 0) {
                memset(from->expected, step, 64);
                CHECK_OK(
                    meta_fill(from->device, 64, &(uint8_t){(uint8_t)step}, META_U8, META_ASYNC));
            }
        }
        for (int k = 0; k < 2; ++k) mirror_holds(&buffers[k], META_U32, "chain");
    }
    free_buffers();
}

/* ------------------------------------------------------------------ kernels by name */

static void kernels_are_found_by_their_names_and_types(void)
{
    const char *const names[] = {"star", "corners", "update", "gather"};
    int count = 0, seen = 0;
    meta_kernel *found = NULL, *other = NULL;
    CHECK_OK(meta_kernel_count(&count));
    CHECK_INT(count, 4 * TYPES);
    for (int k = 0; k < 4; ++k)
        for (int type = 0; type < TYPES; ++type) {
            if (!CHECK_OK(meta_kernel_find(names[k], (meta_type)type, &found))) continue;
            CHECK_STRING(found->name, names[k]);
            CHECK_INT(found->type, type);
            for (int n = 0; n < count; ++n) {
                CHECK_OK(meta_kernel_at(n, &other));
                seen += other == found;
            }
        }
    CHECK_INT(seen, count);
    CHECK_OK(meta_kernel_find("star", META_F32, &found));
    CHECK(found == &star_f32_kernel);
}

static void a_kernel_is_run_by_its_object(void)
{
    const meta_box box = {2, {20, 20}, {1, 1}, {19, 19}};
    const int32_t a = -2;
    meta_kernel *kernel = NULL;
    if (!make_buffers(SMALL)) return;
    for (int k = 0; k < 2; ++k) mirror_refill(&buffers[k], META_I32, CASE_TINY);
    const arrays on_host = {{buffers[0].expected, buffers[1].expected}};
    const void *const arguments[] = {buffers[0].device, buffers[1].device, &a};
    oracle_star_i32(&box, &on_host, &a);
    if (CHECK_OK(meta_kernel_find("star", META_I32, &kernel))) {
        CHECK_OK(meta_kernel_prepare(kernel));
        CHECK_OK(meta_kernel_run(kernel, &box, arguments, NULL));
    }
    mirror_holds(&buffers[0], META_I32, "star");
    free_buffers();
}

TEST_DEVICE_MAIN(PROMISE(a_stencil_has_the_bits_of_a_plain_loop),
                 PROMISE(every_neighbour_is_the_one_that_is_named),
                 PROMISE(an_array_is_read_and_written_in_place),
                 PROMISE(a_whole_array_is_read_anywhere),
                 PROMISE(work_without_a_wait_is_done_in_order),
                 PROMISE(kernels_are_found_by_their_names_and_types),
                 PROMISE(a_kernel_is_run_by_its_object))
