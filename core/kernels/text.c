/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text.c
 *  The text from which a device's compiler builds a kernel of the program's: the kernel file, made
 *  a part of a function that runs the body for every cell of a space. The words in capitals that it
 *  uses are each back end's, see kernels/lang_opencl_user.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/user.h"

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

/* The type of an array's elements, in a static buffer. */
static const char *element_of(const meta_kernel_parameter *p)
{
    static _Thread_local char text[128];
    if (p->kind == META_PARAMETER_ADD)
        snprintf(text, sizeof text, "meta_added_%s", meta_element_name(p->type));
    else
        snprintf(text, sizeof text, "%s%s", p->kind == META_PARAMETER_IN ? "const " : "",
                 p->type_name);
    return text;
}

/* An array and its strides as parameters of the body's function. */
static void put_array(FILE *p, const meta_kernel_parameter *a)
{
    fprintf(p, "META_GLOBAL %s *META_RESTRICT %s, ", element_of(a), a->name);
    for (int d = 0; d < META_KERNEL_DIMS; ++d)
        fprintf(p, "const meta_i64 meta_%d_%s, ", d, a->name);
}

/* What META_CELLS is for one kernel: the head of the function that holds the body. */
static void put_head(const meta_kernel *k, void *with)
{
    FILE *p = with;
    /* AT() pastes names of arrays together, which must not be macros of the compiler's. */
    for (uint32_t n = 0; n < k->parameters; ++n)
        if (meta_parameter_is_array(&k->parameter[n]))
            fprintf(p, "#undef %s\n", k->parameter[n].name);
    fprintf(p, "#define META_CELLS_%s META_FUNCTION void %s_cell(", k->name, k->name);
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *a = &k->parameter[n];
        if (meta_parameter_is_array(a) && a->kind != META_PARAMETER_SCALAR) put_array(p, a);
        else if (meta_parameter_is_result(a)) fprintf(p, "%s *%s, ", accumulator(a), a->name);
        else fprintf(p, "const %s %s, ", a->type_name, a->name);
    }
    fprintf(p, "const meta_i64 meta_i, const meta_i64 *meta_x)\n");
}

