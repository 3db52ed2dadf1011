/* SPDX-License-Identifier: BSD-3-Clause */
/** @file run_text.h
 *  For tests of kernels whose text is given at run time: texts that are all different, and
 * compilers that are shell scripts. */
#ifndef RUN_TEXT_H
#define RUN_TEXT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "scratch.h"
#include "test.h"

enum { RUN_ROOM = 1024 };
static char run_root[RUN_ROOM]; /* a folder for this promise */

/** A text with kernel `add`: each element is what it was plus @p number. */
static inline const char *run_text(int number)
{
    static char text[RUN_ROOM];
    snprintf(text, sizeof text,
             "#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I32)\n"
             "#include <meta_kernel.h>\n"
             "META_FUNCTION T FN(more)(T x)\n"
             "{\n"
             "    return x + %d;\n"
             "}\n"
             "#define add_ARGS(A) A(INOUT, T, field) A(VALUE, T, factor) A(MAX, T, most)\n"
             "META_CELLS(add)\n"
             "{\n"
             "    const T next = factor * FN(more)(AT1(field, 0));\n"
             "    AT1(field, 0) = next;\n"
             "    RAISE(most, next);\n"
             "}\n"
             "#include META_AGAIN\n",
             number);
    return text;
}

/** An empty cache and a private folder of this promise's. */
static inline void run_begin(void)
{
    char folder[RUN_ROOM + 16];
    scratch_make("text", run_root, sizeof run_root);
    snprintf(folder, sizeof folder, "%s/cache", run_root);
    setenv("META_CACHE_DIR", folder, 1);
    setenv("TMPDIR", run_root, 1);
    unsetenv("META_CC");
}

static inline void run_end(void)
{
    scratch_remove(run_root);
    unsetenv("META_CC");
}

/** META_CC is now a script, in which @p body comes after a line that adds one to the file
 * `compiles`; "exec cc \"$@\"" compiles. */
static inline void run_compiler(const char *body)
{
    char path[RUN_ROOM + 16];
    snprintf(path, sizeof path, "%s/compiler", run_root);
    FILE *file = fopen(path, "w");
    if (!file) {
        FAIL("%s: %s", path, strerror(errno));
        return;
    }
    fprintf(file, "#!/bin/sh\necho $$ >>'%s/compiles'\n%s\n", run_root, body);
    fclose(file);
    chmod(path, 0700);
    setenv("META_CC", path, 1);
}

/** How often it was called. */
static inline int run_compiles(void)
{
    char path[RUN_ROOM + 16], line[64];
    int count = 0;
    snprintf(path, sizeof path, "%s/compiles", run_root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) ++count;
    if (file) fclose(file);
    return count;
}

static inline double run_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
