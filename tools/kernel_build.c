/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_build.c
 *  Building objects ahead of time: the code that programs would compile when a kernel first runs,
 * under the names by which they look for it. */
#include "config.h"

#include "kernel_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_device.h"
#include "kernel_file.h"
#include "kernel_part.h"

typedef struct work {
    kernel_file *file;
    int files;
    kernel_extent extent;
    kernel_report report;
} work;

/* Number @p n of the kernels, NULL behind the last one. */
static meta_kernel *kernel_at(const work *w, int n)
{
    for (int f = 0; f < w->files; ++f) {
        if (n < w->file[f].kernels) return w->file[f].kernel[n];
        n -= w->file[f].kernels;
    }
    return w->extent.library ? meta_ahead_table.ready(n) : NULL;
}

/* Build one code of a kernel. @p said, of malloc(), is what the compiler said; NULL: nothing. */
typedef meta_err build_function(meta_kernel *kernel, const meta_ahead_code *code, const void *with,
                                char **said);

/* Build all codes of a kernel, up to the first one that cannot be built. */
static meta_err build_codes(work *w, meta_kernel *kernel, meta_mode mode, const char *target,
                            const char *install, build_function *build, const void *with)
{
    meta_ahead_code code[META_AHEAD_CODES];
    const int codes = meta_ahead_table.codes(kernel, mode, w->extent.plain, code);
    meta_err error = META_OK;
    char *all = NULL, what[192];
    size_t bytes = 0;
    FILE *words = open_memstream(&all, &bytes);
    snprintf(what, sizeof what, "%s", kernel_report_name(kernel));
    for (int k = 0; k < codes && error == META_OK; ++k) {
        char *said = NULL;
        error = build(kernel, &code[k], with, &said);
        if (said && words) fputs(said, words);
        free(said);
        if (error != META_OK)
            snprintf(what, sizeof what, "%s%s", kernel_report_name(kernel), code[k].setting);
    }
    const bool collected = words && fclose(words) == 0;
    kernel_report_line(&w->report, what, target, error, collected ? all : NULL, install);
    free(all);
    return error;
}

/* ------------------------------------------------------------------ the CPU */

static void build_cpu(work *w, const kernel_target *t)
{
    static const char *const sets[] = {"baseline", "avx2", "avx512", "sve"};
    char target[96];
    for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k) {
        const char *name = *t->detail != '\0' ? t->detail : sets[k];
        const int set = meta_ahead_table.set_named(name);
        snprintf(target, sizeof target, "CPU with %s", name);
        for (int f = 0; f < w->files && (set >= 0 || *t->detail != '\0'); ++f) {
            const kernel_file *file = &w->file[f];
            if (set < 0) {
                kernel_report_missing(&w->report, file->name, target,
                                      "processors of this machine's kind have no %s", name);
            } else if (!file->text) {
                printf("%s, %s: not needed: a shared object's kernels have their code with them\n",
                       file->name, target);
            } else {
                kernel_report_line(&w->report, file->name, target,
                                   meta_ahead_table.compile(file->name, file->text, set), NULL,
                                   NULL);
            }
        }
        if (*t->detail != '\0') break;
    }
}

/* ------------------------------------------------------------------ GPUs */

static meta_err build_code(meta_kernel *kernel, const meta_ahead_code *code, const void *with,
                           char **said)
{
    return kernel_device_build(kernel, code, with, said);
}

static void build_gpu(work *w, const kernel_target *t)
{
    const bool is_cuda = t->language == LANGUAGE_CUDA;
    const gpu_target target = {.amd = is_cuda ? NULL : t->detail,
                               .capability = is_cuda ? kernel_target_capability(t) : 0};
    char title[96];
    meta_kernel *kernel;
    snprintf(title, sizeof title, "%s for %s", is_cuda ? "CUDA" : "HIP", t->detail);
    for (int n = 0; (kernel = kernel_at(w, n)) != NULL; ++n) {
        const meta_err error = build_codes(w, kernel, is_cuda ? META_CUDA : META_HIP, title,
                                           kernel_device_install[!is_cuda], build_code, &target);
        if (error == META_ERR_UNSUPPORTED) return; /* said once */
    }
}

/* ------------------------------------------------------------------ OpenCL */

static meta_err prepare_code(meta_kernel *kernel, const meta_ahead_code *code, const void *with,
                             char **said)
{
    (void)with;
    *said = NULL;
    return meta_ahead_table.prepare(kernel, code);
}

static void build_on(work *w, const char *device)
{
    meta_kernel *kernel;
    const meta_err error = meta_ahead_table.prepare_built_in();
    kernel_report_line(&w->report, "libmeta's own kernels", device, error, NULL, NULL);
    for (int n = 0; (kernel = kernel_at(w, n)) != NULL; ++n)
        build_codes(w, kernel, META_OPENCL, device, NULL, prepare_code, NULL);
}

