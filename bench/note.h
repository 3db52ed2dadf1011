/* SPDX-License-Identifier: BSD-3-Clause */
/** @file note.h
 *  Records a failure on any rank until all ranks agree on it: a rank records it and continues to
 *  the next agreement point, so that no rank waits for another forever (deadlock). There, a row
 *  or a peer is skipped with the reason, or the program exits. */
#ifndef BENCH_NOTE_H
#define BENCH_NOTE_H

#include <stdbool.h>

#include "meta.h"

enum { NOTE_ROOM = 1024 };

/** Record a reason, a sentence without a newline. Only the first one is kept. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Record the error of a libmeta call. @return whether it succeeded */
bool note_meta(meta_err err);
/** Whether this rank has recorded a reason. */
bool note_seen(void);
/** Collective. Whether any rank has recorded a reason; then @p text, NOTE_ROOM characters, is that
 *  of the lowest rank, on all of them. Clears the record. */
bool note_agree(char *text);

/** On rank 0: print "meta-bench: " and the message, one line, to the error stream. */
void note_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same, but each message once. */
void note_print_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
