/* SPDX-License-Identifier: BSD-3-Clause */
/** @file devices.c
 *  The devices among which is chosen: those of META_AUTO_DEVICES, or the GPUs of this process's
 * share of the node and its CPU cores. An OpenCL device that is the CPU is not among the latter: it
 * has the same cores as OpenMP, and two that take turns on them gain nothing. */
#include "auto/auto.h"
#include "auto/learn.h"
#include "auto/policy.h"
#include "auto/share.h"
#include "auto/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static meta_device *listed[META_SLABS_DEVICES];
static int listed_count;
/* ------------------------------------------------------------------ which devices */

/* NAME[:N] in the first @p length characters of @p text. *index: -1 without N. */
static bool parse(const char *text, size_t length, char name[32], int *index)
{
    const char *colon = memchr(text, ':', length);
    const size_t letters = colon ? (size_t)(colon - text) : length;
    char *end;
    *index = -1;
    if (letters == 0 || letters >= 32 || memchr(text, '/', letters)) return false;
    snprintf(name, 32, "%.*s", (int)letters, text);
    if (strcmp(name, "auto") == 0 || strcmp(name, "spread") == 0) return false;
    if (!colon) return true;
    if (colon[1] < '0' || colon[1] > '9') return false;
    const long number = strtol(colon + 1, &end, 10);
    *index = number < META_SLABS_DEVICES ? (int)number : META_SLABS_DEVICES;
    return end == text + length;
}

static meta_err read_devices(void)
{
    const char *list = meta_variable("META_AUTO_DEVICES");
    char name[32];
    int index;
    for (const char *at = list; at; at = *at ? at + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        if (!parse(at, length, name, &index))
            return meta_fail(
                META_ERR_ENVIRONMENT,
                "META_AUTO_DEVICES: '%.*s' is not a back end's name, or one and :N for "
                "a device of it",
                (int)length, at);
        at += length;
    }
    return META_OK;
}

meta_err meta_auto_read(void)
{
    META_TRY(read_devices());
    META_TRY(meta_explain_read());
    META_TRY(meta_learn_read());
    META_TRY(meta_share_read());
    META_TRY(meta_worker_read());
    return meta_policy_read();
}

static void say(char *reason, size_t room, const char *name, const char *why)
{
    snprintf(reason, room, "META_AUTO_DEVICES asks for %s, which is not usable: %s", name, why);
}

/* A GPU of two back ends is one device. */
static bool is_listed(const meta_device_desc *desc)
{
    for (int k = 0; k < listed_count && *desc->pci; ++k) {
        meta_device_desc other = META_DEVICE_DESC_INIT;
        if (meta_device_describe(listed[k], &other) == META_OK && strcmp(other.pci, desc->pci) == 0)
            return true;
    }
    return false;
}

static void add(const meta_backend *backend, int index)
{
    for (int k = 0; k < listed_count; ++k)
        if (listed[k] == backend->device[index]) return;
    if (listed_count == META_SLABS_DEVICES)
        meta_log(META_LOG_WARN, "META_MODE=auto uses the first %d devices: %s:%d is left out",
                 META_SLABS_DEVICES, backend->name, index);
    else listed[listed_count++] = backend->device[index];
}

/* What META_AUTO_DEVICES asks for is used or is an error. */
static bool list_given(const char *list, char *reason, size_t room)
{
    for (const char *at = list; at; at = *at ? at + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        char name[32];
        int index;
        if (!parse(at, length, name, &index)) return false;
        const meta_backend *backend = meta_backend_named(name);
        if (!backend) return say(reason, room, name, "there is no such back end"), false;
        if (!backend->usable) return say(reason, room, name, backend->reason), false;
        if (index >= backend->devices) {
            snprintf(reason, room,
                     "META_AUTO_DEVICES asks for %s:%d, but there %s %d device%s, counted from 0",
                     name, index, backend->devices == 1 ? "is" : "are", backend->devices,
                     backend->devices == 1 ? "" : "s");
            return false;
        }
        if (index >= 0) add(backend, index);
        for (int k = 0; index < 0 && k < backend->devices; ++k) add(backend, k);
        at += length;
    }
    return true;
}

/* GPUs that are alike are dealt to the ranks of a node, as META_MODE=spread deals them. */
static void list_gpus(meta_mode mode, int node_rank, int node_size)
{
    const meta_backend *backend = meta_backend_of(mode);
    int gpus = 0;
    if (!backend || !backend->usable) return;
    for (int k = 0; k < backend->devices; ++k) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        if (meta_device_describe(backend->device[k], &desc) != META_OK || !desc.is_gpu ||
            is_listed(&desc))
            continue;
        ++gpus;
        if (node_size == 1) add(backend, k);
    }
    if (node_size > 1 && gpus > 0) add(backend, meta_deal(backend, gpus, node_rank, node_size));
}

