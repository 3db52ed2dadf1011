/* SPDX-License-Identifier: BSD-3-Clause */
/** @file registered.c
 *  Kernels that nvcc compiled into the program: what its code calls when a module is loaded, in the
 *  form of toolkit 13, and their launches. */
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "device.h"
#include "fatbin.h"
#include "launch.h"
#include "settings.h"
#include "stream.h"

/* A fat binary, and what was loaded of it, by device. */
typedef struct binary {
    const void *data; /* NULL: it was unregistered */
    int references;   /* its handle and its functions */
    code_module *module[FAKE_DEVICES];
} binary;

/* A kernel, known by the address of its function for the host. */
typedef struct function {
    const void *host;
    const char *name;
    binary *of;
} function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all in this file */
static void *functions;                                  /* a tree */

/* ------------------------------------------------------------------ registration */

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *thread, void *block, dim3 *block_size, dim3 *grid_size,
                            int *warp_size);

static int compare_functions(const void *left, const void *right)
{
    const uintptr_t l = (uintptr_t)((const function *)left)->host;
    const uintptr_t r = (uintptr_t)((const function *)right)->host;
    return (l > r) - (l < r);
}

/* The wrapper: two numbers of its version, then the address of the fat binary. */
void **__cudaRegisterFatBinary(void *wrapper)
{
    const struct {
        int magic, version;
        const void *data;
    } *wrapped = wrapper;
    binary *made = calloc(1, sizeof *made);
    if (!made) abort();
    if (!fatbin_is(wrapped->data)) call_lacks(__func__, "fat binaries of this kind");
    made->data = wrapped->data;
    made->references = 1;
    return (void **)made;
}

/* With the lock held. */
static void release(binary *of)
{
    if (--of->references == 0) free(of);
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *thread, void *block, dim3 *block_size, dim3 *grid_size,
                            int *warp_size)
{
    function *made = malloc(sizeof *made);
    (void)device, (void)limit, (void)thread, (void)block;
    (void)block_size, (void)grid_size, (void)warp_size;
    if (!made) abort();
    *made = (function){host, name, (binary *)handle};
    pthread_mutex_lock(&lock);
    ++made->of->references;
    function **found = tsearch(made, &functions, compare_functions);
    if (!found) abort();
    if (*found != made) { /* of a module that was unloaded before */
        release((*found)->of);
        **found = *made;
        free(made);
    }
    pthread_mutex_unlock(&lock);
}

/* Its functions stay known by name, so that a launch of one can say so. */
void __cudaUnregisterFatBinary(void **handle)
{
    binary *gone = (binary *)handle;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < FAKE_DEVICES; ++k) {
        if (gone->module[k]) code_unload(gone->module[k]);
        gone->module[k] = NULL;
    }
    gone->data = NULL;
    release(gone);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ launches */

/* With the lock held: the module with @p f for @p device, loaded on first use. */
static code_module *load(const char *call, const function *f, int device, cudaError_t *status)
{
    code_module **module = &f->of->module[device];
    char why[512] = "";
    if (*module) return *module;
    char *text = fatbin_ptx(f->of->data, (int)settings.capability);
    if (!text) {
        *status = cudaErrorNoKernelImageForDevice;
        return NULL;
    }
    *module = code_load(text, device, why, sizeof why);
    free(text);
    if (!*module) call_lacks(call, "what a module needs: %s", why);
    return *module;
}

static ptx_kernel *find(const char *call, const void *host, int device, code_module **module,
                        cudaError_t *status)
{
    const function key = {host, NULL, NULL};
    function **found = tfind(&key, &functions, compare_functions);
    char why[512] = "";
    *status = cudaErrorInvalidDeviceFunction;
    if (!found || !(*found)->of->data) {
        call_misuse(call, "there is no such kernel");
        return NULL;
    }
    *module = load(call, *found, device, status);
    if (!*module) return NULL;
    ptx_kernel *kernel = code_find(*module, (*found)->name, why, sizeof why);
    if (!kernel && *why) call_lacks(call, "what kernel %s needs: %s", (*found)->name, why);
    return kernel;
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    code_module *module = NULL;
    cudaError_t status;
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(call.injected);
    CALL_TRY(device_status(stream_device(stream)));
    device_bind();
    pthread_mutex_lock(&lock);
    ptx_kernel *kernel = find(call.name, host, device_current(), &module, &status);
    pthread_mutex_unlock(&lock);
    if (!kernel) return call_end(status);
    CALL_TRY(code_launch(call.name, module, kernel, grid, block, arguments, shared, stream));
    return cudaSuccess;
}

/* ------------------------------------------------------------------ what the <<<>>> form calls */

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

/* The host's part of each kernel is compiled to calls of these, but libmeta launches kernels by
 * cudaLaunchKernel() alone. */
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    call_lacks(__func__, "launches of the form <<<>>>");
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    (void)kernel, (void)host;
    call_lacks(__func__, "launches of the form <<<>>>");
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream)
{
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    call_lacks(__func__, "launches of the form <<<>>>");
}
