/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta.h
 *  libmeta: device memory, grid kernels and packing of strided sections on the devices of a process.
 *
 *  Rules for every function:
 *  - It returns a meta_err. On error nothing is written, the library remains usable, and
 *    meta_last_error() says which argument of which call was wrong and what to do.
 *  - Buffers are addresses: `(char *)p + k` is byte k of the buffer at p on every back end.
 *    Only meta_* calls may access the memory; a host access to an OpenCL buffer faults.
 *  - The data decides the device: a kernel runs where its operands are.
 *  - `meta_event *done` is the last argument of every operation. NULL: the call blocks, and the
 *    operation is complete on return. META_ASYNC: it is queued, and only meta_flush() waits for it.
 *    Otherwise it is queued, and *done becomes an event to test, wait for and free. Work queued on
 *    one device executes in order.
 *  - Index 0 is x, the fastest (contiguous) dimension. Ranges are half-open. Sizes in alloc, copy and
 *    wrap are in bytes, all others in elements.
 *  - An operation on an empty box or face, or a copy of 0 bytes, is a successful no-op.
 *  - Thread-safe: any number of threads may call at once, each on its own buffers and events.
 *  - A structure whose first member is `size` may get members at its end in a later version. Set it to
 *    its META_..._INIT, which sets the size that the program was compiled with; a program that sets
 *    members one by one sets the others to 0. Programs and libraries of one soname may then differ in
 *    version: members that the program does not know are 0, which is what they were before. One that is
 *    compiled with later headers than the library's gets META_ERR_UNSUPPORTED where it sets a member
 *    that the library does not know; in an output such members stay as they are. A size that no
 *    version has is META_ERR_ARGUMENT. Structures without `size` never change.
 *  - A child that fork() makes of a process that has opened a device, or asked OpenCL, CUDA or HIP for
 *    theirs, has neither its threads nor its connections to drivers: every function returns
 *    META_ERR_STATE there, meta_init() too. Call fork() before that, or exec() in the child. */
#ifndef META_H
#define META_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#if defined METAMORPH_H && !defined METAMORPH_NO_NAMES
#error "meta.h and metamorph.h name different functions alike: include one of them, or " \
       "define METAMORPH_NO_NAMES before metamorph.h and call metamorph_alloc() for its meta_alloc()"
#endif

#include <stddef.h>
#include <stdint.h>

#include "meta_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header; meta_version() has that of the loaded library. */
#define META_VERSION_MAJOR 0
#define META_VERSION_MINOR 2 /**< see META_VERSION_MAJOR */
#define META_VERSION_PATCH 0 /**< see META_VERSION_MAJOR */

/** Marks what the libraries export. */
#ifndef META_API
#define META_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------ errors */

/** What a function returns: META_OK, or an error. meta_last_error() says more. */
typedef enum meta_err {
    META_OK = 0,           /**< success */
    META_ERR_INIT,         /**< called before meta_init() or after meta_finalize() */
    META_ERR_ARGUMENT,     /**< an argument is NULL, out of range or an unknown enumerator, or a box
                                contradicts the shape of its grid, see meta_box */
    META_ERR_POINTER,      /**< an address outside any live buffer, or of the wrong kind */
    META_ERR_BOUNDS,       /**< a range, box or face is out of bounds of its buffer */
    META_ERR_ALIGNMENT,    /**< an address is not a multiple of the element size */
    META_ERR_OVERFLOW,     /**< a size does not fit its type */
    META_ERR_OVERLAP,      /**< an output overlaps an input, or a wrap an existing buffer */
    META_ERR_TYPE,         /**< the operation or the device does not support this element type */
    META_ERR_WRONG_DEVICE, /**< operands are on different devices */
    META_ERR_NO_DEVICE,    /**< no such device, or no back end for it */
    META_ERR_NO_MEMORY,    /**< out of device or host memory */
    META_ERR_HANDLE,       /**< an invalid handle: an event or plan that was freed or never existed */
    META_ERR_STATE,        /**< a valid call at the wrong time: in use, already done, wrong thread */
    META_ERR_ENVIRONMENT,  /**< a META_* variable has an invalid value */
    META_ERR_PLUGIN,       /**< a back end's file is damaged or has another ABI version */
    META_ERR_DEVICE,       /**< the device's runtime reported a failure */
    META_ERR_MPI,          /**< MPI reported a failure */
    META_ERR_MISMATCH,     /**< the two ends of a message or a plan disagree, or, with META_CHECK=on,
                                two bodies of a kernel */
    META_ERR_PEER,         /**< another process failed or does not respond */
    META_ERR_UNSUPPORTED,  /**< not supported by this back end or build */
    META_ERR_FILE,         /**< a file cannot be opened, read or written, or is damaged */
    META_ERR_COUNT         /**< the number of codes; never returned */
} meta_err;

/** The name and meaning of @p err, as a constant string; never NULL. */
META_API const char *meta_strerror(meta_err err);

/** The message of this thread's last failed call: the call, the argument, the cause and the
 *  remedy; an empty string if no call has failed. Valid until the thread's next call. */
META_API const char *meta_last_error(void);

/* ------------------------------------------------------------------ life */

/** Initialize the library and read the META_* variables. Devices are opened on first use.
 *  May be called again after meta_finalize().
 *  @return META_ERR_STATE if already initialized, or in a child of fork(), see meta.h;
 *          META_ERR_ENVIRONMENT if a variable is invalid. */
META_API meta_err meta_init(void);

/** Complete all work, close every device, and log what was never freed.
 *  Every buffer, event and plan is invalid afterwards. Calls of other threads that are under way are
 *  waited for; those that begin later return META_ERR_INIT.
 *  @return META_ERR_STATE in a function that the library called, such as that of meta_event_then() */
META_API meta_err meta_finalize(void);

/** The version of the loaded library (not of this header); each pointer may be NULL. */
META_API meta_err meta_version(int *major, int *minor, int *patch);

