/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence.kernel.h
 *  Kernels with parameters of each kind that moves data between devices; see test_coherence.c. The
 *  numbers are small, so that sums are exact and integers do not overflow. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_I32)
#define META_KERNEL_FILE  "coherence.kernel.h"
#include <meta_kernel.h>

#define spread_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1))
META_CELLS(spread)
{
    AT(next, 0, 0, 0) = AT(now, -1, 0, 0) - AT(now, 1, 0, 0) + AT(now, 0, 1, 0) -
                        AT(now, 0, 0, -1) + AT(now, 0, 0, 0);
}

#define mirrored_ARGS(A) A(INOUT, T, u) A(VALUE, T, about)
META_CELLS(mirrored)
{
    ON(u) = about - ON(u);
}

#define scatter_ARGS(A) A(ADD, T, to, STAR(1)) A(IN, T, from, CELL)
META_CELLS(scatter)
{
    ADD_TO(AT(to, -1, 0, 0), ON(from));
    ADD_TO(AT(to, 0, 1, 0), ON(from));
    ADD_TO(AT(to, 0, 0, 0), 3);
}

#define gather_ARGS(A) A(OUT, T, out) A(IN, T, table, WHOLE) A(VALUE, int64_t, count)
META_CELLS(gather)
{
    AT(out, 0, 0, 0) = GET(table, (INDEX(0) * 5 + INDEX(1) * 7 + INDEX(2) * 11) % count);
}

#define shifted_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(SCALAR, T, by)
META_CELLS(shifted)
{
    AT(out, 0, 0, 0) = AT(in, 0, 0, 0) - by;
}

#define survey_ARGS(A) A(IN, T, in, CELL) A(SUM, T, total) A(MAX, T, most)
META_CELLS(survey)
{
    ADD(total, AT(in, 0, 0, 0));
    RAISE(most, AT(in, 0, 0, 0));
}

#include META_AGAIN
