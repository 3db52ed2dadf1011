/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_fault.h
 *  Interface between the tests and the HIP back end built for them: which runtime call is to
 *  fail, how many devices are simulated, and statistics of the calls. */
#ifndef META_TEST_GPU_FAULT_H
#define META_TEST_GPU_FAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Objects of the runtime that the back end must give back. */
typedef enum gpu_fault_kind {
    GPU_FAULT_MEMORY,
    GPU_FAULT_HOST_MEMORY,
    GPU_FAULT_STREAM,
    GPU_FAULT_EVENT,
    GPU_FAULT_POOL,
    GPU_FAULT_KINDS
} gpu_fault_kind;

/** Status codes of the runtime, by their HIP numbers. */
typedef enum gpu_fault_status {
    GPU_FAULT_OUT_OF_MEMORY = 2,
    GPU_FAULT_OLD_DRIVER = 35,
    GPU_FAULT_NO_DEVICE = 100,
    GPU_FAULT_NO_KERNEL = 209,
    GPU_FAULT_LAUNCH_FAILURE = 719,
    GPU_FAULT_NOT_SUPPORTED = 801,
    GPU_FAULT_UNKNOWN = 999
} gpu_fault_status;

/** The module's one symbol beside the plugin's: gpu_fault_control. */
typedef struct gpu_fault {
    /* what the test asks for */
    int devices;        /**< 2, or what META_TEST_GPUS says */
    int count_status;   /**< what asking for their number returns, 0: success */
    int driver_version; /**< 0: there is no driver */
    long fail_at;       /**< number of the call that fails, from 1 on; 0: none */
    int sticky;         /**< so does every later one, as of a device that is lost */
    int status;         /**< with which it fails */

    /* what it sees; zeroed by the test */
    long calls;
    const char *failed;         /**< the first call that failed */
    char misuse[256];           /**< the first wrong use of the runtime; empty: none */
    long live[GPU_FAULT_KINDS]; /**< objects made and not given back */

    /* the application's own objects; NULL if they cannot be made */
    void *(*make_stream)(int device);
    void (*free_stream)(void *stream);
    void *(*make_memory)(int device, size_t bytes);
    void (*free_memory)(void *memory);
} gpu_fault;

#ifdef __cplusplus
}
#endif

#endif