/* ------------------------------------------------------------------ devices */

/** A kind of device: one of META_SPREAD and the following, or the value that meta_mode_find() returns
 *  for another plugin. */
typedef int meta_mode;
/** The kinds of devices, values of meta_mode. */
enum {
    META_SPREAD = 0, /**< the library chooses: see META_MODE and META_RANK_MAP */
    META_OPENMP = 1, /**< the CPU cores of this process */
    META_OPENCL = 2, /**< a device of OpenCL */
    META_CUDA = 3,   /**< an NVIDIA GPU */
    META_HIP = 4,    /**< an AMD GPU */
    META_AUTO = 5,   /**< device 0 stands for several: the library chooses one for each call */
    META_FIRST_PLUGIN = 16 /**< plugins with other names are numbered from here */
};

/** Properties of a device. Set it to META_DEVICE_DESC_INIT before passing it in. */
typedef struct meta_device_desc {
    size_t size;       /**< of this structure, as the caller was compiled with it */
    meta_mode mode;    /**< of its back end */
    int index;         /**< its number within that back end */
    char backend[32];  /**< the back end's name, as in META_MODE */
    char name[128];    /**< the device's name, as its driver reports it */
    char driver[128];  /**< the driver or runtime and its version */
    uint64_t memory;   /**< bytes */
    int compute_units; /**< cores, compute units or multiprocessors this process may use */
    int has_f64;       /**< 1 if META_F64 arithmetic is supported; copies of F64 always are */
    int is_host;       /**< 1 if the host can address its memory: see meta_host_view() */
    int is_gpu;        /**< 1 for a GPU */
    char pci[16];      /**< PCI address, such as 0000:3b:00.0; empty if unknown */
} meta_device_desc;
/** Start value of a meta_device_desc. */
#define META_DEVICE_DESC_INIT {sizeof(meta_device_desc), 0, 0, {0}, {0}, {0}, 0, 0, 0, 0, 0, {0}}

/** State of a back end, found or not. Set it to META_BACKEND_DESC_INIT before passing it in. */
typedef struct meta_backend_desc {
    size_t size;           /**< of this structure */
    meta_mode mode;        /**< its number */
    int usable;            /**< 1 if it has at least one working device */
    int devices;           /**< number of devices */
    char name[32];         /**< as in META_MODE */
    char description[128]; /**< empty if the plugin could not be loaded */
    char reason[256];      /**< why it is not usable; empty if it is */
    char path[1024];       /**< of the plugin; empty if none was found */
} meta_backend_desc;
/** Start value of a meta_backend_desc. */
#define META_BACKEND_DESC_INIT {sizeof(meta_backend_desc), 0, 0, 0, {0}, {0}, {0}, {0}}

/** A META_* variable. Set it to META_VARIABLE_DESC_INIT before passing it in. */
typedef struct meta_variable_desc {
    size_t size;             /**< of this structure */
    const char *name;        /**< such as META_MODE */
    const char *values;      /**< syntax of its values */
    const char *initial;     /**< the default */
    const char *description; /**< a sentence */
    const char *value;       /**< its current value, NULL if not set */
} meta_variable_desc;
/** Start value of a meta_variable_desc. */
#define META_VARIABLE_DESC_INIT {sizeof(meta_variable_desc), NULL, NULL, NULL, NULL, NULL}

/** The number of back ends: the built-in names, and every other plugin found. Loads them. */
META_API meta_err meta_backend_count(int *count);
/** Describe back end @p index, 0 ≤ index < the count. */
META_API meta_err meta_backend_info(int index, meta_backend_desc *desc);
/** The number of variables libmeta reads, and each of them, 0 ≤ index < the count. May be called before
 *  meta_init(). */
META_API meta_err meta_variable_count(int *count);
META_API meta_err meta_variable_info(int index, meta_variable_desc *desc);

/** The mode of the back end called @p name ("openmp", "spread", a plugin's own name …).
 *  @return META_ERR_NO_DEVICE if the name is unknown. */
META_API meta_err meta_mode_find(const char *name, meta_mode *mode);

/** The number of devices of @p mode; META_SPREAD counts all. A back end that is missing or
 *  not usable has none: META_OK and 0, and meta_backend_info() has the reason. */
META_API meta_err meta_device_count(meta_mode mode, int *count);
/** Describe device @p index of @p mode. @return META_ERR_NO_DEVICE if there is none. */
META_API meta_err meta_device_info(int index, meta_mode mode, meta_device_desc *desc);

/** Set this thread's current device, which its next meta_alloc() uses; opens the device. META_SPREAD
 *  (with index 0) returns to the process's default device, with which new threads start.
 *  @return META_ERR_NO_DEVICE, or META_ERR_PLUGIN for a plug-in that was refused, with the reason; the
 *          thread's current device does not change. */
META_API meta_err meta_set_acc(int index, meta_mode mode);
/** The thread's current device; one of the pointers may be NULL. Opens the device.
 *  @return META_ERR_NO_DEVICE if META_MODE or META_RANK_MAP request a device that does not exist. */
META_API meta_err meta_get_acc(int *index, meta_mode *mode);

/** Set the rank and size of the job, and this process's rank @p node_rank among the @p node_size
 *  processes on its node; meta_comm_init() does this. Only before the first device is opened. */
META_API meta_err meta_set_job(int rank, int size, int node_rank, int node_size);
/** The device and the number of CPU threads that a process would get under the current META_MODE and
 *  META_RANK_MAP. Each of the last three pointers may be NULL. Opens no device.
 *  @return META_ERR_NO_DEVICE with the reason if the request cannot be met. */
META_API meta_err meta_rank_device(int rank, int size, int node_rank, int node_size, meta_mode *mode,
                                   int *index, int *threads);

/* ------------------------------------------------------------------ memory */

/** The completion of an operation: to be tested, waited for and freed. A handle, not a pointer; its
 *  members are the library's. META_EVENT_NULL (zero) is a complete event. */
