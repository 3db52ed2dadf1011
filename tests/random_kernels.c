/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_kernels.c
 *  Writes random kernels, and for each an oracle: plain serial loops with plain indexing, printed
 * from the same syntax tree, which knows none of the kernel language's macros.
 *
 *      random_kernels SEED FIRST COUNT FOLDER [any-addends]
 *
 *  writes kernels number FIRST … FIRST + COUNT - 1 of SEED to files of PER_FILE:
 *  FOLDER/random_<n>.kernel.h, the kernels; random_<n>.c, which includes it and calls them by their
 *  typed functions; oracle_<n>.c; and random_table.c, the table that random_run reads. A kernel
 * depends on SEED and its number alone, and on whether floating-point sums are of any addends, for
 * runs with reproducible sums. Prints how many files, and how many kernels there are, each counted
 * for each of its types. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random_grammar.h"
#include "random_table.h"

enum { PER_FILE = 8, MOST_MEMBERS = 6 };

/* ------------------------------------------------------------------ types of a file */

typedef struct type_set {
    family own;
    int count;
    kind type[4];
} type_set;
static const type_set sets[] = {
    {FLOATING, 1, {F64}},      {FLOATING, 1, {F32}},    {FLOATING, 2, {F64, F32}},
    {FLOATING, 2, {F64, F32}}, {SIGNED, 1, {I32}},      {SIGNED, 1, {I64}},
    {UNSIGNED, 1, {U32}},      {UNSIGNED, 1, {U64}},    {SIGNED, 2, {I64, I32}},
    {UNSIGNED, 2, {U64, U32}}, {NUMBER, 2, {F32, I32}}, {NUMBER, 3, {F64, F32, I64}}};
static type_set set;

/* ------------------------------------------------------------------ what a kernel is made of */

typedef struct made_kernel {
    int number;
    const node *ahead; /* structures and macros */
    const node *oracle_ahead;
    const node *helpers, *body, *memories;
    scope in; /* its parameters */
} made_kernel;

static made_kernel kernels[PER_FILE];

/* ------------------------------------------------------------------ parameters */

static void set_range(parameter *p)
{
    static const int64_t most[] = {9, 100, 1000, 60000, 1 << 22};
    const family f = family_of(p->type);
    p->low = p->high = 0;
    p->fill = RANDOM_ANY;
    if (p->kind == ADD && (f == FLOATING || f == NUMBER)) {
        p->fill = RANDOM_WHOLE;
        p->low = -100;
        p->high = 100;
    }
    if (p->kind == ADD) return;
    if (f == FLOATING) {
        p->fill = (int)between(RANDOM_QUARTERS, RANDOM_WILD);
        p->low = -200;
        p->high = 200;
        return;
    }
    p->fill = RANDOM_WHOLE;
    if (f == UNSIGNED && (p->kind == INOUT || p->kind == EACH_TEAM || once_in(2))) {
        p->fill = RANDOM_ANY;
        p->high = ANYTHING;
        return;
    }
    p->high = p->kind == EACH_TEAM ? USUAL : most[between(0, f == NUMBER ? 3 : 4)];
    p->low = once_in(4) || f == UNSIGNED ? 0 : -p->high;
    if (p->kind == INOUT || p->kind == EACH_TEAM) p->low = -p->high;
}

static void set_reach(parameter *p)
{
    p->reach = p->kind != IN && p->kind != ADD ? CELL : (int)between(CELL, WHOLE);
    if (p->reach == SIDES && here.dims == 4) p->reach = BOX;
    const int r = (int)between(1, 3);
    for (int d = 0; d < 4; ++d) {
        p->before[d] = p->behind[d] = p->reach == STAR || p->reach == BOX ? r : 0;
        if (p->reach == SIDES && d < here.dims)
            p->before[d] = (int)between(0, 3), p->behind[d] = (int)between(0, 3);
    }
    if (p->reach == WHOLE) p->length = between(1, 70);
}

/* A line, a plane or a staggered array. */
static void set_shape(parameter *p)
{
    const int d = (int)between(0, here.dims - 1);
    if (p->reach == WHOLE || p->kind == EACH_TEAM || !once_in(4)) return;
    p->is_shaped = true;
    p->is_brief = once_in(2);
    if (p->kind >= IN && once_in(2)) p->dropped = ~(1u << d) & ((1u << RANDOM_DIMS) - 1);
    else if (p->kind >= IN && here.dims > 1 && once_in(2)) p->dropped = 1u << d;
    for (int e = 0; e < 3 && e < here.dims; ++e)
        if (!(p->dropped >> e & 1) && once_in(2)) p->grown[e] = (int)between(0, 2);
}

