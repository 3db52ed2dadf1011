/* SPDX-License-Identifier: BSD-3-Clause */
/** @file error.c
 *  Error codes, and each thread's message about its last failing call. Most messages are short and
 * need no memory; others, such as those with a compiler's output, are kept on the heap, since the
 * library's thread-local storage has to be small (META_THREAD_OWN). */
#include "base/base.h"

#include "base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 256, LONGEST = 1 << 20 };

static META_THREAD_OWN const char *current_call = "";
static META_THREAD_OWN const char *outer_call; /* NULL: none that others are a part of */
static _Thread_local char short_message[SHORT];
static _Thread_local uint64_t failures;
static _Thread_local char *long_message; /* NULL: the short one is the last */

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
    [META_ERR_FILE] = "META_ERR_FILE: a file cannot be opened, read or written, or is damaged",
};

const char *meta_strerror(meta_err err)
{
    if ((int)err < 0 || err >= META_ERR_COUNT) return "unknown error code";
    return meanings[err];
}

/* ------------------------------------------------------------------ long messages */

static void release(void *message)
{
    if (message == long_message) long_message = NULL;
    free(message);
}

static meta_thread_memory long_messages = {.release = release};

/* @p message, of malloc(), becomes this thread's; NULL: it has no long one any more. */
static void replace_long(char *message)
{
    if (!message && !long_message) return;
    meta_thread_memory_keep(&long_messages, message);
    free(long_message);
    long_message = message;
}

/* ------------------------------------------------------------------ the last message */

const char *meta_last_error(void)
{
    return long_message ? long_message : short_message;
}

const char *meta_last_error_cause(void)
{
    const char *text = meta_last_error();
    const size_t length = strlen(current_call);
    const bool named =
        length > 0 && strncmp(text, current_call, length) == 0 && text[length] == ':';
    return named ? text + length + 2 : text;
}

void meta_call_name(const char *call)
{
    current_call = outer_call ? outer_call : call;
}

void meta_call_hold(const char *call)
{
    outer_call = call;
    if (call) current_call = call;
}

meta_err meta_fail(meta_err code, const char *format, ...)
{
    ++failures;
    /* The arguments may include the last message itself. */
    char text[SHORT], *longer = NULL;
    va_list arguments, again;
    const char *colon = *current_call ? ": " : "";
    const int used = snprintf(text, sizeof text, "%s%s", current_call, colon);
    const locale_t before = meta_plain_begin();
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text - used) {
        const size_t room = length < LONGEST ? (size_t)(used + length) + 1 : LONGEST;
        longer = malloc(room);
        if (longer) {
            memcpy(longer, text, (size_t)used);
            vsnprintf(longer + used, room - (size_t)used, format, again);
        }
    }
    va_end(again);
    meta_plain_end(before);
    replace_long(longer);
    memcpy(short_message, text, sizeof text);
    return code;
}

uint64_t meta_failures(void)
{
    return failures;
}

meta_err meta_fail_as(meta_err code, const char *message)
{
    ++failures;
    if (message == meta_last_error()) return code;
    const size_t length = strlen(message), kept = length < SHORT ? length : SHORT - 1;
    char *longer = length < SHORT ? NULL : strdup(message);
    memmove(short_message, message, kept);
    short_message[kept] = '\0';
    replace_long(longer);
    return code;
}

char *meta_error_copy(void)
{
    return strdup(meta_last_error());
}
