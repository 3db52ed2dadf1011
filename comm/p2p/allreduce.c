/* SPDX-License-Identifier: BSD-3-Clause */
/** @file allreduce.c
 *  meta_allreduce(): from the device to staging, at its turn to MPI, and back. */
#include "comm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* MPI's minimum and maximum say nothing of NaN; with these one wins, whichever side it is on. */
#define FLOATING_OPERATION(name, T, better)                                                        \
    static void name(void *in, void *inout, int *length, MPI_Datatype *type)                       \
    {                                                                                              \
        const T *a = in;                                                                           \
        T *b = inout;                                                                              \
        (void)type;                                                                                \
        for (int k = 0; k < *length; ++k)                                                          \
            if (a[k] != a[k] || a[k] better b[k]) b[k] = a[k];                                     \
    }
FLOATING_OPERATION(min_f64, double, <)
FLOATING_OPERATION(max_f64, double, >)
FLOATING_OPERATION(min_f32, float, <)
FLOATING_OPERATION(max_f32, float, >)

enum { OPERATIONS = 4 };
static MPI_Op operations[OPERATIONS];
static int created;

meta_err comm_operations_create(void)
{
    static MPI_User_function *const functions[OPERATIONS] = {min_f64, max_f64, min_f32, max_f32};
    for (created = 0; created < OPERATIONS; ++created)
        COMM_MPI(MPI_Op_create, (functions[created], 1, &operations[created]));
    return META_OK;
}

void comm_operations_free(void)
{
    while (created > 0) MPI_Op_free(&operations[--created]);
}

static MPI_Op operation_of(meta_op op, meta_type type)
{
    if (op == META_SUM) return MPI_SUM;
    if (type == META_F64) return operations[op == META_MAX];
    if (type == META_F32) return operations[2 + (op == META_MAX)];
    return op == META_MIN ? MPI_MIN : MPI_MAX;
}

static MPI_Datatype datatype_of(meta_op op, meta_type type)
{
    switch (type) {
    case META_F64:
        return MPI_DOUBLE;
    case META_F32:
        return MPI_FLOAT;
    /* Signed sums wrap: the same bits as unsigned ones, whose overflow C defines. */
    case META_I64:
        return op == META_SUM ? MPI_UINT64_T : MPI_INT64_T;
    case META_I32:
        return op == META_SUM ? MPI_UINT32_T : MPI_INT32_T;
    case META_U64:
        return MPI_UINT64_T;
    default:
        return MPI_UINT32_T;
    }
}

/* Which of two zeros and which NaN won is a matter of the ranks' order: there is one of each. */
#define CANONICAL(name, T)                                                                         \
    static void canonical_##name(T *x, int64_t count)                                              \
    {                                                                                              \
        for (int64_t k = 0; k < count; ++k) {                                                      \
            if (x[k] == 0) x[k] = 0;                                                               \
            if (x[k] != x[k]) x[k] = (T)NAN;                                                       \
        }                                                                                          \
    }
CANONICAL(f64, double)
CANONICAL(f32, float)

/* ------------------------------------------------------------------ steps */

static bool uploading(comm_message *m)
{
    return comm_message_settled(m) && comm_message_end(m);
}

bool comm_reduce_upload(comm_message *m)
{
    if (m->status == META_OK && m->to_device) {
        const meta_err error = core->copy(m->sink.device, META_QUEUE_COMPUTE, META_COPY_H2D,
                                          m->target, &m->sink, m->bytes, &m->pending[0]);
        if (error != META_OK) comm_message_fail(m, error);
    }
    m->step = uploading;
    return true;
}

static bool reducing(comm_message *m)
{
    if (!comm_message_retired(m)) return false;
    if (m->op != META_SUM && m->type == META_F64) canonical_f64(m->target, m->count);
    if (m->op != META_SUM && m->type == META_F32) canonical_f32(m->target, m->count);
    return comm_reduce_upload(m);
}

/* How many elements go into one MPI call. */
static int64_t part_of(const comm_message *m)
{
    return (int64_t)(comm_job.chunk / (m->bytes / (size_t)m->count));
}

