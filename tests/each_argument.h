/* SPDX-License-Identifier: BSD-3-Clause */
/** @file each_argument.h
 *  Every parameter of every public function, misused in every way that its type allows. What
 * functions there are comes from the headers, by tests/each_argument.awk; what a parameter may be
 * given comes from its role, a function here, which tables in the tests find by the parameter's
 * name. A parameter without a role fails.
 *
 *  Each function is called once correctly, and then once for each misuse, all other arguments being
 *  correct. A misuse must be an error, with the code that the role says, in a message that begins
 * with the function and names the argument in quotes, and no output may be written. After the last
 *  misuse of a function all buffers hold what they held, as many are live as before, and the device
 *  still computes.
 *
 *  A test of several ranks does so on all of them alike, and with all but one calling correctly:
 * then the others get the same error, or wait until that rank has called correctly too.
 *
 *  What only the compiler's types can tell is no misuse here: an address of something else or a
 *  misaligned one where a function writes a handle, a number or a description for the program. */
#ifndef META_TEST_EACH_ARGUMENT_H
#define META_TEST_EACH_ARGUMENT_H

#include <string.h>

#include "test.h"

/** The bytes of an argument of any type. */
typedef struct argument_value {
    _Alignas(16) unsigned char bytes[16];
} argument_value;

enum { ARGUMENT_MOST_PARAMETERS = 10, ARGUMENT_MOST_WRONG = 64 };

/** A public function, as tests/each_argument.awk finds it. */
typedef struct argument_function {
    const char *name;
    meta_err (*call)(const argument_value *value);
    int parameters;
    struct {
        const char *name, *type;
    } parameter[ARGUMENT_MOST_PARAMETERS];
} argument_function;

typedef struct argument_misuse {
    char what[64];
    argument_value value;
    meta_err code;
    const char *also; /**< NULL, or another parameter that the message may name instead */
} argument_misuse;

/** An argument of the call at hand, which its role fills in. */
typedef struct argument {
    const argument_function *function;
    int number; /**< of the parameter */
    const char *name, *type;
    bool is_buffer; /**< on the device of the call's other ones, which it must not overlap */
    argument_value good;
    int wrongs;
    argument_misuse wrong[ARGUMENT_MOST_WRONG];
} argument;

typedef void argument_role(argument *argument);

/** The parameter @p name of @p function, or of every function without a row of its own, has this
 *  role. */
typedef struct argument_row {
    const char *function, *name;
    argument_role *role;
} argument_row;

/** A misuse that a function accepts, and why; META_OK is then required. Of any function where @p
 *  function is NULL. Each must occur. */
typedef struct argument_accepted {
    const char *function, *name, *what, *reason;
} argument_accepted;

typedef enum argument_device {
    ARGUMENT_HOST,  /**< its memory is the host's */
    ARGUMENT_APART, /**< it has memory of its own */
    ARGUMENT_AUTO,  /**< META_AUTO's */
    ARGUMENT_DEVICES
} argument_device;

/** What surrounds each call of a function; members may be NULL. */
typedef struct argument_around {
    const char *function;
    void (*before)(void);            /**< before the roles are asked */
    void (*after)(meta_err code);    /**< code is META_OK where the call did something */
    meta_err good[ARGUMENT_DEVICES]; /**< what a correct call returns on such a device */
} argument_around;

typedef struct argument_table {
    const argument_function *function;
    size_t functions;
    const char *const *others; /**< public functions that return no error, up to NULL */
    const argument_row *row;
    size_t rows;
    const argument_accepted *accepted;
    size_t accepts;
    const argument_around *around;
    size_t arounds;
    const char *const *known_others; /**< those that the test knows, up to NULL */
    const char *const *startless;    /**< functions that need no started library, up to NULL */
    /** Functions on whose outcome ranks agree, up to NULL: one rank's misuse is an error on all. */
    const char *const *agreed;
    const argument_accepted *untold; /**< misuses of these that no other rank learns of */
    size_t untolds;
    void (*end)(void); /**< gives everything back and ends the library; NULL: the usual way */
} argument_table;

/** Misuse all functions of the table. The library is started; prints how many calls were made. */
void argument_misuse_all(const argument_table *table);
/** The same on rank @p rank, while the others call correctly. */
void argument_misuse_on(const argument_table *table, int rank);
/** Call each with correct arguments, of the library as it was, while it is not started. */
void argument_call_unstarted(const argument_table *table);

