/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.c
 *  Stencils with constant weights and with those of each cell, alone and with a dot product. */
#include "library/library.h"

#include "library/constant.kernel.h"
#include "library/variable.kernel.h"

enum { MOST_POINTS = 27 };
static const int points[META_STENCIL_COUNT] = {
    [META_2D5P] = 5, [META_2D9P] = 9, [META_3D7P] = 7, [META_3D27P] = MOST_POINTS};

#define FAMILY(name)                                                                               \
    {                                                                                              \
        [META_2D5P] = {META_LIBRARY_KERNELS(name##_2d5p), META_LIBRARY_KERNELS(name##_2d5p_dot)},  \
        [META_2D9P] = {META_LIBRARY_KERNELS(name##_2d9p), META_LIBRARY_KERNELS(name##_2d9p_dot)},  \
        [META_3D7P] = {META_LIBRARY_KERNELS(name##_3d7p), META_LIBRARY_KERNELS(name##_3d7p_dot)},  \
        [META_3D27P] = {                                                                           \
            META_LIBRARY_KERNELS(name##_3d27p),                                                    \
            META_LIBRARY_KERNELS(name##_3d27p_dot)                                                 \
        }                                                                                          \
    }
/* Alone, and with the dot product. */
typedef meta_library_kernels family[META_STENCIL_COUNT][2];
static const family constant = FAMILY(meta_constant), variable = FAMILY(meta_variable);

static meta_err check(const meta_box *box, meta_stencil_kind kind, meta_type type, size_t *bytes)
{
    META_TRY(meta_type_arithmetic(type, bytes));
    META_TRY(meta_box_check(box, "box"));
    if ((int)kind < 0 || kind >= META_STENCIL_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kind' is %d, which is no stencil",
                         (int)kind);
    const int dims = kind == META_2D5P || kind == META_2D9P ? 2 : 3;
    if (box->ndim < dims)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'box' has %d dimensions, the stencil needs %d", box->ndim, dims);
    return META_OK;
}

/* The arguments are out, in, the weights, and room for one more. */
static meta_err run(const family kernels, const void **arguments, const meta_box *box,
                    meta_stencil_kind kind, meta_type type, void *dot, meta_event *done)
{
    arguments[2 + points[kind]] = dot;
    return meta_user_run(kernels[kind][dot != NULL][type], box, arguments, done);
}

meta_err meta_stencil_constant(void *out, const void *in, const void *weight, const meta_box *box,
                               meta_stencil_kind kind, meta_type type, void *dot, meta_event *done)
{
    const void *arguments[2 + MOST_POINTS + 1] = {out, in};
    size_t bytes;
    META_ENTER();
    META_TRY(check(box, kind, type, &bytes));
    META_TRY(meta_host_range(weight, (uint64_t)points[kind] * bytes, "weight"));
    for (int n = 0; n < points[kind]; ++n)
        arguments[2 + n] = (const char *)weight + (size_t)n * bytes;
    return run(constant, arguments, box, kind, type, dot, done);
}

meta_err meta_stencil_variable(void *out, const void *in, const void *const *weight,
                               const meta_box *box, meta_stencil_kind kind, meta_type type,
                               void *dot, meta_event *done)
{
    const void *arguments[2 + MOST_POINTS + 1] = {out, in};
    size_t bytes;
    META_ENTER();
    META_TRY(check(box, kind, type, &bytes));
    META_NEED(weight);
    for (int n = 0; n < points[kind]; ++n) arguments[2 + n] = weight[n];
    return run(variable, arguments, box, kind, type, dot, done);
}
