/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_fake_cuda_order.c
 *  The fake CUDA orders work as NVIDIA documents it, and no earlier where it is told to be lazy:
 *  streams, events, copies of pageable memory, and memory pools. */
/* TEST: labels=core */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "on_fake_cuda.h"

#define LAZY "FAKE_CUDA_LAZY=1"
enum { PATIENCE = 10000 }; /* milliseconds */

static void synchronise(cudaStream_t stream)
{
    CUDA_OK(CUDA(cudaStreamSynchronize)(stream));
}

static void record(cudaEvent_t event, cudaStream_t stream)
{
    CUDA_OK(CUDA(cudaEventRecord)(event, stream));
}

static void let_wait(cudaStream_t stream, cudaEvent_t event)
{
    CUDA_OK(CUDA(cudaStreamWaitEvent)(stream, event, 0));
}

/* Numbers in page-locked memory, which is read when a copy of it executes. */
static uint32_t *numbers(void)
{
    uint32_t *made = fake_host_memory(8 * sizeof *made);
    for (uint32_t k = 0; k < 8; ++k) made[k] = k;
    return made;
}

/* Device memory that holds @p number. */
static void *memory_with(uint32_t number)
{
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(sizeof number);
    fake_upload(memory, &number, stream);
    synchronise(stream);
    return memory;
}

/* ------------------------------------------------------------------ streams and events */

enum { ROUNDS = 20 };

static void queue_in_order(void)
{
    const uint32_t *number = numbers();
    cudaStream_t stream = fake_stream();
    CUfunction add_one = fake_kernel("add_one");
    void *memory = fake_memory(4);
    for (int k = 0; k < ROUNDS; ++k) {
        fake_upload(memory, &number[1], stream);
        fake_upload(memory, &number[5], stream);
        CUDA_OK(fake_launch(add_one, 1, memory, stream));
    }
    synchronise(stream);
    CHECK_U64(fake_peek(memory), 6);
}

static void the_work_of_a_stream_runs_in_its_order(void)
{
    CHECK_FAKE(queue_in_order, "");
    CHECK_FAKE(queue_in_order, LAZY);
    CHECK_FAKE(queue_in_order, "FAKE_CUDA_DELAY=500 FAKE_CUDA_SEED=2");
}

/* Each stream adds to what the other has left. */
static void take_turns(void)
{
    cudaStream_t stream[2] = {fake_stream(), fake_stream()};
    cudaEvent_t event = fake_event();
    CUfunction add_one = fake_kernel("add_one");
    void *memory = memory_with(0);
    for (int k = 0; k < ROUNDS; ++k) {
        CUDA_OK(fake_launch(add_one, 1, memory, stream[k % 2]));
        record(event, stream[k % 2]);
        let_wait(stream[(k + 1) % 2], event);
    }
    synchronise(stream[ROUNDS % 2]);
    CHECK_U64(fake_peek(memory), ROUNDS);
}

static void an_event_orders_two_streams(void)
{
    CHECK_FAKE(take_turns, "");
    CHECK_FAKE(take_turns, LAZY);
    CHECK_FAKE(take_turns, "FAKE_CUDA_DELAY=500 FAKE_CUDA_SEED=3");
    CHECK_FAKE(take_turns, "FAKE_CUDA_DELAY=500 " LAZY);
}

static void sleep_apart(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream(), second = fake_stream(), third = fake_stream();
    cudaEvent_t event = fake_event();
    void *a = memory_with(0), *b = memory_with(0), *c = memory_with(0);
    fake_upload(a, &number[1], first);
    record(event, first);
    fake_upload(a, &number[2], first);
    fake_upload(b, &number[3], second);
    let_wait(third, event);
    fake_upload(c, &number[4], third);
    synchronise(second);
    CHECK_U64(fake_peek(a), 0);
    CHECK_U64(fake_peek(b), 3);
    CHECK_U64(fake_peek(c), 0);
    /* The first stream wakes for what the third needs, and for no more. */
    synchronise(third);
    CHECK_U64(fake_peek(a), 1);
    CHECK_U64(fake_peek(c), 4);
    synchronise(first);
    CHECK_U64(fake_peek(a), 2);
}

static void a_lazy_stream_sleeps_until_its_work_is_waited_for(void)
{
    CHECK_FAKE(sleep_apart, LAZY);
}

