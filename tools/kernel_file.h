/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_file.h
 *  The kernels of a file: a kernel file, compiled here, or a shared object. */
#ifndef META_KERNEL_FILE_H
#define META_KERNEL_FILE_H

#include <stdbool.h>
#include <stdio.h>

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

typedef struct kernel_file {
    const char *name; /**< without its folder */
    char *text;       /**< NULL of a shared object */
    size_t bytes;
    meta_kernel **kernel; /**< in the order of registration */
    int kernels;
} kernel_file;

/** Read @p path, a kernel file's text or nothing of a shared object; false after a message. */
bool kernel_file_read(kernel_file *file, const char *path);
/** Compile what was read, or load the object; false after a message, and still to be closed. The
 * kernels stay registered until the program ends. */
bool kernel_file_load(kernel_file *file, const char *path);
/** Both. */
bool kernel_file_open(kernel_file *file, const char *path);
void kernel_file_close(kernel_file *file);
/** Write the text as C: an array meta_kernel_text_NAME for each kernel's name. */
void kernel_file_write_text(const kernel_file *file, FILE *to);
/** Write the C file that compiles the kernels of @p path, with the text as an array. It needs no
 * loaded kernels. */
void kernel_file_write_source(const kernel_file *file, const char *path, FILE *to);

#endif
