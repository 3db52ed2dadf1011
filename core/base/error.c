/* SPDX-License-Identifier: BSD-3-Clause */
/** @file error.c
 *  Error codes, and each thread's message about its last failing call. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local const char *current_call = "";
static _Thread_local char last_message[1024];

static const char *const meanings[META_ERR_COUNT] = {
    [META_OK] = "META_OK: no error",
    [META_ERR_INIT] = "META_ERR_INIT: the library is not started",
    [META_ERR_ARGUMENT] = "META_ERR_ARGUMENT: an argument is NULL, out of range or unknown",
    [META_ERR_POINTER] = "META_ERR_POINTER: an address that is no buffer, or the wrong kind of one",
    [META_ERR_BOUNDS] = "META_ERR_BOUNDS: a range, box or face leaves its buffer",
    [META_ERR_ALIGNMENT] = "META_ERR_ALIGNMENT: an address is not a multiple of the element size",
    [META_ERR_OVERFLOW] = "META_ERR_OVERFLOW: a size does not fit its type",
    [META_ERR_OVERLAP] = "META_ERR_OVERLAP: memory that must be apart overlaps",
    [META_ERR_TYPE] = "META_ERR_TYPE: the operation or the device does not know this element type",
    [META_ERR_WRONG_DEVICE] = "META_ERR_WRONG_DEVICE: operands live on different devices",
    [META_ERR_NO_DEVICE] = "META_ERR_NO_DEVICE: no such device",
    [META_ERR_NO_MEMORY] = "META_ERR_NO_MEMORY: no room on the device or the host",
    [META_ERR_HANDLE] = "META_ERR_HANDLE: an event or plan that was freed or never existed",
    [META_ERR_STATE] = "META_ERR_STATE: a valid call at the wrong time",
    [META_ERR_ENVIRONMENT] = "META_ERR_ENVIRONMENT: a META_* variable cannot be understood",
    [META_ERR_PLUGIN] = "META_ERR_PLUGIN: a back end's file is damaged or of another ABI",
    [META_ERR_DEVICE] = "META_ERR_DEVICE: the device's runtime reported a failure",
    [META_ERR_MPI] = "META_ERR_MPI: MPI reported a failure",
    [META_ERR_MISMATCH] = "META_ERR_MISMATCH: two ends of a message or a plan disagree",
    [META_ERR_PEER] = "META_ERR_PEER: another process failed or does not answer",
    [META_ERR_UNSUPPORTED] = "META_ERR_UNSUPPORTED: this back end or build cannot do it",
};

const char *meta_strerror(meta_err err)
{
    if ((int)err < 0 || err >= META_ERR_COUNT) return "unknown error code";
    return meanings[err];
}

const char *meta_last_error(void)
{
    return last_message;
}

void meta_call_name(const char *call)
{
    current_call = call;
}

meta_err meta_fail(meta_err code, const char *format, ...)
{
    /* The arguments may include last_message itself. */
    char text[sizeof last_message];
    va_list arguments;
    const int used = snprintf(text, sizeof text, "%s%s", current_call, *current_call ? ": " : "");
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    memcpy(last_message, text, sizeof text);
    return code;
}

meta_err meta_fail_as(meta_err code, const char *message)
{
    if (message != last_message) snprintf(last_message, sizeof last_message, "%s", message);
    return code;
}

char *meta_error_copy(void)
{
    return strdup(last_message);
}
