/* SPDX-License-Identifier: BSD-3-Clause */
/** @file variable.h
 *  The environment variable META_STREAM_BYTES, which several back ends read. */
#ifndef META_BACKENDS_VARIABLE_H
#define META_BACKENDS_VARIABLE_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "meta_backend.h"

/** The size from which results are written with non-temporal stores: the variable's value,
 *  INT64_MAX for "off", and @p automatic for "auto" or if it is not set. */
static inline meta_err meta_stream_bytes(const meta_host *host, int64_t automatic, int64_t *bytes)
{
    const char *value = host->variable("META_STREAM_BYTES");
    char *end = NULL;
    *bytes = automatic;
    if (!value || strcmp(value, "auto") == 0) return META_OK;
    *bytes = INT64_MAX;
    if (strcmp(value, "off") == 0) return META_OK;
    errno = 0;
    *bytes = strtoll(value, &end, 10);
    if (errno || *bytes < 0 || *end || end == value)
        return host->fail(META_ERR_ENVIRONMENT,
                          "META_STREAM_BYTES=%s: give auto, off or a number of bytes", value);
    return META_OK;
}

#endif
