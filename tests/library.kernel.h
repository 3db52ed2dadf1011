/* SPDX-License-Identifier: BSD-3-Clause */
/* A boundary condition of a program's own, for test_library_boundary. */
#define META_KERNEL_TYPES META_KERNEL_F32
#define META_KERNEL_FILE "library.kernel.h"
#include <meta_kernel.h>

#define twice_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, CELL)
META_CELLS(twice)
{
    AT1(ghost, 0) = 2 * AT1(inner, 0);
}

#include META_AGAIN
