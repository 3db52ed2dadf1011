/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_build.c
 *  Translates functions: their declarations, labels and calls, which are inlined. */
#include "ptx_build.h"

#include <stdlib.h>
#include <string.h>

void *ptx_grow(ptx_builder *b, void *array, int count, int *room, size_t bytes)
{
    if (count < *room) return array;
    const int more = *room ? 2 * *room : 64;
    void *grown = realloc(array, (size_t)more * bytes);
    if (!grown) {
        ptx_bad(&b->reader, "out of memory");
        return NULL;
    }
    *room = more;
    return grown;
}

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* ------------------------------------------------------------------ registers */

int ptx_new_register(ptx_builder *b, size_t width)
{
    ptx_register *grown =
        ptx_grow(b, b->registers, b->register_count, &b->register_room, sizeof *b->registers);
    if (!grown) return 0;
    b->registers = grown;
    b->registers[b->register_count] =
        (ptx_register){.width = (unsigned char)width, .special = PTX_SPECIALS};
    return b->register_count++;
}

static int new_constant(ptx_builder *b, size_t width, uint64_t value, bool is_dynamic_base)
{
    for (int k = 0; k < b->constant_count; ++k) {
        const ptx_register *c = &b->registers[b->constants[k]];
        if (c->width == width && c->value == value && c->is_dynamic_base == is_dynamic_base)
            return b->constants[k];
    }
    int *grown = ptx_grow(b, b->constants, b->constant_count, &b->constant_room, sizeof *grown);
    const int reg = ptx_new_register(b, width);
    if (!grown || b->error->failed) return 0;
    ptx_register *c = &b->registers[reg];
    c->is_fixed = true;
    c->is_dynamic_base = is_dynamic_base;
    c->value = value;
    b->constants = grown;
    b->constants[b->constant_count++] = reg;
    return reg;
}

int ptx_constant(ptx_builder *b, size_t width, uint64_t value)
{
    if (width < 8) value &= ((uint64_t)1 << 8 * width) - 1;
    return new_constant(b, width, value, false);
}

int ptx_dynamic_base(ptx_builder *b, size_t width)
{
    return new_constant(b, width, 0, true);
}

int ptx_special_register(ptx_builder *b, const ptx_token *name)
{
    static const char *const names[PTX_SPECIALS] = {[PTX_TID_X] = "%tid.x",
                                                    [PTX_TID_Y] = "%tid.y",
                                                    [PTX_TID_Z] = "%tid.z",
                                                    [PTX_LANE] = "%laneid",
                                                    [PTX_WARP] = "%warpid",
                                                    [PTX_MASK_EQ] = "%lanemask_eq",
                                                    [PTX_MASK_LT] = "%lanemask_lt",
                                                    [PTX_MASK_LE] = "%lanemask_le",
                                                    [PTX_MASK_GT] = "%lanemask_gt",
                                                    [PTX_MASK_GE] = "%lanemask_ge",
                                                    [PTX_NTID_X] = "%ntid.x",
                                                    [PTX_NTID_Y] = "%ntid.y",
                                                    [PTX_NTID_Z] = "%ntid.z",
                                                    [PTX_NCTAID_X] = "%nctaid.x",
                                                    [PTX_NCTAID_Y] = "%nctaid.y",
                                                    [PTX_NCTAID_Z] = "%nctaid.z",
                                                    [PTX_DYNAMIC_BYTES] = "%dynamic_smem_size",
                                                    [PTX_TOTAL_BYTES] = "%total_smem_size",
                                                    [PTX_CTAID_X] = "%ctaid.x",
                                                    [PTX_CTAID_Y] = "%ctaid.y",
                                                    [PTX_CTAID_Z] = "%ctaid.z"};
    for (int k = 0; k < PTX_SPECIALS; ++k) {
        if (!ptx_token_is(name, names[k])) continue;
        if (b->specials[k] < 0) {
            b->specials[k] = ptx_new_register(b, 4);
            b->registers[b->specials[k]].is_fixed = true;
            b->registers[b->specials[k]].special = (ptx_special)k;
        }
        return b->specials[k];
    }
    return -1;
}

/* .reg .b32 %r<9>, %x; */
static void declare_registers(ptx_builder *b)
{
    ptx_reader *r = &b->reader;
    const ptx_type type = ptx_type_named(r->token.text + 1, r->token.length - 1);
    if (type == PTX_NONE) ptx_bad(r, "registers of this type are not supported");
    ptx_next(r);
    do {
        const ptx_token name = ptx_word(r);
        const bool many = ptx_accept(r, "<");
        const uint64_t count = many ? ptx_number(r, NULL) : 1;
        if (many) ptx_expect(r, ">");
        if (r->error->failed) return;
        const int first = b->register_count;
        for (uint64_t k = 0; k < count && !r->error->failed; ++k)
            ptx_new_register(b, ptx_type_bytes(type));
        ptx_symbol *symbol = ptx_name(&b->scope->names, r, &name,
                                      many ? PTX_IS_REGISTERS : PTX_IS_REGISTER, (uint64_t)first);
        if (symbol) symbol->count = (int)count;
    } while (ptx_accept(r, ","));
    ptx_expect(r, ";");
}

