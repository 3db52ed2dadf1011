/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_profile.c
 *  Profiling of messages and exchanges: counts, the time hidden behind kernels, and the table of
 *  all ranks. */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm */
/* TEST: backends=openmp np=2 with=SHARED=off,PROGRESS=thread labels=comm */
#include "caught.h"
#include "internal.h"
#include "test_mpi.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const meta_core *const core = &meta_core_table;

enum { LONG = 4096, WIDTH = 2, FIELDS = 3, TAG = 7 };

typedef struct ring {
    MPI_Comm cart;
    meta_halo plan;
    void *fields[FIELDS];
} ring;

static void make_ring(ring *r)
{
    const int periodic = 1;
    const double zero = 0;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &r->cart);
    desc.cart = r->cart;
    desc.box = (meta_box){1, {LONG}, {WIDTH}, {LONG - WIDTH}};
    desc.low[0] = desc.high[0] = WIDTH;
    desc.fields = FIELDS;
    desc.type = META_F64;
    for (int k = 0; k < FIELDS; ++k) {
        CHECK_OK(meta_alloc(&r->fields[k], LONG * sizeof zero));
        CHECK_OK(meta_fill(r->fields[k], LONG, &zero, META_F64, NULL));
    }
    CHECK_OK(meta_halo_create(&r->plan, &desc));
}

static void free_ring(ring *r)
{
    CHECK_OK(meta_halo_free(&r->plan));
    for (int k = 0; k < FIELDS; ++k) CHECK_OK(meta_free(r->fields[k]));
    MPI_Comm_free(&r->cart);
}

static void begin(void)
{
    test_find_own_plugins();
    test_require(meta_comm_init(NULL, NULL));
}

/* Calls and bytes of all lines at @p where whose names begin with @p name. */
static uint64_t calls_of(const meta_profile_share *share, int where, const char *name,
                         uint64_t *bytes)
{
    uint64_t calls = 0;
    *bytes = 0;
    for (size_t k = 0; k < share->count; ++k) {
        const meta_profile_row *row = &share->rows[k];
        if (row->where != where || strncmp(row->name, name, strlen(name)) != 0) continue;
        CHECK_U64(row->timed, row->calls);
        CHECK(row->seconds >= 0);
        calls += row->calls;
        *bytes += row->bytes;
    }
    return calls;
}

static void check_line(const meta_profile_share *share, int where, const char *name, uint64_t calls,
                       uint64_t bytes)
{
    uint64_t found;
    test_case("%s", name);
    CHECK_U64(calls_of(share, where, name, &found), calls);
    CHECK_U64(found, bytes);
}

/* Send @p count elements round the ring. */
static void send_round(const ring *r, int64_t count)
{
    meta_event sent;
    const int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
    CHECK_OK(meta_packed_send(next, r->fields[0], count, META_F64, TAG, &sent));
    CHECK_OK(meta_packed_recv(last, r->fields[1], count, META_F64, TAG, NULL));
    CHECK_OK(meta_event_wait(sent));
    CHECK_OK(meta_event_free(&sent));
}

static void messages_and_exchanges_are_counted(void)
{
    enum { EXCHANGES = 5, MESSAGES = 3, SUMS = 2 };
    const uint64_t ways = test_size > 1 ? 2 : 0, ghosts = WIDTH * FIELDS * sizeof(double);
    double sum[4] = {1, 2, 3, 4};
    meta_profile_share share;
    uint64_t bytes = 0;
    ring r;
    CHECK_OK(meta_timers_init()); /* before queues are made, so that all of them keep times */
    begin();
    make_ring(&r);
    core->profile_forget();
    for (int k = 0; k < EXCHANGES; ++k) CHECK_OK(meta_halo_exchange(r.plan, r.fields, NULL));
    for (int k = 0; k < MESSAGES; ++k) send_round(&r, 10 + k), bytes += 8 * (10 + (uint64_t)k);
    for (int k = 0; k < SUMS; ++k) CHECK_OK(meta_allreduce(sum, sum, 4, META_MAX, META_F64, NULL));
    CHECK_OK(meta_flush());
    if (CHECK_OK(core->profile_share(&share))) {
        check_line(&share, META_WHERE_WIRE, "ghosts out", EXCHANGES * ways,
                   EXCHANGES * ways * ghosts);
        check_line(&share, META_WHERE_WIRE, "ghosts in", EXCHANGES * ways,
                   EXCHANGES * ways * ghosts);
        check_line(&share, META_WHERE_WIRE, "message out", MESSAGES, bytes);
        check_line(&share, META_WHERE_WIRE, "message in", MESSAGES, bytes);
        check_line(&share, META_WHERE_WIRE, "allreduce", SUMS, SUMS * sizeof sum);
        if (test_size > 1)
            check_line(&share, META_WHERE_HALO, "pack f64", EXCHANGES,
                       2 * EXCHANGES * ways * ghosts);
        free(share.rows);
    }
    free_ring(&r);
    CHECK_OK(meta_timers_finalize());
    CHECK_OK(meta_comm_finalize());
}

