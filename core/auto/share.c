/* SPDX-License-Identifier: BSD-3-Clause */
/** @file share.c
 *  The share of each device that other processes leave. Each process says on the node's board how
 *  much of its time it keeps each device busy, and sums what others say. On a device that they load
 *  as much as it can take, work takes longer: times are learned divided by that, and expected
 *  multiplied by it.
 *
 *  Loads are averages, and follow slowly. So that ranks that see the same idle device do not all
 *  move there, one at a time decides to, and says so with its load before the next one looks. */
#include "config.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/auto.h"
#include "auto/board.h"
#include "auto/share.h"

/* What is on the board is read at least as often as it took the work queued since WINDOW
 * nanoseconds, but loads are averaged over SPAN of them; processes that are gone are looked for
 * every LOOKS readings. */
static const double window = 1e6, span = 10e6;
enum { LOOKS = 16 };
/* A change of a share that plans are made anew for. */
static const double much = 0.1;

meta_share_state meta_share;

static bool is_wanted;
static meta_board *board;
static struct {
    uint64_t identity;
    double weight, capacity; /* load at full use by this process, and by all that it can take */
    double load;             /* of this process, 0 … 1 */
    double planned;          /* the share when plans were last told to look */
    uint64_t others_held;
} at[META_SLABS_DEVICES];
static uint64_t read_at, looks;

/* ------------------------------------------------------------------ devices */

meta_err meta_share_read(void)
{
    return meta_variable_switch("META_BOARD", &is_wanted);
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
    const meta_board_use mine = {at[d].load * at[d].weight,
                                 (uint64_t)(mean * (double)lane->pending),
                                 atomic_load(&device->device->allocated)};
    meta_board_set(board, d, at[d].identity, &mine);
}

/* Plans are told to look again by what they go by: that much has been learned. */
static void look(void)
{
    bool changed = false;
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_board_use others;
        meta_board_others(board, at[d].identity, &others);
        at[d].others_held = others.held;
        const double demand = (at[d].weight + others.load) / at[d].capacity;
        meta_share.share[d] = demand > 1 ? demand : 1;
        changed |= fabs(meta_share.share[d] - at[d].planned) > much * at[d].planned;
    }
    if (!changed) return;
    for (int d = 0; d < meta_auto.devices; ++d) at[d].planned = meta_share.share[d];
    meta_auto.learned += UINT32_MAX;
}

/* Work can be queued far ahead of a device, which is not busy more than all the time. */
static void average(int d, double elapsed)
{
    const double part = elapsed < span ? elapsed / span : 1;
    double now = elapsed > 0 ? meta_share.busy[d] / elapsed : 0;
    if (now > 1) now = 1;
    at[d].load += part * (now - at[d].load);
    meta_share.busy[d] = 0;
}

void meta_share_refresh(void)
{
    const uint64_t now = meta_auto_now();
    const double elapsed = (double)(now - read_at);
    if (++looks % LOOKS == 0) meta_board_bury(board);
    if (elapsed >= window || now < read_at) {
        read_at = now;
        for (int d = 0; d < meta_auto.devices; ++d) average(d, elapsed);
        for (int d = 0; d < meta_auto.devices; ++d) publish(d);
    }
    meta_share.calls = 0;
    meta_share.total = 0;
    look();
}

void meta_share_open(void)
{
    const char *folder = meta_variable("META_TEST_BOARD_DIR");
    char reason[1200];
    meta_share = (meta_share_state){.is_on = false};
    for (int d = 0; d < META_SLABS_DEVICES; ++d) meta_share.share[d] = 1;
    if (!is_wanted || meta_auto.is_fixed || meta_auto.devices < 2) return;
    memset(at, 0, sizeof at);
    board = meta_board_open(folder ? folder : "/dev/shm", reason, sizeof reason);
    if (!board) {
        meta_log(META_LOG_INFO,
                 "META_MODE=auto chooses without regard to other processes: the node has no board, "
                 "%s",
                 reason);
        return;
    }
    meta_share.is_on = true;
    for (int d = 0; d < meta_auto.devices; ++d) {
        identify(d);
        at[d].planned = 1;
    }
    read_at = meta_auto_now();
    meta_board_bury(board);
    look();
}

void meta_share_close(void)
{
    meta_board_close(board);
    board = NULL;
    meta_share.is_on = false;
}

/* ------------------------------------------------------------------ decisions */

uint64_t meta_share_memory(int d)
{
    const uint64_t all = meta_auto.device[d].device->desc.memory;
    if (all == 0 || !meta_share.is_on) return all;
    return all > at[d].others_held ? all - at[d].others_held : 1;
}

bool meta_share_turn(void)
{
    if (!meta_share.is_on) return true;
    double seen[META_SLABS_DEVICES];
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

void meta_share_claim(const double *time)
{
    double all = 0, load = 0;
    if (!meta_share.is_on) return;
    for (int d = 0; d < meta_auto.devices; ++d) {
        all += time[d];
        load += at[d].load;
        meta_share.busy[d] = 0;
    }
    if (load > 1 || load <= 0) load = 1;
    for (int d = 0; all > 0 && d < meta_auto.devices; ++d) {
        at[d].load = load * time[d] / all;
        publish(d);
    }
    read_at = meta_auto_now();
    meta_board_turn_end(board);
}

static bool is_alike(int a, int b)
{
    const meta_device *one = meta_auto.device[a].device, *other = meta_auto.device[b].device;
    return one->backend == other->backend && strcmp(one->desc.driver, other->desc.driver) == 0 &&
           one->desc.compute_units == other->desc.compute_units &&
           one->desc.memory == other->desc.memory && one->desc.is_host == other->desc.is_host;
}

/* The turn is short; a process that does not get it soon goes on without it. */
int meta_share_first(uint32_t among)
{
    enum { TRIES = 1000 };
    const int first = __builtin_ctz(among);
    double time[META_SLABS_DEVICES] = {0};
    int best = first;
    if (!meta_share.is_on) return first;
    for (int k = 0; k < TRIES && !meta_board_turn(board); ++k) sched_yield();
    look();
    for (int d = 0; d < meta_auto.devices; ++d)
        if (among >> d & 1 && is_alike(d, first) && meta_share.share[d] < meta_share.share[best])
            best = d;
    time[best] = 1;
    meta_share_claim(time);
    return best;
}
