/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_traffic.c
 *  What halo exchanges moved is counted by path, and the log says it at the end: each path that
 *  carried anything, also in one direction only, and no other. */
/* TEST: backends=openmp np=1,2 labels=comm */
#include "test_mpi.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "scratch.h"

enum { CELLS = 6, WIDTH = 2, BYTES = WIDTH * (int)sizeof(double) };

static char folder[PATH_MAX];

/* ------------------------------------------------------------------ a job with a log of its own */

static void begin(const char *shared)
{
    char log[PATH_MAX + 16];
    setenv("META_LOG", "info", 1);
    setenv("META_SHARED", shared, 1);
    snprintf(log, sizeof log, "%s/log.%%r", folder);
    setenv("META_LOG_FILE", log, 1);
    test_require(meta_comm_init(NULL, NULL));
}

/* End it. @return what its log says of ghost cells */
static const char *end(void)
{
    static const char title[] = "exchanged ghost cells by path:";
    static char text[1 << 16];
    char log[PATH_MAX + 16];
    CHECK_OK(meta_comm_finalize());
    snprintf(log, sizeof log, "%s/log.%d", folder, test_rank);
    if (!CHECK(scratch_read(log, text, sizeof text))) return "";
    char *line = strstr(text, title);
    if (!line) return "nothing";
    line[strcspn(line, "\n")] = '\0';
    return line + strlen(title);
}

static const char *said(const char *path, int out, int in)
{
    static char text[128];
    snprintf(text, sizeof text, " %s: %d out with %d bytes, %d in with %d", path, out, out * BYTES,
             in, in * BYTES);
    return text;
}

/* Exchanges of ghosts at one side or both, in a line of the ranks of @p comm. */
static void exchange(MPI_Comm comm, int periodic, int low, int high, int times)
{
    const meta_box box = {1, {CELLS + 2 * WIDTH}, {WIDTH}, {CELLS + WIDTH}};
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan;
    void *field;
    int size;
    MPI_Comm_size(comm, &size);
    MPI_Cart_create(comm, 1, &size, &periodic, 0, &desc.cart);
    desc.box = box;
    desc.low[0] = low;
    desc.high[0] = high;
    if (CHECK_OK(meta_alloc(&field, (CELLS + 2 * WIDTH) * sizeof(double))) &&
        CHECK_OK(meta_halo_create(&plan, &desc))) {
        for (int k = 0; k < times; ++k) CHECK_OK(meta_halo_exchange(plan, &field, NULL));
        CHECK_OK(meta_halo_free(&plan));
        CHECK_OK(meta_free(field));
    }
    MPI_Comm_free(&desc.cart);
}

static void check_counts(meta_path path, int out, int in)
{
    meta_traffic traffic = META_TRAFFIC_INIT;
    CHECK_OK(meta_comm_traffic(&traffic));
    for (int k = 0; k < META_PATH_COUNT; ++k) {
        test_case("%s of %s", meta_path_name((meta_path)k), meta_path_name(path));
        CHECK_U64(traffic.messages_sent[k], k == (int)path ? out : 0);
        CHECK_U64(traffic.messages_received[k], k == (int)path ? in : 0);
        CHECK_U64(traffic.bytes_sent[k], k == (int)path ? out * BYTES : 0);
        CHECK_U64(traffic.bytes_received[k], k == (int)path ? in * BYTES : 0);
    }
}

/* ------------------------------------------------------------------ promises */

static void nothing_is_said_where_nothing_was_exchanged(void)
{
    begin("auto");
    exchange(MPI_COMM_WORLD, 1, WIDTH, WIDTH, 0);
    exchange(MPI_COMM_SELF, 0, WIDTH, WIDTH, 3); /* no neighbour */
    check_counts(META_PATH_SELF, 0, 0);
    CHECK_STRING(end(), "nothing");
}

static void each_message_is_counted_by_its_path(void)
{
    static const char *const settings[] = {"auto", "off"};
    for (int k = 0; k < 2; ++k) {
        const meta_path path = test_size == 1 ? META_PATH_SELF
                               : k == 0       ? META_PATH_SHARED
                                              : META_PATH_HOST;
        begin(settings[k]);
        exchange(MPI_COMM_WORLD, 1, WIDTH, WIDTH, 3);
        check_counts(path, 6, 6);
        CHECK_STRING(end(), said(meta_path_name(path), 6, 6));
    }
}

static void a_rank_that_only_sends_or_only_receives_says_so(void)
{
    const int out = test_rank + 1 < test_size, in = test_rank > 0;
    begin("auto");
    exchange(MPI_COMM_WORLD, 0, WIDTH, 0, 1);
    check_counts(META_PATH_SHARED, out, in);
    CHECK_STRING(end(), test_size == 1 ? "nothing" : said("shared", out, in));
}

static void several_paths_stand_in_one_line(void)
{
    char expected[256];
    begin("auto");
    exchange(MPI_COMM_SELF, 1, WIDTH, WIDTH, 1);
    exchange(MPI_COMM_WORLD, 1, WIDTH, 0, 2);
    if (test_size == 1) snprintf(expected, sizeof expected, "%s", said("self", 4, 4));
    else {
        snprintf(expected, sizeof expected, "%s;", said("self", 2, 2));
        strcat(expected, said("shared", 2, 2));
    }
    CHECK_STRING(end(), expected);
}

static void start(int *argc, char ***argv)
{
    test_mpi_start(argc, argv);
    if (test_rank == 0) scratch_make("traffic", folder, sizeof folder);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int finish(int status)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) scratch_remove(folder);
    return test_mpi_end(status);
}

static const test_setting with_folder = {start, test_mpi_worst, finish};
TEST_MAIN_WITH(&with_folder, PROMISE(nothing_is_said_where_nothing_was_exchanged),
               PROMISE(each_message_is_counted_by_its_path),
               PROMISE(a_rank_that_only_sends_or_only_receives_says_so),
               PROMISE(several_paths_stand_in_one_line))
