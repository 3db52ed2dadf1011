/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stream.h
 *  When to use nontemporal stores, and copies that use them. */
#ifndef META_OPENMP_STREAM_H
#define META_OPENMP_STREAM_H

#include "lang_c.h"

/** Read META_STREAM_BYTES. */
meta_err stream_begin(void);
/** Whether nontemporal stores are faster for a result of @p bytes, over all threads, computed
 * from about as many bytes of input. Measured the first time the answer depends on the machine. */
int stream_pays(meta_i64 bytes);
/** Whether META_STREAM_BYTES, or a lack of such stores, decides for a result of @p bytes: 1 for
 * nontemporal stores, 0 against them; -1: nothing does. */
int stream_wanted(meta_i64 bytes);
/** Size of a core's private cache in bytes. */
meta_i64 stream_cache(void);
/** Copy with nontemporal stores; call stream_end() after a thread's last copy. */
void stream_copy(void *to, const void *from, size_t bytes);
void stream_end(void);

#endif
