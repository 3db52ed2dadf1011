/* SPDX-License-Identifier: BSD-3-Clause */
/** @file support.h
 *  C support of module `meta`: the reference-counted memory behind type(meta_buffer), each thread's
 *  message of errors found in Fortran, and the shape of an array. Bound in meta_base.f90. */
#ifndef META_FORTRAN_SUPPORT_H
#define META_FORTRAN_SUPPORT_H

#include "meta.h"

/** Who frees the memory of a body. */
typedef enum metaf_owner {
    METAF_OURS,     /**< meta_alloc() or meta_grid_alloc() */
    METAF_WRAPPED,  /**< meta_wrap() */
    METAF_BORROWED  /**< somebody else */
} metaf_owner;

/** Device memory and its shape, shared by any number of type(meta_buffer). A body is never given
 *  back to the system, so that a reference that outlived it may look at its generation. */
typedef struct metaf_body {
    int64_t generation; /**< odd while it holds memory; a reference remembers it */
    void *address;
    int type, ndim;
    int owner;
    int is_grid;                  /**< whether a call goes by its own extents, as meta_box says */
    int64_t size[META_MAX_DIM];   /**< allocated extents, with padding */
    int64_t origin[META_MAX_DIM]; /**< the program's index of the first element allocated */
    int64_t lower[META_MAX_DIM], upper[META_MAX_DIM]; /**< the program's bounds */
} metaf_body;

/** A body with one reference to it; NULL without memory. */
metaf_body *metaf_body_new(void *address, int type, int owner);
/** One more reference. @return 0 where the body no longer is what the reference was to */
int metaf_body_keep(metaf_body *body, int64_t generation);
/** Its number of dimensions; 1 if it is not what the reference was to. */
int metaf_body_ndim(const metaf_body *body, int64_t generation);
/** One reference less; the last one frees the memory. */
void metaf_body_drop(metaf_body *body, int64_t generation);
/** Free the memory now, whatever refers to it; references then are to nothing. */
meta_err metaf_body_free(metaf_body *body, int64_t generation);
/** After the library was finalised: all its memory went. */
void metaf_bodies_forget(void);
/** Where @p self is. */
int64_t metaf_self(const int64_t *self);

/** Make @p text this thread's message. @return @p code */
int metaf_fail(int code, const char *text);
/** The thread's message: that of metaf_fail() or, after metaf_failed_in_c(), libmeta's. */
const char *metaf_message(void);
void metaf_failed_in_c(void);
/** A message of C's in Fortran's terms, at @p to. */
void metaf_in_fortran(char *to, size_t room, const char *text);
/** A message of metaf_fail() as C counts, so that metaf_in_fortran() gives it back. */
void metaf_in_c(char *to, size_t room, const char *text);
/** meta_here() of a text that need not stay; "" takes it back, as metaf_fail() does. */
meta_err metaf_here(const char *file, int line);

/** An array of the program: where it begins and how it lies. */
typedef struct metaf_array {
    void *address;
    int type, ndim;
    int64_t extent[META_MAX_DIM];
    int contiguous;
} metaf_array;

/** What a parameter of a program's kernel takes. */
typedef enum metaf_role {
    METAF_ARRAY,  /**< an array of the box's shape, or of one that follows from it */
    METAF_WHOLE,  /**< an array of any shape */
    METAF_SCALAR, /**< one element on the device */
    METAF_VALUE,
    METAF_RESULT,
    METAF_EXTREME /**< a result with its place */
} metaf_role;
typedef struct metaf_parameter {
    const char *name;
    int role, type, bytes;
    int low[META_MAX_DIM], high[META_MAX_DIM];
    int lacks[META_MAX_DIM]; /**< whether the array lacks the dimension of the box */
    int grown[META_MAX_DIM]; /**< what its extents have more than the box's */
} metaf_parameter;
const char *metaf_kernel_name(const void *kernel);
int metaf_kernel_parameters(const void *kernel);
void metaf_kernel_parameter(const void *kernel, int number, metaf_parameter *to);

#endif
