/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pending.h
 *  Device work in flight. */
#ifndef META_PENDING_H
#define META_PENDING_H

#include "meta_backend.h"

typedef struct meta_device meta_device;

/** Device work in flight; .ticket NULL: complete. */
typedef struct meta_pending {
    meta_device *device;
    meta_ticket ticket;
} meta_pending;

#endif
