/* SPDX-License-Identifier: BSD-3-Clause */
/** @file files.h
 *  Files of the operating system: names, whole transfers at a place, and a file that gets its name
 * when it is complete and on the disk. Local; errors have the system's reason. */
#ifndef META_IO_FILES_H
#define META_IO_FILES_H

#include "base/io_base.h"

/** @p path with @p end behind it, to be freed; NULL: no memory. */
char *io_path(const char *path, const char *end);
/** The same with '.' and @p number. */
char *io_path_number(const char *path, int64_t number);
/** The largest number N for which there is PATH.N; -1 for none. */
meta_err io_last_number(const char *path, int64_t *number);

/** META_ERR_FILE: @p path cannot be @p what ("written"), for the reason in errno. */
meta_err io_file_error(const char *path, const char *what);
/** Whether a file may be written there: no folder, device or read-only file is. */
meta_err io_file_may_be(const char *path);
/** Create the file @p partial, which must become @p path; one that was left is removed. */
meta_err io_file_create(const char *path, const char *partial, int *file);
meta_err io_file_open(const char *path, bool writes, int *file);
meta_err io_file_size(const char *path, int file, int64_t *bytes);
meta_err io_write_at(const char *path, int file, const void *data, size_t bytes, int64_t at);
/** @return META_ERR_FILE also where the file ends before */
meta_err io_read_at(const char *path, int file, void *data, size_t bytes, int64_t at);
/** Put what was written on the disk and close the file. @p error: what happened before, which is
 *  returned */
meta_err io_file_close(const char *path, int *file, meta_err error);
/** Give the complete file its name. */
meta_err io_file_rename(const char *partial, const char *path);
/** Write a whole file so. */
meta_err io_file_whole(const char *path, const void *data, size_t bytes);

#endif
