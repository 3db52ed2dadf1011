/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.h
 *  Halo plans and exchanges, as the rest of libmeta_comm sees them. All but comm_exchanges_owing
 *  need the lock. */
#ifndef META_COMM_HALO_H
#define META_COMM_HALO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

/** Advance every exchange once; true if anything moved. */
bool comm_plans_advance(void);
/** Whether an exchange that was ended is under way. */
bool comm_plans_finishing(void);
/** Whether any exchange, ended or not, still has messages under way. */
bool comm_plans_busy(void);

/** Exchanges that were ended and have not queued all their device work yet. */
extern const _Atomic int *const comm_exchanges_owing;
/** Before work on @p ranges is queued: wait until exchanges that were ended and whose arrays share
 *  a byte with one of them have queued all theirs. NULL: all exchanges. */
void comm_exchanges_order(const meta_range *ranges, int count);
/** The same for all exchanges with arrays on @p device. */
void comm_plans_settle(meta_device *device);

/** Whether an exchange waits for another rank. */
bool comm_plans_waiting(void);
/** Describe what it waits for; false where none does. */
bool comm_plans_describe(char *text, size_t room);
/** End those exchanges with META_ERR_PEER. */
void comm_plans_give_up(double waited);

/** Free every plan that is left; @p collective: with its communicator. */
void comm_plans_drop(bool collective);
/** Forget the numbers of plans in a trace. */
void halo_trace_forget(void);
/** Write the traffic of all exchanges to the log, and reset it. */
void halo_traffic_report(void);

#endif
