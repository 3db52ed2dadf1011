/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta-kernel.c
 *  meta-kernel: works on the kernel files of programs: checks them in every language, builds
 * objects ahead of time, embeds them into C, and writes Fortran modules with a typed procedure for
 * each kernel. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ahead.h"
#include "kernel_build.h"
#include "kernel_check.h"
#include "kernel_file.h"
#include "kernel_fortran.h"
#include "kernel_mistake.h"
#include "meta.h"
#include "standard_output.h"

typedef struct request {
    kernel_outcome (*command)(const struct request *r);
    bool starts_library; /* before its functions are called */
    bool takes_more;     /* any number of files */
    const char *takes;   /* the options of the command, as their codes */
    char given[8];       /* and those that were given */
    const char *file;    /* the first one */
    char *const *files;
    int count;
    const char *out, *module;
    bool is_part, verbose;
    kernel_extent extent;
    kernel_targets targets;
} request;

static kernel_outcome fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static kernel_outcome fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("meta-kernel: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return OUTCOME_NOT_DONE;
}

/* ------------------------------------------------------------------ what is written */

static FILE *open_out(const request *r)
{
    FILE *to = r->out ? fopen(r->out, "w") : stdout;
    if (!to) fail("%s cannot be written: %s", r->out, strerror(errno));
    return to;
}

static kernel_outcome close_out(const request *r, FILE *to)
{
    const bool broken = ferror(to) != 0;
    const bool closed = to == stdout ? fflush(to) == 0 : fclose(to) == 0;
    if (closed && !broken) return OUTCOME_DONE;
    if (r->out) remove(r->out);
    return fail("%s cannot be written: %s", r->out ? r->out : "standard output", strerror(errno));
}

/* ------------------------------------------------------------------ commands */

static kernel_outcome write_text(const request *r)
{
    kernel_file file;
    if (!kernel_file_open(&file, r->file)) return OUTCOME_NOT_DONE;
    kernel_outcome status = OUTCOME_NOT_DONE;
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

static bool is_fortran_name(const char *name)
{
    const size_t length =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && length <= 63 && name[length] == '\0' && *name != '_' &&
           !(*name >= '0' && *name <= '9');
}

/* The module's name: of the file, without its folder and from its first dot on. */
static void name_module(const char *file, char *name, size_t room)
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    snprintf(name, room, "%.*s_kernels", (int)strcspn(base, "."), base);
    for (char *c = name; *c; ++c)
        if (*c == '-') *c = '_';
}

