/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_policy.c
 *  Policies of META_MODE=auto: each one's choices on simulated devices, whose threads and kernels
 * they are for, the program's own, and their errors. */
/* TEST: backends=any labels=core */
#include "config.h"

#define META_KERNELS_HERE
#include "choose.kernel.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "child.h"
#include "simulated.h"
#include "test.h"

enum { CELLS = 4096, RUNS = 40, WORD = 16 };

/* The GPU is faster, but its link is slow: moving an array takes as long as some ten kernels. */
#define CPU "cpu sync host rate=10G launch=1us; "
#define GPU "gpu accelerator rate=500G launch=2us latency=20us bandwidth=1G; "

static void *array;
static meta_box box;

/* ------------------------------------------------------------------ a program */

static bool start(const char *machine, const char *policy)
{
    simulated_set(machine, policy);
    if (!CHECK_OK(meta_init())) return false;
    array = case_zeros(CELLS, &box);
    return array != NULL;
}

static void run(int times)
{
    for (int n = 0; n < times; ++n) CHECK_OK(grow_f64(&box, array, 1, META_ASYNC));
}

/* What the array holds, and how many kernels ran on the two devices. */
static void end(double value, int *cpu, int *gpu)
{
    double host[CELLS];
    CHECK_OK(meta_copy_d2h(host, array, sizeof host, NULL));
    CHECK_NEAR(host[CELLS - 1], value, 0);
    CHECK_OK(meta_free(array));
    if (!simulated_report_begin()) return;
    CHECK_OK(meta_finalize());
    const char *report = simulated_report_end();
    *cpu = (int)simulated_number(report, "cpu launches ");
    *gpu = (int)simulated_number(report, "gpu launches ");
    CHECK_INT(*cpu + *gpu, (int)value);
}

/** A policy, and how many of RUNS kernels run on the GPU with it. */
typedef struct example {
    const char *policy;
    int least, most;
} example;

static void hold(void *argument)
{
    const example *e = argument;
    int cpu = -1, gpu = -1;
    test_case("META_POLICY=%s", e->policy);
    if (!start(CPU GPU, e->policy)) return;
    run(RUNS);
    end(RUNS, &cpu, &gpu);
    test_case("META_POLICY=%s: %d on the CPU, %d on the GPU", e->policy, cpu, gpu);
    CHECK(gpu >= e->least && gpu <= e->most);
}

/* ------------------------------------------------------------------ words */

/* What is not known is tried until two runs count beside the first; then the GPU is never soonest
 * for greedy, whose data is on the CPU, and always fastest for profile. */
static void each_word_has_its_choices(void)
{
    static const example examples[] = {
        {"device:0", 0, 0},   {"device:1", RUNS, RUNS},    {"type:gpu", RUNS, RUNS},
        {"type:cpu", 0, 0},   {"locality", 0, 0},          {"round_robin", RUNS / 2, RUNS / 2},
        {"random:3", 10, 30}, {"profile", RUNS - 3, RUNS}, {"greedy", 1, RUNS},
        {"cost", 0, RUNS},    {"type:sim", 0, RUNS},
    };
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k) {
        example one = examples[k];
        CHECK_CHILD(hold, &one);
    }
}

/* ------------------------------------------------------------------ scopes */

static void *run_some(void *unused)
{
    (void)unused;
    run(10);
    return NULL;
}

static void scopes(void *unused)
{
    int cpu = -1, gpu = -1;
    pthread_t thread;
    (void)unused;
    if (!start(CPU GPU, "device:0")) return;
    CHECK_OK(meta_set_policy("device:1", META_POLICY_CALL));
    run(5); /* one of them */
    CHECK_OK(meta_set_policy("device:1", META_POLICY_THREAD));
    run(7);
    if (CHECK(pthread_create(&thread, NULL, run_some, NULL) == 0)) pthread_join(thread, NULL);
    CHECK_OK(meta_set_policy("device:0", META_POLICY_CALL));
    CHECK_OK(meta_set_policy(NULL, META_POLICY_CALL));
    run(3);
    CHECK_OK(meta_set_policy(NULL, META_POLICY_THREAD));
    run(2);
    end(27, &cpu, &gpu);
    CHECK_INT(gpu, 1 + 7 + 3);
}

