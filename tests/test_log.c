/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_log.c
 *  The destination of the log, and its levels. */
/* TEST: backends=openmp labels=core */
#include "caught.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[1 << 15];

/* What a file holds, in `text`. */
static bool read_file(const char *name)
{
    FILE *f = fopen(name, "r");
    if (!CHECK(f != NULL)) return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return true;
}

/* A life of the library in which a device is opened, as rank @p rank of 4. */
static void live(const char *level, const char *file, int rank)
{
    int index;
    meta_mode mode;
    setenv("META_LOG", level, 1);
    if (file) setenv("META_LOG_FILE", file, 1);
    catch_errors();
    CHECK_OK(meta_init());
    CHECK_OK(meta_mode_find("openmp", &mode)); /* a line before the rank is known */
    if (rank >= 0) CHECK_OK(meta_set_job(rank, 4, rank, 4));
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_finalize());
    take_caught(text, sizeof text);
    unsetenv("META_LOG");
    unsetenv("META_LOG_FILE");
}

static void higher_log_levels_log_more(void)
{
    live("warn", NULL, -1);
    CHECK_STRING(text, "");
    live("info", NULL, -1);
    CHECK_CONTAINS(text, "libmeta: info: opened openmp:0");
    CHECK_CONTAINS(text, "computes on openmp:0: META_MODE asks for openmp");
    CHECK_CONTAINS(text, "OpenMP: kernels for ");
    live("info", NULL, 2);
    CHECK_CONTAINS(text, "libmeta[2]: info: opened openmp:0");
    setenv("META_LOG", "loud", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_LOG=loud");
    unsetenv("META_LOG");
}

static void the_log_says_where_each_back_end_is(void)
{
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "openmp", 1);
    live("info", NULL, -1);
    setenv("META_MODE", "openmp", 1);
    unsetenv("META_AUTO_DEVICES");
    CHECK_CONTAINS(text, "/openmp.so\n");
    CHECK_CONTAINS(text, "back end auto: part of libmeta\n");
}

static void each_rank_overwrites_its_own_log_file(void)
{
    char pattern[64], name[64];
    snprintf(pattern, sizeof pattern, "tests/log.%ld.%%r.txt", (long)getpid());
    for (int round = 0; round < 2; ++round)
        for (int rank = -1; rank < 4; rank += 3) { /* alone, and as rank 2 of 4 */
            snprintf(name, sizeof name, "tests/log.%ld.%d.txt", (long)getpid(),
                     rank < 0 ? 0 : rank);
            live("info", pattern, rank);
            CHECK_STRING(text, "");
            if (!read_file(name)) continue;
            remove(name);
            const char *opened = strstr(text, "opened openmp:0"),
                       *before = strstr(text, "back end");
            CHECK(opened && before && before < opened);
            CHECK(opened && !strstr(opened + 1, "opened openmp:0"));
        }
}

static void without_a_place_for_the_rank_lines_are_added(void)
{
    char name[64];
    snprintf(name, sizeof name, "tests/log.%ld.txt", (long)getpid());
    for (int rank = 0; rank < 3; ++rank) live("info", name, rank);
    if (!read_file(name)) return;
    remove(name);
    CHECK_CONTAINS(text, "libmeta[0]: info: opened");
    CHECK_CONTAINS(text, "libmeta[1]: info: opened");
    CHECK_CONTAINS(text, "libmeta[2]: info: opened");
}

static void what_cannot_go_to_the_file_goes_to_the_stream(void)
{
    live("info", "/nowhere/at/all", -1);
    CHECK_CONTAINS(text, "META_LOG_FILE=/nowhere/at/all cannot be opened: No such file");
    CHECK_CONTAINS(text, "opened openmp:0");
    live("info", "/dev/full", -1);
    CHECK_CONTAINS(text, "META_LOG_FILE=/dev/full cannot be written: No space left");
    CHECK_CONTAINS(text, "opened openmp:0");
    /* A named pipe that nobody reads. */
    char name[64], said[128];
    snprintf(name, sizeof name, "tests/pipe.%ld", (long)getpid());
    CHECK_INT(mkfifo(name, 0600), 0);
    live("info", name, -1);
    snprintf(said, sizeof said, "META_LOG_FILE=%s cannot be opened: No such device", name);
    CHECK_CONTAINS(text, said);
    CHECK_CONTAINS(text, "opened openmp:0");
    remove(name);
}

TEST_MAIN(PROMISE(higher_log_levels_log_more), PROMISE(the_log_says_where_each_back_end_is),
          PROMISE(each_rank_overwrites_its_own_log_file),
          PROMISE(without_a_place_for_the_rank_lines_are_added),
          PROMISE(what_cannot_go_to_the_file_goes_to_the_stream))
