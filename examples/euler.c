/* SPDX-License-Identifier: BSD-3-Clause */
/* Shock tubes and a blast: compressible flow of an ideal gas in a rectangle with reflecting walls,
 * distributed over all ranks. Each rank computes on the device that META_MODE or META_RANK_MAP
 * gives it, by the kernels in euler.kernel.h. ./euler --help says how to call it. A time step
 * is in euler_step.h; here are the command line, output and files.
 *
 * euler_mpi.c computes the same in plain MPI and OpenMP. */
#include <errno.h>
#include <getopt.h>
#include <meta_io.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "euler_step.h"

/* Steps before UNTIMED are not timed: kernels are compiled. */
enum { UNTIMED = 4, WRONG_USAGE = 2 };

/* ------------------------------------------------------------------ the command line */

typedef struct options {
    int64_t steps, log, snapshot;
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

/* @return 0, or the program's exit status + 1 */
static int read_options(options *o, flow *f, int argc, char **argv)
{
    enum { STEPS, LOG, SNAPSHOT, FILE_NAME, RESTART, DENSITY, TIME, HELP };
    const struct option list[] = {{"steps", required_argument, NULL, STEPS},
                                  {"log", required_argument, NULL, LOG},
                                  {"snapshot", required_argument, NULL, SNAPSHOT},
                                  {"file", required_argument, NULL, FILE_NAME},
                                  {"restart", required_argument, NULL, RESTART},
                                  {"density", required_argument, NULL, DENSITY},
                                  {"time", required_argument, NULL, TIME},
                                  {"help", no_argument, NULL, HELP},
                                  {0}};
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
        if (code == TIME && (sscanf(optarg, "%lf%c", &f->end, &rest) != 1 || !(f->end > 0)))
            return 1 + fail_usage("--time takes a time above 0, not", optarg);
        if (code <= SNAPSHOT && !is_count(optarg, 1, count[code]))
            return 1 +
                   fail_usage("--steps, --log and --snapshot take a number of steps, not", optarg);
        if (code >= FILE_NAME && code <= DENSITY) *path[code - FILE_NAME] = optarg;
    }
    if (argc - optind != 3)
        return 1 + fail_usage("PROBLEM NX NY are three arguments; they end with", argv[argc - 1]);
    for (int p = 0; p < PROBLEMS; ++p)
        if (strcmp(argv[optind], problems[p].name) == 0) f->problem = &problems[p];
    if (!f->problem) return 1 + fail_usage("PROBLEM is sod-x, sod-y or blast, not", argv[optind]);
    for (int n = optind + 1; n < argc; ++n)
        if (!is_count(argv[n], GHOSTS, &f->grid[n - optind - 1]))
            return 1 + fail_usage("NX and NY are numbers of cells from 4 on, not", argv[n]);
    if (f->end == 0) f->end = f->problem->time;
    return 0;
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
               f->grid[0] * (f->least.index[1] - f->own.start[1] + f->first[1]);
    TRY(meta_allreduce(&first, &cell, 1, META_MIN, META_I64, NULL));
    const double dt = COURANT * f->edge * f->crossing;
    const int x = (int)(first % f->grid[0]), y = (int)(first / f->grid[0]);
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
            field[n].cells[d] = f->grid[d] + nodes;
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

static void read_snapshot(flow *f, const char *path)
{
    meta_io_desc last = META_IO_DESC_INIT;
    meta_io_attribute step, time;
    meta_io_field field[STATE];
    meta_io_file file;
    describe(f, 0, field);
    last.comm = f->cart;
    last.format = META_IO_CHECKPOINT;
    TRY(meta_io_open(&file, path, &last));
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
    options o;
    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    int wrong = read_options(&o, &f, argc, argv);
    const char *few = wrong ? NULL : share_cells(&f);
    if (few)
        wrong = 1 + fail_usage("ranks need 4 cells along an axis; give fewer ranks or more", few);
    if (wrong) {
        TRY(meta_comm_finalize());
        return wrong - 1;
    }
    make_grid(&f);
    if (o.restart) read_snapshot(&f, o.restart);
    else begin(&f);
    TRY(euler_limit_f64(&f.own, f.a[E], f.a[U], f.a[V], &f.least, NULL));
    exchange(&f);
    print_line(&f);

    const int64_t timed = f.step + UNTIMED;
    double start = 0;
    while (f.step < o.steps && f.time < f.end) {
        if (f.step == timed) start = MPI_Wtime();
        advance(&f);
        exchange(&f);
        if (f.step % o.log == 0) print_line(&f);
        if (o.snapshot && f.step % o.snapshot == 0)
            write_file(&f, o.file, META_IO_CHECKPOINT, STATE);
    }
    TRY(meta_flush());
    const double seconds = MPI_Wtime() - start, cells = (double)f.grid[0] * (double)f.grid[1];
    if (f.step % o.log) print_line(&f);
    if (rank == 0 && f.step > timed)
        printf("%d ranks: %.2f ns for a cell and a step\n", ranks,
               1e9 * seconds / (double)(f.step - timed) / cells);
    if (o.density) write_file(&f, o.density, META_IO_NPY, 1);
    free_grid(&f);
    TRY(meta_comm_finalize());
    return 0;
}
