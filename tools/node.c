/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node.c
 *  The node's topology, from hwloc, which also reads that of another machine: HWLOC_XMLFILE,
 *  HWLOC_SYNTHETIC. */
#include "config.h"

#include "node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

/* Memory for @p count more elements of an array that may be NULL. */
static void *grow(void *array, int count, size_t bytes)
{
    void *larger = realloc(array, (size_t)count * bytes);
    if (larger != NULL) return larger;
    fputs("meta-info: --draw: no memory for the node's cores\n", stderr);
    exit(2);
}

static int add_domain(node *n, int package, const char *memory)
{
    n->domains = grow(n->domains, n->domain_count + 1, sizeof *n->domains);
    node_domain *d = &n->domains[n->domain_count];
    *d = (node_domain){.package = package};
    snprintf(d->memory, sizeof d->memory, "%s", memory);
    return n->domain_count++;
}

static void add_core(node_domain *d, int number, bool is_excluded)
{
    d->cores = grow(d->cores, d->core_count + 1, sizeof *d->cores);
    d->is_excluded = grow(d->is_excluded, d->core_count + 1, sizeof *d->is_excluded);
    d->cores[d->core_count] = number;
    d->is_excluded[d->core_count++] = is_excluded;
}

#ifdef HAVE_HWLOC
static hwloc_topology_t topology;

/* The NUMA nodes that have @p core: "NUMA node 0, 62.8 GiB; NUMA node 4, 16.0 GiB". */
static void describe_memory(hwloc_obj_t core, char *text, size_t room)
{
    hwloc_obj_t numa = NULL;
    *text = '\0';
    while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != NULL) {
        const double memory = (double)numa->attr->numanode.local_memory;
        const size_t used = strlen(text);
        char size[32] = "";
        if (!hwloc_bitmap_isincluded(core->cpuset, numa->cpuset)) continue;
        if (memory > 0) snprintf(size, sizeof size, ", %.1f GiB", memory / 0x1p30);
        snprintf(text + used, room - used, "%sNUMA node %u%s", used > 0 ? "; " : "", numa->os_index,
                 size);
    }
}

static int domain_of(node *n, hwloc_obj_t core)
{
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
    const int number = package != NULL ? (int)package->logical_index : -1;
    char memory[sizeof n->domains->memory];
    describe_memory(core, memory, sizeof memory);
    for (int d = 0; d < n->domain_count; ++d)
        if (n->domains[d].package == number && strcmp(n->domains[d].memory, memory) == 0) return d;
    return add_domain(n, number, memory);
}

static void find_cores(node *n)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    const bool is_known = allowed != NULL && hwloc_topology_is_thissystem(topology) &&
                          hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0;
    /* Virtual machines may have threads only. */
    const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
    const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(topology, type, core)) != NULL) {
        const int domain = domain_of(n, core); /* which may move the domains */
        add_core(&n->domains[domain], hwloc_bitmap_first(core->complete_cpuset),
                 is_known && !hwloc_bitmap_intersects(core->cpuset, allowed));
    }
    hwloc_bitmap_free(allowed);
}

/* The domain that all cores near the device at @p pci are in. */
static int domain_near(const node *n, const char *pci)
{
    const hwloc_obj_t device = *pci != '\0' ? hwloc_get_pcidev_by_busidstring(topology, pci) : NULL;
    if (device == NULL) return -1;
    const hwloc_obj_t around = hwloc_get_non_io_ancestor_obj(topology, device);
    int found = -1;
    for (int d = 0; d < n->domain_count; ++d)
        for (int k = 0; k < n->domains[d].core_count; ++k) {
            const unsigned core = (unsigned)n->domains[d].cores[k];
            if (!hwloc_bitmap_isset(around->complete_cpuset, core)) continue;
            if (found >= 0 && found != d) return -1;
            found = d;
        }
    return found;
}

/* hwloc takes this machine where it cannot read another one that it is told to. */
static const char *unread_variable(void)
{
    static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC"};
    if (!hwloc_topology_is_thissystem(topology) || getenv("HWLOC_THISSYSTEM") != NULL) return NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (getenv(names[k]) != NULL && *getenv(names[k]) != '\0') return names[k];
    return NULL;
}

bool node_find_domains(node *n, char *why, size_t room)
{
    if (hwloc_topology_init(&topology) != 0 ||
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
        hwloc_topology_load(topology) != 0) {
        snprintf(why, room, "hwloc cannot read the machine's topology: %s", strerror(errno));
        return false;
    }
    const char *variable = unread_variable();
    if (variable != NULL) {
        snprintf(why, room, "hwloc has not read the topology of %s=%s", variable, getenv(variable));
        hwloc_topology_destroy(topology);
        return false;
    }
    find_cores(n);
    for (int d = 0; d < n->device_count; ++d)
        n->devices[d].domain = domain_near(n, n->devices[d].desc.pci);
    hwloc_topology_destroy(topology);
    return true;
}
#else
bool node_find_domains(node *n, char *why, size_t room)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    (void)why, (void)room;
    add_domain(n, -1, "");
    for (long k = 0; k < count; ++k) add_core(n->domains, (int)k, false);
    for (int d = 0; d < n->device_count; ++d) n->devices[d].domain = -1;
    return true;
}
#endif

void node_free(node *n)
{
    for (int d = 0; d < n->domain_count; ++d) {
        free(n->domains[d].cores);
        free(n->domains[d].is_excluded);
    }
    free(n->domains);
    free(n->devices);
    free(n->ranks);
    *n = (node){.domains = NULL};
}

/* ------------------------------------------------------------------ words */

void node_name_device(const node_device *d, char *text, size_t room)
{
    snprintf(text, room, "%s:%d", d->desc.backend, d->desc.index);
}

void node_name_rank(const node_rank *r, char *text, size_t room)
{
    if (r->device < 0) snprintf(text, room, "rank %d: %s", r->rank, r->text);
    else
        snprintf(text, room, "rank %d, %d CPU %s", r->rank, r->threads,
                 r->threads == 1 ? "thread" : "threads");
}

void node_describe_device(const node_device *d, char *text, size_t room)
{
    snprintf(text, room, "%.1f GiB, %d compute %s, %s%s%s", (double)d->desc.memory / 0x1p30,
             d->desc.compute_units, d->desc.compute_units == 1 ? "unit" : "units",
             d->desc.is_gpu    ? "GPU"
             : d->desc.is_host ? "host memory"
                               : "own memory",
             *d->desc.pci != '\0' ? ", at " : "", d->desc.pci);
}

int node_packages(const node *n)
{
    int most = 0;
    for (int d = 0; d < n->domain_count; ++d)
        if (n->domains[d].package >= most) most = n->domains[d].package + 1;
    return most;
}

void node_describe(const node *n, char *text, size_t room)
{
    int cores = 0;
    for (int d = 0; d < n->domain_count; ++d) cores += n->domains[d].core_count;
    const int packages = node_packages(n);
    const int used = snprintf(text, room, "%d %s", cores, cores == 1 ? "core" : "cores");
    snprintf(text + used, room - (size_t)used, " in %d %s, %d %s; %d of %d %s on this node",
             packages, packages == 1 ? "package" : "packages", n->device_count,
             n->device_count == 1 ? "device" : "devices", n->rank_count, n->job_ranks,
             n->job_ranks == 1 ? "rank" : "ranks");
}
