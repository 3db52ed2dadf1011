/* SPDX-License-Identifier: BSD-3-Clause */
/** @file help.c
 *  The help of meta-bench: its options, the meaning of its figures and how they are measured. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "group.h"

static const char usage[] =
    "usage: meta-bench [group...] [--backend B] [--size N,...] [--type T]\n"
    "                  [--rounds R] [--json]\n\n"
    "Measures libmeta on this process's device, or on those of a job's ranks, where\n"
    "the slowest counts, against limits and peers that take turns with it in the\n"
    "same run. Groups, and the sizes they have without --size (all without a name):\n\n";

static const char choices[] =
    "\n"
    "  --backend B    openmp, opencl, cuda ..., or B:n for its device number n\n"
    "                 (the one libmeta chooses, see META_MODE and META_RANK_MAP)\n"
    "  --size N,...   cells along the edges of the cubes\n"
    "  --type T       f64, f32, i64, u64, i32 or u32 (f64)\n"
    "  --rounds R     how often each figure is taken (9)\n"
    "  --json         print one JSON object a line\n"
    "  --help         print this\n"
    "  --version      print the version\n\n";

static const char method[] =
    "In each round libmeta, its limits and its peers are timed once, in turn; a\n"
    "sample is as many calls as take 5 ms, or one. Every timed call has ended when\n"
    "the clock is read. Times are medians over the rounds, with least and most.\n"
    "Fractions and ratios are formed in each round, then their median is taken.\n\n";

static const char figures[] =
    "  seconds     of one call\n"
    "  gbps        10^9 bytes a second. A stencil moves 2 elements a cell (16 bytes\n"
    "              in f64), a reduction those it reads, a copy, pack or unpack those\n"
    "              it reads and writes, an exchange those that a rank sends, a time\n"
    "              step what its stencil does. What caches do on their own account,\n"
    "              as loading lines that are then written, is not counted.\n"
    "  limit       the fastest of: copy and read, plain loops or kernels on the same\n"
    "              memory, over as many bytes as the call moves; copy_nt, the same\n"
    "              past the cache or by the vendor's own call; memcpy, on one thread,\n"
    "              where little is moved; meta_copy, libmeta's own, where no peer can\n"
    "              be loaded. Of halo it is send_only, of its row overlap the stencil\n"
    "              alone, of app send_only and then the stencil 3d7p_sum. Those of\n"
    "              reduce only read.\n"
    "  fraction    gbps over the limit's\n"
    "  sector_fraction   of pack: the same, with the memory sectors that the cells\n"
    "              touch counted whole: 32 bytes on a GPU, lines of 64 on a CPU\n"
    "  over_raw_seconds  of dispatch, and of halo where it has raw: the time beyond\n"
    "              raw's\n"
    "  hidden      of halo.overlap, where meta_halo_overlap() computes 3d7p beside an\n"
    "              exchange: (exchange + stencil - both) / exchange, the share of an\n"
    "              exchange that costs no time; below 0 where both together are slower\n"
    "  messages    of halo: those that a rank sends in an exchange, its own to itself\n"
    "              included\n"
    "  PEER_ratio  the peer's time over libmeta's; above 1 libmeta is faster\n"
    "    vendor    dot product or sum by the device's library\n"
    "    mpi_pack  MPI_Pack and MPI_Unpack of subarray types; of halo with MPI_Isend\n"
    "              and MPI_Irecv, one message a neighbour, as the next three\n"
    "    manual    a plain loop nest on one thread that packs; of halo loops made for\n"
    "              faces across x, and memcpy for whole rows\n"
    "    derived   subarray types given to MPI_Isend and MPI_Irecv\n"
    "    send_only buffers that are ready, and stay packed\n"
    "    singles   of five fields: an exchange of libmeta for each\n"
    "    raw       a launch of nothing without libmeta; of halo, where a device has\n"
    "              memory of its own, such launches, one a face, and the copies to\n"
    "              and from the host, without messages; of empty and least bare\n"
    "              messages of as many bytes\n"
    "Peers without libmeta's device memory, all of MPI, use host memory.\n\n";

static const char names[] =
    "Rows are called group.what.type.size. xface and xface_high are the faces at the\n"
    "ends of x, xedge_lh is the edge along x that is low in y and high in z; 6faces\n"
    "are all at once, 26 edges and corners as well; _2 is two cells thick, _5f five\n"
    "fields in one exchange, _box what is inside the ghost cells of a larger array;\n"
    "halo.empty is start and finish of faces without cells, halo.least of one cell.\n"
    "What there is no room or no device for is left out, with a reason on the error\n"
    "stream.\n"
    "Exit status: 0 measured, 2 wrong use or environment, or nothing measured.\n";

static void print_group(const group *g)
{
    printf("  %-9s %s", g->name, g->meaning);
    for (int k = 0; g->sizes[k] > 1; ++k) printf("%s%" PRId64, k == 0 ? " (" : ",", g->sizes[k]);
    printf("%s\n", g->sizes[0] > 1 ? ")" : "");
}

void options_help(void)
{
    printf("%s", usage);
    for (int k = 0; k < group_count; ++k) print_group(&groups[k]);
    printf("%s%s%s%s", choices, method, figures, names);
}
