/* SPDX-License-Identifier: BSD-3-Clause */
/** @file opencl.h
 *  Shared by the files of the OpenCL back end: devices, kernels, queues, and error messages. */
#ifndef META_OPENCL_H
#define META_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "programs.h"

/** Local memory of an exact sum that a work group shares, see exact_threads.h: 32-bit digits of
 * either sign, and counters. */
#define OCL_SHARED_BYTES (4 * (2 * (META_EXACT_LIMBS + 1) + 3))
#define OCL_MAX_RESULTS  META_KERNEL_PARAMETERS /* of a kernel of the program's */
/** Bytes of a result that is copied to the host: those of the longest one. */
#define OCL_RESULT_BYTES sizeof(meta_extreme_f64)

/** Properties of an OpenCL device, known without opening it. */
typedef struct ocl_about {
    cl_platform_id platform;
    cl_device_id device;
    char name[128];
    char driver[128];
    cl_device_type type;
    cl_uint units;
    cl_ulong memory;       /**< total bytes */
    cl_ulong largest;      /**< bytes of the largest buffer */
    size_t group;          /**< most work items of a work group in total, */
    size_t sides[3];       /**< and in each dimension */
    size_t argument_bytes; /**< most bytes of a kernel's arguments */
    int has_f64;
    int exact_f32; /**< rounds divisions correctly, given the build option */
    int keeps_f32; /**< keeps denormals */
    int atomic_64; /**< adds to 8 bytes atomically */
    int is_cpu;    /**< runs the kernels' CPU form */
} ocl_about;

struct meta_plugin_device {
    ocl_about about;
    cl_context context;
    cl_command_queue adopted;               /**< the application's, NULL where there is none */
    pthread_mutex_t launch_lock;            /**< from a kernel's first argument to its launch */
    pthread_mutex_t build_lock;             /**< of what follows */
    cl_program programs[OCL_PROGRAM_COUNT]; /**< NULL until built */
    meta_plugin_kernel *kernels;            /**< all of the device's */
};

/** A kernel for one element type, with everything that a launch needs to know. It never changes
 * once made; the arguments of `cl` are set with the device's launch_lock held. */
struct meta_plugin_kernel {
    cl_kernel cl;
    struct ocl_result *result; /**< of a reduction; a program's kernel may have several */
    uint32_t results;
    meta_plugin_kernel *next;  /**< in the device's list */
    size_t group;              /**< work items of its largest work group on the device */
    size_t element_bytes;      /**< of each element passed by value */
    uint32_t operands, values; /**< of a call */
    uint32_t buffers, scalars; /**< parameters for them; built-in kernels leave some unused */
    bool is_exact;
    bool has_places; /**< has extremes with their places */
    bool is_text;
    uint32_t partials;            /**< the most work groups, of a kernel with results */
    size_t shared;                /**< bytes of local memory for its exact sums */
    bool space_in_buffer;         /**< the space is passed in a buffer */
    bool words_in_buffer;         /**< and so are the values, as one parameter */
    const meta_kernel_team *team; /**< its cells are computed by teams */
    char name[64];
};

/** One result of a reduction. */
typedef struct ocl_result {
    meta_plugin_kernel *finish; /**< combines the partial results */
    size_t bytes;               /**< of what it leaves */
    size_t unit;                /**< in which it counts its offset */
    size_t partial_bytes;       /**< of an element of partial results */
    uint32_t first;             /**< words of a work group's partial results before it */
    bool has_place;
} ocl_result;

struct meta_plugin_queue {
    meta_plugin_device *device;
    cl_command_queue cl;
    /** Partial results, then one element for a result that goes to the host. One for the queue is
     *  enough: it runs its commands in order, so the next launch cannot overwrite what the last one
     *  still reads. */
    cl_mem scratch;
    _Atomic uint64_t queued, finished; /**< commands, and how many of them were waited for */
    atomic_bool foreign;  /**< the application has the command queue too and may use it */
    pthread_mutex_t lock; /**< of what follows: pending commands that have no ticket */
    cl_event *untracked;
    size_t count, room;
    cl_int failure; /**< status of the first of them that failed */
    cl_command_type failed;
};

/** The core's services; set before anything else is called. */
extern const meta_host *ocl_host;
/** CPU results of at least so many bytes bypass the caches. */
extern int64_t ocl_stream_bytes;

