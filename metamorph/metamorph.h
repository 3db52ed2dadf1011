/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph.h
 *  MetaMorph's functions on libmeta's devices, for programs written for MetaMorph 0.3b and 0.3.1b
 *  (Helal, Sathre and Feng, SC16): compile them with this header and link libmeta_metamorph.
 *  doc/from-metamorph.md says what differs, and how to move to libmeta's own functions.
 *
 *  MetaMorph's names are macros here, for functions called metamorph_*, because several of them are
 *  also libmeta's, with other arguments. A source file that needs both libraries defines
 *  METAMORPH_NO_NAMES before it includes this header, includes meta.h too, and writes
 *  metamorph_alloc() for MetaMorph's `meta_alloc()`. Buffers are the same in both.
 *
 *  Rules for every function:
 *  - It returns 0, or an error: a code of libmeta (`meta_err`), or -1 for an argument that is
 *    refused here. Each error is also a line on the standard error stream, with the function, the
 *    argument and the remedy.
 *  - Boxes are inclusive: @p array_end is the last index, not the one behind it.
 *  - @p grid_size and @p block_size may be NULL and are ignored: libmeta chooses them.
 *  - @p async false: complete on return. true: queued; meta_flush() waits for it. Work queued on
 *    one device is executed in order.
 *  - @p call, if not NULL, is called when the operation is complete: before the function returns
 *    where it blocks, else by the thread that calls meta_flush() or another function that waits,
 *    never by a driver's thread. It must stay valid until then.
 *  - @p ret_event, if not NULL, is an event of meta_init_event(), which the operation replaces.
 *  - One thread at a time calls these functions.
 *  - Buffers are on the current device. Their memory belongs to the device even with OpenMP: a host
 *    array passed as a buffer is an error. */
#ifndef METAMORPH_H
#define METAMORPH_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#if defined META_H && !defined METAMORPH_NO_NAMES
#error "metamorph.h and libmeta's meta.h name different functions alike: include one of them, or " \
       "define METAMORPH_NO_NAMES before metamorph.h and call metamorph_alloc() for meta_alloc()"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the library exports. */
#ifndef META_API
#define META_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------ types */

/** What functions return: 0, or an error, which is a code of libmeta (`meta_err`) or -1. */
typedef int metamorph_err;
/** Whether a function only queues its work. */
typedef bool meta_bool;
/** Three sizes or indices: x, the fastest, first. */
typedef size_t meta_dim3[3];

/** Element types. All can be copied, packed and sent; the first six are for arithmetic, too. */
typedef enum meta_type_id {
    meta_db = 0,    /**< double */
    meta_fl = 1,    /**< float */
    meta_lo = 2,    /**< long */
    meta_ul = 3,    /**< unsigned long */
    meta_in = 4,    /**< int */
    meta_ui = 5,    /**< unsigned int */
    meta_sh = 6,    /**< short */
    meta_us = 7,    /**< unsigned short */
    meta_ch = 8,    /**< char */
    meta_uc = 9,    /**< unsigned char */
    a_db = meta_db, /**< a_db to a_uc are the names of these types in 0.3b */
    a_fl = meta_fl,
    a_lo = meta_lo,
    a_ul = meta_ul,
    a_in = meta_in,
    a_ui = meta_ui,
    a_sh = meta_sh,
    a_us = meta_us,
    a_ch = meta_ch,
    a_uc = meta_uc
} meta_type_id;

/** Kinds of devices. */
typedef enum meta_preferred_mode {
    metaModeUnset = -1, /**< none; an error in meta_set_acc() */
    metaModePreferGeneric =
        0, /**< the environment's choice: META_MODE, METAMORPH_MODE, META_RANK_MAP */
    metaModePreferCUDA = 1,   /**< an NVIDIA GPU */
    metaModePreferOpenCL = 2, /**< a device of OpenCL */
    metaModePreferOpenMP = 3, /**< the CPU cores of this process */
    metaModePreferHIP = 4     /**< an AMD GPU by HIP; not in MetaMorph */
} meta_preferred_mode;

/** A strided section of a buffer. Level 0 is the slowest in packed order. */
typedef struct metamorph_face {
    int start;   /**< index of the first element */
    int count;   /**< number of levels, 1 … METAMORPH_FACE_MAX_DEPTH */
    int *size;   /**< elements of each level */
    int *stride; /**< from one to the next, in elements */
} metamorph_face;
/** The most levels of a face. */
#define METAMORPH_FACE_MAX_DEPTH (10)

