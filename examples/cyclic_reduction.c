/* SPDX-License-Identifier: BSD-3-Clause */
/* Diffusion along a line by implicit time steps: each solves a tridiagonal system of 2^LEVELS - 1
 * equations by cyclic reduction. A level has half of the equations of the one before: large levels
 * suit a GPU, small ones the CPU, and with META_MODE=auto the library chooses for each of them.
 *
 *     ./cyclic_reduction [--check] [--plain] [--each] [--steps N] [LEVELS]
 *
 * Each level has a buffer of its own, so that it alone moves where the next call runs. --plain
 * computes the same with plain OpenMP loops, without the library, for comparison. --each prints the
 * time of each call of the last step. --check solves the systems by the Thomas algorithm and counts
 * the unknowns that differ by more than 10^-12 of the largest, and prints the largest residual. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "cyclic_reduction.kernel.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for")
#else
#define PARALLEL
#endif

enum { MOST_LEVELS = 28, WRONG_USAGE = 2 };

/* ------------------------------------------------------------------ the command line */

typedef struct options {
    int check, plain, each;
    int64_t steps, levels;
} options;

static const char usage[] =
    "usage: cyclic_reduction [--check] [--plain] [--each] [--steps N] [LEVELS]\n"
    "  --check    compare with the Thomas algorithm\n"
    "  --plain    compute with plain OpenMP loops, without libmeta\n"
    "  --each     print the time of each call of the last step\n"
    "  --steps N  so many time steps, 20 without it\n"
    "  --help     print this text\n"
    "A system has 2^LEVELS - 1 equations; 1 to 28, 18 without it.\n";

static int fail_usage(const char *what, const char *value)
{
    fprintf(stderr, "cyclic_reduction: %s '%s'\n%s", what, value, usage);
    return 1 + WRONG_USAGE;
}

static int is_number(const char *text, int64_t most, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && !*end && errno == 0 && *number > 0 && *number <= most;
}

/* @return 0, or the program's exit status + 1 */
static int read_options(options *o, int argc, char **argv)
{
    const struct option list[] = {
        {"check", no_argument, &o->check, 1}, {"plain", no_argument, &o->plain, 1},
        {"each", no_argument, &o->each, 1},   {"steps", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},     {0}};
    int code;
    *o = (options){.steps = 20, .levels = 18};
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":", list, NULL)) != -1) {
        if (code == 'h') return fputs(usage, stdout), 1;
        if (code == ':') return fail_usage("a value is missing behind", argv[optind - 1]);
        if (code == '?') return fail_usage("there is no option", argv[optind - 1]);
        if (code == 's' && !is_number(optarg, INT64_C(1) << 40, &o->steps))
            return fail_usage("--steps takes a number above 0, not", optarg);
    }
    if (optind < argc && !is_number(argv[optind], MOST_LEVELS, &o->levels))
        return fail_usage("LEVELS is a number from 1 to 28, not", argv[optind]);
    if (optind + 1 < argc) return fail_usage("there is no argument", argv[optind + 1]);
    return 0;
}

/* ------------------------------------------------------------------ the systems */

/* The levels' arrays, on a device or, of the plain loops, on the host. */
typedef struct solver {
    int levels;
    int64_t cells[MOST_LEVELS];
    double *system[MOST_LEVELS], *x[MOST_LEVELS];
} solver;

/* A line whose conductivity varies along it; both ends are kept at 0. */
static void first_system(double *system, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) {
        const double low = 0.5 + (double)(i % 5) / 8, high = 0.5 + (double)((i + 1) % 5) / 8;
        system[i] = i > 0 ? -low : 0;
        system[n + i] = 1 + low + high;
        system[2 * n + i] = i < n - 1 ? -high : 0;
        system[3 * n + i] = i % 1000 < 100 ? 1 : 0;
    }
}

