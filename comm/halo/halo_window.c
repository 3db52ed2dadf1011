/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_window.c
 *  Shared memory between the ranks of a node: each leaves what it sends in a slot of its own part,
 *  where the neighbours take it. There are two slots, for exchanges of even and of odd number, so
 *  that one can be filled while neighbours still read the other. Each slot has marks of its own,
 *  since several exchanges of a plan may be under way and a later one may be the faster: the sender
 *  marks the slot as full with the exchange's number, the receiver marks it as taken. Each rank
 *  writes only to its own part, and marks of sender and receiver share no cache line. */
#include "halo/halo_plan.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { LINE = 64, FLAGS = 4096 };

/** The marks of one direction: of each slot the last exchange whose message is there, with its
 *  checksum where it has one, and the last exchange whose message was taken. */
typedef struct marks {
    _Alignas(LINE) _Atomic uint64_t full[HALO_SLOTS];
    uint32_t checksum[HALO_SLOTS];
    _Alignas(LINE) _Atomic uint64_t taken[HALO_SLOTS];
} marks;
_Static_assert(HALO_DIRS * sizeof(marks) <= FLAGS,
               "the marks of all directions fit before the slots");

struct halo_window {
    MPI_Info info;
    MPI_Win win;
    bool locked;
    char *mine, *theirs[HALO_DIRS]; /* parts of the window */
};

/* ------------------------------------------------------------------ making */

/* This rank's part: marks, then its slots. */
static size_t part_bytes(const halo_plan *p)
{
    bool any = p->slot_bytes > 0;
    for (int dir = 0; dir < p->dirs; ++dir) any |= p->link[dir].in == HALO_ROUTE_SHARED;
    return any ? FLAGS + HALO_SLOTS * p->slot_bytes : 0;
}

/* Both MPIs keep shared memory in /dev/shm; touching pages for which it has no room is SIGBUS. */
static bool has_room(uint64_t bytes)
{
    struct statvfs shm;
    if (statvfs("/dev/shm", &shm) != 0) return false;
    return bytes <= (uint64_t)shm.f_bavail * shm.f_frsize / 10 * 9;
}

/** What the ranks of a node need for their windows. */
typedef struct room {
    uint64_t mine, all;
    int fits, everywhere;
} room;

static meta_err find_room(const halo_plan *p, room *r)
{
    static const char phase[] = "while a halo plan is made";
    MPI_Request request;
    for (int dir = 0; dir < p->dirs; ++dir)
        if (p->link[dir].used && p->link[dir].out == HALO_ROUTE_SHARED)
            r->mine += FLAGS + HALO_SLOTS * (uint64_t)(p->link[dir].send_bytes + HALO_ALIGN);
    COMM_MPI(MPI_Iallreduce, (&r->mine, &r->all, 1, MPI_UINT64_T, MPI_SUM, p->node, &request));
    META_TRY(comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0));
    r->fits = r->all > 0 && has_room(r->all);
    COMM_MPI(MPI_Iallreduce, (&r->fits, &r->everywhere, 1, MPI_INT, MPI_MIN, p->node, &request));
    META_TRY(comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0));
    if (r->all > 0 && !r->fits)
        core->log(META_LOG_WARN,
                  "/dev/shm has no room for the %" PRIu64 " bytes of a halo plan on this node: its "
                  "messages go through MPI",
                  r->all);
    return META_OK;
}

meta_err halo_window_fits(const halo_plan *p, bool *fits)
{
    room *r = calloc(1, sizeof *r);
    if (!r) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan's window");
    const meta_err error = find_room(p, r);
    *fits = error == META_OK && r->everywhere;
    if (error != META_ERR_PEER) free(r); /* else MPI may still write to it */
    return error;
}

static meta_err find_parts(const halo_plan *p, halo_window *w)
{
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        MPI_Aint bytes;
        int unit;
        if (link->node == MPI_UNDEFINED || link->peer == p->rank || !link->used) continue;
        COMM_MPI(MPI_Win_shared_query, (w->win, link->node, &bytes, &unit, &w->theirs[dir]));
    }
    return META_OK;
}

