/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launcher.c
 *  Whether the launcher that started this program belongs to the MPI it is linked to. Where not,
 *  every process would silently be rank 0 of 1. */
#include "life/life.h"

#include <stdlib.h>
#include <string.h>

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* "MPICH Version: 4.0.2 Release date …" begins with what is of interest. */
void comm_shorten_version(char *version)
{
    version[strcspn(version, ",\n")] = '\0';
    for (char *c = version; *c; ++c)
        if (*c == '\t') *c = ' ';
}

meta_err comm_launcher_check(void)
{
    static const char text[] =
        "this program is linked to %s, but %s started its %d processes, so that each is rank 0 of "
        "1: start it with the mpiexec of %s: meta-info --launcher names it";
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, size = 0, processes;
    COMM_MPI(MPI_Comm_size, (MPI_COMM_WORLD, &size));
    if (size != 1) return META_OK;
    COMM_MPI(MPI_Get_library_version, (version, &length));
    const bool open_mpi = strstr(version, "Open MPI") != NULL;
    comm_shorten_version(version);
    const char *own = strstr(version, "MPICH") ? "MPICH (mpiexec.mpich on Debian)" : "that MPI";
    if (!open_mpi && (processes = number_in("OMPI_COMM_WORLD_SIZE")) > 1)
        return core->fail(META_ERR_MPI, text, version, "Open MPI's launcher", processes, own);
    if (open_mpi && !getenv("OMPI_COMM_WORLD_SIZE") && (processes = number_in("PMI_SIZE")) > 1)
        return core->fail(META_ERR_MPI, text, version, "the launcher of MPICH or another MPI",
                          processes, "Open MPI (mpiexec.openmpi on Debian)");
    return META_OK;
}
