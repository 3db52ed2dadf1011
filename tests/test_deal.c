/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_deal.c
 *  Assignment of a node's devices to its ranks. The back end cards has three; hwloc gets a
 *  topology where the second device is near the first two cores, the first and the third near
 *  the other two. */
/* TEST: backends=any labels=core smoke=yes */
#include "config.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RANKS 6

static meta_cores cores[RANKS];

/* Bit k of @p bits is core k. */
static void bind_rank(int rank, uint64_t bits)
{
    memset(&cores[rank], 0, sizeof cores[rank]);
    cores[rank].bits[0] = bits;
}

static bool begin(void)
{
    test_find_own_plugins();
    unsetenv("HWLOC_COMPONENTS"); /* hwloc reads no file where a choice of components is set */
    /* By hwloc's own parser, which knows no comments: the other one may not be installed. */
    setenv("HWLOC_LIBXML", "0", 1);
    setenv("HWLOC_XMLFILE", test_source("tests/two-packages.xml"), 1);
    setenv("META_MODE", "cards", 1);
    return CHECK_OK(meta_init());
}

/* The devices that @p ranks ranks get. */
static void check_deal(int ranks, const int *expected)
{
    for (int r = 0; r < ranks; ++r) {
        int index = -1;
        test_case("rank %d of %d", r, ranks);
        CHECK_OK(meta_rank_device(r, ranks, r, ranks, NULL, &index, NULL));
        CHECK_INT(index, expected[r]);
    }
}

static void check_deal_of_cores(int ranks, const int *expected)
{
    CHECK_OK(meta_core_table.set_node_cores(cores, ranks));
    check_deal(ranks, expected);
}

static void ranks_without_cores_of_their_own_take_turns(void)
{
    if (!begin()) return;
    check_deal(5, (const int[]){0, 1, 2, 0, 1});
    for (int r = 0; r < 4; ++r) bind_rank(r, 0xf);
    check_deal_of_cores(4, (const int[]){0, 1, 2, 0});
    bind_rank(0, 1);
#ifdef HAVE_HWLOC
    check_deal_of_cores(4, (const int[]){1, 0, 2, 0});
#endif
    /* Of the cores of four ranks nothing follows for another number of them. */
    check_deal(5, (const int[]){0, 1, 2, 0, 1});
    CHECK_OK(meta_finalize());
}

#ifdef HAVE_HWLOC
static void a_rank_takes_a_device_near_its_cores(void)
{
    if (!begin()) return;
    bind_rank(0, 4), bind_rank(1, 8), bind_rank(2, 3);
    check_deal_of_cores(3, (const int[]){0, 2, 1});
    bind_rank(0, 1), bind_rank(1, 4), bind_rank(2, 8);
    check_deal_of_cores(3, (const int[]){1, 0, 2});
    bind_rank(0, 2), bind_rank(1, 8);
    check_deal_of_cores(2, (const int[]){1, 0});
    bind_rank(0, 8), bind_rank(1, 8), bind_rank(2, 4), bind_rank(3, 4), bind_rank(4, 1);
    bind_rank(5, 2);
    check_deal_of_cores(6, (const int[]){0, 2, 0, 2, 1, 1});
    CHECK_OK(meta_finalize());
}
#endif

static void no_device_gets_two_ranks_more_than_another(void)
{
    if (!begin()) return;
    for (int k = 0; k < 300; ++k) {
        const int ranks = (int)test_random_in(2, RANKS);
        int load[3] = {0}, most = 0, fewest = RANKS;
        for (int r = 0; r < ranks; ++r) bind_rank(r, (uint64_t)test_random_in(1, 15));
        CHECK_OK(meta_core_table.set_node_cores(cores, ranks));
        for (int r = 0; r < ranks; ++r) {
            int index = -1;
            CHECK_OK(meta_rank_device(r, ranks, r, ranks, NULL, &index, NULL));
            if (CHECK(index >= 0 && index < 3)) ++load[index];
        }
        for (int d = 0; d < 3; ++d) {
            if (load[d] > most) most = load[d];
            if (load[d] < fewest) fewest = load[d];
        }
        if (!CHECK(most - fewest <= 1)) break;
    }
    CHECK_OK(meta_finalize());
}

static void an_explicit_device_index_is_kept(void)
{
    if (!begin()) return;
    CHECK_OK(meta_finalize());
    setenv("META_MODE", "cards:2", 1);
    CHECK_OK(meta_init());
    bind_rank(0, 1), bind_rank(1, 4);
    check_deal_of_cores(2, (const int[]){2, 2});
    CHECK_OK(meta_finalize());
}

TEST_MAIN(PROMISE(ranks_without_cores_of_their_own_take_turns),
#ifdef HAVE_HWLOC
          PROMISE(a_rank_takes_a_device_near_its_cores),
#endif
          PROMISE(no_device_gets_two_ranks_more_than_another),
          PROMISE(an_explicit_device_index_is_kept))
