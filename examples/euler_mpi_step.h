/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of euler_mpi.c: arrays, ghosts and loops. See euler_step.h for what the parts of a step
 * are, and euler.kernel.h for where they are from. */
#define _DEFAULT_SOURCE /* madvise() */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GHOSTS = 4, STATE = 4 };
static const double GAMMA = 1.4, LINEAR = 0.1, QUADRATIC = 1.0, COURANT = 0.5;

static MPI_Comm cart;
static int rank, ranks, dims[2], at[2], beyond[2][2]; /* beyond: the neighbours along an axis */
static int64_t grid[2], first[2], cells[2], pitch, elements;
static double edge, reached; /* at which time the steps are */
static double crossing;      /* the least time to cross a cell, of this rank and then of all */
static int steps;
static double *block; /* of all arrays: */
static double *rho, *e, *d, *w, *u, *v, *u1, *v1, *heat, *fx, *fy, *mf, *ef;
static double *out[2], *in[2]; /* messages to and from both sides */

/* All cells c of a box around this rank's, which is `x` and `y` cells wider at each side and so
 * many more at the high ones; threads share its rows. */
#define PRAGMA(text) _Pragma(#text)
#define FOR_BOX(x, y, more_x, more_y, ...)                                                         \
    PRAGMA(omp for schedule(static))                                                               \
    for (int64_t row = GHOSTS - (y); row < GHOSTS + cells[1] + (y) + (more_y); ++row) {            \
        const int64_t begin_c = row * pitch + GHOSTS - (x);                                        \
        const int64_t end_c = begin_c + 2 * (x) + (more_x) + cells[0];                             \
        PRAGMA(omp simd __VA_ARGS__)                                                               \
        for (int64_t c = begin_c; c < end_c; ++c)
#define END_BOX }

/* ------------------------------------------------------------------ ghosts */

/* Layers of `a`, one of the fields, for a message; nodes have one more, which both sides own. */
static double *pack(double *to, double *a, int axis, int64_t layer, int64_t rows, int is_out)
{
    const int64_t across = axis ? pitch : 1, along = axis ? 1 : pitch;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t k = 0; k < GHOSTS; ++k) {
            double *cell = &a[(layer + k) * across + row * along];
            if (is_out) *to++ = *cell;
            else *cell = *to++;
        }
    return to;
}

/* Ghosts along x, then along y with the ghosts along x: by messages, or mirrored at walls. */
static void exchange(void)
{
    double *const field[STATE] = {rho, e, u, v};
    double least = crossing;
    MPI_Request reduction, request[4];
    MPI_Status status[4];
    MPI_Iallreduce(&least, &crossing, 1, MPI_DOUBLE, MPI_MIN, cart, &reduction);
    for (int axis = 0; axis < 2; ++axis) {
        const int64_t n = cells[axis], rows = cells[1 - axis] + 2 * GHOSTS;
        const int64_t across = axis ? pitch : 1, along = axis ? 1 : pitch;
        const int count = (int)((4 * rows + 2) * GHOSTS);
        for (int high = 0; high < 2; ++high) {
            MPI_Irecv(in[high], count, MPI_DOUBLE, beyond[axis][high], 1 - high, cart,
                      &request[high]);
            double *to = out[high];
            for (int f = 0; f < STATE && beyond[axis][high] != MPI_PROC_NULL; ++f)
                to = pack(to, field[f], axis, high ? n : GHOSTS + (f >= 2), rows + (f >= 2), 1);
            MPI_Isend(out[high], count, MPI_DOUBLE, beyond[axis][high], high, cart,
                      &request[2 + high]);
        }
        MPI_Waitall(4, request, status);
        for (int high = 0; high < 2; ++high) {
            double *to = in[high];
            if (beyond[axis][high] != MPI_PROC_NULL) {
                for (int f = 0; f < STATE; ++f)
                    to = pack(to, field[f], axis, high ? n + GHOSTS + (f >= 2) : 0, rows + (f >= 2),
                              0);
                continue;
            }
            const int64_t outwards = high ? across : -across;
            const int64_t node = (high ? GHOSTS + n : GHOSTS) * across,
                          cell = high ? node - across : node;
            for (int f = 0; f < STATE; ++f) {
                const int64_t from = f >= 2 ? node - outwards : cell;
                const int64_t to_first = f >= 2 ? node + outwards : cell + outwards;
                const double sign = f == 2 + axis ? -1 : 1;
                for (int64_t row = 0; row < rows + (f >= 2); ++row)
                    for (int64_t k = 0; k < GHOSTS; ++k)
                        field[f][to_first + k * outwards + row * along] =
                            sign * field[f][from - k * outwards + row * along];
            }
        }
    }
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
}

