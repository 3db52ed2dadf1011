/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_profile.c
 *  Profiling of a run: every call and byte is counted, times fit into the elapsed time; ranges, the
 *  summary table, and tool callbacks. */
/* TEST: backends=all,late,plain labels=core smoke=yes */
#include "caught.h"
#include "child.h"
#include "internal.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const meta_core *const core = &meta_core_table;

enum { SIDE = 24, CELLS = SIDE * SIDE * SIDE, BYTES = CELLS * 8, THREADS = 4 };
static const meta_box grid = {3, {SIDE, SIDE, SIDE}, {1, 1, 1}, {SIDE - 1, SIDE - 1, SIDE - 1}};
enum { INNER = (SIDE - 2) * (SIDE - 2) * (SIDE - 2) };

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    unsetenv("META_PROFILE");
    test_device.start(argc, argv);
    CHECK_OK(meta_finalize());
}
static const test_setting setting = {.start = start};

/* Whether the back end tells when its work ran. */
static bool has_clock(void)
{
    const char *mode = getenv("META_MODE");
    return !mode || (strcmp(mode, "late") != 0 && strcmp(mode, "plain") != 0);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ------------------------------------------------------------------ work that is known */

/* Kinds of work: a line's name, and what one call reads and writes. */
static const struct {
    const char *name;
    uint64_t bytes;
} kinds[] = {{"fill f64", BYTES},
             {"copy h2d", BYTES},
             {"copy d2h", BYTES},
             {"copy u64", 2 * BYTES},
             {"axpy f64", 3 * INNER * 8},
             {"reduce_max f64", INNER * 8},
             {"dot f64", 2 * INNER * 8},
             {"stencil_3d27p f64", 2 * INNER * 8},
             {"pack f64", 2 * SIDE *SIDE * 8},
             {"transpose f64", 2 * SIDE *SIDE * 8}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct buffers {
    double *a, *b, *host, result;
} buffers;

static void make_buffers(buffers *w)
{
    w->host = calloc(CELLS, sizeof *w->host);
    CHECK_OK(meta_alloc((void **)&w->a, BYTES));
    CHECK_OK(meta_alloc((void **)&w->b, BYTES));
}

static void free_buffers(buffers *w)
{
    CHECK_OK(meta_free(w->a));
    CHECK_OK(meta_free(w->b));
    free(w->host);
}

/* One call of kind @p kind. */
static meta_err work(buffers *w, size_t kind, meta_event *done)
{
    static const double one = 1;
    static const int64_t square[2] = {SIDE, SIDE};
    static const meta_face face = {0, 2, {SIDE, SIDE}, {SIDE, SIDE * SIDE}};
    switch (kind) {
    case 0:
        return meta_fill(w->a, CELLS, &one, META_F64, done);
    case 1:
        return meta_copy_h2d(w->a, w->host, BYTES, done);
    case 2:
        return meta_copy_d2h(w->host, w->b, BYTES, done);
    case 3:
        return meta_copy_d2d(w->b, w->a, BYTES, done);
    case 4:
        return meta_axpy(w->a, &one, w->b, &grid, META_F64, done);
    case 5:
        return meta_reduce(&w->result, w->a, &grid, META_MAX, META_F64, done);
    case 6:
        return meta_dot(&w->result, w->a, w->b, &grid, META_F64, done);
    case 7:
        return meta_stencil(w->b, w->a, &grid, META_3D27P, META_F64, NULL, done);
    case 8:
        return meta_pack_face(w->b, w->a, &face, META_F64, done);
    default:
        return meta_transpose_face(w->b, w->a, square, META_F64, done);
    }
}

/* Random calls, some of which are waited for; their numbers are added to @p calls. */
static void work_at_random(buffers *w, int64_t times, uint64_t *calls)
{
    for (int64_t k = 0; k < times; ++k) {
        const size_t kind = (size_t)test_random_in(0, KINDS - 1);
        meta_event event;
        ++calls[kind];
        switch (test_random_in(0, 2)) {
        case 0:
            CHECK_OK(work(w, kind, NULL));
            break;
        case 1:
            CHECK_OK(work(w, kind, META_ASYNC));
            break;
        default:
            CHECK_OK(work(w, kind, &event));
            CHECK_OK(meta_event_free(&event));
        }
    }
}

/* The line of that name; NULL if there is none. */
static const meta_profile_row *row_of(const meta_profile_row *rows, size_t count, const char *name)
{
    for (size_t k = 0; k < count; ++k)
        if (strcmp(rows[k].name, name) == 0) return &rows[k];
    return NULL;
}

static void check_rows(const meta_profile_row *rows, size_t count, const uint64_t *calls,
                       double wall)
{
    double sum = 0;
    for (size_t kind = 0; kind < KINDS; ++kind) {
        const meta_profile_row *row = row_of(rows, count, kinds[kind].name);
        test_case("%s", kinds[kind].name);
        CHECK((row != NULL) == (calls[kind] > 0));
        if (!row) continue;
        CHECK_INT(row->where, META_WHERE_WORK);
        CHECK_U64(row->calls, calls[kind]);
        CHECK_U64(row->bytes, calls[kind] * kinds[kind].bytes);
        if (!has_clock()) continue;
        CHECK_U64(row->timed, row->calls);
        CHECK_U64(row->timed_bytes, row->bytes);
        CHECK(row->seconds > 0);
        sum += row->seconds;
    }
    /* A queue runs one thing after the other. */
    if (sum > wall) FAIL("%.9f s of work in %.9f s", sum, wall);
}

/* ------------------------------------------------------------------ counting */

static void every_call_and_byte_is_counted_and_no_time_twice(void)
{
    uint64_t calls[KINDS] = {0};
    meta_profile_share share;
    buffers w;
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    make_buffers(&w);
    const uint64_t began = now();
    work_at_random(&w, test_count(200, 5000), calls);
    CHECK_OK(meta_flush());
    const double wall = 1e-9 * (double)(now() - began);
    if (CHECK_OK(core->profile_share(&share))) {
        check_rows(share.rows, share.count, calls, wall);
        free(share.rows);
    }
    free_buffers(&w);
    CHECK_OK(meta_timers_finalize());
    CHECK_OK(meta_finalize());
}

typedef struct worker {
    pthread_t thread;
    meta_err error;
    int times;
} worker;

static void *work_in_a_thread(void *with)
{
    worker *mine = with;
    buffers w;
    make_buffers(&w);
    for (int k = 0; k < mine->times && mine->error == META_OK; ++k)
        mine->error = work(&w, (size_t)k % KINDS, k % 3 ? META_ASYNC : NULL);
    if (mine->error == META_OK) mine->error = meta_flush();
    free_buffers(&w);
    return NULL;
}

static void threads_that_come_and_go_are_all_counted(void)
{
    enum { TIMES = 4 * KINDS, ROUNDS = 3 };
    worker workers[THREADS] = {0};
    meta_profile_share share;
    CHECK_OK(meta_init());
    CHECK_OK(meta_timers_init());
    for (int round = 0; round < ROUNDS; ++round) {
        for (int k = 0; k < THREADS; ++k) {
            workers[k].times = TIMES;
            if (pthread_create(&workers[k].thread, NULL, work_in_a_thread, &workers[k])) abort();
        }
        for (int k = 0; k < THREADS; ++k) {
            pthread_join(workers[k].thread, NULL);
            CHECK_INT(workers[k].error, META_OK);
        }
    }
    if (CHECK_OK(core->profile_share(&share))) {
        CHECK_U64(share.count, KINDS);
        for (size_t k = 0; k < share.count; ++k)
            CHECK_U64(share.rows[k].calls, TIMES / KINDS * THREADS * ROUNDS);
        free(share.rows);
    }
    CHECK_OK(meta_finalize());
    CHECK_ERR(meta_timers_finalize(), META_ERR_STATE); /* that ended it */
}

static void a_restart_counts_from_zero(void)
{
    meta_profile_share share;
    buffers w;
    CHECK_OK(meta_init());
    make_buffers(&w);
    CHECK_OK(meta_timers_init());
    CHECK_ERR(meta_timers_init(), META_ERR_STATE);
    for (int k = 0; k < 3; ++k) CHECK_OK(work(&w, 0, META_ASYNC));
    CHECK_OK(meta_timers_finalize());
    CHECK_ERR(meta_timers_finalize(), META_ERR_STATE);
    CHECK_ERR(meta_timers_print(), META_ERR_STATE);
    for (int k = 0; k < 5; ++k) CHECK_OK(work(&w, 0, META_ASYNC));
    CHECK_OK(meta_timers_init());
    for (int k = 0; k < 2; ++k) CHECK_OK(work(&w, 0, NULL));
    if (CHECK_OK(core->profile_share(&share))) {
        if (CHECK_U64(share.count, 1)) CHECK_U64(share.rows[0].calls, 2);
        free(share.rows);
    }
    free_buffers(&w);
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ labels */

static void check_label(const meta_profile_share *share, const char *name, const char *label,
                        uint64_t calls, uint64_t bytes)
{
    uint64_t found = 0, found_bytes = 0;
    test_case("%s of \"%s\"", name, label);
    for (size_t k = 0; k < share->count; ++k)
        if (strcmp(share->rows[k].name, name) == 0 && strcmp(share->rows[k].label, label) == 0)
            found += share->rows[k].calls, found_bytes += share->rows[k].bytes;
    CHECK_U64(found, calls);
    CHECK_U64(found_bytes, bytes);
}

/* A line for the name, and one for each label: of the buffer written, or else of those read. */
static void lines_name_buffers_by_their_labels(void)
{
    static const char *const labels[] = {"density", "energy", NULL};
    const uint64_t face = 2 * SIDE * SIDE * 8;
    meta_profile_share share;
    buffers w;
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    make_buffers(&w);
    for (uint64_t times = 1; times <= 3; ++times) { /* the buffer's name changes, and goes */
        CHECK_OK(meta_label(w.a, labels[times - 1]));
        for (uint64_t k = 0; k < times; ++k) CHECK_OK(work(&w, 0, META_ASYNC));
    }
    CHECK_OK(meta_label(w.a, "a"));
    CHECK_OK(meta_label(w.b, "b, the \"second\" \xc3\xa9"));
    for (size_t kind = 1; kind < KINDS; ++kind) CHECK_OK(work(&w, kind, META_ASYNC));
    CHECK_OK(meta_label(w.b, NULL));
    CHECK_OK(work(&w, 8, META_ASYNC)); /* writes what has no name any more */
    if (CHECK_OK(core->profile_share(&share))) {
        check_label(&share, "fill f64", "", 6, 6 * BYTES);
        check_label(&share, "fill f64", "density", 1, BYTES);
        check_label(&share, "fill f64", "energy", 2, 2 * BYTES);
        check_label(&share, "copy h2d", "a", 1, BYTES);
        check_label(&share, "copy d2h", "b, the \"second\" \xc3\xa9", 1, BYTES);
        check_label(&share, "axpy f64", "a", 1, 3 * INNER * 8);
        check_label(&share, "dot f64", "a, b, the \"second\" \xc3\xa9", 1, 2 * INNER * 8);
        check_label(&share, "reduce_max f64", "a", 1, INNER * 8);
        check_label(&share, "pack f64", "", 2, 2 * face);
        check_label(&share, "pack f64", "b, the \"second\" \xc3\xa9", 1, face);
        check_label(&share, "pack f64", "a", 1, face);
        free(share.rows);
    }
    free_buffers(&w);
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ the table */

/* The number of calls that the table gives for @p name; -1 if there is no such line. */
static long calls_in(const char *table, const char *name)
{
    for (const char *line = table; line; line = strchr(line, '\n')) {
        line += strspn(line, " \n");
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ')
            return strtol(line + strlen(name), NULL, 10);
    }
    return -1;
}

/* Lines of a label that had one call. */
static int labels_in(const char *table)
{
    int count = 0;
    for (const char *at = table; (at = strstr(at, "    \"label ")); ++at)
        count += strtol(strchr(at + 5, '"') + 1, NULL, 10) == 1;
    return count;
}

static void meta_profile_prints_a_table_at_the_end(void)
{
    enum { LABELS = 11 };
    static char text[1 << 14];
    char label[32];
    buffers w;
    setenv("META_PROFILE", "summary", 1);
    CHECK_OK(meta_init());
    make_buffers(&w);
    CHECK_OK(meta_range_push("my range"));
    for (int k = 0; k < LABELS; ++k) {
        snprintf(label, sizeof label, "label %d", k);
        CHECK_OK(meta_label(w.b, label));
        CHECK_OK(work(&w, 9, NULL));
    }
    CHECK_OK(meta_label(w.b, NULL));
    for (size_t kind = 0; kind < KINDS; ++kind)
        for (size_t k = 0; k <= kind; ++k) CHECK_OK(work(&w, kind, NULL));
    CHECK_OK(meta_range_pop());
    free_buffers(&w);
    catch_errors();
    CHECK_OK(meta_finalize());
    take_caught(text, sizeof text);
    unsetenv("META_PROFILE");
    for (size_t kind = 0; kind < KINDS; ++kind) {
        test_case("%s", text);
        CHECK_INT(calls_in(text, kinds[kind].name), (int)kind + 1 + (kind == 9 ? LABELS : 0));
    }
    CHECK_INT(labels_in(text), 8);
    CHECK_CONTAINS(text, "    and 3 more\n");
    CHECK_INT(calls_in(text, "my range"), 1);
    CHECK_CONTAINS(text, "libmeta: 1 process,");
    CHECK(!strstr(text, " \n"));
    if (has_clock()) CHECK_CONTAINS(text, " %"); /* of a copy's speed */
    CHECK_OK(meta_init());
    catch_errors();
    CHECK_OK(meta_finalize());
    take_caught(text, sizeof text);
    CHECK_STRING(text, "");
}

static void a_wrong_value_is_named(void)
{
    setenv("META_PROFILE", "sumary", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_PROFILE=sumary");
    unsetenv("META_PROFILE");
    for (int k = 0; k < 3; ++k) {
        static const char *const values[] = {"0", "many", "-1"};
        setenv("META_TRACE_EVENTS", values[k], 1);
        CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_TRACE_EVENTS=");
    }
    unsetenv("META_TRACE_EVENTS");
    CHECK_OK(meta_init());
    CHECK_ERR(meta_timers_print(), META_ERR_STATE);
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ a process that just ends */

static void end_without_finalize(const char *path)
{
    char value[600];
    snprintf(value, sizeof value, "trace:%s", path);
    setenv("META_PROFILE", value, 1);
    CHECK_OK(meta_init());
    CHECK_OK(meta_range_push("open"));
    CHECK_OK(meta_range_push("closed"));
    CHECK_OK(meta_range_pop());
    exit(test_failures() > 0);
}

/* A child of this process, which has used a device, cannot use the library: it starts the program
 * anew. */
static void start_to_end(void *path)
{
    setenv("META_TEST_TRACE", path, 1);
    execl("/proc/self/exe", "test_profile",
          "a_program_that_exits_without_finalize_writes_its_events", (char *)NULL);
    _exit(1);
}

static void a_program_that_exits_without_finalize_writes_its_events(void)
{
    static char text[1 << 14], said[1 << 12];
    char path[64];
    FILE *f;
    if (getenv("META_TEST_TRACE")) end_without_finalize(getenv("META_TEST_TRACE"));
    snprintf(path, sizeof path, "tests/trace.%ld.json", (long)getpid());
    CHECK_CHILD_SAYS(start_to_end, path, said);
    CHECK_CONTAINS(said, "without meta_finalize()");
    if (!CHECK((f = fopen(path, "r")) != NULL)) return;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    remove(path);
    CHECK(strncmp(text, "[\n{", 3) == 0);
    CHECK(strlen(text) > 4 && strcmp(text + strlen(text) - 4, "}\n]\n") == 0);
    CHECK_CONTAINS(text, "\"name\":\"closed\"");
    CHECK(!strstr(text, "\"name\":\"open\""));
}

/* ------------------------------------------------------------------ ranges */

static void ranges_nest_and_close(void)
{
    meta_profile_share share;
    char name[] = "outer";
    CHECK_ERR(meta_range_push("early"), META_ERR_INIT);
    CHECK_OK(meta_init());
    for (int on = 0; on < 2; ++on) {
        if (on) CHECK_OK(meta_timers_init());
        CHECK_ERR(meta_range_pop(), META_ERR_STATE);
        CHECK_ERR_NAMES(meta_range_push(NULL), META_ERR_ARGUMENT, "'name'");
        for (int k = 0; k < 64; ++k) CHECK_OK(meta_range_push("deep"));
        CHECK_ERR(meta_range_push("too deep"), META_ERR_STATE);
        for (int k = 0; k < 64; ++k) CHECK_OK(meta_range_pop());
        CHECK_ERR(meta_range_pop(), META_ERR_STATE);
        for (int k = 0; k < 3; ++k) {
            strcpy(name, "outer");
            CHECK_OK(meta_range_push(name));
            strcpy(name, "gone!"); /* it was copied */
            CHECK_OK(meta_range_push("inner"));
            CHECK_OK(meta_range_pop());
            CHECK_OK(meta_range_pop());
        }
    }
    if (CHECK_OK(core->profile_share(&share))) {
        const meta_profile_row *outer = row_of(share.rows, share.count, "outer"),
                               *inner = row_of(share.rows, share.count, "inner"),
                               *deep = row_of(share.rows, share.count, "deep");
        CHECK_U64(share.count, 3);
        if (CHECK(outer && inner && deep)) {
            CHECK_U64(outer->calls, 3);
            CHECK_U64(inner->calls, 3);
            CHECK_U64(deep->calls, 64);
            CHECK_INT(outer->where, META_WHERE_RANGE);
            CHECK(outer->seconds >= inner->seconds);
        }
        free(share.rows);
    }
    CHECK_OK(meta_range_push("left open"));
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
    CHECK_ERR(meta_range_pop(), META_ERR_STATE);
    CHECK_OK(meta_finalize());
}

/* ------------------------------------------------------------------ NVTX */

/* This program has the functions of NVIDIA's library, as if that had been loaded. */
static char forwarded[256];

META_API int nvtxRangePushA(const char *name);
META_API int nvtxRangePop(void);

int nvtxRangePushA(const char *name)
{
    if (strlen(forwarded) + strlen(name) + 3 < sizeof forwarded)
        strcat(strcat(forwarded, name), "(");
    return 0;
}

int nvtxRangePop(void)
{
    if (strlen(forwarded) + 2 < sizeof forwarded) strcat(forwarded, ")");
    return 0;
}

static void ranges_are_passed_on_whether_or_not_they_are_counted(void)
{
    for (int on = 0; on < 2; ++on) {
        *forwarded = '\0';
        if (on) CHECK_OK(meta_timers_init());
        CHECK_OK(meta_init());
        CHECK_OK(meta_range_push("a"));
        CHECK_OK(meta_range_push("b"));
        CHECK_OK(meta_range_pop());
        CHECK_OK(meta_range_push("c"));
        CHECK_OK(meta_range_pop());
        CHECK_OK(meta_range_pop());
        CHECK_ERR(meta_range_pop(), META_ERR_STATE);
        CHECK_STRING(forwarded, "a(b()c())");
        CHECK_OK(meta_finalize());
    }
}

/* ------------------------------------------------------------------ another tool */

enum { HEARD = 4096 };
typedef struct heard {
    int begins, ends, wrong;
    uint64_t first; /* number */
    struct {
        meta_activity activity;
        const char *name;
        uint64_t bytes, begin, end;
        int ended;
    } of[HEARD];
} heard;

static void hear_begin(void *user, meta_activity activity, const char *name, uint64_t bytes,
                       uint64_t id)
{
    heard *h = user;
    if (h->begins == 0) h->first = id;
    if (id == 0 || id != h->first + (uint64_t)h->begins || h->begins == HEARD) {
        ++h->wrong;
        return;
    }
    h->of[h->begins].activity = activity;
    h->of[h->begins].name = name;
    h->of[h->begins].bytes = bytes;
    ++h->begins;
}

static void hear_end(void *user, meta_activity activity, uint64_t id, uint64_t begin, uint64_t end)
{
    heard *h = user;
    const uint64_t k = id - h->first;
    if (k >= (uint64_t)h->begins || h->of[k].ended || h->of[k].activity != activity) {
        ++h->wrong;
        return;
    }
    h->of[k].ended = 1;
    h->of[k].begin = begin;
    h->of[k].end = end;
    ++h->ends;
}

static void a_tool_gets_each_begin_and_end_once(void)
{
    static heard h;
    meta_tool tool = META_TOOL_INIT;
    uint64_t calls[KINDS] = {0}, bytes = 0, expected = 0, last = 0;
    buffers w;
    memset(&h, 0, sizeof h);
    tool.user = &h;
    tool.begin = hear_begin;
    tool.end = hear_end;
    CHECK_OK(meta_set_tool(&tool));
    CHECK_OK(meta_init());
    make_buffers(&w);
    const uint64_t began = now();
    work_at_random(&w, 300, calls);
    CHECK_OK(meta_range_push("a range"));
    CHECK_OK(meta_range_pop());
    CHECK_OK(meta_set_tool(NULL)); /* tells the ends that are left */
    const uint64_t ended = now();
    work_at_random(&w, 20, calls);
    CHECK_INT(h.wrong, 0);
    CHECK_INT(h.begins, 301);
    CHECK_INT(h.ends, 301);
    for (int k = 0; k < h.begins; ++k) {
        test_case("%d: %s", k, h.of[k].name);
        bytes += h.of[k].bytes;
        if (h.of[k].begin == 0 && h.of[k].end == 0 && !has_clock()) continue;
        CHECK(h.of[k].begin >= began && h.of[k].end >= h.of[k].begin && h.of[k].end <= ended);
        if (h.of[k].activity != META_ACTIVITY_RANGE) CHECK(h.of[k].begin >= last);
        if (h.of[k].activity != META_ACTIVITY_RANGE) last = h.of[k].end;
    }
    memset(calls, 0, sizeof calls);
    for (int k = 0; k < 300 && k < h.begins; ++k)
        for (size_t kind = 0; kind < KINDS; ++kind)
            if (strcmp(h.of[k].name, kinds[kind].name) == 0) {
                expected += kinds[kind].bytes;
                CHECK_INT(h.of[k].activity,
                          kind == 1 || kind == 2 ? META_ACTIVITY_COPY : META_ACTIVITY_KERNEL);
            }
    CHECK_U64(bytes, expected);
    CHECK_STRING(h.of[300].name, "a range");
    free_buffers(&w);
    CHECK_OK(meta_finalize());
}

static void a_tool_may_have_no_callbacks(void)
{
    meta_tool tool = META_TOOL_INIT;
    buffers w;
    CHECK_OK(meta_set_tool(&tool));
    CHECK_OK(meta_init());
    make_buffers(&w);
    for (size_t kind = 0; kind < KINDS; ++kind) CHECK_OK(work(&w, kind, META_ASYNC));
    CHECK_OK(meta_range_push("a range"));
    CHECK_OK(meta_range_pop());
    free_buffers(&w);
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_set_tool(NULL));
    tool.size = 3;
    CHECK_ERR_NAMES(meta_set_tool(&tool), META_ERR_ARGUMENT, "META_TOOL_INIT");
}

TEST_MAIN_WITH(&setting, PROMISE(every_call_and_byte_is_counted_and_no_time_twice),
               PROMISE(threads_that_come_and_go_are_all_counted),
               PROMISE(a_restart_counts_from_zero), PROMISE(lines_name_buffers_by_their_labels),
               PROMISE(meta_profile_prints_a_table_at_the_end), PROMISE(a_wrong_value_is_named),
               PROMISE(a_program_that_exits_without_finalize_writes_its_events),
               PROMISE(ranges_nest_and_close),
               PROMISE(ranges_are_passed_on_whether_or_not_they_are_counted),
               PROMISE(a_tool_gets_each_begin_and_end_once), PROMISE(a_tool_may_have_no_callbacks))
