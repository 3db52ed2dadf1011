/* SPDX-License-Identifier: BSD-3-Clause */
/** @file copy.c
 *  Copies between device buffers and host memory. */
#include "queue/queue.h"

meta_err meta_copy_h2d(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span to;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > PTRDIFF_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_resolve(dst, (int64_t)bytes, META_U8, "dst", &to));
    META_TRY(meta_host_range(src, bytes, "src"));
    return meta_submit_copy(to.device, META_COPY_H2D, (void *)(uintptr_t)src, &to, bytes, done);
}

meta_err meta_copy_d2h(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span from;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > PTRDIFF_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_host_range(dst, bytes, "dst"));
    META_TRY(meta_resolve(src, (int64_t)bytes, META_U8, "src", &from));
    return meta_submit_copy(from.device, META_COPY_D2H, dst, &from, bytes, done);
}
