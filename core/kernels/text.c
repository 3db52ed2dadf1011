/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text.c
 *  The text from which a device's compiler builds a kernel of the program's: the kernel file, made
 *  a part of a function that runs the body for every cell of a space. The words in capitals that it
 *  uses are each back end's, see kernels/lang_opencl_user.h. */
#include "kernels/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_place(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT;
}

/* What nothing has contributed to: the highest value of a least one. */
static const char *limit(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_MIN || p->kind == META_PARAMETER_MIN_AT ? "MOST" : "LEAST";
}

/* The type in which contributions are combined. */
static const char *accumulator(const meta_kernel_parameter *p)
{
    static const char *const names[] = {
#define META_ELEMENT_NAME(NAME, name, bytes, wide, sum) [META_##NAME] = "meta_" #name,
        META_ARITHMETIC_TYPES(META_ELEMENT_NAME)
#undef META_ELEMENT_NAME
    };
    static const char *const places[] = {
#define META_PLACE_NAME(NAME, name, bytes, wide, sum) [META_##NAME] = "meta_best_" #name,
        META_ARITHMETIC_TYPES(META_PLACE_NAME)
#undef META_PLACE_NAME
    };
    if (p->kind == META_PARAMETER_SUM) return meta_text_contribution(p);
    return is_place(p) ? places[p->type] : names[p->type];
}

void meta_text_word(const meta_text *w, uint32_t k)
{
    fprintf(w->p, meta_words_in_memory(&w->state->desc) ? "META_USER_WORD_AT(%u)" : "word%u",
            (unsigned)k);
}

static void put_parameters(const meta_text *w)
{
    FILE *p = w->p;
    const meta_kernel_desc *desc = &w->state->desc;
    for (uint32_t k = 0; k < desc->operands + meta_text_is_checked(w); ++k)
        fprintf(p, "META_USER_ARRAY(%u), ", (unsigned)k);
    if (meta_words_in_memory(desc)) fprintf(p, "META_USER_WORDS_PARAMETER ");
    for (uint32_t k = 0; k < desc->values && !meta_words_in_memory(desc); ++k)
        fprintf(p, "META_USER_WORD(%u), ", (unsigned)k);
    fprintf(p, "META_SPACE_PARAMETER%s)\n{\n    META_SPACE;\n",
            desc->results ? " META_USER_RESULTS_PARAMETERS" : "");
}

/* Values out of their words; scalars; results that nothing has contributed to. */
static void put_values(const meta_text *w)
{
    FILE *p = w->p;
    const meta_kernel *kernel = w->state->kernel;
    uint32_t word = 0, operand = 0, sum = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (meta_parameter_is_array(a)) {
            if (a->kind == META_PARAMETER_SCALAR) {
                fprintf(p, "    const ");
                meta_text_type(w, a->type_name);
                fprintf(p, "meta_p%u = *((META_GLOBAL const ", (unsigned)n);
                meta_text_type(w, a->type_name);
                fprintf(p, "*)operand%u + s->layout[%u].base);\n", (unsigned)operand,
                        (unsigned)operand);
            }
            ++operand;
        } else if (meta_text_is_exact(w, a)) {
            fprintf(p, "    META_%s_EXACT(%u, %u);\n", kernel->team ? "TEAM" : "USER", (unsigned)n,
                    (unsigned)sum++);
        } else if (meta_parameter_is_result(a)) {
            fprintf(p, "    %s meta_p%u = ", meta_text_contribution(a), (unsigned)n);
            if (a->kind == META_PARAMETER_SUM) fprintf(p, "0;\n");
            else fprintf(p, "{META_%s_%s, 0, 0, -1};\n", limit(a), meta_element_name(a->type));
        } else {
            const uint32_t words = meta_parameter_words(a);
            fprintf(p, "    union { meta_u64 word[%u]; ", (unsigned)words);
            meta_text_type(w, a->type_name);
            fprintf(p, "value; } meta_p%u;\n", (unsigned)n);
            for (uint32_t k = 0; k < words; ++k, ++word) {
                fprintf(p, "    meta_p%u.word[%u] = ", (unsigned)n, (unsigned)k);
                meta_text_word(w, word);
                fprintf(p, ";\n");
            }
        }
    }
}

