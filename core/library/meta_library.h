/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_library.h
 *  Ready kernels: linear algebra on boxes, conversion of types, weighted stencils, boundary conditions,
 *  sparse matrices, checksums and prefix sums. They are written in the language of meta_kernel.h and
 *  run on every back end; their files, core/library/NAME.kernel.h of the sources, may serve as examples.
 *
 *  The rules of meta.h hold, and for every function here:
 *  - Arrays on a box are device buffers: each grid goes by its own extents (see meta_box in meta.h), every other array
 *    has those in the box's size. All arrays of a call are on
 *    one device, and do not overlap unless the function says otherwise.
 *  - Numbers (`a`, `b`, `value`, `weight` of constants) are host addresses of elements of @p type, read
 *    before the call returns.
 *  - Results are bitwise identical on every back end, except for the payload of a NaN and for
 *    floating-point sums over cells, whose order differs. Products and sums are rounded one by one, in
 *    the order in which the formula has them. Integers wrap modulo 2^n.
 *  - Profiles show a kernel by the name meta_… Signed integers run the kernels for unsigned ones and
 *    appear with that type.
 *  - Errors, where not given: META_ERR_ARGUMENT, META_ERR_TYPE, META_ERR_POINTER, META_ERR_BOUNDS,
 *    META_ERR_OVERLAP, META_ERR_WRONG_DEVICE, and META_ERR_UNSUPPORTED or META_ERR_DEVICE if the
 *    device's back end cannot build the kernel.
 *
 *  A kernel is built when it first runs on a device; meta_kernel_find() and meta_kernel_prepare() of
 *  meta_kernel.h build it ahead of that. */
#ifndef META_LIBRARY_H
#define META_LIBRARY_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include "meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ linear algebra */

/** z = a·x + b·y on the cells of @p box. @p z may be @p x or @p y, but not both. */
META_API meta_err meta_axpby(void *z, const void *a, const void *x, const void *b, const void *y,
                             const meta_box *box, meta_type type, meta_event *done);
/** z = x + a·y on the cells of @p box. @p z may be @p x or @p y, but not both. */
META_API meta_err meta_xpay(void *z, const void *x, const void *a, const void *y,
                            const meta_box *box, meta_type type, meta_event *done);
/** z = a·x on the cells of @p box. @p z may be @p x. */
META_API meta_err meta_scale(void *z, const void *a, const void *x, const meta_box *box,
                             meta_type type, meta_event *done);
/** z = x·y, cell by cell, on @p box. @p z may be @p x or @p y, but not both. */
META_API meta_err meta_multiply(void *z, const void *x, const void *y, const meta_box *box,
                                meta_type type, meta_event *done);
/** Convert the cells of @p box from one arithmetic type to another; equal types are copied. The arrays
 *  do not overlap.
 *   - To a floating-point type: rounded to nearest, ties to even; F64 beyond F32's range becomes
 *     infinite.
 *   - From a floating-point type to an integer: towards zero. What is beyond the integer's range, and
 *     an infinity, becomes the nearest number of that range; a NaN becomes 0. C leaves these undefined.
 *   - From integer to integer: modulo 2^n.
 *  @return META_ERR_TYPE if a type is not arithmetic */
META_API meta_err meta_convert(void *to, meta_type to_type, const void *from, meta_type from_type,
                               const meta_box *box, meta_event *done);

/* ------------------------------------------------------------------ stencils */

/** out = the sum over the points of stencil @p kind of weight·in, on the cells of @p box. The array has
 *  at least one cell beyond the box on each side of the stencil's dimensions; further dimensions are a
 *  batch.
 *  @param weight  one element of @p type for each point (5, 9, 7 or 27), in the order of the points in
 *                 memory: x fastest, then y, then z, the cell itself amid the others. Of META_2D5P:
 *                 (0,-1), (-1,0), (0,0), (1,0), (0,1). Terms are added in this order.
 *  @param dot     NULL, or the host or device address of one element of @p type, which receives the sum
 *                 of in·out over the box (x·Ax, as conjugate gradients need it), computed in the same
 *                 pass; valid when the operation is complete. Each product is rounded to @p type.
 *                 With reproducible sums (meta_set_reproducible()) the products are then added
 *                 exactly, which for META_F64 gives the same bits as meta_dot().
 *  @return META_ERR_ARGUMENT if the box has fewer dimensions than the stencil */
