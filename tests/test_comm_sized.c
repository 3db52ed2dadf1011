/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_sized.c
 *  Structures of meta_comm.h and meta_io.h that begin with their size, of a program compiled with
 *  later headers; see test_sized.c. */
/* TEST: backends=openmp np=1,2 labels=comm,io */
#include <stdio.h>
#include <unistd.h>

#include "longer.h"
#include "meta_io.h"
#include "test_mpi.h"

static MPI_Comm cart;
static int64_t cut[2][3][16];
static const meta_cuts now = {{cut[0][0], cut[0][1], cut[0][2]}},
                       next = {{cut[1][0], cut[1][1], cut[1][2]}};
static double numbers[8];
static meta_io_field field;
static meta_io_file opened;
static char path[64];

static meta_err halo_create(void *structure)
{
    meta_halo plan;
    const meta_err error = meta_halo_create(&plan, structure);
    return error == META_OK ? meta_halo_free(&plan) : error;
}
static meta_err comm_traffic(void *structure)
{
    return meta_comm_traffic(structure);
}
static meta_err decompose(void *structure)
{
    return meta_decompose(&now, structure, NULL);
}
static meta_err rebalance(void *structure)
{
    return meta_rebalance(&next, &now, structure, 1, NULL, NULL);
}
static meta_err balance(void *structure)
{
    return meta_balance(&next, &now, structure, 1, 2, NULL);
}
static meta_err io_write(void *structure)
{
    return meta_io_write(path, structure, 1, &field);
}
static meta_err io_write_begin(void *structure)
{
    meta_io_request request;
    const meta_err error = meta_io_write_begin(path, structure, 1, &field, &request);
    return error == META_OK ? meta_io_wait(&request) : error;
}
static meta_err io_open(void *structure)
{
    meta_io_file one;
    const meta_err error = meta_io_open(&one, path, structure);
    return error == META_OK ? meta_io_close(&one) : error;
}
static meta_err io_file_info(void *structure)
{
    return meta_io_file_info(opened, structure);
}

static void newer_structures_are_taken_where_they_say_nothing_new(void)
{
    const int dims[1] = {test_size}, periods[1] = {1};
    int number = (int)getpid();
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/tmp/meta-sized-%d.npy", number);
    const meta_box box = {1, {8}, {0}, {8}}, inside = {1, {8}, {2}, {6}};
    const meta_halo_desc halo = META_HALO_DESC(cart, inside, 1, META_HALO_FACES, 1, META_F64);
    const meta_traffic traffic = META_TRAFFIC_INIT;
    const meta_io_file_desc about = META_IO_FILE_DESC_INIT;
    meta_decompose_desc grid = META_DECOMPOSE_DESC_INIT;
    meta_io_desc desc = META_IO_DESC_INIT;
    grid.cart = desc.comm = cart;
    grid.cells[0] = 12;
    desc.format = META_IO_NPY;
    field = (meta_io_field){.name = "array", .buf = numbers, .type = META_F64, .box = box};
    field.first[0] = 8 * test_rank;
    field.cells[0] = 8 * test_size;
    if (!CHECK_OK(meta_io_write(path, &desc, 1, &field))) return;
    if (!CHECK_OK(meta_io_open(&opened, path, &desc))) return;
    const longer_case all[] = {
        LONGER_IN(meta_halo_desc, &halo, halo_create, META_OK),
        LONGER_OUT(meta_traffic, &traffic, comm_traffic, META_OK),
        LONGER_IN(meta_decompose_desc, &grid, decompose, META_OK),
        LONGER_IN(meta_decompose_desc, &grid, rebalance, META_OK),
        LONGER_IN(meta_decompose_desc, &grid, balance, META_OK),
        LONGER_IN(meta_io_desc, &desc, io_write, META_OK),
        LONGER_IN(meta_io_desc, &desc, io_write_begin, META_OK),
        LONGER_IN(meta_io_desc, &desc, io_open, META_OK),
        LONGER_OUT(meta_io_file_desc, &about, io_file_info, META_OK),
    };
    check_longer(all, sizeof all / sizeof *all);
    CHECK_OK(meta_io_close(&opened));
    if (test_rank == 0) unlink(path);
    MPI_Comm_free(&cart);
}

/* One rank alone passes members that the library does not know: all of them are told. */
static void an_error_of_one_rank_alone_ends_the_call_on_all(void)
{
    struct {
        meta_halo_desc desc;
        uint64_t later;
    } newer = {.desc = META_HALO_DESC_INIT, .later = test_rank == 0};
    const int dims[1] = {test_size}, periods[1] = {1};
    meta_halo plan;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    newer.desc.size = sizeof newer;
    newer.desc.cart = cart;
    newer.desc.box = (meta_box){1, {8}, {2}, {6}};
    newer.desc.low[0] = newer.desc.high[0] = 1;
    CHECK_ERR_NAMES(meta_halo_create(&plan, &newer.desc), META_ERR_UNSUPPORTED, "newer");
    newer.later = 0;
    if (CHECK_OK(meta_halo_create(&plan, &newer.desc))) CHECK_OK(meta_halo_free(&plan));
    MPI_Comm_free(&cart);
}

TEST_COMM_MAIN(PROMISE(newer_structures_are_taken_where_they_say_nothing_new),
               PROMISE(an_error_of_one_rank_alone_ends_the_call_on_all))
