/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.h
 *  Kernels of the program's own: what the library derives from their parameters. */
#ifndef META_USER_H
#define META_USER_H

#include <pthread.h>
#include <stdbool.h>

#include "memory/span.h"
#include "meta_backend.h"

/** A device's object of a kernel. */
typedef struct meta_user_object {
    const meta_device *device;
    meta_plugin_kernel *kernel;
    struct meta_user_object *next;
} meta_user_object;

/** Made when a kernel first runs, kept until it is unregistered. */
struct meta_kernel_state {
    meta_kernel_desc desc;
    meta_operand_desc operand[META_KERNEL_ARRAYS];
    meta_result_desc result[META_KERNEL_PARAMETERS];
    meta_kernel *kernel;
    uint64_t bytes;   /**< least memory traffic per cell, but for arrays that lack dimensions */
    bool has_dropped; /**< there are such arrays */
    bool is_shaped[META_KERNEL_PARAMETERS]; /**< an array's shape is not the box's */
    char label[80];                         /**< for profiles: name and type */
    char *text;           /**< for a compiler of another device; NULL until one asks */
    pthread_mutex_t lock; /**< held while an object is made */
    meta_user_object *_Atomic objects;
};

/** The state of the kernel that @p desc describes. */
static inline struct meta_kernel_state *meta_user_of(const meta_kernel_desc *desc)
{
    return (struct meta_kernel_state *)(uintptr_t)desc; /* its first member */
}

/* user.c */
/** Make what the library needs of @p kernel, unless it has been made.
 *  @return META_ERR_ARGUMENT if its parameters are not valid */
meta_err meta_user_open(meta_kernel *kernel);
/** Get the device's object of a kernel, made on first use. */
meta_err meta_user_object_of(meta_device *device, const meta_kernel_desc *desc,
                             meta_plugin_kernel **object);
/** The least memory traffic of a call. */
uint64_t meta_user_bytes(const meta_call *call);
/** Destroy the device's objects of all kernels. */
void meta_user_close(meta_device *device);
/** Call @p function for each registered kernel whose text is that of @p kernel, for its type. */
void meta_user_each_beside(const meta_kernel *kernel, void (*function)(const meta_kernel *, void *),
                           void *with);

/** The registered kernel @p name for @p type whose file has the text @p text; without a name, any
 * of that text. @p has_name, unless NULL: whether there is one of that name for any type. */
meta_kernel *meta_user_of_text(const char *text, const char *name, meta_type type, bool *has_name);
/** The element types of kernels, as bits. */
#define META_USER_TYPES                                                                            \
    (1u << META_F64 | 1u << META_F32 | 1u << META_I64 | 1u << META_U64 | 1u << META_I32 |          \
     1u << META_U32)

/* near.c */
/** META_ERR_BOUNDS if a kernel has accessed an array beyond its reach since the last call. */
meta_err meta_user_beyond(void);

/* text.c */
/** The text of @p state's kernel for the compiler of a device: of its file, the definitions ahead
 * of it and the function that runs it for a space behind it. @return NULL if memory is out */
char *meta_user_text(const struct meta_kernel_state *state);

#endif
