/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.h
 *  Kernels of the program's own: what the library derives from their parameters. */
#ifndef META_USER_H
#define META_USER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/sized.h"
#include "memory/span.h"
#include "meta_backend.h"

/** What is built of a kernel's text: a set of these bits. CHECKED: with the checks of
 * META_CHECK=on, and an operand more, to which they write (kernels/lang_check.h). NATIVE: with the
 * body that the file has in the language of the device's back end, instead of the portable one. */
enum { META_USER_CHECKED = 1, META_USER_NATIVE = 2, META_USER_FORMS = 4 };

/** A device's object of a kernel. */
typedef struct meta_user_object {
    const meta_device *device;
    meta_plugin_kernel *kernel;
    uint32_t form;
    bool is_beside; /**< the portable form, with which META_CHECK compares a native body */
    struct meta_user_object *next;
} meta_user_object;

/** Made when a kernel first runs, kept until it is unregistered. While sums are to be reproducible
 * a kernel with floating-point sums is run as its twin, whose sums are exact. */
struct meta_kernel_state {
    meta_kernel_desc desc;
    meta_kernel_desc checked; /**< of META_USER_CHECKED: with one more operand, the last */
    meta_operand_desc operand[META_KERNEL_ARRAYS + 1];
    meta_result_desc result[META_KERNEL_PARAMETERS];
    meta_kernel *kernel;
    uint64_t identity; /**< differs where the text of two kernels of one name does */
    uint64_t bytes;    /**< least memory traffic per cell, but for arrays that lack dimensions */
    bool has_dropped;  /**< there are such arrays */
    bool is_shaped[META_KERNEL_PARAMETERS]; /**< an array's shape is not the box's */
    char label[80];                         /**< for profiles: name and type */
    char *text[META_USER_FORMS]; /**< for the compiler of another device; NULL until one asks */
    pthread_mutex_t lock;        /**< held while an object is made */
    meta_user_object *_Atomic objects;
    uint32_t exact_sums;                    /**< of a twin */
    struct meta_kernel_state *_Atomic twin; /**< NULL until one is needed, and of a twin */
};

/** The number in meta_kernel_state.checked. */
#define META_USER_CHECKED_NUMBER (UINT32_MAX - 1)

/** The state of the kernel that @p desc describes. */
static inline struct meta_kernel_state *meta_user_of(const meta_kernel_desc *desc)
{
    const size_t at = desc->number == META_USER_CHECKED_NUMBER
                          ? offsetof(struct meta_kernel_state, checked)
                          : offsetof(struct meta_kernel_state, desc);
    return (struct meta_kernel_state *)((uintptr_t)desc - at);
}

/* user.c */
/** The bytes of a kernel's description with the headers of 0.2.0. */
#define META_KERNEL_LEAST META_LEAST(meta_kernel, team)
enum { META_KERNEL_MISFIT = 512 }; /* bytes of a message */
/** Whether this library can run a kernel, which may be of other headers.
 *  @return META_ERR_ARGUMENT or META_ERR_UNSUPPORTED with the cause in @p text; no error is set */
meta_err meta_kernel_fit(const meta_kernel *kernel, char *text, size_t room);
/** The library has started: log which registered kernels cannot be run. */
void meta_kernels_report_refused(void);
/** How many states are gone. What is known of a kernel by its descriptor's address is of another
 * one if this number has changed since. */
extern _Atomic uint64_t meta_user_destroyed;
/** Make what the library needs of @p kernel, unless it has been made.
 *  @return META_ERR_ARGUMENT if its parameters are not valid */
meta_err meta_user_open(meta_kernel *kernel);
/** The state with which an open kernel runs: its own, or its twin while sums are to be reproducible
 * and it has floating-point ones. */
meta_err meta_user_state(const meta_kernel *kernel, bool reproducible,
                         struct meta_kernel_state **state);
/** Get the device's object of a kernel, made on first use. */
meta_err meta_user_object_of(meta_device *device, const meta_kernel_desc *desc,
                             meta_plugin_kernel **object);
