/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_auto_reasons.c
 *  Why META_MODE=auto copies bytes between devices: each reason that the summary has for it, by a
 *  program that gives it no other. On simulated devices. */
/* TEST: labels=core,tools */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "internal.h"
#include "test.h"

enum { CELLS = 1 << 16, BYTES = CELLS * sizeof(double), STEPS = 200 };

static const meta_core *const core = &meta_core_table;
static const meta_box all = {.ndim = 1, .size = {CELLS}, .end = {CELLS}};
static const double half = 0.5;
static double host[CELLS];

static bool start(const char *policy, const char *of_cpu, const char *of_gpu)
{
    char machine[256];
    snprintf(machine, sizeof machine,
             "cpu sync host rate=20G launch=1us %s; "
             "gpu accelerator rate=500G launch=8us latency=10us bandwidth=12G %s",
             of_cpu, of_gpu);
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_POLICY", policy, 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM", machine, 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_LEARN", "off", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    unsetenv("META_PROFILE");
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
    return CHECK_OK(meta_init()) && CHECK_OK(meta_timers_init());
}

static void *array(void)
{
    void *a = NULL;
    CHECK_OK(meta_alloc(&a, BYTES));
    CHECK_OK(meta_copy_h2d(a, host, BYTES, NULL));
    return a;
}

static void sum(const void *a)
{
    double result;
    CHECK_OK(meta_reduce(&result, a, &all, META_SUM, META_F64, NULL));
}

/* The GPU writes all of it, whatever the policy is. */
static void fill_on_gpu(void *a)
{
    CHECK_OK(meta_set_policy("device:1", META_POLICY_CALL));
    CHECK_OK(meta_fill(a, CELLS, &half, META_F64, NULL));
}

/* What a halo exchange launches: a kernel that moves cells, on its queue. */
static void move_for_halo(void *to, void *from)
{
    const meta_face face = {.count = 1, .size = {CELLS}, .stride = {1}};
    meta_builtin move;
    meta_span into, out_of;
    if (!CHECK(core->move_begin(&move, META_KERNEL_COPY, META_F64, &face, &face)) ||
        !CHECK_OK(core->resolve(to, CELLS, META_F64, "to", &into)) ||
        !CHECK_OK(core->resolve(from, CELLS, META_F64, "from", &out_of)) ||
        !CHECK_OK(core->move_bind(&move, &into, &out_of)))
        return;
    CHECK_OK(core->queue_after(into.device, META_QUEUE_HALO, META_QUEUE_COMPUTE));
    CHECK_OK(core->launch(into.device, META_QUEUE_HALO, &move, 1, NULL));
    CHECK_OK(core->queue_after(into.device, META_QUEUE_COMPUTE, META_QUEUE_HALO));
}

/** Copies between devices for a reason, and all of them. */
typedef struct copies {
    uint64_t count, bytes, all;
} copies;

static copies copies_for(const char *reason)
{
    meta_profile_share s;
    copies c = {0, 0, 0};
    if (!CHECK_OK(core->profile_share(&s))) return c;
    for (size_t k = 0; k < s.count; ++k) {
        const meta_profile_row *row = &s.rows[k];
        if (row->where != META_WHERE_MOVE) continue;
        if (!*row->label) c.all += row->calls;
        if (strcmp(row->label, reason) == 0) c.count += row->calls, c.bytes += row->bytes;
    }
    free(s.rows);
    return c;
}

/* There was one copy, of a whole array. */
static void check_only(const char *reason)
{
    const copies c = copies_for(reason);
    test_case("%s", reason);
    CHECK_U64(c.count, 1);
    CHECK_U64(c.bytes, BYTES);
    CHECK_U64(c.all, 1);
}

/* ------------------------------------------------------------------ reasons */

