/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_expressions.c
 *  Random expressions; see random_grammar.h. */
#include "random_grammar.h"

#include <string.h>

#include "random_table.h"

enum { LONGEST_INDEX = 2 };

scope here;
bool any_addends;

/* An expression, and the range of its values if it is an integer; high is ANYTHING where an
 * unsigned one may have wrapped. */
typedef struct expr {
    const node *n;
    kind type;
    int64_t low, high;
    bool is_constant;
} expr;

static expr any(kind k, int depth);

family family_of(kind k)
{
    return k == T ? here.own : k <= F32 ? FLOATING : k == I64 || k == I32 ? SIGNED : UNSIGNED;
}

bool is_output(const parameter *p)
{
    return p->kind < IN || p->kind >= SUM;
}

const char *spelled(kind k)
{
    return k == T ? "$T" : spelling[k];
}

/* The largest value of every type that @p k may be; of numbers, the largest that is exact in all.
 */
static int64_t limit_of(kind k)
{
    switch (family_of(k)) {
    case SIGNED:
        return k == I64 ? INT64_C(1) << 62 : INT32_MAX;
    case UNSIGNED:
        return k == U64 ? INT64_MAX - 1 : UINT32_MAX;
    default:
        return 1 << 24;
    }
}

static bool fits(kind k, int64_t low, int64_t high)
{
    return high <= limit_of(k) && low >= (family_of(k) == UNSIGNED ? 0 : -limit_of(k));
}

static expr expr_of(const node *n, kind type, int64_t low, int64_t high)
{
    return (expr){n, type, low, high, false};
}

/* ------------------------------------------------------------------ constants */

static expr constant(kind k)
{
    static const char *const fractions[] = {"0.1",   "0.25", "1.5",  "3.0",
                                            "0.333", "1e-3", "17.0", "2.0"};
    expr e = {.type = k, .is_constant = true};
    const char *fraction = fractions[between(0, 7)];
    int64_t n = between(-20, 20);
    switch (family_of(k)) {
    case FLOATING:
        e.n = k == F32 ? same(text("%sf", fraction), NULL)
              : k == T ? same(text("($T)%s", fraction), NULL)
                       : same(fraction, NULL);
        return e;
    case UNSIGNED:
        n = once_in(6) ? between(1, UINT32_MAX) : between(1, 40);
        e.n = same(k == U32 ? text("%uu", (unsigned)n) : text("(%s)%uu", spelled(k), (unsigned)n),
                   NULL);
        break;
    case SIGNED:
        if (k == I64 && once_in(4)) n = between(-5000000000, 5000000000);
        /* fall through */
    default:
        if (n == 0) n = 3;
        e.n = same(k != I32 ? text("((%s)%lld)", spelled(k), (long long)n)
                   : n < 0  ? text("(%d)", (int)n)
                            : text("%d", (int)n),
                   NULL);
    }
    e.low = e.high = n;
    return e;
}

/* ------------------------------------------------------------------ conversions */

/* A number is clamped: the operator % is not for all that it may be. */
static expr clamped(expr e, int64_t most)
{
    return expr_of(differ(text("FN(within)($0, %d)", (int)most),
                          text("within_$S($0, %d)", (int)most), e.n, NULL),
                   e.type, -most, most);
}

/* The same or another value, from -most, or 0, to most. */
static expr shrunk(expr e, int64_t most)
{
    const int64_t low = family_of(e.type) == UNSIGNED || e.low >= 0 ? 0 : -most;
    if (family_of(e.type) == FLOATING || (e.low >= -most && e.high <= most)) return e;
    if (family_of(e.type) == NUMBER) return clamped(e, most);
    return expr_of(
        same(text("($0 %% %lld%s)", (long long)most + 1, family_of(e.type) == UNSIGNED ? "u" : ""),
             e.n, NULL),
        e.type, low, most);
}

/* A floating number as an integer, NaN too. */
static expr whole(expr e, int64_t most)
{
    return expr_of(
        differ(text("FN(whole)($0, %d)", (int)most), text("whole($0, %d)", (int)most), e.n, NULL),
        I32, -most, most);
}

