/* SPDX-License-Identifier: BSD-3-Clause */
/** @file scratch.c
 *  Folders for what a test writes. */
#include "config.h"

#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

void scratch_make(const char *name, char *path, size_t room)
{
    char *built = realpath(test_built("tests"), NULL);
    snprintf(path, room, "%s/%s-test-XXXXXX", built ? built : "/tmp", name);
    free(built);
    if (!mkdtemp(path)) FAIL("%s: %s", path, strerror(errno));
}

void scratch_remove(const char *path)
{
    char command[2048];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) FAIL("%s", command);
}

bool scratch_read(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    text[file ? fread(text, 1, room - 1, file) : 0] = '\0';
    if (!file) return false;
    if (fgetc(file) != EOF) FAIL("%s is too long", path);
    fclose(file);
    return true;
}
