/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_cache.c
 *  The cache of compiled code by itself: what is kept is loaded, in whatever state its folders and
 * files are, and of processes that start cold together one compiles, though some are killed. The
 * compiler is a function that counts its calls, which all processes see. */
/* TEST: binaries=yes labels=core,cache smoke=yes */
#include "cache/cache.h"
#include "caught.h"
#include "scratch.h"
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------ folders */

enum { ROOM = 512, MOST_CODE = 3000 };
static char root[ROOM], folder[ROOM + 16], other[ROOM + 64], said[1 << 16];

/* An empty place: the cache in `folder`, the private folder `other` in TMPDIR. */
static void fresh(void)
{
    scratch_make("cache", root, sizeof root);
    snprintf(folder, sizeof folder, "%s/cache", root);
    snprintf(other, sizeof other, "%s/libmeta-%u", root, (unsigned)geteuid());
    setenv("META_CACHE_DIR", folder, 1);
    setenv("TMPDIR", root, 1);
    unsetenv("META_JIT");
    unsetenv("META_JIT_TIMEOUT");
    CHECK_OK(meta_jit_read());
}

/* What the shell prints of the place. */
static const char *shell(const char *format, const char *path)
{
    static char output[4096];
    char command[ROOM + 256];
    snprintf(command, sizeof command, format, path);
    FILE *pipe = popen(command, "r");
    output[pipe ? fread(output, 1, sizeof output - 1, pipe) : 0] = '\0';
    if (pipe) pclose(pipe);
    output[strcspn(output, "\n")] = '\0';
    return output;
}

static int files_in(const char *path)
{
    return atoi(shell("find '%s' -type f -name '*.bin' 2>/dev/null | wc -l", path));
}

/* ------------------------------------------------------------------ a compiler */

/* Seen by all processes. */
typedef struct shared {
    atomic_int built, loaded, wrong, begun;
} shared;
static shared *all;

typedef struct job {
    const char *source;
    int milliseconds; /* how long compiling takes */
    meta_err outcome; /* of compiling */
    bool refuses;     /* the code that it is given */
    bool stops;       /* while it compiles, forever */
    char code[MOST_CODE];
    size_t bytes;
} job;

/* The code of a source. */
static size_t code_of(const char *source, char code[MOST_CODE])
{
    size_t bytes = 0;
    while (bytes + strlen(source) < MOST_CODE) {
        memcpy(code + bytes, source, strlen(source));
        bytes += strlen(source);
    }
    return bytes;
}

