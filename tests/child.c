/* SPDX-License-Identifier: BSD-3-Clause */
/** @file child.c
 *  Child processes of a test. */
#include "config.h"

#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* A sanitizer's handlers would turn the signal that a test looks for into an exit status. */
static void default_signals(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t k = 0; k < sizeof deadly / sizeof *deadly; ++k) signal(deadly[k], SIG_DFL);
}

static void run_child(void (*body)(void *), void *argument, int error_stream)
{
    const long before = test_failures();
    default_signals();
    if (error_stream >= 0) dup2(error_stream, STDERR_FILENO);
    body(argument);
    fflush(NULL);
    _exit(test_failures() == before ? 0 : 1);
}

/* Everything up to the end of the stream is read, so that the child never waits for us. */
static void read_all(int stream, char *text, size_t room)
{
    size_t used = 0;
    char part[512];
    ssize_t got;
    while ((got = read(stream, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)) {
        size_t keep = got > 0 ? (size_t)got : 0;
        if (keep > room - 1 - used) keep = room - 1 - used;
        memcpy(text + used, part, keep);
        used += keep;
    }
    text[used] = '\0';
}

test_end test_child(void (*body)(void *), void *argument, char *text, size_t room)
{
    int stream[2] = {-1, -1}, status = 0;
    pid_t child;
    fflush(NULL);
    if (text && pipe(stream) != 0) return (test_end){.status = 1};
    child = fork();
    if (child == 0) run_child(body, argument, stream[1]);
    if (text) {
        close(stream[1]);
        read_all(stream[0], text, room);
        close(stream[0]);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return (test_end){.status = 1};
    if (WIFSIGNALED(status)) return (test_end){.status = -1, .signal = WTERMSIG(status)};
    return (test_end){.status = WEXITSTATUS(status)};
}

bool test_check_child(test_end end, const char *file, int line, const char *text)
{
    char what[256];
    snprintf(what, sizeof what, "the signal that ended %s in a child process", text);
    if (!test_check_int(end.signal, 0, file, line, what)) return false;
    snprintf(what, sizeof what, "the exit status of %s in a child process", text);
    return test_check_int(end.status, 0, file, line, what);
}
