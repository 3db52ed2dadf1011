/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compare.c
 *  META_CHECK=on: each launch runs alone, and every buffer that it is given is compared before and
 *  after. Bytes that it does not write must be unchanged, and none that receives a result may be
 * read or written as well. */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/notes.h"
#include "check/raw.h"
#include "check/watched.h"

/* Larger buffers have a checksum of each block instead of a copy: it reveals the block, not the
 * byte. Even larger ones are not compared, because each operation would take many seconds, nor are
 * those that a message or an exchange uses, because they may change at any time. */
#define MOST_COPIED ((uint64_t)64 << 20)
#define MOST_SUMMED ((uint64_t)1 << 30)
enum { MOST_BUFFERS = 64, MOST_RESULTS = 64, BLOCK = 1 << 18 };

/* Bytes of a buffer that receive a result. */
typedef struct result {
    const watched *in;
    uint64_t from, to;
} result;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one launch at a time */
static watched list[MOST_BUFFERS];
static result results[MOST_RESULTS];
static int listed, resulting;
static unsigned char now[BLOCK];

static void forget_one(const watched *w)
{
    free(w->written);
    free(w->before);
    free(w->sum);
    free(w->suspect);
}

static void forget(void)
{
    for (int k = 0; k < listed; ++k) forget_one(&list[k]);
    listed = resulting = 0;
}

/* The buffer that holds @p address; NULL where it is not compared. */
static watched *watch(const char *address)
{
    watched found = {.before = NULL};
    for (int k = 0; k < listed; ++k) {
        const meta_memory *m = &list[k].of.memory;
        if ((uint64_t)(address - (const char *)m->address) < m->bytes) return &list[k];
    }
    if (listed == MOST_BUFFERS || !meta_registry_find(address, &found.of)) return NULL;
    const uint64_t bytes = found.of.memory.bytes;
    if (bytes > MOST_SUMMED || found.of.holds > 0) return NULL;
    found.written = calloc(1, bytes / 8 + 1);
    if (bytes <= MOST_COPIED) found.before = malloc(bytes);
    else found.sum = calloc(bytes / BLOCK + 1, sizeof *found.sum);
    if (!found.written || (!found.before && !found.sum)) return forget_one(&found), NULL;
    meta_raw_place(&found.of, &found.object, &found.offset);
    list[listed] = found;
    return &list[listed++];
}

/* Where the launch reads or writes another call's result. */
typedef struct conflict {
    const result *with;
    uint64_t at;
    bool written;
} conflict;

static void set_bits(unsigned char *bits, uint64_t from, uint64_t to)
{
    for (; from < to && from % 8; ++from) bits[from / 8] |= (unsigned char)(1u << from % 8);
    const uint64_t whole = (to - from) / 8;
    memset(bits + from / 8, 0xff, whole);
    for (from += 8 * whole; from < to; ++from) bits[from / 8] |= (unsigned char)(1u << from % 8);
}

/* Mark bytes as read or written, clipped to the buffer. */
static void mark(watched *w, int64_t from, int64_t bytes, bool written, conflict *c)
{
    const uint64_t end = w->of.memory.bytes, first = from > 0 ? (uint64_t)from : 0;
    const uint64_t last = from + bytes <= 0 ? 0 : (uint64_t)(from + bytes);
    const uint64_t to = last < end ? last : end;
    if (first >= to) return;
    if (written) set_bits(w->written, first, to);
    for (int k = 0; k < resulting && !c->with; ++k) {
        const result *r = &results[k];
        if (r->in == w && r->from < to && first < r->to)
            *c = (conflict){r, r->from > first ? r->from : first, written};
    }
}

