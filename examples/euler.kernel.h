/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-dimensional flow of an ideal gas on a staggered grid of square cells: a Lagrangian step, and a remap back to
 * the grid, which sweeps along x and along y.
 *
 * Index (x, y) is a cell, the node at its corner of low x and y, and its faces at the low sides. Lengths are in
 * cells, so a cell's volume is 1 and its mass its density; `r` is dt/h, a time step in units that make a velocity
 * times r a number of cells. Sums of four corners add diagonal pairs first: so mirrored and transposed flows keep
 * the same bits. */
#define META_KERNEL_TYPES META_KERNEL_F64
#include <meta_kernel.h>

/* The file is read several times. */
#ifndef EULER_GAS
#define EULER_GAS
#define GAMMA     1.4
#define LINEAR    0.1 /* coefficients of the viscosity */
#define QUADRATIC 1.0

/* A box of one gas in another one, both at rest: the state at the beginning. */
typedef struct euler_gases {
    int64_t low[2], high[2];
    double density[2], energy[2]; /* outside, inside */
} euler_gases;

/* A wall, by elements of the arrays: where the first row's cell at it and the node on it are, how far it is
 * outwards from a layer to the next and along the wall from a row to the next. */
typedef struct euler_wall {
    int64_t cell, node, outwards, along;
    int64_t cell_rows; /* that arrays of cells have along the wall */
    double u, v;       /* signs of the mirrored velocities */
} euler_wall;
#endif

#define CORNERS(a) ((AT2(a, 0, 0) + AT2(a, 1, 1)) + (AT2(a, 1, 0) + AT2(a, 0, 1))) /* of a cell */
#define AROUND(a)  ((AT2(a, 0, 0) + AT2(a, -1, -1)) + (AT2(a, -1, 0) + AT2(a, 0, -1))) /* a node */
/* Twice the difference of a nodes' array across a cell. */
#define ACROSS_X(a) ((AT2(a, 1, 0) + AT2(a, 1, 1)) - (AT2(a, 0, 0) + AT2(a, 0, 1)))
#define ACROSS_Y(a) ((AT2(a, 0, 1) + AT2(a, 1, 1)) - (AT2(a, 0, 0) + AT2(a, 1, 0)))
#define CELL_NODES  SIDES2(0, 1, 0, 1) /* where a cell reads an array of nodes */
#define NODE_CELLS  SIDES2(1, 0, 1, 0)

/* ------------------------------------------------------------------ begin, walls, summary */

#define euler_begin_ARGS(A) A(OUT, T, rho) A(OUT, T, e) A(VALUE, euler_gases, g)
META_CELLS(euler_begin)
{
    const int in = INDEX(0) >= g.low[0] && INDEX(0) < g.high[0] && INDEX(1) >= g.low[1] &&
                   INDEX(1) < g.high[1];
    ON(rho) = in ? g.density[1] : g.density[0];
    ON(e) = in ? g.energy[1] : g.energy[0];
}

/* Mirror the flow at a reflecting wall: the box is of layers and of rows of nodes. */
#define euler_wall_ARGS(A)                                                                         \
    A(INOUT, T, rho, WHOLE) A(INOUT, T, e, WHOLE) A(INOUT, T, u, WHOLE) A(INOUT, T, v, WHOLE)      \
    A(VALUE, euler_wall, w)
META_CELLS(euler_wall)
{
    const int64_t row = INDEX(1) * w.along, cell = w.cell + row, node = w.node + row;
    const int64_t inner = INDEX(0) * w.outwards, outer = inner + w.outwards;
    if (INDEX(1) < w.cell_rows) {
        GET(rho, cell + outer) = GET(rho, cell - inner);
        GET(e, cell + outer) = GET(e, cell - inner);
    }
    GET(u, node + outer) = w.u * GET(u, node - outer);
    GET(v, node + outer) = w.v * GET(v, node - outer);
}

/* Mass, internal energy and kinetic energy, each in cells' volumes. */
#define euler_summary_ARGS(A)                                                                      \
    A(IN, T, rho, CELL) A(IN, T, e, CELL) A(IN, T, u, CELL_NODES) A(IN, T, v, CELL_NODES)          \
    A(SUM, T, mass) A(SUM, T, internal) A(SUM, T, kinetic)
#define SQUARE(x, y) (AT2(u, x, y) * AT2(u, x, y) + AT2(v, x, y) * AT2(v, x, y))
META_CELLS(euler_summary)
{
    const T squares = (SQUARE(0, 0) + SQUARE(1, 1)) + (SQUARE(1, 0) + SQUARE(0, 1));
    ADD(mass, ON(rho));
    ADD(internal, ON(rho) * ON(e));
    ADD(kinetic, ON(rho) * squares * (T)0.125);
}

