/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_text_cold.c
 *  Many processes of a program that start together and give the same text: one compiles. Some are
 * killed, the cache is damaged or read-only, the compiler is gone: each process ends with the right
 * numbers, or with the error that it should. */
/* TEST: binaries=yes labels=core,cache */
#include "test.h"

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

#include "run_text.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CELLS = 1000, MOST_WORKERS = 64, NUMBER = 5 };
#define WORKER "META_TEST_TEXT_WORKER"

/* ------------------------------------------------------------------ a process */

#define TRY(call)                                                                                  \
    if (call) {                                                                                    \
        fprintf(stderr, "%s\n", meta_last_error());                                                \
        exit(2);                                                                                   \
    }

/* Exit status 0: it computed the right numbers; 3: there was no compiler. */
static void work(void)
{
    const meta_box box = {1, {CELLS}, {0}, {CELLS}};
    double field[CELLS], factor = 2, most;
    meta_kernel *kernel;
    void *ptr;
    TRY(meta_init());
    const meta_err error =
        meta_kernel_compile(&kernel, "add", META_F64, "add.kernel.h", run_text(NUMBER));
    if (error == META_ERR_UNSUPPORTED && strstr(meta_last_error(), "no C compiler")) exit(3);
    TRY(error);
    for (int k = 0; k < CELLS; ++k) field[k] = k;
    TRY(meta_alloc(&ptr, sizeof field));
    TRY(meta_copy_h2d(ptr, field, sizeof field, NULL));
    const void *const arguments[] = {ptr, &factor, &most};
    TRY(meta_kernel_run(kernel, &box, arguments, NULL));
    TRY(meta_copy_d2h(field, ptr, sizeof field, NULL));
    for (int k = 0; k < CELLS; ++k)
        if (!(field[k] == factor * (k + NUMBER))) exit(1);
    if (!(most == factor * (CELLS - 1 + NUMBER))) exit(1);
    TRY(meta_free(ptr));
    TRY(meta_finalize());
    exit(0);
}

static const char *program;

static void start(int *argc, char ***argv)
{
    (void)argc;
    program = (*argv)[0];
    if (getenv(WORKER)) work();
    setenv("META_MODE", "openmp", 1);
    setenv("META_THREADS", "1", 1);
}
static const test_setting setting = {.start = start};

