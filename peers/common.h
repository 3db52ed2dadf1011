/* SPDX-License-Identifier: BSD-3-Clause */
/** @file common.h
 *  Shared by the peers: failure messages, and splitting long vectors for libraries with int
 *  counts. */
#ifndef META_PEER_COMMON_H
#define META_PEER_COMMON_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/** Format the message into @p reason. @return -1 */
static inline int __attribute__((format(printf, 3, 4)))
peer_fail(char *reason, size_t room, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, room, format, arguments);
    va_end(arguments);
    return -1;
}

/** How many of @p left elements to pass to the library in one call. */
static inline int peer_part(int64_t left)
{
    return left < ((int64_t)1 << 30) ? (int)left : 1 << 30;
}

#endif