/* What may fail on one rank alone comes before the collective calls. */
static meta_err make_info(halo_window *w)
{
    if (!w) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan's window");
    w->win = MPI_WIN_NULL;
    w->info = MPI_INFO_NULL;
    COMM_MPI(MPI_Info_create, (&w->info));
    return comm_mpi(MPI_Info_set(w->info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
}

static meta_err prepare(const halo_plan *p, halo_window *w)
{
    COMM_MPI(MPI_Win_allocate_shared,
             ((MPI_Aint)part_bytes(p), 1, w->info, p->node, &w->mine, &w->win));
    COMM_MPI(MPI_Win_set_errhandler, (w->win, MPI_ERRORS_RETURN));
    /* Touch all of it, so that has_room() of the next plan counts what this one takes. */
    if (part_bytes(p) > 0) memset(w->mine, 0, part_bytes(p));
    COMM_MPI(MPI_Win_lock_all, (MPI_MODE_NOCHECK, w->win));
    w->locked = true;
    return find_parts(p, w);
}

meta_err halo_window_create(halo_plan *p)
{
    p->window = calloc(1, sizeof *p->window);
    META_TRY(comm_agree(p->node, make_info(p->window)));
    /* Marks are read only after all ranks have zeroed theirs. */
    return comm_agree(p->node, prepare(p, p->window));
}

void halo_window_free(halo_plan *p)
{
    halo_window *w = p->window;
    if (!w) return;
    if (w->win != MPI_WIN_NULL && !p->lost) {
        if (w->locked) MPI_Win_unlock_all(w->win);
        MPI_Win_free(&w->win);
    }
    if (w->info != MPI_INFO_NULL) MPI_Info_free(&w->info);
    free(w);
    p->window = NULL;
}

/* ------------------------------------------------------------------ slots and marks */

char *halo_window_mine(const halo_plan *p, uint64_t number, size_t at)
{
    return p->window->mine + FLAGS + (size_t)(number % HALO_SLOTS) * p->slot_bytes + at;
}

char *halo_window_theirs(const halo_plan *p, uint64_t number, int dir)
{
    const halo_link *link = &p->link[dir];
    return p->window->theirs[dir] + FLAGS + (size_t)(number % HALO_SLOTS) * link->peer_slot +
           link->peer_at;
}

static marks *my_marks(const halo_plan *p, int dir)
{
    return (marks *)(void *)p->window->mine + dir;
}

static marks *their_marks(const halo_plan *p, int dir)
{
    return (marks *)(void *)p->window->theirs[dir] + (p->dirs - 1 - dir);
}

bool halo_window_free_to_fill(const halo_plan *p, uint64_t number, int dir)
{
    return number <= HALO_SLOTS ||
           atomic_load_explicit(&their_marks(p, dir)->taken[number % HALO_SLOTS],
                                memory_order_acquire) +
                   HALO_SLOTS >=
               number;
}

void halo_window_fill(const halo_plan *p, uint64_t number, int dir)
{
    atomic_store_explicit(&my_marks(p, dir)->full[number % HALO_SLOTS], number,
                          memory_order_release);
}

bool halo_window_filled(const halo_plan *p, uint64_t number, int dir)
{
    return atomic_load_explicit(&their_marks(p, dir)->full[number % HALO_SLOTS],
                                memory_order_acquire) >= number;
}

void halo_window_take(const halo_plan *p, uint64_t number, int dir)
{
    atomic_store_explicit(&my_marks(p, dir)->taken[number % HALO_SLOTS], number,
                          memory_order_release);
}

void halo_window_put_checksum(const halo_plan *p, uint64_t number, int dir, uint32_t sum)
{
    my_marks(p, dir)->checksum[number % HALO_SLOTS] = sum;
}

uint32_t halo_window_get_checksum(const halo_plan *p, uint64_t number, int dir)
{
    return their_marks(p, dir)->checksum[number % HALO_SLOTS];
}
