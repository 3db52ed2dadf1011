/* SPDX-License-Identifier: BSD-3-Clause */
/** @file caller.c
 *  Which call of the program led here, past the libraries of this project that lie between: that of
 *  the Fortran binding is in the binding. */
#include "memory/memory.h"

#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

enum { DEPTH = 16 };

typedef struct walk {
    const void *found; /**< NULL until then */
    int depth;
} walk;

static bool is_ours(const char *path)
{
    static const char *const ours[] = {"libmeta.so", "libmeta_comm.so", "libmeta_fortran.so"};
    const char *name = meta_file_name(path);
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k)
        if (strncmp(name, ours[k], strlen(ours[k])) == 0) return true;
    return false;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    walk *w = argument;
    const uintptr_t at = _Unwind_GetIP(context);
    Dl_info info;
    if (at == 0 || ++w->depth > DEPTH || !dladdr((void *)(at - 1), &info) || !info.dli_fname)
        return _URC_END_OF_STACK;
    if (is_ours(info.dli_fname)) return _URC_NO_REASON;
    w->found = (const void *)at;
    return _URC_END_OF_STACK;
}

const void *meta_caller_outside(const void *caller)
{
    walk w = {NULL, 0};
    (void)_Unwind_Backtrace(step, &w);
    return w.found ? w.found : caller;
}
