/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_fake_cuda.c
 *  The fake CUDA keeps what NVIDIA documents of devices, memory, copies, errors and modules, and
 *  its variables do what they say. The order of work: test_fake_cuda_order.c. */
/* TEST: labels=core */
#include "test.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "on_fake_cuda.h"

enum { MANY = 1000 };

/* ------------------------------------------------------------------ devices */

static void count_devices(void)
{
    const char *devices = getenv("FAKE_CUDA_DEVICES");
    const int expected = atoi(devices ? devices : getenv("META_TEST_GPUS"));
    int count = -1;
    CUDA_FAILS(CUDA(cudaGetDeviceCount)(&count), expected ? cudaSuccess : cudaErrorNoDevice);
    CHECK_INT(count, expected);
    for (int k = 0; k < expected; ++k) CUDA_OK(CUDA(cudaSetDevice)(k));
    CUDA_FAILS(CUDA(cudaSetDevice)(expected),
               expected ? cudaErrorInvalidDevice : cudaErrorNoDevice);
    if (expected) fake_misused("there is no device");
}

static void there_are_as_many_devices_as_asked_for(void)
{
    CHECK_FAKE(count_devices, "FAKE_CUDA_DEVICES=0");
    CHECK_FAKE(count_devices, "FAKE_CUDA_DEVICES=1");
    CHECK_FAKE(count_devices, "FAKE_CUDA_DEVICES=16");
    CHECK_FAKE(count_devices, "META_TEST_GPUS=2");
    CHECK_FAKE(count_devices, "META_TEST_GPUS=2 FAKE_CUDA_DEVICES=1");
    CHECK_FAKE(count_devices, "FAKE_CUDA_DEVICES=1 META_TEST_GPUS=2");
}

static void use_old_driver(void)
{
    int count = -1, version = -1;
    void *memory;
    CUDA_FAILS(CUDA(cudaGetDeviceCount)(&count), cudaErrorInsufficientDriver);
    CUDA_FAILS(CUDA(cudaMalloc)(&memory, 1), cudaErrorInsufficientDriver);
    CUDA_OK(CUDA(cudaDriverGetVersion)(&version));
    CHECK_INT(version, atoi(getenv("FAKE_CUDA_DRIVER")));
}

static void a_driver_that_is_old_or_missing_serves_no_device(void)
{
    CHECK_FAKE(use_old_driver, "FAKE_CUDA_DRIVER=12090");
    CHECK_FAKE(use_old_driver, "FAKE_CUDA_DRIVER=0");
}

static void describe(void)
{
    struct cudaDeviceProp found;
    int pools = -1, can = -1, least = 1, greatest = 1;
    CUDA_OK(CUDA(cudaGetDeviceProperties)(&found, 1));
    CHECK_INT(found.major, 7);
    CHECK_INT(found.minor, 5);
    CHECK_INT(found.multiProcessorCount, 3);
    CHECK_INT(found.warpSize, 32);
    CUDA_OK(CUDA(cudaDeviceGetAttribute)(&pools, cudaDevAttrMemoryPoolsSupported, 1));
    CHECK_INT(pools, 0);
    CUDA_OK(CUDA(cudaDeviceGetStreamPriorityRange)(&least, &greatest));
    CHECK(least >= greatest);
    CUDA_OK(CUDA(cudaDeviceCanAccessPeer)(&can, 0, 1));
    CHECK_INT(can, 1);
    CUDA_OK(CUDA(cudaDeviceCanAccessPeer)(&can, 0, 2));
    CHECK_INT(can, 0);
}

static void devices_are_what_the_variables_say(void)
{
    CHECK_FAKE(describe,
               "FAKE_CUDA_DEVICES=3 FAKE_CUDA_CAPABILITY=75 FAKE_CUDA_UNITS=3 FAKE_CUDA_POOLS=0");
}

static void *allocate_in_thread(void *memory)
{
    CUDA_OK(CUDA(cudaMalloc)(memory, 8));
    return NULL;
}

