/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compare.c
 *  META_CHECK=1, kernel by kernel: each runs alone, between two looks at every buffer that it is
 *  given. What it reads, and what it has no business with, must be the same before and after; where
 *  its result goes nothing may be read. */
#include "core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* Longer buffers are not compared: each operation on one would take seconds. Those that a message
 * or an exchange uses may change at any time. */
#define MOST_BYTES ((uint64_t)64 << 20)
enum { MOST_BUFFERS = 64, BLOCK = 4096 };
enum { READ = 1, WRITTEN = 2, RESULT = 4 };

typedef struct kernel {
    const char *name;
    int operands;
    bool reduces, maps;
} kernel;

static const kernel kernels[META_KERNEL_COUNT] = {
#define META_MAP3(NAME, name, count)         [META_KERNEL_##NAME] = {#name, count, false, true},
#define META_MAP4(NAME, name, count, finish) [META_KERNEL_##NAME] = {#name, count, true, false},
    META_MOVE_KERNELS(META_MAP3) META_MAP_KERNELS(META_MAP3) META_REDUCTION_KERNELS(META_MAP4)
        META_EXACT_KERNELS(META_MAP4)
#undef META_MAP3
#undef META_MAP4
};

/* A buffer of the launch at hand: its bytes before and after, and what becomes of each. */
typedef struct watched {
    meta_allocation of;
    void *object;
    uint64_t offset; /* of its first byte in the object */
    unsigned char *before, *after, *use;
} watched;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one launch at a time */
static watched list[MOST_BUFFERS];
static int listed;

/* The dimensions in which a stencil reaches over its box. */
static int reach_of(uint32_t id)
{
    switch (id) {
    case META_KERNEL_STENCIL_2D5P:
    case META_KERNEL_STENCIL_2D9P:
    case META_KERNEL_STENCIL_2D5P_SUM:
    case META_KERNEL_STENCIL_2D9P_SUM:
        return 2;
    case META_KERNEL_STENCIL_3D7P:
    case META_KERNEL_STENCIL_3D27P:
    case META_KERNEL_STENCIL_3D7P_SUM:
    case META_KERNEL_STENCIL_3D27P_SUM:
        return 3;
    default:
        return 0;
    }
}

static bool writes_first(uint32_t id)
{
    return kernels[id].maps || reach_of(id) > 0;
}

/* ------------------------------------------------------------------ the buffers */

static void forget(void)
{
    for (int k = 0; k < listed; ++k) free(list[k].before);
    listed = 0;
}

/* The buffer in @p object that has its byte @p at; NULL where it is not compared. */
static watched *watch(meta_device *device, void *object, uint64_t at)
{
    meta_allocation a;
    for (int k = 0; k < listed; ++k)
        if (list[k].of.memory.object == object && list[k].of.device == device) return &list[k];
    if (listed == MOST_BUFFERS || !meta_registry_object(device, object, at, &a)) return NULL;
    if (a.memory.bytes > MOST_BYTES || a.holds > 0) return NULL;
    watched *w = &list[listed];
    w->of = a;
    meta_raw_place(&a, &w->object, &w->offset);
    w->before = calloc(3, a.memory.bytes);
    if (!w->before) return NULL;
    w->after = w->before + a.memory.bytes;
    w->use = w->after + a.memory.bytes;
    ++listed;
    return w;
}

