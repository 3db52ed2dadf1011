/* SPDX-License-Identifier: BSD-3-Clause */
/** @file helper.c
 *  Running meta-mpi-probe: finding it, its environment, and a bounded run time.
 *
 *  It is started by posix_spawn(), which copies no memory of this process: after MPI_Init() a fork
 * may corrupt what network hardware has registered. */
#include "config.h"

#include "gpu/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What is built here comes first, so that it never runs an installed one of another version; and
 * the same place from the library as at its installation, so that what was installed may be moved.
 */
static bool find(char *path, size_t room)
{
    char folder[PATH_MAX], *slash = NULL;
    Dl_info info;
    /* The folder of the library or program this file is linked into. */
    if ((dladdr((void *)(uintptr_t)&helper_run, &info) && info.dli_fname &&
         strchr(info.dli_fname, '/') && realpath(info.dli_fname, folder)) ||
        realpath("/proc/self/exe", folder))
        slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        slash = strrchr(folder, '/');
        const bool built = slash && strcmp(slash, "/.libs") == 0;
        snprintf(path, room, "%s/../%s", folder,
                 built ? "meta-mpi-probe" : "libexec/libmeta/meta-mpi-probe");
        if (access(path, X_OK) == 0) return true;
    }
    snprintf(path, room, "%s", META_HELPER);
    return access(path, X_OK) == 0;
}

/* ------------------------------------------------------------------ its environment */

static bool begins_with_any(const char *text, const char *const *beginning)
{
    for (; *beginning; ++beginning)
        if (strncmp(text, *beginning, strlen(*beginning)) == 0) return true;
    return false;
}

/* With these the helper would start as a rank of this job. How Open MPI moves messages is what is
 * tried; where its launcher put this process is not. */
static bool is_of_the_job(const char *entry)
{
    static const char *const kept[] = {"OMPI_MCA_accelerator",
                                       "OMPI_MCA_btl",
                                       "OMPI_MCA_mpi_",
                                       "OMPI_MCA_mtl",
                                       "OMPI_MCA_opal_",
                                       "OMPI_MCA_pml",
                                       NULL};
    static const char *const dropped[] = {
        "PMI",       "OMPI_", "PRTE",          "HYDRA",      "HYDI",           "SLURM_",
        "MPI_LOCAL", "PALS_", "MPIR_PROCDESC", "META_MODE=", "META_RANK_MAP=", "META_LOG=",
        NULL};
    return begins_with_any(entry, dropped) && !begins_with_any(entry, kept);
}

/* A copy of the list, not of its strings; @p mode stays the caller's. NULL without memory. */
static char **make_environment(char *mode)
{
    /* Open MPI 4 would start a daemon for a process that no launcher started. */
    static char isolated[] = "OMPI_MCA_ess_singleton_isolated=1";
    size_t count = 0, kept = 0;
    while (environ && environ[count]) ++count;
    char **list = malloc((count + 3) * sizeof *list);
    if (!list) return NULL;
    for (size_t k = 0; k < count; ++k)
        if (!is_of_the_job(environ[k])) list[kept++] = environ[k];
    list[kept++] = isolated;
    if (mode) list[kept++] = mode;
    list[kept] = NULL;
    return list;
}

/* ------------------------------------------------------------------ its start */

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    int error;
    sigemptyset(&none);
    sigfillset(&all);
    if ((error = posix_spawnattr_init(attributes)) != 0) return error;
    if ((error = posix_spawnattr_setsigmask(attributes, &none)) == 0 &&
        (error = posix_spawnattr_setsigdefault(attributes, &all)) == 0 &&
        (error = posix_spawnattr_setpgroup(attributes, 0)) == 0)
        /* A group of its own, so that nothing it starts outlives it. */
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (error != 0) posix_spawnattr_destroy(attributes);
    return error;
}

static int set_streams(posix_spawn_file_actions_t *actions, int output)
{
    int error = posix_spawn_file_actions_init(actions);
    if (error != 0) return error;
    if ((error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY,
                                                  0)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO)) == 0)
        error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (error != 0) posix_spawn_file_actions_destroy(actions);
    return error;
}

