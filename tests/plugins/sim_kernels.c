/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sim_kernels.c
 *  Kernels of simulated devices, which run on the calling thread: built-in ones by
 * meta_host_kernels.h, the program's by the OpenMP back end's user.c, teams.c and extremes.c, to
 * which this file is the rest of that back end. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/access.h"
#include "openmp/stream.h"
#include "openmp/sweep.h"

#include "meta_host_kernels.h"

#include "openmp/user_exact.h"

/* openmp_user_run() takes a kernel object for its first member. */
typedef struct sim_kernel {
    openmp_kernel openmp;
    meta_plugin_kernel *builtin; /* NULL: of the program's */
    bool has_run;
} sim_kernel;

static sim_kernel *kernel_of(const meta_call *call)
{
    return (sim_kernel *)(void *)call->kernel;
}

/* ------------------------------------------------------------------ what user.c needs */

const meta_host *openmp_host;

static const openmp_exact exact = {sizeof(meta_exact_sum), exact_begin, exact_take, exact_end};

int openmp_threads_for(meta_i64 work, meta_i64 least)
{
    (void)work, (void)least;
    return 1;
}

meta_kernel_function *openmp_finish_of(uint32_t combine, uint32_t type)
{
    return meta_host_kernel_of(meta_reduction_of(combine), type).finish;
}

void openmp_combine(meta_kernel_function *finish, char *results, size_t apart, size_t width,
                    int threads, int each, const meta_result *result)
{
    const meta_space space = {.ndim = 1, .rows = 1, .extent = {(meta_i64)threads * each}};
    (void)apart, (void)width; /* of several threads' results */
    finish(&(meta_work){.object = {results, meta_result_memory(result)}, .space = &space});
}

meta_i64 stream_cache(void)
{
    return 1 << 20;
}

/* Time is the device's own: nothing is tried. */
access_trial access_begin_user(const meta_call *call, reuse_of_call reuse, int threads)
{
    (void)call, (void)threads;
    return (access_trial){.way = reuse.distance > stream_cache() ? SWEEP_REQUESTS : 0};
}

void access_end(const access_trial *trial)
{
    (void)trial;
}

/* ------------------------------------------------------------------ kernel objects */

void sim_kernels_begin(const meta_host *host)
{
    openmp_host = host;
}

/* With META_CHECK=on the core waits for each launch, so checked code may run as late as other code.
 */
static meta_err create_user(const meta_kernel_source *source, sim_kernel *kernel)
{
    const meta_kernel *user = source->user;
#ifdef SIM_BLIND
    meta_kernel_cpu *checked = NULL;
#else
    meta_kernel_cpu *checked = source->is_checked ? user->cpu[META_KERNEL_CHECKED] : NULL;
#endif
    kernel->openmp.user = user;
    kernel->openmp.cpu = checked ? checked : user->cpu[META_KERNEL_BASELINE];
    kernel->openmp.exact = meta_exact_results(source->desc) > 0 ? &exact : NULL;
    if (kernel->openmp.cpu) return META_OK;
    return sim_host->fail(META_ERR_UNSUPPORTED, "kernel %s has no code for the CPU", user->name);
}

meta_err sim_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel)
{
    sim_kernel *made;
    /* Any device moves elements of any type. */
    if (device->lacks_f64 && source->type == META_F64 && source->desc->family != META_FAMILY_MOVE)
        return sim_host->fail(META_ERR_TYPE, "device %s has no double precision", device->name);
    if (strcmp(device->refuses, source->desc->name) == 0) {
        sim_log_refusal(device, source->desc->name);
        return sim_host->fail(META_ERR_DEVICE, "the compiler of device %s refuses kernel %s",
                              device->name, source->desc->name);
    }
    made = calloc(1, sizeof *made);
    if (!made) return sim_host->fail(META_ERR_NO_MEMORY, "the host has no memory for a kernel");
    const meta_err error = source->desc->family == META_FAMILY_USER
                               ? create_user(source, made)
                               : meta_host_kernel_create(sim_host, source, &made->builtin);
    if (error != META_OK) return free(made), error;
    *kernel = (meta_plugin_kernel *)(void *)made;
    return META_OK;
}

