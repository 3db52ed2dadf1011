/* SPDX-License-Identifier: BSD-3-Clause */
/** @file linear.c
 *  Linear algebra on the cells of a box. */
#include "library/library.h"

#include "library/linear.kernel.h"

void meta_library_flatten(const meta_box *box, meta_box *flat)
{
    int64_t below = 1; /* cells of the dimensions that are merged into the next */
    int d = 0;
    while (!meta_box_empty(box) && d < box->ndim - 1 && box->start[d] == 0 &&
           box->end[d] == box->size[d])
        below *= box->size[d++];
    *flat = (meta_box){.ndim = box->ndim - d};
    for (int k = 0; k < flat->ndim; ++k, below = 1) {
        flat->size[k] = box->size[d + k] * below;
        flat->start[k] = box->start[d + k] * below;
        flat->end[k] = box->end[d + k] * below;
    }
}

const void *meta_library_one(meta_type type)
{
    static const double one_f64 = 1;
    static const float one_f32 = 1;
    static const uint64_t one_u64 = 1;
    static const uint32_t one_u32 = 1;
    static const void *const one[] = {
        [META_F64] = &one_f64, [META_F32] = &one_f32, [META_I64] = &one_u64,
        [META_U64] = &one_u64, [META_I32] = &one_u32, [META_U32] = &one_u32};
    return one[type];
}

static meta_err check(const meta_box *box, meta_type type, size_t *bytes, meta_box *flat)
{
    META_TRY(meta_type_arithmetic(type, bytes));
    META_TRY(meta_box_check(box, "box"));
    meta_library_flatten(box, flat);
    return META_OK;
}

/* Which array z is, if it is one. */
typedef enum target { APART, TO_X, TO_Y } target;

static target target_of(const void *z, const void *x, const void *y)
{
    return z == x ? TO_X : z == y ? TO_Y : APART;
}

static meta_err axpby(void *z, const void *a, const void *x, const void *b, const void *y,
                      const meta_box *flat, const meta_box *box, meta_type type, meta_event *done)
{
    static const meta_library_kernels kernels[] = {[APART] = META_LIBRARY_KERNELS(meta_axpby),
                                                   [TO_X] = META_LIBRARY_KERNELS(meta_axpby_to_x),
                                                   [TO_Y] = META_LIBRARY_KERNELS(meta_axpby_to_y)};
    const target to = target_of(z, x, y);
    const void *const apart[] = {z, x, y, a, b}, *const in_place[] = {z, to == TO_X ? y : x, a, b};
    return meta_user_run_flat(kernels[to][type], flat, box, to == APART ? apart : in_place, done);
}

meta_err meta_axpby(void *z, const void *a, const void *x, const void *b, const void *y,
                    const meta_box *box, meta_type type, meta_event *done)
{
    size_t bytes;
    meta_box flat;
    META_ENTER();
    META_TRY(check(box, type, &bytes, &flat));
    META_TRY(meta_host_range(a, bytes, "a"));
    META_TRY(meta_host_range(b, bytes, "b"));
    return axpby(z, a, x, b, y, &flat, box, type, done);
}

/* 1·x is x, so the rounding is that of x + a·y. */
meta_err meta_xpay(void *z, const void *x, const void *a, const void *y, const meta_box *box,
                   meta_type type, meta_event *done)
{
    size_t bytes;
    meta_box flat;
    META_ENTER();
    META_TRY(check(box, type, &bytes, &flat));
    META_TRY(meta_host_range(a, bytes, "a"));
    return axpby(z, meta_library_one(type), x, a, y, &flat, box, type, done);
}

meta_err meta_scale(void *z, const void *a, const void *x, const meta_box *box, meta_type type,
                    meta_event *done)
{
    static const meta_library_kernels kernels[] = {
        [APART] = META_LIBRARY_KERNELS(meta_scale), [TO_X] = META_LIBRARY_KERNELS(meta_scale_to_x)};
    const target to = z == x ? TO_X : APART;
    const void *const apart[] = {z, x, a}, *const in_place[] = {z, a};
    size_t bytes;
    meta_box flat;
    META_ENTER();
    META_TRY(check(box, type, &bytes, &flat));
    META_TRY(meta_host_range(a, bytes, "a"));
    return meta_user_run_flat(kernels[to][type], &flat, box, to == APART ? apart : in_place, done);
}

meta_err meta_multiply(void *z, const void *x, const void *y, const meta_box *box, meta_type type,
                       meta_event *done)
{
    static const meta_library_kernels kernels[] = {
        [APART] = META_LIBRARY_KERNELS(meta_multiply),
        [TO_X] = META_LIBRARY_KERNELS(meta_multiply_to_x),
        [TO_Y] = META_LIBRARY_KERNELS(meta_multiply_to_y)};
    const target to = target_of(z, x, y);
    const void *const arguments[] = {z, to == TO_X ? y : x, y}; /* the last: if z is neither */
    size_t bytes;
    meta_box flat;
    META_ENTER();
    META_TRY(check(box, type, &bytes, &flat));
    return meta_user_run_flat(kernels[to][type], &flat, box, arguments, done);
}
