/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_golden.c
 *  MiniGhost's solver against results of the MiniGhost 1.0 reference: every stencil, exchange
 *  method, kernel, process grid and mix of ranks on OpenMP, OpenCL and a GPU; many cases in one
 * job. */
/* TEST: backends=none auto=yes np=2,3 labels=golden */
/* TEST: backends=none,gpus np=1,2,3 labels=golden */
/* TEST: np=1,3,4,8 labels=golden */
/* TEST: np=2 labels=golden smoke=yes */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "options.h"
#include "solve.h"
#include "test_mpi.h"

enum {
    NX = 20,
    NY = 16,
    NZ = 12,
    CELLS = NX * NY * NZ,
    STEPS = 10,
    STENCILS = 4,
    METHODS = 2,
    KERNELS = 2
};

/* Scalars of tests/golden/README.md: what left the domain, and the source that both sum to. */
static const double source = 198563.0044856396;
static const double flux_of[STENCILS] = {47329.904648568248, 64267.660313106375, 62416.155962662793,
                                         99743.149572390626};

static double initial[CELLS], expected[STENCILS][CELLS];

typedef struct golden_case {
    int stencil, method, np[3];
    bool reference; /* --kernel */
    bool overlap;   /* --overlap on */
    bool moves;     /* blocks change between time steps, as with --balance dynamic */
    int64_t mix;    /* rank k's back end is digit k, in the base of their number */
} golden_case;

/* The back ends of the ranks: OpenMP and OpenCL, and with META_MODE=cuda or hip that one too. */
static const char *backend[3] = {"openmp", "opencl"};
static int backends = 2;

static bool load(const char *name, double *cells)
{
    FILE *file = fopen(test_source(name), "rb");
    const size_t read = file ? fread(cells, sizeof *cells, CELLS, file) : 0;
    if (file) fclose(file);
    return CHECK_INT(read, CELLS);
}

static bool load_all(void)
{
    bool loaded = load("tests/golden/initial.f64", initial);
    for (int k = 0; k < STENCILS && loaded; ++k) {
        char name[64];
        snprintf(name, sizeof name, "tests/golden/stencil%d.final.f64", 21 + k);
        loaded = load(name, expected[k]);
    }
    return loaded;
}

/* ------------------------------------------------------------------ one case */

static void set_map(const golden_case *c)
{
    char map[16 * 32] = "";
    int64_t mix = c->mix;
    int used = 0;
    for (int k = 0; k < test_size; ++k, mix /= backends)
        used += snprintf(map + used, sizeof map - (size_t)used, "%s%d:%s", k ? "," : "", k,
                         backend[mix % backends]);
    setenv("META_RANK_MAP", map, 1);
}

static bool describe(const golden_case *c, options *o)
{
    char text[5][12], kernel[12];
    const int values[] = {c->stencil, c->method, c->np[0], c->np[1], c->np[2]};
    for (int k = 0; k < 5; ++k) snprintf(text[k], sizeof text[k], "%d", values[k]);
    snprintf(kernel, sizeof kernel, "%s", c->reference ? "reference" : "fast");
    char *argv[] = {"test_golden",
                    "--scaling",
                    "1",
                    "--nx",
                    "20",
                    "--ny",
                    "16",
                    "--nz",
                    "12",
                    "--num_vars",
                    "1",
                    "--num_tsteps",
                    "10",
                    "--num_spikes",
                    "0",
                    "--stencil",
                    text[0],
                    "--comm_method",
                    text[1],
                    "--npx",
                    text[2],
                    "--npy",
                    text[3],
                    "--npz",
                    text[4],
                    "--kernel",
                    kernel,
                    "--overlap",
                    c->overlap ? "on" : "off",
                    NULL};
    optind = 0;
    test_case("stencil %d, method %d, %s kernel, process grid %d x %d x %d, mix %lld%s", c->stencil,
              c->method, kernel, c->np[0], c->np[1], c->np[2], (long long)c->mix,
              c->moves ? ", blocks that move" : "");
    return CHECK(options_parse(o, (int)(sizeof argv / sizeof *argv) - 1, argv, test_size) ==
                 OPTIONS_RUN);
}

/* Call @p cell for each cell of the block: its place in the block's array and in the global grid.
 */
static void each_cell(const problem *p, double *cells, void (*cell)(double *mine, int64_t global))
{
    const int64_t *from = p->own.start, *to = p->own.end;
    for (int64_t z = from[2]; z < to[2]; ++z)
        for (int64_t y = from[1]; y < to[1]; ++y)
            for (int64_t x = from[0]; x < to[0]; ++x) {
                const int64_t gx = p->first[0] + x - from[0], gy = p->first[1] + y - from[1];
                const int64_t gz = p->first[2] + z - from[2];
                cell(&cells[(z * p->size[1] + y) * p->size[0] + x], (gz * NY + gy) * NX + gx);
            }
}

static void take_initial(double *mine, int64_t global)
{
    *mine = initial[global];
}

static const double *wanted;
static double largest;
static int64_t compared;

static void compare(double *mine, int64_t global)
{
    const double difference = fabs(*mine - wanted[global]) / fabs(wanted[global]);
    if (!(difference <= largest)) largest = difference; /* a NaN too */
    ++compared;
}

static void check_result(const problem *p, const golden_case *c, double *cells, double flux,
                         double sum)
{
    double mine[2] = {flux, sum}, all[2];
    int64_t cells_seen;
    wanted = expected[c->stencil - 21];
    largest = 0;
    compared = 0;
    each_cell(p, cells, compare);
    CHECK(largest <= 1e-12);
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&compared, &cells_seen, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(cells_seen, CELLS);
    CHECK_NEAR(all[0], flux_of[c->stencil - 21], 1e-10);
    CHECK_NEAR(all[0] + all[1], source, 1e-10);
}

