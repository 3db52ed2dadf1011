/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.h
 *  Back ends, their devices, and which of them this process computes on. */
#ifndef META_DEVICE_H
#define META_DEVICE_H

#include "base/base.h"
#include "device/cores.h"

/* topology.c */
void meta_cores_mine(meta_cores *cores);
int meta_threads(void);
void meta_threads_set(int share);
/** The threads a process would get that shares a node with @p node_size − 1 others. */
int meta_threads_of(int node_size);
meta_err meta_threads_read(void);

/** The cores near the device with this PCI address. @return false where that is not known. */
bool meta_cores_near(const char *pci, meta_cores *cores);

/* plugin.c */
typedef struct meta_backend {
    char name[32];
    meta_mode mode;
    bool looked_for; /**< the members below are settled */
    bool usable;
    bool started;              /**< its init succeeded */
    const meta_plugin *plugin; /**< NULL where it could not be loaded */
    meta_ops ops;              /**< the plugin's, zero where it has none */
    char path[1024], reason[256];
    int devices;
    meta_device **device; /**< `devices` of them */
} meta_backend;
/** The back end called @p name, looked for; NULL where no plugin has that name and it is none of
 * the known ones. */
meta_backend *meta_backend_named(const char *name);
meta_backend *meta_backend_of(meta_mode mode);
meta_backend *meta_backend_at(int index);
int meta_backends(void);
void meta_backends_close(void);

/* device.c */
/* pool.c: device memory, kept when it is freed for what is allocated next */
typedef struct meta_block meta_block;
typedef struct meta_pool {
    pthread_mutex_t lock;
    uint64_t limit, kept, blocks, held, held_peak, reused, made,
        returned; /**< see meta_pool_desc */
    meta_block *youngest, *oldest;
    meta_block *class[64 * 8];
} meta_pool;
/** Copies that others are compared with, see profile_limit.c. */
typedef enum meta_limit {
    META_LIMIT_OWN, /**< of the device's memory on itself, read and written */
    META_LIMIT_H2D, /**< from the host's fastest memory, */
    META_LIMIT_D2H, /**< and to it: what is carried */
    META_LIMIT_COUNT
} meta_limit;
/** Added to a time of the device's clock it is one of the host's; settled by profile.c. */
typedef struct meta_device_clock {
    bool known;
    int64_t offset;
    uint64_t end[META_QUEUE_COUNT]; /**< of the latest work of each queue */
} meta_device_clock;
struct meta_device {
    meta_backend *backend;
    int index;
    pthread_mutex_t lock; /**< opening, queues, staging */
    _Atomic bool open;
    meta_plugin_device *plugin;
    meta_plugin_queue *_Atomic queue[META_QUEUE_COUNT]; /**< made when first used */
    meta_device_desc desc;
    _Atomic uint64_t allocated, peak, buffers;
    meta_pool pool;
    struct meta_staging *staging; /**< free blocks */
    uint64_t staging_kept;        /**< bytes in them */
    struct meta_device_kernels *kernels;
    struct meta_workspace *workspaces;
    void *exact;             /**< host memory for exact sums; NULL until there was one */
    meta_device_clock clock; /**< how its clock and the host's go together */
    /** Bytes a second; 0: not measured, less: not to be had. */
    double copy_limit[META_LIMIT_COUNT];
};
meta_err meta_device_find(int index, meta_mode mode, meta_device **device);
meta_err meta_device_open(meta_device *device, const meta_state *state);
meta_err meta_device_current(meta_device **device);
meta_err meta_device_queue(meta_device *device, meta_queue_kind kind, meta_plugin_queue **queue);
meta_err meta_device_finish(meta_device *device);
int meta_device_is_host(const meta_device *device);
meta_err meta_device_desc_of(const meta_device *device, meta_device_desc *desc);
bool meta_any_device_open(void);
void meta_devices_forget(void);
/** Call @p function on every open device; the first error. */
meta_err meta_devices_each(meta_err (*function)(meta_device *));
meta_device *meta_device_new(meta_backend *backend, int index);
void meta_device_free(meta_device *device);

/* job.c */
meta_err meta_job_read(void);
meta_err meta_job_choose(int rank, int node_rank, int node_size, meta_mode *mode, int *index);
meta_err meta_job_device(meta_device **device);
int meta_job_node_size(void);
int meta_job_rank(void);
int meta_job_size(void);
void meta_job_forget(void);

/* deal.c */
/** The cores of each rank of this node; all ranks say the same. */
meta_err meta_deal_cores(const meta_cores *cores, int ranks);
/** Which of the first @p devices of @p backend a rank of the node takes. */
int meta_deal(const meta_backend *backend, int devices, int node_rank, int node_size);
void meta_deal_forget(void);

#endif
