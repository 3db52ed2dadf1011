/* SPDX-License-Identifier: BSD-3-Clause */
/** @file driver.c
 *  The driver's functions that load code and launch it. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "device.h"
#include "fatbin.h"
#include "launch.h"
#include "object.h"
#include "settings.h"
#include "stream.h"

struct CUmod_st {
    code_module *code;
    CUfunction functions;
};

struct CUfunc_st {
    CUfunction next;
    code_module *code;
    ptx_kernel *kernel;
};

/* The driver's errors have the runtime's numbers. Its calls need a context. */
static cudaError_t begin(const fake_call *call)
{
    if (call->injected != cudaSuccess) return call->injected;
    const cudaError_t status = device_status(device_current());
    if (status != cudaSuccess) return status;
    if (device_is_bound()) return cudaSuccess;
    call_misuse(call->name, "the thread has no context");
    return cudaErrorDeviceUninitialized;
}

#define DRIVER_TRY(status)                                                                         \
    do {                                                                                           \
        const cudaError_t tried_ = (status);                                                       \
        if (tried_ != cudaSuccess) return (CUresult)tried_;                                        \
    } while (0)

/* ------------------------------------------------------------------ loading */

typedef struct error_log {
    char *text;
    size_t room;
} error_log;

static error_log find_log(const char *call, unsigned count, const CUjit_option *options,
                          void *const *values)
{
    error_log found = {NULL, 0};
    for (unsigned k = 0; k < count; ++k) {
        if (options[k] == CU_JIT_ERROR_LOG_BUFFER) found.text = values[k];
        else if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) found.room = (size_t)values[k];
        else call_lacks(call, "option %d", (int)options[k]);
    }
    return found;
}

static void write_log(const error_log *log, const char *why)
{
    if (log->text && log->room) snprintf(log->text, log->room, "%s", why);
}

/* The capability that PTX was compiled for. */
static long target_of(const char *text)
{
    const char *target = strstr(text, ".target sm_");
    return target ? strtol(target + 11, NULL, 10) : 0;
}

/* The PTX of an image, to be freed. */
static cudaError_t ptx_of(const void *image, char **text)
{
    if (memcmp(image, "\177ELF", 4) == 0) return cudaErrorNoKernelImageForDevice;
    *text = fatbin_is(image) ? fatbin_ptx(image, (int)settings.capability) : strdup(image);
    if (!*text) return cudaErrorNoKernelImageForDevice;
    const long target = target_of(*text);
    if (target > 0 && target <= settings.capability) return cudaSuccess;
    free(*text);
    return target ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    const fake_call call = call_begin(__func__);
    const error_log log = find_log(call.name, count, options, values);
    char why[512] = "", *text = NULL;
    if (call.injected != cudaSuccess) write_log(&log, "the failure was ordered");
    DRIVER_TRY(begin(&call));
    DRIVER_TRY(ptx_of(image, &text));
    code_module *code = code_load(text, device_current(), why, sizeof why);
    free(text);
    if (!code && ptx_load_lacked()) call_lacks(call.name, "what the module needs: %s", why);
    if (!code) {
        write_log(&log, why);
        return CUDA_ERROR_INVALID_PTX;
    }
    CUmodule made = calloc(1, sizeof *made);
    if (!made) abort();
    made->code = code;
    object_add(GPU_FAULT_MODULE, made);
    *module = made;
    return CUDA_SUCCESS;
}

static cudaError_t check(const char *call, CUmodule module)
{
    if (object_is(GPU_FAULT_MODULE, module)) return cudaSuccess;
    call_misuse(call, "there is no such module");
    return cudaErrorInvalidResourceHandle;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const fake_call call = call_begin(__func__);
    char why[512] = "";
    DRIVER_TRY(check(call.name, module));
    DRIVER_TRY(begin(&call));
    ptx_kernel *kernel = code_find(module->code, name, why, sizeof why);
    if (!kernel && *why) call_lacks(call.name, "what kernel %s needs: %s", name, why);
    if (!kernel) return CUDA_ERROR_NOT_FOUND;
    CUfunction made = calloc(1, sizeof *made);
    if (!made) abort();
    made->code = module->code;
    made->kernel = kernel;
    made->next = module->functions;
    module->functions = made;
    object_add(OBJECT_FUNCTION, made);
    *function = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    const fake_call call = call_begin(__func__);
    DRIVER_TRY(check(call.name, module));
    object_remove(GPU_FAULT_MODULE, module);
    while (module->functions) {
        CUfunction function = module->functions;
        module->functions = function->next;
        object_remove(OBJECT_FUNCTION, function);
        free(function);
    }
    code_unload(module->code);
    free(module);
    return (CUresult)begin(&call);
}

/* ------------------------------------------------------------------ launching */

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra)
{
    const fake_call call = call_begin(__func__);
    const dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    DRIVER_TRY(stream_check(call.name, stream));
    DRIVER_TRY(begin(&call));
    if (extra) call_lacks(call.name, "arguments in 'extra'");
    if (!object_is(OBJECT_FUNCTION, function) || code_device(function->code) != device_current()) {
        call_misuse(call.name, "there is no such kernel on this device");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return (CUresult)code_launch(call.name, function->code, function->kernel, grid, block,
                                 arguments, shared, stream);
}