static void carry_home(void *unused)
{
    (void)unused;
    if (!start("cost", "", "")) return;
    void *a = array();
    sum(a);
    fill_on_gpu(a);
    sum(a);
    check_only("carried home");
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void what_another_device_wrote_is_carried_home(void)
{
    CHECK_CHILD(carry_home, NULL);
}

/* The GPU is the one for axpy and the CPU for sums, so y goes from the one to the other each step.
 */
static void follow_plan(void *unused)
{
    (void)unused;
    if (!start("cost", "axpy=100", "reduce_sum=1000")) return;
    void *x = array(), *y = array();
    for (int k = 0; k < STEPS; ++k) {
        CHECK_OK(meta_axpy(y, &half, x, &all, META_F64, NULL));
        sum(y);
    }
    const copies c = copies_for("plan of a loop");
    test_case("%d of %d copies in %d steps", (int)c.count, (int)c.all, STEPS);
    CHECK(c.count > STEPS * 3 / 4 && c.count <= STEPS);
    CHECK_U64(c.bytes, c.count * BYTES);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    CHECK_OK(meta_finalize());
}

static void a_loop_copies_for_its_plan(void)
{
    CHECK_CHILD(follow_plan, NULL);
}

static void exchange(void *policy)
{
    if (!start(policy, "", "")) return;
    void *from = array(), *to = array();
    fill_on_gpu(from);
    move_for_halo(to, from);
    check_only("message or halo");
    CHECK_OK(meta_free(from));
    CHECK_OK(meta_free(to));
    CHECK_OK(meta_finalize());
}

static void a_halo_exchange_is_a_reason(void)
{
    char fixed[] = "device:0", type[] = "type:cpu";
    CHECK_CHILD(exchange, fixed);
    CHECK_CHILD(exchange, type);
}

/* The same as follow_plan(), with what an exchange would launch instead of sums. */
static void exchange_by_plan(void *unused)
{
    (void)unused;
    if (!start("cost", "axpy=100", "copy=1000")) return;
    void *x = array(), *y = array(), *z = array();
    for (int k = 0; k < STEPS; ++k) {
        CHECK_OK(meta_axpy(y, &half, x, &all, META_F64, NULL));
        move_for_halo(z, y);
    }
    const copies c = copies_for("plan of a loop");
    test_case("%d of %d copies in %d steps", (int)c.count, (int)c.all, STEPS);
    CHECK(c.count > STEPS * 3 / 4 && c.count <= STEPS);
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    CHECK_OK(meta_free(z));
    CHECK_OK(meta_finalize());
}

static void a_halo_exchange_elsewhere_by_plan_is_due_to_the_plan(void)
{
    CHECK_CHILD(exchange_by_plan, NULL);
}

/* The buffer is on the CPU, and the policy has it on the GPU. */
static void ask_for_object(void *unused)
{
    void *object;
    (void)unused;
    if (!start("device:0", "", "")) return;
    void *a = array();
    CHECK_OK(meta_set_policy("device:1", META_POLICY_THREAD));
    CHECK_OK(meta_native(a, &object, NULL));
    check_only("native object");
    CHECK_OK(meta_native_end(a));
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void a_native_object_is_a_reason(void)
{
    CHECK_CHILD(ask_for_object, NULL);
}

/* ------------------------------------------------------------------ too many */

enum { WAITING = 1 << 14, MOVES = WAITING + 1000, SMALL = 64 };

/* A buffer goes from device to device, and nothing of it is work of the program's. */
static void go_to_and_fro(void *a)
{
    void *object;
    for (int k = 0; k <= MOVES; ++k) { /* the first time it is there already */
        CHECK_OK(meta_set_policy(k % 2 == 0 ? "device:0" : "device:1", META_POLICY_THREAD));
        CHECK_OK(meta_native(a, &object, NULL));
        CHECK_OK(meta_native_end(a));
    }
}

static void copy_out_elsewhere(const void *a)
{
    CHECK_OK(meta_set_policy("device:1", META_POLICY_THREAD));
    CHECK_OK(meta_copy_d2h(host, a, SMALL, NULL));
}

static void move_too_often(void *unused)
{
    void *a;
    (void)unused;
    if (!start("device:0", "", "")) return;
    CHECK_OK(meta_timers_finalize());
    setenv("META_PROFILE", "summary", 1);
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
    CHECK_OK(meta_alloc(&a, SMALL));
    CHECK_OK(meta_copy_h2d(a, host, SMALL, NULL));
    copy_out_elsewhere(a); /* the list begins in its middle */
    go_to_and_fro(a);
    const copies kept = copies_for("native object"), rest = copies_for("");
    CHECK_U64(kept.count, WAITING);
    CHECK_U64(kept.bytes, WAITING * SMALL);
    CHECK_U64(rest.all, MOVES + 1);
    CHECK_U64(rest.bytes, (MOVES + 1) * SMALL);
    CHECK_OK(meta_set_policy("device:0", META_POLICY_THREAD));
    CHECK_OK(meta_fill(a, SMALL, &(uint8_t){1}, META_U8, NULL));
    copy_out_elsewhere(a);
    CHECK_U64(copies_for("copy with the host").count, 2);
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void more_copies_than_are_kept_are_counted(void)
{
    static char text[1 << 14];
    CHECK_CHILD_SAYS(move_too_often, NULL, text);
    CHECK_CONTAINS(text, "the profile lacks 1000 copies between devices and 0 decisions");
    CHECK_CONTAINS(text,
                   "\n  without a record                1000    64.0 kB  too many at a time\n");
}

TEST_MAIN(PROMISE(what_another_device_wrote_is_carried_home), PROMISE(a_loop_copies_for_its_plan),
          PROMISE(a_halo_exchange_is_a_reason),
          PROMISE(a_halo_exchange_elsewhere_by_plan_is_due_to_the_plan),
          PROMISE(a_native_object_is_a_reason), PROMISE(more_copies_than_are_kept_are_counted))