/* Copies by which comm/p2p/chunk.c chooses the size of pieces are those of no message or exchange. */
static void what_the_library_measures_has_a_line_of_its_own(void)
{
    enum { MANY = 1 << 16, MEASURED = 10 };
    meta_profile_share share;
    uint64_t bytes;
    ring r = {.plan = {0}};
    CHECK_OK(meta_timers_init());
    begin();
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_alloc(&r.fields[k], MANY * sizeof(double)));
    for (int k = 0; k < 2; ++k) send_round(&r, MANY); /* measured once for both */
    if (CHECK_OK(core->profile_share(&share))) {
        CHECK_U64(calls_of(&share, META_WHERE_MEASURE, "copy d2h", &bytes), MEASURED);
        CHECK_U64(calls_of(&share, META_WHERE_MEASURE, "", &bytes), MEASURED);
        CHECK_U64(calls_of(&share, META_WHERE_HALO, "", &bytes), 0);
        CHECK_U64(calls_of(&share, META_WHERE_WORK, "", &bytes), 0);
        check_line(&share, META_WHERE_WIRE, "message out", 2, 2 * MANY * sizeof(double));
        free(share.rows);
    }
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(r.fields[k]));
    CHECK_OK(meta_comm_finalize());
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static meta_err stencil(const meta_box *box, void *with)
{
    void *const *fields = with;
    const double one = 1;
    for (int k = 0; k < 20; ++k)
        if (meta_axpy(fields[1], &one, fields[2], box, META_F64, NULL) != META_OK)
            return META_ERR_DEVICE;
    return META_OK;
}

/* The time under way is what passes from start to finish, and hidden what kernels take of it. */
static void what_is_hidden_is_time_of_kernels_within_exchanges(void)
{
    /* What no message reads or writes. */
    const meta_box inner = {1, {LONG}, {2 * WIDTH}, {LONG - 2 * WIDTH}};
    meta_profile_share alone, share;
    double under_way = 0;
    ring r;
    CHECK_OK(meta_timers_init()); /* before queues are made, so that all of them keep times */
    begin();
    make_ring(&r);
    core->profile_forget();
    CHECK_OK(stencil(&inner, r.fields));
    if (CHECK_OK(core->profile_share(&alone))) {
        CHECK(alone.comm == 0 && alone.hidden == 0); /* nothing was under way */
        free(alone.rows);
    }
    core->profile_forget();
    for (int k = 0; k < 10; ++k) {
        const double began = seconds();
        CHECK_OK(meta_halo_start(r.plan, r.fields));
        CHECK_OK(stencil(&inner, r.fields));
        CHECK_OK(meta_halo_finish(r.plan, NULL));
        under_way += seconds() - began;
        CHECK_OK(stencil(&inner, r.fields)); /* after it: hides nothing */
    }
    CHECK_OK(meta_flush());
    if (CHECK_OK(core->profile_share(&share))) {
        double kernels = 0;
        for (size_t k = 0; k < share.count; ++k)
            if (strcmp(share.rows[k].name, "axpy f64") == 0) kernels += share.rows[k].seconds;
        CHECK(share.comm > 0);
        CHECK(share.comm <= under_way);
        CHECK(share.hidden > 0);
        CHECK(share.hidden < share.comm);
        CHECK(share.hidden < kernels);
        free(share.rows);
    }
    free_ring(&r);
    CHECK_OK(meta_comm_finalize());
}