/* error.c */
const char *ocl_error_name(cl_int status);
const char *ocl_command_name(cl_command_type command);
/** Set the error message for a failed call of OpenCL. */
meta_err ocl_fail(cl_int status, const char *call);
/** Return early with an error where @p expression is not CL_SUCCESS. */
#define OCL_TRY(expression, call)                                                                  \
    do {                                                                                           \
        const cl_int try_ = (expression);                                                          \
        if (try_ != CL_SUCCESS) return ocl_fail(try_, call);                                       \
    } while (0)

/* pocl.c */
/** Set what PoCL reads from the environment, unless the user has: before OpenCL's first call. */
void ocl_prepare_pocl(void);
/** Avoid faults of the PoCL whose platform has this @p version: before a kernel is compiled. */
void ocl_adapt_pocl(const char *version);

/* platform.c */
int ocl_device_count(char *reason, size_t room);
meta_err ocl_device_info(int index, meta_device_desc *desc);
/** Copy the properties of device @p index of the list. */
meta_err ocl_device_find(int index, ocl_about *about);
/** Fill @p about for @p device. @return 1, or with the @p reason 0 where it is unusable and -1
 * where the host has no memory */
int ocl_describe(cl_platform_id platform, cl_device_id device, ocl_about *about, char *reason,
                 size_t room);
void ocl_platform_forget(void);

/* device.c */
meta_err ocl_open(int index, const meta_state *state, meta_plugin_device **device);
void ocl_close(meta_plugin_device *device);
meta_err ocl_state(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state);

/* memory.c */
meta_err ocl_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory);
meta_err ocl_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                  meta_memory *memory);
/** Give back memory of ocl_alloc() or ocl_wrap(). */
void ocl_release(meta_plugin_device *device, const meta_memory *memory);

/* queue.c */
meta_err ocl_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue);
void ocl_queue_destroy(meta_plugin_queue *queue);
meta_err ocl_queue_finish(meta_plugin_queue *queue);
meta_err ocl_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier);
meta_err ocl_queue_wait(meta_plugin_queue *queue, meta_ticket ticket);
meta_err ocl_copy(meta_plugin_queue *queue, const meta_copy *copy);
int ocl_copy_peer(meta_plugin_device *device, meta_plugin_device *peer);
/** Flush the queue; @p last, the event of its latest command, becomes the ticket. */
meta_err ocl_submit(meta_plugin_queue *queue, cl_event last, meta_stamp *stamp,
                    meta_ticket *ticket);
/** Fill @p made for the commands from @p first to @p last; both events stay the caller's. */
void ocl_stamp_make(cl_event first, cl_event last, meta_stamp *made);
int ocl_stamp_read(void *work, uint64_t *begin, uint64_t *end);
void ocl_stamp_release(void *work);
meta_err ocl_ticket_test(meta_ticket ticket, int *complete);
meta_err ocl_ticket_wait(meta_ticket ticket);
void ocl_ticket_release(meta_ticket ticket);

/* kernel.c */
meta_err ocl_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel);
void ocl_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel);
/** Free all kernels and programs of a device that is being closed. */
void ocl_kernels_release(meta_plugin_device *device);

/* build.c */
/** Build program @p number of the built-in kernels, or take it from the cache. */
meta_err ocl_program_build(const meta_plugin_device *device, int number, cl_program *program);
/** The same for the kernel of @p source->text. */
meta_err ocl_program_build_text(const meta_plugin_device *device, const meta_kernel_source *source,
                                bool space_in_buffer, cl_program *program);

/* team.c */
/** META_ERR_UNSUPPORTED if a team of the kernel, which has @p sums exact sums, is too large for the
 * device. */
meta_err ocl_team_check(const meta_plugin_device *device, const meta_kernel *kernel, uint32_t sums);
/** The same for the work group of the kernel as it was compiled. */
meta_err ocl_team_check_built(const meta_plugin_device *device, const meta_plugin_kernel *kernel);
/** The work groups of a launch, at most @p most, and the work items of each. */
void ocl_team_shape(const ocl_about *about, const meta_kernel_team *team, const meta_space *space,
                    uint64_t most, size_t *groups, size_t *items);

/* launch.c */
meta_err ocl_launch(meta_plugin_queue *queue, const meta_launch *launch);

#endif
