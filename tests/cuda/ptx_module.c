/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_module.c
 *  Loads modules: global variables with their values, and where functions are in the text. */
#include "ptx_module.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ names */

static int by_name(const void *a, const void *b)
{
    const ptx_token *x = &((const ptx_symbol *)a)->name, *y = &((const ptx_symbol *)b)->name;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return memcmp(x->text, y->text, x->length);
}

ptx_symbol *ptx_name(ptx_names *names, ptx_reader *r, const ptx_token *name, ptx_symbol_kind kind,
                     uint64_t value)
{
    if (r->error->failed) return NULL;
    ptx_symbol *symbol = calloc(1, sizeof *symbol);
    if (!symbol) {
        ptx_bad_at(r, name, "out of memory");
        return NULL;
    }
    *symbol = (ptx_symbol){.name = *name, .kind = kind, .value = value};
    ptx_symbol *const *found = tsearch(symbol, &names->tree, by_name);
    if (!found || *found != symbol) {
        free(symbol);
        ptx_bad_at(r, name, found ? "this name is declared twice" : "out of memory");
        return NULL;
    }
    symbol->next = names->first;
    names->first = symbol;
    return symbol;
}

ptx_symbol *ptx_named(const ptx_names *names, const ptx_token *name)
{
    const ptx_symbol key = {.name = *name};
    ptx_symbol *const *found = tfind(&key, &names->tree, by_name);
    return found ? *found : NULL;
}

void ptx_forget_names(ptx_names *names)
{
    while (names->first) {
        ptx_symbol *symbol = names->first;
        names->first = symbol->next;
        tdelete(symbol, &names->tree, by_name);
        free(symbol->function);
        free(symbol);
    }
}

/* ------------------------------------------------------------------ declarations */

static const struct {
    const char *name;
    ptx_type type;
    size_t bytes;
} types[] = {{"u8", PTX_U8, 1},   {"s8", PTX_S8, 1},   {"b8", PTX_U8, 1},    {"u16", PTX_U16, 2},
             {"s16", PTX_S16, 2}, {"b16", PTX_U16, 2}, {"u32", PTX_U32, 4},  {"s32", PTX_S32, 4},
             {"b32", PTX_U32, 4}, {"f32", PTX_F32, 4}, {"u64", PTX_U64, 8},  {"s64", PTX_S64, 8},
             {"b64", PTX_U64, 8}, {"f64", PTX_F64, 8}, {"pred", PTX_PRED, 1}};

ptx_type ptx_type_named(const char *word, size_t length)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
        if (strlen(types[k].name) == length && memcmp(types[k].name, word, length) == 0)
            return types[k].type;
    return PTX_NONE;
}

size_t ptx_type_bytes(ptx_type type)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
        if (types[k].type == type) return types[k].bytes;
    return 0;
}

static const char *const spaces[] = {".global", ".const", ".shared", ".local", ".param"};

ptx_variable ptx_declared(ptx_reader *r)
{
    ptx_variable v = {.type = PTX_NONE};
    size_t count = 1;
    while (r->token.kind == PTX_WORD && *r->token.text == '.') {
        const ptx_type type = ptx_type_named(r->token.text + 1, r->token.length - 1);
        bool is_space = false;
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; ++k)
            is_space |= ptx_at(r, spaces[k]);
        if (type != PTX_NONE) v.type = type, ptx_next(r);
        else if (ptx_accept(r, ".align")) v.align = ptx_number(r, NULL);
        else if (ptx_accept(r, ".v2")) count = 2;
        else if (ptx_accept(r, ".v4")) count = 4;
        else if (is_space || ptx_at(r, ".ptr")) ptx_next(r); /* what a parameter points to */
        else ptx_unsupported(r, "this is not supported in a declaration");
    }
    if (v.type == PTX_NONE) ptx_bad(r, "a type is expected");
    v.name = ptx_word(r);
    while (ptx_accept(r, "[")) {
        if (ptx_at(r, "]")) v.is_open = true;
        else count *= ptx_number(r, NULL);
        ptx_expect(r, "]");
    }
    const size_t bytes = v.type == PTX_NONE ? 0 : ptx_type_bytes(v.type);
    v.bytes = v.is_open ? 0 : count * bytes;
    if (!v.align) v.align = bytes ? bytes : 1;
    return v;
}

