/* SPDX-License-Identifier: BSD-3-Clause */
/** @file convert.c
 *  Conversion between element types. */
#include "library/library.h"

#include "library/convert.kernel.h"

#define TO_EACH(NAME, name, ...)                                                                   \
    [META_##NAME] = {[META_F64] = &meta_convert_##name##_f64_kernel,                               \
                     [META_F32] = &meta_convert_##name##_f32_kernel,                               \
                     [META_I64] = &meta_convert_##name##_i64_kernel,                               \
                     [META_U64] = &meta_convert_##name##_u64_kernel,                               \
                     [META_I32] = &meta_convert_##name##_i32_kernel,                               \
                     [META_U32] = &meta_convert_##name##_u32_kernel},
/* By the types from and to. */
static const meta_library_kernels kernels[] = {META_ARITHMETIC_TYPES(TO_EACH)};

static meta_err check_type(meta_type type, const char *name)
{
    if ((int)type < 0 || type >= META_I16)
        return meta_fail(META_ERR_TYPE, "argument '%s' is %s, which is no arithmetic type", name,
                         (int)type < 0 || type >= META_TYPE_COUNT
                             ? "no element type"
                             : meta_element_name((uint32_t)type));
    return META_OK;
}

meta_err meta_convert(void *to, meta_type to_type, const void *from, meta_type from_type,
                      const meta_box *box, meta_event *done)
{
    const void *const arguments[] = {to, from};
    meta_box flat;
    META_ENTER();
    META_TRY(check_type(to_type, "to_type"));
    META_TRY(check_type(from_type, "from_type"));
    META_TRY(meta_box_check(box, "box"));
    meta_library_flatten(box, &flat);
    return meta_user_run_flat(kernels[from_type][to_type], &flat, box, arguments, done);
}
