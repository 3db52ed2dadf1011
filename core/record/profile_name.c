/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_name.c
 *  What recorded things are called, each text at one address, and how many bytes kernels move. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

static char kernel_names[META_KERNEL_COUNT][META_TYPE_COUNT][NAME];

void meta_profile_names(void)
{
#define NAME3(KERNEL, name, operands)         [META_KERNEL_##KERNEL] = #name,
#define NAME4(KERNEL, name, operands, finish) [META_KERNEL_##KERNEL] = #name,
    static const char *const kernels[] = {META_MOVE_KERNELS(NAME3) META_MAP_KERNELS(
        NAME3) META_REDUCTION_KERNELS(NAME4) META_EXACT_KERNELS(NAME4)};
#undef NAME3
#undef NAME4
#define TYPE2(NAME, name)            #name,
#define TYPE4(NAME, name, wide, sum) #name,
    static const char *const types[] = {META_ARITHMETIC_TYPES(TYPE4) META_SMALL_TYPES(TYPE2)};
#undef TYPE2
#undef TYPE4
    for (int k = 0; k < META_KERNEL_COUNT; ++k)
        for (int t = 0; t < META_TYPE_COUNT; ++t)
            snprintf(kernel_names[k][t], NAME, "%s %s", kernels[k], types[t]);
}

const char *meta_profile_kernel(const meta_call *call)
{
    return kernel_names[call->kernel][call->type];
}

/* What a kernel reads and writes at the least: each element of each operand once, and one that is
 * added to twice. */
uint64_t meta_profile_bytes(const meta_call *call)
{
#define READS3(KERNEL, name, operands)         [META_KERNEL_##KERNEL] = (operands),
#define READS4(KERNEL, name, operands, finish) [META_KERNEL_##KERNEL] = (operands),
    static const unsigned char operands[] = {META_MOVE_KERNELS(READS3) META_MAP_KERNELS(
        READS3) META_REDUCTION_KERNELS(READS4) META_EXACT_KERNELS(READS4)};
#undef READS3
#undef READS4
    size_t element = 0;
    meta_type_check((meta_type)call->type, &element);
    const uint64_t passes = operands[call->kernel] + (call->kernel == META_KERNEL_AXPY ? 1u : 0u);
    return passes * element * (uint64_t)call->space.rows * (uint64_t)call->space.extent[0];
}

bool meta_profile_writes(const meta_call *call)
{
    switch (call->kernel) {
    case META_KERNEL_REDUCE_SUM:
    case META_KERNEL_REDUCE_MIN:
    case META_KERNEL_REDUCE_MAX:
    case META_KERNEL_DOT:
    case META_KERNEL_EXACT_SUM:
    case META_KERNEL_EXACT_DOT:
        return false;
    default:
        return true;
    }
}

/* Names of ranges and buffers, each text once and for ever. */
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
