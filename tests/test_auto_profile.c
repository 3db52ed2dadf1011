/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_auto_profile.c
 *  The profile of META_MODE=auto: which copies between devices there were, of how many bytes, why,
 *  where kernels ran, and what one device would have cost. On simulated devices, whose speeds are
 *  known and whose time is exact. */
/* TEST: backends=any labels=core,tools */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "internal.h"
#include "simulated.h"
#include "test.h"
#include "trace.h"

enum { CELLS = 12000, BYTES = CELLS * sizeof(double), BIG = 1 << 17, RUNS = 40 };

static const meta_core *const core = &meta_core_table;
/* A copy of BYTES takes 10 us + 8 us. */
#define MACHINE                                                                                    \
    "cpu sync host rate=20G launch=1us; gpu rate=500G launch=8us latency=10us bandwidth=12G "
static double host[BIG];

static void prepare(const char *policy, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, MACHINE "%s", more);
    simulated_set(text, policy);
    unsetenv("META_PROFILE");
}

static const meta_profile_row *row_of(const meta_profile_share *s, meta_profile_where where,
                                      const char *name, const char *label)
{
    for (size_t k = 0; k < s->count; ++k)
        if (s->rows[k].where == (int)where && strcmp(s->rows[k].name, name) == 0 &&
            strcmp(s->rows[k].label, label) == 0)
            return &s->rows[k];
    return NULL;
}

/* The row's calls, bytes and microseconds, @p us negative: any. */
static void check_row(const meta_profile_share *s, meta_profile_where where, const char *name,
                      const char *label, uint64_t calls, uint64_t bytes, double us)
{
    const meta_profile_row *row = row_of(s, where, name, label);
    test_case("%s, %s", name, label);
    if (!CHECK(row != NULL)) return;
    CHECK_U64(row->calls, calls);
    CHECK_U64(row->bytes, bytes);
    if (us >= 0 && fabs(1e6 * row->seconds - us) > 1e-3 * us)
        FAIL("%.3f us instead of %.3f", 1e6 * row->seconds, us);
}

static size_t rows_at(const meta_profile_share *s, meta_profile_where where)
{
    size_t count = 0;
    for (size_t k = 0; k < s->count; ++k) count += s->rows[k].where == (int)where;
    return count;
}

static void sum(void *buffer, int64_t cells)
{
    meta_box all = {.ndim = 1, .size = {cells}, .end = {cells}};
    double result;
    CHECK_OK(meta_reduce(&result, buffer, &all, META_SUM, META_F64, NULL));
}

/* Each call goes to the next device: h2d 0, sums 1, 0, 1, d2h 0, fill 1, d2h 0. */
static void in_turn(void)
{
    const double one = 1;
    void *a;
    CHECK_OK(meta_alloc(&a, BYTES));
    CHECK_OK(meta_label(a, "density"));
    CHECK_OK(meta_copy_h2d(a, host, BYTES, NULL));
    for (int k = 0; k < 3; ++k) sum(a, CELLS);
    CHECK_OK(meta_copy_d2h(host, a, BYTES, NULL));
    CHECK_OK(meta_fill(a, CELLS, &one, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(host, a, BYTES, NULL));
    CHECK_OK(meta_free(a));
}

static void count_in_turn(void *unused)
{
    meta_profile_share s;
    (void)unused;
    prepare("round_robin", "");
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    in_turn();
    if (CHECK_OK(core->profile_share(&s))) {
        check_row(&s, META_WHERE_MOVE, "sim:0 to sim:1", "operand of a kernel", 1, BYTES, 18);
        check_row(&s, META_WHERE_MOVE, "sim:0 to sim:1", "", 1, BYTES, 18);
        check_row(&s, META_WHERE_MOVE, "sim:1 to sim:0", "copy with the host", 1, BYTES, 18);
        CHECK_U64(rows_at(&s, META_WHERE_MOVE), 4);
        check_row(&s, META_WHERE_DEVICE, "reduce_sum f64", "sim:0", 1, BYTES, -1);
        check_row(&s, META_WHERE_DEVICE, "reduce_sum f64", "sim:1", 2, 2 * BYTES, -1);
        check_row(&s, META_WHERE_DEVICE, "reduce_sum f64", "", 3, 3 * BYTES, -1);
        check_row(&s, META_WHERE_DEVICE, "fill f64", "sim:1", 1, BYTES, -1);
        check_row(&s, META_WHERE_FIXED, "META_MODE=auto", "between devices", 0, 0, 36);
        free(s.rows);
    }
    CHECK_OK(meta_finalize());
}

static void copies_are_counted_with_their_reason(void)
{
    CHECK_CHILD(count_in_turn, NULL);
}

/* Of three buffers two fit: the first one's only copy is carried to the host. */
static void run_out_of_memory(void *unused)
{
    const double one = 1;
    const uint64_t bytes = sizeof host;
    meta_profile_share s;
    void *a[3];
    (void)unused;
    prepare("device:1", "memory=2500K");
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(meta_alloc(&a[k], bytes));
        CHECK_OK(meta_fill(a[k], BIG, &one, META_F64, NULL));
    }
    if (CHECK_OK(core->profile_share(&s))) {
        check_row(&s, META_WHERE_MOVE, "sim:1 to sim:0", "memory was short", 1, bytes, -1);
        CHECK_U64(rows_at(&s, META_WHERE_MOVE), 2);
        check_row(&s, META_WHERE_DEVICE, "fill f64", "sim:1", 3, 3 * bytes, -1);
        free(s.rows);
    }
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_free(a[k]));
    CHECK_OK(meta_finalize());
}

