/* SPDX-License-Identifier: BSD-3-Clause */
/** @file code.cpp
 *  Loading and launching code that was compiled at run time: by the CUDA driver's functions, HIP's
 *  modules, or for HIP-CPU the dynamic linker. */
#include "code.h"

#include "compiler.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(META_GPU_HIP_CPU)

#include <vector>

#include "compiler_host.h"

meta_err gpu_code_make(const meta_plugin_device *, const meta_kernel_source *source,
                       const char *title, gpu_passing, gpu_code *code)
{
    char *text = gpu_program_text(source, GPU_ON_HOST);
    if (!text) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    const meta_err error = gpu_compile_host(title, text, &code->module, &code->function);
    free(text);
    return error;
}

void gpu_code_drop(const gpu_code *code)
{
    gpu_host_code_close(code->module);
}

/* A launch: each block is one call of the function. */
struct host_launch {
    gpu_host_function *function;
    std::vector<uint64_t> arguments;
};

META_GPU_GLOBAL void run_block(const host_launch &launch, void *partials)
{
    launch.function((char *)(uintptr_t)launch.arguments.data(), partials, blockIdx.x, gridDim.x);
}

meta_err gpu_code_run(const gpu_code *code, unsigned blocks, unsigned, gpu_stream stream,
                      gpu_passing, void *arguments, size_t bytes, void *partials)
{
    host_launch launch;
    memcpy(&launch.function, &code->function, sizeof launch.function);
    launch.arguments.resize((bytes + 7) / 8);
    memcpy(launch.arguments.data(), arguments, bytes);
    GPU_TRY_AS(GPU_PREFIX "LaunchKernel",
               gpu_run(run_block, dim3(blocks), dim3(1), stream, launch, partials));
    return META_OK;
}

#else

#include "build_log.h"
#include "facts.h"

/* ------------------------------------------------------------------ the vendors' modules */

#if defined(META_GPU_CUDA)

#include <cuda.h>
#include <dlfcn.h>

#define CALL_LOAD   "cuModuleLoadDataEx"
#define CALL_GET    "cuModuleGetFunction"
#define CALL_UNLOAD "cuModuleUnload"
#define CALL_LAUNCH "cuLaunchKernel"

/* The driver's functions, from the library that the runtime has opened as well. */
static struct {
    decltype(&cuModuleLoadDataEx) load;
    decltype(&cuModuleGetFunction) get;
    decltype(&cuModuleUnload) unload;
    decltype(&cuLaunchKernel) launch;
} driver;

static meta_err find_functions()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        driver.load = (decltype(driver.load))dlsym(library, CALL_LOAD);
        driver.get = (decltype(driver.get))dlsym(library, CALL_GET);
        driver.unload = (decltype(driver.unload))dlsym(library, CALL_UNLOAD);
        driver.launch = (decltype(driver.launch))dlsym(library, CALL_LAUNCH);
    }
    if (driver.load && driver.get && driver.unload && driver.launch) return META_OK;
    const char *why = dlerror();
    return gpu_host->fail(META_ERR_DEVICE,
                          "the functions of the CUDA driver that load code are not found: %s",
                          why ? why : "libcuda.so.1 lacks them");
}

static meta_err open_driver()
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const meta_err error = driver.launch ? META_OK : find_functions();
    pthread_mutex_unlock(&lock);
    return error;
}

static meta_err find_target(const meta_plugin_device *device, gpu_target *target)
{
    int version = 0;
    GPU_TRY(DriverGetVersion, (&version));
    *target = gpu_target();
    target->capability = 10 * device->properties.major + device->properties.minor;
    target->driver = version / 1000;
    return META_OK;
}

/* The driver's errors have the runtime's numbers. Of PTX its compiler may have something to say. */
static gpu_status load(const char *title, const gpu_image *image, void **module)
{
    char said[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)(uintptr_t)(sizeof said - 1)};
    const gpu_status status =
        (gpu_status)driver.load((CUmodule *)module, image->code, 2, options, values);
    if (status != cudaSuccess) meta_log_lines(gpu_host, META_LOG_WARN, "CUDA driver", title, said);
    return status;
}

static gpu_status get_function(void *module, void **function)
{
    return (gpu_status)driver.get((CUfunction *)function, (CUmodule)module, GPU_PROGRAM_ENTRY);
}

static gpu_status unload(void *module)
{
    return (gpu_status)driver.unload((CUmodule)module);
}

static gpu_status launch(void *function, unsigned blocks, unsigned threads, gpu_stream stream,
                         void **arguments)
{
    return (gpu_status)driver.launch((CUfunction)function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                     arguments, NULL);
}

#else