static void a_policy_is_for_a_thread_or_its_next_kernel(void)
{
    CHECK_CHILD(scopes, NULL);
}

static void two_lives(void *unused)
{
    int cpu = -1, gpu = -1;
    (void)unused;
    for (int life = 0; life < 2; ++life) {
        if (!start(CPU GPU, "device:0")) return;
        if (life == 0) CHECK_OK(meta_set_policy("device:1", META_POLICY_THREAD));
        run(4);
        end(4, &cpu, &gpu);
        test_case("life %d", life);
        CHECK_INT(gpu, life == 0 ? 4 : 0);
    }
}

static void a_policy_ends_with_the_library(void)
{
    CHECK_CHILD(two_lives, NULL);
}

/* ------------------------------------------------------------------ the program's own */

typedef struct seen {
    int calls, answer;
    meta_err inside;
    bool calls_back;
    meta_decision decision;
    meta_candidate candidate[2];
    char kernel[WORD], device[2][WORD];
} seen;

static int choose(const meta_decision *decision, void *user)
{
    seen *s = user;
    ++s->calls;
    s->decision = *decision;
    snprintf(s->kernel, WORD, "%s", decision->kernel);
    for (int k = 0; k < decision->candidates && k < 2; ++k) {
        s->candidate[k] = *decision->candidate[k];
        snprintf(s->device[k], WORD, "%s", decision->candidate[k]->device);
    }
    if (s->calls_back) s->inside = meta_free(array);
    return s->answer;
}

static void function(void *unused)
{
    seen s = {.answer = 1};
    int cpu = -1, gpu = -1;
    (void)unused;
    if (!start(CPU GPU, NULL)) return;
    CHECK_OK(meta_set_policy_function(choose, &s, META_POLICY_THREAD));
    run(1);
    CHECK_INT(s.decision.candidates, 2);
    CHECK_STRING(s.kernel, "grow");
    CHECK_STRING(s.device[0], "sim:0");
    CHECK_STRING(s.device[1], "sim:1");
    CHECK_INT(s.decision.type, META_F64);
    CHECK_U64(s.decision.cells, CELLS);
    CHECK_U64(s.decision.bytes, 2 * 8 * CELLS);
    CHECK_U64(s.candidate[0].missing_bytes, 0);
    CHECK_U64(s.candidate[1].missing_bytes, 8 * CELLS);
    CHECK_INT(s.candidate[1].number, 1);
    CHECK_INT(s.candidate[0].is_known, 0);
    run(9); /* the array is on the GPU now */
    CHECK_U64(s.candidate[0].missing_bytes, 8 * CELLS);
    CHECK_U64(s.candidate[1].missing_bytes, 0);
    CHECK_INT(s.candidate[1].is_known, 1);
    /* As the machine is described: 2 us, and 32 KiB at 500 GB/s. */
    CHECK_NEAR(s.candidate[1].running, 2e-6 + 8 * CELLS / 500e9, 1e-3);
    CHECK(s.candidate[0].moving > 0 && s.candidate[0].returning > 0);
    CHECK_NEAR(s.candidate[1].moving + s.candidate[1].returning, 0, 0);
    CHECK_INT(s.calls, 10);
    end(10, &cpu, &gpu);
    CHECK_INT(gpu, 10);
}

static void a_function_sees_each_term(void)
{
    CHECK_CHILD(function, NULL);
}

