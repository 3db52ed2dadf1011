/* SPDX-License-Identifier: BSD-3-Clause */
/** @file span.h
 *  A range of a live buffer. */
#ifndef META_SPAN_H
#define META_SPAN_H

#include "meta_backend.h"

typedef struct meta_device meta_device; /* an open device, the core's own */
typedef struct meta_shape meta_shape;   /* of a grid, see memory/shape.h */

/** Live memory of one device, from an address on. */
typedef struct meta_span {
    meta_device *device;
    void *object;    /**< native memory object */
    uint64_t offset; /**< bytes from its beginning */
    uint64_t room;   /**< bytes from there to the end of the buffer */
    char *address; /**< what the application sees; the data itself where the device is a host one */
    uint64_t before; /**< bytes from the beginning of the buffer, which may lie inside the object */
    const meta_shape *shape; /**< of the grid that begins here; NULL: of none */
} meta_span;

#endif
