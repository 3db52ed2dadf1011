/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_error.c
 *  MPI's error codes as the library's errors, with MPI's message. */
#include "base/comm_base.h"

meta_err comm_mpi(int code, const char *function)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS) return META_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
    for (int k = 0; k < length; ++k)
        if (text[k] == '\n') text[k] = ' ';
    if (length == 0)
        return core->fail(META_ERR_MPI, "%s failed with MPI's code %d", function, code);
    return core->fail(META_ERR_MPI, "%s: %.*s", function, length, text);
}

meta_err comm_mpi_statuses(int code, const char *function, int count, const MPI_Status *statuses)
{
    if (code == MPI_ERR_IN_STATUS)
        for (int k = 0; k < count; ++k)
            if (statuses[k].MPI_ERROR != MPI_SUCCESS && statuses[k].MPI_ERROR != MPI_ERR_PENDING)
                return comm_mpi(statuses[k].MPI_ERROR, function);
    return comm_mpi(code, function);
}
