/* SPDX-License-Identifier: BSD-3-Clause */
/** @file share.c
 *  The share of each device that other processes leave. Each process says on the node's board how
 *  much of its time it would keep each device busy if it were alone, its demand, and sums what
 *  others say. On a device of which all together demand more than it has, work takes longer: times
 *  are learned divided by that, and expected multiplied by it.
 *
 *  A demand does not depend on who else is there, so a process that moves knows what the others
 *  will do where it goes. So that ranks that see the same idle device do not all move there, one at
 *  a time decides to, and says so with its demand before the next one looks. */
#include "config.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/auto.h"
#include "auto/board.h"
#include "auto/share.h"
#include "memory/memory.h"

/* The board is read every WINDOW nanoseconds, and searched for processes that are gone every
 * BURYING. */
static const uint64_t window = 1000000, burying = 100000000;
/* Nanoseconds after a move until times are learned again; work is moved after twice as many. */
static const uint64_t settling = 10000000;
/* A change of a share that plans are made anew for. */
static const double much = 0.1;

static const _Atomic uint64_t none; /* moves without a board */
static bool is_wanted;
static meta_board *board;
static struct {
    uint64_t identity;
    double weight, capacity; /* load at full use by this process, and by all that it can take */
    double planned;          /* the share when plans were last told to look */
    uint64_t others_held;
} at[META_SLABS_DEVICES];
static uint64_t read_at, buried_at;
static uint64_t moved_at; /* when others were last seen to come, go or move */

/* ------------------------------------------------------------------ devices */

meta_err meta_share_read(void)
{
    META_TRY(meta_variable_switch("META_BOARD", &is_wanted));
    is_wanted |= !meta_variable("META_BOARD");
    return META_OK;
}

/* Cores are identified by the set of them that the process may use. Threads of several processes
 * that have cores enough for all do not disturb each other. */
static void identify_cores(int d)
{
    cpu_set_t cores;
    char text[2 * sizeof cores + 8] = "cores:";
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) return;
    for (size_t k = 0; k < sizeof cores; ++k)
        snprintf(text + 6 + 2 * k, 3, "%02x", ((const unsigned char *)&cores)[k]);
    at[d].identity = meta_board_identity(text);
    at[d].weight = (double)meta_auto.device[d].device->desc.compute_units;
    at[d].capacity = CPU_COUNT(&cores);
    if (at[d].weight > at[d].capacity || at[d].weight <= 0) at[d].weight = at[d].capacity;
}

static void identify(int d)
{
    const meta_device *device = meta_auto.device[d].device;
    const meta_device_desc *desc = &device->desc;
    char text[512];
    const bool is_cores = device->backend->mode == META_OPENMP ||
                          (device->backend->mode == META_OPENCL && desc->is_host);
    at[d].weight = at[d].capacity = 1;
    if (*desc->pci) snprintf(text, sizeof text, "pci:%s", desc->pci);
    else
        snprintf(text, sizeof text, "%s:%d %s %s", device->backend->name, device->index, desc->name,
                 desc->driver);
    at[d].identity = meta_board_identity(text);
    if (is_cores) identify_cores(d);
}

/* ------------------------------------------------------------------ the board */

static void publish(int d)
{
    meta_auto_device *device = &meta_auto.device[d];
    const meta_auto_lane *lane = meta_auto_lane_of(d, META_QUEUE_COMPUTE);
    const double mean = meta_share.calls > 0 ? meta_share.total / meta_share.calls : 0;
    const meta_board_use mine = {meta_demand(d) * at[d].weight,
                                 (uint64_t)(mean * (double)lane->pending),
                                 meta_pool_held(device->device)};
    meta_board_set(board, d, at[d].identity, &mine);
}

/* Plans are told to look again by what they go by: that much has been learned. */
static void look(void)
{
    const uint64_t moves = atomic_load_explicit(meta_share.moves, memory_order_acquire);
    bool changed = false;
    if (moves != meta_share.seen) {
        meta_share.seen = moves;
        meta_share.is_settled = false;
        meta_share.is_crowded = true;
        moved_at = meta_auto_now();
    }
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_board_use others;
        meta_board_others(board, at[d].identity, &others);
        const uint64_t more = others.held > at[d].others_held ? others.held - at[d].others_held
                                                              : at[d].others_held - others.held;
        changed |= (double)more > much * (double)meta_auto.device[d].device->desc.memory;
        at[d].others_held = others.held;
        const double wanted = (at[d].weight + others.load) / at[d].capacity;
        meta_share.share[d] = wanted > 1 ? wanted : 1;
        changed |= fabs(meta_share.share[d] - at[d].planned) > much * at[d].planned;
    }
    if (!changed) return;
    for (int d = 0; d < meta_auto.devices; ++d) at[d].planned = meta_share.share[d];
    meta_auto.learned += UINT32_MAX;
}

