/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_list.h
 *  meta-info --kernels: the kernels that shared objects hold. */
#ifndef META_KERNEL_LIST_H
#define META_KERNEL_LIST_H

#include <stdbool.h>

/** Open each of @p count files and list the kernels that it registers: one with its parameters a
 *  paragraph, or as one JSON document.
 *  @return false after a line on standard error if a file cannot be opened */
bool kernel_list(int count, char *const *files, bool as_json);

#endif