static void query(void)
{
    const uint32_t *number = numbers();
    cudaStream_t stream = fake_stream();
    cudaEvent_t event = fake_event();
    void *memory = memory_with(0);
    cudaError_t status;
    CUDA_OK(CUDA(cudaEventQuery)(event)); /* nothing was captured */
    CUDA_OK(CUDA(cudaEventSynchronize)(event));
    let_wait(stream, event);
    fake_upload(memory, &number[1], stream);
    record(event, stream);
    fake_upload(memory, &number[2], stream);
    CUDA_FAILS(CUDA(cudaEventQuery)(event), cudaErrorNotReady);
    while ((status = CUDA(cudaEventQuery)(event)) == cudaErrorNotReady) continue;
    CUDA_OK(status);
    CHECK_U64(fake_peek(memory), 1);
}

static void a_query_wakes_a_lazy_stream(void)
{
    CHECK_FAKE(query, LAZY);
}

static void record_again(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream(), second = fake_stream();
    cudaEvent_t event = fake_event();
    void *a = memory_with(0), *b = memory_with(0);
    fake_upload(a, &number[1], first);
    record(event, first);
    let_wait(second, event);
    fake_upload(b, &number[3], second);
    fake_upload(a, &number[2], first);
    record(event, first);
    synchronise(second);
    CHECK_U64(fake_peek(a), 1);
    CUDA_OK(CUDA(cudaEventSynchronize)(event));
    CHECK_U64(fake_peek(a), 2);
}

static void a_wait_is_for_what_was_captured_at_the_time_of_the_call(void)
{
    CHECK_FAKE(record_again, LAZY);
}

static void destroy_early(void)
{
    const uint32_t *number = numbers();
    cudaStream_t stream = fake_stream();
    cudaEvent_t event = fake_event(), other = fake_event();
    void *memory = memory_with(0);
    fake_upload(memory, &number[1], stream);
    record(event, stream);
    record(other, stream);
    CUDA_OK(CUDA(cudaStreamDestroy)(stream));
    CUDA_OK(CUDA(cudaEventDestroy)(other));
    CUDA_OK(CUDA(cudaEventSynchronize)(event));
    CHECK_U64(fake_peek(memory), 1);
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(stream), cudaErrorInvalidResourceHandle);
    fake_misused("no such stream");
    CUDA_FAILS(CUDA(cudaEventRecord)(other, fake_stream()), cudaErrorInvalidResourceHandle);
    fake_misused("no such event");
}

static void work_ends_after_its_stream_was_destroyed(void)
{
    CHECK_FAKE(destroy_early, LAZY);
    CHECK_FAKE(destroy_early, "");
}

static void take_times(void)
{
    const uint32_t *number = numbers();
    cudaStream_t stream = fake_stream();
    cudaEvent_t from = fake_event(), to = fake_event(), untimed = NULL;
    void *memory = fake_memory(4);
    float milliseconds = -1;
    CUDA_OK(CUDA(cudaEventCreateWithFlags)(&untimed, cudaEventDisableTiming));
    record(from, stream);
    CUDA_FAILS(CUDA(cudaEventElapsedTime)(&milliseconds, from, to), cudaErrorInvalidResourceHandle);
    fake_misused("never recorded");
    fake_upload(memory, number, stream);
    record(to, stream);
    record(untimed, stream);
    CUDA_FAILS(CUDA(cudaEventElapsedTime)(&milliseconds, from, to), cudaErrorNotReady);
    CUDA_OK(CUDA(cudaEventSynchronize)(to));
    CUDA_OK(CUDA(cudaEventElapsedTime)(&milliseconds, from, to));
    CHECK(milliseconds >= 0 && milliseconds < 60000);
    CUDA_FAILS(CUDA(cudaEventElapsedTime)(&milliseconds, from, untimed),
               cudaErrorInvalidResourceHandle);
    fake_misused("without timing");
}

static void the_time_between_events_is_known_when_both_are_complete(void)
{
    CHECK_FAKE(take_times, LAZY);
}

/* An event is recorded in streams of its own device only; streams wait for events of any. */
static void mix_devices(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream();
    cudaEvent_t event = fake_event();
    void *memory = memory_with(0);
    fake_upload(memory, &number[1], first);
    record(event, first);
    CUDA_OK(CUDA(cudaSetDevice)(1));
    cudaStream_t second = fake_stream();
    CUDA_FAILS(CUDA(cudaEventRecord)(event, second), cudaErrorInvalidResourceHandle);
    fake_misused("two devices");
    let_wait(second, event);
    synchronise(second);
    CHECK_U64(fake_peek(memory), 1);
    CUDA_OK(CUDA(cudaEventQuery)(event));
}

