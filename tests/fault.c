/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault.c
 *  Loads a GPU back end that runs on the CPU: HIP's on HIP-CPU with the fault injection layer, or
 *  CUDA's on the fake CUDA. */
#include "config.h"

#include "fault.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const fault_gpu gpus[] = {
    {.name = "hip",
     .folder = "tests/plugins/gpu/.libs",
     .mode = META_HIP,
     .title = "HIP-CPU",
     .visible = "HIP_VISIBLE_DEVICES",
     .arch = "--with-hip-arch",
     .good_driver = 50631000,
     .old_driver = 40231000,
     .old_version = "4.2"},
    {.name = "cuda",
     .driver = "cu",
     .folder = "tests/cuda/.libs",
     .mode = META_CUDA,
     .title = "CUDA",
     .visible = "CUDA_VISIBLE_DEVICES",
     .arch = "--with-cuda-arch",
     .good_driver = 13000,
     .old_driver = 12040,
     .old_version = "12.4"},
};

const fault_gpu *gpu;
gpu_fault *fault;

/* Before a test changes META_MODE. */
__attribute__((constructor)) static void choose(void)
{
    const char *mode = getenv("META_MODE");
    for (size_t k = 0; k < sizeof gpus / sizeof *gpus; ++k)
        if (!gpu || (mode && strcmp(mode, gpus[k].name) == 0)) gpu = &gpus[k];
}

bool fault_find(void)
{
    char folder[4096], path[sizeof folder + 16];
    void *module;
    if (fault) return true;
    snprintf(folder, sizeof folder, "%s", test_built(gpu->folder));
    snprintf(path, sizeof path, "%s/%s.so", folder, gpu->name);
    setenv("META_BACKEND_PATH", folder, 1);
    setenv("META_TEST_GPUS", "2", 0);
    setenv("FAKE_CUDA_QUIET", "1", 0); /* misuse is in the control */
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fault = module ? (gpu_fault *)dlsym(module, "gpu_fault_control") : NULL;
    return fault || FAIL("%s: %s", path, dlerror());
}

const char *fault_call(const char *name)
{
    static char call[64];
    snprintf(call, sizeof call, "%s%s", gpu->name, name);
    return call;
}

static bool has_name(const char *text, const char *prefix)
{
    const size_t length = prefix ? strlen(prefix) : 0;
    for (const char *at = text; length && (at = strstr(at, prefix)); at += length)
        if (isupper((unsigned char)at[length]) && strncmp(at + length, "Error", 5) != 0)
            return true;
    return false;
}

bool fault_is_named(const char *text)
{
    return has_name(text, gpu->name) || has_name(text, gpu->driver);
}

void fault_check_nothing_left(void)
{
    for (int k = 0; k < GPU_FAULT_KINDS; ++k)
        if (fault->live[k] != 0)
            FAIL("%ld of the %s were not given back", fault->live[k],
                 gpu_fault_kind_name((gpu_fault_kind)k));
    CHECK_STRING(fault->misuse, "");
}
