/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm_record.h
 *  Profiling of messages: when something is under way, one summary and one trace of all ranks. */
#ifndef META_COMM_RECORD_H
#define META_COMM_RECORD_H

#include "progress/progress.h"

/** Whether anything is recorded. */
static inline bool comm_profiled(void)
{
    return __builtin_expect(atomic_load_explicit(core->profiling, memory_order_relaxed) != 0, 0);
}
/** Whether all ranks write a trace. */
static inline bool comm_traced(void)
{
    return comm_job.profiled & META_PROFILE_TRACE;
}

/** A message or exchange is under way from now on, at *began; and no longer. */
void comm_record_begin(uint64_t *began);
void comm_record_end(uint64_t *began);

/* profile.c */
/** Agree with all ranks on what is recorded. Collective over comm_job.collectives. */
meta_err comm_profile_begin(void);
/** Print the summary that META_PROFILE asks for. Collective. */
meta_err comm_profile_end(void);
/** The core's hook. Collective. */
meta_err comm_profile_print(void);

/* profile_trace.c */
/** The number of the next message to @p peer with @p tag, or from it; 0 if there is no memory. */
uint64_t comm_trace_number(bool out, int peer, int tag);
/** Compare the ranks' clocks, and in the end write the trace. Collective over the same. */
meta_err comm_trace_begin(void);
meta_err comm_trace_end(void);

#endif
