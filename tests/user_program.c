/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_program.c
 *  A program of two files with kernels of its own, in C and in C++ alike. It prints checksums of
 * what its kernels compute; exit status 77: there is no such device. Compiled by
 *  tests/test_user_compile.sh. */
#define META_KERNELS_HERE
#include "user_program.kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

meta_err paint_all(const meta_box *box, void *const *array, int64_t *first, meta_type type);

enum { NX = 77, NY = 20, NZ = 6, CELLS = NX * NY * NZ, ARRAYS = 3 };

static void *device[ARRAYS + 1];
static char host[CELLS * 8];

static void check(meta_err error)
{
    if (error == META_OK) return;
    fprintf(stderr, "%s\n", meta_last_error());
    exit(error == META_ERR_NO_DEVICE ? 77 : 1);
}

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return state >> 33;
}

static uint64_t checksum(const void *device_array, size_t bytes)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    check(meta_copy_d2h(host, device_array, bytes, NULL));
    for (size_t k = 0; k < bytes; ++k)
        sum = (sum ^ (unsigned char)host[k]) * UINT64_C(1099511628211);
    return sum;
}

/* Fill all arrays with small numbers, the last of them with colours. */
#define FILL(T)                                                                                    \
    do {                                                                                           \
        for (int a = 0; a < ARRAYS; ++a) {                                                         \
            for (int k = 0; k < CELLS; ++k)                                                        \
                ((T *)(void *)host)[k] = (T)((double)next_random() / 2147483648.0 * 10);                 \
            check(meta_copy_h2d(device[a], host, CELLS * sizeof(T), NULL));                        \
        }                                                                                          \
        for (int k = 0; k < CELLS; ++k)                                                            \
            ((int32_t *)(void *)host)[k] = (int32_t)(next_random() % 7);                           \
        check(meta_copy_h2d(device[ARRAYS], host, CELLS * sizeof(int32_t), NULL));                 \
    } while (0)

#define RUN(T, suffix, TYPE)                                                                       \
    do {                                                                                           \
        T change = 0;                                                                              \
        double amount = 0;                                                                         \
        uint64_t hot = 0;                                                                          \
        int64_t first = 0, folded = 0, cells = 0;                                                  \
        meta_extreme_##suffix highest;                                                             \
        meta_extreme_i32 lowest;                                                                   \
        FILL(T);                                                                                   \
        check(heat_##suffix(&box, (T *)device[0], (const T *)device[1], (T)3, shape, &change,      \
                            &hot, NULL));                                                          \
        check(paint_all(&box, device, &first, TYPE));                                              \
        check(peaks_##suffix(&box, (const T *)device[1], (const int32_t *)device[ARRAYS], &highest, \
                             &lowest, &cells, NULL));                                              \
        check(pour_##suffix(&box, (T *)device[0], (const T *)device[1], (const T *)device[2] + 5,  \
                            counts, (const int32_t *)device[ARRAYS], META_ASYNC));                 \
        check(turn_##suffix(&plane, (T *)device[2], (T)2, META_ASYNC));                                              \
        check(fold_##suffix(&box, (T *)device[0], (const T *)device[1], (T)0.5, &folded, &amount,  \
                            NULL));                                                                \
        printf(#suffix " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %a %" PRIu64 " %" PRId64     \
               " %" PRId64 "\n",                                                                  \
               checksum(device[0], CELLS * sizeof(T)), checksum(device[2], CELLS * sizeof(T)),     \
               checksum(counts, 7 * sizeof(int32_t)), (double)change, hot, first, folded);         \
        printf("%a at %" PRId64 " %" PRId64 " %" PRId64 ", %d at %" PRId64 " %" PRId64 ", %" PRId64 " %a\n", \
               (double)highest.value, highest.index[0], highest.index[1], highest.index[2],        \
               (int)lowest.value, lowest.index[0], lowest.index[1], cells, amount);                \
    } while (0)

int main(void)
{
    const meta_box box = {3, {NX, NY, NZ}, {1, 2, 1}, {NX - 1, NY - 1, NZ - 1}};
    const meta_box plane = {2, {NX, NY}, {1, 3}, {NX, NY - 1}};
    const heat_shape shape = {{0.25f, 0.5f, 0.75f}, 7};
    const int32_t zero = 0;
    int index = 0;
    int32_t *counts;
    void *made;
    check(meta_init());
    check(meta_get_acc(&index, NULL));
    for (int a = 0; a <= ARRAYS; ++a) check(meta_alloc(&device[a], sizeof host));
    check(meta_alloc(&made, sizeof host));
    counts = (int32_t *)made;
    check(meta_fill(counts, 7, &zero, META_I32, NULL));
    RUN(double, f64, META_F64);
    RUN(int32_t, i32, META_I32);
#ifndef USER_PROGRAM_FEW
    RUN(float, f32, META_F32);
    RUN(int64_t, i64, META_I64);
#endif
    for (int a = 0; a <= ARRAYS; ++a) check(meta_free(device[a]));
    check(meta_free(made));
    check(meta_finalize());
    return 0;
}
