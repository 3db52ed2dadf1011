/* SPDX-License-Identifier: BSD-3-Clause */
/** @file group.c
 *  The benchmark groups and helpers shared by their rows. */
#include "config.h"

#include "group.h"

#include <inttypes.h>
#include <stdio.h>

#include "print.h"

#ifdef BENCH_WITH_MPI
#define WITH_MPI(run) run
#else
#define WITH_MPI(run) NULL
#endif

const group groups[] = {
    {
        .name = "memory",
        .meaning = "plain copy, non-temporal copy, triad and read-sum: the limits",
        .sizes = {32, 128, 256, 512},
        .run = memory_run,
    },
    {
        .name = "stencil",
        .meaning = "the four stencils, alone and with fused sum",
        .sizes = {128, 256, 512},
        .run = stencil_run,
    },
    {
        .name = "reduce",
        .meaning = "sum, minimum, maximum and dot product; reproducible against plain",
        .sizes = {128, 256, 512},
        .run = reduce_run,
        .peers = {"vendor", "plain"},
    },
    {
        .name = "pack",
        .meaning = "pack and unpack of six faces, twelve edges, and all six faces at once",
        .sizes = {64, 128, 256},
        .run = pack_run,
        .peers = {"mpi_pack", "manual"},
        .extra = "sectors",
    },
    {
        .name = "halo",
        .meaning = "halo exchange, N^3 cells per rank; empty; overlapped with a stencil",
        .sizes = {8, 32, 64, 128, 256},
        .least_ranks = 2,
        .run = WITH_MPI(halo_run),
        .peers = {"derived", "mpi_pack", "manual", "send_only", "singles", "raw"},
        .extra = "over raw",
    },
    {
        .name = "dispatch",
        .meaning = "the smallest call: blocking, with an event, and queued",
        .sizes = {1},
        .run = dispatch_run,
        .peers = {"raw"},
        .extra = "over raw",
    },
    {
        .name = "schedule",
        .meaning =
            "a small call where META_MODE=auto chooses its device: a call like earlier ones, "
            "new ones",
        .sizes = {1},
        .run = schedule_run,
        .peers = {"fixed"},
        .extra = "over fixed",
    },
    {
        .name = "alloc",
        .meaning = "meta_alloc() and meta_free() of N^3 elements; on CPUs the driver is malloc()",
        .sizes = {8, 32, 64, 128, 162, 256, 512},
        .run = alloc_run,
        .peers = {"driver"},
    },
    {
        .name = "kernels",
        .meaning = "a program's own kernels: 7 points with sum, Gray-Scott, results of all cells, "
                   "CG; the smallest call",
        .sizes = {1, 128, 256},
        .run = kernels_run,
        .peers = {"builtin", "openmp", "opencl", "cuda", "hip", "plain"},
    },
    {
        .name = "advice",
        .meaning = "a program's own kernels in a fast form, each against a slow one that does the "
                   "same",
        .sizes = {64, 128},
        .run = advice_run,
        .peers = {"slow"},
        .extra = "slow least",
    },
    {
        .name = "app",
        .meaning = "a time step of meta-minighost with all sums, N^3 cells per rank",
        .sizes = {64, 128, 256},
        .run = WITH_MPI(app_run),
        .peers = {"parts", "reference"},
    },
    {
        .name = "euler",
        .meaning = "a time step of examples/euler.c, N^2 cells of all ranks; times are of a cell",
        .sizes = {256, 960, 1920},
        .run = WITH_MPI(euler_run),
        .peers = {"plain"},
        .extra = "plain least",
    },
    {
        .name = "files",
        .meaning = "five fields of N^3 cells per rank written to a file, and read",
        .sizes = {64, 128},
        .run = WITH_MPI(files_run),
    },
};
const int group_count = sizeof groups / sizeof *groups;

void row_begin(row *r, const char *name, const char *what, number type, int64_t size)
{
    *r = (row){.count = 0};
    snprintf(r->name, sizeof r->name, "%s.%s.%s.%" PRId64, name, what, number_name(type), size);
}

void row_end(bench *b, row *r)
{
    if (sample(r, b->o->rounds)) {
        print_row(b->o, b->here, r);
        ++b->rows;
    }
    sample_free(r);
}

bool rows_impossible(const char *name, int64_t size)
{
    char why[NOTE_ROOM];
    if (!note_agree(why)) return false;
    note_print("%s of size %" PRId64 ": skipped: %s", name, size, why);
    return true;
}
