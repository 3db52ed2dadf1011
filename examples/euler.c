/* SPDX-License-Identifier: BSD-3-Clause */
/* Shock tubes and a blast: compressible flow of an ideal gas in a rectangle with reflecting walls,
 * distributed over all ranks. Each rank computes on the device that META_MODE or META_RANK_MAP
 * gives it, by the kernels in euler.kernel.h. ./euler --help says how to call it.
 *
 * Cells have density and energy, nodes velocities, faces what flows through them. A step moves the
 * cells with the flow, half a step ahead for the pressure, as in the staggered schemes since von
 * Neumann and Richtmyer (J. Appl. Phys. 21, 1950), and remaps the flow to the grid, first along one
 * axis and then along the other, which take turns. Mass and total energy are conserved but for
 * rounding.
 *
 * Arrays have GHOSTS layers of ghosts, as many as a whole step reaches: so a step has one exchange,
 * and each kernel runs on a layer less or so than the last one. What ranks compute twice are the
 * same bits, so results depend neither on the ranks nor on where the grid is cut.
 *
 * euler_mpi.c computes the same in plain MPI and OpenMP. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "euler.kernel.h"

#include <errno.h>
#include <getopt.h>
#include <meta_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

/* Steps before UNTIMED are not timed: kernels are compiled. */
enum { GHOSTS = 4, UNTIMED = 4, WRONG_USAGE = 2 };
static const double COURANT = 0.5; /* of the time that a signal needs to cross a cell */

/* ------------------------------------------------------------------ the command line */

typedef struct problem {
    const char *name;
    double below[2], above[2]; /* parts of the grid's sides that a box of another gas leaves out */
    double density[2], energy[2]; /* outside, inside */
    double time;                  /* at which it ends by itself */
} problem;

/* Sod, J. Comput. Phys. 27, 1978: pressures 1 and 0.1. */
static const problem problems[] = {
    {"sod-x", {0, 0}, {0.5, 0}, {0.125, 1}, {2, 2.5}, 0.2},
    {"sod-y", {0, 0}, {0, 0.5}, {0.125, 1}, {2, 2.5}, 0.2},
    {"blast", {0.45, 0.45}, {0.45, 0.45}, {1, 1}, {0.25, 25}, 0.1},
};

typedef struct options {
    const problem *problem;
    int64_t cells[2], steps, log, snapshot;
    double time;
    const char *file, *restart, *density;
} options;

static const char usage[] =
    "usage: euler [OPTION ...] PROBLEM NX NY\n"
    "PROBLEM: sod-x, sod-y (Sod's shock tube along an axis), blast (a hot square amid).\n"
    "NX and NY are the numbers of cells, which are squares; the longer side of the grid is 1.\n"
    "  --time T        end at this time; without it: 0.2, blast 0.1\n"
    "  --steps N       end before step N + 1\n"
    "  --log N         print a line in every N-th step; without it: 100\n"
    "  --snapshot N    write a file, for --restart, in every N-th step\n"
    "  --file PATH     that is called PATH.0, PATH.1 ...; without it: euler\n"
    "  --restart PATH  go on from the last one of PATH.0, PATH.1 ...\n"
    "  --density FILE  write the density at the end, for NumPy\n"
    "  --help          print this text\n";

static int rank, ranks;

static int fail_usage(const char *what, const char *value)
{
    if (rank == 0) fprintf(stderr, "euler: %s '%s'; --help lists what there is\n", what, value);
    return WRONG_USAGE;
}

static int is_count(const char *text, int64_t least, int64_t *count)
{
    char *end;
    errno = 0;
    *count = strtoll(text, &end, 10);
    return end != text && !*end && errno == 0 && *count >= least && *count <= INT32_MAX;
}

#define TAKES(name, code)                                                                          \
    {                                                                                              \
        name, required_argument, NULL, code                                                        \
    }
