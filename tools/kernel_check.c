/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_check.c
 *  Checking the kernels of a file in every language: by the devices of this machine where there are
 * some, else by the compiler alone. */
#include "config.h"

#include "kernel_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_device.h"
#include "kernel_file.h"
#include "kernel_part.h"
#include "kernel_vectors.h"

static const kernel_report nothing = {.done = "ok", .missing = "not checked"};

/* One line, and what the compiler says. @p what: a file, or a kernel and its type. */
static void conclude(kernel_report *r, const char *what, const char *language, const char *compiler,
                     meta_err error, const char *said, const char *install)
{
    char target[PATH_MAX + 128];
    snprintf(target, sizeof target, "%s%s%s", language, *compiler != '\0' ? ", " : "", compiler);
    kernel_report_line(r, what, target, error, said, install);
}

/* ------------------------------------------------------------------ C and C++ */

static meta_err check_text(kernel_report *r, const kernel_file *file, meta_check_language language,
                           bool verbose)
{
    char command[PATH_MAX], target[PATH_MAX + 16], *said;
    const char *title = language == META_CHECK_C ? "C11" : "C++11";
    const meta_err error = meta_ahead_table.check(language, file->name, file->text, command, &said);
    snprintf(target, sizeof target, "%s, %s", title, command);
    if (error == META_ERR_ARGUMENT && !verbose && said && strstr(meta_last_error(), said))
        kernel_report_mistake(r, file->name, target, said);
    else
        conclude(r, file->name, title, command, error, said,
                 language == META_CHECK_C ? NULL : "install g++ or clang");
    free(said);
    return error;
}

/* ------------------------------------------------------------------ devices of this machine */

static void check_on(kernel_report *r, const kernel_file *file, const meta_device_desc *device)
{
    for (int k = 0; k < file->kernels; ++k)
        conclude(r, kernel_report_name(file->kernel[k]), device->backend, device->name,
                 meta_kernel_prepare(file->kernel[k]), NULL, NULL);
}

/* @p wanted: the number of the only one, or -1. @return whether there is such a device */
static bool check_devices(kernel_report *r, const kernel_file *file, meta_mode mode, int wanted)
{
    int count = 0;
    if (meta_device_count(mode, &count) != META_OK) count = 0;
    if (wanted >= count) {
        kernel_report_missing(r, file->name, "OpenCL",
                              "device %d is not among the %d OpenCL device%s of this machine, "
                              "which count from 0",
                              wanted, count, count == 1 ? "" : "s");
        return true;
    }
    for (int n = 0; n < count; ++n) {
        meta_device_desc device = {.size = sizeof device};
        if (wanted >= 0 && n != wanted) continue;
        if (meta_device_info(n, mode, &device) == META_OK && meta_set_acc(n, mode) == META_OK) {
            check_on(r, file, &device);
        } else {
            char title[64];
            snprintf(title, sizeof title, "device %d", n);
            kernel_report_missing(r, file->name, title, "%s", meta_last_error());
        }
    }
    return count > 0;
}

/* ------------------------------------------------------------------ compilers without a device */

static void check_opencl(kernel_report *r, const kernel_file *file)
{
    for (int k = 0; k < file->kernels; ++k) {
        char command[PATH_MAX], *said;
        const meta_err error = kernel_device_check_opencl(file->kernel[k], command, &said);
        conclude(r, kernel_report_name(file->kernel[k]), "OpenCL C", command, error, said,
                 "install an OpenCL platform (PoCL: pocl-opencl-icd) or clang");
        free(said);
        if (error == META_ERR_UNSUPPORTED) return; /* said once */
    }
}

static void check_gpu(kernel_report *r, const kernel_file *file, const kernel_target *t)
{
    const bool is_cuda = t->language == LANGUAGE_CUDA;
    gpu_target target = {.amd = is_cuda ? NULL : *t->detail != '\0' ? t->detail : "gfx90a"};
    if (is_cuda) target.capability = *t->detail != '\0' ? kernel_target_capability(t) : 80;
    for (int k = 0; k < file->kernels; ++k) {
        gpu_image image = {NULL, 0};
        char architecture[96], *said;
        const meta_err error = kernel_device_compile(file->kernel[k], &target, &image, &said);
        if (is_cuda)
            snprintf(architecture, sizeof architecture, "CUDA for sm_%d", target.capability);
        else snprintf(architecture, sizeof architecture, "HIP for %.64s", target.amd);
        conclude(r, kernel_report_name(file->kernel[k]), architecture,
                 error == META_OK ? kernel_device_compiler() : "", error, said,
                 kernel_device_install[!is_cuda]);
        free(said);
        free(image.code);
        if (error == META_ERR_UNSUPPORTED) return;
    }
}