/* ------------------------------------------------------------------ a step */

#define CORNERS(a)  ((a[c] + a[c + pitch + 1]) + (a[c + 1] + a[c + pitch]))
#define ACROSS_X(a) ((a[c + 1] + a[c + pitch + 1]) - (a[c] + a[c + pitch]))
#define ACROSS_Y(a) ((a[c + pitch] + a[c + pitch + 1]) - (a[c] + a[c + 1]))

static inline double viscosity(double compression, double sound)
{
    const double compressed = LINEAR * sound + QUADRATIC * compression;
    return compression > 0 ? compressed : 0;
}

static inline double cross_time(double energy, double compression, double uu, double vv)
{
    const double sound = sqrt(GAMMA * (GAMMA - 1) * energy), a = fabs(uu), b = fabs(vv);
    return 1 / (sound + 2 * viscosity(compression, sound) + 0.25 * (a > b ? a : b));
}

static inline double upstream(double q0, double q1, double q2, double q3, int up, double stays)
{
    const double below = q1 - q0, rise = q2 - q1, above = q3 - q2;
    const double from = up ? q1 : q2, behind = up ? below : above, sum = rise + behind;
    const double one = fabs(rise), other = fabs(behind), mean = 0.25 * fabs(sum);
    const double lesser = one < other ? one : other, half = lesser < mean ? lesser : mean;
    const double most = stays * half, change = rise * behind > 0 ? most : 0;
    return from + ((sum > 0) == up ? change : -change);
}

static void move(double r)
{
    FOR_BOX(4, 4, 0, 0, )
    {
        const double grows = 0.5 * (ACROSS_X(u) + ACROSS_Y(v)), half = 0.5 * r * grows;
        const double p = (GAMMA - 1) * rho[c] * e[c];
        const double q = rho[c] * -grows * viscosity(-grows, sqrt(GAMMA * (GAMMA - 1) * e[c]));
        w[c] = (p - (GAMMA - 1) * (p + q) * half) / (1 + half) + q;
    }
    END_BOX
    FOR_BOX(3, 3, 1, 1, )
    {
        const int64_t below = c - pitch;
        const double by = 2 * r / ((rho[c] + rho[below - 1]) + (rho[c - 1] + rho[below]));
        u1[c] = u[c] - by * ((w[c] + w[below]) - (w[c - 1] + w[below - 1]));
        v1[c] = v[c] - by * ((w[c] + w[c - 1]) - (w[below] + w[below - 1]));
    }
    END_BOX
    FOR_BOX(3, 3, 1, 1, )
    {
        const int64_t n = c + pitch;
        const double by = 0.25 * r;
        const double west = by * ((u[c] + u1[c]) + (u[n] + u1[n]));
        const double east = by * ((u[c + 1] + u1[c + 1]) + (u[n + 1] + u1[n + 1]));
        const double south = by * ((v[c] + v1[c]) + (v[c + 1] + v1[c + 1]));
        const double north = by * ((v[n] + v1[n]) + (v[n + 1] + v1[n + 1]));
        const double grows = (east - west) + (north - south);
        e[c] -= w[c] * grows / rho[c];
        d[c] = rho[c] / (1 + grows);
        fx[c] = west;
        fy[c] = south;
    }
    END_BOX
}

