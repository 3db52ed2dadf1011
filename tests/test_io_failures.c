/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_io_failures.c
 *  Whatever the host may refuse one rank while a file is written or read fails in turn: the call is
 * an error on every rank, or all is right; no rank keeps memory or an open file of it; and the next
 * file is written as if nothing had been. */
/* TEST: backends=openmp np=1,2 labels=io */
#include "first_error.h"
#include "host_fault.h"
#include "io_grids.h"
#include "scratch_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { NX = 6, NY = 9 };
static char folder[256], path[320];
static meta_io_field field, target; /* what is written, and where it is read to */
static meta_io_desc desc;

static void begin(void)
{
    io_cut cut = {.ndim = 2, .cells = {NX, NY}};
    scratch_share("io-failures", folder, sizeof folder);
    for (int r = 0; r < test_size; ++r) {
        cut.box[r].end[0] = NX;
        cut.box[r].first[1] = NY * r / test_size;
        cut.box[r].end[1] = NY * (r + 1) / test_size;
    }
    CHECK(io_array_make(&field, 0, &cut, test_rank, META_F64, false, true));
    CHECK(io_array_make(&target, 0, &cut, test_rank, META_F64, false, false));
    field.name = target.name = "u";
    setenv("META_LOG", "off", 1);
}

static void end(void)
{
    io_array_free(&field, false);
    io_array_free(&target, false);
    scratch_remove_shared(folder);
}

/* ------------------------------------------------------------------ what is done */

static void read_it(void)
{
    meta_io_file file;
    desc.attributes = 0;
    STEP(meta_io_open(&file, path, &desc));
    if (went(meta_io_read(file, 1, &target), "meta_io_read()")) io_array_check(&target, 0, false);
    CHECK_OK(meta_io_close(&file));
}

/* Of META_IO_VTK beside computation; it cannot be read. */
static void write_it(void)
{
    const double time = 0.5;
    const meta_io_attribute attributes[] = {{"time", NULL, META_F64, 1, &time},
                                            {"title", "a title", META_U8, 0, NULL}};
    meta_io_request request;
    desc.attributes = desc.format == META_IO_NPY ? 0 : 2;
    desc.attribute = attributes;
    if (desc.format != META_IO_VTK) {
        STEP(meta_io_write(path, &desc, 1, &field));
        return;
    }
    STEP(meta_io_write_begin(path, &desc, 1, &field, &request));
    STEP(meta_io_wait(&request));
}

/* What one rank is refused, all get as an error; so what they do next is the same on all. */
static long live_with(meta_io_format format, long n)
{
    memset(&first, 0, sizeof first);
    desc = (meta_io_desc)META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    desc.format = format;
    desc.number = format == META_IO_CHECKPOINT ? 0 : -1;
    snprintf(path, sizeof path, "%s/file", folder);
    host_fault_arm(n);
    write_it();
    if (first.code == META_OK && format != META_IO_VTK) read_it();
    host_fault_disarm();
    return host_fault_calls();
}

/* ------------------------------------------------------------------ one call at a time */

static void check_nothing_kept(long blocks, long next, int descriptors)
{
    const long kept = host_fault_blocks_kept(blocks);
    if (kept != 0) FAIL("%ld blocks of memory are kept:%s", kept, host_fault_blocks_text(next));
    CHECK_INT(host_fault_descriptors(), descriptors);
}

/* Call @p n fails on rank @p culprit. @return whether there was such a call */
static bool fail_one(meta_io_format format, int culprit, long n)
{
    char place[4352] = "";
    const long blocks = host_fault_blocks(), next = host_fault_next_block();
    const int descriptors = host_fault_descriptors();
    test_case("format %d, call %ld of rank %d fails", (int)format, n, culprit);
    live_with(format, test_rank == culprit ? n : 0);
    snprintf(place, sizeof place, "%s", host_fault_place());
    MPI_Bcast(place, (int)sizeof place, MPI_CHAR, culprit, MPI_COMM_WORLD);
    if (!*place) return false;
    test_case("format %d, call %ld of rank %d failed: %s\n    first error: %s, %s", (int)format, n,
              culprit, place, first.call ? first.call : "none", first.message);
    int codes[2] = {first.code, -(int)first.code};
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_INT(codes[0], -codes[1]); /* the same on all */
    if (first.code != META_OK && !strstr(first.message, "meta_io_"))
        FAIL("the message names no call");
    check_nothing_kept(blocks, next, descriptors);
    live_with(format, 0);
    if (first.code != META_OK) FAIL("and then %s: %s", first.call, first.message);
    check_nothing_kept(blocks, next, descriptors);
    return true;
}

static void fail_in_turn(meta_io_format format)
{
    int has = 0;
    long tried = 0;
    CHECK_OK(meta_io_has(format, &has));
    if (!has) return;
    begin();
    for (int k = 0; k < 2; ++k) live_with(format, 0); /* what is kept for ever is there now */
    if (!CHECK_INT(first.code, META_OK)) printf("%s: %s\n", first.call, first.message);
    for (int culprit = 0; culprit<test_size; culprit += test_size> 1 ? test_size - 1 : 1)
        for (long n = 1; first.code == META_OK && fail_one(format, culprit, n); ++n) ++tried;
    CHECK(tried > 10 || !host_fault_possible());
    end();
}

static void a_refusal_while_a_checkpoint_is_written_or_read_leaves_nothing_behind(void)
{
    fail_in_turn(META_IO_CHECKPOINT);
}

static void a_refusal_while_hdf5_is_written_or_read_leaves_nothing_behind(void)
{
    fail_in_turn(META_IO_HDF5);
}

static void a_refusal_while_numpy_is_written_or_read_leaves_nothing_behind(void)
{
    fail_in_turn(META_IO_NPY);
}

static void a_refusal_while_vtk_is_written_leaves_nothing_behind(void)
{
    fail_in_turn(META_IO_VTK);
}

static void start(int *argc, char ***argv)
{
    host_fault_of_library("libmeta_io");
    test_comm_start(argc, argv);
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

TEST_MAIN_WITH(&setting,
               PROMISE(a_refusal_while_a_checkpoint_is_written_or_read_leaves_nothing_behind),
               PROMISE(a_refusal_while_hdf5_is_written_or_read_leaves_nothing_behind),
               PROMISE(a_refusal_while_numpy_is_written_or_read_leaves_nothing_behind),
               PROMISE(a_refusal_while_vtk_is_written_leaves_nothing_behind))
