/* SPDX-License-Identifier: BSD-3-Clause */
/** @file arithmetic.h
 *  The arithmetic kernels, included once per arithmetic type with these macros defined: META_SUFFIX
 *  (f64 …), META_T the element type, META_W the type of additions, META_A the type of accumulators,
 *  META_LOWEST and META_HIGHEST the identities of max and min.
 *
 *  The order of a stencil's additions is that of the MiniGhost 1.0 reference and is fixed: results are
 *  bitwise identical on every back end. Integer additions wrap; a stencil's integer division
 *  truncates. */

#define META_ADD(x, y) ((x) + (y))
/* NaN propagates, from either operand. */
#define META_MIN(x, y) ((x) != (x) || (x) < (y) ? (x) : (y))
#define META_MAX(x, y) ((x) != (x) || (x) > (y) ? (x) : (y))

META_KERNEL(axpy)
{
    META_SPACE;
    META_OUT(META_T, y, 0);
    META_IN(META_T, x, 1);
    META_SCALAR(META_T, alpha);
    const meta_i64 to = META_STRIDE(0, 0), from = META_STRIDE(1, 0);
    META_ROWS(r)
    {
        META_GLOBAL META_T *d = y + META_AT(r, 0);
        META_GLOBAL const META_T *a = x + META_AT(r, 1);
        if (to == 1 && from == 1) {
            META_SIMD META_COLUMNS(i) d[i] = (META_T)((META_W)d[i] + (META_W)alpha * (META_W)a[i]);
        } else {
            META_COLUMNS(i)
            d[i * to] = (META_T)((META_W)d[i * to] + (META_W)alpha * (META_W)a[i * from]);
        }
    }
}

/* The neighbour of cell i at offset (dx, dy, dz). */
#define META_C(dx, dy, dz) (META_W)c[i + (dx) + (dy)*sy + (dz)*sz]
#define META_PLANE(z)                                                                     \
    ((((((((META_C(-1, -1, z) + META_C(-1, 0, z)) + META_C(-1, 1, z)) + META_C(0, -1, z)) + \
         META_C(0, 0, z)) + META_C(0, 1, z)) + META_C(1, -1, z)) + META_C(1, 0, z)) +     \
     META_C(1, 1, z))
#define META_2D5P \
    ((((META_C(-1, 0, 0) + META_C(0, -1, 0)) + META_C(0, 0, 0)) + META_C(0, 1, 0)) + META_C(1, 0, 0))
#define META_2D9P META_PLANE(0)
#define META_3D7P                                                                              \
    ((((((META_C(0, 0, -1) + META_C(-1, 0, 0)) + META_C(0, -1, 0)) + META_C(0, 0, 0)) +         \
       META_C(0, 1, 0)) + META_C(1, 0, 0)) + META_C(0, 0, 1))
#define META_3D27P ((META_PLANE(-1) + META_PLANE(0)) + META_PLANE(1))

#ifndef META_OWN_STENCILS /* the back end provides its own stencils */
/* The average over a stencil's points, alone and with the sum of the averages. The layouts are those
 * of a grid: columns are contiguous, dimension 1 is y and dimension 2 is z (unused by the 2D
 * stencils). */
