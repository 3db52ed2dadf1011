/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_board.c
 *  The board of a node, alone: what processes say on it, also ones that are killed while they do,
 *  and files that are no board. */
/* TEST: labels=core smoke=yes */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auto/board.h"
#include "test.h"

enum { CHILDREN = 24, ROUNDS = 6, WRITES = 64, DEVICES = 4 };

static char folder[] = "/tmp/test_board.XXXXXX";
static char file_path[512];
static char reason[1200];

/* ------------------------------------------------------------------ the folder */

/* The path of the file in the folder, of which there is one. */
static const char *find_file(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    file_path[0] = '\0';
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            snprintf(file_path, sizeof file_path, "%s/%.255s", folder, entry->d_name);
    if (dir) closedir(dir);
    return file_path;
}

static bool begin(void)
{
    strcpy(folder, "/tmp/test_board.XXXXXX");
    return CHECK(mkdtemp(folder) != NULL);
}

static void end(void)
{
    if (*find_file()) unlink(file_path);
    rmdir(folder);
}

static meta_board *enter(void)
{
    reason[0] = '\0';
    meta_board *b = meta_board_open(folder, reason, sizeof reason);
    if (!b) FAIL("no board: %s", reason);
    return b;
}

/* ------------------------------------------------------------------ processes */

/* A child enters and says what it uses, as often as WRITES, and then waits to be killed. It says so
 * through the pipe once it is done. */
static void live(int index, int done)
{
    unsigned random = (unsigned)(index * 7919 + getpid());
    meta_board *b = meta_board_open(folder, reason, sizeof reason);
    if (!b) _exit(1);
    for (int k = 0; k < WRITES; ++k) {
        random = random * 1103515245u + 12345u;
        const meta_board_use use = {(double)(random >> 16 & 7), random & 1023, random & 4095};
        meta_board_set(b, (int)(random >> 8) % DEVICES, 1 + (random >> 4) % DEVICES, &use);
        if (random % 5 == 0 && meta_board_turn(b) && random % 2) meta_board_turn_end(b);
    }
    const meta_board_use last = {index + 1, (uint64_t)index, (uint64_t)index * 3};
    for (int d = 0; d < DEVICES; ++d)
        meta_board_set(b, d, d == index % DEVICES ? (uint64_t)(1 + d) : 0, &last);
    if (write(done, "x", 1) != 1) _exit(1);
    for (;;) pause();
}

