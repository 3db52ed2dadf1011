/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the calls that doc/kernels.md shows of grow.kernel.h: test_documents.sh writes them to grow.call. */
#define META_KERNELS_HERE
#include "grow.kernel.h"

#include <stdio.h>

#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
enum { N = 1000 };

int main(void)
{
    const meta_box box = {1, {N}, {0}, {N}};
    static uint32_t odd[N];
    static int32_t back[N];
    int32_t three = 3, two = 2;
    void *field, *to, *mask, *index;
    int64_t full;
    int32_t sum;

    for (int n = 0; n < N; ++n) odd[n] = n % 2, back[n] = N - 1 - n;
    TRY(meta_init());
    TRY(meta_alloc(&field, sizeof back)); TRY(meta_alloc(&to, sizeof back));
    TRY(meta_alloc(&mask, sizeof odd)); TRY(meta_alloc(&index, sizeof back));
    TRY(meta_copy_h2d(mask, odd, sizeof odd, NULL));
    TRY(meta_copy_h2d(index, back, sizeof back, NULL));
    TRY(meta_fill(field, N / 2, &three, META_I32, NULL));
    TRY(meta_fill((int32_t *)field + N / 2, N / 2, &two, META_I32, NULL));
#include "grow.call"
    TRY(meta_reduce(&sum, to, &box, META_SUM, META_I32, NULL));
    printf("%lld full, sum %d\n", (long long)full, (int)sum);
    TRY(meta_free(field)); TRY(meta_free(to)); TRY(meta_free(mask)); TRY(meta_free(index));
    TRY(meta_finalize());
    return 0;
}
