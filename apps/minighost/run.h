/* SPDX-License-Identifier: BSD-3-Clause */
/** @file run.h
 *  A run of MiniGhost: rounds of one spike and its time steps, with a check of every step. */
#ifndef RUN_H
#define RUN_H

#include "checkpoint.h"
#include "problem.h"

/** Collective. Everything after the solver began; prints the verdict. The run begins where the
 *  checkpoint @p from was written; at the beginning if that is NULL. With --balance dynamic the
 * problem's block changes.
 *  @return the program's exit status, the same on every rank */
int run_problem(problem *p, checkpoint *from);

#endif
