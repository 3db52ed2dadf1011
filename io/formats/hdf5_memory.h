/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hdf5_memory.h
 *  A file of HDF5 in memory. After a write that failed, as on a full disk, HDF5 1.10 cannot close a
 * file, and MPI_Finalize(), which ends HDF5, crashes. So HDF5 writes what it writes, all but the
 * data, to memory, and the library puts it into the file. */
#ifndef META_IO_HDF5_MEMORY_H
#define META_IO_HDF5_MEMORY_H

#ifdef HAVE_HDF5

#include <hdf5.h>

#include "files/files.h"

/** The pages of a file that were written, in the order of their places. */
typedef struct io_pages {
    struct io_page *page;
    size_t count, room;
    uint64_t end;   /**< of the file: its bytes */
    bool is_short;  /**< of memory, once */
    hid_t driver;   /**< HDF5's */
    hid_t settings; /**< the property list with which H5Fcreate() creates such a file */
} io_pages;

/** Begin; false if HDF5 cannot. One file at a time on a thread. */
bool io_pages_open(io_pages *pages);
/** Write them, once HDF5 has closed its file, to @p file, and give that its size. */
meta_err io_pages_write(const io_pages *pages, const char *path, int file);
void io_pages_close(io_pages *pages);

#endif

#endif
