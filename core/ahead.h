/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ahead.h
 *  What meta-kernel needs of the core beyond its public headers, to compile kernels for devices
 * that are not here. Not installed; the tool and the library come from one build. */
#ifndef META_AHEAD_H
#define META_AHEAD_H

#include "kernels/compiler.h"
#include "meta_backend.h"

/** Changes with the table. A program checks it before it uses any other member: a libmeta of
 * another build may be found when it starts. */
#define META_AHEAD_VERSION 4

/** One of the codes that devices run of a kernel, depending on a program's settings. */
typedef struct meta_ahead_code {
    uint32_t form; /**< see META_USER_CHECKED */
    bool reproducible;
    const char *setting; /**< with which it is run, for messages: " with META_CHECK=on" */
} meta_ahead_code;
enum { META_AHEAD_CODES = 6 };

typedef struct meta_ahead {
    uint32_t version; /**< META_AHEAD_VERSION */
    size_t size;
    const meta_host *(*host)(void);
    /** The codes of @p kernel on devices of @p mode that build it from text, in @p code, which has
     * room for META_AHEAD_CODES: the first one is run with all settings off, and alone if @p plain.
     *  @return how many there are */
    int (*codes)(const meta_kernel *kernel, meta_mode mode, bool plain, meta_ahead_code *code);
    /** What a back end makes an object of @p kernel from, while the kernel is registered; @p text,
     * of malloc(), is its text. */
    meta_err (*source)(meta_kernel *kernel, const meta_ahead_code *code, meta_kernel_source *source,
                       char **text);
    /** Build a code for this thread's device. */
    meta_err (*prepare)(meta_kernel *kernel, const meta_ahead_code *code);
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
    /** See meta_compiler_record(). */
    meta_err (*record)(const char *file, const char *text, meta_record_kind *kind, char **record);
} meta_ahead;

META_API extern const meta_ahead meta_ahead_table;

#endif
