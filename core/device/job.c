/* SPDX-License-Identifier: BSD-3-Clause */
/** @file job.c
 *  This process's place in its job, and the device that META_MODE and META_RANK_MAP give it. */
#include "device/device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int rank, size = 1, node_rank, node_size = 1; /* written with the lock, read without */
static meta_device *own; /* the process's device, NULL before it is chosen */

/* The device that a variable asks for. */
typedef struct request {
    char name[32];
    int index;            /* -1: not given */
    const char *variable; /* its name */
} request;

/* A whole number at @p text, or -1. */
static int number(const char *text, const char **end)
{
    char *after;
    if (*text < '0' || *text > '9') return -1;
    errno = 0;
    const long value = strtol(text, &after, 10);
    *end = after;
    return errno || value > INT_MAX ? -1 : (int)value;
}

/* MODE[:N] in the first @p length characters of @p text. */
static bool parse_mode(const char *text, size_t length, request *wanted)
{
    const char *colon = memchr(text, ':', length);
    const size_t name = colon ? (size_t)(colon - text) : length;
    const char *end = text;
    wanted->index = -1;
    if (name == 0 || name >= sizeof wanted->name || memchr(text, '/', name)) return false;
    snprintf(wanted->name, sizeof wanted->name, "%.*s", (int)name, text);
    if (!colon) return true;
    wanted->index = number(colon + 1, &end);
    return wanted->index >= 0 && end == text + length && strcmp(wanted->name, "spread") != 0 &&
           strcmp(wanted->name, "auto") != 0;
}

/* MetaMorph's names of modes, CUDA, OpenCL, OpenCL_DEBUG and OpenMP, are ours in small letters. */
static void name_as_here(request *wanted)
{
    for (char *at = wanted->name; *at; ++at)
        if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    if (strcmp(wanted->name, "opencl_debug") == 0) wanted->name[strlen("opencl")] = '\0';
}

/* RANKS:MODE[:N] in the first @p length characters; *names: whether RANKS includes @p of_rank. */
static bool parse_entry(const char *text, size_t length, int of_rank, request *wanted, bool *names)
{
    const char *at = text;
    int first = 0, last = INT_MAX;
    if (*at == '*') {
        ++at;
    } else {
        if ((first = number(at, &at)) < 0) return false;
        last = first;
        if (*at == '-' && ((last = number(at + 1, &at)) < first)) return false;
    }
    if (at >= text + length || *at != ':') return false;
    ++at;
    *names = of_rank >= first && of_rank <= last;
    return parse_mode(at, (size_t)(text + length - at), wanted);
}

/* The first entry of META_RANK_MAP for @p of_rank; every entry is checked. */
static meta_err parse_map(const char *map, int of_rank, request *wanted, bool *found)
{
    *found = false;
    for (const char *at = map;; ++at) {
        const size_t length = strcspn(at, ",");
        request entry;
        bool names;
        if (!parse_entry(at, length, of_rank, &entry, &names))
            return meta_fail(META_ERR_ENVIRONMENT,
                             "META_RANK_MAP: '%.*s' is not RANKS:MODE or "
                             "RANKS:MODE:N, where RANKS is N, N-M or *",
                             (int)length, at);
        if (names && !*found) *wanted = entry, *found = true;
        at += length;
        if (!*at) break;
    }
    wanted->variable = "META_RANK_MAP";
    return META_OK;
}

static meta_err read_request(int of_rank, request *wanted)
{
    const char *map = meta_variable("META_RANK_MAP"), *mode = meta_variable("META_MODE");
    const char *name = "META_MODE";
    bool found = false;
    if (map) META_TRY(parse_map(map, of_rank, wanted, &found));
    const bool metamorph = !mode && (mode = meta_variable("METAMORPH_MODE"));
    if (metamorph) name = "METAMORPH_MODE";
    if (mode && !found) {
        if (!parse_mode(mode, strlen(mode), wanted))
            return meta_fail(META_ERR_ENVIRONMENT,
                             "%s=%s: give spread, auto, openmp, opencl, cuda, "
                             "hip or a plugin's name, and :N for a device of it",
                             name, mode);
        if (metamorph) name_as_here(wanted);
        wanted->variable = name;
    } else if (!found) {
        *wanted = (request){.name = "spread", .index = -1, .variable = "META_MODE"};
    }
    return META_OK;
}

meta_err meta_job_read(void)
{
    request wanted;
    return read_request(rank, &wanted);
}

/* How many devices at the front of a back end's list are of one kind; GPUs come first. */
static int count_alike(const meta_backend *backend, bool *gpus)
{
    int count = 0;
    for (int k = 0; k < backend->devices; ++k) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        if (meta_device_describe(backend->device[k], &desc) != META_OK) break;
        if (k == 0) *gpus = desc.is_gpu;
        if (desc.is_gpu != (int)*gpus) break;
        ++count;
    }
    return count;
}

/* META_MODE=spread: the node's GPUs, distributed over its ranks; without any, OpenMP. */
static meta_err spread(int of_node_rank, int of_node_size, meta_mode *mode, int *index)
{
    static const meta_mode order[] = {META_CUDA, META_HIP, META_OPENCL};
    for (size_t k = 0; k < sizeof order / sizeof *order; ++k) {
        const meta_backend *backend = meta_backend_of(order[k]);
        bool gpus = false;
        const int count = backend && backend->usable ? count_alike(backend, &gpus) : 0;
        if (count == 0 || !gpus) continue;
        *mode = order[k];
        *index = meta_deal(backend, count, of_node_rank, of_node_size);
        return META_OK;
    }
    const meta_backend *openmp = meta_backend_of(META_OPENMP);
    if (!openmp->usable)
        return meta_fail(openmp->error,
                         "this node has no GPU that a back end can use, and the "
                         "back end openmp is not usable: %s",
                         openmp->reason);
    *mode = META_OPENMP;
    *index = 0;
    return META_OK;
}

