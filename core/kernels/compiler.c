/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler.c
 *  Running the system's C compiler in a folder of its own, with the language of kernels, which the
 * library carries. */
#include "kernels/compiler.h"
#include "kernels/reserved.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/module.h"
#include "base/spawn.h"
#include "build_log.h"
#include "cache/cache.h"
#include "processor.h"

extern char **environ;

const meta_language_file meta_language[META_LANGUAGE_FILES] = {
    {"meta_kernel.h", meta_language_meta_kernel_h},
    {"meta_kernel_body.h", meta_language_meta_kernel_body_h},
    {"meta_kernel_end.h", meta_language_meta_kernel_end_h},
    {"meta_kernel_list.h", meta_language_meta_kernel_list_h},
    {"meta_kernel_pass.h", meta_language_meta_kernel_pass_h},
    {"meta_kernel_team.h", meta_language_meta_kernel_team_h},
    {"meta_kernel_team_body.h", meta_language_meta_kernel_team_body_h},
    {"meta_kernel_extremes.h", meta_language_meta_kernel_extremes_h},
    {"meta_extreme.h", meta_language_meta_extreme_h},
    {"meta_types.h", meta_language_meta_types_h},
    {"meta.h", meta_language_meta_h}};

const char meta_compiler_unit[] =
    "#define META_KERNELS_HERE\n"
    "#define META_KERNEL_ONE_VARIANT\n"
    "#ifndef __FILE_NAME__\n"
    "#define META_KERNEL_FILE \"%s\"\n"
    "#endif\n"
    "#define META_KERNEL_NO_PASS\n"
    "#define meta_kernel_register   meta_compiled_add\n"
    "#define meta_kernel_unregister meta_compiled_drop\n"
    "#define meta_kernel_near       meta_compiled_near\n"
    "#define meta_kernel_element    meta_compiled_element\n"
    "#include <meta_kernel.h>\n"
    "#undef META_KERNEL_NO_PASS\n"
    "#include \"%s\"\n"
    "META_API meta_kernel *" META_COMPILED ";\n"
    "void meta_compiled_add(meta_kernel *kernel)\n"
    "{\n"
    "    kernel->state = (struct meta_kernel_state *)(void *)" META_COMPILED ";\n"
    "    " META_COMPILED " = kernel;\n"
    "}\n"
    "void meta_compiled_drop(meta_kernel *kernel) { (void)kernel; }\n"
    "META_API int64_t (*" META_COMPILED_NEAR ")(const meta_kernel_rows *, const char *, int,\n"
    "    int64_t, int64_t, int64_t, int64_t, int64_t);\n"
    "int64_t meta_compiled_near(const meta_kernel_rows *rows, const char *array, int line,\n"
    "    int64_t column, int64_t x, int64_t y, int64_t z, int64_t w)\n"
    "{\n"
    "    return " META_COMPILED_NEAR "(rows, array, line, column, x, y, z, w);\n"
    "}\n"
    "META_API int64_t (*" META_COMPILED_ELEMENT ")(const meta_kernel_rows *, const char *, int,\n"
    "    int64_t);\n"
    "int64_t meta_compiled_element(const meta_kernel_rows *rows, const char *array, int line,\n"
    "    int64_t index)\n"
    "{\n"
    "    return " META_COMPILED_ELEMENT "(rows, array, line, index);\n"
    "}\n";

#define UNIT     "unit.c"
#define OBJECT   "kernels.so"
#define OUTPUT   "output"
#define RECORD   "record"   /* what the compiler says of loops */
#define TEXT     "text"     /* folder of the kernel file */
#define LANGUAGE "language" /* folder of what it includes */
/* Plenty for the messages of a text of any sense; the error has the first MiB of them. A record has
 * every function's code. */
enum { MOST_OUTPUT = 1 << 22, MOST_RECORD = 1 << 29, MOST_FILE_NAME = 100 };

/* ------------------------------------------------------------------ which compiler */