static const char *number_of(kind k, int64_t low, int64_t high)
{
    switch (family_of(k)) {
    case FLOATING:
        return text("%d.%d", (int)between(-40, 40), (int)between(0, 99));
    case UNSIGNED:
        return text("%uu", (unsigned)between(low, high));
    default:
        return text("%d", (int)between(low, high));
    }
}

/* A structure of its own, with members of every type, also small ones and arrays. */
static const node *structure(parameter *p)
{
    static const char *const small[] = {"int8_t", "uint8_t", "int16_t", "uint16_t"};
    static const int64_t lowest[] = {-128, 0, -30000, 0}, highest[] = {127, 255, 30000, 65535};
    const char *name = text("shape%d_%d", here.number, here.names++), *values = "", *members = "";
    for (int k = (int)between(1, MOST_MEMBERS); k > 0; --k) {
        const char *member = text("m%d", k), *path = text("%s.%s", p->name, member);
        if (once_in(3)) {
            const int64_t which = between(0, 3);
            declare(path, I32, lowest[which], highest[which]);
            members = text("%s%s %s;\n", members, small[which], member);
            values = text("%s%s%s", values, *values ? ", " : "",
                          number_of(I32, lowest[which], highest[which]));
            continue;
        }
        const kind of = (kind)between(F64, U32);
        const int64_t low = family_of(of) == UNSIGNED ? 0 : -500;
        variable *v = declare(path, of, low, 500);
        if (k <= 2 && once_in(3)) {
            v->length = 2;
            members = text("%s%s %s[2];\n", members, spelling[of], member);
            values = text("%s%s{%s, %s}", values, *values ? ", " : "", number_of(of, low, 500),
                          number_of(of, low, 500));
        } else {
            members = text("%s%s %s;\n", members, spelling[of], member);
            values = text("%s%s%s", values, *values ? ", " : "", number_of(of, low, 500));
        }
    }
    p->type_name = name;
    p->value = text("{%s}", values);
    return differ(text("#ifndef SEEN_%s\n#define SEEN_%s\ntypedef struct %s {\n%s} %s;\n#endif\n",
                       name, name, name, members, name),
                  text("typedef struct %s {\n%s} %s;\n", name, members, name), NULL);
}

static const node *value_parameter(parameter *p)
{
    static const char *const small[] = {"int8_t", "uint8_t", "int16_t", "uint16_t"};
    if (once_in(3)) return structure(p);
    if (once_in(4)) {
        const int64_t which = between(0, 3), low = which % 2 ? 0 : -100;
        p->type_name = small[which];
        p->type = I32;
        p->value = number_of(I32, low, 100);
        declare(p->name, I32, low, 100);
        return NULL;
    }
    p->type = any_kind();
    const int64_t low = family_of(p->type) == UNSIGNED ? 0 : -500;
    p->value = number_of(p->type, low, 500);
    declare(p->name, p->type, low, 500);
    return NULL;
}

/* How many parameters of each kind; now and then as many arrays as there may be. */
static void count_parameters(int count[MAX_AT + 1])
{
    const bool is_crowd = once_in(40);
    count[OUT] = (int)between(0, is_crowd ? 4 : 2);
    count[INOUT] = (int)between(0, is_crowd ? 4 : 1);
    count[EACH_TEAM] = here.is_team && once_in(3);
    count[ADD] = once_in(3);
    count[SCALAR] = once_in(3) ? (int)between(1, 2) : 0;
    count[IN] = is_crowd
                    ? 32 - count[OUT] - count[INOUT] - count[EACH_TEAM] - count[ADD] - count[SCALAR]
                    : (int)between(0, 4);
    count[VALUE] = (int)between(0, is_crowd ? 8 : 3);
    for (int k = SUM; k <= MAX_AT; ++k) count[k] = once_in(2) ? (int)between(1, 2) : 0;
    if (count[OUT] + count[INOUT] + count[IN] == 0) count[OUT] = 1;
    if (count[OUT] + count[INOUT] + count[SUM] + count[MIN] + count[MAX] + count[MIN_AT] +
            count[MAX_AT] ==
        0)
        ++count[once_in(2) ? OUT : SUM];
}

/* What kernels cannot have while sums are reproducible. */
static bool is_refused(const parameter *p)
{
    const family f = family_of(p->type);
    return any_addends && (f == FLOATING || f == NUMBER) && p->kind == ADD;
}

/* Without it, every access is right. */
static void stray_parameter(void)
{
    here.stray.parameter = here.parameters;
    here.parameter[here.parameters++] = (parameter){
        .name = new_name(), .kind = VALUE, .type = I32, .type_name = "int32_t", .value = "0"};
}

