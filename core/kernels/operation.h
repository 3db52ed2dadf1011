/* SPDX-License-Identifier: BSD-3-Clause */
/** @file operation.h
 *  An operation as data: a kernel, an iteration space, and operands as the program named them. It
 * is made without regard to devices; meta_place() chooses one, meta_bind() fills in that device's
 *  objects, and the queue launches it. */
#ifndef META_OPERATION_H
#define META_OPERATION_H

#include <stdbool.h>

#include "memory/span.h"
#include "meta_backend.h"

typedef struct meta_operand {
    const char *name; /**< the argument's */
    meta_span span;   /**< live memory; .device is NULL where there is no such operand */
    int64_t start;    /**< elements from the span's address to element (0, …) of the space */
    int64_t low,
        high; /**< the range of elements that the kernel may touch, from the span's address */
} meta_operand;

/** The arrays behind it belong to whoever makes it, see meta_builtin. */
typedef struct meta_operation {
    meta_call call; /**< what a back end is given; complete once the operation is bound */
    meta_operand *operand;
    void **object;       /**< of each operand, filled in by meta_bind() */
    meta_space *space;   /**< with room for a layout of each operand */
    meta_device *device; /**< filled in by meta_place() */
    meta_operand result; /**< of a reduction whose result goes to device memory */
    meta_result where;
    unsigned char value[8];
    bool apart; /**< the operands are known not to overlap */
} meta_operation;

/** Where the result goes, as the program sees it. */
static inline const void *meta_result_address(const meta_operation *op)
{
    return op->where.host ? op->where.host : op->result.span.address;
}

/** One of a built-in kernel. */
typedef struct meta_builtin {
    meta_operation op;
    meta_operand operand[META_SPACE_OPERANDS];
    void *object[META_SPACE_OPERANDS];
    meta_space space;
} meta_builtin;

#endif
