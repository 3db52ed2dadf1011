/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pool.h
 *  Memory pools: stream-ordered memory, and what a pool keeps of it. */
#ifndef META_TEST_CUDA_POOL_H
#define META_TEST_CUDA_POOL_H

/** The host has waited for a stream, an event or a device: pools of @p device may release what is
 *  above their threshold. */
void pool_synchronised(int device);

#endif