static const node *parameters(void)
{
    int count[MAX_AT + 1], left = 0;
    const node *ahead = NULL;
    count_parameters(count);
    for (int k = OUT; k <= MAX_AT; ++k) left += count[k];
    here.stray.parameter = -1;
    if (once_in(2)) stray_parameter();
    while (left > 0) {
        const int k = (int)between(OUT, MAX_AT);
        if (count[k] == 0) continue;
        --count[k];
        --left;
        parameter *p = &here.parameter[here.parameters];
        *p = (parameter){.name = new_name(), .kind = k};
        if (k == VALUE) {
            ahead = follow(ahead, value_parameter(p));
        } else {
            p->type = once_in(2) ? T : (kind)between(F64, U32);
            if (is_refused(p)) p->type = I64;
            set_range(p);
            set_reach(p);
            if (k <= ADD) set_shape(p);
            if (k == SCALAR) {
                p->length = 1;
                declare(p->name, p->type, p->low, p->high);
            }
            if (p->reach == CELL && k == IN && !here.parameters && once_in(2)) { /* an index */
                p->type = I32;
                p->fill = RANDOM_WHOLE;
                p->low = 0;
                p->high = 5;
            }
        }
        ++here.parameters;
    }
    return ahead;
}

/* ------------------------------------------------------------------ helpers */

static const node *helper_function(void)
{
    helper *h = &here.helper[here.helpers];
    scope *kept = malloc(sizeof *kept);
    if (!kept) exit(2);
    *kept = here;
    *h = (helper){.name = text("h%d_%d", here.number, here.helpers),
                  .result = any_kind(),
                  .is_procedure = once_in(4),
                  .arguments = (int)between(1, 3)};
    for (int k = 0; k < 3; ++k) h->argument[k] = any_kind();
    if (h->is_procedure) h->arguments = 1;
    const helper made = *h;
    here.in_helper = true;
    here.variables = 0;
    const char *list = made.is_procedure ? text("%s *to", spelled(made.result)) : "";
    if (made.is_procedure) {
        variable *v = declare("(*to)", made.result, -USUAL,
                              family_of(made.result) == UNSIGNED ? ANYTHING : USUAL);
        if (family_of(made.result) == UNSIGNED) v->low = 0;
        v->is_mutable = true;
    }
    for (int k = 0; k < made.arguments; ++k) {
        const char *name = text("%c", "pqt"[k]);
        const bool is_unsigned = family_of(made.argument[k]) == UNSIGNED;
        list = text("%s%s%s %s", list, *list ? ", " : "", spelled(made.argument[k]), name);
        declare(name, made.argument[k], is_unsigned ? 0 : -USUAL, is_unsigned ? ANYTHING : USUAL);
    }
    const node *body = accumulator_declared();
    body = follow(body, any_statements((int)between(0, 3), 2));
    body = follow(body, all_used(0));
    const variable *sum = &here.variable[here.accumulator];
    const char *end = made.is_procedure ? text("*to = $0;\n") : "return $0;\n";
    const bool bounded = family_of(made.result) == SIGNED || family_of(made.result) == NUMBER;
    const node *result =
        bounded ? expression_within(made.result, USUAL, 3) : any_expression(made.result, 3);
    if (made.result == T && family_of(T) != NUMBER && family_of(T) != SIGNED)
        result = same(text("($0 + %s)", sum->name), result, NULL);
    else body = follow(body, same(text("(void)%s;\n", sum->name), NULL));
    body = follow(body, same(end, result, NULL));
    const int names = here.names;
    const uint64_t taken = here.taken;
    here = *kept;
    free(kept);
    here.names = names;
    here.taken = taken;
    here.helper[here.helpers++] = made;
    const char *type = made.is_procedure ? "void" : spelled(made.result);
    return differ(text("META_FUNCTION %s FN(%s)(%s)\n{\n$0}\n\n", type, made.name, list),
                  text("static %s %s_$S(%s)\n{\n$0}\n\n", type, made.name, list), body, NULL);
}

/* ------------------------------------------------------------------ a kernel */

static const node *body_of_cells(void)
{
    const int outer = here.variables;
    const node *all = accumulator_declared();
    bool pending[MOST_PARAMETERS];
    int left = 0;
    for (int k = 0; k < here.parameters; ++k) {
        pending[k] = is_output(&here.parameter[k]);
        left += pending[k];
    }
    for (; left > 0; --left) {
        all = follow(all, any_statements((int)between(0, 2), 3));
        int k = (int)between(0, here.parameters - 1);
        while (!pending[k]) k = (k + 1) % here.parameters;
        pending[k] = false;
        all = follow(all, here.parameter[k].kind < IN ? written(&here.parameter[k])
                                                      : contributed(&here.parameter[k]));
    }
    here.may_return = true;
    all = follow(all, any_statements((int)between(0, 2), 3));
    all = follow(all, all_used(outer));
    return follow(all, accumulator_kept());
}

