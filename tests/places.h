/* SPDX-License-Identifier: BSD-3-Clause */
/** @file places.h
 *  Where the results of a kernel go: some to the host, some to the device, each between words that
 *  must stay as they are. */
#ifndef META_TEST_PLACES_H
#define META_TEST_PLACES_H

#include "cases.h"

/* An extreme and its place is the largest result: its value and as many indices as boxes have. */
enum { PLACES_MOST = 8, PLACE_BYTES = (1 + META_MAX_DIM) * 8, PLACE_WORDS = PLACE_BYTES / 8 + 2 };

typedef struct places {
    int count;
    void *given[PLACES_MOST]; /**< what the kernel gets */
    bool on_device[PLACES_MOST];
    uint64_t (*device)[PLACE_WORDS];
    uint64_t host[PLACES_MOST]
                 [PLACE_WORDS]; /**< a result is in the second word and those behind it */
} places;

/** Places of @p count results; false after a failed check. */
bool places_pick(places *p, int count);
/** Fetch the results to `host`, check that nothing around them has changed, and free the places.
 *  @p bytes: of each result */
void places_read(places *p, const size_t *bytes);
/** Result @p k once they are read, of at most 8 bytes, the others of which are 0. */
uint64_t places_bits(const places *p, int k, size_t bytes);

#endif
