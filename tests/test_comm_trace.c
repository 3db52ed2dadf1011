/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_trace.c
 *  The trace of a job: every activity appears once, slices nest, timestamps never decrease, each
 *  send matches its receive; and traces that cannot be written. */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm,tools */
/* TEST: backends=openmp np=2 with=SHARED=off labels=comm,tools */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "caught.h"
#include "test_mpi.h"
#include "trace.h"

enum {
    LONG = 4096,
    WIDTH = 2,
    FIELDS = 2,
    EXCHANGES = 6,
    MESSAGES = 4,
    FILLS = 3,
    LARGE = 1 << 16
};

/* A name that a careless writer breaks over. */
static const char odd_name[] = "a \"range\" \\ of\nodd \xff letters, \xc3\xa9";
static const char odd_shown[] = "a \"range\" \\ of\nodd \xef\xbf\xbd letters, \xc3\xa9";

/* A label has no characters that a line of a terminal would break over. */
static const char labelled_oddly[] = "a \"range\" \\ of?odd \xef\xbf\xbd letters, \xc3\xa9";

/* Of the fields of a run. */
static const char *const labels[FIELDS + 2] = {"density", "energy", odd_name, NULL};

static char path[512];

/* ------------------------------------------------------------------ a run */

/* What META_PROFILE names before the trace. */
static const char *besides = "";

static void begin(const char *to)
{
    char value[600];
    snprintf(value, sizeof value, "%strace:%s", besides, to);
    setenv("META_PROFILE", value, 1);
    test_find_own_plugins();
    test_require(meta_comm_init(NULL, NULL));
}

/* A file of this run's; all ranks may name it differently, since rank 0 alone opens its own. */
static void begin_in_file(void)
{
    static int runs; /* a warning of the same text is only printed once */
    snprintf(path, sizeof path, "tests/trace.%ld.%d.json", (long)getpid(), ++runs);
    begin(path);
}

static void exchange(meta_halo plan, void *const *fields)
{
    const double one = 1;
    CHECK_OK(meta_range_push("step"));
    CHECK_OK(meta_halo_start(plan, fields));
    CHECK_OK(meta_fill(fields[FIELDS], LARGE, &one, META_F64, NULL));
    CHECK_OK(meta_halo_finish(plan, NULL));
    CHECK_OK(meta_range_pop());
}

static void send_round(void *const *fields, int64_t count, int tag)
{
    meta_event sent;
    const int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
    CHECK_OK(meta_packed_send(next, fields[FIELDS], count, META_F64, tag, &sent));
    CHECK_OK(meta_packed_recv(last, fields[FIELDS + 1], count, META_F64, tag, NULL));
    CHECK_OK(meta_event_wait(sent));
    CHECK_OK(meta_event_free(&sent));
}

/* Of the range "all". */
static int64_t time_around, time_within;

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void run(void)
{
    const int periodic = 1;
    const double zero = 0;
    double sum = 1;
    void *fields[FIELDS + 2];
    meta_halo plan[2];
    MPI_Comm cart;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &cart);
    desc.cart = cart;
    desc.box = (meta_box){1, {LONG}, {WIDTH}, {LONG - WIDTH}};
    desc.low[0] = desc.high[0] = WIDTH;
    desc.fields = FIELDS;
    desc.type = META_F64;
    for (int k = 0; k < FIELDS + 2; ++k) {
        const int64_t count = k < FIELDS ? LONG : LARGE;
        CHECK_OK(meta_alloc(&fields[k], (size_t)count * sizeof zero));
        CHECK_OK(meta_fill(fields[k], count, &zero, META_F64, NULL));
    }
    for (int k = 0; k < FIELDS + 2; ++k) CHECK_OK(meta_label(fields[k], labels[k]));
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_halo_create(&plan[k], &desc));
    time_around = nanoseconds();
    CHECK_OK(meta_range_push("all"));
    time_within = nanoseconds();
    for (int k = 0; k < EXCHANGES; ++k) exchange(plan[k % 2], fields);
    CHECK_OK(meta_allreduce(&sum, &sum, 1, META_SUM, META_F64, NULL));
    CHECK_OK(meta_range_push(odd_name));
    for (int k = 0; k < MESSAGES; ++k) send_round(fields, k % 2 ? 10 : LARGE, k / 2);
    CHECK_OK(meta_range_pop());
    time_within = nanoseconds() - time_within;
    CHECK_OK(meta_range_pop());
    time_around = nanoseconds() - time_around;
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_halo_free(&plan[k]));
    for (int k = 0; k < FIELDS + 2; ++k) CHECK_OK(meta_free(fields[k]));
    MPI_Comm_free(&cart);
}

static void end(void)
{
    CHECK_OK(meta_comm_finalize());
    unsetenv("META_PROFILE");
}

