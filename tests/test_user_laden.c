/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_laden.c
 *  A kernel with so many arguments that a GPU's code takes them from memory, which the launches of
 * a queue have in common. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
#define META_KERNELS_HERE
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

TEST_DEVICE_MAIN(PROMISE(queued_launches_have_their_own_arguments))
