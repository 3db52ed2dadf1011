/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lives.h
 *  Tests that are repeated with other numbers of threads and other instruction sets. */
#ifndef META_TEST_LIVES_H
#define META_TEST_LIVES_H

/** End the library and begin it again with 1, 2, 3 and 7 threads, on OpenMP each with every
 *  instruction set that the processor has, and call @p test in each life; then begin it again with
 * the settings from before. */
void lives_each(void (*test)(void));

#endif
