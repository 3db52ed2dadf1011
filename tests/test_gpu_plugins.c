/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_gpu_plugins.c
 *  The back ends for GPUs and their peers, as nvcc and hipcc make them: each loads with all of its
 *  symbols bound, without a GPU or a driver. Where a compiler is missing, its promise is skipped,
 * or broken if META_TEST_CI=1 asks for all compilers. */
/* TEST: backends=any labels=build */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static bool has_compiler; /* one of them at least */

/* Whether configure found the compiler @p name, so that it gave no @p reason. */
static bool built_by(const char *name, const char *reason)
{
    const char *ci = getenv("META_TEST_CI");
    has_compiler |= *reason == '\0';
    if (*reason == '\0') return true;
    printf("no plug-in was built with %s: %s\n", name, reason);
    if (ci && strcmp(ci, "1") == 0) FAIL("META_TEST_CI=1 asks for %s: %s", name, reason);
    return false;
}

/* At once, and not when they are called first, so that none may be missing. They stay loaded, since
 * a GPU's runtime may not be unloaded. */
static void load(const char *module, const char *symbol)
{
    void *handle = dlopen(test_built(module), RTLD_NOW | RTLD_LOCAL);
    test_case("%s", module);
    const bool found = handle && dlsym(handle, symbol);
    CHECK_STRING(found ? "found" : dlerror(), "found");
}

static void what_nvcc_builds_loads(void)
{
    if (!built_by("nvcc", NO_NVCC)) return;
    load(".libs/libmeta/cuda.so", "meta_plugin_v2");
    load(".libs/libmeta/peers/cuda.so", "meta_peer_v1");
}

static void cuda_is_tested_without_a_gpu(void)
{
    if (!built_by("nvcc", NO_NVCC) || !built_by("the fake CUDA", NO_FAKE_CUDA)) return;
    load("tests/cuda/.libs/cuda.so", "meta_plugin_v2");
}

static void what_hipcc_builds_loads(void)
{
    if (!built_by("hipcc", NO_HIPCC)) return;
    load(".libs/libmeta/hip.so", "meta_plugin_v2");
    load(".libs/libmeta/peers/hip.so", "meta_peer_v1");
}

/* Without any compiler nothing can be tested. */
static int end_of_test(int status)
{
    const char *ci = getenv("META_TEST_CI");
    return has_compiler || (ci && strcmp(ci, "1") == 0) ? status : 77;
}
static const test_setting setting = {.end = end_of_test};

TEST_MAIN_WITH(&setting, PROMISE(what_nvcc_builds_loads), PROMISE(cuda_is_tested_without_a_gpu),
               PROMISE(what_hipcc_builds_loads))
