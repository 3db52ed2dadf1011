/* SPDX-License-Identifier: BSD-3-Clause */
/** @file deal.c
 *  Distributing a node's devices over its ranks: evenly, and near a rank's cores where it is bound
 * to some. Every rank computes the whole distribution for itself. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The cores of each rank of this node, by node-local rank; set before the first device is opened.
 */
static meta_cores *known;
static int ranks_known;

meta_err meta_deal_cores(const meta_cores *cores, int ranks)
{
    const size_t bytes = (size_t)ranks * sizeof *cores;
    meta_cores *copy = malloc(bytes);
    if (!copy) return meta_fail(META_ERR_NO_MEMORY, "no memory for the cores of %d ranks", ranks);
    memcpy(copy, cores, bytes);
    pthread_mutex_lock(&lock);
    free(known);
    known = copy;
    ranks_known = ranks;
    pthread_mutex_unlock(&lock);
    return META_OK;
}

void meta_deal_forget(void)
{
    pthread_mutex_lock(&lock);
    free(known);
    known = NULL;
    ranks_known = 0;
    pthread_mutex_unlock(&lock);
}

/* The device of rank @p of. Ranks choose in turn: the nearest device that may take another rank, of
 * equally near ones the one with the fewest ranks, then the first. Each device takes ranks/devices
 * of them, and as many devices as the remainder says one more. */
static int deal(const meta_cores *near, int devices, const meta_cores *cores, int ranks, int of,
                int *load)
{
    const int each = ranks / devices;
    int larger = 0, chosen = 0;
    for (int r = 0; r <= of; ++r) {
        int common = -1;
        for (int d = 0; d < devices; ++d) {
            int here = 0;
            for (int k = 0; k < META_MAX_CPUS / 64; ++k)
                here += __builtin_popcountll(near[d].bits[k] & cores[r].bits[k]);
            if (load[d] > each || (load[d] == each && larger >= ranks % devices)) continue;
            if (here > common || (here == common && load[d] < load[chosen]))
                common = here, chosen = d;
        }
        larger += load[chosen]++ == each;
    }
    return chosen;
}

static bool find_near(const meta_backend *backend, int devices, meta_cores *near)
{
    for (int d = 0; d < devices; ++d) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        if (meta_device_describe(backend->device[d], &desc) != META_OK) return false;
        if (!meta_cores_near(desc.pci, &near[d])) return false;
    }
    return true;
}

int meta_deal(const meta_backend *backend, int devices, int node_rank, int node_size)
{
    int chosen = node_rank % devices;
    bool differ = false;
    if (devices == 1) return 0;
    pthread_mutex_lock(&lock);
    /* Where all ranks may run on the same cores, none is nearer to a device than another. */
    for (int r = 1; r < ranks_known; ++r)
        differ = differ || memcmp(&known[0], &known[r], sizeof *known) != 0;
    if (ranks_known == node_size && differ) {
        meta_cores *near = calloc((size_t)devices, sizeof *near);
        int *load = calloc((size_t)devices, sizeof *load);
        if (near && load && find_near(backend, devices, near))
            chosen = deal(near, devices, known, node_size, node_rank, load);
        free(near);
        free(load);
    }
    pthread_mutex_unlock(&lock);
    return chosen;
}
