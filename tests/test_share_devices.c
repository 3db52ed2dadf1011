/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_share_devices.c
 *  Ranks that share a node with one or four GPUs place their work together: the slowest rank takes
 *  at most 1.10 of what it takes with the best joint plan, after some steps. The devices are
 *  simulated, each rank has a virtual clock of its own, and a kernel takes as many times as long as
 *  ranks have used its device in the step before. */
/* TEST: np=2 timeout=300 labels=core */
#include "config.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/sim.h"
#include "test.h"
#include "test_mpi.h"

enum { CELLS = 20000, CALLS = 8, STEPS = 240, LEARNT = 120, DEVICES = 5, RANKS = 64 };

#define CPU    "cpu sync host rate=1G launch=1us; "
#define GPU(n) "gpu" #n " rate=5G launch=5us latency=5us bandwidth=10G memory=1G; "
static const char one_gpu[] = GPU(0) CPU;
static const char four_gpus[] = GPU(0) GPU(1) GPU(2) GPU(3) CPU;

/** A life of the library on a machine. */
typedef struct life {
    const char *machine;
    int devices;
    int outside, from, until; /**< a process that knows of no board is on device `outside`
                                   in steps [from, until); -1: none is */
    int used[STEPS];          /**< the device of each step */
    double time[STEPS];       /**< ns of each step */
} life;

static char folder[] = "/tmp/test_share.XXXXXX";
static sim_crowd *crowd;
static char crowd_path[64];

/* ------------------------------------------------------------------ the node */

static void make_folder(void)
{
    strcpy(folder, "/tmp/test_share.XXXXXX");
    if (test_rank == 0 && !mkdtemp(folder)) FAIL("no folder in /tmp");
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("META_TEST_BOARD_DIR", folder, 1);
    strcpy(crowd_path, "/tmp/test_crowd.XXXXXX");
    const int file = mkstemp(crowd_path);
    if (!CHECK(file >= 0) || !CHECK(ftruncate(file, sizeof *crowd) == 0)) exit(1);
    crowd = mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    setenv("META_TEST_SIM_CROWD", crowd_path, 1);
}

static void remove_folder(void)
{
    char command[128];
    munmap(crowd, sizeof *crowd);
    unlink(crowd_path);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (test_rank == 0 && system(command) != 0) FAIL("%s is still there", folder);
}

/* Where most of the step's kernels ran. */
static int busiest(const double *before)
{
    int best = 0;
    for (int d = 1; d < DEVICES; ++d)
        if (crowd->busy[d] - before[d] > crowd->busy[best] - before[best]) best = d;
    return best;
}

/* Everybody's kernels of the next step are as slow as the last step's places make them. */
static void crowd_next(const life *l, int step, int mine)
{
    int place[RANKS];
    MPI_Allgather(&mine, 1, MPI_INT, place, 1, MPI_INT, MPI_COMM_WORLD);
    for (int d = 0; d < l->devices; ++d) {
        crowd->slower[d] = 1 + (d == l->outside && step >= l->from && step < l->until ? 4 : 0);
        for (int r = 0; r < test_size; ++r) crowd->slower[d] += r != test_rank && place[r] == d;
    }
}

static void do_steps(life *l, void *x, void *y, const meta_box *box)
{
    static const double half = 0.5;
    double sum, before[DEVICES], began;
    for (int k = 0; k < STEPS; ++k) {
        memcpy(before, crowd->busy, sizeof before);
        began = crowd->now;
        for (int n = 0; n < CALLS; ++n) CHECK_OK(meta_axpy(y, &half, x, box, META_F64, META_ASYNC));
        CHECK_OK(meta_reduce(&sum, y, box, META_SUM, META_F64, NULL));
        l->time[k] = crowd->now - began;
        l->used[k] = busiest(before);
        crowd_next(l, k + 1, l->used[k]);
    }
}

static void live(life *l, const char *policy)
{
    static double initial[CELLS];
    const int64_t cells[1] = {CELLS};
    const int none[1] = {0};
    void *x, *y;
    meta_box box;
    setenv("META_MODE", "auto", 1);
    if (!getenv("META_TEST_ALONE")) setenv("META_BOARD", "on", 1); /* alone: to see it fail */
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_SIM", l->machine, 1);
    setenv("META_POLICY", policy, 1);
    make_folder();
    MPI_Barrier(MPI_COMM_WORLD);
    if (CHECK_OK(meta_init())) {
        CHECK_OK(meta_grid_alloc(&x, &box, 1, cells, none, none, META_F64));
        CHECK_OK(meta_grid_alloc(&y, &box, 1, cells, none, none, META_F64));
        CHECK_OK(meta_copy_h2d(x, initial, sizeof initial, NULL));
        CHECK_OK(meta_copy_h2d(y, initial, sizeof initial, NULL));
        do_steps(l, x, y, &box);
        CHECK_OK(meta_free(x));
        CHECK_OK(meta_free(y));
        CHECK_OK(meta_finalize());
    }
    remove_folder();
}

/* ------------------------------------------------------------------ plans */

/* Nanoseconds of steps [from, to) of the slowest rank. */
static double makespan(const life *l, int from, int to)
{
    double mine = 0, most;
    for (int k = from; k < to; ++k) mine += l->time[k];
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* The least time of a step with each of the @p ranks ranks left on one of the devices from @p d on,
 * of which each takes alone[d] for one: all ways to divide them are looked at. */
static double best_plan(const double *alone, int devices, int d, int ranks)
{
    double best = 1e300;
    if (d == devices - 1) return ranks * alone[d];
    for (int here = 0; here <= ranks; ++here) {
        const double rest = best_plan(alone, devices, d + 1, ranks - here);
        const double mine = here * alone[d];
        const double plan = mine > rest ? mine : rest;
        if (plan < best) best = plan;
    }
    return best;
}

/* A step on each device if nobody else is there. */
static void measure(const char *machine, int devices, double *alone)
{
    for (int d = 0; d < devices; ++d) {
        char policy[32];
        life l = {.machine = machine, .devices = 0, .outside = -1};
        snprintf(policy, sizeof policy, "device:%d", d);
        live(&l, policy);
        alone[d] = makespan(&l, LEARNT, STEPS) / (STEPS - LEARNT);
    }
}

static void describe(const life *l, double ratio)
{
    char text[STEPS * 2 + 1] = "";
    for (int k = 0; k < STEPS; ++k) text[k] = (char)('0' + l->used[k]);
    test_case("rank %d of %d, %d devices: %.3f of the best joint plan; devices of the steps %s",
              test_rank, test_size, l->devices, ratio, text);
}

static void share(const char *machine, int devices)
{
    double alone[DEVICES] = {0};
    life l = {.machine = machine, .devices = devices, .outside = -1};
    measure(machine, devices, alone);
    live(&l, "cost");
    const double best = best_plan(alone, devices, 0, test_size);
    const double ratio = makespan(&l, LEARNT, STEPS) / (STEPS - LEARNT) / best;
    describe(&l, ratio);
    CHECK(ratio <= 1.10);
}

/* ------------------------------------------------------------------ promises */

static void one_gpu_and_the_cores_are_shared(void)
{
    share(one_gpu, 2);
}

static void four_gpus_and_the_cores_are_shared(void)
{
    share(four_gpus, 5);
}

TEST_MPI_MAIN(PROMISE(one_gpu_and_the_cores_are_shared),
              PROMISE(four_gpus_and_the_cores_are_shared))
