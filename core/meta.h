/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta.h
 *  libmeta: device memory, grid kernels and face packing on whatever device a process has.
 *
 *  Rules that hold for every function here:
 *  - It returns a meta_err. On an error nothing was written, meta_last_error() says in a sentence
 *    which argument of which call was wrong and what to do, and the library is usable as before.
 *  - Buffers are addresses: `(char *)p + k` is byte k of the buffer behind p on every back end.
 *    Only meta_* calls may touch what lies there; a host access to an OpenCL buffer faults.
 *  - The data decides the device: a kernel runs where its operands live.
 *  - `meta_event *done` is the last argument of every operation. NULL: it is complete on return.
 *    META_ASYNC: queued, tracked by nothing but meta_flush(). Otherwise queued, and *done is an
 *    event to test, wait for and free. Work queued on one device runs in order.
 *  - Index 0 is x, the fastest dimension. Ranges are half-open. Sizes of alloc, copy and wrap are in
 *    bytes, everything else counts elements.
 *  - A box, face or copy without elements is a successful no-op.
 *  - Any number of threads may call at once, each on its own buffers and events. */
#ifndef META_H
#define META_H

#include <stddef.h>
#include <stdint.h>

#include "meta_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define META_VERSION_MAJOR 0
#define META_VERSION_MINOR 1
#define META_VERSION_PATCH 0

#ifndef META_API
#define META_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------ errors */

typedef enum meta_err {
    META_OK = 0,
    META_ERR_INIT,         /**< called before meta_init() or after meta_finalize() */
    META_ERR_ARGUMENT,     /**< an argument is NULL, out of range or an unknown enumerator */
    META_ERR_POINTER,      /**< an address that is no (longer a) buffer, or the wrong kind of one */
    META_ERR_BOUNDS,       /**< a range, box or face leaves its buffer */
    META_ERR_ALIGNMENT,    /**< an address is not a multiple of the element size */
    META_ERR_OVERFLOW,     /**< a size does not fit its type */
    META_ERR_OVERLAP,      /**< an output overlaps an input, or a wrap an existing buffer */
    META_ERR_TYPE,         /**< the operation or the device does not know this element type */
    META_ERR_WRONG_DEVICE, /**< operands live on different devices */
    META_ERR_NO_DEVICE,    /**< no such device, or no back end for it */
    META_ERR_NO_MEMORY,    /**< the device or the host has no room */
    META_ERR_HANDLE,       /**< an event or a plan that was freed or never existed */
    META_ERR_STATE,        /**< a valid call at the wrong time: in use, already done, wrong thread */
    META_ERR_ENVIRONMENT,  /**< a META_* variable that cannot be understood */
    META_ERR_PLUGIN,       /**< a back end's file is damaged or of another ABI */
    META_ERR_DEVICE,       /**< the device's own runtime reported a failure */
    META_ERR_MPI,          /**< MPI reported a failure */
    META_ERR_MISMATCH,     /**< two ends of a message or a plan disagree */
    META_ERR_PEER,         /**< another process failed or does not answer */
    META_ERR_UNSUPPORTED,  /**< this back end or build cannot do it */
    META_ERR_COUNT         /**< how many codes there are; never returned */
} meta_err;

/** The name and meaning of @p err, as a constant string; never NULL. */
META_API const char *meta_strerror(meta_err err);

/** What went wrong in this thread's last failing call: the call, the argument, the cause and the
 *  remedy; an empty string where no call has failed. Valid until the thread's next call. */
META_API const char *meta_last_error(void);

/* ------------------------------------------------------------------ life */

/** Start the library: read the META_* variables. Devices are opened when they are first used.
 *  May be called again after meta_finalize().
 *  @return META_ERR_STATE if it is started already, META_ERR_ENVIRONMENT for a variable's value. */
META_API meta_err meta_init(void);

/** Complete all work, give back every device and name on the log what was never freed.
 *  Every buffer, event and plan is invalid afterwards. */
META_API meta_err meta_finalize(void);

/** The version of the library in use (not of this header); any of the pointers may be NULL. */
META_API meta_err meta_version(int *major, int *minor, int *patch);

/* ------------------------------------------------------------------ devices */

