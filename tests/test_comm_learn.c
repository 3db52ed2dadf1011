/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_learn.c
 *  META_LEARN with several ranks: what each has learned is in one file, by which they all decide
 *  alike, though their devices differ in speed. */
/* TEST: np=4 labels=comm,cache */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "scratch.h"
#include "simulated.h"
#include "test_mpi.h"

enum { ROOM = 512, TEXT = 1 << 16, COMMON = 18, OWN = 8 };
static char root[ROOM], table[ROOM + 16], launches[ROOM + 32];

/* The same names on each rank. */
static const char *const machine[] = {
    "cpu sync host rate=20G launch=1us; gpu rate=500G launch=8us latency=10us bandwidth=12G",
    "cpu sync host rate=400G launch=1us; gpu rate=10G launch=80us latency=1us bandwidth=20G",
    "cpu sync host rate=20G launch=1us; gpu rate=500G launch=8us latency=5ms bandwidth=1M",
    "cpu sync host rate=1G launch=9us; gpu rate=1G launch=1us latency=1us bandwidth=20G slow=1ms:9",
};

static void fresh(void)
{
    if (test_rank == 0) scratch_make("learn", root, sizeof root);
    MPI_Bcast(root, ROOM, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(table, sizeof table, "%s/table", root);
    snprintf(launches, sizeof launches, "%s/launches-%d", root, test_rank);
}

static void prepare(const char *word, const char *devices)
{
    char learn[ROOM + 32];
    snprintf(learn, sizeof learn, "%s:%s", word, table);
    simulated_set(devices, "cost");
    setenv("META_LEARN", learn, 1);
    setenv("META_TEST_SIM_LOG", launches, 1);
}

static void compute(int octave)
{
    const int64_t cells = INT64_C(1) << octave;
    const double half = 0.5;
    double dot;
    meta_box box;
    void *x = case_zeros(cells, &box), *y = case_zeros(cells, &box);
    for (int k = 0; k < 40; ++k) {
        CHECK_OK(meta_axpy(y, &half, x, &box, META_F64, META_ASYNC));
        if (k % 5 == 4) CHECK_OK(meta_dot(&dot, x, y, &box, META_F64, NULL));
    }
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

static void live(const char *word, const char *devices, int octave)
{
    unlink(launches);
    prepare(word, devices);
    if (!CHECK_OK(meta_comm_init(NULL, NULL))) return;
    compute(COMMON);
    if (octave > 0) compute(octave);
    CHECK_OK(meta_comm_finalize());
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ranks_learn_together_and_decide_alike(void)
{
    static char text[TEXT], first[TEXT];
    fresh();
    live("on", machine[0], OWN + test_rank);
    CHECK(scratch_read(table, text, TEXT));
    for (int k = 0; k < test_size; ++k) {
        char cells[32];
        snprintf(cells, sizeof cells, " %d ", 1 << (OWN + k));
        test_case("rank %d's cells", k);
        CHECK_CONTAINS(text, cells);
    }
    live("read", machine[test_rank % 4], 0);
    CHECK(scratch_read(launches, text, TEXT));
    memcpy(first, text, TEXT);
    MPI_Bcast(first, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
    test_case("of what rank %d has launched", test_rank);
    CHECK_STRING(text, first);
    CHECK_CONTAINS(text, "cpu axpy");
    CHECK_CONTAINS(text, "gpu axpy");
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(launches);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank > 0) return;
    unlink(table);
    CHECK_INT(rmdir(root), 0);
}

TEST_MPI_MAIN(PROMISE(ranks_learn_together_and_decide_alike))