static void make_kernel(made_kernel *k, uint64_t seed, int number)
{
    random_from(seed, (uint64_t)number + 1000000);
    memset(&here, 0, sizeof here);
    here.own = set.own;
    here.number = number;
    here.trips = 1;
    here.dims = (int)between(1, 4);
    here.is_team = once_in(3);
    if (here.is_team) memories();
    here.has_macro = once_in(3);
    k->number = number;
    k->ahead = parameters();
    k->oracle_ahead = k->ahead;
    if (here.has_macro)
        k->ahead = follow(k->ahead, differ(text("#define DIFFERENCE%d(u) (%s - %s)\n", number,
                                                here.dims == 1   ? "AT1(u, 1)"
                                                : here.dims == 2 ? "AT2(u, 1, 0)"
                                                                 : "AT(u, 1, 0, 0)",
                                                here.dims == 1   ? "AT1(u, -1)"
                                                : here.dims == 2 ? "AT2(u, -1, 0)"
                                                                 : "AT(u, -1, 0, 0)"),
                                           "", NULL));
    k->helpers = NULL;
    for (int n = (int)between(0, 3); n > 0; --n) k->helpers = follow(k->helpers, helper_function());
    k->body = here.is_team ? body_of_teams() : body_of_cells();
    k->memories = here.is_team ? memories_declared() : NULL;
    k->in = here;
}

/* ------------------------------------------------------------------ the kernel file */

/* With a comma ahead. */
static const char *reach_text(const parameter *p)
{
    const int *b = p->before, *a = p->behind;
    if (p->kind == EACH_TEAM) return ", WHOLE";
    if (p->kind != IN && p->kind != ADD) return "";
    switch (p->reach) {
    case CELL: /* which lines and planes have without saying so */
        return p->dropped && p->is_brief ? "" : ", CELL";
    case STAR:
        return text(", STAR(%d)", b[0]);
    case BOX:
        return text(", BOX(%d)", b[0]);
    case SIDES:
        return text(", SIDES(%d, %d, %d, %d, %d, %d)", b[0], a[0], b[1], a[1], b[2], a[2]);
    default:
        return ", WHOLE";
    }
}

static const char *shape_text(const parameter *p)
{
    const int *grown = p->grown;
    const char *all = "";
    const unsigned every = (1u << RANDOM_DIMS) - 1;
    for (int d = 0; d < 4; ++d) {
        if (p->dropped == (every & ~(1u << d))) all = text(", LINE(%d)", d);
        else if (p->dropped == 1u << d) all = text(", PLANE(%d)", d);
    }
    if (!p->is_shaped || (!grown[0] && !grown[1] && !grown[2])) return all;
    return text("%s, GROWN(%d, %d, %d)", all, grown[0], grown[1], grown[2]);
}

/* Kinds of parameters as the kernel file has them. */
static const char *const kinds[] = {"OUT",   "INOUT", "INOUT", "IN",  "ADD",    "SCALAR",
                                    "VALUE", "SUM",   "MIN",   "MAX", "MIN_AT", "MAX_AT"};

static const char *type_text(const parameter *p, kind t)
{
    return p->type_name ? p->type_name : p->type == T && t != T ? spelling[t] : spelling[p->type];
}

static void write_kernels(FILE *to, const char *name, int count)
{
    fprintf(to, "#define META_KERNEL_FILE \"%s\"\n#define META_KERNEL_TYPES (", name);
    for (int t = 0; t < set.count; ++t)
        fprintf(to, "%sMETA_KERNEL_%c%s", t ? " | " : "", "FFIUIU"[set.type[t]],
                suffix[set.type[t]] + 1);
    fprintf(
        to,
        ")\n#include <meta_kernel.h>\n\n/* A floating number as an integer from -most to most; a "
        "NaN "
        "is -most. */\nMETA_FUNCTION int32_t FN(whole)(double x, int32_t most)\n{\n    return x > "
        "-most ? (x < most ? (int32_t)x : most) : -most;\n}\n");
    if (set.own == NUMBER)
        fprintf(to, "META_FUNCTION T FN(within)(T x, int32_t most)\n{\n    return x > (T)most ? "
                    "(T)most : x < "
                    "(T)-most ? (T)-most : x;\n}\n");
    for (int k = 0; k < count; ++k) {
        const made_kernel *m = &kernels[k];
        fprintf(to, "\n/* k%d */\n", m->number);
        print(to, m->ahead, KERNEL, T);
        print(to, m->helpers, KERNEL, T);
        fprintf(to, "#define k%d_ARGS(A)", m->number);
        for (int n = 0; n < m->in.parameters; ++n) {
            const parameter *p = &m->in.parameter[n];
            fprintf(to, " \\\n    A(%s, %s, %s%s%s)", kinds[p->kind], type_text(p, T), p->name,
                    reach_text(p), shape_text(p));
        }
        for (int n = 0; n < m->in.memories; ++n) {
            const memory *s = &m->in.memory[n];
            fprintf(to, " \\\n    A(SHARED, %s, %s, %s%d)",
                    s->type_name ? s->type_name : spelling[s->type], s->name, s->turn ? "2 * " : "",
                    s->count);
        }
        if (m->in.is_team)
            fprintf(to, "\nMETA_TEAMS(k%d, %d, %d, %d)\n", m->number, m->in.side[0], m->in.side[1],
                    m->in.side[2]);
        else fprintf(to, "\nMETA_CELLS(k%d)\n", m->number);
        print(to, same("{\n$0}\n", m->body, NULL), KERNEL, T);
        if (m->in.has_macro) fprintf(to, "#undef DIFFERENCE%d\n", m->number);
        fprintf(to, "/* end of k%d */\n", m->number);
    }
    fprintf(to, "\n#include META_AGAIN\n");
}

