/* SPDX-License-Identifier: BSD-3-Clause */
/** @file note.c
 *  A buffer's label and the calls of the program that allocated and freed it, as text for messages.
 */
#include "memory/memory.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

/* Set by meta_here() for the next call of this thread. */
static _Thread_local const char *here_file;
static _Thread_local int here_line;

meta_err meta_here(const char *file, int line)
{
    here_file = file;
    here_line = line;
    return META_OK;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum { DEPTH = 16 };

typedef struct walk {
    const void *found; /**< NULL until then */
    int depth;
} walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    walk *w = argument;
    static const char *const ours[] = {"libmeta.so", "libmeta_comm.so", "libmeta_fortran.so"};
    const uintptr_t at = _Unwind_GetIP(context);
    Dl_info info;
    if (at == 0 || ++w->depth > DEPTH || !dladdr((void *)(at - 1), &info) || !info.dli_fname)
        return _URC_END_OF_STACK;
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k)
        if (strncmp(file_name(info.dli_fname), ours[k], strlen(ours[k])) == 0)
            return _URC_NO_REASON;
    w->found = (const void *)at;
    return _URC_END_OF_STACK;
}

void meta_site_take(meta_site *site, const void *caller)
{
    site->caller = caller;
    site->line = here_line;
    site->file[0] = '\0';
    if (here_file) {
        /* The end of a path is most specific. Copied, as the string may belong to a module that is
         * unloaded. */
        const size_t length = strlen(here_file), most = sizeof site->file - 1;
        strcpy(site->file, length > most ? here_file + length - most : here_file);
    } else if (meta_checked()) {
        /* The program's call, past the libraries of this project in between, such as the Fortran
         * binding. Unwinding the stack takes microseconds. */
        walk w = {NULL, 0};
        (void)_Unwind_Backtrace(step, &w);
        if (w.found) site->caller = w.found;
    }
    here_file = NULL;
}

void meta_label_copy(char to[META_LABEL_BYTES], const char *label)
{
    size_t length = label ? strnlen(label, META_LABEL_BYTES) : 0;
    if (length == META_LABEL_BYTES) /* cut before the character that does not fit */
        do --length;
        while (length > 0 && ((unsigned char)label[length] & 0xc0) == 0x80);
    for (size_t k = 0; k < length; ++k) {
        const unsigned char c = (unsigned char)label[k];
        to[k] = c < 0x20 || c == 0x7f ? '?' : label[k];
    }
    to[length] = '\0';
}

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

static void add_site(text *t, const char *verb, const meta_site *site)
{
    if (!site->file[0] && !site->caller) return;
    add(t, "%s%s at ", t->used ? ", " : "", verb);
    if (site->file[0]) {
        add(t, "%s:%d", site->file, site->line);
        return;
    }
    /* The function, where it is a dynamic symbol, and the address for addr2line. The return address
     * itself may already belong to the next function. */
    const char *call = (const char *)site->caller - 1;
    Dl_info info;
    if (!dladdr(call, &info) || !info.dli_fname) {
        add(t, "%p", site->caller);
        return;
    }
    if (info.dli_sname) add(t, "%s() in ", info.dli_sname);
    add(t, "%.60s+0x%zx", file_name(info.dli_fname), (size_t)(call - (const char *)info.dli_fbase));
}

const char *meta_note_text(const meta_note *note, bool freed, char to[META_NOTE_ROOM])
{
    char inner[META_NOTE_ROOM - 4] = "";
    text t = {inner, sizeof inner, 0};
    to[0] = '\0';
    if (!note) return to;
    if (note->label[0]) add(&t, "\"%s\"", note->label);
    add_site(&t, note->wrapped ? "wrapped" : "allocated", &note->made);
    if (freed) add_site(&t, note->wrapped ? "unwrapped" : "freed", &note->gone);
    if (t.used) snprintf(to, META_NOTE_ROOM, " (%s)", inner);
    return to;
}
