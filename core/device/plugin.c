/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plugin.c
 *  The back ends: finding their modules, validating and loading them, and for each the reason why
 * it is not usable. */
#include "device/device.h"

#include "base/module.h"
#include "base/secure.h"
#include "cache/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KNOWN = 4, MOST = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static meta_backend backends[MOST];
static int count;      /* of backends, 0 before the known ones are listed */
static bool all_found; /* every folder has been listed */

const meta_plugin *meta_automatic;
static pthread_mutex_t automatic_lock = PTHREAD_MUTEX_INITIALIZER;
static meta_backend automatic = {.name = "auto", .mode = META_AUTO};
_Thread_local meta_device *meta_ran_on;
_Thread_local bool meta_waits_at_once;

static _Atomic bool timing_wanted;

void meta_timing_want(bool want)
{
    timing_wanted = want;
}

/* Whether plugins should record times for their work. */
static int timing(void)
{
    return meta_profiled() || timing_wanted;
}

static const meta_host host = {
    .size = sizeof host,
    .fail = meta_fail,
    .log = meta_log,
    .threads = meta_threads,
    .variable = meta_variable,
    .timing = timing,
    .cached = meta_cached_code,
    .addresses_take = meta_addresses_take,
    .addresses_give = meta_addresses_give,
};

const meta_host *meta_plugin_host(void)
{
    return &host;
}

/* Whether code at @p path, which META_BACKEND_PATH named, can be changed by users beyond its owner
 * and the group of this process. */
static bool is_open_to_others(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) return false;
    const bool is_open =
        (about.st_mode & S_IWOTH) || ((about.st_mode & S_IWGRP) && about.st_gid != getegid());
    if (is_open)
        meta_log(META_LOG_WARN,
                 "META_BACKEND_PATH: no back end is loaded from %s: others can write to it "
                 "(mode %03o): chmod go-w",
                 path, (unsigned)about.st_mode & 0777);
    return is_open;
}

/* Called for each folder to search, in order, until it returns true; @p is_named: by
 * META_BACKEND_PATH. */
typedef bool folder_visit(const char *folder, bool is_named, void *context);

static bool each_folder(folder_visit *visit, void *context)
{
    const char *path = meta_variable("META_BACKEND_PATH");
    char folder[PATH_MAX], beside[PATH_MAX + 16], *slash;
    Dl_info info;
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, path);
        if (length > 0 && !is_open_to_others(folder) && visit(folder, true, context)) return true;
        path += length + (path[length] == ':');
    }
    /* Beside libmeta.so itself. */
    if (dladdr((void *)(uintptr_t)&meta_backend_named, &info) && info.dli_fname &&
        realpath(info.dli_fname, folder) && (slash = strrchr(folder, '/'))) {
        *slash = '\0';
        snprintf(beside, sizeof beside, "%s/libmeta", folder);
        if (visit(beside, false, context)) return true;
    }
    return visit(META_PLUGIN_DIR, false, context);
}

/* ------------------------------------------------------------------ opening one */

static bool in_folder(const char *folder, bool is_named, void *context)
{
    meta_backend *backend = context;
    const int length =
        snprintf(backend->path, sizeof backend->path, "%s/%s.so", folder, backend->name);
    if (length > 0 && (size_t)length < sizeof backend->path &&
        faccessat(AT_FDCWD, backend->path, F_OK, AT_EACCESS) == 0 &&
        !(is_named && is_open_to_others(backend->path)))
        return true;
    backend->path[0] = '\0';
    return false;
}

/* The first mandatory function that a table lacks; NULL where it is complete. */
static const char *missing(const meta_ops *ops)
{
#define NEED(member)                                                                               \
    if (!ops->member) return #member
    NEED(device_count);
    NEED(device_info);
    NEED(open);
    NEED(close);
    NEED(state);
    NEED(alloc);
    NEED(free);
    NEED(wrap);
    NEED(unwrap);
    if (ops->host_alloc) NEED(host_free);
    NEED(kernel_create);
    NEED(queue_create);
    NEED(queue_destroy);
    NEED(queue_finish);
    NEED(queue_after);
    NEED(queue_wait);
    NEED(copy);
    NEED(launch);
    NEED(ticket_test);
    NEED(ticket_wait);
    NEED(ticket_release);
    if (ops->stamp_read) NEED(stamp_release);
#undef NEED
    return NULL;
}

