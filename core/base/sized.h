/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sized.h
 *  Structures that begin with their size, as the caller was compiled with them: those of older
 *  headers are shorter than the library's, those of newer ones longer.
 *
 *  A member that the caller's structure lacks is 0, which means what the library did before there
 *  was the member. Bytes that the caller has beyond the library's structure must be 0: it asks for
 *  nothing that the library does not know. CONTRIBUTING.md says how a member is appended. */
#ifndef META_SIZED_H
#define META_SIZED_H

#include <stddef.h>
#include <string.h>

#include "meta.h"

/** The size of @p type in the headers of 0.2.0, the least that is accepted: of all members up to
 * @p last, the last one that it had there. Members appended since lie behind that size. */
#define META_LEAST(type, last)                                                                     \
    ((offsetof(type, last) + sizeof((type *)0)->last + _Alignof(type) - 1) / _Alignof(type) *      \
     _Alignof(type))
/** More bytes than any later version will append: a size beyond is a value that nobody has set. */
enum { META_SIZED_MOST_MORE = 4096 };

/** What is wrong with the size of a structure that a caller passes. */
typedef enum meta_sized_fit {
    META_SIZED_FITS,
    META_SIZED_SHORT, /**< it is less than in 0.2.0 */
    META_SIZED_UNSET, /**< it is more than in any version */
    META_SIZED_NEWER  /**< bytes that this library does not know are not 0 */
} meta_sized_fit;
/** Look at @p given, whose first member is its size; @p now is the library's. @p byte, unless NULL,
 * is set to the first byte of META_SIZED_NEWER. Reads not a byte more than that size. */
meta_sized_fit meta_sized_look(const void *given, size_t least, size_t now, size_t *byte);

/** Copy argument @p name into @p own of @p now bytes; members that it lacks become 0. @p init is
 *  the macro that sets its size, for messages.
 *  @return META_ERR_ARGUMENT for NULL and for a size that no version has, META_ERR_UNSUPPORTED if
 *          it is of a newer version, and says something that this one does not know */
meta_err meta_sized_get(void *own, size_t now, const void *given, size_t least, const char *name,
                        const char *init);
/** Whether output argument @p name has a size that a version has. Longer ones may hold anything. */
meta_err meta_sized_need(const void *given, size_t least, size_t now, const char *name,
                         const char *init);
/** Copy @p own, of @p now bytes, to output argument @p given, as far as that reaches; its size and
 * what it has beyond stay as they are. */
static inline void meta_sized_put(void *given, const void *own, size_t now)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    memcpy((char *)given + sizeof size, (const char *)own + sizeof size,
           (size < now ? size : now) - sizeof size);
}

#endif