#define META_STENCIL(name, POINTS, n)                                              \
    META_KERNEL(name)                                                              \
    {                                                                              \
        META_SPACE;                                                                \
        META_OUT(META_T, out, 0);                                                  \
        META_IN(META_T, in, 1);                                                    \
        const meta_i64 sy = META_STRIDE(1, 1), sz = META_STRIDE(1, 2);             \
        (void)sz;                                                                  \
        META_ROWS(r)                                                               \
        {                                                                          \
            META_GLOBAL META_T *o = out + META_AT(r, 0);                           \
            META_GLOBAL const META_T *c = in + META_AT(r, 1);                      \
            META_SIMD META_COLUMNS(i) o[i] = (META_T)((META_T)(POINTS) / (META_T)(n)); \
        }                                                                          \
    }                                                                              \
    META_KERNEL(name##_sum)                                                        \
    {                                                                              \
        META_SPACE;                                                                \
        META_OUT(META_T, out, 0);                                                  \
        META_IN(META_T, in, 1);                                                    \
        const meta_i64 sy = META_STRIDE(1, 1), sz = META_STRIDE(1, 2);             \
        META_A sum = 0;                                                            \
        (void)sz;                                                                  \
        META_ROWS(r)                                                               \
        {                                                                          \
            META_GLOBAL META_T *o = out + META_AT(r, 0);                           \
            META_GLOBAL const META_T *c = in + META_AT(r, 1);                      \
            META_A part = 0;                                                       \
            META_SIMD_SUM(part) META_COLUMNS(i)                                    \
            {                                                                      \
                const META_T average = (META_T)((META_T)(POINTS) / (META_T)(n));   \
                o[i] = average;                                                    \
                part += (META_A)average;                                           \
            }                                                                      \
            sum += part;                                                           \
        }                                                                          \
        META_REDUCE(META_A, sum, META_ADD);                                        \
    }

META_STENCIL(stencil_2d5p, META_2D5P, 5)
META_STENCIL(stencil_2d9p, META_2D9P, 9)
META_STENCIL(stencil_3d7p, META_3D7P, 7)
META_STENCIL(stencil_3d27p, META_3D27P, 27)
#endif

META_KERNEL(reduce_sum)
{
    META_SPACE;
    META_IN(META_T, in, 0);
    const meta_i64 step = META_STRIDE(0, 0);
    META_A sum = 0;
    META_ROWS(r)
    {
        META_GLOBAL const META_T *a = in + META_AT(r, 0);
        META_A part = 0;
        if (step == 1) {
            META_SIMD_SUM(part) META_COLUMNS(i) part += (META_A)a[i];
        } else {
            META_COLUMNS(i) part += (META_A)a[i * step];
        }
        sum += part;
    }
    META_REDUCE(META_A, sum, META_ADD);
}

META_KERNEL(dot)
{
    META_SPACE;
    META_IN(META_T, x, 0);
    META_IN(META_T, y, 1);
    const meta_i64 of_x = META_STRIDE(0, 0), of_y = META_STRIDE(1, 0);
    META_A sum = 0;
    META_ROWS(r)
    {
        META_GLOBAL const META_T *a = x + META_AT(r, 0);
        META_GLOBAL const META_T *b = y + META_AT(r, 1);
        META_A part = 0;
        if (of_x == 1 && of_y == 1) {
            META_SIMD_SUM(part) META_COLUMNS(i) part += (META_A)a[i] * (META_A)b[i];
        } else {
            META_COLUMNS(i) part += (META_A)a[i * of_x] * (META_A)b[i * of_y];
        }
        sum += part;
    }
    META_REDUCE(META_A, sum, META_ADD);
}

#define META_EXTREME(name, COMBINE, IDENTITY)                                   \
    META_KERNEL(reduce_##name)                                                  \
    {                                                                           \
        META_SPACE;                                                             \
        META_IN(META_T, in, 0);                                                 \
        const meta_i64 step = META_STRIDE(0, 0);                                \
        META_T best = IDENTITY;                                                 \
        META_ROWS(r)                                                            \
        {                                                                       \
            META_GLOBAL const META_T *a = in + META_AT(r, 0);                   \
            META_COLUMNS(i) best = COMBINE(best, a[i * step]);                  \
        }                                                                       \
        META_REDUCE(META_T, best, COMBINE);                                     \
    }                                                                           \
    META_KERNEL(finish_##name)                                                  \
    {                                                                           \
        META_SPACE;                                                             \
        META_IN(META_T, partial, 0);                                            \
        META_OUT(META_T, result, 1);                                            \
        META_T best = IDENTITY;                                                 \
        for (meta_i64 k = 0; k < META_PARTIALS; ++k)                                \
            best = COMBINE(best, partial[s->layout[0].base + k]);                   \
        META_CANONICAL(META_T, best);                                           \
        result[s->layout[1].base] = best;                                              \
    }

META_EXTREME(min, META_MIN, META_HIGHEST)
META_EXTREME(max, META_MAX, META_LOWEST)

META_KERNEL(finish_sum)
{
    META_SPACE;
    META_IN(META_A, partial, 0);
    META_OUT(META_T, result, 1);
    META_A sum = 0;
    for (meta_i64 k = 0; k < META_PARTIALS; ++k) sum += partial[s->layout[0].base + k];
    result[s->layout[1].base] = (META_T)sum;
}

#undef META_ADD
#undef META_MIN
#undef META_MAX
#undef META_C
#undef META_PLANE
#undef META_2D5P
#undef META_2D9P
#undef META_3D7P
#undef META_3D27P
#undef META_STENCIL
#undef META_EXTREME
