/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Modules and launches, for the runtime and the driver. */
#include "launch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "device.h"
#include "memory.h"
#include "report.h"
#include "settings.h"
#include "stream.h"

struct code_module {
    ptx_module *ptx;
    memory_view memory;
    int references; /* until it is unloaded, and by each launch */
    bool is_unloaded;
};

typedef struct launch_work {
    stream_work work;
    code_module *module;
    ptx_kernel *kernel;
    ptx_launch launch;
    _Alignas(16) char arguments[];
} launch_work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of modules, and of what is recorded */

/* ------------------------------------------------------------------ modules */

code_module *code_load(const char *text, int device, char *why, size_t room)
{
    code_module *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->memory = memory_view_of(device, 0);
    made->references = 1;
    made->ptx = ptx_load(text, &made->memory.ptx, why, room);
    if (made->ptx) return made;
    free(made);
    return NULL;
}

static void release(code_module *module)
{
    pthread_mutex_lock(&lock);
    const int left = --module->references;
    pthread_mutex_unlock(&lock);
    if (left > 0) return;
    ptx_free(module->ptx);
    free(module);
}

void code_unload(code_module *module)
{
    pthread_mutex_lock(&lock);
    module->is_unloaded = true;
    pthread_mutex_unlock(&lock);
    release(module);
}

ptx_kernel *code_find(code_module *module, const char *name, char *why, size_t room)
{
    return ptx_find(module->ptx, name, why, room);
}

int code_device(const code_module *module)
{
    return module->memory.device;
}

/* ------------------------------------------------------------------ launches */

static bool has_unloaded(code_module *module)
{
    pthread_mutex_lock(&lock);
    const bool found = module->is_unloaded;
    pthread_mutex_unlock(&lock);
    return found;
}

static void run_launch(stream_work *work, int device)
{
    launch_work *l = (launch_work *)work;
    const memory_view memory = memory_view_of(device, work->ticket);
    ptx_fault fault = {0};
    if (device_status(device) == cudaSuccess) {
        if (has_unloaded(l->module))
            device_break(device, cudaErrorLaunchFailure, ptx_facts_of(l->kernel)->name,
                         "its module was unloaded before the kernel ran");
        else if (!ptx_run(l->kernel, &memory.ptx, &l->launch, &fault))
            device_break(device, (cudaError_t)fault.status, ptx_facts_of(l->kernel)->name,
                         fault.text);
    }
    release(l->module);
    free(l);
}

static cudaError_t check_size(const char *call, const ptx_facts *kernel, dim3 grid, dim3 block,
                              size_t shared)
{
    const unsigned long threads = (unsigned long)block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535 ||
        threads == 0 || threads > kernel->max_threads || threads > 1024 || block.z > 64) {
        call_misuse(call, "%s: a grid of %u x %u x %u blocks of %u x %u x %u threads", kernel->name,
                    grid.x, grid.y, grid.z, block.x, block.y, block.z);
        return cudaErrorInvalidConfiguration;
    }
    const unsigned *required = kernel->required;
    if (required[0] &&
        (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
        call_misuse(call, "%s: blocks of %u x %u x %u threads, but it requires %u x %u x %u",
                    kernel->name, block.x, block.y, block.z, required[0], required[1], required[2]);
        return cudaErrorInvalidConfiguration;
    }
    if (kernel->shared_bytes + shared <= 48 << 10) return cudaSuccess;
    call_misuse(call, "%s: %zu bytes of shared memory", kernel->name,
                kernel->shared_bytes + shared);
    return cudaErrorInvalidValue;
}

cudaError_t code_launch(const char *call, code_module *module, ptx_kernel *kernel, dim3 grid,
                        dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
    const ptx_facts *facts = ptx_facts_of(kernel);
    if (stream_device(stream) != device_current()) {
        call_misuse(call, "the stream is not of the current device");
        return cudaErrorInvalidResourceHandle;
    }
    const cudaError_t wrong = check_size(call, facts, grid, block, shared);
    if (wrong != cudaSuccess) return wrong;
    launch_work *l = calloc(1, sizeof *l + facts->argument_bytes);
    if (!l) abort();
    l->work.run = run_launch;
    l->module = module;
    l->kernel = kernel;
    l->launch = (ptx_launch){.grid = {grid.x, grid.y, grid.z},
                             .block = {block.x, block.y, block.z},
                             .dynamic_shared = shared,
                             .arguments = l->arguments,
                             .threads = (int)settings.threads,
                             .find_races = (int)settings.races};
    for (int k = 0; k < facts->parameters; ++k)
        memcpy(l->arguments + facts->parameter[k].offset, arguments[k], facts->parameter[k].bytes);
    const long blocks = (long)grid.x * grid.y * grid.z;
    pthread_mutex_lock(&lock);
    ++module->references;
    if (blocks > gpu_fault_control.most_blocks) gpu_fault_control.most_blocks = blocks;
    pthread_mutex_unlock(&lock);
    report_kernel(facts->name);
    stream_place_release(stream_push(stream, &l->work));
    return cudaSuccess;
}
