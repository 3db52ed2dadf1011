/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_teams.c
 *  Random kernels of teams: shared memory, phases, and what stands between them; see
 * random_grammar.h. In a phase no member accesses an element that another one writes: of each array
 * in shared memory, members only read, or each has an element for itself, or they read one half of
 * the array and write the other. */
#include "random_grammar.h"

#include <string.h>

#include "random_table.h"

enum { MOST_OF_TEAM = 256, MOST_TEAM_TRIPS = 12 };

/* How much of what a kernel has to write a phase writes. */
enum { NOTHING_DUE, SOME_DUE, ALL_DUE };

static const node *my(int d)
{
    return differ(text("MY(%d)", d), text("m[%d]", d), NULL);
}

static const node *extent(int d)
{
    return differ(text("EXTENT(%d)", d), text("team->extent[%d]", d), NULL);
}

const node *word_of_teams(int64_t *low, int64_t *high)
{
    const int d = (int)between(0, 2), e = (int)between(0, 3);
    *low = 0;
    *high = 1 << 15;
    switch (between(here.in_phase ? 0 : 2, 7)) {
    case 0:
    case 1:
        *high = here.side[d] - 1;
        return my(d);
    case 2:
    case 3:
        *low = 1;
        *high = here.side[d];
        return extent(d);
    case 4:
        return differ(text("START(%d)", e), text("team->start[%d]", e), NULL);
    case 5:
    case 6:
        return differ(text("TEAM(%d)", e), text("team->number[%d]", e), NULL);
    default:
        *low = 1;
        return differ(text("TEAMS(%d)", e), text("team->teams[%d]", e), NULL);
    }
}

/* ------------------------------------------------------------------ shared memory */

static void choose_sides(void)
{
    static const int even[][3] = {{256, 1, 1}, {64, 4, 1}, {16, 16, 1}, {8, 8, 4}, {32, 1, 1},
                                  {1, 1, 1},   {1, 64, 1}, {4, 8, 2},   {1, 1, 32}};
    if (once_in(3)) {
        memcpy(here.side, even[between(0, sizeof even / sizeof *even - 1)], sizeof here.side);
        return;
    }
    do {
        here.side[0] = (int)between(1, here.dims == 1 ? 100 : 40);
        for (int d = 1; d < 3; ++d)
            here.side[d] = here.dims > d || once_in(4) ? (int)between(1, 10 - 2 * d) : 1;
    } while (here.side[0] * here.side[1] * here.side[2] > MOST_OF_TEAM);
}

void memories(void)
{
    static const char *const small[] = {"int8_t", "uint8_t", "int16_t", "uint16_t"};
    static const int64_t highest[] = {127, 255, 30000, 65535};
    choose_sides();
    for (int n = (int)between(once_in(8) ? 0 : 1, MOST_MEMORIES); n > 0; --n) {
        memory *m = &here.memory[here.memories++];
        *m = (memory){.name = new_name(), .type = once_in(2) ? T : (kind)between(F64, U32)};
        if (once_in(6)) {
            const int64_t which = between(0, 3);
            m->type = I32;
            m->type_name = small[which];
            m->high = highest[which];
            m->low = which % 2 ? 0 : -m->high;
        } else if (family_of(m->type) == UNSIGNED) {
            m->high = ANYTHING;
        } else {
            m->high = USUAL;
            m->low = -USUAL;
        }
        if (once_in(3)) m->row = here.side[0] + (int)between(0, 2);
        if (once_in(3)) m->turn = text("turn%d", here.names++);
        m->count = (m->row ? m->row : here.side[0]) * here.side[1] * here.side[2];
    }
}

const node *memories_declared(void)
{
    const node *all = same("", NULL);
    for (int n = 0; n < here.memories; ++n) {
        const memory *m = &here.memory[n];
        all = follow(all, same(text("%s %s[%d];\n", m->type_name ? m->type_name : spelled(m->type),
                                    m->name, m->turn ? 2 * m->count : m->count),
                               NULL));
    }
    return all;
}