/* A process that is alone has nothing to do here until another one comes. */
void meta_share_refresh(void)
{
    bool is_new = atomic_load_explicit(meta_share.moves, memory_order_relaxed) != meta_share.seen;
    if (meta_share.is_crowded || is_new) {
        const uint64_t now = meta_auto_now();
        if (now - buried_at >= burying) {
            meta_share.is_crowded = meta_board_bury(board) > 0;
            buried_at = now;
        }
        if (now - read_at >= window) {
            meta_demand_measure((double)(now - read_at));
            read_at = now;
            for (int d = 0; d < meta_auto.devices; ++d) publish(d);
            is_new = true;
        }
    }
    meta_share.calls = 0;
    meta_share.total = 0;
    if (is_new) look();
}

/* What others had queued where they were runs on for a while. */
void meta_share_settle(void)
{
    enum { WORTH_A_LOOK = 32 };
    if (meta_auto_now() - moved_at < settling) return;
    meta_share.is_settled = true;
    if (meta_auto.attention < WORTH_A_LOOK) meta_auto.attention = WORTH_A_LOOK;
}

void meta_share_open(void)
{
    const char *folder = meta_variable("META_TEST_BOARD_DIR");
    char reason[1200];
    meta_share = (meta_share_state){.is_on = false, .is_settled = true, .moves = &none};
    for (int d = 0; d < META_SLABS_DEVICES; ++d) meta_share.share[d] = 1;
    if (!is_wanted || meta_auto.is_fixed || meta_auto.devices < 2) return;
    memset(at, 0, sizeof at);
    meta_demand_forget();
    board = meta_board_open(folder ? folder : "/dev/shm", reason, sizeof reason);
    if (!board) {
        meta_log(META_LOG_INFO,
                 "META_MODE=auto chooses without regard to other processes: the node has no board, "
                 "%s",
                 reason);
        return;
    }
    meta_share.is_on = true;
    meta_share.moves = meta_board_moves(board);
    meta_share.seen = atomic_load(meta_share.moves);
    for (int d = 0; d < meta_auto.devices; ++d) {
        identify(d);
        at[d].planned = 1;
    }
    read_at = meta_auto_now();
    meta_share.is_crowded = meta_board_bury(board) > 0;
    meta_share.is_settled = !meta_share.is_crowded;
    moved_at = buried_at = read_at;
    look();
}

void meta_share_close(void)
{
    meta_board_close(board);
    board = NULL;
    meta_share.is_on = false;
    meta_share.moves = &none;
}

/* ------------------------------------------------------------------ decisions */

uint64_t meta_share_memory(int d)
{
    const uint64_t all = meta_auto.device[d].device->desc.memory;
    if (all == 0 || !meta_share.is_on) return all;
    return all > at[d].others_held ? all - at[d].others_held : 1;
}

bool meta_share_fits(int d, uint64_t bytes)
{
    return !meta_share.is_on || at[d].others_held == 0 || bytes <= meta_share_memory(d);
}

bool meta_share_turn(meta_share_what what)
{
    if (!meta_share.is_on) return true;
    double seen[META_SLABS_DEVICES];
    if (meta_share.is_crowded && meta_auto_now() - moved_at < (uint64_t)what * settling)
        return false;
    if (!meta_board_turn(board)) return false;
    memcpy(seen, meta_share.share, sizeof seen);
    look();
    for (int d = 0; d < meta_auto.devices; ++d)
        if (fabs(seen[d] - meta_share.share[d]) > much * seen[d]) {
            meta_board_turn_end(board);
            return false;
        }
    return true;
}

/* As much of the time as before. Others must know of it at once unless it is hardly anything. */
void meta_share_claim(const double *time)
{
    double part[META_SLABS_DEVICES], now = 0, next = 0;
    bool moves = false;
    if (!meta_share.is_on) return;
    for (int d = 0; d < meta_auto.devices; ++d) {
        now += meta_demand(d);
        next += time[d];
    }
    for (int d = 0; d < meta_auto.devices; ++d) {
        part[d] = next > 0 ? (now > 0 && now < 1 ? now : 1) * time[d] / next : 0;
        moves |= fabs(part[d] - meta_demand(d)) > much;
    }
    meta_demand_set(part);
    read_at = meta_auto_now();
    for (int d = 0; d < meta_auto.devices; ++d) publish(d);
    if (moves && meta_board_moved(board) == meta_share.seen) ++meta_share.seen;
    meta_board_turn_end(board);
}

/* The turn is short; a process that does not get it soon goes on without it. */
int meta_share_first(uint32_t among, uint64_t bytes)
{
    enum { TRIES = 1000 };
    double time[META_SLABS_DEVICES] = {0};
    uint32_t fitting = 0;
    if (!meta_share.is_on) return __builtin_ctz(among);
    for (int k = 0; k < TRIES && !meta_board_turn(board); ++k) sched_yield();
    look();
    for (int d = 0; d < meta_auto.devices; ++d)
        if (among >> d & 1 && meta_share_fits(d, bytes)) fitting |= UINT32_C(1) << d;
    if (fitting) among = fitting;
    const int first = __builtin_ctz(among);
    int best = first;
    for (int d = first; d < meta_auto.devices; ++d)
        if (among >> d & 1 && meta_auto_alike(d, first) &&
            meta_share.share[d] < meta_share.share[best])
            best = d;
    time[best] = 1;
    meta_share_claim(time);
    return best;
}
