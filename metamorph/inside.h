/* SPDX-License-Identifier: BSD-3-Clause */
/** @file inside.h
 *  What the files of libmeta_metamorph share: errors, the library's start, and what becomes of
 *  callbacks and events. */
#ifndef METAMORPH_INSIDE_H
#define METAMORPH_INSIDE_H

#define METAMORPH_NO_NAMES
#define META_NO_PLACES /* those of the program, by metamorph_here() */
#include "meta.h"
#include "metamorph.h"

/** Start libmeta, where nobody has. */
meta_err metamorph_start(void);
/** libmeta was started, and will be finalized, by meta_comm_init() and meta_comm_finalize(). */
void metamorph_is_started(void);
/** MetaMorph's @p function has returned @p err: a line on the standard error stream if it is one.
 */
metamorph_err metamorph_report(const char *function, meta_err err);
/** An argument is refused: the line, and -1. */
metamorph_err metamorph_refuse(const char *function, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** libmeta's type; an unknown one is refused. */
metamorph_err metamorph_type_of(const char *function, meta_type_id id, meta_type *type);

/** How an operation is queued. */
typedef struct metamorph_queued {
    meta_event event;
    meta_event *done; /**< for libmeta's function */
} metamorph_queued;
/** Before an operation. */
void metamorph_begin(metamorph_queued *queued, bool async, const meta_callback *call,
                     const metamorph_event *ret_event);
/** After it: the callback is called, or will be, and the event is kept. */
metamorph_err metamorph_end(const char *function, meta_err err, metamorph_queued *queued,
                            meta_callback *call, metamorph_event *ret_event);

/** libmeta's face, whose level 0 is the fastest. */
metamorph_err metamorph_face_of(const char *function, const metamorph_face *face, meta_face *same);
/** Free what reductions use, before libmeta is finalized. */
void metamorph_free_scratch(void);

/** How messages are completed; NULL before the first one. */
extern void (*metamorph_finish_messages)(void);

#endif