typedef struct meta_event {
    uint32_t slot;       /**< the library's */
    uint32_t generation; /**< the library's */
} meta_event;
/** An event that is complete. */
#define META_EVENT_NULL {0, 0}
/** Instead of an event: queue the operation without tracking it. */
#define META_ASYNC ((meta_event *)(intptr_t)-1)

#define META_TYPE_ENUM3(NAME, name, bytes) META_##NAME,
#define META_TYPE_ENUM5(NAME, name, bytes, wide, sum) META_##NAME,
/** Element types: META_F64 META_F32 META_I64 META_U64 META_I32 META_U32 (arithmetic and moving),
 *  META_I16 META_U16 META_I8 META_U8 (moving only). */
typedef enum meta_type {
    META_ARITHMETIC_TYPES(META_TYPE_ENUM5) META_SMALL_TYPES(META_TYPE_ENUM3)
    META_TYPE_COUNT /**< the number of types; also that of values that are none */
} meta_type;
#undef META_TYPE_ENUM3
#undef META_TYPE_ENUM5

/** The size of an element, in bytes. */
META_API meta_err meta_type_size(meta_type type, size_t *bytes);

/** A box in an N-dimensional array: the array's allocated extents (so size[0] is the leading
 *  dimension, or pitch) and a half-open range in each dimension. An empty range makes an empty box.
 *
 *  Arrays with shapes of their own: a grid (meta_grid_alloc(), meta_grid_family(), meta_grid_shape()) knows its
 *  extents. Where a call is given a grid's first byte, and its type and box have the grid's element size and number of
 *  dimensions, the array is a grid. Every other array, such as memory of meta_alloc() or meta_wrap(), an address behind
 *  a buffer's first byte, or elements of another size, has no shape but the box's.
 *  - A call with **one box for its arrays** addresses each grid by the grid's own extents, and all other arrays by the
 *    box's size. Index i is the same cell in all of them, so that arrays of cells, faces and nodes, of any
 *    element sizes, meet in one call. Grids whose own cells begin at different indices are META_ERR_ARGUMENT, a box that
 *    leaves a grid is META_ERR_BOUNDS; the message names the arrays. A box with as many elements as the grid, but other
 *    extents, is another view of its memory, if its rows lie where those of the grid do: of a single row, say.
 *  - A call with **a box for each array**, such as a copy, goes by the boxes. Extents that place a grid's rows elsewhere
 *    are META_ERR_ARGUMENT: the last extent may be any number, and dimensions of one element do not count.
 *  A box of fewer dimensions than a grid may view it as a flat array, where it has no padding; with padding the strides
 *  must be some of the grid's, else META_ERR_ARGUMENT. One of more dimensions goes by its own size. */
typedef struct meta_box {
    int ndim;                    /**< 1 … META_MAX_DIM */
    int64_t size[META_MAX_DIM];  /**< the array's extents */
    int64_t start[META_MAX_DIM]; /**< the first index in the box */
    int64_t end[META_MAX_DIM];   /**< the first index behind it */
} meta_box;

/** The bytes of a label, including the terminating null. */
#define META_LABEL_BYTES 64

/** Allocate @p bytes (at least 1) on this thread's device, aligned for every type and to 64 bytes;
 *  the contents are undefined. Free it with meta_free(). @return META_ERR_NO_MEMORY with the size. */
META_API meta_err meta_alloc(void **ptr, size_t bytes);
/** Free a buffer from meta_alloc(), after completing queued work on it. Its address is recognized as
 *  freed until it is reused. The memory stays in the device's pool for later buffers, see
 *  meta_pool_info(). @return META_ERR_STATE while a message is using the buffer. */
META_API meta_err meta_free(void *ptr);
/** Allocate a grid on this thread's device with @p cells owned cells and @p low and @p high ghost cells
 *  on the sides of each of its @p ndim dimensions (arrays of @p ndim elements, each 0 or more). Sets
 *  *box to its layout: start and end are the range of owned cells, so start is @p low; size the allocated
 *  extents, which may exceed cells plus ghosts, so use the box as returned. In grids of 256 KiB and more,
 *  rows are padded: the first owned cell of each row is aligned to 64 bytes (the buffer itself to an
 *  element), and neither rows nor planes are a multiple of 4096 bytes apart, which would map them to the
 *  same cache set. Smaller grids are not padded, nor are those below 24 MiB that would become more than a
 *  quarter larger.
 *  A dimension without neighbours, such as the species of u(x, y, z, species), has 0 ghosts.
 *  The contents are undefined; free the buffer with meta_free(). A grid without cells is a buffer too.
 *  Equal arguments give equal boxes on every device.
 *
 *  The grid has its shape until it is freed, or meta_grid_shape() gives it another one: see meta_box for
 *  what that means in calls.
 *  @return META_ERR_NO_MEMORY with the size in bytes, META_ERR_OVERFLOW, META_ERR_ARGUMENT */
META_API meta_err meta_grid_alloc(void **ptr, meta_box *box, int ndim, const int64_t *cells,
                                  const int *low, const int *high, meta_type type);
/** An array of a family of grids, such as `{.name = "u", .type = META_F64, .stagger = {1}}` for velocities on the faces
 *  in x. */
typedef struct meta_grid_field {
    const char *name;          /**< its label, as by meta_label(), read before the call returns; NULL: none */
    meta_type type;            /**< of its elements */
    int stagger[META_MAX_DIM]; /**< how many more elements than cells it has along each dimension, behind the last own
                                    cell: 1 along the x axis for faces in x, 1 along all for nodes; may be negative,
                                    as far as there are ghosts. Index i belongs to cell i: with 1, element i is the
                                    face below cell i, and i + 1 the one above it. */
    void *ptr;                 /**< receives the grid */
    meta_box box;              /**< receives its layout: its own elements are the cells plus the stagger */
} meta_grid_field;
/** Allocate @p fields grids for the same cells, as meta_grid_alloc() would each, but so that they suit each other: all
 *  have the same start, and the same extents in elements in all dimensions but the last, whatever their types and
 *  staggers. All are padded, or none. On an error none is allocated and nothing is written. Free each by meta_free().
 *  @param field  their descriptions; no two have the same name
 *  @param fields how many, 1 or more
 *  @param box    NULL, or receives the box of the cells, to be used for calls on arrays of the family; its size is that
 *                of an array without a stagger
 *  @param cells  own cells along each of @p ndim dimensions
 *  @param low    ghosts of each array on the low side
 *  @param high   and on the high side, behind the staggered elements
 *  @return META_ERR_ARGUMENT for a stagger that leaves own cells without elements; the errors of meta_grid_alloc() */