static double *host_array(int64_t elements)
{
    double *array = malloc((size_t)elements * sizeof *array);
    if (array) return array;
    fprintf(stderr, "cyclic_reduction: the host has no memory for %" PRId64 " numbers\n", elements);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

static void *device_array(int64_t elements)
{
    void *array;
    TRY(meta_alloc(&array, (size_t)elements * sizeof(double)));
    return array;
}

static void open_solver(solver *s, const options *o, const double *system)
{
    const int64_t most = (INT64_C(1) << o->levels) - 1;
    s->levels = (int)o->levels;
    for (int k = 0; k < s->levels; ++k) {
        const int64_t n = s->cells[k] = (INT64_C(1) << (s->levels - k)) - 1;
        s->system[k] = o->plain ? host_array(4 * n) : device_array(4 * n);
        s->x[k] = o->plain ? host_array(n) : device_array(n);
    }
    if (o->plain)
        for (int64_t i = 0; i < 4 * most; ++i) s->system[0][i] = system[i];
    else TRY(meta_copy_h2d(s->system[0], system, (size_t)(4 * most) * sizeof *system, NULL));
}

static void close_solver(solver *s, const options *o, double *x)
{
    const int64_t n = s->cells[0];
    if (o->plain)
        for (int64_t i = 0; i < n; ++i) x[i] = s->x[0][i];
    else TRY(meta_copy_d2h(x, s->x[0], (size_t)n * sizeof *x, NULL));
    for (int k = 0; k < s->levels; ++k) {
        if (o->plain) {
            free(s->system[k]);
            free(s->x[k]);
        } else {
            TRY(meta_free(s->system[k]));
            TRY(meta_free(s->x[k]));
        }
    }
}

/* ------------------------------------------------------------------ plain loops */

static void halve_plain(const solver *s, int k)
{
    const int64_t n = s->cells[k - 1], half = s->cells[k];
    const double *below = s->system[k - 1], *middle = below + n, *above = middle + n;
    const double *right = above + n;
    double *to = s->system[k];
    PARALLEL
    for (int64_t j = 0; j < half; ++j) {
        const int64_t i = 2 * j + 1;
        const double low = below[i] / middle[i - 1], high = above[i] / middle[i + 1];
        to[j] = -low * below[i - 1];
        to[half + j] = middle[i] - low * above[i - 1] - high * below[i + 1];
        to[2 * half + j] = -high * above[i + 1];
        to[3 * half + j] = right[i] - low * right[i - 1] - high * right[i + 1];
    }
}

static void insert_plain(const solver *s, int k)
{
    const int64_t n = s->cells[k];
    const double *from = s->system[k], *half = s->x[k + 1];
    double *x = s->x[k];
    PARALLEL
    for (int64_t i = 0; i < n; ++i) {
        double value = from[3 * n + i];
        if (i & 1) {
            x[i] = half[i / 2];
            continue;
        }
        if (i > 0) value -= from[i] * half[i / 2 - 1];
        if (i < n - 1) value -= from[2 * n + i] * half[i / 2];
        x[i] = value / from[n + i];
    }
}

static void advance_plain(const solver *s)
{
    const int64_t n = s->cells[0];
    double *right = s->system[0] + 3 * n;
    PARALLEL
    for (int64_t i = 0; i < n; ++i) right[i] = s->x[0][i];
}

/* ------------------------------------------------------------------ a step */

typedef enum call { ADVANCE, HALVE, DIVIDE, INSERT } call;

static void call_plain(const solver *s, call what, int k)
{
    if (what == ADVANCE) advance_plain(s);
    else if (what == HALVE) halve_plain(s, k);
    else if (what == INSERT) insert_plain(s, k);
    else s->x[k][0] = s->system[k][3] / s->system[k][1];
}

static void call_kernel(const solver *s, call what, int k, meta_event *done)
{
    const int64_t n = s->cells[k];
    const meta_box box = {1, {n}, {0}, {n}};
    double *level = s->system[k];
    if (what == ADVANCE) TRY(advance_f64(&box, level + 3 * n, s->x[k], done));
    else if (what == DIVIDE) TRY(divide_f64(&box, s->x[k], level, done));
    else if (what == INSERT) TRY(insert_f64(&box, s->x[k], level, s->x[k + 1], n, done));
    else
        TRY(halve_f64(&box, level, level + n, level + 2 * n, level + 3 * n, s->system[k - 1],
                      s->cells[k - 1], done));
}

/* With @p each, wait for the call and print its time. */
static void perform(const solver *s, const options *o, call what, int k, int each)
{
    static const char *const name[] = {"advance", "halve", "divide", "insert"};
    const double begin = MPI_Wtime();
    if (o->plain) call_plain(s, what, k);
    else call_kernel(s, what, k, each ? NULL : META_ASYNC);
    if (each)
        printf("%-8s %12" PRId64 " equations %12.3f us\n", name[what], s->cells[k],
               (MPI_Wtime() - begin) * 1e6);
}

static void step(const solver *s, const options *o, int64_t number, int each)
{
    if (number > 0) perform(s, o, ADVANCE, 0, each);
    for (int k = 1; k < s->levels; ++k) perform(s, o, HALVE, k, each);
    perform(s, o, DIVIDE, s->levels - 1, each);
    for (int k = s->levels - 2; k >= 0; --k) perform(s, o, INSERT, k, each);
}

/* ------------------------------------------------------------------ checking */

/* The Thomas algorithm. @p w: room for n numbers */
static void solve_serially(const double *system, int64_t n, const double *right, double *w,
                           double *x)
{
    const double *below = system, *middle = system + n, *above = system + 2 * n;
    double pivot = middle[0];
    x[0] = right[0] / pivot;
    for (int64_t i = 1; i < n; ++i) {
        w[i] = above[i - 1] / pivot;
        pivot = middle[i] - below[i] * w[i];
        x[i] = (right[i] - below[i] * x[i - 1]) / pivot;
    }
    for (int64_t i = n - 2; i >= 0; --i) x[i] -= w[i + 1] * x[i + 1];
}

/* How many unknowns are wrong after @p steps steps; of the last one the largest residual. */
static int64_t count_wrong(const double *system, int64_t n, int64_t steps, const double *found,
                           double *residual)
{
    double *right = host_array(n), *x = host_array(n), *w = host_array(n), largest = 0;
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) x[i] = system[3 * n + i];
    for (int64_t k = 0; k < steps; ++k) {
        for (int64_t i = 0; i < n; ++i) right[i] = x[i];
        solve_serially(system, n, right, w, x);
    }
    *residual = 0;
    for (int64_t i = 0; i < n; ++i) largest = fmax(largest, fabs(x[i]));
    for (int64_t i = 0; i < n; ++i) {
        double r = system[n + i] * found[i] - right[i];
        if (i > 0) r += system[i] * found[i - 1];
        if (i < n - 1) r += system[2 * n + i] * found[i + 1];
        *residual = fmax(*residual, fabs(r));
        wrong += !(fabs(found[i] - x[i]) <= 1e-12 * largest);
    }
    free(right);
    free(x);
    free(w);
    return wrong;
}

