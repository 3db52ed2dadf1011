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

/** Kinds of parameters: of EACH_TEAM, an INOUT array that is WHOLE, a team has the element of its
 *  number. Reaches in the order of meta_kernel.h. */
enum { OUT, INOUT, EACH_TEAM, IN, ADD, SCALAR, VALUE, SUM, MIN, MAX, MIN_AT, MAX_AT };
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
    int64_t length;   /**< of a WHOLE array, and of a SCALAR */
    bool is_shaped;   /**< it has extents of its own */
    bool is_brief;    /**< its reach is left out where it may be */
    unsigned dropped; /**< a bit for each dimension that it lacks */
    int grown[3];     /**< what its extents have more than the box's */
    bool is_written;
    bool is_pending; /**< in a kernel of teams: still to be written or contributed to */
} parameter;

/** What the members of a team may do with an array in a phase: nothing; read it anywhere; read and
 *  write the own element; read it anywhere and write the own element of its other half. */
enum { NOTHING, READ, OWN, NEXT };

/** An array in shared memory. Its elements are those of the members that the team has: packed, or
 * by rows of constant length. */
typedef struct memory {
    const char *name;
    kind type;             /**< of what is read */
    const char *type_name; /**< where it is none of the element types */
    int64_t low, high;
    int count;        /**< of its elements, of one half */
    int row;          /**< of its rows; 0: packed */
    const char *turn; /**< the variable that says which half is read; NULL: there is one */
    bool is_defined;
    int access;      /**< in the phase that is being made */
    const node *own; /**< the own element's index in it */
} memory;

/** The argument that makes one access leave its array: a VALUE, which is 0 in right calls. */
typedef struct stray {
    int parameter;      /**< its number, or -1 */
    int value;          /**< where it is not 0 */
    const char *access; /**< how an error names it; NULL: it has not been made yet */
} stray;

typedef struct helper {
    const char *name;
    kind result;
    bool is_procedure; /**< changes the variable that it is passed first, and returns nothing */
    int arguments;
    kind argument[3];
} helper;

enum { MOST_VARIABLES = 256, MOST_PARAMETERS = 64, MOST_HELPERS = 4, MOST_MEMORIES = 4 };

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
    bool is_team; /**< META_TEAMS */
    int side[3];  /**< of its teams */
    memory memory[MOST_MEMORIES];
    int memories;
    const char *members, *team; /**< variables: how many members a team has, and its number */
    bool leader_writes;         /**< in this phase; other members leave EACH_TEAM arrays alone */
    bool in_helper;             /**< no arrays, no index */
    bool in_phase;
    bool may_return; /**< all OUT arrays, and in a phase all that it is to write, are written */
    stray stray;
    bool has_macro;   /**< DIFFERENCE<number> exists */
    int loops, trips; /**< loops around, and how often their bodies run */
    int names;
    uint64_t taken;  /**< of the list of awkward names, those in use */
    int accumulator; /**< the variable that others are combined with */
} scope;
extern scope here;
/** Floating-point sums are of any numbers: they will be added exactly. */
extern bool any_addends;

/** Between phases of a team: what is computed is the same for all members. */
static inline bool is_between_phases(void)
{
    return here.is_team && !here.in_phase && !here.in_helper;
}

/** There is a cell: its elements and its index may be used. */
static inline bool has_cell(void)
{
    return !here.in_helper && !is_between_phases();
}

family family_of(kind k);
/** How @p k is spelled in a form. */
const char *spelled(kind k);
/** Whether a kernel writes @p p or contributes to it. */
bool is_output(const parameter *p);
/** An array's element where the parameter's reach allows it, and in an oracle the cell's own. */
const node *element_within(const parameter *p);
const char *own_element(const parameter *p);
/** The kernel's access that may leave its array, if it is to be this one, else NULL; in an oracle
 * it is what own_element() is, and counted. */
const char *access_astray(const parameter *p);
/** A name that nothing has, and a new local variable. */
const char *new_name(void);
variable *declare(const char *name, kind type, int64_t low, int64_t high);

/** An expression of type @p k, of at most @p depth operations within each other. */
const node *any_expression(kind k, int depth);
/** The same, of an integer from -most to most, or of an unsigned one up to most; as a value of type
 * T if that is any number, likewise. Of floating types, any. */
const node *expression_within(kind k, int64_t most, int depth);
const node *any_condition(int depth);
/** An unsigned number of type @p k, of which an index is made. */
const node *index_number(kind k);
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
/** A statement of a whole team, between phases. */
const node *team_statement(void);
/** What came together in the accumulator ends in an array or a result. */
const node *accumulator_kept(void);

/** Whether @p p is a floating-point sum that each member of a team contributes to at most once. */
bool is_added_once(const parameter *p);
/** The body of a kernel of teams, whose memories are made by memories(). */
const node *body_of_teams(void);
void memories(void);
/** The declarations of its memories, as variables of an oracle. */
const node *memories_declared(void);
/** A word of teams, and the range of its values. */
const node *word_of_teams(int64_t *low, int64_t *high);
/** An element that may be read in this phase, and a statement that writes one, or NULL. */
const node *memory_read(const memory *m);
const node *memory_stored(void);
/** Whether an access of @p name is to be the one that may leave its array: by the argument's
 *  @p value. Errors call it @p word. */
bool strays(const char *word, const char *name, int value);

#endif