/* ------------------------------------------------------------------ what must hold */

static int threads_called(const trace *t, const char *name)
{
    int count = 0;
    for (size_t k = 0; k < json_array_size(t->events); ++k) {
        const json_t *event = json_array_get(t->events, k);
        if (strcmp(trace_text(event, "name"), "thread_name") == 0 &&
            strcmp(trace_text(json_object_get(event, "args"), "name"), name) == 0)
            ++count;
    }
    return count;
}

/* How many slices there are of that rank and name, whose buffers @p key (written, read) are
 * @p label. */
static int labelled_slices(const trace *t, int pid, const char *name, const char *key,
                           const char *label)
{
    int count = 0;
    for (size_t k = 0; k < t->slices; ++k)
        if (t->slice[k].pid == pid && strcmp(t->slice[k].name, name) == 0 &&
            strcmp(trace_text(t->slice[k].args, key), label) == 0)
            ++count;
    return count;
}

static int events_of(const trace *t, const char *name)
{
    int count = 0;
    for (size_t k = 0; k < json_array_size(t->events); ++k)
        if (strcmp(trace_text(json_array_get(t->events, k), "name"), name) == 0) ++count;
    return count;
}

/* A call that waits lies within the range around it, whatever clock its device has. */
static void check_fills_within_steps(const trace *t, int pid)
{
    int inside = 0;
    for (size_t k = 0; k < t->slices; ++k) {
        const trace_slice *fill = &t->slice[k];
        if (fill->pid != pid || strcmp(fill->name, "fill f64") != 0) continue;
        for (size_t n = 0; n < t->slices; ++n) {
            const trace_slice *s = &t->slice[n];
            if (s->pid == pid && strcmp(s->name, "step") == 0 && s->begin <= fill->begin &&
                fill->end <= s->end)
                ++inside;
        }
    }
    CHECK_INT(inside, EXCHANGES);
}

/* A range takes as long as its thread's clock says. */
static void check_time(const trace *t)
{
    for (size_t k = 0; k < t->slices; ++k) {
        const trace_slice *s = &t->slice[k];
        if (s->pid != 0 || strcmp(s->name, "all") != 0) continue;
        if (s->end - s->begin < time_within - 2 || s->end - s->begin > time_around + 2)
            FAIL("the range took %lld ns, of %lld to %lld", (long long)(s->end - s->begin),
                 (long long)time_within, (long long)time_around);
    }
}

/* With a summary or without. */
static void check_everything(const char *also)
{
    const int ways = test_size > 1 ? 2 : 0;
    char text[1 << 14];
    trace t;
    besides = also;
    begin_in_file();
    run();
    catch_errors();
    end();
    take_caught(text, sizeof text);
    besides = "";
    CHECK_INT(strstr(text, "libmeta:") != NULL, test_rank == 0 && *also);
    CHECK(!strstr(text, "warning"));
    if (test_rank != 0) {
        CHECK(access(path, F_OK) != 0); /* one file for all */
        return;
    }
    if (!CHECK_STRING(trace_read(&t, path, NULL, 0), "")) return;
    remove(path);
    CHECK_STRING(trace_fault(&t), "");
    CHECK_U64(t.starts, test_size * (EXCHANGES * ways + (ways ? MESSAGES : 0)));
    for (int pid = 0; pid < test_size; ++pid) {
        test_case("rank %d", pid);
        CHECK_INT(trace_slices_of(&t, pid, "range", "all"), 1);
        CHECK_INT(trace_slices_of(&t, pid, "range", odd_shown), 1);
        CHECK_INT(trace_slices_of(&t, pid, "range", "step"), EXCHANGES);
        CHECK_INT(trace_slices_of(&t, pid, "kernel", "fill f64"), EXCHANGES + FIELDS + 2);
        CHECK_INT(trace_slices_of(&t, pid, "message", "ghosts out"), EXCHANGES * ways);
        CHECK_INT(trace_slices_of(&t, pid, "message", "ghosts in"), EXCHANGES * ways);
        CHECK_INT(trace_slices_of(&t, pid, "message", "message out"), MESSAGES);
        CHECK_INT(trace_slices_of(&t, pid, "message", "message in"), MESSAGES);
        CHECK_INT(labelled_slices(&t, pid, "fill f64", "written", labelled_oddly), EXCHANGES);
        CHECK_INT(labelled_slices(&t, pid, "fill f64", "written", ""), FIELDS + 2);
        CHECK_INT(labelled_slices(&t, pid, "pack f64", "read", "energy, density"),
                  ways ? EXCHANGES : 0);
        CHECK_INT(trace_slices_of(&t, pid, "message", "allreduce"), 1);
        check_fills_within_steps(&t, pid);
    }
    CHECK_INT(threads_called(&t, "reductions over ranks"), test_size);
    check_time(&t);
    trace_free(&t);
}

