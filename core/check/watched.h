/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watched.h
 *  The buffers of a launch under META_CHECK=1. */
#ifndef META_CHECK_WATCHED_H
#define META_CHECK_WATCHED_H

#include "queue/queue.h"

/** A buffer of the launch: which bytes it writes, and what the others were before. */
typedef struct watched {
    meta_allocation of;
    void *object;
    uint64_t offset;        /**< of its first byte in the object */
    unsigned char *written; /**< a bit for each byte */
    unsigned char *before;  /**< a copy; NULL: there are checksums */
    uint64_t *sum;          /**< of each block */
    unsigned char *suspect; /**< a bit for each byte: cells that seem unwritten; may be NULL */
} watched;

/* poison.c */
/** Pass the launch on, and wait for it: with poison in the cells of OUT arrays of the program's
 *  kernels, if all that it writes can be given back. @p list has the buffers of its operands as they
 *  were, but for those that are not compared.
 *
 *  @return META_ERR_ARGUMENT if a kernel does not write every cell of an OUT array; the cells then
 *          hold what they held before */
meta_err meta_poison_run(meta_task *work, watched *list, int listed);
/** Release the ticket of a launch that has been passed on, if it has one. */
void meta_ticket_drop(const meta_task *work);

#endif
