/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_several.c
 *  Several exchanges of one plan under way at once, of different arrays and on different devices,
 *  ended in another order than they were begun in, which differs from rank to rank. Every element
 * is compared with the oracle of halo_cases.h. The back end "late" delays its work, so that a later
 *  exchange may be ready before an earlier one. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: np=1,2,3,4,8 labels=comm */
/* TEST: backends=all,late np=2 mixed=yes labels=comm */
#include "test_mpi.h"

#include <stdlib.h>
#include <string.h>

#include "halo_cases.h"

enum { MOST = 5, ROUNDS = 4 };

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    test_comm_start(argc, argv);
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

/* The process's own device's mode, and those of all others that there are. */
static int modes_here(meta_mode modes[8])
{
    int index, count = 1;
    CHECK_OK(meta_get_acc(&index, &modes[0]));
    for (meta_mode mode = META_OPENMP; mode <= META_HIP && count < 8; ++mode) {
        int devices = 0;
        CHECK_OK(meta_device_count(mode, &devices));
        if (mode != modes[0] && devices > 0) modes[count++] = mode;
    }
    return count;
}

/* ------------------------------------------------------------------ random cases */

/* In another order on each rank; how each is ended is another way too. */
static void end_all(meta_exchange *exchange, int count, int round)
{
    meta_event done[MOST];
    int events = 0;
    for (int k = 0; k < count; ++k) {
        const int step = count == 5 ? 2 : 1;
        const int which = (count - 1 + test_rank + k * step + round) % count;
        switch ((k + test_rank + round) % 3) {
        case 0:
            CHECK_OK(meta_halo_end(&exchange[which], NULL));
            break;
        case 1:
            CHECK_OK(meta_halo_end(&exchange[which], META_ASYNC));
            break;
        default:
            CHECK_OK(meta_halo_end(&exchange[which], &done[events]));
            ++events;
        }
        CHECK(exchange[which].slot == 0 && exchange[which].generation == 0);
    }
    CHECK_OK(meta_event_waitall((size_t)events, done));
    for (int k = 0; k < events; ++k) CHECK_OK(meta_event_free(&done[k]));
}

static void run_rounds(halo_case *c, meta_halo plan, int count)
{
    for (int round = 0; round < ROUNDS; ++round) {
        meta_exchange exchange[MOST];
        for (int k = 0; k < count; ++k) {
            halo_case_initial(&c[k], round * count + k);
            halo_case_expected(&c[k], round * count + k);
            halo_case_upload(&c[k]);
            CHECK_OK(meta_halo_begin(plan, c[k].fields, &exchange[k]));
        }
        end_all(exchange, count, round);
        for (int k = 0; k < count; ++k) halo_case_check(&c[k]);
    }
}

/* @p count sets of arrays, on the plan's device or, if @p anywhere, on any. */
static void run_case(const halo_wish *wish, int64_t number, int count, bool anywhere)
{
    halo_case c[MOST];
    meta_mode modes[8];
    meta_halo plan;
    int made = 1;
    bool right = halo_case_make(&c[0], wish, anywhere ? "anywhere" : "case", number);
    const int choices = modes_here(modes);
    const uint64_t draw = test_random();
    for (; right && made < count; ++made) {
        const uint64_t mine = draw >> 8 * made;
        right =
            halo_case_again(&c[made], &c[0],
                            modes[anywhere ? (mine + (uint64_t)test_rank) % (uint64_t)choices : 0]);
    }
    CHECK_OK(meta_set_acc(0, modes[0]));
    if (right && CHECK_OK(meta_halo_create(&plan, &c[0].desc))) {
        run_rounds(c, plan, count);
        CHECK_OK(meta_halo_free(&plan));
    }
    while (--made >= 0) halo_case_free(&c[made]);
    CHECK_OK(meta_set_acc(0, modes[0]));
}

static void run_cases(bool anywhere)
{
    static const int counts[] = {2, 3, 5};
    const int64_t cases = test_count(test_size > 4 ? 4 : 18, 300);
    int index;
    meta_mode own;
    CHECK_OK(meta_get_acc(&index, &own));
    for (int64_t k = 0; k < cases && !halo_broken_anywhere(); ++k) {
        halo_wish wish = halo_wish_random();
        if (wish.mode[0] == META_SPREAD) wish.mode[0] = wish.mode[1] = own;
        run_case(&wish, k, counts[k % 3], anywhere);
    }
    CHECK_OK(meta_set_acc(index, own));
}

static void exchanges_of_one_plan_do_not_disturb_each_other(void)
{
    run_cases(false);
}

static void a_plan_is_for_arrays_of_any_device(void)
{
    run_cases(true);
}

