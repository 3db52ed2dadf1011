/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mates.c
 *  Whether the other ranks of this node live. A process that has ended, however it ended, has no
 *  program any more in /proc, also while its parent does not know that yet. Should its number have
 *  been given to another process meanwhile, it counts as one that is silent. */
#include "node/node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct page {
    meta_cores cores;
    _Alignas(64) _Atomic uint64_t beats; /* rounds of waiting inside calls */
    _Atomic uint64_t compiles;           /* half seconds of compiling */
    _Atomic int left;                    /* the rank has left the job */
} page;

typedef struct mate {
    int rank;
    comm_memory memory;
    int64_t process;
    char program[40]; /* its file in /proc */
    uint64_t beats;   /* at the last look */
    double moved;     /* when they had changed last, or this rank began to look */
    double ended;     /* since when the process has; 0: it lives */
    uint64_t compiles;
    double compiled; /* when they had changed last; 0: never */
    bool left;
} mate;

static comm_memory own = {.file = -1};
static mate *mates; /* in the order of ranks */
static int count;
static double looked;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER; /* keeps it mapped for a compiler */

static page *page_of(const comm_memory *memory)
{
    return (page *)(void *)memory->at;
}

meta_err comm_mates_begin(const meta_cores *cores, comm_memory_name *name)
{
    looked = 0;
    pthread_mutex_lock(&own_lock);
    const meta_err error = comm_memory_make(sizeof(page), &own, name);
    pthread_mutex_unlock(&own_lock);
    META_TRY(error);
    page_of(&own)->cores = *cores;
    return META_OK;
}

void comm_mate_add(int rank, const comm_memory_name *name)
{
    mate *more = realloc(mates, (size_t)(count + 1) * sizeof *more);
    if (!more) return;
    mates = more;
    mate *m = &mates[count];
    *m = (mate){.rank = rank, .moved = looked, .process = name->process};
    snprintf(m->program, sizeof m->program, "/proc/%" PRId64 "/exe", name->process);
    if (comm_memory_open(name, &m->memory) == META_OK) {
        comm_memory_close_file(&m->memory); /* it may be one of many ranks */
        ++count;
        return;
    }
    core->log(META_LOG_INFO, "no memory can be shared with rank %d of this node: %s", rank,
              meta_last_error());
}

void comm_mates_seal(void)
{
    comm_memory_close_file(&own);
}

void comm_mates_leave(void)
{
    if (own.at) page_of(&own)->left = 1;
}

void comm_mates_end(void)
{
    comm_mates_leave();
    pthread_mutex_lock(&own_lock);
    comm_memory_close(&own);
    pthread_mutex_unlock(&own_lock);
    for (int k = 0; k < count; ++k) comm_memory_close(&mates[k].memory);
    free(mates);
    mates = NULL;
    count = 0;
}

static const mate *mate_of(int rank)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (mates[middle].rank < rank) low = middle + 1;
        else high = middle;
    }
    return low < count && mates[low].rank == rank ? &mates[low] : NULL;
}

bool comm_is_mate(int rank)
{
    return mate_of(rank) != NULL;
}

const meta_cores *comm_mate_cores(int rank)
{
    const mate *m = mate_of(rank);
    return m ? &page_of(&m->memory)->cores : NULL;
}

