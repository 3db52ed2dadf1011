/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_io.h
 *  libmeta's files: named fields of a grid that is distributed over ranks, written and read in
 *  parallel, from and to buffers of any device. The rules of meta.h and meta_comm.h hold here as
 *  well: threads, progress and META_TIMEOUT as in meta_comm.h.
 *
 *  Every function with a communicator, or with a file that was opened with one, is collective over
 *  it unless it says that it is local. If a call fails on one rank, it returns the same error on
 *  every rank, and the message names the rank. Only where a rank has no communicator to tell the
 *  others with (a description that is NULL or without a size, MPI_COMM_NULL) that rank alone has
 *  the error, at once; the others wait until it calls as it should, or for META_TIMEOUT.
 *
 *  A file does not depend on how the grid is cut: one that was written by any number of ranks can
 *  be read by any other number with other boxes. Index 0 is x, the fastest, in memory and in files.
 *
 *  A file gets its name when it is complete and on the disk: until then it is called PATH.partial.
 *  So an older file of that name stays as it is if the call fails, the disk is full or the job is
 *  killed.
 *
 *  Host memory: in each call, each rank needs room for three pieces of the file, of at most 4 MiB
 *  each, and some bytes for each rank and each piece.
 *
 *  Ranks exchange their cells by messages, so that each piece is written and read at once by one
 *  rank; files are accessed by the calls of the operating system, not by those of MPI. All ranks
 *  must reach the file by the same path, on a file system that they share. */
#ifndef META_IO_H
#define META_IO_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include "meta_comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ fields and files */

/** File formats. meta_io_has() says which ones this build has. */
typedef enum meta_io_format {
    META_IO_ANY,        /**< when opening: the one that the file's first bytes show */
    META_IO_CHECKPOINT, /**< libmeta's own: files PATH.0, PATH.1 … with checksums, to continue a run
                             with the same bits; for machines of the same byte order */
    META_IO_HDF5,       /**< HDF5: a chunked dataset for each field, and PATH.xmf (XDMF) beside it,
                             which ParaView opens. Files of other programs can be read, too. */
    META_IO_NPY, /**< NumPy: one field without attributes, an array of shape (…, y, x). It has no
                      name: it is read under any, and described as "array". */
    META_IO_VTK, /**< VTK's image data (.vti), compressed, which ParaView opens; fields of
                    the same extents in 1 to 3 dimensions. It is only written. */
    META_IO_PNG, /**< a picture of one plane of one field in 2 or 3 dimensions, by colours from dark
                    (low) to light; without attributes. It is only written. */
    META_IO_FORMAT_COUNT /**< the number of formats */
} meta_io_format;

/** The most bytes of a name in a file, with the terminating null. */
#define META_IO_NAME_BYTES 128

/** A field: an array over a global grid, of which each rank gives, or wants, one box. */
typedef struct meta_io_field {
    const char *name; /**< in the file: UTF-8 without control characters and '/', not empty; the
                         same on every rank, as all but buf, box and first */
    void *buf; /**< this rank's array: a device buffer, of any device, or host memory, on which no
                    work is queued. It may be NULL for an empty box. Writing leaves it alone. */
    meta_type type; /**< of its elements */
    meta_box box;   /**< this rank's cells in the array, whose extents a grid must have (see meta_box in
                         meta.h); others, such as ghosts, are left out when writing and left alone
                         when reading. May be empty. */
    int64_t first[META_MAX_DIM]; /**< the global index of the first cell of the box */
    int64_t cells[META_MAX_DIM]; /**< extents of the global grid, of as many dimensions as box. When
                                      reading, cells[0] may be 0: the file's extents are taken. */
} meta_io_field;

/** A name with numbers or a text, such as the time of a snapshot. */
typedef struct meta_io_attribute {
    const char *name;    /**< as a field's name */
    const char *text;    /**< its text in UTF-8; NULL if it has numbers */
    meta_type type;      /**< of the numbers */
    int64_t count;       /**< how many there are, at least 1 */
    const void *numbers; /**< the numbers, in host memory */
} meta_io_attribute;