META_API meta_err meta_grid_family(meta_grid_field *field, int fields, meta_box *box, int ndim,
                                   const int64_t *cells, const int *low, const int *high);
/** Make the buffer at @p ptr, which comes from meta_alloc(), meta_grid_alloc() or meta_grid_family(), a grid of the
 *  extents and own cells of @p box, of elements of @p type's size; with NULL for @p box, whose @p type means nothing, an
 *  array without a shape, which goes by the box of each call. It holds for calls from now on; contents stay.
 *  @return META_ERR_POINTER for memory that is wrapped, of the host or freed, and for an address behind the buffer's
 *          first byte; META_ERR_BOUNDS if the buffer has fewer bytes */
META_API meta_err meta_grid_shape(void *ptr, const meta_box *box, meta_type type);
/** Allocate pinned (page-locked) host memory, the fastest for copies to and from this thread's device.
 *  It may be passed wherever a host address is expected. Free it with meta_host_free().
 *  @return META_ERR_NO_MEMORY with the size */
META_API meta_err meta_host_alloc(void **ptr, size_t bytes);
/** Free host memory from meta_host_alloc(), after completing queued work on it.
 *  @return META_ERR_POINTER for an address that is not from there */
META_API meta_err meta_host_free(void *ptr);

/** Copy @p bytes from host memory to a device buffer, from a device buffer to the host, and between
 *  or within buffers of one device. The host memory must stay valid until the operation is complete.
 *  @return META_ERR_POINTER if a device buffer is passed as the host side, META_ERR_OVERLAP. */
META_API meta_err meta_copy_h2d(void *dst, const void *src, size_t bytes, meta_event *done);
META_API meta_err meta_copy_d2h(void *dst, const void *src, size_t bytes, meta_event *done);
META_API meta_err meta_copy_d2d(void *dst, const void *src, size_t bytes, meta_event *done);
/** Copy the cells of @p src_box to @p dst_box. Both buffers are on one device; the boxes have the same
 *  extent in every dimension and do not overlap. A box for each array (see meta_box). */
META_API meta_err meta_copy_box(void *dst, const meta_box *dst_box, const void *src,
                                const meta_box *src_box, meta_type type, meta_event *done);
/** Copy the cells of @p src_box to @p dst_box, the one in an array of the host, the other in a device
 *  buffer: a box for each array (see meta_box), so that a dense array comes into a padded grid, and a
 *  part of a grid out of it, by one call. The boxes are of equal extent in every dimension; cells
 *  outside them stay as they are, on the host too. At most 2 MiB are packed at
 *  once, so no second grid is needed. Today the copy is complete on return even with an event; do not
 *  count on it: the host memory must stay until the event is.
 *  @return META_ERR_POINTER where a device buffer is given as the host side, META_ERR_NO_MEMORY */
META_API meta_err meta_copy_box_h2d(void *dst, const meta_box *dst_box, const void *src,
                                    const meta_box *src_box, meta_type type, meta_event *done);
META_API meta_err meta_copy_box_d2h(void *dst, const meta_box *dst_box, const void *src,
                                    const meta_box *src_box, meta_type type, meta_event *done);
/** Set @p count elements, or the cells of @p box (by a grid's own extents, see meta_box), to the element at host
 *  address @p value, which is read before the call returns. */
META_API meta_err meta_fill(void *buf, int64_t count, const void *value, meta_type type,
                            meta_event *done);
META_API meta_err meta_fill_box(void *buf, const meta_box *box, const void *value, meta_type type,
                                meta_event *done);

/** What meta_wrap() is given. */
typedef enum meta_native_kind {
    META_NATIVE_HOST,  /**< a host array; only on a device that shares host memory (OpenMP) */
    META_NATIVE_OBJECT /**< the device's native memory: host array, cl_mem, device pointer */
} meta_native_kind;

/** Turn memory of the application into a buffer of this thread's device, without a copy; *ptr is its
 *  address (for a host array, that of the array). The library never frees it. @p bytes may be less
 *  than the size of the object. @return META_ERR_OVERLAP if it overlaps another buffer,
 *  META_ERR_BOUNDS if the object is smaller, META_ERR_POINTER for a host array on a device with
 *  separate memory. */
META_API meta_err meta_wrap(void **ptr, void *native, size_t bytes, meta_native_kind kind);
/** The address at which the host reads and writes device buffer @p ptr, for loops of the program's
 *  own: @p ptr itself, where the device's memory is the host's (OpenMP). It is valid until the
 *  buffer is freed or its wrap ends. Nothing is waited for: work on an OpenMP device is complete
 *  when its call returns, but an exchange or message of the buffer must be completed first, by NULL,
 *  its event or meta_flush(); on other devices whose memory is the host's, all work.
 *  @param host  receives the address, on success
 *  @return META_ERR_UNSUPPORTED where the device has memory of its own, with the remedy */
META_API meta_err meta_host_view(const void *ptr, void **host);
/** End a wrap, after waiting for the work queued on its device. The application owns it again. */
META_API meta_err meta_unwrap(void *ptr);

/** Where a buffer is from. */
typedef enum meta_memory_kind {
    META_MEMORY_DEVICE,  /**< meta_alloc() */
    META_MEMORY_WRAPPED, /**< meta_wrap() */
    META_MEMORY_HOST     /**< meta_host_alloc() */
} meta_memory_kind;

