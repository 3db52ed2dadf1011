/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.h
 *  Floating-point stencils for CPUs, which replace the shared kernels of these names. Vectorised
 * along the rows, four rows at a time in the order of sweep.h, so that loaded values, and plane
 * sums of the 27-point stencil, are reused for several results. Additions are in the order of
 * arithmetic.h, so results are bitwise identical. Include with META_SUFFIX, META_T and VECTOR (a
 * vector of META_T) defined. */

#define NAME_(a, b)  META_JOIN(a, b)
#define NAME(a)      NAME_(a, META_SUFFIX)
#define POINTS(a, V) NAME_(NAME_(a, V), META_SUFFIX)
#define AT(V, p)     (*(const V *)(p))
#define INLINED      static inline __attribute__((always_inline))

/* The values for the cells one before those of @p here, where @p before are those for the scalar or
 * vector before it. */
INLINED META_T POINTS(moved, META_T)(META_T before, META_T here)
{
    (void)here;
    return before;
}
INLINED VECTOR POINTS(moved, VECTOR)(VECTOR before, VECTOR here)
{
    return NAME(vector_moved)(before, here);
}

/* Sums over the stencil's points for the first cells of rows c, c + apart … V is a scalar or a
 * vector of adjacent cells. The rows of a 3D stencil are neighbours in dimension 2.
 *
 * The points at x - 1, one or a column of three, are those at x of the cells before, where they
 * were added up already: before[k] is their sum in row k for the vector before, and becomes that
 * for this one. Loaded again, they would straddle cache lines. */
#define STENCIL_POINTS(V)                                                                          \
    INLINED V POINTS(column, V)(const META_T *c, meta_i64 sy)                                      \
    {                                                                                              \
        return (AT(V, c - sy) + AT(V, c)) + AT(V, c + sy);                                         \
    }                                                                                              \
    INLINED void POINTS(points_2d5p, V)(V * sum, V * before, const META_T *c, meta_i64 apart,      \
                                        meta_i64 sy, int count)                                    \
    {                                                                                              \
        for (int k = 0; k < count; ++k, c += apart) {                                              \
            VECTOR_ADDRESS(c);                                                                     \
            const V here = AT(V, c);                                                               \
            sum[k] = POINTS(moved, V)(before[k], here);                                            \
            sum[k] = (((sum[k] + AT(V, c - sy)) + here) + AT(V, c + sy)) + AT(V, c + 1);           \
            before[k] = here;                                                                      \
        }                                                                                          \
    }                                                                                              \
    INLINED V POINTS(plane, V)(V * before, const META_T *c, meta_i64 sy)                           \
    {                                                                                              \
        const V here = POINTS(column, V)(c, sy);                                                   \
        V sum = POINTS(moved, V)(*before, here);                                                   \
        *before = here;                                                                            \
        for (int x = 0; x < 2; ++x)                                                                \
            sum = ((sum + AT(V, c + x - sy)) + AT(V, c + x)) + AT(V, c + x + sy);                  \
        return sum;                                                                                \
    }                                                                                              \
    INLINED void POINTS(points_2d9p, V)(V * sum, V * before, const META_T *c, meta_i64 apart,      \
                                        meta_i64 sy, int count)                                    \
    {                                                                                              \
        for (int k = 0; k < count; ++k, c += apart) {                                              \
            VECTOR_ADDRESS(c);                                                                     \
            sum[k] = POINTS(plane, V)(&before[k], c, sy);                                          \
        }                                                                                          \
    }                                                                                              \
    INLINED void POINTS(points_3d7p, V)(V * sum, V * before, const META_T *c, meta_i64 sz,         \
                                        meta_i64 sy, int count)                                    \
    {                                                                                              \
        V plane[SWEEP_ROWS + 2];                                                                   \
        plane[0] = AT(V, c - sz);                                                                  \
        plane[1] = AT(V, c);                                                                       \
        for (int k = 0; k < count; ++k, c += sz) {                                                 \
            VECTOR_ADDRESS(c);                                                                     \
            plane[k + 2] = AT(V, c + sz);                                                          \
            VECTOR_LOADED(plane[k + 2]);                                                           \
            sum[k] = plane[k] + POINTS(moved, V)(before[k], plane[k + 1]);                         \
            sum[k] = (((sum[k] + AT(V, c - sy)) + plane[k + 1]) + AT(V, c + sy)) + AT(V, c + 1);   \
            sum[k] += plane[k + 2];                                                                \
            before[k] = plane[k + 1];                                                              \
        }                                                                                          \
    }                                                                                              \
    INLINED void POINTS(points_3d27p, V)(V * sum, V * before, const META_T *c, meta_i64 sz,        \
                                         meta_i64 sy, int count)                                   \
    {                                                                                              \
        V plane[SWEEP_ROWS + 2];                                                                   \
        c -= sz;                                                                                   \
        for (int k = 0; k < count + 2; ++k, c += sz) {                                             \
            VECTOR_ADDRESS(c);                                                                     \
            plane[k] = POINTS(plane, V)(&before[k], c, sy);                                        \
        }                                                                                          \
        for (int k = 0; k < count; ++k) sum[k] = (plane[k] + plane[k + 1]) + plane[k + 2];         \
    }

