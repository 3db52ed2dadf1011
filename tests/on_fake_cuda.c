/* SPDX-License-Identifier: BSD-3-Clause */
/** @file on_fake_cuda.c
 *  Loads the fake CUDA into a child process, and calls it. */
#include "config.h"

#include "on_fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gpu_fault *fake;
static void *library;

static const char ptx[] = ".version 8.0\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry add_one(.param .u64 add_one_param_0)\n"
                          "{\n"
                          "    .reg .b32 %r<4>;\n"
                          "    .reg .b64 %rd<5>;\n"
                          "    ld.param.u64 %rd1, [add_one_param_0];\n"
                          "    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    mul.wide.u32 %rd3, %r1, 4;\n"
                          "    add.s64 %rd4, %rd2, %rd3;\n"
                          "    ld.global.u32 %r2, [%rd4];\n"
                          "    add.s32 %r3, %r2, 1;\n"
                          "    st.global.u32 [%rd4], %r3;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry race(.param .u64 race_param_0)\n"
                          "{\n"
                          "    .reg .b32 %r<2>;\n"
                          "    .shared .align 4 .b8 cell[4];\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    st.shared.u32 [cell], %r1;\n"
                          "    ret;\n"
                          "}\n";

void *fake_function(const char *name)
{
    void *found = dlsym(library, name);
    if (found) return found;
    FAIL("%s", dlerror());
    exit(1);
}

void fake_run(void *argument)
{
    const fake_case *c = argument;
    char variables[256], *rest = NULL;
    unsetenv("META_TEST_GPUS");
    snprintf(variables, sizeof variables, "%s", c->variables);
    for (char *one = strtok_r(variables, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        setenv(one, value, 1);
    }
    setenv("FAKE_CUDA_QUIET", "1", 0);
    library = dlopen(test_built("tests/cuda/lib/.libs/libcuda.so.1"), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        FAIL("%s", dlerror());
        return;
    }
    fake = fake_function("gpu_fault_control");
    c->body();
    CHECK_STRING(fake->misuse, "");
}

void fake_misused(const char *part)
{
    CHECK_CONTAINS(fake->misuse, part);
    *fake->misuse = '\0';
}

/* ------------------------------------------------------------------ objects */

void *fake_memory(size_t bytes)
{
    void *memory = NULL;
    CUDA_OK(CUDA(cudaMalloc)(&memory, bytes));
    return memory;
}

void *fake_host_memory(size_t bytes)
{
    void *memory = NULL;
    CUDA_OK(CUDA(cudaHostAlloc)(&memory, bytes, cudaHostAllocPortable));
    return memory;
}

cudaStream_t fake_stream(void)
{
    cudaStream_t stream = NULL;
    CUDA_OK(CUDA(cudaStreamCreateWithPriority)(&stream, cudaStreamNonBlocking, 0));
    return stream;
}

cudaEvent_t fake_event(void)
{
    cudaEvent_t event = NULL;
    CUDA_OK(CUDA(cudaEventCreate)(&event));
    return event;
}

CUmodule fake_module(void)
{
    CUmodule module = NULL;
    CUDA_OK(CUDA(cuModuleLoadDataEx)(&module, ptx, 0, NULL, NULL));
    return module;
}

CUfunction fake_kernel(const char *name)
{
    CUfunction kernel = NULL;
    CUDA_OK(CUDA(cuModuleGetFunction)(&kernel, fake_module(), name));
    return kernel;
}

cudaError_t fake_launch(CUfunction kernel, unsigned threads, void *pointer, cudaStream_t stream)
{
    void *arguments[] = {&pointer};
    return (cudaError_t)CUDA(cuLaunchKernel)(kernel, 1, 1, 1, threads, 1, 1, 0, stream, arguments,
                                             NULL);
}

void fake_upload(void *memory, const uint32_t *number, cudaStream_t stream)
{
    CUDA_OK(CUDA(cudaMemcpyAsync)(memory, number, sizeof *number, cudaMemcpyHostToDevice, stream));
}

uint32_t fake_peek(const void *memory)
{
    uint32_t number = 0;
    CHECK(fake->peek(&number, memory, sizeof number));
    return number;
}
