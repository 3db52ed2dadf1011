/* SPDX-License-Identifier: BSD-3-Clause */
/** @file chunk.c
 *  The size of a message's pieces in the pipeline device, staging, MPI, staging, device: chosen
 * from the measured cost of a copy on this device. */
#include <math.h>

#include "p2p/p2p.h"

/* The cost of a copy from a device to the host, in seconds and seconds per byte. */
typedef struct speed {
    const meta_device *device;
    double latency, per_byte;
} speed;

enum {
    DEVICES = 16,
    SMALL = 4096,
    LARGE = 4 << 20,
    ROUNDS = 5,
    WORTH = 256 << 10, /* shorter messages are not cut */
    PARTS = 1000       /* of a message, about: their requests take memory as well */
};
static speed measured[DEVICES];
static int devices;

void comm_speeds_forget(void)
{
    devices = 0;
}

static meta_err time_copy(meta_device *device, const meta_span *span, void *host, size_t bytes,
                          double *least)
{
    *least = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        meta_pending pending;
        const double began = MPI_Wtime();
        META_TRY(core->copy(device, META_QUEUE_HALO, META_COPY_D2H, host, span, bytes, &pending));
        const meta_err error = core->pending_wait(&pending);
        const double seconds = MPI_Wtime() - began;
        core->pending_release(&pending);
        if (error != META_OK) return error;
        if (seconds < *least) *least = seconds;
    }
    return META_OK;
}

static meta_err time_copies(meta_device *device, const meta_span *span, void *host, speed *s)
{
    double small, large;
    META_TRY(time_copy(device, span, host, SMALL, &small));
    META_TRY(time_copy(device, span, host, LARGE, &large));
    s->latency = small;
    s->per_byte = large > small ? (large - small) / (LARGE - SMALL) : 1e-12;
    return META_OK;
}

/* Measured once on each device. */
static meta_err measure(meta_device *device, speed *s)
{
    void *buffer, *host = NULL;
    meta_span span;
    for (int k = 0; k < devices; ++k)
        if (measured[k].device == device) return *s = measured[k], META_OK;
    META_TRY(core->scratch(device, LARGE, &buffer));
    meta_err error = core->resolve(buffer, LARGE, META_U8, "buffer", &span);
    if (error == META_OK) error = core->staging(device, LARGE, &host);
    *s = (speed){.device = device};
    core->profile_measuring(true);
    if (error == META_OK) error = time_copies(device, &span, host, s);
    core->profile_measuring(false);
    if (host) core->staging_free(device, host);
    core->scratch_free(buffer);
    if (error != META_OK) return error;
    core->log(META_LOG_INFO,
              "a copy from the device to the host takes %.1f us and %.1f us more for each MiB",
              s->latency * 1e6, s->per_byte * 0x1p20 * 1e6);
    if (devices < DEVICES) measured[devices++] = *s;
    return META_OK;
}

/* In a pipeline of three stages that all cost a + b·n, k pieces of n bytes take
 * (k + 2)(a + b·n/k): least for k = sqrt(2·b·n / a). */
size_t comm_chunk_for(meta_device *device, size_t bytes)
{
    speed s;
    if (bytes < WORTH) return 0;
    if (comm_job.pipeline > 0) return comm_job.pipeline;
    if (measure(device, &s) != META_OK) return 0;
    const double pieces = floor(sqrt(2 * s.per_byte * (double)bytes / s.latency));
    if (!(pieces >= 2)) return 0;
    const size_t chunk = (size_t)((double)bytes / fmin(pieces, 64));
    return (chunk + 4095) / 4096 * 4096;
}

size_t comm_chunk_fit(size_t bytes, size_t wish)
{
    const size_t least = bytes / PARTS + 1;
    size_t chunk = wish > 0 && wish < bytes ? wish : bytes;
    if (chunk < least) chunk = least;
    return chunk < comm_job.chunk ? chunk : comm_job.chunk;
}
