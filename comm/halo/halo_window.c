/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_window.c
 *  Shared memory between the ranks of a node: each leaves what it sends in a slot of its own part,
 *  where the neighbours take it. There are two slots, for exchanges of even and of odd number, so
 *  that one can be filled while neighbours still read the other. Each slot has marks of its own,
 *  since several exchanges of a plan may be under way and a later one may be the faster: the sender
 *  marks the slot as full with the exchange's number, the receiver marks it as taken. Each rank
 *  writes only to its own part, and marks of sender and receiver share no cache line. */
#include "halo/halo_plan.h"

#include <stdatomic.h>
#include <stdlib.h>

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
    comm_memory mine, theirs[HALO_DIRS]; /* a neighbour's is in the first of its directions */
    comm_memory_name name;
    char *at[HALO_DIRS]; /* the neighbour's part */
};

/* ------------------------------------------------------------------ making */

/* This rank's part: marks, then its slots. Neighbours that send through theirs may need its marks
 * alone. */
static size_t part_bytes(const halo_plan *p)
{
    bool any = false;
    for (int dir = 0; dir < p->dirs; ++dir) any |= p->link[dir].used && p->link[dir].near;
    return any && comm_job.shared ? FLAGS + HALO_SLOTS * p->slot_bytes : 0;
}

meta_err halo_window_make(halo_plan *p)
{
    const size_t bytes = part_bytes(p);
    if (bytes == 0) return META_OK;
    p->window = calloc(1, sizeof *p->window);
    if (!p->window)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan's window");
    p->window->mine = COMM_NO_MEMORY;
    for (int dir = 0; dir < HALO_DIRS; ++dir) p->window->theirs[dir] = COMM_NO_MEMORY;
    return comm_memory_make(bytes, &p->window->mine, &p->window->name);
}

comm_memory_name halo_window_name(const halo_plan *p)
{
    return p->window ? p->window->name : (comm_memory_name){0};
}

static meta_err open_part(const halo_plan *p, int dir)
{
    halo_window *w = p->window;
    for (int before = 0; before < dir; ++before)
        if (w->at[before] && p->link[before].peer == p->link[dir].peer) {
            w->at[dir] = w->at[before];
            return META_OK;
        }
    META_TRY(comm_memory_open(&p->link[dir].peer_window, &w->theirs[dir]));
    comm_memory_close_file(&w->theirs[dir]);
    w->at[dir] = w->theirs[dir].at;
    return META_OK;
}

meta_err halo_window_open(halo_plan *p)
{
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        if (!link->used || (link->out != HALO_ROUTE_SHARED && link->in != HALO_ROUTE_SHARED))
            continue;
        META_TRY(open_part(p, dir));
    }
    return META_OK;
}

void halo_window_seal(halo_plan *p)
{
    if (p->window) comm_memory_close_file(&p->window->mine);
}

void halo_window_free(halo_plan *p)
{
    halo_window *w = p->window;
    if (!w) return;
    comm_memory_close(&w->mine);
    for (int dir = 0; dir < HALO_DIRS; ++dir) comm_memory_close(&w->theirs[dir]);
    free(w);
    p->window = NULL;
}

/* ------------------------------------------------------------------ slots and marks */

char *halo_window_mine(const halo_plan *p, uint64_t number, size_t at)
{
    return p->window->mine.at + FLAGS + (size_t)(number % HALO_SLOTS) * p->slot_bytes + at;
}

char *halo_window_theirs(const halo_plan *p, uint64_t number, int dir)
{
    const halo_link *link = &p->link[dir];
    return p->window->at[dir] + FLAGS + (size_t)(number % HALO_SLOTS) * link->peer_slot +
           link->peer_at;
}

static marks *my_marks(const halo_plan *p, int dir)
{
    return (marks *)(void *)p->window->mine.at + dir;
}

static marks *their_marks(const halo_plan *p, int dir)
{
    return (marks *)(void *)p->window->at[dir] + (p->dirs - 1 - dir);
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