/* ------------------------------------------------------------------ the Lagrangian step */

/* The speed of sound, and the viscous pressure over density and speed, at a compression: a scalar of a quadratic
 * term (von Neumann and Richtmyer, J. Appl. Phys. 21, 1950) and a linear one (Landshoff, LA-1930, 1955), as in
 * Wilkins, J. Comput. Phys. 36, 1980. */
META_FUNCTION T FN(sound)(T e)
{
    return SQRT((T)(GAMMA * (GAMMA - 1)) * e);
}
META_FUNCTION T FN(viscosity)(T compression, T sound)
{
    const T compressed = (T)LINEAR * sound + (T)QUADRATIC * compression;
    return compression > 0 ? compressed : 0;
}

/* The time that a signal needs to cross a cell, over the cell's edge: u and v are sums of corners. */
META_FUNCTION T FN(crossing)(T e, T compression, T u, T v)
{
    const T c = FN(sound)(e), a = ABS(u), b = ABS(v), flow = a > b ? a : b;
    return 1 / (c + 2 * FN(viscosity)(compression, c) + (T)0.25 * flow);
}
#define CROSSING(e) FN(crossing)(e, (T)-0.5 * (ACROSS_X(u) + ACROSS_Y(v)), CORNERS(u), CORNERS(v))

/* The least of it, and of which cell. Steps get it from euler_finish, faster without the cell. */
#define euler_limit_ARGS(A)                                                                        \
    A(IN, T, e, CELL) A(IN, T, u, CELL_NODES) A(IN, T, v, CELL_NODES) A(MIN_AT, T, least)
META_CELLS(euler_limit)
{
    LOWER(least, CROSSING(ON(e)));
}

/* Pressure after half a step, by half of the work p dV, and viscosity. */
#define euler_press_ARGS(A)                                                                        \
    A(OUT, T, w) A(IN, T, rho, CELL) A(IN, T, e, CELL) A(IN, T, u, CELL_NODES)                     \
    A(IN, T, v, CELL_NODES) A(VALUE, T, r)
META_CELLS(euler_press)
{
    const T grows = (T)0.5 * (ACROSS_X(u) + ACROSS_Y(v)), half = (T)0.5 * r * grows;
    const T p = (T)(GAMMA - 1) * ON(rho) * ON(e);
    const T q = ON(rho) * -grows * FN(viscosity)(-grows, FN(sound)(ON(e)));
    ON(w) = (p - (T)(GAMMA - 1) * (p + q) * half) / (1 + half) + q;
}

/* Velocities after the step, by the pressures around a node, whose mass is a quarter of each cell. */
#define euler_accelerate_ARGS(A)                                                                   \
    A(OUT, T, u1) A(OUT, T, v1) A(IN, T, u, CELL) A(IN, T, v, CELL) A(IN, T, w, NODE_CELLS)        \
    A(IN, T, rho, NODE_CELLS) A(VALUE, T, r)
META_CELLS(euler_accelerate)
{
    const T by = 2 * r / AROUND(rho); /* half an edge over a quarter of the sum */
    const T here = AT2(w, 0, 0), left = AT2(w, -1, 0), below = AT2(w, 0, -1), last = AT2(w, -1, -1);
    ON(u1) = ON(u) - by * ((here + below) - (left + last));
    ON(v1) = ON(v) - by * ((here + left) - (below + last));
}

/* The step's work, by the mean of old and new velocities: with them the cells lose what nodes gain. Volumes swept
 * by the low faces, and the density in the volume that the cell has then. */
#define euler_lagrange_ARGS(A)                                                                     \
    A(INOUT, T, e) A(OUT, T, d) A(OUT, T, fx) A(OUT, T, fy) A(IN, T, rho, CELL) A(IN, T, w, CELL)  \
    A(IN, T, u, CELL_NODES) A(IN, T, v, CELL_NODES) A(IN, T, u1, CELL_NODES)                       \
    A(IN, T, v1, CELL_NODES) A(VALUE, T, r)
#define MEAN(a, x, y) (AT2(a, x, y) + AT2(a##1, x, y)) /* twice */
META_CELLS(euler_lagrange)
{
    const T by = (T)0.25 * r;
    const T west = by * (MEAN(u, 0, 0) + MEAN(u, 0, 1)), east = by * (MEAN(u, 1, 0) + MEAN(u, 1, 1));
    const T south = by * (MEAN(v, 0, 0) + MEAN(v, 1, 0)), north = by * (MEAN(v, 0, 1) + MEAN(v, 1, 1));
    const T grows = (east - west) + (north - south), mass = ON(rho);
    ON(e) -= ON(w) * grows / mass;
    ON(d) = mass / (1 + grows);
    ON(fx) = west;
    ON(fy) = south;
}

