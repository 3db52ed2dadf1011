/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_watch.c
 *  The programs' watch over their own calls of MPI: it ends a process that waits too long, and not
 *  one that was only stopped for long. Of MPI it asks the rank, which this file tells it. */
/* TEST: labels=programs */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "failure.h"
#include "test.h"
#include "watch.h"

/* MPI's profiling interface lets a program put its own function in front. */
int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 3;
    return MPI_SUCCESS;
}

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (nanosleep(&left, &left) != 0) {
    }
}

static void wait_too_long(void *unused)
{
    (void)unused;
    setenv("META_TIMEOUT", "0.5", 1);
    for (int call = 0; call < 20; ++call) { /* none of which waits for long */
        watch_begin("a call returns");
        pause_for(0.05);
        watch_end();
    }
    pause_for(1); /* outside of calls */
    watch_begin("nobody comes");
    pause_for(60);
}

static void a_call_that_waits_too_long_ends_the_process(void)
{
    char text[256];
    const test_end end = test_child(wait_too_long, NULL, text, sizeof text);
    CHECK(end.status == STATUS_UNUSABLE);
    CHECK(strstr(text,
                 "rank 3: not every rank has come where nobody comes, for 0.5 s (META_TIMEOUT)"));
}

static void wait_while_stopped(void *unused)
{
    (void)unused;
    const pid_t self = getpid();
    setenv("META_TIMEOUT", "4", 1);
    const pid_t other = fork();
    if (other == 0) {
        pause_for(0.5);
        kill(self, SIGSTOP);
        pause_for(5);
        kill(self, SIGCONT);
        _exit(0);
    }
    watch_begin("a stopped process goes on");
    CHECK(other > 0 && waitpid(other, NULL, 0) == other);
    pause_for(0.5);
    watch_end();
}

static void time_for_which_the_process_is_stopped_does_not_count(void)
{
    CHECK_CHILD(wait_while_stopped, NULL);
}

TEST_MAIN(PROMISE(a_call_that_waits_too_long_ends_the_process),
          PROMISE(time_for_which_the_process_is_stopped_does_not_count))
