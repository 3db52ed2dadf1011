/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.h
 *  The stencils of the floating-point types on a CPU, in place of the shared kernels of these names:
 *  vectors along the rows, four rows at a time in the order of sweep.h, so that a value loaded serves
 *  several results, and of the 27 points the sum over a plane does. The order of additions is that of
 *  arithmetic.h, so the bits are the same. Include with META_SUFFIX, META_T and VECTOR, META_T's
 *  vector, defined. */

#define NAME_(a, b)  META_JOIN(a, b)
#define NAME(a)      NAME_(a, META_SUFFIX)
#define POINTS(a, V) NAME_(NAME_(a, V), META_SUFFIX)
#define AT(V, p)     (*(const V *)(p))

/* Each: the sums of the points round the cells that `c` and count - 1 rows on begin with. V is one
 * value or a vector of values side by side. */
#define STENCIL_POINTS(V)                                                                        \
    static inline void POINTS(points_2d5p, V)(V *sum, const META_T *c, meta_i64 sy, meta_i64 across, \
                                              int count)                                         \
    {                                                                                            \
        V row[SWEEP_ROWS + 2];                                                                   \
        (void)across;                                                                            \
        for (int k = 0; k < count + 2; ++k) row[k] = AT(V, c + (k - 1) * sy);                    \
        for (int k = 0; k < count; ++k)                                                          \
            sum[k] = (((AT(V, c + k * sy - 1) + row[k]) + row[k + 1]) + row[k + 2]) +            \
                     AT(V, c + k * sy + 1);                                                      \
    }                                                                                            \
    static inline void POINTS(points_2d9p, V)(V *sum, const META_T *c, meta_i64 sy, meta_i64 across, \
                                              int count)                                         \
    {                                                                                            \
        V row[3][SWEEP_ROWS + 2];                                                                \
        (void)across;                                                                            \
        for (int k = 0; k < count + 2; ++k)                                                      \
            for (int x = 0; x < 3; ++x) row[x][k] = AT(V, c + (k - 1) * sy + x - 1);             \
        for (int k = 0; k < count; ++k) {                                                        \
            sum[k] = (row[0][k] + row[0][k + 1]) + row[0][k + 2];                                \
            for (int x = 1; x < 3; ++x)                                                          \
                sum[k] = ((sum[k] + row[x][k]) + row[x][k + 1]) + row[x][k + 2];                 \
        }                                                                                        \
    }                                                                                            \
    static inline void POINTS(points_3d7p, V)(V *sum, const META_T *c, meta_i64 sz, meta_i64 sy, \
                                              int count)                                         \
    {                                                                                            \
        V plane[SWEEP_ROWS + 2];                                                                 \
        for (int k = 0; k < count + 2; ++k) plane[k] = AT(V, c + (k - 1) * sz);                  \
        for (int k = 0; k < count; ++k)                                                          \
            sum[k] = (((((plane[k] + AT(V, c + k * sz - 1)) + AT(V, c + k * sz - sy)) +          \
                        plane[k + 1]) + AT(V, c + k * sz + sy)) + AT(V, c + k * sz + 1)) +       \
                     plane[k + 2];                                                               \
    }                                                                                            \
    static inline void POINTS(points_3d27p, V)(V *sum, const META_T *c, meta_i64 sz, meta_i64 sy, \
                                               int count)                                        \
    {                                                                                            \
        V plane[SWEEP_ROWS + 2];                                                                 \
        for (int k = 0; k < count + 2; ++k) {                                                    \
            const META_T *p = c + (k - 1) * sz - 1;                                              \
            plane[k] = (AT(V, p - sy) + AT(V, p)) + AT(V, p + sy);                               \
            for (int x = 1; x < 3; ++x)                                                          \
                plane[k] = ((plane[k] + AT(V, p + x - sy)) + AT(V, p + x)) + AT(V, p + x + sy);  \
        }                                                                                        \
        for (int k = 0; k < count; ++k) sum[k] = (plane[k] + plane[k + 1]) + plane[k + 2];       \
    }

STENCIL_POINTS(META_T)
STENCIL_POINTS(VECTOR)

/* `count` rows: the cells before the first whole vector of results that is to be streamed, the
 * vectors, and the rest. Constants but for the strides and the cells, so that each use of it is code of
 * its own. */