static void build_opencl(work *w, const kernel_target *t)
{
    int count = 0;
    const int wanted = *t->detail != '\0' ? atoi(t->detail) : -1;
    if (meta_device_count(META_OPENCL, &count) != META_OK || count == 0) {
        meta_device_info(0, META_OPENCL, &(meta_device_desc){.size = sizeof(meta_device_desc)});
        kernel_report_missing(&w->report, "all kernels", "OpenCL",
                              "%s; build on a machine that has the device and driver of the nodes",
                              meta_last_error());
        return;
    }
    for (int n = 0; n < count; ++n) {
        meta_device_desc device = {.size = sizeof device};
        if (wanted >= 0 && n != wanted) continue;
        if (meta_device_info(n, META_OPENCL, &device) == META_OK &&
            meta_set_acc(n, META_OPENCL) == META_OK) {
            char title[256];
            snprintf(title, sizeof title, "OpenCL device %d, %s", n, device.name);
            build_on(w, title);
        } else {
            char title[64];
            snprintf(title, sizeof title, "OpenCL device %d", n);
            kernel_report_missing(&w->report, "all kernels", title, "%s", meta_last_error());
        }
    }
    if (wanted >= count)
        kernel_report_missing(&w->report, "all kernels", "OpenCL",
                              "device %d is not among the %d OpenCL device%s of this machine, "
                              "which count from 0",
                              wanted, count, count == 1 ? "" : "s");
}

/* ------------------------------------------------------------------ all of it */

static const char *wrong_targets(const kernel_targets *targets)
{
    for (int k = 0; k < targets->count; ++k) {
        const kernel_target *t = &targets->target[k];
        if (t->language == LANGUAGE_CXX) return "c++ is a language for check only; use cpu";
        if (t->language == LANGUAGE_CUDA && *t->detail == '\0')
            return "cuda: of which architecture? cuda:sm_90";
        if (t->language == LANGUAGE_HIP && *t->detail == '\0')
            return "hip: of which architecture? hip:gfx90a";
    }
    return targets->count == 0 ? "for what? --for cpu,opencl,cuda:sm_90,hip:gfx90a" : NULL;
}

static kernel_outcome build_for(work *w, const kernel_target *t)
{
    if (t->language == LANGUAGE_CPU) build_cpu(w, t);
    else if (t->language == LANGUAGE_OPENCL) build_opencl(w, t);
    else build_gpu(w, t);
    return kernel_report_outcome(&w->report);
}

/* All files are opened before the folder is filled: what that compiles is for this machine. */
static kernel_outcome open_all(work *w, char *const *paths, int count, const char *out)
{
    for (; w->files < count; ++w->files)
        if (!kernel_file_open(&w->file[w->files], paths[w->files])) return OUTCOME_NOT_DONE;
    if (meta_ahead_table.only(out) == META_OK) return OUTCOME_DONE;
    fprintf(stderr, "meta-kernel: %s\n", meta_last_error());
    return OUTCOME_NOT_DONE;
}

static kernel_outcome build_parts(char *const *paths, int count, kernel_extent extent,
                                  const kernel_targets *targets, const char *out)
{
    const char *arguments[5] = {"-o", out};
    int used = 2;
    if (extent.library) arguments[used++] = "--library";
    if (extent.plain) arguments[used++] = "--plain";
    kernel_outcome outcome = OUTCOME_DONE;
    for (int k = 0; k < targets->count && outcome != OUTCOME_NOT_DONE; ++k)
        outcome = kernel_report_worse(
            outcome, kernel_part("build", paths, count, &targets->target[k], arguments));
    return outcome;
}

kernel_outcome kernel_build(char *const *paths, int count, kernel_extent extent,
                            const kernel_targets *targets, const char *out)
{
    const char *wrong = out ? wrong_targets(targets) : "into which folder? -o DIR";
    if (wrong) {
        fprintf(stderr, "meta-kernel: build: %s\n", wrong);
        return OUTCOME_NOT_DONE;
    }
    if (targets->count > 1) return build_parts(paths, count, extent, targets, out);
    work w = {.file = calloc((size_t)count + 1, sizeof *w.file),
              .extent = extent,
              .report = {.done = "built", .missing = "not built"}};
    if (!w.file) return OUTCOME_NOT_DONE;
    kernel_outcome outcome = open_all(&w, paths, count, out);
    if (outcome == OUTCOME_DONE) outcome = build_for(&w, &targets->target[0]);
    for (int f = 0; f < w.files; ++f) kernel_file_close(&w.file[f]);
    free(w.file);
    return outcome;
}
