/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_flat.c
 *  Random exchanges for a fixed time (ten minutes in a long run, one minute in CI), with new
 *  plans and arrays for every few of them: the process's memory, address space, files, threads,
 *  shared memory, MPI objects and device memory do not grow. */
/* TEST: np=2 labels=comm */
/* TEST: np=4 labels=comm long=yes */
#include "test_mpi.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halo_cases.h"
#include "mpi_fault.h"

/* ------------------------------------------------------------------ what a process holds */

enum { MODES = 5 }; /* those of our back ends are 0 to 4 */

typedef struct usage {
    int64_t address_space, resident; /* bytes */
    int64_t heap;                    /* bytes that malloc() has given out, if it can tell */
    int64_t shared;                  /* bytes of memory shared with other ranks */
    int64_t files, threads;
    int64_t objects[MPI_OBJECT_COUNT];
    int64_t allocated[MODES], buffers[MODES], held[MODES];
} usage;

static int64_t entries_of(const char *folder)
{
    int64_t count = 0;
    DIR *d = opendir(folder);
    if (!CHECK(d != NULL)) return 0;
    while (readdir(d)) ++count;
    closedir(d);
    return count;
}

static int64_t shared_memory(void)
{
    char line[4352];
    int64_t bytes = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!CHECK(maps != NULL)) return 0;
    while (fgets(line, sizeof line, maps)) {
        uint64_t from, to;
        if (strstr(line, " /memfd:libmeta (") && sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
            bytes += (int64_t)(to - from);
    }
    fclose(maps);
    return bytes;
}

static int64_t heap_in_use(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

/* Memory of freed buffers is no longer used, but kept for the next ones: of how many lengths they
 * are depends on the cases. What still is not given back then is lost. */
static void give_back_what_is_kept(void)
{
    for (int mode = META_OPENMP; mode < MODES; ++mode) {
        int devices = 0;
        CHECK_OK(meta_device_count(mode, &devices));
        if (devices > 0) CHECK_OK(meta_pool_trim(0, mode, 0));
    }
}

static usage look(void)
{
    give_back_what_is_kept();
    usage u = {.heap = heap_in_use()};
    FILE *statm = fopen("/proc/self/statm", "r");
    if (CHECK(statm != NULL)) {
        CHECK_INT(fscanf(statm, "%" SCNd64 " %" SCNd64, &u.address_space, &u.resident), 2);
        fclose(statm);
    }
    u.address_space *= sysconf(_SC_PAGESIZE);
    u.resident *= sysconf(_SC_PAGESIZE);
    u.shared = shared_memory();
    u.files = entries_of("/proc/self/fd");
    u.threads = entries_of("/proc/self/task");
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k) u.objects[k] = mpi_objects((mpi_object)k);
    for (int mode = META_OPENMP; mode < MODES; ++mode) {
        meta_mem_desc memory = META_MEM_DESC_INIT;
        meta_pool_desc pool = META_POOL_DESC_INIT;
        int devices = 0;
        CHECK_OK(meta_device_count(mode, &devices));
        if (devices == 0 || !CHECK_OK(meta_mem_info(0, mode, &memory))) continue;
        u.allocated[mode] = (int64_t)memory.allocated;
        u.buffers[mode] = (int64_t)memory.buffers;
        if (CHECK_OK(meta_pool_info(0, mode, &pool))) u.held[mode] = (int64_t)pool.held;
    }
    return u;
}

/* ------------------------------------------------------------------ exchanges */

static void exchange(halo_case *c, meta_halo plan, int step)
{
    meta_event done = META_EVENT_NULL;
    halo_case_initial(c, step);
    halo_case_expected(c, step);
    halo_case_upload(c);
    switch (test_random_in(0, 2)) {
    case 0:
        CHECK_OK(meta_halo_exchange(plan, c->fields, NULL));
        break;
    case 1:
        CHECK_OK(meta_halo_exchange(plan, c->fields, META_ASYNC));
        break;
    default:
        CHECK_OK(meta_halo_exchange(plan, c->fields, &done));
        CHECK_OK(meta_event_free(&done));
    }
    halo_case_check(c);
}

/* A disagreement is found when the plan is made, and that gives back what it had as well. */
static void refuse(const halo_case *c)
{
    meta_halo_desc desc = c->desc;
    meta_halo plan;
    if (test_rank == test_size - 1) desc.fields = -1;
    CHECK_ERR(meta_halo_create(&plan, &desc), META_ERR_ARGUMENT);
}

