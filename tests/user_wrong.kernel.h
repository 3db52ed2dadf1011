/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_wrong.kernel.h
 *  Kernels whose parameters the library refuses, see test_user_errors.c. */
#define META_KERNEL_TYPES META_KERNEL_F32
#include <meta_kernel.h>

#define too_many_arrays_ARGS(A)                                                                    \
    A(OUT, T, out) A(IN, T, in00, CELL) A(IN, T, in01, CELL) A(IN, T, in02, CELL)                  \
    A(IN, T, in03, CELL) A(IN, T, in04, CELL) A(IN, T, in05, CELL) A(IN, T, in06, CELL)            \
    A(IN, T, in07, CELL) A(IN, T, in08, CELL) A(IN, T, in09, CELL) A(IN, T, in10, CELL)            \
    A(IN, T, in11, CELL) A(IN, T, in12, CELL) A(IN, T, in13, CELL) A(IN, T, in14, CELL)            \
    A(IN, T, in15, CELL) A(IN, T, in16, CELL) A(IN, T, in17, CELL) A(IN, T, in18, CELL)            \
    A(IN, T, in19, CELL) A(IN, T, in20, CELL) A(IN, T, in21, CELL) A(IN, T, in22, CELL)            \
    A(IN, T, in23, CELL) A(IN, T, in24, CELL) A(IN, T, in25, CELL) A(IN, T, in26, CELL)            \
    A(IN, T, in27, CELL) A(IN, T, in28, CELL) A(IN, T, in29, CELL) A(IN, T, in30, CELL)            \
    A(IN, T, in31, CELL)
META_CELLS(too_many_arrays)
{
    AT(out, 0, 0, 0) = AT(in00, 0, 0, 0);
}

#define too_many_parameters_ARGS(A)                                                                \
    A(OUT, T, out) A(VALUE, T, v00) A(VALUE, T, v01) A(VALUE, T, v02) A(VALUE, T, v03)             \
    A(VALUE, T, v04) A(VALUE, T, v05) A(VALUE, T, v06) A(VALUE, T, v07) A(VALUE, T, v08)           \
    A(VALUE, T, v09) A(VALUE, T, v10) A(VALUE, T, v11) A(VALUE, T, v12) A(VALUE, T, v13)           \
    A(VALUE, T, v14) A(VALUE, T, v15) A(VALUE, T, v16) A(VALUE, T, v17) A(VALUE, T, v18)           \
    A(VALUE, T, v19) A(VALUE, T, v20) A(VALUE, T, v21) A(VALUE, T, v22) A(VALUE, T, v23)           \
    A(VALUE, T, v24) A(VALUE, T, v25) A(VALUE, T, v26) A(VALUE, T, v27) A(VALUE, T, v28)           \
    A(VALUE, T, v29) A(VALUE, T, v30) A(VALUE, T, v31) A(VALUE, T, v32) A(VALUE, T, v33)           \
    A(VALUE, T, v34) A(VALUE, T, v35) A(VALUE, T, v36) A(VALUE, T, v37) A(VALUE, T, v38)           \
    A(VALUE, T, v39) A(VALUE, T, v40) A(VALUE, T, v41) A(VALUE, T, v42) A(VALUE, T, v43)           \
    A(VALUE, T, v44) A(VALUE, T, v45) A(VALUE, T, v46) A(VALUE, T, v47) A(VALUE, T, v48)           \
    A(VALUE, T, v49) A(VALUE, T, v50) A(VALUE, T, v51) A(VALUE, T, v52) A(VALUE, T, v53)           \
    A(VALUE, T, v54) A(VALUE, T, v55) A(VALUE, T, v56) A(VALUE, T, v57) A(VALUE, T, v58)           \
    A(VALUE, T, v59) A(VALUE, T, v60) A(VALUE, T, v61) A(VALUE, T, v62) A(VALUE, T, v63)
META_CELLS(too_many_parameters)
{
    AT(out, 0, 0, 0) = v00;
}

#ifndef USER_WRONG_GIANT
#define USER_WRONG_GIANT
typedef struct user_wrong_giant {
    char byte[513];
} user_wrong_giant;
#endif
#define giant_value_ARGS(A) A(OUT, T, out) A(VALUE, user_wrong_giant, giant)
META_CELLS(giant_value)
{
    AT(out, 0, 0, 0) = (T)giant.byte[0];
}

#define odd_array_ARGS(A) A(OUT, T, out) A(IN, int16_t, odd, CELL)
META_CELLS(odd_array)
{
    AT(out, 0, 0, 0) = AT(odd, 0, 0, 0);
}

#define no_array_ARGS(A) A(VALUE, T, alone) A(SUM, T, total)
META_CELLS(no_array)
{
    ADD(total, alone);
}

#define written_line_ARGS(A) A(OUT, T, line, LINE(0))
META_CELLS(written_line)
{
    ON(line) = 1;
}

#define written_plane_ARGS(A) A(OUT, T, out) A(INOUT, T, plane, PLANE(1))
META_CELLS(written_plane)
{
    ON(out) = 1;
}

#define distant_line_ARGS(A) A(OUT, T, out) A(IN, T, nowhere, LINE(10))
META_CELLS(distant_line)
{
    ON(out) = 1;
}

#define distant_plane_ARGS(A) A(OUT, T, out) A(IN, T, nowhere, PLANE(10))
META_CELLS(distant_plane)
{
    ON(out) = 1;
}

#define shaped_whole_ARGS(A) A(OUT, T, out) A(IN, T, table, WHOLE, GROWN(1, 0, 0))
META_CELLS(shaped_whole)
{
    ON(out) = GET(table, 0);
}

#include META_AGAIN