/* Along the axis with stride s, beside which t is the other one. */
static inline __attribute__((always_inline)) void sweep_along(int axis, int second,
                                                              const double *from_u,
                                                              const double *from_v, double *to_u,
                                                              double *to_v)
{
    const int64_t s = axis ? pitch : 1, t = axis ? 1 : pitch;
    const int more = second ? 1 : 3, x = axis ? more : 1, y = axis ? 1 : more;
    const double *f = axis ? fy : fx, *other = axis ? fx : fy;
    FOR_BOX(x, y, !axis, axis, )
    {
        /* Loaded before the choice: what is loaded on a condition takes masked loads. */
        const double volume = f[c], rho_below = rho[c - s], rho_above = rho[c];
        const double d_below = d[c - s], d_above = d[c];
        const int up = volume > 0;
        const double per_mass = 1 / (up ? rho_below : rho_above), density = up ? d_below : d_above;
        const double stays = 1 - fabs(volume) * density * per_mass;
        const double mass = volume * upstream(d[c - 2 * s], d_below, d_above, d[c + s], up, stays);
        ef[c] = upstream(e[c - 2 * s], e[c - s], e[c], e[c + s], up, 1 - fabs(mass) * per_mass);
        mf[c] = mass;
    }
    END_BOX
    FOR_BOX(axis ? more - 1 : 0, axis ? 0 : more - 1, 1, 1, )
    {
#define PAIR(a, n) (a[c + (n)*s] + a[c + (n)*s - t])
#define LINE_UPSTREAM(a, n, up, stays)                                                             \
    upstream(a[c + ((n)-1) * s], a[c + (n)*s], a[c + ((n) + 1) * s], a[c + ((n) + 2) * s], up,     \
             stays)
        const double far_below = PAIR(rho, -2), cells_below = PAIR(rho, -1);
        const double cells_above = PAIR(rho, 0), far_above = PAIR(rho, 1);
        const double inflow = 0.25 * (PAIR(mf, -1) + PAIR(mf, 0)),
                     outflow = 0.25 * (PAIR(mf, 0) + PAIR(mf, 1));
        const double below = far_below + cells_below, here = cells_below + cells_above,
                     above = cells_above + far_above;
        const int in_up = inflow > 0, out_up = outflow > 0;
        const double in_stays = 1 - 4 * fabs(inflow) / (in_up ? below : here);
        const double out_stays = 1 - 4 * fabs(outflow) / (out_up ? here : above);
        const double mass = 0.25 * here + (inflow - outflow), per_mass = 1 / mass;
        const double u_here = from_u[c], v_here = from_v[c];
        const double du_in = LINE_UPSTREAM(from_u, -1, in_up, in_stays) - u_here;
        const double dv_in = LINE_UPSTREAM(from_v, -1, in_up, in_stays) - v_here;
        const double du_out = LINE_UPSTREAM(from_u, 0, out_up, out_stays) - u_here;
        const double dv_out = LINE_UPSTREAM(from_v, 0, out_up, out_stays) - v_here;
        const double du = (inflow * du_in - outflow * du_out) * per_mass;
        const double dv = (inflow * dv_in - outflow * dv_out) * per_mass;
        to_u[c] = u_here + du;
        to_v[c] = v_here + dv;
        heat[c] = 0.5 * ((inflow * (du_in * du_in + dv_in * dv_in) -
                          outflow * (du_out * du_out + dv_out * dv_out)) -
                         mass * (du * du + dv * dv));
    }
    END_BOX
#define CELLS                                                                                      \
    const double mass = rho[c] + (mf[c] - mf[c + s]), was = e[c];                                  \
    const double flow = mf[c] * (ef[c] - was) - mf[c + s] * (ef[c + s] - was);                     \
    const double now = was + (flow + 0.25 * CORNERS(heat)) / mass;                                 \
    rho[c] = mass;                                                                                 \
    e[c] = now;
    if (!second) {
        FOR_BOX(x, y, 0, 0, )
        {
            CELLS
            d[c] = mass / (1 + (other[c + t] - other[c]));
        }
        END_BOX
    } else {
        double least = INFINITY;
        FOR_BOX(0, 0, 0, 0, reduction(min : least))
        {
            CELLS
            const double time = cross_time(now, -0.5 * (ACROSS_X(to_u) + ACROSS_Y(to_v)),
                                           CORNERS(to_u), CORNERS(to_v));
            least = time < least ? time : least;
        }
        END_BOX
#pragma omp critical
        crossing = least < crossing ? least : crossing;
    }
}

/* With strides that the compiler knows where they are 1. */
static void sweep(int axis, int second)
{
    if (axis && second) sweep_along(1, 1, u, v, u1, v1);
    else if (second) sweep_along(0, 1, u, v, u1, v1);
    else if (axis) sweep_along(1, 0, u1, v1, u, v);
    else sweep_along(0, 0, u1, v1, u, v);
}

/* One step, or what is left of it until `end`. */
static void advance(double end)
{
    const double safe = COURANT * edge * crossing, dt = safe < end - reached ? safe : end - reached;
    crossing = INFINITY;
#pragma omp parallel
    {
        move(dt / edge);
        sweep(steps % 2, 0);
        sweep(!(steps % 2), 1);
    }
    double *swap_u = u, *swap_v = v;
    u = u1, u1 = swap_u;
    v = v1, v1 = swap_v;
    reached = safe < end - reached ? reached + dt : end;
    steps += 1;
    exchange();
}

