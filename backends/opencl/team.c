/* SPDX-License-Identifier: BSD-3-Clause */
/** @file team.c
 *  Kernels of teams: whether the device has room for one, and how many work groups compute them. On
 * a CPU a work group is one work item, which computes whole teams. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "opencl.h"

/* Groups per compute unit, as many as of other kernels; a CPU's are not for less than so many
 * cells. */
enum { CPU_GROUPS = 8, CPU_LEAST_CELLS = 4096, GPU_GROUPS = 64 };
/* What members contribute to exact sums lies on the stack of the thread that runs a work item. */
enum { CPU_CONTRIBUTIONS = 1 << 20 };

static meta_err check_items(const ocl_about *about, const meta_kernel *kernel)
{
    const uint32_t items = meta_team_items(kernel->team);
    const size_t most = about->group < about->sides[0] ? about->group : about->sides[0];
    if (items <= most) return META_OK;
    return ocl_host->fail(META_ERR_UNSUPPORTED,
                          "kernel %s: a team has %u members, which takes %u work items, but a work "
                          "group of OpenCL device %s has at most %zu: use smaller teams",
                          kernel->name, (unsigned)meta_team_members(kernel->team), (unsigned)items,
                          about->name, most);
}

static meta_err check_memory(const ocl_about *about, const meta_kernel *kernel, uint32_t sums)
{
    cl_ulong room = 0;
    const uint64_t own = meta_team_bytes(kernel->team), of_sums = sums * (uint64_t)OCL_SHARED_BYTES;
    const uint64_t of_others = meta_team_bytes_all(kernel) - own; /* in the same memory, later */
    const uint64_t bytes = own + (of_sums > of_others ? of_sums : of_others);
    OCL_TRY(clGetDeviceInfo(about->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof room, &room, NULL),
            "clGetDeviceInfo(CL_DEVICE_LOCAL_MEM_SIZE)");
    if (bytes <= room) return META_OK;
    return ocl_host->fail(META_ERR_UNSUPPORTED,
                          "kernel %s: a team needs %" PRIu64
                          " bytes of shared memory%s, but OpenCL "
                          "device %s has %" PRIu64 ": use smaller teams or share less",
                          kernel->name, bytes, sums ? " with its reproducible sums" : "",
                          about->name, (uint64_t)room);
}

static meta_err check_f64(const ocl_about *about, const meta_kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->team->shareds && !about->has_f64; ++k)
        if (strcmp(kernel->team->shared[k].type_name, "double") == 0)
            return ocl_host->fail(
                META_ERR_TYPE,
                "kernel %s: shared memory '%s' is of double, but OpenCL device %s "
                "computes without double precision",
                kernel->name, kernel->team->shared[k].name, about->name);
    return META_OK;
}

static meta_err check_contributions(const ocl_about *about, const meta_kernel *kernel,
                                    uint32_t sums)
{
    const uint64_t bytes = sums * (uint64_t)meta_team_members(kernel->team) * sizeof(cl_double);
    if (bytes <= CPU_CONTRIBUTIONS) return META_OK;
    return ocl_host->fail(META_ERR_UNSUPPORTED,
                          "kernel %s: what the %u members of a team contribute to %u reproducible "
                          "sums takes %" PRIu64 " bytes, but on OpenCL device %s at most %d are "
                          "possible: use smaller teams",
                          kernel->name, (unsigned)meta_team_members(kernel->team), (unsigned)sums,
                          bytes, about->name, (int)CPU_CONTRIBUTIONS);
}

meta_err ocl_team_check(const meta_plugin_device *device, const meta_kernel *kernel, uint32_t sums)
{
    META_TRY(check_f64(&device->about, kernel));
    if (device->about.is_cpu) return check_contributions(&device->about, kernel, sums);
    META_TRY(check_items(&device->about, kernel));
    return check_memory(&device->about, kernel, sums);
}

meta_err ocl_team_check_built(const meta_plugin_device *device, const meta_plugin_kernel *kernel)
{
    const uint32_t items = meta_team_items(kernel->team);
    if (device->about.is_cpu || items <= kernel->group) return META_OK;
    return ocl_host->fail(
        META_ERR_UNSUPPORTED,
        "kernel %s: a team takes %u work items, but what it computes leaves a work "
        "group of OpenCL device %s only %zu: use smaller teams",
        kernel->name, (unsigned)items, device->about.name, kernel->group);
}

void ocl_team_shape(const ocl_about *about, const meta_kernel_team *team, const meta_space *space,
                    uint64_t most, size_t *groups, size_t *items)
{
    const uint64_t teams = (uint64_t)meta_team_count_all(team, space);
    uint64_t wanted = (uint64_t)about->units * (about->is_cpu ? CPU_GROUPS : GPU_GROUPS);
    if (about->is_cpu) {
        const uint64_t cells = (uint64_t)space->rows * (uint64_t)space->extent[0];
        const uint64_t worth = (cells + CPU_LEAST_CELLS - 1) / CPU_LEAST_CELLS;
        if (wanted > worth) wanted = worth;
    }
    if (wanted > most) wanted = most;
    *groups = (size_t)(wanted < teams ? wanted : teams);
    *items = about->is_cpu ? 1 : meta_team_items(team);
}