meta_err meta_job_choose(int of_rank, int of_node_rank, int of_node_size, meta_mode *mode,
                         int *index)
{
    request wanted;
    bool gpus = false;
    META_TRY(read_request(of_rank, &wanted));
    if (strcmp(wanted.name, "spread") == 0) return spread(of_node_rank, of_node_size, mode, index);
    const meta_backend *backend = meta_backend_named(wanted.name);
    if (!backend)
        return meta_fail(META_ERR_NO_DEVICE,
                         "%s asks for '%s': no back end of that name was found "
                         "(meta-info lists them)",
                         wanted.variable, wanted.name);
    if (!backend->usable)
        return meta_fail(backend->error, "%s asks for %s, which is not usable: %s", wanted.variable,
                         wanted.name, backend->reason);
    if (wanted.index >= backend->devices)
        return meta_fail(META_ERR_NO_DEVICE,
                         "%s asks for %s:%d, but there %s %d device%s, counted "
                         "from 0",
                         wanted.variable, wanted.name, wanted.index,
                         backend->devices == 1 ? "is" : "are", backend->devices,
                         backend->devices == 1 ? "" : "s");
    *index = wanted.index;
    if (backend->mode == META_AUTO) *index = 0;
    else if (wanted.index < 0) {
        const int count = count_alike(backend, &gpus);
        *index = count > 0 ? meta_deal(backend, count, of_node_rank, of_node_size) : 0;
    }
    *mode = backend->mode;
    return META_OK;
}

/* Log why it is this device. */
static void report(meta_mode mode, int index)
{
    request wanted;
    const meta_backend *backend = meta_backend_of(mode);
    if (!backend || read_request(rank, &wanted) != META_OK) return;
    if (strcmp(wanted.name, "spread") != 0)
        meta_log(META_LOG_INFO, "this process computes on %s:%d: %s asks for %s%s", backend->name,
                 index, wanted.variable, wanted.name,
                 wanted.index < 0 && backend->devices > 1
                     ? ", of whose devices the ranks of a node take turns"
                     : "");
    else
        meta_log(META_LOG_INFO, "this process computes on %s:%d: %s", backend->name, index,
                 mode == META_OPENMP ? "no GPU of this node can be used, so spread takes the CPU"
                                     : "spread deals the GPUs of a node to its ranks");
}

meta_err meta_job_device(meta_device **device)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&lock);
    if (!own) {
        meta_mode mode;
        int index;
        error = meta_job_choose(rank, node_rank, node_size, &mode, &index);
        if (error == META_OK) error = meta_device_find(index, mode, &own);
        if (error == META_OK) report(mode, index);
    }
    *device = own;
    pthread_mutex_unlock(&lock);
    return error;
}

int meta_job_rank(void)
{
    return rank;
}

int meta_job_size(void)
{
    return size;
}

void meta_job_place(int *of_node_rank, int *of_node_size)
{
    *of_node_rank = node_rank;
    *of_node_size = node_size;
}

void meta_job_forget(void)
{
    pthread_mutex_lock(&lock);
    own = NULL;
    rank = node_rank = 0;
    size = node_size = 1;
    meta_node_size_set(1);
    pthread_mutex_unlock(&lock);
    meta_deal_forget();
    meta_log_rank(0, false);
}

static meta_err check_job(int of_rank, int of_size, int of_node_rank, int of_node_size)
{
    if (of_size < 1) return meta_fail(META_ERR_ARGUMENT, "argument 'size' is %d", of_size);
    if (of_rank < 0 || of_rank >= of_size)
        return meta_fail(META_ERR_ARGUMENT, "argument 'rank' is %d of %d", of_rank, of_size);
    if (of_node_size < 1 || of_node_size > of_size)
        return meta_fail(META_ERR_ARGUMENT, "argument 'node_size' is %d of %d ranks", of_node_size,
                         of_size);
    if (of_node_rank < 0 || of_node_rank >= of_node_size)
        return meta_fail(META_ERR_ARGUMENT, "argument 'node_rank' is %d of %d", of_node_rank,
                         of_node_size);
    return META_OK;
}

meta_err meta_set_job(int of_rank, int of_size, int of_node_rank, int of_node_size)
{
    META_ENTER();
    META_TRY(check_job(of_rank, of_size, of_node_rank, of_node_size));
    if (meta_any_device_open())
        return meta_fail(META_ERR_STATE,
                         "a device is open already: say which process this is before "
                         "the first one is used");
    pthread_mutex_lock(&lock);
    rank = of_rank;
    size = of_size;
    node_rank = of_node_rank;
    node_size = of_node_size;
    meta_node_size_set(of_node_size);
    own = NULL;
    pthread_mutex_unlock(&lock);
    meta_log_rank(of_rank, of_size > 1);
    meta_log_open();
    return META_OK;
}

meta_err meta_rank_device(int of_rank, int of_size, int of_node_rank, int of_node_size,
                          meta_mode *mode, int *index, int *threads)
{
    meta_mode found_mode;
    int found_index;
    META_ENTER();
    META_TRY(check_job(of_rank, of_size, of_node_rank, of_node_size));
    META_TRY(meta_job_choose(of_rank, of_node_rank, of_node_size, &found_mode, &found_index));
    if (mode) *mode = found_mode;
    if (index) *index = found_index;
    if (threads) *threads = meta_threads_of(of_node_size);
    return META_OK;
}
