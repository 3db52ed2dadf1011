/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_compile.c
 *  Compiles the kernels of a shared object for CUDA and HIP, by NVRTC and hipRTC, which need no
 * GPU.
 *
 *      random_compile FILE.so
 *
 *  Exit status 77: neither is here. */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "fake_host.h"
#include "gpu_text.h"
#include "kernels/user.h"
#include "meta_kernel.h"
#include "program.h"
#include "test.h"

/* ------------------------------------------------------------------ the library's part */

static const meta_host host = {
    .size = sizeof host, .fail = fake_fail, .log = fake_log, .variable = fake_variable};
const meta_host *gpu_host = &host;

static meta_kernel *kernel_at(int k)
{
    meta_kernel *kernel = NULL;
    return meta_kernel_at(k, &kernel) == META_OK ? kernel : NULL;
}

void meta_user_each_beside(const meta_kernel *kernel, void (*function)(const meta_kernel *, void *),
                           void *with)
{
    const meta_kernel *beside;
    for (int k = 0; (beside = kernel_at(k)); ++k)
        if (beside->type == kernel->type && strcmp(beside->text, kernel->text) == 0)
            function(beside, with);
}

static char *program_of(meta_kernel *kernel)
{
    struct meta_kernel_state s;
    describe(&s, kernel);
    char *text = meta_user_text(&s, 0);
    const meta_kernel_source source = {.size = sizeof source,
                                       .desc = &s.desc,
                                       .type = (uint32_t)kernel->type,
                                       .text = text,
                                       .user = kernel};
    const bool in_memory = gpu_program_bytes(&s.desc) + sizeof(void *) > GPU_PARAMETER_BYTES;
    char *program =
        text ? gpu_program_text(&source, in_memory ? GPU_IN_MEMORY : GPU_BY_VALUE) : NULL;
    free(text);
    return program;
}

/* ------------------------------------------------------------------ compiling */

static bool has_compiler;

/* Apart from what NVRTC says of a random condition whose value is known from its types. */
static bool has_warning(const char *log)
{
    for (const char *at = log; (at = strstr(at, "warning")); at += strlen("warning")) {
        const char *known = strstr(at, "pointless comparison");
        const bool is_known = known && (size_t)(known - at) < strcspn(at, "\n");
        const bool is_one = strncmp(at, "warning #", 9) == 0 || strncmp(at, "warning:", 8) == 0;
        if (is_one && !is_known) return true;
    }
    return false;
}

static void compile_for(const gpu_target *target, const char *title)
{
    meta_kernel *kernel;
    for (int k = 0; (kernel = kernel_at(k)); ++k) {
        gpu_image image = {NULL, 0};
        char *program = program_of(kernel);
        test_case("%s for %s, %s", kernel->name, meta_element_name((uint32_t)kernel->type), title);
        if (!CHECK(program != NULL)) return;
        logged[0] = failure[0] = '\0';
        const meta_err error = gpu_compile(target, kernel->name, program, &image);
        free(program);
        if (error == META_ERR_UNSUPPORTED) return;
        has_compiler = true;
        if (error != META_OK) FAIL("%s\n%s", failure, logged);
        else if (CHECK(image.bytes > 0) && has_warning(logged)) FAIL("%s", logged);
        free(image.code);
    }
}

static void nvrtc_compiles_random_kernels_without_a_warning(void)
{
    compile_for(&(gpu_target){.capability = 90}, "sm_90");
}

static void hiprtc_compiles_random_kernels_without_a_warning(void)
{
    compile_for(&(gpu_target){.amd = "gfx90a"}, "gfx90a");
}

static int end_of_test(int status)
{
    status = test_device.end(status);
    return has_compiler || status == 1 ? status : 77;
}

int main(int argc, char **argv)
{
    static const test_promise promises[] = {
        PROMISE(nvrtc_compiles_random_kernels_without_a_warning),
        PROMISE(hiprtc_compiles_random_kernels_without_a_warning)};
    static const test_setting setting = {.end = end_of_test};
    if (argc != 2 || !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
        fprintf(stderr, "usage: random_compile FILE.so; %s\n", argc == 2 ? dlerror() : "");
        return 2;
    }
    test_device.start(&argc, &argv);
    return test_run(1, argv, &setting, promises, 2);
}
