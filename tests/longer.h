/* SPDX-License-Identifier: BSD-3-Clause */
/** @file longer.h
 *  Structures that begin with their size, of a program that was compiled with later headers: longer
 *  than the library's, by members that it does not know. */
#ifndef META_TEST_LONGER_H
#define META_TEST_LONGER_H

#include <string.h>

#include "test.h"

enum { LONGER_MORE = 24, LONGER_ROOM = 2048 };

/** A structure, and a function that is given it and returns @p error once it has taken it. */
typedef struct longer_case {
    const char *name;
    const void *init;
    size_t bytes;
    meta_err (*call)(void *structure);
    meta_err error;
    bool is_output;
} longer_case;
#define LONGER_IN(type, from, call, error)                                                         \
    {                                                                                              \
#type " of " #call, from, sizeof(type), call, error, false                                 \
    }
#define LONGER_OUT(type, from, call, error)                                                        \
    {                                                                                              \
#type " of " #call, from, sizeof(type), call, error, true                                  \
    }

/** What the caller has beyond the library's structure may be anything in an output, and must be 0
 * in an input; it stays as it is. So does a size that no version has an error. */
static inline void check_longer(const longer_case *all, size_t count)
{
    _Alignas(16) static unsigned char room[LONGER_ROOM], zero[LONGER_ROOM];
    for (const longer_case *c = all; c < all + count; ++c)
        for (size_t more = 0; more <= LONGER_MORE; ++more) {
            const size_t size = c->bytes + LONGER_MORE;
            test_case("%s, byte %zu beyond", c->name, more);
            memset(room, 0, sizeof room);
            memcpy(room, c->init, c->bytes);
            memcpy(room, &size, sizeof size);
            if (more > 0) room[c->bytes + more - 1] = 1;
            if (more == 0 || c->is_output) CHECK_ERR(c->call(room), c->error);
            else CHECK_ERR_NAMES(c->call(room), META_ERR_UNSUPPORTED, "newer");
            CHECK(memcmp(room, &size, sizeof size) == 0);
            if (more > 0) room[c->bytes + more - 1] = 0;
            CHECK(memcmp(room + c->bytes, zero, sizeof room - c->bytes) == 0);
            if (more > 0) continue;
            memset(room, 0xff, sizeof(size_t));
            CHECK_ERR_NAMES(c->call(room), META_ERR_ARGUMENT, "size");
        }
}

#endif