/** The buffer that contains an address. Set it to META_POINTER_DESC_INIT before passing it in. */
typedef struct meta_pointer_desc {
    size_t size;           /**< of this structure */
    meta_memory_kind kind; /**< where the buffer is from */
    meta_mode mode;        /**< with index: the device of the buffer, or META_AUTO's */
    int index;             /**< of the device of that mode */
    void *base;    /**< start of the buffer */
    size_t bytes;  /**< size of the buffer */
    size_t offset; /**< of the address from base */
    char label[META_LABEL_BYTES]; /**< set by meta_label(); empty if there is none */
} meta_pointer_desc;
/** Start value of a meta_pointer_desc. */
#define META_POINTER_DESC_INIT {sizeof(meta_pointer_desc), META_MEMORY_DEVICE, 0, 0, NULL, 0, 0, {0}}
/** Describe the buffer that contains @p ptr. @return META_ERR_POINTER if there is none. */
META_API meta_err meta_pointer_info(const void *ptr, meta_pointer_desc *desc);

/** Label the buffer that contains @p ptr, any address in a buffer from meta_alloc(), meta_wrap() or
 *  meta_host_alloc(). The label appears in errors about the buffer, in the leak report of
 *  meta_finalize(), in profiles and in traces. The text is copied and truncated to
 *  META_LABEL_BYTES − 1 bytes, at a UTF-8 character boundary; control characters become '?'. NULL or ""
 *  removes the label. A freed buffer keeps its label in errors about its address.
 *  @return META_ERR_POINTER if there is no buffer */
META_API meta_err meta_label(const void *ptr, const char *label);
/** Set the source location of this thread's next call that allocates, wraps, frees or unwraps; errors
 *  and the leak report of meta_finalize() then show @p file and @p line. NULL clears it.
 *  C programs need not call it: these functions are also macros, which set the location (unless
 *  META_NO_PLACES is defined before this header is included). A call without a location is reported by
 *  its return address: the function, if it has a dynamic symbol, and module and offset for addr2line.
 *  With META_CHECK=on that is an address in the program, not in the Fortran binding.
 *  @p file is read during that next call, which keeps its last 47 bytes. Never fails; may be called at
 *  any time. */
META_API meta_err meta_here(const char *file, int line);

/** Memory use of a device. Set it to META_MEM_DESC_INIT before passing it in. */
typedef struct meta_mem_desc {
    size_t size;        /**< of this structure */
    uint64_t total;     /**< bytes the device has */
    uint64_t allocated; /**< bytes now in buffers from meta_alloc(), as requested */
    uint64_t peak;      /**< maximum of allocated so far */
    uint64_t buffers;   /**< number of buffers now, including wrapped ones */
} meta_mem_desc;
/** Start value of a meta_mem_desc. */
#define META_MEM_DESC_INIT {sizeof(meta_mem_desc), 0, 0, 0, 0}
/** Describe the memory use of device @p index of @p mode. Opens the device. */
META_API meta_err meta_mem_info(int index, meta_mode mode, meta_mem_desc *desc);

/** A device's memory pool: it keeps the memory of freed buffers for later ones of the same size, or of
 *  up to an eighth less. Set it to META_POOL_DESC_INIT before passing it in. */
typedef struct meta_pool_desc {
    size_t size;        /**< of this structure */
    uint64_t limit;     /**< maximum of kept: META_POOL or meta_pool_limit() */
    uint64_t kept;      /**< bytes in free blocks now */
    uint64_t blocks;    /**< number of free blocks now */
    uint64_t held;      /**< bytes obtained from the driver or system: buffers and free blocks */
    uint64_t held_peak; /**< maximum of held so far */
    uint64_t reused;    /**< buffers served from a free block */
    uint64_t made;      /**< buffers allocated by the driver or system */
    uint64_t returned;  /**< blocks returned to the driver or system */
} meta_pool_desc;
/** Start value of a meta_pool_desc. */
#define META_POOL_DESC_INIT {sizeof(meta_pool_desc), 0, 0, 0, 0, 0, 0, 0, 0}
/** Describe the pool of device @p index of @p mode. Opens the device. Free blocks are released before
 *  any allocation on a device or the host fails with META_ERR_NO_MEMORY, and in meta_finalize(). */
META_API meta_err meta_pool_info(int index, meta_mode mode, meta_pool_desc *desc);
/** Release free blocks, oldest first, until at most @p bytes are kept. */
META_API meta_err meta_pool_trim(int index, meta_mode mode, size_t bytes);
/** Limit the pool to @p bytes (0: keep nothing) until meta_finalize(). With META_POOL=off nothing is
 *  ever kept. */
META_API meta_err meta_pool_limit(int index, meta_mode mode, size_t bytes);

/* ------------------------------------------------------------------ order */

/** Complete all queued work and messages of all devices, and run every pending meta_event_then()
 *  callback. @return the first error of untracked (META_ASYNC) work. */
META_API meta_err meta_flush(void);
/** Test whether @p event is complete. @return once it is, the error of its operation. */
META_API meta_err meta_event_test(meta_event event, int *complete);
/** Wait until @p event is complete. Does not free it. @return the error of its operation. */
META_API meta_err meta_event_wait(meta_event event);
/** Wait for all of @p count events. @return the first error among them, in array order. */
META_API meta_err meta_event_waitall(size_t count, const meta_event *events);
/** Register a callback: @p function is called once with @p user and the operation's status, by the
 *  thread that makes the first call of meta_event_test/wait/waitall or meta_flush() after completion,
 *  never by a driver's thread. */
META_API meta_err meta_event_then(meta_event event, void (*function)(void *user, meta_err status),
                                  void *user);
/** Free the event and set the handle to META_EVENT_NULL. A pending operation continues, and its
 *  callbacks are still called. */
