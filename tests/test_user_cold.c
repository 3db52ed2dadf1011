/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_cold.c
 *  Many processes of a program with kernels of its own that start together on a device whose code
 * is compiled at run time: one compiles each program. Some are killed, the home is read-only, there
 * is no C compiler: all others end with the right numbers. */
/* TEST: backends=all binaries=yes labels=core,cache */
#define META_KERNELS_HERE
#include "user_cold.kernel.h"

#include "run_text.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CELLS = 1000, FACTOR = 3, MOST_WORKERS = 64, MOST_TITLES = 8, TITLE = 160 };
#define WORKER "META_TEST_COLD_WORKER"

/* ------------------------------------------------------------------ a process */

#define TRY(call)                                                                                  \
    if (call) {                                                                                    \
        fprintf(stderr, "failed: %s\n", meta_last_error());                                        \
        exit(2);                                                                                   \
    }

/* Exit status 0: it computed the right numbers. */
static void work(bool with_result)
{
    const meta_box box = {1, {CELLS}, {0}, {CELLS}};
    int32_t field[CELLS], most = 0;
    void *ptr;
    TRY(meta_init());
    for (int k = 0; k < CELLS; ++k) field[k] = k;
    TRY(meta_alloc(&ptr, sizeof field));
    TRY(meta_copy_h2d(ptr, field, sizeof field, NULL));
    TRY(cold_raise_i32(&box, ptr, FACTOR, NULL));
    if (with_result) TRY(cold_most_i32(&box, ptr, &most, NULL));
    TRY(meta_copy_d2h(field, ptr, sizeof field, NULL));
    for (int k = 0; k < CELLS; ++k)
        if (field[k] != FACTOR * k) exit(1);
    if (with_result && most != FACTOR * (CELLS - 1)) exit(1);
    TRY(meta_free(ptr));
    TRY(meta_finalize());
    exit(0);
}

static const char *program;

static void start(int *argc, char ***argv)
{
    program = (*argv)[0];
    if (getenv(WORKER)) work(strcmp(getenv(WORKER), "result") == 0);
    test_device.start(argc, argv);
}

static int end(int status)
{
    return test_device.end(status);
}
static const test_setting setting = {.start = start, .end = end};

/* ------------------------------------------------------------------ many */

/* Their standard error streams are one file, which no killed process keeps lines from. */
static char log_path[RUN_ROOM + 16];

