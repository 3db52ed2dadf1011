/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_device.c
 *  Kernels in the languages of devices: the texts are those of the back ends, and so are the
 * compilers of GPUs, which need none. */
#include "config.h"

#include "kernel_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "programs.h"

const char *const kernel_device_install[2] = {
    "install NVRTC: package cuda-nvrtc of the CUDA toolkit",
    "install hipRTC: package hip-runtime-amd of ROCm, or libamdhip64-5 of Debian"};

/* ------------------------------------------------------------------ what the compilers say */

static char *words; /* collected while one compiles */
static char compiler[64];

static void collect(meta_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void collect(meta_log_level level, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* "NVRTC 13.0: kernel heat for f64 compiled with …" is not the compiler's. */
    if (level == META_LOG_INFO && strstr(line, " compiled with ")) {
        snprintf(compiler, sizeof compiler, "%.*s", (int)strcspn(line, ":"), line);
        return;
    }
    const size_t used = words ? strlen(words) : 0;
    char *more = realloc(words, used + strlen(line) + 2);
    if (!more) return;
    words = more;
    snprintf(words + used, strlen(line) + 2, "%s\n", line);
}

const meta_host *gpu_host;

const char *kernel_device_compiler(void)
{
    return compiler;
}

/* ------------------------------------------------------------------ GPUs */

static meta_err no_memory(const meta_kernel *kernel)
{
    return meta_ahead_table.host()->fail(
        META_ERR_NO_MEMORY, "the host has no memory for the text of kernel %s", kernel->name);
}

/* The code that runs with all settings off. */
static meta_ahead_code plain_code(const meta_kernel *kernel, meta_mode mode)
{
    meta_ahead_code code[META_AHEAD_CODES];
    meta_ahead_table.codes(kernel, mode, true, code);
    return code[0];
}

static meta_err text_of(meta_kernel *kernel, const meta_ahead_code *code, char *title, size_t room,
                        char **program)
{
    meta_kernel_source source;
    char *text = NULL;
    *program = NULL;
    META_TRY(meta_ahead_table.source(kernel, code, &source, &text));
    snprintf(title, room, "kernel %.80s for %s", kernel->name, meta_element_name(source.type));
    *program = gpu_program_text(&source, gpu_passing_of(source.desc));
    free(text);
    return *program ? META_OK : no_memory(kernel);
}

static meta_err compile(const gpu_target *target, const char *title, const char *text,
                        gpu_image *image, char **said)
{
    static meta_host host;
    host = *meta_ahead_table.host();
    host.log = collect;
    gpu_host = &host;
    words = NULL;
    const meta_err error = gpu_compile(target, title, text, image);
    *said = words;
    words = NULL;
    return error;
}

meta_err kernel_device_compile(meta_kernel *kernel, const gpu_target *target, gpu_image *image,
                               char **said)
{
    const meta_ahead_code code = plain_code(kernel, META_CUDA);
    char title[128], *text;
    *said = NULL;
    META_TRY(text_of(kernel, &code, title, sizeof title, &text));
    const meta_err error = compile(target, title, text, image, said);
    free(text);
    return error;
}

meta_err kernel_device_build(meta_kernel *kernel, const meta_ahead_code *code,
                             const gpu_target *target, char **said)
{
    char title[128];
    gpu_image image = {NULL, 0};
    gpu_facts facts;
    meta_cached what;
    char *text;
    *said = NULL;
    META_TRY(text_of(kernel, code, title, sizeof title, &text));
    meta_err error = compile(target, title, text, &image, said);
    if (error == META_OK) {
        gpu_facts_of(target, title, text, 0, &facts, &what);
        error = meta_ahead_table.put(&what, image.code, image.bytes);
    }
    free(image.code);
    free(text);
    return error;
}

/* ------------------------------------------------------------------ OpenCL C */

meta_err kernel_device_check_opencl(meta_kernel *kernel, char *command, char **said)
{
    static const ocl_language device = {.has_f64 = 1, .atomic_64 = 1};
    meta_kernel_source source;
    ocl_plan plan;
    char name[64], *text = NULL, *program = NULL;
    size_t bytes = 0;
    *command = '\0';
    *said = NULL;
    const meta_ahead_code code = plain_code(kernel, META_OPENCL);
    const meta_err found = meta_ahead_table.source(kernel, &code, &source, &text);
    if (found != META_OK) return found;
    ocl_plan_text(&device, &source, false, &plan);
    FILE *to = open_memstream(&program, &bytes);
    for (int k = 0; to && k < PARTS; ++k) fputs(plan.text[k], to);
    snprintf(name, sizeof name, "%.40s_%s.cl", kernel->name, meta_element_name(source.type));
    const meta_err error = to && fclose(to) == 0 ? meta_ahead_table.check(META_CHECK_OPENCL, name,
                                                                          program, command, said)
                                                 : no_memory(kernel);
    free(program);
    free(text);
    return error;
}
