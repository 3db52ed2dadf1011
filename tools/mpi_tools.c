/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_tools.c
 *  The launcher and the compilers that configure has found. */
#include "config.h"

#include "mpi_tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *option, *path, *reason; /* why there is none */
} tools[MPI_TOOLS] = {
    {"--launcher", META_MPIEXEC, "configure has found no mpiexec beside " META_MPICC},
    {"--compiler", META_MPICC, ""},
    {"--fortran-compiler", META_MPIFORT,
     "libmeta was built without the Fortran module, or there "
     "is no mpifort beside " META_MPICC},
};

const char *mpi_tool_path(mpi_tool tool)
{
    return *tools[tool].path != '\0' ? tools[tool].path : NULL;
}

bool mpi_tool_print(mpi_tool tool)
{
    const char *option = tools[tool].option, *path = mpi_tool_path(tool);
    if (*META_MPICC == '\0')
        fprintf(stderr, "meta-info: %s: libmeta was built without MPI\n", option);
    else if (path == NULL) fprintf(stderr, "meta-info: %s: %s\n", option, tools[tool].reason);
    else if (access(path, X_OK) != 0)
        fprintf(stderr,
                "meta-info: %s: %s, of the MPI that libmeta was built with, cannot be run: %s; "
                "install that MPI (%s), or build libmeta with another one\n",
                option, path, strerror(errno), META_MPI_KIND);
    else return puts(path) >= 0;
    return false;
}