/** The least memory traffic of a call. */
uint64_t meta_user_bytes(const meta_call *call);
/** Destroy the device's objects of all kernels. */
void meta_user_close(meta_device *device);
/** Number @p index of the kernels of meta_library.h; NULL if there are fewer. */
meta_kernel *meta_user_ready(int index);
/** Call @p function for each registered kernel whose text is that of @p kernel, for its type, in
 * the order of their names and once a name: a text that is made of them is the same in every
 * program. */
void meta_user_each_beside(const meta_kernel *kernel, void (*function)(const meta_kernel *, void *),
                           void *with);

/** The registered kernel @p name for @p type whose file has the text @p text; without a name, any
 * of that text. @p has_name, unless NULL: whether there is one of that name for any type. */
meta_kernel *meta_user_of_text(const char *text, const char *name, meta_type type, bool *has_name);
/** Compile a text for the CPU's instruction set @p set, of meta_compiler_set_named(), which this
 *  machine need not have, and put the code into the cache, see meta_cached_put(). */
meta_err meta_compile_ahead(const char *file, const char *text, int set);
/** The element types of kernels, as bits. */
#define META_USER_TYPES                                                                            \
    (1u << META_F64 | 1u << META_F32 | 1u << META_I64 | 1u << META_U64 | 1u << META_I32 |          \
     1u << META_U32)

/** The form in which @p device runs a kernel. */
uint32_t meta_user_form(const struct meta_kernel_state *state, const meta_device *device);
/** The descriptor with which @p device runs a call of a kernel: without the notes' operand where
 * the device takes none. */
static inline const meta_kernel_desc *meta_user_desc_on(const meta_kernel_desc *desc,
                                                        bool is_checked)
{
    if (desc->number != META_USER_CHECKED_NUMBER || is_checked) return desc;
    return &meta_user_of(desc)->desc;
}
/** Whether @p device builds kernels from text with the checks of META_CHECK=on. */
bool meta_user_is_checked(const meta_device *device);
/** Get the device's object of another form of a kernel, made on first use. */
meta_err meta_user_object_as(meta_device *device, struct meta_kernel_state *state, uint32_t form,
                             meta_plugin_kernel **object);

/** Whether cells add floating-point numbers to the array, in any order. */
static inline bool meta_parameter_is_real_addition(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_ADD && (p->type == META_F64 || p->type == META_F32);
}

/* native.c */
/** Whether @p kernel has a body in the language of back ends of @p mode. */
bool meta_user_has_native(const meta_kernel *kernel, meta_mode mode);
/** The language's name for messages. */
const char *meta_user_language(const meta_device *device);

/* near.c: META_CHECK=on */
/** The next launch on the CPU accesses so many bytes from @p at anywhere. If memory is out they are
 * not checked. */
void meta_user_expect(const void *at, uint64_t bytes);
/** What was expected at @p from is at @p at as well. */
void meta_user_expect_also(const void *from, const void *at);
/** Forget those arrays.
 *  @return META_ERR_BOUNDS if a kernel on the CPU has accessed an array beyond its reach or size
 * since the last call */
meta_err meta_user_beyond(void);
/** META_ERR_BOUNDS if @p kernel has done so on another device, which has left @p section
 *  (kernels/lang_check.h). */
meta_err meta_user_noted(const meta_kernel *kernel, const int64_t *section);

/* team.c */
/** META_ERR_ARGUMENT if the teams of @p kernel, which has them, are not possible, or its body does
 *  what members of a team must not. */
meta_err meta_team_check(const meta_kernel *kernel);

/* unoptimized.c */
/** Whether the program's compiler did not optimize its CPU code, as far as it says so. */
bool meta_user_is_unoptimized(const meta_kernel *kernel);
/** Log a warning that names the program's kernels whose CPU code was not optimized. */
void meta_user_warn_unoptimized(void);

/* text.c */
/** The text of @p state's kernel in @p form for the compiler of a device: of its file, the
 * definitions ahead of it and the function that runs it for a space behind it. @return NULL if
 * memory is out */
char *meta_user_text(const struct meta_kernel_state *state, uint32_t form);

#endif
