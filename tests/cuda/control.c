/* SPDX-License-Identifier: BSD-3-Clause */
/** @file control.c
 *  The block by which a test controls the fake, of the layout that the tests of HIP-CPU use too,
 *  and objects that it makes for the application. */
#include <string.h>

#include "call.h"
#include "memory.h"
#include "object.h"
#include "settings.h"
#include "stream.h"

static void *make_stream(int device)
{
    return stream_make(device);
}

static void free_stream(void *stream)
{
    stream_end(stream);
}

static void *make_memory(int device, size_t bytes)
{
    if (!memory_reserve(device, bytes)) return NULL;
    object_count(GPU_FAULT_MEMORY, 1);
    return memory_take(MEMORY_DEVICE, device, bytes, NULL, 1U << device);
}

static void free_memory(void *memory)
{
    memory_block found;
    if (!memory_find(memory, 1, &found)) return;
    memory_return(found.device, found.range.end - found.range.begin);
    (void)memory_drop(memory);
    object_count(GPU_FAULT_MEMORY, -1);
}

static int peek(void *to, const void *from, size_t bytes)
{
    memory_block found;
    if (!memory_find(from, bytes, &found)) return 0;
    memcpy(to, found.range.bytes + ((uint64_t)from - found.range.begin), bytes);
    return 1;
}

gpu_fault gpu_fault_control = {.make_stream = make_stream,
                               .free_stream = free_stream,
                               .make_memory = make_memory,
                               .free_memory = free_memory,
                               .peek = peek};

__attribute__((constructor)) static void start(void)
{
    settings_read();
    gpu_fault_control.devices = (int)settings.devices;
    gpu_fault_control.driver_version = (int)settings.driver;
    gpu_fault_control.fail_at = settings.fail_at;
    gpu_fault_control.status = (int)settings.fail_status;
    gpu_fault_control.sticky = (int)settings.fail_sticky;
}
