/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_format.c
 *  The header of a checkpoint file: writing it, and reading it without trusting it. */
#include "config.h"

#include "checkpoint_format.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "scramble.h"

static const char magic[8] = {'M', 'G', 'h', 'o', 's', 't', 'C', 'p'};

int64_t checkpoint_words(const checkpoint_header *h)
{
    return WORD_PLANES + h->global[2];
}

static int64_t table_bytes(const checkpoint_header *h)
{
    return h->variables * checkpoint_words(h) * (int64_t)sizeof(checkpoint_word);
}

int64_t checkpoint_grid_start(const checkpoint_header *h)
{
    return (int64_t)sizeof *h + table_bytes(h);
}

int64_t checkpoint_before(const checkpoint_header *h)
{
    return h->marks > 1 ? h->marks >> 1 : (h->round - 1) * h->num_tsteps;
}

int64_t checkpoint_marks(const checkpoint_header *h, bool debug_grid, int64_t before)
{
    return debug_grid + (before == (h->round - 1) * h->num_tsteps ? 0 : 2 * before);
}

/* The size that the header's numbers make; false if they are no grid. */
static bool count_bytes(const checkpoint_header *h, int64_t *bytes)
{
    if (h->type != NUMBER_F64 && h->type != NUMBER_F32) return false;
    if (h->variables < 1 || h->variables > MAX_VARIABLES) return false;
    for (int d = 0; d < 3; ++d)
        if (h->global[d] < 1 || h->global[d] > INT_MAX - 2) return false;
    const int64_t size = h->type == NUMBER_F64 ? 8 : 4;
    const int64_t cells[] = {h->global[0], h->global[1], h->global[2], h->variables, size};
    const int64_t words[] = {h->variables, checkpoint_words(h), sizeof(checkpoint_word)};
    int64_t grid, table;
    if (!number_product(cells, 5, &grid) || !number_product(words, 3, &table)) return false;
    if (__builtin_add_overflow(grid, table, bytes)) return false;
    return !__builtin_add_overflow(*bytes, (int64_t)sizeof *h, bytes);
}

static uint64_t checksum(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = bytes;
    for (; bytes > 0; at += sizeof sum, bytes -= sizeof sum) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = scramble(sum ^ word);
    }
    return sum;
}

static uint64_t header_checksum(const checkpoint_header *h)
{
    return checksum(h, offsetof(checkpoint_header, checksum));
}

void checkpoint_seal(checkpoint_header *h, const checkpoint_word *words)
{
    memcpy(h->magic, magic, sizeof magic);
    h->order = CHECKPOINT_ORDER;
    h->version = CHECKPOINT_VERSION;
    count_bytes(h, &h->bytes);
    h->tables = checksum(words, (size_t)table_bytes(h));
    h->checksum = header_checksum(h);
}

bool checkpoint_check_words(const checkpoint_header *h, const checkpoint_word *words)
{
    return h->tables == checksum(words, (size_t)table_bytes(h));
}

static bool is_state(const checkpoint_header *h)
{
    return h->number >= 0 && h->number < INT_MAX && h->round >= 1 && h->step >= 1 &&
           h->step <= h->num_tsteps && h->num_tsteps <= INT_MAX && h->num_spikes >= 0 &&
           h->num_spikes <= INT_MAX && h->round <= (h->num_spikes > 0 ? h->num_spikes : 1) &&
           h->stencil >= STENCIL_NONE && h->stencil <= STENCIL_3D27P &&
           h->comm_method >= METHOD_BSPMA && h->comm_method <= METHOD_SVAF && h->percent_sum >= 0 &&
           h->percent_sum <= 100 && h->report_diffusion >= 0 && h->report_diffusion <= INT_MAX &&
           h->error_tol >= 0 && h->error_tol <= 300 && h->marks >= 0 &&
           h->marks >> 1 <= (h->round - 1) * INT_MAX &&
           h->marks == checkpoint_marks(h, h->marks & 1, checkpoint_before(h));
}

bool checkpoint_check(const void *start, int64_t available, int64_t size, char *why, size_t room)
{
    checkpoint_header h;
    int64_t bytes;
    const int64_t begun = available < (int64_t)sizeof magic ? available : (int64_t)sizeof magic;
    *why = '\0';
    if (begun < 1 || memcmp(start, magic, (size_t)begun) != 0) {
        snprintf(why, room, size == 0 ? "is empty" : "is no checkpoint of MiniGhost");
        return false;
    }
    if (available < (int64_t)sizeof h) {
        snprintf(why, room, "is cut off: it has only %" PRId64 " bytes", size);
        return false;
    }
    memcpy(&h, start, sizeof h);
    if (h.order == __builtin_bswap32(CHECKPOINT_ORDER))
        snprintf(why, room, "was written by a machine with the other byte order; continue there");
    else if (h.order == CHECKPOINT_ORDER && h.version != CHECKPOINT_VERSION)
        snprintf(why, room, "has version %" PRIu32 " of the format; this program reads version %d",
                 h.version, CHECKPOINT_VERSION);
    else if (h.order != CHECKPOINT_ORDER || h.checksum != header_checksum(&h))
        snprintf(why, room, "is damaged: its header does not have its checksum");
    else if (!count_bytes(&h, &bytes) || bytes != h.bytes || !is_state(&h))
        snprintf(why, room, "has a header that no run can have written");
    else if (size != h.bytes)
        snprintf(why, room, "is %s: it has %" PRId64 " bytes of %" PRId64,
                 size < h.bytes ? "cut off" : "too long", size, h.bytes);
    return *why == '\0';
}

uint64_t checkpoint_cell(int64_t place, uint64_t bits)
{
    return scramble(scramble((uint64_t)place) ^ bits);
}
