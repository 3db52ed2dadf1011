/* SPDX-License-Identifier: BSD-3-Clause */
/** @file first_error.h
 *  The first error of a life in which one call fails: a program ends at it, and until then every result
 *  must be right. For a test of one file, which sets it to zeros before each life. */
#ifndef META_TEST_FIRST_ERROR_H
#define META_TEST_FIRST_ERROR_H

#include <stdio.h>

#include "test.h"

/* The first error of the life at hand, its message, and the call. */
static struct {
    meta_err code;
    const char *call;
    char message[1024];
} first;

static bool went(meta_err code, const char *call)
{
    if (code == META_OK) return true;
    if (first.code == META_OK) {
        first.code = code;
        first.call = call;
        snprintf(first.message, sizeof first.message, "%s", meta_last_error());
    }
    return false;
}
/* A call that a program makes: after an error it ends. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (!went((call), #call)) return;                                                          \
    } while (0)

/* Results are right, unless there was an error. */
static inline void right(double is, double expected, const char *what)
{
    if (is != expected)
        FAIL("%s is %.17g, expected %.17g, and there was no error", what, is, expected);
}

#endif
