/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_plugin.c
 *  A back end's file with arbitrary headers, length, section table, ABI number and size: it works,
 * or the reason says why not; the process never ends, which is a child for each input. Damage in
 * code and data is not detected, so that these stay as they are. */
/* TEST: labels=core,fuzz */
#include "fuzz.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meta.h"
#include "meta_backend.h"

/* An input: the file's length, then these pieces of the file. */
enum { LENGTH = 4, TABLE = offsetof(meta_plugin, name), WORKS = 10, REFUSED };

static uint8_t *whole; /* the good file */
static size_t whole_size, heads_size, sections, sections_size, table;
static char where[512], path[600];

/* Where the file has its meta_plugin, as it stands before it is loaded. */
static size_t find_table(void)
{
    const meta_plugin wanted = {.magic = META_PLUGIN_MAGIC, .abi_major = META_PLUGIN_ABI_MAJOR};
    for (size_t at = 0; at + sizeof wanted <= whole_size; at += 8)
        if (memcmp(whole + at, &wanted, offsetof(meta_plugin, abi_minor)) == 0) return at;
    fuzz_fail("%s has no table", path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    Elf64_Ehdr head;
    (void)argc, (void)argv;
    const char *good = fuzz_built("tests/plugins/.libs/plain.so");
    FILE *from = fopen(good, "rb");
    struct stat status;
    if (from == NULL || fstat(fileno(from), &status) != 0) fuzz_fail("%s cannot be read", good);
    whole_size = (size_t)status.st_size;
    whole = malloc(whole_size);
    if (whole == NULL || fread(whole, 1, whole_size, from) != whole_size)
        fuzz_fail("%s cannot be read", good);
    fclose(from);
    memcpy(&head, whole, sizeof head);
    heads_size = sizeof head + head.e_phnum * sizeof(Elf64_Phdr); /* where linkers put them */
    sections = head.e_shoff;
    sections_size = head.e_shnum * sizeof(Elf64_Shdr);
    table = find_table();
    umask(077);
    snprintf(where, sizeof where, "%s", fuzz_folder());
    snprintf(path, sizeof path, "%s/plain.so", where);
    return 0;
}

/* Copy a piece from or to an input, as far as that has it. */
static size_t piece(uint8_t *file, uint8_t *data, size_t at, size_t size, size_t room, bool to_file)
{
    const size_t part = at >= room ? 0 : size < room - at ? size : room - at;
    if (to_file) memcpy(file, data + at, part);
    else memcpy(data + at, file, part);
    return at + size;
}

static int count_of_sections(const uint8_t *file)
{
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof head);
    return head.e_shnum;
}

static size_t pieces(uint8_t *file, uint8_t *data, size_t room, bool to_file)
{
    size_t at = piece(file, data, LENGTH, heads_size, room, to_file);
    at = piece(file + table, data, at, TABLE, room, to_file);
    /* One is known to be damaged by the other: not both are, and without sections nothing is. */
    if (to_file && count_of_sections(file) == 0)
        memcpy(file + sizeof(Elf64_Ehdr), whole + sizeof(Elf64_Ehdr),
               heads_size - sizeof(Elf64_Ehdr));
    if (to_file && memcmp(file, whole, heads_size) != 0) return at;
    return piece(file + sections, data, at, sections_size, room, to_file);
}

static size_t seed(int n, uint8_t *data, size_t room)
{
    const uint32_t length = (uint32_t)whole_size;
    (void)n;
    memcpy(data, &length, LENGTH);
    return pieces(whole, data, room, false);
}

const fuzz_target fuzz_here = {"plugin", 1, seed, NULL, NULL};

static void load_it(void)
{
    meta_backend_desc desc = META_BACKEND_DESC_INIT;
    meta_mode mode;
    int count = 0, backends = 0;
    setenv("META_BACKEND_PATH", where, 1);
    setenv("META_LOG", "off", 1);
    if (meta_init() != META_OK || meta_backend_count(&backends) != META_OK) _Exit(1);
    if (meta_mode_find("plain", &mode) != META_OK || meta_device_count(mode, &count) != META_OK)
        _Exit(2);
    for (int k = 0; k < backends && desc.mode != mode; ++k)
        if (meta_backend_info(k, &desc) != META_OK) _Exit(3);
    if (desc.mode != mode || (count > 0) != (desc.usable != 0)) _Exit(4);
    if (count == 0 && *desc.reason == '\0') _Exit(5);
    _Exit(count > 0 ? WORKS : REFUSED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(whole_size), *copy = malloc(size + 1);
    uint32_t length = (uint32_t)whole_size;
    int status = 0;
    memcpy(file, whole, whole_size);
    memcpy(copy, data, size);
    if (size >= LENGTH) memcpy(&length, data, LENGTH);
    pieces(file, copy, size, true);
    fuzz_write(path, file, length < whole_size ? length : whole_size);
    free(file);
    free(copy);
    const pid_t child = fork();
    if (child == 0) load_it();
    if (child < 0 || waitpid(child, &status, 0) != child) fuzz_fail("there is no child");
    if (!WIFEXITED(status)) fuzz_fail("a signal, %d, ended the process", WTERMSIG(status));
    if (WEXITSTATUS(status) == WORKS) fuzz_accept();
    else if (WEXITSTATUS(status) != REFUSED)
        fuzz_fail("the process ended with status %d", WEXITSTATUS(status));
    return 0;
}