/* The element of the member that is there; packed, with any order of the dimensions. */
static const node *index_of(const memory *m, const node *const at[3])
{
    const int first = (int)between(0, 2), second = (first + (int)between(1, 2)) % 3;
    const int third = 3 - first - second;
    if (m->row)
        return same(text("($0 + %d * ($1 + %d * $2))", m->row, here.side[1]), at[0], at[1], at[2],
                    NULL);
    return same("($0 + $1 * ($2 + $3 * $4))", at[first], extent(first), at[second], extent(second),
                at[third], NULL);
}

/* A place for each member along dimension @p d, no two at the same. */
static const node *own_place(int d)
{
    switch (between(0, 5)) {
    case 0:
        return same("($0 - 1 - $1)", extent(d), my(d), NULL);
    case 1:
        return same(text("(($0 + %d) %% $1)", (int)between(1, 9)), my(d), extent(d), NULL);
    default:
        return my(d);
    }
}

/* Any member's. */
static const node *any_place(int d)
{
    switch (between(0, 8)) {
    case 0:
        return same("($0 > 0 ? $0 - 1 : $0)", my(d), NULL);
    case 1:
        return same("($0 + 1 < $1 ? $0 + 1 : $0)", my(d), extent(d), NULL);
    case 2:
        return same(once_in(2) ? "0" : "($0 - 1)", extent(d), NULL);
    case 3:
    case 4:
        return same("(int64_t)($0 % (uint32_t)$1)", index_number(U32), extent(d), NULL);
    default:
        return own_place(d);
    }
}

static const node *in_half(const memory *m, const node *index, bool is_next)
{
    if (!m->turn) return index;
    return same(text(is_next ? "($0 + %d * (1 - %s))" : "($0 + %d * %s)", m->count, m->turn), index,
                NULL);
}

static const node *element(const memory *m, const node *index)
{
    return differ(text("SHARED(%s, $0)", m->name), text("%s[$0]", m->name), index, NULL);
}

const node *memory_read(const memory *m)
{
    const int all = m->turn ? 2 * m->count : m->count;
    if (once_in(3) && strays("SHARED", m->name, once_in(2) ? all : -all)) {
        const char *by = here.parameter[here.stray.parameter].name;
        return differ(text("SHARED(%s, $0 + %s)", m->name, by),
                      text("(random_strays += %s != 0, %s[$0])", by, m->name),
                      in_half(m, m->own, false), NULL);
    }
    if (m->access == OWN) return element(m, in_half(m, m->own, false));
    const node *at[3];
    for (int d = 0; d < 3; ++d) at[d] = any_place(d);
    return element(m, in_half(m, index_of(m, at), false));
}

/* Write the member's element; @p is_first: what it holds is undefined. */
static const node *stored_in(const memory *m, bool is_first)
{
    const family f = family_of(m->type);
    const node *to = element(m, in_half(m, m->own, m->access == NEXT));
    if (m->type_name)
        return same(text("$0 = (%s)$1;\n", m->type_name), to,
                    expression_within(m->low < 0 ? I32 : U32, m->high, 3), NULL);
    if (f == SIGNED || f == NUMBER)
        return same("$0 = $1;\n", to, expression_within(m->type, USUAL, 3), NULL);
    const char *form = is_first || m->access == NEXT || once_in(2) ? "$0 = $1;\n"
                       : once_in(2)                                ? "$0 += $1;\n"
                                                                   : "$0 *= $1;\n";
    return same(form, to, any_expression(m->type, 3), NULL);
}

const node *memory_stored(void)
{
    if (here.memories == 0) return NULL;
    const memory *m = &here.memory[between(0, here.memories - 1)];
    return m->access == OWN || m->access == NEXT ? stored_in(m, false) : NULL;
}

