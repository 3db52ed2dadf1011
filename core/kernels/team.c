/* SPDX-License-Identifier: BSD-3-Clause */
/** @file team.c
 *  Kernels of teams: whether their extents and the memory that members share are possible, and
 * whether the body keeps the rules that no compiler knows. A member that leaves a phase by `return`
 * would let the others of its team wait at the next barrier for ever; a contribution to a result
 * outside phases would count once for each work item. */
#include "kernels/kernels.h"
#include "kernels/words.h"

/* ------------------------------------------------------------------ reading the text */

/* Where a body is being read: whether META_TEAMS(name, …) has come and { has not, the open braces
 * (0: outside the body), and how many there are in the phase, with that of MEMBERS (0: no phase).
 */
typedef struct place {
    bool is_ahead;
    int depth, phase;
} place;

/* An #if that is not ended yet. */
typedef struct branches {
    int line;
    place begin, end; /* of each branch; the end is known when has_end */
    bool has_end, has_else;
    bool is_left_out;  /* no compiler sees this branch */
    bool are_left_out; /* nor those that follow */
} branches;

enum { LEVELS = 32 };
typedef struct reader {
    const meta_kernel *kernel;
    meta_words words;
    place now;
    branches level[LEVELS];
    int levels;
} reader;

static meta_err refuse(const reader *r, const meta_words *at, const char *why)
{
    return meta_fail(META_ERR_ARGUMENT, "kernel %s, %s:%d: %.*s %s", r->kernel->name,
                     r->kernel->file, at->word_line, (int)at->length, at->word, why);
}

static bool is_one_of(const meta_words *w, const char *const *words)
{
    for (; *words; ++words)
        if (meta_words_is(w, *words)) return true;
    return false;
}

/* ------------------------------------------------------------------ the branches of #if */

/* Which branches compilers see is not known here, but for #if 0 and #if 1: each is read from where
 * the #if stands, and must end at the same place. */

static bool is_left_out(const reader *r)
{
    return r->levels > 0 && r->level[r->levels - 1].is_left_out;
}

static meta_err end_branch_at(reader *r, place end)
{
    branches *b = &r->level[r->levels - 1];
    if (b->has_end &&
        (b->end.is_ahead != end.is_ahead || b->end.depth != end.depth || b->end.phase != end.phase))
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s, %s:%d: the branches of this #if differ in the braces that "
                         "they leave open: end what a branch begins, a block or MEMBERS { }, in "
                         "the same branch",
                         r->kernel->name, r->kernel->file, b->line);
    b->end = end;
    b->has_end = true;
    return META_OK;
}

static void begin_branch(reader *r)
{
    branches *b = &r->level[r->levels - 1];
    b->is_left_out = b->are_left_out || meta_words_directive_has(&r->words, "0");
    b->are_left_out = b->are_left_out || meta_words_directive_has(&r->words, "1");
    r->now = b->begin;
}

static meta_err take_directive(reader *r)
{
    static const char *const begins[] = {"if", "ifdef", "ifndef", NULL};
    static const char *const goes_on[] = {"elif", "elifdef", "elifndef", "else", NULL};
    const meta_words *w = &r->words;
    if (is_one_of(w, begins)) {
        if (r->levels == LEVELS) return refuse(r, w, "is within more than 32 others");
        const bool none = is_left_out(r);
        r->level[r->levels++] =
            (branches){.line = w->word_line, .begin = r->now, .are_left_out = none};
        begin_branch(r);
        return META_OK;
    }
    if (r->levels == 0) return META_OK;
    branches *b = &r->level[r->levels - 1];
    const bool ends = meta_words_is(w, "endif");
    if (!ends && !is_one_of(w, goes_on)) return META_OK;
    if (!b->is_left_out) META_TRY(end_branch_at(r, r->now));
    b->has_else = b->has_else || meta_words_is(w, "else");
    if (!ends) {
        begin_branch(r);
        return META_OK;
    }
    if (!b->has_else && !b->are_left_out) META_TRY(end_branch_at(r, b->begin));
    r->now = b->has_end ? b->end : b->begin;
    --r->levels;
    return META_OK;
}

