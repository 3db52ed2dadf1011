/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reduction.h
 *  Floating-point reductions for CPUs, which replace the shared kernels of these names. Vectorised
 * along the rows, with four concurrent runs of rows, each with its own accumulators, which saturate
 * one core's memory bandwidth. Include with META_SUFFIX, META_T, VECTOR (a vector of META_T) and
 * MASKS (the vector type of a comparison's result) defined. */

#define NAME(a) META_JOIN(a, META_SUFFIX)
#define AT(p)   (*(const VECTOR *)(p))

/* Runs of `rows` rows of `cells` cells: run k begins at a[k] and, of a dot product, b[k], its next
 * row `across` cells further. */
typedef struct NAME(piece) {
    const META_T *a[RUNS], *b[RUNS];
    meta_i64 across[2], rows, cells;
} NAME(piece);

/* Accumulate `runs` runs, which are RUNS or 1. */
typedef void NAME(runs)(const NAME(piece) * p, int runs, void *result);

static inline __attribute__((always_inline)) void NAME(add_runs)(const NAME(piece) * p, int is_dot,
                                                                 int runs, lanes_sum *result)
{
    enum { LANES = VECTOR_BYTES / sizeof(META_T) };
    const meta_i64 cells = p->cells;
    lanes_sum sums = *result;
    for (meta_i64 n = 0; n < p->rows; ++n) {
        const META_T *a[RUNS], *b[RUNS];
        for (int k = 0; k < runs; ++k) {
            a[k] = p->a[k] + n * p->across[0];
            b[k] = is_dot ? p->b[k] + n * p->across[1] : NULL;
        }
        meta_i64 i = 0;
        for (; i + LANES <= cells; i += LANES)
            for (int k = 0; k < runs; ++k) {
                if (is_dot) NAME(lanes_multiply)(&sums, k, AT(a[k] + i), AT(b[k] + i));
                else NAME(lanes_add)(&sums, k, AT(a[k] + i));
            }
        for (; i < cells; ++i)
            for (int k = 0; k < runs; ++k)
                sums.rest[k] += is_dot ? (double)a[k][i] * (double)b[k][i] : (double)a[k][i];
    }
    *result = sums;
}

static void NAME(sum_runs)(const NAME(piece) * p, int runs, void *result)
{
    if (runs == RUNS) NAME(add_runs)(p, 0, RUNS, result);
    else NAME(add_runs)(p, 0, 1, result);
}

static void NAME(dot_runs)(const NAME(piece) * p, int runs, void *result)
{
    if (runs == RUNS) NAME(add_runs)(p, 1, RUNS, result);
    else NAME(add_runs)(p, 1, 1, result);
}

/* Running minimum or maximum, and NaN masks, since vector min and max drop NaNs. */
typedef struct NAME(extreme) {
    VECTOR best[RUNS];
    MASKS nan[RUNS];
} NAME(extreme);

#define EXTREME(name, is, identity)                                                                \
    static inline __attribute__((always_inline)) void NAME(name##_of)(                             \
        const NAME(piece) * p, int runs, NAME(extreme) * result)                                   \
    {                                                                                              \
        enum { LANES = VECTOR_BYTES / sizeof(META_T) };                                            \
        const meta_i64 cells = p->cells;                                                           \
        NAME(extreme) e = *result;                                                                 \
        for (meta_i64 n = 0; n < p->rows; ++n) {                                                   \
            const META_T *a[RUNS];                                                                 \
            for (int k = 0; k < runs; ++k) a[k] = p->a[k] + n * p->across[0];                      \
            meta_i64 i = 0;                                                                        \
            for (; i + LANES <= cells; i += LANES)                                                 \
                for (int k = 0; k < runs; ++k) {                                                   \
                    const VECTOR v = AT(a[k] + i);                                                 \
                    e.best[k] = NAME(vector_##name)(v, e.best[k]);                                 \
                    e.nan[k] |= v != v;                                                            \
                }                                                                                  \
            for (; i < cells; ++i)                                                                 \
                for (int k = 0; k < runs; ++k) {                                                   \
                    const META_T v = a[k][i];                                                      \
                    if (v is e.best[0][0]) e.best[0][0] = v;                                       \
                    if (v != v) e.nan[0][0] = -1;                                                  \
                }                                                                                  \
        }                                                                                          \
        *result = e;                                                                               \
    }                                                                                              \
    static void NAME(name##_runs)(const NAME(piece) * p, int runs, void *result)                   \
    {                                                                                              \
        if (runs == RUNS) NAME(name##_of)(p, RUNS, result);                                        \
        else NAME(name##_of)(p, 1, result);                                                        \
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
    const meta_i64 quarter = cells / RUNS / LINE_CELLS * LINE_CELLS, done = RUNS * quarter;
    NAME(piece) p = {.rows = 1, .cells = quarter};
    for (int k = 0; k < RUNS; ++k) {
        p.a[k] = a + k * quarter;
        p.b[k] = b ? b + k * quarter : NULL;
    }
    if (quarter > 0) run(&p, RUNS, result);
    p.cells = cells - done;
    p.a[0] = a + done;
    p.b[0] = b ? b + done : NULL;
    if (p.cells > 0) run(&p, 1, result);
}

/* A thread's share: four quarters of its rows concurrently, as many rows at a time as all four have
 * left in their planes, then the remaining rows. */
static void NAME(walk)(const meta_work *w, NAME(runs) * run, int operands, void *result)
{
    const meta_space *s = w->space;
    const META_T *a = (const META_T *)w->object[0] + w->column[0];
    const META_T *b = operands > 1 ? (const META_T *)w->object[1] + w->column[0] : NULL;
    const meta_i64 cells = w->column[1] - w->column[0], quarter = (w->row[1] - w->row[0]) / RUNS;
    meta_row row[RUNS];
    if (quarter > 0) {
        NAME(piece) p = {.cells = cells};
        p.across[0] = s->layout[0].stride[1];
        p.across[1] = b ? s->layout[1].stride[1] : 0;
        for (int k = 0; k < RUNS; ++k) row[k] = meta_row_first(s, w->row[0] + k * quarter);
        for (meta_i64 n = 0; n < quarter; n += p.rows) {
            p.rows = quarter - n;
            for (int k = 0; k < RUNS; ++k) {
                const meta_i64 left = s->extent[1] - row[k].coordinate[1];
                if (left < p.rows) p.rows = left;
                p.a[k] = a + row[k].at[0];
                p.b[k] = b ? b + row[k].at[1] : NULL;
            }
            run(&p, RUNS, result);
            for (int k = 0; k < RUNS; ++k) meta_row_skip(s, &row[k], p.rows);
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