/* @return 0, or the program's exit status + 1 */
static int read_options(options *o, int argc, char **argv)
{
    enum { STEPS, LOG, SNAPSHOT, FILE_NAME, RESTART, DENSITY, TIME, HELP };
    const struct option list[] = {
        TAKES("steps", STEPS),    TAKES("log", LOG),         TAKES("snapshot", SNAPSHOT),
        TAKES("file", FILE_NAME), TAKES("restart", RESTART), TAKES("density", DENSITY),
        TAKES("time", TIME),      {"help", 0, NULL, HELP},   {0}};
    int64_t *const count[] = {&o->steps, &o->log, &o->snapshot};
    const char **const path[] = {&o->file, &o->restart, &o->density};
    char rest;
    int code;
    *o = (options){.steps = INT64_MAX, .log = 100, .file = "euler"};
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":", list, NULL)) != -1) {
        if (code == HELP) return rank == 0 ? fputs(usage, stdout), 1 : 1;
        if (code == ':') return 1 + fail_usage("a value is missing behind", argv[optind - 1]);
        if (code == '?') return 1 + fail_usage("there is no option", argv[optind - 1]);
        if (code == TIME && (sscanf(optarg, "%lf%c", &o->time, &rest) != 1 || !(o->time > 0)))
            return 1 + fail_usage("--time takes a time above 0, not", optarg);
        if (code <= SNAPSHOT && !is_count(optarg, 1, count[code]))
            return 1 +
                   fail_usage("--steps, --log and --snapshot take a number of steps, not", optarg);
        if (code >= FILE_NAME && code <= DENSITY) *path[code - FILE_NAME] = optarg;
    }
    if (argc - optind != 3)
        return 1 + fail_usage("PROBLEM NX NY are three arguments; they end with", argv[argc - 1]);
    for (size_t p = 0; p < sizeof problems / sizeof *problems; ++p)
        if (strcmp(argv[optind], problems[p].name) == 0) o->problem = &problems[p];
    if (!o->problem) return 1 + fail_usage("PROBLEM is sod-x, sod-y or blast, not", argv[optind]);
    for (int n = optind + 1; n < argc; ++n)
        if (!is_count(argv[n], GHOSTS, &o->cells[n - optind - 1]))
            return 1 + fail_usage("NX and NY are numbers of cells from 4 on, not", argv[n]);
    if (o->time == 0) o->time = o->problem->time;
    return 0;
}

/* ------------------------------------------------------------------ this rank's part */

enum { RHO, E, D, W, U, V, U1, V1, HEAT, FX, FY, MF, EF, ARRAYS, STATE = 4 };
static const int state[STATE] = {RHO, E, U, V}; /* what a step begins with */

typedef struct flow {
    options o;
    MPI_Comm cart;
    int64_t first[2], cells[2]; /* its cells in the whole grid */
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
 * @return 0, or the program's exit status + 1 */
static int share_cells(flow *f)
{
    int dims[2] = {0, 0}, open[2] = {0, 0}, at[2];
    MPI_Dims_create(ranks, 2, dims);
    const int most = dims[0];
    if (f->o.cells[0] < f->o.cells[1]) dims[0] = dims[1], dims[1] = most;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &f->cart);
    MPI_Cart_coords(f->cart, rank, 2, at);
    for (int d = 0; d < 2; ++d) {
        if (f->o.cells[d] < GHOSTS * dims[d])
            return 1 + fail_usage("each rank needs 4 cells along an axis; give fewer ranks or more",
                                  d ? "NY" : "NX");
        f->first[d] = f->o.cells[d] * at[d] / dims[d];
        f->cells[d] = f->o.cells[d] * (at[d] + 1) / dims[d] - f->first[d];
        f->wall[d][0] = at[d] == 0, f->wall[d][1] = at[d] == dims[d] - 1;
    }
    f->edge = 1 / (double)(f->o.cells[0] > f->o.cells[1] ? f->o.cells[0] : f->o.cells[1]);
    return 0;
}

