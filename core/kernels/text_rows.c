/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text_rows.c
 *  What the text of a kernel of cells has to run its body for every cell of a space. */
#include "kernels/text.h"

static void put_index(const meta_text *w)
{
    FILE *p = w->p;
    const uint32_t first =
        w->state->desc.values - META_KERNEL_DIMS; /* the word of the box's start */
    fprintf(p, "        const meta_i64 meta_x[%d] = {", META_KERNEL_DIMS);
    for (uint32_t d = 0; d < META_KERNEL_DIMS; ++d) {
        fprintf(p, "(meta_i64)");
        meta_text_word(w, first + d);
        if (d > 0) fprintf(p, " + (s->ndim > %u ? r.coordinate[%u] : 0)", (unsigned)d, (unsigned)d);
        fprintf(p, ", ");
    }
    fprintf(p, "};\n        const meta_i64 meta_n[3] = {r.number * s->extent[0], 0, 0};\n");
}

/* A row where there are exact sums: a cell contributes to variables of its own. */
static void put_exact_cells(const meta_text *w, const char *simd)
{
    const meta_kernel *kernel = w->state->kernel;
    FILE *p = w->p;
    fprintf(p,
            "        META_USER_PIECES {\n        META_USER_PIECE_BEGIN;\n"
            "        %s META_USER_COLUMNS(meta_i) {\n",
            simd);
    for (uint32_t n = 0; n < kernel->parameters; ++n)
        if (meta_text_is_exact(w, &kernel->parameter[n]))
            fprintf(p, "            meta_f64 meta_p%u = 0;\n", (unsigned)n);
    fprintf(p, "            ");
    meta_text_call(w);
    for (uint32_t n = 0; n < kernel->parameters; ++n)
        if (meta_text_is_exact(w, &kernel->parameter[n]))
            fprintf(p, "            META_USER_KEEP(%u);\n", (unsigned)n);
    fprintf(p, "        }\n");
    for (uint32_t n = 0; n < kernel->parameters; ++n)
        if (meta_text_is_exact(w, &kernel->parameter[n]))
            fprintf(p, "        META_USER_TAKE(%u);\n", (unsigned)n);
    fprintf(p, "        }\n    }\n");
}

const char *meta_text_pragma(const meta_text *w)
{
    const struct meta_kernel_state *s = w->state;
    if (meta_text_is_checked(w)) return "";
    for (uint32_t n = 0; n < s->kernel->parameters; ++n)
        if (s->kernel->parameter[n].kind == META_PARAMETER_ADD) return "";
    return meta_text_divides(s->kernel) ? "META_SIMD_DIVIDES" : "META_SIMD_SUM(0)";
}

void meta_text_rows(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    FILE *p = w->p;
    unsigned k = 0;
    fprintf(p, "    META_ROWS(r) {\n");
    put_index(w);
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!meta_parameter_is_array(a)) continue;
        if (a->kind != META_PARAMETER_SCALAR) meta_text_array(w, n, k, "r.at");
        ++k;
    }
    if (w->state->exact_sums > 0) {
        put_exact_cells(w, meta_text_pragma(w));
        return;
    }
    fprintf(p, "        %s META_COLUMNS(meta_i) ", meta_text_pragma(w));
    meta_text_call(w);
    fprintf(p, "    }\n");
}
