/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text_body.c
 *  The function that holds a kernel's body: its head, which META_CELLS, META_TEAMS and
 * META_NATIVE_… become in the kernel file, and its call. A form adds parameters: a checked one what
 * the checks of kernels/lang_check.h compare with, a native one the extents of the box. */
#include <string.h>

#include "kernels/compiler.h"
#include "kernels/text.h"

/* What bodies in the back end's language begin with, and the words that only they have. */
static const char native_words[] =
    "#ifdef __OPENCL_VERSION__\n#define META_NATIVE_OPENCL(name) META_NATIVE_OF_##name\n"
    "#else\n#define META_NATIVE_GPU(name) META_NATIVE_OF_##name\n#endif\n"
    "#define STRIDE(array, d) ((d) == 0 ? meta_0_##array : (d) == 1 ? meta_1_##array : \\\n"
    "                          (d) == 2 ? meta_2_##array : meta_3_##array)\n"
    "#undef EXTENT\n"
    "#define EXTENT(d) ((d) == 0 ? meta_e0 : (d) == 1 ? meta_e1 : (d) == 2 ? meta_e2 : meta_e3)\n";

/* ------------------------------------------------------------------ the head */

/* The type of an array's elements. */
static void put_element(const meta_text *w, const meta_kernel_parameter *a)
{
    fprintf(w->p, "META_GLOBAL %s", a->kind == META_PARAMETER_IN ? "const " : "");
    if (a->kind == META_PARAMETER_ADD) fprintf(w->p, "meta_added_%s ", meta_element_name(a->type));
    else meta_text_type(w, a->type_name);
}

/* An array and its strides. */
static void put_array(const meta_text *w, const meta_kernel_parameter *a)
{
    const char *own = meta_text_own(w, a->name);
    put_element(w, a);
    fprintf(w->p, "*META_RESTRICT %s%s, ", own, a->name);
    for (int d = 0; d < META_KERNEL_DIMS; ++d)
        fprintf(w->p, "const meta_i64 meta_%d_%s%s, ", d, own, a->name);
    if (meta_text_is_checked(w)) fprintf(w->p, "const meta_near meta_n_%s%s, ", own, a->name);
}

/* The memory that a team's members share. */
static void put_memory(const meta_text *w, const meta_kernel_shared *m)
{
    const char *own = meta_text_own(w, m->name);
    fprintf(w->p, "META_TEAM_MEMORY ");
    meta_text_type(w, m->type_name);
    fprintf(w->p, "*META_RESTRICT %s%s, ", own, m->name);
    if (meta_text_is_checked(w))
        fprintf(w->p, "const meta_near_memory meta_n_%s%s, ", own, m->name);
}

static void put_extents(const meta_text *w, int first, int count)
{
    for (int d = first; d < count; ++d) fprintf(w->p, "const meta_i64 meta_e%d, ", d);
}

static void put_formals(const meta_text *w, const meta_kernel *k)
{
    FILE *p = w->p;
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *a = &k->parameter[n];
        const char *own = meta_text_own(w, a->name);
        if (meta_parameter_is_array(a) && a->kind != META_PARAMETER_SCALAR) put_array(w, a);
        else if (meta_parameter_is_result(a)) {
            fprintf(p, "%s *%s%s, ", meta_text_contribution(a), own, a->name);
            if (a->kind == META_PARAMETER_SUM)
                fprintf(p, "const meta_i64 meta_own_%s%s, ", own, a->name);
        } else {
            fprintf(p, "const ");
            meta_text_type(w, a->type_name);
            fprintf(p, "%s%s, ", own, a->name);
        }
    }
    for (uint32_t m = 0; k->team && m < k->team->shareds; ++m) put_memory(w, &k->team->shared[m]);
    if (meta_text_is_checked(w)) fprintf(p, "META_GLOBAL meta_i64 *meta_note, ");
    if (k->team) put_extents(w, 0, META_KERNEL_TEAM_DIMS);
    else fprintf(p, "const meta_i64 meta_i, const meta_i64 meta_i1, const meta_i64 meta_i2, ");
    if (!k->team || meta_text_is_native(w)) fprintf(p, "const meta_i64 meta_member, ");
    if (meta_text_is_native(w))
        put_extents(w, k->team ? META_KERNEL_TEAM_DIMS : 0, META_KERNEL_DIMS);
    fprintf(p, "const meta_i64 *meta_x, const meta_i64 *meta_n%s)\n",
            k->team ? ", const meta_team *meta_t" : "");
}

/* What META_CELLS, META_TEAMS and META_NATIVE_… are for one kernel. */
static void put_head(const meta_kernel *k, void *with)
{
    const meta_text *w = with;
    FILE *p = w->p;
    /* AT() pastes names of arrays together, which must not be macros of the compiler's. */
    for (uint32_t n = 0; n < k->parameters; ++n)
        if (meta_parameter_is_array(&k->parameter[n]))
            fprintf(p, "#undef %s%s\n", meta_text_own(w, k->parameter[n].name),
                    k->parameter[n].name);
    for (uint32_t m = 0; k->team && m < k->team->shareds; ++m)
        fprintf(p, "#undef %s%s\n", meta_text_own(w, k->team->shared[m].name),
                k->team->shared[m].name);
    fprintf(p, "#define META_%s_%s%s META_FUNCTION void %s_cell(", k->team ? "TEAMS" : "CELLS",
            meta_text_own(w, k->name), k->name, k->name);
    put_formals(w, k);
    if (!meta_text_is_native(w)) return;
    fprintf(p, "#define META_NATIVE_OF_%s META_FUNCTION void %s_native(", k->name, k->name);
    put_formals(w, k);
}