static pid_t begin_worker(bool with_result)
{
    char *const arguments[] = {(char *)(uintptr_t)program, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    setenv(WORKER, with_result ? "result" : "none", 1);
    CHECK_INT(posix_spawn(&child, program, &actions, NULL, arguments, environ), 0);
    unsetenv(WORKER);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static void nap(int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

/* How often compiling of each program began. */
typedef struct tally {
    char title[MOST_TITLES][TITLE];
    int begun[MOST_TITLES], titles;
} tally;

static void count_line(tally *t, const char *line)
{
    static const char mark[] = ": debug: compiling ";
    const char *at = strstr(line, mark);
    int k = 0;
    if (!at) return;
    at += strlen(mark);
    while (k < t->titles && strncmp(t->title[k], at, TITLE - 1) != 0) ++k;
    if (k == MOST_TITLES) {
        FAIL("more than %d programs were compiled: %s", MOST_TITLES, at);
        return;
    }
    if (k == t->titles) {
        snprintf(t->title[k], TITLE, "%s", at);
        t->begun[t->titles++] = 0;
    }
    ++t->begun[k];
}

static tally read_log(bool print)
{
    tally t = {.titles = 0};
    char line[4096];
    FILE *log = fopen(log_path, "r");
    while (log && fgets(line, sizeof line, log)) {
        count_line(&t, line);
        if (print && !strstr(line, ": debug: ") && !strstr(line, ": info: ")) fputs(line, stdout);
    }
    if (log) fclose(log);
    return t;
}

/* Of several storms, printed by long runs. */
static int total_compiles, total_killed, total_ended;

/* @p kills of @p workers are killed, at random times within @p milliseconds; the others end with
 * the right numbers, and none compiles what another that lives compiles too.
 * @return how many compiles began */
static int storm(int workers, int kills, int milliseconds, bool with_result)
{
    pid_t child[MOST_WORKERS];
    int killed = 0, wrong = 0, compiles = 0;
    unlink(log_path);
    for (int k = 0; k < workers; ++k) child[k] = begin_worker(with_result);
    for (int k = 0; k < kills; ++k) {
        nap((int)test_random_in(0, 2 * milliseconds / kills));
        kill(child[test_random_in(0, workers - 1)], SIGKILL);
    }
    for (int k = 0; k < workers; ++k) {
        int status = 0;
        if (!CHECK_INT(waitpid(child[k], &status, 0), child[k])) continue;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kills > 0) {
            ++killed;
        } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            ++wrong;
            FAIL("a process ended with status %d, signal %d",
                 WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        }
    }
    const tally t = read_log(wrong > 0);
    for (int k = 0; k < t.titles; ++k) {
        if (t.begun[k] > 1 + killed)
            FAIL("%d processes, of which %d were killed, compiled %d times: %s", workers, killed,
                 t.begun[k], t.title[k]);
        compiles += t.begun[k];
    }
    total_compiles += compiles;
    total_killed += killed;
    total_ended += workers - killed - wrong;
    return compiles;
}

/* With nothing compiled before. */
static void cold_storm(int workers, int kills, int milliseconds, bool with_result)
{
    meta_mode mode = META_OPENMP;
    int index;
    CHECK_OK(meta_get_acc(&index, &mode));
    const int compiles = storm(workers, kills, milliseconds, with_result);
    if (mode == META_OPENMP) CHECK_INT(compiles, 0);
    else CHECK(compiles > 0);
}

/* ------------------------------------------------------------------ what surrounds them */

typedef struct variable {
    const char *name;
    char *value;
} variable;
static variable kept[] = {{"META_CACHE_DIR", NULL}, {"POCL_CACHE_DIR", NULL}, {"TMPDIR", NULL},
                          {"XDG_CACHE_HOME", NULL}, {"HOME", NULL},           {"PATH", NULL},
                          {"META_LOG", NULL},       {"META_THREADS", NULL}};
enum { KEPT = sizeof kept / sizeof *kept };

/* Everything is compiled anew, by PoCL too. */
static void begin_cold(void)
{
    char folder[RUN_ROOM + 16];
    for (int k = 0; k < KEPT; ++k)
        kept[k].value = getenv(kept[k].name) ? strdup(getenv(kept[k].name)) : NULL;
    run_begin();
    snprintf(folder, sizeof folder, "%s/pocl", run_root);
    setenv("POCL_CACHE_DIR", folder, 1);
    snprintf(log_path, sizeof log_path, "%s/log", run_root);
    setenv("META_LOG", "debug", 1);
    setenv("META_THREADS", "1", 1);
}

/* Neither the home nor what is named for caches can be written; the folder for temporary files can.
 */
static void forbid_home(void)
{
    unsetenv("META_CACHE_DIR");
    unsetenv("POCL_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/proc/no/such/folder", 1);
}

/* PoCL links by ld, which is not a compiler. */
static void forbid_compiler(void)
{
    char command[4 * RUN_ROOM], folder[RUN_ROOM + 16];
    snprintf(folder, sizeof folder, "%s/bin", run_root);
    snprintf(command, sizeof command, "mkdir '%s' && ln -s \"$(command -v ld)\" '%s/ld'", folder,
             folder);
    if (system(command) != 0) FAIL("%s", command);
    setenv("PATH", folder, 1);
}

static void end_cold(void)
{
    for (int k = 0; k < KEPT; ++k) {
        if (kept[k].value) setenv(kept[k].name, kept[k].value, 1);
        else unsetenv(kept[k].name);
        free(kept[k].value);
    }
    run_end();
}

/* ------------------------------------------------------------------ promises */

static void of_many_one_compiles_though_some_are_killed(void)
{
    begin_cold();
    cold_storm(4, 1, 1000, false);
    CHECK_INT(storm(2, 0, 0, false), 0);
    end_cold();
}

static void a_home_that_is_read_only_costs_no_more(void)
{
    begin_cold();
    forbid_home();
    cold_storm(4, 0, 0, false);
    end_cold();
}

/* The compiler of HIP-CPU, which emulates a GPU for tests, is the system's. */
static bool is_hip_cpu(void)
{
    meta_mode mode = META_OPENMP;
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    int index = 0;
    return meta_get_acc(&index, &mode) == META_OK &&
           meta_device_info(index, mode, &desc) == META_OK && strstr(desc.driver, "HIP-CPU");
}

static void no_c_compiler_is_needed(void)
{
    if (is_hip_cpu()) return;
    begin_cold();
    forbid_compiler();
    cold_storm(4, 0, 0, false);
    end_cold();
}

enum { ROUNDS = 20 };

static void rounds_of_64(void (*forbid)(void))
{
    total_compiles = total_killed = total_ended = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        test_case("round %d", round);
        begin_cold();
        if (forbid) forbid();
        cold_storm(64, 24, (int)test_random_in(200, 4000), round % 2 == 1);
        end_cold();
    }
    printf("%d rounds of 64: %d killed, %d ended well, %d compiles\n", ROUNDS, total_killed,
           total_ended, total_compiles);
}

static void so_do_64_in_20_rounds(void)
{
    rounds_of_64(NULL);
}

static void so_do_64_with_a_read_only_home(void)
{
    rounds_of_64(forbid_home);
}

static void so_do_64_without_a_c_compiler(void)
{
    if (is_hip_cpu()) return;
    rounds_of_64(forbid_compiler);
}

TEST_MAIN_WITH(&setting, PROMISE(of_many_one_compiles_though_some_are_killed),
               PROMISE(a_home_that_is_read_only_costs_no_more), PROMISE(no_c_compiler_is_needed),
               PROMISE_LONG(so_do_64_in_20_rounds), PROMISE_LONG(so_do_64_with_a_read_only_home),
               PROMISE_LONG(so_do_64_without_a_c_compiler))