static void nap(int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static meta_err load(void *with, const void *code, size_t bytes)
{
    job *j = with;
    char expected[MOST_CODE];
    if (j->refuses) return meta_fail(META_ERR_DEVICE, "this is no code for me");
    if (bytes != code_of(j->source, expected) || memcmp(code, expected, bytes) != 0) ++all->wrong;
    memcpy(j->code, code, bytes < MOST_CODE ? bytes : MOST_CODE);
    j->bytes = bytes;
    ++all->loaded;
    return META_OK;
}

static meta_err build(void *with, void **code, size_t *bytes)
{
    job *j = with;
    ++all->begun;
    if (j->stops) raise(SIGSTOP);
    nap(j->milliseconds);
    if (j->outcome != META_OK) return meta_fail(j->outcome, "the source is wrong");
    ++all->built;
    j->bytes = code_of(j->source, j->code);
    *code = malloc(j->bytes);
    memcpy(*code, j->code, j->bytes);
    *bytes = j->bytes;
    return META_OK;
}

static meta_err get_by(job *j, const char *compiler)
{
    const char *const fact[] = {"language", j->source, NULL, compiler};
    const meta_cached what = {.size = sizeof what,
                              .kind = "test",
                              .title = "the code",
                              .fact = fact,
                              .facts = 4,
                              .compiler_facts = 1,
                              .with = j,
                              .load = load,
                              .build = build};
    j->bytes = 0;
    return meta_cached_code(&what);
}

static meta_err get(job *j)
{
    return get_by(j, "compiler 1");
}

/* It is right, and so many were built and loaded. */
static void gets(const char *source, int built, int loaded)
{
    job j = {.source = source};
    char expected[MOST_CODE];
    all->built = all->loaded = all->wrong = all->begun = 0;
    if (!CHECK_OK(get(&j))) return;
    CHECK(j.bytes == code_of(source, expected) && memcmp(j.code, expected, j.bytes) == 0);
    CHECK_INT(all->wrong, 0);
    CHECK_INT(all->built, built);
    CHECK_INT(all->loaded, loaded);
}

/* Of the log, while @p source is got. */
static void gets_and_says(const char *source, int built, int loaded, const char *words)
{
    meta_log_set(META_LOG_INFO);
    catch_errors();
    gets(source, built, loaded);
    take_caught(said, sizeof said);
    meta_log_set(META_LOG_WARN);
    CHECK_CONTAINS(said, words);
}

/* ------------------------------------------------------------------ one process */

static void what_was_built_is_loaded_afterwards(void)
{
    fresh();
    gets("one", 1, 0);
    gets("one", 0, 1);
    gets("two", 1, 0);
    gets("one", 0, 1);
    gets("two", 0, 1);
    CHECK_INT(files_in(folder), 4); /* of this compiler and of any */
    CHECK_INT(files_in(other), 0);
    CHECK_STRING(shell("stat -c %%a '%s'", folder), "700");
    scratch_remove(root);
}

static void every_fact_counts(void)
{
    static const char *const facts[][3] = {
        {"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a", "b", "d"}};
    fresh();
    for (size_t k = 0; k < sizeof facts / sizeof *facts; ++k) {
        job j = {.source = "one"};
        const meta_cached what = {.size = sizeof what,
                                  .kind = "test",
                                  .title = "the code",
                                  .fact = facts[k],
                                  .facts = 3,
                                  .with = &j,
                                  .load = load,
                                  .build = build};
        all->built = 0;
        CHECK_OK(meta_cached_code(&what));
        CHECK_INT(all->built, 1);
        CHECK_OK(meta_cached_code(&what));
        CHECK_INT(all->built, 1);
    }
    scratch_remove(root);
}

static void refused_code_is_built_again(void)
{
    fresh();
    gets("one", 1, 0);
    job j = {.source = "one", .refuses = true};
    all->built = 0;
    CHECK_OK(get(&j));
    CHECK_INT(all->built, 1);
    scratch_remove(root);
}

static void a_failed_compile_is_an_error_each_time(void)
{
    fresh();
    job j = {.source = "one", .outcome = META_ERR_DEVICE};
    CHECK_ERR_NAMES(get(&j), META_ERR_DEVICE, "the source is wrong");
    CHECK_ERR_NAMES(get(&j), META_ERR_DEVICE, "the source is wrong");
    CHECK_INT(files_in(root), 0);
    gets("one", 1, 0);
    scratch_remove(root);
}

static void jit_off_neither_compiles_nor_loads(void)
{
    job j = {.source = "one"}, k = {.source = "two"};
    fresh();
    gets("one", 1, 0);
    setenv("META_JIT", "off", 1);
    CHECK_OK(meta_jit_read());
    CHECK_ERR_NAMES(get(&j), META_ERR_UNSUPPORTED, "META_JIT=off");
    setenv("META_JIT", "load", 1);
    CHECK_OK(meta_jit_read());
    gets("one", 0, 1);
    CHECK_ERR_NAMES(get(&k), META_ERR_UNSUPPORTED, "META_JIT=load");
    CHECK_CONTAINS(meta_last_error(), folder);
    setenv("META_JIT", "ON", 1);
    CHECK_OK(meta_jit_read());
    gets("two", 1, 0);
    setenv("META_JIT", "yes", 1);
    CHECK_ERR_NAMES(meta_jit_read(), META_ERR_ENVIRONMENT, "META_JIT=yes");
    unsetenv("META_JIT");
    static const char *const wrong[] = {"0", "-1", "ten", "1s", "1e9", "nan"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; ++w) {
        setenv("META_JIT_TIMEOUT", wrong[w], 1);
        CHECK_ERR_NAMES(meta_jit_read(), META_ERR_ENVIRONMENT, "META_JIT_TIMEOUT");
    }
    scratch_remove(root);
}

/* Code of another build of the compiler serves where there is no compiler, and with META_JIT=load.
 */
static void without_a_compiler_another_ones_code_is_taken(void)
{
    job j = {.source = "one", .outcome = META_ERR_UNSUPPORTED};
    fresh();
    CHECK_ERR_NAMES(get_by(&j, "none"), META_ERR_UNSUPPORTED, "the source is wrong");
    gets("one", 1, 0);
    all->loaded = 0;
    CHECK_OK(get_by(&j, "none"));
    CHECK_INT(all->loaded, 1);
    j.outcome = META_OK;
    setenv("META_JIT", "load", 1);
    CHECK_OK(meta_jit_read());
    CHECK_OK(get_by(&j, "compiler 2"));
    CHECK_INT(all->loaded, 2);
    unsetenv("META_JIT");
    CHECK_OK(meta_jit_read());
    all->built = 0;
    CHECK_OK(get_by(&j, "compiler 2"));
    CHECK_INT(all->built, 1);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ damage */

static void damage(const char *path, long at, bool cut)
{
    FILE *file = fopen(path, "r+");
    if (!file) {
        FAIL("%s", path);
        return;
    }
    if (cut) {
        if (ftruncate(fileno(file), at) != 0) FAIL("%s", path);
    } else {
        fseek(file, at, SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1 << test_random_in(0, 7), file);
    }
    fclose(file);
}

static void a_damaged_file_is_built_again(void)
{
    char path[ROOM + 256];
    struct stat about;
    fresh();
    for (int k = 0; k < 60; ++k) {
        scratch_remove(folder);
        gets("one", 1, 0);
        const char *files = shell("ls '%s'/*.bin | tr '\\n' ' '", folder);
        char first[ROOM + 128], second[ROOM + 128];
        if (sscanf(files, "%639s %639s", first, second) != 2) FAIL("%s", files);
        snprintf(path, sizeof path, "%s", first);
        for (int f = 0; f < 2; ++f, snprintf(path, sizeof path, "%s", second)) {
            if (stat(path, &about) != 0) FAIL("%s", path);
            const long at = test_random_in(0, about.st_size - 1);
            test_case("byte %ld of %ld, %s", at, (long)about.st_size, k % 2 ? "cut" : "changed");
            damage(path, at, k % 2);
        }
        gets("one", 1, 0);
        gets("one", 0, 1);
    }
    scratch_remove(root);
}

/* ------------------------------------------------------------------ folders of all kinds */

static void a_full_disk_leaves_the_result_right(void)
{
    struct rlimit before, full;
    fresh();
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    full = before;
    full.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &full);
    gets("full", 1, 0);
    gets("full", 0, 1); /* from memory */
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_INT(atoi(shell("find '%s' -type f | wc -l", root)), 0);
    scratch_remove(root);
}

/* Descriptor 0 is that of whatever is opened next, and free again afterwards. */
static void a_program_without_standard_input_uses_all_folders(void)
{
    char code[MOST_CODE], ahead[ROOM + 16];
    const char *const fact[] = {"language", "ahead", NULL, "compiler 1"};
    const meta_cached what = {.size = sizeof what,
                              .kind = "test",
                              .title = "the code",
                              .fact = fact,
                              .facts = 4,
                              .compiler_facts = 1};
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    fresh();
    close(STDIN_FILENO);
    gets("one", 1, 0);
    gets("two", 1, 0); /* the folder is there now, without it */
    CHECK_INT(fcntl(STDIN_FILENO, F_GETFD), -1);
    snprintf(ahead, sizeof ahead, "%s/ahead", root);
    setenv("META_CACHE_DIR", ahead, 1);
    CHECK_OK(meta_cached_put(&what, code, code_of("ahead", code)));
    CHECK_INT(fcntl(STDIN_FILENO, F_GETFD), -1);
    setenv("META_CACHE_DIR", folder, 1);
    setenv("META_KERNEL_PATH", ahead, 1);
    gets("ahead", 0, 1);
    CHECK_INT(fcntl(STDIN_FILENO, F_GETFD), -1);
    unsetenv("META_KERNEL_PATH");
    if (input >= 0) dup2(input, STDIN_FILENO), close(input);
    scratch_remove(root);
}

static void where_nothing_can_be_created_the_private_folder_is_used(void)
{
    fresh();
    setenv("META_CACHE_DIR", "/proc/no/such/folder", 1);
    gets_and_says("one", 1, 0, "/proc/no/such/folder");
    gets("one", 0, 1);
    CHECK_INT(files_in(other), 2);
    setenv("META_CACHE_DIR", "/dev/null", 1);
    gets("one", 0, 1);
    gets("two", 1, 0);
    CHECK_INT(files_in(other), 4);
    /* Without that one too, it stays in memory. */
    setenv("TMPDIR", "/proc", 1);
    gets("three", 1, 0);
    gets("three", 0, 1);
    setenv("META_CACHE_DIR", "off", 1);
    gets("four", 1, 0);
    gets("four", 0, 1);
    scratch_remove(root);
}

static void the_users_cache_is_where_it_belongs(void)
{
    char path[ROOM + 64];
    fresh();
    unsetenv("META_CACHE_DIR");
    setenv("XDG_CACHE_HOME", root, 1);
    gets("one", 1, 0);
    snprintf(path, sizeof path, "%s/libmeta", root);
    CHECK_INT(files_in(path), 2);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", root, 1);
    gets("one", 1, 0);
    snprintf(path, sizeof path, "%s/.cache/libmeta", root);
    CHECK_INT(files_in(path), 2);
    scratch_remove(root);
}

static void what_others_can_write_is_refused_with_the_reason(void)
{
    fresh();
    gets("one", 1, 0);
    chmod(folder, 0770);
    gets_and_says("one", 1, 0, "others can write to it (mode 770): chmod go-w");
    CHECK_INT(files_in(other), 2);
    scratch_remove(other);
    chmod(folder, 0702);
    gets_and_says("one", 1, 0, "mode 702");
    scratch_remove(other);
    chmod(folder, 0755);
    gets("one", 0, 1);
    shell("chmod 620 '%s'/*.bin", folder);
    gets_and_says("one", 1, 0, "is not loaded: others can write to it");
    gets("one", 0, 1); /* it was replaced */
    scratch_remove(root);
}

static void what_belongs_to_others_is_refused_with_the_reason(void)
{
    fresh();
    gets("one", 1, 0);
    if (geteuid() == 0) {
        if (chown(folder, 65534, 65534) != 0) FAIL("chown: %s", strerror(errno));
        gets_and_says("one", 1, 0, "it belongs to user 65534, this process to user 0");
        scratch_remove(other);
        if (chown(folder, 0, 0) != 0) FAIL("chown: %s", strerror(errno));
        shell("chown 65534 '%s'/*.bin", folder);
        gets_and_says("one", 1, 0, "is not loaded: it belongs to user 65534");
    } else {
        setenv("META_CACHE_DIR", "/usr", 1);
        gets_and_says("one", 1, 0, "it belongs to user 0");
    }
    /* The private folder's name can be guessed: a link there may lead to anybody's. */
    scratch_remove(other);
    setenv("META_CACHE_DIR", "/proc/no", 1);
    if (symlink(folder, other) != 0) FAIL("symlink: %s", strerror(errno));
    gets("linked", 1, 0);
    gets("linked", 0, 1); /* from memory */
    CHECK_INT(files_in(folder), 2);
    scratch_remove(root);
}

static void a_link_in_place_of_a_file_is_not_followed(void)
{
    fresh();
    gets("one", 1, 0);
    shell("cd '%s' && for f in *.bin; do mv $f $f.moved && ln -s $f.moved $f; done", folder);
    gets("one", 1, 0);
    gets("one", 0, 1);
    scratch_remove(root);
}

/* What a process leaves that is killed while it writes is not read, and goes after an hour. */
static void what_the_killed_left_is_swept(void)
{
    fresh();
    gets("one", 1, 0);
    shell("cd '%s' && for f in *.bin; do head -c 99 $f >$f.tmp.1.0; cp $f $f.tmp.2.0; done",
          folder);
    shell("touch -d '2 hours ago' '%s'/*.tmp.1.0", folder);
    gets("one", 0, 1);
    gets("swept", 1, 0);
    CHECK_INT(atoi(shell("ls '%s' | grep -c tmp.1", folder)), 0);
    CHECK_INT(atoi(shell("ls '%s' | grep -c tmp.2", folder)), 2);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ many processes */

enum { MOST_CHILDREN = 64 };

static pid_t begin_child(const job *what)
{
    const pid_t child = fork();
    if (child != 0) return child;
    job j = *what;
    const meta_err error = get(&j);
    _exit(error == what->outcome && (error || j.bytes > 0) ? 0 : 1);
}

/* @p kills: how many are killed at random while they start. @return the number that failed by
 * themselves */
static int storm(int children, int kills, int milliseconds, int *killed)
{
    pid_t child[MOST_CHILDREN];
    int failed = 0, status;
    const job j = {.source = "storm", .milliseconds = milliseconds};
    all->built = all->loaded = all->wrong = all->begun = 0;
    for (int k = 0; k < children; ++k) child[k] = begin_child(&j);
    for (int k = 0; k < kills; ++k) {
        nap((int)test_random_in(0, milliseconds));
        kill(child[test_random_in(0, children - 1)], SIGKILL);
    }
    *killed = 0;
    for (int k = 0; k < children; ++k) {
        if (waitpid(child[k], &status, 0) != child[k]) ++failed;
        else if (WIFSIGNALED(status)) ++*killed;
        else failed += WEXITSTATUS(status) != 0;
    }
    return failed;
}

static void check_storm(int children, int kills, int milliseconds)
{
    int killed;
    CHECK_INT(storm(children, kills, milliseconds, &killed), 0);
    CHECK_INT(all->wrong, 0);
    if (all->begun > 1 + killed)
        FAIL("%d compiles of %d processes, of which %d were killed", all->begun, children, killed);
    if (kills == 0) CHECK_INT(all->loaded, children - 1);
}

static void of_many_that_start_together_one_compiles(void)
{
    fresh();
    check_storm(16, 0, 100);
    scratch_remove(folder);
    setenv("META_CACHE_DIR", "/proc/no", 1); /* a home that is read-only */
    check_storm(16, 0, 100);
    scratch_remove(root);
}

static void those_who_are_killed_cost_a_compile_each(void)
{
    for (int round = 0; round < 3; ++round) {
        fresh();
        check_storm(16, 6, 60);
        scratch_remove(root);
    }
}

static void so_do_64_in_20_rounds(void)
{
    for (int round = 0; round < 20; ++round) {
        test_case("round %d", round);
        fresh();
        if (round % 3 == 2) setenv("META_CACHE_DIR", "/proc/no", 1);
        check_storm(64, round % 2 ? 24 : 0, 100);
        scratch_remove(root);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Its successor compiles once for all who wait. */
static void a_holder_that_does_not_move_is_passed_by(void)
{
    const job stopping = {.source = "storm", .stops = true};
    int killed, status;
    fresh();
    all->begun = 0;
    const pid_t stopped = begin_child(&stopping);
    while (waitpid(stopped, &status, WUNTRACED) == stopped && !WIFSTOPPED(status)) continue;
    const double begun = seconds();
    CHECK_INT(storm(8, 0, 100, &killed), 0);
    const double took = seconds() - begun;
    CHECK_INT(all->begun, 1);
    CHECK_INT(all->loaded, 7);
    if (took < 3 || took > 30) FAIL("it took %.1f s", took);
    kill(stopped, SIGKILL);
    waitpid(stopped, &status, 0);
    scratch_remove(root);
}

/* One that compiles for long, and lives, is waited for. */
static void a_holder_that_takes_long_is_waited_for(void)
{
    int killed;
    fresh();
    CHECK_INT(storm(4, 0, 7000, &killed), 0);
    CHECK_INT(all->begun, 1);
    scratch_remove(root);
}

/* They do not queue for a failure each. */
static void where_compiling_fails_all_fail_soon(void)
{
    pid_t child[MOST_CHILDREN];
    int status;
    const job j = {.source = "wrong", .milliseconds = 300, .outcome = META_ERR_DEVICE};
    fresh();
    const double begun = seconds();
    for (int k = 0; k < 32; ++k) child[k] = begin_child(&j);
    for (int k = 0; k < 32; ++k)
        CHECK(waitpid(child[k], &status, 0) == child[k] && WIFEXITED(status) &&
              WEXITSTATUS(status) == 0);
    const double took = seconds() - begun;
    if (took > 5) FAIL("32 failures of 0.3 s took %.1f s", took);
    scratch_remove(root);
}

static void *get_in_thread(void *unused)
{
    job j = {.source = "threads", .milliseconds = 200};
    (void)unused;
    if (get(&j) != META_OK) ++all->wrong;
    return NULL;
}

static void of_threads_one_compiles(void)
{
    pthread_t thread[8];
    fresh();
    all->begun = all->loaded = all->wrong = 0;
    for (int k = 0; k < 8; ++k) pthread_create(&thread[k], NULL, get_in_thread, NULL);
    for (int k = 0; k < 8; ++k) pthread_join(thread[k], NULL);
    CHECK_INT(all->begun, 1);
    CHECK_INT(all->loaded, 7);
    CHECK_INT(all->wrong, 0);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ shared objects */

/* In place of the system's: there are systems that forbid it. */
static bool memory_is_forbidden;
int memfd_create(const char *name, unsigned flags)
{
    errno = EPERM;
    return memory_is_forbidden ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

static void *read_module(const char *name, size_t *bytes)
{
    FILE *file = fopen(test_built(name), "r");
    void *all_of_it = file ? malloc(1 << 20) : NULL;
    *bytes = all_of_it ? fread(all_of_it, 1, 1 << 20, file) : 0;
    if (file) fclose(file);
    if (*bytes == 0) FAIL("%s cannot be read", name);
    return all_of_it;
}

/* A descriptor is used again, but what was opened by it is not what is opened now. */
static void check_objects(void)
{
    enum { MANY = 40 };
    struct rlimit before, full;
    char reason[512] = "";
    size_t bytes[2];
    void *code[2] = {read_module("tests/plugins/.libs/no_symbol.so", &bytes[0]),
                     read_module("tests/plugins/.libs/wrong_magic.so", &bytes[1])};
    void *object[MANY];
    for (int k = 0; k < MANY; ++k) {
        object[k] = meta_object_open("some.h", code[k % 2], bytes[k % 2], reason, sizeof reason);
        if (!object[k]) FAIL("%s", reason);
        else CHECK((dlsym(object[k], "meta_plugin_v2") != NULL) == (k % 2 == 1));
        for (int n = 0; n < k; ++n) CHECK(object[n] != object[k]);
    }
    for (int k = 0; k < MANY; ++k)
        if (object[k]) dlclose(object[k]);
    CHECK(!meta_object_open("some.h", "rubbish", 7, reason, sizeof reason));
    CHECK(*reason);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    full = before;
    full.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &full);
    CHECK(!meta_object_open("some.h", code[0], bytes[0], reason, sizeof reason));
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_CONTAINS(reason, "File too large");
    free(code[0]);
    free(code[1]);
}

static void objects_in_memory_are_each_their_own(void)
{
    fresh();
    check_objects();
    memory_is_forbidden = true;
    check_objects();
    memory_is_forbidden = false;
    CHECK_INT(atoi(shell("find '%s' -type f | wc -l", root)), 0);
    scratch_remove(root);
}

static void start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) abort();
}
static const test_setting setting = {.start = start};

TEST_MAIN_WITH(&setting, PROMISE(of_many_that_start_together_one_compiles),
               PROMISE(those_who_are_killed_cost_a_compile_each),
               PROMISE(a_holder_that_does_not_move_is_passed_by),
               PROMISE(a_holder_that_takes_long_is_waited_for),
               PROMISE(where_compiling_fails_all_fail_soon), PROMISE_LONG(so_do_64_in_20_rounds),
               PROMISE(what_was_built_is_loaded_afterwards), PROMISE(every_fact_counts),
               PROMISE(refused_code_is_built_again),
               PROMISE(a_failed_compile_is_an_error_each_time),
               PROMISE(jit_off_neither_compiles_nor_loads),
               PROMISE(without_a_compiler_another_ones_code_is_taken),
               PROMISE(a_damaged_file_is_built_again), PROMISE(a_full_disk_leaves_the_result_right),
               PROMISE(a_program_without_standard_input_uses_all_folders),
               PROMISE(where_nothing_can_be_created_the_private_folder_is_used),
               PROMISE(the_users_cache_is_where_it_belongs),
               PROMISE(what_others_can_write_is_refused_with_the_reason),
               PROMISE(what_belongs_to_others_is_refused_with_the_reason),
               PROMISE(a_link_in_place_of_a_file_is_not_followed),
               PROMISE(what_the_killed_left_is_swept), PROMISE(of_threads_one_compiles),
               PROMISE(objects_in_memory_are_each_their_own))