/* ------------------------------------------------------------------ phases */

static const node *members(const node *body)
{
    const char *places = "";
    for (int k = 0; k < here.parameters; ++k) {
        const parameter *p = &here.parameter[k];
        if (p->kind != MIN_AT && p->kind != MAX_AT) continue;
        places = text("%scontribution_of_%s *const %s = all_%s + where;\n", places,
                      p->type == T ? "$S" : suffix[p->type], p->name, p->name);
    }
    return differ(
        "MEMBERS\n{\n$0}\n",
        text("for (int64_t member = 0; member < team->members; ++member) {\n"
             "int64_t m[3], c[RANDOM_DIMS], where;\n"
             "const int64_t at = random_member(box, team, member, m, c, &where);\n%s$0}\n",
             places),
        body, NULL);
}

static const node *written_by_leader(const parameter *p)
{
    const family f = family_of(p->type);
    const node *value = f == SIGNED || f == NUMBER ? expression_within(p->type, p->high, 2)
                                                   : any_expression(p->type, 2);
    const char *form = once_in(2)
                           ? "if ($0 == 0 && $1 == 0 && $2 == 0) {\n$6 = $7;\n}\n"
                           : "if ($0 == $3 - 1 && $1 == $4 - 1 && $2 == $5 - 1) {\n$6 = $7;\n}\n";
    return same(
        form, my(0), my(1), my(2), extent(0), extent(1), extent(2),
        differ(text("GET(%s, %s)", p->name, here.team), text("%s[%s]", p->name, here.team), NULL),
        value, NULL);
}

/* What each member accesses in this phase. @return a bit for each array that it must write first */
static unsigned choose_accesses(int due)
{
    unsigned first = 0;
    for (int n = 0; n < here.memories; ++n) {
        memory *m = &here.memory[n];
        const node *at[3];
        for (int d = 0; d < 3; ++d) at[d] = own_place(d);
        m->own = index_of(m, at);
        m->access = NOTHING;
        if (!m->is_defined) {
            if (due == ALL_DUE || (due == SOME_DUE && !once_in(3))) first |= 1u << n;
        } else if (m->turn && once_in(2)) {
            m->access = NEXT;
            first |= 1u << n;
        } else {
            m->access = once_in(3) ? OWN : READ;
        }
    }
    return first;
}

/* Write memory @p m for the first time in this phase. What is undefined is not read before. */
static const node *defined(memory *m)
{
    if (m->is_defined) return stored_in(m, true);
    const node *all = stored_in(m, true);
    m->access = OWN;
    m->is_defined = true;
    return all;
}

/* All that this phase has to write, in any order, between other statements. @p first: bits of
 * memories; @p due: of the parameters' numbers, as many as there are. */
static const node *duties(unsigned first, int *due, int count)
{
    const node *all = NULL;
    for (int n = 0; n < here.memories; ++n)
        if (first >> n & 1) due[count++] = -1 - n;
    for (; count > 0; --count) {
        const int64_t chosen = between(0, count - 1);
        const int n = due[chosen];
        due[chosen] = due[count - 1];
        all = follow(all, any_statements((int)between(0, 1), 2));
        parameter *p = &here.parameter[n < 0 ? 0 : n];
        all = follow(all, n < 0                  ? defined(&here.memory[-1 - n])
                          : p->kind == EACH_TEAM ? written_by_leader(p)
                          : p->kind < IN         ? written(p)
                                                 : contributed(p));
    }
    return all;
}

/* The other half of arrays that were written is read from now on. */
static const node *turned(void)
{
    const node *all = NULL;
    for (int n = 0; n < here.memories; ++n) {
        memory *m = &here.memory[n];
        if (m->access == NEXT)
            all = follow(all, same(text("%s = 1 - %s;\n", m->turn, m->turn), NULL));
        m->access = NOTHING;
    }
    return all;
}