/* The values behind a variable's equals sign, in nested braces or one alone. */
static void initialise(ptx_reader *r, const ptx_variable *v, char *bytes)
{
    const size_t size = v->type == PTX_NONE ? 1 : ptx_type_bytes(v->type);
    size_t at = 0;
    int depth = 0;
    do {
        if (ptx_accept(r, "{")) ++depth;
        else if (ptx_accept(r, "}")) --depth;
        else if (!ptx_accept(r, ",")) {
            const bool minus = ptx_accept(r, "-");
            if (r->token.kind != PTX_NUMBER)
                ptx_unsupported(r, "an initial value that is no number is not supported");
            ptx_literal literal;
            uint64_t value = ptx_number(r, &literal);
            if (minus) value = (uint64_t)0 - value;
            if (at + size > v->bytes) ptx_bad(r, "there are too many initial values");
            else memcpy(bytes + at, &value, size);
            at += size;
        }
    } while (depth > 0 && r->token.kind != PTX_END);
}

static void global_variable(ptx_module *m, ptx_reader *r, bool is_constant)
{
    const ptx_variable v = ptx_declared(r);
    ptx_range *grown = realloc(m->globals, (m->global_count + 1) * sizeof *grown), made;
    if (grown) m->globals = grown;
    if (r->error->failed) return;
    if (!grown || !m->memory->allocate(m->memory, v.bytes ? v.bytes : 1, &made)) {
        ptx_bad_at(r, &v.name, "no memory is left for a global variable of %zu bytes", v.bytes);
        return;
    }
    ptx_range *place = &m->globals[is_constant ? m->constant_count++ : m->global_count];
    m->globals[m->global_count++] = *place;
    *place = made;
    memset(made.bytes, 0, v.bytes);
    if (made.begin % v.align)
        ptx_unsupported(r, "memory that is aligned to %zu bytes is not supported", v.align);
    ptx_name(&m->names, r, &v.name, PTX_IS_GLOBAL, made.begin);
    if (ptx_accept(r, "=")) initialise(r, &v, made.bytes);
}

static void shared_variable(ptx_module *m, ptx_reader *r)
{
    const ptx_variable v = ptx_declared(r);
    ptx_symbol *symbol =
        ptx_name(&m->names, r, &v.name, v.is_open ? PTX_IS_DYNAMIC_SHARED : PTX_IS_SHARED, 0);
    if (symbol) symbol->bytes = v.bytes, symbol->align = v.align;
}

/* Directives between a function's parameters and its body. */
static void performance_directives(ptx_reader *r, ptx_function *f)
{
    for (;;) {
        const bool exactly = ptx_at(r, ".reqntid"), most = exactly || ptx_at(r, ".maxntid");
        if (most) f->max_threads = 1;
        if (exactly) f->required[0] = f->required[1] = f->required[2] = 1;
        if (most || ptx_at(r, ".minnctapersm") || ptx_at(r, ".maxnctapersm") ||
            ptx_at(r, ".maxnreg")) {
            unsigned dimension = 0;
            do {
                ptx_next(r);
                const uint64_t n = ptx_number(r, NULL);
                if (most) f->max_threads *= (unsigned)n;
                if (exactly && dimension < 3) f->required[dimension++] = (unsigned)n;
            } while (ptx_at(r, ","));
        } else if (ptx_accept(r, ".pragma")) {
            ptx_next(r);
            ptx_expect(r, ";");
        } else if (!ptx_accept(r, ".noreturn")) {
            return;
        }
    }
}

static bool group(ptx_reader *r, ptx_reader *kept)
{
    if (!ptx_at(r, "(")) return false;
    *kept = *r;
    ptx_next(kept);
    ptx_skip_group(r, '(', ')');
    return true;
}

