/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_io.c
 *  The examples of the manual pages of meta_io.h, see test_manual_examples.c. */
/* TEST: backends=openmp np=1,3 labels=io,documents */
#include "meta_io.h"
#include "scratch.h"
#include "test_mpi.h"

#include <stdio.h>
#include <unistd.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_OK(call)) return;                                                               \
    } while (0)

enum { NX = 16, NY = 12 };
static char folder[256], before[1024];

/* The examples' files lie in the folder of the process. */
static void enter(void)
{
    CHECK(getcwd(before, sizeof before) != NULL);
    if (test_rank == 0) scratch_make("manual-io", folder, sizeof folder);
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_INT(chdir(folder), 0);
}

static void leave(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(chdir(before), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) scratch_remove(folder);
}

/* This rank's rows of a grid, with a ghost cell around. */
static void make_grid(void **grid, meta_box *box, int64_t *first)
{
    const int ones[2] = {1, 1};
    *first = (int64_t)NY * test_rank / test_size;
    const int64_t cells[2] = {NX, (int64_t)NY * (test_rank + 1) / test_size - *first};
    CHECK_OK(meta_grid_alloc(grid, box, 2, cells, ones, ones, META_F64));
}

static void files_are_written_and_read(void)
{
    void *rho;
    meta_box box;
    int64_t first_row;
    double value = 1.5, time = 0.25;
    enter();
    make_grid(&rho, &box, &first_row);
    TRY(meta_fill_box(rho, &box, &value, META_F64, NULL));
    {
        /* EXAMPLE: meta_io_write meta_io_has */
        /* This rank's rows of a grid of NX × NY cells, from first_row on, in the box of a device
         * buffer. */
        const meta_io_attribute attribute = {"time", NULL, META_F64, 1, &time};
        const meta_io_field field = {"rho", rho, META_F64, box, {0, first_row}, {NX, NY}};
        meta_io_desc desc = META_IO_DESC_INIT;
        int has_hdf5;
        TRY(meta_io_has(META_IO_HDF5, &has_hdf5));
        desc.comm = MPI_COMM_WORLD;
        desc.format = has_hdf5 ? META_IO_HDF5 : META_IO_CHECKPOINT;
        desc.attributes = 1;
        desc.attribute = &attribute;
        TRY(meta_io_write("run", &desc, 1, &field));
        /* END OF EXAMPLE */
        desc.format = META_IO_CHECKPOINT;
        {
            /* EXAMPLE: meta_io_write_begin meta_io_test meta_io_wait */
            /* Compute on while the file is written. */
            meta_io_request request;
            int done = 0;
            TRY(meta_io_write_begin("cp", &desc, 1, &field, &request));
            TRY(meta_fill_box(rho, &box, &value, META_F64, NULL)); /* the buffer may change */
            TRY(meta_io_test(request, &done));
            if (!done) printf("the disk is slower than the device\n");
            TRY(meta_io_wait(&request)); /* on all ranks: then the file is there */
            /* END OF EXAMPLE */
        }
    }
    value = 0;
    time = 0;
    TRY(meta_fill_box(rho, &box, &value, META_F64, NULL));
    {
        /* EXAMPLE: meta_io_open meta_io_read meta_io_attribute_find meta_io_close */
        /* Continue from the last checkpoint cp.0, cp.1 …, with any cuts of the grid. */
        meta_io_file file;
        meta_io_attribute found;
        const meta_io_field field = {"rho", rho, META_F64, box, {0, first_row}, {NX, NY}};
        meta_io_desc desc = META_IO_DESC_INIT;
        desc.comm = MPI_COMM_WORLD;
        desc.format = META_IO_CHECKPOINT;
        TRY(meta_io_open(&file, "cp", &desc));
        TRY(meta_io_attribute_find(file, "time", &found));
        time = *(const double *)found.numbers;
        TRY(meta_io_read(file, 1, &field));
        TRY(meta_io_close(&file));
        /* END OF EXAMPLE */
    }
    CHECK_NEAR(time, 0.25, 0);
    TRY(meta_reduce(&value, rho, &box, META_MIN, META_F64, NULL));
    CHECK_NEAR(value, 1.5, 0);
    TRY(meta_free(rho));
    leave();
}

static void files_are_described(void)
{
    double value = 3;
    const meta_io_attribute attribute = {"title", "a text", META_F64, 0, NULL};
    const meta_io_field field = {"u", &value, META_F64, {1, {1}, {0}, {test_rank == 0}}, {0}, {1}};
    meta_io_desc desc = META_IO_DESC_INIT;
    int64_t last = -2;
    enter();
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    desc.attributes = 1;
    desc.attribute = &attribute;
    TRY(meta_io_write("cp", &desc, 1, &field));
    {
        /* EXAMPLE: meta_io_file_info meta_io_field_info meta_io_attribute_info */
        meta_io_file file;
        meta_io_file_desc has = META_IO_FILE_DESC_INIT;
        TRY(meta_io_open(&file, "cp", &desc));
        TRY(meta_io_file_info(file, &has));
        printf("%s:\n", has.path);
        for (int k = 0; k < has.fields; ++k) {
            meta_io_field f;
            TRY(meta_io_field_info(file, k, &f));
            printf("  field %s of %d dimensions\n", f.name, f.box.ndim);
        }
        for (int k = 0; k < has.attributes; ++k) {
            meta_io_attribute a;
            TRY(meta_io_attribute_info(file, k, &a));
            printf("  attribute %s: %s\n", a.name, a.text ? a.text : "numbers");
        }
        TRY(meta_io_close(&file));
        /* END OF EXAMPLE */
        CHECK_INT(has.fields, 1);
        CHECK_INT(has.attributes, 1);
    }
    {
        /* EXAMPLE: meta_io_last */
        TRY(meta_io_last(MPI_COMM_WORLD, "cp", &last));
        if (last < 0) printf("there is no checkpoint: begin anew\n");
        /* END OF EXAMPLE */
    }
    CHECK_INT(last, 0);
    leave();
}

TEST_COMM_MAIN(PROMISE(files_are_written_and_read), PROMISE(files_are_described))
