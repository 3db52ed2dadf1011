/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learned.h
 *  What was learned of a machine, as a table and as the text of a file. */
#ifndef META_LEARNED_H
#define META_LEARNED_H

#include <stddef.h>

#include "auto/slabs.h"
#include "auto/times.h"

/** Changes with the format of the text. */
#define META_LEARNED_FORMAT 1
/** Kernels of longer names are not kept, and of more lines those that were added to longest ago. */
enum { META_LEARNED_NAME = 96, META_LEARNED_LINES = 4096 };
/** The text has no more bytes. */
enum { META_LEARNED_BYTES = 8 << 20 };

/** A kernel on a device, over numbers of cells within an octave. */
typedef struct meta_learned_line {
    char name[META_LEARNED_NAME];
    uint32_t type;
    uint64_t identity;
    uint64_t turn; /**< of the table, when it was added to last */
    meta_time_runs runs;
} meta_learned_line;

/** Copies from one device to another. 0: not measured. */
typedef struct meta_learned_link {
    double latency;   /**< nanoseconds */
    double bandwidth; /**< bytes a nanosecond */
} meta_learned_link;

typedef struct meta_learned {
    uint64_t turn; /**< how many processes have added to it */
    size_t count, room;
    meta_learned_line *line;
    /** The best of each device and octave of bytes; bytes 0: not known. */
    meta_pace_run pace[META_SLABS_DEVICES][META_OCTAVES];
    meta_learned_link link[META_SLABS_DEVICES][META_SLABS_DEVICES];
} meta_learned;

/** Forget all. */
void meta_learned_clear(meta_learned *table);
/** Append @p share of the runs of a kernel, or two to a new line, which is as many as it takes to
 * know it; of each line the last runs are kept. Without memory they are forgotten. */
void meta_learned_add(meta_learned *table, const char *name, uint32_t type, uint64_t identity,
                      const meta_time_runs *runs, int share);
/** A run on a device, which is kept if none has moved about as many bytes faster. */
void meta_learned_add_pace(meta_learned *table, int device, const meta_pace_run *one);
/** What was measured now counts as much as what is there. */
void meta_learned_add_link(meta_learned *table, int from, int to, const meta_learned_link *link);
/** The table as text, of malloc(), which ends with a checksum; NULL: memory is out. @p machine:
 * lines which say what machine it is of. */
char *meta_learned_text(meta_learned *table, const char *machine, size_t *bytes);
/** Read such a text, of any machine if @p machine is NULL, into an empty table. @return false with
 * the @p reason if it is damaged, of another format or of another machine; the table is empty then
 */
bool meta_learned_parse(meta_learned *table, const char *text, size_t bytes, const char *machine,
                        int devices, char *reason, size_t room);

#endif
