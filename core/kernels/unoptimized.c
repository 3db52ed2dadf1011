/* SPDX-License-Identifier: BSD-3-Clause */
/** @file unoptimized.c
 *  The warning about kernels whose CPU code the program's compiler did not optimize. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kernels/user.h"
#include "meta_kernel.h"

bool meta_user_is_unoptimized(const meta_kernel *kernel)
{
    return META_KNOWS(kernel, flags) && kernel->flags & META_KERNEL_UNOPTIMIZED;
}

/* Number @p index of the program's kernels; NULL: there is none, or it was optimized. */
static const meta_kernel *unoptimized(int index)
{
    meta_kernel *kernel = NULL;
    if (meta_kernel_at(index, &kernel) != META_OK) return NULL;
    return meta_user_is_unoptimized(kernel) ? kernel : NULL;
}

/* A kernel is registered once for each element type. */
static bool is_named_before(const char *name, int index)
{
    for (int k = 0; k < index; ++k) {
        const meta_kernel *kernel = unoptimized(k);
        if (kernel && strcmp(kernel->name, name) == 0) return true;
    }
    return false;
}

/* One line names all of them, since the log leaves repeated warnings out. */
void meta_user_warn_unoptimized(void)
{
    char names[512] = "", rest[32] = "";
    size_t used = 0;
    int count = 0, omitted = 0;
    if (meta_kernel_count(&count) != META_OK) return;
    for (int k = 0; k < count; ++k) {
        const meta_kernel *kernel = unoptimized(k);
        if (!kernel || is_named_before(kernel->name, k)) continue;
        const size_t room = sizeof names - used;
        const int bytes = snprintf(names + used, room, "%s%s", used > 0 ? ", " : "", kernel->name);
        if ((size_t)bytes < room) {
            used += (size_t)bytes;
        } else {
            names[used] = '\0';
            ++omitted;
        }
    }
    if (used == 0 && omitted == 0) return;
    if (omitted > 0) snprintf(rest, sizeof rest, " and %d more", omitted);
    meta_log(META_LOG_WARN,
             "kernels compiled without optimization, and slow on the CPU: %s%s; compile the file "
             "that defines META_KERNELS_HERE with -O2",
             names, rest);
}