static void events_order_streams_of_two_devices(void)
{
    CHECK_FAKE(mix_devices, LAZY " FAKE_CUDA_DEVICES=2");
}

/* ------------------------------------------------------------------ copies */

static void upload_and_change(void)
{
    uint32_t pageable = 1, *locked = numbers();
    cudaStream_t stream = fake_stream();
    void *a = memory_with(0), *b = memory_with(0);
    fake_upload(a, &pageable, stream);
    fake_upload(b, &locked[1], stream);
    pageable = locked[1] = 9;
    synchronise(stream);
    CHECK_U64(fake_peek(a), 1);
    CHECK_U64(fake_peek(b), 9);
}

static void pageable_memory_is_staged_and_page_locked_memory_read_when_the_copy_executes(void)
{
    CHECK_FAKE(upload_and_change, LAZY);
}

static void download(void)
{
    uint32_t pageable = 0, *locked = numbers();
    cudaStream_t stream = fake_stream();
    void *memory = memory_with(4);
    CUDA_OK(CUDA(cudaMemcpyAsync)(&locked[0], memory, 4, cudaMemcpyDeviceToHost, stream));
    CHECK_U64(locked[0], 0);
    CUDA_OK(CUDA(cudaMemcpyAsync)(&pageable, memory, 4, cudaMemcpyDeviceToHost, stream));
    CHECK_U64(pageable, 4);
    CHECK_U64(locked[0], 4); /* it was queued before */
}

static void a_download_to_pageable_memory_is_complete_on_return(void)
{
    CHECK_FAKE(download, LAZY);
}

/* cudaFree() promises no more than that it may wait. */
static void free_early(void)
{
    const uint32_t *number = numbers();
    cudaStream_t stream = fake_stream();
    void *memory = fake_memory(4);
    fake_upload(memory, number, stream);
    CUDA_OK(CUDA(cudaFree)(memory));
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(stream), cudaErrorIllegalAddress);
    fake_misused("freed");
}

static void memory_freed_before_a_copy_of_it_executes_is_an_error(void)
{
    CHECK_FAKE(free_early, LAZY);
}

/* ------------------------------------------------------------------ pools */

