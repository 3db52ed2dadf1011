/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learned_list.c
 *  What META_MODE=auto has learned, as tables of kernels and links. */
#include "config.h"

#include "learned_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/learned.h"
#include "meta_backend.h"

/* Of malloc(), with a '\0' behind it; NULL: errno says why. */
static char *read_text(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(META_LEARNED_BYTES + 1) : NULL;
    *bytes = text ? fread(text, 1, META_LEARNED_BYTES, file) : 0;
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (text) text[*bytes] = '\0';
    if (file) fclose(file);
    return text;
}

/* The lines between the first one and the table, which say what machine it is of. */
static void print_machine(const char *text)
{
    for (const char *at = strchr(text, '\n') + 1; *at && strncmp(at, "turn ", 5) != 0;) {
        const int length = (int)strcspn(at, "\n");
        printf("  %.*s\n", length, at);
        at += length + 1;
    }
}

static void print_kernels(const meta_learned *t)
{
    printf("  %-28s %-5s %6s %8s %12s %12s %5s\n", "kernel", "type", "device", "cells", "us",
           "ns per cell", "runs");
    for (size_t k = 0; k < t->count; ++k) {
        const meta_learned_line *l = &t->line[k];
        meta_time_runs middle = l->runs;
        char cells[16];
        meta_times_thin(&middle, 1);
        const meta_time_run *r = &middle.run[0];
        snprintf(cells, sizeof cells, "2^%d", l->runs.octave);
        printf("  %-28s %-5s %6d %8s %12.2f %12.3f %5d\n", l->name, meta_element_name(l->type),
               l->runs.device, cells, r->seconds * 1e6, r->seconds * 1e9 / r->cells, l->runs.count);
    }
}

static void print_links(const meta_learned *t)
{
    for (int from = 0; from < META_SLABS_DEVICES; ++from)
        for (int to = 0; to < META_SLABS_DEVICES; ++to) {
            const meta_learned_link *l = &t->link[from][to];
            if (l->latency <= 0 && l->bandwidth <= 0) continue;
            printf("  device %d to %d:", from, to);
            if (l->latency > 0) printf(" %.2f us", l->latency / 1e3);
            if (l->bandwidth > 0) printf(" %.2f GB/s", l->bandwidth);
            printf("\n");
        }
}

static bool list_one(const char *path)
{
    char reason[512];
    meta_learned table = {.turn = 0};
    size_t bytes;
    char *text = read_text(path, &bytes);
    if (!text) {
        fprintf(stderr, "meta-info: %s: %s\n", path, strerror(errno));
        return false;
    }
    const bool read =
        meta_learned_parse(&table, text, bytes, NULL, META_SLABS_DEVICES, reason, sizeof reason);
    if (read) {
        printf("%s, after %" PRIu64 " processes\n", path, table.turn);
        print_machine(text);
        print_kernels(&table);
        print_links(&table);
    } else {
        fprintf(stderr, "meta-info: %s: %s\n", path, reason);
    }
    free(text);
    meta_learned_clear(&table);
    return read;
}

bool learned_list(int count, char *const *files)
{
    bool all = true;
    for (int k = 0; k < count; ++k) all = list_one(files[k]) && all;
    return all;
}
