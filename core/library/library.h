/* SPDX-License-Identifier: BSD-3-Clause */
/** @file library.h
 *  The library of ready kernels: what its files share. Each includes one kernel file and has the
 *  public functions that check arguments and run its kernels. */
#ifndef META_LIBRARY_ROOM_H
#define META_LIBRARY_ROOM_H

#include "ops/ops.h"

#include "library/meta_library.h"

/** The kernels of @p name by element type: signed integers wrap like unsigned ones. */
#define META_LIBRARY_KERNELS(name)                                                                 \
    {                                                                                              \
        [META_F64] = &name##_f64_kernel, [META_F32] = &name##_f32_kernel,                          \
        [META_I64] = &name##_u64_kernel, [META_U64] = &name##_u64_kernel,                          \
        [META_I32] = &name##_u32_kernel, [META_U32] = &name##_u32_kernel                           \
    }
/** One for each arithmetic type. */
typedef meta_kernel *const meta_library_kernels[META_I16];

/* linear.c */
/** A box of the same cells in fewer dimensions, where whole rows or planes follow each other. */
void meta_library_flatten(const meta_box *box, meta_box *flat);
/** The number one of an arithmetic type. */
const void *meta_library_one(meta_type type);

#endif
