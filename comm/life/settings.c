/* SPDX-License-Identifier: BSD-3-Clause */
/** @file settings.c
 *  The META_* variables that messages depend on. */
#include "life/life.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An MPI message's length, header included, is an int. */
enum { LEAST_CHUNK = 4096, MOST_CHUNK = 2147483647 - 4096 };

static meta_err read_bytes(const char *name, const char *text, size_t *bytes)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || *end || value < LEAST_CHUNK || value > MOST_CHUNK)
        return core->fail(META_ERR_ENVIRONMENT, "%s=%s: give a number of bytes from %d to %d", name,
                          text, LEAST_CHUNK, MOST_CHUNK);
    *bytes = (size_t)value;
    return META_OK;
}

/* Whether @p name is set to @p second; unset means @p first. */
static meta_err read_word(const char *name, const char *first, const char *second, bool *is_second)
{
    const char *text = core->variable(name);
    *is_second = text && strcmp(text, second) == 0;
    if (!text || *is_second || strcmp(text, first) == 0) return META_OK;
    return core->fail(META_ERR_ENVIRONMENT, "%s=%s: give %s or %s", name, text, first, second);
}

static meta_err read_timeout(double *seconds)
{
    const char *text = core->variable("META_TIMEOUT");
    double value;
    *seconds = 0;
    if (!text) return META_OK;
    if (!meta_plain_number(text, &value) || !isfinite(value))
        return core->fail(META_ERR_ENVIRONMENT, "META_TIMEOUT=%s: give a number of seconds", text);
    *seconds = value;
    return META_OK;
}

static meta_err read_abort(bool *ends_process)
{
    const char *text = core->variable("META_TIMEOUT_ABORT");
    *ends_process = text && (strcmp(text, "1") == 0 || strcmp(text, "on") == 0);
    if (!text || *ends_process || strcmp(text, "0") == 0 || strcmp(text, "off") == 0)
        return META_OK;
    return core->fail(META_ERR_ENVIRONMENT, "META_TIMEOUT_ABORT=%s: give off or on", text);
}

void comm_settings_timeout(double *seconds, bool *ends_process)
{
    read_timeout(seconds);
    read_abort(ends_process);
}

meta_err comm_settings_read(void)
{
    const char *chunk = core->variable("META_TEST_CHUNK"),
               *pipeline = core->variable("META_PIPELINE");
    bool off, ends_process;
    comm_job.chunk = (size_t)1 << 30;
    comm_job.pipeline = 0;
    comm_job.finalize_timeout = 10;
    if (chunk) META_TRY(read_bytes("META_TEST_CHUNK", chunk, &comm_job.chunk));
    if (pipeline && strcmp(pipeline, "auto") != 0)
        META_TRY(read_bytes("META_PIPELINE", pipeline, &comm_job.pipeline));
    META_TRY(read_timeout(&comm_job.peer_timeout));
    if (core->variable("META_TIMEOUT")) comm_job.finalize_timeout = comm_job.peer_timeout;
    META_TRY(read_abort(&ends_process));
    META_TRY(read_word("META_SHARED", "auto", "off", &off));
    comm_job.shared = !off;
    return read_word("META_PROGRESS", "calls", "thread", &comm_job.wants_thread);
}
