/* SPDX-License-Identifier: BSD-3-Clause */
/** @file canvas.h
 *  A raster image in memory: rectangles, text, and its PNG file. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct colour {
    unsigned char red, green, blue;
} colour;

typedef struct canvas {
    int width, height;
    colour *pixels; /**< rows from top to bottom */
} canvas;

enum { CANVAS_DOT = 2, CANVAS_ADVANCE = 6 * CANVAS_DOT, CANVAS_LINE = 7 * CANVAS_DOT };

/** A white one. False, and a failure noted, if there is no room. */
bool canvas_create(canvas *c, int width, int height);
void canvas_free(canvas *c);
/** What lies outside is not drawn. */
void canvas_fill(canvas *c, int x, int y, int width, int height, colour with);
/** Black text, CANVAS_LINE high, whose upper left corner is there; CANVAS_ADVANCE wide a character.
 */
void canvas_text(canvas *c, int x, int y, const char *text);

/** Whether PNG files can be written. */
bool canvas_has_png(void);
/** The picture as a PNG file's content, to be freed. NULL, and a failure noted, on failure. */
void *canvas_png(const canvas *c, size_t *bytes);

#endif
