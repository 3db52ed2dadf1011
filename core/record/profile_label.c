/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_label.c
 *  The labels of the buffers that a piece of work reads and writes. */
#include "record/record.h"

#include <string.h>

/* Operations of a launch that are inspected, and labels that are listed, at most. */
enum { INSPECTED = 64, NAMED = 4 };

typedef struct labels {
    meta_called last; /* looked up */
    char of[NAMED][META_LABEL_BYTES];
    int count;
    bool more;
} labels;

static void add(labels *l, const meta_span *span)
{
    const char *label = l->last.label;
    if (!span->address || !(span->address >= l->last.first && span->address < l->last.end))
        meta_registry_label(span->address, &l->last);
    if (!label[0]) return;
    for (int k = 0; k < l->count; ++k)
        if (strcmp(l->of[k], label) == 0) return;
    if (l->count == NAMED) l->more = true;
    else strcpy(l->of[l->count++], label);
}

/* All labels as one permanent text; NULL where there are none. */
static const char *joined(const labels *l)
{
    char text[NAMED * (META_LABEL_BYTES + 2) + 4] = "";
    if (l->count == 0) return NULL;
    for (int k = 0; k < l->count; ++k) strcat(strcat(text, k > 0 ? ", " : ""), l->of[k]);
    if (l->more) strcat(text, ", ...");
    return meta_profile_name(text);
}

void meta_profile_labels(const meta_task *w, const char *label[2])
{
    labels written = {0}, read = {0};
    if (!meta_registry_labelled()) return;
    if (w->is_copy) add(w->copy.kind == META_COPY_H2D ? &written : &read, w->span);
    for (size_t n = 0; n < w->launch.count && n < INSPECTED; ++n) {
        const meta_operation *op = meta_task_operation(w, n);
        for (uint32_t k = 0; k < op->call.desc->operands; ++k)
            add(op->call.desc->operand[k].access == META_ACCESS_IN ? &read : &written,
                &op->operand[k].span);
    }
    label[META_LABEL_WRITTEN] = joined(&written);
    label[META_LABEL_READ] = joined(&read);
}
