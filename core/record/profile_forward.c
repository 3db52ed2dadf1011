/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_forward.c
 *  Ranges forwarded to the profilers of NVIDIA and AMD, where NVTX or ROCTX is already loaded;
 *  libmeta links with neither and loads none. */
#include "record/record.h"

#include <dlfcn.h>

typedef int push_function(const char *);
typedef int pop_function(void);

static push_function *_Atomic push;
static pop_function *_Atomic pop;

/* Both functions or none; by the library's name where only one module loaded it (RTLD_LOCAL). */
static bool find(const char *push_name, const char *pop_name, const char *library)
{
    void *from = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
    if (library && !from) return false;
    /* POSIX lets a void pointer hold a function's address; ISO C has no cast for it. */
    union {
        void *found;
        push_function *function;
    } pushes = {dlsym(from, push_name)};
    union {
        void *found;
        pop_function *function;
    } pops = {dlsym(from, pop_name)};
    const bool both = pushes.found && pops.found;
    if (both) {
        push = pushes.function;
        pop = pops.function;
        meta_log(META_LOG_INFO, "ranges are passed on to %s", push_name);
    } else if (library) {
        dlclose(from); /* a library in use must stay loaded */
    }
    return both;
}

void meta_forward_find(void)
{
    static const char *const nvtx[] = {NULL, "libnvToolsExt.so.1"};
    static const char *const roctx[] = {NULL, "libroctx64.so.4", "librocprofiler-sdk-roctx.so.1"};
    if (push) return;
    for (size_t k = 0; k < sizeof nvtx / sizeof *nvtx; ++k)
        if (find("nvtxRangePushA", "nvtxRangePop", nvtx[k])) return;
    for (size_t k = 0; k < sizeof roctx / sizeof *roctx; ++k)
        if (find("roctxRangePushA", "roctxRangePop", roctx[k])) return;
}

bool meta_forward_push(const char *name)
{
    push_function *const function = push;
    if (!function) return false;
    function(name);
    return true;
}

void meta_forward_pop(void)
{
    ((pop_function *)pop)();
}
