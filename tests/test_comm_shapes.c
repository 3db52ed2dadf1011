/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_shapes.c
 *  Halo plans, redistribution and files do not read or write a grid by a box that contradicts its
 *  shape either. */
/* TEST: backends=openmp,opencl auto=yes np=1,2 labels=comm,io */
#include "meta_io.h"
#include "scratch.h"
#include "test_mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 300 };
static const int64_t cells[2] = {N, N};
static const int width[2] = {1, 1};
static const double one = 1;

/* A padded grid of ones, its box, and one of an array whose rows are longer. */
static void *new_grid(meta_box *own, meta_box *other)
{
    void *grid = NULL;
    if (!CHECK_OK(meta_grid_alloc(&grid, own, 2, cells, width, width, META_F64))) return NULL;
    CHECK_OK(meta_fill(grid, own->size[0] * own->size[1], &one, META_F64, NULL));
    *other = *own;
    other->size[0] += 8;
    return grid;
}

static void check_untouched(const void *grid, const meta_box *own)
{
    meta_box all = *own;
    double least = 0, most = 0;
    for (int d = 0; d < 2; ++d) all.start[d] = 0, all.end[d] = all.size[d];
    CHECK_OK(meta_reduce(&least, grid, &all, META_MIN, META_F64, NULL));
    CHECK_OK(meta_reduce(&most, grid, &all, META_MAX, META_F64, NULL));
    CHECK_NEAR(least, 1, 0);
    CHECK_NEAR(most, 1, 0);
}

/* Of all ranks along dimension 1. */
static MPI_Comm line_of_ranks(void)
{
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){1, test_size}, (int[]){1, 1}, 0, &cart);
    return cart;
}

static void an_exchange_refuses_a_grid_of_another_shape_than_the_plans(void)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_box own;
    meta_halo halo, right;
    void *plain, *grid = new_grid(&own, &desc.box);
    if (!grid) return;
    desc.cart = line_of_ranks();
    for (int d = 0; d < 2; ++d) desc.low[d] = desc.high[d] = 1;
    if (!CHECK_OK(meta_halo_create(&halo, &desc))) return;
    CHECK_ERR_NAMES(meta_halo_exchange(halo, &grid, NULL), META_ERR_ARGUMENT, "fields[0]");
    CHECK_CONTAINS(meta_last_error(), "meta_grid_alloc() returned");
    CHECK_OK(meta_flush());
    check_untouched(grid, &own);
    const int64_t elements = desc.box.size[0] * desc.box.size[1];
    CHECK_OK(meta_alloc(&plain, (size_t)elements * 8));
    CHECK_OK(meta_fill(plain, elements, &one, META_F64, NULL));
    CHECK_OK(meta_halo_exchange(halo, &plain, NULL)); /* the plan is not broken */
    desc.box = own;
    CHECK_OK(meta_halo_create(&right, &desc));
    CHECK_OK(meta_halo_exchange(right, &grid, NULL));
    CHECK_OK(meta_halo_free(&halo));
    CHECK_OK(meta_halo_free(&right));
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_free(plain));
    MPI_Comm_free(&desc.cart);
}

static void redistribution_refuses_a_grid_of_another_shape_than_its_box(void)
{
    int64_t columns[2] = {0, N}, rows[16 + 1];
    const meta_cuts cuts = {{columns, rows}};
    meta_box own, other;
    MPI_Comm cart = line_of_ranks();
    void *from = new_grid(&own, &other), *to = new_grid(&own, &other);
    for (int k = 0; k <= test_size; ++k) rows[k] = (int64_t)k * N;
    for (int end = 0; from && to && end < 2; ++end) {
        const meta_redistribute_field wrong = {META_F64, from, end == 0 ? other : own, to,
                                               end == 1 ? other : own};
        CHECK_ERR_NAMES(meta_redistribute(cart, &cuts, &cuts, 1, &wrong), META_ERR_ARGUMENT,
                        end == 0 ? "field[0].from" : "field[0].to");
        check_untouched(to, &own);
    }
    const meta_redistribute_field right = {META_F64, from, own, to, own};
    CHECK_OK(meta_redistribute(cart, &cuts, &cuts, 1, &right));
    CHECK_OK(meta_free(from));
    CHECK_OK(meta_free(to));
    MPI_Comm_free(&cart);
}

static void a_file_is_not_made_of_a_grid_by_a_box_of_another_shape(void)
{
    char folder[256] = "", path[300];
    meta_io_desc desc = META_IO_DESC_INIT;
    meta_io_file file;
    meta_box own, other;
    void *grid = new_grid(&own, &other);
    if (!grid) return;
    if (test_rank == 0) scratch_make("shapes", folder, sizeof folder);
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/u", folder);
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    meta_io_field field = {
        "u", grid, META_F64, other, {0, (int64_t)test_rank * N}, {N, (int64_t)test_size * N}};
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT, "field[0].buf");
    CHECK(access(path, F_OK) != 0);
    field.box = own;
    CHECK_OK(meta_io_write(path, &desc, 1, &field));
    if (CHECK_OK(meta_io_open(&file, path, &desc))) {
        field.box = other;
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_ARGUMENT, "field[0].buf");
        check_untouched(grid, &own);
        field.box = own;
        CHECK_OK(meta_io_read(file, 1, &field));
        CHECK_OK(meta_io_close(&file));
    }
    CHECK_OK(meta_free(grid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) scratch_remove(folder);
}

TEST_COMM_MAIN(PROMISE(an_exchange_refuses_a_grid_of_another_shape_than_the_plans),
               PROMISE(redistribution_refuses_a_grid_of_another_shape_than_its_box),
               PROMISE(a_file_is_not_made_of_a_grid_by_a_box_of_another_shape))
