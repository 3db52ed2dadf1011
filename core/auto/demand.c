/* SPDX-License-Identifier: BSD-3-Clause */
/** @file demand.c
 *  How much of its time this process would keep each device busy if nobody else were there, from
 *  the time that it spends with work queued and what that is expected to take. */
#include "auto/auto.h"
#include "auto/share.h"

meta_share_state meta_share;

/* Over so many nanoseconds demands are averaged. */
static const double span = 10e6;

/* Of each device in the last while, if nobody else were there; and how long that would have been.
 */
static double work[META_SLABS_DEVICES], passed;

double meta_demand(int d)
{
    return work[d] < passed ? work[d] / passed : passed > 0;
}

/* Nanoseconds that each device was busy with this process's work. What a time learned too short
 * leaves unexplained is shared out; devices that compute at the same time count each. */
static void find_busy(double elapsed, double *busy)
{
    const double used = elapsed > meta_share.idle ? elapsed - meta_share.idle : 0;
    double expected = 0;
    for (int d = 0; d < meta_auto.devices; ++d) expected += meta_share.busy[d];
    for (int d = 0; d < meta_auto.devices; ++d) {
        busy[d] = expected < used && expected > 0 ? meta_share.busy[d] / expected * used
                                                  : meta_share.busy[d];
        if (busy[d] > used) busy[d] = used;
        meta_share.busy[d] = 0;
    }
    meta_share.idle = 0;
}

/* If nobody else were there, each device would have done the same sooner, and the process have
 * waited less for it. What is older than SPAN counts for ever less. */
void meta_demand_measure(double elapsed)
{
    const double kept = elapsed < span ? 1 - elapsed / span : 0;
    double busy[META_SLABS_DEVICES], alone = elapsed, most = 1;
    find_busy(elapsed, busy);
    for (int d = 0; d < meta_auto.devices; ++d) {
        const double mine = busy[d] / meta_share.share[d];
        alone -= busy[d] - mine;
        if (meta_share.share[d] > most) most = meta_share.share[d];
        work[d] = kept * work[d] + mine;
    }
    passed = kept * passed + (alone > elapsed / most ? alone : elapsed / most);
}

void meta_share_waited(void)
{
    if (!meta_share.is_crowded) return;
    for (int l = 0; l < 2 * meta_auto.devices; ++l) {
        meta_auto_poll(&meta_auto.lane[l]);
        if (meta_auto.lane[l].first) return;
    }
    meta_share.idle_since = meta_auto_now();
}

void meta_demand_set(const double *part)
{
    for (int d = 0; d < meta_auto.devices; ++d) {
        work[d] = span * part[d];
        meta_share.busy[d] = 0;
    }
    passed = span;
    meta_share.idle = 0;
}

void meta_demand_forget(void)
{
    for (int d = 0; d < META_SLABS_DEVICES; ++d) work[d] = 0;
    passed = 0;
}
