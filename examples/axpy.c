/* SPDX-License-Identifier: BSD-3-Clause */
/* y += a x for arrays of several sizes: small ones are computed soonest on the CPU, large ones on a
 * GPU. With META_MODE=auto the library finds out from which size on; with another META_MODE all
 * sizes run on that device.
 *
 *     ./axpy [--check] [--plain] [--calls N] [ELEMENTS ...]
 *
 * --plain computes the same with plain OpenMP loops, without the library, for comparison. --check
 * computes it serially and counts the elements that differ in any bit. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "axpy.kernel.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for")
#else
#define PARALLEL
#endif

enum { MOST_SIZES = 32, WRONG_USAGE = 2 };
static const double a = 0.125;

/* ------------------------------------------------------------------ the command line */

typedef struct options {
    int check, plain;
    int64_t calls; /* 0: as many as move about 100 MB, but at least 10 */
    int sizes;
    int64_t size[MOST_SIZES];
} options;

static const char usage[] = "usage: axpy [--check] [--plain] [--calls N] [ELEMENTS ...]\n"
                            "  --check    compare with a serial computation\n"
                            "  --plain    compute with plain OpenMP loops, without libmeta\n"
                            "  --calls N  so many timed calls for each size\n"
                            "  --help     print this text\n"
                            "Without ELEMENTS: 100, 1000, ... 10000000.\n";

static int fail_usage(const char *what, const char *value)
{
    fprintf(stderr, "axpy: %s '%s'\n%s", what, value, usage);
    return WRONG_USAGE;
}

static int is_count(const char *text, int64_t *count)
{
    char *end;
    errno = 0;
    *count = strtoll(text, &end, 10);
    return end != text && !*end && errno == 0 && *count > 0 && *count <= INT64_C(1) << 40;
}

/* @return 0, or the program's exit status + 1 */
static int read_options(options *o, int argc, char **argv)
{
    const struct option list[] = {{"check", no_argument, &o->check, 1},
                                  {"plain", no_argument, &o->plain, 1},
                                  {"calls", required_argument, NULL, 'c'},
                                  {"help", no_argument, NULL, 'h'},
                                  {0}};
    int code;
    *o = (options){.sizes = 0};
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":", list, NULL)) != -1) {
        if (code == 'h') return fputs(usage, stdout), 1;
        if (code == ':') return 1 + fail_usage("a value is missing behind", argv[optind - 1]);
        if (code == '?') return 1 + fail_usage("there is no option", argv[optind - 1]);
        if (code == 'c' && !is_count(optarg, &o->calls))
            return 1 + fail_usage("--calls takes a number above 0, not", optarg);
    }
    const int first = optind;
    for (; optind < argc; ++optind) {
        if (o->sizes == MOST_SIZES) return 1 + fail_usage("too many sizes:", argv[optind]);
        if (!is_count(argv[optind], &o->size[o->sizes++]))
            return 1 + fail_usage("ELEMENTS is a number above 0, not", argv[optind]);
    }
    for (int64_t n = 100; optind == first && n <= 10000000; n *= 10) o->size[o->sizes++] = n;
    return 0;
}

static int64_t calls_for(const options *o, int64_t elements)
{
    const int64_t calls = 100000000 / (24 * elements);
    if (o->calls) return o->calls;
    return calls < 10 ? 10 : calls > 1000 ? 1000 : calls;
}

/* ------------------------------------------------------------------ computing */

static void fill(double *x, double *y, int64_t n)
{
    for (int64_t k = 0; k < n; ++k) {
        x[k] = (double)(k % 13) - 6.25;
        y[k] = (double)(k % 7) / 4;
    }
}

/* What a size takes and gives. */
typedef struct outcome {
    double seconds; /* of a call */
    char device[80];
} outcome;

static void plain_calls(double *y, const double *x, int64_t n, int64_t calls)
{
    for (int64_t c = 0; c < calls; ++c) {
        PARALLEL
        for (int64_t k = 0; k < n; ++k) y[k] += a * x[k];
    }
}

