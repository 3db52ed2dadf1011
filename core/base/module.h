/* SPDX-License-Identifier: BSD-3-Clause */
/** @file module.h
 *  Whether a file can be given to the loader. */
#ifndef META_MODULE_H
#define META_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/** False, and the reason, where it is truncated or damaged: to open it would end the process. */
bool meta_module_whole(const char *path, char *reason, size_t room);

#endif
