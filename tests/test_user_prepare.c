/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_prepare.c
 *  Building kernels ahead of the time loop: all of them or a list, by several processes, with
 * kernels among them that cannot be built. */
/* TEST: backends=all binaries=yes labels=core */
#define META_KERNELS_HERE
#include "user_prepare.kernel.h"

#include "run_text.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CELLS = 100, KERNELS = 6 };
#define WORKER "META_TEST_PREPARE_WORKER"

static const char *program;

/* Until both workers have opened their device, which can take longer than building all kernels; at
 * most 60 s. */
static bool both_are_open(int rank)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    char path[RUN_ROOM + 32];
    snprintf(path, sizeof path, "%s/open.%d", getenv("TMPDIR"), rank);
    FILE *mark = fopen(path, "w");
    if (!mark || fclose(mark) != 0) return fprintf(stderr, "%s cannot be made\n", path), false;
    snprintf(path, sizeof path, "%s/open.%d", getenv("TMPDIR"), 1 - rank);
    for (int waits = 0; access(path, F_OK) != 0; ++waits) {
        if (waits == 60000) return fprintf(stderr, "there is no %s\n", path), false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Begun as one of two processes of a node, of which "0+" and "1+" run beside each other: builds
 * everything. */
static void work(const char *which)
{
    const int rank = atoi(which);
    int index;
    if (meta_init() != META_OK || meta_set_job(rank, 2, rank, 2) != META_OK ||
        meta_get_acc(&index, NULL) != META_OK || (strchr(which, '+') && !both_are_open(rank)) ||
        meta_kernels_prepare(NULL, 0) != META_OK || meta_finalize() != META_OK) {
        fprintf(stderr, "%s\n", meta_last_error());
        _exit(1);
    }
    _exit(0);
}

static void start(int *argc, char ***argv)
{
    program = (*argv)[0];
    if (getenv(WORKER)) work(getenv(WORKER));
    test_device.start(argc, argv);
}

static int end(int status)
{
    return test_device.end(status);
}
static const test_setting setting = {.start = start, .end = end};

/* Whether the device's kernels are compiled when the program runs. */
static bool compiles(void)
{
    meta_mode mode;
    int index;
    return CHECK_OK(meta_get_acc(&index, &mode)) && mode != META_OPENMP;
}

/* Files of code in the cache. */
static int cached(void)
{
    const char *path = getenv("META_CACHE_DIR");
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *e; folder && (e = readdir(folder));)
        count += strstr(e->d_name, ".bin") && strncmp(e->d_name, "compiler-", 9) != 0;
    if (folder) closedir(folder);
    return count;
}

/* A life of the library with a cache of its own, so that nothing is built yet. */
static void begin_cold(void)
{
    CHECK_OK(meta_finalize());
    run_begin();
    CHECK_OK(meta_init());
}

static void end_cold(void)
{
    CHECK_OK(meta_finalize());
    run_end();
    unsetenv("META_CACHE_DIR");
    unsetenv("TMPDIR");
    CHECK_OK(meta_init());
}

static void check_runs(void)
{
    const meta_box box = {1, {CELLS}, {0}, {CELLS}};
    int32_t x[CELLS];
    void *ptr;
    for (int k = 0; k < CELLS; ++k) x[k] = k;
    if (!CHECK_OK(meta_alloc(&ptr, sizeof x))) return;
    CHECK_OK(meta_copy_h2d(ptr, x, sizeof x, NULL));
    CHECK_OK(twice_i32(&box, ptr, NULL));
    CHECK_OK(plus_i32(&box, ptr, 3, NULL));
    CHECK_OK(squared_i32(&box, ptr, NULL));
    CHECK_OK(meta_copy_d2h(x, ptr, sizeof x, NULL));
    for (int k = 0; k < CELLS; ++k) CHECK_INT(x[k], (2 * k + 3) * (2 * k + 3));
    CHECK_OK(meta_free(ptr));
}

static void what_was_prepared_is_not_built_again(void)
{
    begin_cold();
    CHECK_OK(meta_kernels_prepare(NULL, 0));
    const int built = cached();
    if (!compiles()) CHECK_INT(built, 0);
    else if (built % KERNELS != 0 || built == 0) FAIL("%d files of code for 6 kernels", built);
    check_runs();
    CHECK_INT(cached(), built);
    CHECK_OK(meta_kernels_prepare(NULL, 0));
    CHECK_INT(cached(), built);
    end_cold();
}