META_API meta_err meta_event_free(meta_event *event);

/* ------------------------------------------------------------------ sharing */

/** The native objects of a device; NULL if a back end has none. Set it to META_STATE_INIT first. */
typedef struct meta_state {
    size_t size;    /**< of this structure */
    void *platform; /**< OpenCL: cl_platform_id */
    void *device;   /**< OpenCL: cl_device_id */
    void *context;  /**< OpenCL: cl_context */
    void *queue;    /**< OpenCL: cl_command_queue; CUDA and HIP: the stream */
} meta_state;
/** Start value of a meta_state. */
#define META_STATE_INIT {sizeof(meta_state), NULL, NULL, NULL, NULL}
/** The native objects of device @p index of @p mode, still owned by the library. Work that the
 *  application puts on the queue is ordered with its meta_* calls on that device. */
META_API meta_err meta_get_state(int index, meta_mode mode, meta_state *state);
/** Make the library use the application's native objects for device @p index of @p mode; they must
 *  outlive the library's use of them. Call it before the device is first used.
 *  @return META_ERR_STATE after that, META_ERR_ARGUMENT if the objects do not belong together. */
META_API meta_err meta_set_state(int index, meta_mode mode, const meta_state *state);
/** The native memory object that contains @p ptr (a cl_mem; else the buffer's base address) and the
 *  byte offset of @p ptr in it. One of the pointers may be NULL. */
META_API meta_err meta_native(const void *ptr, void **object, size_t *offset);
/** The program no longer uses the native object of the buffer that contains @p ptr. With META_AUTO
 *  meta_native() keeps the buffer on one device, which meta_pointer_info() names, until this call or
 *  meta_free(): everything that uses the buffer runs there. The program's own work on the object must
 *  be complete. On other devices there is nothing to end, which is no error. */
META_API meta_err meta_native_end(const void *ptr);

/* ------------------------------------------------------------------ policies */

/** Which kernels a policy is for. */
typedef enum meta_policy_scope {
    META_POLICY_THREAD, /**< this thread's kernels from now on */
    META_POLICY_CALL    /**< this thread's next kernel */
} meta_policy_scope;
/** How META_AUTO chooses the device of a kernel, instead of by META_POLICY: one of the words that
 *  META_POLICY takes. NULL: by META_POLICY again, or for META_POLICY_CALL by this thread's policy.
 *  Lasts until meta_finalize() at most. On other devices than META_AUTO's it has no effect.
 *  @return META_ERR_ARGUMENT for another word, META_ERR_NO_DEVICE for a device or type that is not
 *          among META_AUTO's, once these are open; the policy does not change then. */
META_API meta_err meta_set_policy(const char *policy, meta_policy_scope scope);

/** A device that could run a kernel, with each term of what that is expected to cost, in seconds. */
typedef struct meta_candidate {
    size_t size;            /**< of this structure */
    const char *device;     /**< "cuda:0" */
    meta_mode mode;         /**< with index: the device */
    int index;              /**< its number within the mode */
    int number;             /**< in META_AUTO_DEVICES */
    int is_known;           /**< 1 if runs of the kernel over about as many cells were timed there */
    double queued;          /**< until what is queued there is complete, as far as that is known */
    double moving;          /**< until the bytes that it lacks are there */
    double running;         /**< the kernel; where it has not run, as fast as the device may be */
    double returning;       /**< to carry what the kernel writes back to where most of its data is */
    uint64_t missing_bytes; /**< that it lacks */
} meta_candidate;
/** A kernel whose device is to be chosen. */
typedef struct meta_decision {
    size_t size;        /**< of this structure */
    const char *kernel; /**< its name */
    meta_type type;     /**< the element type that it is for */
    uint64_t cells;     /**< that it computes */
    uint64_t bytes;     /**< that it reads and writes at least */
    int candidates;     /**< the number of devices to choose from */
    const meta_candidate *const *candidate; /**< one pointer for each of them */
} meta_decision;
/** Chooses one of decision->candidate, by its place there. It must not call this library: such calls
 *  return META_ERR_STATE. The decision is gone when it returns. */
typedef int meta_policy_function(const meta_decision *decision, void *user);
/** The same as meta_set_policy() by a function of the program's, which is called for each kernel by the
 *  thread that launches it, while kernels of other threads wait. If it returns no candidate's place, the
 *  kernel's call returns META_ERR_ARGUMENT and nothing runs. NULL as in meta_set_policy(). */
META_API meta_err meta_set_policy_function(meta_policy_function *function, void *user,
                                           meta_policy_scope scope);

/* ------------------------------------------------------------------ faces */

/** A strided section of a buffer, such as a face, edge or sub-array of a grid (like std::gslice in
 *  C++, or a nested MPI vector type): element (i0, i1, …) is at start + i0*stride[0] + i1*stride[1]
 *  + …, in elements from the buffer's address. Level 0 is the fastest in packed order. Strides may
 *  be negative or 0 (not 0 when unpacking). */
typedef struct meta_face {
    int64_t start;                /**< the index of the first element */
    int count;                    /**< number of levels, 1 … META_MAX_DIM */
    int64_t size[META_MAX_DIM];   /**< elements of each level */
    int64_t stride[META_MAX_DIM]; /**< from one to the next, in elements of the buffer */
} meta_face;

/** A side of a box, and which cells there. */
typedef enum meta_slab {
    META_SLAB_LOW,       /**< the outermost cells inside the box, at the low side */
    META_SLAB_HIGH,      /**< the same at the high side */
    META_SLAB_LOW_GHOST, /**< the cells just outside the box, at the low side */
    META_SLAB_HIGH_GHOST /**< the same at the high side */
} meta_slab;

/** Make a face with @p count levels; @p size and @p stride have @p count elements. */
META_API meta_err meta_face_make(meta_face *face, int64_t start, int count, const int64_t *size,
                                 const int64_t *stride);
