/* SPDX-License-Identifier: BSD-3-Clause */
/** @file canvas.c
 *  A raster image in memory: rectangles, text, and its PNG file. */
#include "config.h"

#include "canvas.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "font.h"

bool canvas_create(canvas *c, int width, int height)
{
    const size_t bytes = (size_t)width * (size_t)height * sizeof *c->pixels;
    *c = (canvas){width, height, malloc(bytes)};
    if (c->pixels == NULL) failure_note_memory((double)bytes);
    else memset(c->pixels, 0xff, bytes);
    return c->pixels != NULL;
}

void canvas_free(canvas *c)
{
    free(c->pixels);
    c->pixels = NULL;
}

void canvas_fill(canvas *c, int x, int y, int width, int height, colour with)
{
    for (int row = y < 0 ? 0 : y; row < y + height && row < c->height; ++row)
        for (int column = x < 0 ? 0 : x; column < x + width && column < c->width; ++column)
            c->pixels[(size_t)row * (size_t)c->width + (size_t)column] = with;
}

static void draw_character(canvas *c, int x, int y, char character)
{
    const unsigned char *rows = font_rows(character);
    const colour black = {0, 0, 0};
    for (int row = 0; rows != NULL && row < FONT_HEIGHT; ++row)
        for (int column = 0; column < FONT_WIDTH; ++column)
            if (rows[row] >> (FONT_WIDTH - 1 - column) & 1)
                canvas_fill(c, x + column * CANVAS_DOT, y + row * CANVAS_DOT, CANVAS_DOT,
                            CANVAS_DOT, black);
}

void canvas_text(canvas *c, int x, int y, const char *text)
{
    for (; *text != '\0'; ++text, x += CANVAS_ADVANCE) draw_character(c, x, y, *text);
}
