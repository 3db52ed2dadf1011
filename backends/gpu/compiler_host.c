/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler_host.c
 *  The compiler of HIP-CPU: c++ in a folder of its own, which is removed once the code is loaded.
 * The code is kept in the library's cache. */
#include "config.h"

#include "compiler_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_log.h"
#include "compiler.h"
#include "program.h"

extern char **environ;

#define COMPILER     "c++"
#define OPTIONS      "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-fPIC", "-shared"
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)
enum { PATH = 512, SAID = 1 << 16 };

static meta_err fail_with(const char *what, const char *path)
{
    return gpu_host->fail(META_ERR_DEVICE, "%s %s: %s", what, path, strerror(errno));
}

static meta_err write_file(const char *folder, const char *name, const void *bytes, size_t count)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) return fail_with("cannot write", path);
    const size_t written = fwrite(bytes, 1, count, file);
    return fclose(file) == 0 && written == count ? META_OK : fail_with("cannot write", path);
}

static meta_err write_text(const char *folder, const char *name, const char *text)
{
    return write_file(folder, name, text, strlen(text));
}

static meta_err read_file(const char *folder, const char *name, void **bytes, size_t *count)
{
    char path[PATH];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file || fstat(fileno(file), &about) != 0) {
        if (file) fclose(file);
        return fail_with("cannot read", path);
    }
    *count = (size_t)about.st_size;
    *bytes = malloc(*count + 1);
    const size_t got = *bytes ? fread(*bytes, 1, *count, file) : 0;
    fclose(file);
    if (*bytes && got == *count) return META_OK;
    free(*bytes);
    *bytes = NULL;
    return fail_with("cannot read", path);
}

static meta_err make_folder(char *folder, size_t room)
{
    const char *root = gpu_host->variable("TMPDIR");
    snprintf(folder, room, "%s/libmeta-XXXXXX", root ? root : "/tmp");
    return mkdtemp(folder) ? META_OK : fail_with("cannot make", folder);
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"kernel.cpp", "kernel.so", "said"};
    char path[PATH];
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    for (int k = 0; k < GPU_HEADERS; ++k) {
        snprintf(path, sizeof path, "%s/%s", folder, gpu_headers[k].name);
        unlink(path);
    }
    rmdir(folder);
}

/* Run the compiler. @p said is what it wrote. */
static meta_err run_compiler(const char *folder, const char *title, char said[SAID])
{
    char from[PATH], to[PATH], out[PATH];
    snprintf(from, sizeof from, "%s/kernel.cpp", folder);
    snprintf(to, sizeof to, "%s/kernel.so", folder);
    snprintf(out, sizeof out, "%s/said", folder);
    const char *arguments[] = {COMPILER, OPTIONS, "-o", to, from, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    const int error =
        posix_spawnp(&child, COMPILER, &actions, NULL, (char **)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    said[0] = '\0';
    if (error != 0)
        return gpu_host->fail(META_ERR_UNSUPPORTED,
                              "%s cannot be compiled: %s cannot be started: %s", title, COMPILER,
                              strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    FILE *file = fopen(out, "r");
    if (file) {
        said[fread(said, 1, SAID - 1, file)] = '\0';
        fclose(file);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return gpu_fail_of_program(COMPILER, title, said);
    meta_log_lines(gpu_host, META_LOG_INFO, COMPILER, title, said);
    return META_OK;
}

static meta_err load(const char *folder, const char *title, void **module, void **function)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/kernel.so", folder);
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*module) *function = dlsym(*module, GPU_PROGRAM_ENTRY);
    if (*module && *function) return META_OK;
    const meta_err error =
        gpu_host->fail(META_ERR_DEVICE, "%s cannot be loaded: %s", title, dlerror());
    if (*module) dlclose(*module);
    return error;
}

/* What a program is made of, for the cache. */
typedef struct job {
    const char *title, *text;
    void **module, **function;
} job;

static meta_err load_code(void *with, const void *code, size_t bytes)
{
    const job *j = with;
    char folder[PATH / 2];
    META_TRY(make_folder(folder, sizeof folder));
    meta_err error = write_file(folder, "kernel.so", code, bytes);
    if (error == META_OK) error = load(folder, j->title, j->module, j->function);
    remove_folder(folder);
    return error;
}

static meta_err compile_in(const char *folder, const job *j, char said[SAID], void **code,
                           size_t *bytes)
{
    META_TRY(write_text(folder, "kernel.cpp", j->text));
    for (int k = 0; k < GPU_HEADERS; ++k)
        META_TRY(write_text(folder, gpu_headers[k].name, gpu_headers[k].text));
    META_TRY(run_compiler(folder, j->title, said));
    META_TRY(read_file(folder, "kernel.so", code, bytes));
    return load(folder, j->title, j->module, j->function);
}

static meta_err build_code(void *with, void **code, size_t *bytes)
{
    const job *j = with;
    char folder[PATH / 2], *said;
    META_TRY(make_folder(folder, sizeof folder));
    said = malloc(SAID);
    const meta_err error = said ? compile_in(folder, j, said, code, bytes)
                                : gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    free(said);
    remove_folder(folder);
    return error;
}

meta_err gpu_compile_host(const char *title, const char *text, void **module, void **function)
{
    enum { FACTS = GPU_HEADERS + 2 };
    const char *fact[FACTS];
    job j = {title, text, module, function};
    const meta_cached what = {.size = sizeof what,
                              .kind = "hipcpu",
                              .title = title,
                              .fact = fact,
                              .facts = FACTS,
                              .with = &j,
                              .load = load_code,
                              .build = build_code};
    for (int k = 0; k < GPU_HEADERS; ++k) fact[k] = gpu_headers[k].text;
    fact[GPU_HEADERS] = text;
    fact[GPU_HEADERS + 1] = COMPILER " " TEXT(OPTIONS) " beside " __VERSION__;
    return meta_host_cached(gpu_host, &what);
}

void gpu_host_code_close(void *module)
{
    dlclose(module);
}
