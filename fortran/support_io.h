/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support_io.h
 *  The functions of meta_io.h that take an MPI_Comm, with Fortran's integer handle instead and
 *  descriptions as arguments. Bound in meta_c_io.f90. */
#ifndef META_FORTRAN_SUPPORT_IO_H
#define META_FORTRAN_SUPPORT_IO_H

#include "meta_io.h"

/** With a request it is meta_io_write_begin(). */
meta_err metaf_io_write(const char *path, int comm, meta_io_format format, int attributes,
                        const meta_io_attribute *attribute, int64_t number, int64_t keep,
                        const double *origin, const double *spacing, const char *series,
                        int64_t memory, int axis, int64_t plane, double low, double high,
                        int fields, const meta_io_field *field, meta_io_request *request);
meta_err metaf_io_open(meta_io_file *file, const char *path, int comm, meta_io_format format,
                       int64_t number);
meta_err metaf_io_last(int comm, const char *path, int64_t *number);

#endif
