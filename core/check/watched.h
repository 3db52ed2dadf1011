/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watched.h
 *  The buffers of a launch under META_CHECK=on. */
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

/** Whether elements of @p type are floating-point numbers. */
static inline bool meta_is_floating(meta_type type)
{
    return type == META_F64 || type == META_F32;
}

/* cells.c */
meta_err meta_no_memory(uint64_t bytes);
/** Whether an address is in the buffer. */
bool meta_watched_holds(const watched *w, const char *address);
/** Set the buffer's contents. */
meta_err meta_watched_set(const watched *w, unsigned char *from);
/** The buffer's contents now, to be freed; NULL with an error. */
meta_err meta_watched_get(const watched *w, unsigned char **image);

/* suspicious.c */
/** Warn in the log, once, about arguments of a kernel of the program's that are perhaps wrong:
 * arrays whose labels are the names of each other's parameters, and grids of another type. */
void meta_suspicious_report(const meta_operation *op);

/* native.c */
/** meta_poison_run(); where a kernel has a body in the device's own language, its portable one runs
 * first, and the two results are compared. Those of the own language remain. Results are in place
 * on return.
 *  @return META_ERR_MISMATCH if they differ */
meta_err meta_native_run(meta_task *work, watched *list, int listed);

/* poison.c */
/** Pass the launch on, and wait for it: with poison in the cells of OUT arrays of the program's
 *  kernels, if all that it writes can be given back. @p list has the buffers of its operands as
 * they were, but for those that are not compared.
 *
 *  @return META_ERR_ARGUMENT if a kernel does not write every cell of an OUT array; the cells then
 *          hold what they held before */
meta_err meta_poison_run(meta_task *work, watched *list, int listed);
/** Release the ticket of a launch that has been passed on, if it has one. */
void meta_ticket_drop(const meta_task *work);

#endif
