/* SPDX-License-Identifier: BSD-3-Clause */
/** @file bodies.c
 *  A kernel's body, as text: of these mistakes compilers name only what libmeta's macros make of
 * it. What is not recognized is not judged. */
#include <stdio.h>
#include <string.h>

#include "kernels/lists.h"

enum { PARENTHESES = 64 };

/* A body being read. */
typedef struct body {
    const char *file;
    const meta_list *list;
    int line; /* where it begins */
} body;

static bool is_kind(const meta_listed *p, const char *kind)
{
    return p->kind_length == strlen(kind) && memcmp(p->kind, kind, p->kind_length) == 0;
}

static const meta_listed *find(const meta_list *list, const meta_words *w)
{
    for (int k = 0; k < list->parameters; ++k) {
        const meta_listed *p = &list->parameter[k];
        if (p->name_length == w->length && memcmp(p->name, w->word, w->length) == 0) return p;
    }
    return NULL;
}

static meta_err refuse(const body *b, int line, const meta_listed *p, const char *word,
                       const char *remedy)
{
    return meta_fail(META_ERR_ARGUMENT, "%s:%d: kernel %.*s: %s() of %.*s, which is %.*s%s: %s",
                     b->file, line, (int)b->list->kernel_length, b->list->kernel, word,
                     (int)p->name_length, p->name, (int)p->kind_length, p->kind,
                     p->is_whole ? " with WHOLE" : "", remedy);
}

/* ------------------------------------------------------------------ words with a parameter */

static const struct contribution {
    const char *word, *kinds[2];
} contributions[] = {
    {"ADD", {"SUM", "SUM"}}, {"LOWER", {"MIN", "MIN_AT"}}, {"RAISE", {"MAX", "MAX_AT"}}};

static meta_err judge_contribution(const body *b, const struct contribution *c, int line,
                                   const meta_listed *p)
{
    char remedy[128];
    if (is_kind(p, c->kinds[0]) || is_kind(p, c->kinds[1])) return META_OK;
    for (size_t k = 0; k < sizeof contributions / sizeof *contributions; ++k)
        if (is_kind(p, contributions[k].kinds[0]) || is_kind(p, contributions[k].kinds[1]))
            return snprintf(remedy, sizeof remedy, "write %s()", contributions[k].word),
                   refuse(b, line, p, c->word, remedy);
    snprintf(remedy, sizeof remedy, "%s() contributes to a result, %s", c->word, c->kinds[0]);
    return refuse(b, line, p, c->word, remedy);
}

static bool is_array(const meta_listed *p)
{
    return is_kind(p, "OUT") || is_kind(p, "INOUT") || is_kind(p, "IN") || is_kind(p, "ADD");
}

/* Behind the parenthesis that ends the access: whether it is assigned to. */
static bool is_assigned(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ++at;
    if (at[0] == '=') return at[1] != '=';
    if (at[0] != '\0' && at[1] == at[0] && (at[0] == '+' || at[0] == '-')) return true;
    return at[0] != '\0' && strchr("+-*/%&|^", at[0]) && at[1] == '=';
}

/* @p w is behind the array's name. */
static meta_err judge_access(const body *b, const char *word, int line, const meta_listed *p,
                             meta_words w)
{
    const bool gets = strcmp(word, "GET") == 0;
    int depth = 1;
    if (!is_array(p)) {
        if (is_kind(p, "SHARED")) return refuse(b, line, p, word, "use SHARED()");
        return refuse(b, line, p, word, "it is no array, use its name alone");
    }
    if (gets && !p->is_whole)
        return refuse(b, line, p, word, "use AT() or ON(), or give it the reach WHOLE");
    if (!gets && p->is_whole) return refuse(b, line, p, word, "its elements are got by GET()");
    while (depth > 0) {
        meta_words_next(&w);
        if (w.length == 0) return META_OK;
        depth += meta_words_is(&w, "(");
        depth -= meta_words_is(&w, ")");
    }
    if (is_kind(p, "IN") && is_assigned(w.at))
        return refuse(b, line, p, word, "what is written is OUT or INOUT");
    if (is_kind(p, "ADD") && is_assigned(w.at))
        return refuse(b, line, p, word, "its elements are added to by ADD_TO()");
    return META_OK;
}

/* The word at @p w, if a parameter's name in parentheses follows. */
static meta_err judge_word(const body *b, const meta_words *w)
{
    static const char *const accesses[] = {"AT", "AT1", "AT2", "AT4", "ON", "GET"};
    const int line = w->word_line;
    meta_words next = *w;
    meta_words_next(&next);
    if (!meta_words_is(&next, "(")) return META_OK;
    meta_words_next(&next);
    const meta_listed *p = find(b->list, &next);
    if (!p) return META_OK;
    for (size_t k = 0; k < sizeof contributions / sizeof *contributions; ++k)
        if (meta_words_is(w, contributions[k].word))
            return judge_contribution(b, &contributions[k], line, p);
    for (size_t k = 0; k < sizeof accesses / sizeof *accesses; ++k)
        if (meta_words_is(w, accesses[k])) return judge_access(b, accesses[k], line, p, next);
    return META_OK;
}

/* ------------------------------------------------------------------ what is not closed */

/* The parentheses that are open, by line, and how many braces. */
typedef struct open {
    int line[PARENTHESES];
    int depth, braces;
} open;

static meta_err refuse_open(const body *b, const open *o)
{
    const bool is_brace = o->depth == 0;
    return meta_fail(META_ERR_ARGUMENT, "%s:%d: kernel %.*s: the %s here is not closed", b->file,
                     is_brace ? b->line : o->line[o->depth - 1], (int)b->list->kernel_length,
                     b->list->kernel, is_brace ? "body that begins" : "parenthesis");
}

/* @return whether the body has ended */
static bool count(open *o, const meta_words *w)
{
    if (w->length != 1) return false;
    if (*w->word == '(' && o->depth < PARENTHESES) o->line[o->depth++] = w->word_line;
    if (*w->word == ')' && o->depth > 0) --o->depth;
    o->braces += (*w->word == '{') - (*w->word == '}');
    return *w->word == '}' && o->braces == 0;
}

/* A condition of the preprocessor ends it: each branch may have a brace, or mean another list. */
meta_err meta_body_check(const char *file, const meta_list *list, meta_words w)
{
    body b = {.file = file, .list = list, .line = w.word_line};
    open o = {.depth = 0};
    do meta_words_next_or_directive(&w);
    while (w.length > 0 && !w.is_directive && !meta_words_is(&w, "{"));
    if (!meta_words_is(&w, "{") || w.is_directive) return META_OK;
    b.line = w.word_line;
    for (bool ended = count(&o, &w); !ended;) {
        meta_words_next_or_directive(&w);
        if (w.length == 0 || (w.is_directive && meta_words_is(&w, "include")))
            return refuse_open(&b, &o);
        if (w.is_directive && !meta_words_is(&w, "define") && !meta_words_is(&w, "pragma"))
            return META_OK;
        if (w.is_directive) continue;
        if (o.depth > 0 && meta_words_is(&w, "}")) return refuse_open(&b, &o);
        META_TRY(judge_word(&b, &w));
        ended = count(&o, &w);
    }
    return META_OK;
}