static expr converted_to(expr e, kind k)
{
    const family from = family_of(e.type), to = family_of(k);
    const char *form = text("((%s)$0)", spelled(k));
    if (e.type == k) return e;
    if (to == FLOATING) return expr_of(same(form, e.n, NULL), k, 0, 0);
    if (from == FLOATING) return converted_to(whole(e, USUAL), k);
    if (from == NUMBER) /* in floating types it may be a fraction, or have been rounded */
        return converted_to(expr_of(same("((int32_t)$0)", e.n, NULL), I32, e.low - 2, e.high + 2),
                            k);
    if (to == UNSIGNED)
        return e.low >= 0 && fits(k, e.low, e.high)
                   ? expr_of(same(form, e.n, NULL), k, e.low, e.high)
                   : expr_of(same(form, e.n, NULL), k, 0, ANYTHING);
    if (!fits(k, e.low, e.high)) e = shrunk(e, USUAL);
    return expr_of(same(form, e.n, NULL), k, e.low, e.high);
}

static expr converted(expr e, kind k)
{
    expr to = converted_to(e, k);
    to.is_constant = e.is_constant;
    return to;
}

/* ------------------------------------------------------------------ reads */

/* An unsigned number for an index. Within an index within an index it is a constant: the
 * expressions would have no end. */
const node *index_number(kind k)
{
    static int depth;
    if (depth >= LONGEST_INDEX) return constant(k).n;
    ++depth;
    const node *n = any(k, 1).n;
    --depth;
    return n;
}

static expr index_along(int d)
{
    return expr_of(differ(text("INDEX(%d)", d), text("c[%d]", d), NULL), I64, 0, 1 << 15);
}

static expr element_of(const variable *v)
{
    if (v->length == 0) return expr_of(same(v->name, NULL), v->type, v->low, v->high);
    const node *at = NULL;
    for (int k = here.variables - 1; k >= 0 && !at; --k) {
        const variable *i = &here.variable[k];
        if (i->is_loop && i->low >= 0 && i->high < v->length && !once_in(3)) {
            at = same(i->name, NULL);
        }
    }
    if (!at && once_in(2)) at = same(text("($0 %% %du)", v->length), index_number(U32), NULL);
    if (!at) at = same(text("%d", (int)between(0, v->length - 1)), NULL);
    return expr_of(same(text("%s[$0]", v->name), at, NULL), v->type, v->low, v->high);
}

static const node *offset_along(int before, int behind, bool *is_zero)
{
    *is_zero = false;
    for (int k = here.variables - 1; k >= 0; --k) {
        const variable *v = &here.variable[k];
        if (v->is_loop && v->low >= -before && v->high <= behind && !once_in(3)) {
            return same(v->name, NULL);
        }
    }
    /* The cell's index, since g++ takes x ^ x for a constant, and then wants x to be one. */
    if (has_cell() && before + behind > 0 && once_in(8))
        return same(text("((int)(($0 + (unsigned)$1) %% %du) - %d)", before + behind + 1, before),
                    index_number(U32), index_along((int)between(0, here.dims - 1)).n, NULL);
    const int n = (int)between(-before, behind);
    *is_zero = n == 0;
    return same(text(n < 0 ? "(%d)" : "%d", n), NULL);
}

static const node *index_within(int64_t length)
{
    const char *form = text("($0 %% %lldu)", (long long)length);
    if (has_cell() && once_in(3)) /* an array of indices, if there is one */
        for (int n = 0; n < here.parameters; ++n) {
            const parameter *p = &here.parameter[n];
            if (p->kind == IN && p->reach == CELL && p->low >= 0 && p->high < length &&
                p->type != T && family_of(p->type) == SIGNED)
                return differ(text("AT1(%s, 0)", p->name), own_element(p), NULL);
        }
    if (has_cell() && once_in(2))
        return same(text("(($0 + %d) %% %lld)", (int)between(0, 9), (long long)length),
                    index_along((int)between(0, here.dims - 1)).n, NULL);
    return same(form, index_number(once_in(2) ? U32 : U64), NULL);
}

const char *own_element(const parameter *p)
{
    if (p->reach == WHOLE) return text("%s[0]", p->name);
    if (!p->is_shaped) return text("%s[at]", p->name);
    return text("%s[random_at(box, c, %uu, (const int[]){%d, %d, %d}, 0, 0, 0, 0)]", p->name,
                p->dropped, p->grown[0], p->grown[1], p->grown[2]);
}

