/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_laden.c
 *  Kernels with so many bytes of arguments that a device takes them from memory: a GPU's code all
 * of them, from memory that the launches of a queue have in common, OpenCL's the values. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
#define META_KERNELS_HERE
#include "user_heavy.kernel.h"

#include "user_laden.kernel.h"

#include "mirror.h"

enum { ARRAYS = 31, VALUES = 16, ARGUMENTS = 1 + ARRAYS + VALUES + 2, CELLS = 840, LAUNCHES = 24 };
/* The extents, addresses and layouts of the arrays, and the values: more than a GPU's 4096 bytes.
 */
_Static_assert(8 * META_MAX_DIM + (1 + ARRAYS) * (8 + 8 * (1 + META_MAX_DIM)) +
                       VALUES * sizeof(laden_block) >
                   4096,
               "the arguments are passed in memory");

/* A launch, of which all arguments are its own but for the arrays. */
typedef struct launch {
    meta_box box;
    laden_block value[VALUES];
    int64_t sum, expected_sum;
    meta_extreme_i32 most;
    int32_t expected_most;
} launch;

static mirror out[LAUNCHES], in[ARRAYS];

static void choose(launch *l, int number)
{
    static const meta_box boxes[] = {{1, {CELLS}, {3}, {CELLS - 5}},
                                     {2, {CELLS / 12, 12}, {1, 2}, {CELLS / 12, 11}},
                                     {3, {10, 12, 7}, {0, 1, 2}, {9, 12, 6}}};
    l->box = boxes[number % 3];
    for (int v = 0; v < VALUES; ++v)
        for (int k = 0; k < 8; ++k) l->value[v].number[k] = test_random_in(-1000, 1000);
}

/* What the kernel does to the cells, by loops. */
static void expect(launch *l, mirror *to)
{
    int32_t *written = (void *)to->expected;
    l->expected_sum = 0;
    l->expected_most = INT32_MIN;
    for (int64_t n = 0; n < case_box_cells(&l->box); ++n) {
        const int64_t at = case_box_index(&l->box, n);
        const int64_t k = (l->box.start[0] + n % (l->box.end[0] - l->box.start[0])) % 8;
        int64_t x = 0;
        for (int a = 0; a < ARRAYS; ++a)
            x += (a + 1) * ((const int32_t *)(void *)in[a].expected)[at];
        for (int v = 0; v < VALUES; ++v) x += (v + 1) * l->value[v].number[k];
        written[at] = (int32_t)x;
        l->expected_sum += x;
        if (x > l->expected_most) l->expected_most = (int32_t)x;
    }
}

static bool make_buffers(void)
{
    for (int k = 0; k < LAUNCHES; ++k)
        if (!mirror_new(&out[k], CELLS * sizeof(int32_t))) return false;
    for (int k = 0; k < ARRAYS; ++k) {
        if (!mirror_new(&in[k], CELLS * sizeof(int32_t))) return false;
        mirror_refill(&in[k], META_I32, CASE_TINY);
    }
    return true;
}

static void free_buffers(void)
{
    for (int k = 0; k < LAUNCHES; ++k) mirror_free(&out[k]);
    for (int k = 0; k < ARRAYS; ++k) mirror_free(&in[k]);
}

static void run(launch *l, const mirror *to)
{
    const void *argument[ARGUMENTS];
    int count = 0;
    argument[count++] = to->device;
    for (int k = 0; k < ARRAYS; ++k) argument[count++] = in[k].device;
    for (int k = 0; k < VALUES; ++k) argument[count++] = &l->value[k];
    argument[count++] = &l->sum;
    argument[count++] = &l->most;
    CHECK_OK(meta_kernel_run(&laden_i32_kernel, &l->box, argument, META_ASYNC));
}

static void queued_launches_have_their_own_arguments(void)
{
    static launch launches[LAUNCHES];
    if (!make_buffers()) return;
    for (int n = 0; n < LAUNCHES; ++n) {
        choose(&launches[n], n);
        expect(&launches[n], &out[n]);
    }
    for (int n = 0; n < LAUNCHES; ++n) run(&launches[n], &out[n]);
    CHECK_OK(meta_flush());
    for (int n = 0; n < LAUNCHES; ++n) {
        test_case("launch %d of %d", n, LAUNCHES);
        mirror_holds(&out[n], META_I32, "laden");
        CHECK_INT(launches[n].sum, launches[n].expected_sum);
        CHECK_INT(launches[n].most.value, launches[n].expected_most);
    }
    free_buffers();
}

/* ------------------------------------------------------------------ large values */

