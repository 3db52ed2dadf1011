/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_query.h
 *  What MPI reports about device memory, for libmeta_comm and its helper program. */
#ifndef META_GPU_QUERY_H
#define META_GPU_QUERY_H

#include <stdbool.h>
#include <stddef.h>

typedef enum gpu_kind { GPU_CUDA, GPU_HIP, GPU_KINDS } gpu_kind;

/** The kind whose back end bears this name; GPU_KINDS for any other: their addresses are the
 *  library's own invention, as OpenCL's, or unknown. */
gpu_kind gpu_kind_of(const char *backend);
/** Whether MPI, which is initialised, says that it takes such memory. @p text names the source,
 *  as "MPIX_Query_cuda_support() says no". */
bool gpu_query(gpu_kind kind, char *text, size_t room);

#endif
