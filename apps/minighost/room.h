/* SPDX-License-Identifier: BSD-3-Clause */
/** @file room.h
 *  Checks that the problem fits in memory, before any of it is touched. */
#ifndef ROOM_H
#define ROOM_H

#include "problem.h"

/** Collective. Note a failure, with the bytes needed and those there are, where it does not fit. */
void room_check(const problem *p);
/** Collective. How many cells of a block, all their variables, this rank has room for; about, by
 * what the cells of its present one need, which are in memory already where @p held. */
int64_t room_cells(const problem *p, bool held);

#endif