/** An operation that was queued. */
typedef struct metamorph_event {
    meta_preferred_mode mode; /**< the current mode when the event was made */
    void *event_pl;           /**< the library's */
} metamorph_event;

/** A function to call when an operation is complete. */
typedef struct meta_callback {
    void (*callback_func)(struct meta_callback *); /**< it is passed this structure */
    meta_preferred_mode callback_mode;             /**< the program's own use */
    void *data_payload;                            /**< the program's own use */
    void *backend_status; /**< the program's own use: nothing is stored here */
} meta_callback;

/** Elements, as the types of C that meta_type_id counts. */
typedef double meta_double;
typedef float meta_float;           /**< float */
typedef int meta_int;               /**< int */
typedef long meta_long;             /**< long */
typedef short meta_short;           /**< short */
typedef char meta_char;             /**< char */
typedef unsigned char meta_uchar;   /**< unsigned char */
typedef unsigned short meta_ushort; /**< unsigned short */
typedef unsigned int meta_uint;     /**< unsigned int */
typedef unsigned long meta_ulong;   /**< unsigned long */

/** The names that types have in MetaMorph 0.3b. */
typedef metamorph_err a_err;
typedef meta_bool a_bool;        /**< meta_bool */
typedef meta_dim3 a_dim3;        /**< meta_dim3 */
typedef double a_double;         /**< double */
typedef float a_float;           /**< float */
typedef int a_int;               /**< int */
typedef long a_long;             /**< long */
typedef short a_short;           /**< short */
typedef char a_char;             /**< char */
typedef unsigned char a_uchar;   /**< unsigned char */
typedef unsigned short a_ushort; /**< unsigned short */
typedef unsigned int a_uint;     /**< unsigned int */
typedef unsigned long a_ulong;   /**< unsigned long */

/** The size of an element.
 *  @return bytes; (size_t)-1 for an unknown type, which is printed */
META_API size_t metamorph_get_atype_size(meta_type_id type);

/* ------------------------------------------------------------------ life and devices */

/** Start the library. Optional: every function does it. */
META_API void metamorph_init(void);
/** Complete all work and close the devices. Optional without MPI, where it prints a META_PROFILE;
 *  meta_mpi_finalize() does it as well. */
META_API void metamorph_finalize(void);
/** Compute on device @p accel of @p mode from now on, in this thread. With metaModePreferGeneric it
 *  is a device of the kind that the environment names.
 *  @param accel  number of the device, from 0. -1 is MetaMorph's "any": with OpenCL the one whose
 *                name is in the variable TARGET_DEVICE, or device 0; with CUDA and HIP device 0;
 *                with metaModePreferGeneric, as 0, the device that the environment names. Ignored
 *                with OpenMP, which has one device
 *  @param mode   kind of the device */
META_API metamorph_err metamorph_set_acc(int accel, meta_preferred_mode mode);
/** Get the current device.
 *  @param accel  NULL, or receives its number
 *  @param mode   NULL, or receives its kind, metaModePreferGeneric for one that MetaMorph does not
 *                know */
META_API metamorph_err metamorph_get_acc(int *accel, meta_preferred_mode *mode);
/** Check the sizes of a grid of threads and of its blocks, which libmeta ignores.
 *  @return 0 */
META_API metamorph_err metamorph_validate_worksize(meta_dim3 *grid_size, meta_dim3 *block_size);
/** Complete all queued work, then all messages, and call the callbacks. */
META_API metamorph_err metamorph_flush(void);

/** Make an event, which is complete; free it with meta_destroy_event(). */
META_API metamorph_err metamorph_init_event(metamorph_event *event);
/** Free an event. Its operation continues. */
META_API metamorph_err metamorph_destroy_event(metamorph_event event);

/* ------------------------------------------------------------------ memory */

/** Allocate a buffer on the current device.
 *  @param ptr   receives its address
 *  @param size  bytes, at least 1 */
META_API metamorph_err metamorph_alloc(void **ptr, size_t size);
/** Free a buffer, after completing the work on it. NULL is no error. */
META_API metamorph_err metamorph_free(void *ptr);
/** Copy @p size bytes from the host to a buffer (h2d), from a buffer to the host (d2h), or between
 *  buffers (d2d). */
