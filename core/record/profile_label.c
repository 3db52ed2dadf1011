/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_label.c
 *  What the application calls the buffers that a piece of work reads and writes. */
#include "core.h"

#include <string.h>

/* Of a launch of many calls, as a plan's with many fields, the first ones are looked at, and of
 * many labels the first ones named. */
enum { LOOKED_AT = 64, NAMED = 4 };

typedef struct labels {
    meta_called last; /* looked up */
    char of[NAMED][META_LABEL_BYTES];
    int count;
    bool more;
} labels;

static void add(labels *l, const char *label)
{
    for (int k = 0; k < l->count; ++k)
        if (strcmp(l->of[k], label) == 0) return;
    if (l->count == NAMED) l->more = true;
    else strcpy(l->of[l->count++], label);
}

static void look_up(labels *l, const meta_device *device, const void *object, uint64_t at)
{
    if (!object || (object == l->last.object && at >= l->last.first && at < l->last.end)) return;
    meta_registry_label(device, object, at, &l->last);
    if (l->last.label[0]) add(l, l->last.label);
}

static void look_up_operand(labels *l, const meta_device *device, const meta_call *calls,
                            size_t count, int operand)
{
    size_t bytes = 1;
    meta_type_check((meta_type)calls[0].type, &bytes);
    l->last = (meta_called){0};
    for (size_t k = 0; k < count && k < LOOKED_AT; ++k)
        look_up(l, device, calls[k].object[operand],
                (uint64_t)calls[k].space.base[operand] * bytes);
}

/* All of them, as one text that stays; NULL where there are none. */
static const char *joined(const labels *l)
{
    char text[NAMED * (META_LABEL_BYTES + 2) + 4] = "";
    if (l->count == 0) return NULL;
    for (int k = 0; k < l->count; ++k) strcat(strcat(text, k > 0 ? ", " : ""), l->of[k]);
    if (l->more) strcat(text, ", ...");
    return meta_profile_name(text);
}

void meta_profile_labels(const meta_device *device, const meta_call *calls, size_t count,
                         const char *label[2])
{
    labels written = {0}, read = {0};
    if (!meta_registry_labelled()) return;
    const bool writes = meta_profile_writes(&calls[0]);
    look_up_operand(writes ? &written : &read, device, calls, count, 0);
    look_up_operand(&read, device, calls, count, 1);
    label[META_LABEL_WRITTEN] = joined(&written);
    label[META_LABEL_READ] = joined(&read);
}

const char *meta_profile_label(const meta_device *device, const void *object, uint64_t at)
{
    labels l = {0};
    if (!meta_registry_labelled()) return NULL;
    look_up(&l, device, object, at);
    return joined(&l);
}
