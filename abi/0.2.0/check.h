/* SPDX-License-Identifier: BSD-3-Clause */
/** @file check.h
 *  Checks of the programs of 0.2.0: each prints what it found, and the exit status tells of all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int broken;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) == META_OK) break;                                                              \
        printf("BROKEN line %d: %s: %s\n", __LINE__, #call, meta_last_error());                    \
        exit(1);                                                                                   \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (condition) break;                                                                      \
        printf("BROKEN line %d: not %s\n", __LINE__, #condition);                                  \
        ++broken;                                                                                  \
    } while (0)
#define FIRST_WRONG(name, n, found, expected)                                                      \
    do {                                                                                           \
        if ((found) == (expected)) break;                                                          \
        printf("BROKEN line %d: %s, element %d: %g instead of %g\n", __LINE__, name, (int)(n),     \
               (double)(found), (double)(expected));                                               \
        ++broken;                                                                                  \
        return;                                                                                    \
    } while (0)

/** A copy of @p bytes bytes at @p from, behind which memory cannot be accessed. */
static void *guarded(const void *from, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) != 0) exit(1);
    return memcpy(at + room - bytes, from, bytes);
}

/** A structure that begins with its size, and a function that is given it. */
typedef struct sized_case {
    const char *name;
    const void *init;
    size_t bytes, refused; /**< its size, and one that is too small */
    meta_err (*call)(void *structure);
    meta_err error; /**< what that returns once it has taken the structure */
} sized_case;
#define SIZED(type, from, call, error)                                                             \
    {                                                                                              \
#type " of " #call, from, sizeof(type), sizeof(type) - 1, call, error                      \
    }

/** The library neither reads nor writes behind the structure, and refuses one that is shorter. */
static void check_sized(const sized_case *all, size_t count)
{
    for (const sized_case *c = all; c < all + count; ++c) {
        size_t *size = guarded(c->init, c->bytes);
        meta_err error = c->call(size);
        if (error != c->error || *size != c->bytes) {
            printf("BROKEN %s: %s: %s\n", c->name, meta_strerror(error), meta_last_error());
            ++broken;
        }
        *size = c->refused;
        error = c->call(size);
        if (error != META_ERR_ARGUMENT || !strstr(meta_last_error(), "size")) {
            printf("BROKEN %s of %zu bytes: %s: %s\n", c->name, c->refused, meta_strerror(error),
                   meta_last_error());
            ++broken;
        }
    }
}