/* ------------------------------------------------------------------ names */

/* A shared variable of the module takes part in the kernels that name it. */
static ptx_symbol *place(ptx_builder *b, ptx_symbol *shared)
{
    ptx_symbol *placed = ptx_named(&b->placed, &shared->name);
    if (placed) return placed;
    b->shared_bytes = round_up(b->shared_bytes, shared->align);
    placed = ptx_name(&b->placed, &b->reader, &shared->name, PTX_IS_SHARED_PLACE, b->shared_bytes);
    b->shared_bytes += shared->bytes;
    return placed;
}

/* The name without the number at its end, which is set; or all of it. */
static ptx_token without_number(const ptx_token *name, int *number)
{
    ptx_token stem = *name;
    int scale = 1;
    *number = 0;
    while (stem.length > 1 && stem.text[stem.length - 1] >= '0' &&
           stem.text[stem.length - 1] <= '9' && scale < 100000000) {
        *number += scale * (stem.text[--stem.length] - '0');
        scale *= 10;
    }
    return stem;
}

ptx_symbol *ptx_lookup(ptx_builder *b, const ptx_token *name, int *number)
{
    int digits;
    const ptx_token stem = without_number(name, &digits);
    *number = 0;
    for (const ptx_scope *s = b->scope; s; s = s->is_function ? NULL : s->outer) {
        ptx_symbol *found = ptx_named(&s->names, name);
        if (found && found->kind != PTX_IS_REGISTERS) return found;
        found = ptx_named(&s->names, &stem);
        if (!found || found->kind != PTX_IS_REGISTERS || digits >= found->count) continue;
        *number = digits;
        return found;
    }
    ptx_symbol *found = ptx_named(&b->module->names, name);
    return found && found->kind == PTX_IS_SHARED ? place(b, found) : found;
}

/* ------------------------------------------------------------------ functions */

static void declare_variable(ptx_builder *b, bool shared, bool is_argument)
{
    ptx_reader *r = &b->reader;
    const ptx_variable v = ptx_declared(r);
    size_t *used = shared ? &b->shared_bytes : &b->kernel->local_bytes;
    const size_t align = shared || v.align > 8 ? v.align : 8;
    if (v.is_open) ptx_bad_at(r, &v.name, "a variable without a size is not supported here");
    if (ptx_at(r, "=")) ptx_bad(r, "an initial value is not supported here");
    if (r->error->failed) return;
    *used = round_up(*used, align);
    ptx_symbol *symbol =
        ptx_name(&b->scope->names, r, &v.name, shared ? PTX_IS_SHARED_PLACE : PTX_IS_LOCAL, *used);
    if (symbol) symbol->bytes = v.bytes, symbol->is_argument = is_argument;
    *used += v.bytes;
    ptx_expect(r, ";");
}

static void open_scope(ptx_builder *b)
{
    ptx_scope *scope = calloc(1, sizeof *scope);
    if (!scope) {
        ptx_bad(&b->reader, "out of memory");
        return;
    }
    scope->outer = b->scope;
    b->scope = scope;
}

static void close_scope(ptx_builder *b)
{
    ptx_scope *scope = b->scope;
    b->scope = scope->outer;
    ptx_forget_names(&scope->names);
    free(scope);
}

static void add_fixup(ptx_builder *b, int instruction, int target, const ptx_token *label)
{
    ptx_fixup *grown = ptx_grow(b, b->fixups, b->fixup_count, &b->fixup_room, sizeof *grown);
    if (!grown) return;
    b->fixups = grown;
    b->fixups[b->fixup_count++] = (ptx_fixup){instruction, target, *label};
}

/* NAME: of an instruction, or of the targets of an indexed branch. */
static void declare_label(ptx_builder *b)
{
    ptx_reader *r = &b->reader;
    const ptx_token name = ptx_word(r);
    ptx_next(r);
    if (!ptx_accept(r, ".branchtargets")) {
        ptx_name(b->labels, r, &name, PTX_IS_LABEL, (uint64_t)b->kernel->instructions);
        return;
    }
    ptx_symbol *labels = ptx_name(b->labels, r, &name, PTX_IS_LABELS, (uint64_t)b->target_count);
    do {
        const ptx_token label = ptx_word(r);
        int32_t *grown =
            ptx_grow(b, b->kernel->targets, b->target_count, &b->target_room, sizeof *grown);
        if (!grown || !labels) return;
        b->kernel->targets = grown;
        add_fixup(b, -1, b->target_count++, &label);
        ++labels->count;
    } while (ptx_accept(r, ","));
    ptx_expect(r, ";");
}

