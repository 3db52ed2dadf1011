/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stream.h
 *  When results had better go past the caches to memory, and copies that do. */
#ifndef META_OPENMP_STREAM_H
#define META_OPENMP_STREAM_H

#include "lang_c.h"

/** Read META_STREAM_BYTES. */
meta_err stream_begin(void);
/** Whether a result of @p bytes, all threads' shares together, that is made from about as many
 * bytes, is better stored past the caches. The first time that depends on this machine it is
 * measured. */
int stream_pays(meta_i64 bytes);
/** Whether it is so large that no cache holds much of it, wherever it is stored. */
int stream_is_far(meta_i64 bytes);
/** The bytes of the cache that one core has to itself. */
meta_i64 stream_cache(void);
/** Copy past the caches; stream_end() when all of a thread's copies are done. */
void stream_copy(void *to, const void *from, size_t bytes);
void stream_end(void);

#endif
