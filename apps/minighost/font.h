/* SPDX-License-Identifier: BSD-3-Clause */
/** @file font.h
 *  A font of 5 by 7 dots and two below the line, of the characters that pictures need. */
#ifndef FONT_H
#define FONT_H

enum { FONT_WIDTH = 5, FONT_HEIGHT = 9 };

/** The rows of a character from top to bottom, the leftmost dot in bit 4; NULL where it has none.
 */
const unsigned char *font_rows(char character);

#endif
