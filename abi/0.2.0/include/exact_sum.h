/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_sum.h
 *  Exact sums and dot products of a floating-point type, see exact.h. Include with META_SUFFIX and
 *  META_T defined, which it undefines. In a dot product each product of doubles is rounded; products
 *  of floats are exact in a double.
 *
 *  The partial result of a thread or work group is an accumulator of META_EXACT_WORDS. The combining
 *  kernel writes their sum with carries propagated, followed by the sum rounded once. */

#define META_EXACT_ONE(i)     (meta_f64)a[(i)*step]
#define META_EXACT_PRODUCT(i) (meta_f64)a[(i)*of_x] * (meta_f64)b[(i)*of_y]
#define META_EXACT_ONE_DENSE(i)     (meta_f64)a[i]
#define META_EXACT_PRODUCT_DENSE(i) (meta_f64)a[i] * (meta_f64)b[i]
#define META_EXACT_ONE_LOAD(x, i) META_EXACT_LOAD(META_T, x, a + (i))
#define META_EXACT_PRODUCT_LOAD(x, i)         \
    do {                                      \
        meta_exact_lanes y_;                  \
        META_EXACT_LOAD(META_T, x, a + (i));  \
        META_EXACT_LOAD(META_T, y_, b + (i)); \
        (x) *= y_;                            \
    } while (0)
#define META_EXACT_SWEEP_PRODUCTS(from, n, VALUE) \
    META_EXACT_SWEEP_DENSE(&sum_, from, n, VALUE, META_EXACT_PRODUCT_LOAD)
#define META_EXACT_SWEEP_DOUBLES(from, n, VALUE) \
    META_EXACT_SWEEP_DENSE(&sum_, from, n, VALUE, META_EXACT_ONE_LOAD)
#ifdef META_EXACT_SWEEP_FLOATS
#define META_EXACT_SWEEP_ONES(from, n, VALUE)                                              \
    do {                                                                                  \
        if (sizeof(META_T) == 4) META_EXACT_SWEEP_FLOATS(&sum_, a + (from), n, VALUE, from); \
        else META_EXACT_SWEEP_DOUBLES(from, n, VALUE);                                     \
    } while (0)
#else
#define META_EXACT_SWEEP_ONES META_EXACT_SWEEP_DOUBLES
#endif

META_KERNEL(exact_sum)
{
    META_SPACE;
    META_IN(META_T, in, 0);
    const meta_i64 step = META_STRIDE(0, 0);
    META_EXACT_BEGIN;
    META_ROWS(r)
    {
        META_GLOBAL const META_T *a = in + META_AT(r, 0);
        META_EXACT_ROW(step == 1, META_EXACT_ONE_DENSE, META_EXACT_ONE, META_EXACT_SWEEP_ONES);
    }
    META_EXACT_END;
}

META_KERNEL(exact_dot)
{
    META_SPACE;
    META_IN(META_T, x, 0);
    META_IN(META_T, y, 1);
    const meta_i64 of_x = META_STRIDE(0, 0), of_y = META_STRIDE(1, 0);
    META_EXACT_BEGIN;
    META_ROWS(r)
    {
        META_GLOBAL const META_T *a = x + META_AT(r, 0);
        META_GLOBAL const META_T *b = y + META_AT(r, 1);
        META_EXACT_ROW(of_x == 1 && of_y == 1, META_EXACT_PRODUCT_DENSE, META_EXACT_PRODUCT,
                       META_EXACT_SWEEP_PRODUCTS);
    }
    META_EXACT_END;
}

META_KERNEL(finish_exact)
{
    META_SPACE;
    META_IN(meta_i64, partial, 0);
    META_OUT(meta_i64, result, 1);
    meta_i64 limb[META_EXACT_WORDS];
    for (int k = 0; k < META_EXACT_WORDS; ++k) limb[k] = 0;
    for (meta_i64 n = 0; n < META_PARTIALS; ++n)
        for (int k = 0; k < META_EXACT_WORDS; ++k)
            limb[k] += partial[s->layout[0].base + n * META_EXACT_WORDS + k];
    meta_exact_carry(limb);
    for (int k = 0; k < META_EXACT_WORDS; ++k) result[s->layout[1].base + k] = limb[k];
    result[s->layout[1].base + META_EXACT_WORDS] =
        (meta_i64)meta_exact_round(limb, (int)sizeof(META_T));
}

#undef META_EXACT_ONE
#undef META_EXACT_PRODUCT
#undef META_EXACT_ONE_DENSE
#undef META_EXACT_PRODUCT_DENSE
#undef META_EXACT_ONE_LOAD
#undef META_EXACT_PRODUCT_LOAD
#undef META_EXACT_SWEEP_PRODUCTS
#undef META_EXACT_SWEEP_DOUBLES
#undef META_EXACT_SWEEP_ONES
#undef META_SUFFIX
#undef META_T