/** How a file is written or opened. Set it to META_IO_DESC_INIT first. */
typedef struct meta_io_desc {
    size_t size;                        /**< of this structure */
    MPI_Comm comm;                      /**< the ranks that take part; it is duplicated */
    meta_io_format format;              /**< required for writing */
    int attributes;                     /**< how many there are, 0 or more; for writing */
    const meta_io_attribute *attribute; /**< that many, the same on every rank */
    int64_t number; /**< META_IO_CHECKPOINT: of the file PATH.number. -1 is when writing the one
                       behind the last there is, and when opening the last one. */
    int64_t keep;   /**< META_IO_CHECKPOINT, when writing: once the file is complete, file
                         number - keep is removed; 0: none is */
    double origin[META_MAX_DIM];  /**< coordinates of the grid's corner with index 0, for viewers */
    double spacing[META_MAX_DIM]; /**< edges of a cell, not 0 */
    const char *series; /**< META_IO_VTK: NULL, or a file (.pvd) to which the new file is added with
                           its attribute "time"; those of the same or later times leave the series.
                             It lies in the same folder as the files, or above it. */
    int64_t memory; /**< meta_io_write_begin(): the most bytes of host memory that may wait to be
                       written, on each rank; its start value is 256 MiB */
    int axis; /**< META_IO_PNG: the dimension along which the plane is cut, 0 … 2; -1: the last */
    int64_t plane; /**< META_IO_PNG: which plane, from 0 on; -1: the middle one */
    double low;  /**< META_IO_PNG: the value of the darkest colour; where it is that of the lightest
                    one, both are the least and the greatest finite value of the plane */
    double high; /**< META_IO_PNG: the value of the lightest colour */
} meta_io_desc;
/** Start value of a meta_io_desc. */
#define META_IO_DESC_INIT                                                                          \
    {                                                                                              \
        sizeof(meta_io_desc), MPI_COMM_NULL, META_IO_ANY, 0, NULL, -1, 0, {0},                     \
            {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, NULL, INT64_C(256) << 20, -1, -1, 0, 0                 \
    }

/** Whether this build has @p format; *has is 0 or 1. Local; may be called at any time. */
META_API meta_err meta_io_has(meta_io_format format, int *has);

/* ------------------------------------------------------------------ writing */

/** Write @p fields fields to the file @p path, which is then on the disk. Work that is queued on
 *  the buffers is done before. The boxes of all ranks must cover the global grid of each field, and
 *  no cell twice: give elements that two ranks share, such as those of staggered arrays, on one of
 *  them. META_IO_HDF5 writes PATH.xmf last: the file that it describes is complete.
 *  A field or file whose name has a colon is left out there, with a warning; of META_U64 viewers see
 *  values below 2^63.
 *  @param path    the file's name; of META_IO_CHECKPOINT, the name without the number
 *  @param field   @p fields descriptions with different names
 *  @return META_ERR_FILE if the file cannot be written, with the system's reason; META_ERR_ARGUMENT
 *          for boxes that leave cells out or have cells of others too; META_ERR_BOUNDS for a box
 *          that leaves its array or the grid; META_ERR_MISMATCH if ranks disagree on the path, the
 *          description, or names, types and extents of fields; META_ERR_UNSUPPORTED for a format
 *          that this build does not have, or what the format cannot store */
META_API meta_err meta_io_write(const char *path, const meta_io_desc *desc, int fields,
                                const meta_io_field *field);

/** A file that is being written beside computation; a handle, not a pointer. */
typedef struct meta_io_request {
    uint32_t id; /**< the library's */
} meta_io_request;
/** A handle of no file. */
#define META_IO_REQUEST_NULL                                                                       \
    {                                                                                              \
        0                                                                                          \
    }

/** Begin meta_io_write(): when it returns, the cells are in host memory, or written already as far
 *  as they are more than desc->memory, and the buffers may be changed. A thread of the library
 *  writes them to the disk meanwhile; it calls neither MPI nor a device. META_IO_VTK is compressed
 *  before. The file gets its name in meta_io_wait(); meta_comm_finalize() completes files that were
 *  never waited for, with a warning, and their errors are its own. Several files may be under way,
 *  of different paths.
 *  @param request  receives the handle
 *  @return as meta_io_write(); META_ERR_STATE while a file of this path is being written */
META_API meta_err meta_io_write_begin(const char *path, const meta_io_desc *desc, int fields,
                                      const meta_io_field *field, meta_io_request *request);
/** Whether this rank's part is on the disk, or failed: *done is 0 or 1. Local. */
META_API meta_err meta_io_test(meta_io_request request, int *done);
/** Wait until the file is on the disk and has its name, and set the handle to META_IO_REQUEST_NULL.
 *  Collective over the ranks that began it: all wait for their requests in the same order.
 *  @return META_ERR_FILE as meta_io_write(); the request is gone in any case */
META_API meta_err meta_io_wait(meta_io_request *request);

/* ------------------------------------------------------------------ reading */

/** An open file; a handle, not a pointer. */
typedef struct meta_io_file {
    uint32_t slot;       /**< the library's */
    uint32_t generation; /**< the library's */
} meta_io_file;
/** A handle of no file. */
#define META_IO_FILE_NULL                                                                          \
    {                                                                                              \
        0, 0                                                                                       \
    }

/** What an open file has. Set it to META_IO_FILE_DESC_INIT before passing it in. */
typedef struct meta_io_file_desc {
    size_t size;           /**< of this structure */
    const char *path;      /**< of the file itself, with its number; valid until it is closed */
    meta_io_format format; /**< not META_IO_ANY */
    int fields;            /**< how many there are */
    int attributes;        /**< how many there are */
    int64_t number;        /**< of a checkpoint, otherwise -1 */
} meta_io_file_desc;
/** Start value of a meta_io_file_desc. */
#define META_IO_FILE_DESC_INIT                                                                     \
    {                                                                                              \
        sizeof(meta_io_file_desc), NULL, META_IO_ANY, 0, 0, -1                                     \
    }

/** Open the file @p path for reading. What stands before its data is read, checked and given to
 *  every rank.
 *  @param desc  of its members comm, format and number count
 *  @return META_ERR_FILE if it cannot be opened, is not of the format, was written by a machine of
 *          another byte order or by another version, or is damaged; META_ERR_UNSUPPORTED for a
 *  format that this build does not have */
META_API meta_err meta_io_open(meta_io_file *file, const char *path, const meta_io_desc *desc);
/** Describe an open file. Local. */
META_API meta_err meta_io_file_info(meta_io_file file, meta_io_file_desc *desc);
/** Describe field @p index of the file, 0 ≤ index < the count: name (valid until the file is
 *  closed), type, box.ndim and cells; what else @p field has becomes 0. Local. */
META_API meta_err meta_io_field_info(meta_io_file file, int index, meta_io_field *field);
/** Describe attribute @p index of the file; what it points to is valid until the file is closed.
 *  Local. */
META_API meta_err meta_io_attribute_info(meta_io_file file, int index,
                                         meta_io_attribute *attribute);
/** The attribute called @p name; as meta_io_attribute_info(). Local.
 *  @return META_ERR_ARGUMENT if there is none */
META_API meta_err meta_io_attribute_find(meta_io_file file, const char *name,
                                         meta_io_attribute *attribute);
/** Read boxes of @p fields fields, found by their names, into the buffers: each rank any box of the
 *  grid, which others may read too. Work that is queued on the buffers is done before; complete on
 *  return. The checksums of a checkpoint are compared.
 *  @return META_ERR_ARGUMENT for a name that the file does not have; META_ERR_TYPE, or
 *  META_ERR_MISMATCH for other extents, if the field has others in the file; META_ERR_BOUNDS;
 *  META_ERR_FILE if the file cannot be read, is damaged or became shorter: the buffers' boxes then
 *  hold anything */
META_API meta_err meta_io_read(meta_io_file file, int fields, const meta_io_field *field);
/** Close the file and set the handle to META_IO_FILE_NULL. Collective. */
META_API meta_err meta_io_close(meta_io_file *file);

/** The largest number of the checkpoints @p path.0, @p path.1 …; -1 if there is none. Collective
 *  over @p comm.
 *  @return META_ERR_FILE if the folder cannot be read */
META_API meta_err meta_io_last(MPI_Comm comm, const char *path, int64_t *number);

#ifdef __cplusplus
}
#endif
#endif
