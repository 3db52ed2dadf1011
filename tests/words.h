/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.h
 *  Interposes the C library's formatting functions: counts the calls that libmeta and its back
 *  ends make, and records the first of them. Link a program with words.c and export its symbols
 *  (-export-dynamic, because modules are opened later) to use it. */
#ifndef META_TEST_WORDS_H
#define META_TEST_WORDS_H

#include <stddef.h>

enum { WORDS_KEPT = 64 };

/** A call: the module that made it, where in it, and the format. */
typedef struct words_call {
    char file[32], format[96];
    size_t offset; /**< of the return address, as addr2line takes it */
} words_call;

/** Count from zero, in every thread. */
void words_listen(void);
/** Stop. @return how many calls there were since words_listen() */
long words_heard(void);
/** Call @p k of those, 0 ≤ k < WORDS_KEPT and what words_heard() said. */
const words_call *words_of(long k);
/** How many of those that were kept come from a module whose name begins with @p file. */
long words_from(const char *file);

#endif
