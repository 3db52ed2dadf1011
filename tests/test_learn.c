/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_learn.c
 *  META_LEARN: what a process learns of its devices is kept for the next one, in whatever state
 * files and folders are and however processes end; with META_LEARN=read decisions are repeated.
 * Devices are simulated: their speeds are given, and each launch is noted. */
/* TEST: backends=any labels=core,cache */
#include "config.h"

#define META_KERNELS_HERE
#include "choose.kernel.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "child.h"
#include "scratch.h"
#include "simulated.h"

#define CPU "cpu sync host rate=20G launch=1us; "
#define GPU "gpu rate=500G launch=8us latency=10us bandwidth=12G"
/* The same names, so the same machine, with the speeds changed. */
#define SWAP                                                                                       \
    "cpu sync host rate=400G launch=1us; gpu rate=10G launch=80us latency=1us bandwidth=20G"
#define OPPOSED "cpu sync host rate=20G launch=1us grow=100; gpu rate=500G launch=8us shrink=40 "
#define SLOW    CPU "gpu rate=0.5G launch=800us latency=10us bandwidth=12G"

enum { ROOM = 512, SAID = 1 << 16 };
static char root[ROOM], folder[ROOM + 16], launches[ROOM + 16], said[SAID];

/* ------------------------------------------------------------------ folders and files */

/* An empty cache, in a folder of this promise's. */
static void fresh(void)
{
    scratch_make("learn", root, sizeof root);
    snprintf(folder, sizeof folder, "%s/cache", root);
    snprintf(launches, sizeof launches, "%s/launches", root);
    setenv("META_CACHE_DIR", folder, 1);
    setenv("TMPDIR", root, 1);
}

/* The whole of a file, of malloc(); "" without one. */
static char *read_file(const char *path)
{
    char *text = malloc(SAID);
    scratch_read(path, text, SAID);
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0) FAIL("%s: %s", path, strerror(errno));
    if (file) fclose(file);
}

/* The only file of a folder, of which *others have other names; "" without one. */
static const char *learned_in(const char *of, int *others)
{
    static char path[2 * ROOM + 300];
    DIR *entries = opendir(of);
    struct dirent *entry;
    *path = '\0';
    *others = 0;
    while (entries && (entry = readdir(entries))) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (*name == '.') continue;
        if (strncmp(name, "learned-", 8) != 0 || strcmp(end, ".txt") != 0 || *path) ++*others;
        else snprintf(path, sizeof path, "%s/%s", of, name);
    }
    if (entries) closedir(entries);
    return path;
}

static const char *learned(void)
{
    int others;
    const char *path = learned_in(folder, &others);
    CHECK_INT(others, 0);
    return path;
}

/* ------------------------------------------------------------------ a process */

typedef struct life {
    const char *learn;    /* META_LEARN */
    const char *machine;  /* META_TEST_SIM */
    int octave, steps;    /* how large its arrays are */
    bool full_disk, naps; /* no file may grow; it sleeps now and then */
    bool checked;         /* META_CHECK */
    bool only_grow;       /* no other kernel runs */
    bool shrinks;         /* kernel shrink is among those that it runs */
    const char *text;     /* of kernel grow; NULL: its own */
} life;

static const life usual = {.learn = "on", .machine = CPU GPU, .octave = 18, .steps = 40};

static void prepare(const life *l)
{
    simulated_set(l->machine, "cost");
    setenv("META_EXPLAIN", "on", 1);
    setenv("META_TEST_SIM_LOG", launches, 1);
    if (l->learn) setenv("META_LEARN", l->learn, 1);
    else unsetenv("META_LEARN");
    setenv("META_CHECK", l->checked ? "on" : "off", 1);
    unsetenv("META_LOG");
    unsetenv("META_LOG_FILE");
    if (!l->full_disk) return;
    setenv("META_TEST_SIM_LOG", "", 1);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, RLIM_INFINITY});
}

static void nap(void)
{
    const struct timespec time = {0, 1000 * test_random_in(0, 2000)};
    nanosleep(&time, NULL);
}

