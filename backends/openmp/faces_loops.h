/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces_loops.h
 *  The loops that move runs of a face, for each length of a run: those of one, two and three
 * elements have their own, which the compiler turns into as many moves; the others go in vectors,
 * the last of which overlaps the one before it. */
#ifndef META_OPENMP_FACES_LOOPS_H
#define META_OPENMP_FACES_LOOPS_H

#include <string.h>

#include "faces.h"
#include "vector.h"

/** One, two and three elements of each size: X(bytes). */
#define FACES_RUNS(X) X(1) X(2) X(3) X(4) X(6) X(8) X(12) X(16) X(24)

/* MOVE moves the run at `from` to `to`. */
#define FACES_LOOP(name, MOVE)                                                                     \
    static void faces_##name(const faces_block *b)                                                 \
    {                                                                                              \
        const meta_i64 bytes = b->bytes, count = b->count[0], to_step = b->to_step[0],             \
                       from_step = b->from_step[0];                                                \
        (void)bytes;                                                                               \
        for (meta_i64 line = 0; line < b->count[1]; ++line) {                                      \
            char *to = b->to + line * b->to_step[1];                                               \
            const char *from = b->from + line * b->from_step[1];                                   \
            for (meta_i64 k = 0; k < count; ++k, to += to_step, from += from_step) MOVE;           \
        }                                                                                          \
    }

#define FACES_FIXED(size) FACES_LOOP(of_##size, memcpy(to, from, size))
FACES_RUNS(FACES_FIXED)
#undef FACES_FIXED

/* A run of n to 2 n bytes. */
#define FACES_PAIR(n)                                                                              \
    static inline void faces_pair_##n(char *to, const char *from, meta_i64 bytes)                  \
    {                                                                                              \
        char first[n], last[n];                                                                    \
        memcpy(first, from, n);                                                                    \
        memcpy(last, from + bytes - n, n);                                                         \
        memcpy(to, first, n);                                                                      \
        memcpy(to + bytes - n, last, n);                                                           \
    }
FACES_PAIR(4)
FACES_PAIR(8)
FACES_PAIR(16)
FACES_PAIR(32)
#undef FACES_PAIR

/* Of at least a vector. */
static inline void faces_vectors(char *to, const char *from, meta_i64 bytes)
{
    for (meta_i64 k = 0; k < bytes - VECTOR_BYTES; k += VECTOR_BYTES)
        memcpy(to + k, from + k, VECTOR_BYTES);
    memcpy(to + bytes - VECTOR_BYTES, from + bytes - VECTOR_BYTES, VECTOR_BYTES);
}

FACES_LOOP(up_to_8, faces_pair_4(to, from, bytes))
FACES_LOOP(up_to_16, faces_pair_8(to, from, bytes))
FACES_LOOP(up_to_32, faces_pair_16(to, from, bytes))
FACES_LOOP(up_to_64, faces_pair_32(to, from, bytes))
FACES_LOOP(longer, faces_vectors(to, from, bytes))
FACES_LOOP(long, memcpy(to, from, (size_t)bytes))
#undef FACES_LOOP

static faces_loop *faces_loop_of(meta_i64 bytes)
{
    enum { LONG = 1 << 10 }; /* from here on the system's own copy is as fast */
    switch (bytes) {
#define CASE(size)                                                                                 \
    case size:                                                                                     \
        return faces_of_##size;
        FACES_RUNS(CASE)
#undef CASE
    default:
        if (bytes > LONG) return faces_long;
        if (bytes > 64) return faces_longer;
        if (bytes > 32) return faces_up_to_64;
        if (bytes > 16) return faces_up_to_32;
        return bytes > 8 ? faces_up_to_16 : faces_up_to_8;
    }
}

#endif
