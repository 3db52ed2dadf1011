/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of euler.c: this rank's part of the grid, its arrays, and where the kernels run. Who
 * includes it defines TRY(call), what to do if a call of libmeta fails, and sets rank and ranks.
 *
 * Cells have density and energy, nodes velocities, faces what flows through them. A step moves the
 * cells with the flow, half a step ahead for the pressure, as in staggered schemes since von
 * Neumann and Richtmyer (J. Appl. Phys. 21, 1950), and remaps the flow to the grid along one axis
 * and then the other, which take turns. Mass and total energy are conserved but for rounding.
 *
 * Arrays have GHOSTS layers of ghosts, as many as a whole step reaches: so a step has one exchange,
 * and each kernel runs on a layer less or so than the last one. What ranks compute twice are the
 * same bits, so results depend neither on the ranks nor on where the grid is cut. */
#include "euler.kernel.h"

#include <meta_comm.h>
#include <string.h>

enum { GHOSTS = 4 };
static int rank, ranks;
static const double COURANT = 0.5; /* of the time that a signal needs to cross a cell */

typedef struct problem {
    const char *name;
    double below[2], above[2]; /* parts of the grid's sides that a box of another gas leaves out */
    double density[2], energy[2]; /* outside, inside */
    double time;                  /* at which it ends by itself */
} problem;

/* Sod, J. Comput. Phys. 27, 1978: pressures 1 and 0.1. */
enum { SOD_X, SOD_Y, BLAST, PROBLEMS };
static const problem problems[PROBLEMS] = {
    {"sod-x", {0, 0}, {0.5, 0}, {0.125, 1}, {2, 2.5}, 0.2},
    {"sod-y", {0, 0}, {0, 0.5}, {0.125, 1}, {2, 2.5}, 0.2},
    {"blast", {0.45, 0.45}, {0.45, 0.45}, {1, 1}, {0.25, 25}, 0.1},
};

/* ------------------------------------------------------------------ this rank's part */

enum { RHO, E, D, W, U, V, U1, V1, HEAT, FX, FY, MF, EF, ARRAYS, STATE = 4 };
static const int state[STATE] = {RHO, E, U, V}; /* what a step begins with */

typedef struct flow {
    const problem *problem;
    int64_t grid[2]; /* cells of all ranks */
    double end;      /* of the last step */
    MPI_Comm cart;
    int64_t first[2], cells[2]; /* this rank's in the whole grid */
    int wall[2][2];             /* whether the low and the high side of an axis are walls */
    double edge;                /* of a cell */
    meta_grid_field field[ARRAYS];
    double *a[ARRAYS]; /* the arrays */
    meta_box own;      /* its cells in the arrays */
    meta_halo halo;
    int64_t step;
    double time;
    meta_extreme_f64 least; /* time to cross a cell, of this rank's cells */
    double crossing;        /* of all ranks' */
} flow;

/* The own cells and so many more at either side of an axis; of nodes, one more at high sides. */
static meta_box widened(const flow *f, int x, int y, int nodes)
{
    meta_box box = f->own;
    box.start[0] -= x, box.end[0] += x + nodes;
    box.start[1] -= y, box.end[1] += y + nodes;
    return box;
}

/* Share the cells out to the ranks: the longer axis to more of them, if any.
 * @return 0, or "NX" or "NY" where ranks would have less cells than ghosts */
static const char *share_cells(flow *f)
{
    int dims[2] = {0, 0}, open[2] = {0, 0}, at[2];
    MPI_Dims_create(ranks, 2, dims);
    const int most = dims[0];
    if (f->grid[0] < f->grid[1]) dims[0] = dims[1], dims[1] = most;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &f->cart);
    MPI_Cart_coords(f->cart, rank, 2, at);
    for (int d = 0; d < 2; ++d) {
        if (f->grid[d] < GHOSTS * dims[d]) return d ? "NY" : "NX";
        f->first[d] = f->grid[d] * at[d] / dims[d];
        f->cells[d] = f->grid[d] * (at[d] + 1) / dims[d] - f->first[d];
        f->wall[d][0] = at[d] == 0, f->wall[d][1] = at[d] == dims[d] - 1;
    }
    f->edge = 1 / (double)(f->grid[0] > f->grid[1] ? f->grid[0] : f->grid[1]);
    return NULL;
}

