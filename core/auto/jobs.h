/* SPDX-License-Identifier: BSD-3-Clause */
/** @file jobs.h
 *  Work that a thread runs in the order in which it is queued, with a copy of all that its
 *  description points to. The lock of the room is held by all callers; the thread never takes it.
 */
#ifndef META_AUTO_JOBS_H
#define META_AUTO_JOBS_H

#include "auto/machine.h"

/** Other work behind which a job runs; the job takes over a share of each. */
typedef struct meta_jobs_behind {
    meta_auto_work *const *work;
    int count;
} meta_jobs_behind;
/** Launch by @p ops on @p queue, behind all jobs before; sets ticket and stamp as a back end does.
 *  @return false: there is no thread or no memory, and nothing is queued */
bool meta_jobs_launch(const meta_ops *ops, meta_plugin_queue *queue, const meta_launch *launch,
                      const meta_jobs_behind *behind);
/** The same with a copy. */
bool meta_jobs_copy(const meta_ops *ops, meta_plugin_queue *queue, const meta_copy *copy,
                    const meta_jobs_behind *behind);
/** Whether any is not complete. */
bool meta_jobs_left(void);
void meta_jobs_wait(void);
/** End the thread; all jobs are complete. The next job begins another one. */
void meta_jobs_stop(void);

/** Tickets and stamps are jobs: see meta_ops. */
meta_err meta_jobs_ticket_test(meta_ticket ticket, int *complete);
meta_err meta_jobs_ticket_wait(meta_ticket ticket);
void meta_jobs_release(void *job);
int meta_jobs_stamp_read(void *stamp, uint64_t *begin, uint64_t *end);

#endif
