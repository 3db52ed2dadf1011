/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces_loops.h
 *  The copy loops by run length. Runs of one, two and three elements have loops of constant
 * length, which compile to single moves; longer runs are copied in vectors, the last of which
 * overlaps the one before it. What is stored past the caches is gathered into whole lines first. */
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
 * last take several times as long to be written by turns. For one space the block is copied first,
 * since for all that the compiler knows, what is stored may be the block. Two spaces take longer
 * with a copy, and have a function of their own, which leaves the registers to the other. */
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
    static __attribute__((noinline)) void pairs_##run(const faces_block *b)                        \
    {                                                                                              \
        const meta_i64 to_steps = GROUP * b->to_step[0], from_steps = GROUP * b->from_step[0];     \
        for (meta_i64 line = 0; line < b->count[1]; ++line) {                                      \
            meta_i64 to = line * b->to_step[1], from = line * b->from_step[1];                     \
            for (meta_i64 left = b->count[0]; left > 0; left -= GROUP) {                           \
                const meta_i64 runs = left < GROUP ? left : GROUP;                                 \
                line_##run(b->to + to, b->from + from, runs, b);                                   \
                line_##run(b->also_to + to, b->also_from + from, runs, b);                         \
                to += to_steps;                                                                    \
                from += from_steps;                                                                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void faces_##run(const faces_block *block)                                              \
    {                                                                                              \
        const faces_block b = *block;                                                              \
        if (b.also_to) {                                                                           \
            pairs_##run(block);                                                                    \
            return;                                                                                \
        }                                                                                          \
        for (meta_i64 line = 0; line < b.count[1]; ++line)                                         \
            line_##run(b.to + line * b.to_step[1], b.from + line * b.from_step[1], b.count[0],     \
                       &b);                                                                        \
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

/* ------------------------------------------------------------------ the loops past the caches */

/* Short runs that follow each other in the destination fill its lines; opposite faces fill theirs
 * by turns, as above. The first and last runs, of lines that are not filled, are stored as usual.
 */
enum { LINE = 64 };

/* Runs until @p to begins a line, at most @p count. */
static inline meta_i64 runs_to_line(const char *to, meta_i64 count, meta_i64 bytes)
{
    const meta_i64 runs = (meta_i64)(-(uintptr_t)to % LINE) / bytes;
    return runs < count ? runs : count;
}

#define PAST(size)                                                                                 \
    static inline void past_line_##size(char *to, const char *from, meta_i64 from_step)            \
    {                                                                                              \
        _Alignas(LINE) char line[LINE];                                                            \
        for (int k = 0; k < LINE / size; ++k) memcpy(line + k * size, from + k * from_step, size); \
        for (int v = 0; v < LINE; v += VECTOR_BYTES) vector_stream(to + v, line + v);              \
    }                                                                                              \
    static void past_lines_##size(char *to, const char *from, char *also_to,                       \
                                  const char *also_from, const faces_block *b)                     \
    {                                                                                              \
        const meta_i64 each = LINE / size, count = b->count[0], step = b->from_step[0];            \
        const meta_i64 head = runs_to_line(to, count, size);                                       \
        const meta_i64 also_head = also_to ? runs_to_line(also_to, count, size) : count;           \
        const meta_i64 lines = (count - head) / each, also_lines = (count - also_head) / each;     \
        line_run_of_##size(to, from, head, b);                                                     \
        if (also_to) line_run_of_##size(also_to, also_from, also_head, b);                         \
        for (meta_i64 k = 0; k < lines || k < also_lines; ++k) {                                   \
            const meta_i64 at = head + k * each, also_at = also_head + k * each;                   \
            if (k < lines) past_line_##size(to + at * size, from + at * step, step);               \
            if (k < also_lines)                                                                    \
                past_line_##size(also_to + also_at * size, also_from + also_at * step, step);      \
        }                                                                                          \
        const meta_i64 done = head + lines * each, also_done = also_head + also_lines * each;      \
        line_run_of_##size(to + done * size, from + done * step, count - done, b);                 \
        if (also_to)                                                                               \
            line_run_of_##size(also_to + also_done * size, also_from + also_done * step,           \
                               count - also_done, b);                                              \
    }                                                                                              \
    static void faces_past_##size(const faces_block *b)                                            \
    {                                                                                              \
        if (b->to_step[0] != size || (uintptr_t)b->to % size || (uintptr_t)b->also_to % size) {    \
            faces_run_of_##size(b);                                                                \
            return;                                                                                \
        }                                                                                          \
        for (meta_i64 line = 0; line < b->count[1]; ++line) {                                      \
            const meta_i64 to = line * b->to_step[1], from = line * b->from_step[1];               \
            past_lines_##size(b->to + to, b->from + from, b->also_to ? b->also_to + to : NULL,     \
                              b->also_to ? b->also_from + from : NULL, b);                         \
        }                                                                                          \
        vector_stream_end();                                                                       \
    }
PAST(1)
PAST(2)
PAST(4)
PAST(8)
PAST(16)
#undef PAST

/* Runs that are mostly whole lines. */
static void faces_past_long(const faces_block *b)
{
    for (meta_i64 line = 0; line < b->count[1]; ++line)
        for (meta_i64 run = 0; run < b->count[0]; ++run) {
            const meta_i64 to = line * b->to_step[1] + run * b->to_step[0];
            const meta_i64 from = line * b->from_step[1] + run * b->from_step[0];
            vector_stream_copy(b->to + to, b->from + from, (size_t)b->bytes);
            if (b->also_to)
                vector_stream_copy(b->also_to + to, b->also_from + from, (size_t)b->bytes);
        }
    vector_stream_end();
}

/* NULL: runs of @p bytes are not stored past the caches. */
static faces_loop *faces_past_of(meta_i64 bytes)
{
    enum { LONG = 8 * LINE };
    switch (bytes) {
#define CASE(size)                                                                                 \
    case size:                                                                                     \
        return faces_past_##size;
        CASE(1)
        CASE(2)
        CASE(4)
        CASE(8)
        CASE(16)
#undef CASE
    default:
        return bytes >= LONG || bytes % LINE == 0 ? faces_past_long : NULL;
    }
}

/* ------------------------------------------------------------------ the choice */

static faces_loop *faces_loop_of(meta_i64 bytes, int way)
{
    enum { LONG = 1 << 10 }; /* above this, memcpy() is as fast */
    faces_loop *past = way == FACES_PAST_CACHES ? faces_past_of(bytes) : NULL;
    if (past) return past;
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