const char *access_astray(const parameter *p)
{
    const char *away[4] = {"0", "0", "0", "0"};
    const bool is_diagonal = p->reach == STAR && here.dims > 1 && !p->is_shaped && once_in(2);
    int d = (int)between(0, here.dims - 1);
    if (!once_in(3) || here.stray.parameter < 0) return NULL;
    const char *by = here.parameter[here.stray.parameter].name;
    if (p->reach == WHOLE)
        return strays("GET", p->name, once_in(2) ? -1 : INT32_MAX)
                   ? text("GET(%s, %s)", p->name, by)
                   : NULL;
    while (p->dropped >> d & 1) d = (d + 1) % here.dims;
    const int value = is_diagonal  ? 1
                      : once_in(2) ? p->behind[d] + (int)between(1, 3)
                                   : -p->before[d] - (int)between(1, 3);
    if (!strays("AT", p->name, value)) return NULL;
    away[d] = by;
    if (is_diagonal) away[(d + 1) % here.dims] = by;
    return text("AT4(%s, %s, %s, %s, %s)", p->name, away[0], away[1], away[2], away[3]);
}

const node *element_within(const parameter *p)
{
    static const char *const words[] = {"AT1(%s, $0)", "AT2(%s, $0, $1)", "AT(%s, $0, $1, $2)",
                                        "AT4(%s, $0, $1, $2, $3)"};
    const node *away[4];
    bool is_zero;
    int used = 1;
    if (p->reach == WHOLE)
        return differ(text("GET(%s, $0)", p->name), text("%s[$0]", p->name),
                      index_within(p->length), NULL);
    const int along = p->reach == STAR ? (int)between(0, here.dims - 1) : -1;
    for (int d = 0; d < 4; ++d) {
        const bool reaches = d < here.dims && (along < 0 || d == along);
        away[d] = reaches ? offset_along(p->before[d], p->behind[d], &is_zero) : same("0", NULL);
        if (reaches && !is_zero) used = d + 1;
    }
    const int word = once_in(5) ? (int)between(used, 4) : here.dims < used ? used : here.dims;
    return differ(
        text(words[word - 1], p->name),
        p->is_shaped ? text("%s[random_at(box, c, %uu, (const int[]){%d, %d, %d}, $0, $1, $2, $3)]",
                            p->name, p->dropped, p->grown[0], p->grown[1], p->grown[2])
                     : text("%s[at + $0 + $1 * s1 + $2 * s2 + $3 * s3]", p->name),
        away[0], away[1], away[2], away[3], NULL);
}

/* An array's element where and how it may be read. */
static expr read_of(const parameter *p)
{
    const char *astray = p->kind == IN ? access_astray(p) : NULL;
    const node *n;
    if (astray)
        n = differ(astray,
                   text("(random_strays += %s != 0, %s)", here.parameter[here.stray.parameter].name,
                        own_element(p)),
                   NULL);
    else if (p->kind == EACH_TEAM)
        n = differ(text("GET(%s, %s)", p->name, here.team), text("%s[%s]", p->name, here.team),
                   NULL);
    else n = element_within(p);
    return expr_of(n, p->type, p->low, p->high);
}

/* Whether an array may be read where the text is; between phases all members read the same
 * element. */
static bool is_read(const parameter *p)
{
    if (here.in_helper) return false;
    if (is_between_phases()) return p->kind == IN && p->reach == WHOLE;
    return p->kind == IN || p->kind == INOUT || (p->kind == EACH_TEAM && !here.leader_writes);
}

/* Something in scope that has this type. */
static bool named(kind k, expr *e)
{
    int count = 0, chosen;
    for (int n = 0; n < here.variables; ++n) count += here.variable[n].type == k;
    for (int n = 0; n < here.parameters; ++n)
        count += is_read(&here.parameter[n]) && here.parameter[n].type == k ? 3 : 0;
    for (int n = 0; n < here.memories && here.in_phase; ++n)
        count += here.memory[n].access != NOTHING && here.memory[n].type == k ? 5 : 0;
    if (count == 0) return false;
    chosen = (int)between(1, count);
    for (int n = 0; n < here.variables; ++n)
        if (here.variable[n].type == k && --chosen == 0)
            return *e = element_of(&here.variable[n]), true;
    for (int n = 0; n < here.parameters; ++n)
        if (is_read(&here.parameter[n]) && here.parameter[n].type == k && (chosen -= 3) <= 0)
            return *e = read_of(&here.parameter[n]), true;
    for (int n = 0; n < here.memories; ++n) {
        const memory *m = &here.memory[n];
        if (m->access != NOTHING && m->type == k && (chosen -= 5) <= 0)
            return *e = expr_of(memory_read(m), k, m->low, m->high), true;
    }
    return false;
}

