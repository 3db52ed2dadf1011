/* SPDX-License-Identifier: BSD-3-Clause */
/** @file opencl.h
 *  What the files of the OpenCL back end share: its device, queue and program, and error wording.
 */
#ifndef META_OPENCL_H
#define META_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "meta_backend.h"

/** The most work groups a reduction is spread over, and so the most partial results it has. */
#define OCL_MAX_PARTIALS 256
/** The bytes kept for one partial result: the widest accumulator, and that of an exact sum. */
#define OCL_PARTIAL_BYTES 8
#define OCL_EXACT_BYTES   (META_EXACT_WORDS * 8)
/** Where the scratch memory of a queue has the element for a result that goes to the host. */
#define OCL_ELEMENT_AT (OCL_MAX_PARTIALS * OCL_EXACT_BYTES)

/** What is known of an OpenCL device without opening it. */
typedef struct ocl_about {
    cl_platform_id platform;
    cl_device_id device;
    char name[128];
    char driver[128];
    cl_device_type type;
    cl_uint units;
    cl_ulong memory;  /**< bytes in all */
    cl_ulong largest; /**< bytes one buffer can have */
    size_t group;     /**< work items a work group can have, in all … */
    size_t sides[3];  /**< … and in each dimension */
    int has_f64;
    int exact_f32; /**< divides correctly rounded, given the option for it */
    int keeps_f32; /**< keeps denormal numbers */
    int is_cpu;    /**< runs the kernels' form for CPUs */
} ocl_about;

/** A kernel of one program. */
typedef struct ocl_kernel {
    _Atomic int ready; /**< the rest is settled and never changes */
    cl_kernel cl;
    size_t group; /**< the largest work group it runs with on its device */
    char name[48];
} ocl_kernel;

/** Kernels of a program by number: meta_kernel_id, and the ones that combine partial results. */
enum {
    OCL_KERNEL_FINISH_SUM = META_KERNEL_COUNT,
    OCL_KERNEL_FINISH_MIN,
    OCL_KERNEL_FINISH_MAX,
    OCL_KERNEL_FINISH_EXACT,
    OCL_KERNEL_COUNT
};

/** A program: the kernels of one element type, built when the first of them is used. */
typedef struct ocl_program {
    cl_program cl; /**< NULL until it is built */
    ocl_kernel kernels[OCL_KERNEL_COUNT];
} ocl_program;

/** Programs by number: one for each element size that is moved, then one for each meta_type of
 *  arithmetic. */
#define OCL_ENUM_SIZE(bytes, name)           OCL_PROGRAM_MOVE_##name,
#define OCL_ENUM_TYPE(NAME, name, bytes, wide, sum) OCL_PROGRAM_##NAME,
enum { META_MOVE_TYPES(OCL_ENUM_SIZE) META_ARITHMETIC_TYPES(OCL_ENUM_TYPE) OCL_PROGRAM_COUNT };
#undef OCL_ENUM_SIZE
#undef OCL_ENUM_TYPE

struct meta_plugin_device {
    ocl_about about;
    cl_context context;
    cl_command_queue adopted;    /**< the application's, NULL where there is none */
    pthread_mutex_t build_lock;  /**< of the programs and their kernels */
    pthread_mutex_t launch_lock; /**< from a kernel's first argument to its launch; taken first */
    ocl_program programs[OCL_PROGRAM_COUNT];
};

struct meta_plugin_queue {
    meta_plugin_device *device;
    cl_command_queue cl;
    cl_mem scratch; /**< partial results, then one element for a result that goes to the host */
    _Atomic uint64_t queued, finished; /**< commands, and how many of them were waited for */
    atomic_bool foreign; /**< the application has the command queue, and may queue others */
    pthread_mutex_t lock; /**< of what follows: commands without a ticket that may be running */
    cl_event *untracked;
    size_t count, room;
    cl_int failure; /**< status of the first of them that failed */
    cl_command_type failed;
};

/** What the core offers; set before anything else is called. */
extern const meta_host *ocl_host;
/** From how many bytes on results on a CPU go past the caches. */
extern int64_t ocl_stream_bytes;

