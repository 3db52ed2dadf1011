/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test_user_slabs: what they write is computed from cells that may be of the same array.
 */
#define META_KERNEL_TYPES META_KERNEL_I32
#define META_KERNEL_FILE  "user_slabs.kernel.h"
#include <meta_kernel.h>

#define slab_cell_ARGS(A) A(OUT, T, to) A(IN, T, from, CELL)
META_CELLS(slab_cell)
{
    AT(to, 0, 0, 0) = 2 * AT(from, 0, 0, 0) + 1;
}

/* All that may be read is read. */
#define slab_sides_ARGS(A) A(OUT, T, to) A(IN, T, from, SIDES(0, 2, 1, 0, 0, 1))
META_CELLS(slab_sides)
{
    T sum = 0;
    for (int z = 0; z <= 1; ++z)
        for (int y = -1; y <= 0; ++y)
            for (int x = 0; x <= 2; ++x) sum += (1 + x - 3 * y + 9 * z) * AT(from, x, y, z);
    AT(to, 0, 0, 0) = sum;
}

#include META_AGAIN