/* ------------------------------------------------------------------ the oracle */

static const char *pointer_text(const parameter *p, kind t)
{
    return text("%s%s *", p->kind == IN || p->kind == SCALAR ? "const " : "", type_text(p, t));
}

static kind type_of(const parameter *p, kind t)
{
    return p->type == T ? t : p->type;
}

static bool is_place(const parameter *p)
{
    return p->kind == MIN_AT || p->kind == MAX_AT;
}

static bool is_min(const parameter *p)
{
    return p->kind == MIN || p->kind == MIN_AT;
}

/* Of equal extremes the first cell's, which come in the order of memory. */
static void keep_place(FILE *to, const parameter *p, int n, kind t)
{
    const char *nan = type_of(p, t) <= F32 ? text("q%d.value != q%d.value || ", n, n) : "";
    const char *number = type_of(p, t) <= F32 ? text("r%d.value == r%d.value && ", n, n) : "";
    fprintf(to,
            "        if (q%d.has && (r%d.index[0] < 0 || (%s(%sq%d.value %c r%d.value)))) {\n"
            "            r%d.value = q%d.value;\n"
            "            for (int d = 0; d < 10; ++d) r%d.index[d] = d < RANDOM_DIMS ? c[d] : 0;\n"
            "        }\n",
            n, n, number, nan, n, is_min(p) ? '<' : '>', n, n, n, n);
}

static const char *const greatest_of[] = {"INFINITY",   "INFINITY",  "INT64_MAX",
                                          "UINT64_MAX", "INT32_MAX", "UINT32_MAX"};
static const char *const lowest_of[] = {"-INFINITY", "-INFINITY", "INT64_MIN",
                                        "0",         "INT32_MIN", "0"};

/* What a result is before anything contributes. */
static const char *identity_of(const parameter *p, kind t)
{
    return (is_min(p) ? greatest_of : lowest_of)[type_of(p, t)];
}

/* The body as a function, of a cell or of a team. Of a place, that of a cell has what the cell
 * contributes, that of a team what each cell of the box does. */
static void write_body(FILE *to, const made_kernel *m, kind t)
{
    const bool is_team = m->in.is_team;
    fprintf(to, "static void k%d_%s_%s(", m->number, suffix[t], is_team ? "team" : "cell");
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        if (p->kind == SUM) fprintf(to, "sum_of_%s *%s, ", suffix[type_of(p, t)], p->name);
        else if (p->kind == VALUE || p->kind == SCALAR)
            fprintf(to, "const %s %s, ", type_text(p, t), p->name);
        else if (is_place(p))
            fprintf(to, "contribution_of_%s *%s%s, ", suffix[type_of(p, t)], is_team ? "all_" : "",
                    p->name);
        else fprintf(to, "%s%s, ", pointer_text(p, t), p->name);
    }
    if (!is_team) {
        fprintf(to, "const random_box *box, int64_t at, const int64_t *c, int64_t s1, int64_t s2, "
                    "int64_t s3)\n");
        print(to, same("{\n$0}\n", m->body, NULL), ORACLE, t);
        return;
    }
    fprintf(to, "const random_box *box, const random_team *team)\n");
    print(to,
          same("{\nconst int64_t s1 = box->stride[1], s2 = box->stride[2], s3 = box->stride[3];\n"
               "$0$1}\n",
               m->memories, m->body, NULL),
          ORACLE, t);
}

static void write_arguments(FILE *to, const made_kernel *m, kind t)
{
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        if (is_place(p)) fprintf(to, m->in.is_team ? "all%d, " : "&q%d, ", n);
        else if (p->kind >= SUM) fprintf(to, "&r%d, ", n);
        else if (p->kind == VALUE || p->kind == SCALAR)
            fprintf(to, "*(const %s *)a[%d], ", type_text(p, t), n);
        else fprintf(to, "(%s)a[%d], ", pointer_text(p, t), n);
    }
}