void sim_kernel_free(meta_plugin_kernel *kernel)
{
    free(kernel);
}

/* ------------------------------------------------------------------ calls */

uint32_t sim_call_results(const meta_call *call)
{
    if (call->desc->family == META_FAMILY_USER) return call->desc->results;
    return call->desc->combine != META_COMBINE_none;
}

static size_t value_bytes(const meta_call *call)
{
    const bool is_user = call->desc->family == META_FAMILY_USER;
    return call->desc->values * (is_user ? sizeof(uint64_t) : meta_element_bytes(call->type));
}

/* Copy to the end of what is copied already, at a multiple of 16 bytes. */
static void *append(char **end, const void *from, size_t bytes)
{
    void *to = *end;
    if (!from) return NULL;
    memcpy(to, from, bytes);
    *end += (bytes + 15) / 16 * 16;
    return to;
}

meta_call *sim_call_copy(const meta_call *call)
{
    const uint32_t operands = call->desc->operands;
    const size_t layouts = operands > META_SPACE_OPERANDS ? operands : META_SPACE_OPERANDS;
    const size_t space = meta_space_bytes((uint32_t)layouts);
    const size_t objects = operands * sizeof *call->object, values = value_bytes(call);
    const size_t results = sim_call_results(call) * sizeof *call->result;
    const size_t start = (size_t)call->space->ndim * sizeof *call->start;
    char *memory =
        calloc(1, sizeof *call + space + objects + values + results + start + 6 * (size_t)16);
    char *end = memory;
    if (!memory) return NULL;
    meta_call *copy = append(&end, call, sizeof *call);
    copy->space = append(&end, call->space, space);
    copy->object = append(&end, call->object, objects);
    copy->values = append(&end, call->values, values);
    copy->result = append(&end, call->result, results);
    copy->start = append(&end, call->start, start);
    return copy;
}

meta_err sim_call_run(const meta_call *call)
{
    meta_call builtin = *call;
    builtin.kernel = kernel_of(call)->builtin;
    if (!builtin.kernel) return openmp_user_run(call);
    meta_host_run(&builtin);
    return META_OK;
}

/* The bytes that a call moves: built-in kernels say, others access each array once. */
static double bytes_of(const meta_call *call)
{
    const meta_kernel_desc *desc = call->desc;
    const double cells = (double)call->space->rows * (double)call->space->extent[0];
    double bytes = 0;
    if (desc->family != META_FAMILY_USER)
        return desc->passes * (double)meta_element_bytes(call->type) * cells;
    for (uint32_t k = 0; k < desc->operands; ++k) {
        const meta_operand_desc *o = &desc->operand[k];
        const size_t element = meta_element_bytes(o->own_type ? o->own_type - 1 : call->type);
        bytes += (double)element * (o->reach == META_REACH_ONE ? 1 : cells);
    }
    return bytes;
}

double sim_call_time(meta_plugin_device *device, const meta_call *call, double overhead,
                     uint64_t begin)
{
    sim_kernel *kernel = kernel_of(call);
    double time = overhead + bytes_of(call) / device->rate;
    for (int k = 0; k < device->factors; ++k)
        if (strcmp(device->factor[k].kernel, call->desc->name) == 0)
            time *= device->factor[k].factor;
    if (!kernel->has_run) time *= device->first;
    if ((double)begin >= device->slow_after && (double)begin < device->slow_until)
        time *= device->slow;
    if (sim_others && device->index < SIM_CROWD && sim_others->slower[device->index] > 0)
        time *= sim_others->slower[device->index];
    kernel->has_run = true;
    return time;
}
