/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_statements.c
 *  Random statements; see random_grammar.h. */
#include "random_grammar.h"

#include <string.h>

#include "random_table.h"

enum { MOST_TRIPS = 48 };

static bool is_bounded(kind k)
{
    return family_of(k) == SIGNED || family_of(k) == NUMBER;
}

/* What a variable of this type is assigned: of integers, what stays within the usual range. */
static const node *assigned_value(kind k, int depth)
{
    return is_bounded(k) ? expression_within(k, USUAL, depth) : any_expression(k, depth);
}

/* ------------------------------------------------------------------ variables */

/* Names that the back ends' own texts or libraries know: they are free to a kernel. */
static const char *const awkward[] = {
    "s",         "r",        "i",        "k",      "n",       "x",
    "y",         "row_",     "tree_",    "me_",    "half_",   "once_",
    "max",       "min",      "mix",      "dot",    "step",    "length",
    "fract",     "sign",     "index",    "gamma",  "y0",      "j1",
    "cross",     "clamp",    "result",   "space",  "rows",    "scratch",
    "word0",     "operand0", "partials", "share_", "thread_", "columns_from_",
    "rows_end_", "value",    "at_",      "base",   "stride",  "extent",
    "start",     "number",   "teams",    "cell",   "shared",  "note",
    "count"};

const char *new_name(void)
{
    enum { AWKWARD = sizeof awkward / sizeof *awkward };
    const int64_t which = between(0, 4 * AWKWARD);
    if (which < AWKWARD && !(here.taken >> which & 1)) {
        here.taken |= UINT64_C(1) << which;
        return awkward[which];
    }
    return text("%c%d", "abuvw"[between(0, 4)], here.names++);
}

variable *declare(const char *name, kind type, int64_t low, int64_t high)
{
    variable *v = &here.variable[here.variables++];
    *v = (variable){.name = name, .type = type, .low = low, .high = high};
    return v;
}

static variable *declare_usual(const char *name, kind type)
{
    if (family_of(type) == UNSIGNED) return declare(name, type, 0, ANYTHING);
    return declare(name, type, -USUAL, USUAL);
}

static const node *declaration(void)
{
    const char *name = new_name();
    const kind k = any_kind();
    const bool is_mutable = once_in(2);
    const node *value = assigned_value(k, 3);
    variable *v = declare_usual(name, k);
    v->is_mutable = is_mutable;
    return same(text("%s%s %s = $0;\n", is_mutable ? "" : "const ", spelled(k), name), value, NULL);
}

static const node *local_array(void)
{
    const char *name = new_name(), *counter = text("n%d", here.names++);
    const kind k = any_kind();
    const int length = (int)between(2, 5), outer = here.variables;
    variable *loop = declare(counter, I32, 0, length - 1);
    loop->is_loop = true;
    here.trips *= length;
    const node *value = assigned_value(k, 2);
    here.trips /= length;
    here.variables = outer;
    variable *v = declare_usual(name, k);
    v->length = length;
    return same(text("%s %s[%d];\nfor (int %s = 0; %s < %d; ++%s) {\n%s[%s] = $0;\n}\n", spelled(k),
                     name, length, counter, counter, length, counter, name, counter),
                value, NULL);
}

/* A value for @p v that is not the variable itself, of which clang warns. */
static const node *other_value(const variable *v)
{
    const node *value = assigned_value(v->type, 3);
    return is_same(value, same(v->name, NULL)) ? same("(-$0)", value, NULL) : value;
}

static const node *assignment_to(const variable *v)
{
    static const char operators[] = "=+-*^|&";
    const bool is_floating = family_of(v->type) == FLOATING;
    const char operator= is_bounded(v->type) ? '=' : operators[between(0, is_floating ? 3 : 6)];
    if (operator== '=') return same(text("%s = $0;\n", v->name), other_value(v), NULL);
    if (operator== '^' && once_in(2))
        return same(text("%s %s= %d;\n", v->name, once_in(2) ? "<<" : ">>", (int)between(1, 9)),
                    NULL);
    return same(text("%s %c= $0;\n", v->name, operator), other_value(v), NULL);
}

static const node *assignment(void)
{
    int count = 0;
    for (int k = 0; k < here.variables; ++k) count += here.variable[k].is_mutable;
    if (count == 0) return declaration();
    int64_t which = between(1, count);
    for (int k = 0; k < here.variables; ++k)
        if (here.variable[k].is_mutable && --which == 0) return assignment_to(&here.variable[k]);
    return NULL;
}

