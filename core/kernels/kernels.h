/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.h
 *  Kernels: descriptors, the back ends' kernel objects, and operations as data. */
#ifndef META_CORE_KERNELS_H
#define META_CORE_KERNELS_H

#include "kernels/operation.h"
#include "kernels/user.h"
#include "memory/memory.h"

/* descriptors.c */
extern const meta_kernel_desc meta_kernel_table[META_KERNEL_COUNT];

/* objects.c: the kernel objects of each device */
meta_err meta_kernels_open(meta_device *device);
void meta_kernels_close(meta_device *device);
struct meta_device_kernels {
    pthread_mutex_t lock; /**< held while creating one */
    meta_plugin_kernel *_Atomic object[META_KERNEL_COUNT][META_TYPE_COUNT];
};
/** Create the device's object of kernel @p desc for @p type, unless it exists. */
meta_err meta_kernel_make(meta_device *device, const meta_kernel_desc *desc, uint32_t type);
/** Get that object, creating it on first use. */
static inline meta_err meta_kernel_object(meta_device *device, const meta_kernel_desc *desc,
                                          uint32_t type, meta_plugin_kernel **kernel)
{
    if (__builtin_expect(desc->family == META_FAMILY_USER, 0))
        return meta_user_object_of(device, desc, kernel);
    meta_plugin_kernel *_Atomic *place = &device->kernels->object[desc->number][type];
    *kernel = atomic_load_explicit(place, memory_order_acquire);
    if (__builtin_expect(*kernel != NULL, 1)) return META_OK;
    META_TRY(meta_kernel_make(device, desc, type));
    *kernel = *place;
    return META_OK;
}

/* operation.c: see operation.h; @p name is the argument's name for messages */
/** Begin an operation over the elements of @p shape, which is not empty: the caller has set where
 * its arrays are. @p values: what the kernel is passed by value. */
void meta_operation_init(meta_operation *op, const meta_kernel_desc *desc, meta_type type,
                         const void *values, const meta_face *shape);
/** Begin an operation of a built-in kernel over the elements of @p shape, which is not empty. */
void meta_operation_begin(meta_builtin *b, meta_kernel_id kernel, meta_type type,
                          const meta_face *shape);
/** Set the layout of operand @p k to that of @p face, or packed if it is NULL. */
void meta_operand_lay(meta_operation *op, uint32_t k, const meta_face *face);
/** Set operand @p k to the section @p face of the device buffer at @p ptr, or to the space's number
 * of packed elements if @p face is NULL. */
meta_err meta_operand_set(meta_operation *op, uint32_t k, const void *ptr, const meta_face *face,
                          const char *name);
/** Set operand @p k to the cells of @p box, which is not empty, of the device buffer at @p ptr,
 * plus the neighbours in the kernel's reach: by the extents of the grid there, where it is one,
 * otherwise by those of the box. @p lacking: the dimensions that the array lacks, as a mask; the
 * box has an extent of 1 along them. */
meta_err meta_operand_set_array(meta_operation *op, uint32_t k, const void *ptr,
                                const meta_box *box, uint32_t lacking, const char *name);
/** Set the element passed by value. */
void meta_operation_value(meta_operation *op, const void *value);
/** Set the destination of the reduction's result: host memory or a device buffer. */
meta_err meta_operation_result(meta_operation *op, void *ptr, const char *name);
/** Fail if a written operand overlaps another: of a built-in kernel if their ranges do, though it
 * may be identical to one that is read element by element; of the program's if their elements do.
 */
meta_err meta_operation_check_overlap(const meta_operation *op);
/** Fail if two operands are grids whose own cells begin at different indices. */
meta_err meta_operation_check_starts(const meta_operation *op) __attribute__((cold));
/** Merge dimensions that are contiguous in all operands and drop those of extent 1, unless the
 * kernel depends on the grid's dimensions. */
void meta_operation_compact(meta_operation *op);
/** The least memory traffic of a call: each element once, twice where it is accumulated into. */
uint64_t meta_call_bytes(const meta_call *call);
enum { META_MAX_RANGES = META_KERNEL_PARAMETERS }; /* built-in kernels have fewer */
/** The memory ranges that the operation may read or write, including its results. @return how many,
 *  at most META_MAX_RANGES */
int meta_operation_ranges(const meta_operation *op, meta_range *ranges);

#endif