static void bad_function(void *unused)
{
    static const int wrong[] = {-1, 2, 1 << 30};
    seen s = {.answer = 0};
    int cpu = -1, gpu = -1;
    (void)unused;
    if (!start(CPU GPU, NULL)) return;
    CHECK_OK(meta_set_policy_function(choose, &s, META_POLICY_THREAD));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        s.answer = wrong[k];
        test_case("a function that returns %d", s.answer);
        CHECK_ERR(grow_f64(&box, array, 1, NULL), META_ERR_ARGUMENT);
        CHECK_CONTAINS(meta_last_error(), "returned");
        CHECK_CONTAINS(meta_last_error(), "0 to 1");
        CHECK_CONTAINS(meta_last_error(), "grow");
    }
    s.answer = 0;
    s.calls_back = true;
    run(1);
    CHECK_INT(s.inside, META_ERR_STATE);
    CHECK_OK(meta_set_policy_function(NULL, NULL, META_POLICY_THREAD));
    run(2);
    end(3, &cpu, &gpu);
}

static void a_wrong_function_is_an_error(void)
{
    CHECK_CHILD(bad_function, NULL);
}

/* ------------------------------------------------------------------ errors */

static void errors(void *unused)
{
    static const char *const wrong[] = {"",
                                        "costs",
                                        "device",
                                        "device:",
                                        "device:x",
                                        "type:",
                                        "type",
                                        "random:",
                                        "random:-1",
                                        "COST",
                                        "cost ",
                                        "greedy:1",
                                        "type:a_type_whose_name_has_32_letters"};
    int cpu = -1, gpu = -1;
    (void)unused;
    if (!start(CPU GPU, "device:1")) return;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        test_case("policy \"%s\"", wrong[k]);
        CHECK_ERR(meta_set_policy(wrong[k], META_POLICY_THREAD), META_ERR_ARGUMENT);
        CHECK_CONTAINS(meta_last_error(), "'policy'");
        CHECK_CONTAINS(meta_last_error(), "locality");
    }
    CHECK_ERR(meta_set_policy("cost", (meta_policy_scope)2), META_ERR_ARGUMENT);
    CHECK_CONTAINS(meta_last_error(), "'scope'");
    CHECK_ERR(meta_set_policy("device:2", META_POLICY_THREAD), META_ERR_NO_DEVICE);
    CHECK_CONTAINS(meta_last_error(), "2 devices");
    CHECK_CONTAINS(meta_last_error(), "1: sim:1");
    CHECK_ERR(meta_set_policy("device:99999999999", META_POLICY_CALL), META_ERR_NO_DEVICE);
    CHECK_ERR(meta_set_policy("type:cuda", META_POLICY_CALL), META_ERR_NO_DEVICE);
    CHECK_CONTAINS(meta_last_error(), "type:cuda");
    run(3);
    end(3, &cpu, &gpu);
    CHECK_INT(gpu, 3); /* nothing of that has changed the policy */
    CHECK_ERR(meta_set_policy("cost", META_POLICY_THREAD), META_ERR_INIT);
}

static void wrong_policies_are_errors_and_change_nothing(void)
{
    CHECK_CHILD(errors, NULL);
}

static void bad_variable(void *argument)
{
    void *ptr;
    simulated_set(CPU GPU, argument);
    test_case("META_POLICY=%s", (const char *)argument);
    if (strncmp(argument, "type:", 5) != 0) {
        CHECK_ERR(meta_init(), META_ERR_ENVIRONMENT);
        CHECK_CONTAINS(meta_last_error(), "META_POLICY=");
        return;
    }
    if (!CHECK_OK(meta_init())) return;
    CHECK_ERR(meta_alloc(&ptr, 8), META_ERR_NO_DEVICE);
    CHECK_CONTAINS(meta_last_error(), "META_POLICY=type:cuda");
    CHECK_OK(meta_finalize());
}

static void a_wrong_variable_is_an_error(void)
{
    char type[] = "type:cuda", word[] = "fastest";
    CHECK_CHILD(bad_variable, type);
    CHECK_CHILD(bad_variable, word);
}

TEST_MAIN(PROMISE(each_word_has_its_choices), PROMISE(a_policy_is_for_a_thread_or_its_next_kernel),
          PROMISE(a_policy_ends_with_the_library), PROMISE(a_function_sees_each_term),
          PROMISE(a_wrong_function_is_an_error),
          PROMISE(wrong_policies_are_errors_and_change_nothing),
          PROMISE(a_wrong_variable_is_an_error))