static pid_t start(int index, int done)
{
    const pid_t pid = fork();
    if (pid == 0) live(index, done);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void check_sums(meta_board *b, const bool *alive)
{
    for (int d = 0; d < DEVICES; ++d) {
        meta_board_use sum, expected = {0};
        for (int k = 0; k < CHILDREN; ++k)
            if (alive[k] && k % DEVICES == d) {
                expected.load += k + 1;
                expected.queued += (uint64_t)k;
                expected.held += (uint64_t)k * 3;
            }
        meta_board_others(b, (uint64_t)(1 + d), &sum);
        CHECK(sum.load == expected.load);
        CHECK_U64(sum.queued, expected.queued);
        CHECK_U64(sum.held, expected.held);
    }
}

/* Those with an odd number live on; others are killed at any point. */
static void one_round(meta_board *b)
{
    pid_t pid[CHILDREN];
    bool alive[CHILDREN];
    int done[CHILDREN][2];
    char byte;
    for (int k = 0; k < CHILDREN; ++k) {
        CHECK(pipe(done[k]) == 0);
        pid[k] = start(k, done[k][1]);
        close(done[k][1]);
    }
    for (int k = 0; k < CHILDREN; k += 2) {
        usleep((useconds_t)(rand() % 300));
        end_process(pid[k]);
    }
    for (int k = 0; k < CHILDREN; ++k) {
        alive[k] = k % 2 == 1;
        if (alive[k]) CHECK(read(done[k][0], &byte, 1) == 1);
        close(done[k][0]);
    }
    CHECK_INT(meta_board_bury(b), CHILDREN / 2);
    check_sums(b, alive);
    for (int k = 1; k < CHILDREN; k += 2) end_process(pid[k]);
    CHECK_INT(meta_board_bury(b), 0);
    memset(alive, 0, sizeof alive);
    check_sums(b, alive);
    CHECK(meta_board_turn(b)); /* whoever had it is gone */
    meta_board_turn_end(b);
}

static void processes_that_are_killed_leave_the_sums_right(void)
{
    if (!begin()) return;
    meta_board *b = enter();
    for (int k = 0; b && k < ROUNDS; ++k) one_round(b);
    meta_board_close(b);
    end();
}

/* More processes than there are slots, one after the other, none of which leaves. */
static void slots_of_processes_that_are_gone_are_used_again(void)
{
    if (!begin()) return;
    for (int k = 0; k < META_BOARD_PROCESSES + 20; ++k) {
        int status = 0;
        const pid_t pid = fork();
        if (pid == 0) _exit(meta_board_open(folder, reason, sizeof reason) ? 0 : 1);
        waitpid(pid, &status, 0);
        if (!CHECK_INT(WEXITSTATUS(status), 0)) break;
    }
    end();
}

static void one_process_has_the_turn(void)
{
    int done[2];
    char byte;
    if (!begin() || !CHECK(pipe(done) == 0)) return;
    meta_board *b = enter();
    if (!b) return;
    CHECK(meta_board_turn(b));
    const pid_t pid = fork();
    if (pid == 0) {
        meta_board *mine = meta_board_open(folder, reason, sizeof reason);
        _exit(mine && !meta_board_turn(mine) ? 0 : 1);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    meta_board_turn_end(b);
    const pid_t other = fork();
    if (other == 0) {
        meta_board *mine = meta_board_open(folder, reason, sizeof reason);
        if (mine && meta_board_turn(mine) && write(done[1], "x", 1) == 1)
            for (;;) pause();
        _exit(1);
    }
    CHECK(read(done[0], &byte, 1) == 1);
    CHECK(!meta_board_turn(b));
    end_process(other);
    CHECK(meta_board_turn(b));
    close(done[0]);
    close(done[1]);
    meta_board_close(b);
    end();
}

/* Another process that enters, moves, and leaves or is killed. */
static void visit(bool is_killed, int moves)
{
    int status;
    const pid_t other = fork();
    if (other == 0) {
        meta_board *mine = meta_board_open(folder, reason, sizeof reason);
        for (int k = 0; mine && k < moves; ++k) meta_board_moved(mine);
        if (is_killed) raise(SIGKILL);
        meta_board_close(mine);
        _exit(mine ? 0 : 1);
    }
    CHECK(waitpid(other, &status, 0) == other);
    CHECK(is_killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void processes_are_seen_to_come_move_and_go(void)
{
    enum { MOVES = 5 };
    if (!begin()) return;
    meta_board *b = enter();
    if (!b) return;
    const uint64_t before = atomic_load(meta_board_moves(b));
    visit(false, MOVES);
    CHECK_U64(atomic_load(meta_board_moves(b)), before + 1 + MOVES + 1);
    visit(true, MOVES);
    CHECK_U64(atomic_load(meta_board_moves(b)), before + 2 * (1 + MOVES) + 1);
    CHECK_INT(meta_board_bury(b), 0);
    CHECK_U64(atomic_load(meta_board_moves(b)), before + 2 * (1 + MOVES + 1));
    CHECK_U64(meta_board_moved(b), before + 2 * (1 + MOVES + 1));
    meta_board_close(b);
    end();
}

/* ------------------------------------------------------------------ files */

/* Change the 64-bit words of the file that equal @p from. */
static int replace_words(uint64_t from, uint64_t to)
{
    int replaced = 0;
    uint64_t word;
    const int file = open(find_file(), O_RDWR);
    for (off_t at = 0; file >= 0 && pread(file, &word, 8, at) == 8; at += 8)
        if (word == from && pwrite(file, &to, 8, at) == 8) ++replaced;
    if (file >= 0) close(file);
    return replaced;
}

static uint64_t word_at(off_t at)
{
    uint64_t word = 0;
    const int file = open(find_file(), O_RDONLY);
    if (file >= 0 && pread(file, &word, 8, at) != 8) word = 0;
    if (file >= 0) close(file);
    return word;
}

/* A process that had the number of a living one, and started at another time. */
static void a_process_number_used_again_is_no_ghost(void)
{
    int done[2];
    char byte;
    meta_board_use sum;
    if (!begin() || !CHECK(pipe(done) == 0)) return;
    meta_board *b = enter();
    const pid_t pid = start(1, done[1]);
    CHECK(read(done[0], &byte, 1) == 1);
    CHECK_INT(meta_board_bury(b), 1);
    meta_board_others(b, 2, &sum);
    CHECK(sum.load == 2);
    const uint64_t head = 64; /* slots begin behind the first line, each with its owner */
    uint64_t owner = 0;
    struct stat s;
    CHECK(stat(find_file(), &s) == 0);
    for (off_t at = (off_t)head; at < s.st_size && owner >> 32 != (uint64_t)pid; at += 64)
        owner = word_at(at);
    if (CHECK(owner >> 32 == (uint64_t)pid)) {
        CHECK(replace_words(owner, owner ^ 1) >= 1);
        CHECK_INT(meta_board_bury(b), 0);
        meta_board_others(b, 2, &sum);
        CHECK(sum.load == 0);
    }
    end_process(pid);
    close(done[0]);
    close(done[1]);
    meta_board_close(b);
    end();
}

static void check_replaced(void)
{
    meta_board *b = enter();
    struct stat s;
    CHECK(stat(find_file(), &s) == 0 && s.st_size > 4096);
    CHECK((s.st_mode & 0777) == 0600);
    if (b) CHECK_INT(meta_board_bury(b), 0);
    meta_board_close(b);
}

static void a_damaged_file_is_replaced(void)
{
    if (!begin()) return;
    meta_board_close(enter());
    CHECK(truncate(find_file(), 100) == 0);
    check_replaced();
    const uint64_t version = word_at(0);
    CHECK_INT(replace_words(version, version + 1), 1);
    check_replaced();
    CHECK_U64(word_at(0), version);
    end();
}

/* Every word behind the first is random: nothing is believed that is not so. */
static void foreign_contents_do_no_harm(void)
{
    if (!begin()) return;
    meta_board_close(enter());
    struct stat s;
    CHECK(stat(find_file(), &s) == 0);
    const int file = open(file_path, O_RDWR);
    for (off_t at = 8; file >= 0 && at < s.st_size; at += 8) {
        const uint64_t word = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
        CHECK(pwrite(file, &word, 8, at) == 8);
    }
    if (file >= 0) close(file);
    meta_board *b = enter();
    if (b) {
        meta_board_use sum;
        CHECK_INT(meta_board_bury(b), 0);
        meta_board_others(b, 1, &sum);
        CHECK(sum.load == 0);
        CHECK(meta_board_turn(b));
    }
    meta_board_close(b);
    end();
}

static void check_refused(const char *part)
{
    meta_board *b = meta_board_open(folder, reason, sizeof reason);
    CHECK(b == NULL);
    CHECK_CONTAINS(reason, part);
    meta_board_close(b);
}

static void what_cannot_be_had_is_refused_with_the_reason(void)
{
    if (!begin()) return;
    meta_board_close(enter());
    CHECK(chmod(find_file(), 0666) == 0);
    check_refused("users other than its owner");
    CHECK(unlink(file_path) == 0 && mkdir(file_path, 0700) == 0);
    check_refused("directory");
    CHECK(rmdir(file_path) == 0 && symlink("/tmp", file_path) == 0);
    check_refused(file_path);
    CHECK(unlink(file_path) == 0);
    if (geteuid() != 0 && CHECK(chmod(folder, 0500) == 0)) {
        check_refused("ermission");
        chmod(folder, 0700);
    }
    end();
    check_refused("No such file"); /* the folder is gone */
}

TEST_MAIN(PROMISE(processes_that_are_killed_leave_the_sums_right),
          PROMISE(slots_of_processes_that_are_gone_are_used_again),
          PROMISE(one_process_has_the_turn), PROMISE(processes_are_seen_to_come_move_and_go),
          PROMISE(a_process_number_used_again_is_no_ghost), PROMISE(a_damaged_file_is_replaced),
          PROMISE(foreign_contents_do_no_harm),
          PROMISE(what_cannot_be_had_is_refused_with_the_reason))