/* Kernels that no back end can build, as their lists are empty. */
static void the_error_names_all_that_fail_and_the_others_are_built(void)
{
    static meta_kernel bad, worse;
    begin_cold();
    bad = twice_i32_kernel;
    worse = plus_f32_kernel;
    bad.name = "bad";
    worse.name = "worse";
    bad.parameters = worse.parameters = 0;
    bad.state = worse.state = NULL;
    meta_kernel *const list[] = {&twice_i32_kernel, &bad, &plus_i32_kernel, &worse,
                                 &squared_i32_kernel};
    CHECK_ERR_NAMES(meta_kernels_prepare(list, 5), META_ERR_ARGUMENT,
                    "2 of 5 kernels cannot be built (bad i32, worse f32): kernel bad has no");
    const int built = cached();
    if (compiles() && built == 0) FAIL("nothing was built");
    check_runs();
    CHECK_INT(cached(), built);
    CHECK_OK(meta_kernels_prepare(list, 1));
    end_cold();
}

static void wrong_arguments_are_errors(void)
{
    meta_kernel *const list[] = {&twice_i32_kernel, NULL};
    CHECK_ERR_NAMES(meta_kernels_prepare(list, 2), META_ERR_ARGUMENT, "'kernels' is NULL at 1");
    CHECK_ERR_NAMES(meta_kernels_prepare(list, -1), META_ERR_ARGUMENT, "'count' is -1");
    CHECK_ERR_NAMES(meta_kernels_prepare(NULL, 1), META_ERR_ARGUMENT, "'kernels' is NULL");
    CHECK_OK(meta_kernels_prepare(list, 0));
    CHECK_OK(meta_finalize());
    CHECK_ERR(meta_kernels_prepare(NULL, 0), META_ERR_INIT);
    CHECK_OK(meta_init());
}

/* Lines with @p part about kernels in the log of a worker. What is known of a compiler is kept in
 * the cache as well. */
static int count_kernels(int worker, const char *part)
{
    char path[RUN_ROOM + 32], line[4096];
    int count = 0;
    snprintf(path, sizeof path, "%s/log.%d", run_root, worker);
    FILE *log = fopen(path, "r");
    if (!log) return FAIL("%s cannot be read", path), 0;
    while (fgets(line, sizeof line, log)) count += strstr(line, "kernel ") && strstr(line, part);
    fclose(log);
    return count;
}

static void two_processes_share_the_work(void)
{
    char log[RUN_ROOM + 32];
    char *const arguments[] = {(char *)(uintptr_t)program, NULL};
    pid_t child[2];
    int built[2], status;
    if (!compiles()) return;
    begin_cold();
    snprintf(log, sizeof log, "%s/log.%%r", run_root);
    setenv("META_LOG", "info", 1);
    setenv("META_LOG_FILE", log, 1);
    for (int k = 0; k < 2; ++k) {
        setenv(WORKER, k == 0 ? "0+" : "1+", 1);
        CHECK_INT(posix_spawn(&child[k], program, NULL, NULL, arguments, environ), 0);
    }
    for (int k = 0; k < 2; ++k) {
        CHECK_INT(waitpid(child[k], &status, 0), child[k]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        built[k] = count_kernels(k, " built in ");
        CHECK_INT(built[k] + count_kernels(k, " loaded from the cache"), KERNELS);
    }
    unsetenv(WORKER);
    unsetenv("META_LOG");
    unsetenv("META_LOG_FILE");
    CHECK_INT(built[0] + built[1], KERNELS);
    if (built[0] == 0 || built[1] == 0)
        FAIL("the processes built %d and %d kernels", built[0], built[1]);
    end_cold();
}

/* On a terminal, where it takes more than a second. PoCL compiles anew in an empty folder. */
static void progress_is_shown_on_a_terminal_only(void)
{
    char command[4 * RUN_ROOM], said[4096] = "";
    if (!compiles()) return;
    for (int on_terminal = 0; on_terminal < 2; ++on_terminal) {
        struct timespec began, ended;
        begin_cold();
        snprintf(command, sizeof command,
                 WORKER "=0 POCL_CACHE_DIR='%s/pocl' META_THREADS=1 %s%s '%s' 2>&1", run_root,
                 on_terminal ? test_built("tests/on_terminal") : "", "", program);
        clock_gettime(CLOCK_MONOTONIC, &began);
        FILE *from = popen(command, "r");
        if (!CHECK(from != NULL)) return;
        said[fread(said, 1, sizeof said - 1, from)] = '\0';
        CHECK_INT(pclose(from), 0);
        clock_gettime(CLOCK_MONOTONIC, &ended);
        const bool is_long = ended.tv_sec - began.tv_sec > 3;
        if (!on_terminal) CHECK_STRING(said, "");
        else if (is_long) CHECK_CONTAINS(said, " of 6 kernels are built for ");
        end_cold();
    }
}

TEST_MAIN_WITH(&setting, PROMISE(what_was_prepared_is_not_built_again),
               PROMISE(the_error_names_all_that_fail_and_the_others_are_built),
               PROMISE(wrong_arguments_are_errors), PROMISE(two_processes_share_the_work),
               PROMISE(progress_is_shown_on_a_terminal_only))
