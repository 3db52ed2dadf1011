/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io.h
 *  What the public functions of libmeta_io share. */
#ifndef META_IO_IO_H
#define META_IO_IO_H

#include "formats/formats.h"

/* write.c */
/** Check the descriptions of fields as far as no grid is needed; local. */
meta_err io_fields_check(int fields, const meta_io_field *field);

/* arguments.c */
/** Copy a description, which then has a communicator, by which other ranks can be told of what is
 * wrong with the rest; local. */
meta_err io_desc_get(meta_io_desc *own, const meta_io_desc *desc);
meta_err io_path_check(const char *path);

/** What the checksum of piece @p k of field @p f depends on besides its bytes. */
static inline uint64_t io_piece_seed(int f, int64_t k)
{
    return ((uint64_t)f + 1) << 40 ^ (uint64_t)k;
}

#endif
