/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_name.c
 *  The names of recorded activities, interned. */
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

static char kernel_names[META_KERNEL_COUNT][META_TYPE_COUNT][NAME];

static void make_kernel_names(void)
{
    for (uint32_t k = 0; k < META_KERNEL_COUNT; ++k)
        for (uint32_t t = 0; t < META_TYPE_COUNT; ++t)
            snprintf(kernel_names[k][t], NAME, "%s %s", meta_kernel_table[k].name,
                     meta_element_name(t));
}

void meta_profile_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_kernel_names);
}

const char *meta_profile_kernel(const meta_call *call)
{
    if (call->desc->family == META_FAMILY_USER) /* the name outlives the kernel in profiles */
        return meta_profile_name(meta_user_of(call->desc)->label);
    return kernel_names[call->desc->number][call->type];
}

/* Interned names of ranges and buffers. */
typedef struct range_name {
    struct range_name *next;
    char text[];
} range_name;
static range_name *names[256];

const char *meta_profile_name(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    unsigned hash = 5381;
    range_name *n;
    for (const char *c = text; *c; ++c) hash = hash * 33 + (unsigned char)*c;
    hash = (hash ^ hash >> 8 ^ hash >> 16) % 256;
    pthread_mutex_lock(&lock);
    for (n = names[hash]; n && strcmp(n->text, text) != 0;) n = n->next;
    if (!n && (n = malloc(sizeof *n + strlen(text) + 1))) {
        strcpy(n->text, text);
        n->next = names[hash];
        names[hash] = n;
    }
    pthread_mutex_unlock(&lock);
    return n ? n->text : NULL;
}
