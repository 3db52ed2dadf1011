/* SPDX-License-Identifier: BSD-3-Clause */
/** @file scratch.h
 *  Folders for what a test writes. */
#ifndef META_TEST_SCRATCH_H
#define META_TEST_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/** Make an empty folder in the build tree, whose name begins with @p name, and put its path into
 *  @p path. It fails a check where it cannot. */
void scratch_make(const char *name, char *path, size_t room);
/** Remove a folder or file with all that is in it. */
void scratch_remove(const char *path);
/** Read a file into @p text, with '\0' behind it. It fails a check if it has no room there. @return
 *  whether there is such a file */
bool scratch_read(const char *path, char *text, size_t room);

#endif
