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

/* node.c */
/** Find the ranks of this node, with this rank's place among them and its share of their cores.
 *  Collective over comm_job.messages. */
meta_err comm_node_find(int *threads);

/* settings.c */
/** Read the META_* variables into comm_job. */
meta_err comm_settings_read(void);

#endif
