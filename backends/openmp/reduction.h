/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reduction.h
 *  Floating-point reductions for CPUs, which replace the shared kernels of these names. Vectorised
 * along the rows, with four concurrent runs of cells, each with its own accumulators, which
 * saturate one core's memory bandwidth. Include with META_SUFFIX, META_T, VECTOR (a vector of
 * META_T) and MASKS (the vector type of a comparison's result) defined. */

#define NAME(a) META_JOIN(a, META_SUFFIX)
#define AT(p)   (*(const VECTOR *)(p))

/* Accumulate runs of `cells` cells starting at a[k] and, for a dot product, b[k]. */
typedef void NAME(runs)(const META_T *const *a, const META_T *const *b, meta_i64 cells, int runs,
                        void *result);

static inline __attribute__((always_inline)) void NAME(add_runs)(const META_T *const *a,
                                                                 const META_T *const *b,
                                                                 meta_i64 cells, int runs,
                                                                 lanes_sum *result)
{
    enum { LANES = VECTOR_BYTES / sizeof(META_T) };
    lanes_sum sums = *result;
    meta_i64 i = 0;
    for (; i + LANES <= cells; i += LANES)
        for (int k = 0; k < runs; ++k) {
            if (b) NAME(lanes_multiply)(&sums, k, AT(a[k] + i), AT(b[k] + i));
            else NAME(lanes_add)(&sums, k, AT(a[k] + i));
        }
    for (; i < cells; ++i)
        for (int k = 0; k < runs; ++k)
            sums.rest[k] += b ? (double)a[k][i] * (double)b[k][i] : (double)a[k][i];
    *result = sums;
}

static void NAME(sum_runs)(const META_T *const *a, const META_T *const *b, meta_i64 cells, int runs,
                           void *result)
{
    (void)b;
    if (runs == RUNS) NAME(add_runs)(a, NULL, cells, RUNS, result);
    else NAME(add_runs)(a, NULL, cells, 1, result);
}

static void NAME(dot_runs)(const META_T *const *a, const META_T *const *b, meta_i64 cells, int runs,
                           void *result)
{
    if (runs == RUNS) NAME(add_runs)(a, b, cells, RUNS, result);
    else NAME(add_runs)(a, b, cells, 1, result);
}

/* Running minimum or maximum, and NaN masks, since vector min and max drop NaNs. */
typedef struct NAME(extreme) {
    VECTOR best[RUNS];
    MASKS nan[RUNS];
} NAME(extreme);

#define EXTREME(name, is, identity)                                                                \
    static inline __attribute__((always_inline)) void NAME(name##_of)(                             \
        const META_T *const *a, meta_i64 cells, int runs, NAME(extreme) * result)                  \
    {                                                                                              \
        enum { LANES = VECTOR_BYTES / sizeof(META_T) };                                            \
        NAME(extreme) e = *result;                                                                 \
        meta_i64 i = 0;                                                                            \
        for (; i + LANES <= cells; i += LANES)                                                     \
            for (int k = 0; k < runs; ++k) {                                                       \
                const VECTOR v = AT(a[k] + i);                                                     \
                e.best[k] = NAME(vector_##name)(v, e.best[k]);                                     \
                e.nan[k] |= v != v;                                                                \
            }                                                                                      \
        for (; i < cells; ++i)                                                                     \
            for (int k = 0; k < runs; ++k) {                                                       \
                const META_T v = a[k][i];                                                          \
                if (v is e.best[0][0]) e.best[0][0] = v;                                           \
                if (v != v) e.nan[0][0] = -1;                                                      \
            }                                                                                      \
        *result = e;                                                                               \
    }                                                                                              \
    static void NAME(name##_runs)(const META_T *const *a, const META_T *const *b, meta_i64 cells,  \
                                  int runs, void *result)                                          \
    {                                                                                              \
        (void)b;                                                                                   \
        if (runs == RUNS) NAME(name##_of)(a, cells, RUNS, result);                                 \
        else NAME(name##_of)(a, cells, 1, result);                                                 \
    }                                                                                              \
    static void NAME(cpu_reduce_##name)(const meta_work *w)                                        \
    {                                                                                              \
        NAME(extreme) e = {.nan = {{0}}};                                                          \
        META_T best = identity;                                                                    \
        if (w->space->layout[0].stride[0] != 1) {                                                  \
            NAME(reduce_##name)(w);                                                                \
            return;                                                                                \
        }                                                                                          \
        for (int k = 0; k < RUNS; ++k) e.best[k] = e.best[k] * 0 + best;                           \
        NAME(walk)(w, NAME(name##_runs), 1, &e);                                                   \
        for (int k = 0; k < RUNS; ++k)                                                             \
            for (size_t n = 0; n < sizeof(VECTOR) / sizeof(META_T); ++n) {                         \
                if (e.best[k][n] is best) best = e.best[k][n];                                     \
                if (e.nan[k][n]) e.nan[0][0] = -1;                                                 \
            }                                                                                      \
        *(META_T *)w->partial = e.nan[0][0] ? (META_T)NAN : best;                                  \
    }

/* A thread's part of one row, as four quarters and a remainder. */
static void NAME(walk_row)(const META_T *a, const META_T *b, meta_i64 cells, NAME(runs) * run,
                           void *result)
{
    const META_T *as[RUNS], *bs[RUNS];
    const meta_i64 quarter = cells / RUNS / LINE_CELLS * LINE_CELLS, done = RUNS * quarter;
    for (int k = 0; k < RUNS; ++k) {
        as[k] = a + k * quarter;
        bs[k] = b ? b + k * quarter : NULL;
    }
    if (quarter > 0) run(as, bs, quarter, RUNS, result);
    as[0] = a + done;
    bs[0] = b ? b + done : NULL;
    if (done < cells) run(as, bs, cells - done, 1, result);
}

/* A thread's share: four quarters of its rows concurrently, then the remaining rows. */
static void NAME(walk)(const meta_work *w, NAME(runs) * run, int operands, void *result)
{
    const meta_space *s = w->space;
    const META_T *a = (const META_T *)w->object[0] + w->column[0];
    const META_T *b = operands > 1 ? (const META_T *)w->object[1] + w->column[0] : NULL;
    const meta_i64 cells = w->column[1] - w->column[0], quarter = (w->row[1] - w->row[0]) / RUNS;
    meta_row row[RUNS];
    if (quarter > 0) {
        for (int k = 0; k < RUNS; ++k) row[k] = meta_row_first(s, w->row[0] + k * quarter);
        for (meta_i64 n = 0; n < quarter; ++n) {
            const META_T *as[RUNS], *bs[RUNS];
            for (int k = 0; k < RUNS; ++k) {
                as[k] = a + row[k].at[0];
                bs[k] = b ? b + row[k].at[1] : NULL;
                meta_row_next(s, &row[k]);
            }
            run(as, bs, cells, RUNS, result);
        }
    }
    for (meta_row r = meta_row_first(s, w->row[0] + RUNS * quarter); r.number < w->row[1];
         meta_row_next(s, &r))
        NAME(walk_row)(a + r.at[0], b ? b + r.at[1] : NULL, cells, run, result);
}

static void NAME(cpu_reduce_sum)(const meta_work *w)
{
    lanes_sum sum = {.rest = {0}};
    if (w->space->layout[0].stride[0] != 1) {
        NAME(reduce_sum)(w);
        return;
    }
    NAME(walk)(w, NAME(sum_runs), 1, &sum);
    *(double *)w->partial = lanes_total(&sum);
}

static void NAME(cpu_dot)(const meta_work *w)
{
    lanes_sum sum = {.rest = {0}};
    if (w->space->layout[0].stride[0] != 1 || w->space->layout[1].stride[0] != 1) {
        NAME(dot)(w);
        return;
    }
    NAME(walk)(w, NAME(dot_runs), 2, &sum);
    *(double *)w->partial = lanes_total(&sum);
}

EXTREME(min, <, META_HIGHEST)
EXTREME(max, >, META_LOWEST)

#undef NAME
#undef AT
#undef EXTREME
#undef META_SUFFIX
#undef META_T
#undef VECTOR
#undef MASKS