/* A helper that changes a variable through its address. */
static const node *procedure_call(void)
{
    for (int n = 0; n < here.helpers; ++n) {
        const helper *h = &here.helper[n];
        if (!h->is_procedure) continue;
        for (int k = 0; k < here.variables; ++k) {
            const variable *v = &here.variable[k];
            if (!v->is_mutable || v->type != h->result || *v->name == '(') continue;
            return differ(text("FN(%s)(&%s, $0);\n", h->name, v->name),
                          text("%s_$S(&%s, $0);\n", h->name, v->name),
                          expression_within(h->argument[0], USUAL, 2), NULL);
        }
    }
    return assignment();
}

const node *accumulator_declared(void)
{
    const node *first = assigned_value(T, 1);
    here.accumulator = here.variables;
    variable *v = declare_usual(text("sum%d", here.names++), T);
    v->is_mutable = true;
    return same(text("$T %s = $0;\n", v->name), first, NULL);
}

const node *all_used(int first)
{
    const node *all = NULL;
    const char *sum = here.variable[here.accumulator].name;
    for (int k = first; k < here.variables; ++k) {
        const variable *v = &here.variable[k];
        if (v->is_loop || k == here.accumulator || *v->name == '(') continue;
        const char *value = text("%s%s", v->name, v->length ? "[0]" : "");
        if (here.own == FLOATING) value = text("%s -= ($T)%s;\n", sum, value);
        else if (here.own != UNSIGNED)
            value = text("%s = %s > 900 ? ($T)-7 : %s + ($T)(%s > 0);\n", sum, sum, sum, value);
        else if (family_of(v->type) == FLOATING) value = text("%s += ($T)(%s > 0);\n", sum, value);
        else value = text("%s += ($T)%s;\n", sum, value);
        all = follow(all, same(value, NULL));
    }
    return all;
}

/* ------------------------------------------------------------------ arrays and results */

static const char *cell_of(const parameter *p)
{
    static const char *const words[] = {"AT1(%s, 0)", "AT2(%s, 0, 0)", "AT(%s, 0, 0, 0)",
                                        "AT4(%s, 0, 0, 0, 0)"};
    return text(words[here.dims - 1], p->name);
}

static const node *stored(const parameter *p)
{
    const char *cell = cell_of(p);
    const node *value;
    const char *operator= "";
    if (is_bounded(p->type)) {
        value = expression_within(p->type, p->kind == INOUT ? p->high : INT32_MAX / 2, 3);
        if (p->kind == INOUT && family_of(p->type) == NUMBER)
            value = expression_within(p->type, p->high, 2);
    } else {
        value = any_expression(p->type, 3);
        if (p->kind == INOUT && once_in(2)) operator= once_in(2) ? "+" : "*";
    }
    const char *astray = access_astray(p), *own = own_element(p);
    if (astray)
        return differ(text("%s %s= $0;\n", astray, operator),
                      text("random_strays += %s != 0;\n%s %s= $0;\n",
                           here.parameter[here.stray.parameter].name, own, operator),
                      value, NULL);
    return differ(text("%s %s= $0;\n", cell, operator), text("%s %s= $0;\n", own, operator), value,
                  NULL);
}

/* Whole numbers are added to floating ones, so few that their sums are exact in any order. */
static const node *added(const parameter *p)
{
    const node *value;
    switch (family_of(p->type)) {
    case SIGNED:
        value = expression_within(p->type, USUAL, 2);
        break;
    case UNSIGNED:
        value = any_expression(p->type, 2);
        break;
    default:
        value = same(text("((%s)$0)", spelled(p->type)),
                     expression_within(I32, here.trips > 4 ? 1 : 3, 2), NULL);
    }
    const char *type = p->type == T ? "$T" : spelling[p->type];
    const char *sum = text("sum_of_%s", p->type == T ? "$S" : suffix[p->type]);
    const char *astray = access_astray(p);
    const node *element = astray ? differ(astray, own_element(p), NULL) : element_within(p);
    const char *counted =
        astray ? text("random_strays += %s != 0;\n", here.parameter[here.stray.parameter].name)
               : "";
    return differ("ADD_TO($0, $1);\n",
                  text("%s$0 = (%s)((%s)$0 + (%s)$1);\n", counted, type, sum, sum), element, value,
                  NULL);
}