/* Add to its identity a program that META_CC names; launchers such as ccache come first. */
static void identify(meta_compiler *c, const char *path)
{
    const size_t used = strlen(c->build);
    struct stat about;
    if (stat(path, &about) != 0) return;
    snprintf(c->build + used, sizeof c->build - used, " file %lld.%lld, %lld bytes of %lld.%09ld",
             (long long)about.st_dev, (long long)about.st_ino, (long long)about.st_size,
             (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

static void take_words(meta_compiler *c, const char *wanted)
{
    enum { MOST = sizeof c->argument / sizeof *c->argument - 1 };
    char path[PATH_MAX], *rest = NULL;
    int count = 0;
    if (snprintf(c->words, sizeof c->words, "%s", wanted) >= (int)sizeof c->words) return;
    if (meta_find_program(c->words, c->path)) { /* its path may have blanks */
        identify(c, c->path);
        return;
    }
    for (char *word = strtok_r(c->words, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest), ++count) {
        if (count > MOST) { /* then it counts as no program */
            c->path[0] = '\0';
            return;
        }
        const bool found = meta_find_program(word, path);
        if (count == 0 && !found) return;
        if (found) identify(c, path);
        if (count == 0) memcpy(c->path, path, sizeof path);
        else c->argument[count - 1] = word;
    }
    c->argument[count > 0 ? count - 1 : 0] = NULL;
}

static void find_first(meta_compiler *c, const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; ++k)
        if (meta_find_program(names[k], c->path)) {
            identify(c, c->path);
            return;
        }
}

void meta_compiler_find(meta_compiler *c)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *wanted = meta_variable("META_CC");
    memset(c, 0, sizeof *c);
    c->set = meta_compiler_set();
    if (wanted) take_words(c, wanted);
    else find_first(c, names, sizeof names / sizeof *names);
}

/* GCC and clang know these. Additions and multiplications stay apart, and sqrt() is an instruction.
 */
#define OPTIONS "-std=gnu11 -O3 -fPIC -shared -fvisibility=hidden -ffp-contract=off -fno-math-errno"
#define AVX2    " -mavx2"
#define AVX512  " -mavx512f -mavx512vl -mavx512bw -mavx512dq -mprefer-vector-width=512"
#define SVE     " -march=armv8.2-a+sve"

int meta_compiler_set(void)
{
#ifdef __x86_64__
    const char *wanted = meta_variable("META_CPU");
    if (wanted ? strcmp(wanted, "avx512") == 0 : meta_has_avx512()) return META_KERNEL_AVX512;
    if (wanted ? strcmp(wanted, "avx2") == 0 : meta_has_avx2()) return META_KERNEL_AVX2;
#elif defined __aarch64__
    /* The code is for any width; where the OpenMP back end has kernels of this one, it is used. */
    const char *wanted = meta_variable("META_CPU");
    const int bits = meta_sve_bits();
    if (wanted ? strcmp(wanted, "sve512") == 0 || strcmp(wanted, "sve256") == 0
               : bits == 512 || bits == 256)
        return META_KERNEL_SVE;
#endif
    return META_KERNEL_BASELINE;
}

const char *meta_compiler_options(int set)
{
#ifdef __aarch64__
    return set == META_KERNEL_SVE ? OPTIONS SVE : OPTIONS;
#else
    return set == META_KERNEL_AVX512 ? OPTIONS AVX512
           : set == META_KERNEL_AVX2 ? OPTIONS AVX2
                                     : OPTIONS;
#endif
}

int meta_compiler_set_named(const char *name)
{
    if (strcmp(name, "native") == 0) return meta_compiler_set();
    if (strcmp(name, "baseline") == 0) return META_KERNEL_BASELINE;
#ifdef __x86_64__
    if (strcmp(name, "avx2") == 0) return META_KERNEL_AVX2;
    if (strcmp(name, "avx512") == 0) return META_KERNEL_AVX512;
#elif defined __aarch64__
    if (strcmp(name, "sve") == 0) return META_KERNEL_SVE;
#endif
    return -1;
}

/* ------------------------------------------------------------------ its folder */

meta_err meta_compiler_check_file(const char *file)
{
    size_t length = 0;
    for (; file[length]; ++length) {
        const char c = file[length];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '.' && c != '-' && c != '+')
            break;
    }
    if (length == 0 || file[length] || length > MOST_FILE_NAME || file[0] == '.' || file[0] == '-')
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'file' is \"%.200s\": give the name of a file without its "
                         "folder, of up to %d letters, digits and _ . - +",
                         file, (int)MOST_FILE_NAME);
    for (int k = 0; k < META_LANGUAGE_FILES; ++k)
        if (strcmp(file, meta_language[k].name) == 0)
            return meta_fail(META_ERR_ARGUMENT,
                             "argument 'file' is \"%s\", which is a header of libmeta's", file);
    return META_OK;
}