static void list_usual(void)
{
    static const meta_mode gpus[] = {META_CUDA, META_HIP, META_OPENCL};
    int node_rank, node_size;
    meta_job_place(&node_rank, &node_size);
    for (size_t k = 0; k < sizeof gpus / sizeof *gpus; ++k)
        list_gpus(gpus[k], node_rank, node_size);
    const meta_backend *openmp = meta_backend_of(META_OPENMP);
    if (openmp && openmp->usable) add(openmp, 0);
}

bool meta_auto_any(char *reason, size_t room)
{
    const char *list = meta_variable("META_AUTO_DEVICES");
    listed_count = 0;
    snprintf(reason, room, "no back end has a GPU, and openmp is not usable");
    if (!list) list_usual();
    else if (!list_given(list, reason, room)) listed_count = 0;
    return listed_count > 0;
}

meta_err meta_auto_describe(meta_device_desc *desc)
{
    size_t at = 0;
    snprintf(desc->driver, sizeof desc->driver, "libmeta chooses the device of each call");
    desc->has_f64 = 0;
    for (int k = 0; k < listed_count; ++k) {
        meta_device_desc one = META_DEVICE_DESC_INIT;
        const meta_device *d = listed[k];
        META_TRY(meta_device_describe(d, &one));
        if (at < sizeof desc->name)
            at += (size_t)snprintf(desc->name + at, sizeof desc->name - at, "%s%s:%d",
                                   k > 0 ? ", " : "", d->backend->name, d->index);
        desc->memory += one.memory;
        desc->compute_units += one.compute_units;
        desc->has_f64 |= one.has_f64;
        desc->is_gpu |= one.is_gpu;
    }
    return META_OK;
}

/* ------------------------------------------------------------------ opening them */

static void add_open(meta_device *device)
{
    const int n = meta_auto.devices++;
    const bool is_host = meta_device_is_host(device) != 0;
    const bool is_opencl_cpu = device->backend->mode == META_OPENCL && !device->desc.is_gpu;
    meta_auto.device[n] = (meta_auto_device){.device = device,
                                             .ops = &device->backend->ops,
                                             .number = n,
                                             .is_host = is_host,
                                             .is_cpu = is_host || is_opencl_cpu};
    for (int kind = 0; kind < META_QUEUE_COUNT; ++kind)
        *meta_auto_lane_of(n, (meta_queue_kind)kind) =
            (meta_auto_lane){.of = &meta_auto.device[n], .kind = (meta_queue_kind)kind};
    if (!meta_auto.clock) meta_auto.clock = device->backend->ops.now;
}

/* A device that cannot be opened is left out, unless it is asked for. */
static meta_err open_listed(void)
{
    for (int k = 0; k < listed_count; ++k) {
        const meta_err error = meta_device_open(listed[k], NULL);
        if (error == META_OK) add_open(listed[k]);
        else if (meta_variable("META_AUTO_DEVICES")) return error;
        else
            meta_log(META_LOG_WARN, "META_MODE=auto goes without %s:%d: %s",
                     listed[k]->backend->name, listed[k]->index, meta_last_error());
    }
    if (meta_auto.devices > 0) return META_OK;
    return meta_fail(META_ERR_NO_DEVICE, "META_MODE=auto: none of the devices could be opened");
}

static void find_peers(void)
{
    for (int to = 0; to < meta_auto.devices; ++to)
        for (int from = 0; from < meta_auto.devices; ++from) {
            const meta_device *t = meta_auto.device[to].device, *f = meta_auto.device[from].device;
            if (to != from && t->backend == f->backend && t->backend->ops.copy_peer &&
                t->backend->ops.copy_peer(t->plugin, f->plugin))
                meta_auto.peers[to] |= UINT32_C(1) << from;
        }
}

static meta_err open_all(void)
{
    META_TRY(open_listed());
    META_TRY(meta_policy_check());
    find_peers();
    meta_worker_open();
    META_TRY(meta_cost_open());
    meta_learn_open();
    meta_share_open();
    return META_OK;
}

meta_err meta_auto_open(void)
{
    pthread_mutexattr_t recursive;
    meta_auto = (meta_auto_machine){.devices = 0};
    meta_timing_want(true);
    const meta_err error = open_all();
    if (error != META_OK) {
        meta_auto.devices = 0;
        meta_timing_want(false);
        return error;
    }
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&meta_auto.lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return META_OK;
}

void meta_auto_close(void)
{
    meta_learn_close();
    meta_auto_lanes_close();
    meta_account_close();
    meta_auto_refused_close();
    meta_auto_samples_close();
    meta_cost_close();
    meta_share_close();
    meta_worker_close();
    pthread_mutex_destroy(&meta_auto.lock);
    meta_auto.devices = 0;
    meta_timing_want(false);
}
