/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Buffers, which are host memory, and copies between them and other host memory. Pages are placed
 *  on the NUMA node of the thread that first touches them, so allocation touches none, and large
 *  copies are divided among the threads like kernels. */
#include "openmp.h"

#include "reuse.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 1 << 21, WORTH_A_THREAD = 1 << 20 };

/* Buffers of at least one huge page are aligned to it and advise the kernel to use huge pages. */
meta_err openmp_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE;
    void *address;
    (void)device;
    if (bytes > PTRDIFF_MAX - alignment || posix_memalign(&address, alignment, bytes) != 0)
        return openmp_host->fail(META_ERR_NO_MEMORY, "the host has no %zu bytes", bytes);
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE) (void)madvise(address, bytes, MADV_HUGEPAGE);
#endif
    *memory = (meta_memory){address, address, bytes};
    return META_OK;
}

void openmp_free(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    free(memory->object);
}

meta_err openmp_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory)
{
    (void)device, (void)kind; /* device memory is host memory */
    *memory = (meta_memory){native, native, bytes};
    return META_OK;
}

void openmp_unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device, (void)memory;
}

static int overlap(const char *a, const char *b, size_t bytes)
{
    return (uintptr_t)a < (uintptr_t)b + bytes && (uintptr_t)b < (uintptr_t)a + bytes;
}

static void copy_part(char *to, const char *from, size_t bytes, int stream)
{
    if (!stream) {
        memcpy(to, from, bytes);
        return;
    }
    stream_copy(to, from, bytes);
    stream_end();
}

static void copy_bytes(char *to, const char *from, size_t bytes)
{
    const int stream = stream_pays((meta_i64)bytes);
    const size_t worth = bytes / WORTH_A_THREAD;
    int threads = worth > 1 ? openmp_host->threads() : 1;
    if ((size_t)threads > worth) threads = worth > 1 ? (int)worth : 1;
    /* A wrapped array may be copied to or from itself. */
    if (overlap(to, from, bytes)) {
        memmove(to, from, bytes);
        return;
    }
    if (threads == 1) {
        copy_part(to, from, bytes, stream);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < threads; ++k) {
        meta_i64 part[2];
        openmp_share((meta_i64)bytes, k, threads, part);
        copy_part(to + part[0], from + part[0], (size_t)(part[1] - part[0]), stream);
    }
}

meta_err openmp_copy(meta_plugin_queue *queue, const meta_copy *copy)
{
    char *mine = (char *)copy->object + copy->offset;
    (void)queue;
    if (copy->stamp) copy->stamp->begin = openmp_now();
    reuse_copied(2 * (meta_i64)copy->bytes);
    if (copy->kind == META_COPY_H2D) copy_bytes(mine, copy->host, copy->bytes);
    else copy_bytes(copy->host, mine, copy->bytes);
    if (copy->stamp) copy->stamp->end = openmp_now();
    if (copy->ticket) *copy->ticket = NULL;
    return META_OK;
}