/* ------------------------------------------------------------------ begin and end */

/* All arrays in one block, a few cache lines apart from where they would alias in the low 12 bits
 * of addresses, with the first own cell of a row at the beginning of a cache line; set to 0 by the
 * threads that compute on them. Huge pages spare misses of the TLB, since a loop goes through up to
 * ten arrays at once. */
static void allocate(double **const *all, int arrays)
{
    const size_t huge = 2 << 20;
    const int64_t apart = (elements + 511) / 512 * 512 + 72;
    const size_t bytes = (sizeof(double) * (size_t)(arrays * apart) + huge - 1) / huge * huge;
    block = aligned_alloc(huge, bytes);
    if (!block) MPI_Abort(cart, 1);
#ifdef MADV_HUGEPAGE
    madvise(block, bytes, MADV_HUGEPAGE);
#endif
    for (int n = 0; n < arrays; ++n) {
        double *const a = *all[n] = block + n * apart + 8 - GHOSTS;
#pragma omp parallel for schedule(static)
        for (int64_t row = 0; row < elements / pitch; ++row)
            memset(a + row * pitch, 0, (size_t)pitch * sizeof *a);
    }
}

static void set_gases(const char *problem)
{
    const int blast = strcmp(problem, "blast") == 0, axis = strcmp(problem, "sod-y") == 0;
    int64_t low[2] = {0, 0}, high[2] = {grid[0], grid[1]};
    for (int a = 0; a < 2; ++a)
        if (blast) low[a] = (int64_t)((double)grid[a] * 0.45), high[a] = grid[a] - low[a];
        else if (a == axis) high[a] -= (int64_t)((double)grid[a] * 0.5);
    for (int64_t y = 0; y < cells[1]; ++y)
        for (int64_t x = 0; x < cells[0]; ++x) {
            const int64_t c = (y + GHOSTS) * pitch + x + GHOSTS, X = x + first[0], Y = y + first[1];
            const int inside = X >= low[0] && X < high[0] && Y >= low[1] && Y < high[1];
            rho[c] = blast || inside ? 1 : 0.125;
            e[c] = blast ? inside ? 25 : 0.25 : inside ? 2.5 : 2;
        }
    crossing = 1 / sqrt(GAMMA * (GAMMA - 1) * (blast ? 25 : 2.5));
}

/* Share the cells of a problem out to the ranks. @return whether each has as many as ghosts */
static int set_up(const char *problem, int64_t x, int64_t y)
{
    int open[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    dims[0] = dims[1] = 0;
    MPI_Dims_create(ranks, 2, dims);
    grid[0] = x, grid[1] = y;
    const int most = dims[0];
    if (x < y) dims[0] = dims[1], dims[1] = most;
    if (x < GHOSTS * dims[0] || y < GHOSTS * dims[1]) return 0;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &cart);
    MPI_Cart_coords(cart, rank, 2, at);
    for (int a = 0; a < 2; ++a) {
        first[a] = grid[a] * at[a] / dims[a];
        cells[a] = grid[a] * (at[a] + 1) / dims[a] - first[a];
        MPI_Cart_shift(cart, a, 1, &beyond[a][0], &beyond[a][1]);
    }
    edge = 1 / (double)(x > y ? x : y);
    pitch = (cells[0] + 2 * GHOSTS + 2 + 7) / 8 * 8;
    if (pitch % 512 == 0) pitch += 8; /* rows are not in the same sets of a cache */
    elements = pitch * (cells[1] + 2 * GHOSTS + 2);
    double **const all[] = {&rho, &e, &d, &w, &u, &v, &u1, &v1, &heat, &fx, &fy, &mf, &ef};
    allocate(all, sizeof all / sizeof *all);
    for (int side = 0; side < 2; ++side) {
        const int64_t longer = cells[0] > cells[1] ? cells[0] : cells[1];
        const size_t bytes = sizeof(double) * (size_t)((4 * (longer + 2 * GHOSTS) + 2) * GHOSTS);
        out[side] = malloc(bytes), in[side] = malloc(bytes);
        if (!out[side] || !in[side]) MPI_Abort(cart, 1);
    }
    set_gases(problem);
    reached = 0;
    steps = 0;
    exchange();
    return 1;
}

static void tear_down(void)
{
    free(block);
    for (int side = 0; side < 2; ++side) free(out[side]), free(in[side]);
    MPI_Comm_free(&cart);
}