/* One cell after the other. */
static void write_cells(FILE *to, const made_kernel *m, kind t)
{
    const parameter *all = m->in.parameter;
    fprintf(to, "    for (int64_t n = 0; n < box->cells; ++n) {\n        const int64_t at = "
                "random_cell(box, n, c);\n");
    for (int n = 0; n < m->in.parameters; ++n)
        if (is_place(&all[n]))
            fprintf(to, "        contribution_of_%s q%d = {%s, 0};\n", suffix[type_of(&all[n], t)],
                    n, identity_of(&all[n], t));
    fprintf(to, "        k%d_%s_cell(", m->number, suffix[t]);
    write_arguments(to, m, t);
    fprintf(to, "box, at, c, box->stride[1], box->stride[2], box->stride[3]);\n");
    for (int n = 0; n < m->in.parameters; ++n) {
        if (all[n].kind == SUM && type_of(&all[n], t) <= F32)
            fprintf(to, "        if (random_take) random_take(%d, r%d), r%d = 0;\n", n, n, n);
        if (is_place(&all[n])) keep_place(to, &all[n], n, t);
    }
    fprintf(to, "    }\n");
}

/* One team after the other; then, in the order of cells, what they have contributed. */
static void write_teams(FILE *to, const made_kernel *m, kind t)
{
    const parameter *all = m->in.parameter;
    for (int n = 0; n < m->in.parameters; ++n)
        if (is_place(&all[n])) {
            const char *type = text("contribution_of_%s", suffix[type_of(&all[n], t)]);
            fprintf(to,
                    "    %s *all%d = malloc((size_t)box->cells * sizeof *all%d);\n"
                    "    if (!all%d) abort();\n"
                    "    for (int64_t n = 0; n < box->cells; ++n) all%d[n] = (%s){%s, 0};\n",
                    type, n, n, n, n, type, identity_of(&all[n], t));
        }
    fprintf(
        to,
        "    static const int64_t side[3] = {%d, %d, %d};\n    random_team team;\n"
        "    for (int64_t n = 0; random_team_of(box, side, n, &team); ++n)\n        k%d_%s_team(",
        m->in.side[0], m->in.side[1], m->in.side[2], m->number, suffix[t]);
    write_arguments(to, m, t);
    fprintf(to, "box, &team);\n");
    for (int n = 0; n < m->in.parameters; ++n) {
        const char *s = suffix[type_of(&all[n], t)];
        if (all[n].kind == SUM && type_of(&all[n], t) <= F32)
            fprintf(to, "    if (random_take) random_take(%d, r%d), r%d = 0;\n", n, n, n);
        if (!is_place(&all[n])) continue;
        fprintf(to,
                "    for (int64_t n = 0; n < box->cells; ++n) {\n        random_cell(box, n, c);\n"
                "        const contribution_of_%s q%d = all%d[n];\n",
                s, n, n);
        keep_place(to, &all[n], n, t);
        fprintf(to, "    }\n    free(all%d);\n", n);
    }
}

/* Store the results. Of zeros, which sign an extreme has would depend on the order. */
static void write_results(FILE *to, const made_kernel *m, kind t)
{
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        if (is_place(p)) {
            const char *s = suffix[type_of(p, t)];
            fprintf(to,
                    "    if (r%d.value == 0) r%d.value = 0;\n"
                    "    ((extreme_of_%s *)a[%d])->value = r%d.value;\n"
                    "    for (int d = 0; d < 10; ++d)\n"
                    "        ((extreme_of_%s *)a[%d])->index[d] = r%d.index[d];\n",
                    n, n, s, n, n, s, n, n);
            continue;
        }
        if (p->kind > SUM) fprintf(to, "    if (r%d == 0) r%d = 0;\n", n, n);
        if (p->kind >= SUM)
            fprintf(to, "    *(%s *)a[%d] = (%s)r%d;\n", type_text(p, t), n, type_text(p, t), n);
    }
}

static void write_oracle_of(FILE *to, const made_kernel *m, kind t)
{
    const int id = m->number;
    const parameter *all = m->in.parameter;
    print(to, m->helpers, ORACLE, t);
    write_body(to, m, t);
    fprintf(to,
            "void k%d_%s_oracle(const random_box *box, void *const *a)\n{\n    int64_t "
            "c[RANDOM_DIMS];\n",
            id, suffix[t]);
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &all[n];
        const char *s = suffix[type_of(p, t)];
        if (p->kind == SUM) fprintf(to, "    sum_of_%s r%d = 0;\n", s, n);
        else if (is_place(p))
            fprintf(to, "    extreme_of_%s r%d = {%s, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};\n",
                    s, n, identity_of(p, t));
        else if (p->kind > SUM)
            fprintf(to, "    %s r%d = %s;\n", type_text(p, t), n, identity_of(p, t));
    }
    if (m->in.is_team) write_teams(to, m, t);
    else write_cells(to, m, t);
    write_results(to, m, t);
    fprintf(to, "}\n\n");
}