static cudaMemPool_t pool_of(int device, uint64_t threshold)
{
    struct cudaMemPoolProps wanted;
    cudaMemPool_t pool = NULL;
    memset(&wanted, 0, sizeof wanted);
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = device;
    CUDA_OK(CUDA(cudaMemPoolCreate)(&pool, &wanted));
    CUDA_OK(CUDA(cudaMemPoolSetAttribute)(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    return pool;
}

static void *pool_memory(size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    void *memory = NULL;
    CUDA_OK(CUDA(cudaMallocFromPoolAsync)(&memory, bytes, pool, stream));
    return memory;
}

static uint64_t reserved(cudaMemPool_t pool)
{
    uint64_t bytes = 0;
    CUDA_OK(CUDA(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    return bytes;
}

static void allocate_in_order(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream(), second = fake_stream();
    cudaEvent_t event = fake_event();
    cudaMemPool_t pool = pool_of(0, 0);
    /* The same stream, another that waits for an event, and one after the host has waited. */
    void *a = pool_memory(4, pool, first);
    fake_upload(a, &number[1], first);
    record(event, first);
    let_wait(second, event);
    CUDA_OK(fake_launch(fake_kernel("add_one"), 1, a, second));
    synchronise(second);
    CHECK_U64(fake_peek(a), 2);
    void *b = pool_memory(4, pool, first);
    synchronise(first);
    fake_upload(b, &number[3], second);
    synchronise(second);
    CHECK_U64(fake_peek(b), 3);
}

static void copy_too_early(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream(), second = fake_stream();
    fake_upload(pool_memory(4, pool_of(0, 0), first), number, second);
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(second), cudaErrorIllegalAddress);
    fake_misused("not yet allocated");
}

static void launch_too_early(void)
{
    cudaStream_t first = fake_stream(), second = fake_stream();
    void *memory = pool_memory(4, pool_of(0, 0), first);
    CUDA_OK(fake_launch(fake_kernel("add_one"), 1, memory, second));
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(second), cudaErrorIllegalAddress);
    fake_misused("add_one");
}

static void a_pools_memory_can_be_used_when_its_allocation_has_executed(void)
{
    CHECK_FAKE(allocate_in_order, LAZY);
    CHECK_FAKE(allocate_in_order, "");
    CHECK_FAKE(copy_too_early, LAZY);
    CHECK_FAKE(launch_too_early, LAZY);
}

static void free_in_order(void)
{
    const uint32_t *number = numbers();
    cudaStream_t first = fake_stream(), second = fake_stream();
    void *memory = pool_memory(4, pool_of(0, 0), first);
    synchronise(first);
    fake_upload(memory, number, second);
    CUDA_OK(CUDA(cudaFreeAsync)(memory, first));
    synchronise(second); /* that was queued before */
    CUDA_FAILS(CUDA(cudaMemcpyAsync)(memory, number, 4, cudaMemcpyHostToDevice, second),
               cudaErrorInvalidValue);
    fake_misused("has been freed");
    CUDA_FAILS(CUDA(cudaFreeAsync)(memory, first), cudaErrorInvalidValue);
    fake_misused("no memory of a pool begins there");
    CUDA_OK(fake_launch(fake_kernel("add_one"), 1, memory, second));
    CUDA_FAILS(CUDA(cudaStreamSynchronize)(second), cudaErrorIllegalAddress);
    fake_misused("add_one");
}

static void work_that_is_queued_after_a_free_cannot_use_the_memory(void)
{
    CHECK_FAKE(free_in_order, LAZY);
}

static void destroy_after_free(void)
{
    const uint32_t *number = numbers();
    uint32_t found;
    cudaStream_t stream = fake_stream();
    void *memory = pool_memory(4, pool_of(0, 0), stream);
    fake_upload(memory, &number[1], stream);
    CUDA_OK(CUDA(cudaFreeAsync)(memory, stream));
    CUDA_OK(CUDA(cudaStreamDestroy)(stream));
    for (int k = 0; k < PATIENCE && fake->peek(&found, memory, 4); ++k) usleep(1000);
    CHECK(!fake->peek(&found, memory, 4));
}

static void what_a_destroyed_stream_is_to_free_is_freed(void)
{
    CHECK_FAKE(destroy_after_free, LAZY);
    CHECK_FAKE(destroy_after_free, "");
}

static void keep_and_trim(void)
{
    cudaStream_t stream = fake_stream(), other = fake_stream();
    cudaMemPool_t pool = pool_of(0, 1000);
    void *a = pool_memory(600, pool, stream), *b = pool_memory(300, pool, stream);
    CHECK_U64(reserved(pool), 900);
    CUDA_OK(CUDA(cudaFreeAsync)(a, stream));
    CUDA_OK(CUDA(cudaFreeAsync)(b, stream));
    CHECK_U64(reserved(pool), 900);
    /* What is kept serves the same stream at once, another one after the host has waited. */
    a = pool_memory(500, pool, stream);
    CHECK_U64(reserved(pool), 900);
    b = pool_memory(200, pool, other);
    CHECK_U64(reserved(pool), 1100);
    CUDA_OK(CUDA(cudaFreeAsync)(a, stream));
    CUDA_OK(CUDA(cudaFreeAsync)(b, other));
    CUDA_OK(CUDA(cudaMemPoolTrimTo)(pool, 0));
    CHECK_U64(reserved(pool), 1100);
    synchronise(stream);
    synchronise(other);
    CUDA_OK(CUDA(cudaMemPoolTrimTo)(pool, 250));
    CHECK(reserved(pool) >= 250 && reserved(pool) < 1100);
    CUDA_OK(CUDA(cudaMemPoolTrimTo)(pool, 0));
    CHECK_U64(reserved(pool), 0);
    CUDA_OK(CUDA(cudaMemPoolDestroy)(pool));
}

static void a_pool_keeps_memory_until_the_host_has_seen_it_freed(void)
{
    CHECK_FAKE(keep_and_trim, LAZY);
    CHECK_FAKE(keep_and_trim, "");
}

static void keep_nothing(void)
{
    cudaStream_t stream = fake_stream();
    cudaMemPool_t pool = pool_of(0, 0);
    CUDA_OK(CUDA(cudaFreeAsync)(pool_memory(600, pool, stream), stream));
    CHECK_U64(reserved(pool), 600);
    synchronise(stream);
    CHECK_U64(reserved(pool), 0);
}

static void a_pool_releases_what_is_above_its_threshold_when_the_host_waits(void)
{
    CHECK_FAKE(keep_nothing, "");
}

static void fill_pool(void)
{
    cudaStream_t stream = fake_stream();
    cudaMemPool_t pool = pool_of(0, UINT64_MAX);
    void *memory = pool_memory(600, pool, stream), *more = NULL;
    CUDA_OK(CUDA(cudaFreeAsync)(memory, stream));
    CUDA_FAILS(CUDA(cudaMallocFromPoolAsync)(&more, 700, pool, stream), cudaErrorMemoryAllocation);
    synchronise(stream);
    CHECK_U64(reserved(pool), 600);
    CUDA_OK(CUDA(cudaMemPoolTrimTo)(pool, 0));
    memory = pool_memory(700, pool, stream);
    /* A destroyed pool lives as long as its memory. */
    CUDA_OK(CUDA(cudaMemPoolDestroy)(pool));
    CUDA_FAILS(CUDA(cudaMemPoolTrimTo)(pool, 0), cudaErrorInvalidValue);
    fake_misused("no such pool");
    CUDA_FAILS(CUDA(cudaMalloc)(&more, 700), cudaErrorMemoryAllocation);
    CUDA_OK(CUDA(cudaFreeAsync)(memory, stream));
    synchronise(stream);
    CUDA_OK(CUDA(cudaMalloc)(&more, 1000));
}

static void what_a_pool_keeps_counts_as_used(void)
{
    CHECK_FAKE(fill_pool, "FAKE_CUDA_MEMORY=1000");
}

static void share_pool(void)
{
    struct cudaMemAccessDesc access;
    cudaMemPool_t pool = pool_of(0, 0);
    cudaStream_t first = fake_stream();
    const uint32_t *number = numbers();
    void *memory = pool_memory(4, pool, first);
    fake_upload(memory, &number[1], first);
    synchronise(first);
    memset(&access, 0, sizeof access);
    access.location.type = cudaMemLocationTypeDevice;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    access.location.id = 2;
    CUDA_FAILS(CUDA(cudaMemPoolSetAccess)(pool, &access, 1), cudaErrorInvalidDevice);
    fake_misused("cannot be granted");
    access.location.id = 0; /* its own device has access already */
    CUDA_OK(CUDA(cudaMemPoolSetAccess)(pool, &access, 1));
    access.location.id = 1;
    if (!getenv("WITHOUT_ACCESS")) CUDA_OK(CUDA(cudaMemPoolSetAccess)(pool, &access, 1));
    CUDA_OK(CUDA(cudaSetDevice)(1));
    cudaStream_t second = fake_stream();
    CUDA_OK(fake_launch(fake_kernel("add_one"), 1, memory, second));
    if (getenv("WITHOUT_ACCESS")) {
        CUDA_FAILS(CUDA(cudaStreamSynchronize)(second), cudaErrorIllegalAddress);
        fake_misused("add_one");
        return;
    }
    synchronise(second);
    CHECK_U64(fake_peek(memory), 2);
}

static void a_kernel_reaches_memory_of_another_device_if_it_was_granted(void)
{
    CHECK_FAKE(share_pool, "FAKE_CUDA_DEVICES=3");
    CHECK_FAKE(share_pool, "FAKE_CUDA_DEVICES=3 WITHOUT_ACCESS=1");
}

TEST_MAIN(PROMISE(the_work_of_a_stream_runs_in_its_order), PROMISE(an_event_orders_two_streams),
          PROMISE(a_lazy_stream_sleeps_until_its_work_is_waited_for),
          PROMISE(a_query_wakes_a_lazy_stream),
          PROMISE(a_wait_is_for_what_was_captured_at_the_time_of_the_call),
          PROMISE(work_ends_after_its_stream_was_destroyed),
          PROMISE(the_time_between_events_is_known_when_both_are_complete),
          PROMISE(events_order_streams_of_two_devices),
          PROMISE(pageable_memory_is_staged_and_page_locked_memory_read_when_the_copy_executes),
          PROMISE(a_download_to_pageable_memory_is_complete_on_return),
          PROMISE(memory_freed_before_a_copy_of_it_executes_is_an_error),
          PROMISE(a_pools_memory_can_be_used_when_its_allocation_has_executed),
          PROMISE(work_that_is_queued_after_a_free_cannot_use_the_memory),
          PROMISE(what_a_destroyed_stream_is_to_free_is_freed),
          PROMISE(a_pool_keeps_memory_until_the_host_has_seen_it_freed),
          PROMISE(a_pool_releases_what_is_above_its_threshold_when_the_host_waits),
          PROMISE(what_a_pool_keeps_counts_as_used),
          PROMISE(a_kernel_reaches_memory_of_another_device_if_it_was_granted))
