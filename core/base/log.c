/* SPDX-License-Identifier: BSD-3-Clause */
/** @file log.c
 *  Messages as far as META_LOG allows: to the standard error stream, or to META_LOG_FILE, one file
 * a rank where its name has %r. Lines are buffered until the rank is final and the file can be
 *  opened. */
#include "base/base.h"

#include "base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1100, BUFFER = 1 << 15 };

static _Atomic int allowed = META_LOG_WARN;
static _Atomic int prefix = -1; /* the rank that begins each line; negative: none does */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */
static int rank;
static char pattern[PATH_MAX]; /* META_LOG_FILE; empty: the standard error stream */
static int file = -1;
static bool opened; /* or failed to, which has been reported */
static char buffer[BUFFER];
static size_t buffered;

void meta_log_set(meta_log_level level)
{
    allowed = (int)level;
}

bool meta_log_allows(meta_log_level level)
{
    return (int)level <= allowed;
}

void meta_log_rank(int job_rank, bool prefixed)
{
    pthread_mutex_lock(&lock);
    rank = job_rank;
    prefix = prefixed ? job_rank : -1;
    pthread_mutex_unlock(&lock);
}

/* Whether this warning has been printed before; records it. */
static bool is_repeated(const char *text)
{
    static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t seen[256];
    static size_t count;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    bool before = false;
    for (const char *c = text; *c; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    pthread_mutex_lock(&seen_lock);
    for (size_t k = 0; k < count && !before; ++k) before = seen[k] == hash;
    if (!before && count < sizeof seen / sizeof *seen) seen[count++] = hash;
    pthread_mutex_unlock(&seen_lock);
    return before;
}

/* With the lock held. One write() a line, so that ranks which share a file do not interleave
 * theirs. */
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
    /* The disk may be full: go on with the standard error stream. */
    fprintf(stderr, "libmeta: warning: META_LOG_FILE=%s cannot be written: %s\n", pattern,
            done < 0 ? strerror(errno) : "no room");
    close(file);
    file = -1;
    fwrite(text, 1, bytes, stderr);
}

/* With the lock held. */
static void open_file(void)
{
    char name[PATH_MAX];
    const char *place = strstr(pattern, "%r");
    int used;
    if (opened || !*pattern) return;
    opened = true;
    if (!place) used = snprintf(name, sizeof name, "%s", pattern);
    else
        used = snprintf(name, sizeof name, "%.*s%d%s", (int)(place - pattern), pattern, rank,
                        place + 2);
    if (used < 0 || (size_t)used >= sizeof name) {
        errno = ENAMETOOLONG;
    } else {
        file = meta_file_to_write(name, O_APPEND | (place ? O_TRUNC : 0));
    }
    if (file < 0)
        fprintf(stderr, "libmeta: warning: META_LOG_FILE=%s cannot be opened: %s\n", pattern,
                strerror(errno));
    if (buffered > 0) put(buffer, buffered);
    buffered = 0;
}

void meta_log_open(void)
{
    pthread_mutex_lock(&lock);
    open_file();
    pthread_mutex_unlock(&lock);
}

/* The lines of a process that ends before its rank is final are not lost. */
__attribute__((destructor)) static void end(void)
{
    meta_log_open();
}

void meta_log_file(const char *name)
{
    pthread_mutex_lock(&lock);
    if (file >= 0) close(file);
    file = -1;
    opened = false;
    snprintf(pattern, sizeof pattern, "%s", name ? name : "");
    pthread_mutex_unlock(&lock);
}

void meta_log(meta_log_level level, const char *format, ...)
{
    static const char *const words[] = {"", "warning", "info", "debug"};
    char text[LINE - 64], who[24] = "", line[LINE];
    va_list arguments;
    if (level == META_LOG_OFF || (int)level > allowed) return;
    const locale_t before = meta_plain_begin();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    meta_plain_end(before);
    if (level == META_LOG_WARN && is_repeated(text)) return;
    const int who_rank = prefix;
    if (who_rank >= 0) snprintf(who, sizeof who, "[%d]", who_rank);
    const int bytes = snprintf(line, sizeof line, "libmeta%s: %s: %s\n", who, words[level], text);
    pthread_mutex_lock(&lock);
    if (*pattern && !opened && buffered + (size_t)bytes <= sizeof buffer) {
        memcpy(buffer + buffered, line, (size_t)bytes);
        buffered += (size_t)bytes;
    } else {
        open_file();
        put(line, (size_t)bytes);
    }
    pthread_mutex_unlock(&lock);
}