static meta_err reason_abi(meta_backend *backend, unsigned built_for)
{
    snprintf(backend->reason, sizeof backend->reason,
             "it was built for plugin ABI %u, this libmeta has ABI %u: rebuild it", built_for,
             META_PLUGIN_ABI_MAJOR);
    return META_ERR_PLUGIN;
}

static bool abi_fits(const meta_plugin *plugin, meta_backend *backend)
{
    char *reason = backend->reason;
    const size_t room = sizeof backend->reason;
    if (plugin->magic != META_PLUGIN_MAGIC)
        snprintf(reason, room, "its meta_plugin_v2 is not a libmeta plugin");
    else if (plugin->abi_major != META_PLUGIN_ABI_MAJOR) reason_abi(backend, plugin->abi_major);
    else if (plugin->size < META_LEAST(meta_plugin, ops) || !plugin->ops ||
             plugin->ops->size < META_LEAST(meta_ops, stamp_release))
        snprintf(reason, room, "its tables are smaller than ABI %u.0 asks for: rebuild it",
                 META_PLUGIN_ABI_MAJOR);
    else if (!plugin->name || strcmp(plugin->name, backend->name) != 0)
        snprintf(reason, room, "the module calls itself '%.31s'",
                 plugin->name ? plugin->name : "nothing");
    else if (!plugin->init) snprintf(reason, room, "it has no init function");
    else if (missing(plugin->ops))
        snprintf(reason, room, "its table lacks the function %s", missing(plugin->ops));
    else return true;
    return false;
}

/* @return the error of a request for the back end, should it turn out not to be usable: what the
 * loader cannot open may lack a driver's library, anything else is a fault of the module. */
static meta_err open_module(meta_backend *backend)
{
    if (meta_is_secure() && backend->mode != META_OPENMP) {
        snprintf(backend->reason, sizeof backend->reason,
                 "a process with more rights than the user who started it loads no driver, since "
                 "the environment says which code a driver loads");
        return META_ERR_NO_DEVICE;
    }
    if (!meta_module_whole(backend->path, backend->reason, sizeof backend->reason))
        return META_ERR_PLUGIN;
    void *module = dlopen(backend->path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        snprintf(backend->reason, sizeof backend->reason, "%s", dlerror());
        return META_ERR_NO_DEVICE;
    }
    /* Never closed, even when refused: its runtime may have started threads. */
    const meta_plugin *plugin = dlsym(module, "meta_plugin_v2");
    if (!plugin && dlsym(module, "meta_plugin_v1")) return reason_abi(backend, 1);
    if (!plugin) {
        snprintf(backend->reason, sizeof backend->reason, "it has no symbol meta_plugin_v2");
        return META_ERR_PLUGIN;
    }
    if (!abi_fits(plugin, backend)) return META_ERR_PLUGIN;
    backend->plugin = plugin;
    return META_ERR_NO_DEVICE;
}

static void count_devices(meta_backend *backend)
{
    const size_t known = backend->plugin->ops->size;
    memcpy(&backend->ops, backend->plugin->ops,
           known < sizeof backend->ops ? known : sizeof backend->ops);
    if (!backend->started && backend->plugin->init(&host) != META_OK) {
        snprintf(backend->reason, sizeof backend->reason, "%s", meta_last_error_cause());
        return;
    }
    backend->started = true;
    snprintf(backend->reason, sizeof backend->reason, "it has no device");
    backend->devices = backend->ops.device_count(backend->reason, sizeof backend->reason);
    /* Its driver may have threads from now on; OpenMP has none before it computes. */
    if (backend->devices > 0 && backend->mode != META_OPENMP && backend->mode < META_AUTO)
        meta_computes();
    bool made = backend->devices == 0 ||
                (backend->devices > 0 &&
                 (backend->device = calloc((size_t)backend->devices, sizeof *backend->device)));
    for (int k = 0; made && k < backend->devices; ++k)
        made = (backend->device[k] = meta_device_new(backend, k)) != NULL;
    if (!made) {
        for (int k = 0; backend->device && k < backend->devices; ++k)
            meta_device_free(backend->device[k]);
        free(backend->device);
        backend->device = NULL;
        backend->devices = 0;
        backend->error = META_ERR_NO_MEMORY;
        snprintf(backend->reason, sizeof backend->reason, "the host is out of memory");
    }
    backend->usable = backend->devices > 0;
    if (backend->usable) backend->reason[0] = '\0';
}

