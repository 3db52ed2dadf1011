/* SPDX-License-Identifier: BSD-3-Clause */
/** @file topology.c
 *  The CPU cores this process may run on, and how many threads it should compute with. */
#include "device/device.h"

#include "base/secure.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

static pthread_once_t detected = PTHREAD_ONCE_INIT;
static meta_cores mine;
static int cores_mine;
static _Atomic int share;         /* set by libmeta_comm; 0: unset */
static _Atomic int processes = 1; /* on this node */
static _Atomic int requested;     /* META_THREADS or OMP_NUM_THREADS; 0: unset */

/* @return whether it was not in the set. */
static bool set_core(meta_cores *cores, unsigned number)
{
    const uint64_t bit = (uint64_t)1 << (number % 64);
    if (number >= META_MAX_CPUS || (cores->bits[number / 64] & bit)) return false;
    cores->bits[number / 64] |= bit;
    return true;
}

#ifdef HAVE_HWLOC
/* A number that all processes of the node agree on, even where each sees only some of the cores and
 * numbers those. */
static unsigned number_of(hwloc_obj_t core)
{
    return (unsigned)hwloc_bitmap_first(core->complete_cpuset);
}

static void detect_with_hwloc(void)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0 && allowed &&
            hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
            hwloc_obj_t core = NULL;
            while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL)
                if (hwloc_bitmap_intersects(core->cpuset, allowed))
                    cores_mine += set_core(&mine, number_of(core));
        }
        hwloc_topology_destroy(topology);
    }
    hwloc_bitmap_free(allowed);
}

/* A topology of its own: detecting I/O devices takes time that detect_with_hwloc() need not spend.
 */
bool meta_cores_near(const char *pci, meta_cores *cores)
{
    hwloc_topology_t topology;
    hwloc_obj_t device = NULL, core = NULL;
    if (!*pci || meta_is_secure() || hwloc_topology_init(&topology) != 0) return false;
    if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_load(topology) == 0)
        device = hwloc_get_pcidev_by_busidstring(topology, pci);
    if (device) {
        const hwloc_obj_t around = hwloc_get_non_io_ancestor_obj(topology, device);
        memset(cores, 0, sizeof *cores);
        while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL)
            if (hwloc_bitmap_intersects(core->cpuset, around->cpuset))
                set_core(cores, number_of(core));
    }
    hwloc_topology_destroy(topology);
    return device != NULL;
}
#else
bool meta_cores_near(const char *pci, meta_cores *cores)
{
    (void)pci, (void)cores;
    return false;
}
#endif

static void detect(void)
{
    cpu_set_t allowed;
#ifdef HAVE_HWLOC
    if (!meta_is_secure()) detect_with_hwloc(); /* it may load plugins that variables name */
#endif
    /* Without hwloc, or where it does not know the machine, hardware threads count as cores. */
    if (cores_mine == 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        for (unsigned k = 0; k < CPU_SETSIZE; ++k)
            if (CPU_ISSET(k, &allowed)) cores_mine += set_core(&mine, k);
    if (cores_mine == 0) cores_mine += set_core(&mine, 0);
}

void meta_cores_mine(meta_cores *cores)
{
    pthread_once(&detected, detect);
    *cores = mine;
}

static meta_err read_count(const char *name, bool strict)
{
    const char *text = meta_variable(name);
    char *end;
    if (!text || requested) return META_OK;
    errno = 0;
    const long count = strtol(text, &end, 10);
    if (!strict) end += strspn(end, " \t\n\v\f\r");
    /* OMP_NUM_THREADS may be a list, one number for each nesting level. */
    if (errno || end == text || count < 1 || count > META_MAX_CPUS ||
        (*end && (strict || *end != ','))) {
        if (strict)
            return meta_fail(META_ERR_ENVIRONMENT, "%s=%s: give a whole number from 1 to %d", name,
                             text, META_MAX_CPUS);
        meta_log(META_LOG_WARN,
                 "%s=%s does not begin with a whole number from 1 to %d, and does not count", name,
                 text, META_MAX_CPUS);
        return META_OK;
    }
    requested = (int)count;
    return META_OK;
}

meta_err meta_threads_read(void)
{
    requested = 0;
    share = 0;
    META_TRY(read_count("META_THREADS", true));
    return read_count("OMP_NUM_THREADS", false);
}

void meta_threads_set(int threads)
{
    share = threads;
}

int meta_threads_of(int node_size)
{
    if (requested) return requested;
    pthread_once(&detected, detect);
    return cores_mine > node_size ? cores_mine / (node_size > 0 ? node_size : 1) : 1;
}

int meta_threads(void)
{
    if (requested) return requested;
    return share ? share : meta_threads_of(processes);
}

void meta_node_size_set(int size)
{
    processes = size;
}