static void write_oracles(FILE *to, int count)
{
    static const char *const functions[] = {"fabs", "fabsf"}, *const roots[] = {"sqrt", "sqrtf"};
    fprintf(to,
            "#include <math.h>\n#include <stdlib.h>\n#include \"random_table.h\"\n\n"
            "typedef double sum_of_f64, sum_of_f32;\ntypedef uint64_t sum_of_i64, sum_of_u64;\n"
            "typedef uint32_t sum_of_i32, sum_of_u32;\n"
            "#define EXTREME(T, name)                                                  \\\n"
            "    typedef struct { T value; int has; } contribution_of_##name;          \\\n"
            "    typedef struct { T value; int64_t index[10]; } extreme_of_##name;\n"
            "EXTREME(double, f64) EXTREME(float, f32) EXTREME(int64_t, i64)\n"
            "EXTREME(uint64_t, u64) EXTREME(int32_t, i32) EXTREME(uint32_t, u32)\n\n"
            "static int32_t whole(double x, int32_t most)\n{\n    if (!(x > -most)) return -most;\n"
            "    return x < most ? (int32_t)x : most;\n}\n\n");
    for (int t = 0; t < set.count; ++t) {
        const kind k = set.type[t];
        fprintf(to, "static %s abs_%s(%s x)\n{\n    return %s;\n}\n", spelling[k], suffix[k],
                spelling[k],
                k <= F32               ? text("%s(x)", functions[k])
                : k == I64 || k == I32 ? "x < 0 ? -x : x"
                                       : "x");
        if (set.own == NUMBER)
            fprintf(to,
                    "static %s within_%s(%s x, int32_t most)\n{\n    if (x > (%s)most) return "
                    "(%s)most;\n"
                    "    return x < (%s)-most ? (%s)-most : x;\n}\n",
                    spelling[k], suffix[k], spelling[k], spelling[k], spelling[k], spelling[k],
                    spelling[k]);
        if (k <= F32)
            fprintf(to, "static %s sqrt_%s(%s x)\n{\n    return %s(x);\n}\n", spelling[k],
                    suffix[k], spelling[k], roots[k]);
    }
    for (int k = 0; k < count; ++k) {
        fprintf(to, "\n");
        print(to, kernels[k].oracle_ahead, ORACLE, T);
        for (int t = 0; t < set.count; ++t) write_oracle_of(to, &kernels[k], set.type[t]);
    }
}

/* ------------------------------------------------------------------ calls and table */

static void write_entry(FILE *to, const made_kernel *m, kind t)
{
    const int id = m->number;
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        if (p->kind == VALUE)
            fprintf(to, "static const %s k%d_%s_value%d = %s;\n", type_text(p, t), id, suffix[t], n,
                    p->value);
    }
    fprintf(to,
            "static int k%d_%s_call(const void *box, void *const *a, void *done)\n{\n    return "
            "(int)k%d_%s((const meta_box *)box, ",
            id, suffix[t], id, suffix[t]);
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        if (p->kind == VALUE) fprintf(to, "*(const %s *)a[%d], ", type_text(p, t), n);
        else if (is_place(p)) fprintf(to, "(meta_extreme_%s *)a[%d], ", suffix[type_of(p, t)], n);
        else fprintf(to, "(%s)a[%d], ", pointer_text(p, t), n);
    }
    fprintf(to, "(meta_event *)done);\n}\nstatic const random_operand k%d_%s_operands[] = {\n", id,
            suffix[t]);
    for (int n = 0; n < m->in.parameters; ++n) {
        const parameter *p = &m->in.parameter[n];
        const int64_t high = p->high == ANYTHING ? 0 : p->high;
        fprintf(to,
                "    {\"%s\", META_PARAMETER_%s, %d, %d, %" PRId64 ", %" PRId64 ", %" PRId64 ", ",
                p->name, kinds[p->kind], p->kind == VALUE ? 0 : (int)type_of(p, t), p->fill, p->low,
                high, p->length);
        if (p->kind == VALUE) fprintf(to, "&k%d_%s_value%d", id, suffix[t], n);
        else fprintf(to, "0");
        fprintf(to, ", %uu, {%d, %d, %d}},\n", p->dropped, p->grown[0], p->grown[1], p->grown[2]);
    }
    fprintf(to, "};\n");
}