static void everything_that_ran_is_there_and_fits_together(void)
{
    check_everything("");
}

static void a_summary_does_not_change_the_trace(void)
{
    check_everything("summary,");
}

/* ------------------------------------------------------------------ whether it would be seen */

/* Two slices of one thread, the second one directly behind the first one in the file. */
static trace_slice *neighbours(const trace *t)
{
    for (size_t k = 0; k + 1 < t->slices; ++k) {
        trace_slice *s = &t->slice[k];
        if (s[0].pid == s[1].pid && s[0].tid == s[1].tid && strcmp(s->category, "kernel") == 0 &&
            s[0].end - s[0].begin > 2 && s[0].end <= s[1].begin && s[1].begin < s[1].end)
            return s;
    }
    return NULL;
}

static void check_sees(trace *t, const char *part)
{
    test_case("%s", part);
    CHECK_CONTAINS(trace_fault(t), part);
}

static void check_sees_slices(trace *t)
{
    trace_slice *s = neighbours(t);
    if (!CHECK(s != NULL)) return;
    const trace_slice kept[2] = {s[0], s[1]};
    trace_slice *all = calloc(t->slices, sizeof *all);
    if (!all) abort();
    memcpy(all, t->slice, t->slices * sizeof *all);
    s[1].begin = s[0].begin - 1;
    check_sees(t, "time goes back");
    s[1].begin = s[0].end - 1;
    check_sees(t, s[1].end > s[0].end ? "after it" : "lies within");
    s[1].end = s[0].end;
    check_sees(t, "lies within");
    memcpy(s, kept, sizeof kept);
    for (size_t k = 0; k < t->slices; ++k) t->slice[k].begin = t->slice[k].end = 5;
    check_sees(t, "everything is at 5 ns");
    memcpy(t->slice, all, t->slices * sizeof *all);
    free(all);
    s[0].tid = 999999;
    check_sees(t, "thread 999999, has not one name");
    memcpy(s, kept, sizeof kept);
    CHECK_STRING(trace_fault(t), "");
}

static void check_sees_arrows(trace *t)
{
    const trace_arrow kept = t->end[0];
    if (!CHECK(t->starts > 1 && t->starts == t->ends)) return;
    --t->ends;
    check_sees(t, "messages begin");
    ++t->ends;
    t->end[0].id = "0>0.7.7";
    check_sees(t, "has one end");
    CHECK_STRING(t->end[0].id, "0>0.7.7"); /* it sorts first */
    t->end[0] = kept;
    CHECK_STRING(trace_fault(t), "");
    t->end[0].at = t->start[0].at - 1;
    check_sees(t, "before it is sent");
    t->end[0] = kept;
    t->end[0].at = INT64_MAX;
    check_sees(t, "lies in no slice");
    t->end[0] = kept;
    t->end[0].pid = t->start[0].pid;
    check_sees(t, "goes from rank");
    t->end[0] = kept;
    t->start[1].id = t->start[0].id;
    check_sees(t, "two messages are");
}

static void how_well_clocks_are_synchronised_is_said(void)
{
    static const char *const when[] = {"beginning", "end"};
    char text[LONG], words[80];
    setenv("META_LOG", "info", 1);
    catch_errors();
    begin_in_file();
    end();
    take_caught(text, sizeof text);
    unsetenv("META_LOG");
    if (test_rank == 0) remove(path);
    for (int k = 0; k < 2; ++k) {
        snprintf(words, sizeof words, "at its %s, clocks of the job are synchronised within ",
                 when[k]);
        CHECK_INT(strstr(text, words) != NULL, test_rank == 0 && test_size > 1);
    }
}

/* What the tests of a trace would overlook if their parser did. */
static void faults_injected_into_a_trace_are_detected(void)
{
    static const char *const texts[] = {
        "[{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":1.000,\"dur\":-0.001,\"name\":\"a\"}]",
        "[{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"dur\":1,\"name\":\"a\"}]",
        "[{\"ph\":\"X\",\"pid\":0,\"pid\":1}]",
        "[{\"ph\":\"f\",\"pid\":0,\"tid\":1,\"ts\":1}]",
        "[{\"ph\":\"M\",\"pid\":0}",
        "{\"ph\":\"M\",\"pid\":0}"};
    trace t;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        test_case("%s", texts[k]);
        CHECK(*trace_read(&t, NULL, texts[k], strlen(texts[k])));
        trace_free(&t);
    }
    begin_in_file();
    run();
    end();
    if (test_rank != 0 || !CHECK_STRING(trace_read(&t, path, NULL, 0), "")) return;
    remove(path);
    if (!CHECK_STRING(trace_fault(&t), "")) return;
    check_sees_slices(&t);
    if (test_size > 1) check_sees_arrows(&t);
    trace_free(&t);
}

