/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm_handle.h
 *  Converts communicators to and from Fortran's integer handles. MPI_Comm_fromint() and
 *  MPI_Comm_toint() of MPI 5 take the same integers as MPI_Comm_f2c() and MPI_Comm_c2f(), which the
 *  standard ABI lacks. */
#ifndef META_FORTRAN_COMM_HANDLE_H
#define META_FORTRAN_COMM_HANDLE_H

#include <mpi.h>

/** The communicator with Fortran's @p handle. */
static inline MPI_Comm comm_of_handle(int handle)
{
#if MPI_VERSION >= 5
    return MPI_Comm_fromint(handle);
#else
    return MPI_Comm_f2c(handle);
#endif
}

/** Fortran's handle of @p comm. */
static inline int handle_of_comm(MPI_Comm comm)
{
#if MPI_VERSION >= 5
    return MPI_Comm_toint(comm);
#else
    return MPI_Comm_c2f(comm);
#endif
}

#endif