const node *written(parameter *p)
{
    const node *all;
    if (p->kind != OUT || !once_in(3)) {
        all = stored(p);
    } else {
        const int outer = here.variables;
        const node *condition = any_condition(2);
        const node *first = once_in(2) ? any_statements(1, 1) : NULL;
        first = follow(first, follow(stored(p), all_used(outer)));
        here.variables = outer;
        all = same("if $0 {\n$1} else {\n$2}\n", condition, first, stored(p), NULL);
    }
    p->is_written = true;
    return all;
}

/* Sums of floating numbers that are added in any order are of quarters, so that they are exact. */
const node *contributed(parameter *p)
{
    const node *value;
    p->is_written = true;
    if (p->kind != SUM) {
        value = is_bounded(p->type) ? expression_within(p->type, INT32_MAX / 2, 2)
                                    : any_expression(p->type, 2);
        const char *name = p->name;
        const char *nan =
            family_of(p->type) == FLOATING || here.own == NUMBER ? "v_ != v_ || " : "";
        const bool is_min = p->kind == MIN || p->kind == MIN_AT, is_place = p->kind >= MIN_AT;
        const char *to = is_place ? text("%s->value", name) : text("*%s", name);
        return differ(text("%s(%s, $0);\n", is_min ? "LOWER" : "RAISE", name),
                      text("{\nconst %s v_ = $0;\nif (%sv_ %c %s) %s = v_;\n%s}\n",
                           spelled(p->type), nan, is_min ? '<' : '>', to, to,
                           is_place ? text("%s->has = 1;\n", name) : ""),
                      value, NULL);
    }
    if (family_of(p->type) == FLOATING && any_addends) {
        value = any_expression(p->type, 2);
    } else if (family_of(p->type) == FLOATING) {
        const node *count = once_in(2)
                                ? expression_within(I32, USUAL, 2)
                                : differ("FN(whole)($0, 1000)", "whole($0, 1000)",
                                         any_expression(T == p->type ? F64 : p->type, 2), NULL);
        value = same(once_in(2) ? text("((%s)$0 * (%s)0.25)", spelled(p->type), spelled(p->type))
                                : "$0",
                     count, NULL);
    } else {
        const kind of = once_in(3) ? I32 : family_of(p->type) == NUMBER ? I32 : p->type;
        value = is_bounded(of) ? expression_within(of, USUAL, 2) : any_expression(of, 2);
    }
    const char *type = text("sum_of_%s", p->type == T ? "$S" : suffix[p->type]);
    if (is_added_once(p))
        return differ(text("ADD(%s, $0);\n", p->name),
                      text("{\nconst %s v_ = (%s)$0;\nif (random_take) random_take(%d, v_);\n"
                           "else *%s += v_;\n}\n",
                           type, type, (int)(p - here.parameter), p->name),
                      value, NULL);
    return differ(text("ADD(%s, $0);\n", p->name), text("*%s += (%s)$0;\n", p->name, type), value,
                  NULL);
}

const node *accumulator_kept(void)
{
    const char *sum = here.variable[here.accumulator].name;
    for (int k = 0; k < here.parameters; ++k) {
        parameter *p = &here.parameter[k];
        if (!is_output(p) || p->kind == EACH_TEAM || is_added_once(p)) continue;
        if (p->kind >= SUM) return same(text("if (%s > 0) {\n$0}\n", sum), contributed(p), NULL);
        const int64_t most = p->kind == INOUT ? p->high : INT32_MAX / 2;
        const bool may_be_any = !is_bounded(p->type);
        const node *last =
            may_be_any ? any_expression(p->type, 1) : expression_within(p->type, most, 1);
        if (p->type == T && may_be_any) last = same(text("($0 + %s)", sum), last, NULL);
        return differ(text("if (%s != 0) %s = $0;\n", sum, cell_of(p)),
                      text("if (%s != 0) %s = $0;\n", sum, own_element(p)), last, NULL);
    }
    return same(text("(void)%s;\n", sum), NULL);
}

/* ------------------------------------------------------------------ control */

static const node *inner(int count, int depth)
{
    const int outer = here.variables;
    const node *all = any_statements(count, depth);
    all = follow(all, all_used(outer));
    here.variables = outer;
    return all;
}

static const node *branch(int depth)
{
    const node *condition = any_condition(2), *first = inner((int)between(1, 2), depth - 1);
    switch (between(0, 2)) {
    case 0:
        return same("if $0 {\n$1}\n", condition, first, NULL);
    case 1:
        return same("if $0 {\n$1} else {\n$2}\n", condition, first, inner(1, depth - 1), NULL);
    default:
        return same("if $0 {\n$1} else if $2 {\n$3}\n", condition, first, any_condition(1),
                    inner(1, depth - 1), NULL);
    }
}

