/* SPDX-License-Identifier: BSD-3-Clause */
/** @file file.c
 *  Files that a variable names, which may be anything. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>

int meta_file_to_write(const char *path, int flags)
{
    int file;
    do file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666);
    while (file < 0 && errno == EINTR);
    const int now = file < 0 ? -1 : fcntl(file, F_GETFL);
    if (now != -1) fcntl(file, F_SETFL, now & ~O_NONBLOCK);
    return file;
}
