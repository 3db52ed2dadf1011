/* SPDX-License-Identifier: BSD-3-Clause */
/** @file standard_output.c
 *  Whether what a program has printed was written. */
#include "config.h"

#include "standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void standard_output_begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    if (fcntl(STDOUT_FILENO, F_GETFD) >= 0) return;
    const int unwritable = open("/dev/null", O_RDONLY);
    if (unwritable < 0 || unwritable == STDOUT_FILENO) return;
    dup2(unwritable, STDOUT_FILENO);
    close(unwritable);
}

const char *standard_output_error(void)
{
    static char message[256];
    static const char what[] = "standard output cannot be written";
    if (fflush(stdout) != 0) snprintf(message, sizeof message, "%s: %s", what, strerror(errno));
    /* The reason belongs to an earlier call. */
    else if (ferror(stdout)) snprintf(message, sizeof message, "%s", what);
    else return NULL;
    return message;
}