/** A kind of device: one of these, or what meta_mode_find() gives for another plugin's name. */
typedef int meta_mode;
enum {
    META_SPREAD = 0, /**< the library chooses: see META_MODE and META_RANK_MAP */
    META_OPENMP = 1,
    META_OPENCL = 2,
    META_CUDA = 3,
    META_HIP = 4,
    META_AUTO = 5,        /**< kept for scheduling by the library */
    META_FIRST_PLUGIN = 16 /**< plugins with other names are numbered from here */
};

/** What a device is. Set it to META_DEVICE_DESC_INIT before passing it in. */
typedef struct meta_device_desc {
    size_t size;       /**< of this structure, as the caller knows it */
    meta_mode mode;    /**< of the back end that drives it */
    int index;         /**< among that back end's devices */
    char backend[32];  /**< the back end's name, as in META_MODE */
    char name[128];    /**< the device's, as its driver gives it */
    char driver[128];  /**< driver or runtime and its version */
    uint64_t memory;   /**< bytes */
    int compute_units; /**< cores, compute units or multiprocessors this process may use */
    int has_f64;       /**< 1 if META_F64 arithmetic runs here; moving F64 always does */
    int is_host;       /**< 1 if the host can address its memory */
    int is_gpu;        /**< 1 for a GPU */
    char pci[16];      /**< where it sits, as 0000:3b:00.0; empty where that is not known */
} meta_device_desc;
#define META_DEVICE_DESC_INIT {sizeof(meta_device_desc), 0, 0, {0}, {0}, {0}, 0, 0, 0, 0, 0, {0}}

/** What a back end is, found or not. Set it to META_BACKEND_DESC_INIT before passing it in. */
typedef struct meta_backend_desc {
    size_t size;
    meta_mode mode;
    int usable;            /**< 1 if it has at least one device that works */
    int devices;           /**< how many */
    char name[32];
    char description[128]; /**< empty where the plugin could not be loaded */
    char reason[256];      /**< why it is not usable; empty where it is */
    char path[1024];       /**< of the plugin; empty where none was found */
} meta_backend_desc;
#define META_BACKEND_DESC_INIT {sizeof(meta_backend_desc), 0, 0, 0, {0}, {0}, {0}, {0}}

/** A META_* variable. Set it to META_VARIABLE_DESC_INIT before passing it in. */
typedef struct meta_variable_desc {
    size_t size;
    const char *name;
    const char *values;      /**< what it can be set to */
    const char *initial;     /**< what holds where it is not set */
    const char *description; /**< a sentence */
    const char *value;       /**< what it is set to now, NULL where it is not */
} meta_variable_desc;
#define META_VARIABLE_DESC_INIT {sizeof(meta_variable_desc), NULL, NULL, NULL, NULL, NULL}

/** The number of back ends looked for: the known ones and every other plugin found. Loads them. */
META_API meta_err meta_backend_count(int *count);
/** Describe back end @p index, 0 ≤ index < the count. */
META_API meta_err meta_backend_info(int index, meta_backend_desc *desc);
/** The number of variables libmeta reads, and each of them. Work before meta_init() as well. */
META_API meta_err meta_variable_count(int *count);
META_API meta_err meta_variable_info(int index, meta_variable_desc *desc);

/** The mode of the back end called @p name ("openmp", "spread", a plugin's own name …).
 *  @return META_ERR_NO_DEVICE where nothing of that name is known. */
META_API meta_err meta_mode_find(const char *name, meta_mode *mode);

/** How many devices of @p mode there are; META_SPREAD counts all. A back end that is missing or
 *  not usable has none: META_OK and 0, and meta_backend_info() has the reason. */
META_API meta_err meta_device_count(meta_mode mode, int *count);
/** Describe device @p index of @p mode. @return META_ERR_NO_DEVICE if there is none. */
META_API meta_err meta_device_info(int index, meta_mode mode, meta_device_desc *desc);

/** Choose where this thread's next meta_alloc() goes; opens the device. META_SPREAD (with index 0)
 *  returns to the process's own device. New threads start from that one.
 *  @return META_ERR_NO_DEVICE or META_ERR_PLUGIN with the reason; the thread's device stays as it
 *  was. */