/* Any cuts that leave every part a plane. */
static void move_blocks(solver *s, problem *p)
{
    int64_t *cut[3];
    if (!CHECK(problem_new_cuts(&p->o, cut))) return;
    for (int d = 0; d < 3; ++d) {
        const int64_t parts = p->o.np[d];
        cut[d][parts] = p->global[d];
        for (int64_t k = 1; k < parts; ++k)
            cut[d][k] = test_random_in(cut[d][k - 1] + 1, p->global[d] - parts + k);
    }
    solver_move(s, p, cut);
    problem_free_cuts(cut);
}

static void solve(problem *p, const golden_case *c)
{
    static const bool summed[] = {true};
    double *cells = calloc((size_t)p->cells, sizeof *cells), sums[27], flux = 0;
    solver *s = solver_create(p);
    if (s && cells) {
        each_cell(p, cells, take_initial);
        solver_put(s, 0, cells);
        for (int step = 0; step < STEPS; ++step) {
            if (c->moves && step % 3 == 1) move_blocks(s, p);
            solver_step(s, summed, sums);
            for (int t = 0; t < p->terms; ++t) flux += sums[t] * p->term[t].points / p->points;
        }
        free(cells);
        cells = calloc((size_t)p->cells, sizeof *cells);
        solver_get(s, 0, cells);
        check_result(p, c, cells, flux, sums[p->terms]);
        solver_free(s);
    }
    free(cells);
}

static void run_case(const golden_case *c)
{
    options o;
    problem p;
    if (!describe(c, &o)) return;
    set_map(c);
    solver_begin();
    if (failure_agree(MPI_COMM_WORLD)) {
        FAIL("libmeta did not start");
        return;
    }
    problem_create(&p, &o);
    if (CHECK(!failure_agree(MPI_COMM_WORLD))) solve(&p, c);
    problem_free(&p);
    solver_end();
    CHECK(!failure_agree(MPI_COMM_WORLD));
}

/* ------------------------------------------------------------------ which cases */

/* Every way to cut the grid into as many blocks as there are ranks. */
static int process_grids(int (*grids)[3])
{
    int count = 0;
    for (int x = 1; x <= test_size; ++x)
        for (int y = 1; y <= test_size / x; ++y)
            if (test_size % (x * y) == 0) {
                grids[count][0] = x;
                grids[count][1] = y;
                grids[count++][2] = test_size / (x * y);
            }
    return count;
}

/* Case number n of all: of a few ranks every process grid with every mix; of many, where that would
 * take hours, every mix with the process grids in turn. A short run takes a sample of these. */
enum { MANY = 256 };

static int64_t count_mixes(void)
{
    int64_t mixes = 1;
    for (int k = 0; k < test_size; ++k) mixes *= backends;
    return mixes;
}

static int64_t count_cases(int grids)
{
    const int64_t mixes = count_mixes();
    return mixes < MANY ? mixes * grids : mixes;
}

static void make_case(int64_t n, int kind, int (*grids)[3], int count, golden_case *c)
{
    const int64_t mixes = count_mixes();
    const int64_t grid = mixes < MANY ? n / mixes : (n + kind) % count;
    c->stencil = 21 + kind / METHODS / KERNELS;
    c->method = 10 + kind / KERNELS % METHODS;
    c->reference = kind % KERNELS == 1;
    c->overlap = !c->reference && (n + kind) % 2 == 0;
    c->mix = n % mixes;
    for (int d = 0; d < 3; ++d) c->np[d] = grids[grid][d];
}

static void run_cases(bool moves)
{
    int grids[64][3];
    const int count = process_grids(grids);
    /* Ranks that share cores take turns at every message of a move: a sample of the kinds. */
    const int stride = moves && test_size > 2 && !test_long() ? 5 : 1;
    const int64_t all = count_cases(count), sample = test_count(moves ? 1 : 2, 0);
    if (!load_all()) return;
    for (int kind = 0; kind < STENCILS * METHODS * KERNELS; kind += stride)
        for (int64_t n = 0; n < (test_long() ? all : sample); ++n) {
            golden_case c;
            make_case(test_long() ? n : test_random_in(0, all - 1), kind, grids, count, &c);
            c.moves = moves;
            run_case(&c);
            if (test_failures() > 0) return;
        }
}

static void every_case_agrees_with_the_reference(void)
{
    run_cases(false);
}

static void cells_that_are_moved_between_time_steps_agree_as_well(void)
{
    run_cases(true);
}

/* Skipped by name where a back end of the mixes is missing. */
static void require(const char *mode)
{
    setenv("META_MODE", mode, 1);
    if (meta_init() != META_OK) return;
    test_require(meta_get_acc(&(int){0}, NULL));
    meta_finalize();
}

static void start(int *argc, char ***argv)
{
    static char gpu[16];
    const char *mode = getenv("META_MODE");
    test_mpi_start(argc, argv);
    failure_program((*argv)[0]);
    if (mode && (strcmp(mode, "cuda") == 0 || strcmp(mode, "hip") == 0)) {
        snprintf(gpu, sizeof gpu, "%s", mode);
        backend[backends++] = gpu;
        require(gpu);
    }
    require("opencl");
}

static const test_setting golden = {start, test_mpi_worst, test_mpi_end};
TEST_MAIN_WITH(&golden, PROMISE(every_case_agrees_with_the_reference),
               PROMISE(cells_that_are_moved_between_time_steps_agree_as_well))