static void one_life(int64_t number)
{
    halo_wish wish = halo_wish_random();
    const int steps = (int)test_random_in(0, 3);
    halo_case c;
    meta_halo plan;
    wish.batch = 0; /* allocates nothing of its own; heaps breathe more with more sizes of arrays */
    if (halo_case_make(&c, &wish, "life", number) && CHECK_OK(meta_halo_create(&plan, &c.desc))) {
        for (int step = 0; step < steps; ++step) exchange(&c, plan, step);
        if (test_random() % 4 == 0) refuse(&c);
        CHECK_OK(meta_halo_free(&plan));
    }
    halo_case_free(&c);
    CHECK_OK(meta_flush());
}

/* The same on every rank: whether rank 0 has time left and nothing is broken. */
static bool goes_on(double end)
{
    int time_left = MPI_Wtime() < end;
    MPI_Bcast(&time_left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return !halo_broken_anywhere() && time_left;
}

static void look_again(usage *peak)
{
    const usage now = look();
    if (now.resident > peak->resident) peak->resident = now.resident;
    if (now.address_space > peak->address_space) peak->address_space = now.address_space;
    if (now.shared > peak->shared) peak->shared = now.shared;
}

static int64_t live_until(double end, int64_t number, usage *peak)
{
    while (goes_on(end)) {
        one_life(number++);
        if (number % 16 == 0) look_again(peak);
    }
    look_again(peak);
    return number;
}

/* ------------------------------------------------------------------ promises */

static void check_exact(const usage *before, const usage *now)
{
    const char *check = getenv("META_CHECK");
    const bool checked = check && strcmp(check, "1") == 0;
    CHECK_INT(now->files, before->files);
    CHECK_INT(now->threads, before->threads);
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k)
        if (now->objects[k] != before->objects[k])
            FAIL("there are %" PRId64 " %s, and were %" PRId64, now->objects[k],
                 mpi_object_name((mpi_object)k), before->objects[k]);
    for (int mode = 0; mode < MODES; ++mode) {
        CHECK_INT(now->allocated[mode], before->allocated[mode]);
        CHECK_INT(now->buffers[mode], before->buffers[mode]);
        /* Buffers of the past in quarantine have other lengths. */
        if (!checked) CHECK_INT(now->held[mode], before->held[mode]);
    }
}

/* Between two lives malloc() has given out what it had before, but for a little that libraries
 * below keep now and then; of the rest, peaks of two stretches of time are compared, since heaps
 * breathe. */
static void check_growth(const char *what, int64_t before, int64_t after, int64_t allowed)
{
    if (after > before + allowed)
        FAIL("%s grew from %" PRId64 " to %" PRId64 " bytes", what, before, after);
}

static bool has_hip(void)
{
    int devices = 0;
    CHECK_OK(meta_device_count(META_HIP, &devices));
    return devices > 0;
}

static void exchanges_with_ever_new_plans_leave_nothing_behind(void)
{
    const double seconds = (double)test_count(8, 600), start = MPI_Wtime();
    usage warm = {0}, early = {0}, late = {0};
    /* What libraries below keep grows with the first hundreds of plans, whatever time they take. */
    int64_t first = live_until(start + 0.3 * seconds, 0, &warm);
    for (const double end = MPI_Wtime() + 10; first < 1000 && goes_on(end);) one_life(first++);
    const usage before = look();
    const double warmed = MPI_Wtime();
    const int64_t middle = live_until(warmed + 0.3 * seconds, first, &early);
    const int64_t number = live_until(warmed + 0.7 * seconds, middle, &late);
    const usage after = look();
    /* In a short time, on a busy machine, libraries below are not through with beginning. */
    const int64_t allowed = number < 500 ? 16 << 20 : 8 << 20,
                  kept = number < 500 ? 1 << 20 : 64 << 10;
    /* In some processes MPICH 4.0 over UCX never gives back 56 bytes of an
     * MPI_Win_allocate_shared(). */
    const int64_t lost = 96 * (number - first);
    const char *sanitize = getenv("META_TEST_SANITIZE");
    test_case("after %" PRId64 " plans, of them %" PRId64 " in the last part", number,
              number - middle);
    check_exact(&before, &after);
    check_growth("shared memory", early.shared, late.shared, 0);
    /* AddressSanitizer keeps what was freed. */
    if (sanitize != NULL && strcmp(sanitize, "no") != 0) return;
    /* HIP-CPU keeps something of each launch. */
    if (!has_hip()) check_growth("the heap in use", before.heap, after.heap, kept + lost);
    check_growth("resident memory", early.resident, late.resident, allowed);
    check_growth("address space", early.address_space, late.address_space, allowed);
}

TEST_COMM_MAIN(PROMISE(exchanges_with_ever_new_plans_leave_nothing_behind))
