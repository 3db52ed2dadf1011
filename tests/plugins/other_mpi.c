/* SPDX-License-Identifier: BSD-3-Clause */
/** @file other_mpi.c
 *  A second MPI library, as far as libmeta_comm can tell: it has symbols of MPICH and of Open MPI.
 */
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API extern int ompi_mpi_comm_world, MPIR_Err_create_code;
int ompi_mpi_comm_world, MPIR_Err_create_code;

/* Nobody may call this one. */
API int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv, (void)required, (void)provided;
    abort();
}

API int PMPI_Get_library_version(char *version, int *length);
int PMPI_Get_library_version(char *version, int *length)
{
    enum { LENGTH = 8191 }; /* as long as MPICH's may be, and not as Open MPI's */
    *length = LENGTH;
    memset(version, 'x', LENGTH);
    version[LENGTH] = '\0';
    memcpy(version, "Other MPI\t7.5,\n", sizeof "Other MPI\t7.5,\n" - 1);
    return 0;
}
