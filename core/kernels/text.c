/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text.c
 *  The text from which a device's compiler builds a kernel of the program's: the kernel file, made
 *  a part of a function that runs the body for every cell of a space. The words in capitals that it
 *  uses are each back end's, see kernels/lang_opencl_user.h. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/user.h"

/* A growing text; `all` is NULL once memory was out. */
typedef struct paper {
    char *all;
    size_t used, room;
} paper;

static void write_bytes(paper *p, const char *bytes, size_t count)
{
    if (!p->all) return;
    if (p->used + count + 1 > p->room) {
        const size_t room = 2 * (p->used + count + 1);
        char *moved = realloc(p->all, room);
        if (!moved) {
            free(p->all);
            p->all = NULL;
            return;
        }
        p->all = moved;
        p->room = room;
    }
    memcpy(p->all + p->used, bytes, count);
    p->used += count;
    p->all[p->used] = '\0';
}

__attribute__((format(printf, 2, 3))) static void put(paper *p, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    write_bytes(p, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

static bool is_array(const meta_kernel_parameter *p)
{
    return p->kind < META_PARAMETER_VALUE;
}

static bool is_result(const meta_kernel_parameter *p)
{
    return p->kind > META_PARAMETER_VALUE;
}

/* The type in which contributions are combined: of a sum wider, as of the built-in sums. */
static const char *accumulator(const meta_kernel_parameter *p)
{
    static const char *const wide[] = {
#define META_SUM_NAME(NAME, name, bytes, wide, sum) [META_##NAME] = "meta_" #sum,
        META_ARITHMETIC_TYPES(META_SUM_NAME)
#undef META_SUM_NAME
    };
    return p->kind == META_PARAMETER_SUM ? wide[p->type] : p->type_name;
}

/* What META_CELLS is for one kernel: the head of the function that holds the body. */
static void put_head(const meta_kernel *k, void *with)
{
    paper *p = with;
    put(p, "#define META_CELLS_%s META_FUNCTION void %s_cell(", k->name, k->name);
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *a = &k->parameter[n];
        if (is_array(a))
            put(p,
                "META_GLOBAL %s%s *META_RESTRICT %s, const meta_i64 meta_1_%s, "
                "const meta_i64 meta_2_%s, const meta_i64 meta_3_%s, ",
                a->kind == META_PARAMETER_IN ? "const " : "", a->type_name, a->name, a->name,
                a->name, a->name);
        else if (is_result(a)) put(p, "%s *%s, ", accumulator(a), a->name);
        else put(p, "const %s %s, ", a->type_name, a->name);
    }
    put(p, "const meta_i64 meta_i, const meta_i64 *meta_x)\n");
}

/* The kernel file, its lines' numbers kept: what it includes is ahead of it already. */
static void put_file(paper *p, const meta_kernel *kernel)
{
    write_bytes(p, "#line 1 \"", 9);
    write_bytes(p, kernel->file, strlen(kernel->file));
    write_bytes(p, "\"\n", 2);
    for (const char *line = kernel->text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *word = line + strspn(line, " \t");
        const bool includes =
            *word == '#' && strncmp(word + 1 + strspn(word + 1, " \t"), "include", 7) == 0;
        if (!includes) write_bytes(p, line, length);
        write_bytes(p, "\n", 1);
        line += length + (line[length] == '\n');
    }
}

static void put_parameters(paper *p, const struct meta_kernel_state *s)
{
    for (uint32_t k = 0; k < s->desc.operands; ++k) put(p, "META_USER_ARRAY(%u), ", (unsigned)k);
    for (uint32_t k = 0; k < s->desc.values; ++k) put(p, "META_USER_WORD(%u), ", (unsigned)k);
    put(p, "META_SPACE_PARAMETER%s)\n{\n    META_SPACE;\n",
        s->desc.results ? " META_USER_RESULTS_PARAMETERS" : "");
}

/* Values out of their words; results that nothing has contributed to. Parameter number n is called
 * meta_p<n> here: names of the program's must not meet those of the back end's text. */
static void put_values(paper *p, const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    uint32_t word = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (is_result(a)) {
            const char *type = meta_element_name(a->type);
            put(p, "    %s meta_p%u = ", accumulator(a), (unsigned)n);
            if (a->kind == META_PARAMETER_SUM) put(p, "0;\n");
            else put(p, "META_%s_%s;\n", a->kind == META_PARAMETER_MIN ? "MOST" : "LEAST", type);
        } else if (!is_array(a)) {
            const uint32_t words = (a->bytes + 7) / 8;
            put(p, "    union { meta_u64 word[%u]; %s value; } meta_p%u;\n", (unsigned)words,
                a->type_name, (unsigned)n);
            for (uint32_t w = 0; w < words; ++w, ++word)
                put(p, "    meta_p%u.word[%u] = word%u;\n", (unsigned)n, (unsigned)w,
                    (unsigned)word);
        }
    }
}

