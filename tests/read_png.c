/* SPDX-License-Identifier: BSD-3-Clause */
/** @file read_png.c
 *  Prints a PNG file's width and height, and the colours of the given pixels:
 *  read_png FILE [X Y] … Exit status 3: built without libpng. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_PNG

#include <png.h>

int main(int argc, char **argv)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (argc < 2 || !png_image_begin_read_from_file(&image, argv[1])) {
        fprintf(stderr, "cannot be read: %s\n", image.message);
        return 1;
    }
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (pixels == NULL || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        fprintf(stderr, "cannot be read: %s\n", image.message);
        return 1;
    }
    printf("%u %u\n", (unsigned)image.width, (unsigned)image.height);
    for (int k = 2; k + 1 < argc; k += 2) {
        const unsigned long x = strtoul(argv[k], NULL, 10), y = strtoul(argv[k + 1], NULL, 10);
        const unsigned char *c = pixels + 3 * (y * image.width + x);
        if (x < image.width && y < image.height) printf("%d %d %d\n", c[0], c[1], c[2]);
    }
    free(pixels);
    return 0;
}

#else

int main(void)
{
    return 3;
}

#endif
