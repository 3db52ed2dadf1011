/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fault.c
 *  Loads the GPU back end built with the fault injection layer. */
#include "config.h"

#include "fault.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

gpu_fault *fault;

bool fault_find(void)
{
    char folder[4096], path[sizeof folder + 16];
    void *module;
    if (fault) return true;
    snprintf(folder, sizeof folder, "%s", test_built("tests/plugins/gpu/.libs"));
    snprintf(path, sizeof path, "%s/hip.so", folder);
    setenv("META_BACKEND_PATH", folder, 1);
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fault = module ? (gpu_fault *)dlsym(module, "gpu_fault_control") : NULL;
    return fault || FAIL("%s: %s", path, dlerror());
}

void fault_check_nothing_left(void)
{
    static const char *const kinds[GPU_FAULT_KINDS] = {"device memory", "host memory", "streams",
                                                       "events",        "pools",       "modules"};
    for (int k = 0; k < GPU_FAULT_KINDS; ++k)
        if (fault->live[k] != 0)
            FAIL("%ld of the %s were not given back", fault->live[k], kinds[k]);
    CHECK_STRING(fault->misuse, "");
}