#define FIELD(label, x, y)                                                                         \
    {                                                                                              \
        .name = label, .type = META_F64, .stagger = { x, y }                                       \
    }
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
    const problem *p = f->o.problem;
    euler_gases gas = {.density = {p->density[0], p->density[1]},
                       .energy = {p->energy[0], p->energy[1]}};
    for (int d = 0; d < 2; ++d) {
        const int64_t cells = f->o.cells[d], at = f->own.start[d] - f->first[d];
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
            const euler_wall wall = {high ? node - layer : node,
                                     node,
                                     high ? layer : -layer,
                                     along,
                                     rows,
                                     d == 0 ? -1 : 1,
                                     d == 1 ? -1 : 1};
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
    const double left = f->o.time - f->time, safe = COURANT * f->edge * f->crossing;
    const double dt = safe < left ? safe : left;
    const int axis = (int)(f->step % 2);
    move(f, dt / f->edge);
    sweep(f, axis, 0);
    sweep(f, !axis, 1);
    for (int n = U; n <= V; ++n) {
        double *swap = f->a[n];
        f->a[n] = f->a[n + 2], f->a[n + 2] = swap;
    }
    f->time = safe < left ? f->time + dt : f->o.time;
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

/* ------------------------------------------------------------------ output and files */

static void print_line(flow *f)
{
    double **a = f->a, sum[3];
    const int64_t none = INT64_MAX;
    int64_t cell = none, first;
    TRY(euler_summary_f64(&f->own, a[RHO], a[E], a[U], a[V], &sum[0], &sum[1], &sum[2], NULL));
    TRY(meta_allreduce(sum, sum, 3, META_SUM, META_F64, NULL));
    for (int n = 0; n < 3; ++n) sum[n] *= f->edge * f->edge;
    /* Of all cells with the least limit the first one of the whole grid. */
    TRY(euler_limit_f64(&f->own, a[E], a[U], a[V], &f->least, NULL));
    if (f->least.value == f->crossing)
        cell = f->least.index[0] - f->own.start[0] + f->first[0] +
               f->o.cells[0] * (f->least.index[1] - f->own.start[1] + f->first[1]);
    TRY(meta_allreduce(&first, &cell, 1, META_MIN, META_I64, NULL));
    const double dt = COURANT * f->edge * f->crossing;
    const int x = (int)(first % f->o.cells[0]), y = (int)(first / f->o.cells[0]);
    if (rank == 0)
        printf("step %d, time %.9g: mass %.17g, energy %.17g = internal %.9g + kinetic %.9g; "
               "dt %.6g by cell (%d, %d)\n",
               (int)f->step, f->time, sum[0], sum[1] + sum[2], sum[1], sum[2], dt, x, y);
}

/* The fields of the state in files. Of nodes that ranks share each is written by the higher one. */
static void describe(const flow *f, int writing, meta_io_field *field)
{
    for (int n = 0; n < STATE; ++n) {
        const int nodes = n >= 2;
        field[n] = (meta_io_field){f->field[state[n]].name, f->a[state[n]], META_F64,
                                   f->field[state[n]].box, .cells = {0}};
        for (int d = 0; d < 2; ++d) {
            field[n].first[d] = f->first[d];
            field[n].cells[d] = f->o.cells[d] + nodes;
            if (nodes && writing && !f->wall[d][1]) field[n].box.end[d] -= 1;
        }
    }
}

/* Write so many of the fields; a snapshot of all says when it was. */
static void write_file(const flow *f, const char *path, meta_io_format format, int fields)
{
    const meta_io_attribute attribute[] = {{"step", NULL, META_I64, 1, &f->step},
                                           {"time", NULL, META_F64, 1, &f->time}};
    meta_io_desc file = META_IO_DESC_INIT;
    meta_io_field field[STATE];
    describe(f, 1, field);
    file.comm = f->cart;
    file.format = format;
    file.number = f->step;
    file.attributes = fields == STATE ? 2 : 0;
    file.attribute = attribute;
    TRY(meta_io_write(path, &file, fields, field));
}

static void read_snapshot(flow *f)
{
    meta_io_desc last = META_IO_DESC_INIT;
    meta_io_attribute step, time;
    meta_io_field field[STATE];
    meta_io_file file;
    describe(f, 0, field);
    last.comm = f->cart;
    last.format = META_IO_CHECKPOINT;
    TRY(meta_io_open(&file, f->o.restart, &last));
    TRY(meta_io_attribute_find(file, "step", &step));
    TRY(meta_io_attribute_find(file, "time", &time));
    f->step = *(const int64_t *)step.numbers;
    f->time = *(const double *)time.numbers;
    TRY(meta_io_read(file, STATE, field));
    TRY(meta_io_close(&file));
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    static flow f;
    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    int wrong = read_options(&f.o, argc, argv);
    if (!wrong) wrong = share_cells(&f);
    if (wrong) {
        TRY(meta_comm_finalize());
        return wrong - 1;
    }
    make_grid(&f);
    if (f.o.restart) read_snapshot(&f);
    else begin(&f);
    TRY(euler_limit_f64(&f.own, f.a[E], f.a[U], f.a[V], &f.least, NULL));
    exchange(&f);
    print_line(&f);

    const int64_t timed = f.step + UNTIMED;
    double start = 0;
    while (f.step < f.o.steps && f.time < f.o.time) {
        if (f.step == timed) start = MPI_Wtime();
        advance(&f);
        exchange(&f);
        if (f.step % f.o.log == 0) print_line(&f);
        if (f.o.snapshot && f.step % f.o.snapshot == 0)
            write_file(&f, f.o.file, META_IO_CHECKPOINT, STATE);
    }
    TRY(meta_flush());
    const double seconds = MPI_Wtime() - start, cells = (double)f.o.cells[0] * (double)f.o.cells[1];
    if (f.step % f.o.log) print_line(&f);
    if (rank == 0 && f.step > timed)
        printf("%d ranks: %.2f ns for a cell and a step\n", ranks,
               1e9 * seconds / (double)(f.step - timed) / cells);
    if (f.o.density) write_file(&f, f.o.density, META_IO_NPY, 1);
    TRY(meta_halo_free(&f.halo));
    for (int n = 0; n < ARRAYS; ++n) TRY(meta_free(f.a[n]));
    MPI_Comm_free(&f.cart);
    TRY(meta_comm_finalize());
    return 0;
}
