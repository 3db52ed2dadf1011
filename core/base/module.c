/* SPDX-License-Identifier: BSD-3-Clause */
/** @file module.c
 *  Validating a shared object before dlopen(): the dynamic loader trusts the file's headers, so
 * that a truncated or damaged one crashes the process.
 *
 *  Segments must be consistent, and sections, where there are any, must agree with them. Damage in
 *  code and data is not detected, nor that a segment of a file without sections lies elsewhere in
 * it. */
#include "config.h"

#include "base/module.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 64, MOST_SECTIONS = 4096 };

typedef struct object {
    int file;
    uint64_t bytes;
    Elf64_Ehdr head;
    Elf64_Phdr segment[MOST_SEGMENTS];
    Elf64_Shdr *section;
} object;

static bool read_at(const object *o, void *to, uint64_t bytes, uint64_t offset)
{
    return offset <= o->bytes && bytes <= o->bytes - offset &&
           pread(o->file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool inside(uint64_t at, uint64_t bytes, uint64_t begin, uint64_t room)
{
    return at >= begin && at - begin <= room && bytes <= room - (at - begin);
}

static bool read_head(object *o)
{
    const Elf64_Ehdr *h = &o->head;
    return read_at(o, &o->head, sizeof o->head, 0) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_type == ET_DYN &&
           h->e_phentsize == sizeof *o->segment;
}

static bool read_tables(object *o)
{
    const Elf64_Ehdr *h = &o->head;
    if (h->e_phnum == 0 || h->e_phnum > MOST_SEGMENTS || h->e_shnum > MOST_SECTIONS) return false;
    if (!read_at(o, o->segment, h->e_phnum * sizeof *o->segment, h->e_phoff)) return false;
    if (h->e_shnum == 0) return true; /* stripped */
    if (h->e_shentsize != sizeof *o->section) return false;
    o->section = malloc(h->e_shnum * sizeof *o->section);
    return o->section && read_at(o, o->section, h->e_shnum * sizeof *o->section, h->e_shoff);
}

/* The segment that is mapped around @p bytes at address @p at; NULL where none is. */
static const Elf64_Phdr *mapped_at(const object *o, uint64_t at, uint64_t bytes)
{
    for (unsigned k = 0; k < o->head.e_phnum; ++k)
        if (o->segment[k].p_type == PT_LOAD &&
            inside(at, bytes, o->segment[k].p_vaddr, o->segment[k].p_memsz))
            return &o->segment[k];
    return NULL;
}

/* Whether the pages that the loader write-protects after relocation are mapped: up to the end of
 * the last page of a segment. */
static bool can_be_protected(const object *o, const Elf64_Phdr *protect)
{
    enum { PAGE = 1 << 16 };
    for (unsigned k = 0; k < o->head.e_phnum; ++k) {
        const Elf64_Phdr *s = &o->segment[k];
        const uint64_t align = s->p_align < PAGE ? s->p_align : PAGE, end = s->p_vaddr + s->p_memsz;
        if (s->p_type == PT_LOAD && inside(protect->p_vaddr, protect->p_memsz, s->p_vaddr,
                                           (end + align - 1) / align * align - s->p_vaddr))
            return true;
    }
    return false;
}

/* Whether a segment has a part of the file that one before it has as well. */
static bool shares_file(const object *o, const Elf64_Phdr *segment)
{
    for (const Elf64_Phdr *s = o->segment; s < segment; ++s)
        if (s->p_type == PT_LOAD && segment->p_offset < s->p_offset + s->p_filesz &&
            s->p_offset < segment->p_offset + segment->p_filesz)
            return true;
    return false;
}

static bool valid_segments(const object *o)
{
    const Elf64_Phdr *before = NULL;
    int dynamic = 0;
    for (unsigned k = 0; k < o->head.e_phnum; ++k) {
        const Elf64_Phdr *s = &o->segment[k], *around;
        if (s->p_vaddr > UINT64_MAX / 2 || !inside(s->p_offset, s->p_filesz, 0, o->bytes))
            return false;
        if (s->p_type == PT_LOAD) {
            const uint64_t align = s->p_align;
            if (s->p_filesz > s->p_memsz || (!(s->p_flags & PF_W) && s->p_filesz < s->p_memsz) ||
                s->p_memsz > UINT64_MAX / 2 - s->p_vaddr || align == 0 ||
                (align & (align - 1)) != 0 || s->p_vaddr % align != s->p_offset % align ||
                (before && s->p_vaddr < before->p_vaddr + before->p_memsz) || shares_file(o, s))
                return false;
            before = s;
        } else if (s->p_type != PT_NULL && s->p_filesz > 0) {
            around = mapped_at(o, s->p_vaddr, s->p_filesz);
            if (!around || s->p_offset - around->p_offset != s->p_vaddr - around->p_vaddr ||
                !inside(s->p_offset, s->p_filesz, around->p_offset, around->p_filesz))
                return false;
            dynamic += s->p_type == PT_DYNAMIC;
        }
    }
    for (unsigned k = 0; k < o->head.e_phnum; ++k)
        if (o->segment[k].p_type == PT_GNU_RELRO && !can_be_protected(o, &o->segment[k]))
            return false;
    return before && dynamic == 1;
}

/* Whether a section's address, file offset and permissions are those of its segment. */
static bool agrees(const object *o, const Elf64_Shdr *s)
{
    const Elf64_Phdr *around;
    const bool in_file = s->sh_type != SHT_NOBITS;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0) return true;
    if ((s->sh_flags & SHF_TLS) && !in_file) return true; /* .tbss occupies no address space */
    around = mapped_at(o, s->sh_addr, s->sh_size);
    if (!around || !(around->p_flags & PF_R)) return false;
    if ((s->sh_flags & SHF_WRITE) && !(around->p_flags & PF_W)) return false;
    if ((s->sh_flags & SHF_EXECINSTR) && !(around->p_flags & PF_X)) return false;
    return !in_file || (s->sh_offset - around->p_offset == s->sh_addr - around->p_vaddr &&
                        inside(s->sh_offset, s->sh_size, around->p_offset, around->p_filesz));
}

/* Sections agree with segments, and the dynamic segment, where the loader starts, is the dynamic
 * section, without which they are none of a shared object. */
static bool valid_sections(const object *o)
{
    const Elf64_Phdr *dynamic = o->segment; /* there is one: valid_segments() */
    bool found = !o->section;
    while (dynamic->p_type != PT_DYNAMIC) ++dynamic;
    for (unsigned k = 0; o->section && k < o->head.e_shnum; ++k) {
        const Elf64_Shdr *s = &o->section[k];
        if (!agrees(o, s)) return false;
        if (s->sh_type == SHT_DYNAMIC &&
            (dynamic->p_vaddr != s->sh_addr || dynamic->p_memsz < s->sh_size))
            return false;
        found |= s->sh_type == SHT_DYNAMIC;
    }
    return found;
}

bool meta_module_whole(const char *path, char *reason, size_t room)
{
    /* O_NONBLOCK: the file may be a pipe. */
    object o = {.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status;
    bool whole = false;
    if (o.file < 0 || fstat(o.file, &status) != 0) {
        snprintf(reason, room, "the file cannot be read: %s", strerror(errno));
    } else {
        o.bytes = (uint64_t)status.st_size;
        const bool is_object = S_ISREG(status.st_mode) && read_head(&o);
        whole = is_object && read_tables(&o) && valid_segments(&o) && valid_sections(&o);
        if (!whole)
            snprintf(reason, room, "the file is %s",
                     is_object ? "truncated or damaged" : "not a 64-bit shared object");
    }
    free(o.section);
    if (o.file >= 0) close(o.file);
    return whole;
}
