/* SPDX-License-Identifier: BSD-3-Clause */
/** @file copy.c
 *  Copies in streams. From pageable memory they are staged before the call returns; to pageable
 *  memory the call returns when the copy is done; all others are done in stream order. */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "device.h"
#include "memory.h"
#include "stream.h"

/* What a copy reads or writes. */
typedef struct side {
    const void *address;
    char *bytes; /* where that is for the host */
    bool is_host, is_pageable;
    int device;
} side;

typedef struct copy_work {
    stream_work work;
    const char *call;
    side to, from;
    size_t bytes;
    char staged[]; /* what was in pageable memory */
} copy_work;

/* What @p address is, which must be memory of the named kind. */
static cudaError_t find_side(const char *call, const void *address, size_t bytes, bool is_host,
                             side *found)
{
    memory_block block = {.device = -1};
    *found = (side){address, (char *)(uintptr_t)address, is_host, false, -1};
    if (!memory_find(address, 1, &block)) {
        found->is_pageable = is_host && !memory_is_device_address(address);
        if (found->is_pageable) return cudaSuccess;
        call_misuse(call, "there is no device memory at %p", address);
        return cudaErrorInvalidValue;
    }
    const size_t offset = (uint64_t)address - block.range.begin;
    found->bytes = block.range.bytes + offset;
    found->device = block.device;
    const char *wrong = NULL;
    if ((block.kind == MEMORY_HOST) != is_host) wrong = "memory of the other kind is named";
    else if (block.released) wrong = "the memory has been freed";
    else if (bytes > block.range.end - block.range.begin - offset)
        wrong = "the memory is not that large";
    if (!wrong) return cudaSuccess;
    call_misuse(call, "%s", wrong);
    return cudaErrorInvalidValue;
}

static bool is_usable(const copy_work *copy, const side *s)
{
    ptx_range found;
    return s->is_pageable || memory_usable(-1, copy->work.ticket, s->address, copy->bytes, &found);
}

static void run_copy(stream_work *work, int device)
{
    copy_work *copy = (copy_work *)work;
    if (device_status(device) == cudaSuccess) {
        if (is_usable(copy, &copy->to) && is_usable(copy, &copy->from))
            memmove(copy->to.bytes, copy->from.is_pageable ? copy->staged : copy->from.bytes,
                    copy->bytes);
        else
            device_break(
                device, cudaErrorIllegalAddress, copy->call,
                "when the copy executed, its memory was not yet allocated or already freed");
    }
    free(copy);
}

/* Returns when complete if the target is pageable. */
static cudaError_t queue_copy(const char *call, cudaStream_t stream, const side *to,
                              const side *from, size_t bytes)
{
    const int device = stream_device(stream);
    copy_work *work = calloc(1, sizeof *work + (from->is_pageable ? bytes : 0));
    if (!work) abort();
    work->work.run = run_copy;
    work->call = call;
    work->to = *to;
    work->from = *from;
    work->bytes = bytes;
    if (from->is_pageable) memcpy(work->staged, from->bytes, bytes);
    const bool waits = to->is_pageable;
    const stream_place place = stream_push(stream, &work->work);
    if (waits) stream_host_wait(place);
    stream_place_release(place);
    return waits ? device_status(device) : cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    side target, source;
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(call.injected);
    CALL_TRY(device_status(stream_device(stream)));
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToHost)
        call_lacks(call.name, "copies of kind %d", (int)kind);
    if (bytes == 0) return cudaSuccess;
    CALL_TRY(find_side(call.name, to, bytes, kind == cudaMemcpyDeviceToHost, &target));
    CALL_TRY(find_side(call.name, from, bytes, kind == cudaMemcpyHostToDevice, &source));
    CALL_TRY(queue_copy(call.name, stream, &target, &source, bytes));
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    side target, source;
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(call.injected);
    CALL_TRY(device_status(stream_device(stream)));
    if (bytes == 0) return cudaSuccess;
    CALL_TRY(find_side(call.name, to, bytes, false, &target));
    CALL_TRY(find_side(call.name, from, bytes, false, &source));
    if (target.device != to_device || source.device != from_device) {
        call_misuse(call.name, "the memory is not of the device that is named");
        return call_end(cudaErrorInvalidValue);
    }
    CALL_TRY(queue_copy(call.name, stream, &target, &source, bytes));
    return cudaSuccess;
}
