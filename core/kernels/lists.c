/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lists.c
 *  The parameter lists of a kernel file, as text: of a mistake there a compiler says thousands of
 * lines, none of which names it. What a macro of the file stands for is not judged. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/compiler.h"
#include "kernels/lists.h"

enum { PARTS = 8, SHOWN = 60 };

/* A stretch of the text: its first word or character, and how many it has. */
typedef struct part {
    const char *text, *end, *first;
    size_t first_length;
    int words;
} part;

/* A list being read. */
typedef struct list {
    const char *file, *text;
    meta_words w; /* in the directive */
    meta_list of;
} list;

/* ------------------------------------------------------------------ messages */

static meta_err refuse(const list *l, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static meta_err refuse(const list *l, int line, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return meta_fail(META_ERR_ARGUMENT, "%s:%d: list of kernel %.*s: %s", l->file, line,
                     (int)l->of.kernel_length, l->of.kernel, why);
}

/* A part as `%.*s` takes it, cut where it is long or a line ends. */
#define TEXT_OF(p) shown(p), (p)->text
static int shown(const part *p)
{
    int length = 0;
    while (p->text + length < p->end && length < SHOWN && p->text[length] != '\n') ++length;
    return length;
}

/* ------------------------------------------------------------------ words */

static bool is_word(const part *p, const char *text)
{
    return p->first_length == strlen(text) && memcmp(p->first, text, p->first_length) == 0;
}

static bool is_one_of(const part *p, const char *const *names)
{
    for (; *names; ++names)
        if (is_word(p, *names)) return true;
    return false;
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const part *p)
{
    return p->words == 1 && begins_name(*p->first);
}

/* Whether the file has a macro of that name. */
static bool is_macro(const char *text, const char *word, size_t length)
{
    meta_words w = {.at = text, .line = 1};
    do {
        meta_words_next_or_directive(&w);
        if (!w.is_directive || !meta_words_is(&w, "define")) continue;
        meta_words name = w;
        if (meta_words_next_of_directive(&name) && name.length == length &&
            memcmp(name.word, word, length) == 0)
            return true;
    } while (w.length > 0);
    return false;
}

static bool has_character(const part *p, char c)
{
    return memchr(p->text, c, (size_t)(p->end - p->text)) != NULL;
}

/* ------------------------------------------------------------------ a parameter */

static const char *const arrays[] = {"OUT", "INOUT", "IN", "ADD", NULL};
static const char *const others[] = {"VALUE", "SCALAR", "SUM",    "MIN",
                                     "MAX",   "MIN_AT", "MAX_AT", NULL};
static const char *const plain[] = {"CELL", "WHOLE", NULL};
static const char *const numbered[] = {"STAR",  "BOX",   "SIDES",  "SIDES2", "SIDES1", "LINE",
                                       "PLANE", "GROWN", "GROWN2", "GROWN1", NULL};
static const int numbers[] = {1, 1, 6, 4, 2, 1, 1, 3, 2, 1}; /* that each of them has */
static const char *const reaches[] = {"STAR", "BOX", "SIDES", "SIDES2", "SIDES1", NULL};

/* The numbers of NAME(number, ...), and whether one of them is negative. @return 0 where a word is
 * among them, which may stand for several */
static int count_numbers(const part *item, bool *negative)
{
    int count = 1, depth = 0;
    char before = 0;
    *negative = false;
    for (const char *at = item->first + item->first_length; at < item->end; ++at) {
        if (*at == ' ' || *at == '\\' || *at == '\n') continue;
        if (begins_name(*at)) return 0;
        depth += (*at == '(') - (*at == ')');
        count += *at == ',' && depth == 1;
        *negative |= *at == '-' && depth == 1 && (before == '(' || before == ',');
        before = *at;
    }
    return count;
}

static meta_err judge_numbers(const list *l, int line, const part *name, const part *item)
{
    bool negative;
    int k = 0;
    if (item->words < 4)
        return refuse(l, line, "'%.*s' of array %.*s has no numbers: write %.*s(...)",
                      TEXT_OF(item), TEXT_OF(name), (int)item->first_length, item->first);
    const int count = count_numbers(item, &negative);
    while (!is_word(item, numbered[k])) ++k;
    if (count > 0 && count != numbers[k])
        return refuse(l, line, "'%.*s' of array %.*s has %d number%s: %s takes %d%s", TEXT_OF(item),
                      TEXT_OF(name), count, count == 1 ? "" : "s", numbered[k], numbers[k],
                      numbers[k] > 2 ? ", and there are others with 1 or 2 behind the name for "
                                       "fewer dimensions"
                                     : "");
    if (negative && is_one_of(item, reaches))
        return refuse(l, line,
                      "'%.*s' of array %.*s has a negative number: it counts cells on a side",
                      TEXT_OF(item), TEXT_OF(name));
    return META_OK;
}

static meta_err judge_item(const list *l, int line, const part *name, const part *kind,
                           const part *item)
{
    if (is_macro(l->text, item->first, item->first_length)) return META_OK;
    if (is_one_of(item, plain) ? item->words > 1 : !is_one_of(item, numbered))
        return refuse(l, line,
                      "'%.*s' of array %.*s is neither a reach (CELL, STAR(r), BOX(r), SIDES(...), "
                      "WHOLE) nor a shape (LINE(d), PLANE(d), GROWN(...))",
                      TEXT_OF(item), TEXT_OF(name));
    if (is_word(kind, "OUT") && is_one_of(item, plain))
        return refuse(l, line,
                      "array %.*s is OUT, which every cell writes at itself: leave '%.*s' out",
                      TEXT_OF(name), TEXT_OF(item));
    if (is_one_of(item, numbered)) META_TRY(judge_numbers(l, line, name, item));
    if (is_one_of(item, reaches) && !is_word(kind, "IN") && !is_word(kind, "ADD"))
        return refuse(l, line,
                      "array %.*s is %.*s, which a cell accesses at itself: it has no reach '%.*s'",
                      TEXT_OF(name), TEXT_OF(kind), TEXT_OF(item));
    return META_OK;
}

static meta_err judge_array(const list *l, int line, const part *p, int parts)
{
    const bool needs_reach = is_word(&p[0], "IN") || is_word(&p[0], "ADD");
    if (needs_reach && parts == 3)
        return refuse(l, line,
                      "array %.*s is %.*s and has no reach: add where cells access it, CELL, "
                      "STAR(r), BOX(r), SIDES(...) or WHOLE",
                      TEXT_OF(&p[2]), TEXT_OF(&p[0]));
    if (parts > 6)
        return refuse(l, line, "array %.*s has %d items behind its name", TEXT_OF(&p[2]),
                      parts - 3);
    for (int k = 3; k < parts; ++k) META_TRY(judge_item(l, line, &p[2], &p[0], &p[k]));
    return META_OK;
}

static meta_err judge_name(list *l, int line, const part *kind, const part *name)
{
    enum { MOST = sizeof l->of.parameter / sizeof *l->of.parameter };
    if (!is_name(name))
        return refuse(l, line, "'%.*s' is no name of a parameter: is a comma missing?",
                      TEXT_OF(name));
    for (int k = 0; k < l->of.parameters; ++k)
        if (l->of.parameter[k].name_length == name->first_length &&
            memcmp(l->of.parameter[k].name, name->first, name->first_length) == 0)
            return refuse(l, line, "two parameters are called %.*s", TEXT_OF(name));
    if (l->of.parameters < MOST)
        l->of.parameter[l->of.parameters++] =
            (meta_listed){name->first, kind->first, name->first_length, kind->first_length, false};
    return META_OK;
}

/* A(kind, type, name, …): its parts. */
static meta_err judge_parameter(list *l, int line, const part *p, int parts)
{
    const bool is_array = is_one_of(&p[0], arrays), is_other = is_one_of(&p[0], others);
    const bool is_shared = is_word(&p[0], "SHARED");
    if (!is_array && !is_other && !is_shared)
        return refuse(l, line,
                      "'%.*s' is no kind of parameter: OUT, INOUT, IN, ADD, VALUE, SCALAR, SUM, "
                      "MIN, MAX, MIN_AT, MAX_AT or SHARED",
                      TEXT_OF(&p[0]));
    if (parts < 3)
        return refuse(
            l, line,
            "a parameter '%.*s' of %d parts: it has a kind, a type and a name, with "
            "commas between them",
            (int)(p[parts - 1].end - p[0].text < SHOWN ? p[parts - 1].end - p[0].text : SHOWN),
            p[0].text, parts);
    META_TRY(judge_name(l, line, &p[0], &p[2]));
    for (int k = 3; k < parts; ++k)
        if (is_word(&p[k], "WHOLE")) l->of.parameter[l->of.parameters - 1].is_whole = true;
    if (has_character(&p[1], '*'))
        return refuse(
            l, line,
            "the type of %.*s is '%.*s', a pointer, which devices cannot follow: an array "
            "is OUT, INOUT, IN or ADD, of the type of its elements",
            TEXT_OF(&p[2]), TEXT_OF(&p[1]));
    if (is_array) return judge_array(l, line, p, parts);
    if (is_shared ? parts != 4 : parts != 3)
        return refuse(l, line, "%.*s %.*s has %s", TEXT_OF(&p[0]), TEXT_OF(&p[2]),
                      is_shared ? "no number of elements: A(SHARED, type, name, count)"
                                : "an item behind its name: only arrays have a reach");
    return META_OK;
}

/* ------------------------------------------------------------------ a list */

/* Read the parts of a parameter, behind its parenthesis. @return false: they do not end, or are
 * more than a parameter has */
static bool read_parts(list *l, part p[PARTS], int *parts)
{
    int depth = 0, n = 0;
    p[0] = (part){0};
    while (meta_words_next_of_directive(&l->w)) {
        const char c = l->w.length == 1 ? *l->w.word : 'a';
        if (c == ')' && depth == 0) {
            *parts = n + 1;
            for (int k = 0; k <= n; ++k)
                if (p[k].words == 0) p[k].text = p[k].end = p[k].first = l->w.word;
            return true;
        }
        if (c == ',' && depth == 0) {
            if (++n == PARTS) return false;
            p[n] = (part){0};
            continue;
        }
        depth += (c == '(') - (c == ')');
        if (p[n].words++ == 0) {
            p[n].text = p[n].first = l->w.word;
            p[n].first_length = l->w.length;
        }
        p[n].end = l->w.word + l->w.length;
    }
    return false;
}

/* Past a macro's arguments, if it has some. */
static bool skip_arguments(list *l)
{
    meta_words next = l->w;
    int depth = 0;
    if (!meta_words_next_of_directive(&next) || !meta_words_is(&next, "(")) return true;
    do {
        if (!meta_words_next_of_directive(&l->w)) return false;
        depth += meta_words_is(&l->w, "(");
        depth -= meta_words_is(&l->w, ")");
    } while (depth > 0);
    return true;
}

/* The list that begins behind NAME_ARGS. */
static meta_err judge_list(list *l)
{
    meta_words parameter;
    part p[PARTS];
    int parts = 0;
    if (!meta_words_next_of_directive(&l->w) || !meta_words_is(&l->w, "(")) return META_OK;
    if (!meta_words_next_of_directive(&l->w)) return META_OK;
    parameter = l->w;
    if (!meta_words_next_of_directive(&l->w) || !meta_words_is(&l->w, ")")) return META_OK;
    while (meta_words_next_of_directive(&l->w)) {
        const int line = l->w.word_line;
        if (meta_words_is(&l->w, ",") || meta_words_is(&l->w, ";"))
            return refuse(l, line, "'%c' between two parameters: they follow each other without it",
                          *l->w.word);
        if (l->w.length != parameter.length ||
            memcmp(l->w.word, parameter.word, parameter.length) != 0) {
            if (!skip_arguments(l)) return META_OK;
            continue;
        }
        if (!meta_words_next_of_directive(&l->w) || !meta_words_is(&l->w, "(")) return META_OK;
        if (!read_parts(l, p, &parts)) return META_OK;
        META_TRY(judge_parameter(l, line, p, parts));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ a file */

static bool is_list(const meta_words *w)
{
    static const char ending[] = "_ARGS";
    const size_t length = sizeof ending - 1;
    return w->length > length && memcmp(w->word + w->length - length, ending, length) == 0;
}

/* What a file has beside its lists. */
typedef struct contents {
    bool includes_more; /* than <headers> and itself */
    bool includes_itself, includes_language;
    int first_kernel; /* its line; 0: there is none */
} contents;

static void note_include(contents *c, const meta_words *w)
{
    meta_words what = *w;
    if (!meta_words_next_of_directive(&what)) { /* a name in quotes */
        c->includes_more = true;
    } else if (meta_words_is(&what, "META_AGAIN")) {
        c->includes_itself = true;
    } else if (!meta_words_is(&what, "<")) {
        c->includes_more = true;
    } else {
        meta_words_next_of_directive(&what);
        c->includes_language |= meta_words_is(&what, "meta_kernel");
    }
}

/* The list that @p w is at the definition of; false: it is none. */
static bool begin_list(list *l, const char *file, const char *text, const meta_words *w)
{
    *l = (list){.file = file, .text = text, .w = *w};
    if (!meta_words_next_of_directive(&l->w) || !is_list(&l->w)) return false;
    l->of.kernel = l->w.word;
    l->of.kernel_length = l->w.length - (sizeof "_ARGS" - 1);
    return true;
}

/* The list of the kernel that @p name names, judged before. @return how many the file has: of
 * several, which depend on conditions, @p l has no parameters */
static int find_list(list *l, const char *file, const char *text, const meta_words *name)
{
    meta_words w = {.at = text, .line = 1};
    int found = 0;
    list one;
    do {
        meta_words_next_or_directive(&w);
        if (!w.is_directive || !meta_words_is(&w, "define")) continue;
        if (!begin_list(&one, file, text, &w) || one.of.kernel_length != name->length ||
            memcmp(one.of.kernel, name->word, name->length) != 0)
            continue;
        *l = one;
        if (++found == 1 && judge_list(l) != META_OK) l->of.parameters = 0;
    } while (w.length > 0);
    return found;
}

/* META_CELLS(name) and META_TEAMS(name, …) need a list of that name, which their body keeps to. */
static meta_err judge_kernel(const char *file, const char *text, const contents *c, meta_words w)
{
    const int line = w.word_line;
    list l;
    meta_words_next(&w);
    if (!meta_words_is(&w, "(")) return META_OK;
    meta_words_next(&w);
    if (find_list(&l, file, text, &w) > 0) return meta_body_check(file, &l.of, w);
    if (c->includes_more) return META_OK;
    const int length = (int)(w.length < 100 ? w.length : 100);
    return meta_fail(META_ERR_ARGUMENT,
                     "%s:%d: kernel %.*s has no list of parameters: #define %.*s_ARGS(A) is "
                     "missing",
                     file, line, length, w.word, length, w.word);
}

/* What begins as META_CELLS does, is no macro of the file's, and has something in parentheses. */
static meta_err judge_other(const char *file, const char *text, const meta_words *w)
{
    meta_words next = *w;
    meta_words_next(&next);
    if (!meta_words_is(&next, "(") || is_macro(text, w->word, w->length)) return META_OK;
    return meta_fail(META_ERR_ARGUMENT,
                     "%s:%d: '%.*s' begins no kernel: META_CELLS(name) or META_TEAMS(name, x, y, "
                     "z) does",
                     file, w->word_line, (int)w->length, w->word);
}

static bool begins_with(const meta_words *w, const char *text)
{
    return w->length >= strlen(text) && memcmp(w->word, text, strlen(text)) == 0;
}

/* At a directive: whether what follows is behind #if 0. @p depth: how deep, 0 if it is not. */
static bool is_left_out(const meta_words *w, int *depth)
{
    const bool begins = w->length >= 2 && memcmp(w->word, "if", 2) == 0;
    if (*depth == 0) *depth = meta_words_is(w, "if") && meta_words_directive_has(w, "0");
    else if (begins) ++*depth;
    else if (meta_words_is(w, "endif")) --*depth;
    else if (*depth == 1 && (meta_words_is(w, "else") || meta_words_is(w, "elif"))) *depth = 0;
    return *depth > 0;
}

meta_err meta_compiler_check_lists(const char *file, const char *text)
{
    meta_words w = {.at = text, .line = 1};
    contents c = {.first_kernel = 0};
    int left_out = 0;
    list l;
    do {
        meta_words_next_or_directive(&w);
        if (w.is_directive ? is_left_out(&w, &left_out) : left_out > 0) continue;
        if (w.is_directive) {
            if (meta_words_is(&w, "include")) note_include(&c, &w);
            if (meta_words_is(&w, "define") && begin_list(&l, file, text, &w))
                META_TRY(judge_list(&l));
        } else if (meta_words_is(&w, "META_CELLS") || meta_words_is(&w, "META_TEAMS")) {
            META_TRY(judge_kernel(file, text, &c, w));
            if (c.first_kernel == 0) c.first_kernel = w.word_line;
        } else if (begins_with(&w, "META_CELL") || begins_with(&w, "META_TEAM")) {
            META_TRY(judge_other(file, text, &w));
        }
    } while (w.length > 0);
    if (c.first_kernel == 0 || c.includes_more) return META_OK;
    if (!c.includes_language)
        return meta_fail(META_ERR_ARGUMENT,
                         "%s:%d: the file has kernels, but does not begin with #include "
                         "<meta_kernel.h>",
                         file, c.first_kernel);
    if (c.includes_itself) return META_OK;
    return meta_fail(META_ERR_ARGUMENT,
                     "%s:%d: the file has kernels, but its last line, #include META_AGAIN, is "
                     "missing, by which it includes itself for each type",
                     file, c.first_kernel);
}
