/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_program_use.c
 *  The file of user_program.c's program that uses its kernels and does not hold them. */
#include "user_program.kernel.h"

meta_err paint_all(const meta_box *box, void *const *array, int64_t *first, meta_type type);

#define PAINT(T, suffix)                                                                           \
    paint_##suffix(box, (T *)array[2], (const int32_t *)array[3], (const T *)array[1], first, NULL)

meta_err paint_all(const meta_box *box, void *const *array, int64_t *first, meta_type type)
{
    switch (type) {
    case META_F64:
        return PAINT(double, f64);
#ifndef USER_PROGRAM_FEW
    case META_F32:
        return PAINT(float, f32);
    case META_I64:
        return PAINT(int64_t, i64);
#endif
    default:
        return PAINT(int32_t, i32);
    }
}
