/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_files.c
 *  The names of checkpoints and the checksums of their planes. */
#include "config.h"

#include "checkpoint_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint_format.h"
#include "failure.h"
#include "watch.h"

static char *name_with(const char *path, const char *end)
{
    const size_t room = strlen(path) + strlen(end) + 1;
    char *name = malloc(room);
    if (name == NULL) failure_note_memory((double)room);
    else snprintf(name, room, "%s%s", path, end);
    return name;
}

char *checkpoint_name(const char *path, int64_t which)
{
    char end[32];
    snprintf(end, sizeof end, ".%" PRId64, which);
    return name_with(path, end);
}

char *checkpoint_partial_name(const char *path)
{
    return name_with(path, ".partial");
}

/* The number that makes @p name of @p base; -1 if it is no such name. */
static int64_t number_of(const char *name, const char *base)
{
    const size_t length = strlen(base);
    int64_t value;
    if (strncmp(name, base, length) != 0 || name[length] != '.') return -1;
    const char *digits = name + length + 1;
    if (!number_parse(digits, &value) || (digits[0] == '0' && digits[1] != '\0')) return -1;
    return value;
}

int64_t checkpoint_last(const char *option, const char *path)
{
    char *folder = strdup(path), *base = strdup(path);
    int64_t last = -1;
    DIR *list = folder != NULL ? opendir(dirname(folder)) : NULL;
    if (folder == NULL || base == NULL) failure_note_memory(2 * (double)strlen(path));
    else if (list == NULL)
        failure_note("%s %s: its folder cannot be read: %s", option, path, strerror(errno));
    else
        for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
            const int64_t found = number_of(entry->d_name, basename(base));
            if (found > last) last = found;
        }
    if (list != NULL) closedir(list);
    free(folder);
    free(base);
    return last;
}

char *checkpoint_find(const char *path, int64_t which)
{
    if (which < 0) which = checkpoint_last("--restart_file", path);
    if (which >= 0) return checkpoint_name(path, which);
    failure_note("--restart_file %s: there is no checkpoint %s.0, %s.1 or further", path, path,
                 path);
    return NULL;
}

uint64_t *checkpoint_planes(const problem *p)
{
    uint64_t *planes = calloc(2 * (size_t)p->global[2], sizeof *planes);
    if (planes == NULL) failure_note_memory(2 * (double)p->global[2] * sizeof *planes);
    return planes;
}

static uint64_t bits_of(const problem *p, const void *cells, int64_t place)
{
    const void *cell = number_at(cells, place, p->type);
    uint64_t wide;
    uint32_t narrow;
    if (p->type == NUMBER_F32) {
        memcpy(&narrow, cell, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, cell, sizeof wide);
    return wide;
}

/* The upper half of the room is for this rank's part. */
void checkpoint_sum_planes(const problem *p, const void *cells, uint64_t *planes)
{
    uint64_t *mine = planes + p->global[2];
    memset(mine, 0, (size_t)p->global[2] * sizeof *mine);
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z) {
        const int64_t gz = p->first[2] + z - p->own.start[2];
        uint64_t sum = 0;
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y) {
            const int64_t gy = p->first[1] + y - p->own.start[1];
            const int64_t row = (z * p->size[1] + y) * p->size[0];
            const int64_t global = (gz * p->global[1] + gy) * p->global[0] + p->first[0];
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x)
                sum += checkpoint_cell(global + x - p->own.start[0], bits_of(p, cells, row + x));
        }
        mine[gz] = sum;
    }
    watch_begin("a checkpoint is summed");
    MPI_Reduce(mine, planes, (int)p->global[2], MPI_UINT64_T, MPI_SUM, 0, p->cart);
    watch_end();
}
