/* SPDX-License-Identifier: BSD-3-Clause */
/** @file access.c
 *  Measuring which way of accessing memory is faster. Counts and times are hints: threads that call
 *  at the same time may lose each other's. */
#include "access.h"

#include "faces.h"
#include "stream.h"
#include "sweep.h"

#include <stdatomic.h>
#include <stdlib.h>

#define READ(x)     atomic_load_explicit(&(x), memory_order_relaxed)
#define WRITE(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

/* A round of trials runs each way a few times in turn; one that took half as long again in HOPELESS
 * tries is left out. Rounds come ever more rarely: what else ran during one of them, and where the
 * cores of a virtual machine lie, does not count for good. */
enum { WAYS = (SWEEP_REQUESTS | SWEEP_STREAMS) + 1, TRIES = 4, HOPELESS = 2 };
enum { FIRST_REST = 32, LONGEST_REST = 4096 };
/* Measured times differ by as much without a reason. */
static const double NOISE = 0.03;
static const char *const name_of[WAYS] = {"plainly", "with memory requested ahead",
                                          "with results stored past the caches", "with both"};
static const char *const name_of_packs[] = {"through the caches", "past the caches"};

/* Of a kernel, a distance and ways. */
typedef struct access_pace {
    _Atomic double least[WAYS]; /* nanoseconds for a cell, in this round */
    _Atomic int tries[WAYS];    /* in this round */
    _Atomic int best;           /* the fastest in the round before */
    _Atomic int rest, length;   /* calls until the next round, and how many there were */
} access_pace;
/* One for each power of two, and for calls that may take the same ways. */
enum { DISTANCES = 24 };
struct access_paces {
    access_pace of[DISTANCES][WAYS];
};
static access_paces builtin[META_KERNEL_COUNT][META_TYPE_COUNT];

/* Of packs, by their shapes' hashes; a shape takes the place of another. */
enum { SHAPES = 64 };
static struct {
    _Atomic uint64_t shape;
    access_pace pace;
} packs[SHAPES];

access_paces *access_paces_create(void)
{
    return calloc(1, sizeof(access_paces));
}

/* NULL where a thread's core keeps what it uses. */
static access_pace *pace_of(access_paces *paces, meta_i64 distance, access_ways ways)
{
    int power = -1;
    for (meta_i64 at = stream_cache(); at < distance && power < DISTANCES - 1; at *= 2) ++power;
    return power < 0 ? NULL : &paces->of[power][ways.last];
}

static int best_of(const access_pace *pace, access_ways ways)
{
    const int best = READ(pace->best);
    return best < ways.first ? ways.first : best;
}

/* Another way than the one before must be faster than what noise explains. */
static int fastest(const access_pace *pace, access_ways ways)
{
    int best = best_of(pace, ways);
    if (ways.gain > 0)
        return READ(pace->least[ways.last]) < ways.gain * READ(pace->least[ways.first])
                   ? ways.last
                   : ways.first;
    for (int way = ways.first; way <= ways.last; ++way)
        if (READ(pace->least[way]) < (1 - NOISE) * READ(pace->least[best])) best = way;
    return best;
}

/* The way that was tried least of those that may be the fastest; -1: the round is over. */
static int to_try(const access_pace *pace, access_ways ways)
{
    int next = ways.first;
    for (int way = next + 1; way <= ways.last; ++way)
        if (READ(pace->tries[way]) < READ(pace->tries[next])) next = way;
    if (READ(pace->tries[next]) < HOPELESS) return next;
    const double least = READ(pace->least[fastest(pace, ways)]);
    next = -1;
    for (int way = ways.first; way <= ways.last; ++way)
        if (READ(pace->tries[way]) < TRIES && READ(pace->least[way]) < 1.5 * least &&
            (next < 0 || READ(pace->tries[way]) < READ(pace->tries[next])))
            next = way;
    return next;
}

/* Only results in rows that are aligned alike are stored past the caches: of others, lines would be
 * written partly by cached and partly by nontemporal stores, at twice the cost. And only those that
 * the caches would not keep until they are used: otherwise what comes next pays for it. The size of
 * the last cache is what cores typically share: the system may report that of all of them together.
 */
enum { SHARED_CACHE = 32 << 20 };

static access_ways ways_of(const meta_call *call, meta_i64 distance)
{
    const meta_space *s = call->space;
    const meta_i64 bytes = (meta_i64)meta_element_bytes(call->type);
    int wanted = sweep_is_aligned(s, bytes) ? stream_wanted(s->rows * s->extent[0] * bytes) : 0;
    if (wanted < 0 && distance < SHARED_CACHE) wanted = 0;
    return (access_ways){.first = wanted > 0 ? SWEEP_STREAMS : 0,
                         .last = wanted ? SWEEP_STREAMS | SWEEP_REQUESTS : SWEEP_REQUESTS,
                         .name = name_of};
}