/* ------------------------------------------------------------------ the table */

/* How often @p part stands in @p text. */
static int times_in(const char *text, const char *part)
{
    int times = 0;
    for (const char *at = text; (at = strstr(at, part)); ++at) ++times;
    return times;
}

/* The sum of calls in all lines of that name. */
static long calls_in(const char *table, const char *name)
{
    long sum = 0;
    for (const char *line = table; line; line = strchr(line, '\n')) {
        line += strspn(line, " \n");
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ' ')
            sum += strtol(line + strlen(name), NULL, 10);
    }
    return sum;
}

static void check_table(const char *text)
{
    char title[64];
    test_case("%s", text);
    if (test_rank != 0) {
        CHECK_STRING(text, "");
        return;
    }
    snprintf(title, sizeof title, "libmeta: %d process%s,", test_size, test_size > 1 ? "es" : "");
    CHECK_INT(times_in(text, title), 1);
    CHECK_INT(times_in(text, " \n"), 0);
    CHECK_INT(times_in(text, "libmeta:"), 1);
    CHECK_INT(calls_in(text, "message out"), 4 * test_size);
    CHECK_INT(calls_in(text, "a range"), test_size);
    CHECK_INT(times_in(text, "exposed"), 1);
}

static void rank_0_prints_one_table_of_all(void)
{
    static char text[1 << 14];
    ring r;
    for (int by_variable = 0; by_variable < 2; ++by_variable) {
        /* One rank that is told so speaks for all. */
        if (by_variable && test_rank == test_size - 1) setenv("META_PROFILE", "summary", 1);
        begin();
        make_ring(&r);
        if (!by_variable) CHECK_OK(meta_timers_init());
        CHECK_OK(meta_range_push("a range"));
        for (int k = 0; k < 4; ++k) send_round(&r, 10);
        CHECK_OK(meta_range_pop());
        catch_errors();
        if (!by_variable) CHECK_OK(meta_timers_print());
        free_ring(&r);
        CHECK_OK(meta_comm_finalize());
        take_caught(text, sizeof text);
        unsetenv("META_PROFILE");
        check_table(text);
    }
}

/* ------------------------------------------------------------------ the log */

static void the_log_of_a_rank_says_what_was_chosen_and_why(void)
{
    static char text[1 << 15];
    const char *shared = getenv("META_SHARED");
    char pattern[64], name[64], own[64];
    long number = (long)getpid();
    ring r;
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(pattern, sizeof pattern, "tests/log.%ld.%%r", number);
    snprintf(name, sizeof name, "tests/log.%ld.%d", number, test_rank);
    setenv("META_LOG", "debug", 1);
    setenv("META_LOG_FILE", pattern, 1);
    catch_errors();
    begin();
    make_ring(&r);
    free_ring(&r);
    CHECK_OK(meta_comm_finalize());
    take_caught(text, sizeof text);
    unsetenv("META_LOG");
    unsetenv("META_LOG_FILE");
    CHECK_STRING(text, ""); /* all of it is in the file */
    FILE *f = fopen(name, "r");
    if (!CHECK(f != NULL)) return;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    remove(name);
    snprintf(own, sizeof own, "rank %d of %d", test_rank, test_size);
    CHECK_CONTAINS(text, own);
    CHECK_CONTAINS(text, "back end "); /* said before the rank was known */
    CHECK_CONTAINS(text, "this process computes on ");
    CHECK_CONTAINS(text, "halo plan of rank ");
    CHECK_CONTAINS(text, test_size > 1 ? "towards +x, to rank " : "the neighbour is this rank");
    if (test_size > 1 && shared && strcmp(shared, "off") == 0)
        CHECK_CONTAINS(text, "host: MPI is given this device's memory, which is the host's; not "
                             "shared: META_SHARED=off");
}

TEST_MPI_MAIN(PROMISE(messages_and_exchanges_are_counted),
              PROMISE(what_the_library_measures_has_a_line_of_its_own),
              PROMISE(what_is_hidden_is_time_of_kernels_within_exchanges),
              PROMISE(rank_0_prints_one_table_of_all),
              PROMISE(the_log_of_a_rank_says_what_was_chosen_and_why))
