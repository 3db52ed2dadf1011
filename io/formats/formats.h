/* SPDX-License-Identifier: BSD-3-Clause */
/** @file formats.h
 *  What a file has in front of its data, and how each format stores it. The data itself is written
 * and read in pieces, each at a place of its own. */
#ifndef META_IO_FORMATS_H
#define META_IO_FORMATS_H

#include "files/files.h"
#include "grid/grid.h"

/** A field in a file. */
typedef struct io_field {
    char *name;
    meta_type type;
    size_t element;
    io_grid grid;
    int64_t offset;   /**< of the data in bytes, where pieces lie one behind the other; else -1 */
    int64_t *address; /**< of each piece otherwise; NULL where only the format's library knows */
    int64_t sums;     /**< of the checksums of pieces, 8 bytes each; -1: there are none */
} io_field;

/** All that a file has but its data. */
typedef struct io_head {
    int fields, attributes;
    io_field *field;
    meta_io_attribute *attribute; /**< with memory of its own */
} io_head;

/* table.c */
/** Copy descriptions; only grid.ndim, cells and count are set of grids. */
meta_err io_head_copy(io_head *head, int fields, const meta_io_field *field, int attributes,
                      const meta_io_attribute *attribute);
/** Add one; the memory is copied. */
meta_err io_head_add_field(io_head *head, const char *name, meta_type type, int ndim,
                           const int64_t *cells);
meta_err io_head_add_attribute(io_head *head, const meta_io_attribute *attribute);
void io_head_free(io_head *head);
/** The head as bytes, a multiple of 8, to be freed; NULL: no memory. */
void *io_head_encode(const io_head *head, int64_t *bytes);
/** The same back; false where they are no head, or no memory is left for it. */
bool io_head_decode(io_head *head, const void *bytes, int64_t count);

/** A file that is open for reading on this rank. */
typedef struct io_source {
    const char *path;
    const io_head *head;
    int file;      /**< -1: not open yet */
    void *library; /**< of the format's library, NULL: not open yet */
} io_source;

/** A format. Functions that rank 0 alone calls are marked so. */
typedef struct io_format {
    meta_io_format format;
    const char *name;
    bool is_there;   /**< in this build */
    const char *why; /**< not, otherwise: what is to be installed */
    /** Whether the bytes at the beginning of a file are of this format. */
    bool (*is_begun)(const void *start, int64_t bytes);
    /** Whether the format can store the head; local. */
    meta_err (*check)(const io_head *head);
    /** Lay out the file: pieces, offsets and checksums. */
    meta_err (*lay_out)(io_head *head);
    /** Rank 0: write what stands before the data to the file @p partial, which is there and empty;
     * sets addresses. */
    meta_err (*begin)(io_head *head, const char *path, const char *partial);
    /** Rank 0, when all data is on the disk: what makes the file complete; NULL: it is. */
    meta_err (*seal)(const io_head *head, const char *path, int file, int64_t number);
    /** Rank 0, when the file has its name: the files beside it; NULL: none. */
    meta_err (*beside)(const io_head *head, const char *path, const meta_io_desc *desc);
    /** Rank 0: read the head of a file. */
    meta_err (*load)(io_head *head, const char *path, int file, int64_t *number);
    /** Read a piece of field @p f by a library; NULL: it lies at its offset. */
    meta_err (*read)(io_source *source, int f, int64_t k, void *data);
    /** Close what read() opened. */
    void (*close)(io_source *source);
} io_format;

/* formats.c */
/** NULL: there is no such format. */
const io_format *io_format_of(meta_io_format format);
/** META_ERR_UNSUPPORTED where this build does not have it. */
meta_err io_format_check(const io_format *format);

extern const io_format io_checkpoint, io_hdf5, io_npy; /* a file each */

/* xdmf.c */
/** Write PATH.xmf, which describes the HDF5 file @p path. */
meta_err io_xdmf_write(const io_head *head, const char *path, const meta_io_desc *desc);

#endif
