/* SPDX-License-Identifier: BSD-3-Clause */
/** @file failure.h
 *  A failure on any rank becomes one line on the terminal and the same exit status on all ranks.
 *
 *  A rank that fails records the failure and continues to take part in collective calls. At the
 *  next agreement point all ranks learn of it together, so no rank waits for another forever
 *  (deadlock). */
#ifndef FAILURE_H
#define FAILURE_H

#include <mpi.h>
#include <stdbool.h>

/** Exit statuses of our programs. */
enum { STATUS_RIGHT = 0, STATUS_WRONG = 1, STATUS_UNUSABLE = 2 };

/** Set the program name for messages; @p path is main()'s argv[0]. */
void failure_program(const char *path);
/** The program's name. */
const char *failure_program_name(void);

/** Record a failure of this rank, a sentence without a newline. Only the first one is kept. */
void failure_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Record that @p bytes of host memory cannot be allocated. */
void failure_note_memory(double bytes);
/** Whether this rank has recorded a failure. */
bool failure_seen(void);
/** Collective. Whether any rank has recorded a failure; rank 0 prints that of the lowest rank,
 *  once. From then on every rank has seen it. */
bool failure_agree(MPI_Comm comm);

/** Another rank does not respond: print @p why, this rank's reason, and abort the job. A collective
 *  call would wait for that rank forever. */
_Noreturn void failure_abort(const char *why);

/** Until failure_forgive(), failures are warnings: they are printed as such, and then cleared. */
void failure_lenient(void);
/** Collective. Whether any rank has recorded a failure since failure_lenient(). */
bool failure_forgive(MPI_Comm comm);

#endif