/* The kernel file, its lines' numbers kept: what it includes is ahead of it already. */
static void put_file(FILE *p, const meta_kernel *kernel)
{
    fprintf(p, "#line 1 \"%s\"\n", kernel->file);
    for (const char *line = kernel->text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *word = line + strspn(line, " \t");
        const bool includes =
            *word == '#' && strncmp(word + 1 + strspn(word + 1, " \t"), "include", 7) == 0;
        fprintf(p, "%.*s\n", includes ? 0 : (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void put_parameters(FILE *p, const struct meta_kernel_state *s)
{
    for (uint32_t k = 0; k < s->desc.operands; ++k)
        fprintf(p, "META_USER_ARRAY(%u), ", (unsigned)k);
    for (uint32_t k = 0; k < s->desc.values; ++k) fprintf(p, "META_USER_WORD(%u), ", (unsigned)k);
    fprintf(p, "META_SPACE_PARAMETER%s)\n{\n    META_SPACE;\n",
            s->desc.results ? " META_USER_RESULTS_PARAMETERS" : "");
}

/* Values out of their words; scalars; results that nothing has contributed to. Parameter number n
 * is called meta_p<n> here: names of the program's must not meet those of the back end's text. */
static void put_values(FILE *p, const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    uint32_t word = 0, operand = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (meta_parameter_is_array(a)) {
            if (a->kind == META_PARAMETER_SCALAR)
                fprintf(p,
                        "    const %s meta_p%u = *((META_GLOBAL const %s *)operand%u + "
                        "s->layout[%u].base);\n",
                        a->type_name, (unsigned)n, a->type_name, (unsigned)operand,
                        (unsigned)operand);
            ++operand;
        } else if (meta_parameter_is_result(a)) {
            const char *type = meta_element_name(a->type);
            fprintf(p, "    %s meta_p%u = ", accumulator(a), (unsigned)n);
            if (a->kind == META_PARAMETER_SUM) fprintf(p, "0;\n");
            else
                fprintf(p, "META_%s_%s;\n", a->kind == META_PARAMETER_MIN ? "MOST" : "LEAST", type);
        } else {
            const uint32_t words = meta_parameter_words(a);
            fprintf(p, "    union { meta_u64 word[%u]; %s value; } meta_p%u;\n", (unsigned)words,
                    a->type_name, (unsigned)n);
            for (uint32_t w = 0; w < words; ++w, ++word)
                fprintf(p, "    meta_p%u.word[%u] = word%u;\n", (unsigned)n, (unsigned)w,
                        (unsigned)word);
        }
    }
}

static void put_index(FILE *p, const struct meta_kernel_state *s)
{
    const uint32_t first = s->desc.values - META_KERNEL_DIMS; /* the word of the box's start */
    fprintf(p, "        const meta_i64 meta_x[%d] = {", META_KERNEL_DIMS);
    for (uint32_t d = 0; d < META_KERNEL_DIMS; ++d)
        if (d == 0) fprintf(p, "(meta_i64)word%u, ", (unsigned)first);
        else
            fprintf(p, "(meta_i64)word%u + (s->ndim > %u ? r.coordinate[%u] : 0), ",
                    (unsigned)(first + d), (unsigned)d, (unsigned)d);
    fprintf(p, "};\n");
}

static void put_rows(FILE *p, const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    const char *simd = s->desc.results ? "META_SIMD_SUM(0)" : "META_SIMD";
    unsigned k = 0;
    fprintf(p, "    META_ROWS(r) {\n");
    put_index(p, s);
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!meta_parameter_is_array(a)) continue;
        if (a->kind != META_PARAMETER_SCALAR)
            fprintf(p,
                    "        META_GLOBAL %s *meta_p%u = (META_GLOBAL %s *)operand%u + r.at[%u];\n",
                    element_of(a), (unsigned)n, element_of(a), k, k);
        if (a->kind == META_PARAMETER_ADD) simd = ""; /* cells are not independent */
        ++k;
    }
    fprintf(p, "        %s META_COLUMNS(meta_i) %s_cell(", simd, kernel->name);
    k = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!meta_parameter_is_array(a)) {
            fprintf(p, meta_parameter_is_result(a) ? "&meta_p%u, " : "meta_p%u.value, ",
                    (unsigned)n);
            continue;
        }
        if (a->kind == META_PARAMETER_SCALAR) fprintf(p, "meta_p%u, ", (unsigned)n);
        else
            fprintf(p, "meta_p%u, %d, META_STRIDE(%u, 1), META_STRIDE(%u, 2), META_STRIDE(%u, 3), ",
                    (unsigned)n, a->dropped & 1 ? 0 : 1, k, k, k);
        ++k;
    }
    fprintf(p, "meta_i, meta_x);\n    }\n");
}

static void put_results(FILE *p, const struct meta_kernel_state *s)
{
    static const char *const combine[] = {
        [META_PARAMETER_SUM] = "SUM", [META_PARAMETER_MIN] = "MIN", [META_PARAMETER_MAX] = "MAX"};
    unsigned result = 0;
    for (uint32_t n = 0; n < s->kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &s->kernel->parameter[n];
        if (!meta_parameter_is_result(a)) continue;
        fprintf(p, "    META_USER_COMBINE(%s, %u, meta_p%u, META_USER_%s);\n", accumulator(a),
                result++, (unsigned)n, combine[a->kind]);
    }
}

char *meta_user_text(const struct meta_kernel_state *s)
{
    const meta_kernel *kernel = s->kernel;
    char *text = NULL;
    size_t size;
    FILE *p = open_memstream(&text, &size);
    if (!p) return NULL;
    fprintf(p, "#define T meta_%s\n#define META_CELLS(name) META_CELLS_##name\n",
            meta_element_name((uint32_t)kernel->type));
    meta_user_each_beside(kernel, put_head, p);
    put_file(p, kernel);
    fprintf(p, "\n#line 1 \"%s, run\"\nMETA_USER_KERNEL %s(", kernel->name, kernel->name);
    put_parameters(p, s);
    put_values(p, s);
    put_rows(p, s);
    put_results(p, s);
    fprintf(p, "}\n");
    const bool written = !ferror(p);
    if (fclose(p) == 0 && written) return text;
    free(text);
    return NULL;
}