static void what_gives_way_to_others_is_counted(void)
{
    CHECK_CHILD(run_out_of_memory, NULL);
}

/* A sum moves its bytes once. */
static double sum_us(double launch_us, double bytes_per_us)
{
    return launch_us + (double)sizeof host / bytes_per_us;
}

/* The data, which is on the CPU first, pays to be moved after a few sums. */
static void choose_by_cost(void *unused)
{
    const double cpu = sum_us(1, 20e3), gpu = sum_us(8, 500e3);
    const double way = 10 + sizeof host / 12e3;
    meta_profile_share s;
    void *a;
    (void)unused;
    prepare("cost", "");
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&a, sizeof host));
    CHECK_OK(meta_copy_h2d(a, host, sizeof host, NULL));
    for (int k = 0; k < RUNS; ++k) sum(a, BIG);
    if (CHECK_OK(core->profile_share(&s))) {
        check_row(&s, META_WHERE_MOVE, "sim:0 to sim:1", "trial of a kernel", 1, sizeof host, way);
        CHECK_U64(rows_at(&s, META_WHERE_MOVE), 2);
        const meta_profile_row *there = row_of(&s, META_WHERE_DEVICE, "reduce_sum f64", "sim:1");
        if (CHECK(there != NULL)) CHECK(there->calls > RUNS / 2 && there->calls < RUNS);
        check_row(&s, META_WHERE_FIXED, "sim:0 alone", "kernels", 0, 0, RUNS * cpu);
        check_row(&s, META_WHERE_FIXED, "sim:1 alone", "kernels", 0, 0, RUNS * gpu);
        check_row(&s, META_WHERE_FIXED, "sim:1 alone", "copies with the host", 0, 0, way);
        if (there)
            check_row(&s, META_WHERE_FIXED, "META_MODE=auto", "kernels", 0, 0,
                      (double)there->calls * gpu + (double)(RUNS - there->calls) * cpu);
        free(s.rows);
    }
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

/* Both ways by the link of the only device that is used. */
static void copy_both_ways(void *unused)
{
    const double way = 10 + sizeof host / 12e3, gpu = sum_us(8, 500e3);
    meta_profile_share s;
    void *a;
    (void)unused;
    prepare("device:1", "");
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&a, sizeof host));
    CHECK_OK(meta_copy_h2d(a, host, sizeof host, NULL));
    sum(a, BIG);
    CHECK_OK(meta_copy_d2h(host, a, sizeof host, NULL));
    if (CHECK_OK(core->profile_share(&s))) {
        check_row(&s, META_WHERE_FIXED, "META_MODE=auto", "copies with the host", 0, 0, 2 * way);
        check_row(&s, META_WHERE_FIXED, "META_MODE=auto", "kernels", 0, 0, gpu);
        check_row(&s, META_WHERE_FIXED, "META_MODE=auto", "", 0, 0, 2 * way + gpu);
        free(s.rows);
    }
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void copies_with_the_host_take_what_the_link_says(void)
{
    CHECK_CHILD(copy_both_ways, NULL);
}

static void one_device_costs_what_its_speed_says(void)
{
    CHECK_CHILD(choose_by_cost, NULL);
}

/* Nothing ran on the CPU. */
static void keep_to_one(void *unused)
{
    meta_profile_share s;
    void *a;
    (void)unused;
    prepare("device:1", "");
    CHECK_OK(meta_timers_init());
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&a, BYTES));
    CHECK_OK(meta_copy_h2d(a, host, BYTES, NULL));
    sum(a, CELLS);
    if (CHECK_OK(core->profile_share(&s))) {
        check_row(&s, META_WHERE_FIXED, "sim:0 alone", "", 1, 0, -1);
        CHECK(!row_of(&s, META_WHERE_FIXED, "sim:0 alone", "kernels"));
        CHECK_U64(rows_at(&s, META_WHERE_MOVE), 0);
        free(s.rows);
    }
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void a_device_where_a_kernel_never_ran_is_not_known(void)
{
    CHECK_CHILD(keep_to_one, NULL);
}

/* ------------------------------------------------------------------ the trace */

