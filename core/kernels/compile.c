/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compile.c
 *  Kernels whose text is given at run time: found among those of the program, loaded from the
 * cache, or compiled; then registered like those that the program was built with. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "kernels/compiler.h"
#include "kernels/kernels.h"

/* A text to be compiled; then its kernels. */
typedef struct job {
    const meta_compiler *compiler;
    const char *file, *text;
    meta_kernel *kernels; /* a list, linked by their `state` */
} job;

static meta_kernel *next_of(const meta_kernel *kernel)
{
    return (meta_kernel *)(void *)kernel->state;
}

/* ------------------------------------------------------------------ code */

typedef int64_t near_function(const meta_kernel_rows *, const char *, int, int64_t, int64_t,
                              int64_t, int64_t, int64_t);
typedef int64_t element_function(const meta_kernel_rows *, const char *, int, int64_t);

static meta_err load(void *with, const void *code, size_t bytes)
{
    job *j = with;
    char reason[512];
    void *object = meta_object_open(j->file, code, bytes, reason, sizeof reason);
    if (!object)
        return meta_fail(META_ERR_DEVICE, "the code of %s cannot be loaded: %s", j->file, reason);
    meta_kernel **first = dlsym(object, META_COMPILED);
    char why[META_KERNEL_MISFIT] = "it has no list of kernels";
    bool fits = first != NULL;
    for (meta_kernel *k = first ? *first : NULL; k && fits; k = next_of(k))
        fits = meta_kernel_fit(k, why, sizeof why) == META_OK;
    if (!fits) {
        dlclose(object);
        return meta_fail(META_ERR_DEVICE, "the code of %s cannot be used: %s", j->file, why);
    }
    near_function **near = dlsym(object, META_COMPILED_NEAR);
    if (near) *near = meta_kernel_near;
    element_function **element = dlsym(object, META_COMPILED_ELEMENT);
    if (element) *element = meta_kernel_element;
    j->kernels = *first;
    if (j->kernels) return META_OK;
    dlclose(object);
    return meta_fail(META_ERR_ARGUMENT,
                     "argument 'text' (%s) has no kernel: META_CELLS() begins one, and #include "
                     "META_AGAIN is the last line",
                     j->file);
}

static meta_err build(void *with, void **code, size_t *bytes)
{
    job *j = with;
    META_TRY(meta_compiler_run(j->compiler, j->file, j->text, code, bytes));
    return load(j, *code, *bytes);
}

/* The options in META_CC, which change the code; NULL: none. */
static const char *options_of(const char *command)
{
    for (; command && *command; ++command)
        if ((*command == ' ' || *command == '\t') && command[1] == '-') return command;
    return NULL;
}

/* What the code of a text for the CPU depends on. */
typedef struct facts {
    const char *fact[7 + META_LANGUAGE_FILES + 2];
    char title[160];
} facts;

static meta_cached cached_of(job *j, facts *f)
{
    enum { FIRST = 7, FACTS = sizeof f->fact / sizeof *f->fact };
    const char *const first[FIRST] = {"C",
                                      j->file,
                                      j->text,
                                      meta_compiler_unit,
                                      meta_compiler_options(j->compiler->set),
                                      options_of(meta_variable("META_CC")),
#ifdef __x86_64__
                                      "x86-64"
#elif defined __aarch64__
                                      "aarch64"
#else
                                      "of this build: " __VERSION__
#endif
    };
    memcpy(f->fact, first, sizeof first);
    for (int k = 0; k < META_LANGUAGE_FILES; ++k)
        f->fact[FIRST + k] = (const char *)meta_language[k].text;
    f->fact[FACTS - 2] = meta_variable("META_CC");
    f->fact[FACTS - 1] = j->compiler->build;
    snprintf(f->title, sizeof f->title, "%s for the CPU", j->file);
    return (meta_cached){.size = sizeof(meta_cached),
                         .kind = "cpu",
                         .title = f->title,
                         .fact = f->fact,
                         .facts = FACTS,
                         .compiler_facts = 2,
                         .with = j,
                         .load = load,
                         .build = build};
}

/* Where code can neither be found nor compiled for the best instruction set, that of a smaller one
 * does: its bits are the same. */
