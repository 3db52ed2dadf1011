/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.c
 *  Wrappers of the C library's formatting functions that count their callers. The dynamic linker
 *  resolves symbols in the program first, so every library calls these; they forward to the next
 *  definition (a sanitizer's, or the C library's). */
/* Here the functions themselves are defined, which the headers would replace by those that check.
 */
#undef _FORTIFY_SOURCE
#include "config.h"

#include "words.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ counting */

static atomic_bool listening;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static long calls;
static words_call kept[WORDS_KEPT];

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* MPI, drivers and the test itself may say what they like. */
static bool is_ours(const char *file)
{
    static const char *const back_ends[] = {"openmp.so", "opencl.so", "cuda.so", "hip.so"};
    if (strncmp(file, "libmeta", 7) == 0) return true;
    for (size_t k = 0; k < sizeof back_ends / sizeof *back_ends; ++k)
        if (strcmp(file, back_ends[k]) == 0) return true;
    return false;
}

/* By hand, since what is watched formats. */
static void copy_text(char *to, size_t room, const char *from)
{
    size_t k = 0;
    for (; k + 1 < room && from[k]; ++k) to[k] = from[k];
    to[k] = '\0';
}

static void hear(const char *format, const char *from)
{
    Dl_info module;
    if (!dladdr(from, &module) || !module.dli_fname) return;
    const char *file = name_of(module.dli_fname);
    if (!is_ours(file)) return;
    pthread_mutex_lock(&lock);
    if (calls < WORDS_KEPT) {
        words_call *call = &kept[calls];
        copy_text(call->file, sizeof call->file, file);
        copy_text(call->format, sizeof call->format, format);
        call->offset = (size_t)(from - (const char *)module.dli_fbase);
    }
    ++calls;
    pthread_mutex_unlock(&lock);
}

void words_listen(void)
{
    pthread_mutex_lock(&lock);
    calls = 0;
    pthread_mutex_unlock(&lock);
    atomic_store(&listening, true);
}

long words_heard(void)
{
    atomic_store(&listening, false);
    pthread_mutex_lock(&lock);
    const long found = calls;
    pthread_mutex_unlock(&lock);
    return found;
}

const words_call *words_of(long k)
{
    return &kept[k];
}

long words_from(const char *file)
{
    long found = 0;
    pthread_mutex_lock(&lock);
    for (long k = 0; k < calls && k < WORDS_KEPT; ++k)
        found += strncmp(kept[k].file, file, strlen(file)) == 0;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ------------------------------------------------------------------ the functions */

/* Found once, at the first call, which may come before main(). */
static void *next_of(void *_Atomic *known, const char *name)
{
    void *next = atomic_load(known);
    if (!next) {
        next = dlsym(RTLD_NEXT, name);
        if (!next) abort();
        atomic_store(known, next);
    }
    return next;
}

/* Not in a function of its own: the return address is that of the function that was called. */
#define HEAR(format)                                                                               \
    if (atomic_load(&listening)) hear((format), __builtin_return_address(0))

/* Parameters before the format, and the arguments that they become. */
#define ONLY(...) __VA_ARGS__,
/* The function that takes a list of arguments and the one that takes the arguments themselves. */
#define FORMATTING(of_list, of_arguments, parameters, arguments)                                   \
    static int next_##of_list(parameters const char *format, va_list list)                         \
    {                                                                                              \
        static void *_Atomic known;                                                                \
        int (*const next)(parameters const char *, va_list) =                                      \
            (int (*)(parameters const char *, va_list))next_of(&known, #of_list);                  \
        return next(arguments format, list);                                                       \
    }                                                                                              \
    int of_list(parameters const char *format, va_list list);                                      \
    int of_list(parameters const char *format, va_list list)                                       \
    {                                                                                              \
        HEAR(format);                                                                              \
        return next_##of_list(arguments format, list);                                             \
    }                                                                                              \
    int of_arguments(parameters const char *format, ...);                                          \
    int of_arguments(parameters const char *format, ...)                                           \
    {                                                                                              \
        va_list list;                                                                              \
        HEAR(format);                                                                              \
        va_start(list, format);                                                                    \
        const int found = next_##of_list(arguments format, list);                                  \
        va_end(list);                                                                              \
        return found;                                                                              \
    }

/* Visible, so that the libraries find them here. */
#pragma GCC visibility push(default)

FORMATTING(vsnprintf, snprintf, ONLY(char *to, size_t room), ONLY(to, room))
FORMATTING(vsprintf, sprintf, ONLY(char *to), ONLY(to))
FORMATTING(vasprintf, asprintf, ONLY(char **to), ONLY(to))
/* What compilers make of them with _FORTIFY_SOURCE. */
FORMATTING(__vsnprintf_chk, __snprintf_chk, ONLY(char *to, size_t room, int checks, size_t size),
           ONLY(to, room, checks, size))
FORMATTING(__vsprintf_chk, __sprintf_chk, ONLY(char *to, int checks, size_t size),
           ONLY(to, checks, size))
FORMATTING(__vasprintf_chk, __asprintf_chk, ONLY(char **to, int checks), ONLY(to, checks))

#pragma GCC visibility pop
