/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program.c
 *  The program of a kernel of the application's: the core's text between definitions for
 *  lang_gpu_user.h and the function that is launched. */
#include "config.h"

#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const gpu_header gpu_headers[GPU_HEADERS] = {
    {"lang_gpu_user.h", (const char *)gpu_text_lang_gpu_user_h},
    {"meta_types.h", (const char *)gpu_text_meta_types_h},
    {"meta_space.h", (const char *)gpu_text_meta_space_h},
    {"meta_kernel_body.h", (const char *)gpu_text_meta_kernel_body_h}};

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

/* ------------------------------------------------------------------ text */

/* Where text goes; NULL: it is only counted. */
typedef struct writer {
    char *to;
    size_t used, room;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(w->to ? w->to + w->used : NULL, w->to ? w->room - w->used : 0, format, arguments);
    va_end(arguments);
    w->used += (size_t)length;
}

static const char *category(uint32_t type)
{
    if (type == META_F64 || type == META_F32) return "#define META_USER_FLOATING\n";
    return type == META_U64 || type == META_U32 ? "#define META_USER_UNSIGNED\n" : "";
}

static void write_program(writer *w, const meta_kernel_source *source, gpu_passing passing)
{
    static const char *const passings[] = {[GPU_BY_VALUE] = "",
                                           [GPU_IN_MEMORY] = "#define META_USER_IN_MEMORY\n",
                                           [GPU_ON_HOST] = "#define META_USER_HOST\n"};
    const meta_kernel_desc *desc = source->desc;
    put(w,
        "#define META_SPACE_OPERANDS %u\n#define META_USER_WORDS %u\n#define META_USER_SUFFIX %s\n"
        "%s%s#include \"lang_gpu_user.h\"\nnamespace meta_user {\n",
        (unsigned)desc->operands, (unsigned)desc->values, meta_element_name(source->type),
        category(source->type), passings[passing]);
    put(w, "%s", source->text);
    put(w, "}\n#line 1 \"%s, entry\"\nMETA_USER_ENTRY\n{\n    META_USER_BEGIN\n    meta_user::%s(",
        desc->name, desc->name);
    for (uint32_t k = 0; k < desc->operands; ++k) put(w, "meta_w->operand[%u], ", (unsigned)k);
    for (uint32_t k = 0; k < desc->values; ++k) put(w, "meta_w->word[%u], ", (unsigned)k);
    put(w, "meta_w, meta_block%s);\n}\n", desc->results ? ", meta_partials" : "");
}

char *gpu_program_text(const meta_kernel_source *source, gpu_passing passing)
{
    writer w = {NULL, 0, 0};
    write_program(&w, source, passing);
    w.room = w.used + 1;
    w.used = 0;
    w.to = malloc(w.room);
    if (w.to) write_program(&w, source, passing);
    return w.to;
}
