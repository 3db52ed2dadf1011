/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_tools.h
 *  The launcher and the compilers of the MPI that libmeta was built with. Where several MPIs are
 *  installed, names without a suffix are those of any of them. */
#ifndef META_MPI_TOOLS_H
#define META_MPI_TOOLS_H

#include <stdbool.h>

typedef enum mpi_tool { MPI_LAUNCHER, MPI_COMPILER, MPI_FORTRAN_COMPILER, MPI_TOOLS } mpi_tool;

/** Its path; NULL where this build has none. */
const char *mpi_tool_path(mpi_tool tool);
/** Print the path, for a shell's $(…). False, and why on standard error, where there is none. */
bool mpi_tool_print(mpi_tool tool);

#endif
