/* SPDX-License-Identifier: BSD-3-Clause */
/** @file balance.h
 *  --balance: load balancing by trial, before the first time step and during the run. There are two
 *  versions: balance.c with libmeta, and balance_mpi.c, which rejects the option. */
#ifndef BALANCE_H
#define BALANCE_H

#include "problem.h"
#include "solve.h"

enum { BALANCE_SAMPLES = 5 };

/** What a run with --balance dynamic knows of itself. */
typedef struct balancing {
    problem *p;
    MPI_Comm cart;       /**< with which libmeta remembers what was measured */
    int64_t next, every; /**< time steps to the next sample; between the next two proposals */
    int taken;
    double start, before;          /**< of the present step, and this rank's own seconds then */
    double own[BALANCE_SAMPLES];   /**< this rank's seconds of a step */
    double whole[BALANCE_SAMPLES]; /**< and all of a step */
    double cost;                   /**< seconds that a move takes, the same on every rank */
    int64_t *cut[3];               /**< of a proposal */
    int64_t moves;
    double seconds; /**< of all moves */
} balancing;

/** Collective. Note a failure where --balance asks for what this version cannot do. */
void balance_check(const problem *p);
/** Collective. Cut the grid so that a step takes as little time as possible, where --balance asks
 * for it. Failures are noted. */
void balance_cut(problem *p);

/** Before the first time step and at the end. Failures are noted. */
void balance_begin(balancing *b, problem *p);
void balance_end(balancing *b);
/** Before and after each time step, @p left of which follow. Collective; true where it pays to
 * move: then the solver's cells have been moved, and the problem's block is another one. */
void balance_before(balancing *b);
bool balance_after(balancing *b, solver *s, int64_t left);

#endif
