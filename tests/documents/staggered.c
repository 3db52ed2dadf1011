/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs what doc/kernels.md shows of staggered arrays: test_documents.sh writes staggered.family and staggered.call. */
#define META_KERNELS_HERE
#include "staggered.kernel.h"

#include <stdio.h>

#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
enum { NX = 40, NY = 30, NZ = 20 };

int main(void)
{
    const int64_t extents[3] = {NX, NY, NZ};
    const int ghosts[3] = {0, 0, 0};
    double zero = 0, one = 1, two = 2, sum;
    meta_box cells, between, bottom;
    void *thickness;

    TRY(meta_init());
#include "staggered.family"
    TRY(meta_alloc(&thickness, NZ * sizeof(double)));
    between = cells; /* the faces in x but the outermost ones */
    between.start[0] = 1;
    bottom = f[W].box; /* the lowest faces in z */
    bottom.end[2] = 1;
    TRY(meta_fill_box(f[U].ptr, &f[U].box, &one, META_F64, NULL));
    TRY(meta_fill_box(f[W].ptr, &f[W].box, &zero, META_F64, NULL));
    TRY(meta_fill_box(f[W].ptr, &bottom, &one, META_F64, NULL)); /* in at the bottom, and out nowhere */
    TRY(meta_fill(thickness, NZ, &two, META_F64, NULL));
    TRY(meta_fill_box(f[PRESSURE].ptr, &cells, &one, META_F64, NULL)); /* uniform: no acceleration */
#include "staggered.call"
    TRY(meta_reduce(&sum, f[OUT].ptr, &cells, META_SUM, META_F64, NULL));
    printf("%.1f\n", sum); /* 40 * 30 columns, each -1 / 2 */
    for (int k = 0; k < FIELDS; ++k) TRY(meta_free(f[k].ptr));
    TRY(meta_free(thickness));
    TRY(meta_finalize());
    return 0;
}
