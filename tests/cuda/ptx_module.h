/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_module.h
 *  A parsed module: its global variables and functions, and what a kernel is once it is translated.
 */
#ifndef META_TEST_PTX_MODULE_H
#define META_TEST_PTX_MODULE_H

#include <pthread.h>

#include "ptx_code.h"
#include "ptx_text.h"

typedef enum ptx_symbol_kind {
    PTX_IS_REGISTER,
    PTX_IS_REGISTERS, /**< as %r<9>: a name and a number below count */
    PTX_IS_GLOBAL,
    PTX_IS_SHARED, /**< of the module: its place is decided in each kernel that uses it */
    PTX_IS_SHARED_PLACE,
    PTX_IS_DYNAMIC_SHARED,
    PTX_IS_LOCAL,
    PTX_IS_PARAMETER,
    PTX_IS_LABEL,
    PTX_IS_LABELS, /**< of an indexed branch */
    PTX_IS_FUNCTION
} ptx_symbol_kind;

typedef struct ptx_function {
    bool is_entry, has_returns, has_parameters;
    ptx_reader returns, parameters, body; /**< behind the opening bracket or brace */
    unsigned max_threads, required[3];
    ptx_kernel *kernel; /**< once it was asked for */
} ptx_function;

typedef struct ptx_symbol {
    ptx_token name;
    ptx_symbol_kind kind;
    uint64_t value; /**< an address, an offset, a register's number, a label's instruction */
    size_t bytes, align;
    int count;        /**< of registers, or of labels */
    bool is_argument; /**< a .param variable in a function, which is local memory */
    ptx_function *function;
    struct ptx_symbol *next;
} ptx_symbol;

/** Symbols by name; all 0 is none. */
typedef struct ptx_names {
    void *tree;
    ptx_symbol *first;
} ptx_names;
/** @return NULL: there is no memory, or the name is taken, and the reader has the error */
ptx_symbol *ptx_name(ptx_names *names, ptx_reader *reader, const ptx_token *name,
                     ptx_symbol_kind kind, uint64_t value);
ptx_symbol *ptx_named(const ptx_names *names, const ptx_token *name);
void ptx_forget_names(ptx_names *names);

/** A declared variable, behind its state space. */
typedef struct ptx_variable {
    ptx_token name;
    ptx_type type;
    size_t bytes, align;
    bool is_open; /**< an array whose length is not given */
} ptx_variable;
ptx_variable ptx_declared(ptx_reader *reader);
/** The type that a word as .u32 names, bits as unsigned integers; PTX_NONE: another word. */
ptx_type ptx_type_named(const char *word, size_t length);

typedef enum ptx_special {
    PTX_TID_X,
    PTX_TID_Y,
    PTX_TID_Z,
    PTX_LANE,
    PTX_WARP,
    PTX_MASK_EQ,
    PTX_MASK_LT,
    PTX_MASK_LE,
    PTX_MASK_GT,
    PTX_MASK_GE,
    PTX_NTID_X,
    PTX_NTID_Y,
    PTX_NTID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_DYNAMIC_BYTES,
    PTX_TOTAL_BYTES,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_SPECIALS
} ptx_special;

/** A row with a value that instructions do not change. */
typedef struct ptx_fixed {
    uint32_t row;
    unsigned char width;
    bool broadcast;      /**< whether all threads' elements are read, or only the first */
    ptx_special special; /**< PTX_SPECIALS: it is a constant */
    uint64_t value;
} ptx_fixed;

typedef struct ptx_worker ptx_worker;

struct ptx_module {
    char *text;
    ptx_names names;
    const ptx_memory *memory;
    ptx_range *globals;
    size_t global_count, constant_count; /**< those of .const come first */
    pthread_mutex_t lock;
    ptx_worker *idle; /**< what runs blocks, kept for the next launch */
};

struct ptx_kernel {
    ptx_facts facts;
    ptx_module *module;
    char *name;
    ptx_parameter *parameters;
    ptx_ins *code;
    int instructions;
    int32_t *targets;
    ptx_fixed *fixed;
    int fixed_count;
    size_t row_bytes; /**< of all rows, per thread */
    size_t local_bytes;
};

/** Translate an entry. @return NULL: it has what is not supported, and the error says so */
ptx_kernel *ptx_translate(ptx_module *module, const ptx_symbol *entry, ptx_error *error);
void ptx_free_kernel(ptx_kernel *kernel);
void ptx_free_workers(ptx_worker *workers);

#endif