/* ------------------------------------------------------------------ the remap */

/* What flows through a face has the value of the cell that it comes from, with van Leer's monotonic slope there
 * (J. Comput. Phys. 23, 1977; 32, 1979), at the middle of the part that leaves: four values along the sweep,
 * whether the flow goes up, and the share that stays. As elsewhere, values are computed first and chosen then, so
 * that the loop over cells becomes vector code. */
META_FUNCTION T FN(upstream)(T a, T b, T c, T d, int up, T stays)
{
    const T below = b - a, rise = c - b, above = d - c;
    const T at = up ? b : c, behind = up ? below : above, sum = rise + behind;
    const T one = ABS(rise), other = ABS(behind), mean = (T)0.25 * ABS(sum);
    const T lesser = LEAST(one, other), half = LEAST(lesser, mean);
    const T most = stays * half, change = rise * behind > 0 ? most : 0;
    return at + ((sum > 0) == up ? change : -change); /* `half` of the slope between two cells */
}

#define ALONG(a, n, X, Y) AT2(a, (n) * (X), (n) * (Y)) /* n cells away along the sweep */

/* Mass that flows through a face, and its specific energy. */
#define FLUX_ARGS(A, NEAR)                                                                         \
    A(OUT, T, mf) A(OUT, T, ef) A(IN, T, f, CELL) A(IN, T, rho, NEAR) A(IN, T, d, NEAR)            \
    A(IN, T, e, NEAR)
#define UPSTREAM(a, X, Y, stays)                                                                   \
    FN(upstream)(ALONG(a, -2, X, Y), ALONG(a, -1, X, Y), ON(a), ALONG(a, 1, X, Y), up, stays)
#define FLUX(X, Y)                                                                                 \
    const T volume = ON(f), below = ALONG(rho, -1, X, Y), above = ON(rho);                         \
    const T d_below = ALONG(d, -1, X, Y), d_above = ON(d);                                         \
    const int up = volume > 0;                                                                     \
    const T per_mass = 1 / (up ? below : above), density = up ? d_below : d_above;                 \
    const T mass = volume * UPSTREAM(d, X, Y, 1 - ABS(volume) * density * per_mass);               \
    ON(ef) = UPSTREAM(e, X, Y, 1 - ABS(mass) * per_mass);                                          \
    ON(mf) = mass;
#define euler_flux_x_ARGS(A) FLUX_ARGS(A, SIDES2(2, 1, 0, 0))
META_CELLS(euler_flux_x) { FLUX(1, 0) }
#define euler_flux_y_ARGS(A) FLUX_ARGS(A, SIDES2(0, 0, 2, 1))
META_CELLS(euler_flux_y) { FLUX(0, 1) }

/* Velocities after a sweep, with the mean of the mass fluxes around (Benson, Comput. Methods Appl. Mech. Engrg.
 * 99, 1992), and the kinetic energy that the mean velocity lacks (DeBar, UCIR-760, 1974). All are changes of what
 * was there: where nothing flows, no bit changes. */
#define NODES_ARGS(A, FLUXES, CELLS, NODES)                                                        \
    A(OUT, T, u1) A(OUT, T, v1) A(OUT, T, heat) A(IN, T, mf, FLUXES) A(IN, T, rho, CELLS)          \
    A(IN, T, u, NODES) A(IN, T, v, NODES)
#define PAIR(a, n, X, Y) /* of cells or faces beside the line of nodes */                          \
    (ALONG(a, n, X, Y) + AT2(a, (n) * (X) - (Y), (n) * (Y) - (X)))
#define LINE_UPSTREAM(a, n, X, Y, up, stays) /* at the middle of the cells above node n */         \
    FN(upstream)(ALONG(a, (n) - 1, X, Y), ALONG(a, n, X, Y), ALONG(a, (n) + 1, X, Y),              \
                 ALONG(a, (n) + 2, X, Y), up, stays)
