/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_io_limits.c
 *  What formats and their readers can hold is written whole, and what they cannot is refused or
 * left out by name; what is no regular file is not waited for. */
/* TEST: backends=openmp np=1,2 labels=io */
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meta_io.h"
#include "scratch_mpi.h"
#include "test_mpi.h"

enum { CELLS = 4 };
static char folder[256], path[320];
static double cells[CELLS * CELLS];

static void begin(const char *name)
{
    scratch_share("io-limits", folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void end(void)
{
    scratch_remove_shared(folder);
}

/* A square of which rank 0 has all cells. */
static meta_io_field square(const char *name, meta_type type)
{
    meta_io_field field = {name,   cells,         type, {2, {CELLS, CELLS}, {0, 0}, {CELLS, CELLS}},
                           {0, 0}, {CELLS, CELLS}};
    if (test_rank > 0) field.box.end[1] = 0;
    return field;
}

static meta_io_desc hdf5(void)
{
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_HDF5;
    return desc;
}

static bool has_hdf5(void)
{
    int has = 0;
    CHECK_OK(meta_io_has(META_IO_HDF5, &has));
    return has == 1;
}

/* Attributes of 64 KiB and more are stored in another way. */
static void an_attribute_may_be_large(void)
{
    static const int64_t counts[] = {8183, 8184, 8192, 100000};
    if (!has_hdf5()) return;
    begin("large.h5");
    double *numbers = malloc(100000 * sizeof *numbers);
    for (int k = 0; k < 100000; ++k) numbers[k] = 0.25 * k;
    for (size_t n = 0; n < sizeof counts / sizeof *counts; ++n) {
        meta_io_field field = square("u", META_F64);
        meta_io_attribute there, given[] = {{"table", NULL, META_F64, counts[n], numbers},
                                            {"step", NULL, META_F64, 1, numbers + 3}};
        meta_io_file file;
        meta_io_desc desc = hdf5();
        desc.attributes = 2;
        desc.attribute = given;
        test_case("%d numbers", (int)counts[n]);
        if (!CHECK_OK(meta_io_write(path, &desc, 1, &field))) continue;
        CHECK_OK(meta_io_open(&file, path, &desc));
        if (CHECK_OK(meta_io_attribute_find(file, "table", &there)) &&
            CHECK_INT((int)there.count, (int)counts[n]))
            CHECK(memcmp(there.numbers, numbers, (size_t)counts[n] * sizeof *numbers) == 0);
        CHECK_OK(meta_io_attribute_find(file, "step", &there));
        CHECK_OK(meta_io_read(file, 1, &field));
        CHECK_OK(meta_io_close(&file));
    }
    free(numbers);
    end();
}

static void an_error_of_hdf5_has_its_reason(void)
{
    if (!has_hdf5()) return;
    begin("broken.h5");
    meta_io_file file;
    meta_io_field field = square("u", META_F64);
    meta_io_desc desc = hdf5();
    CHECK_OK(meta_io_write(path, &desc, 1, &field));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) CHECK_INT(truncate(path, 600), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "by HDF5: ");
    CHECK(!strstr(meta_last_error(), "gives no reason"));
    end();
}

/* ParaView's reader drops the last letter of a name unless it is of ASCII, takes 32 bits of a UInt
 * and ends names at a colon. */
static void what_viewers_misread_is_written_otherwise_or_left_out(void)
{
    char text[8192] = "", file_name[340];
    if (!has_hdf5()) return;
    begin("names.h5");
    meta_io_field fields[] = {square("a:b", META_F64), square("\xce\xb1", META_F64),
                              square("big", META_U64), square("small ", META_U8)};
    meta_io_desc desc = hdf5();
    CHECK_OK(meta_io_write(path, &desc, 4, fields));
    snprintf(file_name, sizeof file_name, "%s.xmf", path);
    CHECK(scratch_read(file_name, text, sizeof text));
    CHECK_CONTAINS(text, "names.h5:/\xce\xb1/</DataItem>");
    CHECK_CONTAINS(text, "names.h5:/small /</DataItem>");
    CHECK_CONTAINS(text, "NumberType=\"Int\" Precision=\"8\" Dimensions=\"4 4\">names.h5:/big/<");
    CHECK(!strstr(text, "a:b"));
    /* The file itself has all. */
    meta_io_file file;
    CHECK_OK(meta_io_open(&file, path, &desc));
    CHECK_OK(meta_io_read(file, 1, &fields[0]));
    CHECK_OK(meta_io_close(&file));
    snprintf(path, sizeof path, "%s/12:30.h5", folder);
    CHECK_OK(meta_io_write(path, &desc, 1, fields + 1));
    snprintf(file_name, sizeof file_name, "%s.xmf", path);
    CHECK(access(file_name, F_OK) != 0 && access(path, F_OK) == 0);
    end();
}

static void a_named_pipe_is_not_waited_for(void)
{
    meta_io_file file;
    meta_io_field field = square("u", META_F64);
    meta_io_desc desc = hdf5();
    desc.format = META_IO_ANY;
    begin("pipe");
    if (test_rank == 0) CHECK_INT(mkfifo(path, 0600), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "is not a regular file");
    desc.format = META_IO_NPY;
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_FILE, "not a regular file");
    CHECK_ERR_NAMES(meta_io_open(&file, "/dev/null", &desc), META_ERR_FILE, "not a regular file");
    end();
}

TEST_COMM_MAIN(PROMISE(an_attribute_may_be_large), PROMISE(an_error_of_hdf5_has_its_reason),
               PROMISE(what_viewers_misread_is_written_otherwise_or_left_out),
               PROMISE(a_named_pipe_is_not_waited_for))