#define CALL_LOAD   "hipModuleLoadData"
#define CALL_GET    "hipModuleGetFunction"
#define CALL_UNLOAD "hipModuleUnload"
#define CALL_LAUNCH "hipModuleLaunchKernel"

static meta_err open_driver()
{
    return META_OK;
}

static meta_err find_target(const meta_plugin_device *device, gpu_target *target)
{
    *target = gpu_target();
    target->amd = device->properties.gcnArchName;
    return META_OK;
}

static gpu_status load(const char *, const gpu_image *image, void **module)
{
    return hipModuleLoadData((hipModule_t *)module, image->code);
}

static gpu_status get_function(void *module, void **function)
{
    return hipModuleGetFunction((hipFunction_t *)function, (hipModule_t)module, GPU_PROGRAM_ENTRY);
}

static gpu_status unload(void *module)
{
    return hipModuleUnload((hipModule_t)module);
}

static gpu_status launch(void *function, unsigned blocks, unsigned threads, gpu_stream stream,
                         void **arguments)
{
    return hipModuleLaunchKernel((hipFunction_t)function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                 arguments, NULL);
}

#endif

/* ------------------------------------------------------------------ code on a GPU */

/* A driver may reject the code at load, at lookup, or at the first launch. It was made for this
 * device, so building libmeta for it would not help. */
static meta_err fail_rejected_code(gpu_status status, const char *call, const char *title)
{
    if (status != GPU_NO_KERNEL) return gpu_fail(status, call);
    (void)GPU(GetLastError)();
    return gpu_host->fail(META_ERR_DEVICE,
                          "%s: %s: %s (%s); its code must be made by the " GPU_RTC
                          " of the driver's version: add the folder of that to LD_LIBRARY_PATH",
                          title, call, GPU(GetErrorString)(status), GPU(GetErrorName)(status));
}

static meta_err load_image(const char *title, const gpu_image *image, gpu_code *code)
{
    /* Loading needs the device's context, which the runtime makes no later than this. */
    GPU_TRY(Free, (NULL));
    META_TRY(open_driver());
    const gpu_status loaded = load(title, image, &code->module);
    if (loaded != GPU(Success)) return fail_rejected_code(loaded, CALL_LOAD, title);
    const gpu_status status = get_function(code->module, &code->function);
    if (status == GPU(Success)) return META_OK;
    gpu_code_drop(code);
    *code = gpu_code();
    return fail_rejected_code(status, CALL_GET, title);
}

/* What a program's code is made of, for the cache. */
struct code_job {
    gpu_target target;
    const char *title, *text;
    gpu_code *code;
};

static meta_err load_cached(void *with, const void *code, size_t bytes)
{
    const code_job *j = (const code_job *)with;
    gpu_image image = {(char *)(uintptr_t)code, bytes};
    return load_image(j->title, &image, j->code);
}

static meta_err build_code(void *with, void **code, size_t *bytes)
{
    const code_job *j = (const code_job *)with;
    gpu_image image = {};
    META_TRY(gpu_compile(&j->target, j->title, j->text, &image));
    const meta_err error = load_image(j->title, &image, j->code);
    if (error != META_OK) {
        free(image.code);
        return error;
    }
    *code = image.code;
    *bytes = image.bytes;
    return META_OK;
}

static meta_err make_or_load(code_job *j)
{
    gpu_facts facts;
    meta_cached what;
    gpu_facts_of(&j->target, j->title, j->text, 1, &facts, &what);
    what.with = j;
    what.load = load_cached;
    what.build = build_code;
    return meta_host_cached(gpu_host, &what);
}

meta_err gpu_code_make(const meta_plugin_device *device, const meta_kernel_source *source,
                       const char *title, gpu_passing passing, gpu_code *code)
{
    code_job j = {gpu_target(), title, NULL, code};
    META_TRY(find_target(device, &j.target));
    char *text = gpu_program_text(source, passing);
    if (!text) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    j.text = text;
    const meta_err error = make_or_load(&j);
    free(text);
    return error;
}

void gpu_code_drop(const gpu_code *code)
{
    const gpu_status status = unload(code->module);
    if (status != GPU(Success)) gpu_warn(status, CALL_UNLOAD);
}

meta_err gpu_code_run(const gpu_code *code, unsigned blocks, unsigned threads, gpu_stream stream,
                      gpu_passing passing, void *arguments, size_t, void *partials)
{
    void *parameters[] = {passing == GPU_IN_MEMORY ? &arguments : arguments, &partials};
    const gpu_status status = launch(code->function, blocks, threads, stream, parameters);
    return status == GPU(Success)
               ? META_OK
               : fail_rejected_code(status, CALL_LAUNCH, "a kernel of the program");
}

#endif