META_API meta_err meta_stencil_constant(void *out, const void *in, const void *weight,
                                        const meta_box *box, meta_stencil_kind kind, meta_type type,
                                        void *dot, meta_event *done);
/** The same as meta_stencil_constant() with weights of each cell: @p weight[n] is the array of the weights of point n, of which
 *  element (x, y, z) belongs to the sum of cell (x, y, z). The array of pointers is read before the call
 *  returns. Errors name an array weight0, weight1 … */
META_API meta_err meta_stencil_variable(void *out, const void *in, const void *const *weight,
                                        const meta_box *box, meta_stencil_kind kind, meta_type type,
                                        void *dot, meta_event *done);

/* ------------------------------------------------------------------ boundary conditions */

/** What ghost cells are set to. Layers of ghosts are counted from the box outwards, layers of cells from
 *  its side inwards, both from 0. */
typedef enum meta_boundary_kind {
    META_BOUNDARY_VALUE,    /**< ghost = value */
    META_BOUNDARY_WALL,     /**< Dirichlet: 2·value − cell of the same layer, so that the mean on the
                                 wall, which is half a cell outside the box's cells, is the value */
    META_BOUNDARY_GRADIENT, /**< Neumann: cell of layer 0 + (layer + 1)·value, so that the value is the
                                 difference from a cell to the next outside; NULL: 0 */
    META_BOUNDARY_EVEN,     /**< reflecting: cell of the same layer; value is ignored */
    META_BOUNDARY_ODD,      /**< reflecting with the sign changed: −cell of the same layer */
    META_BOUNDARY_COUNT     /**< the number of kinds */
} meta_boundary_kind;

/** Set the ghost cells of @p array that lie beyond one side of @p box.
 *
 *  The slab covers the box in the other dimensions. To fill edges and corners, call for one dimension
 *  after another, with the box extended over the ghosts that are set already. Work queued behind
 *  meta_halo_exchange() or meta_halo_finish() sees its ghosts.
 *  @param dim    the dimension, from 0
 *  @param side   META_SLAB_LOW_GHOST or META_SLAB_HIGH_GHOST
 *  @param width  layers of ghosts, 0 or more. META_BOUNDARY_VALUE is one launch, other kinds are one for
 *                each layer; then @p done reports errors of the last, meta_flush() those of the others
 *  @param value  one element, see the kinds
 *  @return META_ERR_BOUNDS if the array has fewer ghosts or the box fewer cells than needed */
META_API meta_err meta_boundary(void *array, const meta_box *box, int dim, meta_slab side,
                                int64_t width, meta_boundary_kind kind, const void *value,
                                meta_type type, meta_event *done);
/** Where a boundary condition of the program's own runs: its kernel has the parameters
 *  `A(OUT, T, ghost) A(IN, T, inner, …)` and is called for one layer of ghosts by
 *
 *      meta_boundary_slab(&cells, &ghost, &inner, &box, dim, META_SLAB_LOW_GHOST, layer, cell);
 *      mine_f64(&cells, array + ghost, array + inner, …, META_ASYNC);
 *
 *  In it, `ghost` is a ghost of layer @p layer, and `inner` the cell of layer @p cell in the same row.
 *  INDEX(dim) in the kernel is that of the ghost at the low side and of the inner cell at the high side.
 *  @param cells         receives the box to run the kernel for
 *  @param ghost, inner  receive what is to be added to the array's address, in elements; 0 or more
 *  @return META_ERR_BOUNDS if the array has no such ghosts or the box no such cells */