/* ------------------------------------------------------------------ the program */

static int64_t solve(const options *o, int rank)
{
    const int64_t n = (INT64_C(1) << o->levels) - 1;
    double *system = host_array(4 * n), *x = host_array(n), residual = 0, begin = 0, seconds = 0;
    int64_t wrong = 0;
    solver s;
    first_system(system, n);
    open_solver(&s, o, system);
    for (int64_t k = 0; k < o->steps; ++k) {
        if (k == o->steps / 2) { /* the first half: kernels are compiled, devices tried out */
            if (!o->plain) TRY(meta_flush());
            begin = MPI_Wtime();
        }
        step(&s, o, k, o->each && rank == 0 && k == o->steps - 1);
    }
    if (!o->plain) TRY(meta_flush());
    seconds = (MPI_Wtime() - begin) / (double)(o->steps - o->steps / 2);
    close_solver(&s, o, x);
    if (rank == 0)
        printf("%" PRId64 " equations: %.3f us a step, %s, x[%" PRId64 "] = %.17g\n", n,
               seconds * 1e6, o->plain ? "plain loops" : "libmeta", n / 2, x[n / 2]);
    if (o->check) {
        wrong = count_wrong(system, n, o->steps, x, &residual);
        if (rank == 0) printf("largest residual: %.3g\n", residual);
    }
    free(system);
    free(x);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    int64_t wrong = 0;
    options o;
    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int status = read_options(&o, argc, argv);
    if (!status) wrong = solve(&o, rank);
    if (o.check && !status) {
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %" PRId64 "\n", wrong);
    }
    TRY(meta_comm_finalize());
    return status ? status - 1 : wrong > 0;
}