/* Find, load and start a back end, once in a life of the library, or again where there was no
 * memory. With the lock held. */
static void probe(meta_backend *backend)
{
    if (backend->probed && backend->error != META_ERR_NO_MEMORY) return;
    backend->probed = true;
    backend->error = META_ERR_NO_DEVICE;
    backend->reason[0] = '\0';
    if (!backend->plugin) {
        if (!each_folder(in_folder, backend)) {
            snprintf(backend->reason, sizeof backend->reason,
                     "no module %s.so was found (not built or not installed)", backend->name);
            return;
        }
        backend->error = open_module(backend);
    }
    if (backend->plugin) count_devices(backend);
    meta_log(META_LOG_INFO, "back end %s: %s%s", backend->name,
             !backend->usable ? "not usable: "
             : *backend->path ? backend->path
                              : "part of libmeta",
             backend->reason);
}

/* ------------------------------------------------------------------ the list of them */

static meta_backend *add(const char *name, meta_mode mode)
{
    if (count == MOST) {
        meta_log(META_LOG_WARN, "there are more than %d back ends: some are left out", MOST);
        return NULL;
    }
    meta_backend *backend = &backends[count++];
    snprintf(backend->name, sizeof backend->name, "%s", name);
    backend->mode = mode;
    return backend;
}

static meta_backend *listed(const char *name)
{
    if (count == 0) {
        add("openmp", META_OPENMP);
        add("opencl", META_OPENCL);
        add("cuda", META_CUDA);
        add("hip", META_HIP);
    }
    for (int k = 0; k < count; ++k)
        if (strcmp(backends[k].name, name) == 0) return &backends[k];
    return NULL;
}

static meta_backend *listed_or_new(const char *name)
{
    meta_backend *backend = listed(name);
    return backend ? backend : add(name, META_FIRST_PLUGIN + count - KNOWN);
}

static bool list_folder(const char *folder, bool is_named, void *context)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    (void)is_named, (void)context;
    while (entries && (entry = readdir(entries)) != NULL) {
        char name[sizeof backends->name];
        const size_t length = strlen(entry->d_name);
        if (length <= 3 || strcmp(entry->d_name + length - 3, ".so") != 0) continue;
        if (length - 3 >= sizeof name) {
            meta_log(META_LOG_WARN,
                     "%s/%s is left out: a back end's name has at most %zu characters", folder,
                     entry->d_name, sizeof name - 1);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(length - 3), entry->d_name);
        listed_or_new(name);
    }
    if (entries) closedir(entries);
    return false;
}

/* Its devices are those of the others, which it looks for. */
static meta_backend *probed_automatic(void)
{
    pthread_mutex_lock(&automatic_lock);
    if (automatic.plugin != meta_automatic) automatic.plugin = meta_automatic; /* others read it */
    probe(&automatic);
    pthread_mutex_unlock(&automatic_lock);
    return &automatic;
}

/* The library's own name that @p name is in capital letters, or @p name. */
static const char *own_name(const char *name)
{
    static const char *const own[] = {"auto", "openmp", "opencl", "cuda", "hip"};
    const size_t length = strlen(name);
    for (size_t k = 0; k < sizeof own / sizeof *own; ++k)
        if (strlen(own[k]) == length && meta_same_word(name, own[k], length)) return own[k];
    return name;
}

meta_backend *meta_backend_named(const char *name)
{
    name = own_name(name);
    if (strcmp(name, automatic.name) == 0) return probed_automatic();
    pthread_mutex_lock(&lock);
    meta_backend *backend = listed(name);
    if (!backend) {
        /* A plugin of this name may lie in one of the folders. */
        meta_backend candidate = {0};
        if (strlen(name) < sizeof candidate.name && *name && !strchr(name, '/')) {
            snprintf(candidate.name, sizeof candidate.name, "%s", name);
            if (each_folder(in_folder, &candidate)) backend = listed_or_new(name);
        }
    }
    if (backend) probe(backend);
    pthread_mutex_unlock(&lock);
    return backend;
}

