/* SPDX-License-Identifier: BSD-3-Clause */
/** @file life.h
 *  The steps of entering and leaving a job. */
#ifndef META_COMM_LIFE_H
#define META_COMM_LIFE_H

#include "progress/progress.h"

/* hooks.c */
/** Install what the core calls. */
void comm_hooks_set(void);

/* launcher.c */
/** META_ERR_MPI if another MPI's launcher started this program. */
meta_err comm_launcher_check(void);
/** Cut @p version, of MPI_Get_library_version(), to the name and number. */
void comm_shorten_version(char *version);

/* mpi_end.c */
/** Have @p call called where MPI_Finalize() is called from now on, while MPI can still be used. */
meta_err comm_mpi_end_watch(void (*call)(void));
/** No more. @p by_mpi: in that call. */
void comm_mpi_end_forget(bool by_mpi);

/* node.c */
/** Find the ranks of this node, with this rank's place among them. @p error: of this rank so far,
 *  which all then return. Collective over comm_job.messages. */
meta_err comm_node_find(meta_err error);
/** With that known: this rank's share of the node's cores. */
meta_err comm_node_share(int *threads);
void comm_node_forget(void);

/* settings.c */
/** Read the META_* variables into comm_job. */
meta_err comm_settings_read(void);
/** Before that: META_TIMEOUT, 0 where it is not set or wrong, and whether it may end this process.
 */
void comm_settings_timeout(double *seconds, bool *ends_process);

/* two_mpis.c */
/** META_ERR_MPI, or only a warning where its functions are apart, if a second MPI is loaded. Calls no
 *  function of MPI but the ones that tell the versions, so it may come before MPI is initialised. */
meta_err comm_two_mpis_check(void);

/* watchdog.c */
/** The calling thread is about to make @p call of MPI, which may never return: after META_TIMEOUT
 *  that is a warning, and with META_TIMEOUT_ABORT=on the end of this process. */
void comm_watchdog_begin(const char *call);
/** It has returned. */
void comm_watchdog_end(void);

#endif