/* What this group's cells have made of a result that is no exact sum. */
static void put_partial(FILE *p, const meta_kernel_parameter *a, unsigned n, unsigned word,
                        const char *combine)
{
    const char *of = a->kind == META_PARAMETER_SUM ? "" : ".meta_value";
    if (is_place(a)) {
        fprintf(p, "    const %s meta_b%u = {meta_p%u.meta_value, meta_p%u.meta_cell};\n",
                accumulator(a), n, n, n);
        fprintf(p, "    META_USER_COMBINE(%s, %u, meta_b%u, META_USER_%s);\n", accumulator(a), word,
                n, combine);
    } else {
        fprintf(p, "    META_USER_COMBINE(%s, %u, meta_p%u%s, META_USER_%s);\n", accumulator(a),
                word, n, of, combine);
    }
}

static void put_results(const meta_text *w)
{
    FILE *p = w->p;
    const struct meta_kernel_state *s = w->state;
    static const char *const combine[] = {
        [META_PARAMETER_SUM] = "SUM",       [META_PARAMETER_MIN] = "MIN",
        [META_PARAMETER_MAX] = "MAX",       [META_PARAMETER_MIN_AT] = "MIN_AT",
        [META_PARAMETER_MAX_AT] = "MAX_AT",
    };
    /* Exact sums first, whose memory the others may use again. */
    for (int exact = 1; exact >= 0; --exact) {
        unsigned word = 0;
        uint32_t result = 0;
        for (uint32_t n = 0; n < s->kernel->parameters; ++n) {
            const meta_kernel_parameter *a = &s->kernel->parameter[n];
            if (!meta_parameter_is_result(a)) continue;
            if (meta_text_is_exact(w, a) && exact)
                fprintf(p, "    META_USER_GIVE(%u, %u);\n", (unsigned)n, word);
            else if (!meta_text_is_exact(w, a) && !exact)
                put_partial(p, a, (unsigned)n, word, combine[a->kind]);
            word += meta_partial_words(&s->result[result++]);
        }
    }
}

char *meta_user_text(const struct meta_kernel_state *s, uint32_t form)
{
    const meta_kernel *kernel = s->kernel;
    uint32_t words = 1; /* the most that a result which is no exact sum has in a partial one */
    char *text = NULL;
    size_t size;
    FILE *p = open_memstream(&text, &size);
    if (!p) return NULL;
    const meta_text w = {p, form, s, meta_text_renames(kernel, form)};
    meta_text_words(&w);
    meta_text_team_extents(&w);
    for (uint32_t n = 0; n < s->desc.results; ++n)
        if (meta_has_place(s->result[n].combine)) words = meta_partial_words(&s->result[n]);
    fprintf(p, "#define META_USER_PARTIAL_WORDS %u\n", (unsigned)words);
    /* Words that a back end of another version, or one without LLVM's vectorizer, may not have. */
    fprintf(p, "#ifndef META_USER_NAME\n#define META_USER_NAME(name) name\n#endif\n"
               "#ifndef META_SIMD_DIVIDES\n#define META_SIMD_DIVIDES META_SIMD_SUM(0)\n#endif\n");
    meta_text_file(&w);
    fprintf(p, "\n#line 1 \"%s, run\"\n%s META_USER_NAME(%s)(", kernel->name,
            kernel->team ? "META_TEAM_KERNEL" : "META_USER_KERNEL", kernel->name);
    put_parameters(&w);
    put_values(&w);
    meta_text_checks(&w);
    if (kernel->team) meta_text_teams(&w);
    else meta_text_rows(&w);
    put_results(&w);
    fprintf(p, "}\n");
    const bool written = !ferror(p);
    if (fclose(p) == 0 && written) return text;
    free(text);
    return NULL;
}