static void function(ptx_module *m, ptx_reader *r, bool is_entry)
{
    ptx_function f = {.is_entry = is_entry, .max_threads = PTX_MOST_THREADS};
    if (ptx_accept(r, ".attribute")) ptx_skip_group(r, '(', ')');
    f.has_returns = group(r, &f.returns);
    const ptx_token name = ptx_word(r);
    f.has_parameters = group(r, &f.parameters);
    performance_directives(r, &f);
    if (ptx_accept(r, ";")) return; /* a declaration */
    if (!ptx_at(r, "{")) ptx_bad(r, "a function's body is expected");
    f.body = *r;
    ptx_next(&f.body);
    ptx_skip_group(r, '{', '}');
    ptx_symbol *symbol = ptx_name(&m->names, r, &name, PTX_IS_FUNCTION, 0);
    if (!symbol) return;
    symbol->function = malloc(sizeof f);
    if (symbol->function) *symbol->function = f;
    else ptx_bad_at(r, &name, "out of memory");
}

static void directive(ptx_module *m, ptx_reader *r)
{
    if (ptx_accept(r, ".visible") || ptx_accept(r, ".weak") || ptx_accept(r, ".extern") ||
        ptx_accept(r, ".common") || ptx_accept(r, ";"))
        return;
    if (ptx_accept(r, ".entry")) function(m, r, true);
    else if (ptx_accept(r, ".func")) function(m, r, false);
    else if (ptx_accept(r, ".global")) global_variable(m, r, false);
    else if (ptx_accept(r, ".const")) global_variable(m, r, true);
    else if (ptx_accept(r, ".shared")) shared_variable(m, r);
    else if (ptx_at(r, ".target") || ptx_at(r, ".file")) ptx_skip_line(r);
    else if (ptx_accept(r, ".address_size")) {
        if (!ptx_at(r, "64")) ptx_unsupported(r, "addresses of 64 bits are expected");
        ptx_next(r);
    } else if (ptx_accept(r, ".section")) {
        while (r->token.kind != PTX_END && !ptx_at(r, "{")) ptx_next(r);
        ptx_skip_group(r, '{', '}');
    } else {
        ptx_unsupported(r, "this is not known in a module");
    }
}

/* ------------------------------------------------------------------ modules */

static _Thread_local bool lacked;

int ptx_load_lacked(void)
{
    return lacked;
}

static void say(char *why, size_t room, const char *text)
{
    if (room) snprintf(why, room, "%s", text);
}

ptx_module *ptx_load(const char *text, const ptx_memory *memory, char *why, size_t room)
{
    ptx_error error = {0};
    ptx_reader r;
    ptx_module *m = calloc(1, sizeof *m);
    lacked = false;
    if (m) m->text = malloc(strlen(text) + 1);
    if (!m || !m->text) {
        free(m);
        say(why, room, "out of memory");
        return NULL;
    }
    memcpy(m->text, text, strlen(text) + 1);
    m->memory = memory;
    pthread_mutex_init(&m->lock, NULL);
    ptx_read(&r, m->text, 1, &error);
    if (!ptx_at(&r, ".version")) ptx_bad(&r, "this is no PTX: it does not begin with .version");
    ptx_skip_line(&r);
    while (r.token.kind != PTX_END) directive(m, &r);
    if (!error.failed) return m;
    say(why, room, error.text);
    lacked = error.unsupported;
    ptx_free(m);
    return NULL;
}

void ptx_free(ptx_module *m)
{
    if (!m) return;
    for (ptx_symbol *s = m->names.first; s; s = s->next)
        if (s->function && s->function->kernel) ptx_free_kernel(s->function->kernel);
    for (size_t k = 0; k < m->global_count; ++k) m->memory->release(m->memory, &m->globals[k]);
    ptx_forget_names(&m->names);
    ptx_free_workers(m->idle);
    pthread_mutex_destroy(&m->lock);
    free(m->globals);
    free(m->text);
    free(m);
}

ptx_kernel *ptx_find(ptx_module *m, const char *name, char *why, size_t room)
{
    const ptx_token token = {PTX_WORD, name, strlen(name), 0};
    ptx_error error = {0};
    pthread_mutex_lock(&m->lock);
    const ptx_symbol *symbol = ptx_named(&m->names, &token);
    ptx_function *f = symbol ? symbol->function : NULL;
    if (f && f->is_entry && !f->kernel) f->kernel = ptx_translate(m, symbol, &error);
    pthread_mutex_unlock(&m->lock);
    say(why, room, error.text);
    return f ? f->kernel : NULL;
}

const ptx_facts *ptx_facts_of(const ptx_kernel *kernel)
{
    return &kernel->facts;
}