STENCIL_POINTS(META_T)
STENCIL_POINTS(VECTOR)

/* before[k] for the first cells of a row, at c. Only a vector's last lane counts; a scalar minus
 * zeros is a vector of it, also if it is -0. */
#define STENCIL_BEFORE(V)                                                                          \
    INLINED void POINTS(before_2d5p, V)(V * before, const META_T *c, meta_i64 apart, meta_i64 sy,  \
                                        int count)                                                 \
    {                                                                                              \
        (void)sy;                                                                                  \
        for (int k = 0; k < count; ++k) before[k] = c[k * apart - 1] - (V){0};                     \
    }                                                                                              \
    INLINED void POINTS(before_3d7p, V)(V * before, const META_T *c, meta_i64 sz, meta_i64 sy,     \
                                        int count)                                                 \
    {                                                                                              \
        POINTS(before_2d5p, V)(before, c, sz, sy, count);                                          \
    }                                                                                              \
    INLINED void POINTS(before_2d9p, V)(V * before, const META_T *c, meta_i64 apart, meta_i64 sy,  \
                                        int count)                                                 \
    {                                                                                              \
        for (int k = 0; k < count; ++k)                                                            \
            before[k] = POINTS(column, META_T)(c + k * apart - 1, sy) - (V){0};                    \
    }                                                                                              \
    INLINED void POINTS(before_3d27p, V)(V * before, const META_T *c, meta_i64 sz, meta_i64 sy,    \
                                         int count)                                                \
    {                                                                                              \
        POINTS(before_2d9p, V)(before, c - sz, sz, sy, count + 2);                                 \
    }

STENCIL_BEFORE(META_T)
STENCIL_BEFORE(VECTOR)

/* Rows of few cells by fours, whose additions do not wait for each other. */
static double NAME(sum_of_rows)(const void *first, meta_i64 cells, meta_i64 rows, meta_i64 across)
{
    enum { LANES = VECTOR_BYTES / sizeof(META_T) };
    const META_T *a = first;
    lanes_sum sums = {.rest = {0}};
    meta_i64 n = 0;
    if (cells < LANES)
        for (; n + SWEEP_ROWS <= rows; n += SWEEP_ROWS)
            for (meta_i64 i = 0; i < cells; ++i)
                for (int k = 0; k < SWEEP_ROWS; ++k)
                    sums.rest[k] += (double)a[(n + k) * across + i];
    for (; n < rows; ++n) {
        meta_i64 i = 0;
        for (; i + LANES <= cells; i += LANES)
            NAME(lanes_add)(&sums, (int)(i / LANES % SWEEP_ROWS), AT(VECTOR, a + n * across + i));
        for (; i < cells; ++i) sums.rest[0] += (double)a[n * across + i];
    }
    return lanes_total(&sums);
}

/* `count` rows, and so on with their neighbours: a scalar prologue up to the first aligned result,
 * the vector loop, and of a last vector, which overlaps the one before it, the cells that are left;
 * shorter rows are scalar. All callers pass constants as `count`, `stream` and `ahead` and a
 * known-null or non-null `result`, so that the branches fold. */
