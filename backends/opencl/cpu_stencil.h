/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cpu_stencil.h
 *  Floating-point stencils for CPUs, which replace the shared kernels of these names: a work item
 *  sweeps its share of the rows four planes at a time, in cache-sized blocks, with nontemporal stores
 *  where the grid is large and its rows are aligned to cache lines. The OpenMP back end's sweep.h does
 *  the same and gives the reasons. The order of additions is that of arithmetic.h.
 *
 *  META_ELEMENT is the size of META_T, META_STREAM the result size in bytes from which on stores
 *  are nontemporal, CPU_VECTOR a vector of META_T that fills a cache line, CPU_SUMS one of META_A with as
 *  many lanes, CPU_MASK the result of its comparisons. */
#define META_OWN_STENCILS
#if META_ELEMENT == 8
typedef double8 CPU_VECTOR;
typedef double8 CPU_SUMS;
typedef long8 CPU_MASK;
#define CPU_LOAD(p)     vload8(0, p)
#define CPU_STORE(v, p) vstore8(v, 0, p)
#define CPU_WIDEN(v)    (v)
#else
typedef float16 CPU_VECTOR;
typedef int16 CPU_MASK;
#define CPU_LOAD(p)     vload16(0, p)
#define CPU_STORE(v, p) vstore16(v, 0, p)
#ifdef META_HAS_F64
typedef double16 CPU_SUMS;
#define CPU_WIDEN(v) convert_double16(v)
#else
typedef float16 CPU_SUMS;
#define CPU_WIDEN(v) (v)
#endif
#endif

enum { SWEEP_ROWS = 4, LINE = 64, LANES = LINE / sizeof(META_T) };
/* Bytes of a block: half of a typical private cache. */
enum { BLOCK = 1 << 19 };
enum { POINTS_2D5P, POINTS_2D9P, POINTS_3D7P, POINTS_3D27P };

/* The sums over the stencil's points for the first cell of each of `count` rows. All callers pass
 * constants as `kind` and `count`, and as `stream` to cpu_rows(), so that the branches fold. */
#define CPU_POINTS(name, V, AT)                                                                  \
    static inline V name##_plane(__global const META_T *c, meta_i64 sy)                          \
    {                                                                                            \
        V sum = (AT(c - 1 - sy) + AT(c - 1)) + AT(c - 1 + sy);                                   \
        for (int x = 0; x < 2; ++x) sum = ((sum + AT(c + x - sy)) + AT(c + x)) + AT(c + x + sy); \
        return sum;                                                                              \
    }                                                                                            \
    static inline void name(int kind, V *sum, __global const META_T *c, meta_i64 apart,          \
                            meta_i64 sy, int count)                                              \
    {                                                                                            \
        V plane[SWEEP_ROWS + 2];                                                                 \
        if (kind == POINTS_3D7P)                                                                 \
            for (int k = 0; k < count + 2; ++k) plane[k] = AT(c + (k - 1) * apart);              \
        if (kind == POINTS_3D27P)                                                                \
            for (int k = 0; k < count + 2; ++k) plane[k] = name##_plane(c + (k - 1) * apart, sy); \
        for (int k = 0; k < count; ++k, c += apart) {                                            \
            if (kind == POINTS_2D5P)                                                             \
                sum[k] = (((AT(c - 1) + AT(c - sy)) + AT(c)) + AT(c + sy)) + AT(c + 1);          \
            else if (kind == POINTS_2D9P) sum[k] = name##_plane(c, sy);                          \
            else if (kind == POINTS_3D7P)                                                        \
                sum[k] = (((((plane[k] + AT(c - 1)) + AT(c - sy)) + plane[k + 1]) + AT(c + sy)) + \
                          AT(c + 1)) + plane[k + 2];                                             \
            else sum[k] = (plane[k] + plane[k + 1]) + plane[k + 2];                              \
        }                                                                                        \
    }
#define CPU_CELL(p)   (*(p))
CPU_POINTS(cpu_cell, META_T, CPU_CELL)
CPU_POINTS(cpu_vector, CPU_VECTOR, CPU_LOAD)

static inline META_T cpu_count(int kind)
{
    return kind == POINTS_2D5P ? 5 : kind == POINTS_2D9P ? 9 : kind == POINTS_3D7P ? 7 : 27;
}

/* A work item's sweep over its share. */
typedef struct cpu_sweep {
    __global META_T *out;
    __global const META_T *in;
    meta_i64 out_across, across, out_along, along; /* strides */
    meta_i64 cells;
    int stream;
} cpu_sweep;

/* Compute `count` rows of cells, `out_apart` and `apart` from each other. @return the sum of the new
 * values */
static inline META_A cpu_rows(int kind, const cpu_sweep *w, meta_i64 to, meta_i64 from,
                              meta_i64 out_apart, meta_i64 apart, int count, int stream)
{
    __global META_T *out = w->out + to;
    __global const META_T *in = w->in + from;
    CPU_SUMS sums[SWEEP_ROWS] = {0, 0, 0, 0};
    META_A rest = 0;
    meta_i64 i = 0;
    for (; i + LANES <= w->cells; i += LANES) {
        CPU_VECTOR many[SWEEP_ROWS];
        cpu_vector(kind, many, in + i, apart, w->across, count);
        for (int k = 0; k < count; ++k) {
            many[k] /= cpu_count(kind);
            if (stream)
                __builtin_nontemporal_store(many[k], (__global CPU_VECTOR *)(out + i + k * out_apart));
            else CPU_STORE(many[k], out + i + k * out_apart);
            sums[k] += CPU_WIDEN(many[k]);
        }
    }
    for (; i < w->cells; ++i) {
        META_T one[SWEEP_ROWS];
        cpu_cell(kind, one, in + i, apart, w->across, count);
        for (int k = 0; k < count; ++k) {
            out[i + k * out_apart] = one[k] /= cpu_count(kind);
            rest += one[k];
        }
    }
    union {
        CPU_SUMS v;
        META_A lane[LANES];
    } all;
    all.v = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int k = 0; k < LANES; ++k) rest += all.lane[k];
    return rest;
}