/* A branch's label, which may be declared below it, is kept in its place in the text until here. */
static void resolve_labels(ptx_builder *b, int first_fixup)
{
    for (int k = first_fixup; k < b->fixup_count; ++k) {
        const ptx_fixup *fixup = &b->fixups[k];
        const ptx_symbol *label = ptx_named(b->labels, &fixup->label);
        ptx_ins *in = fixup->instruction >= 0 ? &b->kernel->code[fixup->instruction] : NULL;
        const bool indexed = in && in->flow == PTX_INDEXED;
        if (!label || (label->kind == PTX_IS_LABELS) != indexed) {
            ptx_bad_at(&b->reader, &fixup->label, "this label is not declared");
            return;
        }
        if (in) in->target = (int32_t)label->value, in->targets = label->count;
        else b->kernel->targets[fixup->target] = (int32_t)label->value;
    }
    b->fixup_count = first_fixup;
}

void ptx_branch_to(ptx_builder *b, int instruction, const ptx_token *label)
{
    add_fixup(b, instruction, -1, label);
}

static void statement(ptx_builder *b)
{
    ptx_reader *r = &b->reader;
    if (ptx_accept(r, ";")) return;
    if (ptx_accept(r, "{")) open_scope(b);
    else if (ptx_accept(r, ".reg")) declare_registers(b);
    else if (ptx_accept(r, ".shared")) declare_variable(b, true, false);
    else if (ptx_accept(r, ".local")) declare_variable(b, false, false);
    else if (ptx_accept(r, ".param")) declare_variable(b, false, true);
    else if (ptx_at(r, ".loc") || ptx_at(r, ".file")) ptx_skip_line(r);
    else if (ptx_accept(r, ".pragma")) {
        ptx_next(r);
        ptx_expect(r, ";");
    } else if (ptx_at_label(r)) declare_label(b);
    else ptx_translate_instruction(b);
}

void ptx_translate_body(ptx_builder *b, const ptx_function *f, ptx_scope *parameters)
{
    const ptx_reader caller = b->reader;
    ptx_scope *const outer = b->scope;
    ptx_names *const outer_labels = b->labels, labels_here = {0};
    ptx_names labels = labels_here;
    const int first_fixup = b->fixup_count, first = b->kernel->instructions;
    const bool in_entry = b->in_entry;
    b->reader = f->body;
    b->reader.error = b->error;
    parameters->outer = b->scope;
    b->scope = parameters;
    b->labels = &labels;
    b->in_entry = f->is_entry;
    if (++b->depth > 32)
        ptx_bad(&b->reader, "recursion, or calls deeper than 32, are not supported");
    open_scope(b);
    while (!b->error->failed && !(b->scope->outer == parameters && ptx_at(&b->reader, "}"))) {
        if (ptx_accept(&b->reader, "}")) close_scope(b);
        else if (b->reader.token.kind == PTX_END) ptx_bad(&b->reader, "the function does not end");
        else statement(b);
    }
    while (b->scope != parameters) close_scope(b);
    if (!b->error->failed) resolve_labels(b, first_fixup);
    for (int k = first; k < b->kernel->instructions; ++k) {
        ptx_ins *in = &b->kernel->code[k];
        if (in->flow == PTX_BRANCH && in->target < 0) in->target = b->kernel->instructions;
    }
    ptx_forget_names(&labels);
    --b->depth;
    b->in_entry = in_entry;
    b->labels = outer_labels;
    b->scope = outer;
    b->reader = caller;
    if (b->error->failed) b->reader.token.kind = PTX_END;
}

/* Let a callee's parameters, which are declared in brackets, be the caller's variables. */
static void bind(ptx_builder *b, const ptx_reader *declared, const ptx_operand *given,
                 ptx_scope *scope)
{
    ptx_reader r = *declared;
    r.error = b->error;
    for (int k = 0; k < given->count && !b->error->failed; ++k) {
        int number;
        const ptx_symbol *variable = ptx_lookup(b, &given->list[k].token, &number);
        if (!variable || variable->kind != PTX_IS_LOCAL)
            ptx_bad_at(&r, &given->list[k].token,
                       "only .param variables are supported as arguments");
        if (ptx_at(&r, ")")) ptx_bad(&r, "there are too many arguments");
        ptx_expect(&r, ".param");
        const ptx_variable v = ptx_declared(&r);
        ptx_symbol *symbol =
            ptx_name(&scope->names, &r, &v.name, PTX_IS_LOCAL, variable ? variable->value : 0);
        if (symbol) symbol->bytes = v.bytes, symbol->is_argument = true;
        if (variable && variable->bytes < v.bytes)
            ptx_bad_at(&r, &v.name, "this argument is too small");
        ptx_accept(&r, ",");
    }
    if (!ptx_at(&r, ")")) ptx_bad(&r, "there are too few arguments");
}