void comm_reduce_parts(comm_message *m, int first)
{
    const int64_t part = part_of(m);
    const size_t element = m->bytes / (size_t)m->count;
    int requests = first;
    /* MPI takes MPI_IN_PLACE from all ranks or from none, and some ranks have one memory only. */
    if (m->source != m->target) memcpy(m->target, m->source, m->bytes);
    for (int64_t at = 0; at < m->count && m->status == META_OK; at += part) {
        const int64_t count = m->count - at < part ? m->count - at : part;
        const size_t offset = (size_t)at * element;
        const int code = MPI_Iallreduce(MPI_IN_PLACE, (char *)m->target + offset, (int)count,
                                        datatype_of(m->op, m->type), operation_of(m->op, m->type),
                                        comm_job.collectives, &m->requests[requests]);
        if (code == MPI_SUCCESS) m->request_count = ++requests;
        else comm_message_fail(m, comm_mpi(code, "MPI_Iallreduce"));
    }
}

static bool issue(comm_message *m)
{
    if (!m->turn) return false;
    comm_reduce_parts(m, 0);
    comm_message_pass(m);
    m->step = reducing;
    return true;
}

static bool downloading(comm_message *m)
{
    if (!comm_message_settled(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    m->step = m->voted ? comm_exact_step : issue;
    return true;
}

/* ------------------------------------------------------------------ posting */

static meta_err check(int64_t count, meta_op op, meta_type type, size_t *element)
{
    META_TRY(core->check_type(type, element));
    if (type >= META_I16)
        return core->fail(META_ERR_TYPE,
                          "argument 'type' is %s, which is moved but not computed with",
                          comm_type_name((uint32_t)type));
    if ((int)op < 0 || op >= META_OP_COUNT)
        return core->fail(META_ERR_ARGUMENT, "argument 'op' is %d, which is no operation", (int)op);
    if (count < 0) return core->fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    if (count > INT64_MAX / 8)
        return core->fail(META_ERR_OVERFLOW, "argument 'count' is %" PRId64 ", more than 2^60",
                          count);
    return META_OK;
}

static meta_err check_apart(const char *recv, const char *send, size_t bytes)
{
    if (recv == send || recv + bytes <= send || send + bytes <= recv) return META_OK;
    return core->fail(META_ERR_OVERLAP,
                      "arguments 'recv' and 'send' overlap: give the same address "
                      "or memory that is apart");
}

/* Where MPI reads and writes, and the copy from the device. */
static meta_err load(comm_message *m, void *recv, const void *send, const meta_span *from)
{
    const int64_t part = part_of(m);
    const bool staged = m->from_device || m->to_device;
    meta_device *device = m->from_device ? from->device : m->sink.device;
    size_t exact = 0;
    int64_t requests = (m->count + part - 1) / part;
    META_TRY(comm_exact_needs(m, &exact, &requests));
    META_TRY(comm_message_requests(m, (size_t)requests));
    if (!staged && exact > 0) META_TRY(core->current_device(&device));
    if (staged || exact > 0)
        META_TRY(comm_message_staging(m, device, exact + (staged ? m->bytes : 0)));
    comm_exact_pin(m, send, recv);
    m->source = m->from_device ? m->wire_data + exact : send;
    m->target = m->to_device ? m->wire_data + exact : recv;
    if (!m->from_device) return META_OK;
    comm_plans_settle(from->device);
    return core->copy(from->device, META_QUEUE_COMPUTE, META_COPY_D2H, m->wire_data + exact, from,
                      m->bytes, &m->pending[0]);
}

static meta_err allreduce(void *recv, const void *send, int64_t count, meta_op op, meta_type type,
                          meta_event *done)
{
    comm_message *m;
    meta_span from, to;
    size_t element;
    int from_device, to_device;
    META_TRY(check(count, op, type, &element));
    META_TRY(core->resolve_any(recv, count, type, "recv", &to_device, &to));
    META_TRY(core->resolve_any(send, count, type, "send", &from_device, &from));
    META_TRY(check_apart(recv, send, (size_t)count * element));
    if (count == 0) {
        if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
        return META_OK;
    }
    META_TRY(comm_message_new(&m, COMM_REDUCE, comm_job.rank, 0, done));
    m->type = type;
    m->op = op;
    m->count = count;
    m->bytes = (size_t)count * element;
    m->from_device = from_device;
    m->to_device = to_device;
    if (from_device) comm_message_hold(m, send);
    if (to_device) comm_message_hold(m, recv), m->sink = to;
    m->step = downloading;
    const meta_err error = load(m, recv, send, &from);
    return error == META_OK ? comm_message_post(m, done) : comm_message_drop(m, error);
}

meta_err meta_allreduce(void *recv, const void *send, int64_t count, meta_op op, meta_type type,
                        meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(allreduce(recv, send, count, op, type, done));
}