/* The program's kernel grow, with another text than its file's. */
static meta_err grow(const life *l, const meta_box *box, void *u)
{
    static meta_kernel other;
    meta_kernel *own;
    const double by = 0.5;
    const void *arguments[] = {u, &by};
    if (!l->text) return grow_f64(box, u, by, META_ASYNC);
    if (!other.name) {
        CHECK_OK(meta_kernel_find("grow", META_F64, &own));
        other = *own;
        other.text = l->text;
        other.state = NULL;
    }
    return meta_kernel_run(&other, box, arguments, META_ASYNC);
}

static void compute(const life *l)
{
    const int64_t cells = INT64_C(1) << l->octave;
    const double half = 0.5;
    double dot;
    meta_box box;
    void *x = case_zeros(cells, &box), *y = case_zeros(cells, &box);
    for (int k = 0; k < l->steps; ++k) {
        if (!l->only_grow) CHECK_OK(meta_axpy(y, &half, x, &box, META_F64, META_ASYNC));
        CHECK_OK(grow(l, &box, x));
        if (l->shrinks) CHECK_OK(shrink_f64(&box, x, half, META_ASYNC));
        if (k % 5 == 4 && !l->only_grow) CHECK_OK(meta_dot(&dot, x, y, &box, META_F64, NULL));
        if (l->naps) nap();
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
}

static void live(void *argument)
{
    const life *l = argument;
    prepare(l);
    if (!CHECK_OK(meta_init())) return;
    compute(l);
    CHECK_OK(meta_finalize());
}

/* In a process of its own. @return what it launched where, of malloc(); what it said is in `said`
 */
static char *run(const life *l)
{
    life own = *l;
    unlink(launches);
    CHECK_CHILD_SAYS(live, &own, said);
    return read_file(launches);
}

static void run_only(const life *l)
{
    free(run(l));
}

static int lines_with(const char *text, const char *begin)
{
    int count = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        count += strncmp(at, begin, strlen(begin)) == 0;
    return count;
}

static bool has_warned(void)
{
    return strstr(said, "what was learned") || strstr(said, "META_LEARN");
}

/* ------------------------------------------------------------------ from one run to the next */

static void the_next_run_tries_nothing(void)
{
    fresh();
    char *first = run(&usual);
    CHECK_CONTAINS(said, "to know"); /* a trial */
    CHECK(!has_warned());
    CHECK(*learned());
    char *second = run(&usual);
    test_case("first\n%ssecond\n%s", first, second);
    CHECK(!strstr(said, "to know"));
    CHECK(lines_with(second, "gpu") > lines_with(first, "gpu"));
    /* The data goes there once what it would have gained exceeds its way. */
    CHECK(lines_with(second, "cpu") <= 4);
    free(first);
    free(second);
    scratch_remove(root);
}

static void it_is_the_default(void)
{
    life l = usual;
    l.learn = NULL;
    fresh();
    run_only(&l);
    CHECK(*learned());
    run_only(&l);
    CHECK(!strstr(said, "to know"));
    scratch_remove(root);
}

static void off_neither_reads_nor_writes(void)
{
    life l = usual;
    fresh();
    l.learn = "off";
    run_only(&l);
    CHECK_STRING(learned(), "");
    run_only(&usual);
    run_only(&l);
    CHECK_CONTAINS(said, "to know");
    scratch_remove(root);
}

static void a_device_that_has_become_slower_is_left(void)
{
    life l = usual;
    fresh();
    l.steps = 150;
    free(run(&l));
    l.machine = SLOW;
    char *log = run(&l);
    const size_t tail = strlen("cpu grow\ncpu axpy\n") * 10;
    test_case("%s", log);
    CHECK(lines_with(log, "gpu") > 0);
    if (CHECK(strlen(log) > tail)) CHECK(!strstr(log + strlen(log) - tail, "gpu"));
    free(log);
    /* The third run knows it from the beginning. */
    log = run(&l);
    CHECK_INT(lines_with(log, "gpu"), 0);
    free(log);
    scratch_remove(root);
}

/* Otherwise nothing would be known of a program that was changed. */
static void a_kernel_whose_text_has_changed_is_a_new_one(void)
{
    life l = usual;
    fresh();
    run_only(&l);
    l.text = "another text";
    run_only(&l);
    CHECK_CONTAINS(said, "to know");
    run_only(&l);
    CHECK(!strstr(said, "to know"));
    run_only(&usual);
    CHECK(!strstr(said, "to know"));
    scratch_remove(root);
}

/* In short runs a GPU is slow, and that is known of it first. */
static void a_program_with_larger_arrays_tries_again(void)
{
    static const int octaves[][2] = {{8, 19}, {12, 18}, {6, 19}};
    for (size_t k = 0; k < sizeof octaves / sizeof *octaves; ++k) {
        life l = usual;
        fresh();
        l.octave = octaves[k][0];
        l.steps = 300;
        char *small = run(&l);
        l.octave = octaves[k][1];
        l.steps = 40;
        char *large = run(&l);
        test_case("2^%d after 2^%d cells\n%s", octaves[k][1], octaves[k][0], large);
        CHECK(lines_with(small, "gpu") > 0);
        CHECK(lines_with(large, "gpu") > lines_with(large, "cpu"));
        free(small);
        free(large);
        scratch_remove(root);
    }
}

static void other_devices_have_a_file_of_their_own(void)
{
    life l = usual;
    int others;
    fresh();
    run_only(&usual);
    l.machine = CPU "twin rate=500G launch=8us latency=10us bandwidth=12G";
    run_only(&l);
    CHECK_CONTAINS(said, "to know");
    learned_in(folder, &others);
    CHECK_INT(others, 1);
    /* Whose kernels are checked. */
    l.checked = true;
    run_only(&l);
    learned_in(folder, &others);
    CHECK_INT(others, 2);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ the same decisions */

/* What was learned on the first machine gives the same launches on the others. */
static void check_repeats(const life *of, const char *const *machines, size_t count)
{
    life l = *of;
    fresh();
    l.machine = machines[0];
    run_only(&l);
    char *before = read_file(learned());
    l.learn = "read";
    char *first = run(&l);
    CHECK(!has_warned());
    CHECK(lines_with(first, "cpu") > 0 && lines_with(first, "gpu") > 0);
    for (size_t k = 0; k < count; ++k) {
        l.machine = machines[k];
        l.naps = k % 2;
        char *again = run(&l);
        test_case("%s", machines[k]);
        CHECK_STRING(again, first);
        free(again);
    }
    char *after = read_file(learned());
    CHECK_STRING(after, before);
    /* They are not the same where something is learned. */
    l.learn = "on";
    l.machine = machines[count - 1];
    char *other = run(&l);
    CHECK(strcmp(other, first) != 0);
    free(first);
    free(other);
    free(before);
    free(after);
    scratch_remove(root);
}

static void read_repeats_decisions_whatever_the_timing(void)
{
    static const char *const kernels[] = {CPU GPU, SLOW, CPU GPU " slow=1ms:50", SWAP};
    /* Small arrays go to and fro between two devices, each of which is good at one kernel. */
    static const char *const links[] = {OPPOSED "latency=2us bandwidth=12G",
                                        OPPOSED "latency=5ms bandwidth=1M"};
    life l = usual;
    check_repeats(&l, kernels, sizeof kernels / sizeof *kernels);
    l.octave = 11;
    l.steps = 200;
    l.shrinks = true;
    check_repeats(&l, links, sizeof links / sizeof *links);
}

static void read_never_tries(void)
{
    life l = usual;
    fresh();
    l.learn = "read";
    char *log = run(&l);
    CHECK_CONTAINS(said, "META_LEARN=read: there is no ");
    CHECK_CONTAINS(said, folder);
    CHECK_INT(lines_with(log, "gpu"), 0);
    free(log);
    /* A kernel of which nothing is known, and a size. */
    run_only(&usual);
    l.text = "another text";
    run_only(&l);
    CHECK(!strstr(said, "to know"));
    l.only_grow = true;
    run_only(&l);
    CHECK(!strstr(said, "to know"));
    l.octave = 10;
    run_only(&l);
    CHECK(!strstr(said, "to know"));
    scratch_remove(root);
}

static void a_named_file_is_used(void)
{
    char path[2 * ROOM], on[2 * ROOM + 16], read[2 * ROOM + 16];
    life l = usual;
    int others;
    fresh();
    snprintf(path, sizeof path, "%s/table", root);
    snprintf(on, sizeof on, "on:%s", path);
    snprintf(read, sizeof read, "READ:%s", path);
    l.learn = read;
    run_only(&l);
    CHECK_CONTAINS(said, "there is no such file");
    l.learn = on;
    run_only(&l);
    CHECK_INT(access(path, R_OK), 0);
    CHECK_STRING(learned_in(folder, &others), "");
    l.learn = read;
    char *first = run(&l);
    CHECK(!has_warned());
    CHECK(lines_with(first, "gpu") > 0);
    l.machine = SWAP;
    char *second = run(&l);
    CHECK_STRING(second, first);
    free(first);
    free(second);
    /* Of two other devices. */
    l.machine = "one; two";
    run_only(&l);
    CHECK_CONTAINS(said, "another machine: 'device 0 sim, 1 units: cpu, simulated' there");
    CHECK_CONTAINS(said, path);
    scratch_remove(root);
}

static void a_file_named_without_its_folder_is_in_the_current_one(void)
{
    char path[2 * ROOM], before[4096];
    life l = usual;
    fresh();
    snprintf(path, sizeof path, "%s/table", root);
    if (!CHECK(getcwd(before, sizeof before) != NULL && chdir(root) == 0)) return;
    l.learn = "on:table";
    run_only(&l);
    CHECK(!has_warned());
    CHECK(chdir(before) == 0);
    CHECK_INT(access(path, R_OK), 0);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ files that cannot be used */

static void a_named_file_that_is_not_ours_stays_as_it_is(void)
{
    char path[2 * ROOM], on[2 * ROOM + 16];
    life l = usual;
    fresh();
    snprintf(path, sizeof path, "%s/thesis.txt", root);
    snprintf(on, sizeof on, "on:%s", path);
    write_file(path, "years of work\n");
    l.learn = on;
    run_only(&l);
    CHECK_CONTAINS(said, "libmeta has not written it");
    CHECK_CONTAINS(said, path);
    char *text = read_file(path);
    CHECK_STRING(text, "years of work\n");
    free(text);
    l.learn = "on:/dev/full";
    run_only(&l);
    CHECK_CONTAINS(said, "/dev/full: it is no regular file");
    l.learn = "on:/no/such/folder/table";
    run_only(&l);
    CHECK_CONTAINS(said, "not kept in /no/such/folder/table: No such file or directory");
    scratch_remove(root);
}

/* It is spoiled in some way: a warning names it, and the next run after replaces it. */
static void check_spoiled(const char *what)
{
    life l = usual;
    test_case("it is %s", what);
    l.learn = "read";
    run_only(&l);
    CHECK_CONTAINS(said, what);
    CHECK_CONTAINS(said, learned());
    CHECK_CONTAINS(said, "META_LEARN=on replaces it");
    run_only(&usual);
    CHECK_CONTAINS(said, what);
    CHECK_CONTAINS(said, "replaced at the end");
    CHECK_CONTAINS(said, "to know");
    run_only(&usual);
    CHECK(!has_warned());
    CHECK(!strstr(said, "to know"));
}

static void a_file_that_cannot_be_used_is_replaced(void)
{
    fresh();
    run_only(&usual);
    char path[2 * ROOM];
    snprintf(path, sizeof path, "%s", learned());
    char *text = read_file(path);
    text[strlen(text) / 2] ^= 1;
    write_file(path, text);
    check_spoiled("damaged");
    text[strlen(text) / 2] = '\0';
    write_file(path, text);
    check_spoiled("damaged");
    free(text);
    write_file(path, "");
    check_spoiled("libmeta has not written it");
    write_file(path, "libmeta-learned 9\n");
    check_spoiled("version 9 of the format");
    chmod(path, 0666);
    check_spoiled("others can write to it (mode 666): chmod go-w");
    if (geteuid() == 0 && chown(path, 12345, 12345) == 0) check_spoiled("belongs to user 12345");
    scratch_remove(root);
}

static void where_nothing_can_be_created_the_private_folder_is_used(void)
{
    char other[2 * ROOM];
    int others;
    fresh();
    snprintf(other, sizeof other, "%s/libmeta-%u", root, (unsigned)geteuid());
    setenv("META_CACHE_DIR", "/proc/no", 1);
    run_only(&usual);
    CHECK(!has_warned());
    CHECK(*learned_in(other, &others));
    run_only(&usual);
    CHECK(!strstr(said, "to know"));
    setenv("META_CACHE_DIR", "off", 1);
    scratch_remove(other);
    run_only(&usual);
    CHECK(!has_warned());
    CHECK_STRING(learned_in(other, &others), "");
    life l = usual;
    l.learn = "read";
    run_only(&l);
    CHECK_CONTAINS(said, "there is no folder to read from");
    scratch_remove(root);
}

/* Whatever else the cache's own folder has or may get. */
static void what_the_private_folder_has_is_read(void)
{
    fresh();
    setenv("META_CACHE_DIR", "/proc/no", 1);
    run_only(&usual);
    CHECK_INT(mkdir(folder, 0700), 0);
    setenv("META_CACHE_DIR", folder, 1);
    run_only(&usual);
    CHECK(!strstr(said, "to know"));
    scratch_remove(root);
}

static void a_full_disk_leaves_the_file_as_it_was(void)
{
    life l = usual;
    fresh();
    l.full_disk = true;
    run_only(&l);
    CHECK_CONTAINS(said, "what was learned is not kept in ");
    CHECK_CONTAINS(said, "File too large");
    CHECK_STRING(learned(), "");
    run_only(&usual);
    char *before = read_file(learned());
    l.octave = 12;
    run_only(&l);
    CHECK_CONTAINS(said, "File too large");
    char *after = read_file(learned());
    CHECK_STRING(after, before);
    free(before);
    free(after);
    scratch_remove(root);
}

/* ------------------------------------------------------------------ many processes */

static pid_t begin(const life *l)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0) return child;
    const long before = test_failures();
    life own = *l;
    live(&own);
    fflush(NULL);
    _exit(test_failures() > before);
}

/* Whether the file knows axpy over 2^octave cells, on whichever device. */
static bool knows(const char *text, int octave)
{
    char cells[32];
    snprintf(cells, sizeof cells, " %.0f ", (double)(INT64_C(1) << octave));
    for (const char *at = text; (at = strstr(at, "\nkernel axpy "));) {
        const char *found = strstr(++at, cells);
        if (found && found < at + strcspn(at, "\n")) return true;
    }
    return false;
}

/* Each has a size of its own. */
enum { PROCESSES = 8, SMALLEST = 6 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double time)
{
    const struct timespec moment = {0, 100000};
    while (seconds() < time) nanosleep(&moment, NULL);
}

/* Start all, kill the first ones at random times within @p most seconds, and wait.
 * @return how long it took */
static double run_together(int kills, double most, bool *is_killed)
{
    const double start = seconds();
    double kill_at[PROCESSES], last = 0;
    pid_t child[PROCESSES];
    for (int k = 0; k < PROCESSES; ++k) {
        life l = usual;
        l.octave = SMALLEST + k;
        l.steps = 20;
        child[k] = begin(&l);
    }
    for (int k = 0; k < kills; ++k) {
        kill_at[k] = last + (most - last) * test_random_real() / 2;
        last = kill_at[k];
        sleep_until(start + last);
        kill(child[k], SIGKILL);
    }
    for (int k = 0; k < PROCESSES; ++k) {
        int status = 0;
        CHECK(waitpid(child[k], &status, 0) == child[k]);
        is_killed[k] = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (!is_killed[k]) CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return seconds() - start;
}

static void check_all_are_there(const bool *is_killed)
{
    int others;
    char *text = read_file(learned_in(folder, &others));
    for (int k = 0; k < PROCESSES; ++k)
        if (!is_killed[k] && !knows(text, SMALLEST + k))
            FAIL("axpy over 2^%d cells is missing", SMALLEST + k);
    free(text);
    life l = usual;
    l.learn = "read";
    run_only(&l);
    CHECK(!has_warned());
}

static void end_together(int kills, int rounds)
{
    double most = 0;
    int killed = 0;
    for (int round = 0; round <= rounds; ++round) {
        bool is_killed[PROCESSES];
        fresh();
        test_case("round %d", round);
        const double time = run_together(round > 0 ? kills : 0, most, is_killed);
        if (round == 0) most = time;
        for (int k = 0; k < PROCESSES; ++k) killed += is_killed[k];
        check_all_are_there(is_killed);
        scratch_remove(root);
    }
    if (kills > 0) CHECK(killed > 0);
}

static void of_many_that_end_together_none_is_missing(void)
{
    end_together(0, 2);
}

static void those_who_are_killed_damage_nothing(void)
{
    end_together(PROCESSES / 2, test_long() ? 200 : 10);
}

/* ------------------------------------------------------------------ errors, and a look at it */

static int list(const char *path, char *text, size_t room)
{
    char command[3 * ROOM];
    snprintf(command, sizeof command, "'%s' --learned '%s' 2>&1", test_built("meta-info"), path);
    FILE *pipe = popen(command, "r");
    const size_t length = pipe ? fread(text, 1, room - 1, pipe) : 0;
    text[length] = '\0';
    const int status = pipe ? pclose(pipe) : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void meta_info_lists_what_is_known(void)
{
    static char text[SAID];
    fresh();
    run_only(&usual);
    CHECK_INT(list(learned(), text, sizeof text), 0);
    CHECK_CONTAINS(text, learned());
    CHECK_CONTAINS(text, "\n  device 1 sim, 1 units: gpu, simulated\n");
    CHECK_CONTAINS(text, "\n  axpy                         f64        1     2^18        20.58 ");
    CHECK_CONTAINS(text, "\n  device 0 to 1: ");
    write_file(learned(), "libmeta-learned 1\nand no more\n");
    CHECK_INT(list(learned(), text, sizeof text), 2);
    CHECK_CONTAINS(text, "it is damaged");
    scratch_remove(root);
}

static void refuse(void *argument)
{
    const life *l = argument;
    prepare(l);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_LEARN");
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, l->learn);
    setenv("META_LEARN", "off", 1); /* the library can be used afterwards */
    CHECK_OK(meta_init());
    CHECK_OK(meta_finalize());
}

static void wrong_words_are_errors(void)
{
    static const char *const wrong[] = {
        "yes", "onn", "o", "off:file", "on:", "read:", ":file", "rea", "1"};
    fresh();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        life l = usual;
        l.learn = wrong[k];
        test_case("META_LEARN=%s", wrong[k]);
        CHECK_CHILD(refuse, &l);
    }
    scratch_remove(root);
}

TEST_MAIN(PROMISE(the_next_run_tries_nothing), PROMISE(it_is_the_default),
          PROMISE(off_neither_reads_nor_writes), PROMISE(a_device_that_has_become_slower_is_left),
          PROMISE(a_kernel_whose_text_has_changed_is_a_new_one),
          PROMISE(a_program_with_larger_arrays_tries_again),
          PROMISE(other_devices_have_a_file_of_their_own),
          PROMISE(read_repeats_decisions_whatever_the_timing), PROMISE(read_never_tries),
          PROMISE(a_named_file_is_used),
          PROMISE(a_file_named_without_its_folder_is_in_the_current_one),
          PROMISE(a_named_file_that_is_not_ours_stays_as_it_is),
          PROMISE(a_file_that_cannot_be_used_is_replaced),
          PROMISE(where_nothing_can_be_created_the_private_folder_is_used),
          PROMISE(what_the_private_folder_has_is_read),
          PROMISE(a_full_disk_leaves_the_file_as_it_was),
          PROMISE(of_many_that_end_together_none_is_missing),
          PROMISE(those_who_are_killed_damage_nothing), PROMISE(wrong_words_are_errors),
          PROMISE(meta_info_lists_what_is_known))
