/* SPDX-License-Identifier: BSD-3-Clause */
/** @file locale.c
 *  Preloaded, it gives a test program the locale META_TEST_LOCALE before main(), as one with a
 * window gets the user's; but the system's messages stay in English, which tests look for. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("META_TEST_LOCALE");
    if (!name || (setlocale(LC_ALL, name) && setlocale(LC_MESSAGES, "C"))) return;
    fprintf(stderr, "there is no locale %s\n", name);
    _exit(3);
}
