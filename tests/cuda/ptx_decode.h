/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode.h
 *  One instruction's text, taken apart, and how its translation is put together. */
#ifndef META_TEST_PTX_DECODE_H
#define META_TEST_PTX_DECODE_H

#include "ptx_build.h"

enum { PTX_PARTS = 16, PTX_OPERANDS = 8 };

typedef struct ptx_part {
    const char *text;
    int length;
    bool used;
} ptx_part;

/** An output that waits to be widened to its register. */
typedef struct ptx_widening {
    int reg, from;
    ptx_type type;
} ptx_widening;

typedef struct ptx_decoder {
    ptx_builder *b;
    ptx_token opcode;
    ptx_part parts[PTX_PARTS]; /**< of the opcode, between its points; the first is its name */
    int part_count;
    ptx_type type,
        from; /**< its types; from is the last, and both are the same where there is one */
    int type_count;
    ptx_operand *operand; /**< PTX_OPERANDS of them */
    int operands;
    int predicate; /**< a register, or -1 */
    bool negated;
    int line;
    ptx_widening widening[PTX_OPERANDS];
    int widenings;
} ptx_decoder;

/** Whether the opcode has a part; it is then dealt with. What is left at the end is not supported.
 */
bool ptx_take(ptx_decoder *d, const char *part);
/** Whether the opcode's name is @p name. */
bool ptx_named_op(const ptx_decoder *d, const char *name);
void ptx_refuse(ptx_decoder *d, const char *why);

/** The register with an input of a type. */
int ptx_source(ptx_decoder *d, const ptx_value *value, ptx_type type);
/** The register for an output of a type. ptx_finish() widens it where its own is wider. */
int ptx_result(ptx_decoder *d, const ptx_value *value, ptx_type type);
void ptx_finish(ptx_decoder *d);
int ptx_temporary(ptx_decoder *d, ptx_type type);

/** Append an instruction with its registers, outputs first. It is valid until the next one. */
ptx_ins *ptx_append(ptx_decoder *d, ptx_handler *run, int outputs, int count, const int *registers);
/** Append one by its name, all of whose inputs are registers that are given; one output. It is
 * pure.
 *  @return the output, in @p result, or in a new register where that is -1 */
int ptx_apply(ptx_decoder *d, const char *name, ptx_type type, int result, int a, int b, int c);
/** The types of operands that a letter of ptx_op stands for. */
ptx_type ptx_operand_type(char letter, ptx_type type);

/** The name under which a table has the instruction: its parts that were not taken, which now are.
 */
void ptx_name_of_rest(ptx_decoder *d, char *name, size_t room);
ptx_rounding ptx_take_rounding(ptx_decoder *d);
ptx_type ptx_unsigned_of(size_t bytes);

/* ------------------------------------------------------------------ by subject */

/** Any instruction that a table of handlers has. */
void ptx_decode_by_table(ptx_decoder *d);
/** @return whether it sets or uses the carry */
bool ptx_decode_carry(ptx_decoder *d);
typedef void ptx_decode(ptx_decoder *d);
ptx_decode ptx_decode_mov, ptx_decode_setp, ptx_decode_set, ptx_decode_cvta, ptx_decode_isspacep,
    ptx_decode_lop3, ptx_decode_warp, ptx_decode_convert, ptx_decode_memory;
ptx_decode ptx_decode_branch, ptx_decode_indexed_branch, ptx_decode_return, ptx_decode_trap,
    ptx_decode_barrier, ptx_decode_call, ptx_decode_fence, ptx_decode_hint;

#endif
