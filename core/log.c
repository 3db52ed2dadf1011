/* SPDX-License-Identifier: BSD-3-Clause */
/** @file log.c
 *  What the library tells people, as far as META_LOG allows: on the standard error stream. */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>

static _Atomic int allowed = META_LOG_WARN;
static _Atomic int job_rank = -1;

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
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t said[256];
    static size_t count;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    bool before = false;
    for (const char *c = text; *c; ++c) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < count && !before; ++k) before = said[k] == hash;
    if (!before && count < sizeof said / sizeof *said) said[count++] = hash;
    pthread_mutex_unlock(&lock);
    return before;
}

void meta_log(meta_log_level level, const char *format, ...)
{
    static const char *const words[] = {"", "warning", "info", "debug"};
    char text[1024], who[24] = "";
    va_list arguments;
    if (level == META_LOG_OFF || (int)level > allowed) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (level == META_LOG_WARN && said_before(text)) return;
    if (job_rank >= 0) snprintf(who, sizeof who, "[%d]", job_rank);
    fprintf(stderr, "libmeta%s: %s: %s\n", who, words[level], text);
}
