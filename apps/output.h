/* SPDX-License-Identifier: BSD-3-Clause */
/** @file output.h
 *  A file written by one rank, under a temporary name until it is complete and on the disk, so
 *  that a file with the final name is always complete, however the program ends. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct output {
    const char *option; /**< that asked for it, for messages */
    char *path, *temporary;
    int descriptor;
} output;

/** Open the file that is to be @p path. False, and a failure noted, where that cannot be done. */
bool output_open(output *o, const char *option, const char *path);
/** Write @p bytes. False, and a failure noted, where they do not all go in. */
bool output_write(output *o, const void *data, size_t bytes);
/** Replace @p bytes that were written at @p at. */
bool output_rewrite(output *o, const void *data, size_t bytes, long long at);
/** Give it its name. False, a failure noted and the file removed, where that cannot be done. */
bool output_close(output *o);
/** Remove it instead. */
void output_discard(output *o);

/** The three steps for a file whose whole content is there. */
bool output_whole(const char *option, const char *path, const void *data, size_t bytes);
/** Note a failure if no file can be written there. Leaves nothing behind. */
void output_check(const char *option, const char *path);

/** Collective, at the program's end: @p status, or STATUS_UNUSABLE where what ranks have printed could
 *  not be written. */
int output_end(int status);

/** Put the names in the folder of @p path on the disk, where its file system can. */
void output_sync_folder(const char *path);
/** The name under which process @p id writes @p path; to be freed. NULL and a failure noted where
 *  there is no room. */
char *output_temporary(const char *path, long id);
/** Create the empty file @p temporary that is to be @p path, and give its descriptor; -1 and a
 *  failure noted where that cannot be done. */
int output_create(const char *option, const char *path, const char *temporary);

#endif
