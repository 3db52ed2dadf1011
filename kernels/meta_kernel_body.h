/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a kernel's body, see meta_kernel.h; the same for every back end. `meta_i` is the
 * cell's column, `meta_x` has the index of the row's first cell, and `meta_0_NAME` … are the
 * strides of an array, 0 along a dimension that it lacks; `meta_0_NAME` is a constant, 0 or 1.
 * `meta_i1` and `meta_i2` are 0; in a team, which begins at `meta_x`, they are the cell's row and plane.
 * `meta_own_NAME` is 1 where each member of a team has an element of its own of a SUM, number
 * META_K_MEMBER, and 0 where there is one for all.
 * META_K_AS(result)(x) is a conversion to the type that the result points to, for languages that
 * warn of one that is not written. META_K_ADD_TO(element, x) adds to an element of an ADD array. */
#ifndef META_K_ELEMENT
#define META_K_ELEMENT(array)
#define META_K_ELEMENT_END
#endif
#define AT1(array, x)          META_K_ELEMENT(array) array[META_K_AT(array, x, 0, 0, 0)] META_K_ELEMENT_END
#define AT2(array, x, y)       META_K_ELEMENT(array) array[META_K_AT(array, x, y, 0, 0)] META_K_ELEMENT_END
#define AT(array, x, y, z)     META_K_ELEMENT(array) array[META_K_AT(array, x, y, z, 0)] META_K_ELEMENT_END
#define AT4(array, x, y, z, w) META_K_ELEMENT(array) array[META_K_AT(array, x, y, z, w)] META_K_ELEMENT_END
#define ON(array)              META_K_ELEMENT(array) array[META_K_AT(array, 0, 0, 0, 0)] META_K_ELEMENT_END
#define GET(array, n)          META_K_ELEMENT(array) array[META_K_GET(array, n)] META_K_ELEMENT_END
#ifndef META_K_WITHIN /* where nothing is checked: the CPU's compiler has */
#define META_K_WITHIN(array, x, y, z, w)
#define META_K_WHOLE(array)
#endif
#define META_K_INDEX(array, x, y, z, w)                                                            \
    ((meta_i + (x)) * meta_0_##array + (meta_i1 + (y)) * meta_1_##array +                          \
     (meta_i2 + (z)) * meta_2_##array + (w) * meta_3_##array META_K_WITHIN(array, x, y, z, w))
#ifndef META_K_AT
#define META_K_AT(array, x, y, z, w) META_K_INDEX(array, x, y, z, w)
#endif
#define INDEX(d)                                                                                   \
    (meta_x[d] + ((d) == 0 ? meta_i : (d) == 1 ? meta_i1 : (d) == 2 ? meta_i2 : 0))
#ifndef META_K_GET
#define META_K_GET(array, n) (n) META_K_WHOLE(array)
#endif
/* The number of the cell in the box: of the first one of its row or team, and from a row's or a
 * plane's numbers to those of the next one. */
#ifndef META_K_CELL
#define META_K_CELL (meta_n[0] + meta_i + meta_i1 * meta_n[1] + meta_i2 * meta_n[2])
#endif
#ifndef META_K_AS
#define META_K_AS(result)
#endif
#define ADD(result, x)                                                                             \
    ((result)[meta_own_##result * META_K_MEMBER] += META_K_AS(result)(x))
#define ADD_TO(element, x) META_K_ADD_TO(element, x)
/* The variable that an extreme's contributions go to. */
#ifndef META_K_RESULT
#define META_K_RESULT(result) (result)
#endif
#define LOWER(result, x) META_K_TO_EXTREME(META_K_RESULT(result), x, META_K_BELOW, META_K_LEAST)
#define RAISE(result, x) META_K_TO_EXTREME(META_K_RESULT(result), x, META_K_ABOVE, META_K_MOST)
/* A MIN or MAX, with a place or without: whatever is not used of it, compilers remove. Where each
 * cell begins with nothing, META_K_IS_FIRST is whether it has contributed nothing yet, which compilers
 * know of most: then nothing is compared. */
#ifndef META_K_IS_FIRST
#define META_K_IS_FIRST(result) 0
#endif
#define META_K_TO_EXTREME(result, x, BEYOND, TAKE)                                                 \
    (result->meta_new = (x),                                                                       \
     result->meta_cell =                                                                           \
         META_K_FIRST_OF(BEYOND, result->meta_new, META_K_CELL, result->meta_value,                \
                         result->meta_cell)                                                        \
             ? META_K_CELL                                                                         \
             : result->meta_cell,                                                                  \
     result->meta_value = META_K_IS_FIRST(result)                                                  \
                                ? result->meta_new                                                 \
                                : TAKE(result->meta_value, result->meta_new),                      \
     result->meta_has = 1)
#define LEAST(x, y)      ((x) < (y) ? (x) : (y))
#define MOST(x, y)       ((x) < (y) ? (y) : (x))

/* Of results a NaN is the least and the most, from either operand, as in meta_reduce(). */
#define META_K_LEAST(a, b) ((b) != (b) || (b) < (a) ? (b) : (a))
#define META_K_MOST(a, b)  ((b) != (b) || (b) > (a) ? (b) : (a))
