/* SPDX-License-Identifier: BSD-3-Clause */
/** @file share.h
 *  The shares of the devices that other processes of the node leave. */
#ifndef META_AUTO_SHARE_H
#define META_AUTO_SHARE_H

#include <stdatomic.h>

#include "auto/machine.h"

/** How other processes of the node use the devices, as read from its board every now and then. */
typedef struct meta_share_state {
    bool is_on, is_crowded;           /**< crowded: there are others */
    bool is_settled;                  /**< others have not moved their work lately */
    const _Atomic uint64_t *moves;    /**< of all processes, */
    uint64_t seen;                    /**< and those that shares were read after */
    double share[META_SLABS_DEVICES]; /**< work takes so many times as long as on an idle device */
    double busy[META_SLABS_DEVICES];  /**< expected nanoseconds of work queued since then */
    double idle;                      /**< nanoseconds in which nothing was queued */
    uint64_t idle_since;              /**< 0: something is */
    double total;
    int calls;
} meta_share_state;
extern meta_share_state meta_share;
/** META_BOARD. */
meta_err meta_share_read(void);
/** Enter the board; without one this process decides alone. */
void meta_share_open(void);
void meta_share_close(void);
/** Say what this process uses, and read what others do. */
void meta_share_refresh(void);
/** Find out whether they have. */
void meta_share_settle(void);
/** The program has waited: if nothing is queued now, devices are idle until something is. */
void meta_share_waited(void);
/** Work of @p time expected nanoseconds is queued on device @p d. */
static inline void meta_share_ran(int d, double time)
{
    enum { CALLS = 64 };
    const double long_enough = 1e6;
    if (!meta_share.is_on) return;
    if (!meta_share.is_settled) meta_share_settle();
    if (meta_share.idle_since > 0) {
        meta_share.idle += (double)(meta_auto_now() - meta_share.idle_since);
        meta_share.idle_since = 0;
    }
    meta_share.busy[d] += time;
    meta_share.total += time;
    if (++meta_share.calls >= CALLS || meta_share.total >= long_enough ||
        atomic_load_explicit(meta_share.moves, memory_order_relaxed) != meta_share.seen)
        meta_share_refresh();
}
/** How much of its time this process would keep the device busy if it were alone, 0 … 1: as
 * measured each time that nanoseconds have elapsed, or as it is going to be. */
double meta_demand(int d);
void meta_demand_measure(double elapsed);
void meta_demand_set(const double *part);
void meta_demand_forget(void);
/** Bytes of the device's memory that other processes do not hold; 0: not known. */
uint64_t meta_share_memory(int d);
/** Whether so many bytes fit there beside those of other processes, if they hold any. */
bool meta_share_fits(int d, uint64_t bytes);
/** What the turn is for, and how long others must have stayed where they are. */
typedef enum meta_share_what {
    META_SHARE_TRY,
    META_SHARE_TRY_AGAIN,
    META_SHARE_MOVE
} meta_share_what;
/** Before work is moved, or tried elsewhere: take the turn to decide, until meta_share_claim().
 *  @return false: another process decides, or has decided since the shares were read; ask later */
bool meta_share_turn(meta_share_what what);
/** Work that takes time[d] on device d is done there from now on; of others as much as before. */
void meta_share_claim(const double *time);
/** For work that is nowhere yet: of the devices that are like the first of set @p among on which so
 * many bytes fit that which others use least; it is claimed. */
int meta_share_first(uint32_t among, uint64_t bytes);

#endif