void meta_text_words(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    FILE *p = w->p;
    if (meta_text_is_checked(w))
        fprintf(p, "#line 1 \"lang_check.h\"\n%s\n", (const char *)meta_language_lang_check_h);
    fprintf(p,
            "#define T meta_%s\n#define META_CELLS(name) META_CELLS_##name\n"
            "#define META_TEAMS(name, x, y, z) META_TEAMS_##name\n",
            meta_element_name((uint32_t)kernel->type));
    if (meta_text_is_native(w)) fprintf(p, "%s", native_words);
    meta_text text = *w;
    meta_user_each_beside(kernel, put_head, &text);
}

/* ------------------------------------------------------------------ the call */

/* The reach of parameter number @p n, array number @p k, for the checks. */
static void put_near(FILE *p, const meta_kernel_parameter *a, unsigned n, unsigned k)
{
    fprintf(p, "    const meta_near meta_n%u = {{", n);
    for (int d = 0; d < META_KERNEL_DIMS; ++d) fprintf(p, "%d, ", a->low[d]);
    fprintf(p, "}, {");
    for (int d = 0; d < META_KERNEL_DIMS; ++d) fprintf(p, "%d, ", a->high[d]);
    fprintf(p, "}, %u, %u, %u, %d, %d};\n", n, k, (unsigned)a->dropped,
            a->reach == META_PARAMETER_STAR, a->reach == META_PARAMETER_WHOLE);
}

/* Where the checks write, which is the last operand, and what they compare with. */
void meta_text_checks(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    const unsigned last = w->state->desc.operands;
    unsigned k = 0;
    if (!meta_text_is_checked(w)) return;
    fprintf(w->p,
            "    META_GLOBAL meta_i64 *meta_note = (META_GLOBAL meta_i64 *)operand%u + "
            "s->layout[%u].base;\n",
            last, last);
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!meta_parameter_is_array(a)) continue;
        if (a->kind != META_PARAMETER_SCALAR) put_near(w->p, a, (unsigned)n, k);
        ++k;
    }
    for (uint32_t m = 0; kernel->team && m < kernel->team->shareds; ++m)
        fprintf(w->p, "    const meta_near_memory meta_nm%u = {%u, %u};\n", (unsigned)m,
                (unsigned)m, (unsigned)kernel->team->shared[m].count);
}

void meta_text_array(const meta_text *w, uint32_t parameter, unsigned array, const char *index)
{
    const meta_kernel_parameter *a = &w->state->kernel->parameter[parameter];
    fprintf(w->p, "        ");
    put_element(w, a);
    fprintf(w->p, "*meta_p%u = (", (unsigned)parameter);
    put_element(w, a);
    fprintf(w->p, "*)operand%u + %s[%u];\n", array, index, array);
}

static void put_actuals(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    FILE *p = w->p;
    unsigned k = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (meta_parameter_is_result(a)) {
            const bool is_sum = a->kind == META_PARAMETER_SUM;
            if (kernel->team && meta_text_is_exact(w, a))
                fprintf(p, "META_TEAM_SUM(%u), ", (unsigned)n);
            else fprintf(p, is_sum ? "&meta_p%u, 0, " : "&meta_p%u, ", (unsigned)n);
            continue;
        }
        if (!meta_parameter_is_array(a)) {
            fprintf(p, "meta_p%u.value, ", (unsigned)n);
            continue;
        }
        if (a->kind == META_PARAMETER_SCALAR) fprintf(p, "meta_p%u, ", (unsigned)n);
        else
            fprintf(p, "meta_p%u, %d, META_STRIDE(%u, 1), META_STRIDE(%u, 2), META_STRIDE(%u, 3), ",
                    (unsigned)n, a->dropped & 1 ? 0 : 1, k, k, k);
        if (meta_text_is_checked(w) && a->kind != META_PARAMETER_SCALAR)
            fprintf(p, "meta_n%u, ", (unsigned)n);
        ++k;
    }
}

/* The extents of the box, of which a space has only those that it needs. */
static void put_box(FILE *p)
{
    fprintf(p, "s->extent[0], ");
    for (int d = 1; d < META_KERNEL_DIMS; ++d)
        fprintf(p, "s->ndim > %d ? s->extent[%d] : 1, ", d, d);
}

void meta_text_call(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    FILE *p = w->p;
    fprintf(p, "%s_%s(", kernel->name, meta_text_is_native(w) ? "native" : "cell");
    put_actuals(w);
    for (uint32_t m = 0; kernel->team && m < kernel->team->shareds; ++m) {
        fprintf(p, "meta_m%u, ", (unsigned)m);
        if (meta_text_is_checked(w)) fprintf(p, "meta_nm%u, ", (unsigned)m);
    }
    if (meta_text_is_checked(w)) fprintf(p, "meta_note, ");
    if (kernel->team) {
        fprintf(p,
                "meta_t.extent[0], meta_t.extent[1], meta_t.extent[2], %smeta_t.start, "
                "meta_t.cell, &meta_t);\n",
                meta_text_is_native(w) ? "0, 1, " : "");
        return;
    }
    fprintf(p, "meta_i, 0, 0, 0, ");
    if (meta_text_is_native(w)) put_box(p);
    fprintf(p, "meta_x, meta_n);\n");
}
