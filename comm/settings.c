/* SPDX-License-Identifier: BSD-3-Clause */
/** @file settings.c
 *  The META_* variables that messages depend on. */
#include "comm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* One MPI message counts its bytes in an int, the header's among them. */
enum { LEAST_CHUNK = 4096, MOST_CHUNK = 2147483647 - 4096 };

meta_err comm_settings_read(size_t *chunk, double *timeout)
{
    const char *text = core->variable("META_CHUNK");
    char *end;
    *chunk = (size_t)1 << 30;
    *timeout = 10;
    if (text) {
        errno = 0;
        const long long value = strtoll(text, &end, 10);
        if (errno || *end || value < LEAST_CHUNK || value > MOST_CHUNK)
            return core->fail(META_ERR_ENVIRONMENT,
                              "META_CHUNK=%s: give a number of bytes from %d to "
                              "%d",
                              text, LEAST_CHUNK, MOST_CHUNK);
        *chunk = (size_t)value;
    }
    text = core->variable("META_TIMEOUT");
    if (text) {
        errno = 0;
        *timeout = strtod(text, &end);
        if (errno || *end || !isfinite(*timeout) || *timeout < 0)
            return core->fail(META_ERR_ENVIRONMENT, "META_TIMEOUT=%s: give a number of seconds",
                              text);
    }
    return META_OK;
}
