/* SPDX-License-Identifier: BSD-3-Clause */
/** @file font.h
 *  A 5 × 7 bitmap font with two rows of descenders, for the characters used in images. */
#ifndef FONT_H
#define FONT_H

enum { FONT_WIDTH = 5, FONT_HEIGHT = 9 };

/** The rows of a character from top to bottom, the leftmost dot in bit 4; NULL where it has none.
 */
const unsigned char *font_rows(char character);

#endif