static meta_err copy_all(bool after)
{
    for (int k = 0; k < listed; ++k) {
        const watched *w = &list[k];
        META_TRY(meta_raw_copy(w->of.device, META_COPY_D2H, after ? w->after : w->before, w->object,
                               w->offset, w->of.memory.bytes));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ what becomes of each byte */

static void mark(watched *w, int64_t from, int64_t bytes, unsigned char how)
{
    const int64_t end = (int64_t)w->of.memory.bytes;
    const int64_t to = from + bytes < end ? from + bytes : end;
    for (int64_t k = from > 0 ? from : 0; k < to; ++k) w->use[k] |= how;
}

/* Mark the elements of operand @p k, in the first dimensions with those @p around. */
static void mark_space(watched *w, const meta_call *call, int k, int64_t bytes, int around,
                       unsigned char how)
{
    const meta_space *s = &call->space;
    const int64_t *stride = s->stride[k];
    const int64_t front = s->base[k] * bytes - (int64_t)w->of.front;
    const int64_t first = around > 0 ? -1 : 0, count = s->extent[0] - 2 * first;
    int64_t at[META_MAX_DIM] = {0};
    for (int d = 1; d < around; ++d) at[d] = -1;
    for (int d = 0; d < s->ndim;) {
        int64_t element = first * stride[0];
        for (d = 1; d < s->ndim; ++d) element += at[d] * stride[d];
        if (stride[0] == 1) mark(w, front + element * bytes, count * bytes, how);
        else
            for (int64_t n = 0; n < count; ++n)
                mark(w, front + (element + n * stride[0]) * bytes, bytes, how);
        for (d = 1; d < s->ndim && ++at[d] >= s->extent[d] + (d < around); ++d)
            at[d] = d < around ? -1 : 0;
    }
}

static void mark_call(meta_device *device, const meta_call *call)
{
    const kernel *of = &kernels[call->kernel];
    size_t bytes = 1;
    meta_type_check((meta_type)call->type, &bytes);
    for (int k = 0; k < of->operands; ++k) {
        watched *w = watch(device, call->object[k], (uint64_t)call->space.base[k] * bytes);
        const bool out = k == 0 && writes_first(call->kernel);
        const int around = out ? 0 : reach_of(call->kernel);
        if (w) mark_space(w, call, k, (int64_t)bytes, around, out ? WRITTEN : READ);
    }
    if (!of->reduces || call->result_host || !call->result_object) return;
    watched *w = watch(device, call->result_object, call->result_offset);
    const size_t room = meta_kernel_is_exact(call->kernel) ? META_EXACT_RESULT * 8 : bytes;
    if (w) mark(w, (int64_t)(call->result_offset - w->of.front), (int64_t)room, RESULT);
}

/* ------------------------------------------------------------------ judgement */

static const char *words_of(const watched *w, char words[META_NOTE_ROOM])
{
    return meta_registry_words(w->of.memory.address, words);
}

/* A result among what is read or written has the value of whoever comes last. */
static meta_err results_apart(const char *name)
{
    char words[META_NOTE_ROOM];
    for (int k = 0; k < listed; ++k)
        for (uint64_t at = 0; at < list[k].of.memory.bytes; ++at) {
            const unsigned use = list[k].use[at];
            if (!(use & RESULT) || !(use & (READ | WRITTEN))) continue;
            return meta_fail(META_ERR_OVERLAP,
                             "META_CHECK: the result of %s goes to byte %" PRIu64
                             " of the buffer of %" PRIu64 " bytes at %p%s, which the call %s: give "
                             "it a place of its own",
                             name, at, list[k].of.memory.bytes, list[k].of.memory.address,
                             words_of(&list[k], words), use & READ ? "reads" : "writes as well");
        }
    return META_OK;
}

static meta_err unchanged(const char *name, const watched *w)
{
    char words[META_NOTE_ROOM];
    for (uint64_t from = 0; from < w->of.memory.bytes; from += BLOCK) {
        const uint64_t rest = w->of.memory.bytes - from, part = rest < BLOCK ? rest : BLOCK;
        if (memcmp(w->before + from, w->after + from, part) == 0) continue;
        for (uint64_t at = from; at < from + part; ++at)
            if (w->before[at] != w->after[at] && !(w->use[at] & (WRITTEN | RESULT)))
                return meta_fail(META_ERR_DEVICE,
                                 "META_CHECK: while %s ran, byte %" PRIu64
                                 " of the buffer of %" PRIu64 " bytes at %p%s was changed, which "
                                 "it does not write: another thread or kernel did, or this "
                                 "device's kernel is wrong",
                                 name, at, w->of.memory.bytes, w->of.memory.address,
                                 words_of(w, words));
    }
    return META_OK;
}

static meta_err judge(const char *name)
{
    META_TRY(copy_all(true));
    for (int k = 0; k < listed; ++k) {
        META_TRY(unchanged(name, &list[k]));
        META_TRY(meta_check_guards(&list[k].of));
    }
    return META_OK;
}

/* A launch's own error is told as ever, by its ticket or by the queue's end: nobody waits for those
 * here. */
static meta_err run(meta_device *device, meta_plugin_queue *queue, const meta_call *calls,
                    size_t count, meta_ticket *ticket)
{
    const char *name = count > 0 ? kernels[calls[0].kernel].name : "nothing";
    const meta_ops *ops = &device->backend->ops;
    const bool tracked = ticket != META_NO_TICKET;
    meta_ticket own = NULL;
    for (size_t k = 0; k < count; ++k) mark_call(device, &calls[k]);
    META_TRY(results_apart(name));
    /* The copies for comparison are behind all work on both queues. */
    META_TRY(meta_queue_after(device, META_QUEUE_COMPUTE, META_QUEUE_HALO));
    META_TRY(copy_all(false));
    META_TRY(ops->launch(queue, calls, count, tracked ? &own : META_NO_TICKET));
    meta_err error = meta_queue_after(device, META_QUEUE_COMPUTE, META_QUEUE_HALO);
    if (error == META_OK) error = judge(name);
    if (error == META_OK && tracked) return *ticket = own, META_OK;
    if (own) ops->ticket_release(own);
    return error;
}

meta_err meta_launch_compared(meta_device *device, meta_plugin_queue *queue, const meta_call *calls,
                              size_t count, meta_ticket *ticket)
{
    pthread_mutex_lock(&lock);
    const meta_err error = run(device, queue, calls, count, ticket);
    forget();
    pthread_mutex_unlock(&lock);
    return error;
}