static const node *choice(int depth)
{
    const int cases = (int)between(1, 3);
    const char *of = text(
        "switch ((int)($0 %% %du)) {\ncase 0: {\n$1break;\n}\n%s%sdefault: {\n$4break;\n}\n}\n",
        cases + 1, cases > 1 ? "case 1: {\n$2break;\n}\n" : "",
        cases > 2 ? "case 2: {\n$3break;\n}\n" : "");
    return same(of, any_expression(U32, 2), inner(1, depth - 1),
                cases > 1 ? inner(1, depth - 1) : same("", NULL),
                cases > 2 ? inner(1, depth - 1) : same("", NULL), inner(1, depth - 1), NULL);
}

/* The body of a loop, which may be left early. */
static const node *body(int depth, int trips)
{
    ++here.loops;
    here.trips *= trips;
    const node *all = inner((int)between(1, 2), depth - 1);
    if (once_in(3))
        all = follow(
            all, same(once_in(2) ? "if $0 break;\n" : "if $0 continue;\n", any_condition(1), NULL));
    if (once_in(3)) all = follow(all, inner(1, depth - 1));
    here.trips /= trips;
    --here.loops;
    return all;
}

static const node *loop(int depth)
{
    const char *name = text("n%d", here.names++);
    const int outer = here.variables, first = -(int)between(0, 2),
              last = first + (int)between(1, 4);
    const int trips = last - first + 1;
    const node *all;
    if (here.trips * trips > MOST_TRIPS) return assignment();
    switch (between(0, 4)) {
    case 0:
        all = same(text("int %s = %d;\nwhile (%s-- > 0) {\n$0}\n", name, trips, name),
                   body(depth, trips), NULL);
        break;
    case 1:
        all = same(text("int %s = %d;\ndo {\n$0} while (--%s > 0);\n", name, trips, name),
                   body(depth, trips), NULL);
        break;
    default:
        declare(name, I32, first, last)->is_loop = true;
        all =
            same(text("for (int %s = %d; %s <= %d; ++%s) {\n$0}\n", name, first, name, last, name),
                 body(depth, trips), NULL);
    }
    here.variables = outer;
    return all;
}

/* What only a kernel's body can do. */
static const node *effect(void)
{
    const node *all = here.is_team && once_in(2) ? memory_stored() : NULL;
    if (all) return all;
    for (int tries = 0; tries < 8; ++tries) {
        parameter *p = &here.parameter[between(0, here.parameters - 1)];
        if (is_added_once(p)) continue;
        if (p->kind == ADD) return added(p);
        if (p->kind >= SUM) return contributed(p);
        if (p->kind == INOUT || (p->kind == OUT && p->is_written)) return stored(p);
    }
    return assignment();
}

static const node *statement(int depth)
{
    switch (between(0, depth > 0 ? 13 : 7)) {
    case 0:
    case 1:
        return declaration();
    case 2:
    case 3:
        return assignment();
    case 4:
        return procedure_call();
    case 5:
        if (once_in(3)) return local_array();
        return assignment();
    case 6:
    case 7:
        return has_cell() ? effect() : assignment();
    case 8:
    case 9:
    case 10:
        return branch(depth);
    case 11:
    case 12:
        return loop(depth);
    default:
        if (here.may_return && (!here.in_phase || here.loops == 0) && once_in(2))
            return same(here.in_phase ? "if $0 continue;\n" : "if $0 return;\n", any_condition(2),
                        NULL);
        return choice(depth);
    }
}

const node *team_statement(void)
{
    switch (between(0, 6)) {
    case 0:
        return procedure_call();
    case 1:
        return local_array();
    case 2:
    case 3:
        return assignment();
    default:
        return declaration();
    }
}

bool is_added_once(const parameter *p)
{
    return here.is_team && any_addends && p->kind == SUM && family_of(p->type) == FLOATING;
}

bool strays(const char *word, const char *name, int value)
{
    if (here.stray.parameter < 0 || here.stray.access) return false;
    here.stray.value = value;
    here.stray.access = text("%s() of '%s'", word, name);
    return true;
}

const node *any_statements(int count, int depth)
{
    const node *all = NULL;
    while (count-- > 0) all = follow(all, statement(depth));
    return all;
}
