/* SPDX-License-Identifier: BSD-3-Clause */
/** @file main.c
 *  The 3D dot product proxy application (Algorithm 1 of the MetaMorph paper): initialize, iterate,
 *  compare with the closed form, finalize. */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "dot3d.h"
#include "failure.h"
#include "node_memory.h"
#include "options.h"
#include "output.h"
#include "ranks.h"
#include "results.h"
#include "standard_output.h"
#include "watch.h"

/* The largest value of an element type, aligned for it. */
typedef union value {
    double f64;
    uint64_t bits;
} value;

/* Where no library is asked for. */
static const char *no_library(const dot3d *d)
{
    (void)d;
    return NULL;
}

static const dot3d_way own = {dot3d_create, dot3d_free, dot3d_iterate, dot3d_ghost, no_library};

typedef struct outcome {
    value result;
    double seconds, error, ghost_error;
} outcome;

static void print_header(const block *k, const options *o, const char *blas, int rank)
{
    if (rank == 0)
        printf("3D dot product: %s %s\n  grid        %" PRId64 " x %" PRId64 " x %" PRId64
               " cells, %s\n  iterations  %" PRId64 "\n",
               failure_program_name(), PACKAGE_VERSION, o->n[0], o->n[1], o->n[2],
               number_name(o->type), o->iters);
    ranks_print(k->comm, blas);
}

/* Two fields on the host and, with the planes of an exchange, on the device. */
static void check_room(const block *k)
{
    where here;
    memset(&here, 0, sizeof here);
    where_am_i(k->comm, &here);
    const double size = (double)number_size(k->type), host = 2 * (double)k->cells * size;
    const double device = host + 2 * (double)k->plane * size;
    const double all = node_memory_needed(k->comm, here.device_memory > 0 ? host : host + device);
    const double left = node_memory_left();
    if (all > left)
        failure_note("%" PRId64 " x %" PRId64 " x %" PRId64 " cells of two fields need %.0f bytes "
                     "of this node's memory, which has %.0f left; use a smaller grid, --type f32 "
                     "or more nodes",
                     k->global[0], k->global[1], k->global[2], all, left);
    if (here.device_memory > 0 && device > here.device_memory)
        failure_note("this rank's %" PRId64 " cells of two fields need %.0f bytes of memory on the "
                     "device %s, which has %.0f; use a smaller grid, --type f32 or more ranks",
                     k->cells, device, here.device, here.device_memory);
}

static dot3d *create(const block *k, const dot3d_way *way)
{
    const double cells = 2 * (double)k->cells;
    dot3d *d = NULL;
    check_room(k);
    if (failure_agree(k->comm)) return NULL;
    void *fields = calloc(2 * (size_t)k->cells, number_size(k->type));
    if (k->plane > INT_MAX)
        failure_note("a plane of %" PRId64 " cells is more than MPI can count", k->plane);
    if (fields == NULL) failure_note_memory(cells * (double)number_size(k->type));
    if (!failure_agree(k->comm)) {
        block_fill(k, fields);
        d = way->create(k, fields);
    }
    free(fields);
    return d;
}

/* The first iteration finds out whether the devices can compute in this type at all. */
static void iterate(const dot3d_way *way, dot3d *d, const block *k, int64_t iterations,
                    outcome *out)
{
    for (int64_t i = 0; i < iterations; ++i) {
        const double start = MPI_Wtime();
        way->iterate(d, &out->result);
        out->seconds += MPI_Wtime() - start;
        if (i == 0 && failure_agree(k->comm)) return;
    }
    value ghost = {0};
    double error;
    way->ghost(d, &ghost);
    error = block_error(k, &ghost, block_ghost_dot(k));
    watch_begin("errors are compared");
    MPI_Allreduce(&error, &out->ghost_error, 1, MPI_DOUBLE, MPI_MAX, k->comm);
    watch_end();
    out->error = block_error(k, &out->result, block_dot(k));
}

static double limit_of(const block *k, const options *o)
{
    if (k->type == NUMBER_F64) return 1e-12;
    if (k->type != NUMBER_F32) return 0;
    return o->blas ? 1e-4 : 1e-5;
}

/* The file of --json is complete before anything is printed. */
static int judge(const block *k, const options *o, const char *blas, const outcome *out, int rank)
{
    char result[64], closed[64];
    const double limit = limit_of(k, o);
    const bool right = out->error <= limit && out->ghost_error <= limit;
    results_write(
        &(results){o, k, blas, &out->result, out->seconds, out->error, out->ghost_error, right});
    if (failure_agree(k->comm)) return STATUS_UNUSABLE;
    block_print(k, result, sizeof result, &out->result);
    block_print_exact(k, closed, sizeof closed, block_dot(k));
    if (rank == 0) {
        printf("result       %s\nclosed form  %s\n", result, closed);
        printf("error        %.3e, of the ghost planes %.3e (limit %.0e)\n", out->error,
               out->ghost_error, limit);
        printf("time         %.6f ms per iteration\n%s\n", 1e3 * out->seconds / (double)o->iters,
               right ? "PASS" : "FAIL");
        fflush(stdout);
    }
    return right ? STATUS_RIGHT : STATUS_WRONG;
}

static int run_options(const options *o, int rank)
{
    block k;
    outcome out = {0};
    const dot3d_way *way = o->blas ? dot3d_blas() : &own;
    block_create(&k, o);
    if (rank == 0 && o->json != NULL) output_check("--json", o->json);
    if (failure_agree(MPI_COMM_WORLD)) return STATUS_UNUSABLE;
    dot3d *d = create(&k, way);
    const char *blas = NULL;
    if (!failure_agree(k.comm)) {
        blas = way->library(d);
        print_header(&k, o, blas, rank);
        if (!failure_agree(k.comm)) iterate(way, d, &k, o->iters, &out);
    }
    if (d != NULL) way->free(d);
    return failure_agree(k.comm) ? STATUS_UNUSABLE : judge(&k, o, blas, &out, rank);
}

static int run_program(int argc, char **argv, int rank)
{
    options o;
    switch (options_parse(&o, argc, argv)) {
    case OPTIONS_HELP:
        if (rank == 0) options_help();
        return STATUS_RIGHT;
    case OPTIONS_VERSION:
        if (rank == 0) printf("%s %s\n", failure_program_name(), PACKAGE_VERSION);
        return STATUS_RIGHT;
    case OPTIONS_WRONG:
        failure_agree(MPI_COMM_WORLD);
        return STATUS_UNUSABLE;
    case OPTIONS_RUN:
        break;
    }
    dot3d_begin();
    if (failure_agree(MPI_COMM_WORLD)) return STATUS_UNUSABLE;
    const int status = run_options(&o, rank);
    dot3d_end();
    return failure_agree(MPI_COMM_WORLD) ? STATUS_UNUSABLE : status;
}

int main(int argc, char **argv)
{
    int rank, provided;
    failure_program(argv[0]);
    standard_output_begin();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int status = output_end(run_program(argc, argv, rank));
    watch_begin("the job ends");
    MPI_Finalize();
    watch_end();
    return status;
}
