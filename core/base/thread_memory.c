/* SPDX-License-Identifier: BSD-3-Clause */
/** @file thread_memory.c
 *  Heap memory that threads have one of each, and that is freed with them. */
#include "base/base.h"

enum { UNTRIED, OWNED, NOT_OWNED };

static meta_thread_memory *kinds; /* that have a key */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Only once: where the system has no key, the memory is not freed with its thread. */
static void make_key(meta_thread_memory *kind)
{
    pthread_mutex_lock(&lock);
    if (kind->state == UNTRIED) {
        const bool is_made = pthread_key_create(&kind->key, kind->release) == 0;
        if (is_made) {
            kind->next = kinds;
            kinds = kind;
        }
        kind->state = is_made ? OWNED : NOT_OWNED;
    }
    pthread_mutex_unlock(&lock);
}

/* Before the library is unloaded, whose release() threads would call. */
__attribute__((destructor)) static void delete_keys(void)
{
    for (meta_thread_memory *kind = kinds; kind; kind = kind->next) {
        pthread_key_delete(kind->key);
        kind->state = NOT_OWNED;
    }
}

void meta_thread_memory_keep(meta_thread_memory *kind, void *memory)
{
    if (kind->state == UNTRIED) make_key(kind);
    if (kind->state == OWNED) pthread_setspecific(kind->key, memory);
}