static void write_row(FILE *to, const made_kernel *m, kind t)
{
    int low[4] = {0}, high[4] = {0};
    for (int n = 0; n < m->in.parameters; ++n)
        for (int d = 0; d < 4; ++d) {
            const parameter *p = &m->in.parameter[n];
            if (p->before[d] > low[d]) low[d] = p->before[d];
            if (p->behind[d] > high[d]) high[d] = p->behind[d];
        }
    fprintf(to,
            "    {\"k%d\", %d, %d, %d, {%d, %d, %d, %d}, {%d, %d, %d, %d}, %d, k%d_%s_operands, "
            "k%d_%s_call, "
            "k%d_%s_oracle, ",
            m->number, (int)t, m->in.dims, m->in.team ? 4 : RANDOM_DIMS, low[0], low[1], low[2],
            low[3], high[0], high[1], high[2], high[3], m->in.parameters, m->number, suffix[t],
            m->number, suffix[t], m->number, suffix[t]);
    if (m->in.stray.access)
        fprintf(to, "%d, %d, \"%s\"},\n", m->in.stray.parameter, m->in.stray.value,
                m->in.stray.access);
    else fprintf(to, "-1, 0, 0},\n");
}

static void write_unit(FILE *to, int file, int count)
{
    fprintf(to,
            "#define META_KERNELS_HERE\n#include \"random_%d.kernel.h\"\n\n#include "
            "\"random_table.h\"\n\n"
            "#ifdef __cplusplus\n#define IN_C extern \"C\"\n#else\n#define IN_C extern\n#endif\n",
            file);
    for (int k = 0; k < count; ++k)
        for (int t = 0; t < set.count; ++t)
            fprintf(to, "IN_C void k%d_%s_oracle(const random_box *box, void *const *a);\n",
                    kernels[k].number, suffix[set.type[t]]);
    for (int k = 0; k < count; ++k)
        for (int t = 0; t < set.count; ++t) write_entry(to, &kernels[k], set.type[t]);
    fprintf(
        to,
        "IN_C const random_kernel random_table_%d[];\nconst random_kernel random_table_%d[] = {\n",
        file, file);
    for (int k = 0; k < count; ++k)
        for (int t = 0; t < set.count; ++t) write_row(to, &kernels[k], set.type[t]);
    fprintf(to, "    {0, 0, 0, 0, {0}, {0}, 0, 0, 0, 0, 0, 0, 0}};\n");
}

/* ------------------------------------------------------------------ files */

static FILE *opened(const char *folder, const char *name)
{
    const char *path = text("%s/%s", folder, name);
    FILE *to = fopen(path, "w");
    if (!to) {
        perror(path);
        exit(2);
    }
    return to;
}

static void closed(FILE *file)
{
    if (ferror(file) || fclose(file) != 0) {
        perror("a file cannot be written");
        exit(2);
    }
}

/* Kernels of one file have their types in common. @return how many there are, for all types */
static int write_file(const char *folder, uint64_t seed, int file, int first, int count)
{
    random_from(seed, (uint64_t)first / PER_FILE);
    set = sets[between(0, sizeof sets / sizeof *sets - 1)];
    for (int k = 0; k < count; ++k) make_kernel(&kernels[k], seed, first + k);
    const char *name = text("random_%d.kernel.h", file);
    FILE *to = opened(folder, name);
    write_kernels(to, name, count);
    closed(to);
    to = opened(folder, text("random_%d.c", file));
    write_unit(to, file, count);
    closed(to);
    to = opened(folder, text("oracle_%d.c", file));
    write_oracles(to, count);
    closed(to);
    tree_reset();
    return count * set.count;
}

static void write_table(const char *folder, int files)
{
    FILE *to = opened(folder, "random_table.c");
    fprintf(to, "#include \"random_table.h\"\n\n");
    for (int k = 0; k < files; ++k)
        fprintf(to, "extern const random_kernel random_table_%d[];\n", k);
    fprintf(to, "void (*random_take)(int, double);\nint64_t random_strays;\nconst random_kernel "
                "*const random_tables[] = {");
    for (int k = 0; k < files; ++k) fprintf(to, "random_table_%d, ", k);
    fprintf(to, "0};\n");
    closed(to);
    tree_reset();
}

int main(int argc, char **argv)
{
    any_addends = argc == 6 && strcmp(argv[5], "any-addends") == 0;
    if (argc != 5 && !any_addends) {
        fprintf(stderr, "usage: random_kernels SEED FIRST COUNT FOLDER [any-addends]\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[1], NULL, 0);
    const int first = atoi(argv[2]), end = first + atoi(argv[3]);
    int files = 0, made = 0;
    for (int k = first; k < end; ++files) {
        const int next = (k / PER_FILE + 1) * PER_FILE < end ? (k / PER_FILE + 1) * PER_FILE : end;
        made += write_file(argv[4], seed, files, k, next - k);
        k = next;
    }
    write_table(argv[4], files);
    printf("%d %d\n", files, made);
    return 0;
}
