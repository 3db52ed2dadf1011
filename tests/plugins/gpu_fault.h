/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_fault.h
 *  The control block shared by the tests and what runs the GPU back ends on the CPU, HIP-CPU with
 *  fault injection or the fake CUDA: which runtime call fails, how many devices are emulated, and
 *  what was recorded of the calls. */
#ifndef META_TEST_GPU_FAULT_H
#define META_TEST_GPU_FAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Runtime objects that the back end must release. */
typedef enum gpu_fault_kind {
    GPU_FAULT_MEMORY,
    GPU_FAULT_HOST_MEMORY,
    GPU_FAULT_STREAM,
    GPU_FAULT_EVENT,
    GPU_FAULT_POOL,
    GPU_FAULT_MODULE, /**< code that was loaded at run time; of CUDA alone */
    GPU_FAULT_KINDS
} gpu_fault_kind;
static inline const char *gpu_fault_kind_name(gpu_fault_kind kind)
{
    static const char *const names[GPU_FAULT_KINDS] = {"device memory", "host memory", "streams",
                                                       "events",        "pools",       "modules"};
    return names[kind];
}

/** Status codes of the runtime, which HIP and CUDA number alike. */
typedef enum gpu_fault_status {
    GPU_FAULT_OUT_OF_MEMORY = 2,
    GPU_FAULT_OLD_DRIVER = 35,
    GPU_FAULT_NO_DEVICE = 100,
    GPU_FAULT_NO_KERNEL = 209,
    GPU_FAULT_LAUNCH_FAILURE = 719,
    GPU_FAULT_NOT_SUPPORTED = 801,
    GPU_FAULT_UNKNOWN = 999
} gpu_fault_status;

/** The type of gpu_fault_control, which the module exports besides the plug-in's symbol. */
typedef struct gpu_fault {
    /* set by the test */
    int devices;        /**< number of devices; META_TEST_GPUS, or 2 */
    int count_status;   /**< result of GetDeviceCount(); 0: success */
    int driver_version; /**< 0: there is no driver */
    long fail_at;       /**< number of the call that fails, counted from 1; 0: none */
    int sticky;         /**< all later calls fail too, as after a device is lost */
    int status;         /**< the status that it fails with */

    /* recorded; reset by the test */
    long calls;
    const char *failed;         /**< name of the first call that failed */
    char misuse[256];           /**< the first misuse of the runtime; empty: none */
    long live[GPU_FAULT_KINDS]; /**< objects created and not released */
    long most_blocks;           /**< of a launch; of CUDA alone */

    /* create objects as the application would; NULL on failure */
    void *(*make_stream)(int device);
    void (*free_stream)(void *stream);
    void *(*make_memory)(int device, size_t bytes);
    void (*free_memory)(void *memory);
    /** Read device memory. @return 0: there is none */
    int (*peek)(void *to, const void *from, size_t bytes);
} gpu_fault;

#ifdef __cplusplus
}
#endif

#endif
