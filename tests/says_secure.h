/* SPDX-License-Identifier: BSD-3-Clause */
/** @file says_secure.h
 *  For tests of what a process with more rights than its user does: a getauxval() that stands
 * before the C library's, for libmeta too. The program exports it (-export-dynamic). */
#ifndef META_TEST_SAYS_SECURE_H
#define META_TEST_SAYS_SECURE_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <unistd.h>

static bool says_secure; /* while it is set, this process is one */

/* Other values are the kernel's: read with system calls alone, as the loader and sanitizers may ask
 * before the program begins. */
__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type)
{
    unsigned long entry[2] = {0, 0}, value = 0;
    if (type == AT_SECURE && says_secure) return 1;
    const int file = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, entry, sizeof entry) == (ssize_t)sizeof entry &&
           entry[0] != AT_NULL)
        if (entry[0] == type) value = entry[1];
    if (file >= 0) close(file);
    return value;
}

#endif