kind any_kind(void)
{
    if (once_in(2)) return T;
    if (here.parameters > 0 && !once_in(4)) {
        const parameter *p = &here.parameter[between(0, here.parameters - 1)];
        if (!p->type_name) return p->type;
    }
    return (kind)between(F64, U32);
}

static expr leaf(kind k)
{
    expr e;
    const int64_t which = between(0, 11);
    if (which == 0) return constant(k);
    if (which == 1 && here.is_team && !here.in_helper && (!here.in_phase || once_in(2))) {
        e = expr_of(NULL, I64, 0, 0);
        e.n = word_of_teams(&e.low, &e.high);
        return converted(e, k);
    }
    if (which == 1 && has_cell()) return converted(index_along((int)between(0, 3)), k);
    if (which == 2 && named(any_kind(), &e)) return converted(e, k);
    if (named(k, &e)) return e;
    if (named(any_kind(), &e) || named(T, &e)) return converted(e, k);
    return constant(k);
}

/* ------------------------------------------------------------------ operations of all types */

static expr chosen(kind k, int depth)
{
    const expr a = any(k, depth - 1), b = any(k, depth - 1);
    return expr_of(same("($0 ? $1 : $2)", any_condition(depth - 1), a.n, b.n, NULL), k,
                   a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high);
}

/* The words' arguments are repeated in what they expand to, so they are short. */
static expr extreme(kind k)
{
    const expr a = leaf(k), b = leaf(k);
    const int64_t low = a.low < b.low ? a.low : b.low, high = a.high > b.high ? a.high : b.high;
    if (is_same(a.n, b.n) || (a.is_constant && b.is_constant))
        return a; /* compilers warn of comparing it with itself */
    return once_in(2) ? expr_of(differ("LEAST($0, $1)", "($0 < $1 ? $0 : $1)", a.n, b.n, NULL), k,
                                low, high)
                      : expr_of(differ("MOST($0, $1)", "($0 < $1 ? $1 : $0)", a.n, b.n, NULL), k,
                                low, high);
}

/* A call of a helper that returns this type, if there is one. */
static bool called(kind k, int depth, expr *e)
{
    for (int n = 0; n < here.helpers; ++n) {
        const helper *h = &here.helper[n];
        const node *a[3] = {NULL, NULL, NULL};
        if (h->is_procedure || h->result != k) continue;
        for (int m = 0; m < h->arguments; ++m)
            a[m] = expression_within(h->argument[m], USUAL, depth - 1);
        const char *rest = h->arguments == 1   ? "($0)"
                           : h->arguments == 2 ? "($0, $1)"
                                               : "($0, $1, $2)";
        const bool is_any = family_of(k) == UNSIGNED;
        *e = expr_of(differ(text("FN(%s)%s", h->name, rest), text("%s_$S%s", h->name, rest), a[0],
                            a[1], a[2], NULL),
                     k, is_any ? 0 : -USUAL, is_any ? ANYTHING : USUAL);
        return true;
    }
    return false;
}

static expr absolute(kind k, int depth)
{
    const expr a = depth > 2 ? any(k, 1) : leaf(k);
    const int64_t high = a.high > -a.low ? a.high : -a.low;
    if (k == T) /* what it is given becomes a T */
        return expr_of(
            differ("ABS($0)", "abs_$S($0)",
                   here.own == FLOATING && once_in(3) ? any((kind)between(F64, F32), 1).n : a.n,
                   NULL),
            k, 0, high);
    if (family_of(k) == FLOATING)
        return expr_of(same(text("(%s)fabs($0)", spelled(k)), a.n, NULL), k, 0, 0);
    return a;
}

/* ------------------------------------------------------------------ floating types */

