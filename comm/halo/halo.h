/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo.h
 *  Halo plans and exchanges, as rooms above see them. */
#ifndef META_COMM_HALO_H
#define META_COMM_HALO_H

#include "progress/progress.h"

/** Halo exchanges, for the progress engine. */
extern const comm_source comm_exchange_source;

/** Whether any exchange, ended or not, still has messages under way. */
bool comm_exchanges_busy(void);
/** Free every plan that is left, and the plans' communicators. @p met: all ranks do. @return the
 *  first error of MPI */
meta_err comm_plans_drop(bool met);
/** Write the traffic of all exchanges to the log, and reset it. */
void halo_traffic_report(void);

#endif
