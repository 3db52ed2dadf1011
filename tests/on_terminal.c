/* SPDX-License-Identifier: BSD-3-Clause */
/** @file on_terminal.c
 *  Runs a program on a pseudo-terminal of its own, and copies its output:
 *  on_terminal PROGRAM [ARGUMENT] … The exit status is that of the program. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void run(int terminal, char **argv)
{
    setsid();
    for (int k = 0; k < 3; ++k) dup2(terminal, k);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (argc < 2 || master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        perror("no terminal");
        return 126;
    }
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    const pid_t child = fork();
    if (child == 0) run(terminal, argv + 1);
    close(terminal);
    char text[4096];
    for (ssize_t got; (got = read(master, text, sizeof text)) > 0 || (got < 0 && errno == EINTR);)
        if (got > 0) fwrite(text, 1, (size_t)got, stdout);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
