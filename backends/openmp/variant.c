/* SPDX-License-Identifier: BSD-3-Clause */
/** @file variant.c
 *  Run-time selection of the kernel variant: the newest instruction set that the processor
 * supports, of SVE the one for its width, or the one that META_CPU names. All variants give bitwise
 * identical results. */
#include "openmp.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "processor.h"

#ifdef __aarch64__
#define NAMES "sve512, sve256 or baseline"
#else
#define NAMES "avx512, avx2 or baseline"
#endif

typedef struct variant {
    const char *name;
    openmp_kernel (*kernel_of)(uint32_t kernel, uint32_t type);
    const openmp_exact *exact;
    int set; /* the code of a program's kernels: META_KERNEL_BASELINE … */
    int usable;
} variant;

static variant chosen = {.name = "baseline"};
/* The kernel objects: the chosen variant's kernels. */
static openmp_kernel kernels[META_KERNEL_COUNT][META_TYPE_COUNT];

static void choose(const variant *v)
{
    chosen = *v;
    for (uint32_t kernel = 0; kernel < META_KERNEL_COUNT; ++kernel)
        for (uint32_t type = 0; type < META_TYPE_COUNT; ++type)
            kernels[kernel][type] = v->kernel_of(kernel, type);
}

meta_err openmp_variant_choose(void)
{
#ifdef HAVE_X86_VARIANTS
    const variant known[] = {
        {"avx512", openmp_kernel_avx512, &openmp_exact_avx512, META_KERNEL_AVX512,
         meta_has_avx512()},
        {"avx2", openmp_kernel_avx2, &openmp_exact_avx2, META_KERNEL_AVX2, meta_has_avx2()},
#elif defined HAVE_SVE_VARIANTS
    const variant known[] = {
        {"sve512", openmp_kernel_sve512, &openmp_exact_sve512, META_KERNEL_SVE,
         meta_sve_bits() == 512},
        {"sve256", openmp_kernel_sve256, &openmp_exact_sve256, META_KERNEL_SVE,
         meta_sve_bits() == 256},
#else
    const variant known[] = {
#endif
        {"baseline", openmp_kernel_baseline, &openmp_exact_baseline, META_KERNEL_BASELINE, 1}
    };
    const char *wanted = openmp_host->variable("META_CPU");
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        if (wanted ? strcmp(wanted, known[k].name) != 0 : !known[k].usable) continue;
#ifdef HAVE_SVE_VARIANTS
        if (!known[k].usable && meta_sve_bits() > 0)
            return openmp_host->fail(META_ERR_ENVIRONMENT,
                                     "META_CPU=%s: this processor's SVE vectors have %d bits; "
                                     "leave it out for the best",
                                     wanted, meta_sve_bits());
#endif
        if (!known[k].usable)
            return openmp_host->fail(META_ERR_ENVIRONMENT,
                                     "META_CPU=%s: this processor does not have these instructions",
                                     wanted);
        choose(&known[k]);
        openmp_host->log(META_LOG_INFO, "OpenMP: kernels for %s, %s", chosen.name,
                         wanted ? "which META_CPU asks for" : "the best that this processor has");
        return META_OK;
    }
    return openmp_host->fail(META_ERR_ENVIRONMENT,
                             "META_CPU=%s: give " NAMES
                             ", as far as they were built, or leave it out for the best",
                             wanted);
}

const char *openmp_variant_name(void)
{
    return chosen.name;
}

meta_kernel_function *openmp_finish_of(uint32_t combine, uint32_t type)
{
    return kernels[meta_reduction_of(combine)][type].finish;
}

/* The program's code for the chosen instruction set, or the next older one that it has. */
static meta_err create_user(const meta_kernel_source *source, meta_plugin_kernel **kernel)
{
    const meta_kernel *user = source->user;
    openmp_kernel *made;
    int set = chosen.set;
    while (set > 0 && !user->cpu[set]) --set;
    if (source->is_checked && user->cpu[META_KERNEL_CHECKED]) set = META_KERNEL_CHECKED;
    if (!user->cpu[set])
        return openmp_host->fail(META_ERR_UNSUPPORTED,
                                 "kernel %s has no code for the CPU: one file of the program must "
                                 "define META_KERNELS_HERE",
                                 user->name);
    made = calloc(1, sizeof *made);
    if (made) made->paces = access_paces_create();
    if (!made || !made->paces) {
        free(made);
        return openmp_host->fail(META_ERR_NO_MEMORY, "the host has no memory for a kernel");
    }
    made->user = user;
    made->cpu = user->cpu[set];
    made->exact = meta_exact_results(source->desc) > 0 ? chosen.exact : NULL;
    *kernel = (meta_plugin_kernel *)(void *)made;
    return META_OK;
}

void openmp_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    openmp_kernel *made = (openmp_kernel *)(void *)kernel;
    (void)device;
    if (!made->user) return;
    free(made->paces);
    free(made);
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
