/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stream.h
 *  Streams: work that a thread of each stream does, one piece after the other, at once or, as
 *  FAKE_CUDA_LAZY says, when somebody waits for it. */
#ifndef META_TEST_CUDA_STREAM_H
#define META_TEST_CUDA_STREAM_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

/** A piece of work: the first member of what it works on, which it frees when it has run. */
typedef struct stream_work stream_work;
struct stream_work {
    void (*run)(stream_work *work, int device);
    /** Members that stream_push() sets. Numbers count a stream's work, tickets that of all. */
    stream_work *next;
    uint64_t number, ticket;
};

/** Work in a stream, up to a number: what an event captures. Keeps the stream. */
typedef struct stream_place {
    cudaStream_t stream;
    uint64_t number;
} stream_place;

cudaStream_t stream_make(int device);
/** The handle is gone; the work that is queued is done nevertheless. */
void stream_end(cudaStream_t stream);
/** Check a handle. @return cudaErrorInvalidResourceHandle if it is none */
cudaError_t stream_check(const char *call, cudaStream_t stream);
int stream_device(cudaStream_t stream);

/** A ticket later than those of all work so far. */
uint64_t stream_next_ticket(void);
/** Queue @p work with a ticket of its own. @return its place, to be released */
stream_place stream_push(cudaStream_t stream, stream_work *work);
/** The work that is queued so far. */
stream_place stream_end_of_queue(cudaStream_t stream);
stream_place stream_place_keep(stream_place place);
void stream_place_release(stream_place place);

/** Whether the work is done; asking counts as waiting for it. */
bool stream_is_done(stream_place place);
/** Wait for it: by work of another stream, or by the host, which stream_was_seen() remembers. */
void stream_wait(stream_place place);
void stream_host_wait(stream_place place);
/** Whether the host has seen that the work is done. */
bool stream_was_seen(stream_place place);

#endif