META_API meta_err meta_set_acc(int index, meta_mode mode);
/** The thread's device; either pointer may be NULL, not both. Opens it.
 *  @return META_ERR_NO_DEVICE where META_MODE or META_RANK_MAP ask for one that is not there. */
META_API meta_err meta_get_acc(int *index, meta_mode *mode);

/** Tell the library which process of a job it is in; meta_comm_init() does so. @p node_rank of
 *  @p node_size processes on this node. Only before the first device is opened. */
META_API meta_err meta_set_job(int rank, int size, int node_rank, int node_size);
/** Which device a process would get under the META_MODE and META_RANK_MAP in force, and how many
 *  CPU threads. Any of the last three pointers may be NULL. Opens nothing.
 *  @return META_ERR_NO_DEVICE with the reason where the choice cannot be met. */
META_API meta_err meta_rank_device(int rank, int size, int node_rank, int node_size, meta_mode *mode,
                                   int *index, int *threads);

/* ------------------------------------------------------------------ memory */

/** An operation's completion; see "order" below. Zero (META_EVENT_NULL) is a complete one. */
typedef struct meta_event {
    uint32_t slot, generation;
} meta_event;
#define META_EVENT_NULL {0, 0}
/** In place of an event: queue the operation and do not track it. */
#define META_ASYNC ((meta_event *)(intptr_t)-1)

#define META_TYPE_ENUM3(NAME, name, bytes) META_##NAME,
#define META_TYPE_ENUM5(NAME, name, bytes, wide, sum) META_##NAME,
/** Element types: META_F64 META_F32 META_I64 META_U64 META_I32 META_U32 (arithmetic and moving),
 *  META_I16 META_U16 META_I8 META_U8 (moving only). */
typedef enum meta_type {
    META_ARITHMETIC_TYPES(META_TYPE_ENUM5) META_SMALL_TYPES(META_TYPE_ENUM3) META_TYPE_COUNT
} meta_type;
#undef META_TYPE_ENUM3
#undef META_TYPE_ENUM5

/** The size of an element, in bytes. */
META_API meta_err meta_type_size(meta_type type, size_t *bytes);

/** A sub-box of an N-dimensional array: the array's allocated extents (so size[0] is the pitch), and
 *  the half-open range in each dimension. An empty range makes an empty box. */
typedef struct meta_box {
    int ndim; /**< 1 … META_MAX_DIM */
    int64_t size[META_MAX_DIM], start[META_MAX_DIM], end[META_MAX_DIM];
} meta_box;

/** The bytes of a label, its end included. */
#define META_LABEL_BYTES 64

/** Allocate @p bytes (at least 1) on this thread's device, aligned for every type and to 64 bytes;
 *  contents undefined. Free it with meta_free(). @return META_ERR_NO_MEMORY with the size. */
META_API meta_err meta_alloc(void **ptr, size_t bytes);
/** Free a buffer of meta_alloc(). Queued work on it is completed first. Its address is recognised as
 *  freed until it is issued again. The memory stays in the device's pool for the next buffers, see
 *  meta_pool_info(). @return META_ERR_STATE while a message still uses it. */
META_API meta_err meta_free(void *ptr);
/** Allocate a grid of @p cells own cells with @p low and @p high ghost cells at the sides of each of its
 *  @p ndim dimensions (each array has that many elements, 0 or more) on this thread's device, and set
 *  *box to its shape: start and end are the own cells, size the allocated extents. Use the box as it
 *  comes: in a grid of 24 MiB and more rows are padded so that the first own cell of each lies at a
 *  multiple of 64 bytes (start[0] is low[0] rounded up), and neither rows nor planes at a multiple of
 *  4096 bytes from each other, where they would crowd in one set of a cache. So size[d] may be more
 *  than the cells and ghosts. A smaller grid, which caches may hold, has nothing but these.
 *  The buffer is of meta_alloc(): contents undefined, free it with meta_free(). A grid without cells
 *  is a buffer too. Grids of equal arguments have equal boxes, on every device.
 *  @return META_ERR_NO_MEMORY with the size in bytes, META_ERR_OVERFLOW, META_ERR_ARGUMENT */
META_API meta_err meta_grid_alloc(void **ptr, meta_box *box, int ndim, const int64_t *cells,
                                  const int *low, const int *high, meta_type type);
