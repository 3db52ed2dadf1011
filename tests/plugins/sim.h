/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sim.h
 *  Private header of the back end sim: simulated devices with a virtual clock, for tests of what
 * chooses devices and moves data between them. Kernels and copies really run, on the CPU, but as
 * late as their order permits, so that a missing wait gives wrong data. With -DSIM_BLIND it is the back end
 * blind, which has no part in META_CHECK=on. */
#ifndef SIM_H
#define SIM_H

#include <pthread.h>
#include <stdbool.h>

#include "meta_backend.h"

/** What does one thing at a time: the cores, and each direction of the link to the host. */
typedef enum sim_engine { SIM_COMPUTE, SIM_IN, SIM_OUT, SIM_ENGINES } sim_engine;

/** A kernel that takes so many times as long on a device. */
typedef struct sim_factor {
    char kernel[64];
    double factor;
} sim_factor;
enum { SIM_FACTORS = 32, SIM_NAME = 32 };

/** A device as META_TEST_SIM describes it, and its state. Times are in ns, rates in bytes per ns.
 */
struct meta_plugin_device {
    char name[SIM_NAME], shares[SIM_NAME], refuses[64];
    int index;
    double launch, rate, first, slow_after, slow_until, slow;
    double latency, bandwidth, peer; /* peer 0: no copies between devices */
    double memory, used;             /* bytes */
    double fails;                    /* the number of the first work that fails; 0: none */
    bool is_sync, is_host, is_gpu, lacks_f64;
    sim_factor factor[SIM_FACTORS];
    int factors;
    /* The device whose engines it uses, itself unless it shares its cores. Devices that share have
     * one engine for everything. */
    meta_plugin_device *owner;
    bool is_shared;
    uint64_t engine_end[SIM_ENGINES]; /* when the engine has done what is queued */
    uint64_t launches, copies, bytes_in, bytes_out, bytes_peer, busy;
};

/** What other processes do to the devices, and what this one does: a file that META_TEST_SIM_CROWD
 *  names, of the process's own, which a test reads and writes. */
enum { SIM_CROWD = 16 };
typedef struct sim_crowd {
    double slower[SIM_CROWD]; /**< kernels on device d take so many times as long; 0: once */
    double busy[SIM_CROWD];   /**< ns that kernels took there so far */
    double now;               /**< the host's clock */
} sim_crowd;
extern sim_crowd *sim_others; /**< NULL: there is none */

extern const meta_host *sim_host;
extern pthread_mutex_t sim_lock; /**< of all state */
extern meta_plugin_device *sim_device;
extern int sim_devices;

/* sim.c */
/** Note a launch in META_TEST_SIM_LOG. */
void sim_log(const meta_plugin_device *device, const meta_launch *launch);
/** Note there that the device was asked for a kernel that it refuses. */
void sim_log_refusal(const meta_plugin_device *device, const char *kernel);

/* sim_describe.c */
/** Set sim_device and sim_devices to what @p text describes. */
meta_err sim_describe(const char *text);

/* sim_kernels.c: kernels, which run on the calling thread */
void sim_kernels_begin(const meta_host *host);
meta_err sim_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel);
/** A copy of the call with all that it points to, to be released by free(); NULL without memory. */
meta_call *sim_call_copy(const meta_call *call);
meta_err sim_call_run(const meta_call *call);
/** How long the call takes on @p device after @p overhead, at time @p begin. */
double sim_call_time(meta_plugin_device *device, const meta_call *call, double overhead,
                     uint64_t begin);
/** The number of results of a call. */
uint32_t sim_call_results(const meta_call *call);
void sim_kernel_free(meta_plugin_kernel *kernel);

/* sim_work.c: the virtual clock, and work in queues */
void sim_clock_begin(bool eager);
/** Advance the host's clock by what a call into a driver takes. With the lock held. */
void sim_submit(void);
uint64_t sim_now(void);
/** Whether work that has not run uses a memory object, or a kernel. With the lock held. */
bool sim_is_object_used(const void *object);
bool sim_is_kernel_used(const meta_plugin_kernel *kernel);
meta_err sim_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue);
void sim_queue_destroy(meta_plugin_queue *queue);
meta_err sim_queue_finish(meta_plugin_queue *queue);
meta_err sim_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier);
meta_err sim_queue_wait(meta_plugin_queue *queue, meta_ticket ticket);
meta_err sim_copy(meta_plugin_queue *queue, const meta_copy *copy);
meta_err sim_launch(meta_plugin_queue *queue, const meta_launch *launch);
meta_err sim_ticket_test(meta_ticket ticket, int *complete);
meta_err sim_ticket_wait(meta_ticket ticket);
void sim_ticket_release(meta_ticket ticket);

#endif
