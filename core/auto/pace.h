/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pace.h
 *  How fast a device moves bytes, whichever kernel does: a bound for those that have not run there.
 */
#ifndef META_PACE_H
#define META_PACE_H

#include <stdint.h>

enum { META_OCTAVES = 48 };
/** The octave of a number of cells or bytes; larger ones are in the last. */
static inline int meta_octave(uint64_t number)
{
    const int o = number > 1 ? 63 - __builtin_clzll(number) : 0;
    return o < META_OCTAVES ? o : META_OCTAVES - 1;
}

/** Bytes a second of a device of which nothing is known. */
#define META_PACE_UNKNOWN 2e12

typedef struct meta_pace_run {
    double bytes, seconds;
} meta_pace_run;

/** All zero: nothing is known. */
typedef struct meta_pace {
    meta_pace_run best[META_OCTAVES]; /**< of runs in each octave of bytes; bytes 0: none */
    meta_pace_run top;                /**< the one of them with the best rate */
    double per_byte, per_more;        /**< seconds of a byte at twice its rate, and beyond it */
} meta_pace;

/** A run has moved so many bytes at least, 1 or more, in so many seconds. */
void meta_pace_raise(meta_pace *pace, const meta_pace_run *run);
/** Seconds that so many bytes more add to a run, at twice the rate that is likely at best. */
static inline double meta_pace_more(const meta_pace *pace, double bytes)
{
    return bytes * (pace->top.bytes > 0 ? pace->per_more : 1 / (2 * META_PACE_UNKNOWN));
}
/** Seconds for so many bytes, at twice that rate. */
static inline double meta_pace_bound(const meta_pace *pace, double bytes)
{
    if (bytes <= pace->top.bytes) return bytes * pace->per_byte;
    return pace->top.seconds / 2 + meta_pace_more(pace, bytes - pace->top.bytes);
}

#endif
