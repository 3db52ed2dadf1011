/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils with constant weights, alone and with the sum of in*out, see meta_stencil_constant(). */
#ifndef META_LIBRARY_TYPES /* those that are compiled at once */
#define META_LIBRARY_TYPES                                                                         \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_U64 | META_KERNEL_U32)
#endif
#define META_KERNEL_TYPES META_LIBRARY_TYPES
#define META_KERNEL_FILE "constant.kernel.h"
#include <meta_kernel.h>

#define WEIGHTS_5(A)                                                                               \
    A(VALUE, T, weight0) A(VALUE, T, weight1) A(VALUE, T, weight2) A(VALUE, T, weight3)            \
    A(VALUE, T, weight4)
#define WEIGHTS_7(A)                                                                               \
    WEIGHTS_5(A) A(VALUE, T, weight5) A(VALUE, T, weight6)
#define WEIGHTS_9(A)                                                                               \
    WEIGHTS_7(A) A(VALUE, T, weight7) A(VALUE, T, weight8)
#define WEIGHTS_27(A)                                                                              \
    WEIGHTS_9(A) A(VALUE, T, weight9) A(VALUE, T, weight10) A(VALUE, T, weight11)                  \
    A(VALUE, T, weight12) A(VALUE, T, weight13) A(VALUE, T, weight14) A(VALUE, T, weight15)        \
    A(VALUE, T, weight16) A(VALUE, T, weight17) A(VALUE, T, weight18) A(VALUE, T, weight19)        \
    A(VALUE, T, weight20) A(VALUE, T, weight21) A(VALUE, T, weight22) A(VALUE, T, weight23)        \
    A(VALUE, T, weight24) A(VALUE, T, weight25) A(VALUE, T, weight26)
#define WEIGHT(n) weight##n

/* The points in the order in which they lie in memory. */
#define POINTS_2D5P(W)                                                                             \
    (W(0) * AT2(in, 0, -1) + W(1) * AT2(in, -1, 0) + W(2) * AT2(in, 0, 0) +                        \
     W(3) * AT2(in, 1, 0) + W(4) * AT2(in, 0, 1))
#define POINTS_2D9P(W)                                                                             \
    (W(0) * AT2(in, -1, -1) + W(1) * AT2(in, 0, -1) + W(2) * AT2(in, 1, -1) +                      \
     W(3) * AT2(in, -1, 0) + W(4) * AT2(in, 0, 0) + W(5) * AT2(in, 1, 0) +                         \
     W(6) * AT2(in, -1, 1) + W(7) * AT2(in, 0, 1) + W(8) * AT2(in, 1, 1))
#define POINTS_3D7P(W)                                                                             \
    (W(0) * AT(in, 0, 0, -1) + W(1) * AT(in, 0, -1, 0) + W(2) * AT(in, -1, 0, 0) +                 \
     W(3) * AT(in, 0, 0, 0) + W(4) * AT(in, 1, 0, 0) + W(5) * AT(in, 0, 1, 0) +                    \
     W(6) * AT(in, 0, 0, 1))
#define POINTS_3D27P(W)                                                                            \
    (W(0) * AT(in, -1, -1, -1) + W(1) * AT(in, 0, -1, -1) + W(2) * AT(in, 1, -1, -1) +             \
     W(3) * AT(in, -1, 0, -1) + W(4) * AT(in, 0, 0, -1) + W(5) * AT(in, 1, 0, -1) +                \
     W(6) * AT(in, -1, 1, -1) + W(7) * AT(in, 0, 1, -1) + W(8) * AT(in, 1, 1, -1) +                \
     W(9) * AT(in, -1, -1, 0) + W(10) * AT(in, 0, -1, 0) + W(11) * AT(in, 1, -1, 0) +              \
     W(12) * AT(in, -1, 0, 0) + W(13) * AT(in, 0, 0, 0) + W(14) * AT(in, 1, 0, 0) +                \
     W(15) * AT(in, -1, 1, 0) + W(16) * AT(in, 0, 1, 0) + W(17) * AT(in, 1, 1, 0) +                \
     W(18) * AT(in, -1, -1, 1) + W(19) * AT(in, 0, -1, 1) + W(20) * AT(in, 1, -1, 1) +             \
     W(21) * AT(in, -1, 0, 1) + W(22) * AT(in, 0, 0, 1) + W(23) * AT(in, 1, 0, 1) +                \
     W(24) * AT(in, -1, 1, 1) + W(25) * AT(in, 0, 1, 1) + W(26) * AT(in, 1, 1, 1))

/* The reach is given by sides: STAR(1) would need ghosts along further dimensions as well. */

#define meta_constant_2d5p_ARGS(A)                                                                 \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 0, 0)) WEIGHTS_5(A)
META_CELLS(meta_constant_2d5p)
{
    AT2(out, 0, 0) = POINTS_2D5P(WEIGHT);
}

#define meta_constant_2d5p_dot_ARGS(A)                                                             \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 0, 0)) WEIGHTS_5(A) A(SUM, T, dot)
META_CELLS(meta_constant_2d5p_dot)
{
    const T sum = POINTS_2D5P(WEIGHT);
    AT2(out, 0, 0) = sum;
    ADD(dot, AT2(in, 0, 0) * sum);
}

#define meta_constant_2d9p_ARGS(A)                                                                 \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 0, 0)) WEIGHTS_9(A)
META_CELLS(meta_constant_2d9p)
{
    AT2(out, 0, 0) = POINTS_2D9P(WEIGHT);
}

#define meta_constant_2d9p_dot_ARGS(A)                                                             \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 0, 0)) WEIGHTS_9(A) A(SUM, T, dot)
META_CELLS(meta_constant_2d9p_dot)
{
    const T sum = POINTS_2D9P(WEIGHT);
    AT2(out, 0, 0) = sum;
    ADD(dot, AT2(in, 0, 0) * sum);
}

#define meta_constant_3d7p_ARGS(A)                                                                 \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 1, 1)) WEIGHTS_7(A)
META_CELLS(meta_constant_3d7p)
{
    AT(out, 0, 0, 0) = POINTS_3D7P(WEIGHT);
}

#define meta_constant_3d7p_dot_ARGS(A)                                                             \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 1, 1)) WEIGHTS_7(A) A(SUM, T, dot)
META_CELLS(meta_constant_3d7p_dot)
{
    const T sum = POINTS_3D7P(WEIGHT);
    AT(out, 0, 0, 0) = sum;
    ADD(dot, AT(in, 0, 0, 0) * sum);
}

#define meta_constant_3d27p_ARGS(A)                                                                \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 1, 1)) WEIGHTS_27(A)
META_CELLS(meta_constant_3d27p)
{
    AT(out, 0, 0, 0) = POINTS_3D27P(WEIGHT);
}

#define meta_constant_3d27p_dot_ARGS(A)                                                            \
    A(OUT, T, out) A(IN, T, in, SIDES(1, 1, 1, 1, 1, 1)) WEIGHTS_27(A) A(SUM, T, dot)
META_CELLS(meta_constant_3d27p_dot)
{
    const T sum = POINTS_3D27P(WEIGHT);
    AT(out, 0, 0, 0) = sum;
    ADD(dot, AT(in, 0, 0, 0) * sum);
}

#undef WEIGHTS_5
#undef WEIGHTS_7
#undef WEIGHTS_9
#undef WEIGHTS_27
#undef WEIGHT
#undef POINTS_2D5P
#undef POINTS_2D9P
#undef POINTS_3D7P
#undef POINTS_3D27P
#include META_AGAIN
