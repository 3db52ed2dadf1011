/* SPDX-License-Identifier: BSD-3-Clause */
/** @file board.h
 *  The board of a node: memory shared by all processes of a user, where each says how it uses which
 *  device. A process writes to its own slot only, and no lock is ever held there, so that one that
 *  is killed leaves the board consistent; others free its slot. */
#ifndef META_BOARD_H
#define META_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** PROCESSES: of all jobs of a user on the node; USES: devices of a process. */
enum { META_BOARD_PROCESSES = 256, META_BOARD_USES = 16 };

/** How a process uses a device, or several processes together. */
typedef struct meta_board_use {
    double load;     /**< how much of it is kept busy: 1 is all of a GPU, or one core */
    uint64_t queued; /**< nanoseconds of work in its queues */
    uint64_t held;   /**< bytes of its memory */
} meta_board_use;

typedef struct meta_board meta_board;

/** Enter the board in @p folder, which is made if there is none, and made anew if it is damaged.
 *  @return NULL, and why, if it cannot be had */
meta_board *meta_board_open(const char *folder, char *reason, size_t room);
/** Leave it. NULL is allowed. */
void meta_board_close(meta_board *board);
/** The identity of a device by its description, never 0. */
uint64_t meta_board_identity(const char *text);
/** Use number @p use of this process is of device @p identity; 0: of none. */
void meta_board_set(meta_board *board, int use, uint64_t identity, const meta_board_use *of);
/** What all other processes use of device @p identity. */
void meta_board_others(meta_board *board, uint64_t identity, meta_board_use *sum);
/** Free the slots of processes that are gone.
 *  @return how many other processes are left */
int meta_board_bury(meta_board *board);
/** Take the turn: one process at a time decides where its work goes, and has said so on the board
 *  before the next one decides. @return false: another process has it */
bool meta_board_turn(meta_board *board);
void meta_board_turn_end(meta_board *board);
/** Counts the times that processes have come, gone or moved their work. */
const _Atomic uint64_t *meta_board_moves(const meta_board *board);
/** This process has moved its work. @return how many times there were before */
uint64_t meta_board_moved(meta_board *board);

#endif
