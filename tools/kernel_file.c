/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_file.c
 *  The kernels of a file. They are registered when their object is loaded: what was added to the
 *  registry then is the file's own. */
#include "config.h"

#include "kernel_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path, why);
    return false;
}

/* ------------------------------------------------------------------ loading */

static bool is_object(const char *path)
{
    static const char magic[] = {0x7f, 'E', 'L', 'F'};
    char begin[sizeof magic];
    FILE *from = fopen(path, "rb");
    if (!from) return false;
    const bool is = fread(begin, 1, sizeof begin, from) == sizeof begin &&
                    memcmp(begin, magic, sizeof magic) == 0;
    fclose(from);
    return is;
}

/* A name without a folder would be looked for in the folders of libraries. */
static bool load_object(const char *path)
{
    char whole[PATH_MAX];
    if (dlopen(realpath(path, whole) ? whole : path, RTLD_NOW | RTLD_LOCAL)) return true;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, dlerror());
    return false;
}

static bool read_text(kernel_file *file, const char *path)
{
    FILE *from = fopen(path, "rb"), *to = NULL;
    char part[4096];
    if (!from) return fail(path, strerror(errno));
    to = open_memstream(&file->text, &file->bytes);
    while (to && !feof(from) && !ferror(from))
        fwrite(part, 1, fread(part, 1, sizeof part, from), to);
    const bool read = to && !ferror(from), kept = to && fclose(to) == 0;
    fclose(from);
    return (read && kept) || fail(path, strerror(errno));
}

static bool compile(kernel_file *file, const char *path)
{
    if (meta_kernel_compile(NULL, NULL, META_F64, file->name, file->text) == META_OK) return true;
    return fail(path, meta_last_error());
}

static bool take_kernels(kernel_file *file, int before)
{
    int count = before;
    meta_kernel_count(&count);
    file->kernel = calloc((size_t)(count - before) + 1, sizeof *file->kernel);
    for (int k = before; k < count && file->kernel; ++k)
        if (meta_kernel_at(k, &file->kernel[file->kernels]) == META_OK) ++file->kernels;
    return file->kernel != NULL;
}

bool kernel_file_read(kernel_file *file, const char *path)
{
    *file = (kernel_file){.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path};
    if (is_object(path) || read_text(file, path)) return true;
    kernel_file_close(file);
    return false;
}

bool kernel_file_load(kernel_file *file, const char *path)
{
    int before = 0;
    meta_kernel_count(&before);
    return (file->text ? compile(file, path) : load_object(path)) && take_kernels(file, before);
}

bool kernel_file_open(kernel_file *file, const char *path)
{
    if (!kernel_file_read(file, path)) return false;
    if (kernel_file_load(file, path)) return true;
    kernel_file_close(file);
    return false;
}

void kernel_file_close(kernel_file *file)
{
    free(file->text);
    free(file->kernel);
    *file = (kernel_file){.name = file->name};
}

/* ------------------------------------------------------------------ its text */

static void write_bytes(const kernel_file *file, FILE *to)
{
    for (size_t k = 0; k < file->bytes; ++k)
        fprintf(to, "%s%d,", k % 20 == 0 ? "\n    " : " ", file->text[k]);
    fprintf(to, "%s0};\n", file->bytes % 20 == 0 ? "\n    " : " ");
}

void kernel_file_write_text(const kernel_file *file, FILE *to)
{
    fprintf(to, "/* Written by meta-kernel: the text of %s. */\n", file->name);
    for (int k = 0; k < file->kernels; ++k) {
        bool written = false;
        for (int before = 0; before < k; ++before)
            written = written || strcmp(file->kernel[before]->name, file->kernel[k]->name) == 0;
        if (written) continue;
        fprintf(to, "const char meta_kernel_text_%s[] = {", file->kernel[k]->name);
        write_bytes(file, to);
    }
}

void kernel_file_write_source(const kernel_file *file, const char *path, FILE *to)
{
    fprintf(to,
            "/* Written by meta-kernel: the CPU code and the text of %s. */\n"
            "static const char meta_kernel_file_text[] = {",
            file->name);
    write_bytes(file, to);
    fprintf(to,
            "#define META_KERNELS_HERE\n"
            "#define META_KERNEL_TEXT_FROM meta_kernel_file_text\n"
            "#include \"%s\"\n",
            path);
}