static void neither_do_they_through_mpi_and_in_pieces(void)
{
    CHECK_OK(meta_comm_finalize());
    setenv("META_SHARED", "off", 1);
    setenv("META_TEST_CHUNK", "4096", 1);
    test_require(meta_comm_init(NULL, NULL));
    run_cases(false);
    run_cases(true);
    CHECK_OK(meta_comm_finalize());
    unsetenv("META_SHARED");
    unsetenv("META_TEST_CHUNK");
    test_require(meta_comm_init(NULL, NULL));
}

/* ------------------------------------------------------------------ a line of ranks */

enum { CELLS = 20 };
static const size_t bytes = (CELLS + 2) * sizeof(int64_t);
static const meta_box all = {1, {CELLS + 2}, {0}, {CELLS + 2}},
                      low_ghost = {1, {CELLS + 2}, {0}, {1}};

static meta_halo line_plan(MPI_Comm *cart)
{
    const int periodic = 1;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, cart);
    desc.cart = *cart;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I64;
    CHECK_OK(meta_halo_create(&plan, &desc));
    return plan;
}

/* More than a window has slots; the last one begun is waited for first. */
static void exchanges_go_on_before_any_is_ended(void)
{
    enum { COUNT = 7 };
    const int64_t left = (test_rank + test_size - 1) % test_size;
    meta_exchange exchange[COUNT];
    void *u[COUNT];
    MPI_Comm cart;
    meta_halo plan = line_plan(&cart);
    for (int k = 0; k < COUNT; ++k) CHECK_OK(meta_alloc(&u[k], bytes));
    for (int round = 0; round < 3; ++round) {
        for (int k = 0; k < COUNT; ++k) {
            const int64_t mine = 100 * round + 10 * test_rank + k;
            CHECK_OK(meta_fill_box(u[k], &all, &mine, META_I64, META_ASYNC));
            CHECK_OK(meta_halo_begin(plan, &u[k], &exchange[k]));
        }
        for (int k = COUNT - 1; k >= 0; --k) {
            int64_t low = -1;
            CHECK_OK(meta_halo_end(&exchange[k], NULL));
            CHECK_OK(meta_copy_d2h(&low, u[k], sizeof low, NULL));
            CHECK_INT(low, 100 * round + 10 * left + k);
        }
    }
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < COUNT; ++k) CHECK_OK(meta_free(u[k]));
    MPI_Comm_free(&cart);
}

/* Two sets of arrays in turn: work on one is queued while the other one's ghosts travel. */
static void work_is_in_order_with_the_exchanges_of_its_arrays(void)
{
    const int64_t left = (test_rank + test_size - 1) % test_size;
    meta_exchange exchange[2];
    void *u[2];
    int64_t low[2] = {0, 0};
    MPI_Comm cart;
    meta_halo plan = line_plan(&cart);
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_alloc(&u[k], bytes));
    for (int64_t step = 0; step < 50; ++step) {
        for (int k = 0; k < 2; ++k) {
            const int64_t mine = step * 1000 + 10 * test_rank + k;
            CHECK_OK(meta_fill_box(u[k], &all, &mine, META_I64, META_ASYNC));
            CHECK_OK(meta_halo_begin(plan, &u[k], &exchange[k]));
        }
        for (int k = 0; k < 2; ++k) {
            const int which = (k + test_rank) % 2;
            CHECK_OK(meta_halo_end(&exchange[which], META_ASYNC));
            CHECK_OK(
                meta_reduce(&low[which], u[which], &low_ghost, META_SUM, META_I64, META_ASYNC));
        }
        CHECK_OK(meta_flush());
        for (int k = 0; k < 2; ++k) CHECK_INT(low[k], step * 1000 + 10 * left + k);
    }
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(u[k]));
    MPI_Comm_free(&cart);
}

/* meta_halo_start() is for one exchange at a time, beside others. */
static void start_and_finish_go_beside_begin_and_end(void)
{
    const int64_t left = (test_rank + test_size - 1) % test_size;
    meta_exchange exchange;
    void *u[2];
    MPI_Comm cart;
    meta_halo plan = line_plan(&cart);
    for (int k = 0; k < 2; ++k) {
        const int64_t mine = 10 * test_rank + k;
        CHECK_OK(meta_alloc(&u[k], bytes));
        CHECK_OK(meta_fill_box(u[k], &all, &mine, META_I64, META_ASYNC));
    }
    CHECK_OK(meta_halo_begin(plan, &u[0], &exchange));
    CHECK_OK(meta_halo_start(plan, &u[1]));
    CHECK_OK(meta_halo_finish(plan, NULL));
    CHECK_OK(meta_halo_end(&exchange, NULL));
    for (int k = 0; k < 2; ++k) {
        int64_t low = -1;
        CHECK_OK(meta_copy_d2h(&low, u[k], sizeof low, NULL));
        CHECK_INT(low, 10 * left + k);
    }
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(u[k]));
    MPI_Comm_free(&cart);
}

