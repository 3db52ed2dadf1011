/* SPDX-License-Identifier: BSD-3-Clause */
/** @file jit.c
 *  META_JIT and META_JIT_TIMEOUT: whether code is made at run time, and how long that may take. */
#include "cache/cache.h"

#include "base/plain.h"
#include "base/secure.h"

#include <string.h>

enum { TIMEOUT_SECONDS = 120, MOST_SECONDS = 86400 };

static meta_jit_mode mode = META_JIT_ON;
static double timeout = TIMEOUT_SECONDS;

meta_err meta_jit_read(void)
{
    static const char *const words[] = {"off", "load", "on"};
    const char *wanted = meta_variable("META_JIT"), *limit = meta_variable("META_JIT_TIMEOUT");
    int k;
    for (k = META_JIT_OFF; wanted && k <= META_JIT_ON && strcmp(wanted, words[k]) != 0;) ++k;
    if (wanted && k > META_JIT_ON)
        return meta_fail(META_ERR_ENVIRONMENT, "META_JIT=%s: give off, load or on", wanted);
    mode = wanted ? (meta_jit_mode)k : META_JIT_ON;
    if (meta_is_secure()) mode = META_JIT_LOAD; /* compilers take programs from the environment */
    timeout = TIMEOUT_SECONDS;
    if (!limit) return META_OK;
    if (!meta_plain_number(limit, &timeout) || !(timeout > 0 && timeout <= MOST_SECONDS)) {
        timeout = TIMEOUT_SECONDS;
        return meta_fail(META_ERR_ENVIRONMENT,
                         "META_JIT_TIMEOUT=%s: give seconds, more than 0 and at most %d", limit,
                         (int)MOST_SECONDS);
    }
    return META_OK;
}

double meta_jit_timeout(void)
{
    return timeout;
}

meta_jit_mode meta_jit(void)
{
    return mode;
}
