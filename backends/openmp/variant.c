/* SPDX-License-Identifier: BSD-3-Clause */
/** @file variant.c
 *  Which of the kernels' variants this processor runs: the newest instruction set it has, or the
 * one that META_CPU asks for. All give the same bits. */
#include "openmp.h"

#include <string.h>

typedef struct variant {
    const char *name;
    openmp_kernel (*kernel_of)(uint32_t kernel, uint32_t type);
    int usable;
} variant;

static variant chosen = {"baseline", openmp_kernel_baseline, 1};

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
        chosen = known[k];
        return META_OK;
    }
    return openmp_host->fail(META_ERR_ENVIRONMENT,
                             "META_CPU=%s: give avx512, avx2 or baseline, as far as they were "
                             "built, or leave it out for the best",
                             wanted);
}

const char *openmp_variant_name(void)
{
    return chosen.name;
}

openmp_kernel openmp_kernel_of(uint32_t kernel, uint32_t type)
{
    return chosen.kernel_of(kernel, type);
}