static int owner_of(const void *memory)
{
    struct cudaPointerAttributes found;
    CUDA_OK(CUDA(cudaPointerGetAttributes)(&found, memory));
    CHECK_INT(found.type, cudaMemoryTypeDevice);
    return found.device;
}

static void use_threads(void)
{
    pthread_t thread;
    void *memory = NULL;
    CUDA_OK(CUDA(cudaSetDevice)(1));
    if (!CHECK(pthread_create(&thread, NULL, allocate_in_thread, &memory) == 0)) return;
    pthread_join(thread, NULL);
    CHECK_INT(owner_of(memory), 0);
    CHECK_INT(owner_of(fake_memory(8)), 1);
}

static void each_thread_begins_with_device_0(void)
{
    CHECK_FAKE(use_threads, "FAKE_CUDA_DEVICES=2");
}

static void use_after_fork(void)
{
    int count, status = -1;
    CUDA_OK(CUDA(cudaGetDeviceCount)(&count));
    const pid_t child = fork();
    if (child == 0) {
        static const uint32_t number = 7;
        cudaStream_t stream = fake_stream();
        void *memory = fake_memory(4);
        fake_upload(memory, &number, stream);
        CUDA_OK(CUDA(cudaStreamSynchronize)(stream));
        _exit(fake_peek(memory) != 7 || test_failures() > 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void devices_may_be_counted_before_a_fork(void)
{
    CHECK_FAKE(use_after_fork, "");
}

/* ------------------------------------------------------------------ memory */

static void touch(void)
{
    volatile uint32_t *memory = fake_memory(4);
    *memory = 5;
    CHECK_U64(fake_peek((const void *)(uintptr_t)memory), 5);
}

static void the_host_touches_device_memory_only_if_it_is_open(void)
{
    char text[4096];
    CHECK_INT(FAKE_SAYS(text, touch, "").signal, SIGSEGV);
    CHECK_FAKE(touch, "FAKE_CUDA_OPEN=1");
}

static void fill_memory(void)
{
    size_t unused = 0, all = 0;
    void *first = fake_memory(600000), *more = NULL;
    CUDA_FAILS(CUDA(cudaMalloc)(&more, 400001), cudaErrorMemoryAllocation);
    CUDA_FAILS(CUDA(cudaGetLastError)(), cudaErrorMemoryAllocation);
    CUDA_OK(CUDA(cudaMemGetInfo)(&unused, &all));
    CHECK_U64(all, 1000000);
    CHECK_U64(unused, 400000);
    CUDA_OK(CUDA(cudaFree)(first));
    CUDA_OK(CUDA(cudaMalloc)(&more, 1000000));
}

static void memory_is_full_at_the_bytes_given(void)
{
    CHECK_FAKE(fill_memory, "FAKE_CUDA_MEMORY=1000000");
}

static void free_and_use(void)
{
    uint32_t number = 1;
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(4);
    CHECK(fake_peek(memory) != 0); /* fresh memory has a pattern */
    CUDA_OK(CUDA(cudaFree)(memory));
    CHECK(fake_memory(4) != memory);
    CUDA_FAILS(CUDA(cudaMemcpyAsync)(memory, &number, 4, cudaMemcpyHostToDevice, stream),
               cudaErrorInvalidValue);
    fake_misused("no device memory");
    CUDA_FAILS(CUDA(cudaFree)(memory), cudaErrorInvalidValue);
    fake_misused("no device memory begins there");
}

static void freed_memory_is_invalid_and_not_used_again_at_once(void)
{
    CHECK_FAKE(free_and_use, "");
}

static void write_behind(void)
{
    char *memory = fake_host_memory(100);
    memory[100] = 0;
    CUDA_OK(CUDA(cudaFreeHost)(memory));
    fake_misused("behind the end");
}

static void what_is_written_behind_page_locked_memory_is_found(void)
{
    CHECK_FAKE(write_behind, "");
}

static void ask_for_kinds(void)
{
    struct cudaPointerAttributes found;
    char pageable[8];
    char *device = fake_memory(8), *host = fake_host_memory(8);
    CUDA_OK(CUDA(cudaPointerGetAttributes)(&found, pageable));
    CHECK_INT(found.type, cudaMemoryTypeUnregistered);
    CUDA_OK(CUDA(cudaPointerGetAttributes)(&found, host + 7));
    CHECK_INT(found.type, cudaMemoryTypeHost);
    CHECK_INT(owner_of(device + 7), 0);
    CUDA_OK(CUDA(cudaPointerGetAttributes)(&found, device + 8));
    CHECK_INT(found.type, cudaMemoryTypeUnregistered);
}

static void the_kind_of_an_address_is_told_for_each_byte(void)
{
    CHECK_FAKE(ask_for_kinds, "");
}

/* ------------------------------------------------------------------ copies */

static void copy_wrongly(void)
{
    char host[8] = {0};
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(8), *other = fake_memory(8);
    CUDA_FAILS(CUDA(cudaMemcpyAsync)(memory, host, 9, cudaMemcpyHostToDevice, stream),
               cudaErrorInvalidValue);
    fake_misused("not that large");
    CUDA_FAILS(CUDA(cudaMemcpyAsync)(memory, other, 8, cudaMemcpyHostToDevice, stream),
               cudaErrorInvalidValue);
    fake_misused("other kind");
    CUDA_FAILS(CUDA(cudaMemcpyPeerAsync)(memory, 0, other, 1, 8, stream), cudaErrorInvalidValue);
    fake_misused("not of the device that is named");
}

static void a_copy_beyond_its_memory_or_of_the_wrong_kind_is_refused(void)
{
    CHECK_FAKE(copy_wrongly, "FAKE_CUDA_DEVICES=2");
}

/* Device 0 and 2 have no access to each other. */
static void copy_to_peer(void)
{
    static const uint32_t number = 11;
    void *from = fake_memory(4);
    cudaStream_t first = fake_stream();
    fake_upload(from, &number, first);
    CUDA_OK(CUDA(cudaStreamSynchronize)(first));
    CUDA_OK(CUDA(cudaSetDevice)(2));
    void *to = fake_memory(4);
    cudaStream_t second = fake_stream();
    CUDA_OK(CUDA(cudaMemcpyPeerAsync)(to, 2, from, 0, 4, second));
    CUDA_OK(CUDA(cudaStreamSynchronize)(second));
    CHECK_U64(fake_peek(to), 11);
    /* A copy may be in a stream of another device than the current one, a kernel may not. */
    CUDA_OK(CUDA(cudaMemcpyPeerAsync)(to, 2, from, 0, 4, first));
    CUDA_OK(CUDA(cudaStreamSynchronize)(first));
    CUDA_FAILS(fake_launch(fake_kernel("add_one"), 1, to, first), cudaErrorInvalidResourceHandle);
    fake_misused("not of the current device");
}

static void memory_is_copied_between_any_two_devices(void)
{
    CHECK_FAKE(copy_to_peer, "FAKE_CUDA_DEVICES=3");
}

/* ------------------------------------------------------------------ errors */

static void break_context(void)
{
    cudaStream_t stream = fake_stream();
    char *memory = fake_memory(4);
    void *more;
    CUDA_OK(fake_launch(fake_kernel("add_one"), 2, memory, stream));
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(stream), cudaErrorIllegalAddress);
    fake_misused("add_one");
    CUDA_FAILS(CUDA(cudaGetLastError)(), cudaErrorIllegalAddress);
    CUDA_FAILS(CUDA(cudaGetLastError)(), cudaErrorIllegalAddress);
    CUDA_FAILS(CUDA(cudaMalloc)(&more, 4), cudaErrorIllegalAddress);
    CUDA_OK(CUDA(cudaSetDevice)(1));
    CUDA_OK(CUDA(cudaMalloc)(&more, 4));
}

static void the_error_of_a_kernel_stays_with_its_device(void)
{
    CHECK_FAKE(break_context, "FAKE_CUDA_DEVICES=2");
}

static void *ask_for_error(void *status)
{
    *(cudaError_t *)status = CUDA(cudaGetLastError)();
    return NULL;
}

static void leave_error(void)
{
    pthread_t thread;
    cudaError_t of_another = cudaErrorUnknown;
    void *memory;
    CUDA_FAILS(CUDA(cudaMalloc)(&memory, (size_t)1 << 40), cudaErrorMemoryAllocation);
    if (!CHECK(pthread_create(&thread, NULL, ask_for_error, &of_another) == 0)) return;
    pthread_join(thread, NULL);
    CHECK_INT(of_another, cudaSuccess);
    CUDA_FAILS(CUDA(cudaGetLastError)(), cudaErrorMemoryAllocation);
    CUDA_FAILS(CUDA(cudaGetLastError)(), cudaSuccess);
}

static void the_last_error_is_of_the_thread_and_forgotten_when_read(void)
{
    CHECK_FAKE(leave_error, "");
}

static void fail_once(void)
{
    void *memory = NULL;
    cudaStream_t stream = NULL;
    CUDA_OK(CUDA(cudaMalloc)(&memory, 4));
    CUDA_FAILS(CUDA(cudaStreamCreateWithPriority)(&stream, cudaStreamNonBlocking, 0),
               cudaErrorNotSupported);
    CHECK(stream == NULL);
    CHECK_STRING(fake->failed, "cudaStreamCreateWithPriority");
    CHECK_INT(fake->live[GPU_FAULT_STREAM], 0);
    CUDA_OK(CUDA(cudaFree)(memory));
}

static void fail_for_ever(void)
{
    void *memory = NULL;
    CUDA_OK(CUDA(cudaMalloc)(&memory, 4));
    CUDA_FAILS(CUDA(cudaFree)(memory), cudaErrorUnknown);
    CHECK_INT(fake->live[GPU_FAULT_MEMORY], 0); /* it is released all the same */
    CUDA_FAILS(CUDA(cudaMalloc)(&memory, 4), cudaErrorUnknown);
    CHECK_INT(fake->calls, 3);
}

static void fail_by_name(void)
{
    void *memory = fake_memory(4);
    for (int k = 0; k < 2; ++k) {
        CHECK_INT(CUDA(cudaSetDevice)(0), 101);
        CUDA_OK(CUDA(cudaFree)(NULL));
    }
    CUDA_OK(CUDA(cudaFree)(memory));
}

static void any_call_fails_when_it_is_told_to(void)
{
    CHECK_FAKE(fail_once, "FAKE_CUDA_FAIL_AT=2 FAKE_CUDA_FAIL_STATUS=801");
    CHECK_FAKE(fail_for_ever, "FAKE_CUDA_FAIL_AT=2 FAKE_CUDA_FAIL_STICKY=1");
    CHECK_FAKE(fail_by_name, "FAKE_CUDA_FAIL_CALL=cudaSetDevice:101");
}

static void use_default_stream(void)
{
    (void)CUDA(cudaStreamSynchronize)(NULL);
}

static void load_initialised_by_address(void)
{
    CUmodule module;
    CUDA_OK(CUDA(cudaFree)(NULL));
    (void)CUDA(cuModuleLoadDataEx)(&module,
                                   ".version 8.0\n.target sm_75\n.address_size 64\n"
                                   ".global .u64 a = 1;\n.global .u64 b[1] = {a};\n",
                                   0, NULL, NULL);
}

static void count_only(void)
{
    int count;
    CUDA_OK(CUDA(cudaGetDeviceCount)(&count));
}

static void what_the_fake_lacks_ends_the_program_and_is_named(void)
{
    char text[4096];
    CHECK_INT(FAKE_SAYS(text, use_default_stream, "").signal, SIGABRT);
    CHECK_CONTAINS(text, "cudaStreamSynchronize: the fake lacks default streams");
    CHECK_INT(FAKE_SAYS(text, load_initialised_by_address, "").signal, SIGABRT);
    CHECK_CONTAINS(text, "cuModuleLoadDataEx: the fake lacks what the module needs: PTX line 5");
    CHECK_INT(FAKE_SAYS(text, count_only, "FAKE_CUDA_LACY=1").status, 1);
    CHECK_CONTAINS(text, "FAKE_CUDA_LACY=1: there is no such variable");
    CHECK_INT(FAKE_SAYS(text, count_only, "FAKE_CUDA_DEVICES=17").status, 1);
    CHECK_CONTAINS(text, "FAKE_CUDA_DEVICES=17: the number is out of range");
}

/* ------------------------------------------------------------------ modules and kernels */

static void launch_well(void)
{
    static const uint32_t zeros[MANY] = {0};
    static uint32_t found[MANY];
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(sizeof zeros);
    CUfunction kernel = fake_kernel("add_one");
    CUDA_OK(CUDA(cudaMemcpyAsync)(memory, zeros, sizeof zeros, cudaMemcpyHostToDevice, stream));
    for (int k = 0; k < 3; ++k) CUDA_OK(fake_launch(kernel, MANY, memory, stream));
    CUDA_OK(CUDA(cudaMemcpyAsync)(found, memory, sizeof found, cudaMemcpyDeviceToHost, stream));
    for (int k = 0; k < MANY; ++k) CHECK_U64(found[k], 3);
    CUDA_FAILS(fake_launch(kernel, 1025, memory, stream), cudaErrorInvalidConfiguration);
    fake_misused("blocks of 1025");
}

static void a_kernel_runs_once_for_each_thread(void)
{
    CHECK_FAKE(launch_well, "");
    CHECK_FAKE(launch_well, "FAKE_CUDA_THREADS=1");
}

static void load_wrongly(void)
{
    char said[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {said, (void *)sizeof said};
    CUmodule module = NULL;
    CUfunction kernel;
    CHECK_INT(CUDA(cuModuleLoadDataEx)(&module, ".version 8.0\n.target sm_75\n", 0, NULL, NULL),
              CUDA_ERROR_INVALID_CONTEXT);
    fake_misused("no context");
    CUDA_OK(CUDA(cudaFree)(NULL));
    CHECK_INT(CUDA(cuModuleLoadDataEx)(&module, ".version 9.0\n.target sm_100\n", 0, NULL, NULL),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_INT(CUDA(cuModuleLoadDataEx)(&module, "nonsense", 0, NULL, NULL),
              CUDA_ERROR_INVALID_IMAGE);
    CHECK_INT(CUDA(cuModuleLoadDataEx)(
                  &module, ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry (\n", 2,
                  options, values),
              CUDA_ERROR_INVALID_PTX);
    CHECK_CONTAINS(said, "PTX line ");
    CHECK(module == NULL);
    module = fake_module();
    CHECK_INT(CUDA(cuModuleGetFunction)(&kernel, module, "missing"), CUDA_ERROR_NOT_FOUND);
    CHECK_INT(fake->live[GPU_FAULT_MODULE], 1);
    CHECK_INT(CUDA(cuModuleUnload)(module), CUDA_SUCCESS);
    CHECK_INT(fake->live[GPU_FAULT_MODULE], 0);
    CHECK_INT(CUDA(cuModuleUnload)(module), CUDA_ERROR_INVALID_HANDLE);
    fake_misused("no such module");
}

static void code_that_cannot_be_loaded_is_refused_with_the_reason(void)
{
    CHECK_FAKE(load_wrongly, "");
}

static void unload_early(void)
{
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(4);
    CUmodule module = fake_module();
    CUfunction kernel = NULL;
    CHECK_INT(CUDA(cuModuleGetFunction)(&kernel, module, "add_one"), CUDA_SUCCESS);
    CUDA_OK(fake_launch(kernel, 1, memory, stream));
    CHECK_INT(CUDA(cuModuleUnload)(module), CUDA_SUCCESS);
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(stream), cudaErrorLaunchFailure);
    fake_misused("unloaded");
}

static void a_module_that_is_unloaded_before_its_kernel_runs_is_an_error(void)
{
    CHECK_FAKE(unload_early, "FAKE_CUDA_LAZY=1");
}

static void run_race(void)
{
    const char *sought = getenv("FAKE_CUDA_RACES");
    cudaStream_t stream = fake_stream();
    CUDA_OK(fake_launch(fake_kernel("race"), 64, NULL, stream));
    const cudaError_t status = CUDA(cudaStreamSynchronize)(stream);
    if (!sought) {
        CHECK_INT(status, cudaSuccess);
        return;
    }
    CHECK(status != cudaSuccess);
    fake_misused("race");
}

static void races_on_shared_memory_are_errors_if_they_are_sought(void)
{
    CHECK_FAKE(run_race, "FAKE_CUDA_RACES=1");
    CHECK_FAKE(run_race, "");
}

/* ------------------------------------------------------------------ NVRTC */

#define NVRTC(name) ((__typeof__(&name))dlsym(nvrtc, #name))

static void *open_nvrtc(void)
{
    void *nvrtc = dlopen(test_built("tests/cuda/lib/.libs/libnvrtc.so.13"), RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc) FAIL("%s", dlerror());
    return nvrtc;
}

static void compile(void)
{
    static const char text[] = "extern \"C\" __global__ void one(int *a) { *a = 1; }";
    static const char *const options[] = {"-arch=sm_75"};
    const bool fails = getenv("FAKE_CUDA_FAIL_CALL") != NULL;
    void *nvrtc = open_nvrtc();
    nvrtcProgram program = NULL;
    char *code = NULL;
    size_t bytes = 0;
    CUmodule module = NULL;
    if (!nvrtc) return;
    CHECK_INT(NVRTC(nvrtcCreateProgram)(&program, text, "one", 0, NULL, NULL), NVRTC_SUCCESS);
    CHECK_INT(NVRTC(nvrtcCompileProgram)(program, 1, options),
              fails ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_SUCCESS);
    if (fails) return;
    CHECK_INT(NVRTC(nvrtcGetCUBINSize)(program, &bytes), NVRTC_SUCCESS);
    code = malloc(bytes);
    if (!code) abort();
    CHECK_INT(NVRTC(nvrtcGetCUBIN)(program, code), NVRTC_SUCCESS);
    CHECK_CONTAINS(code, ".target sm_75");
    CUDA_OK(CUDA(cudaFree)(NULL));
    CHECK_INT(CUDA(cuModuleLoadDataEx)(&module, code, 0, NULL, NULL), CUDA_SUCCESS);
    free(code);
}

static void nvrtc_gives_out_ptx_where_machine_code_is_asked_for(void)
{
    CHECK_FAKE(compile, "");
    CHECK_FAKE(compile, "FAKE_CUDA_FAIL_CALL=nvrtcCompileProgram:1");
}

static void destroy_program(void)
{
    void *nvrtc = open_nvrtc();
    nvrtcProgram program = NULL;
    if (!nvrtc) return;
    CHECK_INT(NVRTC(nvrtcCreateProgram)(&program, "", "none", 0, NULL, NULL), NVRTC_SUCCESS);
    CHECK(program != NULL);
    CHECK_INT(NVRTC(nvrtcDestroyProgram)(&program), NVRTC_ERROR_INTERNAL_ERROR);
    CHECK(program == NULL);
}

static void a_program_is_destroyed_even_if_that_fails(void)
{
    CHECK_FAKE(destroy_program, "FAKE_CUDA_FAIL_CALL=nvrtcDestroyProgram");
}

/* ------------------------------------------------------------------ the report and the control */

static void misuse_once(void)
{
    (void)CUDA(cudaFree)(&fake);
    *fake->misuse = '\0';
}

static void misuse_is_printed_when_it_happens(void)
{
    char text[4096];
    CHECK_INT(FAKE_SAYS(text, misuse_once, "FAKE_CUDA_QUIET=0").status, 0);
    CHECK_STRING(text, "fake CUDA: cudaFree: no device memory begins there\n");
    CHECK_INT(FAKE_SAYS(text, misuse_once, "FAKE_CUDA_QUIET=1").status, 0);
    CHECK_STRING(text, "");
}

static void leave_things(void)
{
    void *memory = fake_memory(4), *no;
    cudaStream_t stream = fake_stream();
    CUDA_OK(fake_launch(fake_kernel("add_one"), 1, memory, stream));
    CUDA_OK(CUDA(cudaStreamSynchronize)(stream));
    CUDA_FAILS(CUDA(cudaMalloc)(&no, (size_t)1 << 40), cudaErrorMemoryAllocation);
    CUDA_OK(CUDA(cudaFree)(NULL));
    CUDA_FAILS(CUDA(cudaFree)(&no), cudaErrorInvalidValue);
    *fake->misuse = '\0';
    exit(test_failures() > 0); /* the report is written at a process's proper end */
}

static void the_report_says_what_was_called_and_what_is_left_over(void)
{
    char text[8192], *end;
    const char *const expected[] = {"process ",
                                    "1 launches",
                                    "seed 77",
                                    "called cudaMalloc 2",
                                    "ran add_one 1",
                                    "calls with an error pending: 2, the first: cudaFree after",
                                    "misuse: 1",
                                    "left over: 1 device memory",
                                    "left over: 1 streams",
                                    "left over: 1 modules"};
    CHECK_INT(FAKE_SAYS(text, leave_things, "FAKE_CUDA_REPORT=- FAKE_CUDA_SEED=77").status, 0);
    end = text;
    for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k)
        if (CHECK_CONTAINS(end, expected[k])) end = strstr(end, expected[k]);
}

static void use_control(void)
{
    static const uint32_t number = 13;
    void *memory = fake->make_memory(1, 4);
    cudaStream_t stream = fake->make_stream(1);
    fake_upload(memory, &number, stream);
    CUDA_OK(CUDA(cudaStreamSynchronize)(stream));
    CHECK_U64(fake_peek(memory), 13);
    CHECK_INT(owner_of(memory), 1);
    fake->free_memory(memory);
    fake->free_stream(stream);
    for (int k = 0; k < GPU_FAULT_KINDS; ++k) CHECK_INT(fake->live[k], 0);
    uint32_t found;
    CHECK_INT(fake->peek(&found, memory, 4), 0);
}

static void a_test_has_objects_made_and_looks_into_memory(void)
{
    CHECK_FAKE(use_control, "FAKE_CUDA_DEVICES=2");
}

TEST_MAIN(PROMISE(there_are_as_many_devices_as_asked_for),
          PROMISE(a_driver_that_is_old_or_missing_serves_no_device),
          PROMISE(devices_are_what_the_variables_say), PROMISE(each_thread_begins_with_device_0),
          PROMISE(devices_may_be_counted_before_a_fork),
          PROMISE(the_host_touches_device_memory_only_if_it_is_open),
          PROMISE(memory_is_full_at_the_bytes_given),
          PROMISE(freed_memory_is_invalid_and_not_used_again_at_once),
          PROMISE(what_is_written_behind_page_locked_memory_is_found),
          PROMISE(the_kind_of_an_address_is_told_for_each_byte),
          PROMISE(a_copy_beyond_its_memory_or_of_the_wrong_kind_is_refused),
          PROMISE(memory_is_copied_between_any_two_devices),
          PROMISE(the_error_of_a_kernel_stays_with_its_device),
          PROMISE(the_last_error_is_of_the_thread_and_forgotten_when_read),
          PROMISE(any_call_fails_when_it_is_told_to),
          PROMISE(what_the_fake_lacks_ends_the_program_and_is_named),
          PROMISE(a_kernel_runs_once_for_each_thread),
          PROMISE(code_that_cannot_be_loaded_is_refused_with_the_reason),
          PROMISE(a_module_that_is_unloaded_before_its_kernel_runs_is_an_error),
          PROMISE(races_on_shared_memory_are_errors_if_they_are_sought),
          PROMISE(nvrtc_gives_out_ptx_where_machine_code_is_asked_for),
          PROMISE(a_program_is_destroyed_even_if_that_fails),
          PROMISE(misuse_is_printed_when_it_happens),
          PROMISE(the_report_says_what_was_called_and_what_is_left_over),
          PROMISE(a_test_has_objects_made_and_looks_into_memory))
