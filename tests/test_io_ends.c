/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_io_ends.c
 *  Files that a program has begun and not ended when it leaves the job: those that are being
 * written are completed, those that are open are closed, and each is named. */
/* TEST: backends=openmp np=1,2 labels=io */
#include <stdio.h>
#include <unistd.h>

#include "meta_io.h"
#include "scratch_mpi.h"
#include "test_mpi.h"

enum { CELLS = 5 };
static char folder[256];

static void begin(void)
{
    char name[300];
    scratch_share("io-ends", folder, sizeof folder);
    snprintf(name, sizeof name, "%s/log%d", folder, test_rank);
    setenv("META_LOG_FILE", name, 1);
    test_require(meta_comm_attach(MPI_COMM_WORLD));
}

static void end(void)
{
    unsetenv("META_LOG_FILE");
    scratch_remove_shared(folder);
}

/* This rank's part of a line of cells. */
static meta_io_field part(double *cells)
{
    for (int k = 0; k < CELLS; ++k) cells[k] = 10.5 * test_rank + k;
    return (meta_io_field){"u",
                           cells,
                           META_F64,
                           {1, {CELLS}, {0}, {CELLS}},
                           {CELLS * test_rank},
                           {(int64_t)CELLS * test_size}};
}

static void begin_file(const char *name, MPI_Comm comm, meta_io_request *request)
{
    char path[320];
    double cells[CELLS];
    meta_io_field field = part(cells);
    meta_io_desc desc = META_IO_DESC_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    desc.comm = comm;
    desc.format = META_IO_NPY;
    if (comm == MPI_COMM_SELF) field.first[0] = 0, field.cells[0] = CELLS;
    CHECK_OK(meta_io_write_begin(path, &desc, 1, &field, request));
}

static void open_file(const char *name, meta_io_file *file)
{
    char path[320];
    meta_io_desc desc = META_IO_DESC_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    desc.comm = MPI_COMM_WORLD;
    CHECK_OK(meta_io_open(file, path, &desc));
}

static void check_log(const char *text, bool is_there)
{
    char path[320], log[8192] = "";
    snprintf(path, sizeof path, "%s/log%d", folder, test_rank);
    scratch_read(path, log, sizeof log);
    if (is_there) CHECK_CONTAINS(log, text);
    else CHECK(!strstr(log, text));
}

static void a_file_that_nobody_waited_for_is_completed_and_named(void)
{
    char own[32];
    double cells[CELLS] = {0};
    meta_io_request first, second, third;
    meta_io_file file;
    begin();
    snprintf(own, sizeof own, "own%d.npy", test_rank);
    begin_file("first.npy", MPI_COMM_WORLD, &first);
    begin_file(own, MPI_COMM_SELF, &second);
    begin_file("third.npy", MPI_COMM_WORLD, &third);
    CHECK_OK(meta_io_wait(&third));
    CHECK_OK(meta_comm_finalize());
    check_log("first.npy was never waited for", true);
    check_log(own, true);
    check_log("third.npy", false);
    unsetenv("META_LOG_FILE");
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_ERR(meta_io_wait(&first), META_ERR_HANDLE);
    open_file("first.npy", &file);
    meta_io_field field = part(cells);
    memset(cells, 0, sizeof cells);
    field.name = "array"; /* that of NumPy files */
    CHECK_OK(meta_io_read(file, 1, &field));
    for (int k = 0; k < CELLS; ++k) CHECK_NEAR(cells[k], 10.5 * test_rank + k, 0);
    CHECK_OK(meta_io_close(&file));
    CHECK_OK(meta_comm_finalize());
    end();
}

static void an_error_of_such_a_file_is_that_of_the_end(void)
{
    char path[320];
    meta_io_request request;
    begin();
    begin_file("lost.npy", MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/lost.npy.partial", folder);
    if (test_rank == 0) CHECK_INT(unlink(path), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ERR_NAMES(meta_comm_finalize(), META_ERR_FILE, "lost.npy");
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_OK(meta_comm_finalize());
    end();
}

static void a_file_that_is_open_is_closed_and_named(void)
{
    meta_io_request request;
    meta_io_file file, closed;
    begin();
    begin_file("a.npy", MPI_COMM_WORLD, &request);
    CHECK_OK(meta_io_wait(&request));
    open_file("a.npy", &file);
    open_file("a.npy", &closed);
    CHECK_OK(meta_io_close(&closed));
    CHECK_OK(meta_comm_finalize());
    check_log("a.npy was never closed: call meta_io_close()", true);
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_ERR(meta_io_close(&file), META_ERR_HANDLE);
    CHECK_OK(meta_comm_finalize());
    end();
}

TEST_MPI_MAIN(PROMISE(a_file_that_nobody_waited_for_is_completed_and_named),
              PROMISE(an_error_of_such_a_file_is_that_of_the_end),
              PROMISE(a_file_that_is_open_is_closed_and_named))
