/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_buffers.h
 *  Buffers of MetaMorph's functions for its tests, which include its headers and test.h before. */
#ifndef METAMORPH_BUFFERS_H
#define METAMORPH_BUFFERS_H

/** A buffer with @p bytes bytes of @p host. */
static inline void *buffer_of(const void *host, size_t bytes)
{
    void *buffer = NULL;
    CHECK_INT(metamorph_alloc(&buffer, bytes), 0);
    CHECK_INT(metamorph_copy_h2d(buffer, (void *)host, bytes, false, NULL, NULL), 0);
    return buffer;
}

/** The buffer's contents; it is freed. */
static inline void take(void *buffer, void *host, size_t bytes)
{
    CHECK_INT(metamorph_copy_d2h(host, buffer, bytes, false, NULL, NULL), 0);
    CHECK_INT(metamorph_free(buffer), 0);
}

#endif
