/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_ops_warp.c
 *  Instructions that exchange values between the threads of a warp. All threads that the mask names
 * and that have not exited must execute them together, with the same mask. This is stricter than
 * sm_70, where threads need not have converged when they reach one. */
#include "ptx_code.h"

#include <string.h>

enum { WARPS = PTX_MOST_THREADS / 32 };

static void active_lanes(ptx_context *c, uint32_t mask[WARPS])
{
    memset(mask, 0, WARPS * sizeof *mask);
    PTX_EACH_EXACTLY(c, i, mask[i / 32] |= (uint32_t)1 << i % 32;)
}

/* Whether the threads that a thread's mask names are here, with the same mask, and the thread
 * itself is among them. */
static bool are_here(const ptx_ins *in, ptx_context *c, int thread, const uint32_t *masks,
                     uint32_t active)
{
    const uint32_t members = masks[thread];
    if (!(members >> thread % 32 & 1)) {
        ptx_fail(in, c, PTX_LAUNCH_FAILURE, thread, "its mask 0x%x does not name the thread itself",
                 members);
        return false;
    }
    for (int lane = 0; lane < 32; ++lane) {
        const int other = thread / 32 * 32 + lane;
        if (!(members >> lane & 1) || other >= c->threads || c->at[other] == PTX_EXITED) continue;
        const bool is_here = active >> lane & 1;
        if (is_here && masks[other] == members) continue;
        if (is_here)
            ptx_fail(in, c, PTX_LAUNCH_FAILURE, thread,
                     "its mask 0x%x names thread %d, whose mask is 0x%x", members, other,
                     masks[other]);
        else
            ptx_fail(in, c, PTX_LAUNCH_FAILURE, thread,
                     "its mask 0x%x names thread %d, which does not run this together with it",
                     members, other);
        return false;
    }
    return true;
}

static void activemask(const ptx_ins *in, ptx_context *c)
{
    uint32_t *d = PTX_ROW(in, c, 0), mask[WARPS];
    active_lanes(c, mask);
    PTX_EACH_EXACTLY(c, i, d[i] = mask[i / 32];)
}

/* A barrier of a part of a warp orders no accesses: races between other parts must be found. */
static void warp_sync(const ptx_ins *in, ptx_context *c)
{
    const uint32_t *masks = PTX_ROW(in, c, 0);
    uint32_t active[WARPS], all[WARPS] = {0};
    active_lanes(c, active);
    PTX_EACH_EXACTLY(c, i, if (!are_here(in, c, i, masks, active[i / 32])) return;)
    for (int i = 0; i < c->threads; ++i)
        all[i / 32] |= (uint32_t)(c->at[i] != PTX_EXITED) << i % 32;
    PTX_EACH_EXACTLY(c, i, if ((masks[i] & all[i / 32]) != all[i / 32]) active[i / 32] = 0;)
    for (int w = 0; w < WARPS; ++w) c->warp_epoch[w] += active[w] != 0;
}

/* ------------------------------------------------------------------ shuffles */

typedef enum direction { UP, DOWN, BUTTERFLY, INDEX } direction;

