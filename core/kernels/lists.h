/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lists.h
 *  The parameter list of a kernel, and its body, as text: for messages about mistakes. */
#ifndef META_KERNELS_LISTS_H
#define META_KERNELS_LISTS_H

#include "base/base.h"
#include "kernels/words.h"

/** A parameter, by words of the text. */
typedef struct meta_listed {
    const char *name, *kind;
    size_t name_length, kind_length;
    bool is_whole;
} meta_listed;

/** A list; parameters that come from another list's macro are not in it. */
typedef struct meta_list {
    const char *kernel;
    size_t kernel_length;
    meta_listed parameter[META_KERNEL_PARAMETERS];
    int parameters;
} meta_list;

/** Whether the body that follows @p w, up to a condition of the preprocessor, at `META_CELLS(name)`
 * or the like, uses the parameters of @p list as their kinds are used, and ends; otherwise sets the
 * error, with the line. */
meta_err meta_body_check(const char *file, const meta_list *list, meta_words w);

#endif