#define NODES(X, Y)                                                                                \
    const T far_below = PAIR(rho, -2, X, Y), cells_below = PAIR(rho, -1, X, Y);                    \
    const T cells_above = PAIR(rho, 0, X, Y), far_above = PAIR(rho, 1, X, Y);                      \
    const T in = (T)0.25 * (PAIR(mf, -1, X, Y) + PAIR(mf, 0, X, Y));                               \
    const T out = (T)0.25 * (PAIR(mf, 0, X, Y) + PAIR(mf, 1, X, Y));                               \
    const T below = far_below + cells_below, here = cells_below + cells_above; /* 4 masses */      \
    const T above = cells_above + far_above;                                                       \
    const int in_up = in > 0, out_up = out > 0;                                                    \
    const T in_stays = 1 - 4 * ABS(in) / (in_up ? below : here);                                   \
    const T out_stays = 1 - 4 * ABS(out) / (out_up ? here : above);                                \
    const T mass = (T)0.25 * here + (in - out), per_mass = 1 / mass;                               \
    const T u_here = ON(u), v_here = ON(v);                                                        \
    const T du_in = LINE_UPSTREAM(u, -1, X, Y, in_up, in_stays) - u_here;                          \
    const T dv_in = LINE_UPSTREAM(v, -1, X, Y, in_up, in_stays) - v_here;                          \
    const T du_out = LINE_UPSTREAM(u, 0, X, Y, out_up, out_stays) - u_here;                        \
    const T dv_out = LINE_UPSTREAM(v, 0, X, Y, out_up, out_stays) - v_here;                        \
    const T du = (in * du_in - out * du_out) * per_mass;                                           \
    const T dv = (in * dv_in - out * dv_out) * per_mass;                                           \
    ON(u1) = u_here + du;                                                                          \
    ON(v1) = v_here + dv;                                                                          \
    ON(heat) = (T)0.5 * ((in * (du_in * du_in + dv_in * dv_in) -                                   \
                          out * (du_out * du_out + dv_out * dv_out)) -                             \
                         mass * (du * du + dv * dv));
#define euler_nodes_x_ARGS(A)                                                                      \
    NODES_ARGS(A, SIDES2(1, 1, 1, 0), SIDES2(2, 1, 1, 0), SIDES2(2, 2, 0, 0))
META_CELLS(euler_nodes_x) { NODES(1, 0) }
#define euler_nodes_y_ARGS(A)                                                                      \
    NODES_ARGS(A, SIDES2(1, 0, 1, 1), SIDES2(1, 0, 2, 1), SIDES2(0, 0, 2, 2))
META_CELLS(euler_nodes_y) { NODES(0, 1) }

/* Mass and energy of cells after a sweep, with a quarter of the heat of each corner. */
#define CELLS_ARGS(A, NEXT)                                                                        \
    A(INOUT, T, rho) A(INOUT, T, e) A(IN, T, mf, NEXT) A(IN, T, ef, NEXT) A(IN, T, heat, CELL_NODES)
#define CELLS(X, Y)                                                                                \
    const T in = ON(mf), out = ALONG(mf, 1, X, Y), mass = ON(rho) + (in - out), was = ON(e);       \
    const T flow = in * (ON(ef) - was) - out * (ALONG(ef, 1, X, Y) - was);                         \
    const T now = was + (flow + (T)0.25 * CORNERS(heat)) / mass;                                   \
    ON(rho) = mass;                                                                                \
    ON(e) = now;

/* After the first sweep a cell's volume lacks what the second one, along the other axis, sweeps. */
#define euler_cells_x_ARGS(A)                                                                      \
    CELLS_ARGS(A, SIDES2(0, 1, 0, 0)) A(OUT, T, d) A(IN, T, f, SIDES2(0, 0, 0, 1))
META_CELLS(euler_cells_x) { CELLS(1, 0) ON(d) = mass / (1 + (AT2(f, 0, 1) - ON(f))); }
#define euler_cells_y_ARGS(A)                                                                      \
    CELLS_ARGS(A, SIDES2(0, 0, 0, 1)) A(OUT, T, d) A(IN, T, f, SIDES2(0, 1, 0, 0))
META_CELLS(euler_cells_y) { CELLS(0, 1) ON(d) = mass / (1 + (AT2(f, 1, 0) - ON(f))); }

/* After the second one it is 1, and the next step's limit is known. */
#define FINISH_ARGS(A, NEXT)                                                                       \
    CELLS_ARGS(A, NEXT) A(IN, T, u, CELL_NODES) A(IN, T, v, CELL_NODES) A(MIN, T, least)
#define euler_finish_x_ARGS(A) FINISH_ARGS(A, SIDES2(0, 1, 0, 0))
META_CELLS(euler_finish_x) { CELLS(1, 0) LOWER(least, CROSSING(now)); }
#define euler_finish_y_ARGS(A) FINISH_ARGS(A, SIDES2(0, 0, 0, 1))
META_CELLS(euler_finish_y) { CELLS(0, 1) LOWER(least, CROSSING(now)); }

#include META_AGAIN