meta_backend *meta_backend_of(meta_mode mode)
{
    meta_backend *found = NULL;
    if (mode == META_AUTO) return probed_automatic();
    pthread_mutex_lock(&lock);
    listed("");
    for (int k = 0; k < count && !found; ++k)
        if (backends[k].mode == mode) found = &backends[k];
    if (found) probe(found);
    pthread_mutex_unlock(&lock);
    return found;
}

int meta_backends(void)
{
    pthread_mutex_lock(&lock);
    listed("");
    if (!all_found) each_folder(list_folder, NULL);
    all_found = true;
    for (int k = 0; k < count; ++k) probe(&backends[k]);
    const int found = count;
    pthread_mutex_unlock(&lock);
    return found;
}

meta_backend *meta_backend_at(int index)
{
    return index >= 0 && index < meta_backends() ? &backends[index] : NULL;
}

static void close_backend(meta_backend *backend)
{
    for (int d = 0; d < backend->devices; ++d) meta_device_free(backend->device[d]);
    free(backend->device);
    backend->device = NULL;
    backend->devices = 0;
    if (backend->started && backend->plugin->fini) backend->plugin->fini();
    backend->probed = backend->usable = backend->started = false;
}

void meta_backends_close(void)
{
    close_backend(&automatic); /* before the devices that it stands for */
    pthread_mutex_lock(&lock);
    for (int k = 0; k < count; ++k) close_backend(&backends[k]);
    all_found = false;
    pthread_mutex_unlock(&lock);
}

meta_err meta_device_find(int index, meta_mode mode, meta_device **device)
{
    const meta_backend *backend = meta_backend_of(mode);
    if (!backend)
        return meta_fail(META_ERR_ARGUMENT, "argument 'mode' is %d, which is no back end's", mode);
    if (!backend->usable)
        return meta_fail(backend->error, "the back end %s is not usable: %s", backend->name,
                         backend->reason);
    if (index < 0 || index >= backend->devices)
        return meta_fail(META_ERR_NO_DEVICE, "argument 'index' is %d, but %s has %d device%s",
                         index, backend->name, backend->devices, backend->devices == 1 ? "" : "s");
    *device = backend->device[index];
    return META_OK;
}

/* ------------------------------------------------------------------ public */

meta_err meta_backend_count(int *number)
{
    META_ENTER();
    if (!number) return meta_fail(META_ERR_ARGUMENT, "argument 'count' is NULL");
    *number = meta_backends();
    return META_OK;
}

meta_err meta_backend_info(int index, meta_backend_desc *desc)
{
    META_ENTER();
    META_NEED_DESC(desc, path, META_BACKEND_DESC_INIT);
    const meta_backend *backend = meta_backend_at(index);
    if (!backend)
        return meta_fail(META_ERR_ARGUMENT, "argument 'index' is %d, there are %d back ends", index,
                         meta_backends());
    meta_backend_desc found = {
        .mode = backend->mode, .usable = backend->usable, .devices = backend->devices};
    snprintf(found.name, sizeof found.name, "%s", backend->name);
    snprintf(found.description, sizeof found.description, "%s",
             backend->plugin && backend->plugin->description ? backend->plugin->description : "");
    snprintf(found.reason, sizeof found.reason, "%s", backend->reason);
    snprintf(found.path, sizeof found.path, "%s", backend->path);
    meta_sized_put(desc, &found, sizeof found);
    return META_OK;
}

meta_err meta_mode_find(const char *name, meta_mode *mode)
{
    static const struct {
        const char *name;
        meta_mode mode;
    } words[] = {{"spread", META_SPREAD}, {"openmp", META_OPENMP}, {"opencl", META_OPENCL},
                 {"cuda", META_CUDA},     {"hip", META_HIP},       {"auto", META_AUTO}};
    META_ENTER();
    META_NEED(name);
    META_NEED(mode);
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
        if (strcmp(name, words[k].name) == 0) return *mode = words[k].mode, META_OK;
    const meta_backend *backend = meta_backend_named(name);
    if (!backend)
        return meta_fail(META_ERR_NO_DEVICE,
                         "argument 'name' is \"%s\": no back end of that name "
                         "was found (meta-info lists them)",
                         name);
    *mode = backend->mode;
    return META_OK;
}
