/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_build.h
 *  The translation of a kernel's text to instructions: its registers, names and operands. */
#ifndef META_TEST_PTX_BUILD_H
#define META_TEST_PTX_BUILD_H

#include "ptx_module.h"

/** A register while the kernel is translated; instructions have its number for a row until the end.
 */
typedef struct ptx_register {
    unsigned char width;
    bool is_fixed,
        is_dynamic_base; /**< the latter: its value is added to where dynamic memory begins */
    ptx_special special;
    uint64_t value;
    bool is_uniform, broadcast;
    int definitions;
    uint32_t row;
} ptx_register;

typedef struct ptx_scope {
    ptx_names names;
    bool is_function; /**< names of the outer scopes are not seen from here */
    struct ptx_scope *outer;
} ptx_scope;

/** A place in the code, or in the list of targets, that a label's instruction is written to. */
typedef struct ptx_fixup {
    int instruction, target; /**< one of them, the other is -1 */
    ptx_token label;
} ptx_fixup;

typedef struct ptx_builder {
    ptx_module *module;
    ptx_kernel *kernel;
    ptx_reader reader;
    ptx_error *error;
    ptx_scope *scope;
    ptx_names *labels; /**< of the function at hand */
    ptx_names placed;  /**< the module's shared variables that have a place in this kernel */
    ptx_register *registers;
    int register_count, register_room;
    int instruction_room, target_count, target_room;
    ptx_fixup *fixups;
    int fixup_count, fixup_room;
    int *constants; /**< numbers of registers */
    int constant_count, constant_room;
    int specials[PTX_SPECIALS]; /**< -1: not used */
    int carry;                  /**< the condition code's register, or -1 */
    size_t shared_bytes;
    int depth;
    bool in_entry;
} ptx_builder;

/** Make room for one more element. @return the array, or NULL, and then the builder has an error */
void *ptx_grow(ptx_builder *b, void *array, int count, int *room, size_t bytes);

int ptx_new_register(ptx_builder *b, size_t width);
int ptx_constant(ptx_builder *b, size_t width, uint64_t value);
/** The register with the address of dynamic shared memory. */
int ptx_dynamic_base(ptx_builder *b, size_t width);
/** The register of a name as %tid.x. @return -1: there is none, or it is not supported */
int ptx_special_register(ptx_builder *b, const ptx_token *name);
ptx_symbol *ptx_lookup(ptx_builder *b, const ptx_token *name, int *number);
/** Translate a function's body at its call, or an entry's; @p names are its parameters'. */
void ptx_translate_body(ptx_builder *b, const ptx_function *f, ptx_scope *parameters);
/** Translate a call's callee in its place. */
struct ptx_operand;
void ptx_translate_call(ptx_builder *b, const struct ptx_operand *operands, int count);
/** The branch that is instruction number @p instruction goes to a label. */
void ptx_branch_to(ptx_builder *b, int instruction, const ptx_token *label);
/** Translate the instruction at the reader. */
void ptx_translate_instruction(ptx_builder *b);
/** Find what is uniform, give registers their rows, and hand all to the kernel. */
void ptx_assign_rows(ptx_builder *b);

/* ------------------------------------------------------------------ operands */

typedef enum ptx_value_kind {
    PTX_NOTHING,
    PTX_A_REGISTER,
    PTX_A_NUMBER,
    PTX_AN_ADDRESS_OF, /**< a variable's, plus value */
    PTX_A_NAME,        /**< of a label or a function */
    PTX_A_SINK         /**< _ */
} ptx_value_kind;

typedef struct ptx_value {
    ptx_value_kind kind;
    ptx_token token;
    int reg;
    uint64_t value;
    ptx_literal literal;
    bool negated;
    const ptx_symbol *symbol;
} ptx_value;

enum { PTX_LIST = 32 };
typedef struct ptx_operand {
    enum { PTX_ONE, PTX_MEMORY, PTX_VECTOR_OF, PTX_GROUP_OF } form;
    ptx_value one;    /**< also an address in memory, without its offset */
    ptx_value second; /**< of p|q */
    int64_t offset;
    int count; /**< of a vector or of names in brackets */
    ptx_value list[PTX_LIST];
} ptx_operand;

/** One that is not there; its list stays as it is. */
void ptx_clear_operand(ptx_operand *operand);
void ptx_read_operand(ptx_builder *b, ptx_operand *operand);

#endif