/* Compute `rows` rows of the plane at `to` and `from`; a 2D stencil sweeps four quarters of them
 * concurrently. */
static inline META_A cpu_plane(int kind, const cpu_sweep *w, meta_i64 to, meta_i64 from, meta_i64 rows)
{
    const int flat = kind == POINTS_2D5P || kind == POINTS_2D9P;
    const meta_i64 quarter = flat && w->stream ? rows / SWEEP_ROWS : 0;
    META_A sum = 0;
    for (meta_i64 k = 0; k < quarter; ++k)
        sum += cpu_rows(kind, w, to + k * w->out_across, from + k * w->across,
                        quarter * w->out_across, quarter * w->across, SWEEP_ROWS, 1);
    for (meta_i64 k = SWEEP_ROWS * quarter; k < rows; ++k)
        sum += cpu_rows(kind, w, to + k * w->out_across, from + k * w->across, w->out_along,
                        w->along, 1, 0);
    return sum;
}

static inline META_A cpu_planes(int kind, const cpu_sweep *w, meta_i64 to, meta_i64 from,
                                meta_i64 rows, meta_i64 planes)
{
    META_A sum = 0;
    meta_i64 z = 0;
    for (; z + SWEEP_ROWS <= planes; z += SWEEP_ROWS) {
        const meta_i64 first = to + z * w->out_along, at = from + z * w->along;
        for (meta_i64 k = 0; k < rows; ++k) {
            const meta_i64 row = first + k * w->out_across, from_row = at + k * w->across;
            sum += w->stream ? cpu_rows(kind, w, row, from_row, w->out_along, w->along, SWEEP_ROWS, 1)
                             : cpu_rows(kind, w, row, from_row, w->out_along, w->along, SWEEP_ROWS, 0);
        }
    }
    for (; z < planes; ++z)
        sum += cpu_plane(kind, w, to + z * w->out_along, from + z * w->along, rows);
    return sum;
}

static inline META_A cpu_stencil(int kind, __global META_T *out, __global const META_T *in,
                                 const meta_space *s)
{
    const meta_i64 end = META_SHARE(s->rows, 1, 1), column = META_SHARE(s->extent[0], 0, 0);
    const int solid = s->ndim > 2;
    cpu_sweep w;
    META_A sum = 0;
    w.out = out;
    w.in = in;
    w.out_across = s->layout[0].stride[1];
    w.across = s->layout[1].stride[1];
    w.out_along = solid ? s->layout[0].stride[2] : 0;
    w.along = solid ? s->layout[1].stride[2] : 0;
    w.cells = META_SHARE(s->extent[0], 0, 1) - column;
    w.stream = s->rows * s->extent[0] * (meta_i64)sizeof(META_T) >= META_STREAM &&
               (ulong)(out + s->layout[0].base + column) % LINE == 0 && w.out_across % LANES == 0 &&
               w.out_along % LANES == 0 && (!solid || s->ndim == 3);
    for (meta_i64 number = META_SHARE(s->rows, 1, 0); number < end;) {
        const meta_row row = meta_row_first(s, number);
        const meta_i64 left = end - number, y = row.coordinate[1];
        const int whole = solid && y == 0 && left >= s->extent[1];
        const meta_i64 to = row.at[0] + column, from = row.at[1] + column;
        meta_i64 across = s->extent[1], along = 1, block;
        if (whole) along = min(left / across, s->extent[2] - row.coordinate[2]);
        else across = min(across - y, left);
        block = along > 1 ? BLOCK / (2 * SWEEP_ROWS + 2) / (meta_i64)sizeof(META_T) / w.cells + 1
                          : across;
        for (meta_i64 k = 0; k < across; k += block)
            sum += cpu_planes(kind, &w, to + k * w.out_across, from + k * w.across,
                              min(block, across - k), along);
        number += across * along;
    }
    return sum;
}

#define CPU_STENCIL(name, kind)                       \
    META_KERNEL(name)                                 \
    {                                                 \
        META_SPACE;                                   \
        META_OUT(META_T, out, 0);                     \
        META_IN(META_T, in, 1);                       \
        cpu_stencil(kind, out, in, s);                \
    }                                                 \
    META_KERNEL(name##_sum)                           \
    {                                                 \
        META_SPACE;                                   \
        META_OUT(META_T, out, 0);                     \
        META_IN(META_T, in, 1);                       \
        const META_A sum = cpu_stencil(kind, out, in, s); \
        META_REDUCE(META_A, sum, META_ADD);           \
    }
CPU_STENCIL(stencil_2d5p, POINTS_2D5P)
CPU_STENCIL(stencil_2d9p, POINTS_2D9P)
CPU_STENCIL(stencil_3d7p, POINTS_3D7P)
CPU_STENCIL(stencil_3d27p, POINTS_3D27P)
