/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_node.c
 *  Memory that the ranks of a node share: it has no name in the file system, it is private to the
 *  user, and messages go through MPI where it cannot be had. */
/* TEST: backends=openmp np=2,3,4 labels=comm */
#include "config.h"

#include "caught.h"
#include "test_mpi.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CELLS = 1000, TEXT = 20000 };

/* ------------------------------------------------------------------ a ring of blocks */

typedef struct ring {
    MPI_Comm cart;
    meta_halo plan;
    void *u;
} ring;

static void open_ring(ring *r)
{
    const int periodic = 1;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &r->cart);
    desc.cart = r->cart;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    CHECK_OK(meta_alloc(&r->u, (CELLS + 2) * sizeof(double)));
    CHECK_OK(meta_halo_create(&r->plan, &desc));
}

static void close_ring(ring *r)
{
    CHECK_OK(meta_halo_free(&r->plan));
    CHECK_OK(meta_free(r->u));
    MPI_Comm_free(&r->cart);
}

/* Cell k of a rank is CELLS times the rank and k. */
static void exchange(ring *r)
{
    double u[CELLS + 2] = {0};
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    for (int k = 1; k <= CELLS; ++k) u[k] = (double)CELLS * test_rank + k;
    CHECK_OK(meta_copy_h2d(r->u, u, sizeof u, NULL));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_halo_exchange(r->plan, &r->u, NULL));
    CHECK_OK(meta_copy_d2h(u, r->u, sizeof u, NULL));
    CHECK_NEAR(u[0], (double)CELLS * left + CELLS, 0);
    CHECK_NEAR(u[CELLS + 1], (double)CELLS * right + 1, 0);
}

/* What a rank says of its plan. */
static void live(char *text)
{
    ring r;
    setenv("META_LOG", "debug", 1);
    catch_errors();
    test_require(meta_comm_init(NULL, NULL));
    open_ring(&r);
    exchange(&r);
    close_ring(&r);
    CHECK_OK(meta_comm_finalize());
    take_caught(text, TEXT);
    unsetenv("META_LOG");
}

/* ------------------------------------------------------------------ promises */

static int open_files(void)
{
    int count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) ++count;
    if (d) closedir(d);
    return count;
}

/* This process's mappings of files whose paths have this text. */
static int mappings_of(const char *text)
{
    char line[4352];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!CHECK(maps != NULL)) return 0;
    while (fgets(line, sizeof line, maps)) count += strstr(line, text) != NULL;
    fclose(maps);
    return count;
}

/* Shared memory of ours, which nobody else may open. */
static int mappings(void)
{
    return mappings_of("/memfd:libmeta (");
}

static void nothing_of_it_is_in_a_folder_and_no_file_stays_open(void)
{
    ring r;
    test_require(meta_comm_init(NULL, NULL));
    const int open = open_files(), mapped = mappings();
    CHECK_INT(mapped, test_size);
    open_ring(&r);
    exchange(&r);
    CHECK_INT(open_files(), open);
    CHECK_INT(mappings(), mapped + (test_size == 2 ? 2 : 3));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(mappings_of("/dev/shm/libmeta"), 0);
    close_ring(&r);
    CHECK_INT(mappings(), mapped);
    CHECK_OK(meta_comm_finalize());
    CHECK_INT(mappings(), 0);
}

static void ranks_of_a_node_use_it(void)
{
    static char text[TEXT];
    live(text);
    CHECK_CONTAINS(text, "shared: the neighbour is on this node");
    CHECK(strstr(text, "another node") == NULL);
}

static void ranks_of_different_nodes_do_not(void)
{
    static char text[TEXT];
    char part[16];
    snprintf(part, sizeof part, "%d", test_rank);
    setenv("META_TEST_NODE", part, 1);
    live(text);
    unsetenv("META_TEST_NODE");
    CHECK_CONTAINS(text, "not shared: the neighbour is on another node");
    CHECK(strstr(text, "shared: the neighbour is on this node") == NULL);
    CHECK_CONTAINS(text, ", 0 of 1 on ");
}

static const char *boot_id; /* of this rank's machine; NULL: what it is */

/* The library's calls come here. */
__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (boot_id && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return fmemopen((void *)(uintptr_t)boot_id, strlen(boot_id), "r");
    return real(path, mode);
}