#define STENCIL_ROWS(name, n_points, flat)                                                         \
    INLINED void NAME(rows_##name)(const sweep_piece *p, int count, int stream, int ahead,         \
                                   lanes_sum *result)                                              \
    {                                                                                              \
        enum { LANES = VECTOR_BYTES / sizeof(META_T) };                                            \
        const META_T points = n_points;                                                            \
        const meta_i64 out_apart = p->out_apart, in_apart = p->in_apart, across = p->across,       \
                       cells = p->cells;                                                           \
        META_T *out = p->out;                                                                      \
        const META_T *in = p->in;                                                                  \
        const size_t head = p->aligned ? -(uintptr_t)out % VECTOR_BYTES / sizeof(META_T) : 0;      \
        const meta_i64 unaligned = (meta_i64)head < cells ? (meta_i64)head : cells;                \
        lanes_sum sums = {.rest = {0}};                                                            \
        META_T one[SWEEP_ROWS];                                                                    \
        if (result) sums = *result;                                                                \
        for (meta_i64 n = 0; n < p->times; ++n, out += p->out_across, in += across) {              \
            for (meta_i64 i = 0, end = unaligned;; end = cells) {                                  \
                VECTOR last[SWEEP_ROWS], before[SWEEP_ROWS + 2];                                   \
                if (end == cells && cells >= LANES && i < cells) {                                 \
                    const meta_i64 from = cells - LANES;                                           \
                    POINTS(before_##name, VECTOR)(before, in + from, in_apart, across, count);     \
                    POINTS(points_##name, VECTOR)                                                  \
                    (last, before, in + from, in_apart, across, count);                            \
                    for (int k = 0; k < count; ++k) {                                              \
                        last[k] = NAME(vector_quotient)(last[k], points, 1 / points);              \
                        if (!stream) *(VECTOR *)(out + from + k * out_apart) = last[k];            \
                        for (meta_i64 x = i; (stream || result) && x < cells; ++x) {               \
                            if (stream) out[x + k * out_apart] = last[k][x - from];                \
                            if (result) sums.rest[k] += (double)last[k][x - from];                 \
                        }                                                                          \
                    }                                                                              \
                    break;                                                                         \
                }                                                                                  \
                for (; i < end; ++i) {                                                             \
                    META_T beside[SWEEP_ROWS + 2];                                                 \
                    POINTS(before_##name, META_T)(beside, in + i, in_apart, across, count);        \
                    POINTS(points_##name, META_T)(one, beside, in + i, in_apart, across, count);   \
                    for (int k = 0; k < count; ++k) {                                              \
                        out[i + k * out_apart] = one[k] /= points;                                 \
                        if (result) sums.rest[k] += (double)one[k];                                \
                    }                                                                              \
                }                                                                                  \
                if (end == cells) break;                                                           \
                if (i + LANES <= cells)                                                            \
                    POINTS(before_##name, VECTOR)(before, in + i, in_apart, across, count);        \
                for (; i + LANES <= cells; i += LANES) {                                           \
                    VECTOR many[SWEEP_ROWS];                                                       \
                    for (int k = 0; ahead && k < count; ++k)                                       \
                        __builtin_prefetch(in + i + p->ahead + (flat ? k : k + 1) * in_apart);     \
                    POINTS(points_##name, VECTOR)                                                  \
                    (many, before, in + i, in_apart, across, count);                               \
                    META_T *to = out + i;                                                          \
                    for (int k = 0; k < count; ++k, to += out_apart) {                             \
                        VECTOR_ADDRESS(to);                                                        \
                        many[k] = NAME(vector_quotient)(many[k], points, 1 / points);              \
                        if (stream) vector_stream(to, &many[k]);                                   \
                        else *(VECTOR *)to = many[k];                                              \
                        if (result) NAME(lanes_add)(&sums, k, many[k]);                            \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        if (result) *result = sums;                                                                \
    }                                                                                              \
                                                                                                   \
    static void NAME(piece_##name)(const sweep_piece *p)                                           \
    {                                                                                              \
        if (p->rows != SWEEP_ROWS) EITHER(p->sum, name, 1, 0, 0);                                  \
        else if (p->stream && p->ahead) EITHER(p->sum, name, SWEEP_ROWS, 1, 1);                    \
        else if (p->stream) EITHER(p->sum, name, SWEEP_ROWS, 1, 0);                                \
        else if (p->ahead) EITHER(p->sum, name, SWEEP_ROWS, 0, 1);                                 \
        else EITHER(p->sum, name, SWEEP_ROWS, 0, 0);                                               \
    }                                                                                              \
                                                                                                   \
    static const sweep_stencil NAME(sweep_##name) = {NAME(piece_##name), NAME(sum_of_rows), flat,  \
                                                     sizeof(META_T)};                              \
    static void NAME(cpu_##name)(const meta_work *w)                                               \
    {                                                                                              \
        sweep(w, &NAME(sweep_##name), NULL);                                                       \
    }                                                                                              \
    static void NAME(cpu_##name##_sum)(const meta_work *w)                                         \
    {                                                                                              \
        lanes_sum sum = {.rest = {0}};                                                             \
        sweep(w, &NAME(sweep_##name), &sum);                                                       \
        *(double *)w->partial = lanes_total(&sum);                                                 \
    }
#define EITHER(sum, name, count, stream, ahead)                                                    \
    do {                                                                                           \
        if (sum) NAME(rows_##name)(p, count, stream, ahead, sum);                                  \
        else NAME(rows_##name)(p, count, stream, ahead, NULL);                                     \
    } while (0)

STENCIL_ROWS(2d5p, 5, 1)
STENCIL_ROWS(2d9p, 9, 1)
STENCIL_ROWS(3d7p, 7, 0)
STENCIL_ROWS(3d27p, 27, 0)

#undef NAME_
#undef NAME
#undef POINTS
#undef AT
#undef INLINED
#undef STENCIL_POINTS
#undef STENCIL_BEFORE
#undef STENCIL_ROWS
#undef EITHER
#undef META_SUFFIX
#undef META_T
#undef VECTOR