#define FIELD(label, x, y) ((meta_grid_field){.name = label, .type = META_F64, .stagger = {x, y}})
static void make_grid(flow *f)
{
    const int ghosts[2] = {GHOSTS, GHOSTS};
    const meta_grid_field fields[ARRAYS] = {
        FIELD("density", 0, 0),       FIELD("energy", 0, 0),    FIELD("moved density", 0, 0),
        FIELD("pressure", 0, 0),      FIELD("u", 1, 1),         FIELD("v", 1, 1),
        FIELD("new u", 1, 1),         FIELD("new v", 1, 1),     FIELD("heat", 1, 1),
        FIELD("flux in x", 1, 0),     FIELD("flux in y", 0, 1), FIELD("mass flux", 1, 1),
        FIELD("energy of flux", 1, 1)};
    memcpy(f->field, fields, sizeof fields);
    TRY(meta_grid_family(f->field, ARRAYS, &f->own, 2, f->cells, ghosts, ghosts));
    for (int n = 0; n < ARRAYS; ++n) {
        f->a[n] = f->field[n].ptr;
        /* At the rim kernels compute from what no kernel has set, and nothing depends on that. */
        const int64_t elements = f->field[n].box.size[0] * f->field[n].box.size[1];
        TRY(meta_fill(f->a[n], elements, &(double){0}, META_F64, META_ASYNC));
    }
    meta_halo_field travels[STATE];
    for (int n = 0; n < STATE; ++n)
        travels[n] = (meta_halo_field){META_F64, f->field[state[n]].box};
    meta_halo_desc desc = META_HALO_DESC(f->cart, f->own, GHOSTS, META_HALO_ALL, STATE, META_F64);
    desc.field = travels;
    TRY(meta_halo_create(&f->halo, &desc));
}

static void begin(flow *f)
{
    const problem *p = f->problem;
    euler_gases gas = {.density = {p->density[0], p->density[1]},
                       .energy = {p->energy[0], p->energy[1]}};
    for (int d = 0; d < 2; ++d) {
        const int64_t cells = f->grid[d], at = f->own.start[d] - f->first[d];
        gas.low[d] = at + (int64_t)((double)cells * p->below[d]);
        gas.high[d] = at + cells - (int64_t)((double)cells * p->above[d]);
    }
    TRY(euler_begin_f64(&f->own, f->a[RHO], f->a[E], gas, META_ASYNC));
}

/* ------------------------------------------------------------------ a step */

/* Set the ghosts behind walls: in y behind those in x, on the ghosts of which they depend. */
static void set_walls(flow *f)
{
    const int64_t pitch = f->own.size[0];
    for (int d = 0; d < 2; ++d) {
        const int64_t layer = d ? pitch : 1, along = d ? 1 : pitch;
        const int64_t rows = f->cells[1 - d] + 2 * GHOSTS;
        const meta_box box = {2, {GHOSTS, rows + 1}, {0, 0}, {GHOSTS, rows + 1}};
        for (int high = 0; high < 2; ++high) {
            const int64_t node = (high ? f->own.end[d] : f->own.start[d]) * layer;
            const int64_t cell = high ? node - layer : node, outward = high ? layer : -layer;
            const euler_wall wall = {cell, node, outward, along, rows, d ? 1 : -1, d ? -1 : 1};
            if (f->wall[d][high])
                TRY(euler_wall_f64(&box, f->a[RHO], f->a[E], f->a[U], f->a[V], wall, META_ASYNC));
        }
    }
}