enum { WIDE = 30, HIGH = CELLS / WIDE };
_Static_assert(sizeof(heavy_block) == META_KERNEL_VALUE, "the largest value");

/* A launch of a kernel with four large values, of elements that both types have. */
typedef struct heavy {
    meta_box box;
    heavy_block a, c, d;
    heavy_bytes b;
    int own, expected_sum;
    bool in_teams;
    union {
        float f32;
        int32_t i32;
    } sum;
} heavy;

static void choose_heavy(heavy *l)
{
    static const meta_box box = {2, {WIDE, HIGH}, {2, 1}, {WIDE - 1, HIGH - 3}};
    *l = (heavy){.box = box, .own = (int)test_random_in(-9, 9), .in_teams = test_random_in(0, 1)};
    for (int k = 0; k < 64; ++k) {
        l->a.number[k] = test_random_in(-9, 9);
        l->c.number[k] = test_random_in(-9, 9);
        l->d.number[k] = test_random_in(-9, 9);
    }
    for (int k = 0; k < 509; ++k) l->b.byte[k] = (signed char)test_random_in(-9, 9);
}

static double element(const mirror *m, meta_type type, int64_t at)
{
    return type == META_F32 ? (double)((const float *)(const void *)m->expected)[at]
                            : ((const int32_t *)(const void *)m->expected)[at];
}

/* Small whole numbers, of which sums are exact. */
static void fill_small(const mirror *m, meta_type type)
{
    for (int k = 0; k < CELLS; ++k) {
        const int32_t x = (int32_t)test_random_in(-9, 9);
        if (type == META_F32) ((float *)(void *)m->expected)[k] = (float)x;
        else ((int32_t *)(void *)m->expected)[k] = x;
    }
    CHECK_OK(meta_copy_h2d(m->device, m->expected, CELLS * sizeof(int32_t), NULL));
}

static void expect_heavy(heavy *l, mirror *to, const mirror *from, meta_type type)
{
    for (int64_t n = 0; n < case_box_cells(&l->box); ++n) {
        const int64_t at = case_box_index(&l->box, n), k = (at % WIDE + 3 * (at / WIDE)) % 64;
        const int x = (int)element(from, type, at) + l->own +
                      (int)(l->a.number[k] + 2 * l->b.byte[445 + k] + 3 * l->c.number[63 - k] +
                            5 * l->d.number[k]);
        if (type == META_F32) ((float *)(void *)to->expected)[at] = (float)x;
        else ((int32_t *)(void *)to->expected)[at] = x;
        l->expected_sum += x;
    }
}

static meta_err run_heavy(heavy *l, const mirror *to, const mirror *from, meta_type type)
{
    void *out_of = to->device;
    const void *in_of = from->device;
    if (type == META_F32)
        return (l->in_teams ? heavy_team_f32 : heavy_f32)(
            &l->box, out_of, in_of, l->a, l->b, (float)l->own, l->c, l->d, &l->sum.f32, META_ASYNC);
    return (l->in_teams ? heavy_team_i32 : heavy_i32)(&l->box, out_of, in_of, l->a, l->b, l->own,
                                                      l->c, l->d, &l->sum.i32, META_ASYNC);
}

/* As they are, and with sums that are exact. */
static void values_of_512_bytes_arrive_whole(void)
{
    static heavy launches[LAUNCHES];
    for (int round = 0; round < 4; ++round) {
        const meta_type type = round % 2 ? META_F32 : META_I32;
        if (!make_buffers()) return;
        fill_small(&in[0], type);
        CHECK_OK(meta_set_reproducible(round / 2));
        for (int n = 0; n < LAUNCHES; ++n) {
            fill_small(&out[n], type);
            choose_heavy(&launches[n]);
            expect_heavy(&launches[n], &out[n], &in[0], type);
        }
        for (int n = 0; n < LAUNCHES; ++n) CHECK_OK(run_heavy(&launches[n], &out[n], &in[0], type));
        CHECK_OK(meta_flush());
        CHECK_OK(meta_set_reproducible(0));
        for (int n = 0; n < LAUNCHES; ++n) {
            const heavy *l = &launches[n];
            test_case("round %d, launch %d%s", round, n, l->in_teams ? ", in teams" : "");
            mirror_holds(&out[n], type, "heavy");
            CHECK_INT(type == META_F32 ? (int)l->sum.f32 : l->sum.i32, l->expected_sum);
        }
        free_buffers();
    }
}

TEST_DEVICE_MAIN(PROMISE(queued_launches_have_their_own_arguments),
                 PROMISE(values_of_512_bytes_arrive_whole))
