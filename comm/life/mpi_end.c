/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_end.c
 *  A program that calls MPI_Finalize() before meta_comm_finalize(): MPI then frees MPI_COMM_SELF
 * first, with its attributes, while messages are possible still (MPI 4.1, 11.2.4). */
#include "life/life.h"

static int key = MPI_KEYVAL_INVALID;
static void (*at_end)(void); /* NULL: the attribute is deleted by the library */

static int deleted(MPI_Comm comm, int of, void *value, void *extra)
{
    (void)comm, (void)of, (void)value, (void)extra;
    if (at_end) at_end();
    return MPI_SUCCESS;
}

meta_err comm_mpi_end_watch(void (*call)(void))
{
    COMM_MPI(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, deleted, &key, NULL));
    COMM_MPI(MPI_Comm_set_attr, (MPI_COMM_SELF, key, NULL));
    at_end = call;
    return META_OK;
}

void comm_mpi_end_forget(bool by_mpi)
{
    const bool is_set = at_end != NULL;
    at_end = NULL;
    if (is_set && !by_mpi) MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    if (key != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&key);
}
