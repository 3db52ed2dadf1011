/* SPDX-License-Identifier: BSD-3-Clause */
/** @file processor.h
 *  The instruction sets of this machine's processor for which there are kernels: the OpenMP back
 * end chooses its kernels by them, and the core how it compiles texts. */
#ifndef META_BACKENDS_PROCESSOR_H
#define META_BACKENDS_PROCESSOR_H

#if defined __x86_64__ || defined __i386__

static inline int meta_has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

/* With fused multiply-adds, which only a VIA processor's AVX2 lacks. */
static inline int meta_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#elif defined __aarch64__

#ifdef __linux__
#include <sys/prctl.h>
#endif

/** The width of this process's SVE vectors; 0: there are none, or the system does not say. */
static inline int meta_sve_bits(void)
{
#ifdef PR_SVE_GET_VL
    const int length = prctl(PR_SVE_GET_VL);
    return length < 0 ? 0 : 8 * (length & PR_SVE_VL_LEN_MASK);
#else
    return 0;
#endif
}

#endif

#endif
