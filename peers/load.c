/* SPDX-License-Identifier: BSD-3-Clause */
/** @file load.c
 *  Finds and opens the peer of a back end. */
#include "config.h"

#include "load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/module.h"
#include "common.h"

/* The description of the back end of @p mode. */
static int find_backend(meta_mode mode, meta_backend_desc *desc, char *reason, size_t room)
{
    int count = 0;
    if (meta_backend_count(&count) != META_OK)
        return peer_fail(reason, room, "%s", meta_last_error());
    for (int k = 0; k < count; ++k) {
        *desc = (meta_backend_desc)META_BACKEND_DESC_INIT;
        if (meta_backend_info(k, desc) == META_OK && desc->mode == mode) return 0;
    }
    return peer_fail(reason, room, "no back end has the mode %d", mode);
}

/* The module is in peers/ next to the plugin. */
static int path_of(const meta_backend_desc *desc, char *path, char *reason, size_t room)
{
    const char *slash = strrchr(desc->path, '/');
    const int folder = slash ? (int)(slash - desc->path) : 1;
    snprintf(path, PATH_MAX, "%.*s/peers/%s.so", folder, slash ? desc->path : ".", desc->name);
    if (!desc->usable)
        return peer_fail(reason, room, "back end %s is not usable: %s", desc->name, desc->reason);
    if (access(path, F_OK) != 0)
        return peer_fail(reason, room,
                         "back end %s has no peer, the module that drives its device by the "
                         "vendor's libraries: there is no file %s; install libmeta anew, or take "
                         "a back end that is libmeta's own",
                         desc->name, path);
    return 0;
}

static const meta_peer_table *open_module(const char *path, char *reason, size_t room)
{
    char damage[256];
    if (!meta_module_whole(path, damage, sizeof damage)) {
        peer_fail(reason, room, "the peer %s cannot be opened: %s; install libmeta anew", path,
                  damage);
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        peer_fail(reason, room,
                  "the peer %s cannot be opened: %s; install the library that it names, or "
                  "give its folder in LD_LIBRARY_PATH",
                  path, dlerror());
        return NULL;
    }
    /* Never closed: the vendors' libraries may have started threads. */
    const meta_peer_table *table = dlsym(module, META_PEER_SYMBOL);
    if (table && table->size >= sizeof *table) return table;
    peer_fail(reason, room, "%s is no peer of this version of libmeta: install libmeta anew", path);
    return NULL;
}

const meta_peer_table *peer_open(meta_mode mode, int index, meta_peer **peer, char *reason,
                                 size_t room)
{
    char path[PATH_MAX];
    meta_backend_desc backend;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_state state = META_STATE_INIT;
    if (mode == META_AUTO) {
        peer_fail(reason, room,
                  "a peer drives one device, and META_MODE=auto chooses one for each call: to "
                  "compare with a peer, name a back end, as in META_MODE=openmp");
        return NULL;
    }
    if (find_backend(mode, &backend, reason, room) != 0) return NULL;
    if (path_of(&backend, path, reason, room) != 0) return NULL;
    const meta_peer_table *table = open_module(path, reason, room);
    if (!table) return NULL;
    if (meta_device_info(index, mode, &device) != META_OK ||
        meta_get_state(index, mode, &state) != META_OK) {
        peer_fail(reason, room, "%s", meta_last_error());
        return NULL;
    }
    const int threads = device.is_host ? device.compute_units : 0;
    return table->open(&state, index, threads, peer, reason, room) == 0 ? table : NULL;
}
