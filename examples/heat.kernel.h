/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat conduction, explicit in time, and a boundary condition, which runs on a slab of ghost cells. */
#include <meta_kernel.h>

/* One time step; k is the diffusion number. */
#define heat_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(MAX, T, change)
META_CELLS(heat)
{
    const T here = AT(now, 0, 0, 0);
    const T change_here = k * (AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) +
                               AT(now, 0, 1, 0) + AT(now, 0, 0, -1) + AT(now, 0, 0, 1) - 6 * here);
    AT(next, 0, 0, 0) = here + change_here;
    RAISE(change, ABS(change_here));
}

/* A wall of a fixed temperature at the low end of x, half a cell before the first cells: the ghost
 * lies on the parabola through the wall and two cells. `inner` is the array of the ghosts, passed
 * from one cell further along x. */
#define fixed_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, SIDES(0, 1, 0, 0, 0, 0)) A(VALUE, T, wall)
META_CELLS(fixed)
{
    AT(ghost, 0, 0, 0) = (8 * wall - 6 * AT(inner, 0, 0, 0) + AT(inner, 1, 0, 0)) / 3;
}

#include META_AGAIN
