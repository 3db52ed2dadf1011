/* SPDX-License-Identifier: BSD-3-Clause */
/** @file module.h
 *  Validating a shared object before dlopen(). */
#ifndef META_MODULE_H
#define META_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/** False with the reason where the file is truncated or damaged, so that dlopen() would crash. */
bool meta_module_whole(const char *path, char *reason, size_t room);

#endif
