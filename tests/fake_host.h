/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fake_host.h
 *  The library's part for a back end that is tested alone: it keeps the last error's message and
 *  what is logged. */
#ifndef META_FAKE_HOST_H
#define META_FAKE_HOST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meta_backend.h"

#ifndef FAKE_LOG_LEVEL /* messages of further levels are not kept */
#define FAKE_LOG_LEVEL META_LOG_DEBUG
#endif

static char failure[4096], logged[1 << 18];

__attribute__((format(printf, 2, 3))) static meta_err fake_fail(meta_err code, const char *format,
                                                                ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    return code;
}

__attribute__((format(printf, 2, 3))) static void fake_log(meta_log_level level, const char *format,
                                                           ...)
{
    const size_t used = strlen(logged);
    va_list arguments;
    if (level > FAKE_LOG_LEVEL || used + 2 >= sizeof logged) return;
    va_start(arguments, format);
    vsnprintf(logged + used, sizeof logged - used - 1, format, arguments);
    va_end(arguments);
    strcat(logged, "\n");
}

static inline const char *fake_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

#endif