static expr floating(kind k, int depth)
{
    static const char *const functions[] = {"floor", "ceil", "trunc", "rint", "round", "sqrt"};
    static const char operators[] = "+++--***/";
    const int64_t which = between(0, 15);
    expr e;
    switch (which) {
    case 0:
        return expr_of(same("(-$0)", any(k, depth - 1).n, NULL), k, 0, 0);
    case 1:
        return absolute(k, depth);
    case 2:
        if (k == T)
            return expr_of(differ("SQRT($0)", "sqrt_$S($0)",
                                  any(once_in(4) ? (kind)between(F64, F32) : k, depth - 1).n, NULL),
                           k, 0, 0);
        /* fall through */
    case 3:
        return expr_of(same(text("((%s)%s($0))", spelled(k), functions[between(0, 5)]),
                            any(k, depth - 1).n, NULL),
                       k, 0, 0);
    case 4:
        return extreme(k);
    case 5:
        return chosen(k, depth);
    case 6:
        if (called(k, depth, &e)) return e;
        break;
    case 7: /* of other types, converted as in C */
        return expr_of(same(text("((%s)($0 %c $1))", spelled(k), operators[between(0, 8)]),
                            any((kind)between(F64, F32), depth - 1).n, any(any_kind(), depth - 1).n,
                            NULL),
                       k, 0, 0);
    case 8:
        if (here.has_macro && k == T && has_cell())
            for (int n = 0; n < here.parameters; ++n) {
                const parameter *p = &here.parameter[n];
                if (p->kind == IN && p->type == T && p->reach != WHOLE && !p->is_shaped &&
                    p->before[0] && p->behind[0])
                    return expr_of(differ(text("DIFFERENCE%d(%s)", here.number, p->name),
                                          text("(%s[at + 1] - %s[at - 1])", p->name, p->name),
                                          NULL),
                                   k, 0, 0);
            }
        break;
    default:
        break;
    }
    return expr_of(same(text("($0 %c $1)", operators[between(0, 8)]), any(k, depth - 1).n,
                        any(k, depth - 1).n, NULL),
                   k, 0, 0);
}

/* ------------------------------------------------------------------ integers, and numbers */

static expr sum_of(kind k, expr a, expr b)
{
    const bool adds = once_in(2);
    const int64_t low = adds ? a.low + b.low : a.low - b.high;
    const int64_t high = adds ? a.high + b.high : a.high - b.low;
    return expr_of(same(adds ? "($0 + $1)" : "($0 - $1)", a.n, b.n, NULL), k, low, high);
}

static expr product_of(kind k, expr a, expr b)
{
    const int64_t p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    int64_t low = p[0], high = p[0];
    for (int n = 1; n < 4; ++n) {
        if (p[n] < low) low = p[n];
        if (p[n] > high) high = p[n];
    }
    return expr_of(same("($0 * $1)", a.n, b.n, NULL), k, low, high);
}

/* Also of whole numbers as floating ones. */
static expr counting(kind k, int depth)
{
    const bool is_number = family_of(k) == NUMBER;
    const int64_t most = limit_of(k);
    expr a, b, e;
    switch (between(0, is_number ? 7 : 13)) {
    case 0:
        a = any(k, depth - 1);
        return expr_of(same("(-$0)", a.n, NULL), k, -a.high, -a.low);
    case 1:
        return absolute(k, depth);
    case 2:
        return extreme(k);
    case 3:
        return chosen(k, depth);
    case 4:
        if (called(k, depth, &e)) return e;
        /* fall through */
    case 5:
        a = shrunk(any(k, depth - 1), is_number ? 4000 : 30000);
        b = shrunk(any(k, depth - 1), is_number ? 4000 : 30000);
        return product_of(k, a, b);
    case 8: {
        const int64_t by = between(2, 9);
        a = any(k, depth - 1);
        e = expr_of(same(text("($0 / %lld)", (long long)by), a.n, NULL), k, a.low / by,
                    a.high / by);
        return e;
    }
    case 9: /* by what is not zero */
        a = any(k, depth - 1);
        b = converted(shrunk(any(U32, 1), 6), k);
        return once_in(2)
                   ? expr_of(same("($0 / ($1 + 1))", a.n, b.n, NULL), k, a.low < 0 ? a.low : 0,
                             a.high > 0 ? a.high : 0)
                   : expr_of(same("($0 % ($1 + 1))", a.n, b.n, NULL), k, a.low < 0 ? -6 : 0, 6);
    case 10:
        a = shrunk(any(k, depth - 1), USUAL);
        return expr_of(same(text("($0 %% %d)", (int)between(2, 60)), a.n, NULL), k,
                       a.low < 0 ? -60 : 0, 60);
    case 11: /* bits of numbers that are not negative */
        a = converted(shrunk(any(U32, depth - 1), 1023), k);
        b = converted(shrunk(any(U32, depth - 1), 1023), k);
        return expr_of(same(text("($0 %c $1)", "&|^"[between(0, 2)]), a.n, b.n, NULL), k, 0, 1023);
    case 12: {
        const int by = (int)between(1, 9);
        a = converted(shrunk(any(U32, depth - 1), 1023), k);
        return once_in(2) ? expr_of(same(text("($0 << %d)", by), a.n, NULL), k, 0, 1023 << by)
                          : expr_of(same(text("($0 >> %d)", by), a.n, NULL), k, 0, 1023 >> by);
    }
    case 13:
        if (once_in(2)) {
            a = any(k, depth - 1);
            return expr_of(same("(~$0)", a.n, NULL), k, -a.high - 1, -a.low - 1);
        }
        return expr_of(same(text("($0 ? (%s)1 : (%s)0)", spelled(k), spelled(k)),
                            any_condition(depth - 1), NULL),
                       k, 0, 1);
    default:
        a = shrunk(any(k, depth - 1), most / 2 - 1);
        b = shrunk(any(k, depth - 1), most / 2 - 1);
        return sum_of(k, a, b);
    }
}