#define STENCIL_ROWS(name, n, along, shares)                                                                \
    static inline __attribute__((always_inline)) void NAME(rows_##name)(                         \
        META_T *out, meta_i64 out_along, const META_T *in, meta_i64 in_along, meta_i64 across,   \
        meta_i64 cells, int count, int stream, lanes_sum *result)                                \
    {                                                                                            \
        enum { LANES = VECTOR_BYTES / sizeof(META_T) };                                          \
        lanes_sum sums = {0};                                                                    \
        META_T one[SWEEP_ROWS];                                                                  \
        meta_i64 i = 0;                                                                          \
        if (result) sums = *result;                                                              \
        meta_i64 end = stream ? (meta_i64)(-(uintptr_t)out % VECTOR_BYTES / sizeof(META_T)) : 0; \
        if (end > cells) end = cells;                                                            \
        for (;;) {                                                                               \
            for (; i < end; ++i) {                                                               \
                POINTS(points_##name, META_T)(one, in + i, in_along, across, count);             \
                for (int k = 0; k < count; ++k) {                                                \
                    out[i + k * out_along] = one[k] /= (META_T)(n);                              \
                    if (result) sums.rest += (double)one[k];                                     \
                }                                                                                \
            }                                                                                    \
            if (end == cells) break;                                                             \
            for (; i + LANES <= cells; i += LANES) {                                             \
                VECTOR many[SWEEP_ROWS];                                                         \
                POINTS(points_##name, VECTOR)(many, in + i, in_along, across, count);             \
                for (int k = 0; k < count; ++k) {                                                \
                    many[k] /= (META_T)(n);                                                      \
                    if (stream) vector_stream(out + i + k * out_along, &many[k]);                \
                    else *(VECTOR *)(out + i + k * out_along) = many[k];                         \
                    if (result) NAME(lanes_add)(&sums, k, many[k]);                              \
                }                                                                                \
            }                                                                                    \
            end = cells;                                                                         \
        }                                                                                        \
        if (result) *result = sums;                                                              \
    }                                                                                            \
                                                                                                 \
    static void NAME(piece_##name)(const sweep_piece *p)                                         \
    {                                                                                            \
        const int four = p->rows == SWEEP_ROWS, stream = p->stream && four;                      \
        if (stream && p->sum) ROWS(name, SWEEP_ROWS, 1, p->sum);                                 \
        else if (stream) ROWS(name, SWEEP_ROWS, 1, NULL);                                        \
        else if (four && p->sum) ROWS(name, SWEEP_ROWS, 0, p->sum);                              \
        else if (four) ROWS(name, SWEEP_ROWS, 0, NULL);                                          \
        else if (p->sum) ROWS(name, 1, 0, p->sum);                                               \
        else ROWS(name, 1, 0, NULL);                                                             \
    }                                                                                            \
                                                                                                 \
    static const sweep_stencil NAME(sweep_##name) = {NAME(piece_##name), along, shares,          \
                                                     sizeof(META_T)};                            \
    static void NAME(cpu_##name)(const meta_work *w)                                             \
    {                                                                                            \
        sweep(w, &NAME(sweep_##name), NULL);                                                     \
    }                                                                                            \
    static void NAME(cpu_##name##_sum)(const meta_work *w)                                       \
    {                                                                                            \
        lanes_sum sum = {.rest = 0};                                                             \
        sweep(w, &NAME(sweep_##name), &sum);                                                     \
        *(double *)w->partial = lanes_total(&sum);                                               \
    }
#define ROWS(name, count, stream, sum)                                                           \
    NAME(rows_##name)(p->out, p->out_along, p->in, p->in_along, p->across, p->cells, count, stream, sum)

STENCIL_ROWS(2d5p, 5, 1, 0)
STENCIL_ROWS(2d9p, 9, 1, 0)
STENCIL_ROWS(3d7p, 7, 2, 0)
STENCIL_ROWS(3d27p, 27, 2, 1)

#undef NAME_
#undef NAME
#undef POINTS
#undef AT
#undef STENCIL_POINTS
#undef STENCIL_ROWS
#undef ROWS
#undef META_SUFFIX
#undef META_T
#undef VECTOR
