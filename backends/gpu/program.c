/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  The program of a kernel of the application's: the core's text between definitions for
 *  lang_gpu_user.h and the function that is launched. */
#include "config.h"

#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const gpu_header gpu_headers[GPU_HEADERS] = {
    {"lang_gpu_user.h", (const char *)gpu_text_lang_gpu_user_h},
    {"meta_types.h", (const char *)gpu_text_meta_types_h},
    {"meta_space.h", (const char *)gpu_text_meta_space_h},
    {"meta_kernel_body.h", (const char *)gpu_text_meta_kernel_body_h},
    {"lang_team.h", (const char *)gpu_text_lang_team_h},
    {"meta_kernel_team_body.h", (const char *)gpu_text_meta_kernel_team_body_h},
    {"exact.h", (const char *)gpu_text_exact_h},
    {"exact_threads.h", (const char *)gpu_text_exact_threads_h},
    {"exact_cells.h", (const char *)gpu_text_exact_cells_h},
    {"meta_extreme.h", (const char *)gpu_text_meta_extreme_h}};

/* ------------------------------------------------------------------ arguments */

size_t gpu_program_bytes(const meta_kernel_desc *desc)
{
    return sizeof(gpu_mapping) + sizeof(uint64_t) * ((size_t)desc->operands + desc->values) +
           meta_space_bytes(desc->operands);
}

void gpu_program_arguments(const meta_call *call, const gpu_mapping *mapping, void *to)
{
    const uint32_t operands = call->desc->operands, values = call->desc->values;
    char *at = to;
    memcpy(at, mapping, sizeof *mapping);
    at += sizeof *mapping;
    memcpy(at, call->object, operands * sizeof(void *));
    at += operands * sizeof(void *);
    memcpy(at, call->values, values * sizeof(uint64_t));
    at += values * sizeof(uint64_t);
    memcpy(at, call->space, meta_space_bytes(operands));
}

gpu_passing gpu_passing_of(const meta_kernel_desc *desc)
{
    return gpu_program_bytes(desc) + sizeof(void *) > GPU_PARAMETER_BYTES ? GPU_IN_MEMORY
                                                                          : GPU_BY_VALUE;
}

/* ------------------------------------------------------------------ text */

static const char *category(uint32_t type)
{
    if (type == META_F64 || type == META_F32) return "#define META_USER_FLOATING\n";
    return type == META_U64 || type == META_U32 ? "#define META_USER_UNSIGNED\n" : "";
}

char *gpu_program_text(const meta_kernel_source *source, gpu_passing passing)
{
    static const char *const passings[] = {[GPU_BY_VALUE] = "",
                                           [GPU_IN_MEMORY] = "#define META_USER_IN_MEMORY\n",
                                           [GPU_ON_HOST] = "#define META_USER_HOST\n"};
    const meta_kernel_desc *desc = source->desc;
    char *text = NULL;
    size_t size;
    FILE *w = open_memstream(&text, &size);
    if (!w) return NULL;
    const meta_kernel_team *team = meta_kernel_team_of(source->user);
    if (team) fprintf(w, "#define META_USER_ITEMS %u\n", (unsigned)meta_team_items(team));
    fprintf(
        w,
        "#define META_SPACE_OPERANDS %u\n#define META_USER_WORDS %u\n#define META_USER_SUFFIX %s\n"
        "%s%s%s#include \"lang_gpu_user.h\"\nnamespace meta_user {\n",
        (unsigned)desc->operands, (unsigned)desc->values, meta_element_name(source->type),
        category(source->type), passings[passing],
        meta_exact_results(desc) > 0 ? "#define META_USER_REPRODUCIBLE\n" : "");
    fprintf(w, "%s", source->text);
    fprintf(w,
            "}\n#line 1 \"%s, entry\"\nMETA_USER_ENTRY\n{\n    META_USER_BEGIN\n"
            "    meta_user::META_USER_NAME(%s)(",
            desc->name, desc->name);
    for (uint32_t k = 0; k < desc->operands; ++k) fprintf(w, "meta_w->operand[%u], ", (unsigned)k);
    for (uint32_t k = 0; k < desc->values && !meta_words_in_memory(desc); ++k)
        fprintf(w, "meta_w->word[%u], ", (unsigned)k);
    fprintf(w, "meta_w, meta_block%s);\n}\n", desc->results ? ", meta_partials" : "");
    const int broken = ferror(w);
    if (fclose(w) == 0 && !broken) return text;
    free(text);
    return NULL;
}
