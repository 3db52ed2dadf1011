/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta-kernel.c
 *  meta-kernel: works on the kernel files of programs: checks them with every compiler of this
 * machine, writes their text as C, and Fortran modules with a typed procedure for each kernel. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_file.h"
#include "kernel_fortran.h"
#include "meta.h"

enum { STATUS_DONE = 0, STATUS_FOUND = 1, STATUS_UNUSABLE = 2 };

typedef struct request {
    int (*command)(const struct request *r);
    const char *file, *out, *module;
} request;

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("meta-kernel: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return STATUS_UNUSABLE;
}

/* ------------------------------------------------------------------ what is written */

static FILE *open_out(const request *r)
{
    FILE *to = r->out ? fopen(r->out, "w") : stdout;
    if (!to) fail("%s cannot be written: %s", r->out, strerror(errno));
    return to;
}

static int close_out(const request *r, FILE *to)
{
    const bool broken = ferror(to) != 0;
    const bool closed = to == stdout ? fflush(to) == 0 : fclose(to) == 0;
    if (closed && !broken) return STATUS_DONE;
    if (r->out) remove(r->out);
    return fail("%s cannot be written: %s", r->out ? r->out : "standard output", strerror(errno));
}

/* ------------------------------------------------------------------ commands */

static int write_text(const request *r)
{
    kernel_file file;
    if (!kernel_file_open(&file, r->file)) return STATUS_UNUSABLE;
    int status = STATUS_UNUSABLE;
    FILE *to = NULL;
    if (!file.text) fail("%s is a shared object: its kernels have their text with them", r->file);
    else to = open_out(r);
    if (to) {
        kernel_file_write_text(&file, to);
        status = close_out(r, to);
    }
    kernel_file_close(&file);
    return status;
}

/* The module's name: of the file, without its folder and from its first dot on. */
static void name_module(const char *file, char *name, size_t room)
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    snprintf(name, room, "%.*s_kernels", (int)strcspn(base, "."), base);
    for (char *c = name; *c; ++c)
        if (*c == '-') *c = '_';
}

static int write_fortran(const request *r)
{
    kernel_file file;
    char module[64];
    name_module(r->file, module, sizeof module);
    if (!kernel_file_open(&file, r->file)) return STATUS_UNUSABLE;
    FILE *to = open_out(r);
    int status = STATUS_UNUSABLE;
    if (to) {
        const char *problem = kernel_fortran(to, file.name, r->module ? r->module : module,
                                             file.kernel, file.kernels);
        status = close_out(r, to);
        if (problem) {
            if (r->out) remove(r->out);
            status =
                fail("%s: Fortran cannot have the name '%s' there: rename it", r->file, problem);
        }
    }
    kernel_file_close(&file);
    return status;
}

/* Build every kernel for device @p number of those of @p mode. */
static bool check_on(const kernel_file *file, const meta_device_desc *device)
{
    bool sound = true;
    for (int k = 0; k < file->kernels; ++k) {
        const meta_kernel *kernel = file->kernel[k];
        const bool built = meta_kernel_prepare(file->kernel[k]) == META_OK;
        printf("%s %s, %s, %s: %s\n", kernel->name, kernel_file_type(kernel), device->backend,
               device->name, built ? "ok" : meta_last_error());
        sound = sound && built;
    }
    return sound;
}

static int check(const request *r)
{
    static const meta_mode modes[] = {META_OPENMP, META_OPENCL, META_CUDA, META_HIP};
    kernel_file file;
    bool sound = true;
    if (!kernel_file_open(&file, r->file))
        return access(r->file, R_OK) == 0 ? STATUS_FOUND : STATUS_UNUSABLE;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; ++m) {
        int count = 0;
        if (meta_device_count(modes[m], &count) != META_OK) continue;
        for (int n = 0; n < count; ++n) {
            meta_device_desc device = {.size = sizeof device};
            if (meta_device_info(n, modes[m], &device) != META_OK ||
                meta_set_acc(n, modes[m]) != META_OK) {
                printf("device %d: %s\n", n, meta_last_error());
                sound = false;
            } else if (!check_on(&file, &device)) {
                sound = false;
            }
        }
    }
    kernel_file_close(&file);
    return sound ? STATUS_DONE : STATUS_FOUND;
}

/* ------------------------------------------------------------------ the command line */

static void print_help(void)
{
    printf(
        "usage: meta-kernel check FILE\n"
        "       meta-kernel text FILE [-o OUT.c]\n"
        "       meta-kernel fortran FILE [-o OUT.f90] [--module NAME]\n\n"
        "Works on kernel files of programs (doc/kernels.md). FILE is one, such as heat.kernel.h, "
        "which\n"
        "is compiled by the system's compiler (META_CC), or a shared object that holds kernels.\n\n"
        "  check    build every kernel for every device of this machine and print what the\n"
        "           compilers say\n"
        "  text     write the file's text as C, for META_KERNEL_TEXT_APART\n"
        "  fortran  write a Fortran module with a typed procedure for each kernel\n\n"
        "  -o OUT         the file to write (default: standard output)\n"
        "  --module NAME  the Fortran module's name (default: heat_kernels of heat.kernel.h)\n"
        "  --help         print this help\n"
        "  --version      print the version\n\n"
        "Exit status: 0 done, 1 check found a kernel that does not compile, 2 if not done.\n");
}

static bool find_command(const char *name, request *r)
{
    if (strcmp(name, "check") == 0) r->command = check;
    else if (strcmp(name, "text") == 0) r->command = write_text;
    else if (strcmp(name, "fortran") == 0) r->command = write_fortran;
    else return fail("%s is no command: check, text or fortran", name), false;
    return true;
}

/* False: the program exits now, with @p status. */
static bool read_command_line(request *r, int argc, char **argv, int *status)
{
    static const struct option list[] = {{"module", required_argument, NULL, 'm'},
                                         {"help", no_argument, NULL, 'h'},
                                         {"version", no_argument, NULL, 'v'},
                                         {NULL, 0, NULL, 0}};
    *r = (request){.command = NULL};
    *status = STATUS_UNUSABLE;
    opterr = 0;
    for (;;) {
        const int code = getopt_long(argc, argv, ":o:", list, NULL);
        if (code == -1) break;
        switch (code) {
        case 'o':
            r->out = optarg;
            break;
        case 'm':
            r->module = optarg;
            break;
        case 'h':
            print_help();
            *status = STATUS_DONE;
            return false;
        case 'v':
            printf("meta-kernel %s\n", PACKAGE_VERSION);
            *status = STATUS_DONE;
            return false;
        case ':':
            return fail("%s: its value is missing", argv[optind - 1]), false;
        default:
            return fail("%s: unknown option (--help lists the options)", argv[optind - 1]), false;
        }
    }
    if (optind == argc) return fail("there is no command (--help lists them)"), false;
    if (!find_command(argv[optind], r)) return false;
    if (argc - optind < 2) return fail("%s: which file?", argv[optind]), false;
    if (argc - optind > 2) return fail("%s: one file at a time", argv[optind + 2]), false;
    r->file = argv[optind + 1];
    return true;
}

int main(int argc, char **argv)
{
    request r;
    int status;
    if (!read_command_line(&r, argc, argv, &status)) return status;
    if (meta_init() != META_OK) return fail("%s", meta_last_error());
    status = r.command(&r);
    meta_finalize();
    return status;
}
