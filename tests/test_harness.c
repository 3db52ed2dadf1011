/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_harness.c
 *  The harness itself: a promise that ran no check is not reported as kept. */
/* TEST: labels=core smoke=yes */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"

static void checks_nothing(void) {}

static void holds(void)
{
    CHECK(true);
}

static void fails(void)
{
    CHECK_INT(1, 2);
}

static const test_promise inner[] = {PROMISE(checks_nothing), PROMISE(holds), PROMISE(fails),
                                     PROMISE_LONG(holds)};

typedef struct inner_run {
    int first, count; /* of inner[] */
    const char *name; /* NULL: no promise is named */
} inner_run;

/* A run of the harness in a child process; its output goes to the standard error stream. */
static void run_inner(void *argument)
{
    const inner_run *run = argument;
    char program[] = "inner", name[64] = "";
    char *arguments[] = {program, name, NULL};
    if (run->name) snprintf(name, sizeof name, "%s", run->name);
    unsetenv("META_TEST_LONG");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int status =
        test_run(run->name ? 2 : 1, arguments, NULL, inner + run->first, (size_t)run->count);
    fflush(NULL);
    _exit(status);
}

static void check_run(inner_run run, int status, const char *line)
{
    char text[4096];
    const test_end end = test_child(run_inner, &run, text, sizeof text);
    CHECK_INT(end.signal, 0);
    CHECK_INT(end.status, status);
    CHECK_CONTAINS(text, line);
}

static void a_promise_without_a_check_is_skipped(void)
{
    check_run((inner_run){0, 2, NULL}, 0, "skipped checks_nothing\n");
    check_run((inner_run){0, 2, NULL}, 0, "kept   holds\n");
}

static void a_run_without_a_check_fails(void)
{
    check_run((inner_run){0, 1, NULL}, 1, "no promise ran a check");
    check_run((inner_run){0, 2, "checks_nothing"}, 1, "no promise ran a check");
}

static void a_failed_check_breaks_its_promise(void)
{
    check_run((inner_run){0, 3, NULL}, 1, "BROKEN fails\n");
    check_run((inner_run){1, 2, NULL}, 1, "1 is 1, expected 2");
}

static void a_long_promise_is_run_when_it_is_named(void)
{
    check_run((inner_run){3, 1, NULL}, 1, "no promise ran a check");
    check_run((inner_run){3, 1, "holds"}, 0, "kept   holds\n");
}

TEST_MAIN(PROMISE(a_promise_without_a_check_is_skipped), PROMISE(a_run_without_a_check_fails),
          PROMISE(a_failed_check_breaks_its_promise),
          PROMISE(a_long_promise_is_run_when_it_is_named))
