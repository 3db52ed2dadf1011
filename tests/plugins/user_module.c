/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_module.c
 *  A shared object with a kernel of its own, which tests/test_user_module.c opens and closes. */
#define META_KERNELS_HERE
#include "user_module.kernel.h"

META_API meta_err user_module_run(const meta_box *box, int32_t *out, int32_t add, int32_t *total,
                                  meta_event *done);

meta_err user_module_run(const meta_box *box, int32_t *out, int32_t add, int32_t *total,
                         meta_event *done)
{
    return modular_i32(box, out, add, total, done);
}
