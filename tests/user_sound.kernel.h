/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_sound.kernel.h
 *  A kernel with a parameter of each kind, for tests of wrong arguments and of what surrounds a
 *  kernel. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

#define sound_ARGS(A)                                                                              \
    A(OUT, T, out) A(INOUT, T, field) A(IN, T, near, STAR(1)) A(IN, T, beside, CELL)               \
    A(IN, int32_t, table, WHOLE) A(VALUE, T, a) A(MAX, T, most) A(SUM, T, total)
META_CELLS(sound)
{
    AT(out, 0, 0, 0) = AT(near, -1, 0, 0) + AT(near, 1, 0, 0) + AT(beside, 0, 0, 0);
    AT(field, 0, 0, 0) += a + (T)GET(table, 0);
    RAISE(most, AT(field, 0, 0, 0));
    ADD(total, AT(near, 0, 0, 0));
}

#include META_AGAIN