/* A phase, in which the team's variables from number @p used on are used. */
static const node *phase(int used, int how_much)
{
    const int outer = here.variables;
    bool is_mutable[MOST_VARIABLES];
    int due[MOST_PARAMETERS + MOST_MEMORIES], count = 0;
    for (int k = 0; k < outer; ++k) {
        is_mutable[k] = here.variable[k].is_mutable;
        here.variable[k].is_mutable = false;
    }
    here.in_phase = true;
    for (int k = 0; k < here.parameters; ++k) {
        parameter *p = &here.parameter[k];
        bool is_due =
            p->is_pending && (how_much == ALL_DUE || (how_much == SOME_DUE && once_in(3)));
        if (is_due) p->is_pending = false;
        if (p->kind == EACH_TEAM) is_due = here.leader_writes = is_due || once_in(4);
        if (is_due) due[count++] = k;
    }
    const unsigned first = choose_accesses(how_much);
    const node *all = accumulator_declared();
    all = follow(all, any_statements((int)between(0, 1), 2));
    all = follow(all, duties(first, due, count));
    here.may_return = true;
    if (once_in(4))
        all = follow(all, differ("if $0 break;\n", "if $0 continue;\n", any_condition(2), NULL));
    all = follow(all, any_statements((int)between(0, 2), 3));
    all = follow(all, all_used(used));
    all = follow(all, accumulator_kept());
    here.variables = outer;
    for (int k = 0; k < outer; ++k) here.variable[k].is_mutable = is_mutable[k];
    here.in_phase = here.may_return = here.leader_writes = false;
    return follow(members(all), turned());
}

/* ------------------------------------------------------------------ what stands around phases */

static const node *team_statements(int count)
{
    const node *all = NULL;
    while (count-- > 0) all = follow(all, team_statement());
    return all;
}

static const node *phases(int count)
{
    const int outer = here.variables;
    const node *all = NULL;
    for (; count > 0; --count) {
        all = follow(all, team_statements((int)between(0, 1)));
        all = follow(all, phase(count == 1 ? outer : here.variables, NOTHING_DUE));
    }
    here.variables = outer;
    return all;
}

static const node *loop_of_phases(void)
{
    const char *name = text("n%d", here.names++);
    const int outer = here.variables, first = -(int)between(0, 2), trips = (int)between(1, 4);
    if (here.trips * trips > MOST_TEAM_TRIPS) return phases(1);
    variable *v = declare(name, I32, first, first + trips - 1);
    v->is_loop = true;
    here.trips *= trips;
    const node *end =
        once_in(3) ? same(text("%d + (int)($0 %% %du)", first, trips), any_expression(U32, 1), NULL)
                   : same(text("%d", first + trips - 1), NULL);
    const node *all =
        same(text("for (int %s = %d; %s <= $0; ++%s) {\n$1}\n", name, first, name, name), end,
             phases((int)between(1, 2)), NULL);
    here.trips /= trips;
    here.variables = outer;
    return all;
}

static const node *branch_of_phases(void)
{
    const node *condition = any_condition(2), *first = phases((int)between(1, 2));
    if (once_in(2)) return same("if $0 {\n$1}\n", condition, first, NULL);
    return same("if $0 {\n$1} else {\n$2}\n", condition, first, phases(1), NULL);
}

/* Two elements become one. */
static const node *combined(kind k, const node *a, const node *b)
{
    switch (once_in(3) ? NUMBER : family_of(k)) {
    case FLOATING:
        return same(once_in(2) ? "($0 + $1)" : "($0 * $1)", a, b, NULL);
    case UNSIGNED:
        return same(once_in(2) ? "($0 + $1)" : "($0 ^ $1)", a, b, NULL);
    case SIGNED:
        return same(text("(($0 + $1) %% %d)", USUAL + 1), a, b, NULL);
    default:
        return once_in(2) ? differ("LEAST($0, $1)", "($0 < $1 ? $0 : $1)", a, b, NULL)
                          : differ("MOST($0, $1)", "($0 < $1 ? $1 : $0)", a, b, NULL);
    }
}

