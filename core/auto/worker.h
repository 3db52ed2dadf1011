/* SPDX-License-Identifier: BSD-3-Clause */
/** @file worker.h
 *  A thread that runs work of the CPU, so that the program can queue work of other devices behind
 *  it. The lock of the room is held by all callers; the thread never takes it. */
#ifndef META_WORKER_H
#define META_WORKER_H

#include "auto/auto.h"

/** Expected nanoseconds from which on work is worth being handed over. */
#define META_WORKER_LONG 1e5

/** Read META_TEST_WORKER. */
meta_err meta_worker_read(void);
/** Put it between the lanes of OpenMP and its back end, if other devices than the cores are there.
 */
void meta_worker_open(void);
/** All work is complete, and its tickets and stamps are released. */
void meta_worker_close(void);
/** Whether it stands before @p device. */
bool meta_worker_has(const meta_auto_device *device);
/** Before work of @p expected nanoseconds, 0: not known, is queued on a device: decide whether the
 *  worker runs it, or the caller. */
void meta_worker_decide(const meta_auto_device *device, uint64_t expected);

#endif
