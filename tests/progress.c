/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress.c
 *  See progress.h. */
#include "config.h"

#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static struct {
    char path[4096];
    bool writes;
    uint64_t seed;
    int64_t all, done;
    time_t written;
} run;

/* Of the META_* variables, whatever their order: runs on different devices have files of their own.
 */
static uint64_t settings(void)
{
    uint64_t sum = 0;
    for (char **variable = environ; *variable; ++variable) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        if (strncmp(*variable, "META_", 5) != 0) continue;
        for (const char *at = *variable; *at; ++at)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        sum += hash;
    }
    return sum;
}

const char *progress_file(const char *name)
{
    static char path[4096];
    const char *folder = getenv("META_TEST_BUILDDIR");
    const int used = snprintf(path, sizeof path, "%s/tests/progress", folder ? folder : ".");
    mkdir(path, 0777);
    snprintf(path + used, sizeof path - (size_t)used, "/%s-%016" PRIx64, name, settings());
    return path;
}

static void write_now(void)
{
    FILE *file = fopen(run.path, "w");
    if (!file) return;
    fprintf(file, "%" PRIu64 " %" PRId64 " %" PRId64 "\n", run.seed, run.all, run.done);
    fclose(file);
    run.written = time(NULL);
}

int64_t progress_begin(const char *name, uint64_t seed, int64_t all, bool writes)
{
    const char *is_long = getenv("META_TEST_LONG");
    uint64_t seed_then;
    int64_t all_then, done;
    *run.path = '\0';
    if (!is_long || strcmp(is_long, "1") != 0) return 0;
    snprintf(run.path, sizeof run.path, "%s", progress_file(name));
    run.writes = writes;
    run.seed = seed;
    run.all = all;
    run.done = 0;
    run.written = time(NULL);
    FILE *file = fopen(run.path, "r");
    if (!file) return 0;
    const int read = fscanf(file, "%" SCNu64 " %" SCNd64 " %" SCNd64, &seed_then, &all_then, &done);
    fclose(file);
    if (read == 3 && seed_then == seed && all_then == all && done > 0 && done < all)
        run.done = done;
    return run.done;
}

void progress_at(int64_t done)
{
    if (done <= run.done) return; /* while other processes may be reading the file */
    run.done = done;
    if (*run.path && run.writes && time(NULL) != run.written) write_now();
}

void progress_end(int64_t done)
{
    if (done >= 0) run.done = done;
    if (*run.path && run.writes && run.done >= run.all) unlink(run.path);
    else if (*run.path && run.writes) write_now();
    *run.path = '\0';
}
