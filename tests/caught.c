/* SPDX-License-Identifier: BSD-3-Clause */
/** @file caught.c
 *  See caught.h. */
#include "caught.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int kept_stream = -1;
static FILE *caught;

void catch_errors(void)
{
    fflush(stderr);
    caught = tmpfile();
    kept_stream = dup(STDERR_FILENO);
    if (!caught || kept_stream < 0) abort();
    dup2(fileno(caught), STDERR_FILENO);
}

void take_caught(char *text, size_t room)
{
    fflush(stderr);
    dup2(kept_stream, STDERR_FILENO);
    close(kept_stream);
    rewind(caught);
    text[fread(text, 1, room - 1, caught)] = '\0';
    fclose(caught);
}
