/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cpu_extremes.h
 *  Minima and maxima of floating-point arrays for CPUs, which replace the shared kernels of these names:
 *  compilers do not vectorise them, since a NaN must not be lost. A comparison with a NaN keeps the
 *  other operand; whether there was one is collected apart. Needs cpu_stencil.h. */
#define META_OWN_MINIMA

enum { EXTREME_RUNS = 4 };

#define CPU_EXTREME(name, is, IDENTITY)                                                          \
    META_KERNEL(reduce_##name)                                                                   \
    {                                                                                            \
        META_SPACE;                                                                              \
        META_IN(META_T, in, 0);                                                                  \
        const meta_i64 step = META_STRIDE(0, 0);                                                 \
        union {                                                                                  \
            CPU_VECTOR v;                                                                        \
            META_T lane[LANES];                                                                  \
        } all;                                                                                   \
        CPU_VECTOR best[EXTREME_RUNS] = {IDENTITY, IDENTITY, IDENTITY, IDENTITY};                \
        CPU_MASK odd[EXTREME_RUNS] = {0, 0, 0, 0};                                               \
        META_T one = IDENTITY;                                                                   \
        int some_nan = 0;                                                                        \
        META_ROWS(r)                                                                             \
        {                                                                                        \
            META_GLOBAL const META_T *a = in + META_AT(r, 0);                                    \
            meta_i64 i = META_COLUMNS_FROM;                                                      \
            for (; step == 1 && i + EXTREME_RUNS * LANES <= META_COLUMNS_END;                    \
                 i += EXTREME_RUNS * LANES)                                                      \
                for (int k = 0; k < EXTREME_RUNS; ++k) {                                         \
                    const CPU_VECTOR v = CPU_LOAD(a + i + k * LANES);                            \
                    best[k] = select(best[k], v, v is best[k]);                                  \
                    odd[k] |= v != v;                                                            \
                }                                                                                \
            for (; i < META_COLUMNS_END; ++i) {                                                  \
                const META_T x = a[i * step];                                                    \
                if (x is one) one = x;                                                           \
                some_nan |= x != x;                                                              \
            }                                                                                    \
        }                                                                                        \
        for (int k = 0; k < EXTREME_RUNS; ++k) {                                                 \
            all.v = best[k];                                                                     \
            for (int lane = 0; lane < LANES; ++lane)                                             \
                if (all.lane[lane] is one) one = all.lane[lane];                                 \
        }                                                                                        \
        some_nan |= any((odd[0] | odd[1]) | (odd[2] | odd[3]));                                  \
        if (some_nan) one = (META_T)NAN;                                                         \
        META_REDUCE(META_T, one, META_MIN);                                                      \
    }
CPU_EXTREME(min, <, META_HIGHEST)
CPU_EXTREME(max, >, META_LOWEST)
