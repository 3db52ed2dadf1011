/* SPDX-License-Identifier: BSD-3-Clause */
/** @file nvrtc.c
 *  Wraps the real NVRTC: where machine code is asked for it compiles to PTX, which the fake CUDA
 *  runs, and hands that out as CUBIN. Each function can be made to fail by FAKE_CUDA_FAIL_CALL, see
 *  settings.h. */
#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

enum { OPTIONS = 64 };

/* ------------------------------------------------------------------ the real one */

static void *library;

static void open_library(void)
{
    library = dlopen(REAL_NVRTC, RTLD_NOW | RTLD_LOCAL);
    if (library) return;
    fprintf(stderr, "fake NVRTC: %s\n", dlerror());
    abort();
}

static void *real(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    void *found = dlsym(library, name);
    if (found) return found;
    fprintf(stderr, "fake NVRTC: %s\n", dlerror());
    abort();
}

static nvrtcResult injected(const char *name)
{
    return (nvrtcResult)settings_fail_status(getenv("FAKE_CUDA_FAIL_CALL"), name,
                                             NVRTC_ERROR_INTERNAL_ERROR);
}

/* ------------------------------------------------------------------ what is passed on */

#define PASS(name, parameters, arguments)                                                          \
    nvrtcResult name parameters                                                                    \
    {                                                                                              \
        const nvrtcResult fails = injected(#name);                                                 \
        nvrtcResult(*call) parameters;                                                             \
        *(void **)&call = real(#name);                                                             \
        return fails ? fails : call arguments;                                                     \
    }
PASS(nvrtcVersion, (int *major, int *minor), (major, minor))
PASS(nvrtcCreateProgram,
     (nvrtcProgram * program, const char *text, const char *name, int count,
      const char *const *headers, const char *const *names),
     (program, text, name, count, headers, names))
PASS(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *bytes), (program, bytes))
PASS(nvrtcGetProgramLog, (nvrtcProgram program, char *text), (program, text))
PASS(nvrtcGetPTXSize, (nvrtcProgram program, size_t *bytes), (program, bytes))
PASS(nvrtcGetPTX, (nvrtcProgram program, char *text), (program, text))
PASS(nvrtcGetNumSupportedArchs, (int *count), (count))
PASS(nvrtcGetSupportedArchs, (int *list), (list))

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    const nvrtcResult fails = injected("nvrtcDestroyProgram");
    nvrtcResult (*call)(nvrtcProgram * destroyed);
    *(void **)&call = real("nvrtcDestroyProgram");
    const nvrtcResult status = call(program);
    return fails ? fails : status;
}

const char *nvrtcGetErrorString(nvrtcResult status)
{
    const char *(*call)(nvrtcResult status);
    *(void **)&call = real("nvrtcGetErrorString");
    return call(status);
}

/* ------------------------------------------------------------------ machine code */

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    const nvrtcResult fails = injected("nvrtcGetCUBINSize");
    return fails ? fails : nvrtcGetPTXSize(program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code)
{
    const nvrtcResult fails = injected("nvrtcGetCUBIN");
    return fails ? fails : nvrtcGetPTX(program, code);
}

/* -arch=sm_90 becomes -arch=compute_90. */
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    static const char machine[] = "-arch=sm_";
    const nvrtcResult fails = injected("nvrtcCompileProgram");
    const char *changed[OPTIONS];
    char architecture[64] = "";
    nvrtcResult (*call)(nvrtcProgram asked, int number, const char *const *list);
    *(void **)&call = real("nvrtcCompileProgram");
    if (fails) return fails;
    if (count > OPTIONS) return NVRTC_ERROR_INVALID_OPTION;
    for (int k = 0; k < count; ++k) {
        changed[k] = options[k];
        if (strncmp(options[k], machine, sizeof machine - 1) != 0) continue;
        snprintf(architecture, sizeof architecture, "-arch=compute_%s",
                 options[k] + sizeof machine - 1);
        changed[k] = architecture;
    }
    return call(program, count, changed);
}