static pid_t begin_worker(void)
{
    char *const arguments[] = {(char *)(uintptr_t)program, NULL};
    pid_t child = 0;
    setenv(WORKER, "1", 1);
    CHECK_INT(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
    unsetenv(WORKER);
    return child;
}

/* The exit status of one; -1 where a signal ended it. */
static int end_of(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void nap(int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

/* @p kills of @p workers are killed within @p milliseconds; the others end with @p status. */
static void storm(int workers, int kills, int milliseconds, int status)
{
    pid_t child[MOST_WORKERS];
    int killed = 0;
    const int before = run_compiles();
    for (int k = 0; k < workers; ++k) child[k] = begin_worker();
    for (int k = 0; k < kills; ++k) {
        nap((int)test_random_in(0, 2 * milliseconds / kills));
        kill(child[test_random_in(0, workers - 1)], SIGKILL);
    }
    for (int k = 0; k < workers; ++k) {
        const int end = end_of(child[k]);
        if (end == -1 && kills > 0) ++killed;
        else CHECK_INT(end, status);
    }
    const int compiles = run_compiles() - before;
    if (compiles > 1 + killed)
        FAIL("%d compiles by %d processes, of which %d were killed", compiles, workers, killed);
}

/* ------------------------------------------------------------------ promises */

static void of_many_that_start_together_one_compiles(void)
{
    run_begin();
    run_compiler("exec cc \"$@\"");
    storm(16, 0, 0, 0);
    CHECK_INT(run_compiles(), 1);
    storm(2, 0, 0, 0);
    CHECK_INT(run_compiles(), 1);
    run_end();
}

static void those_who_are_killed_cost_a_compile_each(void)
{
    run_begin();
    run_compiler("exec cc \"$@\"");
    storm(16, 6, 800, 0);
    CHECK_INT(end_of(begin_worker()), 0);
    run_end();
}

static void a_home_that_is_read_only_costs_no_more(void)
{
    run_begin();
    run_compiler("exec cc \"$@\"");
    setenv("META_CACHE_DIR", "/proc/no/such/folder", 1);
    storm(16, 0, 0, 0);
    CHECK_INT(run_compiles(), 1);
    run_end();
}

static void without_a_compiler_the_cache_serves_or_all_say_so(void)
{
    char *path = strdup(getenv("PATH"));
    run_begin();
    setenv("PATH", "/no/such/folder", 1);
    storm(8, 0, 0, 3);
    setenv("PATH", path, 1);
    CHECK_INT(end_of(begin_worker()), 0);
    setenv("PATH", "/no/such/folder", 1);
    storm(8, 0, 0, 0);
    setenv("META_JIT", "load", 1);
    storm(2, 0, 0, 0);
    unsetenv("META_JIT");
    setenv("PATH", path, 1);
    free(path);
    run_end();
}

static void a_damaged_cache_is_compiled_again(void)
{
    char command[2 * RUN_ROOM];
    run_begin();
    run_compiler("exec cc \"$@\"");
    CHECK_INT(end_of(begin_worker()), 0);
    for (int k = 0; k < 4; ++k) {
        snprintf(command, sizeof command,
                 "for f in '%s'/cache/cpu-*.bin; do "
                 "printf 'DAMAGED!' | dd of=\"$f\" bs=1 seek=%d conv=notrunc 2>/dev/null; done",
                 run_root, (int)test_random_in(0, 12000));
        if (system(command) != 0) FAIL("%s", command);
        CHECK_INT(end_of(begin_worker()), 0);
        CHECK_INT(run_compiles(), 2 + k);
    }
    run_end();
}

/* Code for one instruction set is not another's. */
static void each_instruction_set_has_its_own_code(void)
{
    run_begin();
    run_compiler("exec cc \"$@\"");
    CHECK_INT(end_of(begin_worker()), 0);
    setenv("META_CPU", "baseline", 1);
    CHECK_INT(end_of(begin_worker()), 0);
    CHECK_INT(end_of(begin_worker()), 0);
    unsetenv("META_CPU");
    CHECK_INT(end_of(begin_worker()), 0);
    CHECK(run_compiles() <= 2);
    run_end();
}

/* Without a compiler that of another one is taken, but not of other options. */
static void other_options_have_their_own_code(void)
{
    char command[RUN_ROOM + 64];
    run_begin();
    run_compiler("exec cc \"$@\"");
    snprintf(command, sizeof command, "%s -O1", getenv("META_CC"));
    setenv("META_CC", command, 1);
    CHECK_INT(end_of(begin_worker()), 0);
    setenv("META_JIT", "load", 1);
    setenv("META_CC", "cc -O1", 1);
    CHECK_INT(end_of(begin_worker()), 0);
    setenv("META_CC", "cc -O0", 1);
    CHECK_INT(end_of(begin_worker()), 2); /* it may not compile */
    unsetenv("META_JIT");
    run_end();
}

static void so_do_64_in_20_rounds(void)
{
    char *path = strdup(getenv("PATH"));
    for (int round = 0; round < 20; ++round) {
        test_case("round %d", round);
        run_begin();
        run_compiler("exec cc \"$@\"");
        if (round % 4 == 2) setenv("META_CACHE_DIR", "/proc/no/such/folder", 1);
        storm(64, round % 2 ? 24 : 0, 2000, 0);
        run_end();
        run_begin();
        setenv("PATH", "/no/such/folder", 1);
        storm(64, round % 2 ? 24 : 0, 500, 3);
        setenv("PATH", path, 1);
        run_end();
    }
    free(path);
}

TEST_MAIN_WITH(&setting, PROMISE(of_many_that_start_together_one_compiles),
               PROMISE(those_who_are_killed_cost_a_compile_each),
               PROMISE(a_home_that_is_read_only_costs_no_more),
               PROMISE(without_a_compiler_the_cache_serves_or_all_say_so),
               PROMISE(a_damaged_cache_is_compiled_again),
               PROMISE(each_instruction_set_has_its_own_code),
               PROMISE(other_options_have_their_own_code), PROMISE_LONG(so_do_64_in_20_rounds))
