/* SPDX-License-Identifier: BSD-3-Clause */
/** @file log.c
 *  What the library tells people, as far as META_LOG allows: on the standard error stream, or in
 * the file of META_LOG_FILE, one for each rank where the name has a place for it. Until it is
 * settled which rank this is, lines wait. */
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1100, WAITING = 1 << 15 };

static _Atomic int allowed = META_LOG_WARN;
static _Atomic int job_rank = -1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static char pattern[PATH_MAX]; /* of META_LOG_FILE; empty: the standard error stream */
static int file = -1;
static bool settled; /* the file is open, or cannot be and the pattern is gone */
static char waiting[WAITING];
static size_t waiting_bytes;

void meta_log_set(meta_log_level level)
{
    allowed = (int)level;
}

void meta_log_rank(int rank)
{
    job_rank = rank;
}

/* Whether a warning of this text has been printed; remembers it. */
static bool said_before(const char *text)
{
    static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t said[256];
    static size_t count;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    bool before = false;
    for (const char *c = text; *c; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    pthread_mutex_lock(&said_lock);
    for (size_t k = 0; k < count && !before; ++k) before = said[k] == hash;
    if (!before && count < sizeof said / sizeof *said) said[count++] = hash;
    pthread_mutex_unlock(&said_lock);
    return before;
}

/* ------------------------------------------------------------------ where lines go; with the lock
 */

/* The whole line at once, so that ranks which share a file do not mix theirs. */
static void put(const char *text, size_t bytes)
{
    ssize_t done;
    if (file < 0) {
        fwrite(text, 1, bytes, stderr);
        return;
    }
    do done = write(file, text, bytes);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)bytes) return;
    /* The disk may be full: people are told on the other stream. */
    fprintf(stderr, "libmeta: warning: META_LOG_FILE=%s cannot be written: %s\n", pattern,
            done < 0 ? strerror(errno) : "no room");
    close(file);
    file = -1;
    fwrite(text, 1, bytes, stderr);
}

/* The file's name: %r in the pattern is the rank. */
static bool name_file(char *name, size_t room, bool *own)
{
    const char *place = strstr(pattern, "%r");
    int used;
    *own = place != NULL;
    if (!place) used = snprintf(name, room, "%s", pattern);
    else
        used = snprintf(name, room, "%.*s%d%s", (int)(place - pattern), pattern, meta_job_rank(),
                        place + 2);
    return used >= 0 && (size_t)used < room;
}

static void open_file(void)
{
    char name[PATH_MAX];
    bool own;
    if (!name_file(name, sizeof name, &own)) errno = ENAMETOOLONG;
    else {
        do file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (own ? O_TRUNC : 0), 0666);
        while (file < 0 && errno == EINTR);
    }
    if (file < 0)
        fprintf(stderr, "libmeta: warning: META_LOG_FILE=%s cannot be opened: %s\n", pattern,
                strerror(errno));
}

static void settle(void)
{
    if (settled || !*pattern) return;
    settled = true;
    open_file();
    if (waiting_bytes > 0) put(waiting, waiting_bytes);
    waiting_bytes = 0;
}

static void put_or_keep(const char *text, size_t bytes)
{
    if (*pattern && !settled) {
        if (waiting_bytes + bytes <= sizeof waiting) {
            memcpy(waiting + waiting_bytes, text, bytes);
            waiting_bytes += bytes;
            return;
        }
        settle();
    }
    put(text, bytes);
}

/* ------------------------------------------------------------------ for the other files */

void meta_log_settle(void)
{
    pthread_mutex_lock(&lock);
    settle();
    pthread_mutex_unlock(&lock);
}

/* Lines of a process that ends before it knows its rank are not lost. */
__attribute__((destructor)) static void end(void)
{
    meta_log_settle();
}

void meta_log_file(const char *name)
{
    pthread_mutex_lock(&lock);
    if (file >= 0) close(file);
    file = -1;
    settled = false;
    snprintf(pattern, sizeof pattern, "%s", name ? name : "");
    pthread_mutex_unlock(&lock);
}

void meta_log(meta_log_level level, const char *format, ...)
{
    static const char *const words[] = {"", "warning", "info", "debug"};
    char text[LINE - 64], who[24] = "", line[LINE];
    va_list arguments;
    if (level == META_LOG_OFF || (int)level > allowed) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (level == META_LOG_WARN && said_before(text)) return;
    if (job_rank >= 0) snprintf(who, sizeof who, "[%d]", job_rank);
    const int bytes = snprintf(line, sizeof line, "libmeta%s: %s: %s\n", who, words[level], text);
    pthread_mutex_lock(&lock);
    put_or_keep(line, (size_t)bytes);
    pthread_mutex_unlock(&lock);
}
