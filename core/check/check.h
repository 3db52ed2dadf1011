/* SPDX-License-Identifier: BSD-3-Clause */
/** @file check.h
 *  META_CHECK=on. */
#ifndef META_CHECK_H
#define META_CHECK_H

#include "queue/queue.h"

meta_err meta_check_read(void);
/** Bytes of guard on each side of a new buffer; 0 where nothing is checked. */
uint64_t meta_check_guard(uint64_t bytes);
/** Fill the guards of a new buffer and poison its memory. */
meta_err meta_check_made(const meta_allocation *a);
/** Verify the guards of a live buffer; META_ERR_BOUNDS names what was written beside it. */
meta_err meta_check_guards(const meta_allocation *a);
/** The same of one that has left the registry; device memory goes into quarantine even on error. */
meta_err meta_check_gone(const meta_allocation *a);
/** Verify all guards and all memory in quarantine; the first error. */
meta_err meta_check_all(void);
meta_err meta_quarantine_release(void);
/** The same when memory is short; findings are warnings. @return whether there was any */
bool meta_quarantine_some(void);
/** The observer that compares the buffers of each launch before and after it. */
meta_err meta_compare_work(meta_task *work);

#endif