meta_err meta_compiler_check_text(const char *file, const char *text)
{
    META_TRY(meta_compiler_check_file(file));
    META_TRY(meta_compiler_check_guard(file, text));
    return meta_compiler_check_lists(file, text);
}

static meta_err write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + MOST_FILE_NAME];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    const size_t bytes = strlen(text);
    bool written = file && fwrite(text, 1, bytes, file) == bytes;
    if (file) written = fclose(file) == 0 && written;
    if (!written)
        return meta_fail(
            META_ERR_UNSUPPORTED,
            "a kernel cannot be compiled: cannot write %s: %s; TMPDIR can name another "
            "folder",
            path, strerror(errno));
    return META_OK;
}

/* What is compiled beside the kernel file, of which it has the name; and the options. */
typedef struct manner {
    const char *unit;   /* the name of its file */
    const char *format; /* its text */
    const char *options;
    bool makes_object;
    const char *record; /* the option that precedes the path of RECORD, or NULL */
} manner;

/* In two folders, so that a kernel file takes no header's place. */
static meta_err write_files(const char *folder, const manner *m, const char *file, const char *text)
{
    char inner[PATH_MAX + 16], unit[sizeof meta_compiler_unit + (size_t)2 * MOST_FILE_NAME];
    snprintf(inner, sizeof inner, "%s/" LANGUAGE, folder);
    if (mkdir(inner, 0700) != 0)
        return meta_fail(META_ERR_UNSUPPORTED, "a kernel cannot be compiled: cannot create %s: %s",
                         inner, strerror(errno));
    for (int k = 0; k < META_LANGUAGE_FILES; ++k)
        META_TRY(write_file(inner, meta_language[k].name, (const char *)meta_language[k].text));
    snprintf(inner, sizeof inner, "%s/" TEXT, folder);
    if (mkdir(inner, 0700) != 0)
        return meta_fail(META_ERR_UNSUPPORTED, "a kernel cannot be compiled: cannot create %s: %s",
                         inner, strerror(errno));
    META_TRY(write_file(inner, file, text));
    snprintf(unit, sizeof unit, m->format, file, file);
    return write_file(folder, m->unit, unit);
}

/* Up to @p most bytes of a file, with an end, of malloc(); NULL: it cannot be read. */
static void *read_file(const char *folder, const char *name, size_t most, size_t *bytes)
{
    char path[PATH_MAX + MOST_FILE_NAME], *all = NULL;
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    if (fstat(fileno(file), &about) == 0) {
        const size_t size = (size_t)about.st_size < most ? (size_t)about.st_size : most;
        all = malloc(size + 1);
        if (all) {
            *bytes = fread(all, 1, size, file);
            all[*bytes] = '\0';
        }
    }
    fclose(file);
    return all;
}

/* Names in messages are those that the program knows: without the folders. */
static void strip(char *said, const char *folder)
{
    char prefix[PATH_MAX + 16];
    const size_t length = (size_t)snprintf(prefix, sizeof prefix, "%s/", folder);
    char *to = said;
    for (const char *at = said; *at;) {
        if (strncmp(at, prefix, length) != 0) {
            *to++ = *at++;
            continue;
        }
        at += length;
        if (strncmp(at, TEXT "/", sizeof TEXT) == 0) at += sizeof TEXT;
        else if (strncmp(at, LANGUAGE "/", sizeof LANGUAGE) == 0) at += sizeof LANGUAGE;
    }
    *to = '\0';
}

/* ------------------------------------------------------------------ running it */

static const meta_host host = {.size = sizeof host, .log = meta_log};

/* This process's environment, with the compiler's own temporary files in @p folder and messages in
 * plain letters. @p with has the texts of what is added. To be freed; the texts are not. */
