/* SPDX-License-Identifier: BSD-3-Clause */
/** @file raw.h
 *  Access to the bytes of a buffer for META_CHECK=on, in device or host memory. */
#ifndef META_RAW_H
#define META_RAW_H

#include "check/check.h"

/** Copy to or from memory wherever it is, and wait. Without an @p object the offset is a host
 *  address. */
meta_err meta_raw_copy(meta_device *device, meta_copy_kind kind, void *host, void *object,
                       uint64_t offset, uint64_t bytes);
/** Where the first byte of a buffer lies, for meta_raw_copy(). */
void meta_raw_place(const meta_allocation *a, void **object, uint64_t *offset);

#endif
