/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.h
 *  Back ends, their devices, and which of them this process computes on. */
#ifndef META_DEVICE_H
#define META_DEVICE_H

#include "base/base.h"
#include "device/cores.h"

/* addresses.c */
/** Addresses for a buffer of @p bytes, a multiple of 256, where nothing can be read or written. */
meta_err meta_addresses_take(size_t bytes, void **address);
/** Give them back, with the same @p bytes. */
void meta_addresses_give(void *address, size_t bytes);
/** Whether one of @p bytes from @p address on may be a buffer's: of a live one, a freed one or a gap. */
bool meta_addresses_reserved(const void *address, uint64_t bytes);

/* topology.c */
/** The cores this process may run on. */
void meta_cores_mine(meta_cores *cores);
/** The cores near the device with this PCI address. @return false where they are not known */
bool meta_cores_near(const char *pci, meta_cores *cores);
/** Threads this process is to compute with. */
int meta_threads(void);
/** libmeta_comm's share of the node's cores; META_THREADS and OMP_NUM_THREADS take precedence. */
void meta_threads_set(int share);
/** Threads of one of @p node_size processes that share a node. */
int meta_threads_of(int node_size);
/** How many processes share this node. */
void meta_node_size_set(int size);
meta_err meta_threads_read(void);

/* plugin.c */
typedef struct meta_backend {
    char name[32];
    meta_mode mode;
    bool probed;                /**< its module was looked for; what follows is valid */
    bool usable;
    meta_err error;            /**< of a request for one that is not usable */
    bool started;              /**< its init succeeded */
    const meta_plugin *plugin; /**< NULL where it could not be loaded */
    meta_ops ops;              /**< the plugin's, zero where it has none */
    char path[1024], reason[256];
    int devices;
    meta_device **device; /**< `devices` of them */
} meta_backend;
/** The services that plug-ins are given. */
const meta_host *meta_plugin_host(void);
/** The back end called @p name, probed; NULL where there is neither a plugin nor a known back end of
 *  that name. */
meta_backend *meta_backend_named(const char *name);
meta_backend *meta_backend_of(meta_mode mode);
meta_backend *meta_backend_at(int index);
int meta_backends(void);
void meta_backends_close(void);
/** The table of META_AUTO, which stands for devices of the others; set before any back end is looked
 * for. It is not among those that are counted. */
extern const meta_plugin *meta_automatic;
/** Plug-ins should record times for their work, whether or not there is a profile. */
void meta_timing_want(bool want);
/** The device of META_AUTO on which this thread's last work was queued; NULL: none since it was set so.
 */
extern _Thread_local meta_device *meta_ran_on;
/** This thread waits for the work that it queues now as soon as it is queued. */
extern _Thread_local bool meta_waits_at_once;

/* device.c */
struct meta_device {
    meta_backend *backend;
    int index;
    pthread_mutex_t lock; /**< opening, queues, staging */
    _Atomic bool open;
    _Atomic bool given_up; /**< META_MODE=auto goes on without it and has said so */
    meta_plugin_device *plugin;
    meta_plugin_queue *_Atomic queue[META_QUEUE_COUNT]; /**< created on first use */
    meta_device_desc desc;
    _Atomic uint64_t allocated, peak, buffers; /**< see meta_mem_desc */
    /* The state that upper rooms keep for each device; see meta_device_part. */
    struct meta_pool *pool;
    struct meta_staging *staging; /**< free blocks, with the lock */
    uint64_t staging_kept;        /**< bytes in them */
    struct meta_device_kernels *kernels;
    struct meta_workspace *workspaces;
    void *exact; /**< host memory for exact sums; NULL until there was one */
    struct meta_device_record *record;
};
/** State of an upper room in each device: made when the device is opened, in the order of the list, and
 *  closed in reverse order while its back end still works. Either function may be NULL. */
typedef struct meta_device_part {
    meta_err (*open)(meta_device *device);
    void (*close)(meta_device *device); /**< also called where this or an earlier open() failed */
} meta_device_part;
/** Ends with an empty part. Set before any device is opened. */
extern const meta_device_part *meta_device_parts;
meta_err meta_device_find(int index, meta_mode mode, meta_device **device);
meta_err meta_device_open(meta_device *device, const meta_state *state);
/** What the back end knows of a device, open or not. An open one's is remembered: a driver can take long to
 *  answer. */
meta_err meta_device_describe(const meta_device *device, meta_device_desc *desc);
meta_err meta_device_current(meta_device **device);
meta_err meta_device_queue(meta_device *device, meta_queue_kind kind, meta_plugin_queue **queue);
/** Complete its work. @return the first error; META_OK for a device that META_MODE=auto has given up:
 * that was reported */
meta_err meta_device_finish(meta_device *device);
int meta_device_is_host(const meta_device *device);
meta_err meta_device_desc_of(const meta_device *device, meta_device_desc *desc);
bool meta_any_device_open(void);
void meta_devices_forget(void);
/** Call @p function with every open device; the first error. */
meta_err meta_devices_each(meta_err (*function)(meta_device *, void *context), void *context);
/** Complete the work of all devices; the first error. */
meta_err meta_devices_finish(void);
meta_device *meta_device_new(meta_backend *backend, int index);
void meta_device_free(meta_device *device);

/* job.c */
meta_err meta_job_read(void);
meta_err meta_job_choose(int rank, int node_rank, int node_size, meta_mode *mode, int *index);
/** The device that META_MODE and META_RANK_MAP give this process. */
meta_err meta_job_device(meta_device **device);
int meta_job_rank(void);
int meta_job_size(void);
/** Which of the processes of this node this one is. */
void meta_job_place(int *of_node_rank, int *of_node_size);
void meta_job_forget(void);

/* deal.c */
/** The cores of each rank of this node, the same list on all of them. */
meta_err meta_deal_cores(const meta_cores *cores, int ranks);
/** Which of the first @p devices of @p backend a rank of the node takes. */
int meta_deal(const meta_backend *backend, int devices, int node_rank, int node_size);
void meta_deal_forget(void);

#endif
