/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support.c
 *  Reference-counted device memory, messages of errors found in Fortran, and source lines; see
 *  support.h. */
/* Places are the Fortran program's, of metaf_here(). */
#define META_NO_PLACES
#include "support.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ messages */

enum { PATH_ROOM = 256 };
static _Thread_local char message[1024];
static _Thread_local bool is_ours;

int metaf_fail(int code, const char *text)
{
    snprintf(message, sizeof message, "%s", text);
    is_ours = true;
    /* What was said for this call is not said for the next one. */
    (void)meta_here(NULL, 0);
    return code;
}

const char *metaf_message(void)
{
    const char *text = meta_last_error();
    if (is_ours) return message;
    /* Only these speak of arguments; what drivers say is theirs. */
    if (!strstr(text, "argument") && !strstr(text, "dimension")) return text;
    metaf_in_fortran(message, sizeof message, text);
    return message;
}

void metaf_failed_in_c(void)
{
    is_ours = false;
}

meta_err metaf_here(const char *file, int line)
{
    static _Thread_local char said[PATH_ROOM];
    const size_t length = strlen(file);
    if (length == 0) return meta_here(NULL, 0);
    snprintf(said, sizeof said, "%s", length < PATH_ROOM ? file : file + length - (PATH_ROOM - 1));
    return meta_here(said, line);
}

/* ------------------------------------------------------------------ bodies */

typedef struct body {
    metaf_body public; /* first, so that its address is the body's */
    int64_t references;
    struct body *next; /* of all, or of those without memory */
    struct body *next_free;
} body;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static body *all, *unused;

metaf_body *metaf_body_new(void *address, int type, int owner)
{
    pthread_mutex_lock(&lock);
    body *b = unused;
    if (b) {
        unused = b->next_free;
    } else if ((b = calloc(1, sizeof *b)) != NULL) {
        b->next = all;
        all = b;
    }
    if (b) {
        ++b->public.generation;
        b->public.address = address;
        b->public.type = type;
        b->public.owner = owner;
        b->references = 1;
    }
    pthread_mutex_unlock(&lock);
    return b ? &b->public : NULL;
}

static bool is_alive(const metaf_body *shared, int64_t generation)
{
    return shared && shared->generation == generation && generation % 2 != 0;
}

/* Under the lock: no reference is to it from now on. */
static void retire(body *b)
{
    ++b->public.generation;
    b->next_free = unused;
    unused = b;
}

int metaf_body_keep(metaf_body *shared, int64_t generation)
{
    pthread_mutex_lock(&lock);
    const bool alive = is_alive(shared, generation);
    if (alive) ++((body *)shared)->references;
    pthread_mutex_unlock(&lock);
    return alive;
}

int metaf_body_ndim(const metaf_body *shared, int64_t generation)
{
    return is_alive(shared, generation) ? shared->ndim : 1;
}

static meta_err give_back(void *address, int owner)
{
    switch (owner) {
    case METAF_OURS:
        return meta_free(address);
    case METAF_WRAPPED:
        return meta_unwrap(address);
    default:
        return META_OK;
    }
}

void metaf_body_drop(metaf_body *shared, int64_t generation)
{
    pthread_mutex_lock(&lock);
    const bool last = is_alive(shared, generation) && --((body *)shared)->references == 0;
    void *const address = last ? shared->address : NULL;
    const int owner = last ? shared->owner : METAF_BORROWED;
    if (last) retire((body *)shared);
    pthread_mutex_unlock(&lock);
    const meta_err err = give_back(address, owner);
    /* A finaliser has nobody to tell; after meta_finalize() there is nothing to free. */
    if (err != META_OK && err != META_ERR_INIT)
        fprintf(stderr, "libmeta: a meta_buffer was finalised: %s\n", meta_last_error());
}

meta_err metaf_body_free(metaf_body *shared, int64_t generation)
{
    pthread_mutex_lock(&lock);
    const bool alive = is_alive(shared, generation);
    void *const address = alive ? shared->address : NULL;
    const int owner = alive ? shared->owner : METAF_BORROWED;
    pthread_mutex_unlock(&lock);
    const meta_err err = give_back(address, owner);
    if (err != META_OK || !alive) return err;
    pthread_mutex_lock(&lock);
    if (is_alive(shared, generation)) retire((body *)shared);
    pthread_mutex_unlock(&lock);
    return META_OK;
}

void metaf_bodies_forget(void)
{
    pthread_mutex_lock(&lock);
    for (body *b = all; b; b = b->next)
        if (b->public.generation % 2 != 0) retire(b);
    pthread_mutex_unlock(&lock);
}

int64_t metaf_self(const int64_t *self)
{
    return (int64_t)(intptr_t)self;
}
