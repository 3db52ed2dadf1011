/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mirror.h
 *  A device buffer with its expected contents on the host: an oracle does to `expected` what the
 *  library does to `device`, then the whole buffers are compared, so that a stray write is
 *  detected too. */
#ifndef META_TEST_MIRROR_H
#define META_TEST_MIRROR_H

#include "cases.h"

typedef struct mirror {
    unsigned char *device, *expected;
    unsigned char *found; /**< room for what the device holds */
    size_t bytes;
} mirror;

/** A buffer of @p bytes on this thread's device, of random bytes; false after a failed check. */
bool mirror_new(mirror *m, size_t bytes);
void mirror_free(mirror *m);
/** Give both sides new contents. */
bool mirror_refill(mirror *m, meta_type type, case_flavour flavour);
/** Compare as elements of @p type, any NaN of a float type being as good as another; after a
 *  difference, which fails under @p name, both sides hold what was expected. */
bool mirror_holds(mirror *m, meta_type type, const char *name);

#endif
