/* SPDX-License-Identifier: BSD-3-Clause */
/** @file note.c
 *  What people call a buffer and where in the program it came and went: its label and the places of
 *  the calls, in words for messages. */
#include "memory/memory.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local const char *said_file;
static _Thread_local int said_line;

meta_err meta_here(const char *file, int line)
{
    said_file = file;
    said_line = line;
    return META_OK;
}

/* The end of a path says most. Copied: the string may be that of a module that is unloaded. */
static void copy_file(char *to, size_t room, const char *file)
{
    const size_t length = strlen(file);
    const char *from = length < room ? file : file + length - (room - 1);
    memcpy(to, from, length < room ? length + 1 : room);
}

void meta_site_take(meta_site *site, const void *caller)
{
    site->caller = !said_file && meta_checked() ? meta_caller_outside(caller) : caller;
    site->line = said_line;
    site->file[0] = '\0';
    if (said_file) copy_file(site->file, sizeof site->file, said_file);
    said_file = NULL;
}

/* ------------------------------------------------------------------ labels */

/* The length of the whole UTF-8 characters in the first @p most bytes of @p text. */
static size_t whole_characters(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length <= most) return length;
    length = most;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) --length;
    return length;
}

void meta_label_copy(char to[META_LABEL_BYTES], const char *label)
{
    const size_t length = label ? whole_characters(label, META_LABEL_BYTES - 1) : 0;
    for (size_t k = 0; k < length; ++k) {
        const unsigned char c = (unsigned char)label[k];
        to[k] = c < 0x20 || c == 0x7f ? '?' : label[k];
    }
    to[length] = '\0';
}

/* ------------------------------------------------------------------ in words */

typedef struct text {
    char *to;
    size_t room, used;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(t->to + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    t->used += more < 0 ? 0 : (size_t)more;
    if (t->used >= t->room) t->used = t->room - 1;
}

const char *meta_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without a file: the function where the dynamic symbols name it, and what addr2line wants. */
static void add_caller(text *t, const void *caller)
{
    Dl_info info;
    /* A return address may be the first of the next function. */
    const char *call = (const char *)caller - 1;
    if (!dladdr(call, &info) || !info.dli_fname) {
        add(t, "%p", caller);
        return;
    }
    if (info.dli_sname) add(t, "%s() in ", info.dli_sname);
    add(t, "%.60s+0x%zx", meta_file_name(info.dli_fname),
        (size_t)(call - (const char *)info.dli_fbase));
}

static void add_site(text *t, const char *verb, const meta_site *site)
{
    if (!site->file[0] && !site->caller) return;
    add(t, "%s%s at ", t->used ? ", " : "", verb);
    if (site->file[0]) add(t, "%s:%d", site->file, site->line);
    else add_caller(t, site->caller);
}

const char *meta_note_text(const meta_note *note, bool freed, char words[META_NOTE_ROOM])
{
    char inner[META_NOTE_ROOM - 4] = "";
    text t = {inner, sizeof inner, 0};
    words[0] = '\0';
    if (!note) return words;
    if (note->label[0]) add(&t, "\"%s\"", note->label);
    add_site(&t, note->wrapped ? "wrapped" : "allocated", &note->made);
    if (freed) add_site(&t, note->wrapped ? "unwrapped" : "freed", &note->gone);
    if (t.used) snprintf(words, META_NOTE_ROOM, " (%s)", inner);
    return words;
}