/* All elements of an array are combined in a tree, in as many phases as that has levels. */
static const node *tree(void)
{
    const memory *m = here.memories ? &here.memory[between(0, here.memories - 1)] : NULL;
    const int most = here.side[0] * here.side[1] * here.side[2];
    int half = 1;
    if (!m || !m->is_defined || m->row || m->turn || m->type_name || most == 1) return phases(1);
    while (2 * half < most) half *= 2;
    const char *gap = text("gap%d", here.names++), *n = text("n%d", here.names++);
    const node *number =
        same("($0 + $1 * ($2 + $3 * $4))", my(0), extent(0), my(1), extent(1), my(2), NULL);
    const node *one = element(m, same(n, NULL));
    const node *other = element(m, same(text("%s + %s", n, gap), NULL));
    const node *body =
        same(text("const int64_t %s = $0;\nif (%s < %s && %s + %s < %s) {\n$1 = $2;\n}\n", n, n,
                  gap, n, gap, here.members),
             number, one, combined(m->type, one, other), NULL);
    return same(text("for (int64_t %s = %d; %s > 0; %s /= 2) {\n$0}\n", gap, half, gap, gap),
                members(body), NULL);
}

static const node *any_phases(void)
{
    switch (between(0, 7)) {
    case 0:
    case 1:
        return loop_of_phases();
    case 2:
        return branch_of_phases();
    case 3:
    case 4:
        return tree();
    default:
        return phases((int)between(1, 2));
    }
}

/* Variables that every team has. */
static const node *team_declared(void)
{
    const node *all = NULL;
    const int most = here.side[0] * here.side[1] * here.side[2];
    for (int n = 0; n < here.memories; ++n)
        if (here.memory[n].turn) {
            declare(here.memory[n].turn, I32, 0, 1);
            all = follow(all, same(text("int32_t %s = 0;\n", here.memory[n].turn), NULL));
        }
    here.members = text("members%d", here.names++);
    declare(here.members, I64, 1, most);
    all = follow(all, same(text("const int64_t %s = $0 * $1 * $2;\n", here.members), extent(0),
                           extent(1), extent(2), NULL));
    for (int k = 0; k < here.parameters && !here.team; ++k)
        if (here.parameter[k].kind == EACH_TEAM) here.team = text("team%d", here.names++);
    if (!here.team) return all;
    declare(here.team, I64, 0, 1 << 15);
    return follow(all, differ(text("const int64_t %s = TEAM(0) + TEAMS(0) * (TEAM(1) + TEAMS(1) * "
                                   "(TEAM(2) + TEAMS(2) * TEAM(3)));\n",
                                   here.team),
                              text("const int64_t %s = team->number[0] + team->teams[0] * "
                                   "(team->number[1] + team->teams[1] * (team->number[2] + "
                                   "team->teams[2] * team->number[3]));\n",
                                   here.team),
                              NULL));
}

const node *body_of_teams(void)
{
    const int outer = here.variables;
    for (int k = 0; k < here.parameters; ++k)
        here.parameter[k].is_pending = is_output(&here.parameter[k]);
    const node *all = team_declared();
    all = follow(all, team_statements((int)between(0, 2)));
    all = follow(all, phase(here.variables, SOME_DUE));
    for (int n = (int)between(1, 3); n > 0; --n) {
        all = follow(all, team_statements((int)between(0, 1)));
        all = follow(all, once_in(3) ? phase(here.variables, SOME_DUE) : any_phases());
    }
    all = follow(all, phase(outer, ALL_DUE));
    if (once_in(3)) {
        all = follow(all, same("if $0 return;\n", any_condition(2), NULL));
        all = follow(all, any_phases());
    }
    return all;
}
