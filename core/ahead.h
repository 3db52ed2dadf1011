/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ahead.h
 *  What meta-kernel needs of the core beyond its public headers, to compile kernels for devices
 * that are not here. Not installed; the tool and the library come from one build. */
#ifndef META_AHEAD_H
#define META_AHEAD_H

#include "kernels/compiler.h"
#include "meta_backend.h"

#define META_AHEAD_VERSION 1

typedef struct meta_ahead {
    uint32_t version; /**< META_AHEAD_VERSION */
    size_t size;
    const meta_host *(*host)(void);
    /** What a back end makes an object of @p kernel from, while the kernel is registered; @p text,
     * of malloc(), is its text. */
    meta_err (*source)(meta_kernel *kernel, meta_mode mode, meta_kernel_source *source,
                       char **text);
    /** Number @p index of the kernels of meta_library.h; NULL if there are fewer. */
    meta_kernel *(*ready)(int index);
    /** See meta_compiler_check(). */
    meta_err (*check)(meta_check_language language, const char *file, const char *text,
                      char *command, char **said);
    /** See meta_cache_only(), meta_cached_put(), meta_compile_ahead(). */
    meta_err (*only)(const char *folder);
    meta_err (*put)(const meta_cached *what, const void *code, size_t bytes);
    meta_err (*compile)(const char *file, const char *text, int set);
    int (*set_named)(const char *name);
    /** Build the library's own kernels for this thread's device, for every type that it has. */
    meta_err (*prepare_built_in)(void);
} meta_ahead;

META_API extern const meta_ahead meta_ahead_table;

#endif
