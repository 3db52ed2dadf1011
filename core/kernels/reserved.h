/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reserved.h
 *  Names that C leaves to programs and the languages of devices do not. */
#ifndef META_KERNELS_RESERVED_H
#define META_KERNELS_RESERVED_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/words.h"

/** Whether OpenCL C, C++, CUDA or HIP has a meaning for the name, which C11 with its headers has
 *  not: a keyword, a type, a function or a variable. */
bool meta_is_reserved(const char *name, size_t length);
/** Find the first keyword of C++ that is a name in C among the words of a kernel file.
 *  @return false: there is none */
bool meta_find_keyword_of_cxx(const char *text, meta_words *found);

#endif
