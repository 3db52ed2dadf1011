/* SPDX-License-Identifier: BSD-3-Clause */
/** @file face.c
 *  Public functions that construct and measure faces. */
#include "memory/memory.h"

#include <inttypes.h>

meta_err meta_face_make(meta_face *face, int64_t start, int count, const int64_t *size,
                        const int64_t *stride)
{
    meta_face made = {.start = start, .count = count};
    int64_t elements;
    META_ENTER();
    META_NEED(face);
    META_NEED(size);
    META_NEED(stride);
    if (count < 1 || count > META_MAX_DIM)
        return meta_fail(META_ERR_ARGUMENT, "argument 'count' is %d: give 1 to %d levels", count,
                         META_MAX_DIM);
    for (int k = 0; k < count; ++k) {
        made.size[k] = size[k];
        made.stride[k] = stride[k];
    }
    META_TRY(meta_face_count(&made, "size", &elements));
    *face = made;
    return META_OK;
}

meta_err meta_face_slab(meta_face *face, const meta_box *box, int axis, meta_slab slab,
                        int64_t width)
{
    meta_box part;
    META_ENTER();
    META_NEED(face);
    META_TRY(meta_box_check(box, "box"));
    if (axis < 0 || axis >= box->ndim)
        return meta_fail(META_ERR_ARGUMENT, "argument 'axis' is %d in a box of %d dimensions", axis,
                         box->ndim);
    if ((int)slab < META_SLAB_LOW || slab > META_SLAB_HIGH_GHOST)
        return meta_fail(META_ERR_ARGUMENT, "argument 'slab' is %d, which is no side", (int)slab);
    if (width < 0) return meta_fail(META_ERR_ARGUMENT, "argument 'width' is %" PRId64, width);
    const int64_t low = box->start[axis], high = box->end[axis];
    /* Differences, because sums might overflow. */
    const int64_t available = slab == META_SLAB_LOW_GHOST    ? low
                              : slab == META_SLAB_HIGH_GHOST ? box->size[axis] - high
                                                             : high - low;
    if (width > available)
        return meta_fail(
            META_ERR_BOUNDS,
            "argument 'width' is %" PRId64 ", but there are %" PRId64 " cells %s along axis %d",
            width, available, slab <= META_SLAB_HIGH ? "in the box" : "outside the box", axis);
    part = *box;
    part.start[axis] = slab == META_SLAB_LOW         ? low
                       : slab == META_SLAB_HIGH      ? high - width
                       : slab == META_SLAB_LOW_GHOST ? low - width
                                                     : high;
    part.end[axis] = part.start[axis] + width;
    META_TRY(meta_box_check(&part, "box"));
    *face = (meta_face){0};
    meta_face_of_box(face, &part);
    return META_OK;
}

meta_err meta_face_box(meta_face *face, const meta_box *box)
{
    META_ENTER();
    META_NEED(face);
    META_TRY(meta_box_check(box, "box"));
    *face = (meta_face){0};
    meta_face_of_box(face, box);
    return META_OK;
}

meta_err meta_face_elements(const meta_face *face, int64_t *count)
{
    int64_t found;
    META_ENTER();
    META_NEED(count);
    META_TRY(meta_face_count(face, "face", &found));
    *count = found;
    return META_OK;
}
