/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sized.c
 *  Structures that begin with their size, of programs compiled with older or newer headers. */
#include "base/sized.h"

#include "base/base.h"

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

meta_sized_fit meta_sized_look(const void *given, size_t least, size_t now, size_t *byte)
{
    const size_t size = size_of(given);
    const unsigned char *bytes = given;
    if (size < least) return META_SIZED_SHORT;
    if (size > now + META_SIZED_MOST_MORE) return META_SIZED_UNSET;
    for (size_t k = now; k < size; ++k) {
        if (bytes[k] == 0) continue;
        if (byte) *byte = k;
        return META_SIZED_NEWER;
    }
    return META_SIZED_FITS;
}

meta_err meta_sized_need(const void *given, size_t least, size_t now, const char *name,
                         const char *init)
{
    if (!given) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    const size_t size = size_of(given);
    if (size < least)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument '%s' has size %zu, less than the %zu of any version: set it to "
                         "%s",
                         name, size, least, init);
    if (size > now + META_SIZED_MOST_MORE)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument '%s' has size %zu, more than any version: set it to %s", name,
                         size, init);
    return META_OK;
}

meta_err meta_sized_get(void *own, size_t now, const void *given, size_t least, const char *name,
                        const char *init)
{
    size_t byte = 0;
    META_TRY(meta_sized_need(given, least, now, name, init));
    if (meta_sized_look(given, least, now, &byte) != META_SIZED_FITS)
        return meta_fail(META_ERR_UNSUPPORTED,
                         "argument '%s' is of a newer libmeta, has size %zu and sets byte %zu, "
                         "which version %d.%d.%d does not know: leave newer members 0, or run the "
                         "program with a newer library",
                         name, size_of(given), byte, META_VERSION_MAJOR, META_VERSION_MINOR,
                         META_VERSION_PATCH);
    const size_t size = size_of(given);
    memset(own, 0, now);
    memcpy(own, given, size < now ? size : now);
    memcpy(own, &now, sizeof now);
    return META_OK;
}
