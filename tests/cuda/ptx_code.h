/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_code.h
 *  A kernel's translated instructions, and the state of a block that they work on. A register is a
 *  row: the values of all threads of the block, one beside the other, of the register's width. */
#ifndef META_TEST_PTX_CODE_H
#define META_TEST_PTX_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx.h"

typedef enum ptx_type {
    PTX_U8,
    PTX_S8,
    PTX_U16,
    PTX_S16,
    PTX_U32,
    PTX_S32,
    PTX_U64,
    PTX_S64,
    PTX_F32,
    PTX_F64,
    PTX_PRED,
    PTX_TYPES,
    PTX_NONE = PTX_TYPES
} ptx_type;

size_t ptx_type_bytes(ptx_type type);
static inline bool ptx_is_float(ptx_type type)
{
    return type == PTX_F32 || type == PTX_F64;
}
static inline bool ptx_is_signed(ptx_type type)
{
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

typedef struct ptx_ins ptx_ins;
typedef struct ptx_context ptx_context;
typedef void ptx_handler(const ptx_ins *in, ptx_context *c);

typedef enum ptx_flow {
    PTX_STRAIGHT,
    PTX_UNIFORM, /**< the same for all threads of a block: run once, and its outputs are broadcast
                  */
    PTX_BRANCH,
    PTX_INDEXED, /**< a branch to one of several targets */
    PTX_EXIT,
    PTX_BARRIER,
    PTX_TRAP
} ptx_flow;

typedef enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM } ptx_space;

/** Generic addresses of the other spaces begin here; those of global memory are below. */
#define PTX_PARAM_WINDOW  ((uint64_t)1 << 59)
#define PTX_SHARED_WINDOW ((uint64_t)1 << 60)
#define PTX_LOCAL_WINDOW  ((uint64_t)1 << 61)
#define PTX_WINDOWS       ((uint64_t)7 << 59)

enum { PTX_ROWS = 10, PTX_MOST_THREADS = 1024 };
#define PTX_EXITED UINT32_MAX

/** Rows: the outputs first, then the inputs, in the order of the instruction's text. */
struct ptx_ins {
    ptx_handler *run;
    ptx_handler *plain; /**< of a directed rounding: the instruction that rounds to nearest */
    uint32_t row[PTX_ROWS];
    unsigned char width[PTX_ROWS]; /**< bytes of an element */
    unsigned char rows, outputs;
    bool pure; /**< its outputs depend on its inputs alone */
    unsigned char flow, space;
    unsigned char bytes;      /**< of an access to memory, of one thread */
    bool broadcast[PTX_ROWS]; /**< whether an output of PTX_UNIFORM is read by other instructions */
    bool has_predicate, negated, uniform_predicate;
    uint32_t predicate; /**< a row */
    uint32_t aux;
    int64_t offset;
    int32_t target; /**< of a branch, or the first of them in the kernel's list */
    int32_t targets;
    int32_t line;
};

/** Who accessed a byte of shared memory last, for finding races. */
typedef struct ptx_access {
    uint32_t epoch, warp_epoch; /**< when: barriers of the block, and of the warp, before it */
    int16_t thread;             /**< the last one */
    unsigned char scope;        /**< whether others did too: one of the three below */
    bool atomic;
    int32_t line;
} ptx_access;
enum { PTX_ONE_THREAD, PTX_ONE_WARP, PTX_SEVERAL_WARPS };

struct ptx_context {
    char *rows;
    size_t stride; /**< elements from one row to the next */
    /* The threads that run an instruction: lane[0 … lanes) where it is not NULL, otherwise from …
     * end, and what has no effect but on rows may go on up to `to`. */
    const uint16_t *lane;
    int lanes, from, end, to;
    int threads;
    /* What ptx_resolve() found: the host's address is base + address[i]. */
    uint64_t *address;
    uint64_t base;
    char *shared, *local;
    const char *param;
    size_t shared_bytes, local_bytes, param_bytes;
    const ptx_memory *memory;
    const ptx_range *constant; /**< the module's .const variables */
    size_t constants;
    ptx_range cached[4];
    int next_cached;
    const ptx_kernel *kernel;
    int first; /**< the first thread that runs a uniform instruction */
    unsigned block[3];
    unsigned shape[3];  /**< of a block */
    const uint32_t *at; /**< per thread: the next instruction, or PTX_EXITED */
    ptx_fault *fault;
    /* Races on shared memory, where they are to be found. */
    ptx_access *wrote, *read;
    uint32_t epoch, *warp_epoch;
};

/** Where dynamic shared memory begins, behind the static. */
static inline size_t ptx_dynamic_offset(size_t static_bytes)
{
    return (static_bytes + 15) / 16 * 16;
}
/** The elements of a row that may be written: the threads', rounded up to whole vectors. */
static inline int ptx_padded(int threads)
{
    return (threads + 15) / 16 * 16;
}

