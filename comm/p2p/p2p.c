/* SPDX-License-Identifier: BSD-3-Clause */
/** @file p2p.c
 *  Point-to-point messages: checking the arguments and posting the message. */
#include "comm.h"

#include <inttypes.h>

#include "base/wire.h"

/* The arguments that every message has; *nobody: the rank is MPI_PROC_NULL. */
static meta_err check(int peer, const char *name, int64_t count, meta_type type, int tag,
                      bool *nobody)
{
    size_t bytes;
    *nobody = peer == MPI_PROC_NULL;
    META_TRY(core->check_type(type, &bytes));
    if (tag < 0 || tag > COMM_MAX_TAG)
        return core->fail(META_ERR_ARGUMENT, "argument 'tag' is %d: give 0 to %d", tag,
                          COMM_MAX_TAG);
    if (count < 0) return core->fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    if (*nobody) return META_OK;
    if (peer == MPI_ANY_SOURCE)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is MPI_ANY_SOURCE: name the rank",
                          name);
    if (peer < 0 || peer >= comm_job.size)
        return core->fail(META_ERR_ARGUMENT,
                          "argument '%s' is %d: ranks are 0 to %d, or MPI_PROC_NULL", name, peer,
                          comm_job.size - 1);
    return META_OK;
}

static meta_err nothing(meta_event *done)
{
    if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
    return META_OK;
}

/* A message about @p count elements at @p packed. */
static meta_err begin(comm_message **made, comm_kind kind, int peer, int tag,
                      const meta_span *packed, int64_t count, meta_type type, meta_event *done)
{
    comm_message *m;
    size_t bytes;
    META_TRY(core->check_type(type, &bytes));
    META_TRY(comm_message_new(&m, kind, peer, tag, done));
    m->packed = *packed;
    m->type = type;
    m->count = count;
    m->bytes = (size_t)count * bytes;
    if (kind == COMM_SEND)
        m->header = (comm_header){
            COMM_MAGIC, COMM_WIRE_VERSION, (uint16_t)type, (uint64_t)count, m->bytes, 0, 0, 0};
    m->step = kind == COMM_SEND ? comm_send_step : comm_recv_step;
    comm_message_hold(m, packed->address);
    *made = m;
    return META_OK;
}

static meta_err check_strides(const meta_face *face)
{
    for (int k = 0; k < face->count; ++k)
        if (face->stride[k] == 0 && face->size[k] > 1)
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'face': stride[%d] is 0, so that %" PRId64
                              " elements would be written to one place",
                              k, face->size[k]);
    return META_OK;
}

/* The operands of a face's message, as a kernel call from one to the other. */
static meta_err face_call(meta_call *call, meta_kernel_id kernel, const meta_face *face,
                          const void *buf, const void *packed, meta_type type, meta_span *to_packed,
                          int64_t *count, int *empty)
{
    meta_span to_buf;
    int64_t elements = 1;
    META_TRY(core->resolve_face(buf, face, type, "buf", &to_buf));
    if (kernel == META_KERNEL_UNPACK) META_TRY(check_strides(face));
    for (int k = 0; k < face->count; ++k)
        elements = face->size[k] > 0 ? elements * face->size[k] : 0;
    META_TRY(core->resolve(packed, elements, type, "packed", to_packed));
    META_TRY(core->same_device(&to_buf, "buf", to_packed, "packed"));
    if (elements > 0) META_TRY(core->no_overlap(to_packed, elements, &to_buf, face, type));
    META_TRY(core->face_call(call, kernel, to_packed, &to_buf, face, type, empty));
    *count = elements;
    return META_OK;
}

/* ------------------------------------------------------------------ sending */

static meta_err post_send(int dst, const meta_span *packed, int64_t count, meta_type type, int tag,
                          const meta_call *pack, meta_event *done)
{
    comm_message *m;
    meta_err error = META_OK;
    comm_plans_settle(packed->device);
    META_TRY(begin(&m, COMM_SEND, dst, tag, packed, count, type, done));
    if (pack) error = core->launch(packed->device, META_QUEUE_COMPUTE, pack, 1, &m->pending[1]);
    /* What is queued after a call that does not wait may write to `packed`. */
    m->hasty = done;
    if (error == META_OK) error = comm_send_load(m);
    return error == META_OK ? comm_message_post(m, done) : comm_message_drop(m, error);
}

static meta_err packed_send(int dst, const void *packed, int64_t count, meta_type type, int tag,
                            meta_event *done)
{
    meta_span span;
    bool nobody;
    META_TRY(check(dst, "dst", count, type, tag, &nobody));
    if (nobody) return nothing(done);
    META_TRY(core->resolve(packed, count, type, "packed", &span));
    return post_send(dst, &span, count, type, tag, NULL, done);
}

static meta_err pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                          meta_type type, int tag, meta_event *done)
{
    meta_span span;
    meta_call call;
    int64_t count;
    bool nobody;
    int empty;
    META_TRY(check(dst, "dst", 0, type, tag, &nobody));
    if (nobody) return nothing(done);
    META_TRY(face_call(&call, META_KERNEL_PACK, face, buf, packed, type, &span, &count, &empty));
    return post_send(dst, &span, count, type, tag, empty ? NULL : &call, done);
}

/* ------------------------------------------------------------------ receiving */

static meta_err packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                            meta_event *done)
{
    comm_message *m;
    meta_span span;
    bool nobody;
    META_TRY(check(src, "src", count, type, tag, &nobody));
    if (nobody) return nothing(done);
    META_TRY(core->resolve(packed, count, type, "packed", &span));
    META_TRY(begin(&m, COMM_RECV, src, tag, &span, count, type, done));
    return comm_message_post(m, done);
}

static meta_err recv_unpack(int src, const meta_face *face, void *buf, void *packed, meta_type type,
                            int tag, meta_event *done)
{
    comm_message *m;
    meta_span span;
    meta_call call;
    int64_t count;
    bool nobody;
    int empty;
    META_TRY(check(src, "src", 0, type, tag, &nobody));
    if (nobody) return nothing(done);
    META_TRY(face_call(&call, META_KERNEL_UNPACK, face, buf, packed, type, &span, &count, &empty));
    META_TRY(begin(&m, COMM_RECV, src, tag, &span, count, type, done));
    comm_message_hold(m, buf);
    m->unpacks = !empty;
    if (!empty) m->unpack = call;
    return comm_message_post(m, done);
}

/* ------------------------------------------------------------------ public */

meta_err meta_packed_send(int dst, const void *packed, int64_t count, meta_type type, int tag,
                          meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(packed_send(dst, packed, count, type, tag, done));
}

meta_err meta_packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                          meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(packed_recv(src, packed, count, type, tag, done));
}

meta_err meta_pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                        meta_type type, int tag, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(pack_send(dst, face, buf, packed, type, tag, done));
}

meta_err meta_recv_unpack(int src, const meta_face *face, void *buf, void *packed, meta_type type,
                          int tag, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(recv_unpack(src, face, buf, packed, type, tag, done));
}
