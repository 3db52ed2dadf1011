/* SPDX-License-Identifier: BSD-3-Clause */
/** @file variant.c
 *  Run-time selection of the kernel variant: the newest instruction set that the processor
 * supports, or the one that META_CPU names. All variants give bitwise identical results. */
#include "openmp.h"

#include <string.h>

typedef struct variant {
    const char *name;
    openmp_kernel (*kernel_of)(uint32_t kernel, uint32_t type);
    int usable;
} variant;

static const char *chosen = "baseline";
/* The kernel objects: the chosen variant's kernels. */
static openmp_kernel kernels[META_KERNEL_COUNT][META_TYPE_COUNT];

static void choose(const variant *v)
{
    chosen = v->name;
    for (uint32_t kernel = 0; kernel < META_KERNEL_COUNT; ++kernel)
        for (uint32_t type = 0; type < META_TYPE_COUNT; ++type)
            kernels[kernel][type] = v->kernel_of(kernel, type);
}

meta_err openmp_variant_choose(void)
{
#ifdef HAVE_X86_VARIANTS
    __builtin_cpu_init();
    const variant known[] = {
        {"avx512", openmp_kernel_avx512,
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")},
        {"avx2", openmp_kernel_avx2, __builtin_cpu_supports("avx2")},
        {"baseline", openmp_kernel_baseline, 1}};
#else
    const variant known[] = {{"baseline", openmp_kernel_baseline, 1}};
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

/* Sums accumulate in a wider type; minima and maxima have the element type. */
static size_t partial_bytes(const meta_kernel_desc *desc, uint32_t type)
{
    static const unsigned char accumulator[META_TYPE_COUNT] = {
#define META_SUM_BYTES(NAME, name, bytes, wide, sum) [META_##NAME] = sizeof(meta_##sum),
        META_ARITHMETIC_TYPES(META_SUM_BYTES)
#undef META_SUM_BYTES
    };
    switch (desc->combine) {
    case META_COMBINE_sum:
        return accumulator[type];
    case META_COMBINE_exact:
        return META_EXACT_WORDS * sizeof(meta_i64);
    default:
        return meta_element_bytes(type);
    }
}

meta_err openmp_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel)
{
    const uint32_t number = source->desc->number, type = source->type;
    (void)device;
    if (source->text || number >= META_KERNEL_COUNT)
        return openmp_host->fail(META_ERR_UNSUPPORTED, "the OpenMP back end has no kernel %s",
                                 source->desc->name);
    if (type >= META_TYPE_COUNT || !kernels[number][type].run)
        return openmp_host->fail(META_ERR_TYPE, "the OpenMP back end has no kernel %s for type %s",
                                 source->desc->name, meta_element_name(type));
    kernels[number][type].partial_bytes = partial_bytes(source->desc, type);
    *kernel = (meta_plugin_kernel *)(void *)&kernels[number][type];
    return META_OK;
}