static void begin_trace(const char *policy, const char *path)
{
    char profile[128];
    prepare(policy, "");
    snprintf(profile, sizeof profile, "trace:%s", path);
    setenv("META_PROFILE", profile, 1);
    CHECK_OK(meta_init());
}

/* The trace of a process that runs @p body, whose argument is the trace's path. */
static bool read_trace(void (*body)(void *), trace *t)
{
    char path[] = "/tmp/test_auto_profile.XXXXXX";
    const int file = mkstemp(path);
    if (!CHECK(file >= 0)) return false;
    close(file);
    CHECK_CHILD(body, path);
    CHECK_STRING(trace_read(t, path, NULL, 0), "");
    CHECK_STRING(trace_fault(t), "");
    unlink(path);
    return true;
}

static void write_trace(void *path)
{
    begin_trace("round_robin", path);
    in_turn();
    CHECK_OK(meta_finalize());
}

static const trace_slice *slice_of(const trace *t, const char *name)
{
    for (size_t k = 0; k < t->slices; ++k)
        if (strcmp(t->slice[k].name, name) == 0) return &t->slice[k];
    return NULL;
}

static void check_move(const trace *t, const char *name, const char *reason, const char *kernel)
{
    const trace_slice *s = slice_of(t, name);
    test_case("%s", name);
    if (!CHECK(s != NULL)) return;
    CHECK_INT(trace_slices_of(t, 0, "copy", name), 1);
    CHECK_INT(json_integer_value(json_object_get(s->args, "bytes")), BYTES);
    CHECK_STRING(trace_text(s->args, "reason"), reason);
    CHECK_STRING(trace_text(s->args, "for"), kernel);
    CHECK_INT(s->end - s->begin, 18000);
}

static int decisions_of(const trace *t, const char *name)
{
    int count = 0;
    for (size_t k = 0; k < json_array_size(t->events); ++k) {
        const json_t *event = json_array_get(t->events, k);
        count += strcmp(trace_text(event, "cat"), "decision") == 0 &&
                 strncmp(trace_text(event, "name"), name, strlen(name)) == 0;
    }
    return count;
}

static void the_trace_has_copies_and_decisions(void)
{
    trace t;
    if (!read_trace(write_trace, &t)) return;
    check_move(&t, "sim:0 to sim:1", "operand of a kernel", "reduce_sum f64, operand 1");
    check_move(&t, "sim:1 to sim:0", "copy with the host", "");
    CHECK_INT(decisions_of(&t, "reduce_sum f64, 12000 cells: sim:0"), 1);
    CHECK_INT(decisions_of(&t, "reduce_sum f64, 12000 cells: sim:1"), 2);
    CHECK_INT(decisions_of(&t, "fill f64"), 1);
    CHECK_INT(decisions_of(&t, ""), 4);
    trace_free(&t);
}

static void repeat_itself(void *path)
{
    void *a;
    begin_trace("device:1", path);
    CHECK_OK(meta_alloc(&a, BYTES));
    CHECK_OK(meta_copy_h2d(a, host, BYTES, NULL));
    for (int k = 0; k < 5; ++k) sum(a, CELLS);
    for (int k = 0; k < 5; ++k) sum(a, CELLS / 4); /* of another octave */
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void a_decision_that_stays_the_same_is_traced_once(void)
{
    trace t;
    if (!read_trace(repeat_itself, &t)) return;
    CHECK_INT(decisions_of(&t, "reduce_sum f64"), 2);
    trace_free(&t);
}

/* ------------------------------------------------------------------ the table */

static void print_table(void *unused)
{
    (void)unused;
    prepare("round_robin", "");
    setenv("META_PROFILE", "summary", 1);
    CHECK_OK(meta_init());
    in_turn();
    CHECK_OK(meta_finalize());
}

static void the_table_says_where_and_why(void)
{
    static char text[1 << 14];
    CHECK_CHILD_SAYS(print_table, NULL, text);
    CHECK_CONTAINS(text, "where META_MODE=auto ran kernels\n");
    CHECK_CONTAINS(text, "copies of META_MODE=auto between devices, and why\n");
    CHECK_CONTAINS(text, "\n    operand of a kernel              1    96.0 kB      18.00");
    CHECK_CONTAINS(text, "\n  sim:0 alone                     ");
    CHECK_CONTAINS(text, "not known: kernels, sizes and copies without a time there: 1\n");
    CHECK_CONTAINS(text, "\n    between devices                      0.036 ms\n");
}

TEST_MAIN(PROMISE(copies_are_counted_with_their_reason),
          PROMISE(what_gives_way_to_others_is_counted),
          PROMISE(copies_with_the_host_take_what_the_link_says),
          PROMISE(one_device_costs_what_its_speed_says),
          PROMISE(a_device_where_a_kernel_never_ran_is_not_known),
          PROMISE(the_trace_has_copies_and_decisions),
          PROMISE(a_decision_that_stays_the_same_is_traced_once),
          PROMISE(the_table_says_where_and_why))