META_API metamorph_err metamorph_copy_h2d(void *dst, void *src, size_t size, meta_bool async,
                                          meta_callback *call, metamorph_event *ret_event);
META_API metamorph_err metamorph_copy_d2h(void *dst, void *src, size_t size, meta_bool async,
                                          meta_callback *call, metamorph_event *ret_event);
META_API metamorph_err metamorph_copy_d2d(void *dst, void *src, size_t size, meta_bool async,
                                          meta_callback *call, metamorph_event *ret_event);

/* ------------------------------------------------------------------ faces */

/** Make a face, a strided section of a buffer. Free it with meta_free_face().
 *  @param s   index of its first element
 *  @param c   number of levels, 1 … METAMORPH_FACE_MAX_DEPTH
 *  @param si  the elements of each level, the slowest first, copied
 *  @param st  the strides between them, copied
 *  @return the face; NULL on an error, which is printed */
META_API metamorph_face *metamorph_get_face(int s, int c, int *si, int *st);
/** Free a face of meta_get_face() or make_slab_from_3d(). NULL is no error. */
META_API void metamorph_free_face(metamorph_face *face);
/** Make the face of a slab at a side of an array of @p ni × @p nj × @p nk cells, x the fastest.
 *  Free it with meta_free_face().
 *  @param face       the side: 0 is the low and 1 the high one of z; 2, 3 of x; 4, 5 of y
 *  @param thickness  cells across the slab
 *  @return the face; NULL on an error, which is printed */
META_API metamorph_face *metamorph_make_slab_from_3d(int face, int ni, int nj, int nk,
                                                     int thickness);
/** Gather the elements of @p face in @p buf into @p packed_buf.
 *  @param ret_event_k1  NULL, or an event of meta_init_event(), which becomes that of the work
 *  @param ret_event_c1, ret_event_c2, ret_event_c3  NULL or events, which are complete on return */
META_API metamorph_err metamorph_pack_face(
    meta_dim3 *grid_size, meta_dim3 *block_size, void *packed_buf, void *buf, metamorph_face *face,
    meta_type_id type, meta_bool async, meta_callback *call, metamorph_event *ret_event_k1,
    metamorph_event *ret_event_c1, metamorph_event *ret_event_c2, metamorph_event *ret_event_c3);
/** Scatter @p packed_buf into the elements of @p face in @p buf, as meta_pack_face() gathered them.
 *  @param ret_event_k1  NULL, or an event of meta_init_event(), which becomes that of the work
 *  @param ret_event_c1, ret_event_c2, ret_event_c3  NULL or events, which are complete on return */
META_API metamorph_err metamorph_unpack_face(
    meta_dim3 *grid_size, meta_dim3 *block_size, void *packed_buf, void *buf, metamorph_face *face,
    meta_type_id type, meta_bool async, meta_callback *call, metamorph_event *ret_event_k1,
    metamorph_event *ret_event_c1, metamorph_event *ret_event_c2, metamorph_event *ret_event_c3);
/** Transpose an array of two dimensions, or a part of it.
 *  @param outdata      receives cell (x, y) as element y + x·arr_dim_xy[1]
 *  @param arr_dim_xy   cells of the array along x and y
 *  @param tran_dim_xy  how many of them are transposed, from the first one on */
META_API metamorph_err metamorph_transpose_face(meta_dim3 *grid_size, meta_dim3 *block_size,
                                                void *indata, void *outdata, meta_dim3 *arr_dim_xy,
                                                meta_dim3 *tran_dim_xy, meta_type_id type,
                                                meta_bool async, meta_callback *call,
                                                metamorph_event *ret_event);

/* ------------------------------------------------------------------ compute */

/** Add the dot product of two arrays, over the cells @p array_start … @p array_end, both included,
 *  to the element at @p reduction_var, in a buffer: set that to 0 first.
 *  @param array_size  cells of each array */
META_API metamorph_err metamorph_dotProd(meta_dim3 *grid_size, meta_dim3 *block_size, void *data1,
                                         void *data2, meta_dim3 *array_size, meta_dim3 *array_start,
                                         meta_dim3 *array_end, void *reduction_var,
                                         meta_type_id type, meta_bool async, meta_callback *call,
                                         metamorph_event *ret_event);