/** Record a fault of a thread, unless there is one. */
void ptx_fail(const ptx_ins *in, ptx_context *c, int status, int thread, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ------------------------------------------------------------------ handlers */

#define PTX_ROW(in, c, k) ((void *)((c)->rows + (size_t)(in)->row[k] * (c)->stride))

/* An output may be an input too, element for element. Clang finds that out at run time. */
#ifdef __clang__
#define PTX_VECTOR
#else
#define PTX_VECTOR _Pragma("GCC ivdep")
#endif

/* Handlers are compiled for several generations of x86-64, and the machine's is chosen when the
 * program starts. Sanitizers do not support that. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && __GNUC__ >= 12 &&             \
    !defined PTX_ONE_CLONE && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define PTX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PTX_CLONES
#endif

/** Run statements for each thread @p i; they may not have an effect but on rows. */
#define PTX_EACH(c, i, ...)                                                                        \
    if (!(c)->lane) {                                                                              \
        const int to_ = (c)->to;                                                                   \
        PTX_VECTOR                                                                                 \
        for (int i = (c)->from; i < to_; ++i) {                                                    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } else {                                                                                       \
        for (int j_ = 0; j_ < (c)->lanes; ++j_) {                                                  \
            const int i = (c)->lane[j_];                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
/** The same, and they may have any effect. */
#define PTX_EACH_EXACTLY(c, i, ...)                                                                \
    for (int j_ = 0, n_ = (c)->lane ? (c)->lanes : (c)->end - (c)->from; j_ < n_; ++j_) {          \
        const int i = (c)->lane ? (c)->lane[j_] : (c)->from + j_;                                  \
        __VA_ARGS__                                                                                \
    }

/** Handlers of one output: a value of type D of inputs a, b and e of types A, B and C. */
#define PTX_UNARY(name, D, A, value)                                                               \
    PTX_CLONES static void name(const ptx_ins *in, ptx_context *c)                                 \
    {                                                                                              \
        D *d = PTX_ROW(in, c, 0);                                                                  \
        const A *row_a = PTX_ROW(in, c, 1);                                                        \
        PTX_EACH(c, i, const A a = row_a[i]; d[i] = (D)(value);)                                   \
    }
#define PTX_BINARY(name, D, A, B, value)                                                           \
    PTX_CLONES static void name(const ptx_ins *in, ptx_context *c)                                 \
    {                                                                                              \
        D *d = PTX_ROW(in, c, 0);                                                                  \
        const A *row_a = PTX_ROW(in, c, 1);                                                        \
        const B *row_b = PTX_ROW(in, c, 2);                                                        \
        PTX_EACH(c, i, const A a = row_a[i]; const B b = row_b[i]; d[i] = (D)(value);)             \
    }
#define PTX_TERNARY(name, D, A, B, C, value)                                                       \
    PTX_CLONES static void name(const ptx_ins *in, ptx_context *c)                                 \
    {                                                                                              \
        D *d = PTX_ROW(in, c, 0);                                                                  \
        const A *row_a = PTX_ROW(in, c, 1);                                                        \
        const B *row_b = PTX_ROW(in, c, 2);                                                        \
        const C *row_e = PTX_ROW(in, c, 3);                                                        \
        PTX_EACH(c, i, const A a = row_a[i]; const B b = row_b[i]; const C e = row_e[i];           \
                 d[i] = (D)(value);)                                                               \
    }

/** An instruction by its name without types, and the types of its operands, outputs first:
 *  t the instruction's, w of twice its width, u .u32, f .f32, d .f64, p a predicate. */
typedef struct ptx_op {
    const char *name;
    const char *operands;
    ptx_handler *run[PTX_TYPES];
} ptx_op;

/** @return NULL: there is none of this name and type */
const ptx_op *ptx_op_find(const char *name, size_t length, ptx_type type);
extern const ptx_op ptx_ops_integer[], ptx_ops_float[], ptx_ops_convert[], ptx_ops_warp[];

/** Rounds as aux says: an instruction of IEEE's whose handler is plain. */
typedef enum ptx_rounding { PTX_NEAREST, PTX_TO_ZERO, PTX_DOWN, PTX_UP } ptx_rounding;
ptx_handler ptx_directed;

/** Order memory accesses for other host threads. */
ptx_handler ptx_fence;
ptx_handler *ptx_convert(ptx_type to, ptx_type from);
/* Loads into outputs from the address in the last row; stores of all rows but the first, which is
 * the address. By the bytes of an element. */
ptx_handler *ptx_load_of(size_t bytes);
ptx_handler *ptx_store_of(size_t bytes);
/** An atomic operation, row 0 of which is what was there before. */
ptx_handler *ptx_atomic(const char *operation, ptx_type type);

#endif
