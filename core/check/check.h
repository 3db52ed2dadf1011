/* SPDX-License-Identifier: BSD-3-Clause */
/** @file check.h
 *  META_CHECK=1. */
#ifndef META_CHECK_H
#define META_CHECK_H

#include "queue/queue.h"

/* check.c and compare.c: META_CHECK=1 */
meta_err meta_check_read(void);
/** Bytes of guard on each side of a new buffer; 0 where nothing is checked. */
uint64_t meta_check_guard(uint64_t bytes);
/** Set the guards of a new buffer, and all of it to no value. */
meta_err meta_check_made(const meta_allocation *a);
/** Look at the guards of a live buffer. META_ERR_BOUNDS tells what was written beside it. */
meta_err meta_check_guards(const meta_allocation *a);
/** The same of one that has left the registry; device memory goes into quarantine, whatever is
 *  returned. */
meta_err meta_check_gone(const meta_allocation *a);
/** Look at all guards, and at all memory in quarantine; the first error. */
meta_err meta_check_all(void);
meta_err meta_quarantine_release(void);
/** The same for want of memory; what is found is a warning. @return whether there was any */
bool meta_quarantine_some(void);
/** The observer that runs each launch between two looks at its buffers. */
meta_err meta_compare_work(meta_task *work);

#endif
