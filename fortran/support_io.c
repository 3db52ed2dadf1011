/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support_io.c
 *  Converts integer handles of communicators to MPI_Comm; see support_io.h. */
#include "support_io.h"

#include "comm_handle.h"

#include <string.h>

meta_err metaf_io_write(const char *path, int comm, meta_io_format format, int attributes,
                        const meta_io_attribute *attribute, int64_t number, int64_t keep,
                        const double *origin, const double *spacing, const char *series,
                        int64_t memory, int axis, int64_t plane, double low, double high,
                        int fields, const meta_io_field *field, meta_io_request *request)
{
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = comm_of_handle(comm);
    desc.format = format;
    desc.attributes = attributes;
    desc.attribute = attribute;
    desc.number = number;
    desc.keep = keep;
    memcpy(desc.origin, origin, sizeof desc.origin);
    memcpy(desc.spacing, spacing, sizeof desc.spacing);
    desc.series = series;
    desc.memory = memory;
    desc.axis = axis;
    desc.plane = plane;
    desc.low = low;
    desc.high = high;
    if (request) return meta_io_write_begin(path, &desc, fields, field, request);
    return meta_io_write(path, &desc, fields, field);
}

meta_err metaf_io_open(meta_io_file *file, const char *path, int comm, meta_io_format format,
                       int64_t number)
{
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = comm_of_handle(comm);
    desc.format = format;
    desc.number = number;
    return meta_io_open(file, path, &desc);
}

meta_err metaf_io_last(int comm, const char *path, int64_t *number)
{
    return meta_io_last(comm_of_handle(comm), path, number);
}
