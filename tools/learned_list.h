/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learned_list.h
 *  meta-info --learned: what META_MODE=auto has learned. */
#ifndef META_LEARNED_LIST_H
#define META_LEARNED_LIST_H

#include <stdbool.h>

/** List what each of @p count files says of kernels and links.
 *  @return false after a line on standard error if a file cannot be read or is damaged */
bool learned_list(int count, char *const *files);

#endif