static const char **environment_with(char *const *with, size_t count)
{
    size_t others = 0, used = 0;
    while (environ && environ[others]) ++others;
    const char **all = malloc((others + count + 1) * sizeof *all);
    if (!all) return NULL;
    for (size_t k = 0; k < count; ++k) all[used++] = with[k];
    for (size_t k = 0; k < others; ++k) {
        bool replaced = false;
        for (size_t w = 0; w < count && !replaced; ++w)
            replaced = strncmp(environ[k], with[w], strcspn(with[w], "=") + 1) == 0;
        if (!replaced) all[used++] = environ[k];
    }
    all[used] = NULL;
    return all;
}

static meta_run_end start(const meta_compiler *c, const manner *m, const char *folder, int *number)
{
    enum { MOST = 64 };
    char options[512], temporary[PATH_MAX + 16], language[PATH_MAX + 16], text[PATH_MAX + 16],
        unit[PATH_MAX + 16], object[PATH_MAX + 16], output[PATH_MAX + 16], record[PATH_MAX + 80],
        *rest = NULL;
    const char *argument[MOST];
    int count = 0;
    snprintf(options, sizeof options, "%s", m->options);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    snprintf(language, sizeof language, "-I%s/" LANGUAGE, folder);
    snprintf(text, sizeof text, "-I%s/" TEXT, folder);
    snprintf(unit, sizeof unit, "%s/%s", folder, m->unit);
    snprintf(object, sizeof object, "%s/" OBJECT, folder);
    snprintf(output, sizeof output, "%s/" OUTPUT, folder);
    snprintf(record, sizeof record, "%s%s/" RECORD, m->record ? m->record : "", folder);
    argument[count++] = c->path;
    for (int k = 0; c->argument[k]; ++k) argument[count++] = c->argument[k];
    for (char *word = strtok_r(options, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argument[count++] = word;
    argument[count++] = language;
    argument[count++] = text;
    if (m->record) argument[count++] = record;
    if (m->makes_object) {
        argument[count++] = "-o";
        argument[count++] = object;
    }
    argument[count++] = unit;
    if (m->makes_object) argument[count++] = "-lm";
    argument[count] = NULL;
    /* An object of ccache's has no record. */
    char *const with[] = {temporary, (char[]){"LC_ALL=C"}, (char[]){"CCACHE_DISABLE=1"}};
    const char **environment = environment_with(with, m->record ? 3 : 2);
    *number = ENOMEM;
    if (!environment) return META_RUN_NOT_STARTED;
    const meta_run_end end =
        meta_run_program(argument, environment, output, meta_jit_timeout(), number);
    free(environment);
    return end;
}

static meta_err fail_of_run(const meta_compiler *c, const char *file, meta_run_end end, int number,
                            const char *said)
{
    switch (end) {
    case META_RUN_NOT_STARTED:
        return meta_fail(META_ERR_UNSUPPORTED, "%s cannot be compiled: %s cannot be started: %s",
                         file, c->path, strerror(number));
    case META_RUN_TIMED_OUT:
        return meta_fail(META_ERR_DEVICE,
                         "%s is not compiled: %s did not end within %g s, and was killed; "
                         "META_JIT_TIMEOUT sets the limit%s%s",
                         file, c->path, meta_jit_timeout(), *said ? "; it says: " : "", said);
    case META_RUN_KILLED:
        return meta_fail(META_ERR_DEVICE, "%s is not compiled: signal %d ended %s%s%s", file,
                         number, c->path, *said ? "; it says: " : "", said);
    default:
        meta_log_lines(&host, META_LOG_WARN, c->path, file, said);
        return meta_fail(META_ERR_ARGUMENT, "argument 'text' (%s) does not compile, %s says: %s",
                         file, c->path, *said ? said : "nothing");
    }
}

static meta_err run_in(const meta_compiler *c, const char *folder, const char *file,
                       const char *text, void **code, size_t *bytes)
{
    char path[PATH_MAX + 16], reason[160];
    int number = 0;
    size_t length = 0;
    const manner m = {UNIT, meta_compiler_unit, meta_compiler_options(c->set), true, NULL};
    META_TRY(write_files(folder, &m, file, text));
    const meta_run_end end = start(c, &m, folder, &number);
    char *said = read_file(folder, OUTPUT, MOST_OUTPUT, &length);
    if (said) strip(said, folder);
    snprintf(path, sizeof path, "%s/" OBJECT, folder);
    bool compiled = end == META_RUN_UNKNOWN || (end == META_RUN_EXITED && number == 0);
    meta_err error = META_OK;
    if (compiled && !meta_module_whole(path, reason, sizeof reason)) {
        compiled = false;
        if (end == META_RUN_EXITED)
            error = meta_fail(META_ERR_DEVICE,
                              "%s is not compiled: %s reports success, but of what it should have "
                              "written %s",
                              file, c->path, reason);
    }
    if (compiled) {
        meta_log_lines(&host, META_LOG_INFO, c->path, file, said ? said : "");
        *code = read_file(folder, OBJECT, SIZE_MAX - 1, bytes);
        if (!*code)
            error =
                meta_fail(META_ERR_NO_MEMORY, "the host has no memory for the code of %s", file);
    } else if (error == META_OK) {
        error = fail_of_run(c, file, end, number, said ? said : "");
    }
    free(said);
    return error;
}

meta_err meta_compiler_run(const meta_compiler *c, const char *file, const char *text, void **code,
                           size_t *bytes)
{
    const char *wanted = meta_variable("META_CC");
    char folder[PATH_MAX];
    if (!c->path[0] && wanted)
        return meta_fail(META_ERR_UNSUPPORTED,
                         "%s cannot be compiled: META_CC=%s is no program, nor a command that "
                         "begins with one",
                         file, wanted);
    if (!c->path[0])
        return meta_fail(META_ERR_UNSUPPORTED,
                         "%s cannot be compiled: there is no C compiler, none of cc, gcc and clang "
                         "in PATH; set META_CC to one, or run where the cache has the code "
                         "(META_CACHE_DIR)",
                         file);
    META_TRY(meta_build_folder(folder));
    const meta_err error = run_in(c, folder, file, text, code, bytes);
    meta_build_folder_remove(folder);
    return error;
}

/* ------------------------------------------------------------------ checking a text */

#define CHECK_UNIT                                                                                 \
    "#define META_KERNELS_HERE\n"                                                                  \
    "#define META_KERNEL_ONE_VARIANT\n"                                                            \
    "#ifndef __FILE_NAME__\n"                                                                      \
    "#define META_KERNEL_FILE \"%s\"\n"                                                            \
    "#endif\n"                                                                                     \
    "#include \"%s\"\n"
/* A misspelt function would be a warning, and an error when the code is loaded. */
#define NO_DECLARATION " -Werror=implicit-function-declaration"
#define CHECK_OPTIONS  " -O1 -Wall -Wextra -pedantic -fsyntax-only"
static const manner manners[] = {
    [META_CHECK_C] = {UNIT, CHECK_UNIT, "-std=c11" NO_DECLARATION CHECK_OPTIONS, false, NULL},
    [META_CHECK_CXX] = {"unit.cpp", CHECK_UNIT, "-std=c++11" CHECK_OPTIONS, false, NULL},
    [META_CHECK_OPENCL] = {"unit.cl", "#define META_CHECKED \"%s\"\n#include \"%s\"\n",
                           "-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Wall "
                           "-fsyntax-only",
                           false, NULL},
    [META_CHECK_GNU] = {UNIT, CHECK_UNIT, "-std=gnu11" NO_DECLARATION " -fsyntax-only", false,
                        NULL}};

static void find_for(meta_compiler *c, meta_check_language language)
{
    static const char *const cxx[] = {"c++", "g++", "clang++"}, *const opencl[] = {"clang"};
    if (language == META_CHECK_C || language == META_CHECK_GNU) {
        meta_compiler_find(c);
        return;
    }
    memset(c, 0, sizeof *c);
    if (language == META_CHECK_CXX) find_first(c, cxx, sizeof cxx / sizeof *cxx);
    else find_first(c, opencl, 1);
}

static meta_err check_in(const meta_compiler *c, const manner *m, const char *folder,
                         const char *file, const char *text, char **said)
{
    int number = 0;
    size_t length = 0;
    META_TRY(write_files(folder, m, file, text));
    const meta_run_end end = start(c, m, folder, &number);
    *said = read_file(folder, OUTPUT, MOST_OUTPUT, &length);
    if (*said) strip(*said, folder);
    if (end == META_RUN_EXITED && number == 0) return META_OK;
    if (end == META_RUN_EXITED)
        return meta_fail(META_ERR_ARGUMENT, "%s does not compile, %s says: %s", file, c->path,
                         *said ? *said : "nothing");
    return fail_of_run(c, file, end, number, *said ? *said : "");
}

meta_err meta_compiler_check(meta_check_language language, const char *file, const char *text,
                             char *command, char **said)
{
    static const char *const missing[] = {
        [META_CHECK_C] =
            ("there is no C compiler, none of cc, gcc and clang in PATH; install one, or "
             "set META_CC"),
        [META_CHECK_CXX] = "there is no C++ compiler, none of c++, g++ and clang++ in PATH",
        [META_CHECK_OPENCL] = "there is no OpenCL compiler, clang in PATH",
        [META_CHECK_GNU] = "there is no C compiler"};
    meta_compiler c;
    char folder[PATH_MAX];
    *said = NULL;
    *command = '\0';
    META_TRY(language == META_CHECK_OPENCL ? meta_compiler_check_file(file)
                                           : meta_compiler_check_text(file, text));
    find_for(&c, language);
    if (!c.path[0]) return meta_fail(META_ERR_UNSUPPORTED, "%s", missing[language]);
    memcpy(command, c.path, sizeof c.path);
    META_TRY(meta_build_folder(folder));
    const meta_err error = check_in(&c, &manners[language], folder, file, text, said);
    meta_build_folder_remove(folder);
    meta_words keyword;
    if (error == META_ERR_ARGUMENT && language == META_CHECK_CXX &&
        meta_find_keyword_of_cxx(text, &keyword))
        return meta_fail(error,
                         "%s:%d: %.*s is a keyword of C++: a program in C++ cannot include the "
                         "file; C and all devices take it",
                         file, keyword.word_line, (int)keyword.length, keyword.word);
    return error;
}

/* ------------------------------------------------------------------ which loops become vectors */

#define RECORD_UNIT                                                                                \
    "#define META_KERNELS_HERE\n"                                                                  \
    "#define META_KERNEL_REPORT\n"                                                                 \
    "#ifndef __FILE_NAME__\n"                                                                      \
    "#define META_KERNEL_FILE \"%s\"\n"                                                            \
    "#endif\n"                                                                                     \
    "#include \"%s\"\n"
/* As most programs are compiled. */
#define RECORD_OPTIONS "-std=gnu11 -O2 -w -S -o /dev/null"
static const manner recorders[] = {
    [META_RECORD_GCC] = {UNIT, RECORD_UNIT, RECORD_OPTIONS, false,
                         "-fdump-tree-vect-optimized-missed-lineno="},
    [META_RECORD_CLANG] = {UNIT, RECORD_UNIT,
                           RECORD_OPTIONS " -fsave-optimization-record=yaml "
                                          "-foptimization-record-passes=^(loop-vectorize)?$",
                           false, "-foptimization-record-file="}};

/* @return the record, or NULL: the compiler is another one */
static char *record_in(const meta_compiler *c, const manner *m, const char *folder,
                       const char *file, const char *text)
{
    int number = 0;
    size_t length = 0;
    if (write_files(folder, m, file, text) != META_OK) return NULL;
    const meta_run_end end = start(c, m, folder, &number);
    char *record = read_file(folder, RECORD, MOST_RECORD, &length);
    if (record && end == META_RUN_EXITED && number == 0 && length > 0) strip(record, folder);
    else free(record), record = NULL;
    return record;
}

meta_err meta_compiler_record(const char *file, const char *text, meta_record_kind *kind,
                              char **record)
{
    meta_compiler c;
    char folder[PATH_MAX];
    *record = NULL;
    META_TRY(meta_compiler_check_text(file, text));
    find_for(&c, META_CHECK_C);
    for (int k = META_RECORD_GCC; k <= META_RECORD_CLANG && c.path[0] && !*record; ++k) {
        META_TRY(meta_build_folder(folder));
        *kind = (meta_record_kind)k;
        *record = record_in(&c, &recorders[k], folder, file, text);
        meta_build_folder_remove(folder);
    }
    if (*record) return META_OK;
    return meta_fail(META_ERR_UNSUPPORTED, "%s says nothing of loops that gcc or clang would say",
                     c.path[0] ? c.path : "no C compiler");
}
