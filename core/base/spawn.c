/* SPDX-License-Identifier: BSD-3-Clause */
/** @file spawn.c
 *  Running another program, with a time limit. */
#include "base/base.h"

#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* As from a shell: a launcher or the program may have blocked signals or ignore them, above all
 * SIGCHLD, without which a compiler does not learn how its parts ended. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
}

static int start(const char *const *argument, const char *const *environment, const char *output,
                 pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    set_attributes(&attributes);
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC,
                                                 0600);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!error)
        error =
            posix_spawn(child, argument[0], &actions, &attributes,
                        (char *const *)(uintptr_t)argument, (char *const *)(uintptr_t)environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Only this child is waited for: others are the program's. Where SIGCHLD is ignored, or a handler
 * waits for any child, its status is lost. */
meta_run_end meta_run_program(const char *const *argument, const char *const *environment,
                              const char *output, double limit, int *number)
{
    const double began = seconds();
    struct timespec nap = {0, 500000};
    bool killed = false;
    int status = 0;
    pid_t child = 0, ended;
    *number = start(argument, environment, output, &child);
    if (*number != 0) return META_RUN_NOT_STARTED;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (!killed && seconds() - began > limit) {
            kill(-child, SIGKILL);
            killed = true;
        }
        if (seconds() - began > limit + 5)
            return META_RUN_TIMED_OUT; /* it is stuck in the system */
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < 5000000) nap.tv_nsec += nap.tv_nsec / 8;
    }
    if (killed) return META_RUN_TIMED_OUT;
    if (ended < 0) return META_RUN_UNKNOWN;
    *number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? META_RUN_KILLED : META_RUN_EXITED;
}

static bool is_program(const char *path)
{
    struct stat about;
    return access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool meta_find_program(const char *name, char *path)
{
    const char *folders = meta_variable("PATH");
    if (strchr(name, '/')) {
        const bool fits = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
        if (fits && is_program(path)) return true;
        path[0] = '\0';
        return false;
    }
    for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
        const size_t length = strcspn(at, ":");
        const int used =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "./", name);
        if (used > 0 && used < PATH_MAX && is_program(path)) return true;
        at += length + (at[length] == ':');
    }
    path[0] = '\0';
    return false;
}
