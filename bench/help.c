/* SPDX-License-Identifier: BSD-3-Clause */
/** @file help.c
 *  The help of meta-bench: its options, the meaning of its figures and how they are measured. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "group.h"

static const char usage[] =
    "usage: meta-bench [group...] [--backend B] [--size N,...] [--fields N,...]\n"
    "                  [--type T] [--rounds R] [--json]\n\n"
    "Measures libmeta on this process's device, or on the devices of a job's ranks\n"
    "(the slowest rank counts), alternating with hardware limits and peers in the\n"
    "same run. Groups (default: all) and their default sizes:\n\n";

static const char choices[] =
    "\n"
    "  --backend B    openmp, opencl, cuda ..., or B:n for its device number n\n"
    "                 (default: libmeta's choice, see META_MODE and META_RANK_MAP)\n"
    "  --size N,...   edge lengths of the cubes in cells\n"
    "  --fields N,... numbers of variables for app, each 1 to 40 (1)\n"
    "  --type T       f64, f32, i64, u64, i32 or u32 (f64)\n"
    "  --rounds R     number of rounds (9)\n"
    "  --json         print one JSON object per line\n"
    "  --help         print this help\n"
    "  --version      print the version\n\n";

static const char method[] =
    "In each round libmeta, its limits and its peers are timed once, in turn; a\n"
    "sample is as many calls as take 5 ms, or one. Every timed call is complete when\n"
    "the clock is read. Times are medians over the rounds, with minimum and maximum.\n"
    "Fractions and ratios are computed per round; their median is reported.\n\n";

static const char figures[] =
    "  seconds     of one call; for euler, of a step over its cells\n"
    "  gbps        10^9 bytes per second. A stencil moves 2 elements per cell (16\n"
    "              bytes in f64), a reduction those it reads, a copy, pack or unpack\n"
    "              those it reads and writes, an exchange those that a rank sends, a\n"
    "              time step those of its stencil. Additional cache traffic, such as\n"
    "              write-allocate, is not counted.\n"
    "  limit       the fastest of: copy and read, plain loops or kernels on the same\n"
    "              memory, over as many bytes as the call moves; copy_nt, the same\n"
    "              with non-temporal stores or the vendor's own copy; memcpy on one\n"
    "              thread for small sizes; meta_copy, libmeta's own, if no peer can\n"
    "              be loaded, as with META_MODE=auto. For halo it is send_only, for\n"
    "              its row overlap the stencil alone. Those of reduce only read, and\n"
    "              those of app copy each variable once. For files it is rank 0, which\n"
    "              writes, with fsync(), or reads a file of as many bytes by itself.\n"
    "  fraction    gbps relative to the limit\n"
    "  sector_fraction   for pack: the same, counting whole memory sectors touched\n"
    "              by the cells: 32 bytes on a GPU, 64-byte cache lines on a CPU\n"
    "  over_raw_seconds  for dispatch, and for halo if it has raw: the overhead over\n"
    "              raw\n"
    "  over_fixed_seconds  for schedule: the same over fixed, which is what a decision\n"
    "              takes\n"
    "  hidden      for halo.overlap, where meta_halo_overlap() computes 3d7p during an\n"
    "              exchange: (exchange + stencil - both) / exchange, the share of the\n"
    "              exchange that is hidden; below 0 if overlapping is slower\n"
    "  PEER least, PEER_seconds, PEER_seconds_min   for euler and advice: the peer's own\n"
    "              times\n"
    "  messages    for halo: messages that a rank sends in an exchange, including\n"
    "              those to itself\n"
    "  PEER_ratio  the peer's time over libmeta's; above 1 libmeta is faster\n"
    "    vendor    dot product or sum from the device vendor's library\n"
    "    mpi_pack  MPI_Pack and MPI_Unpack of subarray types; for halo with MPI_Isend\n"
    "              and MPI_Irecv, one message per neighbour, like the next three\n"
    "    manual    packing in a plain loop nest on one thread; for halo with loops\n"
    "              specialized for faces across x, and memcpy for whole rows\n"
    "    derived   derived datatypes (subarrays) in MPI_Isend and MPI_Irecv\n"
    "    send_only messages from packed buffers, without packing or unpacking\n"
    "    singles   for five fields: one libmeta exchange per field\n"
    "    raw       an empty launch without libmeta; for halo, on a device with memory\n"
    "              of its own, one such launch per face, and the copies to and from\n"
    "              the host, without messages; for empty and least bare messages of\n"
    "              the same size\n"
    "    driver    for alloc: the device driver's own call, malloc() on CPUs\n"
    "    fixed     for schedule: the same calls on buffers of one device, --backend or\n"
    "              else OpenMP's; libmeta's rows are on those that META_AUTO_DEVICES\n"
    "              names\n"
    "    builtin   for kernels: libmeta's own kernel of the same formula\n"
    "    openmp    for kernels: a plain OpenMP loop, compiled with -O3 -march=native\n"
    "    opencl, cuda, hip   for kernels: a kernel written by hand in that language\n"
    "    slow      for advice: the slow form of the same work; its ratio is that of the\n"
    "              least times\n"
    "    plain     for reduce, the plain sum against the reproducible one; for the row\n"
    "              cg of kernels and for euler, the same algorithm in plain MPI and\n"
    "              OpenMP, for euler with the same bits and on the CPU, whatever libmeta\n"
    "              computes on\n"
    "    parts     for app: its stencils with their sums, and send_only\n"
    "    reference for app: the algorithm of MiniGhost 1.0 as published, in plain MPI\n"
    "              and OpenMP: averages, copy back and sum in a pass each\n"
    "Peers that cannot use device memory, such as MPI, use host memory.\n\n";

static const char names[] =
    "Rows are named group.what.type.size. xface and xface_high are the faces at the\n"
    "ends of x, xedge_lh is the edge along x that is low in y and high in z; 6faces\n"
    "are all faces at once, 26 also edges and corners; _2 is two cells thick, _5f has\n"
    "five fields in one exchange, _box is the box inside the ghost cells of a larger\n"
    "array; app.minighost_5f is a step with five variables; kernels.cg is an\n"
    "iteration of conjugate gradients; halo.empty is start and finish of empty faces,\n"
    "halo.least of one cell. schedule.known is the same call again, schedule.new one\n"
    "of 512 in random order, schedule.fresh a new buffer with one call.\n"
    "euler.step is of N x N cells, shared out to the ranks.\n"
    "files.checkpoint and files.hdf5 are written, with _read read, in the current\n"
    "folder, and removed; what was just written is read from memory.\n"
    "Rows without enough memory or a device are skipped, with a reason on standard\n"
    "error.\n"
    "Exit status: 0 measured, 2 invalid usage or environment, or nothing measured.\n";

static void print_group(const group *g)
{
    const bool has_sizes = g->sizes[1] != 0;
    printf("  %-9s %s", g->name, g->meaning);
    for (int k = 0; has_sizes && g->sizes[k] != 0; ++k)
        printf("%s%" PRId64, k == 0 ? " (" : ",", g->sizes[k]);
    printf("%s\n", has_sizes ? ")" : "");
}

void options_help(void)
{
    printf("%s", usage);
    for (int k = 0; k < group_count; ++k) print_group(&groups[k]);
    printf("%s%s%s%s", choices, method, figures, names);
}
