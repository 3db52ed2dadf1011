/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_grammar.h
 *  The grammar of random kernels: expressions and statements over what is in scope. Everything that
 * it makes is defined in C: integers carry the range of their values, so that none overflows, no
 * divisor is zero and no index leaves its array. */
#ifndef META_RANDOM_GRAMMAR_H
#define META_RANDOM_GRAMMAR_H

#include "random_tree.h"

/** The range of an integer that may be anything. */
#define ANYTHING INT64_MAX
/** The range of a signed variable that is assigned to, of a helper's argument and of what it
 * returns. */
enum { USUAL = 1000 };

/** Kinds of parameters and reaches, in the order of meta_kernel.h. */
enum { OUT, INOUT, IN, VALUE, SUM, MIN, MAX, MIN_AT, MAX_AT };
enum { CELL, STAR, BOX, SIDES, WHOLE };

/** A name for a value: a local variable, a VALUE, a member of one. */
typedef struct variable {
    const char *name;
    kind type;
    int64_t low, high;
    bool is_mutable, is_loop;
    int length; /**< of a local array, else 0 */
} variable;

typedef struct parameter {
    const char *name;
    int kind;
    kind type;
    const char *type_name; /**< where it is none of the element types: of a VALUE */
    const char *value;     /**< initializer of a VALUE */
    int fill;              /**< RANDOM_… */
    int64_t low, high;     /**< of an array's elements */
    int reach, before[4], behind[4];
    int64_t length; /**< of a WHOLE array */
    bool is_written;
} parameter;

typedef struct helper {
    const char *name;
    kind result;
    bool is_procedure; /**< changes the variable that it is passed first, and returns nothing */
    int arguments;
    kind argument[3];
} helper;

enum { MOST_VARIABLES = 256, MOST_PARAMETERS = 64, MOST_HELPERS = 4 };

/** What is in scope. */
typedef struct scope {
    family own; /**< of T */
    int dims;   /**< along which the kernel reads neighbours */
    int number; /**< of the kernel */
    variable variable[MOST_VARIABLES];
    int variables;
    parameter parameter[MOST_PARAMETERS];
    int parameters;
    helper helper[MOST_HELPERS];
    int helpers;
    bool in_helper;   /**< no arrays, no index */
    bool may_return;  /**< all OUT arrays are written */
    bool has_macro;   /**< DIFFERENCE<number> exists */
    int loops, trips; /**< loops around, and how often their bodies run */
    int names;
    uint64_t taken;  /**< of the list of awkward names, those in use */
    int accumulator; /**< the variable that others are combined with */
} scope;
extern scope here;
/** Floating-point sums are of any numbers: they will be added exactly. */
extern bool any_addends;

family family_of(kind k);
/** How @p k is spelled in a form. */
const char *spelled(kind k);
/** A name that nothing has, and a new local variable. */
const char *new_name(void);
variable *declare(const char *name, kind type, int64_t low, int64_t high);

/** An expression of type @p k, of at most @p depth operations within each other. */
const node *any_expression(kind k, int depth);
/** The same, of an integer from -most to most, or of an unsigned one up to most; as a value of type
 * T if that is any number, likewise. Of floating types, any. */
const node *expression_within(kind k, int64_t most, int depth);
const node *any_condition(int depth);
/** A type: T, one of the parameters', or any. */
kind any_kind(void);

/** Statements; at least one. */
const node *any_statements(int count, int depth);
/** The declaration of the accumulator, and statements that combine each variable from number @p
 * first with it, so that all have an effect. */
const node *accumulator_declared(void);
const node *all_used(int first);
/** Write array or contribute to result @p p. */
const node *written(parameter *p);
const node *contributed(parameter *p);

#endif
