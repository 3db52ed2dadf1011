/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_cells.h
 *  Exact sums of what the cells of a program's kernel contribute, for the text that the core
 *  generates. Include it after exact_rows.h or exact_threads.h and the words of the language for
 *  kernels of the program's, which defines META_USER_EXACT_AT(word), the address of this group's
 *  partial result of a sum. The partial results of all groups lie together, one result after the
 *  other; `word` is the number of words that a group has of the results before this one.
 *
 *  A cell's contribution to parameter n is its variable meta_p<n>; k numbers the kernel's exact sums.
 *
 *  In a kernel of teams META_TEAM_EXACT comes in place of META_USER_EXACT. What a member contributes
 *  in all phases of a team is a variable of its own where it is a thread. Elsewhere one thread runs
 *  the phases for one member after the other, and there is an array with an element for each. */
#ifndef META_EXACT_CELLS_H
#define META_EXACT_CELLS_H

#ifdef META_EXACT_ROWS_H

/* Contributions are collected for this many cells. */
#define META_USER_PIECE 256
#define META_USER_EXACT(n, k)                 \
    meta_exact_sum meta_e##n;                 \
    meta_f64 meta_piece##n[META_USER_PIECE];  \
    meta_exact_begin(&meta_e##n)
#define META_USER_PIECES                                                                     \
    for (meta_i64 meta_from = META_COLUMNS_FROM, meta_to; meta_from < META_COLUMNS_END;      \
         meta_from = meta_to)
#define META_USER_PIECE_BEGIN                              \
    meta_to = META_COLUMNS_END - meta_from;                \
    if (meta_to > META_USER_PIECE) meta_to = META_USER_PIECE; \
    meta_to += meta_from
#define META_USER_COLUMNS(i) for (meta_i64 i = meta_from; i < meta_to; ++i)
#define META_USER_KEEP(n)    meta_piece##n[meta_i - meta_from] = meta_p##n
#define META_USER_TAKE(n)    meta_exact_take_cells(&meta_e##n, meta_piece##n, meta_to - meta_from)
#define META_USER_GIVE(n, word)                                                               \
    meta_exact_end(&meta_e##n);                                                               \
    for (int meta_k = 0; meta_k < META_EXACT_WORDS; ++meta_k)                                 \
        META_USER_EXACT_AT(word)[meta_k] = meta_e##n.limb[meta_k]

#else

/* Each sum has an accumulator of its own, META_USER_SHARED(name, k), that the group shares. */
#define META_USER_EXACT(n, k)                                                                 \
    META_USER_SHARED(meta_shared##n, k);                                                      \
    meta_exact_stream meta_e##n = {0, 0, 0, 0, 0, 0};                                         \
    for (meta_u32 meta_k = META_THREAD; meta_k < META_EXACT_SHARED; meta_k += META_THREADS)   \
        meta_shared##n[meta_k] = 0;                                                           \
    META_BARRIER
#define META_USER_PIECES
#define META_USER_PIECE_BEGIN
#define META_USER_COLUMNS(i) META_COLUMNS(i)
#define META_USER_KEEP(n)    meta_exact_take(&meta_e##n, meta_shared##n, meta_p##n)
#define META_USER_TAKE(n)
#define META_USER_GIVE(n, word)                                                               \
    meta_exact_flush(&meta_e##n, meta_shared##n);                                             \
    META_BARRIER;                                                                             \
    for (meta_u32 meta_k = META_THREAD; meta_k < META_EXACT_WORDS; meta_k += META_THREADS)    \
        META_USER_EXACT_AT(word)[meta_k] = meta_exact_word(meta_shared##n, meta_k)

#endif

/* ------------------------------------------------------------------ of a kernel of teams */

#ifdef META_TEAM_BARRIER

#define META_TEAM_EXACT(n, k)  META_USER_EXACT(n, k)
#define META_TEAM_SUM_BEGIN(n) meta_f64 meta_p##n = 0
#define META_TEAM_SUM(n)       &meta_p##n, 0
#define META_TEAM_SUM_END(n)   META_USER_KEEP(n)

#else

#define META_TEAM_COUNT (meta_t.extent[0] * meta_t.extent[1] * meta_t.extent[2])
#define META_TEAM_SUM_BEGIN(n)                                                                \
    for (meta_i64 meta_k = 0; meta_k < META_TEAM_COUNT; ++meta_k) meta_own##n[meta_k] = 0
#define META_TEAM_SUM(n) meta_own##n, 1
#ifdef META_EXACT_ROWS_H
#define META_TEAM_EXACT(n, k)                                                                 \
    meta_f64 meta_own##n[META_TEAM_X * META_TEAM_Y * META_TEAM_Z];                            \
    meta_exact_sum meta_e##n;                                                                 \
    meta_exact_begin(&meta_e##n)
#define META_TEAM_SUM_END(n) meta_exact_take_cells(&meta_e##n, meta_own##n, META_TEAM_COUNT)
#else /* the stack of an emulated block is small */
#define META_TEAM_EXACT(n, k)                                                                 \
    static thread_local meta_f64 meta_own##n[META_TEAM_X * META_TEAM_Y * META_TEAM_Z];        \
    META_USER_EXACT(n, k)
#define META_TEAM_SUM_END(n)                                                                  \
    for (meta_i64 meta_k = 0; meta_k < META_TEAM_COUNT; ++meta_k)                             \
        meta_exact_take(&meta_e##n, meta_shared##n, meta_own##n[meta_k])
#endif

#endif

#endif