void comm_mate_beat(void)
{
    if (!own.at) return;
    /* With the lock of the engine: nobody else writes. */
    _Atomic uint64_t *beats = &page_of(&own)->beats;
    atomic_store_explicit(beats, atomic_load_explicit(beats, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

void comm_mate_compiling(void)
{
    pthread_mutex_lock(&own_lock);
    if (own.at) atomic_fetch_add(&page_of(&own)->compiles, 1);
    pthread_mutex_unlock(&own_lock);
}

static bool lives(const mate *m)
{
    char name[8];
    return readlink(m->program, name, sizeof name) >= 0 || (errno != ENOENT && errno != ESRCH);
}

/* By SIGSTOP, or a debugger. */
static bool is_stopped(const mate *m)
{
    char path[40], line[512] = "";
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", m->process);
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(line, sizeof line, file);
    if (file) fclose(file);
    /* Behind the name, which may hold anything. */
    const char *state = read ? strrchr(line, ')') : NULL;
    return state && (state[2] == 'T' || state[2] == 't');
}

static void look_at(mate *m, double now)
{
    const uint64_t beats = atomic_load_explicit(&page_of(&m->memory)->beats, memory_order_relaxed);
    if (beats != m->beats) {
        m->beats = beats;
        m->moved = now;
        m->ended = 0;
    } else if (m->ended == 0 && !lives(m)) {
        m->ended = now;
    }
    const uint64_t compiles = atomic_load(&page_of(&m->memory)->compiles);
    if (compiles != m->compiles) m->compiled = now;
    m->compiles = compiles;
    m->left = page_of(&m->memory)->left != 0;
}

void comm_mates_look(double began, double now)
{
    const double every = 0.01;
    if (now - looked < every) return;
    /* Nobody can have been seen while this rank did not wait. */
    const double away = began - looked > 10 * every ? began - looked : 0;
    looked = now;
    for (int k = 0; k < count; ++k) {
        mates[k].moved += away;
        look_at(&mates[k], now);
    }
}

bool comm_mate_lives(int rank)
{
    const mate *m = mate_of(rank);
    return !m || lives(m);
}

static bool has_ended(const mate *m)
{
    const double grace = 0.25; /* seconds in which MPI delivers what it has of the mate */
    return m->ended > 0 && looked - m->ended > grace;
}

bool comm_mate_has_ended(int rank)
{
    const mate *m = mate_of(rank);
    return m && has_ended(m);
}

bool comm_ended_mate(int k, int *rank)
{
    for (int at = 0; at < count; ++at)
        if (has_ended(&mates[at]) && k-- == 0) return *rank = mates[at].rank, true;
    return false;
}

static bool is_away(const mate *m, double seconds)
{
    return m->ended > 0 || looked - m->moved >= seconds;
}

static bool has_compiled(const mate *m, double seconds)
{
    return m->compiled > 0 && looked - m->compiled < seconds;
}

static bool is_missing(const mate *m, double seconds)
{
    return is_away(m, seconds) && (m->ended > 0 || !has_compiled(m, seconds));
}

double comm_mates_compiled(int rank, double timeout)
{
    double least = 0;
    if (rank >= 0) {
        const mate *m = mate_of(rank);
        return m ? m->compiled : 0;
    }
    if (count + 1 < comm_job.size) return 0;
    for (int k = 0, found = 0; k < count; ++k) {
        const mate *m = &mates[k];
        if (!is_away(m, timeout / 2) && !has_compiled(m, timeout)) continue;
        if (found++ == 0 || m->compiled < least) least = m->compiled;
    }
    return least;
}

bool comm_missing_mate(int k, double seconds, int *rank)
{
    for (int at = 0; at < count; ++at)
        if (is_missing(&mates[at], seconds) && k-- == 0) return *rank = mates[at].rank, true;
    return false;
}

void comm_mates_describe(double seconds, char *text, size_t room)
{
    for (int k = 0; k < count; ++k) {
        const mate *m = &mates[k];
        const size_t at = strlen(text);
        if (!is_missing(m, seconds)) continue;
        if (m->left) snprintf(text + at, room - at, "; rank %d has left the job", m->rank);
        else if (m->ended > 0) snprintf(text + at, room - at, "; rank %d has ended", m->rank);
        else
            meta_plain_print(text + at, room - at,
                             "; rank %d has not waited in libmeta for %.3g s", m->rank,
                             looked - m->moved);
    }
}

void comm_mates_describe_missing(char *text, size_t room)
{
    for (int k = 0; k < count; ++k) {
        const mate *m = &mates[k];
        const bool left = atomic_load(&page_of(&m->memory)->left) != 0;
        const char *what = !lives(m)       ? "has ended"
                           : is_stopped(m) ? "is stopped"
                           : !left         ? "is still in the job"
                                           : NULL;
        const size_t at = strlen(text);
        if (what) snprintf(text + at, room - at, "; rank %d %s", m->rank, what);
    }
}
