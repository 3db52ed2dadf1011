/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_trace.c
 *  The trace of a job: everything that ran is there once, slices nest, clocks never go back, each
 *  message's two ends find each other; and what becomes of one that cannot be written. */
/* TEST: backends=all np=1,2,3 mixed=yes timeout=120 labels=comm,tools */
/* TEST: backends=openmp np=2 with=SHARED=off timeout=120 labels=comm,tools */
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test_mpi.h"

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

static char path[512];

/* ------------------------------------------------------------------ a run */

static void begin(const char *to)
{
    char value[600];
    snprintf(value, sizeof value, "trace:%s", to);
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

static void run(void)
{
    const int periodic = 1;
    const double zero = 0;
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
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_halo_create(&plan[k], &desc));
    CHECK_OK(meta_range_push("all"));
    for (int k = 0; k < EXCHANGES; ++k) exchange(plan[k % 2], fields);
    CHECK_OK(meta_range_push(odd_name));
    for (int k = 0; k < MESSAGES; ++k) send_round(fields, k % 2 ? 10 : LARGE, k / 2);
    CHECK_OK(meta_range_pop());
    CHECK_OK(meta_range_pop());
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_halo_free(&plan[k]));
    for (int k = 0; k < FIELDS + 2; ++k) CHECK_OK(meta_free(fields[k]));
    MPI_Comm_free(&cart);
}

static void end(void)
{
    CHECK_OK(meta_comm_finalize());
    unsetenv("META_PROFILE");
}

/* ------------------------------------------------------------------ reading it */

typedef struct slice {
    int pid, tid;
    int64_t begin, end; /* nanoseconds */
    const char *category, *name;
} slice;

typedef struct arrow {
    const char *id;
    int pid, tid;
    int64_t at;
} arrow;

typedef struct trace {
    json_t *events;
    size_t slices, starts, ends;
    slice *slice;
    arrow *start, *end;
} trace;

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static int64_t nanoseconds(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);
    CHECK(json_is_number(number));
    return (int64_t)(json_number_value(number) * 1000 + 0.5);
}

static int number_of(const json_t *event, const char *key)
{
    const json_t *number = json_object_get(event, key);
    CHECK(json_is_integer(number));
    return (int)json_integer_value(number);
}

static void take_slice(trace *t, const json_t *event)
{
    const int64_t begin_at = nanoseconds(event, "ts"), length = nanoseconds(event, "dur");
    CHECK(begin_at >= 0 && length >= 0);
    t->slice[t->slices++] =
        (slice){number_of(event, "pid"), number_of(event, "tid"), begin_at,
                begin_at + length,       text_of(event, "cat"),   text_of(event, "name")};
}

static void take_event(trace *t, const json_t *event)
{
    const char *phase = text_of(event, "ph");
    const int pid = number_of(event, "pid");
    if (!CHECK(pid >= 0 && pid < test_size)) return;
    if (strcmp(phase, "X") == 0) {
        take_slice(t, event);
    } else if (strcmp(phase, "s") == 0 || strcmp(phase, "f") == 0) {
        const arrow a = {text_of(event, "id"), pid, number_of(event, "tid"),
                         nanoseconds(event, "ts")};
        if (*phase == 's') t->start[t->starts++] = a;
        else t->end[t->ends++] = a;
        if (*phase == 'f') CHECK_STRING(text_of(event, "bp"), "e");
    } else {
        CHECK_STRING(phase, "M");
    }
}

static bool take_events(trace *t)
{
    const size_t count = json_array_size(t->events);
    t->slice = calloc(count + 1, sizeof *t->slice);
    t->start = calloc(count + 1, sizeof *t->start);
    t->end = calloc(count + 1, sizeof *t->end);
    for (size_t k = 0; k < count; ++k) take_event(t, json_array_get(t->events, k));
    return CHECK(t->slices > 0);
}

static bool read_trace(trace *t)
{
    json_error_t error;
    *t = (trace){.events = json_load_file(path, JSON_REJECT_DUPLICATES, &error)};
    if (!t->events) return FAIL("%s, line %d: %s", path, error.line, error.text);
    return CHECK(json_is_array(t->events)) && take_events(t);
}