static void put_index(paper *p, const struct meta_kernel_state *s)
{
    const uint32_t first = s->desc.values - META_KERNEL_DIMS; /* the word of the box's start */
    put(p, "        const meta_i64 meta_x[%d] = {", META_KERNEL_DIMS);
    for (uint32_t d = 0; d < META_KERNEL_DIMS; ++d)
        if (d == 0) put(p, "(meta_i64)word%u, ", (unsigned)first);
        else
            put(p, "(meta_i64)word%u + (s->ndim > %u ? r.coordinate[%u] : 0), ",
                (unsigned)(first + d), (unsigned)d, (unsigned)d);
    put(p, "};\n");
}

static void put_rows(paper *p, const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    unsigned k = 0;
    put(p, "    META_ROWS(r) {\n");
    put_index(p, s);
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!is_array(a)) continue;
        const char *constant = a->kind == META_PARAMETER_IN ? "const " : "";
        put(p, "        META_GLOBAL %s%s *meta_p%u = (META_GLOBAL %s%s *)operand%u + r.at[%u];\n",
            constant, a->type_name, (unsigned)n, constant, a->type_name, k, k);
        ++k;
    }
    put(p, "        %s META_COLUMNS(meta_i) %s_cell(",
        s->desc.results ? "META_SIMD_SUM(0)" : "META_SIMD", kernel->name);
    k = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (is_array(a)) {
            put(p, "meta_p%u, META_STRIDE(%u, 1), META_STRIDE(%u, 2), META_STRIDE(%u, 3), ",
                (unsigned)n, k, k, k);
            ++k;
        } else {
            put(p, is_result(a) ? "&meta_p%u, " : "meta_p%u.value, ", (unsigned)n);
        }
    }
    put(p, "meta_i, meta_x);\n    }\n");
}

static void put_results(paper *p, const struct meta_kernel_state *s)
{
    static const char *const combine[] = {
        [META_PARAMETER_SUM] = "SUM", [META_PARAMETER_MIN] = "MIN", [META_PARAMETER_MAX] = "MAX"};
    unsigned result = 0;
    for (uint32_t n = 0; n < s->kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &s->kernel->parameter[n];
        if (!is_result(a)) continue;
        put(p, "    META_USER_COMBINE(%s, %u, meta_p%u, META_USER_%s);\n", accumulator(a), result++,
            (unsigned)n, combine[a->kind]);
    }
}

char *meta_user_text(const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    const char *type = meta_element_name((uint32_t)kernel->type);
    paper p = {.all = malloc(1), .room = 1};
    if (p.all) *p.all = '\0';
    put(&p, "#define T meta_%s\n#define META_CELLS(name) META_CELLS_##name\n", type);
    meta_user_each_beside(kernel, put_head, &p);
    put_file(&p, kernel);
    put(&p, "\n#line 1 \"%s, run\"\nMETA_USER_KERNEL %s(", kernel->name, kernel->name);
    put_parameters(&p, s);
    put_values(&p, s);
    put_rows(&p, s);
    put_results(&p, s);
    put(&p, "}\n");
    return p.all;
}
