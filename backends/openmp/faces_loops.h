/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces_loops.h
 *  The copy loops by run length. Runs of one, two and three elements have loops of constant
 * length, which compile to single moves; longer runs are copied in vectors, the last of which
 * overlaps the one before it. */
#ifndef META_OPENMP_FACES_LOOPS_H
#define META_OPENMP_FACES_LOOPS_H

#include <string.h>

#include "faces.h"
#include "vector.h"

/** Lengths of one to three elements of each size: X(bytes). */
#define FACES_RUNS(X) X(1) X(2) X(3) X(4) X(6) X(8) X(12) X(16) X(24)

/* ------------------------------------------------------------------ a run */

#define RUN_OF(size)                                                                               \
    static inline void run_of_##size(char *to, const char *from, meta_i64 bytes)                   \
    {                                                                                              \
        (void)bytes;                                                                               \
        memcpy(to, from, size);                                                                    \
    }
FACES_RUNS(RUN_OF)
#undef RUN_OF

/* Runs of n to 2 n bytes. */
#define RUN_FROM(n)                                                                                \
    static inline void run_from_##n(char *to, const char *from, meta_i64 bytes)                    \
    {                                                                                              \
        char first[n], last[n];                                                                    \
        memcpy(first, from, n);                                                                    \
        memcpy(last, from + bytes - n, n);                                                         \
        memcpy(to, first, n);                                                                      \
        memcpy(to + bytes - n, last, n);                                                           \
    }
RUN_FROM(4)
RUN_FROM(8)
RUN_FROM(16)
RUN_FROM(32)
#undef RUN_FROM

/* Runs of at least one vector. */
static inline void run_of_vectors(char *to, const char *from, meta_i64 bytes)
{
    for (meta_i64 k = 0; k < bytes - VECTOR_BYTES; k += VECTOR_BYTES)
        memcpy(to + k, from + k, VECTOR_BYTES);
    memcpy(to + bytes - VECTOR_BYTES, from + bytes - VECTOR_BYTES, VECTOR_BYTES);
}

static inline void run_long(char *to, const char *from, meta_i64 bytes)
{
    memcpy(to, from, (size_t)bytes);
}

/* ------------------------------------------------------------------ the loops */

/* The inner loop with its steps in registers, for one space and for two interleaved ones, which
 * take turns every GROUP runs: the cache still has the lines that both use, and eight runs of eight
 * bytes fill a line of a buffer before the other buffer's turn. Lines that another core has read
 * last take several times as long to be written by turns. */
enum { GROUP = 8 };
#define LOOP(run)                                                                                  \
    static inline void line_##run(char *to, const char *from, meta_i64 count,                      \
                                  const faces_block *b)                                            \
    {                                                                                              \
        const meta_i64 bytes = b->bytes, to_step = b->to_step[0], from_step = b->from_step[0];     \
        for (meta_i64 left = count; left > 0; --left) {                                            \
            run(to, from, bytes);                                                                  \
            to += to_step;                                                                         \
            from += from_step;                                                                     \
        }                                                                                          \
    }                                                                                              \
    static inline void pair_##run(char *to, const char *from, char *also_to,                       \
                                  const char *also_from, const faces_block *b)                     \
    {                                                                                              \
        const meta_i64 to_steps = GROUP * b->to_step[0], from_steps = GROUP * b->from_step[0];     \
        meta_i64 left = b->count[0];                                                               \
        for (; left > GROUP; left -= GROUP) {                                                      \
            line_##run(to, from, GROUP, b);                                                        \
            line_##run(also_to, also_from, GROUP, b);                                              \
            to += to_steps;                                                                        \
            from += from_steps;                                                                    \
            also_to += to_steps;                                                                   \
            also_from += from_steps;                                                               \
        }                                                                                          \
        line_##run(to, from, left, b);                                                             \
        line_##run(also_to, also_from, left, b);                                                   \
    }                                                                                              \
    static void faces_##run(const faces_block *b)                                                  \
    {                                                                                              \
        for (meta_i64 line = 0; line < b->count[1]; ++line) {                                      \
            const meta_i64 to = line * b->to_step[1], from = line * b->from_step[1];               \
            if (b->also_to)                                                                        \
                pair_##run(b->to + to, b->from + from, b->also_to + to, b->also_from + from, b);   \
            else line_##run(b->to + to, b->from + from, b->count[0], b);                           \
        }                                                                                          \
    }

#define LOOP_OF(size) LOOP(run_of_##size)
FACES_RUNS(LOOP_OF)
#undef LOOP_OF
LOOP(run_from_4)
LOOP(run_from_8)
LOOP(run_from_16)
LOOP(run_from_32)
LOOP(run_of_vectors)
LOOP(run_long)
#undef LOOP

static faces_loop *faces_loop_of(meta_i64 bytes)
{
    enum { LONG = 1 << 10 }; /* above this, memcpy() is as fast */
    switch (bytes) {
#define CASE(size)                                                                                 \
    case size:                                                                                     \
        return faces_run_of_##size;
        FACES_RUNS(CASE)
#undef CASE
    default:
        if (bytes > LONG) return faces_run_long;
        if (bytes > 64) return faces_run_of_vectors;
        if (bytes > 32) return faces_run_from_32;
        if (bytes > 16) return faces_run_from_16;
        return bytes > 8 ? faces_run_from_8 : faces_run_from_4;
    }
}

#endif