void ptx_translate_call(ptx_builder *b, const ptx_operand *o, int count)
{
    static const ptx_operand none = {.form = PTX_GROUP_OF};
    const ptx_operand *returns = &none, *arguments = &none;
    if (count > 0 && o->form == PTX_GROUP_OF) returns = o++, --count;
    const ptx_token *name = count > 0 && o->form == PTX_ONE ? &o->one.token : &b->reader.token;
    if (count > 1 && o[1].form == PTX_GROUP_OF) arguments = &o[1], --count;
    if (count != 1) {
        ptx_bad_at(&b->reader, name, "this form of a call is not supported");
        return;
    }
    const ptx_symbol *symbol = ptx_named(&b->module->names, name);
    if (!symbol || !symbol->function) {
        ptx_bad_at(&b->reader, name, "a call of a function that has no body is not supported");
        return;
    }
    const ptx_function *f = symbol->function;
    ptx_scope parameters = {.is_function = true};
    if ((returns->count && !f->has_returns) || (arguments->count && !f->has_parameters))
        ptx_bad_at(&b->reader, name, "there are too many arguments");
    if (f->has_returns) bind(b, &f->returns, returns, &parameters);
    if (f->has_parameters) bind(b, &f->parameters, arguments, &parameters);
    if (!b->error->failed) ptx_translate_body(b, f, &parameters);
    ptx_forget_names(&parameters.names);
}

/* ------------------------------------------------------------------ entries */

static void declare_parameters(ptx_builder *b, const ptx_function *f, ptx_scope *scope)
{
    ptx_kernel *k = b->kernel;
    ptx_reader *r = &b->reader;
    int room = 0;
    if (!f->has_parameters) return;
    *r = f->parameters;
    r->error = b->error;
    while (!b->error->failed && !ptx_at(r, ")")) {
        ptx_expect(r, ".param");
        const ptx_variable v = ptx_declared(r);
        ptx_parameter *grown =
            ptx_grow(b, k->parameters, k->facts.parameters, &room, sizeof *grown);
        if (!grown || b->error->failed) return;
        k->parameters = grown;
        const size_t at = round_up(k->facts.argument_bytes, v.align);
        k->parameters[k->facts.parameters++] = (ptx_parameter){at, v.bytes};
        ptx_name(&scope->names, r, &v.name, PTX_IS_PARAMETER, at);
        k->facts.argument_bytes = at + v.bytes;
        if (!ptx_accept(r, ",") && !ptx_at(r, ")")) ptx_bad(r, "a comma is expected");
    }
}

static void free_builder(ptx_builder *b)
{
    ptx_forget_names(&b->placed);
    free(b->registers);
    free(b->fixups);
    free(b->constants);
}

/* Threads that reach an entry's end exit. */
static void append_exit(ptx_builder *b)
{
    ptx_kernel *k = b->kernel;
    ptx_ins *grown = ptx_grow(b, k->code, k->instructions, &b->instruction_room, sizeof *grown);
    if (!grown) return;
    k->code = grown;
    k->code[k->instructions++] = (ptx_ins){.flow = PTX_EXIT};
}

ptx_kernel *ptx_translate(ptx_module *m, const ptx_symbol *entry, ptx_error *error)
{
    ptx_kernel *k = calloc(1, sizeof *k);
    if (k) k->name = strndup(entry->name.text, entry->name.length);
    if (!k || !k->name) {
        free(k);
        *error = (ptx_error){.failed = true, .text = "out of memory"};
        return NULL;
    }
    ptx_builder b = {.module = m, .kernel = k, .error = error, .carry = -1};
    ptx_scope parameters = {.is_function = true};
    for (int s = 0; s < PTX_SPECIALS; ++s) b.specials[s] = -1;
    k->module = m;
    declare_parameters(&b, entry->function, &parameters);
    if (!error->failed) ptx_translate_body(&b, entry->function, &parameters);
    ptx_forget_names(&parameters.names);
    if (!error->failed) append_exit(&b);
    if (!error->failed) ptx_assign_rows(&b);
    free_builder(&b);
    k->facts.name = k->name;
    k->facts.parameter = k->parameters;
    k->facts.shared_bytes = b.shared_bytes;
    k->facts.max_threads = entry->function->max_threads;
    memcpy(k->facts.required, entry->function->required, sizeof k->facts.required);
    k->local_bytes = round_up(k->local_bytes, 16);
    if (!error->failed) return k;
    ptx_free_kernel(k);
    return NULL;
}

void ptx_free_kernel(ptx_kernel *k)
{
    free(k->name);
    free(k->parameters);
    free(k->code);
    free(k->targets);
    free(k->fixed);
    free(k);
}
