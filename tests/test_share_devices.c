/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_share_devices.c
 *  Ranks that share a node with one or four GPUs place their work together: the slowest rank takes
 *  at most 1.10 of what it takes with the best joint plan, after some steps. The devices are
 *  simulated, each rank has a virtual clock of its own, and a kernel takes as many times as long as
 *  ranks have used its device in the step before. */
/* TEST: np=2,4,8 labels=core */
#include "config.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/sim.h"
#include "test.h"
#include "test_mpi.h"

enum { CELLS = 20000, CALLS = 8, DEVICES = 5, RANKS = 64 };
/* Steps until places are found; with somebody else's load from LOADED on, which they are told by
 * slower kernels only, until LEFT; and until a device that was slower has been tried again. */
enum { LEARNT = 120, LOADED = 240, LEARNT_LOAD = 480, LEFT = 560, BACK = 860, STEPS = 920 };

#define CPU    "cpu sync host rate=1G launch=1us; "
#define GPU(n) "gpu" #n " rate=5G launch=5us latency=5us bandwidth=10G memory=1G; "
static const char one_gpu[] = GPU(0) CPU;
static const char four_gpus[] = GPU(0) GPU(1) GPU(2) GPU(3) CPU;

/** A life of the library on a machine. */
typedef struct life {
    const char *machine;
    int devices;
    int steps;
    double outside; /**< on device 0, in steps [LOADED, LEFT): as much as of so many ranks that know
                         of no board */
    int used[STEPS];    /**< the device of each step */
    double time[STEPS]; /**< ns of each step */
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

/* Ranks may be more than cores: one that waits leaves its core to the others. */
static void wait_for(MPI_Request *request)
{
    int is_complete = 0;
    for (;;) {
        MPI_Test(request, &is_complete, MPI_STATUS_IGNORE);
        if (is_complete) return;
        sched_yield();
    }
}

static void meet(void)
{
    MPI_Request all;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    wait_for(&all);
}

/* Everybody's kernels of the next step are as slow as the last step's places make them. */
static void crowd_next(const life *l, int step, int mine)
{
    int place[RANKS];
    MPI_Request all;
    MPI_Iallgather(&mine, 1, MPI_INT, place, 1, MPI_INT, MPI_COMM_WORLD, &all);
    wait_for(&all);
    for (int d = 0; d < l->devices; ++d) {
        crowd->slower[d] = 1 + (d == 0 && step >= LOADED && step < LEFT ? l->outside : 0);
        for (int r = 0; r < test_size; ++r) crowd->slower[d] += r != test_rank && place[r] == d;
    }
}

static void do_steps(life *l, void *x, void *y, const meta_box *box)
{
    static const double half = 0.5;
    double sum, before[DEVICES], began;
    for (int k = 0; k < l->steps; ++k) {
        memcpy(before, crowd->busy, sizeof before);
        began = crowd->now;
        for (int n = 0; n < CALLS; ++n) CHECK_OK(meta_axpy(y, &half, x, box, META_F64, META_ASYNC));
        CHECK_OK(meta_reduce(&sum, y, box, META_SUM, META_F64, NULL));
        l->time[k] = crowd->now - began;
        l->used[k] = busiest(before);
        if (l->devices > 0) crowd_next(l, k + 1, l->used[k]);
    }
}

static bool begin(const char *machine, const char *policy)
{
    setenv("META_MODE", "auto", 1);
    if (!getenv("META_TEST_ALONE")) unsetenv("META_BOARD"); /* alone: to see it fail */
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_SIM", machine, 1);
    setenv("META_POLICY", policy, 1);
    make_folder();
    meet();
    return CHECK_OK(meta_init());
}

static void end(void)
{
    CHECK_OK(meta_finalize());
    remove_folder();
}

static void live(life *l, const char *policy)
{
    static double initial[CELLS];
    const int64_t cells[1] = {CELLS};
    const int none[1] = {0};
    void *x, *y;
    meta_box box;
    if (!begin(l->machine, policy)) return;
    CHECK_OK(meta_grid_alloc(&x, &box, 1, cells, none, none, META_F64));
    CHECK_OK(meta_grid_alloc(&y, &box, 1, cells, none, none, META_F64));
    CHECK_OK(meta_copy_h2d(x, initial, sizeof initial, NULL));
    CHECK_OK(meta_copy_h2d(y, initial, sizeof initial, NULL));
    do_steps(l, x, y, &box);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    end();
}

/* ------------------------------------------------------------------ plans */

/* Nanoseconds of one of steps [from, to), of the slowest rank. */
static double slowest(const life *l, int from, int to)
{
    double mine = 0, most;
    for (int k = from; k < to; ++k) mine += l->time[k];
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most / (to - from);
}

/* The least time of a step with each of the @p ranks ranks left on one of the devices from @p d on,
 * of which each takes alone[d] for one, device 0 with others' load: all ways to divide them are
 * looked at. */
static double best_plan(const double *alone, double outside, int devices, int d, int ranks)
{
    double best = 1e300;
    for (int here = d == devices - 1 ? ranks : 0; here <= ranks; ++here) {
        const double mine = here > 0 ? (here + (d == 0 ? outside : 0)) * alone[d] : 0;
        const double rest =
            d + 1 < devices ? best_plan(alone, outside, devices, d + 1, ranks - here) : 0;
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
        life l = {.machine = machine, .steps = 2 * LEARNT};
        snprintf(policy, sizeof policy, "device:%d", d);
        live(&l, policy);
        alone[d] = slowest(&l, LEARNT, 2 * LEARNT);
    }
}

/* "4*1 3*21 ": one step on device 4, then 21 on device 3. */
static void describe(const life *l, char *text, size_t room)
{
    size_t length = 0;
    for (int k = 0, next; k < l->steps && length < room; k = next) {
        for (next = k + 1; next < l->steps && l->used[next] == l->used[k]; ++next) continue;
        length += (size_t)snprintf(text + length, room - length, "%d*%d ", l->used[k], next - k);
    }
}

static void expect(const life *l, int from, int to, double best)
{
    char text[300] = "";
    const double ratio = slowest(l, from, to) / best;
    describe(l, text, sizeof text);
    test_case("rank %d of %d, %d devices, steps %d to %d: %.3f of the best joint plan; devices of "
              "all steps %s",
              test_rank, test_size, l->devices, from, to, ratio, text);
    CHECK(ratio <= 1.10);
}

static void share(const char *machine, int devices, double outside)
{
    double alone[DEVICES] = {0};
    life l = {.machine = machine,
              .devices = devices,
              .steps = outside > 0 ? STEPS : LOADED,
              .outside = outside};
    measure(machine, devices, alone);
    live(&l, "cost");
    const double best = best_plan(alone, 0, devices, 0, test_size);
    expect(&l, LEARNT, LOADED, best);
    if (outside == 0) return;
    expect(&l, LEARNT_LOAD, LEFT, best_plan(alone, outside, devices, 0, test_size));
    expect(&l, BACK, STEPS, best);
}

/* ------------------------------------------------------------------ promises */

static void one_gpu_and_the_cores_are_shared(void)
{
    share(one_gpu, 2, 0);
}

static void four_gpus_and_the_cores_are_shared(void)
{
    share(four_gpus, 5, 0);
}

static void ranks_leave_a_loaded_gpu_and_come_back(void)
{
    share(one_gpu, 2, 4);
    share(four_gpus, 5, 4);
}

/* Nanoseconds of calls on the GPU, of other lengths each, so that they make no loop. */
static double use_gpu(void *x, void *y, const meta_box *box, int calls)
{
    static const double half = 0.5;
    const double before = crowd->busy[0];
    for (int n = 0; n < calls; ++n) {
        meta_box part = *box;
        part.end[0] -= n;
        CHECK_OK(meta_axpy(y, &half, x, &part, META_F64, NULL));
    }
    return crowd->busy[0] - before;
}

/* Rank 0 holds most of the GPU's memory, rank 1 has more to compute with than fits beside it. */
static void memory_that_others_hold_is_not_counted_on(void)
{
    const int64_t cells[1] = {test_rank == 0 ? 3 << 20 : 5 << 19};
    const int none[1] = {0}, calls = 20;
    const double zero = 0;
    void *x, *y;
    meta_box box;
    if (!begin("gpu rate=50G memory=64M; cpu sync host rate=1G",
               test_rank == 0 ? "device:0" : "cost"))
        return;
    CHECK_OK(meta_grid_alloc(&x, &box, 1, cells, none, none, META_F64));
    CHECK_OK(meta_grid_alloc(&y, &box, 1, cells, none, none, META_F64));
    if (test_rank > 0) meet();
    CHECK_OK(meta_fill_box(x, &box, &zero, META_F64, NULL));
    CHECK_OK(meta_fill_box(y, &box, &zero, META_F64, NULL));
    if (test_rank == 0) CHECK(use_gpu(x, y, &box, calls) > 0);
    if (test_rank == 0) meet();
    if (test_rank == 1) CHECK(use_gpu(x, y, &box, calls) == 0);
    meet();
    if (test_rank == 1) meet();
    if (test_rank == 1) CHECK(use_gpu(x, y, &box, calls) > 0);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    CHECK_OK(meta_finalize());
    if (test_rank != 1) meet();
    remove_folder();
}

TEST_MPI_MAIN(PROMISE(one_gpu_and_the_cores_are_shared),
              PROMISE(four_gpus_and_the_cores_are_shared),
              PROMISE(ranks_leave_a_loaded_gpu_and_come_back),
              PROMISE(memory_that_others_hold_is_not_counted_on))
