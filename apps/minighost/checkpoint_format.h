/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_format.h
 *  The header of a checkpoint file, and the checksums of its data. In the writer's byte order:
 *
 *      checkpoint_header
 *      for each variable: source total and flux out in double, and a checksum per z plane
 *      for each variable: the global grid in its type, x fastest, no ghost cells
 *
 *  The format is independent of the decomposition. A plane's checksum is the sum of one hash per
 *  cell, so ranks can add their parts in any order. The hash is a bijection of the cell's value,
 *  so a change of a single cell is always detected. */
#ifndef CHECKPOINT_FORMAT_H
#define CHECKPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECKPOINT_VERSION = 1, CHECKPOINT_ORDER = 0x01020304 };

typedef struct checkpoint_header {
    char magic[8];
    uint32_t order, version;
    int64_t bytes; /**< of the whole file */
    int64_t type;  /**< as numbers.h counts them */
    int64_t global[3], variables;
    int64_t number;      /**< of the checkpoint */
    int64_t round, step; /**< that were done: from 1 on */
    int64_t stencil, comm_method, num_spikes, num_tsteps, percent_sum, report_diffusion, error_tol;
    int64_t marks;     /**< --debug_grid, and 2 times the time steps before this round */
    uint64_t tables;   /**< checksum of what stands between this and the grid */
    uint64_t checksum; /**< of all members before it */
} checkpoint_header;
_Static_assert(sizeof(checkpoint_header) == 168, "the header has no gaps");

/** What stands behind the header for a variable; 8 bytes each. */
typedef union checkpoint_word {
    double value;
    uint64_t checksum;
} checkpoint_word;
enum { WORD_SOURCE, WORD_FLUX, WORD_PLANES /**< the first of them */ };

/** The time steps of the run before the round that the checkpoint is of. Older ones do not say, for
 *  which each round had num_tsteps; so they do where that is so. */
int64_t checkpoint_before(const checkpoint_header *h);
/** The marks of a checkpoint with that many. */
int64_t checkpoint_marks(const checkpoint_header *h, bool debug_grid, int64_t before);

/** Words of a variable, and bytes before the grid. */
int64_t checkpoint_words(const checkpoint_header *h);
int64_t checkpoint_grid_start(const checkpoint_header *h);

/** Fill in magic, order, version, bytes and the checksums; @p words are all variables'. */
void checkpoint_seal(checkpoint_header *h, const checkpoint_word *words);
/** Whether the @p available first bytes of a file of @p size bytes at @p start begin a checkpoint
 *  that can be used; if not, why not, as the end of a sentence that begins with the file's name. */
bool checkpoint_check(const void *start, int64_t available, int64_t size, char *why, size_t room);
/** Whether the words are those that the header was sealed with. */
bool checkpoint_check_words(const checkpoint_header *h, const checkpoint_word *words);

/** What a cell with these bits adds to its plane's checksum; @p place is its global index. */
uint64_t checkpoint_cell(int64_t place, uint64_t bits);

#endif