static kernel_outcome write_fortran(const request *r)
{
    kernel_file file;
    char by_file[128];
    const char *module = r->module ? r->module : by_file;
    name_module(r->file, by_file, sizeof by_file);
    if (!is_fortran_name(module))
        return fail("'%s' cannot be the name of a Fortran module: give one by --module", module);
    if (!kernel_file_open(&file, r->file)) return OUTCOME_NOT_DONE;
    FILE *to = open_out(r);
    kernel_outcome status = OUTCOME_NOT_DONE;
    if (to) {
        const char *problem = kernel_fortran(to, file.name, module, file.kernel, file.kernels);
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

/* #include takes the characters between its quotation marks as they are. The file name is also a
 * string, __FILE_NAME__, by which the kernel file includes itself. */
static bool can_be_included(const char *path)
{
    return !strpbrk(path, "\"\n\r") && !strchr(strrchr(path, '/'), '\\');
}

/* What a C file includes is looked for beside it, so the kernel file's whole path is given. */
/* The program's compiler would say a mistake of the file for each type and instruction set: here it
 * is said once, before anything is written. Without a compiler here, that of the program has to do.
 */
static bool has_mistake(const kernel_file *file)
{
    char command[PATH_MAX], *said = NULL;
    meta_err error = meta_ahead_table.check(META_CHECK_GNU, file->name, file->text, command, &said);
    /* A program for CPUs alone may have headers of its own, which are not seen from here. */
    if (said && (strstr(said, "No such file") || strstr(said, "file not found")) &&
        !strstr(said, "mistake in a kernel: ")) /* by which the header ends a compilation */
        error = META_OK;
    if (error == META_ERR_ARGUMENT && said) kernel_mistake_write(file->name, said, stderr);
    else if (error == META_ERR_ARGUMENT) fprintf(stderr, "%s\n", meta_last_error());
    free(said);
    return error == META_ERR_ARGUMENT;
}

static kernel_outcome write_source(const request *r)
{
    kernel_file file;
    char path[PATH_MAX];
    if (!kernel_file_read(&file, r->file)) return OUTCOME_NOT_DONE;
    kernel_outcome status = OUTCOME_NOT_DONE;
    FILE *to = NULL;
    if (!file.text) fail("%s is a shared object: its kernels are compiled", r->file);
    else if (!realpath(r->file, path)) fail("%s: %s", r->file, strerror(errno));
    else if (!can_be_included(path))
        fail("%s cannot be included by C: rename what has a quotation mark or a line break in its "
             "name, and a file with a backslash",
             path);
    else if (has_mistake(&file)) status = OUTCOME_REFUSED;
    else to = open_out(r);
    if (to) {
        kernel_file_write_source(&file, path, to);
        status = close_out(r, to);
    }
    kernel_file_close(&file);
    return status;
}

static kernel_outcome check(const request *r)
{
    if (r->is_part) return kernel_check_part(r->files[0], &r->targets.target[0]);
    return kernel_check(r->files[0], &r->targets, r->verbose);
}

static kernel_outcome build(const request *r)
{
    return kernel_build(r->files, r->count, r->extent, &r->targets, r->out);
}

/* ------------------------------------------------------------------ the command line */

static void print_help(void)
{
    printf(
        "usage: meta-kernel check FILE [--for LANGUAGE,...] [--verbose]\n"
        "       meta-kernel build FILE... --for TARGET,... -o FOLDER [--library] [--plain]\n"
        "       meta-kernel embed FILE [-o OUT.c]\n"
        "       meta-kernel text FILE [-o OUT.c]\n"
        "       meta-kernel fortran FILE [-o OUT.f90] [--module NAME]\n\n"
        "Works on kernel files of programs (doc/kernels.md). FILE is one, such as heat.kernel.h, "
        "which\n"
        "is compiled by the system's compiler (META_CC), or a shared object that holds kernels.\n\n"
        "  check    compile every kernel in every language, and print what the compilers say: "
        "C11,\n"
        "           C++11, OpenCL C, CUDA and HIP, for the devices of this machine where it has "
        "some;\n"
        "           with C, which kernels' loops over cells are vectorized, and why not the "
        "others\n"
        "  build    compile every kernel for machines without compilers, into a folder that\n"
        "           META_KERNEL_PATH names there\n"
        "  embed    write the C file that compiles the kernels, with the file's text, unless the "
        "system's\n"
        "           C compiler finds a mistake in it\n"
        "  text     write the file's text alone as C, for META_KERNEL_TEXT_APART\n"
        "  fortran  write a Fortran module with a typed procedure for each kernel\n\n"
        "  -o OUT         the file to write (default: standard output), or the folder\n"
        "  --for LIST     check: of c, c++, opencl[:DEVICE], cuda[:sm_90] and hip[:gfx90a], "
        "default all\n"
        "                 build: of cpu[:baseline|avx2|avx512|sve|native], "
        "opencl[:DEVICE], cuda:sm_90\n"
        "                 and hip:gfx90a; cpu alone stands for all instruction sets\n"
        "  --library      build: the ready kernels of meta_library.h too; FILE may be left out\n"
        "  --verbose      check: all that the C and C++ compilers say of a mistake, not only the "
        "first\n"
        "  --plain        build: without the code of META_CHECK=on and META_REPRODUCIBLE=on\n"
        "  --module NAME  the Fortran module's name (default: heat_kernels of heat.kernel.h)\n"
        "  --help         print this help\n"
        "  --version      print the version\n\n"
        "Exit status: 0 done, 1 a kernel does not compile, 2 not done, 3 all that could be "
        "compiled\n"
        "does, but a compiler or device is missing, or cannot compute with a\n"
        "kernel's type; the output says which.\n");
}

static bool find_command(const char *name, request *r)
{
    static const struct {
        const char *name;
        kernel_outcome (*command)(const struct request *r);
        bool starts_library, takes_more;
        const char *takes;
    } commands[] = {{"check", check, true, false, "fpw"},
                    {"build", build, true, true, "folcp"},
                    {"embed", write_source, false, false, "o"},
                    {"text", write_text, true, false, "o"},
                    {"fortran", write_fortran, true, false, "om"}};
    for (size_t k = 0; k < sizeof commands / sizeof *commands; ++k)
        if (strcmp(name, commands[k].name) == 0) {
            r->command = commands[k].command;
            r->starts_library = commands[k].starts_library;
            r->takes_more = commands[k].takes_more;
            r->takes = commands[k].takes;
            return true;
        }
    return fail("%s is no command: check, build, embed, text or fortran", name), false;
}

/* An option with its value. @return false after a message */
static bool take_option(request *r, int code)
{
    const char *wrong = NULL;
    const size_t given = strlen(r->given);
    if (!strchr(r->given, code) && given + 1 < sizeof r->given) r->given[given] = (char)code;
    if (code == 'o') r->out = optarg;
    else if (code == 'm') r->module = optarg;
    else if (code == 'l') r->extent.library = true;
    else if (code == 'c') r->extent.plain = true;
    else if (code == 'p') r->is_part = true;
    else if (code == 'w') r->verbose = true;
    else wrong = kernel_targets_read(optarg, &r->targets);
    if (wrong) fail("%s", wrong);
    return !wrong;
}

/* Options that the command would ignore, or files that are too few or too many. */
static bool check_request(const request *r, const char *command)
{
    static const struct {
        char code;
        const char *name;
    } options[] = {{'o', "-o"},        {'m', "--module"}, {'f', "--for"},
                   {'l', "--library"}, {'c', "--plain"},  {'w', "--verbose"}};
    for (size_t k = 0; k < sizeof options / sizeof *options; ++k)
        if (strchr(r->given, options[k].code) && !strchr(r->takes, options[k].code))
            return fail("%s: it has no option %s", command, options[k].name), false;
    if (r->count == 0 && !r->extent.library) return fail("%s: which file?", command), false;
    if (r->count > 1 && !r->takes_more) return fail("%s: one file at a time", r->files[1]), false;
    return true;
}

/* Whether the library that was found is the one that this program was built with. Nothing else of
 * its table may be used before. */
static bool check_library(void)
{
    if (meta_ahead_table.version == META_AHEAD_VERSION &&
        meta_ahead_table.size == sizeof meta_ahead_table)
        return true;
    fail("libmeta.so is of another build: it has version %u of what meta-kernel uses of it, and "
         "this meta-kernel needs %u: install both together, or see LD_LIBRARY_PATH",
         (unsigned)meta_ahead_table.version, (unsigned)META_AHEAD_VERSION);
    return false;
}

/* False: the program exits now, with @p status. */
static bool read_command_line(request *r, int argc, char **argv, kernel_outcome *status)
{
    static const struct option list[] = {{"module", required_argument, NULL, 'm'},
                                         {"for", required_argument, NULL, 'f'},
                                         {"library", no_argument, NULL, 'l'},
                                         {"plain", no_argument, NULL, 'c'},
                                         {"verbose", no_argument, NULL, 'w'},
                                         {"part", no_argument, NULL, 'p'},
                                         /* for kernel_part() */ {"help", no_argument, NULL, 'h'},
                                         {"version", no_argument, NULL, 'v'},
                                         {NULL, 0, NULL, 0}};
    *r = (request){.command = NULL};
    *status = OUTCOME_NOT_DONE;
    opterr = 0;
    for (;;) {
        const int code = getopt_long(argc, argv, ":o:", list, NULL);
        if (code == -1) break;
        switch (code) {
        case 'h':
            print_help();
            *status = OUTCOME_DONE;
            return false;
        case 'v':
            printf("meta-kernel %s\n", PACKAGE_VERSION);
            *status = OUTCOME_DONE;
            return false;
        case ':':
            return fail("%s: its value is missing", argv[optind - 1]), false;
        case '?':
            return fail("%s: unknown option (--help lists the options)", argv[optind - 1]), false;
        default:
            if (!take_option(r, code)) return false;
        }
    }
    if (optind == argc) return fail("there is no command (--help lists them)"), false;
    if (!find_command(argv[optind], r)) return false;
    r->files = argv + optind + 1;
    r->count = argc - optind - 1;
    r->file = r->files[0];
    return check_request(r, argv[optind]);
}

static kernel_outcome run(int argc, char **argv)
{
    request r;
    kernel_outcome status;
    if (!read_command_line(&r, argc, argv, &status)) return status;
    if (!check_library()) return OUTCOME_NOT_DONE;
    if (!r.starts_library) return r.command(&r); /* a build need not start a device's runtime */
    /* What compilers say is printed once, with the kernel that they say it of. */
    if (r.command == check) setenv("META_LOG", "off", 0);
    if (meta_init() != META_OK) return fail("%s", meta_last_error());
    status = r.command(&r);
    meta_finalize();
    return status;
}

int main(int argc, char **argv)
{
    standard_output_begin();
    const kernel_outcome outcome = run(argc, argv);
    const char *error = standard_output_error();
    return (int)(error == NULL || outcome == OUTCOME_NOT_DONE ? outcome : fail("%s", error));
}
