/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lives.c
 *  See lives.h. */
#include "config.h"

#include "lives.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void set(const char *name, const char *value)
{
    if (value) setenv(name, value, 1);
    else unsetenv(name);
}

/* A life with these settings; @p cpu may name what this processor does not have. */
static bool begin_life(const char *threads, const char *cpu)
{
    int index;
    set("META_THREADS", threads);
    set("META_CPU", cpu);
    test_case("META_THREADS=%s META_CPU=%s", threads, cpu ? cpu : "");
    if (!CHECK_OK(meta_finalize()) || !CHECK_OK(meta_init())) return false;
    return meta_get_acc(&index, NULL) == META_OK;
}

void lives_each(void (*test)(void))
{
    static const char *const threads[] = {"1", "2", "3", "7"};
    static const char *const cpus[] = {NULL, "baseline", "avx2", "avx512", "sve256", "sve512"};
    const char *kept_threads = getenv("META_THREADS"), *kept_cpu = getenv("META_CPU");
    char *threads_before = kept_threads ? strdup(kept_threads) : NULL;
    char *cpu_before = kept_cpu ? strdup(kept_cpu) : NULL;
    meta_mode mode = META_OPENMP;
    CHECK_OK(meta_get_acc(NULL, &mode));
    for (int t = 0; t < 4; ++t)
        for (size_t c = 0; c < sizeof cpus / sizeof *cpus; ++c) {
            if (mode != META_OPENMP && (t > 0 || cpus[c])) continue; /* it computes elsewhere */
            if (begin_life(threads[t], cpus[c])) test();
        }
    set("META_THREADS", threads_before);
    set("META_CPU", cpu_before);
    free(threads_before);
    free(cpu_before);
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
}
