/* SPDX-License-Identifier: BSD-3-Clause */
/** @file variant.c
 *  Run-time selection of the kernel variant: the newest instruction set that the processor
 * supports, or the one that META_CPU names. All variants give bitwise identical results. */
#include "openmp.h"

#include <stdlib.h>
#include <string.h>

typedef struct variant {
    const char *name;
    openmp_kernel (*kernel_of)(uint32_t kernel, uint32_t type);
    const openmp_exact *exact;
    int usable;
} variant;

static const char *chosen = "baseline";
/* The kernel objects: the chosen variant's kernels. */
static openmp_kernel kernels[META_KERNEL_COUNT][META_TYPE_COUNT];
static const openmp_exact *exact;

static void choose(const variant *v)
{
    chosen = v->name;
    exact = v->exact;
    for (uint32_t kernel = 0; kernel < META_KERNEL_COUNT; ++kernel)
        for (uint32_t type = 0; type < META_TYPE_COUNT; ++type)
            kernels[kernel][type] = v->kernel_of(kernel, type);
}

meta_err openmp_variant_choose(void)
{
#ifdef HAVE_X86_VARIANTS
    __builtin_cpu_init();
    const variant known[] = {
        {"avx512", openmp_kernel_avx512, &openmp_exact_avx512,
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")},
        {"avx2", openmp_kernel_avx2, &openmp_exact_avx2, __builtin_cpu_supports("avx2")},
        {"baseline", openmp_kernel_baseline, &openmp_exact_baseline, 1}};
#else
    const variant known[] = {{"baseline", openmp_kernel_baseline, &openmp_exact_baseline, 1}};
#endif
    const char *wanted = openmp_host->variable("META_CPU");
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        if (wanted ? strcmp(wanted, known[k].name) != 0 : !known[k].usable) continue;
        if (!known[k].usable)
            return openmp_host->fail(META_ERR_ENVIRONMENT,
                                     "META_CPU=%s: this processor does not have these instructions",
                                     wanted);
        choose(&known[k]);
        openmp_host->log(META_LOG_INFO, "OpenMP: kernels for %s, %s", chosen,
                         wanted ? "which META_CPU asks for" : "the best that this processor has");
        return META_OK;
    }
    return openmp_host->fail(META_ERR_ENVIRONMENT,
                             "META_CPU=%s: give avx512, avx2 or baseline, as far as they were "
                             "built, or leave it out for the best",
                             wanted);
}

const char *openmp_variant_name(void)
{
    return chosen;
}

meta_kernel_function *openmp_finish_of(uint32_t combine, uint32_t type)
{
    return kernels[meta_reduction_of(combine)][type].finish;
}

/* The program's code for the chosen instruction set, or the next older one that it has. */
static meta_err create_user(const meta_kernel_source *source, meta_plugin_kernel **kernel)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    const meta_kernel *user = source->user;
    openmp_kernel *made;
    int set = (int)(sizeof names / sizeof *names) - 1;
    while (set > 0 && strcmp(names[set], chosen) != 0) --set;
    while (set > 0 && !user->cpu[set]) --set;
    if (source->is_checked && user->cpu[META_KERNEL_CHECKED]) set = META_KERNEL_CHECKED;
    if (!user->cpu[set])
        return openmp_host->fail(META_ERR_UNSUPPORTED,
                                 "kernel %s has no code for the CPU: one file of the program must "
                                 "define META_KERNELS_HERE",
                                 user->name);
    made = calloc(1, sizeof *made);
    if (!made) return openmp_host->fail(META_ERR_NO_MEMORY, "the host has no memory for a kernel");
    made->user = user;
    made->cpu = user->cpu[set];
    made->exact = meta_exact_results(source->desc) > 0 ? exact : NULL;
    *kernel = (meta_plugin_kernel *)(void *)made;
    return META_OK;
}

void openmp_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    openmp_kernel *made = (openmp_kernel *)(void *)kernel;
    (void)device;
    if (made->user) free(made);
}

meta_err openmp_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel)
{
    const uint32_t number = source->desc->number, type = source->type;
    (void)device;
    if (source->desc->family == META_FAMILY_USER) return create_user(source, kernel);
    if (source->text || number >= META_KERNEL_COUNT)
        return openmp_host->fail(META_ERR_UNSUPPORTED, "the OpenMP back end has no kernel %s",
                                 source->desc->name);
    if (type >= META_TYPE_COUNT || !kernels[number][type].run)
        return openmp_host->fail(META_ERR_TYPE, "the OpenMP back end has no kernel %s for type %s",
                                 source->desc->name, meta_element_name(type));
    kernels[number][type].partial_bytes = meta_partial_bytes(source->desc->combine, type);
    *kernel = (meta_plugin_kernel *)(void *)&kernels[number][type];
    return META_OK;
}
