/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sides.c
 *  Which boxes lie within those of a stencil. */
#include "sides.h"

/* The cell at @p index of the stencil's input, by column, row and plane; 0: it is not one of its
 * own. The distances between rows and planes are ordered, as all boxes' are. */
static int place_of(meta_i64 index, const meta_space *s, meta_i64 at[SIDES_DIMS])
{
    meta_i64 left = index - s->layout[1].base;
    if (left < 0) return 0;
    for (int d = SIDES_DIMS - 1; d >= 0; --d) {
        if (d >= s->ndim) {
            at[d] = 0;
            continue;
        }
        const meta_i64 stride = s->layout[1].stride[d];
        at[d] = left / stride;
        left -= at[d] * stride;
        if (at[d] >= s->extent[d]) return 0;
    }
    return left == 0;
}

int sides_add(sides *all, const meta_call *sum, const meta_call *stencil)
{
    const meta_space *s = stencil->space, *of = sum->space;
    side box;
    if (all->count == SIDES_MOST || s->ndim > SIDES_DIMS ||
        sum->desc->number != META_KERNEL_REDUCE_SUM || sum->type != stencil->type ||
        sum->object[0] != stencil->object[1] || !place_of(of->layout[0].base, s, box.start))
        return 0;
    for (int d = 0; d < SIDES_DIMS; ++d) box.end[d] = box.start[d] + 1;
    for (meta_i64 k = 0; k < of->ndim; ++k) {
        int along = -1;
        if (of->extent[k] == 1) continue;
        for (int d = 0; d < s->ndim; ++d)
            if (of->layout[0].stride[k] == s->layout[1].stride[d]) along = d;
        if (along < 0 || box.end[along] > box.start[along] + 1) return 0;
        box.end[along] = box.start[along] + of->extent[k];
        if (box.end[along] > s->extent[along]) return 0;
    }
    all->of[all->count++] = box;
    return 1;
}