/* Mark the elements of operand @p k, and those around them that the kernel reaches. */
static void mark_operand(watched *w, const meta_operation *op, uint32_t k, bool written,
                         conflict *c)
{
    const meta_space *s = op->space;
    const meta_operand_desc *desc = &op->call.desc->operand[k];
    const meta_i64 *stride = meta_call_layout(&op->call, k)->stride;
    const int64_t bytes = (int64_t)meta_element_bytes(meta_operation_type(op, k));
    const int64_t front =
        op->operand[k].span.address - (char *)w->of.memory.address + op->operand[k].start * bytes;
    int64_t low[META_MAX_DIM] = {0}, high[META_MAX_DIM], at[META_MAX_DIM] = {0};
    if (desc->reach == META_REACH_WHOLE && !written) return; /* which ones only the body knows */
    if (desc->reach == META_REACH_WHOLE || desc->reach == META_REACH_ONE) {
        mark(w, front, (op->operand[k].high + 1) * bytes, written, c);
        return;
    }
    for (int d = 0; d < s->ndim; ++d) {
        const bool reaches = d < META_REACH_DIMS;
        at[d] = low[d] = reaches ? -desc->low[d] : 0;
        high[d] = s->extent[d] + (reaches ? desc->high[d] : 0);
    }
    const int64_t count = high[0] - low[0];
    for (int d = 0; d < s->ndim;) {
        int64_t element = low[0] * stride[0];
        for (d = 1; d < s->ndim; ++d) element += at[d] * stride[d];
        if (stride[0] == 1) mark(w, front + element * bytes, count * bytes, written, c);
        else
            for (int64_t n = 0; n < count; ++n)
                mark(w, front + (element + n * stride[0]) * bytes, bytes, written, c);
        for (d = 1; d < s->ndim && ++at[d] >= high[d]; ++d) at[d] = low[d];
    }
}

/* Operands that are only read matter where there are results. */
static void mark_operation(const meta_operation *op, conflict *c)
{
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const char *address = op->operand[k].span.address;
        const bool out = op->call.desc->operand[k].access != META_ACCESS_IN;
        watched *w = address ? watch(address) : NULL;
        if (w && (out || resulting > 0)) mark_operand(w, op, k, out, c);
    }
}

static void mark_results(const meta_operation *op)
{
    for (uint32_t k = 0; k < op->results; ++k) {
        const size_t room = meta_operation_result_bytes(op, k);
        const char *address = op->result[k].span.address;
        if (op->where[k].host || !op->result[k].span.device || !address) continue;
        watched *w = watch(address);
        if (!w || resulting == MOST_RESULTS) continue;
        const uint64_t from = (uint64_t)(address - (char *)w->of.memory.address);
        set_bits(w->written, from, from + room);
        results[resulting++] = (result){w, from, from + room};
    }
}

/* The checksum of a block's bytes that are not written; any single changed word alters it. */
static uint64_t sum_of(const watched *w, uint64_t from, uint64_t bytes)
{
    const unsigned char *bits = w->written + from / 8;
    uint64_t sum = UINT64_C(14695981039346656037);
    for (uint64_t k = 0; k < bytes; k += 8) {
        unsigned char part[8] = {0};
        uint64_t word;
        if (bits[k / 8] == 0xff) continue;
        memcpy(part, now + k, bytes - k < 8 ? bytes - k : 8);
        for (int b = 0; bits[k / 8] && b < 8; ++b)
            if (bits[k / 8] >> b & 1) part[b] = 0;
        memcpy(&word, part, sizeof word);
        sum = (sum ^ word) * UINT64_C(1099511628211);
    }
    return sum;
}

static meta_err fetch(const watched *w, uint64_t from, uint64_t bytes, void *to)
{
    return meta_raw_copy(w->of.device, META_COPY_D2H, to, w->object, w->offset + from, bytes);
}

static uint64_t block_at(const watched *w, uint64_t from)
{
    const uint64_t rest = w->of.memory.bytes - from;
    return rest < BLOCK ? rest : BLOCK;
}

static meta_err remember(const watched *w)
{
    if (w->before) return fetch(w, 0, w->of.memory.bytes, w->before);
    for (uint64_t from = 0; from < w->of.memory.bytes; from += BLOCK) {
        META_TRY(fetch(w, from, block_at(w, from), now));
        w->sum[from / BLOCK] = sum_of(w, from, block_at(w, from));
    }
    return META_OK;
}