static expr unsigned_one(kind k, int depth)
{
    static const char operators[] = "++-**&|^";
    expr a = any(k, depth - 1), e;
    if (a.is_constant) return a; /* compilers warn of what they can compute */
    switch (between(0, 11)) {
    case 0:
        return extreme(k);
    case 1:
        return chosen(k, depth);
    case 2:
        if (called(k, depth, &e)) return e;
        break;
    case 3:
        return expr_of(same(once_in(2) ? "($0 / ($1 | 1u))" : "($0 % ($1 | 1u))", a.n,
                            any(k, depth - 1).n, NULL),
                       k, 0, a.high);
    case 4:
        return shrunk(a, between(2, 500));
    case 5:
        return expr_of(same(once_in(2) ? "(~$0)" : "(-$0)", a.n, NULL), k, 0, ANYTHING);
    case 6:
        return expr_of(
            same(text(once_in(2) ? "($0 << %d)" : "($0 >> %d)", (int)between(1, 31)), a.n, NULL), k,
            0, ANYTHING);
    case 7:
        return expr_of(same(once_in(2) ? "($0 << ($1 & 31u))" : "($0 >> ($1 & 31u))", a.n,
                            any(once_in(2) ? U32 : k, depth - 1).n, NULL),
                       k, 0, ANYTHING);
    case 8:
        return absolute(k, depth);
    default:
        break;
    }
    return expr_of(
        same(text("($0 %c $1)", operators[between(0, 7)]), a.n, any(k, depth - 1).n, NULL), k, 0,
        ANYTHING);
}

/* ------------------------------------------------------------------ of any type */

static expr any(kind k, int depth)
{
    const family f = family_of(k);
    expr e;
    if (depth <= 0 || once_in(6)) return leaf(k);
    e = f == FLOATING   ? floating(k, depth)
        : f == UNSIGNED ? unsigned_one(k, depth)
                        : counting(k, depth);
    if (f == SIGNED || f == NUMBER)
        if (!fits(k, e.low, e.high)) return leaf(k);
    return e;
}

const node *any_expression(kind k, int depth)
{
    return any(k, depth).n;
}

const node *expression_within(kind k, int64_t most, int depth)
{
    return shrunk(any(k, depth), most).n;
}

/* ------------------------------------------------------------------ conditions */

static const node *comparison(int depth)
{
    static const char *const operators[] = {"<", ">", "<=", ">=", "==", "!="};
    const kind k = any_kind();
    expr a = any(k, depth), b = once_in(3) ? constant(k) : any(k, depth);
    if (a.is_constant && b.is_constant) a = has_cell() ? leaf(k) : element_of(&here.variable[0]);
    if (a.type != k) a = converted(a, k);
    if (is_same(a.n, b.n)) b = constant(k);
    return same(text("($0 %s $1)", operators[between(0, 5)]), a.n, b.n, NULL);
}

const node *any_condition(int depth)
{
    switch (depth > 0 ? between(0, 9) : 9) {
    case 0:
        return same("($0 && $1)", any_condition(depth - 1), any_condition(depth - 1), NULL);
    case 1:
        return same("($0 || $1)", any_condition(depth - 1), any_condition(depth - 1), NULL);
    case 2:
        return same("(!$0)", any_condition(depth - 1), NULL);
    case 3:
        return same("(isnan($0) != 0)", any((kind)between(F64, F32), depth - 1).n, NULL);
    case 4:
        if (has_cell())
            return same(text("($0 %% %d == %d)", (int)between(2, 5), (int)between(0, 1)),
                        index_along((int)between(0, here.dims - 1)).n, NULL);
        /* fall through */
    default:
        return comparison(depth);
    }
}
