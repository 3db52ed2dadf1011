/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cart.c
 *  MPI functions for the Fortran tests, without mpi.mod: communicators are integer handles. */
#include "../../fortran/comm_handle.h"

#include <stddef.h>

int test_cart_new(int ndims, const int *periodic);
int test_world(void);
void test_mpi_start(void);
int test_mpi_end(void);
void test_cart_free(int handle);
void test_cart_place(int handle, int ndims, int *parts, int *coords, int *low, int *high);

/** All ranks in a grid of @p ndims dimensions. */
int test_cart_new(int ndims, const int *periodic)
{
    int size, parts[10] = {0};
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, ndims, parts);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, parts, periodic, 0, &cart);
    return handle_of_comm(cart);
}

/** MPI_COMM_WORLD, which is no Cartesian one. */
int test_world(void)
{
    return handle_of_comm(MPI_COMM_WORLD);
}

void test_mpi_start(void)
{
    MPI_Init(NULL, NULL);
}

/** End MPI. @return the number of ranks, counted by all of them */
int test_mpi_end(void)
{
    int one = 1, ranks = 0;
    MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return ranks;
}

void test_cart_free(int handle)
{
    MPI_Comm cart = comm_of_handle(handle);
    MPI_Comm_free(&cart);
}

/** The process grid, this rank's place in it, and its neighbours along each dimension. */
void test_cart_place(int handle, int ndims, int *parts, int *coords, int *low, int *high)
{
    int periods[10];
    const MPI_Comm cart = comm_of_handle(handle);
    MPI_Cart_get(cart, ndims, parts, periods, coords);
    for (int d = 0; d < ndims; ++d) MPI_Cart_shift(cart, d, 1, low + d, high + d);
}