/** Allocate host memory that copies to and from this thread's device run fastest with. It may be
 *  given wherever a host address is asked for. Free it with meta_host_free(). */
META_API meta_err meta_host_alloc(void **ptr, size_t bytes);
META_API meta_err meta_host_free(void *ptr);

/** Copy @p bytes from host memory to a device buffer, back, and between or within buffers of one
 *  device. The host memory must stay until the operation is complete.
 *  @return META_ERR_POINTER where a device buffer is given as the host side, META_ERR_OVERLAP. */
META_API meta_err meta_copy_h2d(void *dst, const void *src, size_t bytes, meta_event *done);
META_API meta_err meta_copy_d2h(void *dst, const void *src, size_t bytes, meta_event *done);
META_API meta_err meta_copy_d2d(void *dst, const void *src, size_t bytes, meta_event *done);
/** Copy the cells of @p src_box to @p dst_box; both buffers on one device, the boxes of equal extent
 *  in every dimension, not overlapping. */
META_API meta_err meta_copy_box(void *dst, const meta_box *dst_box, const void *src,
                                const meta_box *src_box, meta_type type, meta_event *done);
/** Copy the cells of @p src_box to @p dst_box, the one in an array of the host, the other in a device
 *  buffer: each box has its own array's shape, so that a dense array comes into a padded grid, and a
 *  part of a grid out of it, by one call. The boxes are of equal extent in every dimension; cells
 *  outside them stay as they are, on the host too. At most 2 MiB are packed at
 *  once, so no second grid is needed. Today the copy is complete on return even with an event; do not
 *  count on it: the host memory must stay until the event is.
 *  @return META_ERR_POINTER where a device buffer is given as the host side, META_ERR_NO_MEMORY */
META_API meta_err meta_copy_box_h2d(void *dst, const meta_box *dst_box, const void *src,
                                    const meta_box *src_box, meta_type type, meta_event *done);
META_API meta_err meta_copy_box_d2h(void *dst, const meta_box *dst_box, const void *src,
                                    const meta_box *src_box, meta_type type, meta_event *done);
/** Set @p count elements, or the cells of @p box, to the element at host address @p value, which
 *  is read before the call returns. */
META_API meta_err meta_fill(void *buf, int64_t count, const void *value, meta_type type,
                            meta_event *done);
META_API meta_err meta_fill_box(void *buf, const meta_box *box, const void *value, meta_type type,
                                meta_event *done);

typedef enum meta_native_kind {
    META_NATIVE_HOST,  /**< a host array; only on a device whose memory is the host's (OpenMP) */
    META_NATIVE_OBJECT /**< the device's own kind of memory: host array, cl_mem, device pointer */
} meta_native_kind;

/** Make memory of the application a buffer of this thread's device, without a copy; *ptr is its
 *  address (for a host array the array's own). The library never frees it. @p bytes may be less than
 *  the object has. @return META_ERR_OVERLAP where it overlaps another buffer, META_ERR_BOUNDS where
 *  the object is smaller, META_ERR_POINTER for a host array on a device with its own memory. */
META_API meta_err meta_wrap(void **ptr, void *native, size_t bytes, meta_native_kind kind);
/** End a wrap; waits for the work queued on its device. The memory is the application's again. */
META_API meta_err meta_unwrap(void *ptr);

typedef enum meta_memory_kind {
    META_MEMORY_DEVICE,  /**< meta_alloc() */
    META_MEMORY_WRAPPED, /**< meta_wrap() */
    META_MEMORY_HOST     /**< meta_host_alloc() */
} meta_memory_kind;

/** What the library knows of an address. Set it to META_POINTER_DESC_INIT before passing it in. */
typedef struct meta_pointer_desc {
    size_t size;
    meta_memory_kind kind;
    meta_mode mode; /**< with index: the device it belongs to */
    int index;
    void *base;    /**< of the buffer the address lies in */
    size_t bytes;  /**< of that buffer */
    size_t offset; /**< of the address in it */
    char label[META_LABEL_BYTES]; /**< of meta_label(); empty where it has none */
} meta_pointer_desc;
#define META_POINTER_DESC_INIT {sizeof(meta_pointer_desc), META_MEMORY_DEVICE, 0, 0, NULL, 0, 0, {0}}
/** Describe the buffer behind @p ptr. @return META_ERR_POINTER where there is none. */
META_API meta_err meta_pointer_info(const void *ptr, meta_pointer_desc *desc);