/* error.c */
const char *ocl_error_name(cl_int status);
const char *ocl_command_name(cl_command_type command);
/** Word the failure of a call of OpenCL. */
meta_err ocl_fail(cl_int status, const char *call);
/** Return from the function with an error where @p expression is not CL_SUCCESS. */
#define OCL_TRY(expression, call)                                                                  \
    do {                                                                                           \
        const cl_int try_ = (expression);                                                          \
        if (try_ != CL_SUCCESS) return ocl_fail(try_, call);                                       \
    } while (0)
#define OCL_TRY_META(expression)                                                                   \
    do {                                                                                           \
        const meta_err try_ = (expression);                                                        \
        if (try_ != META_OK) return try_;                                                          \
    } while (0)

/* platform.c */
int ocl_device_count(char *reason, size_t room);
meta_err ocl_device_info(int index, meta_device_desc *desc);
/** What is known of device @p index of the list. */
meta_err ocl_device_find(int index, ocl_about *about);
/** Fill @p about for @p device. @return 0 where it cannot serve; @p reason then says why. */
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
meta_err ocl_copy(meta_plugin_queue *queue, meta_copy_kind kind, void *host, void *object,
                  uint64_t offset, size_t bytes, meta_ticket *ticket);
/** Start the commands queued so far; @p last is the event of the latest and becomes the ticket. */
meta_err ocl_submit(meta_plugin_queue *queue, cl_event last, meta_ticket *ticket);
/** The same, with what tells when the copy ran, where @p made is not NULL. */
meta_err ocl_copy_timed(meta_plugin_queue *queue, meta_copy_kind kind, void *host, void *object,
                        uint64_t offset, size_t bytes, meta_ticket *ticket, meta_stamp *made);
/** What tells when the commands from @p first to @p last ran; both stay the caller's. */
void ocl_stamp_make(cl_event first, cl_event last, meta_stamp *made);
int ocl_stamp_read(void *work, uint64_t *begin, uint64_t *end);
void ocl_stamp_release(void *work);
meta_err ocl_ticket_test(meta_ticket ticket, int *complete);
meta_err ocl_ticket_wait(meta_ticket ticket);
void ocl_ticket_release(meta_ticket ticket);

/* program.c */
/** The kernel @p id for elements of @p type, built if it is the first use. */
meta_err ocl_kernel_get(meta_plugin_device *device, uint32_t id, uint32_t type,
                        const ocl_kernel **kernel);
void ocl_programs_release(meta_plugin_device *device);

/* cache.c */
/** Names what a binary was built from and for. */
typedef struct ocl_key {
    uint64_t part[2];
} ocl_key;
#define OCL_KEY_INIT                                                                               \
    {                                                                                              \
        {                                                                                          \
            UINT64_C(0xcbf29ce484222325), UINT64_C(0x6a09e667f3bcc908)                             \
        }                                                                                          \
    }
/** Add @p text, its end included, to @p key. */
void ocl_key_add(ocl_key *key, const char *text);
/** The binary kept under @p key, to be given to free(); NULL where there is none that is whole. */
void *ocl_cache_read(const ocl_key *key, size_t *bytes);
/** Keep a binary under @p key. */
void ocl_cache_write(const ocl_key *key, const void *binary, size_t bytes);
/** Wait until no other process builds @p key. @return what ocl_cache_unlock() takes. */
int ocl_cache_lock(const ocl_key *key);
void ocl_cache_unlock(int lock);

/* launch.c */
meta_err ocl_launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                    meta_ticket *ticket);

meta_err ocl_launch_timed(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                          meta_ticket *ticket, meta_stamp *stamp);

/* Made by embed.sh from the files of kernels/. */
extern const unsigned char ocl_text_meta_types_h[];
extern const unsigned char ocl_text_lang_opencl_h[];
extern const unsigned char ocl_text_meta_space_h[];
extern const unsigned char ocl_text_lang_opencl_body_h[];
extern const unsigned char ocl_text_cpu_stencil_h[];
extern const unsigned char ocl_text_move_h[];
extern const unsigned char ocl_text_arithmetic_h[];
extern const unsigned char ocl_text_exact_h[];
extern const unsigned char ocl_text_exact_rows_h[];
extern const unsigned char ocl_text_exact_threads_h[];
extern const unsigned char ocl_text_exact_sum_h[];

#endif
