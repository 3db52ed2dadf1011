/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text_team.c
 *  What the text of a kernel of teams has in place of rows. The words in capitals are those of
 *  kernels/lang_team.h. */
#include "kernels/text.h"

static uint32_t extent_of(const meta_kernel *kernel, int d)
{
    return kernel->team ? kernel->team->extent[d] : 1;
}

void meta_text_team_extents(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    fprintf(w->p,
            "#define META_TEAM_X %uu\n#define META_TEAM_Y %uu\n#define META_TEAM_Z %uu\n"
            "#define META_TEAM_ITEMS %u\n#define META_K_TEAM_SIMD %s\n",
            (unsigned)extent_of(kernel, 0), (unsigned)extent_of(kernel, 1),
            (unsigned)extent_of(kernel, 2),
            kernel->team ? (unsigned)meta_team_items(kernel->team) : 1, meta_text_pragma(w));
}

/* Arrays from the team's first cell on. */
static void put_arrays(const meta_text *w)
{
    const meta_kernel *kernel = w->state->kernel;
    unsigned k = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *a = &kernel->parameter[n];
        if (!meta_parameter_is_array(a)) continue;
        if (a->kind != META_PARAMETER_SCALAR) meta_text_array(w, n, k, "meta_t.at");
        ++k;
    }
}

/* What members contribute to exact sums, before and after a team has run. */
static void put_sums(const meta_text *w, const char *word)
{
    const meta_kernel *kernel = w->state->kernel;
    for (uint32_t n = 0; n < kernel->parameters; ++n)
        if (meta_text_is_exact(w, &kernel->parameter[n]))
            fprintf(w->p, "        META_TEAM_SUM_%s(%u);\n", word, (unsigned)n);
}

void meta_text_teams(const meta_text *w)
{
    FILE *p = w->p;
    const meta_kernel_team *team = w->state->kernel->team;
    const unsigned x = (unsigned)team->extent[0], y = (unsigned)team->extent[1],
                   z = (unsigned)team->extent[2];
    const uint32_t first =
        w->state->desc.values - META_KERNEL_DIMS; /* the word of the box's start */
    for (uint32_t m = 0; m < team->shareds; ++m) {
        fprintf(p, "    META_TEAM_VARIABLE ");
        meta_text_type(w, team->shared[m].type_name);
        fprintf(p, "meta_m%u[%u];\n", (unsigned)m, (unsigned)team->shared[m].count);
    }
    fprintf(
        p,
        "    const meta_i64 meta_all = meta_teams_of(s, %u, %u, %u);\n"
        "    for (meta_i64 meta_n = META_TEAM_FIRST(meta_all); meta_n < META_TEAM_END(meta_all); "
        "meta_n += META_TEAM_STEP) {\n"
        "        meta_team meta_t = meta_team_of(s, meta_n, %u, %u, %u);\n",
        x, y, z, x, y, z);
    for (unsigned d = 0; d < META_KERNEL_DIMS; ++d) {
        fprintf(p, "        meta_t.start[%u] += (meta_i64)", d);
        meta_text_word(w, first + d);
        fprintf(p, ";\n");
    }
    put_arrays(w);
    /* A body in the device's language may use the memory outside phases, which begin with a
     * barrier: the team before must have done with it. */
    if (meta_text_is_native(w))
        fprintf(p, "#ifdef META_TEAM_BARRIER\n        META_TEAM_BARRIER;\n#endif\n");
    /* What a member has not written is NaN, as on CPUs. */
    for (uint32_t m = 0; meta_text_is_checked(w) && m < team->shareds; ++m)
        fprintf(p, "        META_TEAM_POISON(meta_m%u);\n", (unsigned)m);
    put_sums(w, "BEGIN");
    fprintf(p, "        ");
    meta_text_call(w);
    put_sums(w, "END");
    fprintf(p, "    }\n");
}