/** Name the buffer behind @p ptr, which may be any address in a buffer of meta_alloc(), meta_wrap() or
 *  meta_host_alloc(): errors about it, what meta_finalize() says was never freed, profiles and traces
 *  then say @p label. The text is copied and cut at META_LABEL_BYTES − 1 bytes, between characters of
 *  UTF-8; control characters become '?'. NULL or "" takes the name away. A buffer that was freed keeps
 *  its name in errors about its address. @return META_ERR_POINTER where there is no buffer */
META_API meta_err meta_label(const void *ptr, const char *label);
/** Say where in the program this thread's next call stands that allocates, wraps, frees or unwraps:
 *  errors and the report of meta_finalize() then name it as @p file and @p line; NULL takes it back.
 *  C programs need not: there those functions are macros too, which say it by themselves (unless
 *  META_NO_PLACES is defined before this header). A call without it is named by the function that it
 *  returns to, as far as the dynamic symbols have it, and by a module and offset for addr2line; with
 *  META_CHECK=1 that is one of the program, not of the Fortran binding.
 *  @p file is read in that call, of which it keeps the last 47 bytes. Never fails; works at any time. */
META_API meta_err meta_here(const char *file, int line);

/** A device's memory. Set it to META_MEM_DESC_INIT before passing it in. */
typedef struct meta_mem_desc {
    size_t size;
    uint64_t total;     /**< bytes the device has */
    uint64_t allocated; /**< bytes in buffers of meta_alloc() now, as they were asked for */
    uint64_t peak;      /**< the most that ever was */
    uint64_t buffers;   /**< how many there are now, wrapped ones included */
} meta_mem_desc;
#define META_MEM_DESC_INIT {sizeof(meta_mem_desc), 0, 0, 0, 0}
META_API meta_err meta_mem_info(int index, meta_mode mode, meta_mem_desc *desc);

/** A device's pool: the memory of freed buffers that is kept for the next ones of the same size, or of
 *  up to an eighth less. Set it to META_POOL_DESC_INIT before passing it in. */
typedef struct meta_pool_desc {
    size_t size;
    uint64_t limit;     /**< the most bytes that are kept: META_POOL or meta_pool_limit() */
    uint64_t kept;      /**< bytes kept now */
    uint64_t blocks;    /**< in so many pieces */
    uint64_t held;      /**< bytes of buffers and kept ones: had of the driver or system for them */
    uint64_t held_peak; /**< the most that ever were */
    uint64_t reused;    /**< buffers that a kept piece served */
    uint64_t made;      /**< those that the driver or system was asked for */
    uint64_t returned;  /**< pieces given back to it */
} meta_pool_desc;
#define META_POOL_DESC_INIT {sizeof(meta_pool_desc), 0, 0, 0, 0, 0, 0, 0, 0}
/** Describe the pool of device @p index of @p mode. Opens it. What is kept goes back before any memory
 *  of a device or the host is refused with META_ERR_NO_MEMORY, and at meta_finalize(). */
META_API meta_err meta_pool_info(int index, meta_mode mode, meta_pool_desc *desc);
/** Give back what was kept longest until at most @p bytes are kept, for other users of the memory. */
META_API meta_err meta_pool_trim(int index, meta_mode mode, size_t bytes);
/** From now on keep at most @p bytes (0: nothing) until meta_finalize(). Where META_POOL is off nothing
 *  is kept ever. */
META_API meta_err meta_pool_limit(int index, meta_mode mode, size_t bytes);

/* ------------------------------------------------------------------ order */

/** Complete all queued work and messages of all devices, call every due meta_event_then() callback.
 *  @return the first error that untracked (META_ASYNC) work met. */
META_API meta_err meta_flush(void);
/** Whether @p event is complete. @return the error its operation met, once it is. */
META_API meta_err meta_event_test(meta_event event, int *complete);
/** Wait until it is complete. Does not free it. @return the error its operation met. */
META_API meta_err meta_event_wait(meta_event event);
/** Wait for all of @p count events. @return the first error among them, in the array's order. */
META_API meta_err meta_event_waitall(size_t count, const meta_event *events);
/** Call @p function once with @p user and the operation's status: from the thread that makes the
 *  first meta_event_test/wait/waitall or meta_flush() after completion, never from a driver's. */