static access_trial begin(const meta_call *call, meta_i64 cells, access_pace *pace,
                          access_ways ways, int known)
{
    if (!pace) return (access_trial){.way = ways.first};
    const int rest = READ(pace->rest);
    if (rest > 0) WRITE(pace->rest, rest - 1);
    /* None is left to try while another thread ends the round. */
    const int next = rest > 0 || !known ? -1 : to_try(pace, ways);
    if (next < 0) return (access_trial){.way = best_of(pace, ways)};
    return (access_trial){next, ways, pace, call, cells, openmp_now()};
}

access_trial access_begin(const meta_call *call, reuse_of_call reuse, int threads)
{
    const access_ways ways = ways_of(call, reuse.distance);
    access_paces *paces = &builtin[call->desc->number][call->type];
    /* Between short pieces of long rows, the next rows do not lie ahead. */
    const int pieces = call->space->layout[1].stride[1] > 2 * call->space->extent[0];
    return begin(call, openmp_cells_of(call),
                 pieces ? NULL : pace_of(paces, reuse.distance / threads, ways), ways, reuse.known);
}

access_trial access_begin_user(const meta_call *call, reuse_of_call reuse, int threads)
{
    const access_ways ways = {.last = SWEEP_REQUESTS, .name = name_of};
    access_paces *paces = openmp_kernel_of(call)->paces;
    return begin(call, openmp_cells_of(call), pace_of(paces, reuse.distance / threads, ways), ways,
                 reuse.known);
}

/* The other process pays for reading from memory, or from the last cache, what was stored past the
 * caches: the packing must save more than that. */
access_trial access_begin_packs(const meta_call *first, meta_i64 cells, uint64_t shape)
{
    static const double MUCH_FASTER = 0.5;
    const access_ways ways = {
        .last = FACES_PAST_CACHES, .gain = MUCH_FASTER, .name = name_of_packs};
    const int wanted = stream_wanted(cells * (meta_i64)meta_element_bytes(first->type));
    access_pace *pace = &packs[shape % SHAPES].pace;
    if (wanted >= 0) return (access_trial){.way = wanted ? FACES_PAST_CACHES : 0};
    if (READ(packs[shape % SHAPES].shape) != shape) {
        WRITE(packs[shape % SHAPES].shape, shape);
        for (int way = 0; way <= FACES_PAST_CACHES; ++way) WRITE(pace->tries[way], 0);
        WRITE(pace->best, 0);
        WRITE(pace->rest, 0);
        WRITE(pace->length, 0);
    }
    return begin(first, cells, pace, ways, 1);
}

/* Ways are two or four. Nothing is formatted that is not logged. */
static void tell(const access_trial *trial, int best)
{
    const access_ways *ways = &trial->ways;
    const char *name = trial->call->desc->name, *type = meta_element_name(trial->call->type);
#define BEGIN        "OpenMP: %s of %s takes, in ns a cell, "
#define END          ": it runs %s from now on"
#define TIMED        "%.3f %s"
#define TIME_OF(way) READ(trial->of->least[way]), ways->name[way]
    const int first = ways->first;
    if (ways->last == first + 1)
        openmp_host->log(META_LOG_INFO, BEGIN TIMED ", " TIMED END, name, type, TIME_OF(first),
                         TIME_OF(first + 1), ways->name[best]);
    else
        openmp_host->log(META_LOG_INFO, BEGIN TIMED ", " TIMED ", " TIMED ", " TIMED END, name,
                         type, TIME_OF(0), TIME_OF(1), TIME_OF(2), TIME_OF(3), ways->name[best]);
#undef BEGIN
#undef END
#undef TIMED
#undef TIME_OF
}

static void end_round(const access_trial *trial)
{
    access_pace *pace = trial->of;
    const access_ways ways = trial->ways;
    const int best = fastest(pace, ways), length = READ(pace->length);
    if (length == 0 || best != READ(pace->best)) tell(trial, best);
    WRITE(pace->best, best);
    WRITE(pace->length, length == 0 ? FIRST_REST : length < LONGEST_REST ? 2 * length : length);
    for (int way = ways.first; way <= ways.last; ++way) WRITE(pace->tries[way], 0);
    WRITE(pace->rest, READ(pace->length));
}

void access_end(const access_trial *trial)
{
    if (trial->of) access_end_after(trial, openmp_now() - trial->begin);
}

void access_end_after(const access_trial *trial, uint64_t nanoseconds)
{
    access_pace *pace = trial->of;
    const double taken = (double)nanoseconds / (double)trial->cells;
    const int way = trial->way, tries = READ(pace->tries[way]);
    if (tries == 0 || taken < READ(pace->least[way])) WRITE(pace->least[way], taken);
    WRITE(pace->tries[way], tries + 1);
    if (to_try(pace, trial->ways) < 0) end_round(trial);
}