static void free_trace(trace *t)
{
    json_decref(t->events);
    free(t->slice);
    free(t->start);
    free(t->end);
    remove(path);
}

/* ------------------------------------------------------------------ what must hold */

static int same_thread(const void *a, const void *b)
{
    const slice *x = *(const slice *const *)a, *y = *(const slice *const *)b;
    if (x->pid != y->pid) return x->pid - y->pid;
    if (x->tid != y->tid) return x->tid - y->tid;
    return (x > y) - (x < y); /* as they stand in the file */
}

/* On each thread of the trace time never goes back, and what begins within a slice ends in it. */
static void check_nesting(const trace *t)
{
    enum { DEEPEST = 8 };
    int64_t open[DEEPEST], last = 0;
    int depth = 0;
    const slice **sorted = calloc(t->slices, sizeof *sorted);
    for (size_t k = 0; k < t->slices; ++k) sorted[k] = &t->slice[k];
    qsort(sorted, t->slices, sizeof *sorted, same_thread);
    for (size_t k = 0; k < t->slices; ++k) {
        const slice *s = sorted[k];
        test_case("rank %d, thread %d, %s", s->pid, s->tid, s->name);
        if (k == 0 || sorted[k - 1]->pid != s->pid || sorted[k - 1]->tid != s->tid)
            depth = 0, last = 0;
        CHECK(s->begin >= last);
        last = s->begin;
        while (depth > 0 && open[depth - 1] <= s->begin && open[depth - 1] < s->end) --depth;
        if (depth > 0) {
            CHECK(s->end <= open[depth - 1]);
            /* Nothing else nests, but what takes no time may lie at the end of something. */
            if (s->begin < open[depth - 1]) CHECK_STRING(s->category, "range");
        }
        if (CHECK(depth < DEEPEST)) open[depth++] = s->end;
        while (depth > 0 && strcmp(s->category, "range") != 0 && open[depth - 1] <= s->begin)
            --depth; /* it took none */
    }
    free(sorted);
    test_case("all");
}

static int same_arrow(const void *a, const void *b)
{
    return strcmp(((const arrow *)a)->id, ((const arrow *)b)->id);
}

static void check_holds_on(const trace *t, const arrow *a)
{
    for (size_t k = 0; k < t->slices; ++k) {
        const slice *s = &t->slice[k];
        if (s->pid == a->pid && s->tid == a->tid && s->begin <= a->at && a->at <= s->end) return;
    }
    FAIL("arrow %s lies in no slice", a->id);
}

/* Each message that was sent was received, once, and not before. */
static void check_flows(trace *t, size_t expected)
{
    CHECK_U64(t->starts, expected);
    CHECK_U64(t->ends, expected);
    if (t->starts != t->ends) return;
    qsort(t->start, t->starts, sizeof *t->start, same_arrow);
    qsort(t->end, t->ends, sizeof *t->end, same_arrow);
    for (size_t k = 0; k < t->starts; ++k) {
        const arrow *from = &t->start[k], *to = &t->end[k];
        int sender = -1, receiver = -1;
        test_case("flow %s", from->id);
        CHECK_STRING(to->id, from->id);
        if (k > 0) CHECK(strcmp(from[-1].id, from->id) != 0);
        CHECK_INT(sscanf(from->id, "%d>%d.", &sender, &receiver), 2);
        CHECK_INT(from->pid, sender);
        CHECK_INT(to->pid, receiver);
        CHECK(from->at <= to->at);
        check_holds_on(t, from);
        check_holds_on(t, to);
    }
    test_case("all");
}

static int slices_of(const trace *t, int pid, const char *category, const char *name)
{
    int count = 0;
    for (size_t k = 0; k < t->slices; ++k) {
        const slice *s = &t->slice[k];
        if ((pid < 0 || s->pid == pid) && strcmp(s->category, category) == 0 &&
            strncmp(s->name, name, strlen(name)) == 0)
            ++count;
    }
    return count;
}

/* How many events @p name there are of that rank, and of that thread where it is not negative. */
static int titles_of(const trace *t, const char *name, int pid, int tid)
{
    int count = 0;
    for (size_t k = 0; k < json_array_size(t->events); ++k) {
        const json_t *event = json_array_get(t->events, k);
        if (strcmp(text_of(event, "name"), name) == 0 && number_of(event, "pid") == pid &&
            (tid < 0 || number_of(event, "tid") == tid))
            ++count;
    }
    return count;
}