/* What the first round made is used again. */
static void later_rounds_allocate_no_buffers(void)
{
    meta_mem_desc first = META_MEM_DESC_INIT, last = META_MEM_DESC_INIT;
    meta_exchange exchange[3];
    void *u[3];
    MPI_Comm cart;
    meta_mode mode;
    int index;
    meta_halo plan = line_plan(&cart);
    CHECK_OK(meta_get_acc(&index, &mode));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_alloc(&u[k], bytes));
    for (int round = 0; round < 20; ++round) {
        for (int k = 0; k < 3; ++k) CHECK_OK(meta_halo_begin(plan, &u[k], &exchange[k]));
        for (int k = 0; k < 3; ++k) CHECK_OK(meta_halo_end(&exchange[k], NULL));
        CHECK_OK(meta_flush()); /* what is sent has left its buffers too */
        CHECK_OK(meta_mem_info(index, mode, round == 0 ? &first : &last));
    }
    CHECK_INT(last.buffers, first.buffers);
    CHECK_INT(last.allocated, first.allocated);
    CHECK_OK(meta_halo_free(&plan));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_free(u[k]));
    MPI_Comm_free(&cart);
}

/* ------------------------------------------------------------------ bits */

/* The same finite numbers for each set of arrays. */
static void upload_random(halo_case *c, uint64_t seed)
{
    for (int f = 0; f < c->wish.fields; ++f) {
        const halo_array *a = &c->array[f];
        unsigned char *to = a->found;
        uint64_t h = seed + (uint64_t)(1000 * f + test_rank);
        for (int64_t k = 0; k < a->count; ++k, to += a->element) {
            h = h * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double f64 = (double)(h >> 11) * 0x1p-53;
            const float f32 = (float)f64;
            memcpy(to, &h, a->element);
            if (a->type == META_F64) memcpy(to, &f64, sizeof f64);
            if (a->type == META_F32) memcpy(to, &f32, sizeof f32);
        }
    }
    halo_case_upload(c);
}

/* One plan, arrays on one device and then on another, round after round. */
static void the_device_of_the_arrays_does_not_change_a_bit(void)
{
    meta_mode modes[8];
    const int choices = modes_here(modes);
    const int64_t cases = test_count(8, 100);
    for (int64_t number = 0; number < cases && !halo_broken_anywhere(); ++number) {
        halo_case c[8];
        halo_wish wish = halo_wish_random();
        meta_halo plan;
        int made = 1;
        wish.op = META_HALO_ADD;
        wish.mode[0] = wish.mode[1] = modes[0];
        bool right = halo_case_make(&c[0], &wish, "bits", number);
        for (; right && made < choices; ++made)
            right = halo_case_again(&c[made], &c[0], modes[made]);
        CHECK_OK(meta_set_acc(0, modes[number % choices]));
        if (right && CHECK_OK(meta_halo_create(&plan, &c[0].desc))) {
            for (int round = 0; round < 3; ++round) {
                const uint64_t seed = test_random();
                for (int k = 0; k < choices; ++k) {
                    upload_random(&c[k], seed);
                    CHECK_OK(meta_halo_exchange(plan, c[k].fields, NULL));
                    for (int f = 0; f < wish.fields; ++f) {
                        const halo_array *a = &c[k].array[f];
                        CHECK_OK(meta_copy_d2h(a->found, c[k].fields[f],
                                               (size_t)a->count * a->element, NULL));
                        CHECK_ARRAY(a->found, c[0].array[f].found, a->count, a->type);
                    }
                }
            }
            CHECK_OK(meta_halo_free(&plan));
        }
        while (--made >= 0) halo_case_free(&c[made]);
        CHECK_OK(meta_set_acc(0, modes[0]));
    }
}

TEST_MAIN_WITH(&setting, PROMISE(exchanges_of_one_plan_do_not_disturb_each_other),
               PROMISE(a_plan_is_for_arrays_of_any_device),
               PROMISE(exchanges_go_on_before_any_is_ended),
               PROMISE(work_is_in_order_with_the_exchanges_of_its_arrays),
               PROMISE(start_and_finish_go_beside_begin_and_end),
               PROMISE(later_rounds_allocate_no_buffers),
               PROMISE(the_device_of_the_arrays_does_not_change_a_bit),
               PROMISE(neither_do_they_through_mpi_and_in_pieces))