/* ------------------------------------------------------------------ for roles */

#define ARGUMENT_GOOD(argument, ctype, ...)                                                        \
    memcpy((argument)->good.bytes, &(ctype[1]){__VA_ARGS__}, sizeof(ctype))
#define ARGUMENT_WRONG(argument, what, code, ctype, ...)                                           \
    memcpy(argument_add((argument), (what), (code))->value.bytes, &(ctype[1]){__VA_ARGS__},        \
           sizeof(ctype))
/** Another misuse, whose value is to be set. */
argument_misuse *argument_add(argument *argument, const char *what, meta_err code);
/** Any error code. */
#define ARGUMENT_ANY META_ERR_COUNT
/** Memory for something that the call may write, which must not change where it fails. */
void *argument_out(size_t bytes);

enum {
    ARGUMENT_NX = 8,
    ARGUMENT_NY = 6,
    ARGUMENT_NZ = 4,
    ARGUMENT_CELLS = 8 * 6 * 4,
    ARGUMENT_BUFFERS = 6
};
/** What calls are made with, made by argument_begin(). */
extern struct argument_things {
    meta_mode mode;                 /**< of this thread's device */
    argument_device device;         /**< what kind of device that is */
    void *buffer[ARGUMENT_BUFFERS]; /**< of CELLS doubles on it */
    int used;                       /**< how many of them the call at hand has */
    void *freed;                    /**< was one */
    void *elsewhere;                /**< on another device, NULL without one */
    void *pinned;                   /**< of meta_host_alloc() */
    double *foreign;                /**< of malloc() */
    meta_box box;                   /**< the inner cells of a buffer */
    meta_face face;                 /**< of that box and a plane below it */
    meta_event event;               /**< of argument_make_event() */
    void *made;                     /**< by the function's own `before` */
} argument_things;

/** Make the buffers and shapes, after the library was started, and give them back. */
void argument_begin(void);
void argument_end(void);
/** Let the buffers hold what they held. */
void argument_restore(void);

/* Roles. A buffer is the next one that the call does not have yet. */
argument_role argument_buffer, argument_bytes_buffer, argument_any_address;
/** A list of two buffers. */
argument_role argument_buffers;
argument_role argument_host_number, argument_host_array, argument_result;
argument_role argument_box, argument_face, argument_type, argument_arithmetic, argument_done;
argument_role argument_out_pointer, argument_event_handle, argument_opaque;
/** A number of which @p good is right; below are wrong ones. */
#define ARGUMENT_INT_ROLE(role, ctype, right, ...)                                                 \
    static void role(argument *a)                                                                  \
    {                                                                                              \
        static const struct {                                                                      \
            ctype value;                                                                           \
            meta_err code;                                                                         \
        } wrong[] = {__VA_ARGS__};                                                                 \
        ARGUMENT_GOOD(a, ctype, right);                                                            \
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {                                \
            char what[32];                                                                         \
            snprintf(what, sizeof what, "%lld", (long long)wrong[k].value);                        \
            ARGUMENT_WRONG(a, what, wrong[k].code, ctype, wrong[k].value);                         \
        }                                                                                          \
    }
/** A structure with a size member that the call fills in. */
#define ARGUMENT_DESC_ROLE(role, Desc, initial)                                                    \
    static void role(argument *a)                                                                  \
    {                                                                                              \
        Desc *good = argument_out(sizeof *good), *unset = argument_out(sizeof *unset);             \
        Desc *small = argument_out(sizeof *small);                                                 \
        *good = (Desc)initial;                                                                     \
        memset(unset, 0, sizeof *unset);                                                           \
        memset(small, 0, sizeof *small);                                                           \
        small->size = sizeof small->size;                                                          \
        ARGUMENT_GOOD(a, Desc *, good);                                                            \
        ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, Desc *, NULL);                                \
        ARGUMENT_WRONG(a, "without a size", META_ERR_ARGUMENT, Desc *, unset);                     \
        ARGUMENT_WRONG(a, "too small", META_ERR_ARGUMENT, Desc *, small);                          \
    }

/** For `before` and `after`: an event of queued work, and its end. */
void argument_make_event(void);
void argument_drop_event(meta_err code);

#endif
