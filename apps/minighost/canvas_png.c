/* SPDX-License-Identifier: BSD-3-Clause */
/** @file canvas_png.c
 *  Writes an image as a PNG file, if the program was built with libpng. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "canvas.h"
#include "failure.h"

#ifdef HAVE_PNG

#include <png.h>

bool canvas_has_png(void)
{
    return true;
}

void *canvas_png(const canvas *c, size_t *bytes)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)c->width,
                       .height = (png_uint_32)c->height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = 0;
    void *content = NULL;
    if (png_image_write_to_memory(&image, NULL, &size, 0, c->pixels, 0, NULL)) {
        content = malloc(size);
        if (content == NULL) {
            failure_note_memory((double)size);
            return NULL;
        }
        if (png_image_write_to_memory(&image, content, &size, 0, c->pixels, 0, NULL)) {
            *bytes = size;
            return content;
        }
    }
    free(content);
    failure_note("--png: libpng cannot make the picture: %s", image.message);
    return NULL;
}

#else

bool canvas_has_png(void)
{
    return false;
}

void *canvas_png(const canvas *c, size_t *bytes)
{
    (void)c;
    (void)bytes;
    failure_note("--png: this program was built without libpng");
    return NULL;
}

#endif
