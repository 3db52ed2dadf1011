/* SPDX-License-Identifier: BSD-3-Clause */
/** @file caught.h
 *  Captures this process's standard error, for a test to read. */
#ifndef CAUGHT_H
#define CAUGHT_H

#include <stddef.h>

/** Catch it from now on, until take_caught(). */
void catch_errors(void);
/** Let it go where it went before, and put what was caught, with its end, into @p text. */
void take_caught(char *text, size_t room);

#endif