static void check_language(kernel_report *r, const kernel_file *file, const kernel_target *t)
{
    static const meta_mode modes[LANGUAGES] = {[LANGUAGE_CPU] = META_OPENMP,
                                               [LANGUAGE_OPENCL] = META_OPENCL,
                                               [LANGUAGE_CUDA] = META_CUDA,
                                               [LANGUAGE_HIP] = META_HIP};
    const int wanted = t->language == LANGUAGE_OPENCL && *t->detail != '\0' ? atoi(t->detail) : -1;
    const bool has_devices =
        t->language != LANGUAGE_CXX && check_devices(r, file, modes[t->language], wanted);
    if (t->language == LANGUAGE_OPENCL && !has_devices) check_opencl(r, file);
    if (t->language == LANGUAGE_CUDA || t->language == LANGUAGE_HIP)
        if (!has_devices || *t->detail != '\0') check_gpu(r, file, t);
}

/* ------------------------------------------------------------------ all of it */

static bool names(const kernel_targets *targets, kernel_language language)
{
    for (int k = 0; k < targets->count; ++k)
        if (targets->target[k].language == language) return true;
    return false;
}

/* The languages that need no list of parameters; of a mistake in C, C++ would say the same. @return
 * whether the C compiler takes the file */
static bool check_texts(kernel_report *r, const kernel_file *file, const kernel_targets *targets,
                        bool verbose)
{
    if (names(targets, LANGUAGE_CPU) && check_text(r, file, META_CHECK_C, verbose) != META_OK)
        return false;
    if (names(targets, LANGUAGE_CXX)) check_text(r, file, META_CHECK_CXX, verbose);
    return true;
}

/* @return what no check depends on, or NULL */
static const char *needless_detail(const kernel_targets *targets)
{
    for (int k = 0; k < targets->count; ++k)
        if (targets->target[k].language == LANGUAGE_CPU && *targets->target[k].detail != '\0')
            return targets->target[k].detail;
    return NULL;
}

kernel_outcome kernel_check_part(const char *path, const kernel_target *target)
{
    kernel_file file;
    kernel_report r = nothing;
    if (!kernel_file_open(&file, path)) return OUTCOME_NOT_DONE;
    check_language(&r, &file, target);
    kernel_file_close(&file);
    return kernel_report_outcome(&r);
}

kernel_outcome kernel_check(char *path, const kernel_targets *targets, bool verbose)
{
    static const kernel_targets all = {.target = {{.language = LANGUAGE_CPU},
                                                  {.language = LANGUAGE_CXX},
                                                  {.language = LANGUAGE_OPENCL},
                                                  {.language = LANGUAGE_CUDA},
                                                  {.language = LANGUAGE_HIP}},
                                       .count = LANGUAGES};
    static const char *const alone[] = {"--part", NULL};
    kernel_file file;
    kernel_report r = nothing;
    if (needless_detail(targets)) {
        fprintf(stderr,
                "meta-kernel: check: --for cpu:%s: C is checked for no instruction set: give c\n",
                needless_detail(targets));
        return OUTCOME_NOT_DONE;
    }
    if (targets->count == 0) targets = &all;
    if (!kernel_file_read(&file, path)) return OUTCOME_NOT_DONE;
    kernel_outcome outcome = OUTCOME_DONE;
    if ((file.text && !check_texts(&r, &file, targets, verbose)) ||
        !kernel_file_load(&file, path)) {
        if (!file.text) outcome = OUTCOME_NOT_DONE;
        else if (!names(targets, LANGUAGE_CPU) &&
                 check_text(&r, &file, META_CHECK_C, verbose) == META_OK)
            outcome = OUTCOME_NOT_DONE; /* kernel_file_load() has said why */
        else
            kernel_report_missing(&r, file.name, "other languages",
                                  "its kernels are not known before the C compiler takes it");
        r.incomplete = true;
    } else {
        if (file.text && names(targets, LANGUAGE_CPU)) kernel_vectors_print(&file);
        for (int k = 0; k < targets->count; ++k)
            if (targets->target[k].language != LANGUAGE_CXX)
                outcome = kernel_report_worse(
                    outcome, kernel_part("check", &path, 1, &targets->target[k], alone));
    }
    kernel_file_close(&file);
    return kernel_report_worse(outcome, kernel_report_outcome(&r));
}
