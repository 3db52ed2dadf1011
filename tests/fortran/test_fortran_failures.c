/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_fortran_failures.c
 *  What libmeta asks of the host fails in turn while a Fortran program lives (failing_life.f90),
 * once in each of many processes: the error and its message reach Fortran, or all results are
 * right; nothing is left behind, and the next life is right. Where an allocation fails that the
 * Fortran compiler made for itself, its run time ends the program: such ends are counted apart. */
/* TEST: backends=openmp,opencl labels=fortran */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../host_fault.h"
#include "../scratch.h"
#include "../test.h"

/** META_OK, the first error, or -1 for a wrong result without an error. */
int test_life(void);
/** The message of that error. */
void test_said(char text[513]);

/* What a process tells of its lives. */
typedef struct report {
    long calls, blocks;
    int code, after;
    bool lived; /* to the end */
    char message[513], next_message[513], place[512];
} report;

static report *shared;

static void tell_place(void)
{
    snprintf(shared->place, sizeof shared->place, "%s", host_fault_place());
}

static void tell_and_die(int number)
{
    tell_place();
    signal(number, SIG_DFL);
    raise(number);
}

/* Call @p n fails in the first of two lives. */
static void live(long n)
{
    atexit(tell_place); /* where the run time ends the program */
    signal(SIGSEGV, tell_and_die);
    signal(SIGABRT, tell_and_die);
    alarm(100);
    host_fault_arm(n);
    shared->code = test_life();
    test_said(shared->message);
    shared->calls = host_fault_calls();
    host_fault_disarm();
    tell_place();
    shared->after = test_life();
    test_said(shared->next_message);
    shared->blocks = host_fault_blocks();
    shared->lived = true;
    _exit(0);
}

/* @return how the process ended, as waitpid() says it */
static int live_apart(long n)
{
    int status = -1;
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) live(n);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* Of a temporary array or text: the run time ends the program, or it uses what it has not. */
static bool is_the_compilers(int status)
{
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) != 0,
               crashed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
    return (ended || crashed) && strstr(shared->place, "malloc() from") &&
           strstr(shared->place, "/libmeta_fortran.so");
}

static void whatever_the_host_refuses_reaches_fortran(void)
{
    char folder[1024], file[1100];
    const char *number = getenv("META_TEST_FAIL_AT");
    long lives = 0, errors = 0, own = 0;
    scratch_make("fortran_failures", folder, sizeof folder);
    snprintf(file, sizeof file, "%s/log", folder);
    setenv("META_LOG_FILE", file, 1);
    if (!freopen("/dev/null", "w", stderr)) FAIL("/dev/null cannot be opened");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(shared != MAP_FAILED)) return;
    live_apart(0); /* compiles kernels */
    CHECK_INT(live_apart(0), 0);
    if (shared->code == META_ERR_NO_DEVICE) exit(77);
    test_case("nothing fails; %s", shared->message);
    if (!CHECK_INT(shared->code, META_OK)) return;
    const long calls = shared->calls, blocks = shared->blocks;
    const int64_t wanted = test_count(40, calls),
                  step = number || calls == 0 ? 1 : 1 + (calls - 1) / wanted;
    for (long n = number ? atol(number) : 1 + (long)(test_random() % (uint64_t)step); n <= calls;
         n += step) {
        const int status = live_apart(n);
        test_case("call %ld fails: %s\n    error %d: %s; then: %s", n, shared->place, shared->code,
                  shared->message, shared->next_message);
        ++lives;
        if (!shared->lived && is_the_compilers(status)) {
            ++own;
            if (number) printf("note   the compiler's own: %s\n", shared->place);
            continue;
        }
        CHECK_INT(status, 0);
        CHECK(shared->code >= 0 && shared->code < META_ERR_COUNT);
        CHECK_INT(shared->after, META_OK);
        CHECK(shared->blocks <= blocks);
        if (shared->code != META_OK) CHECK(strncmp(shared->message, "meta_", 5) == 0);
        errors += shared->code != META_OK;
        if (number) break;
    }
    test_case("the whole");
    CHECK(lives > 0 || !host_fault_possible());
    printf(
        "note   of %ld calls %ld failed, one a process: %ld errors, %ld right results, %ld of the "
        "compiler's own\n",
        calls, lives, errors, lives - errors - own, own);
    munmap(shared, sizeof *shared);
    scratch_remove(folder);
}

TEST_MAIN(PROMISE(whatever_the_host_refuses_reaches_fortran))