/** The slab of @p width cells on one side of @p box along @p axis; it covers the box in the other
 *  dimensions. @return META_ERR_BOUNDS if it leaves the array, or an inner slab is wider than box. */
META_API meta_err meta_face_slab(meta_face *face, const meta_box *box, int axis, meta_slab slab,
                                 int64_t width);
/** All cells of @p box, in memory order. */
META_API meta_err meta_face_box(meta_face *face, const meta_box *box);
/** The number of elements of @p face. @return META_ERR_OVERFLOW if it exceeds an int64_t. */
META_API meta_err meta_face_elements(const meta_face *face, int64_t *count);

/* ------------------------------------------------------------------ marshalling */

/** Pack (gather) the elements of @p face in @p buf into @p packed, in face order. Both are on one
 *  device and do not overlap. @p packed holds at least meta_face_elements(face) elements. */
META_API meta_err meta_pack_face(void *packed, const void *buf, const meta_face *face,
                                 meta_type type, meta_event *done);
/** Unpack (scatter) @p packed into the elements of @p face in @p buf; other elements do not change.
 *  If a face contains an element twice, which of the values it gets is unspecified; a stride of 0 is
 *  an error. */
META_API meta_err meta_unpack_face(void *buf, const void *packed, const meta_face *face,
                                   meta_type type, meta_event *done);
/** Transpose a packed face of size[0] × size[1] elements (size[0] fastest) into size[1] × size[0].
 *  Both are on one device and do not overlap. */
META_API meta_err meta_transpose_face(void *out, const void *in, const int64_t size[2],
                                      meta_type type, meta_event *done);

/* ------------------------------------------------------------------ compute */

/** The points that a stencil reads: a cell and neighbours of it. */
typedef enum meta_stencil_kind {
    META_2D5P,         /**< 5 points in x and y */
    META_2D9P,         /**< 3×3 points in x and y */
    META_3D7P,         /**< 7 points in x, y and z */
    META_3D27P,        /**< 3×3×3 points in x, y and z */
    META_STENCIL_COUNT /**< the number of kinds */
} meta_stencil_kind;

/** How a reduction combines elements. */
typedef enum meta_op {
    META_SUM,     /**< their sum */
    META_MIN,     /**< the least */
    META_MAX,     /**< the greatest */
    META_OP_COUNT /**< the number of operations */
} meta_op;

/** Set each cell of @p box in @p out to the equal-weight average of the stencil's points in @p in
 *  (Barrett, Vaughan and Heroux, MiniGhost 1.0, 2012). @p out and @p in are on
 *  one device and do not overlap; each grid goes by its own extents (see meta_box), other arrays by the box's. The
 *  stencil's radius is 1: the array @p in has at least one cell beyond
 *  the box on each side of the stencil's dimensions. Further dimensions are a batch. Integer sums wrap
 *  modulo 2^n; integer division rounds towards zero. Results are bitwise identical on every back end,
 *  except for the payload of a NaN.
 *  @param sum  NULL, or the host or device address of one element of @p type that receives the sum
 *              of the new values of the box; it must stay valid until the operation is complete */
META_API meta_err meta_stencil(void *out, const void *in, const meta_box *box,
                               meta_stencil_kind kind, meta_type type, void *sum, meta_event *done);
/** meta_stencil(), and before it the sums of @p boxes boxes of @p in, such as the sides of a block: sums[k] at
 *  host or device address @p sums is that of part[k]. As meta_reduce_boxes() and then meta_stencil(), but on
 *  CPUs one pass over memory serves both where the sides' boxes lie within @p box: a sum over an x face alone
 *  reads a cache line for each cell. So floating-point sums may differ in their last bits from those of
 *  meta_reduce(), unless they are reproducible. Boxes may be empty, have ghost cells and overlap each other.
 *  @param sums  apart from the cells of @p in and @p out; NULL if @p boxes is 0. It must stay valid until the
 *               operation is complete.
 *  @param part  of @p in; NULL if @p boxes is 0. It is read before the call returns.
 *  @param done  of the stencil and all sums together */
META_API meta_err meta_stencil_sums(void *out, const void *in, const meta_box *box,
                                    meta_stencil_kind kind, meta_type type, void *sum, void *sums,
                                    int boxes, const meta_box *part, meta_event *done);
/** Reduce the cells of @p box, by a grid's own extents (see meta_box), to one element of @p type at host or device
 *  address @p result.
 *  F32 sums are accumulated in double if the device supports it; with meta_set_reproducible(), all
 *  floating-point sums are exact. Integers wrap. If any cell is NaN, so is the result; a NaN minimum or
 *  maximum always has the same bits, and a zero one is +0. For an empty box the sum is 0, the minimum
 *  the type's highest value (+∞) and the maximum its lowest. */
META_API meta_err meta_reduce(void *result, const void *buf, const meta_box *box, meta_op op,
                              meta_type type, meta_event *done);
/** meta_reduce() of @p boxes boxes of each of @p fields buffers, by one call: such as the sums at a
 *  block's sides of all variables. Box b of field[f] goes to element f·stride + b of @p results, at host or
 *  device address; elements between stay as they are. Each result is what meta_reduce() makes of that
 *  box, so its bits and what meta_allreduce() does with it are the same. The buffers are on one device;
 *  each grid goes by its own extents (see meta_box). @p field and @p box are read before the call returns.
 *  @param stride  at least @p boxes; of a single field it means nothing
 *  @param done    of all results together */
META_API meta_err meta_reduce_boxes(void *results, int64_t stride, int fields, void *const *field,
                                    int boxes, const meta_box *box, meta_op op, meta_type type,
                                    meta_event *done);
/** The sum over the cells of @p box of a·b; each grid goes by its own extents (see meta_box), other
 *  arrays by the box's. As meta_reduce(). */
META_API meta_err meta_dot(void *result, const void *a, const void *b, const meta_box *box,
                           meta_type type, meta_event *done);
