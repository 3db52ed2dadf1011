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

/** How our programs end. */
enum { STATUS_RIGHT = 0, STATUS_WRONG = 1, STATUS_UNUSABLE = 2 };

/** Name the program for its messages; @p path is main()'s argv[0]. */
void failure_program(const char *path);
/** The program's name. */
const char *failure_program_name(void);

/** Note a failure of this rank, as a sentence without a line end. Only the first one is kept. */
void failure_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Note that @p bytes of host memory cannot be had. */
void failure_note_memory(double bytes);
/** Whether this rank has noted one. */
bool failure_seen(void);
/** Collective. Whether any rank has noted a failure; rank 0 prints that of the lowest rank, once.
 *  From then on every rank has seen it. */
bool failure_agree(MPI_Comm comm);

/** Another rank does not answer: print @p why, this rank's reason, and end the job. What is collective
 *  would wait for that rank forever. */
_Noreturn void failure_abort(const char *why);

/** From here to failure_forgive() failures are warnings: printed as such, and then forgotten. */
void failure_lenient(void);
/** Collective. Whether any rank has noted one since failure_lenient(). */
bool failure_forgive(MPI_Comm comm);

#endif