/* Every thread with slices has a name, and every rank. */
static void check_names(const trace *t)
{
    for (size_t k = 0; k < t->slices; ++k) {
        const slice *s = &t->slice[k];
        if (k > 0 && s[-1].pid == s->pid && s[-1].tid == s->tid) continue;
        CHECK_INT(titles_of(t, "thread_name", s->pid, s->tid), 1);
        CHECK_INT(titles_of(t, "process_name", s->pid, -1), 1);
    }
}

/* A call that waits lies within the range around it, whatever clock its device has. */
static void check_fills_within_steps(const trace *t, int pid)
{
    int inside = 0;
    for (size_t k = 0; k < t->slices; ++k) {
        const slice *fill = &t->slice[k];
        if (fill->pid != pid || strcmp(fill->name, "fill f64") != 0) continue;
        for (size_t n = 0; n < t->slices; ++n) {
            const slice *s = &t->slice[n];
            if (s->pid == pid && strcmp(s->name, "step") == 0 && s->begin <= fill->begin &&
                fill->end <= s->end)
                ++inside;
        }
    }
    CHECK_INT(inside, EXCHANGES);
}

static void everything_that_ran_is_there_and_fits_together(void)
{
    const int ways = test_size > 1 ? 2 : 0;
    trace t;
    begin_in_file();
    run();
    end();
    if (test_rank != 0) {
        CHECK(access(path, F_OK) != 0); /* one file for all */
        return;
    }
    if (!read_trace(&t)) return;
    check_nesting(&t);
    check_names(&t);
    check_flows(&t, (size_t)(test_size * EXCHANGES * ways + (ways ? test_size * MESSAGES : 0)));
    for (int pid = 0; pid < test_size; ++pid) {
        test_case("rank %d", pid);
        CHECK_INT(slices_of(&t, pid, "range", "all"), 1);
        CHECK_INT(slices_of(&t, pid, "range", odd_shown), 1);
        CHECK_INT(slices_of(&t, pid, "range", "step"), EXCHANGES);
        CHECK_INT(slices_of(&t, pid, "kernel", "fill f64"), EXCHANGES + FIELDS + 2);
        CHECK_INT(slices_of(&t, pid, "message", "ghosts out"), EXCHANGES * ways);
        CHECK_INT(slices_of(&t, pid, "message", "ghosts in"), EXCHANGES * ways);
        CHECK_INT(slices_of(&t, pid, "message", "message out"), MESSAGES);
        CHECK_INT(slices_of(&t, pid, "message", "message in"), MESSAGES);
        check_fills_within_steps(&t, pid);
    }
    free_trace(&t);
}

/* ------------------------------------------------------------------ what cannot be written */

static int kept_stream = -1;
static FILE *caught;

static void catch_errors(void)
{
    fflush(stderr);
    caught = tmpfile();
    kept_stream = dup(STDERR_FILENO);
    if (!caught || kept_stream < 0) abort();
    dup2(fileno(caught), STDERR_FILENO);
}

static void take_caught(char *text, size_t room)
{
    fflush(stderr);
    dup2(kept_stream, STDERR_FILENO);
    close(kept_stream);
    rewind(caught);
    text[fread(text, 1, room - 1, caught)] = '\0';
    fclose(caught);
}

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
    json_error_t error;
    FILE *f = fopen(path, "r");
    if (!CHECK(f != NULL)) return;
    const size_t length = fread(text, 1, sizeof text - 3, f);
    fclose(f);
    remove(path);
    text[length] = '\0';
    CHECK((int64_t)length <= most);
    if (!CHECK(length > 2 && strcmp(text + length - 3, "},\n") == 0)) return;
    memcpy(text + length - 2, "]\n", 3);
    json_t *events = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!events) FAIL("line %d: %s", error.line, error.text);
    else CHECK(json_array_size(events) > 0);
    json_decref(events);
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
              PROMISE(a_file_that_cannot_be_written_is_a_warning),
              PROMISE(a_file_that_is_cut_off_still_opens))