/* @p first equals @p last where the byte is known. */
static meta_err changed(const char *name, const watched *w, uint64_t first, uint64_t last)
{
    char words[META_NOTE_ROOM], bytes[64];
    snprintf(bytes, sizeof bytes, "byte %" PRIu64, first);
    if (last > first)
        snprintf(bytes, sizeof bytes, "a byte from %" PRIu64 " to %" PRIu64, first, last);
    return meta_fail(META_ERR_DEVICE,
                     "META_CHECK: while %s ran, %s of the buffer of %" PRIu64 " bytes at %p%s was "
                     "changed, which it does not write: another thread or kernel did, or this "
                     "device's kernel is wrong",
                     name, bytes, w->of.memory.bytes, w->of.memory.address,
                     meta_registry_note(w->of.memory.address, words));
}

/* The block that begins at @p from, which is in `now`. */
static meta_err block_unchanged(const char *name, const watched *w, uint64_t from)
{
    const uint64_t bytes = block_at(w, from);
    if (!w->before)
        return sum_of(w, from, bytes) == w->sum[from / BLOCK]
                   ? META_OK
                   : changed(name, w, from, from + bytes - 1);
    if (memcmp(w->before + from, now, bytes) == 0) return META_OK;
    for (uint64_t k = 0; k < bytes; ++k) {
        const uint64_t at = from + k;
        if (w->before[at] != now[k] && !(w->written[at / 8] >> at % 8 & 1))
            return changed(name, w, at, at);
    }
    return META_OK;
}

static meta_err judge(const char *name)
{
    for (int k = 0; k < listed; ++k) {
        const watched *w = &list[k];
        for (uint64_t from = 0; from < w->of.memory.bytes; from += BLOCK) {
            META_TRY(fetch(w, from, block_at(w, from), now));
            META_TRY(block_unchanged(name, w, from));
        }
        META_TRY(meta_check_guards(&w->of));
    }
    return META_OK;
}

/* A launch's own error is reported by its ticket or when the queue is finished, as without checks.
 */
static meta_err run(meta_task *work)
{
    const size_t count = work->launch.count;
    const char *name = count > 0 ? work->launch.calls->desc->name : "nothing";
    conflict met = {.with = NULL};
    for (size_t k = 0; k < count; ++k) meta_suspicious_report(meta_task_operation(work, k));
    for (size_t k = 0; k < count; ++k) mark_results(meta_task_operation(work, k));
    for (size_t k = 0; k < count; ++k) mark_operation(meta_task_operation(work, k), &met);
    if (met.with) { /* its value would depend on the order of execution */
        const watched *w = met.with->in;
        char words[META_NOTE_ROOM];
        return meta_fail(META_ERR_OVERLAP,
                         "META_CHECK: the result of %s goes to byte %" PRIu64
                         " of the buffer of %" PRIu64 " bytes at %p%s, which the call %s: give "
                         "it a place of its own",
                         name, met.at, w->of.memory.bytes, w->of.memory.address,
                         meta_registry_note(w->of.memory.address, words),
                         met.written ? "writes as well" : "reads");
    }
    /* The copies for comparison are behind all work on both queues. */
    META_TRY(meta_queue_after(work->device, META_QUEUE_COMPUTE, META_QUEUE_HALO));
    for (int k = 0; k < listed; ++k) META_TRY(remember(&list[k]));
    meta_notes notes;
    META_TRY(meta_notes_begin(&notes, work));
    meta_err error = meta_native_run(&notes.task, list, listed);
    error = meta_notes_end(&notes, error);
    if (error == META_OK) error = judge(name);
    if (error != META_OK) meta_ticket_drop(work);
    return error;
}

meta_err meta_compare_work(meta_task *work)
{
    if (work->is_copy) return meta_queue_pass(work);
    pthread_mutex_lock(&lock);
    const meta_err error = run(work);
    forget();
    pthread_mutex_unlock(&lock);
    return error;
}