META_API meta_err meta_boundary_slab(meta_box *cells, int64_t *ghost, int64_t *inner,
                                     const meta_box *box, int dim, meta_slab side, int64_t layer,
                                     int64_t cell);

/* ------------------------------------------------------------------ sparse matrices */

/** A matrix in compressed rows: row r has the entries start[r] … start[r + 1] − 1. The arrays are device
 *  buffers, which the structure does not own. Set it to META_CSR_INIT first. */
typedef struct meta_csr {
    size_t size;                    /**< of this structure */
    int64_t rows;                   /**< 0 or more */
    int64_t columns;                /**< 0 to 2^31 */
    int64_t entries;                /**< 0 or more */
    meta_type start_type;           /**< META_I32 or META_I64 */
    meta_type value_type;           /**< arithmetic */
    const void *start;              /**< rows + 1 elements of start_type; the first may be above 0 */
    const void *column;             /**< entries elements of META_I32, from 0 */
    const void *value;              /**< entries elements of value_type */
} meta_csr;
/** Start value of a meta_csr. */
#define META_CSR_INIT {sizeof(meta_csr), 0, 0, 0, META_I32, META_F64, NULL, NULL, NULL}

/** y = a·A·x + b·y, with rows elements of y and columns of x, of value_type. The products of a row are
 *  added in the order of its entries.
 *  @param a  NULL: 1
 *  @param b  NULL: y = a·A·x, and y is not read
 *
 *  The arrays' sizes are checked, not what start and column hold: an entry outside the matrix reads
 *  other memory. With META_CHECK=on, meta_csr_check() is called first. In one buffer, y must not lie
 *  behind the matrix or x. A matrix without entries has buffers too. */
META_API meta_err meta_csr_multiply(void *y, const void *a, const meta_csr *matrix, const void *x,
                                    const void *b, meta_event *done);
/** Read start and column of a matrix on its device and check every element. Blocks.
 *  @return META_ERR_BOUNDS with the first row or entry that is wrong: start does not ascend from 0 or
 *          more to at most entries, or a column is not of the matrix */
META_API meta_err meta_csr_check(const meta_csr *matrix);

/* ------------------------------------------------------------------ buffers as a whole */

/** The CRC-32 of @p bytes bytes at device address @p buf, as zlib's crc32() (polynomial 0xEDB88320 in
 *  reflected order, ISO 3309; RFC 1952, section 8), to one uint32_t at host or device address
 *  @p result. Of 0 bytes it is 0. Chunks are divided in parallel, four bytes at a step (M. Kounavis and
 *  F. Berry, A systematic approach to building high performance, software-based, CRC generators, 2005),
 *  and combined by multiplying with powers of x modulo the polynomial. An address that is no
 *  multiple of 4 takes a copy of the bytes on the device. Today the call is complete on return even with
 *  an event; do not count on it.
 *  @return META_ERR_NO_MEMORY if the device has no room for about bytes/512 */
META_API meta_err meta_crc32(uint32_t *result, const void *buf, size_t bytes, meta_event *done);

/** Prefix sums of @p count elements: out[n] = in[0] + … + in[n] with @p inclusive 1, and with 0
 *  in[0] + … + in[n − 1], of which the first is 0. @p out may be @p in; otherwise they do not overlap.
 *  Floating-point sums are made in one order on every back end, so their bits are the same: blocks of
 *  128 elements from the left, begun with the sum of all blocks before, which is an exclusive prefix sum
 *  of the blocks' sums, made in the same way (G. Blelloch, Prefix sums and their applications, 1990).
 *  Today the call is complete on return even with an event; do not count on it.
 *  @return META_ERR_NO_MEMORY if the device has no room for about count/127 elements */
META_API meta_err meta_prefix_sum(void *out, const void *in, int64_t count, int inclusive,
                                  meta_type type, meta_event *done);

#ifdef __cplusplus
}
#endif
#endif
