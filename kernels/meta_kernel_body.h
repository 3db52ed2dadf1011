/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a kernel's body, see meta_kernel.h; the same for every back end. `meta_i` is the
 * cell's column, `meta_x` has the index of the row's first cell, and `meta_1_NAME` … are the
 * strides of an array. META_K_AS(result)(x) is a conversion to the type that the result points to,
 * for languages that warn of one that is not written. META_K_ADD_TO(element, x) adds to an element
 * of an ADD array. */
#define AT1(array, x)      array[meta_i + (x)]
#define AT2(array, x, y)   array[meta_i + (x) + (y) * meta_1_##array]
#define AT(array, x, y, z) array[meta_i + (x) + (y) * meta_1_##array + (z) * meta_2_##array]
#define AT4(array, x, y, z, w) \
    array[meta_i + (x) + (y) * meta_1_##array + (z) * meta_2_##array + (w) * meta_3_##array]
#define GET(array, n)    array[n]
#define INDEX(d)         ((d) == 0 ? meta_x[0] + meta_i : meta_x[d])
#ifndef META_K_AS
#define META_K_AS(result)
#endif
#define ADD(result, x)   (*(result) += META_K_AS(result)(x))
#define ADD_TO(element, x) META_K_ADD_TO(element, x)
#define LOWER(result, x) (*(result) = META_K_LEAST(*(result), x))
#define RAISE(result, x) (*(result) = META_K_MOST(*(result), x))
#define LEAST(x, y)      ((x) < (y) ? (x) : (y))
#define MOST(x, y)       ((x) < (y) ? (y) : (x))

/* Of results a NaN is the least and the most, from either operand, as in meta_reduce(). */
#define META_K_LEAST(a, b) ((b) != (b) || (b) < (a) ? (b) : (a))
#define META_K_MOST(a, b)  ((b) != (b) || (b) > (a) ? (b) : (a))