/* Names in which a single bit differs, wherever it is. */
static void machines_of_different_names_are_different_nodes(void)
{
    static char text[TEXT];
    char name[] = "00000000-0000-0000-0000-000000000000\n";
    boot_id = name;
    for (int bit = 0; bit < 3; ++bit)
        for (int at = 0; at < 36; at += 35) {
            test_case("bit %d of letter %d", bit, at);
            if (test_rank % 2) name[at] ^= (char)(1 << bit);
            live(text);
            name[at] = '0';
            CHECK_CONTAINS(text, "not shared: the neighbour is on another node");
        }
    boot_id = NULL;
}

/* Ranks 0 and 1, and the others. */
static void a_rank_may_have_neighbours_of_both_kinds(void)
{
    static char text[TEXT];
    setenv("META_TEST_NODE", test_rank < 2 ? "-1" : "1", 1);
    live(text);
    unsetenv("META_TEST_NODE");
    if (test_size != 3 || test_rank < 2)
        CHECK_CONTAINS(text, "shared: the neighbour is on this node");
    if (test_size > 2) CHECK_CONTAINS(text, "not shared: the neighbour is on another node");
}

/* Unless the launcher gave each rank some of its own. */
static void ranks_with_the_same_cores_share_them(void)
{
    static char text[TEXT];
    char words[64];
    cpu_set_t mine, some, all;
    const int bytes = (int)sizeof mine;
    CHECK_INT(sched_getaffinity(0, sizeof mine, &mine), 0);
    MPI_Allreduce(&mine, &some, bytes, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &all, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    const bool same = CPU_EQUAL(&some, &all);
    const int cores = CPU_COUNT(&mine), share = cores > test_size ? cores / test_size : 1;
    live(text);
    snprintf(words, sizeof words, "; its share of the cores is %d\n", share);
    if (same) CHECK_CONTAINS(text, words);
}

/* One rank may open no more files when the plan is made. */
static void where_it_cannot_be_had_messages_go_through_mpi(void)
{
    static char text[TEXT];
    struct rlimit all, few;
    ring r;
    test_require(meta_comm_init(NULL, NULL));
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &all), 0);
    few = all;
    few.rlim_cur = (rlim_t)0;
    catch_errors();
    if (test_rank == test_size - 1) setrlimit(RLIMIT_NOFILE, &few);
    open_ring(&r);
    setrlimit(RLIMIT_NOFILE, &all);
    take_caught(text, TEXT);
    CHECK_CONTAINS(text, "no shared memory for a halo plan, its messages go through MPI: ");
    CHECK_CONTAINS(text, "memfd_create() of ");
    CHECK_CONTAINS(text, strerror(EMFILE));
    exchange(&r);
    close_ring(&r);
    CHECK_OK(meta_comm_finalize());
}

static void what_one_rank_does_not_want_no_rank_does(void)
{
    static char text[TEXT];
    if (test_rank == 0) setenv("META_SHARED", "off", 1);
    live(text);
    unsetenv("META_SHARED");
    CHECK_CONTAINS(text, "not shared: META_SHARED=off");
}

static void a_node_is_a_number(void)
{
    if (test_rank == 0) setenv("META_TEST_NODE", "first", 1);
    CHECK_ERR(meta_comm_init(NULL, NULL), META_ERR_ENVIRONMENT);
    CHECK_CONTAINS(meta_last_error(), "META_TEST_NODE=first: give a number");
    unsetenv("META_TEST_NODE");
    test_require(meta_comm_init(NULL, NULL));
    CHECK_OK(meta_comm_finalize());
}

TEST_MPI_MAIN(PROMISE(nothing_of_it_is_in_a_folder_and_no_file_stays_open),
              PROMISE(ranks_of_a_node_use_it), PROMISE(ranks_of_different_nodes_do_not),
              PROMISE(machines_of_different_names_are_different_nodes),
              PROMISE(a_rank_may_have_neighbours_of_both_kinds),
              PROMISE(ranks_with_the_same_cores_share_them),
              PROMISE(where_it_cannot_be_had_messages_go_through_mpi),
              PROMISE(what_one_rank_does_not_want_no_rank_does), PROMISE(a_node_is_a_number))