static outcome run_plain(double *y, const double *x, int64_t n, int64_t calls)
{
    outcome o = {0, "plain loops"};
    plain_calls(y, x, n, calls);
    const double begin = MPI_Wtime();
    plain_calls(y, x, n, calls);
    o.seconds = (MPI_Wtime() - begin) / (double)calls;
    return o;
}

/* The device that has the result: a buffer of META_MODE=auto is kept where its contents are. */
static void name_device(const void *buffer, char *name, size_t room)
{
    meta_pointer_desc where = META_POINTER_DESC_INIT;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    size_t offset;
    TRY(meta_native(buffer, NULL, &offset));
    TRY(meta_pointer_info(buffer, &where));
    TRY(meta_native_end(buffer));
    TRY(meta_device_info(where.index, where.mode, &device));
    snprintf(name, room, "%s:%d", device.backend, device.index);
}

static void queue_calls(const meta_box *box, void *y, const void *x, int64_t calls)
{
    for (int64_t c = 0; c < calls; ++c) TRY(add_scaled_f64(box, y, a, x, META_ASYNC));
    TRY(meta_flush());
}

/* The first half of the calls is not timed: kernels are compiled, and devices tried out. */
static outcome run(double *y, const double *x, int64_t n, int64_t calls)
{
    const size_t bytes = (size_t)n * sizeof *x;
    const meta_box box = {1, {n}, {0}, {n}};
    void *device_x, *device_y;
    outcome o = {0};
    TRY(meta_alloc(&device_x, bytes));
    TRY(meta_alloc(&device_y, bytes));
    TRY(meta_copy_h2d(device_x, x, bytes, NULL));
    TRY(meta_copy_h2d(device_y, y, bytes, NULL));
    queue_calls(&box, device_y, device_x, calls);
    const double begin = MPI_Wtime();
    queue_calls(&box, device_y, device_x, calls);
    o.seconds = (MPI_Wtime() - begin) / (double)calls;
    name_device(device_y, o.device, sizeof o.device);
    TRY(meta_copy_d2h(y, device_y, bytes, NULL));
    TRY(meta_free(device_x));
    TRY(meta_free(device_y));
    return o;
}

static int64_t count_wrong(const double *found, int64_t n, int64_t calls)
{
    int64_t wrong = 0;
    double x, y;
    for (int64_t k = 0; k < n; ++k) {
        x = (double)(k % 13) - 6.25;
        y = (double)(k % 7) / 4;
        for (int64_t c = 0; c < calls; ++c) y += a * x;
        wrong += memcmp(&y, &found[k], sizeof y) != 0;
    }
    return wrong;
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    int rank, ranks;
    int64_t wrong = 0;
    options o;

    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int status = read_options(&o, argc, argv);
    if (rank == 0 && !status)
        printf("%12s %14s %10s  %s\n", "elements", "us/call", "GB/s", "device");
    for (int k = 0; k < o.sizes && !status; ++k) {
        const int64_t n = o.size[k], calls = calls_for(&o, n);
        double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
        if (!x || !y) {
            fprintf(stderr, "axpy: the host has no memory for two arrays of %" PRId64 "\n", n);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        fill(x, y, n);
        const outcome one = o.plain ? run_plain(y, x, n, calls) : run(y, x, n, calls);
        if (o.check) wrong += count_wrong(y, n, 2 * calls);
        if (rank == 0)
            printf("%12" PRId64 " %14.3f %10.3f  %s  y[%" PRId64 "] = %.17g\n", n,
                   one.seconds * 1e6, 24e-9 * (double)n / one.seconds, one.device, n - 1, y[n - 1]);
        free(x);
        free(y);
    }
    if (o.check && !status) {
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %" PRId64 "\n", wrong);
    }
    TRY(meta_comm_finalize());
    return status ? status - 1 : wrong > 0;
}
