/* SPDX-License-Identifier: BSD-3-Clause */
/** @file expect.c
 *  What a call is expected to take on each device, from times of kernels and links as measured. */
#include "auto/link.h"
#include "auto/loop.h"
#include "auto/share.h"

/* Nanoseconds to copy bytes between a device's copy of a buffer and host memory. */
static double host_copy_time(int d, bool is_in, uint64_t bytes)
{
    const double memory = 0.1; /* nanoseconds a byte of the host's */
    int host = 0;
    while (host < meta_auto.devices && !meta_auto.device[host].is_host) ++host;
    if (host == meta_auto.devices || host == d) return memory * (double)bytes;
    return is_in ? meta_auto_move_time(host, d, bytes) : meta_auto_move_time(d, host, bytes);
}

static double kernel_time(const meta_loop_call *c, int d)
{
    meta_time_basis basis;
    const double time =
        1e9 * meta_share.share[d] *
        meta_times_expect(meta_auto.times, c->kernel, d, c->cells, c->bytes, &basis);
    return c->is_waited ? time + host_copy_time(d, false, 0) : time;
}

void meta_expect_times(const meta_loop_call *c, double *time)
{
    if (c->kernel == META_LOOP_OTHER) return;
    for (int d = 0; d < meta_auto.devices; ++d)
        time[d] = c->kernel >= 0 ? kernel_time(c, d)
                                 : host_copy_time(d, c->kernel == META_LOOP_COPY_IN, c->bytes);
}

/* Beside other processes a device may never have been seen without a load that nobody tells. */
double meta_expect_best(const meta_loop_call *c, int d)
{
    double best = 0;
    for (int other = 0; c->kernel >= 0 && other < meta_auto.devices; ++other) {
        if (other != d && !(meta_share.is_crowded && meta_auto_alike(d, other))) continue;
        const double time = meta_times_best(meta_auto.times, c->kernel, other, c->cells);
        if (time > 0 && (best == 0 || time < best)) best = time;
    }
    return 1e9 * meta_share.share[d] * best;
}

double meta_expect_last(const meta_loop_call *c, int d)
{
    return c->kernel >= 0 ? 1e9 * meta_share.share[d] *
                                meta_times_last(meta_auto.times, c->kernel, d, c->cells)
                          : 0;
}

bool meta_expect_is_known(int kernel, int d, uint64_t cells)
{
    return kernel < 0 || meta_times_samples(meta_auto.times, kernel, d, cells) >= META_EXPECT_RUNS;
}
