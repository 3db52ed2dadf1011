/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_cache_change.c
 *  Files of the cache's folder that processes change: each change is there afterwards, and whoever
 * is killed while it writes leaves what was there. */
/* TEST: labels=core,cache smoke=yes */
#include "cache/cache.h"
#include "scratch.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 512, MOST = 1 << 20, PROCESSES = 6 };
static char root[ROOM], reason[256];
static int folder;

/* How many lines each process has added for certain; all see it. */
static atomic_int *added;

static void fresh(void)
{
    scratch_make("change", root, sizeof root);
    folder = open(root, O_RDONLY | O_DIRECTORY);
    setenv("TMPDIR", root, 1);
    CHECK_OK(meta_jit_read());
}

static void finish(void)
{
    scratch_remove(root);
    close(folder);
}

static char *read_lines(size_t *bytes)
{
    return meta_file_read(folder, "lines", META_THIS_USER, MOST, bytes, reason, sizeof reason);
}

/* Add "PROCESS NUMBER" to what is there. A last line says how many there are. */
static bool add_line(int process, int number)
{
    char line[64], end[32];
    size_t bytes = 0;
    meta_file_lock lock;
    meta_cache_key key = META_CACHE_KEY_INIT;
    meta_cache_key_text(&key, root);
    meta_file_lock_take(&lock, &key);
    char *text = read_lines(&bytes);
    int lines = 0;
    if (text) {
        char *last = strstr(text, "end ");
        lines = atoi(last + 4);
        bytes = (size_t)(last - text);
    }
    snprintf(line, sizeof line, "%d %d\n", process, number);
    snprintf(end, sizeof end, "end %d\n", lines + 1);
    const meta_file_part part[] = {{text, bytes}, {line, strlen(line)}, {end, strlen(end)}};
    const int error = meta_file_replace(folder, "lines", part, 3);
    free(text);
    meta_file_lock_release(&lock);
    return error == 0;
}

static void add_lines(int process, int count)
{
    for (int n = 0; n < count; ++n)
        if (add_line(process, n)) atomic_store(&added[process], n + 1);
}

static pid_t begin(int process, int count)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0) return child;
    add_lines(process, count);
    _exit(0);
}

/* A process that was killed may have added one more than it knew. */
static void check_lines(void)
{
    int found[PROCESSES] = {0}, lines = 0;
    size_t bytes;
    char *text = read_lines(&bytes);
    if (!CHECK(text != NULL)) return;
    for (char *at = text; *at >= '0' && *at <= '9'; at = strchr(at, '\n') + 1, ++lines) {
        int process, number;
        if (!CHECK(sscanf(at, "%d %d\n", &process, &number) == 2)) break;
        CHECK_INT(number, found[process]++);
    }
    for (int k = 0; k < PROCESSES; ++k) {
        test_case("process %d", k);
        CHECK(found[k] == added[k] || found[k] == added[k] + 1);
    }
    char *end = strstr(text, "end ");
    if (CHECK(end != NULL)) CHECK_INT(atoi(end + 4), lines);
    free(text);
}

static void change_together(int kills)
{
    enum { LINES = 60 };
    pid_t child[PROCESSES];
    for (int k = 0; k < PROCESSES; ++k) {
        added[k] = 0;
        child[k] = begin(k, LINES);
    }
    for (int k = 0; k < kills; ++k) {
        nanosleep(&(struct timespec){0, test_random_in(0, 3000000)}, NULL);
        kill(child[k], SIGKILL);
    }
    for (int k = 0; k < PROCESSES; ++k) {
        int status;
        CHECK(waitpid(child[k], &status, 0) == child[k]);
        if (k >= kills) CHECK(WIFEXITED(status) && added[k] == LINES);
    }
    check_lines();
}

static void no_change_is_lost(void)
{
    fresh();
    change_together(0);
    CHECK_INT(access(root, W_OK), 0);
    finish();
}

static void who_is_killed_leaves_what_was_there(void)
{
    for (int64_t round = test_count(20, 1000); round > 0; --round) {
        fresh();
        change_together(PROCESSES - 1);
        finish();
    }
}

static void what_cannot_be_read_is_said(void)
{
    size_t bytes;
    char path[ROOM + 32];
    fresh();
    CHECK(!read_lines(&bytes));
    CHECK_STRING(reason, "");
    snprintf(path, sizeof path, "%s/lines", root);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK(!read_lines(&bytes));
    CHECK_CONTAINS(reason, "no regular file");
    unlink(path);
    CHECK(add_line(0, 0));
    CHECK_INT(chmod(path, 0622), 0);
    CHECK(!read_lines(&bytes));
    CHECK_CONTAINS(reason, "others can write to it");
    CHECK_INT(chmod(path, 0600), 0);
    CHECK(!meta_file_read(folder, "lines", META_THIS_USER, 3, &bytes, reason, sizeof reason));
    CHECK_CONTAINS(reason, "more than 3");
    CHECK_INT(truncate(path, 0), 0);
    char *text = read_lines(&bytes);
    if (CHECK(text != NULL)) CHECK(bytes == 0 && *text == '\0');
    free(text);
    finish();
}

static void start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    added = mmap(NULL, PROCESSES * sizeof *added, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (added == MAP_FAILED) abort();
}
static const test_setting setting = {.start = start};

TEST_MAIN_WITH(&setting, PROMISE(no_change_is_lost), PROMISE(who_is_killed_leaves_what_was_there),
               PROMISE(what_cannot_be_read_is_said))
