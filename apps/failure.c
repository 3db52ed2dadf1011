/* SPDX-License-Identifier: BSD-3-Clause */
/** @file failure.c
 *  A failure on any rank becomes one line on the terminal and the same exit status on all ranks. */
#include "config.h"

#include "failure.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

static const char *program = "?";
static char message[1024];
static bool printed, lenient;

void failure_program(const char *path)
{
    const char *slash = strrchr(path, '/');
    program = slash != NULL ? slash + 1 : path;
    /* libtool runs programs of the build tree under this name. */
    if (strncmp(program, "lt-", 3) == 0) program += 3;
}

const char *failure_program_name(void)
{
    return program;
}

void failure_note(const char *format, ...)
{
    if (failure_seen()) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (message[0] == '\0') strcpy(message, "a failure without a message");
}

void failure_note_memory(double bytes)
{
    failure_note("no room in host memory for %.0f bytes; use a smaller grid or more ranks", bytes);
}

bool failure_seen(void)
{
    return message[0] != '\0';
}

/* Whether the library has named a rank in front. */
static bool is_named(const char *text)
{
    int rank, length = 0;
    return sscanf(text, "rank %d: %n", &rank, &length) == 1 && length > 0;
}

bool failure_agree(MPI_Comm comm)
{
    int rank, first;
    MPI_Comm_rank(comm, &rank);
    const int mine = failure_seen() ? rank : INT_MAX;
    watch_begin("all ranks tell of failures");
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first != INT_MAX) MPI_Bcast(message, (int)sizeof message, MPI_CHAR, first, comm);
    watch_end();
    if (first == INT_MAX) return false;
    if (rank == 0 && !printed) {
        fflush(stdout);
        const char *kind = lenient ? "warning: " : "";
        if (first == 0 || is_named(message)) fprintf(stderr, "%s: %s%s\n", program, kind, message);
        else fprintf(stderr, "%s: %srank %d: %s\n", program, kind, first, message);
    }
    printed = true;
    return true;
}

/* Launchers drop what is still in the pipe of a job that ends by MPI_Abort, MPICH's about once in
   twenty times. Waits until they have read it, a second at most, with time to pass it on. */
static void await_reader(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
    const struct timespec nap = {.tv_nsec = 10000000};
    int unread = 1;
    for (int tries = 0; tries < 100 && unread > 0; ++tries) {
        nanosleep(&nap, NULL);
        if (ioctl(file, FIONREAD, &unread) != 0) return;
    }
}

void failure_abort(const char *why)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fflush(stdout);
    if (is_named(why)) fprintf(stderr, "%s: %s\n", program, why);
    else fprintf(stderr, "%s: rank %d: %s\n", program, rank, why);
    watch_remove_leaves();
    await_reader(STDOUT_FILENO);
    await_reader(STDERR_FILENO);
    MPI_Abort(MPI_COMM_WORLD, STATUS_UNUSABLE);
    _Exit(STATUS_UNUSABLE);
}

void failure_lenient(void)
{
    lenient = true;
}

bool failure_forgive(MPI_Comm comm)
{
    const bool seen = failure_agree(comm);
    message[0] = '\0';
    printed = lenient = false;
    return seen;
}