META_API meta_err meta_event_then(meta_event event, void (*function)(void *user, meta_err status),
                                  void *user);
/** Give the handle back and set it to META_EVENT_NULL. A pending operation goes on without it, and
 *  its callbacks are still called. */
META_API meta_err meta_event_free(meta_event *event);

/* ------------------------------------------------------------------ sharing */

/** The native objects of a device: for OpenCL cl_platform_id, cl_device_id, cl_context and
 *  cl_command_queue; for CUDA and HIP the stream, as queue; NULL where a back end has none. Set it to
 *  META_STATE_INIT first. */
typedef struct meta_state {
    size_t size;
    void *platform, *device, *context, *queue;
} meta_state;
#define META_STATE_INIT {sizeof(meta_state), NULL, NULL, NULL, NULL}
/** The native objects of device @p index of @p mode, still owned by the library. What the
 *  application puts on the queue is ordered with its meta_* calls on that device. */
META_API meta_err meta_get_state(int index, meta_mode mode, meta_state *state);
/** Make the library use the application's own objects for device @p index of @p mode; they must
 *  outlive the library's use of them. Before that device is first used.
 *  @return META_ERR_STATE after that, META_ERR_ARGUMENT where the objects do not belong together. */
META_API meta_err meta_set_state(int index, meta_mode mode, const meta_state *state);
/** The native memory object behind @p ptr (a cl_mem; else the buffer's base address) and the
 *  byte offset of @p ptr in it. Either may be NULL, not both. */
META_API meta_err meta_native(const void *ptr, void **object, size_t *offset);

/* ------------------------------------------------------------------ faces */

/** A set of array elements as the C++ library's gslice describes it: element (i0, i1, …) lies at
 *  start + i0*stride[0] + i1*stride[1] + …, counted in elements from the buffer's address; level 0
 *  runs fastest in the packed order. Strides may be negative or 0 (not when unpacking). */
typedef struct meta_face {
    int64_t start;
    int count; /**< of levels, 1 … META_MAX_DIM */
    int64_t size[META_MAX_DIM], stride[META_MAX_DIM];
} meta_face;

typedef enum meta_slab {
    META_SLAB_LOW,       /**< the outermost cells inside the box, at the low side */
    META_SLAB_HIGH,      /**< the same at the high side */
    META_SLAB_LOW_GHOST, /**< the cells just outside the box, at the low side */
    META_SLAB_HIGH_GHOST
} meta_slab;

/** A face of @p count levels from its parts; @p size and @p stride have that many elements. */
META_API meta_err meta_face_make(meta_face *face, int64_t start, int count, const int64_t *size,
                                 const int64_t *stride);
/** The slab of @p width cells at a side of @p box along @p axis; in the other dimensions it covers
 *  the box. @return META_ERR_BOUNDS if it leaves the array, or inside the box is wider than it. */
META_API meta_err meta_face_slab(meta_face *face, const meta_box *box, int axis, meta_slab slab,
                                 int64_t width);
/** All cells of @p box, in their order in memory. */
META_API meta_err meta_face_box(meta_face *face, const meta_box *box);
/** The number of elements of @p face. @return META_ERR_OVERFLOW if it has more than an int64_t. */
META_API meta_err meta_face_elements(const meta_face *face, int64_t *count);

/* ------------------------------------------------------------------ marshalling */

/** Copy the elements of @p face in @p buf to @p packed, in face order. Both on one device, not
 *  overlapping. @p packed has room for meta_face_elements(face) elements. */
META_API meta_err meta_pack_face(void *packed, const void *buf, const meta_face *face,
                                 meta_type type, meta_event *done);
/** The reverse; elements of @p buf outside the face stay as they are. A face that names an element
 *  twice leaves either value there; a stride of 0 is refused. */
META_API meta_err meta_unpack_face(void *buf, const void *packed, const meta_face *face,
                                   meta_type type, meta_event *done);
/** Transpose a packed face of size[0] × size[1] elements (size[0] fastest) into one of size[1] ×
 *  size[0]. Both on one device, not overlapping. */
