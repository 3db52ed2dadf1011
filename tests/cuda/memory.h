/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.h
 *  The addresses of device memory, which the host cannot touch, and of page-locked host memory;
 *  what is allocated there, and who may access it when. */
#ifndef META_TEST_CUDA_MEMORY_H
#define META_TEST_CUDA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx.h"

typedef enum memory_kind { MEMORY_DEVICE, MEMORY_HOST, MEMORY_MODULE } memory_kind;

/** An allocation. Work is ordered by tickets, which rise with each piece that a program queues. */
typedef struct memory_block {
    ptx_range range;
    memory_kind kind;
    int device;
    unsigned access;   /**< the devices with access, as bits */
    const void *pool;  /**< NULL: of none */
    bool waiting;      /**< its stream-ordered allocation has not executed */
    uint64_t released; /**< the ticket of its stream-ordered release; 0: none is queued */
} memory_block;

/** Allocate, filled with a pattern. @return its address; NULL where there is no room */
void *memory_take(memory_kind kind, int device, size_t bytes, const void *pool, unsigned access);
/** Free what begins at @p address, and fill it with a pattern. The addresses are not used again
 *  soon.
 *  @return whether nothing was written behind its end */
bool memory_drop(const void *address);

/** The allocation that contains @p bytes bytes from @p address on. */
bool memory_find(const void *address, size_t bytes, memory_block *found);
/** Whether @p address is one of device memory, allocated or not. */
bool memory_is_device_address(const void *address);

/** Stream-ordered memory: it has been allocated, or is to be released by the work of a ticket. */
void memory_arrived(const void *address);
void memory_release(const void *address, uint64_t ticket);
/** Grant @p devices access to all memory of a pool. */
void memory_share(const void *pool, unsigned devices);

/** How much of a device's memory is in use: take @p bytes more, or give them back. */
bool memory_reserve(int device, size_t bytes);
void memory_return(int device, size_t bytes);
size_t memory_reserved(int device);

/** Whether the work of @p ticket may access the memory now, on @p device or, -1, on any. Work that
 *  was queued after the memory's release may not. */
bool memory_usable(int device, uint64_t ticket, const void *address, size_t bytes,
                   ptx_range *found);

/** Memory as a kernel of @p device sees it. */
typedef struct memory_view {
    ptx_memory ptx;
    int device;
    uint64_t ticket; /**< 0: of no piece of work */
} memory_view;
memory_view memory_view_of(int device, uint64_t ticket);

#endif
