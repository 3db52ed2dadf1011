/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for Poisson's equation with the 7-point operator, times h^2. On its way each
 * kernel adds up the sum that the next step needs. */
#include <meta_kernel.h>

/* x = 0, residual = p = f. The cell (0, 0, 0) of the whole grid has the index (x0, y0, z0). */
#define begin_ARGS(A)                                                                              \
    A(OUT, T, x) A(OUT, T, residual) A(OUT, T, p)                                                  \
    A(VALUE, int64_t, x0) A(VALUE, int64_t, y0) A(VALUE, int64_t, z0) A(SUM, T, rr)
META_CELLS(begin)
{
    const T f = (T)((7 * (INDEX(0) - x0) + 5 * (INDEX(1) - y0) + 3 * (INDEX(2) - z0)) % 11 - 5);
    AT(x, 0, 0, 0) = 0;
    AT(residual, 0, 0, 0) = f;
    AT(p, 0, 0, 0) = f;
    ADD(rr, f * f);
}

/* q = A p, and p.q. */
#define apply_ARGS(A) A(OUT, T, q) A(IN, T, p, STAR(1)) A(SUM, T, pq)
META_CELLS(apply)
{
    const T here = AT(p, 0, 0, 0);
    const T q_here = 6 * here - AT(p, -1, 0, 0) - AT(p, 1, 0, 0) - AT(p, 0, -1, 0) -
                     AT(p, 0, 1, 0) - AT(p, 0, 0, -1) - AT(p, 0, 0, 1);
    AT(q, 0, 0, 0) = q_here;
    ADD(pq, here * q_here);
}

/* x += alpha p, residual -= alpha q, and rr = residual.residual. */
#define descend_ARGS(A)                                                                            \
    A(INOUT, T, x) A(INOUT, T, residual) A(IN, T, p, CELL) A(IN, T, q, CELL)                       \
    A(VALUE, T, alpha) A(SUM, T, rr)
META_CELLS(descend)
{
    const T rest = AT(residual, 0, 0, 0) - alpha * AT(q, 0, 0, 0);
    AT(x, 0, 0, 0) += alpha * AT(p, 0, 0, 0);
    AT(residual, 0, 0, 0) = rest;
    ADD(rr, rest * rest);
}

/* p = residual + beta p. */
#define xpay_ARGS(A) A(INOUT, T, p) A(IN, T, residual, CELL) A(VALUE, T, beta)
META_CELLS(xpay)
{
    AT(p, 0, 0, 0) = AT(residual, 0, 0, 0) + beta * AT(p, 0, 0, 0);
}

#include META_AGAIN
