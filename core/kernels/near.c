/* SPDX-License-Identifier: BSD-3-Clause */
/** @file near.c
 *  META_CHECK=on: the CPU code of a program's kernel asks here where AT() and GET() lead, and the
 * first access beyond the reach that the kernel's list declares, or beyond the array, is kept for
 * the call's error. Other devices write it to their memory, from where it becomes the same error.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#define META_NEAR_LAYOUT_ONLY
#include "lang_check.h"

_Static_assert(META_NEAR_ELEMENTS + META_KERNEL_ARRAYS <= META_NEAR_WORDS,
               "a section has a word for each array");

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

static void format_reach(const meta_kernel *k, const meta_kernel_parameter *p, int line,
                         const int64_t *away, char *text, size_t room)
{
    char reach[64];
    snprintf(text, room,
             "META_CHECK: kernel %s %s, %s:%d: AT() of '%s' at (%" PRId64 ", %" PRId64 ", %" PRId64
             ", %" PRId64 "), beyond its reach, %s",
             k->name, meta_element_name((uint32_t)k->type), k->file, line, p->name, away[0],
             away[1], away[2], away[3], reach_text(p, reach, sizeof reach));
}

static void format_size(const meta_kernel *k, const meta_kernel_parameter *p, int line,
                        int64_t index, int64_t elements, char *text, size_t room)
{
    snprintf(text, room,
             "META_CHECK: kernel %s %s, %s:%d: GET() of '%s' with index %" PRId64
             ", but from the address of the call to the end of its buffer there are %" PRId64
             " elements",
             k->name, meta_element_name((uint32_t)k->type), k->file, line, p->name, index,
             elements);
}

static void format_shared(const meta_kernel *k, const meta_kernel_shared *s, int line,
                          int64_t index, char *text, size_t room)
{
    snprintf(text, room,
             "META_CHECK: kernel %s %s, %s:%d: SHARED() of '%s', element %" PRId64 " of %u",
             k->name, meta_element_name((uint32_t)k->type), k->file, line, s->name, index,
             (unsigned)s->count);
}

/* Whether this thread is to write `note`, and then set NOTED. */
static bool is_first(void)
{
    int nothing = NOTHING;
    return atomic_compare_exchange_strong(&state, &nothing, NOTING);
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

static uint32_t number_of(const meta_kernel *kernel, const char *array)
{
    uint32_t n = 0;
    while (n + 1 < kernel->parameters && strcmp(kernel->parameter[n].name, array) != 0) ++n;
    return n;
}

/* The index of SHARED(): 0 in place of one that is out of bounds. */
static int64_t within_shared(const meta_kernel *k, const meta_kernel_shared *s, int line, int64_t n)
{
    if (n >= 0 && n < (int64_t)s->count) return n;
    if (is_first()) {
        format_shared(k, s, line, n, note, sizeof note);
        state = NOTED;
    }
    return 0;
}

int64_t meta_kernel_near(const meta_kernel_rows *rows, const char *array, int line, int64_t column,
                         int64_t x, int64_t y, int64_t z, int64_t w)
{
    const meta_kernel *kernel = rows->kernel;
    const int64_t away[META_KERNEL_DIMS] = {x, y, z, w};
    for (uint32_t m = 0; kernel->team && m < kernel->team->shareds; ++m)
        if (strcmp(kernel->team->shared[m].name, array) == 0)
            return within_shared(kernel, &kernel->team->shared[m], line, column);
    const uint32_t n = number_of(kernel, array);
    const meta_kernel_parameter *p = &kernel->parameter[n];
    const int64_t *stride = rows->argument[n].stride;
    int64_t index = column * stride[0];
    if (!is_within(p, away)) {
        if (is_first()) {
            format_reach(kernel, p, line, away, note, sizeof note);
            state = NOTED;
        }
        return index;
    }
    for (int d = 0; d < META_KERNEL_DIMS; ++d) index += away[d] * stride[d];
    return index;
}

/* ------------------------------------------------------------------ the index of GET() */

/* The arrays of the launch that is running; META_CHECK lets one run at a time. */
typedef struct whole {
    const void *at;
    uint64_t bytes;
} whole;
static whole *wholes;
static size_t whole_count, whole_room;

void meta_user_expect(const void *at, uint64_t bytes)
{
    if (whole_count == whole_room) {
        const size_t more = whole_room ? 2 * whole_room : 32;
        whole *moved = realloc(wholes, more * sizeof *moved);
        if (!moved) return;
        wholes = moved;
        whole_room = more;
    }
    wholes[whole_count++] = (whole){at, bytes};
}

void meta_user_expect_also(const void *from, const void *at)
{
    for (size_t k = 0; k < whole_count; ++k)
        if (wholes[k].at == from) {
            meta_user_expect(at, wholes[k].bytes);
            return;
        }
}

static void forget_wholes(void)
{
    free(wholes);
    wholes = NULL;
    whole_count = whole_room = 0;
}

int64_t meta_kernel_element(const meta_kernel_rows *rows, const char *array, int line,
                            int64_t index)
{
    const uint32_t n = number_of(rows->kernel, array);
    const meta_kernel_parameter *p = &rows->kernel->parameter[n];
    for (size_t k = 0; k < whole_count; ++k) {
        const int64_t elements = (int64_t)(wholes[k].bytes / p->bytes);
        if (wholes[k].at != rows->argument[n].at) continue;
        if (index >= 0 && index < elements) return index;
        if (is_first()) {
            format_size(rows->kernel, p, line, index, elements, note, sizeof note);
            state = NOTED;
        }
        return 0;
    }
    return index;
}

/* ------------------------------------------------------------------ the error */

meta_err meta_user_noted(const meta_kernel *kernel, const int64_t *section)
{
    char text[sizeof note];
    if (section[META_NEAR_STATE] == 0) return META_OK;
    const uint32_t n = (uint32_t)section[META_NEAR_PARAMETER];
    const int64_t *with = &section[META_NEAR_WITH];
    const int line = (int)section[META_NEAR_LINE];
    const bool is_shared = section[META_NEAR_CALLED] == META_NEAR_SHARED;
    const uint32_t count = !is_shared     ? kernel->parameters
                           : kernel->team ? kernel->team->shareds
                                          : 0;
    uint32_t array = 0;
    if (section[META_NEAR_PARAMETER] < 0 || n >= count)
        return meta_fail(META_ERR_DEVICE,
                         "META_CHECK: kernel %s on this device has reported what it has not got",
                         kernel->name);
    if (is_shared) {
        format_shared(kernel, &kernel->team->shared[n], line, with[0], text, sizeof text);
        return meta_fail(META_ERR_BOUNDS, "%s", text);
    }
    for (uint32_t k = 0; k < n; ++k) array += meta_parameter_is_array(&kernel->parameter[k]) != 0;
    if (section[META_NEAR_CALLED] == META_NEAR_GET)
        format_size(kernel, &kernel->parameter[n], line, with[0],
                    section[META_NEAR_ELEMENTS + array], text, sizeof text);
    else format_reach(kernel, &kernel->parameter[n], line, with, text, sizeof text);
    return meta_fail(META_ERR_BOUNDS, "%s", text);
}

meta_err meta_user_beyond(void)
{
    forget_wholes();
    if (state != NOTED) return META_OK;
    const meta_err error = meta_fail(META_ERR_BOUNDS, "%s", note);
    state = NOTHING;
    return error;
}