/* ------------------------------------------------------------------ what is too long */

/* A trace has as many events as it is allowed, says so, and is a whole one. */
static void a_long_trace_keeps_its_first_events(void)
{
    enum { MOST = 100, RANGES = 150 };
    char text[4096];
    trace t;
    setenv("META_TRACE_EVENTS", "100", 1);
    begin_in_file();
    catch_errors();
    for (int k = 0; k < RANGES; ++k) {
        CHECK_OK(meta_range_push("one of many"));
        CHECK_OK(meta_range_pop());
    }
    end();
    take_caught(text, sizeof text);
    unsetenv("META_TRACE_EVENTS");
    const char *first = strstr(text, "warning");
    CHECK(first && !strstr(first + 1, "warning"));
    CHECK_CONTAINS(text, "the first 100 events");
    if (test_rank != 0 || !CHECK_STRING(trace_read(&t, path, NULL, 0), "")) return;
    remove(path);
    CHECK_STRING(trace_fault(&t), "");
    for (int pid = 0; pid < test_size; ++pid)
        CHECK_INT(trace_slices_of(&t, pid, "range", "one of many"), MOST);
    CHECK_INT(events_of(&t, "what comes after the first 100 events is left out"), test_size);
    CHECK_INT(events_of(&t, "process_labels"), test_size);
    trace_free(&t);
}

/* ------------------------------------------------------------------ what cannot be written */

/* The run is unharmed, and rank 0 says once what is wrong with the file. */
static void check_warning(const char *text, const char *file, const char *reason)
{
    test_case("%s", text);
    if (test_rank != 0) {
        CHECK_STRING(text, "");
        return;
    }
    const char *first = strstr(text, "warning");
    CHECK(first && !strstr(first + 1, "warning"));
    CHECK_CONTAINS(text, file);
    CHECK_CONTAINS(text, reason);
}

static void a_file_that_cannot_be_written_is_a_warning(void)
{
    static const char *const files[][2] = {{"/dev/full", "No space left on device"},
                                           {"/", "Is a directory"},
                                           {"/nowhere/at/all.json", "No such file or directory"},
                                           {"/dev/null/file", "Not a directory"}};
    char text[4096];
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k) {
        begin(files[k][0]);
        run();
        catch_errors();
        end();
        take_caught(text, sizeof text);
        check_warning(text, files[k][0], files[k][1]);
    }
}

/* Close the array as readers of such files do, and parse it. */
static void check_cut_file(int64_t most)
{
    static char text[1 << 19];
    trace t;
    FILE *f = fopen(path, "r");
    if (!CHECK(f != NULL)) return;
    const size_t length = fread(text, 1, sizeof text - 3, f);
    fclose(f);
    remove(path);
    text[length] = '\0';
    CHECK((int64_t)length <= most);
    if (!CHECK(length > 2 && strcmp(text + length - 3, "},\n") == 0)) return;
    memcpy(text + length - 2, "]\n", 3);
    if (CHECK_STRING(trace_read(&t, NULL, text, length), "")) CHECK(t.slices > 0);
    trace_free(&t);
}

/* As where a disk becomes full in the middle, in the first piece that is written or a later one:
 * what is there ends with an event, and is read. */
static void a_file_that_is_cut_off_still_opens(void)
{
    static const rlim_t most[] = {30 << 10, 300 << 10};
    struct rlimit limit, before;
    char text[4096];
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (size_t k = 0; k < sizeof most / sizeof *most; ++k) {
        begin_in_file();
        for (int range = 0; range < 4000; ++range) {
            CHECK_OK(meta_range_push("many"));
            CHECK_OK(meta_range_pop());
        }
        limit = before;
        limit.rlim_cur = most[k];
        catch_errors();
        if (test_rank == 0) setrlimit(RLIMIT_FSIZE, &limit);
        end();
        setrlimit(RLIMIT_FSIZE, &before);
        take_caught(text, sizeof text);
        check_warning(text, path, "File too large");
        if (test_rank == 0) check_cut_file((int64_t)most[k]);
    }
}

TEST_MPI_MAIN(PROMISE(everything_that_ran_is_there_and_fits_together),
              PROMISE(a_summary_does_not_change_the_trace),
              PROMISE(how_well_clocks_are_synchronised_is_said),
              PROMISE(faults_injected_into_a_trace_are_detected),
              PROMISE(a_long_trace_keeps_its_first_events),
              PROMISE(a_file_that_cannot_be_written_is_a_warning),
              PROMISE(a_file_that_is_cut_off_still_opens))
