/* SPDX-License-Identifier: BSD-3-Clause */
/** @file openmp.h
 *  What the files of the OpenMP back end share. */
#ifndef META_OPENMP_H
#define META_OPENMP_H

#include "config.h"

#include "meta_backend.h"

/** What the core offers. */
extern const meta_host *openmp_host;

/** A kernel for a type: its function and, for a reduction, what combines the threads' partial results. */
typedef struct openmp_kernel {
    meta_kernel_function *run, *finish;
} openmp_kernel;

/** NULL functions where the kernel does not know the type. */
openmp_kernel openmp_kernel_of(uint32_t kernel, uint32_t type);

/** Run the calls, one after the other, to their end. */
meta_err openmp_launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                       meta_ticket *ticket);

#endif
