/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exchanges.h
 *  What rooms above the halo exchange may use of it. */
#ifndef META_COMM_EXCHANGES_H
#define META_COMM_EXCHANGES_H

#include "progress/progress.h"

/** Halo exchanges, for the progress engine. */
extern const comm_source comm_plan_source;

/** Whether any exchange, finished or not, still has messages under way. */
bool comm_plans_busy(void);
/** Free every plan that is left; @p collective: with its communicator. */
void comm_plans_drop(bool collective);
/** Write the exchanged messages and bytes to the log, and count from zero. */
void halo_traffic_report(void);

#endif
