/* SPDX-License-Identifier: BSD-3-Clause */
/** @file near.c
 *  META_CHECK=1: the CPU code of a program's kernel asks here where AT() leads, and the first
 * access beyond the reach that the kernel's list declares is kept for the call's error. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"

/* NOTING: a thread is writing `note`. */
enum { NOTHING, NOTING, NOTED };
static _Atomic int state;
static char note[512];

/* As the kernel file has it. */
static const char *reach_text(const meta_kernel_parameter *p, char *text, size_t room)
{
    bool same = true;
    for (int d = 0; d < META_KERNEL_DIMS; ++d)
        same = same && p->low[d] == p->low[0] && p->high[d] == p->low[0];
    if (p->reach == META_PARAMETER_WHOLE) return "WHOLE, which GET() accesses";
    if (p->kind != META_PARAMETER_IN && p->kind != META_PARAMETER_ADD) return "the cell itself";
    if (p->reach == META_PARAMETER_CELL) return "CELL";
    if (same)
        snprintf(text, room, "%s(%d)", p->reach == META_PARAMETER_STAR ? "STAR" : "BOX", p->low[0]);
    else
        snprintf(text, room, "SIDES(%d, %d, %d, %d, %d, %d)", p->low[0], p->high[0], p->low[1],
                 p->high[1], p->low[2], p->high[2]);
    return text;
}

static void keep(const meta_kernel *k, const meta_kernel_parameter *p, int line,
                 const int64_t *away)
{
    char reach[64];
    int nothing = NOTHING;
    if (!atomic_compare_exchange_strong(&state, &nothing, NOTING)) return;
    snprintf(note, sizeof note,
             "META_CHECK: kernel %s %s, %s:%d: AT() of '%s' at (%" PRId64 ", %" PRId64 ", %" PRId64
             ", %" PRId64 "), beyond its reach, %s",
             k->name, meta_element_name((uint32_t)k->type), k->file, line, p->name, away[0],
             away[1], away[2], away[3], reach_text(p, reach, sizeof reach));
    state = NOTED;
}

static bool is_within(const meta_kernel_parameter *p, const int64_t *away)
{
    int dims = 0;
    for (int d = 0; d < META_KERNEL_DIMS; ++d) {
        if (p->dropped >> d & 1) continue;
        if (away[d] < -(int64_t)p->low[d] || away[d] > p->high[d]) return false;
        dims += away[d] != 0;
    }
    return p->reach != META_PARAMETER_WHOLE && (p->reach != META_PARAMETER_STAR || dims <= 1);
}

int64_t meta_kernel_near(const meta_kernel_rows *rows, const char *array, int line, int64_t column,
                         int64_t x, int64_t y, int64_t z, int64_t w)
{
    const meta_kernel *kernel = rows->kernel;
    const int64_t away[META_KERNEL_DIMS] = {x, y, z, w};
    uint32_t n = 0;
    while (n + 1 < kernel->parameters && strcmp(kernel->parameter[n].name, array) != 0) ++n;
    const meta_kernel_parameter *p = &kernel->parameter[n];
    const int64_t *stride = rows->argument[n].stride;
    int64_t index = column * stride[0];
    if (!is_within(p, away)) {
        keep(kernel, p, line, away);
        return index;
    }
    for (int d = 0; d < META_KERNEL_DIMS; ++d) index += away[d] * stride[d];
    return index;
}

meta_err meta_user_beyond(void)
{
    if (state != NOTED) return META_OK;
    const meta_err error = meta_fail(META_ERR_BOUNDS, "%s", note);
    state = NOTHING;
    return error;
}
