/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the calls that doc/kernels.md shows of charge.kernel.h: test_documents.sh writes them to charge.call. */
#define META_KERNELS_HERE
#include "charge.kernel.h"

#include <stdio.h>

#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
enum { POINTS = 5, PARTICLES = 3 };

int main(void)
{
    const meta_box points = {1, {POINTS}, {0}, {POINTS}};
    const meta_box particles = {1, {PARTICLES}, {0}, {PARTICLES}};
    const double at[PARTICLES] = {0.5, 1.5, 3}, zero = 0;
    void *charge, *position, *squares;
    double found[POINTS];

    TRY(meta_init());
    TRY(meta_alloc(&charge, sizeof found)); TRY(meta_alloc(&position, sizeof at));
    TRY(meta_copy_h2d(position, at, sizeof at, NULL));
    TRY(meta_fill(charge, POINTS, &zero, META_F64, META_ASYNC));
#include "charge.call"
    TRY(meta_copy_d2h(found, charge, sizeof found, NULL));
    for (int n = 0; n < POINTS; ++n) printf("%.4f ", found[n]);
    printf("\n");
    TRY(meta_free(charge)); TRY(meta_free(position)); TRY(meta_free(squares));
    TRY(meta_finalize());
    return 0;
}