/** Add the sum of an array, over the cells @p array_start … @p array_end, both included, to the
 *  element at @p reduction_var, in a buffer: set that to 0 first.
 *  @param array_size  cells of the array */
META_API metamorph_err metamorph_reduce(meta_dim3 *grid_size, meta_dim3 *block_size, void *data,
                                        meta_dim3 *array_size, meta_dim3 *array_start,
                                        meta_dim3 *array_end, void *reduction_var,
                                        meta_type_id type, meta_bool async, meta_callback *call,
                                        metamorph_event *ret_event);
/** Set the cells between @p array_start and @p array_end, both excluded, of @p outdata to the
 * average of seven points of @p indata. As in MetaMorph's kernels the bounds are the ghost cells
 * around the ones that are computed. */
META_API metamorph_err metamorph_stencil_3d7p(meta_dim3 *grid_size, meta_dim3 *block_size,
                                              void *indata, void *outdata, meta_dim3 *array_size,
                                              meta_dim3 *array_start, meta_dim3 *array_end,
                                              meta_type_id type, meta_bool async,
                                              meta_callback *call, metamorph_event *ret_event);
/** y += A·x for a matrix of @p global_size rows: @p csr_ap are global_size + 1 unsigned int, @p
 * csr_aj the columns as unsigned int, below 2^31. */
META_API metamorph_err metamorph_csr(meta_dim3 *grid_size, meta_dim3 *block_size,
                                     size_t global_size, void *csr_ap, void *csr_aj, void *csr_ax,
                                     void *x_loc, void *y_loc, meta_type_id type, meta_bool async,
                                     meta_callback *call, metamorph_event *ret_event);
/** The CRC-32 of each of @p numpages pages of @p page_size bytes, which begin @p num_words words of
 * 4 bytes apart, to as many unsigned int at @p dev_output. @p type is ignored: pages are bytes. */
META_API metamorph_err metamorph_crc(meta_dim3 *grid_size, meta_dim3 *block_size, void *dev_input,
                                     int page_size, int num_words, int numpages, void *dev_output,
                                     meta_type_id type, meta_bool async, meta_callback *call,
                                     metamorph_event *ret_event);

/** Set the source line of this thread's next meta_alloc() or meta_free(), for errors and the report
 * of buffers that were never freed. In C these are macros that do it, unless META_NO_PLACES is
 * defined. */
META_API void metamorph_here(const char *file, int line);
#if !defined __cplusplus && !defined META_NO_PLACES
#define metamorph_alloc(...) (metamorph_here(__FILE__, __LINE__), metamorph_alloc(__VA_ARGS__))
#define metamorph_free(...)  (metamorph_here(__FILE__, __LINE__), metamorph_free(__VA_ARGS__))
#endif

/* ------------------------------------------------------------------ MetaMorph's names */

#ifndef METAMORPH_NO_NAMES
#define meta_err               metamorph_err
#define meta_face              metamorph_face
#define meta_event             metamorph_event
#define get_atype_size         metamorph_get_atype_size
#define meta_init              metamorph_init
#define meta_finalize          metamorph_finalize
#define meta_set_acc           metamorph_set_acc
#define meta_get_acc           metamorph_get_acc
#define meta_validate_worksize metamorph_validate_worksize
#define meta_flush             metamorph_flush
#define meta_init_event        metamorph_init_event
#define meta_destroy_event     metamorph_destroy_event
#define meta_alloc             metamorph_alloc
#define meta_free              metamorph_free
#define meta_copy_h2d          metamorph_copy_h2d
#define meta_copy_d2h          metamorph_copy_d2h
#define meta_copy_d2d          metamorph_copy_d2d
#define meta_get_face          metamorph_get_face
#define meta_free_face         metamorph_free_face
#define make_slab_from_3d      metamorph_make_slab_from_3d
#define meta_pack_face         metamorph_pack_face
#define meta_unpack_face       metamorph_unpack_face
#define meta_transpose_face    metamorph_transpose_face
#define meta_dotProd           metamorph_dotProd
#define meta_reduce            metamorph_reduce
#define meta_stencil_3d7p      metamorph_stencil_3d7p
#define meta_csr               metamorph_csr
#define meta_crc               metamorph_crc
#endif

#ifdef __cplusplus
}
#endif
#endif
