/* SPDX-License-Identifier: BSD-3-Clause */
/** @file operation.h
 *  An operation as data: a kernel, an iteration space, and operands as the program passed them. It
 * is device-independent until meta_place() chooses a device and meta_bind() fills in its objects;
 *  then the queue launches it. */
#ifndef META_OPERATION_H
#define META_OPERATION_H

#include <stdbool.h>

#include "memory/span.h"
#include "meta_backend.h"

typedef struct meta_operand {
    const char *name;  /**< of the argument */
    meta_span span;    /**< live memory; .device is NULL if there is no such operand */
    int64_t start;     /**< elements from the span's address to element (0, …) of the space */
    int64_t low, high; /**< elements that the kernel may access, relative to the span's address */
    uint32_t lacking;  /**< the dimensions that the array lacks, as a mask */
    bool is_grid;      /**< an index of the call is one of the grid that the span begins */
} meta_operand;

/** The caller owns the arrays it points to, see meta_builtin. */
typedef struct meta_operation {
    meta_call call; /**< passed to the back end; complete once the operation is bound */
    meta_operand *operand;
    void **object;       /**< native objects of the operands, set by meta_bind() */
    meta_space *space;   /**< has a layout per operand */
    meta_device *device; /**< set by meta_place() */
    uint32_t results;
    meta_operand *result; /**< their destinations in device memory; .span.device is NULL for one in
                               host memory */
    meta_result *where;
    unsigned char value[8]; /**< of a built-in kernel */
    bool apart;             /**< the operands are known not to overlap */
    bool own_boxes;         /**< each array has a box of its own, whose extents a grid must have */
    uint64_t origin;        /**< of the first grid whose index is that of the call; 0: none yet */
    bool origins_differ;    /**< perhaps: see meta_operation_check_starts() */
    const meta_box *given;  /**< the program's box, where another one has the same cells in fewer
                                 dimensions; NULL: no other */
    bool uneven;            /**< a grid's extents are others than those of `given` */
} meta_operation;

/** The element type of operand @p k. */
static inline meta_type meta_operation_type(const meta_operation *op, uint32_t k)
{
    const uint32_t own = op->call.desc->operand[k].own_type;
    return (meta_type)(own ? own - 1 : op->call.type);
}
/** The element type of result @p k. */
static inline meta_type meta_operation_result_type(const meta_operation *op, uint32_t k)
{
    const meta_kernel_desc *desc = op->call.desc;
    return (meta_type)(desc->results ? desc->result[k].type : op->call.type);
}

/** The bytes of result @p k. */
static inline size_t meta_operation_result_bytes(const meta_operation *op, uint32_t k)
{
    const meta_kernel_desc *desc = op->call.desc;
    return desc->results ? meta_result_bytes(&desc->result[k]) : meta_element_bytes(op->call.type);
}

/** The layout of operand @p k, to be written. */
static inline meta_layout *meta_operation_layout(meta_operation *op, uint32_t k)
{
    return (meta_layout *)(uintptr_t)meta_call_layout(&op->call, k);
}

/** The address of result @p k as the program passed it. */
static inline const void *meta_result_address(const meta_operation *op, uint32_t k)
{
    return op->where[k].host ? op->where[k].host : op->result[k].span.address;
}

/** An operation of a built-in kernel, with its arrays. */
typedef struct meta_builtin {
    meta_operation op;
    meta_operand operand[META_SPACE_OPERANDS];
    void *object[META_SPACE_OPERANDS];
    meta_operand result;
    meta_result where;
    meta_space space;
} meta_builtin;

#endif
