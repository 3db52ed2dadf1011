/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.h
 *  Kernels: their descriptors, the objects that back ends make of them, and an operation as data.
 */
#ifndef META_CORE_KERNELS_H
#define META_CORE_KERNELS_H

#include "kernels/operation.h"
#include "memory/memory.h"

/* descriptors.c */
extern const meta_kernel_desc meta_kernel_table[META_KERNEL_COUNT];

/* objects.c: the kernel objects of each device */
meta_err meta_kernels_open(meta_device *device);
void meta_kernels_close(meta_device *device);
struct meta_device_kernels {
    pthread_mutex_t lock; /**< of making one */
    meta_plugin_kernel *_Atomic object[META_KERNEL_COUNT][META_TYPE_COUNT];
};
/** Make the device's object of kernel @p desc for @p type, unless there is one. */
meta_err meta_kernel_make(meta_device *device, const meta_kernel_desc *desc, uint32_t type);
/** That object, made when it is first asked for. */
static inline meta_err meta_kernel_object(meta_device *device, const meta_kernel_desc *desc,
                                          uint32_t type, meta_plugin_kernel **kernel)
{
    meta_plugin_kernel *_Atomic *place = &device->kernels->object[desc->number][type];
    *kernel = atomic_load_explicit(place, memory_order_acquire);
    if (__builtin_expect(*kernel != NULL, 1)) return META_OK;
    META_TRY(meta_kernel_make(device, desc, type));
    *kernel = *place;
    return META_OK;
}

/* operation.c: see operation.h; @p name is an argument's, for messages */
/** Begin an operation of a built-in kernel over the elements of @p shape, which has some. */
void meta_operation_begin(meta_builtin *b, meta_kernel_id kernel, meta_type type,
                          const meta_face *shape);
/** The layout of operand @p k: that of @p face, or packed where it is NULL. */
void meta_operand_lay(meta_operation *op, uint32_t k, const meta_face *face);
/** Operand @p k is the section @p face, or where that is NULL as many packed elements, of the
 * device buffer at @p ptr. */
meta_err meta_operand_set(meta_operation *op, uint32_t k, const void *ptr, const meta_face *face,
                          const char *name);
/** Operand @p k is the cells of @p box of the device buffer at @p ptr, with those around them that
 *  the kernel reaches. */
meta_err meta_operand_set_box(meta_operation *op, uint32_t k, const void *ptr, const meta_box *box,
                              const char *name);
/** The element passed by value. */
void meta_operation_value(meta_operation *op, const void *value);
/** The reduction's result goes to @p ptr: host memory or a device buffer. */
meta_err meta_operation_result(meta_operation *op, void *ptr, const char *name);
/** What is written overlaps nothing else, unless it is read at the same places alone. */
meta_err meta_operation_check_overlap(const meta_operation *op);
/** Merge dimensions that are contiguous in all operands and drop those of extent 1, where the
 * kernel does not use the grid's dimensions itself. */
void meta_operation_compact(meta_operation *op);
/** The bytes of buffers that the operation may read or write, its result included: at most
 *  META_MAX_OPERANDS + 1 ranges. @return how many */
int meta_operation_ranges(const meta_operation *op, meta_range *ranges);

#endif
