/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_learn.c
 *  META_LEARN with several ranks: what each has learned is in one file, by which they all decide
 *  alike, though their devices differ in speed. */
/* TEST: np=4 timeout=120 labels=comm,cache */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    if (test_rank == 0) {
        char *built = realpath(test_built("tests"), NULL);
        snprintf(root, sizeof root, "%s/learn-test-XXXXXX", built ? built : "/tmp");
        free(built);
        CHECK(mkdtemp(root) != NULL);
    }
    MPI_Bcast(root, ROOM, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(table, sizeof table, "%s/table", root);
    snprintf(launches, sizeof launches, "%s/launches-%d", root, test_rank);
}

static void prepare(const char *word, const char *devices)
{
    char learn[ROOM + 32];
    snprintf(learn, sizeof learn, "%s:%s", word, table);
    setenv("META_LEARN", learn, 1);
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_POLICY", "cost", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM", devices, 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_TEST_SIM_LOG", launches, 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
}

static void compute(int octave)
{
    const int64_t cells = INT64_C(1) << octave;
    const int ghosts = 0;
    const double half = 0.5;
    double dot, *initial = calloc((size_t)cells, sizeof *initial);
    void *x, *y;
    meta_box box;
    CHECK_OK(meta_grid_alloc(&x, &box, 1, &cells, &ghosts, &ghosts, META_F64));
    CHECK_OK(meta_grid_alloc(&y, &box, 1, &cells, &ghosts, &ghosts, META_F64));
    CHECK_OK(meta_copy_h2d(x, initial, (size_t)cells * sizeof *initial, NULL));
    CHECK_OK(meta_copy_h2d(y, initial, (size_t)cells * sizeof *initial, NULL));
    for (int k = 0; k < 40; ++k) {
        CHECK_OK(meta_axpy(y, &half, x, &box, META_F64, META_ASYNC));
        if (k % 5 == 4) CHECK_OK(meta_dot(&dot, x, y, &box, META_F64, NULL));
    }
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    free(initial);
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

static void read_file(const char *path, char text[TEXT])
{
    FILE *file = fopen(path, "r");
    memset(text, 0, TEXT);
    if (!CHECK(file != NULL)) return;
    if (fread(text, 1, TEXT - 1, file) == TEXT - 1) FAIL("%s is too long", path);
    fclose(file);
}

static void ranks_learn_together_and_decide_alike(void)
{
    static char text[TEXT], first[TEXT];
    fresh();
    live("on", machine[0], OWN + test_rank);
    read_file(table, text);
    for (int k = 0; k < test_size; ++k) {
        char cells[32];
        snprintf(cells, sizeof cells, " %d ", 1 << (OWN + k));
        test_case("rank %d's cells", k);
        CHECK_CONTAINS(text, cells);
    }
    live("read", machine[test_rank % 4], 0);
    read_file(launches, text);
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