/* Call a kernel with arguments by name; of the axis, the one for x or for y. */
#define CALL(name, box, done, ...)                                                                 \
    TRY(name##_f64_with(box, &(name##_f64_arguments){__VA_ARGS__}, done))
#define CALL_ALONG(axis, name, box, done, ...)                                                     \
    if (axis) CALL(name##_y, box, done, __VA_ARGS__);                                              \
    else CALL(name##_x, box, done, __VA_ARGS__)

/* Move the cells with the flow, as far as `r` edges at speed 1; new velocities are U1 and V1. */
static void move(flow *f, double r)
{
    double **a = f->a;
    const meta_box cells = widened(f, 4, 4, 0), nodes = widened(f, 3, 3, 1);
    CALL(euler_press, &cells, META_ASYNC, .w = a[W], .rho = a[RHO], .e = a[E], .u = a[U], .v = a[V],
         .r = r);
    CALL(euler_accelerate, &nodes, META_ASYNC, .u1 = a[U1], .v1 = a[V1], .u = a[U], .v = a[V],
         .w = a[W], .rho = a[RHO], .r = r);
    /* The last row and column, which no cells have, are for low faces alone. */
    CALL(euler_lagrange, &nodes, META_ASYNC, .e = a[E], .d = a[D], .fx = a[FX], .fy = a[FY],
         .rho = a[RHO], .w = a[W], .u = a[U], .v = a[V], .u1 = a[U1], .v1 = a[V1], .r = r);
}

/* Sweep along `axis`: the first one from velocities U1 and V1 to U and V, the second one back. */
static void sweep(flow *f, int axis, int second)
{
    double **a = f->a, **from = second ? &a[U] : &a[U1], **to = second ? &a[U1] : &a[U];
    /* The first sweep serves the second one, which reads cells and nodes beyond the own ones. */
    const int more = second ? 1 : 3;
    const meta_box cells = axis ? widened(f, more, 1, 0) : widened(f, 1, more, 0);
    const meta_box nodes = axis ? widened(f, more - 1, 0, 1) : widened(f, 0, more - 1, 1);
    meta_box faces = cells;
    faces.end[axis] += 1;
    CALL_ALONG(axis, euler_flux, &faces, META_ASYNC, .mf = a[MF], .ef = a[EF],
               .f = a[axis ? FY : FX], .rho = a[RHO], .d = a[D], .e = a[E]);
    CALL_ALONG(axis, euler_nodes, &nodes, META_ASYNC, .u1 = to[0], .v1 = to[1], .heat = a[HEAT],
               .mf = a[MF], .rho = a[RHO], .u = from[0], .v = from[1]);
    if (!second) {
        CALL_ALONG(axis, euler_cells, &cells, META_ASYNC, .rho = a[RHO], .e = a[E], .mf = a[MF],
                   .ef = a[EF], .heat = a[HEAT], .d = a[D], .f = a[axis ? FX : FY]);
    } else {
        CALL_ALONG(axis, euler_finish, &f->own, NULL, .rho = a[RHO], .e = a[E], .mf = a[MF],
                   .ef = a[EF], .heat = a[HEAT], .u = to[0], .v = to[1], .least = &f->least.value);
    }
}

/* One step, with ghosts and the limit of all ranks' cells at its beginning. */
static void advance(flow *f)
{
    const double left = f->end - f->time, safe = COURANT * f->edge * f->crossing;
    const double dt = safe < left ? safe : left;
    const int axis = (int)(f->step % 2);
    move(f, dt / f->edge);
    sweep(f, axis, 0);
    sweep(f, !axis, 1);
    for (int n = U; n <= V; ++n) {
        double *swap = f->a[n];
        f->a[n] = f->a[n + 2], f->a[n + 2] = swap;
    }
    f->time = safe < left ? f->time + dt : f->end;
    f->step += 1;
}

/* Make ready for the next step, or a summary: the least of all ranks comes while ghosts travel. */
static void exchange(flow *f)
{
    TRY(meta_halo_start(f->halo, (void *[]){f->a[RHO], f->a[E], f->a[U], f->a[V]}));
    TRY(meta_allreduce(&f->crossing, &f->least.value, 1, META_MIN, META_F64, NULL));
    TRY(meta_halo_finish(f->halo, META_ASYNC));
    set_walls(f);
}

static void free_grid(flow *f)
{
    TRY(meta_halo_free(&f->halo));
    for (int n = 0; n < ARRAYS; ++n) TRY(meta_free(f->a[n]));
    MPI_Comm_free(&f->cart);
}