META_API meta_err meta_transpose_face(void *out, const void *in, const int64_t size[2],
                                      meta_type type, meta_event *done);

/* ------------------------------------------------------------------ compute */

typedef enum meta_stencil_kind {
    META_2D5P, /**< 5 points in x and y */
    META_2D9P, /**< 3×3 points in x and y */
    META_3D7P,
    META_3D27P,
    META_STENCIL_COUNT
} meta_stencil_kind;

typedef enum meta_op { META_SUM, META_MIN, META_MAX, META_OP_COUNT } meta_op;

/** Each cell of @p box in @p out becomes the equal-weight average of the stencil's points in @p in
 *  (Barrett, Vaughan and Heroux, MiniGhost 1.0, 2012). @p out and @p in have the box's shape, are on
 *  one device and do not overlap; the box leaves one cell free on every side the stencil reaches
 *  over. Dimensions beyond the stencil's are a batch. Integers are added modulo 2^n and divided
 *  towards zero. The bits are the same on every back end; of a NaN only that it is one.
 *  @param sum  NULL, or the host or device address of one element of @p type that receives the sum
 *              over the box's new values; it must stay until the operation is complete */
META_API meta_err meta_stencil(void *out, const void *in, const meta_box *box,
                               meta_stencil_kind kind, meta_type type, void *sum, meta_event *done);
/** Reduce the cells of @p box to one element of @p type at host or device address @p result.
 *  F32 sums are accumulated in double where the device has it, and any sum of floating numbers exactly
 *  where meta_set_reproducible() says so; integers wrap; a NaN wins in every operation; an extreme
 *  that is zero is +0, and one that is NaN always the same one. Of an empty box the sum is 0, the
 *  minimum the type's highest value (+∞) and the maximum its lowest. */
META_API meta_err meta_reduce(void *result, const void *buf, const meta_box *box, meta_op op,
                              meta_type type, meta_event *done);
/** meta_reduce() of @p boxes boxes of each of @p fields buffers, by one call: such as the sums at a
 *  block's sides of all variables. Box b of field[f] goes to element f·stride + b of @p results, at host or
 *  device address; elements between stay as they are. Each result is what meta_reduce() makes of that
 *  box, so its bits and what meta_allreduce() does with it are the same. The buffers are on one device.
 *  @p field and @p box are read before the call returns.
 *  @param stride  at least @p boxes; of a single field it means nothing
 *  @param done    of all results together */
META_API meta_err meta_reduce_boxes(void *results, int64_t stride, int fields, void *const *field,
                                    int boxes, const meta_box *box, meta_op op, meta_type type,
                                    meta_event *done);
/** The sum over the cells of @p box of a·b; both buffers have the box's shape. As meta_reduce(). */
META_API meta_err meta_dot(void *result, const void *a, const void *b, const meta_box *box,
                           meta_type type, meta_event *done);
/** Make sums reproducible (@p on 1) or not (0), for all calls of this process that follow; the start
 *  is META_REPRODUCIBLE's. A reproducible sum of META_F64 or META_F32 by meta_reduce(), meta_dot(),
 *  meta_stencil() or meta_allreduce() is exact until it is rounded once, to nearest, ties to even: its
 *  bits do not depend on threads, ranks, process grid or back ends (Kulisch's long accumulator, fed
 *  as Rump, Ogita and Oishi split doubles; see doc/reproducible.md). Of meta_dot() on META_F64 the
 *  exact sum is that of the rounded products; those of META_F32 are exact. A sum of zero is +0. With
 *  a NaN or infinities of both signs the sum is NaN, always the same one; with infinities of one sign
 *  it is that infinity. An intermediate sum does not overflow.
 *
 *  meta_allreduce() goes on with the exact sum where it is given the address that received the sum,
 *  still with that value in it; it remembers 4096 addresses of each device. Other values are added
 *  as they are. Every rank has the same setting. Integers wrap and are reproducible anyway.
 *  A device without double precision refuses with META_ERR_UNSUPPORTED. */
META_API meta_err meta_set_reproducible(int on);
/** Whether they are; *on is 0 or 1. */
META_API meta_err meta_get_reproducible(int *on);
/** y += alpha·x on the cells of @p box; @p alpha is a host address, read before the call returns.
 *  @p x may be @p y itself, else they do not overlap. */
