/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles and the charge that they carry to a grid: kernels over particles, not cells. */
#include <meta_kernel.h>

/* Each particle swings along one axis, less than a cell from its home. */
#define swing_ARGS(A) A(INOUT, T, place) A(INOUT, T, speed) A(IN, T, home, CELL)
META_CELLS(swing)
{
    const T next = AT(place, 0, 0, 0) + AT(speed, 0, 0, 0);
    if (ABS(next - AT(home, 0, 0, 0)) < 1) AT(place, 0, 0, 0) = next;
    else AT(speed, 0, 0, 0) = -AT(speed, 0, 0, 0);
}

/* A particle's charge goes to the eight cells around it, by linear weights. Places count cells from
 * the first element of rho, whose rows and planes are `row` and `plane` elements apart. */
#define deposit_ARGS(A)                                                                            \
    A(IN, T, x, CELL) A(IN, T, y, CELL) A(IN, T, z, CELL) A(IN, T, charge, CELL)                   \
    A(ADD, T, rho, WHOLE) A(VALUE, int64_t, row) A(VALUE, int64_t, plane)
META_CELLS(deposit)
{
    const T px = AT(x, 0, 0, 0), py = AT(y, 0, 0, 0), pz = AT(z, 0, 0, 0);
    const int64_t i = (int64_t)px, j = (int64_t)py, k = (int64_t)pz;
    const T fx = px - (T)i, fy = py - (T)j, fz = pz - (T)k;
    for (int c = 0; c < 8; ++c) {
        const int right = c & 1, up = c >> 1 & 1, back = c >> 2;
        const T weight = (right ? fx : 1 - fx) * (up ? fy : 1 - fy) * (back ? fz : 1 - fz);
        ADD_TO(GET(rho, i + right + (j + up) * row + (k + back) * plane),
               AT(charge, 0, 0, 0) * weight);
    }
}

#include META_AGAIN