/** Make sums reproducible (@p on 1) or not (0), for all later calls of this process; the default is
 *  META_REPRODUCIBLE. A reproducible sum of META_F64 or META_F32 by meta_reduce(), meta_dot(),
 *  meta_stencil(), meta_allreduce() or a kernel of the program's own (SUM in meta_kernel.h) is computed
 *  exactly and rounded once, to nearest, ties to even: its bits do not depend on threads, ranks,
 *  process grid or back ends (Kulisch's long accumulator, with the splitting of Rump, Ogita and Oishi;
 *  see doc/reproducible.md). meta_dot() on META_F64 rounds each product and adds the products exactly;
 *  products of META_F32 are exact. A zero sum is +0. With a NaN or infinities of both signs the sum is
 *  NaN, always the same one; with infinities of one sign it is that infinity. Intermediate sums do not
 *  overflow.
 *
 *  meta_allreduce() continues with the exact sum if it is passed the address that received the sum,
 *  and the value there is unchanged; 4096 addresses per device are remembered. Other values are added
 *  as they are. Every rank must have the same setting. Integers wrap and are reproducible anyway.
 *  A device without double precision returns META_ERR_UNSUPPORTED, and so do kernels of teams with such
 *  a SUM. */
META_API meta_err meta_set_reproducible(int on);
/** Whether sums are reproducible; *on is 0 or 1. */
META_API meta_err meta_get_reproducible(int *on);
/** y += alpha·x on the cells of @p box; @p alpha is a host address, read before the call returns.
 *  @p x may be @p y itself; otherwise they do not overlap. Each grid goes by its own extents (see meta_box), other arrays
 *  by the box's. */
META_API meta_err meta_axpy(void *y, const void *alpha, const void *x, const meta_box *box,
                            meta_type type, meta_event *done);

/* ------------------------------------------------------------------ profiling */

/** Start profiling: count and time kernels, copies, messages and ranges from now on, from zero, as
 *  META_PROFILE=summary does for the whole run; doc/profiling.md shows the result. May be called before
 *  meta_init() and meta_comm_init(). It should be: an OpenCL queue created earlier has no event
 *  profiling, so its work is counted but not timed. @return META_ERR_STATE if already started. */
META_API meta_err meta_timers_init(void);
/** Wait for the work of all devices, then print the profile on standard error; profiling continues. In
 *  a job of several ranks it is collective, and rank 0 prints one table of all ranks.
 *  @return META_ERR_STATE if profiling is off. */
META_API meta_err meta_timers_print(void);
/** Stop profiling and discard the profile without printing it. With META_PROFILE=summary profiling
 *  continues from zero. @return META_ERR_STATE without meta_timers_init(). */
META_API meta_err meta_timers_finalize(void);

/** Open a profiling range of this thread named @p name, and close the innermost one. Ranges nest up to
 *  64 deep and appear in profile and trace. Each distinct name is copied once.
 *  @return META_ERR_STATE if 64 are open, or for meta_range_pop() if none is. */
META_API meta_err meta_range_push(const char *name);
META_API meta_err meta_range_pop(void);

/** What a profiling tool is told about. */
typedef enum meta_activity {
    META_ACTIVITY_KERNEL,  /**< a launch of one or more kernels that run as one */
    META_ACTIVITY_COPY,    /**< between the host and a device */
    META_ACTIVITY_MESSAGE, /**< to or from another rank */
    META_ACTIVITY_RANGE,   /**< opened by meta_range_push() */
    META_ACTIVITY_COUNT    /**< the number of kinds */
} meta_activity;

/** Callbacks of a profiling tool; each may be NULL. They are called from the application's threads,
 *  concurrently, or from the progress thread of META_PROGRESS=thread, and must not call the library.
 *  Set it to META_TOOL_INIT first. */
typedef struct meta_tool {
    size_t size; /**< of this structure */
    void *user;  /**< passed to every callback */
    /** Work is about to be queued, or a message or range begins. @p id is never 0 and unique in the
     *  process; @p name stays valid forever. @p bytes: bytes read and written, or 0. */
    void (*begin)(void *user, meta_activity activity, const char *name, uint64_t bytes, uint64_t id);
    /** The activity has ended; for queued work this is reported by a later call of the library. It ran
     *  from @p begin to @p end, in nanoseconds of CLOCK_MONOTONIC, converted from the device's clock if
     *  it ran on a device; both are 0 if the times are unknown or it failed. */
    void (*end)(void *user, meta_activity activity, uint64_t id, uint64_t begin, uint64_t end);
} meta_tool;
/** Start value of a meta_tool. */
#define META_TOOL_INIT {sizeof(meta_tool), NULL, NULL, NULL}
/** Register @p tool for all activities that begin from now on; NULL unregisters it. The structure is
 *  copied. The end of an activity is reported to the tool registered at that time. Call it only while
 *  no other thread calls the library. */
META_API meta_err meta_set_tool(const meta_tool *tool);

/* Macros that record the source line of a call. The functions exist too, for function pointers. */
#if !defined __cplusplus && !defined META_NO_PLACES
/** @p call with its source line: what these macros are. */
#define META_SAY_PLACE(call)       ((void)meta_here(__FILE__, __LINE__), call)
#define meta_alloc(...)      META_SAY_PLACE(meta_alloc(__VA_ARGS__))
#define meta_free(...)       META_SAY_PLACE(meta_free(__VA_ARGS__))
#define meta_grid_alloc(...) META_SAY_PLACE(meta_grid_alloc(__VA_ARGS__))
#define meta_grid_family(...) META_SAY_PLACE(meta_grid_family(__VA_ARGS__))
#define meta_host_alloc(...) META_SAY_PLACE(meta_host_alloc(__VA_ARGS__))
#define meta_host_free(...)  META_SAY_PLACE(meta_host_free(__VA_ARGS__))
#define meta_wrap(...)       META_SAY_PLACE(meta_wrap(__VA_ARGS__))
#define meta_unwrap(...)     META_SAY_PLACE(meta_unwrap(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
