/* SPDX-License-Identifier: BSD-3-Clause */
/** @file arguments.c
 *  The arguments of point-to-point messages, checked. */
#include <inttypes.h>

#include "p2p/message.h"

enum { MAX_TAG = 32767 };

meta_err comm_check_message(int peer, const char *name, int64_t count, meta_type type, int tag,
                            meta_event *done, bool *nobody)
{
    size_t bytes;
    *nobody = peer == MPI_PROC_NULL;
    META_TRY(core->check_type(type, "type", &bytes));
    if (tag < 0 || tag > MAX_TAG)
        return core->fail(META_ERR_ARGUMENT, "argument 'tag' is %d: give 0 to %d", tag, MAX_TAG);
    if (count < 0) return core->fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    if (*nobody) {
        if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
        return META_OK;
    }
    if (peer == MPI_ANY_SOURCE)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is MPI_ANY_SOURCE: name the rank",
                          name);
    if (peer < 0 || peer >= comm_job.size)
        return core->fail(META_ERR_ARGUMENT,
                          "argument '%s' is %d: ranks are 0 to %d, or MPI_PROC_NULL", name, peer,
                          comm_job.size - 1);
    return META_OK;
}

meta_err comm_face_move(meta_builtin *move, meta_kernel_id kernel, const meta_face *face,
                        const void *buf, const void *packed, meta_type type, meta_span *to_packed,
                        meta_span *to_buf, int64_t *count)
{
    const bool packs = kernel == META_KERNEL_PACK;
    int64_t elements = 1;
    META_TRY(core->resolve_face(buf, face, type, "buf", to_buf));
    for (int k = 0; k < face->count; ++k) {
        if (!packs && face->stride[k] == 0 && face->size[k] > 1)
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'face': stride[%d] is 0, so that %" PRId64
                              " elements would be written to one place",
                              k, face->size[k]);
        elements = face->size[k] > 0 ? elements * face->size[k] : 0;
    }
    META_TRY(core->resolve(packed, elements, type, "packed", to_packed));
    META_TRY(core->same_device(to_buf, "buf", to_packed, "packed"));
    if (elements > 0) META_TRY(core->no_overlap(to_packed, elements, to_buf, face, type));
    *count = elements;
    core->move_begin(move, kernel, type, packs ? NULL : face, packs ? face : NULL);
    return META_OK;
}
