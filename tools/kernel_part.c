/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_part.c
 *  Running this program again for a part of its work. */
#include "config.h"

#include "kernel_part.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static kernel_outcome outcome_of(const char *target, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) <= OUTCOME_INCOMPLETE)
        return (kernel_outcome)WEXITSTATUS(status);
    if (WIFEXITED(status))
        printf("%s: its compiler ended the process with status %d\n", target, WEXITSTATUS(status));
    else
        printf("%s: its compiler ended by signal %d, %s\n", target, WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    return OUTCOME_REFUSED;
}

kernel_outcome kernel_part(const char *command, char *const *files, int count,
                           const kernel_target *target, const char *const *arguments)
{
    char text[96];
    const char **argument = calloc((size_t)count + MOST_ARGUMENTS + 6, sizeof *argument);
    int used = 0, status = 0;
    pid_t child;
    if (!argument) return OUTCOME_NOT_DONE;
    kernel_target_text(target, text, sizeof text);
    argument[used++] = "meta-kernel";
    argument[used++] = command;
    argument[used++] = "--for";
    argument[used++] = text;
    for (int k = 0; arguments[k] && k < MOST_ARGUMENTS; ++k) argument[used++] = arguments[k];
    argument[used++] = "--";
    for (int k = 0; k < count; ++k) argument[used++] = files[k];
    fflush(stdout);
    const int error = posix_spawn(&child, "/proc/self/exe", NULL, NULL,
                                  (char *const *)(uintptr_t)argument, environ);
    free(argument);
    if (error != 0) {
        fprintf(stderr, "meta-kernel: cannot start itself: %s\n", strerror(error));
        return OUTCOME_NOT_DONE;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return OUTCOME_NOT_DONE;
    return outcome_of(text, status);
}
