/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.cpp
 *  Kernel objects of the application's kernels. */
#include "user.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

/* Set at process exit, when the runtime may already be partly torn down: the application's kernels
 * are then unregistered without their code being unloaded. */
static std::atomic<int> exiting;

static void note_exit()
{
    exiting = 1;
}

static void watch_exit()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { (void)atexit(note_exit); });
}

static meta_err describe_results(const meta_kernel_desc *desc, gpu_user_kernel *kernel)
{
    for (uint32_t k = 0; k < desc->results; ++k) {
        const meta_result_desc *r = &desc->result[k];
        gpu_user_result *to = &kernel->result[k];
        to->finish = gpu_finish_of(r->combine, r->type);
        if (!to->finish)
            return gpu_host->fail(META_ERR_UNSUPPORTED,
                                  "the %s back end cannot combine result %u of kernel %s",
                                  GPU_TITLE, k, desc->name);
        to->bytes = r->combine == META_COMBINE_exact ? sizeof(meta_i64) : meta_result_bytes(r);
        to->has_place = meta_has_place(r->combine);
        to->words = meta_partial_words(r);
        kernel->words += to->words;
    }
    return META_OK;
}

static int only_reads(const meta_kernel_desc *desc)
{
    for (uint32_t k = 0; k < desc->operands; ++k)
        if (desc->operand[k].access != META_ACCESS_IN) return 0;
    return 1;
}

/* What a block shares while it computes a team, with its exact sums and, for other results, what
 * its threads combine. */
static uint64_t shared_bytes(const meta_kernel *kernel, const meta_kernel_desc *desc)
{
    const uint32_t sums = meta_exact_results(desc);
    return (sums < desc->results ? meta_team_bytes_all(kernel) : meta_team_bytes(kernel->team)) +
           sums * (uint64_t)GPU_SHARED_SUM_BYTES;
}

/* HIP-CPU computes a team in loops, of any size. */
static meta_err check_team(const meta_plugin_device *device, const meta_kernel *kernel,
                           const meta_kernel_desc *desc)
{
    const gpu_properties &found = device->properties;
    const uint64_t bytes = shared_bytes(kernel, desc);
    if (!GPU_IS_GPU) return META_OK;
    const uint64_t items = meta_team_items(kernel->team);
    const uint64_t most = (uint64_t)found.maxThreadsPerBlock, room = found.sharedMemPerBlock;
    if (items > most)
        return gpu_host->fail(META_ERR_UNSUPPORTED,
                              "kernel %s: a team has %u members, which takes %llu threads, but a "
                              "block of %s has at most %llu: use smaller teams",
                              kernel->name, meta_team_members(kernel->team),
                              (unsigned long long)items, found.name, (unsigned long long)most);
    if (bytes > room)
        return gpu_host->fail(
            META_ERR_UNSUPPORTED,
            "kernel %s: a team needs %llu bytes of shared memory%s, but a block of %s "
            "has %llu: use smaller teams or share less",
            kernel->name, (unsigned long long)bytes,
            meta_exact_results(desc) ? " with its reproducible sums" : "", found.name,
            (unsigned long long)room);
    return META_OK;
}

static meta_err fill_in(const meta_plugin_device *device, const meta_kernel_source *source,
                        gpu_user_kernel *kernel)
{
    const meta_kernel_desc *desc = source->desc;
    char title[128];
    if (!source->text)
        return gpu_host->fail(META_ERR_UNSUPPORTED, "kernel %s has no text to compile", desc->name);
    kernel->only_reads = only_reads(desc);
    kernel->team = meta_kernel_team_of(source->user);
    if (kernel->team) META_TRY(check_team(device, source->user, desc));
    kernel->passing = gpu_passing_of(desc);
    snprintf(title, sizeof title, "kernel %.80s for %s", desc->name,
             meta_element_name(source->type));
    META_TRY(describe_results(desc, kernel));
    META_TRY(gpu_use(device));
    return gpu_code_make(device, source, title, kernel->passing, &kernel->code);
}

meta_err gpu_user_create(const meta_plugin_device *device, const meta_kernel_source *source,
                         gpu_user_kernel **kernel)
{
    gpu_user_kernel *made = (gpu_user_kernel *)calloc(1, sizeof *made);
    if (!made) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    const meta_err error = fill_in(device, source, made);
    if (error != META_OK) return free(made), error;
    watch_exit();
    *kernel = made;
    return META_OK;
}

void gpu_user_destroy(const meta_plugin_device *device, gpu_user_kernel *kernel)
{
    if (!exiting) {
        GPU_NOTE(SetDevice, (device->ordinal));
        gpu_code_drop(&kernel->code);
    }
    free(kernel);
}
