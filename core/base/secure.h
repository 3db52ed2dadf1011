/* SPDX-License-Identifier: BSD-3-Clause */
/** @file secure.h
 *  Processes that have more rights than the user who started them. */
#ifndef META_SECURE_H
#define META_SECURE_H

#include <stdbool.h>

/** Whether the file of this process gave it another user, group or capabilities. The environment is
 *  then another user's, and meta_variable() finds nothing in it. */
bool meta_is_secure(void);

#endif
