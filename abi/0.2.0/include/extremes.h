/* SPDX-License-Identifier: BSD-3-Clause */
/** @file extremes.h
 *  The kernels that combine partial extremes with their places into a result. Included once per
 * arithmetic type with these macros defined, as for arithmetic.h: META_SUFFIX, META_T, META_LOWEST,
 *  META_HIGHEST. Needs meta_extreme.h.
 *
 *  Operand 0 has the partial results, as many as the value says: a value and the number of its cell, -1
 *  for none. Operand 1 has the result, whose first word is layout 1's base: the value and META_MAX_DIM
 *  indices, as in meta_extreme_f64. The space is that of the kernel whose results they are; the
 *  strides of layout 0 are the box's start. */
#ifndef META_EXTREMES_H
#define META_EXTREMES_H

/* The index of cell @p number along each dimension: 0 along those that the box lacks, -1 of no cell. */
META_INLINE void meta_extreme_index(META_SPACE_MEMORY const meta_space *s, meta_i64 number,
                                    META_GLOBAL meta_i64 *index)
{
    meta_i64 rest = number;
    for (meta_i64 d = 0; d < META_MAX_DIM; ++d) {
        const meta_i64 extent = d < s->ndim ? s->extent[d] : 1;
        if (number < 0) {
            index[d] = -1;
            continue;
        }
        index[d] = d < s->ndim ? s->layout[0].stride[d] + rest % extent : 0;
        rest /= extent;
    }
}
#endif

#ifndef META_OWN_EXTREMES /* the back end provides its own kernels */
typedef struct {
    META_T value;
    meta_i64 number;
} META_JOIN(meta_partial_extreme, META_SUFFIX);

#define META_EXTREME_AT(name, FIRST, IDENTITY)                                                     \
    META_KERNEL(finish_##name)                                                                     \
    {                                                                                              \
        META_SPACE;                                                                                \
        META_IN(META_JOIN(meta_partial_extreme, META_SUFFIX), partial, 0);                         \
        META_OUT(meta_i64, word, 1);                                                               \
        META_SCALAR(meta_i64, count);                                                              \
        META_GLOBAL meta_i64 *result = word + s->layout[1].base;                                   \
        META_JOIN(meta_partial_extreme, META_SUFFIX) best = {IDENTITY, -1};                        \
        for (meta_i64 k = 0; k < count; ++k)                                                       \
            best = FIRST(best, partial[s->layout[0].base + k]);                                    \
        META_CANONICAL(META_T, best.value);                                                        \
        *(META_GLOBAL META_T *)result = best.value;                                                \
        meta_extreme_index(s, best.number, result + 1);                                            \
    }

META_EXTREME_AT(min_at, META_K_LOWEST_AT, META_HIGHEST)
META_EXTREME_AT(max_at, META_K_HIGHEST_AT, META_LOWEST)
#undef META_EXTREME_AT
#endif
