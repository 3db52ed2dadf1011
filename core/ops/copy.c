/* SPDX-License-Identifier: BSD-3-Clause */
/** @file copy.c
 *  Copies between device buffers and host memory. */
#include "queue/queue.h"

/* @p buffer and @p host are the public arguments called @p buffer_name and @p host_name. */
static meta_err copy(meta_copy_kind kind, const void *buffer, const char *buffer_name,
                     const void *host, const char *host_name, size_t bytes, meta_event *done)
{
    meta_span span;
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > PTRDIFF_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_resolve(buffer, (int64_t)bytes, META_U8, buffer_name, &span));
    META_TRY(meta_host_range(host, bytes, host_name));
    return meta_submit_copy(span.device, kind, (void *)(uintptr_t)host, &span, bytes, done);
}

meta_err meta_copy_h2d(void *dst, const void *src, size_t bytes, meta_event *done)
{
    META_ENTER();
    return copy(META_COPY_H2D, dst, "dst", src, "src", bytes, done);
}

meta_err meta_copy_d2h(void *dst, const void *src, size_t bytes, meta_event *done)
{
    META_ENTER();
    return copy(META_COPY_D2H, src, "src", dst, "dst", bytes, done);
}