META_API meta_err meta_axpy(void *y, const void *alpha, const void *x, const meta_box *box,
                            meta_type type, meta_event *done);

/* ------------------------------------------------------------------ profiling */

/** Begin to count, from zero, what kernels, copies, messages and ranges do from now on, as
 *  META_PROFILE=summary does from the start; doc/profiling.md shows the outcome. May be called before
 *  meta_init() and meta_comm_init() as well: an OpenCL queue that is made earlier keeps no times, and
 *  what runs on it is counted without them. @return META_ERR_STATE if it was called already. */
META_API meta_err meta_timers_init(void);
/** Wait for the work of all devices, then print what was counted on the standard error stream; counting
 *  goes on. In a job of several ranks, one table of all of them, printed by rank 0: then every rank
 *  calls this. @return META_ERR_STATE if nothing is counted. */
META_API meta_err meta_timers_print(void);
/** Count no longer and forget what was counted. Nothing is printed. @return META_ERR_STATE without
 *  meta_timers_init(). With META_PROFILE=summary counting goes on from zero. */
META_API meta_err meta_timers_finalize(void);

/** Open a range of this thread's time under @p name, and close the one opened last. Ranges nest, up to
 *  64 deep; they are counted with the kernels. The text is copied, once for each name.
 *  @return META_ERR_STATE where 64 are open, or for meta_range_pop() none is. */
META_API meta_err meta_range_push(const char *name);
META_API meta_err meta_range_pop(void);

typedef enum meta_activity {
    META_ACTIVITY_KERNEL,  /**< a launch of one or more kernels that run as one */
    META_ACTIVITY_COPY,    /**< between the host and a device */
    META_ACTIVITY_MESSAGE, /**< to or from another rank */
    META_ACTIVITY_RANGE,   /**< of meta_range_push() */
    META_ACTIVITY_COUNT
} meta_activity;

/** What another tool wants to hear of; functions that are NULL are not called. They are called by the
 *  application's threads, several at once, or by the one of META_PROGRESS=thread, and call no
 *  function of this library. Set it to META_TOOL_INIT first. */
typedef struct meta_tool {
    size_t size;
    void *user; /**< given to each */
    /** Work is about to be queued, a message or a range begins. @p id is its number, never 0 and
     *  used once in a process; @p name is valid for ever. @p bytes: what is read and written, or 0. */
    void (*begin)(void *user, meta_activity activity, const char *name, uint64_t bytes, uint64_t id);
    /** It has ended; known at a later call of the library, for work that was queued. It took from
     *  @p begin to @p end nanoseconds of CLOCK_MONOTONIC, by the device's clock if it ran on one; both
     *  are 0 where that is not known or it failed. */
    void (*end)(void *user, meta_activity activity, uint64_t id, uint64_t begin, uint64_t end);
} meta_tool;
#define META_TOOL_INIT {sizeof(meta_tool), NULL, NULL, NULL}
/** Tell @p tool of everything that begins from now on; NULL: nobody any more. It is copied. Of what has
 *  begun the end is still told to the one that is there then. While no other thread calls the library. */
META_API meta_err meta_set_tool(const meta_tool *tool);

/* Where they are called. The functions are there as well, for pointers to them. */
#if !defined __cplusplus && !defined META_NO_PLACES
#define META_SAY_PLACE(call)       ((void)meta_here(__FILE__, __LINE__), call)
#define meta_alloc(...)      META_SAY_PLACE(meta_alloc(__VA_ARGS__))
#define meta_free(...)       META_SAY_PLACE(meta_free(__VA_ARGS__))
#define meta_grid_alloc(...) META_SAY_PLACE(meta_grid_alloc(__VA_ARGS__))
#define meta_host_alloc(...) META_SAY_PLACE(meta_host_alloc(__VA_ARGS__))
#define meta_host_free(...)  META_SAY_PLACE(meta_host_free(__VA_ARGS__))
#define meta_wrap(...)       META_SAY_PLACE(meta_wrap(__VA_ARGS__))
#define meta_unwrap(...)     META_SAY_PLACE(meta_unwrap(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
