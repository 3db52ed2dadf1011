/* SPDX-License-Identifier: BSD-3-Clause */
/** @file standard_output.h
 *  Output that does not arrive, on a full disk or where its reader has gone, is an error. */
#ifndef META_STANDARD_OUTPUT_H
#define META_STANDARD_OUTPUT_H

/** At the program's start: a reader that goes is an error of writing, and does not end the program.
 *  No file that is opened later becomes the standard output where there is none. */
void standard_output_begin(void);
/** At its end: NULL, or a message if what was printed could not all be written. */
const char *standard_output_error(void);

#endif