/* 0, or what went wrong, as errno. */
static int start(const char *path, const char *argument, const char *mode, int output, pid_t *child)
{
    char name[] = "meta-mpi-probe", word[64], setting[128];
    char *arguments[] = {name, argument ? word : NULL, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    snprintf(word, sizeof word, "%s", argument ? argument : "");
    snprintf(setting, sizeof setting, "META_MODE=%s", mode ? mode : "");
    char **environment = make_environment(mode ? setting : NULL);
    if (!environment) return ENOMEM;
    int error = set_attributes(&attributes);
    if (error == 0) {
        error = set_streams(&actions, output);
        if (error == 0) {
            error = posix_spawn(child, path, &actions, &attributes, arguments, environment);
            posix_spawn_file_actions_destroy(&actions);
        }
        posix_spawnattr_destroy(&attributes);
    }
    free(environment);
    return error;
}

/* ------------------------------------------------------------------ its end */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keep the last lines. */
static void keep(helper_end *end, const char *part, size_t bytes)
{
    size_t length = strlen(end->text);
    if (bytes > HELPER_TEXT / 2) part += bytes - HELPER_TEXT / 2, bytes = HELPER_TEXT / 2;
    while (length + bytes >= sizeof end->text) {
        const char *line = strchr(end->text, '\n');
        const size_t drop = line ? (size_t)(line - end->text) + 1 : length;
        length -= drop;
        memmove(end->text, end->text + drop, length + 1);
    }
    memcpy(end->text + length, part, bytes);
    end->text[length + bytes] = '\0';
}

/* What is there; waits up to @p milliseconds for it. */
static void take_output(helper_end *end, int stream, int milliseconds)
{
    struct pollfd what = {.fd = stream, .events = POLLIN};
    char part[1024];
    while (poll(&what, 1, milliseconds) > 0) {
        const ssize_t got = read(stream, part, sizeof part);
        if (got <= 0) break;
        keep(end, part, (size_t)got);
        milliseconds = 0;
    }
}

static bool ended(pid_t child, helper_end *end)
{
    int status;
    const pid_t found = waitpid(child, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return false;
    if (found < 0)
        snprintf(end->how, sizeof end->how,
                 "its exit status is unknown, because this process waits for children elsewhere or "
                 "ignores SIGCHLD");
    else if (WIFSIGNALED(status))
        snprintf(end->how, sizeof end->how, "it was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        snprintf(end->how, sizeof end->how, "it ended with status %d", WEXITSTATUS(status));
    else end->success = true;
    return true;
}

/* The pipe may stay open in processes the helper has started: wait for the helper itself. */
static void follow(pid_t child, int stream, helper_end *end)
{
    const double deadline = now() + HELPER_SECONDS;
    const struct timespec moment = {0, 10000000};
    while (!ended(child, end)) {
        take_output(end, stream, 20);
        nanosleep(&moment, NULL); /* where the pipe is closed, poll() does not wait */
        if (now() < deadline) continue;
        kill(-child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
        snprintf(end->how, sizeof end->how, "it had not ended after %d s", HELPER_SECONDS);
        break;
    }
    take_output(end, stream, 0);
    kill(-child, SIGKILL);
}

void helper_run(const char *argument, const char *mode, helper_end *end)
{
    char path[PATH_MAX + 64];
    int stream[2], error;
    pid_t child;
    *end = (helper_end){.missing = !find(path, sizeof path)};
    if (end->missing) {
        snprintf(end->how, sizeof end->how, "there is no program %s", META_HELPER);
    } else if (pipe2(stream, O_CLOEXEC) != 0) {
        snprintf(end->how, sizeof end->how, "a pipe cannot be made: %s", strerror(errno));
    } else {
        error = start(path, argument, mode, stream[1], &child);
        close(stream[1]);
        if (error == 0) follow(child, stream[0], end);
        else snprintf(end->how, sizeof end->how, "it cannot be started: %s", strerror(error));
        close(stream[0]);
    }
}

const char *helper_last_line(const helper_end *end, char *line, size_t room)
{
    const char *last = NULL;
    for (const char *at = end->text; (at = strstr(at, HELPER_SAYS)) != NULL;)
        at = last = at + strlen(HELPER_SAYS);
    snprintf(line, room, "%.*s", last ? (int)strcspn(last, "\n") : 0, last ? last : "");
    return line;
}