/* The lane that a lane reads, and whether it is in range: the manual's own formulas. */
static int source_lane(direction to, int lane, uint32_t b, uint32_t limits, bool *in_range)
{
    const int by = (int)(b & 31), clamp = (int)(limits & 31), segment = (int)(limits >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    const int from = to == UP          ? lane - by
                     : to == DOWN      ? lane + by
                     : to == BUTTERFLY ? lane ^ by
                                       : first | (by & ~segment);
    *in_range = to == UP ? from >= last : from <= last;
    return *in_range ? from : lane;
}

/* Rows: the value and whether the source was in range; a, b, the limits and the mask. */
static void shuffle(const ptx_ins *in, ptx_context *c, direction to)
{
    uint32_t *d = PTX_ROW(in, c, 0), mask[WARPS], value[PTX_MOST_THREADS];
    uint8_t *in_range = PTX_ROW(in, c, 1);
    const uint32_t *a = PTX_ROW(in, c, 2), *b = PTX_ROW(in, c, 3), *limits = PTX_ROW(in, c, 4);
    const uint32_t *members = PTX_ROW(in, c, 5);
    active_lanes(c, mask);
    PTX_EACH_EXACTLY(c, i, value[i] = a[i];)
    PTX_EACH_EXACTLY(
        c, i, bool range; const int from = source_lane(to, i % 32, b[i], limits[i], &range);
        if (!are_here(in, c, i, members, mask[i / 32])) return;
        if (!(mask[i / 32] & members[i] & (uint32_t)1 << from)) {
            ptx_fail(in, c, PTX_LAUNCH_FAILURE, i,
                     "it reads the value of thread %d, which does not take part",
                     i / 32 * 32 + from);
            return;
        } in_range[i] = range;
        d[i] = value[i / 32 * 32 + from];)
}

static void shuffle_up(const ptx_ins *in, ptx_context *c)
{
    shuffle(in, c, UP);
}
static void shuffle_down(const ptx_ins *in, ptx_context *c)
{
    shuffle(in, c, DOWN);
}
static void shuffle_butterfly(const ptx_ins *in, ptx_context *c)
{
    shuffle(in, c, BUTTERFLY);
}
static void shuffle_index(const ptx_ins *in, ptx_context *c)
{
    shuffle(in, c, INDEX);
}

/* ------------------------------------------------------------------ votes */

/* Rows: the result, the vote and the mask. */
static bool votes(const ptx_ins *in, ptx_context *c, uint32_t ballot[WARPS])
{
    const uint8_t *vote = PTX_ROW(in, c, 1);
    const uint32_t *members = PTX_ROW(in, c, 2);
    uint32_t mask[WARPS];
    active_lanes(c, mask);
    PTX_EACH_EXACTLY(c, i, if (!are_here(in, c, i, members, mask[i / 32])) return false;)
    memset(ballot, 0, WARPS * sizeof *ballot);
    PTX_EACH_EXACTLY(c, i, ballot[i / 32] |= (uint32_t)vote[i] << i % 32;)
    for (int w = 0; w < WARPS; ++w) ballot[w] &= mask[w];
    return true;
}

/* A thread's mask may name some that have exited. */
#define VOTE(name, D, value)                                                                       \
    static void name(const ptx_ins *in, ptx_context *c)                                            \
    {                                                                                              \
        D *d = PTX_ROW(in, c, 0);                                                                  \
        const uint32_t *mask = PTX_ROW(in, c, 2);                                                  \
        uint32_t all[WARPS], active[WARPS];                                                        \
        if (!votes(in, c, all)) return;                                                            \
        active_lanes(c, active);                                                                   \
        PTX_EACH_EXACTLY(c, i, const uint32_t members = mask[i] & active[i / 32];                  \
                         const uint32_t yes = all[i / 32] & members; d[i] = (D)(value);)           \
    }
VOTE(vote_all, uint8_t, yes == members)
VOTE(vote_any, uint8_t, yes != 0)
VOTE(vote_uniform, uint8_t, yes == members || yes == 0)
VOTE(vote_ballot, uint32_t, yes)

const ptx_op ptx_ops_warp[] = {{"activemask", "u", {[PTX_U32] = activemask}},
                               {"bar.warp.sync", "u", {[PTX_U32] = warp_sync}},
                               {"shfl.sync.up", "upuuuu", {[PTX_U32] = shuffle_up}},
                               {"shfl.sync.down", "upuuuu", {[PTX_U32] = shuffle_down}},
                               {"shfl.sync.bfly", "upuuuu", {[PTX_U32] = shuffle_butterfly}},
                               {"shfl.sync.idx", "upuuuu", {[PTX_U32] = shuffle_index}},
                               {"vote.sync.all", "ppu", {[PTX_PRED] = vote_all}},
                               {"vote.sync.any", "ppu", {[PTX_PRED] = vote_any}},
                               {"vote.sync.uni", "ppu", {[PTX_PRED] = vote_uniform}},
                               {"vote.sync.ballot", "upu", {[PTX_U32] = vote_ballot}},
                               {0}};
