/* SPDX-License-Identifier: BSD-3-Clause */
/** @file build_log.h
 *  What back ends say of the programs that they build at run time. */
#ifndef META_BUILD_LOG_H
#define META_BUILD_LOG_H

#include <string.h>
#include <time.h>

#include "meta_backend.h"

/** Log what @p compiler said of @p title, a message for each line as messages have a limit. */
static inline void meta_log_lines(const meta_host *host, meta_log_level level, const char *compiler,
                                  const char *title, const char *text)
{
    const size_t most = 900;
    unsigned number = 0;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n"), shown = length < most ? length : most;
        if (length > 0)
            host->log(level, "%s, %s, %u: %.*s", compiler, title, ++number, (int)shown, line);
        line += shown == length ? length + (line[length] == '\n') : shown;
    }
}

/** The time on a clock that only differences are taken of. */
static inline double meta_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

#endif