/* The next word that a compiler may see. */
static meta_err next_word(reader *r)
{
    meta_words *w = &r->words;
    do {
        meta_words_next_or_directive(w);
        if (w->is_directive) META_TRY(take_directive(r));
    } while (w->is_directive || (w->length > 0 && is_left_out(r)));
    return META_OK;
}

/* ------------------------------------------------------------------ the body */

/* A word outside the body. It may be META_TEAMS, which the kernel's name follows. */
static meta_err take_outside(reader *r)
{
    const meta_words *w = &r->words;
    if (r->now.is_ahead && meta_words_is(w, "{")) r->now = (place){.depth = 1};
    if (!meta_words_is(w, "META_TEAMS")) return META_OK;
    META_TRY(next_word(r));
    if (!meta_words_is(w, "(")) return META_OK;
    META_TRY(next_word(r));
    if (meta_words_is(w, r->kernel->name)) r->now.is_ahead = true;
    return META_OK;
}

static meta_err begin_phase(reader *r)
{
    if (r->now.phase)
        return refuse(r, &r->words, "begins within another phase: phases follow each other");
    const meta_words before = r->words;
    META_TRY(next_word(r));
    if (!meta_words_is(&r->words, "{")) return refuse(r, &before, "is not followed by {");
    r->now.phase = ++r->now.depth;
    return META_OK;
}

static meta_err take_inside(reader *r)
{
    static const char *const leave[] = {"return", "goto", NULL};
    static const char *const contribute[] = {"ADD", "LOWER", "RAISE", "ADD_TO", NULL};
    const meta_words *w = &r->words;
    place *now = &r->now;
    if (meta_words_is(w, "{")) ++now->depth;
    else if (meta_words_is(w, "}")) {
        if (now->depth-- == now->phase) now->phase = 0;
    } else if (meta_words_is(w, "MEMBERS")) {
        return begin_phase(r);
    } else if (now->phase && is_one_of(w, leave)) {
        return refuse(r, w,
                      "in a phase: the other members would wait for ever; `continue` ends a "
                      "member's part in the phase");
    } else if (!now->phase && is_one_of(w, contribute)) {
        return refuse(r, w,
                      "outside MEMBERS { }: work items of a GPU would do it each, a CPU once; "
                      "let one member do it, as in MEMBERS { if (MY(0) == 0) … }");
    }
    return META_OK;
}

/* All of the text: each branch of an #if may have a body. */
static meta_err check_body(const meta_kernel *k)
{
    reader r = {.kernel = k, .words = {.at = k->text, .line = 1}};
    META_TRY(next_word(&r));
    while (r.words.length > 0) {
        META_TRY(r.now.depth > 0 ? take_inside(&r) : take_outside(&r));
        META_TRY(next_word(&r));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ extents and memory */

static meta_err check_memory(const meta_kernel *k)
{
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < k->team->shareds; ++n) {
        const meta_kernel_shared *s = &k->team->shared[n];
        if (s->count == 0 || s->bytes == 0)
            return meta_fail(META_ERR_ARGUMENT, "kernel %s: shared memory %s has no element",
                             k->name, s->name);
        bytes += (uint64_t)s->bytes * s->count;
    }
    if (bytes > META_KERNEL_SHARED_BYTES)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: the members of a team share %llu bytes, but at most %d are "
                         "possible",
                         k->name, (unsigned long long)bytes, META_KERNEL_SHARED_BYTES);
    return META_OK;
}

meta_err meta_team_check(const meta_kernel *k)
{
    uint64_t members = 1;
    for (int d = 0; d < META_KERNEL_TEAM_DIMS; ++d) {
        const uint32_t extent = k->team->extent[d];
        if (extent == 0 || extent > META_KERNEL_MEMBERS)
            return meta_fail(
                META_ERR_ARGUMENT,
                "kernel %s: the extent of a team along dimension %d is %u, but 1 to %d "
                "are possible",
                k->name, d, (unsigned)extent, META_KERNEL_MEMBERS);
        members *= extent;
    }
    if (members > META_KERNEL_MEMBERS)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: a team has %llu members, but at most %d are possible", k->name,
                         (unsigned long long)members, META_KERNEL_MEMBERS);
    META_TRY(check_memory(k));
    return k->text ? check_body(k) : META_OK;
}
