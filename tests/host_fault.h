/* SPDX-License-Identifier: BSD-3-Clause */
/** @file host_fault.h
 *  Fault injection for what libmeta asks of the host: allocations, and system calls that open, map,
 *  write or start something. Link a program with host_fault.c and -export-dynamic: its functions
 *  stand before those of the C library, also for shared libraries. Only calls that come from
 * libmeta's own libraries and plugins count and fail; those of MPI, of drivers and of the test do
 * not. */
#ifndef META_TEST_HOST_FAULT_H
#define META_TEST_HOST_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/** False in programs built with a sanitizer, which has such functions of its own: then nothing is
 * counted. */
bool host_fault_possible(void);
/** Let the @p n th call from now on fail, as if the host had no memory, no descriptor or no room
 * left; 0: none. Counts anew. */
void host_fault_arm(long n);
/** Only calls of the library whose file's name begins with @p name count and fail, and only its blocks are
 *  counted: libmeta_io. Before all others. */
void host_fault_of_library(const char *name);
/** Let nothing fail, and stop counting. @return whether the call that was to fail has come */
bool host_fault_disarm(void);
/** Whether calls of OpenCL count and fail from now on, instead of the host's. */
void host_fault_of_driver(bool driver);
/** For opencl_fault.c: counts a call; whether it is to fail. */
bool host_fault_driver_fails(const char *function, void *caller);
/** How many calls there were since host_fault_arm(). */
long host_fault_calls(void);
/** The function that failed, and the one that had called it, as text; empty if none did. */
const char *host_fault_place(void);
/** The function alone. */
const char *host_fault_function(void);

/** Blocks of memory that libmeta has allocated and not freed, and open descriptors of this process.
 */
long host_fault_blocks(void);
/** How many more than @p before: a second later, if there are any, since a thread that has ended may be
 *  about to free what it had. */
long host_fault_blocks_kept(long before);
int host_fault_descriptors(void);
/** Where blocks were allocated that were not freed, from number @p from of the order in which they
 * were, as text: a static buffer. */
const char *host_fault_blocks_text(long from);
/** The number that the next block will have in that order. */
long host_fault_next_block(void);

#endif