static meta_err load_smaller(job *j)
{
    meta_compiler smaller = *j->compiler;
    char *message = meta_error_copy();
    meta_err error = META_ERR_UNSUPPORTED;
    while (error == META_ERR_UNSUPPORTED && smaller.set > META_KERNEL_BASELINE) {
        --smaller.set;
        job again = {.compiler = &smaller, .file = j->file, .text = j->text};
        facts f;
        meta_cached what = cached_of(&again, &f);
        what.build = NULL;
        error = meta_cached_code(&what);
        if (error == META_OK) j->kernels = again.kernels;
    }
    if (error != META_OK && message) meta_fail_as(META_ERR_UNSUPPORTED, message);
    free(message);
    return error;
}

static meta_err load_or_build(job *j)
{
    facts f;
    const meta_cached what = cached_of(j, &f);
    const meta_err error = meta_cached_code(&what);
    return error == META_ERR_UNSUPPORTED && meta_jit() != META_JIT_OFF ? load_smaller(j) : error;
}

meta_err meta_compile_ahead(const char *file, const char *text, int set)
{
    meta_compiler compiler;
    facts f;
    void *code = NULL;
    size_t bytes = 0;
    META_TRY(meta_compiler_check_text(file, text));
    meta_compiler_find(&compiler);
    compiler.set = set;
    job j = {.compiler = &compiler, .file = file, .text = text};
    const meta_cached what = cached_of(&j, &f);
    META_TRY(meta_compiler_run(&compiler, file, text, &code, &bytes));
    const meta_err error = meta_cached_put(&what, code, bytes);
    free(code);
    return error;
}

/* ------------------------------------------------------------------ kernels */

/* Register them in the order of the file; the list has the last one first. */
static meta_err add(job *j)
{
    char *file = strdup(j->file); /* they live until the process ends */
    if (!file) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for the kernels");
    meta_kernel *list = NULL;
    for (meta_kernel *k = j->kernels, *next; k; k = next) {
        next = next_of(k);
        k->state = (struct meta_kernel_state *)(void *)list;
        list = k;
    }
    while (list) {
        meta_kernel *k = list;
        list = next_of(k);
        k->state = NULL;
        k->file = file;
        meta_kernel_register(k);
    }
    return META_OK; /* NOLINT: the kernels have the file's name */
}

static meta_err find(meta_kernel **kernel, const char *name, meta_type type, const char *file,
                     const char *text)
{
    bool has_name = false;
    *kernel = meta_user_of_text(text, name, type, &has_name);
    if (*kernel) return META_OK;
    if (has_name)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'type' is %s, for which kernel %s of %s is not compiled: its "
                         "text can define META_KERNEL_TYPES",
                         meta_element_name((uint32_t)type), name, file);
    return meta_fail(META_ERR_ARGUMENT, "argument 'name' is \"%s\", and %s has no such kernel",
                     name, file);
}

meta_err meta_kernel_compile(meta_kernel **kernel, const char *name, meta_type type,
                             const char *file, const char *text)
{
    /* Held while compiling: of two threads with one text the second finds what the first made. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    meta_err error = META_OK;
    meta_kernel *found = NULL;
    META_ENTER();
    META_NEED(file);
    META_NEED(text);
    META_TRY(meta_compiler_check_text(file, text));
    if (kernel) META_NEED(name);
    if (name) META_NEED(kernel);
    if (kernel && ((uint32_t)type >= META_TYPE_COUNT || !(META_USER_TYPES >> type & 1)))
        return meta_fail(META_ERR_TYPE,
                         "argument 'type' is %d, but kernels are of META_F64, META_F32, META_I64, "
                         "META_U64, META_I32 or META_U32",
                         (int)type);
    pthread_mutex_lock(&lock);
    if (!meta_user_of_text(text, NULL, type, NULL)) {
        meta_compiler compiler;
        meta_compiler_find(&compiler);
        job j = {.compiler = &compiler, .file = file, .text = text};
        error = load_or_build(&j);
        if (error == META_OK) error = add(&j);
    }
    pthread_mutex_unlock(&lock);
    if (error != META_OK || !kernel) return error;
    META_TRY(find(&found, name, type, file, text));
    *kernel = found;
    return META_OK;
}
